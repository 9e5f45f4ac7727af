"""A recorded game, decision by decision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from euphoria_env import Game
from euphoria_env.record import replayed


def steps(record: str) -> Iterator[tuple[Game, str]]:
    """The games of `euphoria_env.record.replayed`, with their lines."""
    return replayed(record, Game)


def move_of(line: str) -> str:
    """The move that a line of a record tells of."""
    return line.partition(" | ")[0]


def last_space(lines: Sequence[str]) -> str:
    """Where the last worker was placed by these lines of a record; empty if none was."""
    return next((line.split()[2] for line in reversed(lines) if line.startswith("place ")), "")
