"""Opponents in compiled code play the same games, move for move, as if the environments asked the same agents in Python."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from euphoria_agents import Agent, load
from euphoria_agents.network.checkpoint import read_checkpoint
from euphoria_agents.players import ppo
from euphoria_agents.players.random import Uniform
from euphoria_agents.players.search.playouts import random_unit
from euphoria_env import Rules
from euphoria_env.engine.chance import random_bits
from euphoria_env.envs import single_agent_games
from euphoria_env.envs.single import EuphoriaEnv
from euphoria_env.envs.text import EuphoriaTextEnv
from euphoria_env.envs.vector import EuphoriaVectorEnv


class Drawn:
    """Draws the numbers that compiled code draws, from the generator of its game."""

    def __init__(self, state: np.ndarray) -> None:
        self.state = state

    def random(self, size: int | None = None) -> Any:
        return random_unit(self.state) if size is None else np.array([random_unit(self.state) for _ in range(size)])

    def integers(self, high: int) -> int:
        random_bits(self.state)  # compiled code draws a number for a choice by probabilities first
        return int(random_bits(self.state))


class Hidden(Agent):
    """Chooses as another agent in compiled code does, but only in Python; `drawn` is the generator."""

    drawn: Drawn

    def __init__(self, agent: Any) -> None:
        self.agent, self.needs_game = copy.copy(agent), agent.needs_game or agent.needs_deals
        self.agent.takes_wins = False

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: Any, game: Any = None) -> int:
        return int(self.agent.act(observation, mask, self.drawn, game))


class Fixed(Agent):
    """Plays the legal move that its observation names; counts what it was asked."""

    asked = 0

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Any = None) -> int:
        self.asked += 1
        legal = np.flatnonzero(mask)
        return int(legal[int(observation.astype(np.int64).sum()) % len(legal)])


RANDOM, WEIGHTS, GREEDY, NETWORK, PYTHON = load("random"), load("weights"), load("greedy:1"), load("ppo"), Fixed()
HEADS = {name: array / 2 if name.startswith("policy") else array for name, array in read_checkpoint(ppo.SHIPPED)[1].items()}
OTHER_NETWORK = ppo.PPO.of(HEADS)
BUILT_IN = {"random": RANDOM, "weights": WEIGHTS, "greedy": GREEDY, "network": NETWORK}
SHAPED = {"potential": {"goods": 0.1, "morale": -1.0}, "gamma": 0.9, "end": "rank"}
LINE_UPS: dict[str, Any] = {
    **BUILT_IN,
    "seats": [OTHER_NETWORK, WEIGHTS, RANDOM, PYTHON, NETWORK],
    "mixture": [(PYTHON, 1), (RANDOM, 1), (WEIGHTS, 1), (NETWORK, 1), (OTHER_NETWORK, 1)],
}


def hidden(opponents: Any) -> Any:
    """Returns opponents of which all but the one in Python are hidden, each in an object of its own."""
    if isinstance(opponents, tuple):
        return hidden(opponents[0]), opponents[1]
    if isinstance(opponents, list):
        return [hidden(one) for one in opponents]
    return opponents if opponents is PYTHON else Hidden(opponents)


def moves_of(masks: np.ndarray, rng: np.random.Generator) -> Any:
    """Returns random legal moves; 0 where none is legal."""
    return (rng.random(masks.shape) * masks).argmax(axis=-1)


def asked_in_python(env: EuphoriaVectorEnv, monkeypatch: pytest.MonkeyPatch) -> EuphoriaVectorEnv:
    """Makes hidden opponents draw from the generators of their games."""
    learners, ask = env.learners, env.learners.query

    def query(agent: Any, games: np.ndarray, rng: Any) -> tuple[np.ndarray, float]:
        moves = []
        for i in games.tolist():
            agent.drawn = Drawn(learners.opponents.learners["generator"][i])
            moves.append(int(ask(agent, np.array([i]), rng)[0][0]))
        return np.array(moves), 0.0

    monkeypatch.setattr(learners, "query", query)
    monkeypatch.setattr(single_agent_games, "Generators", lambda *_: lambda agent: None)  # nobody draws from the environment's
    return env


def same(one: Any, other: Any) -> None:
    """Checks that two environments told the same."""
    np.testing.assert_equal(plain(one), plain(other))


def plain(told: Any) -> Any:
    """Returns what was told with arrays of objects as lists, which numpy can compare."""
    if isinstance(told, dict):
        return {key: plain(value) for key, value in told.items()}
    objects = isinstance(told, np.ndarray) and told.dtype.kind == "O"
    return [plain(part) for part in told] if objects or isinstance(told, tuple | list) else told


MODES = list(AutoresetMode)
ONE_EACH = [Rules(num_players=n, max_turns=5 + n, trading=n == 4) for n in (2, 3, 4, 5, 6)]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("name", "reward", "events"), [("seats", SHAPED, 4), ("mixture", {"stars": 1.0, "goods": 0.1}, 0)])
def test_line_ups_of_many_games(name: str, reward: Any, events: int, mode: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Games of 2 to 6 players, with opponents of all kinds, in every autoreset mode; they change in the middle."""
    arguments: dict[str, Any] = {"rules": ONE_EACH, "reward": reward, "events": events, "autoreset_mode": mode}
    pair = compare(LINE_UPS[name], arguments, 60, monkeypatch, change=30)
    assert pair[0].learners.opponents.compiled is not None and pair[1].learners.opponents.compiled is None


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_opponents_of_many_games(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    n = 20 if name == "greedy" else 6  # with `greedy` more than in one call of compiled code
    steps = 4 if name == "greedy" else 80
    compare(LINE_UPS[name], {"num_players": 3, "max_turns": 20, "reward": "win"}, steps, monkeypatch, n)


def compare(
    opponents: Any, arguments: dict[str, Any], steps: int, monkeypatch: pytest.MonkeyPatch, n: int = 5, change: int = -1
) -> list[EuphoriaVectorEnv]:
    """Plays the same in an environment and in one that asks its opponents in Python; returns both."""
    pair = [EuphoriaVectorEnv(n, one, **arguments) for one in (opponents, hidden(opponents))]
    asked_in_python(pair[1], monkeypatch)
    rng, ended, ends = np.random.default_rng(3), np.zeros(n, np.bool_), 0
    told = [env.reset(seed=4) for env in pair]
    same(*told)
    for step in range(steps):
        if step == change:
            pair[0].set_opponents(pool=[WEIGHTS, NETWORK])
            pair[1].set_opponents(pool=[Hidden(WEIGHTS), Hidden(NETWORK)])
        if pair[0].autoreset_mode is AutoresetMode.DISABLED and ended.any():
            told = [env.reset(options={"reset_mask": ended}) for env in pair]
            same(*told)
        moves = moves_of(told[0][1]["action_mask"], rng)
        results = [env.step(moves) for env in pair]
        same(*results)
        same(*([env.learners.ready.game(i).fingerprint() for i in range(n)] for env in pair))
        told = [(result[0], result[4]) for result in results]
        ended = results[0][2] | results[0][3]
        ends += int(ended.sum())
    assert ends or n == 20
    return pair


@pytest.mark.parametrize("players", [2, 4, 6])
@pytest.mark.parametrize("name", LINE_UPS)
def test_one_game(name: str, players: int) -> None:
    opponents = LINE_UPS[name][: players - 1] if name == "seats" else LINE_UPS[name]
    arguments: dict[str, Any] = {"num_players": players, "max_turns": 6, "reward": SHAPED, "events": 3, "mask": "observation"}
    alone = EuphoriaEnv(hidden(opponents), **arguments)
    pair, generator = (EuphoriaEnv(opponents, **arguments), alone), alone._line_up.learners["generator"][0]
    for agent in alone._line_up.agents:
        agent.drawn = Drawn(generator)  # type: ignore[attr-defined]
    rng = np.random.default_rng(1)
    for seed in range(2 if name == "greedy" else 5):
        told = [env.reset(seed=seed) for env in pair]
        same(*told)
        over, steps = False, 0
        while not over and (name != "greedy" or steps < 6):
            move = int(moves_of(told[0][1]["action_mask"], rng))
            results = [env.step(move) for env in pair]
            same(*results)
            same(*(env.game.fingerprint() for env in pair))
            told, over, steps = [(result[0], result[4]) for result in results], results[0][2] or results[0][3], steps + 1


def test_changed_opponents_of_one_game() -> None:
    """A game keeps its opponents to its end, whether those that follow are compiled or not."""
    for first, second in ((WEIGHTS, PYTHON), (PYTHON, WEIGHTS), (RANDOM, NETWORK), ([(PYTHON, 1), (RANDOM, 0)], [(PYTHON, 1)])):
        found = []
        for changed in (False, True):
            env = EuphoriaEnv(first, num_players=3, max_turns=8)
            info, rng, played = env.reset(seed=2)[1], np.random.default_rng(0), list[Any]()
            while "ranking" not in info:
                if changed and len(played) == 3:
                    env.set_opponents(second)
                observation, reward, _, _, info = env.step(int(moves_of(info["action_mask"], rng)))
                played.append((observation.tolist(), reward))
            found.append(played)
            env.reset()
        assert found[0] == found[1]


class Mine(Uniform):
    """Its own `act`, as a subclass of an agent with compiled code."""

    asked = 0

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Any = None) -> int:
        self.asked += 1
        return int(np.flatnonzero(mask)[-1])

    def act_batch(self, observations: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return np.array([self.act(*one, rng) for one in zip(observations, masks, strict=True)])


def changed() -> Uniform:
    """Returns an agent that is one of this project, but for its functions."""
    agent, other = Uniform(), Mine()
    agent.act, agent.act_batch, agent.other = other.act, other.act_batch, other  # type: ignore
    return agent


@pytest.mark.parametrize("make", [Mine, changed])
@pytest.mark.parametrize("others", [[], [RANDOM, WEIGHTS]])
def test_who_chooses_in_another_way_is_asked(make: Callable[[], Any], others: list[Any]) -> None:
    agent = make()
    counter = getattr(agent, "other", agent)
    opponents = [agent, *others] if others else agent
    env = EuphoriaVectorEnv(3, opponents, num_players=4)
    infos = env.reset(seed=0)[1]
    for _ in range(5):
        infos = env.step(infos["action_mask"].argmax(axis=1))[4]
    asked, one = counter.asked, EuphoriaEnv(opponents, num_players=4)
    info = one.reset(seed=0)[1]
    for _ in range(5):
        info = one.step(int(info["action_mask"].argmax()))[4]
    assert asked > 5 and counter.asked > asked + 3


def test_games_do_not_depend_on_the_threads_or_on_the_opponents_of_others() -> None:
    rules = [Rules(num_players=2 + i % 3, max_turns=6) for i in range(512)]
    found = []
    for threads, opponents in ((1, [(RANDOM, 1)]), (2, [(RANDOM, 1)]), (2, [(RANDOM, 1), (WEIGHTS, 0)])):
        env, rng = EuphoriaVectorEnv(512, opponents, rules=rules, seat=0, threads=threads), np.random.default_rng(0)
        told, played = env.reset(seed=3), list[Any]()
        for _ in range(12):
            result = env.step(moves_of(told[1]["action_mask"], rng))
            told = result[0], result[4]
            played.append((result[1].tolist(), env.learners.ready.states.tobytes()))
        found.append(played)
    assert found[0] == found[1] == found[2]
    lone = EuphoriaVectorEnv(512, WEIGHTS, rules=rules, seat=0)
    lone.reset(seed=3)
    generators = lone.learners.opponents.learners["generator"]
    assert len(np.unique(generators, axis=0)) == 512


def test_others_name_no_module_that_gets_the_games(monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent from elsewhere with `compiled` is asked in Python, since the module would get all hidden cards."""
    monkeypatch.setattr(Fixed, "compiled", "nowhere.to_be_found", raising=False)
    for opponents in (Fixed(), [Fixed(), WEIGHTS, Fixed()]):
        env = EuphoriaVectorEnv(2, opponents, num_players=4)
        env.step(env.reset(seed=0)[1]["action_mask"].argmax(axis=1))
        strangers = [agent for agent in env.learners.opponents.agents if isinstance(agent, Fixed)]
        assert len(strangers) == (2 if isinstance(opponents, list) else 3) and all(agent.asked for agent in strangers)


def test_who_chooses_in_another_way_is_asked_and_gets_deals() -> None:
    agent, asked = ppo.PPO.of(HEADS), list[int]()

    def act_batch(observations: Any, masks: Any, rng: Any, deal: Any) -> Any:
        assert np.array_equal(deal(0).observation(deal(0).player), observations[0])
        asked.append(len(masks))
        return masks.argmax(axis=1)

    agent.act_batch = act_batch
    EuphoriaEnv(agent, num_players=4, seat=3).reset(seed=0)
    assert asked and set(asked) == {1}


@pytest.mark.parametrize(
    "opponents",
    [WEIGHTS, [PYTHON, WEIGHTS, RANDOM], [(PYTHON, 1), (NETWORK, 2), (RANDOM, 1)]],
    ids=["one for all", "by seat", "a mixture"],
)
def test_spared_games_keep_players_seats_and_generators(opponents: Any) -> None:
    """They go on as if no others began again; and those that do are the same, whichever are spared."""
    fresh = np.array([False, True, False, True])

    def play(**reset: Any) -> tuple[np.ndarray, np.ndarray]:
        env = EuphoriaVectorEnv(4, opponents, num_players=4)
        told = env.reset(seed=1)
        for step in range(12):
            if step == 4 and reset:
                told = env.reset(**reset)
            if step == 4:
                who = env.learners.opponents.learners[["seat", "agents", "generator"]].copy()
            result = env.step(told[1]["action_mask"].argmax(axis=1))
            told = result[0], result[4]
        with pytest.raises(ValueError, match="read-only"):
            env.learners.seats[0] = 77
        return who, env.learners.batch.states.copy()

    for old, masked, new in zip(play(), play(seed=7, options={"reset_mask": fresh}), play(seed=7), strict=True):
        assert np.array_equal(masked[~fresh], old[~fresh]) and np.array_equal(masked[fresh], new[fresh])
        assert not (masked[fresh] == old[fresh]).any()


def test_the_text_environment_follows_every_move_of_its_opponents() -> None:
    env = EuphoriaTextEnv("weights", num_players=4)
    info = env.reset(seed=1)[1]
    for _ in range(10):
        assert env.game.states.tobytes() == env._rows.tobytes() and len(env.game.to_record().splitlines()) > 1
        info = env.step(info["legal"][0])[4]
