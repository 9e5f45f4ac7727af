"""`euphoria tournament`: plays many agents against each other."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from euphoria_agents import charts
from euphoria_agents.commands.match_output import SCORE_COLUMNS, milliseconds, play_all, rules_of, score_cells, write_results
from euphoria_agents.commands.shared_arguments import TournamentOptions
from euphoria_agents.commands.tables import NAME, Column, ResultTable
from euphoria_agents.files import read_text, write_figure
from euphoria_agents.matches.match import Z_95, MatchResult
from euphoria_agents.matches.tournament import Standing, schedule, standings
from euphoria_agents.matches.work import WorkUnit, choose_seed
from euphoria_agents.play.study.stars import STAR_SOURCES, stars_by_source
from euphoria_agents.provenance import unseen

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


def plot(tables: dict[str, list[Standing]], figure: Any) -> None:
    """Fills a figure with the ratings, and with how often each agent ranks above each other one."""
    names = [line.agent for line in list(tables.values())[-1]]
    ratings, *others = figure.subplots(len(tables) // 2 + 1, 2).flat
    for k, (name, table) in enumerate(tables.items()):
        title, lines = report(name, table).title, [next(line for line in table if line.agent == agent) for agent in names]
        ends = [line.mu + Z_95 * line.sigma for line in lines]
        places = [row + 0.8 * (k + 0.5) / len(tables) - 0.4 for row in range(len(names))]
        style = {"color": charts.SERIES[k % 5], "fmt": charts.MARKERS[k % 5]}
        ratings.errorbar([line.mu for line in lines], places, xerr=[Z_95 * line.sigma for line in lines], **style)
        ratings.annotate(title, (ends[0], places[0]), (4, 0), textcoords="offset points", va="center")
        _head_to_head(others[k], title, names, lines)
    ratings.set(title="Ratings (openskill), 95 % intervals", yticks=range(len(names)), yticklabels=names)
    ratings.invert_yaxis()
    for unused in others[len(tables) :]:
        unused.set_axis_off()


def _head_to_head(axes: Any, title: str, names: list[str], lines: list[Standing]) -> None:
    """Draws a matrix: how often the agent of the row ranks above the agent of the column; among equals half of the games."""
    shares = [[_share(line, column) for column in names] for line in lines]
    axes.imshow(np.array(shares, float), vmin=-0.5, vmax=1.5, cmap="PuOr")  # beyond 0 and 1, where colours are too dark for texts
    for row, column in itertools.product(range(len(names)), repeat=2):
        if (share := shares[row][column]) is not None:
            axes.text(column, row, f"{100 * share:.0f} %", ha="center", va="center")
    axes.set(title=f"{title[0].upper()}{title[1:]}: row ranks above column", xticks=range(len(names)), yticks=range(len(names)))
    axes.set_xticklabels(names, rotation=45, ha="right")
    axes.set_yticklabels(names)
    axes.grid(visible=False)


def _share(line: Standing, opponent: str) -> float | None:
    """Returns the share of games in which an agent ranked above an opponent; None if they have not met."""
    won, met = line.beaten.get(opponent, (0.0, 0))
    return won / met if met else None


def run(options: TournamentOptions) -> None:
    """Plays the tournament, prints the standings, and writes the results."""
    console = Console(emoji=False, markup=False)
    seed = choose_seed(options.seed, options.out)
    units = [unit for rules in rules_of(options) for unit in schedule(options.agents, rules, options.games, seed)]
    played = play_all(options, console, units, seed)
    tables = standings_by_players(played)
    reports = [report(name, table) for name, table in tables.items()]
    if options.records:
        reports.append(star_report(played, options.records))
    games, cut_off = sum(result.games for result in played.values()), sum(result.truncated for result in played.values())
    if options.out:
        results = {
            "seed": seed,
            "rules": [rules.to_dict() for rules in rules_of(options)],
            "games": games,
            "truncated": cut_off,
            "unseen": unseen(result.inputs for result in played.values()),
            "standings": {name: [line.to_dict() for line in table] for name, table in tables.items()},
        }
        write_results(options.out, results, reports)
        size = 2 + 0.6 * len(options.agents)
        with charts.chart(2 * size + 3, (len(tables) // 2 + 1) * size) as figure:
            plot(tables, figure)
            write_figure(options.out / "plot.png", figure)
    for one in reports:
        one.show(console)
    console.print(f"{games:,} games, {cut_off:,} of them cut off")
