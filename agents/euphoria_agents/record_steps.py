"""Replays a recorded game decision by decision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np

from euphoria_env import Game, actions
from euphoria_env.event_kinds import KIND_ROWS
from euphoria_env.game import Opening
from euphoria_env.record import replayed

_OUTCOMES = [row.outcome for row in KIND_ROWS.values()]


class Replayed(Game):
    """A game that keeps its state before each decision, and how the turn of each decision began."""

    @cached_property
    def before(self) -> list[np.ndarray]:
        """The state before each decision, an array of one row."""
        return []

    @cached_property
    def openings(self) -> list[Opening]:
        """The beginning of the turn of each decision."""
        return []

    @cached_property
    def played(self) -> list[int]:
        """The action ids of the moves played."""
        return []

    def play(self, move: str | int, outcomes: Sequence[Sequence[Any]] | None = None) -> None:
        """Plays a move; see `Game.play`."""
        state = self.states.copy()
        super().play(move, outcomes)
        self.before.append(state)
        self.openings.append(self._opening)
        self.played.append(actions.parse(move) if isinstance(move, str) else actions.number(move))

    def clone(self) -> Self:
        """Returns an exact copy, history included."""
        other = super().clone()
        other.before, other.openings, other.played = self.before.copy(), self.openings.copy(), self.played.copy()
        return other

    __copy__ = clone

    def mover(self, ply: int) -> int:
        """Returns the seat that made a decision; the first decision is 0."""
        return int(self.before[ply]["player"][0])

    def at(self, ply: int) -> Game:
        """Returns the game before a decision, or at its end; its history begins with the turn of that decision."""
        return self._played_from(self.openings[ply] if ply < len(self.openings) else self._turn, ply)

    def by_chance(self, ply: int) -> list[tuple[str, int]]:
        """Returns the random outcomes between a decision and the next, each as its kind and its player; -1: nobody."""
        decided = self.decided(ply)[0]
        events: list[list[int]] = self.event_array(None)[decided.first : decided.end].tolist()
        return sorted({(_OUTCOMES[kind], player) for kind, player, *_ in events if _OUTCOMES[kind]})


def steps(record: str) -> Iterator[tuple[Replayed, str]]:
    """Yields the game before each line of a record, with that line, and then at its end; see `euphoria_env.record.replayed`."""
    return replayed(record, Replayed)


def last_space(lines: Sequence[str]) -> str:
    """Returns the space where these moves, or lines of a record, placed the last worker; empty if they placed none."""
    return next((line.split()[2] for line in reversed(lines) if line.startswith("place ")), "")
