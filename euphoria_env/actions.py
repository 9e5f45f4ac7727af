"""The one action space, the same for every seat, player count and rules option.

`name` and `parse` translate between an action id and its line of notation; `table` lists all of them for the docs.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from euphoria_env.board import ARTIFACTS, COMMODITIES, GAINS, GOODS, ITEMS, NUM_AREAS, RESOURCES, SPACES, STAR_PLACES
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.cards.tiles import TILES
from euphoria_env.json_reader import shown

FACES = range(1, 7)
_TRADED = (*COMMODITIES, *RESOURCES, *ARTIFACTS)
# The workers that a player may take or sacrifice: those in a commodity area differ by face, all others by their space alone.
_BOARD_WORKERS = (*(f"{f} {area}" for area in SPACES[:NUM_AREAS] for f in FACES), *SPACES[NUM_AREAS:])


class ActionRow(NamedTuple):
    """A line of the action table."""

    action: int
    name: str
    meaning: str


_names: list[str] = []
_meanings: list[str] = []


def _add_moves(moves: Iterable[str], meaning: str) -> int:
    """Appends moves that share a meaning, and returns the id of the first."""
    first = len(_names)
    _names.extend(moves)
    _meanings.extend([meaning] * (len(_names) - first))
    return first


PLACE = _add_moves((f"place {f} {space}" for f in FACES for space in SPACES), "place a worker of this face there (R3.2)")
END = _add_moves(["end"], "place no further worker (R3.3)")
RETRIEVE = _add_moves(
    (f"retrieve {way}" for way in ("free", "food", "bliss", "energy")),
    "retrieve workers, paying this (R3.4; energy: Jefferson)",
)
TAKE = _add_moves((f"take {worker}" for worker in _BOARD_WORKERS), "retrieve this worker (R3.4)")
DONE = _add_moves(["done"], "retrieve no further worker (R18.2)")
DILEMMA = _add_moves(("dilemma star", "dilemma recruit"), "resolve the ethical dilemma so (R14.1)")
PAY = _add_moves((f"pay {item}" for item in ITEMS), "pay one of this (R18.3)")
PAY_PAIR = _add_moves((f"pay pair {artifact}" for artifact in ARTIFACTS), "pay a pair where 3 artifacts are asked (R10.1)")
PAY_THREE = _add_moves(["pay three"], "pay any 3 artifacts (R10.1)")
PAY_MATCH = _add_moves(["pay match"], "pay the artifact shown on the dilemma (R14.1)")
PAY_TWO = _add_moves(["pay two"], "pay any 2 artifacts for the dilemma (R14.1)")
PAY_ONE = _add_moves(["pay one"], "pay 1 artifact at the ark (Jacko)")
GAIN = _add_moves((f"gain {gain}" for gain in GAINS), "choose this gain (knowledge: lose 1 knowledge)")
LOSE = _add_moves((f"lose {good}" for good in GOODS), "lose one of this to a roll penalty (R12.2)")
DISCARD = _add_moves((f"discard {artifact}" for artifact in ARTIFACTS), "discard one of this (R5.6, Geek, Bradley, Esme)")
STAR = _add_moves((f"star {place}" for place in STAR_PLACES), "place the star there (R10.1)")
USE = _add_moves((f"use {recruit}" for recruit in RECRUIT_NAMES), "use the ability that is asked (R13.1)")
SKIP = _add_moves(["skip"], "do not use the ability that is asked (R13.1)")
SET = _add_moves((f"set {f}" for f in FACES), "set the worker to this face instead of rolling it (Amanda, Yordy)")
SACRIFICE = _add_moves((f"sacrifice {worker}" for worker in _BOARD_WORKERS), "sacrifice this worker (Pete, Sheppard)")
CHOOSE_RECRUIT = _add_moves((f"choose {recruit}" for recruit in RECRUIT_NAMES), "choose this recruit (R2.2, R14.1, R17.1)")
CHOOSE_TILE = _add_moves((f"choose {tile}" for tile in TILES), "put this market tile in the game (R17.2)")
SET_MORALE = _add_moves((f"morale {n}" for n in FACES), "start with this morale (R17.3)")
SET_KNOWLEDGE = _add_moves((f"knowledge {n}" for n in FACES), "start with this knowledge (R17.3)")
TRADE = _add_moves((f"trade +{k}" for k in range(1, 6)), "begin an offer to the k-th player after oneself (R15.1)")
GIVE = _add_moves((f"give {item}" for item in _TRADED), "offer one of this (R15.1)")
ASK = _add_moves((f"ask {item}" for item in _TRADED), "ask for one of this (R15.1)")
OFFER = _add_moves(["offer"], "send the offer (R15.2)")
ACCEPT = _add_moves(["accept"], "accept the offer (R15.1)")
REFUSE = _add_moves(["refuse"], "refuse the offer (R15.1)")

NUM_ACTIONS = len(_names)
NAMES = tuple(_names)
NUM_BOARD_WORKERS = len(_BOARD_WORKERS)
_IDS = {name: action for action, name in enumerate(NAMES)}

assert len(_IDS) == NUM_ACTIONS, "two moves have the same notation"


def number(action: Any) -> int:
    """Returns an action id as an int. The argument may be an integer of Python or numpy, or an integer array without dimensions.

    Raises:
        ValueError: the argument is not an integer from 0 to NUM_ACTIONS - 1.
    """
    try:
        found = -1 if isinstance(action, bool | np.bool_) else operator.index(action)
    except TypeError:
        found = -1
    if not 0 <= found < NUM_ACTIONS:
        raise ValueError(f"an action is an integer from 0 to {NUM_ACTIONS - 1}, not {shown(action)}")
    return found


def name(action: Any) -> str:
    """Returns the notation of an action id.

    Raises:
        ValueError: as for `number`.
    """
    return NAMES[number(action)]


def parse(move: str) -> int:
    """Returns the action id of a line of notation.

    Raises:
        ValueError: the text is not a move of the game.
    """
    action = _IDS.get(move) if isinstance(move, str) else None
    if action is None:
        example = "such as 'place 4 generator' (docs/actions.md)"
        raise ValueError(f"{shown(move)} is not a move; a move is written in lower case with single spaces, {example}")
    return action


def table() -> list[ActionRow]:
    """Returns every action with its notation and meaning."""
    return [ActionRow(action, NAMES[action], _meanings[action]) for action in range(NUM_ACTIONS)]
