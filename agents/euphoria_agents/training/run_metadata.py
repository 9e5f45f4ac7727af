"""The metadata in the file of a run, beside its arrays; checked, as anybody may have written it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta

from euphoria_agents.training.config import Large, Options, Players
from euphoria_agents.training.rules_mixture import game_parts
from euphoria_agents.validation import checked
from euphoria_env.json_reader import Reader

MOST_STRENGTH = 1e4  # of openskill; ratings begin at 25

Number = Annotated[int, Meta(ge=0, le=10**12)]
Time = Annotated[float, Meta(ge=0, le=1e10)]
Chance = Annotated[float, Meta(ge=0, le=1)]
Mu = Annotated[float, Meta(ge=-MOST_STRENGTH, le=MOST_STRENGTH)]
Sigma = Annotated[float, Meta(ge=1e-6, le=MOST_STRENGTH)]
Strengths = dict[str, tuple[Mu, Sigma]]  # of agents, by openskill


class WorkerState(msgspec.Struct):
    """The state of a worker.

    Attributes:
        generators: the state of the generator of each part of its games.
        opponents: the names of the agents who play, for each part.
    """

    generators: list[Any]
    opponents: list[list[str]]


class LeagueMember(msgspec.Struct):
    """A member of the league; see `league.Member`."""

    name: str
    past: bool
    score: Chance
    games: Number


class Rating(msgspec.Struct):
    """The result against one opponent in a rating, and the openskill rating of the learner after all of them.

    Attributes:
        decisions, hours: when in the run.
        players: number of players.
        against: the opponent.
        wins, games: of the learner.
        rank: the learner's mean rank.
        mu, sigma: the learner's strength, and its standard deviation.
    """

    decisions: Number
    hours: Time
    players: Players
    against: str
    wins: Number
    games: Large
    rank: Annotated[float, Meta(ge=1, le=6)]
    mu: Mu = 0.0
    sigma: Sigma = 1.0

    def __post_init__(self) -> None:
        if self.wins > self.games:
            raise ValueError("wins must be at most games")


class RatingsState(msgspec.Struct):
    """The ratings so far.

    Attributes:
        results: one for each rating and opponent.
        strengths: of the baselines.
        due: update, decisions and hours of the players that are still to be rated.
    """

    results: list[Rating]
    strengths: Strengths
    due: list[tuple[Number, Number, Time]]


class RunMetadata(msgspec.Struct):
    """All of it but the options.

    Attributes:
        decisions, updates: how many there were, `updates` as Stable-Baselines3 counts them.
        seconds: how long it took.
        workers, league, ratings: their states.
    """

    decisions: Number
    updates: Number
    seconds: Time
    workers: list[WorkerState]
    league: list[LeagueMember]
    ratings: RatingsState

    def names(self) -> list[str]:
        """The names of all opponents and members of the league; they can be any text."""
        playing = [name for worker in self.workers for part in worker.opponents for name in part]
        return playing + [member.name for member in self.league]


def read_metadata(header: Mapping[str, Any]) -> RunMetadata:
    """Reads the metadata in the header of a file.

    Raises:
        ValueError: something is missing or not allowed; names it.
    """
    found = checked(dict(header), RunMetadata)
    for k, worker in enumerate(found.workers):
        if len(worker.generators) != len(worker.opponents):
            Reader.fail(f"workers[{k}].generators", f"must have {len(worker.opponents)} entries")
    return found


def check_sizes(options: Options, arrays: Mapping[str, np.ndarray]) -> None:
    """Compares the options with the sizes of the arrays of a run, before anything of that size is made.

    Raises:
        ValueError: the number of games, or the widths of the network, differ.
    """
    widths = {"trunk": ["first", *(f"trunk.{k}" for k in range(len(options.trunk) - 1))]}
    widths["branch"] = [f"policy.{k}" for k in range(len(options.branch))]
    for name, layers in widths.items():
        found = [arrays.get(f"policy.{layer}.bias", np.zeros(0)).size for layer in layers]
        if found != list(getattr(options, name)):
            Reader.fail(f"options.{name}", f"{list(getattr(options, name))} are not the widths of the network, {found}")
    for rank in range(options.workers):
        sizes = [games for games, _ in game_parts(options, rank)]
        found = [len(np.atleast_1d(arrays.get(f"worker.{rank}.games.{k}.games", ()))) for k in range(len(sizes))]
        if found != sizes:
            Reader.fail("options.envs", f"{options.envs} for {options.workers} workers are not the games that are there")
