"""Rates an agent: many games against each opponent, seats rotated, win rates with intervals."""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: small arrays, threads would only wait

import dataclasses
from collections.abc import Iterator

from options import option, parse_options
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from agents import Agent, load
from agents.arena import Result, play_match


@dataclasses.dataclass
class Options:
    agent: str = option("weights", "the agent to be rated, as for agents.load")
    against: list[str] = option(["random"], "opponents; in each match all other seats are played by one of them")
    players: int = option(4, "number of players, 2 to 6")
    games: int = option(400, "games against each opponent")
    seed: int = option(0, "equal seeds give equal games")


def warm_up() -> None:
    """Compiles what a match needs, so that no match is timed with it."""
    play_match([load("weights"), load("random")], 1)


def rate(
    console: Console, name: str, agent: Agent, against: list[str], players: int, games: int, seed: int
) -> Iterator[tuple[str, Result]]:
    """Plays the matches one after another, under a progress bar."""
    warm_up()
    columns = [
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("games"),
        TimeRemainingColumn(),
    ]
    for opponent in against:
        others = [load(opponent)] * (players - 1)
        with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
            task = bar.add_task(f"{name} against {players - 1} {opponent}", total=games)
            result = play_match([agent, *others], games, seed=seed, progress=lambda n: bar.advance(task, n))  # noqa: B023
        yield opponent, result


def rating_table(title: str) -> Table:
    """An empty table for `add_rating`."""
    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("player", no_wrap=True)
    table.add_column("against", no_wrap=True)
    for heading in ("wins", "95 % interval", "rank", "games", "cut\noff", "decisions\na second"):
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def add_rating(table: Table, name: str, opponents: str, result: Result) -> None:
    """Adds the line of the first player of a match."""
    score = result.scores[0]
    low, high = score.interval
    table.add_row(
        name,
        opponents,
        f"{score.rate:.1%}",
        f"{low:.1%} to {high:.1%}",
        f"{score.mean_rank:.2f}",
        str(result.games),
        str(result.truncated),
        f"{result.decisions / result.seconds:,.0f}",
    )


def print_ratings(console: Console, name: str, agent: Agent, against: list[str], players: int, games: int, seed: int) -> None:
    """Plays and prints the matches of one agent; equal players would win 1 in `players`."""
    table = rating_table(f"{players} players; equally good ones would win {1 / players:.0%} each")
    for opponent, result in rate(console, name, agent, against, players, games, seed):
        add_rating(table, name, f"{players - 1} x {opponent}", result)
    console.print(table)


def main() -> None:
    options = parse_options(Options, __doc__)
    console = Console()
    try:
        agent = load(options.agent)
        print_ratings(console, options.agent, agent, options.against, options.players, options.games, options.seed)
    except ValueError as error:
        raise SystemExit(f"error: {error}") from error
    except KeyboardInterrupt:
        raise SystemExit("\nstopped") from None


if __name__ == "__main__":
    main()
