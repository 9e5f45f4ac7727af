"""What a run trains: the games, and the network with its algorithm."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO

from euphoria_agents.agent import Agent
from euphoria_agents.training.options import Options
from euphoria_agents.training.policy import Policy, RolloutBuffer, make_features
from euphoria_agents.training.vec_env import EuphoriaVecEnv, JoinedVecEnv


def make_envs(options: Options, opponents: list[Agent]) -> JoinedVecEnv:
    """The games of a worker, side by side, at first against these opponents."""
    common: dict[str, Any] = {"reward": options.reward, "threads": 1, "pool": opponents}
    rules: dict[str, Any] = {**options.game, "max_turns": options.max_turns}
    return JoinedVecEnv([EuphoriaVecEnv(size, num_players=n, **common, **rules) for n, size in options.shares().items()])


def make_model(options: Options, env: JoinedVecEnv, rank: int = 0) -> MaskablePPO:
    """The untrained network with the games of a worker; the networks of all workers are equal, their generators are not.

    Raises:
        ValueError: the size of a batch does not fit.
    """
    torch.set_num_threads(1)
    workers = options.workers
    decisions, batch = options.rollout * env.num_envs, options.batch // workers  # of an update and a batch; the worker's share
    if batch < 2 or decisions % batch == 1:
        raise ValueError(
            f"batch must be at least 2 for each worker and leave no single one of its {decisions} decisions of an update, "
            f"not {options.batch} for {workers}"
        )
    share = decisions * workers / options.decisions  # of an update in the whole run
    model = MaskablePPO(
        Policy,
        env,
        n_steps=options.rollout,
        batch_size=min(batch, decisions),
        n_epochs=options.epochs,
        learning_rate=lambda left: options.learning_rate * (left + share),  # SB3 counts this update too
        gamma=options.gamma,
        gae_lambda=options.gae_lambda,
        clip_range=options.clip,
        ent_coef=options.entropy,
        seed=options.seed,
        rollout_buffer_class=RolloutBuffer,
        tensorboard_log=str(options.run / "tensorboard") if rank == 0 else None,
        policy_kwargs={
            "features": make_features(options.steps),
            "trunk": options.trunk,
            "branch": options.branch,
            "optimizer_kwargs": {"eps": 1e-5, "fused": True},
        },
        device="cpu",
    )
    if rank:
        model.set_random_seed(int(np.random.SeedSequence([options.seed, rank]).generate_state(1)[0]))
    return model
