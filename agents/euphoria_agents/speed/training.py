"""How fast training is: with one worker, with two, and so on."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

from euphoria_agents.speed.measure import Measurement
from euphoria_agents.speed.settings import TrainingPlan
from euphoria_agents.training.config import Options
from euphoria_agents.training.run import train

WARM = 12  # updates that do not count: playing gets slower until all games have been seated with past selves
UPDATES = 4  # of a repeat
PARTS = ("playing", "learning", "waiting")  # of a worker's time; saves and ratings are left out


def measure_training(plan: TrainingPlan) -> Iterator[Measurement]:
    """Decisions of the learner a second with the default options, and the shares of playing, learning and waiting."""
    for size in plan.workers:
        with tempfile.TemporaryDirectory() as folder:
            options = Options(run=Path(folder) / "run", workers=size, rating_games=0, seed=plan.seed)
            run = train(options, Console(quiet=True), updates=WARM + plan.repeats * UPDATES)
        done = run.decisions / run.update
        chunks = [run.spent[first : first + UPDATES] for first in range(WARM, WARM + plan.repeats * UPDATES, UPDATES)]
        spent = {part: [sum(one.get(part, 0.0) for one in chunk) for chunk in chunks] for part in PARTS}
        whole = [sum(parts) for parts in zip(*spent.values(), strict=True)]
        name = f"training, {size} worker{'s' * (size > 1)}"
        yield Measurement(name, 0, 0, "own decisions/s", [UPDATES * done / seconds for seconds in whole])
        for part, seconds in spent.items():
            shares = [100 * mine / all_of_it for mine, all_of_it in zip(seconds, whole, strict=True)]
            yield Measurement(f"{name}: {part}", 0, 0, "%", shares)
