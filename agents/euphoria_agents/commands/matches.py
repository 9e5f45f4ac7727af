"""What evaluate.py and tournament.py have in common: their options, the progress bar, tables and files."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from euphoria_agents.files import write_whole
from euphoria_agents.matches.arena import Z_95, Result, Score
from euphoria_agents.matches.processes import in_processes
from euphoria_agents.matches.tournament import Chunk, Journal, check_counts, load_once, play
from euphoria_agents.options import option
from euphoria_env import Game, Rules

COLUMNS = [
    TextColumn("{task.description}"),
    BarColumn(),
    MofNCompleteColumn(),
    TextColumn("games"),
    TimeElapsedColumn(),
    TimeRemainingColumn(),
]


@dataclasses.dataclass
class MatchOptions:
    players: list[int] = option([2], "numbers of players, 2 to 6")
    games: int = option(400, "at least so many games of each agent in each match, at each number of players")
    seed: int = option(0, "equal seeds give equal games, if the agents do not look at the clock")
    processes: int = option(os.cpu_count() or 1, "so many games at once; any number gives the same results")
    ray: bool = option(False, "play on a Ray cluster instead of in processes")
    ray_address: str | None = option(None, "of a cluster that runs, such as auto or host:6379; without it, this machine")
    out: Path | None = option(None, "folder for results; what is finished there is not played again")
    records: Path | None = option(None, "folder that keeps every game as a record, for replay.py")
    trading: bool = option(False, "players may trade")
    trades_per_turn: int = option(1, "offers a player may make in a turn, 0 to 10")
    recruit_draft: bool = option(False, "recruits are drafted")
    market_draft: bool = option(False, "market tiles are drafted")
    track_draft: bool = option(False, "knowledge and morale are drafted")
    doubles_cost_morale: bool = option(False, "a further equal worker costs morale")
    max_turns: int = option(2000, "games are cut off after so many turns")

    def rules(self) -> list[Rules]:
        """The rules of the games, for each number of players.

        Raises:
            ValueError: an option or a number of players that is not allowed.
        """
        names = [field.name for field in dataclasses.fields(Rules)]
        chosen = {name: value for name, value in vars(self).items() if name in names}
        return [Rules(num_players=n, **chosen) for n in dict.fromkeys(self.players)]

    def play(self, console: Console, chunks: Sequence[Chunk]) -> dict[Chunk, Result]:
        """Plays chunks under a progress bar; those that `out` already has are not played again."""
        check_counts(processes=self.processes)
        for folder in filter(None, (self.out, self.records)):
            folder.mkdir(parents=True, exist_ok=True)
        journal = Journal(self.out / "chunks.jsonl" if self.out else None, self.records)
        _warm_up(chunks)
        with Progress(*COLUMNS, console=console, transient=True, disable=not console.is_terminal) as bar:
            task = bar.add_task("playing", total=sum(chunk.games for chunk in chunks))
            return play(chunks, journal, self.executor(), partial(bar.advance, task))

    def executor(self) -> Callable[..., Any]:
        """What plays the chunks."""
        if self.ray:
            from euphoria_agents.matches.cluster import on_ray

            return partial(on_ray, address=self.ray_address)
        return partial(in_processes, processes=self.processes)


def _warm_up(chunks: Sequence[Chunk]) -> None:
    """Lets every agent choose once, so that everything is compiled before it is timed, and before many processes compile it."""
    game, rng = Game(Rules(), seed=0), np.random.default_rng(0)
    for spec in dict.fromkeys(spec for chunk in chunks for spec in chunk.lineup):
        load_once(spec).act(game.observation(game.player), game.mask(), rng, game.determinize(game.player, 0))
    game.play(game.legal()[0])
    game.to_record()


# --------------------------------------------------------------------------------------------------------------- results

SCORE_HEADINGS = ["wins", "95 %", "95 %\npaired", "rank", "games"]


def score_cells(score: Score) -> list[str]:
    """A score as cells of a table, under `SCORE_HEADINGS`."""
    off = f" ±{Z_95 * score.rank_error:.2f}" if np.isfinite(score.rank_error) else ""
    intervals = [f"{100 * low:.1f}-{100 * high:.1f}" for low, high in (score.interval, score.paired_interval)]
    return [f"{score.rate:.1%}", *intervals, f"{score.mean_rank:.2f}{off}", str(score.games)]


def milliseconds(seconds: float) -> str:
    """A time a decision takes, for a table."""
    return f"{1000 * seconds:.2g}" if seconds < 0.1 else f"{1000 * seconds:.0f}"


@dataclasses.dataclass
class Report:
    """A table, to be printed and to be written as Markdown; the first `left` columns are text."""

    title: str
    headings: list[str]
    left: int
    rows: list[list[str]] = dataclasses.field(default_factory=list)

    def table(self) -> Table:
        """The table for a terminal."""
        style: Any = {"title_justify": "left", "title_style": "bold", "box": SIMPLE_HEAD, "padding": 0}
        table = Table(title=self.title, pad_edge=False, **style)
        for k, heading in enumerate(self.headings):
            text = k < self.left
            table.add_column(
                heading, justify="left" if text else "right", no_wrap=not text, overflow="fold", min_width=3 + 5 * text
            )
        for row in self.rows:
            table.add_row(*row)
        return table

    def markdown(self) -> str:
        """The table as Markdown."""
        rule = ["---" if k < self.left else "---:" for k in range(len(self.headings))]
        headings = [heading.replace("\n", " ") for heading in self.headings]
        lines = [f"| {' | '.join(row)} |" for row in (headings, rule, *self.rows)]
        return "\n".join([f"**{self.title}**", "", *lines, ""])


def write_results(folder: Path, results: Any, reports: Sequence[Report]) -> None:
    """Writes results.json and table.md."""
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "results.json", json.dumps(results, indent=1) + "\n")
    write_whole(folder / "table.md", "\n".join(report.markdown() for report in reports))
