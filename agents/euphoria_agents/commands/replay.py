"""`euphoria replay`: a recorded game in the terminal."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from euphoria_agents.commands.options import ReplayOptions
from euphoria_agents.files import write_whole
from euphoria_env import Game, Rules
from euphoria_env.reader import read_json
from euphoria_env.render import board_svg, board_text


def replayed(record: Path) -> Iterator[tuple[Game, str]]:
    """The game before each line of a record with that line, and at last the finished game with an empty line.

    Raises:
        ValueError: the record cannot be read, or is damaged; names the file and the line.
    """
    text = read(record)
    try:
        Game.from_record(text)  # checks everything before the first line is shown
    except ValueError as error:
        raise ValueError(f"{record}: {error}") from error
    first, *lines, _ = text.splitlines()
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
            game.play(line.split(" | ")[0])
    yield game, ""


def show(options: ReplayOptions, console: Console) -> None:
    """Shows the game from a decision on."""
    turn, number = -1, 0  # of the last board, of the next decision
    for game, line in replayed(options.record):
        if number >= options.start:
            due = {"decision": bool(line), "turn": game.turn != turn, "end": False}[options.every] or not line
            if due:
                turn = game.turn
                draw(game, number, options.svg, console)
            if line:
                console.print(f"{number:5}  turn {game.turn:3}  player {game.player}  [bold]{escape(line)}[/]", highlight=False)
                wait(options)
        number += not line.startswith("load ")
    result = f"player {game.winner} has won" if game.over else "cut off" if game.truncated else "not finished"
    ranks = f", ranks {', '.join(map(str, game.ranking))}" if game.ranking else ""
    console.print(f"{result} after {game.turn} turns and {number - 1} decisions{ranks}")


def read(record: Path) -> str:
    """The text of a record.

    Raises:
        ValueError: it cannot be read.
    """
    try:
        return record.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{record} cannot be read: {error}") from error


def draw(game: Game, number: int, svg: Path | None, console: Console) -> None:
    """The board as text, and as a picture if there is a folder for it."""
    console.print(board_text(game), markup=False, highlight=False)
    if svg is not None:
        svg.mkdir(parents=True, exist_ok=True)
        write_whole(svg / f"{number:05}.svg", board_svg(game))


def wait(options: ReplayOptions) -> None:
    """Waits for Enter, or a while."""
    if options.step:
        input()
    elif options.delay:
        time.sleep(options.delay)


def run(options: ReplayOptions) -> None:
    """The command.

    Raises:
        ValueError: the record is damaged, or a number is wrong.
    """
    if options.start < 0 or not options.delay >= 0:
        raise ValueError("--from and --delay must be at least 0")
    show(options, Console(soft_wrap=True))
