"""Chapter 18: what is asked, and how.

The rules are written as coroutines. They yield two kinds of question: a `Decision` to a player and a `Chance` to fate;
the driver (`game.py`) sends the answer back. `Flow[T]` is such a coroutine that returns a T.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from .tables import UNITS

T = TypeVar("T")


@dataclass(frozen=True)
class Decision:
    """One decision of one player (R18.1): the legal moves in notation, each with the value the rules want to get."""

    player: int
    options: Mapping[str, Any]
    opening: bool = False  # the decision that opens a turn is asked even with one legal answer


@dataclass(frozen=True)
class Chance:
    """One random outcome. `possible` holds an outcome as often as it is likely.

    `also` holds outcomes that never come at random but may be loaded: recruits that are out of the game.
    """

    kind: str  # dice, artifacts, recruits, markets, dilemmas, lots
    possible: Sequence[Any]
    also: Sequence[Any] = ()


Flow: TypeAlias = Generator[Decision | Chance, Any, T]


def use(player: int, recruit: str) -> Flow[bool]:
    """R13.1: a "may"."""
    answer: bool = yield Decision(player, {f"use {recruit}": True, "skip": False})
    return answer


def gain_choice(player: int, items: Iterable[str]) -> Flow[str]:
    """A choice of one gain. Every alternative may be chosen, also a void one (R13.9)."""
    answer: str = yield Decision(player, {f"gain {item}": item for item in items})
    return answer


def combinations(held: Mapping[str, int], size: int) -> set[tuple[str, ...]]:
    """All ways to take `size` units out of what is held, each spelled in the fixed order."""
    found: set[tuple[str, ...]] = {()}
    for _ in range(size):
        longer = set()
        for combination in found:
            taken = Counter(combination)
            for item, number in held.items():
                if taken[item] < number:
                    longer.add(in_order((*combination, item)))
        found = longer
    return found


def in_order(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(items, key=UNITS.index))


def series(player: int, verb: str, wanted: Iterable[tuple[str, ...]]) -> Flow[tuple[str, ...]]:
    """R18.2, R18.3: single choices that spell one of the wanted combinations (all of one size) in the fixed order.

    Nothing takes effect here: the caller carries out the complete series as a whole.
    """
    left = set(wanted)
    chosen: tuple[str, ...] = ()
    while chosen not in left:
        place = len(chosen)
        following = in_order({combination[place] for combination in left})
        item = yield Decision(player, {f"{verb} {item}": item for item in following})
        chosen += (item,)
        left = {combination for combination in left if combination[: place + 1] == chosen}
    return chosen
