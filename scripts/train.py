"""Trains a player with sb3-contrib's MaskablePPO on one seat against a mixture of opponents, then rates it."""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: small arrays, threads would only wait

import dataclasses
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from options import option, parse_options
from rating import print_ratings
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecEnv, VecMonitor

from agents import Agent, load
from agents.ppo import save_checkpoint
from euphoria_env.envs.single import EuphoriaEnv
from euphoria_env.observations import FIELDS

SAVE_EVERY = 300.0  # seconds
FULL_SCALE = 6  # a count of so many goes into the network as 1


@dataclasses.dataclass
class Options:
    checkpoint: Path = option(Path("checkpoints/ppo.safetensors"), "where the network is written, whole or not at all")
    players: int = option(4, "number of players, 2 to 6")
    opponents: list[str] = option(["random", "weights"], "each other seat is played by one of these, drawn for every game")
    reward: str = option("stars", "what is learnt from: win, rank or stars")
    max_turns: int = option(600, "training games are cut off after so many turns")
    steps: int = option(2_000_000, "decisions of the learner")
    minutes: float | None = option(None, "stop after so many minutes, if that comes first")
    envs: int = option(16, "games side by side")
    processes: bool = option(False, "a process for each game; worth it only for slow opponents on many cores")
    rollout: int = option(256, "decisions in each game between two updates")
    batch: int = option(1024, "decisions in a step of the optimizer")
    epochs: int = option(4, "how often an update goes through its decisions")
    learning_rate: float = option(5e-4, "of Adam")
    gamma: float = option(0.995, "discount of a decision")
    gae_lambda: float = option(0.95, "of the advantage estimate")
    entropy: float = option(0.01, "weight of the entropy bonus")
    hidden: list[int] = option([256, 128], "width of the layers: the first is shared by policy and value")
    threads: int = option(1, "of PyTorch; for a network this small and a busy machine more of them only cost")
    seed: int = option(0, "of the games and the network")
    tensorboard: Path | None = option(None, "folder for TensorBoard")
    rating_games: int = option(400, "games against each opponent after training; 0: none")


class TrainingEnv(EuphoriaEnv):
    """The single environment with opponents drawn from a pool for every game."""

    def __init__(self, pool: list[Agent], **arguments: Any) -> None:
        self._pool = pool
        self._draw = np.random.default_rng()
        super().__init__(opponents=pool[0], **arguments)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        if seed is not None:
            self._draw = np.random.default_rng(seed)
        self.set_opponents([self._pool[k] for k in self._draw.integers(len(self._pool), size=self.rules.num_players - 1)])
        return super().reset(seed=seed, options=options)


class Trunk(BaseFeaturesExtractor):
    """The scaled observation through the first layer."""

    def __init__(self, observation_space: Any, features_dim: int) -> None:
        super().__init__(observation_space, features_dim)
        scale = np.concatenate([np.full(field.size, 1 / min(field.high, FULL_SCALE), np.float32) for field in FIELDS])
        self.register_buffer("scale", torch.from_numpy(scale))
        self.linear = torch.nn.Linear(len(scale), features_dim)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(observations * self.scale))


class Reporter(BaseCallback):
    """Moves the progress bar, stops in time, and saves now and then."""

    def __init__(self, options: Options, bar: Progress, task: TaskID) -> None:
        super().__init__()
        self._options, self._bar, self._task = options, bar, task
        self._start = self._saved = time.monotonic()

    def _on_step(self) -> bool:
        seconds = time.monotonic() - self._start
        limit = self._options.minutes
        done = max(self.num_timesteps / self._options.steps, seconds / 60 / limit if limit else 0.0)
        speed = f"{self.num_timesteps:,} decisions, {self.num_timesteps / seconds:,.0f}/s"
        self._bar.update(self._task, completed=min(done, 1.0), report=speed + self._won())
        return not limit or seconds < 60 * limit

    def _won(self) -> str:
        recent = self.model.ep_success_buffer
        return f", won {np.mean(recent):.0%} of {len(recent)}" if recent else ""

    def _on_rollout_end(self) -> None:
        if time.monotonic() - self._saved > SAVE_EVERY:
            save(self._options, self.model)
            self._saved = time.monotonic()


