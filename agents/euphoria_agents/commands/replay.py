"""`euphoria replay`: shows a recorded game as text, or writes it as a page."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.text import Text

from euphoria_agents.commands.shared_arguments import ReplayOptions
from euphoria_agents.files import read_text, write_whole
from euphoria_agents.play import Seat
from euphoria_agents.record_steps import Replayed, steps
from euphoria_env import Game
from euphoria_env.render import board_svg, board_text


def checked_record(record: Path, text: str) -> Game:
    """Reads a record and returns its game at the end; a `ValueError` names the file and the line."""
    try:
        return Game.from_record(text)
    except ValueError as error:
        raise ValueError(f"{record}: {error}") from error


def show(options: ReplayOptions, text: str, console: Console) -> None:
    """Prints the game of a record from a decision on, or one decision alone."""
    turn, number = -1, 0  # the turn of the last board printed, and the number of the next decision
    first = options.start if options.decision is None else options.decision
    for game, line in steps(text):
        if number > first and options.decision is not None:
            return
        if number >= first:
            due = {"decision": bool(line), "turn": game.turn != turn, "end": False}[options.every] or not line
            if due:
                turn = game.turn
                draw(game, number, options.svg, console)
            if line:
                told = f"{number:5}  turn {game.turn:3}  player {game.player}  ", (line, "bold")
                console.print(Text.assemble(*told), highlight=False)
        number += not line.startswith("load ")
    result = f"player {game.winner} has won" if game.over else "cut off" if game.truncated else "not finished"
    ranks = f", ranks {', '.join(map(str, game.ranking))}" if game.ranking else ""
    console.print(f"{result} after {game.turn} turns and {number - 1} decisions{ranks}")


def draw(game: Game, number: int, svg: Path | None, console: Console) -> None:
    """Prints the board, and writes it as a picture if `svg` names a folder."""
    console.print(board_text(game), highlight=False)
    if svg is not None:
        write_whole(svg / f"{number:05}.svg", board_svg(game))


def write_page(page: Path, options: ReplayOptions, text: str) -> None:
    """Writes the game of a record as an HTML page; raises a `ValueError` if an option or the analysis is wrong."""
    from euphoria_agents.play.study.game_analysis import saved_entries
    from euphoria_agents.play.web.replay_page import EVERYBODY, MOVERS, replay_page

    game = Replayed.from_record(text)
    entries = saved_entries(options.analysis, text, game) if options.analysis else []
    view = options.view or (MOVERS if options.analysis else EVERYBODY)
    names = [Seat(name).name for name in options.names or (f"Player {k + 1}" for k in range(game.rules.num_players))]
    if len(names) != game.rules.num_players:
        raise ValueError(f"--names takes a name for each of the {game.rules.num_players} players, not {len(names)}")
    write_whole(page, replay_page(game, names, int(view) if view.isdecimal() else view, entries, options.language or "en"))


def run(options: ReplayOptions) -> None:
    """Shows the recorded game, or writes it as a page; raises a `ValueError` if the record or an option is wrong."""
    text = read_text(options.record)
    game = checked_record(options.record, text)
    if not 0 <= options.start <= len(game.history):
        raise ValueError(f"--from must be from 0 to {len(game.history)}, the decisions of this game, not {options.start}")
    if options.decision is not None and (options.start or options.html):
        raise ValueError("--decision goes with neither --from nor --html")
    if options.decision is not None and not 0 <= options.decision < len(game.history):
        raise ValueError(f"--decision must be one of the {len(game.history)} of this game, from 0, not {options.decision}")
    if options.html:
        write_page(options.html, options, text)
        return
    if alone := [f"--{name}" for name in ("analysis", "view", "names", "language") if getattr(options, name) is not None]:
        raise ValueError(f"{alone[0]} is of the page: name its file by --html")
    show(options, text, Console(soft_wrap=True, emoji=False, markup=False))
