"""The kinds of event that the engine logs, and the meaning of their fields.

An event is four small integers: its kind, a player, `a` and `b`; -1 where there is none.
"""

from __future__ import annotations

from enum import IntEnum, auto
from typing import NamedTuple

import numpy as np

from euphoria_env.board import ARTIFACTS, FACTIONS, ITEMS, MARKETS, SPACES, STAR_PLACES
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.cards.tiles import TILES
from euphoria_env.json_reader import read_integer

EVENT_SIZE = 4  # kind, player, a, b


class EventKind(IntEnum):
    """The kinds of event."""

    NOTHING = 0  # fills arrays before the first event
    # setup
    DILEMMA_DEALT = auto()
    RECRUIT_DEALT = auto()
    DRAFTED = auto()
    PASSED = auto()
    RECRUIT_KEPT = auto()
    RECRUIT_OUT = auto()
    TILE_DEALT = auto()
    TILE_IN = auto()
    TILE_OUT = auto()
    TILE_LAID = auto()
    STARTS = auto()
    MORALE_SET = auto()
    KNOWLEDGE_SET = auto()
    # the turn
    TURN = auto()
    ASKED = auto()
    LOT = auto()
    # workers
    PLACED = auto()
    SITE_BEGUN = auto()
    BUMPED = auto()
    RETRIEVES = auto()
    RETRIEVED = auto()
    RETURNED = auto()
    SACRIFICED = auto()
    WORKER_GAINED = auto()
    ROLL = auto()
    DIE = auto()
    FACE_SET = auto()
    WORKER_LOST = auto()
    # causes
    PAYS = auto()
    STAYS = auto()
    GAINS = auto()
    ABILITY = auto()
    DECLINED = auto()
    WAY = auto()
    REACTION = auto()
    BONUS = auto()
    PENALTY = auto()
    HAND_LIMIT = auto()
    RESUMED = auto()
    # goods, cards, markers
    GAINED = auto()
    PAID = auto()
    LOST = auto()
    GIVEN = auto()
    RECEIVED = auto()
    DRAWN = auto()
    NONE_LEFT = auto()
    SHUFFLED = auto()
    DISCARDED = auto()
    KNOWLEDGE_GAINED = auto()
    KNOWLEDGE_PAID = auto()
    KNOWLEDGE_LOST = auto()
    MORALE_GAINED = auto()
    MORALE_PAID = auto()
    MORALE_LOST = auto()
    # the board
    ALLEGIANCE = auto()
    MINER = auto()
    REVEALED = auto()
    RECRUIT_ACTIVE = auto()
    BUILT = auto()
    STAR = auto()
    STAR_ON_RECRUIT = auto()
    STAR_ON_DILEMMA = auto()
    DILEMMA = auto()
    # trading
    OFFER = auto()
    OFFERED = auto()
    WANTED = auto()
    ACCEPTED = auto()
    REFUSED = auto()
    REFUSED_UNASKED = auto()
    # the end
    TIE_BROKEN = auto()
    WON = auto()
    CUT_OFF = auto()
    RANK = auto()


