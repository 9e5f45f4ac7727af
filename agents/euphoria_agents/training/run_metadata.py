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


class ActorState(msgspec.Struct):
    """The state of a part of the games.

    Attributes:
        generator: the state of its generator.
        opponents: the names of the agents who play.
    """

    generator: Any
    opponents: list[str]


class ProcessState(msgspec.Struct):
    """The state of a process.

    Attributes:
        generator: the state of the generator that draws the order of the decisions.
        actors: the parts of its games.
    """

    generator: Any
    actors: list[ActorState]


class LeagueMember(msgspec.Struct):
    """An opponent in the league.

    Attributes:
        name: a spec as for `euphoria_agents.load`, or of a past self the name of its file.
        past: whether it is a past self.
        score: the learner's, against this one; see `training.league`.
        games: how many there were.
    """

    name: str
    past: bool
    score: Chance = 0.5
    games: Number = 0


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
        decisions, updates, steps: the numbers of decisions learned from, of updates, and of steps of the optimizer.
        seconds: how long it took.
        processes, league, ratings: their states.
    """

    decisions: Number
    updates: Number
    steps: Number
    seconds: Time
    processes: list[ProcessState]
    league: list[LeagueMember]
    ratings: RatingsState

    def names(self) -> list[str]:
        """The names of all opponents and members of the league; they can be any text."""
        playing = [name for process in self.processes for actor in process.actors for name in actor.opponents]
        return playing + [member.name for member in self.league]


def read_metadata(header: Mapping[str, Any]) -> RunMetadata:
    """Reads the metadata in the header of a file.

    Raises:
        ValueError: something is missing or not allowed; names it.
    """
    return checked(dict(header), RunMetadata)


def check_sizes(options: Options, arrays: Mapping[str, np.ndarray]) -> None:
    """Compares the options with the sizes of the arrays of a run, before anything of that size is made.

    Raises:
        ValueError: the number of games, or the widths of the network, differ.
    """
    widths = {"trunk": ["first", *(f"trunk.{k}" for k in range(len(options.trunk) - 1))]}
    widths["branch"] = [f"policy.{k}" for k in range(len(options.branch))]
    for name, layers in widths.items():
        found = [arrays.get(f"network.{layer}.bias", np.zeros(0)).size for layer in layers]
        if found != list(getattr(options, name)):
            Reader.fail(f"options.{name}", f"{list(getattr(options, name))} are not the widths of the network, {found}")
    sizes = [games for games, _ in game_parts(options, 0)]
    found = [len(np.atleast_1d(arrays.get(f"process.0.actor.{k}.games", ()))) for k in range(len(sizes))]
    if found != sizes:
        Reader.fail("options.envs", f"{options.envs} for {options.threads} threads are not the games of the state")
