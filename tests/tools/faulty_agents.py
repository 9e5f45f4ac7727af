"""Agents that fail in every way, for the processes in which they run."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from euphoria_agents import Agent


class Raises(Agent):
    """Tells the cards that it sees, until there is a file at this path; then it plays."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Any = None) -> int:
        if not self.path.exists():
            raise KeyError(f"my moves are {np.flatnonzero(mask).tolist()}")
        return int(mask.argmax())

    def explain(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Any = None) -> Any:
        self.act(observation, mask, rng, game)
        return super().explain(observation, mask, rng, game)


class Sleeps(Raises):
    """Answers nothing, and ends for nobody, until there is a file at this path; then it plays."""

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Any = None) -> int:
        while not self.path.exists():
            try:
                time.sleep(60)
            except BaseException:
                continue
        return int(mask.argmax())


class Exits(Agent):
    """Ends its process as if all were well."""

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Any = None) -> int:
        os._exit(0)


class Cheats(Agent):
    """Makes every move legal in the mask that it gets, and plays one that is not."""

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Any = None) -> int:
        illegal = int(mask.argmin())
        mask[:] = 1
        return illegal


class Waits(Agent):
    """Waits at every gate, which is a file in this folder: "made", "act" and "explain"; says which process waits there."""

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)
        pass_gate(self.folder, "made")

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Any = None) -> int:
        pass_gate(self.folder, "act")
        return int(mask.argmax())

    def explain(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Any = None) -> Any:
        pass_gate(self.folder, "explain")
        return super().explain(observation, mask, rng, game)


def pass_gate(folder: Path, gate: str) -> None:
    """Waits until there is a file of this name; another one has the process that waits."""
    there = folder / f"{gate}.{os.getpid()}"
    there.touch()
    while not (folder / gate).exists():
        time.sleep(0.01)


def waiting_page(folder: Path, *item: Any) -> str:
    """A page that is not ready before its gate is open."""
    pass_gate(folder, "page")
    return "a page"
