"""`euphoria speed`: measures every layer of the environment, prints and draws the figures."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from rich.console import Console

from euphoria_agents.commands.tables import NAME, TEXT, Column, ResultTable
from euphoria_agents.files import write_figure
from euphoria_agents.interrupts import terminations_are_interrupts
from euphoria_agents.progress import Progress
from euphoria_agents.speed.measure import Measurement, make_report, readable, write_report
from euphoria_agents.speed.settings import Plan, SpeedOptions, TrainingPlan, plan_of, training_plan_of
from euphoria_agents.speed.turns import measure


def table(results: Iterable[Measurement], players: list[int]) -> ResultTable:
    """Returns all figures: a row for each layer and number of games, a column for each number of players."""
    figures = [Column(f"{p}p") for p in players]
    made = ResultTable("medians, by number of players", [Column("layer", NAME), Column("games"), *figures, Column("unit", TEXT)])
    lines: dict[tuple[str, int, str], dict[int, str]] = {}
    for result in results:
        line = lines.setdefault((result.layer, result.n, result.unit), {})
        line[result.players] = readable(result.median, result.unit)
    for (layer, n, unit), line in lines.items():
        cells = [line.get(p, line.get(0, "") if k == 0 else "") for k, p in enumerate(players)]
        made.rows.append([layer, f"{n:,}" if n else "", *cells, unit])
    return made


def training_table(results: Iterable[Measurement]) -> ResultTable:
    """Returns all figures of training, one in each row."""
    columns = Column("training", NAME), Column("median"), Column("unit", TEXT)
    return ResultTable("", columns, [[one.layer, readable(one.median, one.unit), one.unit] for one in results])


def plot(results: Iterable[Measurement], path: Path) -> None:
    """Draws the layers that are measured for many games, a panel for each number of players."""
    from matplotlib.figure import Figure

    results = list(results)
    players = sorted({result.players for result in results if result.unit.endswith("/s")})
    figure = Figure(figsize=(5 * max(1, len(players)), 4.2), dpi=150)
    panels = figure.subplots(1, max(1, len(players)), sharey=True, squeeze=False)
    for panel, p in zip(panels[0], players, strict=False):
        _draw(panel, [result for result in results if result.players == p])
        panel.set(title=f"{p} players", xlabel="games side by side", xscale="log", yscale="log")
        panel.grid(alpha=0.3)
    panels[0][0].set_ylabel("decisions a second")
    panels[0][-1].legend(fontsize="small")
    figure.tight_layout()
    write_figure(path, figure)


def _draw(panel: Any, results: list[Measurement]) -> None:
    for layer in dict.fromkeys(result.layer for result in results if result.n):
        line = [result for result in results if result.layer == layer]
        label = layer if line[0].unit == "decisions/s" else f"{layer} (the learners' own)"
        panel.plot([result.n for result in line], [result.median for result in line], marker="o", markersize=3, label=label)
    for layer, style in (("engine", "--"), ("AEC raw", ":")):
        for result in results:
            if result.layer == layer:
                panel.axhline(result.median, linestyle=style, color="grey", linewidth=1, label=layer)


def _measured(plan: Plan | TrainingPlan) -> Iterator[Measurement]:
    if isinstance(plan, Plan):
        return measure(plan)
    from euphoria_agents.speed.training import measure_training  # brings PyTorch along

    return measure_training(plan)


def _line(result: Measurement) -> str:
    """Returns the line that is printed when a figure is first measured."""
    players = f", {result.players} players" if result.players else ""
    games = f", {result.n:,} game{'s' * (result.n > 1)}" if result.n else ""
    return f"{result.layer}{players}{games}: {readable(result.median, result.unit)} {result.unit}"


def run(options: SpeedOptions) -> None:
    """Measures, prints, writes and draws; writes only a complete measurement."""
    console, plan = Console(emoji=False, markup=False), training_plan_of(options) if options.training else plan_of(options)
    found: dict[tuple[str, int, int], Measurement] = {}
    try:
        with terminations_are_interrupts(), Progress(console, "measuring", "figures") as progress:
            for result in _measured(plan):
                if result.key not in found:
                    console.print(_line(result), highlight=False, soft_wrap=True)
                found[result.key] = result
                progress.show(len(found))
        written = make_report(list(found.values()), dataclasses.asdict(plan))
        if options.json:
            write_report(options.json, written)
        if options.plot:
            plot(list(found.values()), options.plot)
    finally:  # the results so far, also after an interrupt
        results = list(found.values())
        if results:
            (table(results, plan.players) if isinstance(plan, Plan) else training_table(results)).show(console)
    console.print(", ".join(f"{name} {version}" for name, version in written["versions"].items()), soft_wrap=True)
    console.print(", ".join(f"{name}: {value}" for name, value in written["machine"].items()), soft_wrap=True)
    if options.json:
        console.print(f"written: {options.json}", soft_wrap=True)
    if options.plot:
        console.print(f"drawn: {options.plot}", soft_wrap=True)