class KindRow(NamedTuple):
    """The meaning of a kind of event.

    Attributes:
        meaning: what happened. A verb without a subject has the player of the event as its subject; "they" are this player too.
        player: whether it has a player.
        a, b: what these fields are; "": -1. A key of `NAMES` means an index of that list, "player" a seat, any other text a plain
            number.
        causes: which events that follow it is the cause of. "group": all, until the next group. "interruption": likewise, until
            the next group or interruption, or until `resumed`, where the interrupted group continues. "next": the next event
            alone.
        secret: whether `a` is known to the player of the event alone, and to nobody if it has none (R19).
        outcome: the kind of outcome of chance that `a` is, if it is one.
    """

    meaning: str
    player: bool = True
    a: str = ""
    b: str = ""
    causes: str = ""
    secret: bool = False
    outcome: str = ""


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
_K = EventKind
KIND_ROWS = {
    _K.NOTHING: KindRow("no event: fills arrays before the first one", player=False),
    _K.DILEMMA_DEALT: KindRow("is dealt a dilemma (R2.1)", a="artifact", secret=True, outcome="dilemmas"),
    _K.RECRUIT_DEALT: KindRow("is dealt a recruit, or draws it (R2.2, R14.1)", a="recruit", secret=True, outcome="recruits"),
    _K.DRAFTED: KindRow("keeps a recruit of the pack in hand (R17.1)", a="recruit", secret=True),
    _K.PASSED: KindRow("gets a recruit of the pack that is passed on (R17.1)", a="recruit", secret=True),
    _K.RECRUIT_KEPT: KindRow("keeps a recruit, which is hidden for now (R2.2, R14.1)", a="recruit", secret=True),
    _K.RECRUIT_OUT: KindRow("puts a recruit out of the game (R2.2, R14.1)", a="recruit", secret=True),
    _K.TILE_DEALT: KindRow(
        "is dealt a market tile; without a player, the tile goes into the game (R17.2)", a="tile", secret=True, outcome="markets"
    ),
    _K.TILE_IN: KindRow("puts a market tile into the game (R17.2)", a="tile", secret=True),
    _K.TILE_OUT: KindRow("puts a market tile out of the game (R17.2)", a="tile", secret=True),
    _K.TILE_LAID: KindRow(
        "a market tile is laid face down (R2.3)", player=False, a="tile", b="market", secret=True, outcome="markets"
    ),
    _K.STARTS: KindRow("is the first player (R2.6)"),
    _K.MORALE_SET: KindRow("puts their morale marker there; 0: it is taken off its track (R17.3)", a="now at"),
    _K.KNOWLEDGE_SET: KindRow("puts their knowledge marker there; 0: it is taken off its track (R17.3)", a="now at"),
    _K.TURN: KindRow("begins a turn (R3.1)", causes=_GROUP),
    _K.ASKED: KindRow(
        "must decide; noted if another player decided last in this turn, or another player's turn has begun (R18.1)"
    ),
    _K.LOT: KindRow("a lot is drawn among tied players (R2.6, R16.2)", player=False, a="player", outcome="lots"),
    _K.PLACED: KindRow("places a worker (R4.2)", a="space", b="face", causes=_GROUP),
    _K.SITE_BEGUN: KindRow("theirs is the first worker on a construction site (R9.1)", a="market"),
    _K.BUMPED: KindRow("their worker is bumped, and available with its old face (R4.2, R5.8)", a="space", b="face"),
    _K.RETRIEVES: KindRow("retrieves workers, and pays this (R3.4)", a="payment", causes=_GROUP),
    _K.RETRIEVED: KindRow("takes a worker back, with its old face (R3.4)", a="space", b="face"),
    _K.RETURNED: KindRow("their worker returns from a site that is built, with its old face (R9.3)", a="space", b="face"),
    _K.SACRIFICED: KindRow("returns a worker from the board to the supply (R13.4)", a="space", b="face"),
    _K.WORKER_GAINED: KindRow("gains a worker, which is rolled next (R6.3)", causes=_GROUP),
    _K.ROLL: KindRow("rolls workers together (R5.2)", a="number", causes=_GROUP),
    _K.DIE: KindRow("a worker of theirs is rolled; a new one had no face", a="face", b="old face", outcome="dice"),
    _K.FACE_SET: KindRow("a worker of theirs is given a face instead (Amanda, Yordy, Julia)", a="face", b="old face"),
    _K.WORKER_LOST: KindRow("loses a worker to the knowledge check (R5.3)", a="face", b="sum"),
    _K.PAYS: KindRow("pays for a space (R4.3)", a="space", causes=_GROUP),
    _K.STAYS: KindRow("can no longer pay: the worker stays, for nothing (R4.3)", a="space", causes=_GROUP),
    _K.GAINS: KindRow("gets what a space gives (R4.4)", a="space", causes=_GROUP),
    _K.ABILITY: KindRow(
        "a recruit acts (R13); Geek, the Gambler and Esme interrupt",
        a="recruit",
        b="number of the ability",
        causes=_GROUP,
    ),
    _K.DECLINED: KindRow("does not use a recruit", a="recruit"),
    _K.WAY: KindRow("a recruit makes this way of paying possible (R13.1)", a="recruit"),
    _K.REACTION: KindRow("a recruit brings about what comes next (Nick, Curtis; Chase's new worker)", a="recruit", causes=_NEXT),
    _K.BONUS: KindRow("the allegiance bonus of a faction (R7.2, R7.3)", a="faction", b="tier", causes=_NEXT),
    _K.PENALTY: KindRow("a market penalty (R12)", a="tile", causes=_INTERRUPTION),
    _K.HAND_LIMIT: KindRow("holds more artifact cards than they may (R5.6)", a="number too many", causes=_INTERRUPTION),
    _K.RESUMED: KindRow("the interrupted group continues"),
    _K.GAINED: KindRow("gains goods; 0 where they cannot have more (R1.2)", a="item", b="number"),
    _K.PAID: KindRow("pays goods, or artifact cards, which are discarded", a="item", b="number"),
    _K.LOST: KindRow("loses goods", a="item", b="number"),
    _K.GIVEN: KindRow("hands over goods or artifact cards to another player", a="item", b="number"),
    _K.RECEIVED: KindRow("gets goods or artifact cards from another player", a="item", b="number"),
    _K.DRAWN: KindRow("draws an artifact card (R5.7)", a="artifact", secret=True, outcome="artifacts"),
    _K.NONE_LEFT: KindRow("cannot draw: there are no artifact cards left (R5.7)"),
    _K.SHUFFLED: KindRow("the discards are shuffled into a new deck (R5.7)", player=False),
    _K.DISCARDED: KindRow("discards artifact cards", a="item", b="number"),
    _K.KNOWLEDGE_GAINED: KindRow("their knowledge rises", a="steps", b="now at"),
    _K.KNOWLEDGE_PAID: KindRow("their knowledge rises, as a price", a="steps", b="now at"),
    _K.KNOWLEDGE_LOST: KindRow("their knowledge falls", a="steps", b="now at"),
    _K.MORALE_GAINED: KindRow("their morale rises", a="steps", b="now at"),
    _K.MORALE_PAID: KindRow("their morale falls, as a price", a="steps", b="now at"),
    _K.MORALE_LOST: KindRow("their morale falls", a="steps", b="now at"),
    _K.ALLEGIANCE: KindRow("advances an allegiance marker (R7.1)", a="faction", b="now at"),
    _K.MINER: KindRow("moves a miner (R8.1)", a="faction", b="now at"),
    _K.REVEALED: KindRow("the hidden recruits of a faction become active (R7.4, R7.5)", player=False, a="faction", causes=_GROUP),
    _K.RECRUIT_ACTIVE: KindRow("a recruit of theirs becomes active", a="recruit"),
    _K.BUILT: KindRow("the market is built: its tile is turned over (R9.3)", a="market", b="tile", causes=_GROUP),
    _K.STAR: KindRow("places a star in a territory or on a market", a="star place"),
    _K.STAR_ON_RECRUIT: KindRow("places a star on a recruit (R7.6)", a="recruit"),
    _K.STAR_ON_DILEMMA: KindRow("places a star on their dilemma (R14.1)"),
    _K.DILEMMA: KindRow("resolves their dilemma, which is shown (R14)", a="artifact", b="resolution", causes=_GROUP),
    _K.OFFER: KindRow("begins an offer to another player (R15.1)", a="player", causes=_GROUP),
    _K.OFFERED: KindRow("offers this", a="item", b="number"),
    _K.WANTED: KindRow("asks for this", a="item", b="number"),
    _K.ACCEPTED: KindRow("accepts the offer of another player", a="player", causes=_GROUP),
    _K.REFUSED: KindRow("refuses the offer of another player", a="player"),
    _K.REFUSED_UNASKED: KindRow("lacks what another player asks for: the offer counts as refused (R15.2)", a="player"),
    _K.TIE_BROKEN: KindRow("wins the tie of those who have placed enough stars, by this (R16.2)", a="tie-break"),
    _K.WON: KindRow("wins: the game is over (R16)", causes=_GROUP),
    _K.CUT_OFF: KindRow("the game is cut off (R16.4)", player=False, causes=_GROUP),
    _K.RANK: KindRow("their final rank (R16.3)", a="rank"),
}
assert tuple(KIND_ROWS) == tuple(EventKind), "every kind needs its row"

KINDS = tuple(kind.name.lower() for kind in EventKind)
SECRET = np.array([row.secret for row in KIND_ROWS.values()], np.bool_)
OF_PLAYER = np.array([row.a == "player" for row in KIND_ROWS.values()], np.bool_)  # whether `a` is a player
MOST_EVENTS = 1024  # that an observation may hold


def number_of_events(k: object) -> int:
    """Returns the number of events in an observation, 0 for none.

    Raises:
        ValueError: not an integer from 0 to MOST_EVENTS.
    """
    return read_integer("events", k, 0, MOST_EVENTS)
