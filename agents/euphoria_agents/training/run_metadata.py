"""What the file of a run says beside its arrays, read as something that anybody may have written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from euphoria_agents.training.config import MOST_IN_ALL, Options
from euphoria_agents.training.rules_mixture import game_parts
from euphoria_env.json_reader import Reader, as_key

MOST_SECONDS = 1e10
_RATING = {"decisions": MOST_IN_ALL, "hours": MOST_SECONDS, "players": 6, "wins": MOST_IN_ALL, "games": MOST_IN_ALL, "rank": 6}
MOST_STRENGTH = 1e4  # of openskill; they begin at 25


@dataclass(frozen=True)
class Own:
    """What is to be known of a worker.

    Attributes:
        generators: the state of the generator of each part of its games.
        opponents: the names of those who play, for each part.
    """

    generators: list[Any]
    opponents: list[list[Any]]


@dataclass(frozen=True)
class Rated:
    """The ratings so far.

    Attributes:
        results: a dict for each rating and opponent.
        strengths: (mu, sigma) of the baselines.
        due: update, decisions and hours of those who are still to be rated.
    """

    results: list[dict[str, Any]]
    strengths: dict[str, tuple[float, float]]
    due: list[tuple[int, int, float]]


@dataclass(frozen=True)
class Facts:
    """What is to be known of a run to go on with it.

    Attributes:
        decisions, updates: how many there were, `updates` as Stable-Baselines3 counts them.
        seconds: how long it took.
        workers: of each.
        league: see `League.state`.
        ratings: see `Ratings.state`.
    """

    decisions: int
    updates: int
    seconds: float
    workers: list[Own]
    league: list[Any]
    ratings: Rated

    @classmethod
    def read(cls, header: Mapping[str, Any]) -> Facts:
        """The facts in the header of a file; what stands in `league` and of generators is looked at by those who take it.

        Raises:
            ValueError: something is missing, or is none of what it must be; names it.
        """
        read = Reader()
        return cls(
            read.integer("decisions", header.get("decisions"), 0, MOST_IN_ALL),
            read.integer("updates", header.get("updates"), 0, MOST_IN_ALL),
            read.number("seconds", header.get("seconds"), 0, MOST_SECONDS),
            [_own(read, f"workers[{k}]", one) for k, one in enumerate(read.items("workers", header.get("workers")))],
            read.items("league", header.get("league")),
            _rated(read, "ratings", header.get("ratings")),
        )

    def names(self) -> list[Any]:
        """Whom it names, as opponents or in the league; they can be anything."""
        return [name for own in self.workers for part in own.opponents for name in part] + [
            one.get("name") if isinstance(one, dict) else one for one in self.league
        ]


def _own(read: Reader, key: str, value: Any) -> Own:
    one = read.mapping(key, value, ("generators", "opponents"))
    opponents = [
        read.items(f"{key}.opponents[{k}]", names) for k, names in enumerate(read.items(f"{key}.opponents", one.get("opponents")))
    ]
    generators = read.items(f"{key}.generators", one.get("generators"))
    if len(generators) != len(opponents):
        read.fail(f"{key}.generators", f"must have {len(opponents)} entries")
    return Own(generators, opponents)


def _rated(read: Reader, key: str, value: Any) -> Rated:
    one = read.mapping(key, value, ("results", "strengths", "due"))
    results = read.items(f"{key}.results", one.get("results"))
    due = read.items(f"{key}.due", one.get("due"))
    return Rated(
        [_rating(read, f"{key}.results[{k}]", result) for k, result in enumerate(results)],
        _strengths(read, f"{key}.strengths", one.get("strengths")),
        [_due(read, f"{key}.due[{k}]", waiting) for k, waiting in enumerate(due)],
    )


def _due(read: Reader, key: str, value: Any) -> tuple[int, int, float]:
    one = read.items(key, value)
    if len(one) != 3:
        read.fail(key, "must be update, decisions and hours")
    update, decisions = (read.integer(f"{key}[{k}]", one[k], 0, MOST_IN_ALL) for k in (0, 1))
    return update, decisions, read.number(f"{key}[2]", one[2], 0, MOST_SECONDS)


def _rating(read: Reader, key: str, value: Any) -> dict[str, Any]:
    one = read.mapping(key, value, (*_RATING, "against", "mu", "sigma"))
    for name, most in _RATING.items():
        read.number(f"{key}.{name}", one.get(name), 0, most)
    if not one["wins"] <= one["games"] > 0:
        read.fail(f"{key}.games", "must be at least 1, and not less than the wins")
    read.text(f"{key}.against", one.get("against"))
    _strength(read, key, (one.get("mu"), one.get("sigma")))
    return one


def _strengths(read: Reader, key: str, value: Any) -> dict[str, tuple[float, float]]:
    given = read.mapping(key, value, value if isinstance(value, dict) else ())
    return {name: _strength(read, f"{key}.{as_key(name)}", pair) for name, pair in given.items()}


def _strength(read: Reader, key: str, value: Any) -> tuple[float, float]:
    """The rating of an agent."""
    pair = read.items(key, value)
    if len(pair) != 2:
        read.fail(key, "must be two numbers")
    mu = read.number(f"{key}.mu", pair[0], -MOST_STRENGTH, MOST_STRENGTH)
    return mu, read.number(f"{key}.sigma", pair[1], 1e-6, MOST_STRENGTH)


def check_sizes(options: Options, arrays: Mapping[str, np.ndarray]) -> None:
    """Refuses options of another size than the arrays of a run, before anything is made of that size.

    Raises:
        ValueError: the number of games, or the widths of the network, are others.
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
