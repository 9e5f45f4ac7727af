"""Measures training with its default options: decisions of the learner per second, playing alone, learning alone and both, for
each number of threads. Beside it, MaskablePPO of Stable-Baselines3 in one thread, against the same opponents in games of four."""

from __future__ import annotations

import dataclasses
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from statistics import median

import numpy as np
import torch
from rich.console import Console
from sb3_contrib import MaskablePPO

from euphoria_agents.dataclass_arguments import command, option, parse_options
from euphoria_agents.progress import Progress
from euphoria_agents.training.config import TRAINING_TURNS
from euphoria_agents.training.config import Options as Training
from euphoria_agents.training.learner import PPO_EPOCHS
from euphoria_agents.training.rollout import Rollout
from euphoria_agents.training.saved_run import open_job
from euphoria_agents.training.threads import Threads
from euphoria_agents.training.trainer import Trainer
from euphoria_env.envs.sb3 import EuphoriaVecEnv
from euphoria_env.trajectories import OPEN

WARM = 12  # updates that do not count: playing gets slower until all games have been seated with past selves
UPDATES = 4  # of a repeat
GAMES, STEPS = 256, 16  # of MaskablePPO: side by side, and decisions of the learner in each between two updates


@dataclasses.dataclass
class Options:
    """Measures the speed of training."""

    threads: list[int] = option([1, 2], "numbers of threads")
    repeats: int = option(3, "measurements, of which the median is printed")
    seed: int = option(0, "of the games and the network")


def measure_ours(size: int, options: Options) -> dict[str, float]:
    """Returns decisions per second of each part of an update."""
    with tempfile.TemporaryDirectory() as folder, closing(Threads(size)) as threads:
        training = Training(run=Path(folder) / "run", threads=size, rating_games=0, seed=options.seed)
        trainer = Trainer(open_job(training), Progress(Console(quiet=True), "training", "decisions"), threads, updates=WARM)
        trainer.train()
        rollouts: list[Rollout] = []

        def play() -> int:
            rollouts.append(trainer.play())
            return int(np.count_nonzero(rollouts[-1].following != OPEN))

        def learn() -> int:
            before = trainer.decisions
            trainer.learn(rollouts.pop())
            return trainer.decisions - before

        def both() -> int:
            play()
            return learn()

        parts = {"playing alone": play, "learning alone": learn, "both": both}
        rates = [{name: rate(part) for name, part in parts.items()} for _ in range(options.repeats)]
    return {name: median(one[name] for one in rates) for name in parts}


def rate(update: Callable[[], int]) -> float:
    """Returns the decisions per second of some updates."""
    start = time.perf_counter()
    return sum(update() for _ in range(UPDATES)) / (time.perf_counter() - start)


def measure_maskable_ppo(options: Options) -> float:
    """Returns the decisions per second of MaskablePPO with its own network."""
    torch.set_num_threads(1)
    ours = Training()
    opponents = {"pool": ours.baselines, "reward": ours.reward, "max_turns": TRAINING_TURNS}
    games = EuphoriaVecEnv(GAMES, num_players=4, threads=1, **opponents)
    model = MaskablePPO("MlpPolicy", games, n_steps=STEPS, batch_size=ours.batch, n_epochs=PPO_EPOCHS, seed=options.seed)
    found = []
    for repeat in range(options.repeats + 1):
        start, before = time.perf_counter(), model.num_timesteps
        model.learn(GAMES * STEPS, reset_num_timesteps=repeat == 0)
        found.append((model.num_timesteps - before) / (time.perf_counter() - start))
    return median(found[1:])  # the first one begins the games


def main() -> None:
    options = parse_options(Options)
    for size in options.threads:
        rates = ", ".join(f"{name} {found:,.0f}" for name, found in measure_ours(size, options).items())
        print(f"{size} thread{'s' * (size > 1)}: {rates} decisions of the learner per second", flush=True)
    print(f"MaskablePPO, 1 thread: {measure_maskable_ppo(options):,.0f} decisions of the learner per second")


if __name__ == "__main__":
    command(main)
