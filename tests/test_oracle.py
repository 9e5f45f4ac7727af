"""Observations are those of `tests/tools/oracle.py`, which computes them from positions, events and rules alone.

At every decision of random games: the observations of all seats, masks, events, rewards, and the state of `raw_env`. And what is
public follows from the public events (R19.1).
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import euphoria_env
from euphoria_env import Batch, Game, actions, events, observations
from euphoria_env.engine.rewards import REWARD_NAMES
from euphoria_env.envs.aec import raw_env
from tests.test_batch import expected_rewards, stars
from tests.tools import oracle
from tests.tools.following import follow, public
from tests.tools.playing import all_rules, prefer, random_move
from tests.tools.positions import any_position
from tests.tools.scenario_runner import FOLDER, begun, read_files
from tests.tools.situation import Happened, Position, Situation

KINDS = events.table()
EVENTS = 12  # in the observations of the environments


class Watched:
    """A game, and what led to its position."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.events: list[Happened] = [tuple(event) for event in game.events]  # all of them
        self.opening: Position | None = None
        self.moves, self.opened = list[str](), 0
        self.public = public(game.describe())
        self.situation = self.look()

    def look(self) -> Situation:
        """The position now, with what led to it since the turn was opened."""
        self.public = follow(self.public, self.game.events_for(None)[len(self.events) :])
        self.events += [tuple(event) for event in self.game.events[len(self.events) :]]
        d, row = self.game.describe(), self.game.states[0]
        assert self.public == public(d), "the public events lead to what is public"
        if self.game.deciding == "open":
            self.opening, self.moves, self.opened = d, [], len(self.events)
        pending = {} if self.game.deciding in ("open", "nothing") else {name: row[name].tolist() for name in row.dtype.names}
        return Situation(d, pending, self.opening, [*self.moves], self.events[self.opened :])

    def play(self, move: str) -> None:
        self.moves.append(move)
        self.game.play(move)
        self.situation = self.look()

    def check(self) -> None:
        """Compares what each player observes, and which moves are legal."""
        s, legal = self.situation, {actions.parse(move) for move in self.game.legal()}
        assert {*self.game.legal_actions().tolist()} == legal == {*np.flatnonzero(self.game.mask()).tolist()}
        for p in range(s.n):
            agree(s, p, oracle.expected(s, p), self.game.observation(p))

    def check_events(self) -> None:
        """Compares all that anybody was told since the beginning (R19); what a kind of event does not have is -1."""
        for kind, *fields in self.events:
            row = KINDS[kind]
            assert all(value == -1 for has, value in zip((row.player, row.a, row.b), fields, strict=True) if not has), row
        for p in (None, *range(self.situation.n)):
            assert [tuple(event) for event in self.game.events_for(p)] == oracle.known_to(self.events, p)


class Played(Watched):
    """Beside the game the same one in `raw_env`, and in a `Batch` if it begins with the setup."""

    def __init__(self, game: Game, reward: str, seed: int | None = None) -> None:
        super().__init__(game)
        self.reward, self.before_env = reward, len(self.events)
        self.env = raw_env(**vars(game.rules), reward=reward, events=EVENTS)
        self.env.reset(options={"position": game.to_dict()})
        self.batch = None if seed is None else Batch(1, game.rules, seed=seed, reward=reward, events=EVENTS)

    def play(self, move: str) -> None:
        """Plays a move everywhere, and checks what is paid for it."""
        before = stars(self.game)
        super().play(move)
        self.env.step(actions.parse(move))
        paid = [self.env.rewards[agent] for agent in self.env.possible_agents]
        assert np.allclose(paid, expected_rewards(self.reward, self.game, before), atol=1e-6)
        if self.batch is not None:
            self.batch.step([actions.parse(move)])
            assert np.allclose(self.batch.rewards[0], paid, atol=1e-6)

    def check(self) -> None:
        """Compares what the environments show, too."""
        super().check()
        s, legal = self.situation, {*self.game.legal_actions().tolist()}
        for p, agent in enumerate(self.env.possible_agents):
            seen, info = self.env.observe(agent), self.env.infos[agent]
            agree(s, p, oracle.expected(s, p), seen["observation"])
            allowed = legal if p == s.d["player"] else set()
            assert {*np.flatnonzero(seen["action_mask"]).tolist()} == allowed == {*np.flatnonzero(info["action_mask"]).tolist()}
            assert seen["events"].tolist() == oracle.last_events(self.events[self.before_env :], p, s.n, EVENTS)
        assert self.env.state().tolist() == oracle.expected_state(s)
        if self.batch is not None:
            self.check_batch(legal)

    def check_batch(self, legal: set[int]) -> None:
        """The batch shows what the one who decides observes; of a game that has ended, what everybody does."""
        s, player = self.situation, self.situation.d["player"]
        ended = (self.batch.terminated[0], self.batch.truncated[0])
        assert ended == (s.d["status"] == "over", s.d["status"] == "truncated")
        if any(ended):
            assert self.batch.ranking[0].tolist() == s.d["ranking"]
            for p in range(s.n):
                agree(s, p, oracle.expected(s, p), self.batch.final_observation[0, p])
            return
        assert self.batch.player[0] == player and {*np.flatnonzero(self.batch.mask[0]).tolist()} == legal
        agree(s, player, oracle.expected(s, player), self.batch.observation[0])
        assert self.batch.events[0].tolist() == oracle.last_events(self.events, player, s.n, EVENTS)


