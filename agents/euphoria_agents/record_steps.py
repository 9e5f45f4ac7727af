"""A recorded game, decision by decision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from euphoria_env import Game, Rules
from euphoria_env.json_reader import read_json


def steps(record: str) -> Iterator[tuple[Game, str]]:
    """The game before each line of a record with that line, and at last as it ends with an empty line; one object all along.

    What the lines say beside the moves is not compared: see `Game.from_record`.

    Raises:
        ValueError: what is no record.
    """
    first, *lines, _ = record.splitlines()
    start = read_json(first)
    if "position" in start:
        game = Game.from_dict(start["position"])
    else:
        game = Game(Rules.from_dict(start.get("rules", {})), start["seed"], start.get("load"))
    for line in lines:
        yield game, line
        if line.startswith("load "):
            game.load(**read_json(line.removeprefix("load ")))
        else:
            game.play(move_of(line))
    yield game, ""


def move_of(line: str) -> str:
    """The move that a line of a record tells of."""
    return line.partition(" | ")[0]


def last_space(lines: Sequence[str]) -> str:
    """Where the last worker was placed by these lines of a record; empty if none was."""
    return next((line.split()[2] for line in reversed(lines) if line.startswith("place ")), "")
