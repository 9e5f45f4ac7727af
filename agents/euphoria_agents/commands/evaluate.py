"""`euphoria evaluate`: compares an agent with others."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from rich.console import Console

from euphoria_agents.commands.match_output import SCORE_COLUMNS, milliseconds, play_all, rules_of, score_cells, write_results
from euphoria_agents.commands.shared_arguments import GROUPS, EvaluateOptions
from euphoria_agents.commands.tables import NAME, Column, ResultTable
from euphoria_agents.files import write_whole
from euphoria_agents.matches.match import MatchResult, Played, Score
from euphoria_agents.matches.players import seed_for
from euphoria_agents.matches.tournament import comparison
from euphoria_agents.matches.work import check_counts, choose_seed, keep_seed, player, seeds_of_a_unit
from euphoria_agents.provenance import unseen
from euphoria_agents.registry import language_models

TURNS = 50  # the width of a group of games of similar length
Groups = dict[str, dict[int, Score]]  # by a name of `GROUPS` and the group, the score of the agent


def match_report(title: str) -> ResultTable:
    """Returns an empty table for the rows of `match_row`."""
    names, times = (Column("agent", NAME), Column("against", NAME)), (Column("ms", drop=2), Column("their\nms", drop=6))
    return ResultTable(title, [*names, *SCORE_COLUMNS, Column("cut\noff", drop=5), *times])


def match_row(agent: str, opponents: str, result: MatchResult) -> list[str]:
    """Returns the row of a match: the score of the first agent of the line-up, and the times of both sides."""
    times = result.decision_times
    others = sum(times[1:]) / len(times[1:])
    return [agent, opponents, *score_cells(result.scores[0]), str(result.truncated), milliseconds(times[0]), milliseconds(others)]


def group_of(name: str, players: int) -> Callable[[Played], int]:
    """Returns a function that says to which group of `GROUPS` a game of so many players belongs."""
    return {
        "seat": lambda game: game.seat,
        "first": lambda game: (game.seat - game.first) % players,
        "players": lambda game: players,
        "turns": lambda game: game.turns // TURNS * TURNS,
    }[name]


def group_reports(names: Sequence[str], results: Sequence[dict[str, Any]], scores: Sequence[Groups]) -> list[ResultTable]:
    """Returns a table for each way to group games, of results and the scores of their groups."""
    reports = []
    for name in names:
        columns = Column("players"), Column("against", NAME), Column(name), *SCORE_COLUMNS
        rows = [
            [str(result["players"]), result["against"], str(group), *score_cells(one)]
            for result, groups in zip(results, scores, strict=True)
            for group, one in groups[name].items()
        ]
        reports.append(ResultTable(f"{results[0]['agent']}, by {name}: {GROUPS[name]}", [*columns], rows))
    return reports


def run(options: EvaluateOptions) -> None:
    """Plays the matches, prints a table for each number of players, and writes the results."""
    console = Console(emoji=False, markup=False)
    models = {spec: player(spec) for spec in configure_models(options)}  # `play_all` forgets its players at the end
    specs, seed = [options.agent, *options.against], choose_seed(options.seed, options.out or options.transcripts)
    check_counts(seed=seed)
    size, deals = seeds_of_a_unit(specs), seed_for(map(player, specs), seed)
    matches = {
        (rules.num_players, opponent): comparison(options.agent, opponent, rules, options.games, deals, size)
        for rules in rules_of(options)
        for opponent in dict.fromkeys(options.against)
    }
    if options.seed is None:
        keep_seed(options.transcripts, seed)
    try:
        played = play_all(options, console, [unit for units in matches.values() for unit in units], seed)
    finally:
        for spec, model in models.items():
            console.print(f"{spec}: {told_counts(model)}", soft_wrap=True)
    reports: dict[int, ResultTable] = {}
    results: list[dict[str, Any]] = []
    scores: list[Groups] = []
    for (n, opponent), units in matches.items():
        result = MatchResult.joined([played[unit] for unit in units])
        report = reports.setdefault(n, match_report(f"{n} players; equally good ones would win {1 / n:.0%} each"))
        report.rows.append(match_row(options.agent, f"{n - 1} x {opponent}", result))
        about = {"agent": options.agent, "against": opponent, "players": n, "seed": seed, "truncated": result.truncated}
        scores.append({name: result.scores_by(group_of(name, n)) for name in dict.fromkeys(options.by)})
        by = {name: {str(group): one.to_dict() for group, one in groups.items()} for name, groups in scores[-1].items()}
        results.append({**about, "unseen": unseen([result.inputs]), **result.scores[0].to_dict(), **({"by": by} if by else {})})
    tables = [*reports.values(), *group_reports([*scores[0]], results, scores)]
    if options.out:
        write_results(options.out, results, tables)
    if options.json:
        write_whole(options.json, json.dumps({"format": "euphoria-evaluation", "results": results}, indent=1) + "\n")
    for report in tables:
        report.show(console)


def configure_models(options: EvaluateOptions) -> list[str]:
    """Sets how language models are asked, and that they play in this process; returns their specs.

    Raises:
        ValueError: an option is out of range, or the games are to be played on a cluster.
    """
    models = language_models([options.agent, *options.against])
    least = {"concurrency": 1, "max_tokens": 1, "max_cost": 0}
    for name, bound in least.items():
        if (number := getattr(options, name)) is not None and not number >= bound:
            raise ValueError(f"{name.replace('_', '-')} must be at least {bound}, not {number}")
    if models and options.ray:
        raise ValueError("a language model is asked from this process, which counts what it uses up: leave out --ray")
    if models:
        from euphoria_agents.players.llm.agent import SPENT, Settings

        options.processes = 1  # so that one agent counts everything
        SPENT.settings = Settings(options.concurrency, options.transcripts, options.max_tokens, options.max_cost)
    return models


def told_counts(agent: Any) -> str:
    """Returns what an agent counted (`LanguageModel.counts`), in a line."""
    numbers = {name: f"{n:,}" if isinstance(n, int) else f"{n:,.4g}" for name, n in agent.counts().items()}
    return ", ".join(f"{name.replace('_', ' ')} {number}" for name, number in numbers.items())
