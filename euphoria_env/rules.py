"""The options of a game, each said once: what is allowed, how a state row holds it, how it is observed, how a command reads it.

A field of `Rules` carries an `Option`; the state (`engine.state`), the layout of the observation (`observations`), positions and
the command lines are made from `OPTIONS`, so that a new option is everywhere as soon as it is a field.
"""

from __future__ import annotations

import argparse
import builtins
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from euphoria_env.board import NUM_MARKETS, STARS
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.cards.tiles import TILES
from euphoria_env.json_reader import as_key, shown

DIGIT = 128  # great numbers are observed in digits of this base, lowest first


@dataclass(frozen=True)
class Option(ABC):
    """What is to be known of an option, whatever its type.

    Attributes:
        help: what it does, in a few words, with the paragraph of the rules.
    """

    help: str

    @abstractmethod
    def check(self, key: str, value: Any) -> Any:
        """The value as `Rules` keeps it.

        Raises:
            ValueError: it is not allowed; names the key and what is.
        """

    def row_field(self, name: str) -> str:
        """The name of its field in a state row."""
        return name

    @property
    @abstractmethod
    def dtype(self) -> Any:
        """The type of its field in a state row."""

    @abstractmethod
    def encode(self, value: Any) -> Any:
        """What a state row holds for a value."""

    @abstractmethod
    def decode(self, stored: Any) -> Any:
        """The reverse of `encode`."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many entries of the observation it has."""

    @property
    @abstractmethod
    def range(self) -> tuple[int, int]:
        """The lowest and the highest value of these entries."""

    @abstractmethod
    def show(self, value: Any) -> list[int]:
        """The entries."""

    @abstractmethod
    def argument(self) -> dict[str, Any]:
        """How `argparse` reads it: keyword arguments of `add_argument`."""


@dataclass(frozen=True)
class Flag(Option):
    """On or off."""

    dtype = np.int8
    size = 1
    range = (0, 1)

    def check(self, key: str, value: Any) -> bool:
        """See `Option.check`."""
        if not isinstance(value, bool):
            raise ValueError(f"{key} must be True or False, not {shown(value)}")
        return value

    def encode(self, value: bool) -> int:
        """See `Option.encode`."""
        return int(value)

    def decode(self, stored: Any) -> bool:
        """See `Option.decode`."""
        return bool(stored)

    def show(self, value: bool) -> list[int]:
        """See `Option.show`."""
        return [int(value)]

    def argument(self) -> dict[str, Any]:
        """See `Option.argument`."""
        return {"action": argparse.BooleanOptionalAction}


