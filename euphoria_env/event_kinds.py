"""The kinds of event that the engine logs, and the meaning of their fields.

An event is four small integers: its kind, a player, `a` and `b`; -1 where there is none.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple, Self

import numpy as np

from euphoria_env.board import ARTIFACTS, FACTIONS, ITEMS, MARKETS, SPACES, STAR_PLACES
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.cards.tiles import TILES
from euphoria_env.json_reader import read_integer

EVENT_SIZE = 4  # kind, player, a, b


class KindRow(NamedTuple):
    """The meaning of a kind of event."""

    # what happened. A verb without a subject has the player of the event as its subject; "they" are this player too.
    meaning: str
    player: bool = True  # whether it has a player
    # the meaning of `a` and `b`; "": always -1. A key of `NAMES`: an index of that list; "player": a seat; else a number.
    a: str = ""
    b: str = ""
    # which later events it causes. "group": all up to the next event that begins a group. "interruption": all up to the
    # next group or interruption, or up to `resumed`, after which the interrupted group continues. "next": only the next
    # event.
    causes: str = ""
    secret: bool = False  # whether `a` is known to the player of the event alone, and to nobody if it has none (R19)
    outcome: str = ""  # the kind of random outcome that `a` shows; "": `a` is not random


# Names by index, for the fields that have them.
NAMES: dict[str, tuple[str, ...]] = {
    "artifact": ARTIFACTS,
    "faction": FACTIONS,
    "item": ITEMS,
    "market": MARKETS,
    "payment": ("free", "food", "bliss", "energy"),
    "recruit": RECRUIT_NAMES,
    "resolution": ("open", "star", "recruit"),
    "space": SPACES,
    "star place": STAR_PLACES,
    "tie-break": ("stars", "morale", "knowledge", "markets", "territories", "roll", "lot"),
    "tile": TILES,
}

_GROUP, _INTERRUPTION, _NEXT = "group", "interruption", "next"


class EventKind(IntEnum):
    """The kinds of event, numbered in this order, each with its `row`."""

    row: KindRow

    def __new__(cls, *row: Any) -> Self:
        """Makes the next kind."""
        kind = int.__new__(cls, len(cls.__members__))
        kind._value_, kind.row = int(kind), KindRow(*row)
        return kind

    NOTHING = KindRow("no event: fills arrays before the first one", player=False)
    # setup
    DILEMMA_DEALT = KindRow("is dealt a dilemma (R2.1)", a="artifact", secret=True, outcome="dilemmas")
    RECRUIT_DEALT = KindRow("is dealt a recruit, or draws it (R2.2, R14.1)", a="recruit", secret=True, outcome="recruits")
    DRAFTED = KindRow("keeps a recruit of the pack in hand (R17.1)", a="recruit", secret=True)
    PASSED = KindRow("gets a recruit of the pack that is passed on (R17.1)", a="recruit", secret=True)
    RECRUIT_KEPT = KindRow("keeps a recruit, which is hidden for now (R2.2, R14.1)", a="recruit", secret=True)
    RECRUIT_OUT = KindRow("puts a recruit out of the game (R2.2, R14.1)", a="recruit", secret=True)
    TILE_DEALT = KindRow(
        "is dealt a market tile; without a player, the tile goes into the game (R17.2)", a="tile", secret=True, outcome="markets"
    )
    TILE_IN = KindRow("puts a market tile into the game (R17.2)", a="tile", secret=True)
    TILE_OUT = KindRow("puts a market tile out of the game (R17.2)", a="tile", secret=True)
    TILE_LAID = KindRow(
        "a market tile is laid face down (R2.3)", player=False, a="tile", b="market", secret=True, outcome="markets"
    )
    STARTS = KindRow("is the first player (R2.6)")
    MORALE_SET = KindRow("puts their morale marker there; 0: it is taken off its track (R17.3)", a="now at")
    KNOWLEDGE_SET = KindRow("puts their knowledge marker there; 0: it is taken off its track (R17.3)", a="now at")
    # the turn
    TURN = KindRow("begins a turn (R3.1)", causes=_GROUP)
    ASKED = KindRow("must decide; noted if another player decided last in this turn, or another player's turn has begun (R18.1)")
    LOT = KindRow("a lot is drawn among tied players (R2.6, R16.2)", player=False, a="player", outcome="lots")
    # workers
    PLACED = KindRow("places a worker (R4.2)", a="space", b="face", causes=_GROUP)
    SITE_BEGUN = KindRow("theirs is the first worker on a construction site (R9.1)", a="market")
    BUMPED = KindRow("their worker is bumped, and available with its old face (R4.2, R5.8)", a="space", b="face")
    RETRIEVES = KindRow("retrieves workers, and pays this (R3.4)", a="payment", causes=_GROUP)
    RETRIEVED = KindRow("takes a worker back, with its old face (R3.4)", a="space", b="face")
    RETURNED = KindRow("their worker returns from a site that is built, with its old face (R9.3)", a="space", b="face")
    SACRIFICED = KindRow("returns a worker from the board to the supply (R13.4)", a="space", b="face")
    WORKER_GAINED = KindRow("gains a worker, which is rolled next (R6.3)", causes=_GROUP)
    ROLL = KindRow("rolls workers together (R5.2)", a="number", causes=_GROUP)
    DIE = KindRow("a worker of theirs is rolled; a new one had no face", a="face", b="old face", outcome="dice")
    FACE_SET = KindRow("a worker of theirs is given a face instead (Amanda, Yordy, Julia)", a="face", b="old face")
    WORKER_LOST = KindRow("loses a worker to the knowledge check (R5.3)", a="face", b="sum")
    # causes
    PAYS = KindRow("pays for a space (R4.3)", a="space", causes=_GROUP)
    STAYS = KindRow("can no longer pay: the worker stays, for nothing (R4.3)", a="space", causes=_GROUP)
    GAINS = KindRow("gets what a space gives (R4.4)", a="space", causes=_GROUP)
    ABILITY = KindRow(
        "a recruit acts (R13); Geek, the Gambler and Esme interrupt",
        a="recruit",
        b="number of the ability",
        causes=_GROUP,
    )
    DECLINED = KindRow("does not use a recruit", a="recruit")
    WAY = KindRow("a recruit makes this way of paying possible (R13.1)", a="recruit")
    REACTION = KindRow("a recruit brings about what comes next (Nick, Curtis; Chase's new worker)", a="recruit", causes=_NEXT)
    BONUS = KindRow("the allegiance bonus of a faction (R7.2, R7.3)", a="faction", b="tier", causes=_NEXT)
    PENALTY = KindRow("a market penalty (R12)", a="tile", causes=_INTERRUPTION)
    HAND_LIMIT = KindRow("holds more artifact cards than they may (R5.6)", a="number too many", causes=_INTERRUPTION)
    RESUMED = KindRow("the interrupted group continues")
    # goods, cards, markers
    GAINED = KindRow("gains goods; 0 where they cannot have more (R1.2)", a="item", b="number")
    PAID = KindRow("pays goods, or artifact cards, which are discarded", a="item", b="number")
    LOST = KindRow("loses goods", a="item", b="number")
    GIVEN = KindRow("hands over goods or artifact cards to another player", a="item", b="number")
    RECEIVED = KindRow("gets goods or artifact cards from another player", a="item", b="number")
    DRAWN = KindRow("draws an artifact card (R5.7)", a="artifact", secret=True, outcome="artifacts")
    NONE_LEFT = KindRow("cannot draw: there are no artifact cards left (R5.7)")
    SHUFFLED = KindRow("the discards are shuffled into a new deck (R5.7)", player=False)
    DISCARDED = KindRow("discards artifact cards", a="item", b="number")
    KNOWLEDGE_GAINED = KindRow("their knowledge rises", a="steps", b="now at")
    KNOWLEDGE_PAID = KindRow("their knowledge rises, as a price", a="steps", b="now at")
    KNOWLEDGE_LOST = KindRow("their knowledge falls", a="steps", b="now at")
    MORALE_GAINED = KindRow("their morale rises", a="steps", b="now at")
    MORALE_PAID = KindRow("their morale falls, as a price", a="steps", b="now at")
    MORALE_LOST = KindRow("their morale falls", a="steps", b="now at")
    # the board
    ALLEGIANCE = KindRow("advances an allegiance marker (R7.1)", a="faction", b="now at")
    MINER = KindRow("moves a miner (R8.1)", a="faction", b="now at")
    REVEALED = KindRow("the hidden recruits of a faction become active (R7.4, R7.5)", player=False, a="faction", causes=_GROUP)
    RECRUIT_ACTIVE = KindRow("a recruit of theirs becomes active", a="recruit")
    BUILT = KindRow("the market is built: its tile is turned over (R9.3)", a="market", b="tile", causes=_GROUP)
    STAR = KindRow("places a star in a territory or on a market", a="star place")
    STAR_ON_RECRUIT = KindRow("places a star on a recruit (R7.6)", a="recruit")
    STAR_ON_DILEMMA = KindRow("places a star on their dilemma (R14.1)")
    DILEMMA = KindRow("resolves their dilemma, which is shown (R14)", a="artifact", b="resolution", causes=_GROUP)
    # trading
    OFFER = KindRow("begins an offer to another player (R15.1)", a="player", causes=_GROUP)
    OFFERED = KindRow("offers this", a="item", b="number")
    WANTED = KindRow("asks for this", a="item", b="number")
    ACCEPTED = KindRow("accepts the offer of another player", a="player", causes=_GROUP)
    REFUSED = KindRow("refuses the offer of another player", a="player")
    REFUSED_UNASKED = KindRow("lacks what another player asks for: the offer counts as refused (R15.2)", a="player")
    # the end
    TIE_BROKEN = KindRow("wins the tie of those who have placed enough stars, by this (R16.2)", a="tie-break")
    WON = KindRow("wins: the game is over (R16)", causes=_GROUP)
    CUT_OFF = KindRow("the game is cut off (R16.4)", player=False, causes=_GROUP)
    RANK = KindRow("their final rank (R16.3)", a="rank")


KIND_ROWS = {kind: kind.row for kind in EventKind}

KINDS = tuple(kind.name.lower() for kind in EventKind)
SECRET = np.array([row.secret for row in KIND_ROWS.values()], np.bool_)
OF_PLAYER = np.array([row.a == "player" for row in KIND_ROWS.values()], np.bool_)  # whether `a` is a player
MOST_EVENTS = 1024  # that an observation may hold


def number_of_events(k: object) -> int:
    """Returns the number of events in an observation, 0 for none; raises a `ValueError` unless it is 0 to MOST_EVENTS."""
    return read_integer("events", k, 0, MOST_EVENTS)
