"""Measures rates, and writes them as JSON with versions and machine. Scripts for other projects use it: it imports no library."""

from __future__ import annotations

import dataclasses
import datetime
import json
import statistics
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from euphoria_agents.files import write_whole
from euphoria_agents.machine import machine, versions

FORMAT, VERSION = "euphoria-benchmark", 1

Timed = Callable[[], tuple[int, float]]  # does some work; returns its amount, and the seconds that count
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
_clock = [time.process_time]


def choose_clock(name: str) -> None:
    """Chooses one of `CLOCKS` for all measurements from now on."""
    _clock[0] = CLOCKS[name]


def clock() -> float:
    """Returns the time of the chosen clock in seconds; by default processor time, so that other programs do not matter."""
    return _clock[0]()


@dataclasses.dataclass(frozen=True)
class Measurement:
    """The speed of a layer."""

    layer: str  # its name
    players: int
    n: int  # the number of games side by side; 0 where it has no meaning
    unit: str  # the unit of the rates
    values: list[float]  # a rate for each repeat

    @property
    def median(self) -> float:
        """The median of the rates."""
        return statistics.median(self.values)


def measure_rates(work: Timed, seconds: float, repeats: int) -> list[float]:
    """Does the work once, then measures its rate per second `repeats` times."""
    work()
    return [measure_rate(work, seconds) for _ in range(repeats)]


def measure_rate(work: Timed, seconds: float) -> float:
    """Measures the rate per second over `seconds` that count, but stops after ten times as many seconds in all."""
    done, spent, start = 0, 0.0, time.perf_counter()
    while spent < seconds and (spent == 0.0 or time.perf_counter() - start < 10 * seconds):
        count, took = work()
        done += count
        spent += took
    return done / spent


def make_report(results: Iterable[Measurement], options: dict[str, Any]) -> dict[str, Any]:
    """Returns the results, the options, the versions and the machine as JSON values."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "versions": versions(),
        "options": options,
        "results": [{**dataclasses.asdict(result), "median": result.median} for result in results],
    }


def write_report(path: str | Path, report: dict[str, Any]) -> None:
    """Writes a report as JSON."""
    write_whole(path, json.dumps(report, indent=1) + "\n")


def readable(value: float) -> str:
    """Formats a rate with three significant digits."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= 0.9995 * size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"
