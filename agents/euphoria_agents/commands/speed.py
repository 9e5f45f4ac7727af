"""`euphoria speed`: every layer of the environment, measured, printed and drawn."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from euphoria_agents.files import write_whole
from euphoria_agents.speed.layers import Plan, measure
from euphoria_agents.speed.measure import Measurement, readable, report, write
from euphoria_agents.speed.settings import SpeedOptions, TrainingPlan, plan_of, training_plan_of


def table(results: Iterable[Measurement], players: list[int]) -> Table:
    """All figures: a line for each layer and number of games, a column for each number of players."""
    made = Table(
        "layer", "games", *[f"{p}p" for p in players], "unit", title="medians, for so many players", title_justify="left"
    )
    for column in made.columns[1:-1]:
        column.justify = "right"
    lines: dict[tuple[str, int, str], dict[int, str]] = {}
    for result in results:
        line = lines.setdefault((result.layer, result.n, result.unit), {})
        line[result.players] = readable(result.median, result.unit)
    before, before_n = "", 0
    for (layer, n, unit), line in lines.items():
        if layer != before and (n or before_n):
            made.add_section()
        columns = [line.get(p, line.get(0, "") if k == 0 else "") for k, p in enumerate(players)]
        made.add_row(layer if layer != before else "", f"{n:,}" if n else "", *columns, unit)
        before, before_n = layer, n
    return made


def training_table(results: Iterable[Measurement]) -> Table:
    """All figures of training, a line each."""
    made = Table("training", "median", "unit")
    made.columns[1].justify = "right"
    for result in results:
        if result.more_is_better:
            made.add_section()
        made.add_row(result.layer, readable(result.median, result.unit), result.unit)
    return made


def plot(results: Iterable[Measurement], path: Path) -> None:
    """Draws the layers that are measured for many games, a panel for each number of players."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    results = list(results)
    players = sorted({result.players for result in results if result.unit.endswith("/s")})
    figure, panels = pyplot.subplots(1, max(1, len(players)), figsize=(5 * max(1, len(players)), 4.2), sharey=True, squeeze=False)
    for panel, p in zip(panels[0], players, strict=False):
        _draw(panel, [result for result in results if result.players == p])
        panel.set(title=f"{p} players", xlabel="games side by side", xscale="log", yscale="log")
        panel.grid(alpha=0.3)
    panels[0][0].set_ylabel("decisions a second")
    panels[0][-1].legend(fontsize="small")
    figure.tight_layout()
    image = io.BytesIO()
    figure.savefig(image, format=path.suffix[1:] or "png", dpi=150)
    pyplot.close(figure)
    write_whole(path, image.getvalue())


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


def run(options: SpeedOptions) -> None:
    """The command: measures, prints, writes and draws; only a whole measurement is written."""
    console, plan = Console(emoji=False), training_plan_of(options) if options.training else plan_of(options)
    results: list[Measurement] = []
    with console.status("measuring ...") as status:
        try:
            for result in _measured(plan):
                results.append(result)
                where = ", ".join(f"{k} {name}" for k, name in ((result.players, "players"), (result.n, "games")) if k)
                status.update(f"{result.layer}: {readable(result.median, result.unit)} {result.unit}{where and f' ({where})'}")
        finally:  # what there is, also after an interrupt
            status.stop()
            console.print(table(results, plan.players) if isinstance(plan, Plan) else training_table(results))
    written = report(results, dataclasses.asdict(plan))
    console.print(", ".join(f"{name} {version}" for name, version in written["versions"].items()))
    console.print(", ".join(f"{name}: {value}" for name, value in written["machine"].items()))
    if options.json:
        write(options.json, written)
        console.print(f"written: {options.json}")
    if options.plot:
        plot(results, options.plot)
        console.print(f"drawn: {options.plot}")
