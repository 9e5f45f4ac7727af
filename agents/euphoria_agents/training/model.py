"""What a run trains: the games, and the network with its algorithm."""

from __future__ import annotations

from collections import Counter
from typing import Any

import torch

from euphoria_agents.agent import Agent
from euphoria_agents.training.buffers import RolloutBuffer, SparseBuffer
from euphoria_agents.training.learner import Learner
from euphoria_agents.training.options import Options
from euphoria_agents.training.policy import DensePolicy, Policy, make_features
from euphoria_agents.training.vec_env import EuphoriaVecEnv, JoinedVecEnv


def make_envs(options: Options, opponents: list[Agent]) -> JoinedVecEnv:
    """The games, side by side, at first against these opponents."""
    shares = Counter(options.players)
    common: dict[str, Any] = {"reward": options.reward, "threads": 1, "pool": opponents}
    rules: dict[str, Any] = {**options.game, "max_turns": options.max_turns}
    sizes = {n: options.envs * share // len(options.players) for n, share in sorted(shares.items())}
    return JoinedVecEnv([EuphoriaVecEnv(size, num_players=n, **common, **rules) for n, size in sizes.items()])


def make_model(options: Options, env: JoinedVecEnv, device: str = "cpu") -> Learner:
    """The untrained network with its games.

    Args:
        device: where the network is trained; on others than the processor as a dense one.

    Raises:
        ValueError: there is no such device, or the batch does not fit the decisions of an update.
    """
    torch.set_num_threads(1)
    decisions = options.rollout * env.num_envs  # of an update
    if options.batch < 2 or decisions % options.batch == 1:
        raise ValueError(
            f"batch must be at least 2 and leave no single one of the {decisions} decisions of an update, not {options.batch}"
        )
    if device not in devices():
        raise ValueError(f"device must be one that is here ({', '.join(devices())}), not {device!r}")
    sparse, features = device == "cpu", make_features(options.steps)
    return Learner(
        Policy if sparse else DensePolicy,
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
        rollout_buffer_class=SparseBuffer if sparse else RolloutBuffer,
        rollout_buffer_kwargs={"features": features} if sparse else {},
        tensorboard_log=str(options.run / "tensorboard"),
        policy_kwargs={
            "features": features,
            "trunk": options.trunk,
            "branch": options.branch,
            "optimizer_kwargs": {"eps": 1e-5, "fused": True},
        },
        device=device,
    )


def devices() -> list[str]:
    """The devices that are here, by PyTorch's names."""
    cards = [f"cuda:{k}" for k in range(torch.cuda.device_count())]
    return ["cpu", *(["cuda", *cards] if cards else [])]
