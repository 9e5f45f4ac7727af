"""`env` against `raw_env` in PettingZoo's three wrappers, which `env` replaces: the same calls, the same answers."""

from __future__ import annotations

import copy
import pickle
import random
from typing import Any

import numpy as np
import pytest
from pettingzoo.utils import wrappers
from pettingzoo.utils.env_logger import EnvLogger

from euphoria_env import actions, env, raw_env

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
ATTRIBUTES = (
    "agents", "possible_agents", "num_agents", "max_num_agents", "agent_selection", "rewards", "terminations", "truncations",
    "_cumulative_rewards", "metadata", "render_mode", "rules", "state_space",
)  # fmt: skip


def three_wrappers(**rules: Any) -> Any:
    """`raw_env` in the three, outermost last."""
    wrapped = wrappers.TerminateIllegalWrapper(raw_env(**rules), illegal_reward=-1)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(wrapped))


def outcome(game: Any, call: Any) -> Any:
    """The result or the error of a call, and its warnings."""
    EnvLogger.flush()
    try:
        returned = call(game)
    except Exception as error:
        returned = (type(error), str(error)) if hasattr(game, "agents") else "refused before reset"
    return returned, list(dict.fromkeys(EnvLogger.mqueue))


def some_call(rng: random.Random, legal: np.ndarray) -> tuple[str, Any]:
    """A call, now and then a wrong one, and how to name it."""
    kinds = ["play"] * 12 + ["step", "last", "observe", "attribute", "reset", "text", "state", "iterate", "masked"]
    kind, action = rng.choice(kinds), None
    if kind == "play" and len(legal):
        action = rng.choice([int, np.int64, np.int8 if legal[0] < 100 else np.int32, np.asarray])(legal[0])
    elif kind == "step":
        wrong = [
            None,
            -1,
            10**12,
            actions.NUM_ACTIONS,
            3.0,
            "x",
            np.uint64(5),
            np.array([5]),
            actions.parse("done"),
            np.int64(-1),
        ]
        action = rng.choice(wrong)
    if kind in ("play", "step"):
        return f"step({action!r})", lambda game: game.step(action)
    agent, name, seed = f"player_{rng.randrange(3)}", rng.choice(ATTRIBUTES), rng.randrange(100)
    calls: dict[str, Any] = {
        "last": lambda game: game.last(seed % 2 == 0),
        "observe": lambda game: game.observe(agent),
        "attribute": lambda game: (hasattr(game, name), copy.deepcopy(getattr(game, name))),
        "reset": lambda game: game.reset(seed=seed) if seed % 4 == 0 else None,
        "text": lambda game: (str(game), game.render()),
        "state": lambda game: game.state(),
        "iterate": lambda game: list(game.agent_iter(seed % 3)),
        "masked": lambda game: copy.deepcopy(game.infos),
    }
    return f"{kind} {agent} {name} {seed}", calls[kind]


@pytest.mark.parametrize("seed", range(12))
def test_any_calls_have_the_same_outcome(seed: int) -> None:
    rng, rules = random.Random(seed), {"num_players": 3, "max_turns": 4, "render_mode": "ansi", "reward": "stars"}
    ours, theirs = env(**rules), three_wrappers(**rules)
    legal = np.zeros(0, np.int64)
    for k in range(300):
        name, call = some_call(rng, legal)
        ended = getattr(theirs, "agents", None) == []
        if k == 20 or (ended and rng.random() < 0.3):
            name, call = "reset", lambda game: game.reset(seed=seed)
        np.testing.assert_equal(outcome(ours, call), outcome(theirs, call), f"{name} at {k}")
        if hasattr(theirs, "agents"):
            alive = any(not theirs.terminations[a] and not theirs.truncations[a] for a in theirs.agents)
            legal = np.flatnonzero(theirs.unwrapped.game.mask()) if alive else legal[:0]


def test_a_reset_that_fails_leaves_an_environment_unused() -> None:
    game = env(num_players=2)
    with pytest.raises(ValueError, match="position"):
        game.reset(options={"position": []})
    with pytest.raises(AssertionError, match="needs to be called before"):
        game.step(0)
    assert not hasattr(game, "agents")


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda game: pickle.loads(pickle.dumps(game))], ids=["copy", "deep copy", "pickle"]
)
def test_a_copy_plays_on_by_itself(copied: Any) -> None:
    game, played = env(num_players=2, max_turns=6), []
    copied(game).reset(seed=1)
    game.reset(seed=1)
    for _ in range(3):
        game.step(int(np.flatnonzero(game.last()[0]["action_mask"])[-1]))
    for one in (copied(game), game):
        told = []
        while not any(one.truncations.values()):
            told.append(one.last())
            one.step(int(np.flatnonzero(told[-1][0]["action_mask"])[-1]))
        played.append(told)
    np.testing.assert_equal(*played)


# --------------------------------------------------------------------------------------------------- wrappers around it


class Scaled(wrappers.BaseWrapper):
    """Changes observations and actions, as SuperSuit's wrappers do."""

    def observe(self, agent: str) -> Any:
        seen = super().observe(agent)
        return {**seen, "observation": seen["observation"].astype(np.float32) / 127}

    def step(self, action: Any) -> None:
        super().step(action if action is None else np.int64(action))


def test_wrappers_of_users_stand_on_top() -> None:
    plain = env(num_players=3, max_turns=5)
    game = wrappers.OrderEnforcingWrapper(wrappers.TerminateIllegalWrapper(Scaled(env(num_players=3, max_turns=5)), -1))
    game.reset(seed=1)
    plain.reset(seed=1)
    for agent in game.agent_iter():
        seen, reward, terminated, truncated, _ = game.last()
        expected = plain.last()
        assert agent == plain.agent_selection and (reward, terminated, truncated) == expected[1:4]
        assert np.array_equal(seen["action_mask"], expected[0]["action_mask"])
        move = None if truncated else int(np.flatnonzero(seen["action_mask"])[-1])
        game.step(move)
        plain.step(move)
    assert not plain.agents
