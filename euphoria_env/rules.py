"""The options of a game.

Each field of `Rules` has an `Option`: its kind, default, help and range. The state (`engine.state`), the observation
(`observations`), positions and command lines are made from `OPTIONS`, so that a new field needs no change in them.
"""

from __future__ import annotations

import builtins
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any

import numpy as np

from euphoria_env.board import NUM_MARKETS, STARS
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.cards.tiles import TILES
from euphoria_env.json_reader import Reader, shown
from euphoria_env.keywords import names_keywords

DIGIT = 128  # the observation shows large numbers in digits of this base, the lowest first


@dataclass(frozen=True)
class Option:
    """An option, which a state row holds as an integer and the observation as digits of that integer."""

    help: str  # a few words that say what it does, with the rule
    kind: type = bool  # bool, int, or tuple for names of cards; the row then holds the cards that are left out, as a bit set
    low: int = 0
    high: int = 1
    none: bool = False  # whether `None` is allowed, for which the row holds 0; for names of cards it means all cards
    names: tuple[str, ...] = ()  # of all cards, in order
    least: int = 0  # the smallest number of cards allowed

    def check(self, key: str, value: Any) -> Any:
        """Returns the value as `Rules` keeps it, as one of Python; a `ValueError` names the key and what is allowed."""
        if value is None and self.none:
            return None
        if self.kind is tuple:
            return self._check_names(key, value)
        if self.kind is bool:
            fits, allowed = isinstance(value, bool | np.bool_), "True or False"
        else:
            whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
            fits, allowed = whole and self.low <= value <= self.high, f"an integer from {self.low} to {self.high}"
            allowed += " or None" * self.none
        if not fits:
            Reader.must(key, f"be {allowed}, not {shown(value)}")
        return self.kind(value)

    def _check_names(self, key: str, value: Any) -> tuple[str, ...] | None:
        if isinstance(value, str | Mapping) or not isinstance(value, Collection):
            Reader.must(key, f"be a list of names or None, not {shown(value)}")
        given = list(value)
        for name in given:
            Reader().one_of(key, name, self.names)
            if given.count(name) > 1:
                Reader.fail(key, f"{name} is named twice")
        if len(given) < self.least:
            Reader.must(key, f"be at least {self.least} names, not {len(given)}")
        return None if len(given) == len(self.names) else tuple(name for name in self.names if name in given)

    def row_field(self, name: str) -> str:
        """Returns the name of its field in a state row."""
        return f"absent_{name}" if self.kind is tuple else name

    @property
    def dtype(self) -> Any:
        """The type of its field in a state row."""
        return np.int64 if self.kind is tuple else np.int8 if self.high < DIGIT else np.int32

    def encode(self, value: Any) -> int:
        """Returns the integer that a state row holds for a value."""
        if self.kind is tuple and value is not None:
            return sum(1 << k for k, name in enumerate(self.names) if name not in value)
        return int(value or 0)

    def decode(self, stored: Any) -> Any:
        """Returns the value for an integer of a state row: the reverse of `encode`."""
        if self.none and stored == 0:
            return None
        if self.kind is tuple:
            return tuple(name for k, name in enumerate(self.names) if not int(stored) >> k & 1)
        return self.kind(stored)

    @property
    def stored(self) -> tuple[int, int]:
        """The lowest and the highest integer that a state row holds."""
        return (0, (1 << len(self.names)) - 1) if self.names else (0 if self.none else self.low, self.high)

    @property
    def size(self) -> int:
        """The number of its entries in the observation; a large number has three digits, enough for play."""
        return len(self.names) or (1 if self.high < DIGIT else 3)

    @property
    def range(self) -> tuple[int, int]:
        """The lowest and the highest value of these entries."""
        return (self.low, self.high) if self.high < DIGIT else (0, DIGIT - 1)

    def show(self, value: Any) -> list[int]:
        """Returns the entries for a value: a flag, the digits of a number, or 1 for each card that is not in the game."""
        base = DIGIT if self.kind is int else 2
        code = min(self.encode(value), base**self.size - 1)
        return [code // base**k % base for k in builtins.range(self.size)]

    @property
    def shown(self) -> str:
        """Describes the entries that `show` writes; empty if they are the value itself."""
        if self.kind is tuple:
            return "; 1: out of the game"
        return f"; 0: {self.decode(0)}, in digits of base {DIGIT}, lowest first" if self.size > 1 else ""


RECRUITS_A_PLAYER = 6  # the fewest recruits in a pool for each player (R17.6)


def _option(default: Any, help: str, **option: Any) -> Any:
    """Returns a field of `Rules`."""
    return field(default=default, metadata={"option": Option(help, **option)})


@names_keywords()
@dataclass(frozen=True)
class Rules:
    """The options of a game; every value is checked.

    Raises:
        TypeError: a keyword is unknown.
        ValueError: the value of an option is not allowed; the message names the option and the value.
    """

    num_players: int = _option(4, "number of players", kind=int, low=2, high=6)
    trading: bool = _option(False, "players may trade on their turn (R15)")
    trades_per_turn: int = _option(1, "offers a player may make in one turn (R15.2)", kind=int, high=10)
    recruit_draft: bool = _option(False, "the recruits are drafted instead of dealt (R17.1)")
    market_draft: bool = _option(False, "the market tiles are drafted (R17.2)")
    track_draft: bool = _option(False, "the starting knowledge and morale are drafted (R17.3)")
    doubles_cost_morale: bool = _option(False, "a further equal worker costs 1 morale (R17.4)")
    stars_to_win: int = _option(STARS, "stars with which the game is won (R17.5)", kind=int, low=1, high=STARS)
    recruits: tuple[str, ...] | None = _option(
        None,
        "the recruits in the game (R17.6), all if none are named",
        kind=tuple,
        none=True,
        names=RECRUIT_NAMES,
        least=RECRUITS_A_PLAYER * 2,
    )
    markets: tuple[str, ...] | None = _option(
        None, "the market tiles in the game (R17.6), all if none are named", kind=tuple, none=True, names=TILES, least=NUM_MARKETS
    )
    max_turns: int | None = _option(
        2000, "turns after which a game is truncated (R16.4)", kind=int, low=1, high=2**31 - 1, none=True
    )

    def __post_init__(self) -> None:
        for name, option in OPTIONS.items():
            object.__setattr__(self, name, option.check(f"rules.{name}", getattr(self, name)))
        tiles = NUM_MARKETS + (self.num_players if self.market_draft else 0)
        for name, least in (("recruits", RECRUITS_A_PLAYER * self.num_players), ("markets", tiles)):
            pool = getattr(self, name)
            if pool is not None and len(pool) < least:
                Reader.must(f"rules.{name}", f"be at least {least} names for these rules, not {len(pool)}")

    def to_dict(self) -> dict[str, Any]:
        """Returns all options by name, as JSON has them."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in vars(self).items()}

    @classmethod
    def from_dict(cls, d: Any) -> Rules:
        """Returns rules from a mapping of options.

        Raises:
            ValueError: `d` is not a mapping, an option is unknown, or its value is not allowed.
        """
        return cls(**Reader().mapping("rules", d, OPTIONS))


OPTIONS: dict[str, Option] = {one.name: one.metadata["option"] for one in fields(Rules)}
OPTIONS_SIZE = sum(option.size for option in OPTIONS.values())  # entries of the observation


def write_rules(row: Any, rules: Rules) -> None:
    """Writes the options into a state row: a field for each, and `shown_rules` for the observation."""
    shown: list[int] = []
    for name, option in OPTIONS.items():
        row[option.row_field(name)] = option.encode(getattr(rules, name))
        shown += option.show(getattr(rules, name))
    row["shown_rules"] = shown


def read_rules(row: Any) -> Rules:
    """Returns the options in a state row."""
    return _decoded(tuple(int(row[option.row_field(name)]) for name, option in OPTIONS.items()))


@lru_cache(256)
def _decoded(stored: tuple[int, ...]) -> Rules:
    return Rules(**{name: option.decode(value) for (name, option), value in zip(OPTIONS.items(), stored, strict=True)})


_ATTRIBUTES = "".join(f"        {one.name}: {OPTIONS[one.name].help}; {one.default!r} by default.\n" for one in fields(Rules))
Rules.__doc__ = str(Rules.__doc__).replace("    Raises:", f"    Attributes:\n{_ATTRIBUTES}\n    Raises:")
