"""Calls of `Batch` in any order, right and wrong, beside games that are played one by one."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

from euphoria_env import Batch, Game, Rules, actions
from euphoria_env.engine.rewards import REWARD_NAMES
from tests.tools.playing import SHOWN, everything, expected_rewards, stars

RULES = [
    Rules(num_players=2, max_turns=4),
    Rules(num_players=3, trading=True, recruit_draft=True, max_turns=6),
    Rules(num_players=6, market_draft=True, track_draft=True, max_turns=5),
]
OTHER = Rules(num_players=5)


def drawn(rng: np.random.Generator) -> Rules:
    """Rules for a game that begins."""
    return RULES[rng.integers(len(RULES))]


COPIES: list[Callable[[Any], Any]] = [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))]
NO_GAMES = [[-1], [99], [0, 0], [0.0], [True], [None], "0", 0, [[0]], [2**63]]
NO_ACTIONS = [-1, actions.NUM_ACTIONS, 2**40, 1.0, True, float("nan"), "end", "559", None, [0], np.array([0])]


class BatchMachine(RuleBasedStateMachine):
    """A batch, and each of its games on its own."""

    @initialize(
        n=st.integers(1, 4),
        rules=st.sampled_from([*RULES, [*RULES, OTHER], drawn]),
        reward=st.sampled_from(REWARD_NAMES),
        events=st.sampled_from([0, 3]),
    )
    def begin(self, n: int, rules: Any, reward: str, events: int) -> None:
        rules = rules[:n] if isinstance(rules, list) else rules
        self.n, self.rules, self.reward = n, rules, reward
        self.batch = Batch(n, rules, 5, reward, events=events)
        self.deals = Batch(n, rules, 5), [0] * n  # where the first position of each game is looked up, and how often it began
        self.episodes = [0] * n
        self.games = [self.batch.game(i) for i in range(n)]
        self.saved: list[tuple[bytes, list[int], list[Game]]] = []
        self.left: list[tuple[Batch, dict[str, bytes]]] = []  # that nobody plays any more

    def new(self, i: int) -> Game:
        """The first position of the next episode of a game."""
        self.episodes[i] += 1
        batch, begun = self.deals
        if begun[i] > self.episodes[i]:  # the state of an earlier time was restored
            batch, begun = self.deals = Batch(self.n, self.rules, 5), [0] * self.n
        while begun[i] < self.episodes[i]:
            batch.restart([i])
            begun[i] += 1
        return batch.game(i)

    @rule(chance=st.integers(0, 2**32), some=st.integers(0, 15), steps=st.integers(1, 12))
    def step(self, chance: int, some: int, steps: int) -> None:
        rng = np.random.default_rng(chance)
        active = np.array([some >> i & 1 == 0 for i in range(self.n)])
        for _ in range(steps):
            moves = self.batch.sample(rng)
            self.batch.step(moves, active)
            for i in range(self.n):
                if not active[i]:
                    assert not self.batch.terminated[i] and not self.batch.truncated[i] and not self.batch.rewards[i].any()
                    continue
                game, before = self.games[i], stars(self.games[i])
                game.play(int(moves[i]))
                players = game.rules.num_players
                assert np.allclose(self.batch.rewards[i, :players], expected_rewards(self.reward, game, before), atol=1e-6)
                assert (self.batch.terminated[i], self.batch.truncated[i]) == (game.over, game.truncated)
                if game.ranking is not None:
                    assert self.batch.ranking[i].tolist()[:players] == game.ranking
                    for p, seen in enumerate(self.batch.final_observation[i, :players]):
                        assert np.array_equal(seen, game.observation(p))
                    assert Game.from_rows(self.batch.end_states[self.batch.ended == i]) == game
                    self.games[i] = self.new(i)

    @rule(chosen=st.integers(0, 15), kind=st.sampled_from([list, tuple, np.array, lambda games: np.array(games, np.uint8)]))
    def restart(self, chosen: int, kind: Callable[[list[int]], Any]) -> None:
        games = [i for i in reversed(range(self.n)) if chosen >> i & 1]
        starts = {i: self.saved[-1][2][i] for i in games[:1]} if self.saved else None
        self.batch.restart(kind(games), starts)
        for i in games:
            self.games[i] = self.new(i)
            if starts and i in starts:
                self.games[i] = Game.from_rows(starts[i].states)

    @rule(way=st.sampled_from(COPIES))
    def go_on_with_a_copy(self, way: Callable[[Any], Any]) -> None:
        self.left = [*self.left[-1:], (self.batch, everything(self.batch))]
        self.batch, threads = way(self.batch), self.batch.threads
        assert everything(self.batch) == self.left[-1][1] and self.batch.threads == threads
        arrays = {name: getattr(self.batch, name) for name in SHOWN}
        assert [name for name, array in arrays.items() if not array.flags.writeable] == ["states"]
        assert all(array.ctypes.data % 64 == 0 or not array.size for array in arrays.values())

    @rule()
    def save(self) -> None:
        self.saved = [(pickle.dumps(self.batch), self.episodes.copy(), [game.clone() for game in self.games])]

    @precondition(lambda self: self.saved)
    @rule()
    def restore(self) -> None:
        saved, episodes, games = self.saved[0]
        self.batch = pickle.loads(saved)
        self.episodes, self.games = episodes.copy(), [game.clone() for game in games]

    @rule(i=st.integers(0, 3))
    def play_a_copy_of_a_game(self, i: int) -> None:
        before, game = everything(self.batch), self.batch.game(i % self.n)
        game.play(game.legal()[-1])
        assert everything(self.batch) == before

    @rule(games=st.sampled_from(NO_GAMES), action=st.sampled_from(NO_ACTIONS), which=st.integers(0, 7))
    def refuse(self, games: Any, action: Any, which: int) -> None:
        batch, before = self.batch, everything(self.batch)
        legal = batch.mask.argmax(axis=1)
        no_start = None if callable(self.rules) else Game(OTHER, 1)
        calls: list[Callable[[], Any]] = [
            lambda: batch.restart(games),
            lambda: batch.restart([0], {0: no_start}),
            lambda: batch.restart([], {0: self.games[0]}),
            lambda: batch.seen_at_end([7]),
            lambda: batch.game(games if isinstance(games, list) else -1),
            lambda: batch.step([*legal[1:], action if type(action) is not bool else -1]),  # numpy reads [3, True] as [3, 1]
            lambda: batch.step([*legal[1:], int(batch.mask[-1].argmin())]),
            lambda: batch.step(legal, np.ones(self.n)),
        ]
        with pytest.raises((TypeError, ValueError, IndexError)):
            calls[which]()
        assert everything(batch) == before

    @invariant()
    def agrees(self) -> None:
        if not hasattr(self, "games"):
            return
        for i, game in enumerate(self.games):
            assert self.batch.game(i) == game and self.batch.player[i] == game.player
            assert self.batch.num_players[i] == game.rules.num_players
            assert np.array_equal(self.batch.mask[i], game.mask())
            assert np.array_equal(self.batch.observation[i], game.observation(game.player))
        for batch, before in self.left:
            assert everything(batch) == before


@pytest.mark.parametrize(("examples", "steps"), [(15, 25), pytest.param(150, 60, marks=pytest.mark.long)])
def test_calls_in_any_order(examples: int, steps: int) -> None:
    """The same calls each time."""
    chosen = settings(
        max_examples=examples, stateful_step_count=steps, derandomize=True, deadline=None, database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )  # fmt: skip
    run_state_machine_as_test(BatchMachine, settings=chosen)
