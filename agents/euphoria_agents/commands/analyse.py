"""`euphoria analyse`: what an agent thinks of a recorded game."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from euphoria_agents.commands.replay import checked_record
from euphoria_agents.commands.shared_arguments import AnalyseOptions
from euphoria_agents.commands.tables import NAME, Column, ResultTable
from euphoria_agents.files import read_text
from euphoria_agents.matches.tournament import check_counts
from euphoria_agents.play.study.decision_analysis import best_of
from euphoria_agents.play.study.game_analysis import Analysis, Entry
from euphoria_agents.play.study.summary import mistakes, summarise
from euphoria_agents.progress import Progress
from euphoria_env.actions import NAMES

SHOWN = 10  # mistakes in the table
MISTAKES = Column("decision"), Column("player"), Column("played", NAME), Column("better", NAME), Column("regret")
PLAYERS = Column("player"), Column("decisions"), Column("mean\nregret"), Column("mistakes"), Column("luck")


def run(options: AnalyseOptions) -> None:
    """Makes the analysis, writes it, and prints the results.

    Raises:
        ValueError: the record or an option is wrong.
    """
    console = Console(emoji=False, markup=False)
    check_counts(processes=options.processes)
    if not 0 <= options.threshold <= 1:
        raise ValueError(f"threshold must be a number from 0 to 1, not {options.threshold}")
    text = read_text(options.record)
    checked_record(options.record, text)
    analysis, entries = Analysis(text, options.agent, options.seed), list[Entry]()
    with Progress(console, "judging", "decisions", analysis.decisions) as progress:
        judged = analysis.in_file(options.out, options.processes) if options.out else analysis.entries(0, options.processes)
        for entry in judged:
            entries.append(entry)
            progress.advance()
    if all(entry["regret"] is None and entry["values"] is None for entry in entries):
        console.print(f"{options.agent} gives moves no values: it finds neither mistakes nor luck", soft_wrap=True)
    for report in result_tables(entries, analysis.players, options.threshold):
        report.show(console)


def result_tables(entries: Sequence[Entry], players: int, threshold: float) -> list[ResultTable]:
    """Returns the tables of the worst mistakes and of the players."""
    wrong = mistakes(entries, threshold)
    worst = [
        [str(e["ply"]), str(e["player"]), NAMES[e["played"]], NAMES[best_of(e["moves"])[0]], f"{e['regret']:.1%}"]
        for e in wrong[:SHOWN]
    ]
    lines = [
        [
            str(one.player),
            str(one.decisions),
            "" if one.mean_regret is None else f"{one.mean_regret:.2%}",
            "" if one.mean_regret is None else str(one.mistakes),
            "" if one.luck is None else f"{one.luck:+.1%}",
        ]
        for one in summarise(entries, players, threshold)
    ]
    title = f"{len(wrong)} mistakes, which cost more than {threshold:.1%}" + f"; the worst {SHOWN}" * (len(wrong) > SHOWN)
    return [*([ResultTable(title, MISTAKES, worst)] if wrong else []), ResultTable("players", PLAYERS, lines)]
