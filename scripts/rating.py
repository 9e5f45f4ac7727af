"""Matches of an agent that is at hand, one after another under a progress bar; evaluate.py is the command for all others."""

from __future__ import annotations

from collections.abc import Iterator

from evaluate import match_report, match_row
from matches import COLUMNS
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from agents import Agent, load
from agents.arena import Result, play_match


def warm_up() -> None:
    """Compiles what a match needs, so that no match is timed with it."""
    play_match([load("weights"), load("random")], 1)


def rate(
    console: Console, name: str, agent: Agent, against: list[str], players: int, games: int, seed: int
) -> Iterator[tuple[str, Result]]:
    """Plays the matches one after another, under a progress bar."""
    warm_up()
    for opponent in against:
        others = [load(opponent)] * (players - 1)
        with Progress(*COLUMNS, console=console, transient=True, disable=not console.is_terminal) as bar:
            task = bar.add_task(f"{name} against {players - 1} {opponent}", total=games)
            result = play_match([agent, *others], games, seed=seed, progress=lambda n: bar.advance(task, n))  # noqa: B023
        yield opponent, result


def rating_table(title: str) -> Table:
    """An empty table for `add_rating`."""
    return match_report(title).table()


def add_rating(table: Table, name: str, opponents: str, result: Result) -> None:
    """Adds the line of the first player of a match."""
    table.add_row(*match_row(name, opponents, result))


def print_ratings(console: Console, name: str, agent: Agent, against: list[str], players: int, games: int, seed: int) -> None:
    """Plays and prints the matches of one agent; equal players would win 1 in `players`."""
    table = rating_table(f"{players} players; equally good ones would win {1 / players:.0%} each")
    for opponent, result in rate(console, name, agent, against, players, games, seed):
        add_rating(table, name, f"{players - 1} x {opponent}", result)
    console.print(table)
