"""Measures every layer of the environment: medians of several repeats of uniformly random play.

    python benchmarks/run.py --quick                                   # about a minute
    python benchmarks/run.py --json build/bench.json --plot build/bench.png

The machine should have nothing else to do; figures of different runs differ by its load, less so with `--clock cpu`. `compare.py`
compares two of them.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from euphoria_agents.speed.layers import GROUPS, Plan, measure
from euphoria_agents.speed.measure import CLOCKS, Result, choose_clock, readable, report, write

SIZES = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536]
FULL = Plan(list(GROUPS), [2, 4, 6], SIZES, seconds=0.5, repeats=5, seed=0)
QUICK = Plan([group for group in GROUPS if group != "start"], [4], [1, 64, 1024], seconds=0.1, repeats=3, seed=0)


def read_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="4 players, three sizes, short repeats, no cold start")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures, versions and the machine as JSON")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw decisions a second over the number of games")
    parser.add_argument("--groups", nargs="+", choices=GROUPS, metavar="NAME", help=f"only some of: {', '.join(GROUPS)}")
    parser.add_argument("--players", nargs="+", type=int, metavar="P", help=f"default {FULL.players}")
    parser.add_argument("--sizes", nargs="+", type=int, metavar="N", help=f"numbers of games; default {FULL.sizes}")
    parser.add_argument("--seconds", type=float, help=f"of each repeat; default {FULL.seconds}")
    parser.add_argument("--repeats", type=int, help=f"default {FULL.repeats}")
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="cpu: processor time instead, for busy machines")
    parser.add_argument("--seed", type=int, help="of games and moves; default 0")
    found = parser.parse_args(arguments)
    if min([*(found.players or [2]), 2]) < 2 or max([*(found.players or [6]), 6]) > 6:
        parser.error("--players are 2 to 6")
    if min(found.sizes or [1]) < 1 or min(found.repeats or 1, 1) < 1 or (found.seconds is not None and found.seconds <= 0):
        parser.error("--sizes, --repeats and --seconds are positive")
    return found


def make_plan(found: argparse.Namespace) -> Plan:
    """What is measured: the preset, and what the command line says otherwise."""
    preset = QUICK if found.quick else FULL
    given = {field.name: getattr(found, field.name) for field in dataclasses.fields(Plan)}
    return dataclasses.replace(preset, **{name: value for name, value in given.items() if value is not None})


def table(results: Iterable[Result], players: list[int]) -> Table:
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


def plot(results: Iterable[Result], path: Path) -> None:
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
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.tight_layout()
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


def _draw(panel: Any, results: list[Result]) -> None:
    for layer in dict.fromkeys(result.layer for result in results if result.n):
        line = [result for result in results if result.layer == layer]
        label = layer if line[0].unit == "decisions/s" else f"{layer} (the learners' own)"
        panel.plot([result.n for result in line], [result.median for result in line], marker="o", markersize=3, label=label)
    for layer, style in (("engine", "--"), ("AEC raw", ":")):
        for result in results:
            if result.layer == layer:
                panel.axhline(result.median, linestyle=style, color="grey", linewidth=1, label=layer)


def main() -> None:
    """Measures, prints, writes and draws."""
    found, console = read_arguments(), Console()
    plan = make_plan(found)
    choose_clock(found.clock)
    results: list[Result] = []
    with console.status("measuring ...") as status:
        try:
            for result in measure(plan):
                results.append(result)
                where = ", ".join(f"{k} {name}" for k, name in ((result.players, "players"), (result.n, "games")) if k)
                status.update(f"{result.layer}: {readable(result.median, result.unit)} {result.unit} ({where})")
        except KeyboardInterrupt:
            console.print("stopped early")
    console.print(table(results, plan.players))
    written = report(results, {**dataclasses.asdict(plan), "clock": found.clock})
    console.print(", ".join(f"{name} {version}" for name, version in written["versions"].items()))
    console.print(", ".join(f"{name}: {value}" for name, value in written["machine"].items()))
    if found.json:
        write(found.json, written)
        console.print(f"written: {found.json}")
    if found.plot:
        plot(results, found.plot)
        console.print(f"drawn: {found.plot}")


if __name__ == "__main__":
    main()
