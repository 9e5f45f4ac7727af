"""Trajectories on `Batch`, and advantages, against slow references."""

from __future__ import annotations

from collections import Counter
from itertools import cycle
from typing import Any, NamedTuple

import numpy as np
import pytest

from euphoria_env import Batch, Rules
from euphoria_env.engine.rewards import REWARD_NAMES
from euphoria_env.trajectories import ENDED, OPEN, Trajectories, estimate_advantages

GAMES, STEPS = 5, 150
KINDS = [(players, reward) for players, reward in zip(range(2, 7), cycle(REWARD_NAMES))]
KINDS += [(2, reward) for reward in REWARD_NAMES[1:]]


class Step(NamedTuple):
    """A copy of the results of a step."""

    chosen: list[int]
    player: np.ndarray
    turn: np.ndarray
    rewards: np.ndarray
    over: np.ndarray


def played(players: int, reward: str, *trajectories: Any) -> tuple[list[Step], list[Trajectories]]:
    """Random games, most of which are cut off, with some of the decisions; `trajectories` are functions of the batch."""
    rng = np.random.default_rng(players)
    batch = Batch(GAMES, Rules(num_players=players, max_turns=14), seed=players, reward=reward)
    made = [make(batch) for make in trajectories]
    steps = []
    for _ in range(STEPS):
        chosen = np.flatnonzero(rng.random(GAMES) < 0.7)
        before = batch.player.copy(), batch.states["turn"].copy()
        for one in made:
            one.add(chosen)
        batch.step(batch.sample(rng))
        for one in made:
            one.credit()
        steps.append(Step(chosen.tolist(), *before, batch.rewards.copy(), batch.terminated | batch.truncated))
    return steps, made


def looked_up(steps: list[Step]) -> dict[str, list[Any]]:
    """The same, found for each decision by looking at all that came after it."""
    number = {(s, i): k for k, (s, i) in enumerate((s, i) for s, step in enumerate(steps) for i in step.chosen)}
    found: dict[str, list[Any]] = {name: [] for name in ("game", "seat", "turn", "reward", "elapsed", "following")}
    for s, i in number:
        seat, turn = int(steps[s].player[i]), int(steps[s].turn[i])
        reward, elapsed, following = 0.0, 0, OPEN
        for t in range(s, len(steps)):
            if t > s and i in steps[t].chosen and steps[t].player[i] == seat:
                elapsed, following = int(steps[t].turn[i]) - turn, number[t, i]
                break
            reward += float(steps[t].rewards[i, seat])
            if steps[t].over[i]:
                following = ENDED
                break
        for name, value in zip(found, (i, seat, turn, reward, elapsed, following), strict=True):
            found[name].append(value)
    return found


@pytest.mark.parametrize(("players", "reward"), KINDS)
def test_decisions_are_linked_and_credited(players: int, reward: str) -> None:
    steps, (mine,) = played(players, reward, lambda batch: Trajectories(batch, GAMES * STEPS))
    expected = looked_up(steps)
    assert mine.size == len(expected["game"]) and {OPEN, ENDED} < set(expected["following"])
    for name, array in mine.arrays().items():
        assert array[: mine.size] == pytest.approx(expected[name], abs=1e-5), name


@pytest.mark.parametrize("players", [2, 4])
def test_nothing_is_lost_between_two_updates(players: int) -> None:
    """Closed decisions are the same whether the open ones are carried over now and then, in larger arrays, or not."""
    closed: Counter[Any] = Counter()

    class Carrying(Trajectories):
        def add(self, games: np.ndarray) -> slice:
            if self.size > 40:
                closed.update(told(self))
                kept = self.carry_over()
                assert np.array_equal(kept, np.sort(kept)) and (self.following[: self.size] == OPEN).all()
                self.grow(self.capacity + 1)
            return super().add(games)

    def told(one: Trajectories) -> list[Any]:
        rows = zip(*(array[: one.size].tolist() for array in one.arrays().values()), strict=True)
        return [(*row[:5], min(row[5], 0)) for row in rows if row[5] != OPEN]

    makes = (lambda batch: Trajectories(batch, GAMES * STEPS)), (lambda batch: Carrying(batch, 40 + 2 * GAMES * players))
    _, (whole, carrying) = played(players, "stars", *makes)
    closed.update(told(carrying))
    assert closed == Counter(told(whole))


def test_attached_arrays_move_with_the_decisions() -> None:
    batch, rng, moved = Batch(GAMES, Rules(num_players=3, max_turns=14), seed=3), np.random.default_rng(0), 0
    mine = Trajectories(batch, 40)
    turns, seats = mine.attach(np.zeros(40, np.int16)), np.zeros((43, 2), np.int8)
    assert mine.attach(seats) is mine.attach(seats) is seats
    for _ in range(STEPS):
        if mine.size + GAMES > mine.capacity:
            moved += mine.carry_over().tolist() != list(range(mine.size))
            mine.grow(mine.capacity + 1)
            turns, seats = mine.attached
        new = mine.add(np.arange(GAMES))
        turns[new], seats[new] = batch.states["turn"], np.stack([np.arange(GAMES), batch.player], 1)
        batch.step(batch.sample(rng))
        mine.credit()
        n = mine.size
        assert np.array_equal(turns[:n], mine.turn[:n]) and np.array_equal(seats[:n].T, [mine.game[:n], mine.seat[:n]])
    assert moved > 5 and len(turns) == len(seats) == mine.capacity
    wrong = [[0] * 99, np.zeros(mine.capacity - 1), np.zeros(()), np.broadcast_to(0, mine.capacity), seats[:, 0], mine.reward]
    for array in wrong:  # the rows of the last two would move twice
        with pytest.raises((TypeError, ValueError), match="an attached array must"):
            mine.attach(array)  # type: ignore[arg-type]
    assert len(mine.attached) == 2


def test_tensors_are_arrays() -> None:
    ones = pytest.importorskip("torch").ones(2)
    assert estimate_advantages(ones, ones, np.array([1, ENDED]), 1.0, 1.0).tolist() == [1.0, 0.0]


@pytest.mark.parametrize(("players", "reward"), KINDS)
@pytest.mark.parametrize("by_turns", [False, True])
def test_advantages_are_the_sums_of_the_paper(players: int, reward: str, by_turns: bool) -> None:
    """Discounted sums of temporal differences; an open decision lends its value, and has no advantage itself."""
    _, (mine,) = played(players, reward, lambda batch: Trajectories(batch, GAMES * STEPS))
    n, gamma, trace = mine.size, 0.93, 0.8
    values = np.random.default_rng(0).normal(size=n).astype(np.float32)
    rewards, following = mine.reward[:n], mine.following[:n]
    discount = gamma ** mine.elapsed[:n].astype(np.float32) if by_turns else gamma
    found = estimate_advantages(values, rewards, following, discount, trace)
    assert found.dtype == np.float32 and len(found) == n
    for k in range(n):
        total, weight, at = 0.0, 1.0, k
        while following[at] != OPEN:
            after = int(following[at])
            discounted = gamma ** int(mine.elapsed[at]) if by_turns else gamma
            total += weight * (rewards[at] + (discounted * values[after] if after >= 0 else 0) - values[at])
            if after == ENDED:
                break
            weight, at = weight * discounted * trace, after
        assert found[k] == pytest.approx(total, abs=1e-4)
    assert (found[following == OPEN] == 0).all()
