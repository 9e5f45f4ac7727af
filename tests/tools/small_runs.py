"""Training runs that are over in seconds, and what is kept of them."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from euphoria_agents.network.checkpoint import read_tensors
from euphoria_agents.training.config import Options
from euphoria_agents.training.saved_run import RUN_FORMAT
from euphoria_agents.training.trainer import Trainer, train

State = tuple[dict[str, Any], dict[str, np.ndarray]]


def options(run: Path, **changed: Any) -> Options:
    """A small run of four updates, with one thread."""
    small = {
        "decisions": 800, "players": [2, 2, 3], "threads": 1, "envs": 9, "batch": 160,
        "game": {"max_turns": 8, **changed.pop("game", {})}, "save_every": 1, "trunk": [16, 12], "afterstates": 8,
        "rating_games": 0, "win_probs_games": 0, "baselines": ["random", "weights"], "learning_rate": 7e-4,
    }  # fmt: skip
    return Options(run=run, **(small | changed))


def arguments(chosen: Options) -> list[str]:
    """The rest of a command line of `euphoria train` with these options."""
    values = {**vars(chosen), **chosen.game}
    del values["game"]
    told = []
    for name, value in values.items():
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            told.append(f"--{flag}" if value else f"--no-{flag}")
        elif value is not None:
            told += [f"--{flag}", *map(str, value if isinstance(value, list) else [value])]
    return told


def go(chosen: Options, updates: int | None = None) -> Trainer:
    """Trains silently, in this process."""
    return train(chosen, Console(quiet=True), updates)


def state_of(folder: Path) -> State:
    """All that is kept of a run, but for clock and folder."""
    facts, arrays = read_tensors(folder / "state.safetensors", RUN_FORMAT)
    return {name: fact for name, fact in facts.items() if name not in ("options", "seconds")}, arrays


def assert_same(one: State, other: State) -> None:
    """Two runs are the same, bit for bit."""
    assert one[0] == other[0]
    assert one[1].keys() == other[1].keys()
    assert [name for name in one[1] if not np.array_equal(one[1][name], other[1][name])] == []


def logged(folder: Path) -> list[dict[str, str]]:
    """The rows of the table of a run."""
    with (folder / "progress.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))
