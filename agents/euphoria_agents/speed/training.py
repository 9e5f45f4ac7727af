"""Measures the speed of training: playing alone, learning alone, and both, with each number of threads."""

from __future__ import annotations

import importlib.util
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
from rich.console import Console

from euphoria_agents.progress import Progress
from euphoria_agents.speed.measure import Measurement
from euphoria_agents.speed.settings import TrainingPlan
from euphoria_agents.training.config import TRAINING_TURNS, Options
from euphoria_agents.training.learner import PPO_EPOCHS
from euphoria_agents.training.rollout import Rollout
from euphoria_agents.training.saved_run import open_job
from euphoria_agents.training.threads import Threads
from euphoria_agents.training.trainer import Trainer
from euphoria_env.trajectories import OPEN

WARM = 12  # updates that do not count: playing gets slower until all games have been seated with past selves
UPDATES = 4  # of a repeat
MASKABLE_PLAYERS = 4  # its environments are of one number
GAMES, STEPS = 256, 16  # of MaskablePPO: side by side, and decisions of the learner in each between two updates
UNIT = "own decisions/s"
TASKS = Path("/proc/self/task")  # of Linux: a folder for each thread
MOST_WAITING = 20  # per cent of the time that the threads ran; with more the figures are worthless


def measure_training(plan: TrainingPlan) -> Iterator[Measurement]:
    """Yields decisions of the learner per second with the default options of `train`, and how long the threads waited for a core.

    MaskablePPO learns from games of four.
    """
    for size in plan.threads:
        with tempfile.TemporaryDirectory() as folder, closing(Threads(size)) as threads:
            options = Options(run=Path(folder) / "run", threads=size, seed=plan.seed)
            bar = Progress(Console(quiet=True), "training", "decisions")
            trainer = Trainer(open_job(options), bar, threads, updates=WARM)
            trainer.train()
            name, before = f"training, {size} thread{'s' * (size > 1)}", _scheduled()
            for part, rates in _rates(trainer, plan.repeats).items():
                yield Measurement(f"{name}: {part}", 0, options.envs, UNIT, rates)
            if before is not None and (now := _scheduled()) is not None and now[0] > before[0]:
                waited = 100 * (now[1] - before[1]) / (now[0] - before[0])
                worthless = f", more than {MOST_WAITING} %: the figures above are worthless" * (waited > MOST_WAITING)
                yield Measurement(f"{name}: waiting for a core, of the time run{worthless}", 0, options.envs, "%", [waited])
    if importlib.util.find_spec("sb3_contrib"):
        yield Measurement("MaskablePPO on EuphoriaVecEnv", MASKABLE_PLAYERS, GAMES, UNIT, _rates_of_maskable_ppo(plan))


def _scheduled() -> tuple[float, float] | None:
    """Returns how long the threads of this process have run, and how long they waited for a core; None if the system hides it."""
    try:
        found = [(TASKS / task / "schedstat").read_text().split() for task in os.listdir(TASKS)]
    except OSError:
        return None
    return sum(int(ran) for ran, *_ in found) / 1e9, sum(int(waited) for _, waited, _ in found) / 1e9


def _rates(trainer: Trainer, repeats: int) -> dict[str, list[float]]:
    """Returns decisions per second of each part of an update, one for each repeat."""

    def play() -> int:
        rollouts.append(trainer.play())
        return int(np.count_nonzero(rollouts[-1].following != OPEN))

    def learn() -> int:
        before = trainer.decisions
        trainer.learn(rollouts.pop())
        return trainer.decisions - before

    def advance() -> int:
        before = trainer.decisions
        trainer.advance()
        return trainer.decisions - before

    rollouts: list[Rollout] = []
    found: dict[str, list[float]] = {"playing alone": [], "learning alone": [], "both": []}
    for _ in range(repeats):
        found["playing alone"].append(_rate(play))
        found["learning alone"].append(_rate(learn))
        found["both"].append(_rate(advance))
    return found


def _rate(update: Callable[[], int]) -> float:
    """Returns decisions per second of some updates."""
    start = time.perf_counter()
    done = sum(update() for _ in range(UPDATES))
    return done / (time.perf_counter() - start)


def _rates_of_maskable_ppo(plan: TrainingPlan) -> list[float]:
    """Measures decisions per second of sb3-contrib's MaskablePPO with its own network, in one thread, against the same agents."""
    import torch
    from sb3_contrib import MaskablePPO

    from euphoria_env.envs.sb3 import EuphoriaVecEnv

    torch.set_num_threads(1)
    options = Options()
    games = EuphoriaVecEnv(
        GAMES, pool=options.baselines, reward=options.reward, num_players=MASKABLE_PLAYERS, max_turns=TRAINING_TURNS, threads=1
    )
    model = MaskablePPO("MlpPolicy", games, n_steps=STEPS, batch_size=options.batch, n_epochs=PPO_EPOCHS, seed=plan.seed)
    found = []
    for repeat in range(plan.repeats + 1):
        start, before = time.perf_counter(), model.num_timesteps
        model.learn(GAMES * STEPS, reset_num_timesteps=repeat == 0)
        found.append((model.num_timesteps - before) / (time.perf_counter() - start))
    return found[1:]  # the first one begins the games
