"""Opens saved runs: metadata beside arrays. Everything is checked, since anybody may have written the files."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from euphoria_agents.network.checkpoint import read_checkpoint, read_tensors
from euphoria_agents.registry import load_untrusted
from euphoria_agents.training.config import Number, Options, Time, check, read_options
from euphoria_agents.training.league import LeagueMember
from euphoria_agents.training.rollout import LEARNER
from euphoria_agents.training.rules_mixture import game_parts
from euphoria_agents.validation import checked
from euphoria_env.json_reader import Reader, shown

RUN_FORMAT, STATE, PLAYER, RATINGS = "euphoria-run", "state.safetensors", "ppo.safetensors", "ratings.json"
PAST_SELF = "[0-9]+"  # the names of past selves: the number of the update


class ActorState(msgspec.Struct):
    """The state of a part of the games."""

    generator: Any  # the state of its generator
    opponents: list[str]  # the names of the agents who play


class RunMetadata(msgspec.Struct):
    """All of the metadata of a run but its options."""

    decisions: Number  # learned from
    updates: Number
    steps: Number  # of the optimizer
    seconds: Time  # that it took
    generator: Any  # the state of the generator that draws the order of the decisions
    actors: list[ActorState]  # the parts of the games
    league: list[LeagueMember]

    def past_selves(self, others: Collection[str]) -> list[str]:
        """The past selves among all who play and are in the league; their names can be any text.

        Raises:
            ValueError: somebody is neither a past self nor one of the others.
        """
        playing = [name for actor in self.actors for name in actor.opponents]
        found = dict.fromkeys(name for name in [*playing, *(one.name for one in self.league)] if name not in others)
        for name in found:
            if not re.fullmatch(PAST_SELF, name):  # a path would lead elsewhere
                raise ValueError(f"no past self is called {shown(name)}")
        return list(found)


class Job(NamedTuple):
    """What a run begins with."""

    options: Options
    start: dict[str, np.ndarray] | None = None  # the network to begin with; None: an untrained one
    state: tuple[RunMetadata, dict[str, np.ndarray]] | None = None  # of a run to continue; None: it is a new one
    selves: Mapping[str, dict[str, np.ndarray]] = {}  # the networks of its past selves by their names


def open_job(options: Options) -> Job:
    """Begins or reopens a run; errors as of `trainer.train`."""
    if options.resume is not None:
        return reopen(options, options.resume)
    if (options.run / STATE).exists():
        raise ValueError(f"there is a run in {options.run} already: choose another --run, or --resume {options.run}")
    check(options)
    return Job(options, None if options.start is None else read_checkpoint(options.start)[1])


def reopen(given: Options, folder: Path) -> Job:
    """Reads the run in a folder as it was saved; it keeps its options but for `decisions` and `total_minutes`, if given.

    Raises:
        ValueError: see `trainer.train`; or the run has made more decisions than it is now to make.
    """
    header, arrays = read_tensors(folder / STATE, RUN_FORMAT)
    with of_a_run(folder):
        options = read_options(header.get("options"), run=folder, resume=None, start=None)
    for spec in options.baselines:
        _check_baseline(spec, given.baselines)
    with of_a_run(folder):
        check_sizes(options, arrays)
        metadata = checked(header, RunMetadata)
        selves = metadata.past_selves((*options.baselines, LEARNER))
        networks = {name: read_checkpoint(self_file(folder, name))[1] for name in selves}
    if given.decisions is not None and given.decisions < metadata.decisions:
        raise ValueError(f"decisions: the run in {folder} has made {metadata.decisions:,} already, more than {given.decisions:,}")
    changed = {name: value for name in ("decisions", "total_minutes") if (value := getattr(given, name)) is not None}
    options = dataclasses.replace(options, **changed)
    check(options)
    return Job(options, None, (metadata, arrays), networks)


def check_sizes(options: Options, arrays: Mapping[str, np.ndarray]) -> None:
    """Compares the options with the sizes of the arrays of a run, before anything of that size is made.

    Raises:
        ValueError: the number of games, or the widths of the network, differ.
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
    """The player of a past self."""
    return folder / "league" / f"{name}.safetensors"


@contextmanager
def of_a_run(folder: Path) -> Iterator[None]:
    """Names the file, if something is wrong with the run in it."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{folder / STATE} is damaged, or of another kind: {error}") from error


def _check_baseline(spec: str, allowed: Collection[str]) -> None:
    """Refuses a baseline of a resumed run that is neither built in nor named again: anybody may have written the run's file."""
    try:
        load_untrusted(spec, allowed)
    except ValueError as error:
        again = "" if spec in allowed else f" (here: --baselines {spec})"
        raise ValueError(f"{error}{again}") from error
