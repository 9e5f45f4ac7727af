"""What a run trains: the games, and the network with its algorithm."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from euphoria_agents.agent import Agent
from euphoria_agents.training.buffers import RolloutBuffer, SparseBuffer
from euphoria_agents.training.config import CARDS, Options
from euphoria_agents.training.learner import Learner
from euphoria_agents.training.policy import DensePolicy, Policy, make_features
from euphoria_agents.training.rules_mixture import game_parts
from euphoria_env.envs.sb3 import EuphoriaVecEnv, JoinedVecEnv


def make_envs(options: Options, opponents: list[Agent], rank: int = 0) -> JoinedVecEnv:
    """The games of a worker, side by side, at first against these opponents."""
    common: dict[str, Any] = {"reward": options.reward, "threads": 1, "pool": opponents}
    return JoinedVecEnv([EuphoriaVecEnv(games, **common, **rules) for games, rules in game_parts(options, rank)])


def make_model(options: Options, env: JoinedVecEnv, rank: int = 0) -> Learner:
    """The untrained network with the games of a worker; the networks of all workers are equal, their generators are not.

    On the processor the network is a sparse one, elsewhere a dense one.

    Raises:
        ValueError: there is no such device.
    """
    torch.set_num_threads(1)
    decisions, batch = options.rollout * env.num_envs, options.batch // options.workers  # the worker's share
    if options.device not in devices():
        raise ValueError(f"device must be one that is here ({', '.join(devices())}), not {options.device!r}")
    share = decisions * options.workers / options.total  # of an update in the whole run
    sparse, features = options.device == "cpu", make_features(options.steps)
    model = Learner(
        Policy if sparse else DensePolicy,
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
        rollout_buffer_class=SparseBuffer if sparse else RolloutBuffer,
        rollout_buffer_kwargs={"features": features} if sparse else {},
        tensorboard_log=str(options.run / "tensorboard") if rank == 0 else None,
        policy_kwargs={
            "features": features,
            "trunk": options.trunk,
            "branch": options.branch,
            "described": CARDS[options.cards],
            "optimizer_kwargs": {"eps": 1e-5, "fused": True},
        },
        device=options.device,
    )
    if rank:
        model.set_random_seed(int(np.random.SeedSequence([options.seed, rank]).generate_state(1)[0]))
    return model


def devices() -> list[str]:
    """The devices that are here, by PyTorch's names."""
    cards = [f"cuda:{k}" for k in range(torch.cuda.device_count())]
    return ["cpu", *(["cuda", *cards] if cards else [])]
