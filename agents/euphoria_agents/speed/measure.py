"""Measures rates by a clock, and writes them as JSON with the versions and the machine. Peers use it: no library is imported."""

from __future__ import annotations

import dataclasses
import datetime
import json
import os
import statistics
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from euphoria_agents.files import write_whole
from euphoria_agents.machine import machine, versions

FORMAT, VERSION = "euphoria-benchmark", 1

Timed = Callable[[], tuple[int, float]]  # does some work; returns its amount, and the seconds of it that count
Prepared = TypeVar("Prepared")
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
_clock = [time.perf_counter]


def choose_clock(name: str) -> None:
    """Chooses one of `CLOCKS` for all measurements from now on."""
    _clock[0] = CLOCKS[name]


def clock() -> float:
    """Returns the seconds by the clock that was chosen."""
    return _clock[0]()


def clock_of_children() -> float:
    """Returns the seconds by the clock that was chosen, as other processes have spent them that this one has started."""
    times = os.times()
    return time.perf_counter() if _clock[0] is time.perf_counter else times.children_user + times.children_system


def timed(
    step: Callable[[Prepared], int],
    prepare: Callable[[], Prepared] = lambda: None,  # type: ignore[assignment,return-value]
    now: Callable[[], float] = clock,
) -> Timed:
    """Measures `step(prepare())`, without `prepare`; the step returns how much it did."""

    def work() -> tuple[int, float]:
        prepared = prepare()
        start = now()
        done = step(prepared)
        return done, now() - start

    return work


@dataclasses.dataclass(frozen=True)
class Measurement:
    """A figure.

    Attributes:
        layer: the name of what was measured.
        players: the number of players; 0 where it has no meaning.
        n: the number of games side by side; 0 where it has no meaning.
        unit: what is counted; a speed ends in "/s".
        values: one for each repeat.
    """

    layer: str
    players: int
    n: int
    unit: str
    values: list[float]

    @property
    def median(self) -> float:
        """Returns the median of the repeats."""
        return statistics.median(self.values)

    @property
    def key(self) -> tuple[str, int, int]:
        """Returns what identifies the figure in a run."""
        return self.layer, self.players, self.n


def measure_rates(work: Timed, seconds: float, repeats: int) -> list[float]:
    """Measures the rate per second `repeats` times, after the work was done once."""
    work()
    return [measure_rate(work, seconds) for _ in range(repeats)]


def measure_rate(work: Timed, seconds: float) -> float:
    """Measures the rate per second over that many counted seconds, but for at most ten times as long."""
    done, spent, start = 0, 0.0, time.perf_counter()
    while spent < seconds and (spent == 0.0 or time.perf_counter() - start < 10 * seconds):
        count, took = work()
        done += count
        spent += took
    return done / spent


def make_report(results: Iterable[Measurement], options: dict[str, Any]) -> dict[str, Any]:
    """Returns everything about a run as JSON values."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "versions": versions(),
        "options": options,
        "results": [{**dataclasses.asdict(result), "median": result.median} for result in results],
    }


def write_report(path: str | Path, found: dict[str, Any]) -> None:
    """Writes a report as JSON; missing folders are made."""
    write_whole(path, json.dumps(found, indent=1) + "\n")


def readable(value: float, unit: str) -> str:
    """Writes a figure with three significant digits."""
    if unit == "s":
        return f"{value:.2f}"
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= 0.9995 * size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"
