"""`euphoria speed`: measures every layer of the environment."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterable, Iterator

from rich.console import Console

from euphoria_agents.commands.compile import prepare
from euphoria_agents.commands.shared_arguments import SpeedOptions
from euphoria_agents.commands.tables import NAME, TEXT, Column, ResultTable
from euphoria_agents.matches.work import check_counts
from euphoria_agents.progress import Progress
from euphoria_agents.speed.layers import LAYERS, Layer
from euphoria_agents.speed.measure import Measurement, Timed, make_report, measure_rate, readable, write_report
from euphoria_env import Rules


def run(options: SpeedOptions) -> None:
    """Measures the layers, prints the medians, and writes a complete report; raises a `ValueError` for a wrong number."""
    check_counts(repeats=options.repeats, seed=options.seed, sizes=min(options.sizes))
    for players in options.players:
        Rules(num_players=players)  # raises if there are too many
    if not options.seconds > 0:
        raise ValueError(f"seconds must be positive, not {options.seconds}")
    prepare()
    console, results = Console(emoji=False, markup=False), list[Measurement]()
    try:
        with Progress(console, "measuring", "repeats") as progress:
            for players in options.players:
                for _ in measure(players, options, results):
                    progress.advance()
        report = make_report(results, {**dataclasses.asdict(options), "json": None})
        if options.json:
            write_report(options.json, report)
    finally:
        measured = [result for result in results if result.values]
        if measured:
            medians_table(measured, options.players).show(console)
    for about in ("versions", "machine"):
        console.print(", ".join(f"{name}: {value}" for name, value in report[about].items()), soft_wrap=True)


def measure(players: int, options: SpeedOptions, results: list[Measurement]) -> Iterator[None]:
    """Measures the layers for a number of players, adds the measurements to `results`, and yields after each repeat.

    The layers take turns, so that a machine that becomes busier slows all of them alike and their ratios stay right.
    """
    chosen = [layer for layer in LAYERS if layer.group in options.groups]
    works = [one for layer in chosen for one in set_up(layer, players, options)]
    results += [result for _, result in works]
    for _ in range(options.repeats):
        for work, result in works:
            result.values.append(measure_rate(work, options.seconds))
            yield


def set_up(layer: Layer, players: int, options: SpeedOptions) -> list[tuple[Timed, Measurement]]:
    """Sets up a layer for each number of games and does its work once; if a library is missing, says so and returns no work."""
    found = []
    for n in options.sizes if layer.many else [0]:
        try:
            work = layer.work(players, n, options.seed).__next__
            work()
        except ImportError as error:
            print(f"{layer.name} left out, it needs {error.name or error}", file=sys.stderr)
            return []
        found.append((work, Measurement(layer.name, players, n, layer.unit, [])))
    return found


def medians_table(results: Iterable[Measurement], players: list[int]) -> ResultTable:
    """Returns a table of the medians: a row for each layer and number of games, a column for each number of players."""
    lines: dict[tuple[str, int, str], dict[int, str]] = {}
    for result in results:
        lines.setdefault((result.layer, result.n, result.unit), {})[result.players] = readable(result.median)
    columns = [Column("layer", NAME), Column("games"), *(Column(f"{p}p") for p in players), Column("unit", TEXT)]
    rows = [[layer, f"{n:,}" if n else "", *(line.get(p, "") for p in players), unit] for (layer, n, unit), line in lines.items()]
    return ResultTable("medians, by number of players", columns, rows)
