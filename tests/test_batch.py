"""`Batch`: the same games for any number of games and threads, restarts, rewards, and bad input."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from euphoria_env import Batch, Game, IllegalMove, Rules, actions
from euphoria_env import batch as batch_module
from euphoria_env.engine.rewards import REWARD_NAMES
from euphoria_env.event_kinds import MOST_EVENTS
from euphoria_env.observations import OBS_SIZE
from tests.tools.forking import in_a_fork, needs_fork
from tests.tools.playing import SHOWN, everything, expected_rewards, stars

SHORT = Rules(num_players=3, trading=True, max_turns=25)


def chosen(batch: Batch, number: int) -> np.ndarray:
    """A legal action for every game, by the number of the step and the game alone."""
    picks = [np.flatnonzero(mask) for mask in batch.mask]
    return np.array([legal[(7 * number + 3 * i) % len(legal)] for i, legal in enumerate(picks)])


@pytest.mark.parametrize("rules", [SHORT, Rules(num_players=2, recruit_draft=True, max_turns=40)], ids=["trading", "draft"])
def test_a_game_depends_on_its_number_alone(rules: Rules) -> None:
    small, large = Batch(3, rules, seed=9, threads=1, events=4), Batch(600, rules, seed=9, threads=1, events=4)
    threaded, plain = Batch(600, rules, seed=9, threads=2, events=4), Batch(600, rules, seed=9)
    assert threaded.threads == 2 and large.threads == 1
    for number in range(200):
        for batch in (large, threaded):
            for name in SHOWN:
                assert np.array_equal(getattr(batch, name)[:3], getattr(small, name)), (number, name)
        for name in SHOWN:
            assert np.array_equal(getattr(large, name), getattr(threaded, name)), (number, name)
        rngs = [np.random.default_rng(number) for _ in range(2)]
        assert np.array_equal(large.sample(rngs[0]), threaded.sample(rngs[1]))
        for batch in (small, large, threaded, plain):
            batch.step(chosen(batch, number))
    assert plain.states.tobytes() == large.states.tobytes()
    assert large._episodes.min() >= 1, "every game should have restarted"


def test_game_0_is_the_game_of_the_seed_and_other_games_differ() -> None:
    batch = Batch(50, SHORT, seed=5)
    assert batch.game(0) == Game(SHORT, seed=5)
    assert len({batch.game(i).fingerprint() for i in range(50)}) == 50
    assert Batch(1, SHORT, seed=6).game(0) != batch.game(0)
    assert Batch(1, SHORT, seed=5).game(0) == batch.game(0)


def test_a_game_begins_differently_each_time() -> None:
    batch = Batch(1, Rules(num_players=2, max_turns=1), seed=1)
    begun = {batch.game(0).fingerprint()}
    for number in range(60):
        batch.step(chosen(batch, number))
        if batch.truncated[0]:
            begun.add(batch.game(0).fingerprint())
    assert len(begun) == 1 + batch._episodes[0] > 5


@pytest.mark.parametrize("kind", REWARD_NAMES)
def test_rewards_of_a_game_that_is_won(kind: str) -> None:
    """Player 1 places the last star at the end of the track of a recruit."""
    gary = {"workers": [1], "recruits": [{"name": "gary_the_electrician", "active": True}]}
    rules = {"num_players": 4, "stars_to_win": 1}
    game = Game.from_dict({"rules": rules, "seed": 1, "player": 1, "players": [{}, gary], "allegiance": {"euphorian": 10}})
    batch = Batch(2, game.rules, seed=1, reward=kind)
    batch.restart([1], {1: game})
    before, move = stars(game), actions.parse("place 1 generator")
    game.play(move)
    batch.step([int(batch.mask[0].argmax()), move])
    assert np.allclose(batch.rewards[1], expected_rewards(kind, game, before), atol=1e-6) and batch.rewards[1, 1] == 1
    assert game.over and batch.terminated[1] and not batch.truncated[1]
    assert batch.ranking[1].tolist() == game.ranking


def test_what_was_seen_at_the_end_is_that_of_the_last_step_alone() -> None:
    """However seldom it is read; `seen_at_end` gives a part of it."""
    often, seldom = (Batch(40, Rules(num_players=3, max_turns=6), seed=2) for _ in range(2))
    for number in range(120):
        picks = chosen(often, number)
        for batch in (often, seldom):
            batch.step(picks)
        games, shown = often.ended, often.final_observation
        assert np.array_equal(games, np.flatnonzero(often.terminated | often.truncated)) and len(often.end_states) == len(games)
        assert shown[games].any(axis=2).all() and not np.delete(shown, games, axis=0).any()
        assert np.array_equal(often.seen_at_end(games % 3)[0], shown[games, games % 3])
        assert number % 7 or np.array_equal(seldom.final_observation, shown)
    assert often._episodes.sum() > 100


@pytest.mark.parametrize("wrong", [-1, actions.NUM_ACTIONS, 10**12, actions.parse("done"), -(2**63)])
def test_an_illegal_action_names_game_and_move_and_changes_nothing(wrong: int) -> None:
    batch = Batch(6, SHORT, seed=2)
    for number in range(30):
        batch.step(chosen(batch, number))
    before = everything(batch)
    picks = chosen(batch, 1).astype(np.int64)
    picks[4] = wrong
    told = f"'{actions.NAMES[wrong]}' is illegal" if 0 <= wrong < actions.NUM_ACTIONS else f"an action is .*, not .*{wrong}"
    with pytest.raises(IllegalMove, match=f"game 4: {told}") as error:
        batch.step(picks)
    assert all(move in str(error.value) for move in batch.game(4).legal())
    assert everything(batch) == before
    batch.step(chosen(batch, 1))


@pytest.mark.parametrize("kind", [np.int16, np.int32, np.int64, np.uint16, np.uint64, list])
def test_actions_of_every_integer_type(kind) -> None:
    batch, other = Batch(2, SHORT, seed=3), Batch(2, SHORT, seed=3)
    for number in range(20):
        picks = chosen(batch, number)
        batch.step(picks.tolist() if kind is list else picks.astype(kind))
        other.step(picks)
        assert everything(batch) == everything(other)


@pytest.mark.parametrize(
    "actions_", [0, [0], [0, 0, 0], [[0, 0]], [0.0, 1.0], ["a", "b"], [None, None], [True, False], None, [2**64 - 1, 0]], ids=str
)
def test_what_are_no_actions(actions_) -> None:
    batch = Batch(2, SHORT, seed=3)
    before = everything(batch)
    with pytest.raises(ValueError, match="actions|illegal"):
        batch.step(actions_)
    for active in ([True], [1, 0], "ab", [[True, True]], 1):
        with pytest.raises(ValueError, match="active"):
            batch.step(chosen(batch, 0), active)
    assert everything(batch) == before


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        *(({"n": n}, "n must") for n in (0, -1, 2.0, True, "2")), *(({"threads": k}, "threads must") for k in (0, 1.5)),
        *(({"reward": name}, "reward must") for name in ("money", None)), *(({"seed": seed}, "seed") for seed in ("x", 1.5)),
        *(({"events": k}, "events must") for k in (-1, MOST_EVENTS + 1, 1.5, True, "16", None)),
        *(({"rules": rules}, "rules must be a Rules, a list") for rules in ({"num_players": 3}, 3, "ab")),
        *(({"rules": [SHORT] * k}, f"a list of 2, not of {k}") for k in (0, 1, 3)), ({"rules": [SHORT, 3]}, r"rules\[1\] must"),
        ({"rules": Rules}, "game 0: the function `rules` failed"),
    ],
    ids=str,
)  # fmt: skip
def test_bad_arguments(arguments, named) -> None:
    with pytest.raises(ValueError, match=named):
        Batch(**{"n": 2, **arguments})


def test_without_observations_the_rest_is_the_same() -> None:
    seeing, blind = Batch(3, SHORT, seed=4), Batch(3, SHORT, seed=4, observe=False)
    for number in range(100):
        for name in ("player", "mask", "rewards", "terminated", "truncated", "ranking", "states"):
            assert np.array_equal(getattr(seeing, name), getattr(blind, name))
        seeing.step(chosen(seeing, number))
        blind.step(chosen(blind, number))
    assert blind.observation.shape == (0, OBS_SIZE)


def test_sampled_moves_are_legal_and_alike() -> None:
    batch, rng = Batch(2000, SHORT, seed=4), np.random.default_rng(1)
    for _ in range(30):
        moves = batch.sample(rng)
        assert moves.dtype == np.int64 and moves.shape == (2000,) and batch.mask[np.arange(2000), moves].all()
        batch.step(moves)
    batch.restart(range(2000), dict.fromkeys(range(2000), batch.game(0)))
    drawn, counts = np.unique(batch.sample(rng), return_counts=True)
    legal = np.flatnonzero(batch.mask[0])
    expected = 2000 / len(legal)
    assert set(drawn) <= set(legal)
    assert ((counts - expected) ** 2 / expected).sum() < len(legal) + 6 * np.sqrt(2 * len(legal))


@needs_fork
def test_threads_work_after_a_fork() -> None:
    batch = Batch(600, seed=1, threads=2)

    def step() -> list[int]:
        batch.step(batch.sample(np.random.default_rng(0)))
        return list(batch.player.tolist())

    step()
    assert in_a_fork(step) == step()


def test_an_interrupt_leaves_no_thread_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    games, ending, finished, end = Batch(600, seed=1, threads=2), threading.Event(), threading.Event(), batch_module._end

    def work(first: int, _: int) -> int:
        if first == 0:
            raise KeyboardInterrupt
        ending.wait()
        finished.set()
        return 0

    def end_pool(pool: Any) -> None:
        ending.set()
        end(pool)

    monkeypatch.setattr(batch_module, "_end", end_pool)
    monkeypatch.setattr(games, "_step_slice", work)
    with pytest.raises(KeyboardInterrupt):
        games.step(games.sample(np.random.default_rng(0)))
    assert finished.is_set(), "the caller has its arrays back while a thread is at work"
    monkeypatch.undo()
    games.step(games.sample(np.random.default_rng(0)))


@pytest.mark.parametrize("n", [1, 3, 300])
def test_the_arrays_can_be_shared_and_stay_where_they_are(n: int) -> None:
    """They begin at multiples of 64 bytes, as JAX wants them, and a step writes into them (`Batch`)."""
    batch, rng = Batch(n, Rules(num_players=3, max_turns=3), seed=0, events=2), np.random.default_rng(0)
    arrays = {name: getattr(batch, name) for name in SHOWN}
    assert {name: array.ctypes.data % 64 for name, array in arrays.items()} == dict.fromkeys(SHOWN, 0)
    before = {name: arrays[name].copy() for name in ("mask", "observation", "states")}
    for _ in range(12):
        batch.step(batch.sample(rng))
    assert all(getattr(batch, name) is array for name, array in arrays.items())
    assert not any(np.array_equal(arrays[name], array) for name, array in before.items())