def make_envs(options: Options) -> VecEnv:
    """The games, side by side; their opponents are shared where that is possible."""
    pool = [load(spec) for spec in options.opponents]

    def make() -> TrainingEnv:
        return TrainingEnv(pool, reward=options.reward, num_players=options.players, max_turns=options.max_turns)

    make().reset(seed=0)  # says what is wrong, and compiles, before there are processes
    makers = [make] * options.envs
    return VecMonitor(SubprocVecEnv(makers) if options.processes else DummyVecEnv(makers))


def make_model(options: Options) -> MaskablePPO:
    """The untrained network with its games."""
    torch.set_num_threads(options.threads)
    first, *others = options.hidden
    return MaskablePPO(
        "MlpPolicy",
        make_envs(options),
        n_steps=options.rollout,
        batch_size=min(options.batch, options.rollout * options.envs),
        n_epochs=options.epochs,
        learning_rate=options.learning_rate,
        gamma=options.gamma,
        gae_lambda=options.gae_lambda,
        ent_coef=options.entropy,
        seed=options.seed,
        tensorboard_log=str(options.tensorboard) if options.tensorboard else None,
        policy_kwargs={
            "net_arch": others,
            "activation_fn": torch.nn.ReLU,
            "features_extractor_class": Trunk,
            "features_extractor_kwargs": {"features_dim": first},
        },
        device="cpu",
    )


def learn(options: Options, model: MaskablePPO, console: Console) -> None:
    """Trains under a progress bar and saves; Ctrl-C ends it early, and saves what was learnt until then."""
    columns = [TextColumn("training"), BarColumn(20), TimeElapsedColumn(), TextColumn("{task.fields[report]}")]
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("training", total=1.0, report="")
        try:
            model.learn(options.steps, callback=Reporter(options, bar, task))
        except KeyboardInterrupt:
            console.print("stopped early")
    save(options, model)


def tensors(policy: Any) -> dict[str, np.ndarray]:
    """The tensors of a policy under the names of `agents.ppo`."""
    parts = {
        "trunk": [policy.features_extractor.linear],
        "policy": [*policy.mlp_extractor.policy_net, policy.action_net],
        "value": [*policy.mlp_extractor.value_net, policy.value_net],
    }
    found = {"scale": policy.features_extractor.scale}
    for part, modules in parts.items():
        for k, layer in enumerate(module for module in modules if isinstance(module, torch.nn.Linear)):
            found |= {f"{part}.{k}.weight": layer.weight, f"{part}.{k}.bias": layer.bias}
    return {name: tensor.detach().cpu().numpy() for name, tensor in found.items()}


def save(options: Options, model: MaskablePPO) -> Path:
    """Writes the checkpoint."""
    training = {name: str(value) if isinstance(value, Path) else value for name, value in vars(options).items()}
    return save_checkpoint(options.checkpoint, tensors(model.policy), training | {"decisions_learnt": int(model.num_timesteps)})


def main() -> None:
    options = parse_options(Options, __doc__)
    console = Console()
    try:
        learn(options, make_model(options), console)
        console.print(f"written: {options.checkpoint}")
        if options.rating_games:
            agent = load(f"ppo:{options.checkpoint}")
            opponents = list(dict.fromkeys(options.opponents))
            print_ratings(console, "ppo", agent, opponents, options.players, options.rating_games, options.seed)
    except ValueError as error:
        raise SystemExit(f"error: {error}") from error
    except KeyboardInterrupt:
        raise SystemExit("\nstopped") from None


if __name__ == "__main__":
    main()
