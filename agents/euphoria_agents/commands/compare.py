"""`euphoria speed compare`: two measurements side by side."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from euphoria_agents.commands.shared_arguments import CompareOptions
from euphoria_agents.commands.tables import NAME, TEXT, Column, ResultTable
from euphoria_agents.speed.measure import Measurement, read, readable

COLUMNS = (
    Column("layer", NAME),
    Column("players"),
    Column("games"),
    Column("before"),
    Column("after"),
    Column("unit", TEXT, drop=1),
    Column("times\nbetter"),
)


def ratio(before: Measurement, after: Measurement) -> float:
    """The factor by which the second one is better: above 1 is faster, or smaller; a share is never better or worse."""
    if before.unit == "%":
        return 1.0
    first, second = before.median, after.median
    if not before.more_is_better:
        first, second = second, first
    return second / first if first else float("inf")


def table(pairs: list[tuple[Measurement, Measurement]]) -> ResultTable:
    """All figures that both runs have."""
    return ResultTable(
        "",
        COLUMNS,
        [
            [
                before.layer,
                str(before.players or ""),
                f"{before.n:,}" if before.n else "",
                readable(before.median, before.unit),
                readable(after.median, after.unit),
                before.unit,
                f"{ratio(before, after):.2f}",
            ]
            for before, after in pairs
        ],
    )


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Other differences between the runs, one line each."""
    lines = []
    for part in ("machine", "versions"):
        for name in dict.fromkeys([*before[part], *after[part]]):
            first, second = before[part].get(name), after[part].get(name)
            if first != second:
                lines.append(f"{name}: {first} before, {second} after")
    return lines


def run(options: CompareOptions) -> None:
    """The command.

    Raises:
        ValueError: a file is not a measurement.
        SystemExit: a figure is below `options.fail_below`.
    """
    console = Console(emoji=False, markup=False)
    (before, first), (after, second) = read(options.before), read(options.after)
    known = {result.key: result for result in second}
    pairs = [(result, known[result.key]) for result in first if result.key in known]
    table(pairs).show(console)
    for line in differences(before, after):
        console.print(line, soft_wrap=True)
    worse = [pair for pair in pairs if options.fail_below is not None and ratio(*pair) < options.fail_below]
    if worse:
        raise SystemExit(f"{len(worse)} of {len(pairs)} figures are below {options.fail_below}")
