"""Compares an agent with others: the same seeds from every seat, win rates and mean ranks with intervals, time a decision.

In each match all other seats are played by one opponent. "95 %" is Wilson's interval, as if all games were independent; "95 %
paired" takes the mean over the seats of a seed as one observation, which is what the games are.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: small arrays, threads would only wait

import dataclasses
from typing import Any

from rich.console import Console

from euphoria_agents.commands.matches import SCORE_HEADINGS, MatchOptions, Report, milliseconds, score_cells, write_results
from euphoria_agents.matches.arena import Result
from euphoria_agents.matches.tournament import Chunk, comparison, seeds_of_a_chunk
from euphoria_agents.options import command, option, parse_options


@dataclasses.dataclass
class Options(MatchOptions):
    agent: str = option("weights", "the agent, as for euphoria_agents.load")
    against: list[str] = option(["random"], "opponents, one match with each")


def match_report(title: str) -> Report:
    """An empty table for `match_row`."""
    return Report(title, ["agent", "against", *SCORE_HEADINGS, "cut\noff", "ms", "their\nms"], 2)


def match_row(agent: str, opponents: str, result: Result) -> list[str]:
    """The line of the first one of a line-up."""
    times = result.decision_times
    others = sum(times[1:]) / len(times[1:])
    return [agent, opponents, *score_cells(result.scores[0]), str(result.truncated), milliseconds(times[0]), milliseconds(others)]


def evaluate(options: Options, console: Console) -> None:
    """Plays the matches, prints a table for each number of players, and writes the results."""
    size = seeds_of_a_chunk([options.agent, *options.against])
    matches = {
        (rules.num_players, opponent): comparison(options.agent, opponent, rules, options.games, options.seed, size)
        for rules in options.rules()
        for opponent in dict.fromkeys(options.against)
    }
    played = options.play(console, [chunk for chunks in matches.values() for chunk in chunks])
    reports: dict[int, Report] = {}
    results: list[dict[str, Any]] = []
    for (n, opponent), chunks in matches.items():
        result = _joined(played, chunks)
        report = reports.setdefault(n, match_report(f"{n} players; equally good ones would win {1 / n:.0%} each"))
        report.rows.append(match_row(options.agent, f"{n - 1} x {opponent}", result))
        about = {"agent": options.agent, "against": opponent, "players": n, "truncated": result.truncated}
        results.append({**about, **result.scores[0].to_dict()})
    for report in reports.values():
        console.print(report.table())
    if options.out:
        write_results(options.out, results, list(reports.values()))


def _joined(played: dict[Chunk, Result], chunks: list[Chunk]) -> Result:
    return Result.joined([played[chunk] for chunk in chunks])


def main() -> None:
    evaluate(parse_options(Options, __doc__), Console())


if __name__ == "__main__":
    command(main)
