"""Shared by the uses of all clients: short games of two, and their players."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

import euphoria_env
from euphoria_env.envs import GYMNASIUM_ID as GYMNASIUM_ID

RULES: dict[str, Any] = {"num_players": 2, "max_turns": 20}
PICTURES: dict[str, Any] = {"render_mode": "rgb_array", "render_size": (320, 224)}


class First:
    """An opponent that costs no time, so that it is the client that is measured."""

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> int:
        return int(mask.argmax())


SEAT: dict[str, Any] = {"opponents": First(), **RULES}
MASKED = {"mask": "observation", **SEAT}


def play_aec(env: Any, games: int = 5) -> int:
    """Plays games of a PettingZoo environment to their ends; returns the number of steps."""
    steps = 0
    for seed in range(games):
        env.reset(seed=seed)
        for _ in env.agent_iter():
            observation, _, over, cut, _ = env.last()
            env.step(None if over or cut else int(observation["action_mask"].argmax()))
            steps += 1
    env.close()
    return steps


def play_vector(env: Any, steps: int = 100) -> int:
    """Plays legal moves in many games of Gymnasium, in any mode of restarting; returns the number of decisions."""
    _, infos = env.reset(seed=1)
    for _ in range(steps):
        *_, over, cut, infos = env.step(infos["action_mask"].argmax(axis=1))
        if env.metadata["autoreset_mode"] is AutoresetMode.DISABLED and (over | cut).any():
            _, infos = env.reset(options={"reset_mask": over | cut})
    env.close()
    return steps * env.num_envs


@contextmanager
def videos() -> Iterator[str]:
    """A folder for recordings; afterwards there must be some.

    Raises:
        RuntimeError: nothing was recorded.
    """
    with tempfile.TemporaryDirectory() as folder:
        yield str(Path(folder, "videos"))
        if not any(path.stat().st_size for path in Path(folder).rglob("*.mp4")):
            raise RuntimeError("no video was written")


def env(**arguments: Any) -> Any:
    """The PettingZoo environment of a short game."""
    return euphoria_env.env(**RULES, **arguments)
