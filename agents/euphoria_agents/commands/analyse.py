"""`euphoria analyse`: what an agent thinks of a recorded game."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from euphoria_agents.commands.compile import prepare
from euphoria_agents.commands.replay import checked_record
from euphoria_agents.commands.shared_arguments import AnalyseOptions
from euphoria_agents.commands.tables import NAME, Column, ResultTable
from euphoria_agents.files import read_text
from euphoria_agents.matches.work import check_counts, players_ended
from euphoria_agents.play.study.decision_analysis import best_of
from euphoria_agents.play.study.game_analysis import Analysis, Entry
from euphoria_agents.play.study.summary import mistakes, summarise, suspects
from euphoria_agents.players.search.searcher import Budget, read_budget
from euphoria_agents.progress import Progress
from euphoria_agents.registry import load
from euphoria_env.actions import NAMES

SHOWN = 10  # mistakes in the table
MISTAKES = Column("decision"), Column("player"), Column("played", NAME), Column("better", NAME), Column("cost")
CHECKED = *MISTAKES, Column("by playouts\n±95 %"), Column("certainty"), Column("pairs", drop=1)
PLAYERS = Column("player"), Column("decisions"), Column("mean\nregret"), Column("mistakes"), Column("luck")


@players_ended()
def run(options: AnalyseOptions) -> None:
    """Makes the analysis, writes it, and prints the results; raises a `ValueError` if the record or an option is wrong."""
    console = Console(emoji=False, markup=False)
    check_counts(processes=options.processes, seed=options.seed)
    if not 0 <= options.threshold <= 1:
        raise ValueError(f"threshold must be a number from 0 to 1, not {options.threshold}")
    budget = None if options.playouts is None else read_budget(options.playouts, "pairs of playouts")
    text = read_text(options.record)
    load(options.agent)
    prepare()
    checked_record(options.record, text)
    analysis, entries = Analysis(text, options.agent, options.seed), list[Entry]()
    with Progress(console, "judging", "decisions", analysis.decisions) as progress:
        judged = analysis.in_file(options.out, options.processes) if options.out else analysis.entries(0, options.processes)
        for entry in judged:
            entries.append(entry)
            progress.advance()
    if all(entry["regret"] is None and entry["values"] is None for entry in entries):
        console.print(f"{options.agent} gives moves no values: it finds neither mistakes nor luck", soft_wrap=True)
    if budget is not None:
        check_mistakes(console, analysis, entries, budget, options)
    for report in result_tables(entries, analysis.players, options.threshold):
        report.show(console)


def check_mistakes(console: Console, analysis: Analysis, entries: list[Entry], budget: Budget, options: AnalyseOptions) -> None:
    """Checks the mistakes by playouts, those with this number of pairs excepted; each result goes into `entries` and the file."""
    wrong = suspects(entries, options.threshold)
    due = [entries[entry["ply"]] for entry in wrong if entry.get("playouts", {}).get("pairs") != budget.simulations]
    with Progress(console, "checking", "mistakes", len(due)) as progress:
        for entry in analysis.with_playouts(due, *budget, options.processes):
            entries[entry["ply"]] = entry
            if options.out:
                analysis.write(options.out, entries)
            progress.advance()


def result_tables(entries: Sequence[Entry], players: int, threshold: float) -> list[ResultTable]:
    """Returns the tables of the worst mistakes, with those that playouts leave uncertain, and of the players."""
    found, wrong = suspects(entries, threshold), mistakes(entries, threshold)
    columns = CHECKED if any("playouts" in entry for entry in found) else MISTAKES
    worst = [
        [str(e["ply"]), str(e["player"]), NAMES[e["played"]], NAMES[best_of(e["moves"])[0]], f"{e['cost']:.1%}", *_checked(e)]
        for e in found[:SHOWN]
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
    title = f"{len(wrong)} mistakes, which cost more than {threshold:.1%}"
    title += f"; {len(found) - len(wrong)} more are not certain" * (len(found) > len(wrong))
    title += f"; the worst {SHOWN}" * (len(found) > SHOWN)
    moves = ResultTable(title, columns, [row[: len(columns)] for row in worst])
    return [*([moves] if found else []), ResultTable("players", PLAYERS, lines)]


def _checked(entry: Entry) -> list[str]:
    """Returns the cells with the result of the playouts."""
    found = entry.get("playouts")
    if found is None:
        return [""] * 3
    sure = min(0.999, found["certainty"])  # never 100 %
    return [f"{found['difference']:.1%} ±{found['margin']:.1%}", f"{sure:.1%}", str(found["pairs"])]
