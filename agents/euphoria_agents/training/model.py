"""What a run trains: the games, and the network with its algorithm."""

from __future__ import annotations

from typing import Any

import torch
from sb3_contrib import MaskablePPO

from euphoria_agents.agent import Agent
from euphoria_agents.training.options import Options
from euphoria_agents.training.policy import Policy, RolloutBuffer, make_features
from euphoria_agents.training.vec_env import EuphoriaVecEnv, JoinedVecEnv


def make_envs(options: Options, opponents: list[Agent]) -> JoinedVecEnv:
    """The games, side by side, at first against these opponents."""
    common: dict[str, Any] = {"reward": options.reward, "threads": 1, "pool": opponents}
    rules: dict[str, Any] = {**options.game, "max_turns": options.max_turns}
    return JoinedVecEnv([EuphoriaVecEnv(size, num_players=n, **common, **rules) for n, size in options.shares().items()])


def make_model(options: Options, env: JoinedVecEnv) -> MaskablePPO:
    """The untrained network with its games."""
    torch.set_num_threads(1)
    decisions = options.rollout * env.num_envs  # of an update
    if options.batch < 2 or decisions % options.batch == 1:
        raise ValueError(
            f"batch must be at least 2 and leave no single one of the {decisions} decisions of an update, not {options.batch}"
        )
    return MaskablePPO(
        Policy,
        env,
        n_steps=options.rollout,
        batch_size=min(options.batch, decisions),
        n_epochs=options.epochs,
        learning_rate=lambda left: options.learning_rate * (left + decisions / options.decisions),  # SB3 counts this update too
        gamma=options.gamma,
        gae_lambda=options.gae_lambda,
        clip_range=options.clip,
        ent_coef=options.entropy,
        seed=options.seed,
        rollout_buffer_class=RolloutBuffer,
        tensorboard_log=str(options.run / "tensorboard"),
        policy_kwargs={
            "features": make_features(options.steps),
            "trunk": options.trunk,
            "branch": options.branch,
            "optimizer_kwargs": {"eps": 1e-5, "fused": True},
        },
        device="cpu",
    )
