"""The vocabulary in which cards and spaces are written: events, conditions, prices and effects.

A card or a space is a row of these; the engine interprets the rows (`engine.abilities`, `engine.effects`).
"""

from __future__ import annotations

from enum import IntEnum, auto
from typing import NamedTuple

import numpy as np

from euphoria_env.board import COMMODITY_SET, RESOURCE_SET, gain_set


class Trigger(IntEnum):
    """The events at which a recruit acts."""

    PLACED = 0  # its owner placed a worker, R4.5
    BUMPED = auto()  # its owner bumped another player's worker, after the roll, R4.2
    BUMPING = auto()  # its owner bumped another player's worker, before the roll, R4.2
    GETTING_BUMPED = auto()  # a worker of its owner is bumped, before the roll
    OTHERS_ROLLED = auto()  # another player rolled, R5.2 (c)
    LOST_WORKER = auto()  # its owner lost a worker to the knowledge check, R5.2 (d)
    NEW_WORKER = auto()  # its owner gained a worker, R4.8
    BUILT = auto()  # somebody built a market, R9.3
    STAR = auto()  # its owner placed a star, R4.12
    RETRIEVING = auto()  # before the roll, first, R3.4
    BEFORE_ROLL = auto()  # before the roll, last, R3.4
    RETRIEVED = auto()  # after the roll, R3.4


class When(IntEnum):
    """The conditions under which a recruit acts; checked when it acts (R13.8)."""

    ALWAYS = 0
    NO_ARTIFACT = auto()
    NO_RESOURCE = auto()
    SAME_FACE = auto()  # another worker there shows the same face
    ALONE = auto()
    HIGHEST = auto()  # higher than every other worker there, or alone (R13.3)
    LOWEST = auto()  # lower than every other worker there, or alone (R13.3)
    WITHOUT_BUMPING = auto()
    STAR_PLACED = auto()  # the space gave a star and it was placed (R13.6)
    PAID_GOLD = auto()
    PAID_ARTIFACT = auto()
    PAID_ONE_ARTIFACT = auto()  # paid one artifact at the ark, as Jacko allows
    PAID_FOOD_FOR_BLISS = auto()
    TOOK_RESOURCE = auto()  # from the tunnel, with no artifact in hand
    BUMPED_HIGHER = auto()  # the bumped worker's face was higher
    BUMPED_NO_SUBTERRAN = auto()  # its owner has no active Subterran recruit
    ROLLER_SHOWS_PAIR = auto()  # two available workers of the roller show one face
    FREE_RETRIEVAL = auto()  # the retrieval was free, and a retrieved worker is left
    ALL_FROM_SUBTERRA = auto()


class Price(IntEnum):
    """The price of an optional ability, besides morale and knowledge."""

    NONE = 0
    ENERGY = auto()
    BLISS = auto()  # with Brian, food may stand in for it
    GOLD_TO_BUMPED = auto()  # given to the player whose worker was bumped
    ARTIFACT = auto()  # the effect asks which one
    PLACED_WORKER = auto()  # but never the player's last worker (R13.4)
    RETRIEVED_WORKER = auto()  # the effect asks which one; never the player's last worker (R13.4)


class Effect(IntEnum):
    """An effect on a player, with two small arguments. The numbers of the engine's own operations follow these."""

    MORALE = 0  # gain a (lose, if negative)
    KNOWLEDGE = auto()  # gain a (lose, if negative)
    GOODS = auto()  # gain b of good a
    CHOOSE = auto()  # choose b gains of set CHOICES[a]
    DRAW = auto()  # draw a artifacts
    TUNNEL_RESOURCE = auto()  # gain a of this tunnel's resource
    TUNNEL_CHOICE = auto()  # its resource or an artifact, or both (R8.1, R7.3)
    MINER = auto()  # move this tunnel's miner 1 step
    ADVANCE = auto()  # advance the allegiance of faction a by 1
    STAR_IN_TERRITORY = auto()  # place a star in the territory of faction a
    STAR_IN_REGION = auto()  # in territory a or on a built market of that region (R10.1)
    ICARITE_BONUS = auto()  # R7.3
    NEW_WORKER = auto()  # gain a worker (R6.3)
    AREA = auto()  # give what a commodity area gives (R6.1)
    SET_FACE = auto()  # choose the face of one worker about to be rolled
    TAKE_FACE = auto()  # the bumped worker takes the face of the bumper (Julia)
    PAY_BLISS = auto()
    SACRIFICE_PLACED = auto()
    SACRIFICE_RETRIEVED = auto()
    BUMPED_KNOWLEDGE = auto()  # the bumped worker's owner gains 1 knowledge
    OTHERS_THERE = auto()  # every other player with a worker there gains 1 knowledge
    OPPONENTS_DRAW = auto()
    OPPONENTS_BLISS = auto()
    BUILDER = auto()  # Ray
    BARGAIN = auto()  # Esme: discard an artifact for energy and a step of a marker
    FUTURE = auto()  # Bradley: draw 2, discard 1 of those two


# The sets of gains from which cards let a player choose; cards refer to them by index.
CHOICES = (
    gain_set("morale", "energy"),
    gain_set("morale", "water"),
    gain_set("knowledge", "food"),
    gain_set("knowledge", "bliss"),
    gain_set("water", "stone"),
    gain_set("knowledge", "morale"),
    COMMODITY_SET,
    RESOURCE_SET,
)
CHOICE_SETS = np.array(CHOICES, np.int64)

Step = tuple[int, int, int]
MAX_STEPS = 4


class Ability(NamedTuple):
    """An ability of a recruit: its trigger, spaces and condition, whether the player is asked, its price and its effects."""

    on: Trigger
    do: tuple[Step, ...]
    at: int = -1  # spaces, for PLACED and BUMPED; -1: all
    when: When = When.ALWAYS
    may: bool = False
    morale: int = 0  # price
    knowledge: int = 0  # price
    price: Price = Price.NONE


def morale(n: int) -> Step:
    """Returns the step: gain n morale, or lose it if n is negative."""
    return (Effect.MORALE, n, 0)


def knowledge(n: int) -> Step:
    """Returns the step: gain n knowledge, or lose it if n is negative."""
    return (Effect.KNOWLEDGE, n, 0)


def goods(item: int, n: int = 1) -> Step:
    """Returns the step: gain n of a commodity or resource."""
    return (Effect.GOODS, item, n)


def choose(options: int, n: int = 1) -> Step:
    """Returns the step: choose n gains from a set of `CHOICES`."""
    return (Effect.CHOOSE, CHOICES.index(options), n)


def draw(n: int = 1) -> Step:
    """Returns the step: draw n artifacts."""
    return (Effect.DRAW, n, 0)


def effect(op: Effect, a: int = 0) -> Step:
    """Returns the step of any other effect."""
    return (op, a, 0)


def program_table(programs: list[tuple[Step, ...]]) -> np.ndarray:
    """Returns programs as one int8 array, (programs, MAX_STEPS, 3); unused steps are -1."""
    table = np.full((len(programs), MAX_STEPS, 3), -1, np.int8)
    for row, program in zip(table, programs, strict=True):
        for k, step in enumerate(program):
            row[k] = step
    return table
