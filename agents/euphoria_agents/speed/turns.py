"""The measurement of the layers: all of them take turns."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache

from euphoria_agents.speed.layers import LAYERS, Layer, memory, startup
from euphoria_agents.speed.measure import Chunk, Measurement, choose_clock, rate
from euphoria_agents.speed.settings import Plan

TOGETHER = 4096  # games up to which all layers are kept in memory, to take turns


def measure(plan: Plan) -> Iterator[Measurement]:
    """All figures, each again after every repeat of it, with all its values so far.

    The layers take turns, so that a machine that gets busier is as busy for all of them, and ratios stay right.
    """
    choose_clock(plan.clock)
    for players in plan.players:
        figures = [(layer, n) for layer in LAYERS if layer.group in plan.groups for n in _sizes(layer, plan)]
        yield from _in_turns([one for one in figures if one[1] <= TOGETHER], players, plan)
        for one in figures:
            if one[1] > TOGETHER:
                yield from _in_turns([one], players, plan)
    if "memory" in plan.groups:
        for players in plan.players:
            yield from memory(players)
    if "start" in plan.groups:
        yield from startup(plan.repeats)


def _sizes(layer: Layer, plan: Plan) -> list[int]:
    """The numbers of games for which a layer is measured."""
    return [n for n in plan.sizes if layer.least <= n <= layer.most] if layer.many else [0]


def _in_turns(figures: list[tuple[Layer, int]], players: int, plan: Plan) -> Iterator[Measurement]:
    """The figures of layers with numbers of games, a repeat of each after the other; those whose library is missing left out."""
    chunks: dict[tuple[str, int], Chunk] = {}
    values: dict[tuple[str, int], list[float]] = {}
    missing: set[str] = set()
    for repeat in range(plan.repeats):
        for layer, n in figures:
            key = layer.name, n
            if repeat == 0 and layer.name not in missing:
                try:
                    chunks[key] = layer.make(players, n, plan.seed)
                    chunks[key]()  # does not count
                except ImportError as error:
                    missing.add(layer.name)
                    _say_left_out(layer, str(error.name or error))
            if layer.name not in missing:
                values.setdefault(key, []).append(rate(chunks[key], plan.seconds))
                yield Measurement(layer.name, players, n, layer.unit, values[key].copy())


@cache
def _say_left_out(layer: Layer, error: str) -> None:
    print(f"{layer.name} left out, it needs {error}: pip install 'euphoria-env[{layer.extra}]'", file=sys.stderr)
