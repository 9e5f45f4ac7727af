"""How much `euphoria speed` measures."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

from euphoria_agents.options import option
from euphoria_agents.speed.layers import GROUPS, Plan
from euphoria_agents.speed.measure import CLOCKS

SIZES = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536]
FULL = Plan(list(GROUPS), [2, 4, 6], SIZES, seconds=0.5, repeats=5, seed=0)
QUICK = Plan([group for group in GROUPS if group != "start"], [4], [1, 64, 1024], seconds=0.1, repeats=3, seed=0)


@dataclasses.dataclass
class SpeedOptions:
    """Measures every layer of the environment: medians of several repeats of uniformly random play.

    The machine should have nothing else to do; figures of different runs differ by its load, less so with `--clock cpu`.
    `euphoria speed compare BEFORE AFTER` compares two runs that were written with --json. Ctrl-C shows what is measured, and
    writes nothing.
    """

    quick: bool = option(False, f"about a minute: {QUICK.players[0]} players, {len(QUICK.sizes)} sizes, short, no cold start")
    json: Path | None = option(None, "write all figures, versions and the machine as JSON", metavar="FILE")
    plot: Path | None = option(None, "draw decisions a second over the number of games", metavar="FILE")
    training: bool = option(False, "measure training instead, for 1, 2, ... workers")
    workers: list[int] | None = option(None, "numbers of workers for --training; default 1 to the number of cores")
    groups: list[str] | None = option(None, f"only some of: {', '.join(GROUPS)}", choices=GROUPS, metavar="NAME")
    players: list[int] | None = option(None, f"default {FULL.players}")
    sizes: list[int] | None = option(None, f"numbers of games; default {FULL.sizes}")
    seconds: float | None = option(None, f"of each repeat; default {FULL.seconds}")
    repeats: int | None = option(None, f"default {FULL.repeats}")
    clock: str = option("wall", "cpu: processor time instead, for busy machines", choices=CLOCKS)
    seed: int | None = option(None, f"of games and moves; default {FULL.seed}")


def workers_of(options: SpeedOptions) -> list[int]:
    """For which numbers of workers training is measured.

    Raises:
        ValueError: a number is wrong, or training is not measured at all.
    """
    if options.workers is not None and not options.training:
        raise ValueError("workers are measured with --training only")
    found = list(range(1, (os.cpu_count() or 1) + 1)) if options.workers is None else options.workers
    if min(found) < 1:
        raise ValueError(f"workers must be at least 1, not {min(found)}")
    return found


def plan_of(options: SpeedOptions) -> Plan:
    """What is measured: the preset, and what the command line says otherwise.

    Raises:
        ValueError: a number is wrong.
    """
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
