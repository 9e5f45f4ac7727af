"""`euphoria tournament`: plays many agents against each other."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from euphoria_agents.commands.match_output import (
    SCORE_COLUMNS,
    milliseconds,
    play_all,
    rules_of,
    score_cells,
    write_results,
)
from euphoria_agents.commands.shared_arguments import TournamentOptions
from euphoria_agents.commands.tables import NAME, Column, ResultTable
from euphoria_agents.files import read_text, write_figure
from euphoria_agents.matches.match import Z_95, MatchResult
from euphoria_agents.matches.tournament import Standing, WorkUnit, schedule, standings
from euphoria_agents.play.study.stars import STAR_SOURCES, stars_by_source

ALL = "all"  # the standings over all numbers of players


def standings_by_players(played: dict[WorkUnit, MatchResult]) -> dict[str, list[Standing]]:
    """Returns the standings for each number of players, and over all of them if there are several."""
    groups: dict[str, dict[WorkUnit, MatchResult]] = {}
    for unit, result in played.items():
        groups.setdefault(str(unit.rules.num_players), {})[unit] = result
    if len(groups) > 1:
        groups[ALL] = played
    return {name: standings(group) for name, group in groups.items()}


def report(name: str, table: list[Standing]) -> ResultTable:
    """Returns the standings as a table."""
    title = "all numbers of players" if name == ALL else f"{name} players"
    rows = [
        [line.agent, f"{line.mu:.2f} ±{Z_95 * line.sigma:.2f}", *score_cells(line.score), milliseconds(line.decision_time)]
        for line in table
    ]
    return ResultTable(title, [Column("agent", NAME), Column("rating\n±95 %"), *SCORE_COLUMNS, Column("ms", drop=2)], rows)


def star_report(units: Iterable[WorkUnit], records: Path) -> ResultTable:
    """Returns a table of the mean number of stars that each agent places in a game, by their source, from the games' records."""
    stars: dict[str, Counter[str]] = defaultdict(Counter)
    games = Counter[str]()
    for unit in units:
        for k, name in enumerate(unit.record_names()):
            for seat, placed in enumerate(stars_by_source(read_text(records / name))):
                agent = unit.lineup[(seat - k) % len(unit.lineup)]
                stars[agent].update(placed)
                games[agent] += 1
    rows = [[agent, *(f"{placed[source] / games[agent]:.2f}" for source in STAR_SOURCES)] for agent, placed in stars.items()]
    columns = [Column("agent", NAME), *(Column(source.replace(" ", "\n")) for source in STAR_SOURCES)]
    return ResultTable("stars a game, by what placed them", columns, sorted(rows))


def plot(tables: dict[str, list[Standing]]) -> Any:
    """Returns a figure of the ratings, and of how often each agent ranks above each other one."""
    from matplotlib.figure import Figure

    names = [line.agent for line in list(tables.values())[-1]]
    size = 2.0 + 0.6 * len(names)
    figure = Figure(figsize=(5 + (size + 1) * len(tables), size + 0.5), layout="constrained")
    axes = figure.subplots(1, 1 + len(tables))
    for k, (name, table) in enumerate(tables.items()):
        places = [names.index(line.agent) + 0.15 * k for line in table]
        errors = [Z_95 * line.sigma for line in table]
        axes[0].errorbar([line.mu for line in table], places, xerr=errors, fmt="o", capsize=3, label=f"{name} players")
        _head_to_head(axes[k + 1], name, names, table)
    axes[0].set(title="rating with 95 % interval", yticks=range(len(names)), yticklabels=names)
    axes[0].invert_yaxis()
    axes[0].legend()
    return figure


def _head_to_head(axes: Any, name: str, names: list[str], table: list[Standing]) -> None:
    """Draws a matrix: how often the agent of the row ranks above the agent of the column."""
    lines = {line.agent: line for line in table}
    shares = [[_share(lines[row], column) for column in names] for row in names]
    axes.imshow(np.array(shares, float), vmin=0, vmax=1, cmap="RdYlGn")
    for row, column in itertools.product(range(len(names)), repeat=2):
        if shares[row][column] is not None:
            axes.text(column, row, f"{shares[row][column]:.0%}", ha="center", va="center")
    axes.set(title=f"{name} players: row above column", xticks=range(len(names)), yticks=range(len(names)), yticklabels=names)
    axes.set_xticklabels(names, rotation=45, ha="right")


def _share(line: Standing, opponent: str) -> float | None:
    """Returns the share of games in which an agent ranked above an opponent; None if they have not met."""
    won, met = line.beaten.get(opponent, (0.0, 0))
    return won / met if met else None


def run(options: TournamentOptions) -> None:
    """Plays the tournament, prints the standings, and writes the results."""
    console = Console(emoji=False, markup=False)
    units = [unit for rules in rules_of(options) for unit in schedule(options.agents, rules, options.games, options.seed)]
    played = play_all(options, console, units)
    tables = standings_by_players(played)
    reports = [report(name, table) for name, table in tables.items()]
    if options.records:
        reports.append(star_report(played, options.records))
    games, cut_off = sum(result.games for result in played.values()), sum(result.truncated for result in played.values())
    if options.out:
        results = {
            "seed": options.seed,
            "rules": [rules.to_dict() for rules in rules_of(options)],
            "games": games,
            "truncated": cut_off,
            "standings": {name: [line.to_dict() for line in table] for name, table in tables.items()},
        }
        write_results(options.out, results, reports)
        write_figure(options.out / "plot.png", plot(tables))
    for one in reports:
        one.show(console)
    console.print(f"{games:,} games, {cut_off:,} of them cut off")
