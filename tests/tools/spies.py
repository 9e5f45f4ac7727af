"""An agent that tries to name the card of another seat by what was seen there: by its object, its process, or through a file."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np

from euphoria_env import actions
from euphoria_env.observations import start_of

CARDS = slice(start_of("own_dilemma"), start_of("own_dilemma") + 6)
CHOICES = np.array([name.startswith("choose ") for name in actions.NAMES])
MEMORY: list[tuple[int, int, str]] = []  # of this process: seat, card and name of each game that any spy began


def card(observation: np.ndarray) -> int:
    """The dilemma of whoever sees this."""
    return int(observation[CARDS].argmax())


def name_of(observation: np.ndarray) -> str:
    """A name of the game and the seat at its first decision."""
    return hashlib.sha256(observation.astype(np.int8).tobytes()).hexdigest()[:24]


class Spy:
    """Plays the first legal move. At its first decision in a game it guesses the card of the other seat, and corrects others.

    As many games as began before this one on its seat began before the guessed one on the other seat: so the games of a deal are
    paired if one memory sees both of its seats in the same order.

    Args:
        how: what remembers: "object", "process" or "file"; then a colon and the path of the file of guesses.
    """

    def __init__(self, how: str) -> None:
        self.how, _, path = how.partition(":")
        self.path, self.own = Path(path), list[tuple[int, int, str]]()

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> int:
        legal = mask != 0
        if legal.sum() == 4 and CHOICES[legal].all():
            self._guess((int(observation[start_of("active")]), card(observation), name_of(observation)))
        return int(legal.argmax())

    def _guess(self, new: tuple[int, int, str]) -> None:
        memory = self._file() if self.how == "file" else MEMORY if self.how == "process" else self.own
        memory.append(new)
        here = [one for one in memory if one[0] == new[0]]
        there = [one for one in memory if one[0] != new[0]]
        with self.path.open("a") as file:
            file.write(json.dumps(["seen", *new]) + "\n")
            for other in there[len(here) - 1 : len(here)]:
                file.write(json.dumps(["guess", new[2], other[1]]) + "\n" + json.dumps(["guess", other[2], new[1]]) + "\n")

    def _file(self) -> list[tuple[int, int, str]]:
        lines = map(json.loads, self.path.read_text().splitlines() if self.path.exists() else [])
        return [(one[1], one[2], one[3]) for one in lines if one[0] == "seen"]


def guesses(path: Path) -> dict[str, int]:
    """The last guess of each game, by its name."""
    lines = map(json.loads, path.read_text().splitlines() if path.exists() else [])
    return {line[1]: line[2] for line in lines if line[0] == "guess"}
