"""Measures the layers, which take turns."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache

from euphoria_agents.speed.layers import LAYERS, Layer, memory, startup
from euphoria_agents.speed.measure import Measurement, Timed, choose_clock, measure_rate
from euphoria_agents.speed.settings import Plan

TOGETHER = 4096  # layers with at most this many games are all kept in memory, to take turns


def measure(plan: Plan) -> Iterator[Measurement]:
    """Yields every figure after each of its repeats, with all its values so far.

    The layers take turns, so that a machine that becomes busier slows all of them alike, and their ratios stay right.
    """
    choose_clock(plan.clock)
    for players in plan.players:
        figures = [(layer, n) for layer in LAYERS if layer.group in plan.groups for n in _sizes(layer, plan)]
        large = [[one] for one in figures if one[1] > TOGETHER]
        for some in ([one for one in figures if one[1] <= TOGETHER], *large):
            yield from _in_turns(some, players, plan)
    if "memory" in plan.groups:
        for players in plan.players:
            yield from memory(players)
    if "start" in plan.groups:
        yield from startup(plan.repeats)


def _sizes(layer: Layer, plan: Plan) -> list[int]:
    """Returns the numbers of games for which a layer is measured."""
    return [n for n in plan.sizes if layer.least <= n <= layer.most] if layer.many else [0]


def _in_turns(figures: list[tuple[Layer, int]], players: int, plan: Plan) -> Iterator[Measurement]:
    """Measures layers with numbers of games, one repeat of each after the other; leaves out those whose library is missing."""
    made: list[tuple[Layer, int, Timed, list[float]]] = []

    def set_up() -> Iterator[tuple[Layer, int, Timed, list[float]]]:
        for layer, n in figures:
            try:
                work = layer.setup(players, n, plan.seed)
                work()  # does not count
            except ImportError as error:
                _report_left_out(layer, str(error.name or error))
            else:
                made.append((layer, n, work, []))
                yield made[-1]

    for repeat in range(plan.repeats):
        for layer, n, work, values in made if repeat else set_up():
            values.append(measure_rate(work, plan.seconds))
            yield Measurement(layer.name, players, n, layer.unit, values.copy())


@cache
def _report_left_out(layer: Layer, error: str) -> None:
    print(f"{layer.name} left out, it needs {error}: pip install 'euphoria-env[{layer.extra}]'", file=sys.stderr)