@dataclass(frozen=True)
class Integer(Option):
    """A number.

    Attributes:
        low, high: what is allowed.
        none: whether `None` is too, which a row holds as 0.
    """

    low: int
    high: int
    none: bool = False

    @property
    def dtype(self) -> Any:
        """See `Option.dtype`."""
        return np.int8 if self.high < DIGIT else np.int32

    @property
    def size(self) -> int:
        """See `Option.size`; three digits are enough for all that a game can tell apart."""
        return 1 if self.high < DIGIT else 3

    @property
    def range(self) -> tuple[int, int]:
        """See `Option.range`."""
        return (self.low, self.high) if self.size == 1 else (0, DIGIT - 1)

    def check(self, key: str, value: Any) -> int | None:
        """See `Option.check`."""
        if value is None and self.none:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not self.low <= value <= self.high:
            none = " or None" if self.none else ""
            raise ValueError(f"{key} must be an integer from {self.low} to {self.high}{none}, not {shown(value)}")
        return value

    def encode(self, value: int | None) -> int:
        """See `Option.encode`."""
        return value or 0

    def decode(self, stored: Any) -> int | None:
        """See `Option.decode`."""
        return None if self.none and stored == 0 else int(stored)

    def show(self, value: int | None) -> list[int]:
        """See `Option.show`."""
        shown = min(self.encode(value), DIGIT**self.size - 1)
        return [shown // DIGIT**k % DIGIT for k in range(self.size)]

    def argument(self) -> dict[str, Any]:
        """See `Option.argument`."""
        return {"type": self._int, "metavar": "INT|none" if self.none else "INT"}

    def _int(self, text: str) -> int | None:
        return None if self.none and text == "none" else int(text)


@dataclass(frozen=True)
class Names(Option):
    """Some of a list of cards; `None`, or all of them: all. A row holds the set of those that are left out.

    Attributes:
        names: all cards, in their order.
        least: the fewest that are allowed.
    """

    names: tuple[str, ...]
    least: int

    dtype = np.int64
    range = (0, 1)

    def row_field(self, name: str) -> str:
        """See `Option.row_field`."""
        return f"absent_{name}"

    @property
    def size(self) -> int:
        """See `Option.size`."""
        return len(self.names)

    def check(self, key: str, value: Any) -> tuple[str, ...] | None:
        """See `Option.check`."""
        if value is None:
            return None
        if isinstance(value, str | Mapping) or not isinstance(value, Collection):
            raise ValueError(f"{key} must be a list of names or None, not {shown(value)}")
        given = list(value)
        for name in given:
            if not isinstance(name, str) or name not in self.names:
                raise ValueError(f"{key}: {shown(name)} is none of {', '.join(self.names)}")
            if given.count(name) > 1:
                raise ValueError(f"{key}: {name} is named twice")
        if len(given) < self.least:
            raise ValueError(f"{key} must be at least {self.least} names, not {len(given)}")
        return None if len(given) == len(self.names) else tuple(name for name in self.names if name in given)

    def encode(self, value: tuple[str, ...] | None) -> int:
        """See `Option.encode`."""
        return 0 if value is None else sum(1 << k for k, name in enumerate(self.names) if name not in value)

    def decode(self, stored: Any) -> tuple[str, ...] | None:
        """See `Option.decode`."""
        absent = int(stored)
        return tuple(name for k, name in enumerate(self.names) if not absent >> k & 1) if absent else None

    def show(self, value: tuple[str, ...] | None) -> list[int]:
        """See `Option.show`: 1 for a card that is not in the game."""
        return [self.encode(value) >> k & 1 for k in builtins.range(len(self.names))]

    def argument(self) -> dict[str, Any]:
        """See `Option.argument`."""
        return {"type": str, "nargs": "+", "metavar": "NAME"}


RECRUITS_A_PLAYER = 6  # the fewest of a pool (R17.6)


def _option(default: Any, option: Option) -> Any:
    """A field of `Rules`."""
    return field(default=default, metadata={"option": option})


@dataclass(frozen=True)
class Rules:
    """The options of a game; every value is checked.

    Raises:
        ValueError: an option has a value that is not allowed; the message names both.
    """

    num_players: int = _option(4, Integer("number of players", 2, 6))
    trading: bool = _option(False, Flag("players may trade on their turn (R15)"))
    trades_per_turn: int = _option(1, Integer("offers a player may make in one turn (R15.2)", 0, 10))
    recruit_draft: bool = _option(False, Flag("the recruits are drafted instead of dealt (R17.1)"))
    market_draft: bool = _option(False, Flag("the market tiles are drafted (R17.2)"))
    track_draft: bool = _option(False, Flag("the starting knowledge and morale are drafted (R17.3)"))
    doubles_cost_morale: bool = _option(False, Flag("a further equal worker costs 1 morale (R17.4)"))
    stars_to_win: int = _option(STARS, Integer("stars with which the game is won (R17.5)", 1, STARS))
    recruits: tuple[str, ...] | None = _option(
        None, Names("the recruits in the game (R17.6), all if none are named", RECRUIT_NAMES, RECRUITS_A_PLAYER * 2)
    )
    markets: tuple[str, ...] | None = _option(
        None, Names("the market tiles in the game (R17.6), all if none are named", TILES, NUM_MARKETS)
    )
    max_turns: int | None = _option(2000, Integer("after so many turns a game is truncated (R16.4)", 1, 2**31 - 1, none=True))

    def __post_init__(self) -> None:
        for name, option in OPTIONS.items():
            object.__setattr__(self, name, option.check(f"rules.{name}", getattr(self, name)))
        tiles = NUM_MARKETS + (self.num_players if self.market_draft else 0)
        for name, least in (("recruits", RECRUITS_A_PLAYER * self.num_players), ("markets", tiles)):
            pool = getattr(self, name)
            if pool is not None and len(pool) < least:
                raise ValueError(f"rules.{name} must be at least {least} names for these rules, not {len(pool)}")

    def to_dict(self) -> dict[str, Any]:
        """All options by name, as JSON has them."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in vars(self).items()}

    @classmethod
    def from_dict(cls, d: Any) -> Rules:
        """Rules from a mapping of options.

        Raises:
            ValueError: not a mapping, an unknown option, or a value that is not allowed.
        """
        if not isinstance(d, dict):
            raise ValueError(f"rules must be an object of options, not {shown(d)}")
        for name in d:
            if name not in OPTIONS:
                raise ValueError(f"rules.{as_key(name)}: no such option; allowed are {', '.join(OPTIONS)}")
        return cls(**d)


OPTIONS: dict[str, Option] = {one.name: one.metadata["option"] for one in fields(Rules)}
OPTIONS_SIZE = sum(option.size for option in OPTIONS.values())  # entries of the observation


def write_rules(row: Any, rules: Rules) -> None:
    """Writes the options into a state row: a field for each, for the engine, and `shown_rules`, as they are observed."""
    shown: list[int] = []
    for name, option in OPTIONS.items():
        row[option.row_field(name)] = option.encode(getattr(rules, name))
        shown += option.show(getattr(rules, name))
    row["shown_rules"] = shown


def read_rules(row: Any) -> Rules:
    """The options in a state row."""
    return Rules(**{name: option.decode(row[option.row_field(name)]) for name, option in OPTIONS.items()})


_ATTRIBUTES = "".join(f"        {one.name}: {OPTIONS[one.name].help}; {one.default!r} by default.\n" for one in fields(Rules))
Rules.__doc__ = str(Rules.__doc__).replace("    Raises:", f"    Attributes:\n{_ATTRIBUTES}\n    Raises:")
