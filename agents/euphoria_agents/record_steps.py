"""A recorded game, decision by decision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from euphoria_env import Game
from euphoria_env.record import replayed


def steps(record: str) -> Iterator[tuple[Game, str]]:
    """The games of `euphoria_env.record.replayed`, with their lines."""
    return replayed(record, Game)


def move_of(line: str) -> str:
    """The move in a line of a record."""
    return line.partition(" | ")[0]


def last_space(lines: Sequence[str]) -> str:
    """The space where these lines of a record placed the last worker; empty if they placed none."""
    return next((line.split()[2] for line in reversed(lines) if line.startswith("place ")), "")
