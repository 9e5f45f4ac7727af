"""Opens saved runs, which are metadata and arrays. Everything is checked, since anybody may have written the files."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from euphoria_agents.dataclass_arguments import check_files
from euphoria_agents.network.checkpoint import parts, read_checkpoint, read_tensors
from euphoria_agents.network.layouts import is_present
from euphoria_agents.registry import check_allowed
from euphoria_agents.training.config import Number, Options, Time, check, read_options
from euphoria_agents.training.league import LeagueMember
from euphoria_agents.training.rollout import LEARNER
from euphoria_agents.training.rules_mixture import game_parts
from euphoria_agents.validation import checked
from euphoria_env.json_reader import Reader, shown

RUN_FORMAT, STATE, PLAYER, CRITIC = "euphoria-run", "state.safetensors", "ppo.safetensors", "critic.safetensors"
RATINGS = "ratings.json"
PAST_SELF = "[0-9]+"  # the pattern of a past self's name, which is the number of its update


class ActorState(msgspec.Struct):
    """The metadata of an actor."""

    generator: Any  # the state of its generator
    opponents: list[str]  # the names of its players by number, the learner's first


class RunMetadata(msgspec.Struct):
    """The metadata of a run, without its options."""

    decisions: Number  # the decisions that were learned from
    updates: Number
    steps: Number  # the steps of the optimizer
    seconds: Time  # the time of training
    generator: Any  # the state of the generator that draws the order of the decisions
    actors: list[ActorState]
    league: list[LeagueMember]

    def past_selves(self, others: Collection[str]) -> list[str]:
        """Returns the names of the past selves: of all players and league members that are not among `others`.

        Raises:
            ValueError: such a name is not a possible name of a past self; the file may contain any text.
        """
        playing = [name for actor in self.actors for name in actor.opponents]
        found = dict.fromkeys(name for name in [*playing, *(one.name for one in self.league)] if name not in others)
        for name in found:
            if not re.fullmatch(PAST_SELF, name):  # a path could lead out of the run's folder
                raise ValueError(f"no past self is called {shown(name)}")
        return list(found)


class Job(NamedTuple):
    """All that is needed to begin or continue a run."""

    options: Options
    start: dict[str, np.ndarray] | None = None  # the network to begin with; None: an untrained one
    state: tuple[RunMetadata, dict[str, np.ndarray]] | None = None  # the state of the run to continue; None: it is a new run
    selves: Mapping[str, dict[str, np.ndarray]] = {}  # the networks of its past selves, by name


def open_job(options: Options) -> Job:
    """Returns the job of a new run, or of the run that `options.resume` names; raises what `trainer.train` raises."""
    if options.resume is not None:
        job = reopen(options, options.resume)
    else:
        check(options)
        start = None if options.start is None else read_checkpoint(options.start)[1]
        if start is not None and not options.afterstates:  # a head stays
            options = dataclasses.replace(options, afterstates=parts(start, options.start or "").head_size)
        job = Job(options, start)
    check_files(options)
    return job


def reopen(given: Options, folder: Path) -> Job:
    """Reads the saved run in a folder; it keeps its options, except `decisions` and `total_minutes` if they are given.

    Raises:
        ValueError: see `trainer.train`; or the run has already made more decisions than are now given.
    """
    header, arrays = read_tensors(folder / STATE, RUN_FORMAT)
    if not is_present(header):
        how = f"begin a new run with its player: --start {folder / PLAYER}"
        raise ValueError(f"{folder / STATE}: another version of the environment began this run, whose games cannot go on: {how}")
    with of_a_run(folder):
        options = read_options(header.get("options"), run=folder, resume=None, start=None, critic=None, config=None)
    for spec in options.baselines:
        _check_baseline(spec, given.baselines)
    for spec in options.against if options.evaluate_every else []:
        _check_baseline(spec, given.against, "--against")
    with of_a_run(folder):
        check_sizes(options, arrays)
        metadata = checked(header, RunMetadata)
        selves = metadata.past_selves((*options.baselines, LEARNER))
        networks = {name: read_checkpoint(self_file(folder, name))[1] for name in selves}
    if given.decisions is not None and given.decisions < metadata.decisions:
        raise ValueError(f"decisions: the run in {folder} has made {metadata.decisions:,} already, more than {given.decisions:,}")
    changed = {name: value for name in ("decisions", "total_minutes") if (value := getattr(given, name)) is not None}
    critic = folder / CRITIC if header["options"].get("critic") else None
    options = dataclasses.replace(options, **changed, critic=critic)
    check(options)
    return Job(options, None, (metadata, arrays), networks)


def check_sizes(options: Options, arrays: Mapping[str, np.ndarray]) -> None:
    """Compares the options of a run with the sizes of its arrays, before memory of that size is allocated.

    Raises:
        ValueError: the number of games or the widths of the network differ.
    """
    layers = ["first", *(f"trunk.{k}" for k in range(len(options.trunk) - 1))]
    found = [arrays.get(f"network.{layer}.bias", np.zeros(0)).size for layer in layers]
    if found != options.trunk:
        Reader.fail("options.trunk", f"{options.trunk} are not the widths of the network, {found}")
    sizes = [sum(games for games, _ in parts) for parts in game_parts(options)]
    found = [len(np.atleast_1d(arrays.get(f"actor.{k}.games", ()))) for k in range(len(sizes))]
    if found != sizes:
        Reader.fail("options.envs", f"{options.envs} for {options.threads} threads are not the games of the state")


def self_file(folder: Path, name: str) -> Path:
    """Returns the path of a past self's checkpoint."""
    return folder / "league" / f"{name}.safetensors"


@contextmanager
def of_a_run(folder: Path) -> Iterator[None]:
    """Makes a `ValueError` raised in the `with` statement name the file of the run."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{folder / STATE} is damaged, or of another kind: {error}") from error


def _check_baseline(spec: str, allowed: Collection[str], flag: str = "--baselines") -> None:
    """Refuses an opponent of a resumed run that is neither built in nor named again, since anybody may have written the file."""
    try:
        check_allowed(spec, allowed)
    except ValueError as error:
        again = "" if spec in allowed else f" (here: {flag} {spec})"
        raise ValueError(f"{error}{again}") from error
