"""Timing, and what is written of it: medians of repeats, with the versions and the machine they were measured on."""

from __future__ import annotations

import dataclasses
import datetime
import json
import os
import statistics
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from euphoria_agents.files import write_whole
from euphoria_agents.machine import machine, versions

FORMAT, VERSION = "euphoria-benchmark", 1

Chunk = Callable[[], tuple[int, float]]  # does some work; returns its amount, and the seconds of it that count
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
_clock = [time.perf_counter]


def choose_clock(name: str) -> None:
    """Measures by this one of CLOCKS from now on."""
    _clock[0] = CLOCKS[name]


def clock() -> float:
    """Seconds, by the clock that was chosen."""
    return _clock[0]()


def clock_of_children() -> float:
    """Seconds by the clock that was chosen, for what other processes do on our behalf."""
    times = os.times()
    return time.perf_counter() if _clock[0] is time.perf_counter else times.children_user + times.children_system


@dataclasses.dataclass(frozen=True)
class Measurement:
    """One figure.

    Attributes:
        layer: the name of what was measured.
        players: number of players; 0 where there are none.
        n: number of games side by side; 0 where that means nothing.
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
        """The median of the repeats."""
        return statistics.median(self.values)

    @property
    def key(self) -> tuple[str, int, int]:
        """The properties that no two figures of a run share."""
        return self.layer, self.players, self.n


def rates(chunk: Chunk, seconds: float, repeats: int) -> list[float]:
    """The rate per second, measured `repeats` times; one chunk beforehand does not count."""
    chunk()
    return [rate(chunk, seconds) for _ in range(repeats)]


def rate(chunk: Chunk, seconds: float) -> float:
    """The rate per second."""
    done, spent, start = 0, 0.0, time.perf_counter()
    while spent < seconds and (spent == 0.0 or time.perf_counter() - start < 10 * seconds):
        count, took = chunk()
        done += count
        spent += took
    return done / spent


def report(results: Iterable[Measurement], options: dict[str, Any]) -> dict[str, Any]:
    """Everything about a run, ready for JSON."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "versions": versions(),
        "options": options,
        "results": [{**dataclasses.asdict(result), "median": result.median} for result in results],
    }


def write(path: str | Path, found: dict[str, Any]) -> None:
    """Writes a report as JSON; missing folders are made."""
    write_whole(path, json.dumps(found, indent=1) + "\n")


def readable(value: float, unit: str) -> str:
    """A figure with three digits that count."""
    if unit == "s":
        return f"{value:.2f}"
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= 0.9995 * size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"