def agree(s: Situation, observer: int, expected: oracle.Numbers, seen: np.ndarray) -> None:
    """Names the fields in which an observation is not as expected."""
    if expected == seen.tolist():
        return
    wrong = {}
    for field in observations.table():
        values = [*oracle.expected_field(s, field.name, observer)]
        if values != seen[field.slice].tolist():
            wrong[field.name] = (values, seen[field.slice].tolist())
    pytest.fail(f"player {observer} should see (first) what is not seen (second): {wrong}\n{s.moves}\n{s.d}")


def starts(rng: random.Random) -> Iterator[Played]:
    """Games of all rules, and between them many more from random positions."""
    for number, rules in enumerate(itertools.cycle(all_rules())):
        reward, seed = REWARD_NAMES[number % len(REWARD_NAMES)], rng.getrandbits(30)
        yield Played(Game(rules, seed=seed), reward, seed)
        for _ in range(12):
            yield Played(Game.from_dict({**any_position(rng), "seed": rng.getrandbits(30)}), reward)


def check_decisions(seed: int, decisions: int, of_game: int = 150, of_position: int = 12) -> None:
    """Plays until a number of decisions are compared."""
    rng = random.Random(seed)
    for played in starts(rng):
        policy = rng.choice((prefer, random_move))
        for _ in range(of_game if played.batch else of_position):
            played.check()
            decisions -= 1
            legal = played.game.legal()
            if not legal or not decisions:
                break
            played.play(policy(played.game, rng))
        played.check_events()
        if not decisions:
            return


def test_300_decisions_of_all_kinds() -> None:
    """As many as mutants of `engine/observe.py` are given (CONTRIBUTING.md)."""
    check_decisions(seed=1, decisions=300, of_game=20, of_position=4)


@pytest.mark.parametrize("file", sorted(FOLDER.rglob("*.yaml")), ids=lambda file: file.stem)
def test_every_decision_of_the_scenarios(file: Path) -> None:
    """They meet the rare cards."""
    for _, scenario in read_files([file]):
        watched = Watched(begun(scenario, scenario.seeds[0], euphoria_env))
        watched.game.load(**scenario.load)
        for move in (*scenario.play, None):
            watched.check()
            if move is not None:
                watched.play(move)
        watched.check_events()


def test_games_read_in_the_middle_of_a_decision() -> None:
    """They have the events of the turn under way, and go on like the games from which they were read."""
    rng, pending = random.Random(3), 0
    for start in itertools.islice(starts(rng), 40):
        for _ in range(rng.randrange(60) if start.batch else 3):
            if start.game.legal():
                start.play(prefer(start.game, rng))
        pending += start.game.deciding not in ("open", "nothing")
        watched = Watched(Game.from_dict(start.game.to_dict()))
        assert watched.events == start.events[len(start.events) - len(watched.events) :]
        for _ in range(10):
            if watched.game.legal():
                watched.play(prefer(watched.game, rng))
    assert pending > 10


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_20_000_decisions(seed: int) -> None:
    check_decisions(seed, 5_000)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 140))
def test_500_000_decisions(seed: int) -> None:
    check_decisions(seed, 12_500)
