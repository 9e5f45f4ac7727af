"""The layers that are measured, and how: all of them take turns."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from functools import cache, partial

from euphoria_agents.speed import layers
from euphoria_agents.speed.measure import Chunk, Measurement, choose_clock, rate
from euphoria_env import actions, env, raw_env

TOGETHER = 4096  # games up to which all layers are kept in memory, to take turns


@dataclasses.dataclass(frozen=True)
class Layer:
    """A layer that is measured as work in a second.

    Attributes:
        name: what results call it.
        group: what the command line calls it and its like.
        make: makes a chunk from players, games and seed.
        unit: what is counted.
        many: whether it is measured for different numbers of games.
        least, most: the numbers of games between which it is measured.
    """

    name: str
    group: str
    make: layers.Make
    unit: str = "decisions/s"
    many: bool = False
    least: int = 1
    most: int = 2**31


LAYERS = (
    Layer("engine", "engine", layers.engine),
    Layer("batch, mask", "batch", partial(layers.batch, observed=False), many=True),
    Layer("batch, observation", "batch", layers.batch, many=True),
    Layer("batch, all cores", "batch", partial(layers.batch, threads=None), many=True, least=512),
    Layer("batch, moves chosen too", "batch", partial(layers.batch, choice=True), many=True),
    Layer("vector env", "vector", layers.vector_env, "own decisions/s", many=True, most=4096),
    Layer("SB3 VecEnv", "vector", layers.sb3_env, "own decisions/s", many=True, most=4096),
    Layer("single env", "single", layers.single_env, "own decisions/s"),
    Layer("Game.play(id)", "game", partial(layers.game, prepare=int)),
    Layer("Game.play(text)", "game", partial(layers.game, prepare=actions.name)),
    Layer("Game.legal() + play(text)", "game", layers.game_loop),
    Layer("Game.clone", "copy", layers.clone, "calls/s"),
    Layer("Game.determinize", "copy", layers.determinize_game, "calls/s"),
    Layer("row copied and dealt again", "copy", layers.determinize_row, "calls/s"),
    Layer("AEC raw", "aec", layers.aec_loop(lambda players: raw_env(num_players=players))),
    Layer("AEC empty raw", "aec", layers.aec_loop(lambda players: layers.EmptyAEC(num_players=players))),
    Layer("AEC wrapped", "aec", layers.aec_loop(lambda players: env(num_players=players))),
    Layer("AEC empty wrapped", "aec", layers.aec_loop(layers.empty_wrapped)),
)
GROUPS = (*dict.fromkeys(layer.group for layer in LAYERS), "memory", "start")


@dataclasses.dataclass(frozen=True)
class Plan:
    """The size of the measurements.

    Attributes:
        groups: which of GROUPS.
        players: for which numbers of players.
        sizes: with which numbers of games.
        seconds: how long a repeat measures.
        repeats: how many of them; those of all layers with the same number of players take turns.
        seed: of games and moves.
        clock: which of CLOCKS measures.
    """

    groups: list[str]
    players: list[int]
    sizes: list[int]
    seconds: float
    repeats: int
    seed: int
    clock: str = "cpu"


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
            yield from layers.memory(players)
    if "start" in plan.groups:
        yield from layers.startup(plan.repeats)


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
    print(f"{layer.name} left out, it needs {error}: pip install 'euphoria-env[train]'", file=sys.stderr)
