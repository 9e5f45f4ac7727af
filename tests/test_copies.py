"""Copies and pickles of everything that plays: they go on alike, share no memory with the original, and keep what it promises."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from euphoria_env import Batch, Game, Rules
from euphoria_env.envs.sb3 import EuphoriaVecEnv
from euphoria_env.envs.single import EuphoriaEnv
from euphoria_env.envs.vector import EuphoriaVectorEnv

Copied = Callable[[Any], Any]
WAYS: dict[str, Copied] = {
    "copy": copy.copy, "deepcopy": copy.deepcopy, "pickle": lambda one: pickle.loads(pickle.dumps(copy.copy(one))),
}  # fmt: skip
SHORT = Rules(num_players=3, max_turns=6)


@pytest.fixture(params=WAYS)
def copied(request: pytest.FixtureRequest) -> Copied:
    return WAYS[request.param]


def test_games(copied: Copied) -> None:
    game = Game(SHORT, seed=3)
    game.play(game.legal()[0])
    game.load(dice=[1, 2, 3])
    for one in (game, Game.from_rows(game.states), Batch(2, SHORT, seed=1).game(1), Game.from_dict(game.to_dict())):
        twin, before = copied(one), one.fingerprint()
        assert twin == one and twin.history == one.history and twin.events == one.events
        moves: list[int] = []
        while len(moves) < 20 and twin.legal():
            moves.append(int(twin.legal_actions()[0]))
            twin.play(moves[-1])
        assert one.fingerprint() == before
        for move in moves:
            one.play(move)
        assert one == twin and one.history == twin.history and one.describe() == twin.describe()


class Drawing:
    """An agent without equality or a hash, that draws from its generator."""

    __hash__ = None  # type: ignore[assignment]

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> int:
        return int(rng.choice(np.flatnonzero(mask)))


def played(env: Any, steps: int) -> list[Any]:
    """Plays the first legal moves, and gives what came of them; a single environment begins again after an end."""
    found = []
    for _ in range(steps):
        masks = env.action_masks()
        told = env.step(masks.argmax(axis=-1))
        if isinstance(env, EuphoriaEnv) and (told[2] or told[3]):
            env.reset()
        found.append([np.asarray(part).tolist() for part in told[:3]])
    return found


@pytest.mark.parametrize("opponents", ["random", Drawing(), "weights"], ids=["random", "own", "weights"])
@pytest.mark.parametrize("make", [EuphoriaEnv, partial(EuphoriaVectorEnv, 3), partial(EuphoriaVecEnv, 3)])
def test_environments(copied: Copied, make: Callable[..., Any], opponents: Any) -> None:
    env = make(opponents, num_players=3, max_turns=6, reward="stars")
    if isinstance(env, EuphoriaVecEnv):
        env.seed(5)
        env.reset()
    else:
        env.reset(seed=5)
    played(env, 7)
    twin = copied(env)
    mask, expected = env.action_masks().tolist(), played(twin, 25)
    assert env.action_masks().tolist() == mask
    if isinstance(twin, EuphoriaVectorEnv):
        assert {array.ctypes.data % 64 for array in (twin.learners.batch.observation, twin.learners.batch.mask)} == {0}
    assert played(env, 25) == expected
