"""Masked PPO on our vector environment and on Stable-Baselines3's own, with its wrappers."""

from __future__ import annotations

from typing import Any

import gymnasium
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor, VecNormalize, VecVideoRecorder

from euphoria_env.envs.sb3 import EuphoriaVecEnv
from scripts.clients.common import GYMNASIUM_ID, MASKED, PICTURES, SEAT, videos

NAMES = ("stable-baselines3", "sb3-contrib", "moviepy")
STEPS = 512


def learn(games: Any, policy: str = "MlpPolicy", steps: int = STEPS) -> int:
    MaskablePPO(policy, games, n_steps=steps // games.num_envs // 2, n_epochs=2, device="cpu").learn(steps)
    games.close()
    return steps


def recorded() -> int:
    with videos() as folder:
        games = VecVideoRecorder(EuphoriaVecEnv(4, **SEAT, **PICTURES), folder, lambda step: step == 0, video_length=10)
        return learn(games, steps=128)


USES = {
    "`MaskablePPO` on `EuphoriaVecEnv`": lambda: learn(EuphoriaVecEnv(8, **SEAT)),
    "the same, mask in the observation, `MultiInputPolicy`": lambda: learn(EuphoriaVecEnv(8, **MASKED), "MultiInputPolicy"),
    "`MaskablePPO` on `VecNormalize(VecMonitor(EuphoriaVecEnv))`": lambda: learn(
        VecNormalize(VecMonitor(EuphoriaVecEnv(8, **SEAT)))
    ),
    "`MaskablePPO` on `DummyVecEnv` of `make`": lambda: learn(DummyVecEnv([lambda: gymnasium.make(GYMNASIUM_ID, **SEAT)] * 4)),
    "`VecVideoRecorder` on `EuphoriaVecEnv`": recorded,
}
