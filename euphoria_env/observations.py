"""The observation: what one player may see, as a vector of small integers of one fixed layout for all player counts.

The observer comes first, the others follow in turn order; seats are relative to the observer. `table` lists every slice. The
module `engine.observe` writes it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from euphoria_env.actions import NAMES, NUM_BOARD_WORKERS, TAKE
from euphoria_env.board import (
    ALLEGIANCE_END,
    AREAS,
    ARTIFACTS,
    CARDS_PER_ARTIFACT,
    FACTIONS,
    GOODS,
    ITEMS,
    MARKETS,
    MAX_PLAYERS,
    MAX_RECRUITS,
    MAX_WORKERS,
    MINER_END,
    NUM_AREAS,
    NUM_ARTIFACT_CARDS,
    SPACES,
    STARS,
    TUNNELS,
)
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.cards.tiles import TILES
from euphoria_env.decisions import DECISIONS, VERBS
from euphoria_env.rules import OPTIONS

_P = MAX_PLAYERS


class Field(NamedTuple):
    """A part of the observation: its name, its slice, the range (lowest and highest value) and the meaning of its numbers.

    `entries` are the names of its entries, and `values` those of the values from 1 on; empty where they are plain numbers.
    """

    name: str
    slice: slice
    range: tuple[int, int]
    meaning: str
    entries: tuple[str, ...] = ()
    values: tuple[str, ...] = ()

    @property
    def start(self) -> int:
        """The first index."""
        return int(self.slice.start)

    @property
    def size(self) -> int:
        """The number of entries."""
        return int(self.slice.stop - self.slice.start)

    @property
    def low(self) -> int:
        """The lowest value."""
        return self.range[0]

    @property
    def high(self) -> int:
        """The highest value."""
        return self.range[1]


_Names = tuple[str, ...]
_Row = tuple[str, int | _Names, int, int | _Names, str]  # the name; how many entries, or their names; the range; the meaning


def _at_seats(places: _Names, faces: int = 1) -> _Names:
    """Returns the names of the entries of a field that has, for each place and seat, one entry or one for each face."""
    return tuple(f"{place} {k}" for place in places for k in range(_P * faces))


_GAME: list[_Row] = [
    *(
        (name, option.names or option.size, *option.range, f"rules option: {option.help}{option.shown}")
        for name, option in OPTIONS.items()
    ),
    ("turn", 3, 0, 127, "turns begun, in digits of base 128, lowest first"),
    ("status", 1, 0, 3, "0 setup, 1 play, 2 over, 3 truncated"),
    ("active", _P, 0, 1, "whose turn it is, one-hot by seat"),
    ("decider", _P, 0, 1, "who must decide, one-hot by seat; all 0 after the end"),
]
# The fields of each player, in turn order from the observer on; all 0 for seats without a player.
_PLAYER: list[_Row] = [
    ("present", 1, 0, 1, "whether this seat plays"),
    ("knowledge", 1, 0, 6, "0: not yet placed (R17.3)"),
    ("morale", 1, 0, 6, "0: not yet placed (R17.3)"),
    ("stars", 1, 0, STARS, "stars still to place"),
    ("goods", GOODS, 0, 127, "commodities and resources in the order of the notation; 127 means 127 or more"),
    ("hand_size", 1, 0, NUM_ARTIFACT_CARDS, "artifact cards"),
    ("available", 6, 0, MAX_WORKERS, "available workers by face 1 to 6"),
    ("workers", 1, 0, MAX_WORKERS, "workers owned, available and on the board"),
    ("lost_worker", 1, 0, 1, "lost one to the knowledge check this turn (R5.3)"),
    ("used_geek", 1, 0, 1, "Geek was used this turn"),
    ("used_gambler", 1, 0, 1, "Jonathan the Gambler was used this turn"),
    ("recruits", RECRUIT_NAMES, 0, MAX_RECRUITS, "active recruits: 0 no, k: the k-th to become active"),
    ("recruit_stars", MAX_RECRUITS, 0, 1, "whether the k-th active recruit has its star"),
    ("hidden_recruits", 1, 0, MAX_RECRUITS, "number of hidden recruits"),
    ("resolved", 1, 0, 2, "dilemma: 0 open, 1 for a star, 2 for a recruit"),
    ("resolved_dilemma", ARTIFACTS, 0, 1, "its artifact, one-hot, once it is resolved"),
    ("penalties", TILES, 0, 1, "market penalties in force (R12.1)"),
]
_PRIVATE: list[_Row] = [
    ("own_artifacts", ARTIFACTS, 0, CARDS_PER_ARTIFACT, "the observer's artifact cards by type"),
    ("own_dilemma", ARTIFACTS, 0, 1, "the observer's dilemma card, one-hot"),
    (
        "own_recruits",
        RECRUIT_NAMES,
        0,
        5,
        "1 hidden, 2 chosen as active and not yet shown, 3 in hand to choose from, 4 kept in the draft, 5 put out of the game",
    ),
    (
        "own_tiles",
        TILES,
        0,
        3,
        "market tiles: 1 in hand to choose from, 2 put in the game, 3 put out of it (R19.2)",
    ),
]
_BOARD: list[_Row] = [
    ("allegiance", FACTIONS, 0, ALLEGIANCE_END, "allegiance tracks"),
    ("miners", TUNNELS, 0, MINER_END, "miners"),
    ("areas", _at_seats(AREAS, 6), 0, MAX_WORKERS, "workers in the commodity areas: area, seat, face"),
    ("occupant", SPACES[NUM_AREAS:], 0, _P, "who stands on the other spaces: 0 nobody, else seat + 1"),
    ("occupant_face", SPACES[NUM_AREAS:], 0, 6, "and the face of that worker"),
    ("built", MARKETS, 0, 1, "which markets are built"),
    ("tile", MARKETS, 0, TILES, "tile of each built market + 1; 0 for one not built"),
    ("market_stars", _at_seats(MARKETS), 0, 1, "stars on markets: market, seat"),
    ("territories", _at_seats(FACTIONS), 0, _P, "stars in territories: territory, seat"),
    ("discards", ARTIFACTS, 0, CARDS_PER_ARTIFACT, "discarded artifacts by type"),
    ("deck_size", 1, 0, NUM_ARTIFACT_CARDS, "cards in the artifact deck"),
]
_DECISION: list[_Row] = [
    ("asked", DECISIONS, 0, 1, "what is being decided, one-hot: " + ", ".join(DECISIONS)),
    ("card", 1, 0, RECRUIT_NAMES, "recruit of `use` + 1, 0 in all other decisions"),
    ("verb", 1, 0, VERBS, "kind of a series + 1: " + ", ".join(VERBS)),
    ("units", 2, 0, NUM_ARTIFACT_CARDS, "units of the first and the second group of a series"),
    ("first_group", ITEMS, 0, 1, "items that may be units of the first group; places that may get the star"),
    ("second_group", ITEMS, 0, 1, "items that may be units of the second group"),
    ("last", 1, 0, ITEMS, "last item of the series or offer"),
    ("chosen", ITEMS, 0, NUM_ARTIFACT_CARDS, "items chosen in the series; items offered in a trade"),
    ("requested", ITEMS, 0, NUM_ARTIFACT_CARDS, "items asked for in a trade"),
    ("partner", 1, 0, _P, "partner of the trade, seat + 1"),
    ("offers", 1, 0, 10, "trades begun this turn"),
    ("space", 1, 0, SPACES, "space of the placement under way + 1"),
    ("placed_face", 1, 0, 6, "face of the worker placed, or of the further one asked"),
    ("bumped", 1, 0, _P, "whose worker was bumped, seat + 1"),
    ("bumped_face", 1, 0, 6, "its face"),
    ("allegiance_before", FACTIONS, 0, ALLEGIANCE_END, "allegiance before this placement (R4.4)"),
    ("due", 2, 0, 6, "morale and knowledge due with this cost"),
    ("paid", 5, 0, 1, "paid; with gold; with an artifact; with one artifact at the ark; with food for bliss"),
    ("star_placed", 1, 0, 1, "the space's star was placed"),
    ("took_resource", 1, 0, 1, "the tunnel's resource was taken"),
    ("helped", _P, 0, 1, "who helped to build the market"),
    ("new_worker", 1, 0, 1, "a new worker is due"),
    ("new_face", 1, 0, 6, "face of the worker gained in this placement"),
    ("set_face", 1, 0, 6, "face that was set for the coming roll"),
    ("to_roll", MAX_WORKERS * 2, 0, 6, "workers returned and not yet rolled: seat + 1 of each, then face of each"),
    ("roller", 1, 0, _P, "who rolled last in this turn, seat + 1"),
    ("payment", 1, 0, 4, "payment of the retrieval + 1: free, food, bliss, energy"),
    ("taken", MAX_WORKERS, 0, NAMES[TAKE : TAKE + NUM_BOARD_WORKERS], "workers being retrieved: number of the `take` move + 1"),
    ("resolving", 1, 0, 2, "dilemma being resolved: 1 for a star, 2 for a recruit"),
    ("bargains_left", 1, 0, STARS, "stars for which Esme will still be asked, after this one"),
    ("further_left", 1, 0, 3, "equal placements left in this turn (R3.3)"),
    ("draws_left", 1, 0, NUM_ARTIFACT_CARDS, "cards left of the draw that is being decided"),
]

_fields: list[Field] = []


def _number(given: int | _Names) -> int:
    """Returns a number that is given, or how many names are given."""
    return len(given) if isinstance(given, tuple) else given


def _add_fields(rows: list[_Row], prefix: str = "") -> int:
    """Appends rows to the layout; returns where they start."""
    first = _fields[-1].start + _fields[-1].size if _fields else 0
    at = first
    for name, size, low, high, meaning in rows:
        end = at + _number(size)
        entries, values = (given if isinstance(given, tuple) else () for given in (size, high))
        _fields.append(Field(prefix + name, slice(at, end), (low, _number(high)), meaning, entries, values))
        at = end
    return first


_add_fields(_GAME)
PLAYERS_START = _add_fields(_PLAYER, "player_0.")
for _seat in range(1, _P):
    _add_fields(_PLAYER, f"player_{_seat}.")
PLAYER_SIZE = (_add_fields(_PRIVATE) - PLAYERS_START) // _P
_add_fields(_BOARD)
_add_fields(_DECISION)

FIELDS = tuple(_fields)
OBS_SIZE = FIELDS[-1].start + FIELDS[-1].size
_STARTS = {field.name: field.start for field in FIELDS}


def start_of(name: str) -> int:
    """Returns the first index of a field."""
    return _STARTS[name]


def table() -> list[Field]:
    """Returns every field with its slice, range and meaning."""
    return list(FIELDS)


def fields() -> dict[str, tuple[int, int, int, int]]:
    """Returns (start, size, low, high) of every field by name: where it begins, and the range of its entries, ends included."""
    return {field.name: (field.start, field.size, field.low, field.high) for field in FIELDS}


def scale() -> np.ndarray:
    """Returns the highest value of each entry, float32 (OBS_SIZE,): every entry divided by it is within -1 and 1."""
    return np.repeat([max(-field.low, field.high) for field in FIELDS], [field.size for field in FIELDS]).astype(np.float32)
