"""`euphoria tournament`: many agents against each other."""

from __future__ import annotations

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
from euphoria_agents.matches.match import Z_95, MatchResult
from euphoria_agents.matches.tournament import Standing, WorkUnit, schedule, standings

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


def run(options: TournamentOptions) -> None:
    """Plays the tournament, prints the standings, and writes the results."""
    console = Console(emoji=False, markup=False)
    units = [unit for rules in rules_of(options) for unit in schedule(options.agents, rules, options.games, options.seed)]
    played = play_all(options, console, units)
    tables = standings_by_players(played)
    reports = [report(name, table) for name, table in tables.items()]
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
    for one in reports:
        one.show(console)
    console.print(f"{games:,} games, {cut_off:,} of them cut off")
