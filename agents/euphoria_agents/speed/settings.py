"""The settings of `euphoria speed`."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable
from pathlib import Path

from euphoria_agents.dataclass_arguments import option, written
from euphoria_agents.speed.measure import CLOCKS

GROUPS = ("engine", "batch", "vector", "single", "game", "copy", "aec", "picture", "memory", "start")  # of layers


@dataclasses.dataclass(frozen=True)
class Plan:
    """The layers to measure, and how.

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


SIZES = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536]
FULL = Plan(list(GROUPS), [2, 4, 6], SIZES, seconds=0.5, repeats=5, seed=0)
QUICK = Plan([group for group in GROUPS if group != "start"], [4], [1, 64, 1024], seconds=0.1, repeats=3, seed=0)
WITH_TRAINING = ("threads", "repeats", "seed", "json")  # the options that go with --training


@dataclasses.dataclass(frozen=True)
class TrainingPlan:
    """The settings for measuring training.

    Attributes:
        threads: for which numbers of threads.
        repeats: how many times each.
        seed: of the games and the network.
    """

    threads: list[int]
    repeats: int
    seed: int


def _flags(names: Iterable[str]) -> str:
    return ", ".join(f"--{name}" for name in names)


@dataclasses.dataclass
class SpeedOptions:
    """Measures every layer of the environment: medians of several repeats of uniformly random play.

    Layers take turns, in processor time, so that their ratios hold on a busy machine too; figures of different runs differ by its
    load. Each figure is printed when it is first measured, and the medians at the end, or at Ctrl-C, which writes nothing.
    """

    quick: bool = option(
        False, f"about a minute once all is compiled: {QUICK.players[0]} players, {len(QUICK.sizes)} sizes, short, no cold start"
    )
    json: Path | None = option(None, "write all figures, versions and the machine as JSON", type=written, metavar="FILE")
    plot: Path | None = option(None, "draw decisions a second over the number of games", type=written, metavar="FILE")
    training: bool = option(False, f"measure training instead; only {_flags(WITH_TRAINING)} go with it")
    threads: list[int] | None = option(None, "numbers of threads for --training; default 1 to the number of cores")
    groups: list[str] | None = option(None, f"only some of: {', '.join(GROUPS)}", choices=GROUPS, metavar="NAME")
    players: list[int] | None = option(None, f"default {FULL.players}")
    sizes: list[int] | None = option(None, f"numbers of games; default {FULL.sizes}")
    seconds: float | None = option(None, f"of each repeat; default {FULL.seconds}")
    repeats: int | None = option(None, f"default {FULL.repeats}")
    clock: str | None = option(None, "default cpu: processor time, right on busy machines too; wall: real time", choices=CLOCKS)
    seed: int | None = option(None, f"of games and moves; default {FULL.seed}")


def plan_of(options: SpeedOptions) -> Plan:
    """Returns the plan of a measurement: the preset, as changed by the command line.

    Raises:
        ValueError: a number is wrong, or an option goes with --training only.
    """
    if options.threads is not None:
        raise ValueError("threads are measured with --training only")
    preset = QUICK if options.quick else FULL
    given = {field.name: getattr(options, field.name) for field in dataclasses.fields(Plan)}
    plan = dataclasses.replace(preset, **{name: value for name, value in given.items() if value is not None})
    if min(plan.players) < 2 or max(plan.players) > 6:
        raise ValueError(f"players must be 2 to 6, not {plan.players}")
    if min(*plan.sizes, plan.repeats) < 1 or not plan.seconds > 0:
        raise ValueError("sizes, repeats and seconds must be positive")
    if plan.seed < 0:
        raise ValueError(f"seed must be at least 0, not {plan.seed}")
    return plan


def training_plan_of(options: SpeedOptions) -> TrainingPlan:
    """Returns the plan of a measurement of training.

    Raises:
        ValueError: a number is wrong, or an option does not go with --training.
    """
    changed = [field.name for field in dataclasses.fields(options) if getattr(options, field.name) != field.default]
    others = [name for name in changed if name not in ("training", *WITH_TRAINING)]
    if others:
        raise ValueError(f"only {_flags(WITH_TRAINING)} go with --training, not {_flags(others)}")
    threads = list(range(1, (os.cpu_count() or 1) + 1)) if options.threads is None else options.threads
    repeats = FULL.repeats if options.repeats is None else options.repeats
    seed = FULL.seed if options.seed is None else options.seed
    for name, least, value in (("threads", 1, min(threads)), ("repeats", 1, repeats), ("seed", 0, seed)):
        if value < least:
            raise ValueError(f"{name} must be at least {least}, not {value}")
    return TrainingPlan(threads, repeats, seed)
