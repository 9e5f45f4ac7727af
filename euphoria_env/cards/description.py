"""Every recruit and every market tile as numbers, made from their rows, so that a network can meet a card that it never saw."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from euphoria_env.board import FACTIONS, GAINS, GOODS, ITEMS, SPACES
from euphoria_env.cards.recruits import RECRUITS
from euphoria_env.cards.tiles import FACE_PENALTY, TILE_COST, TILES
from euphoria_env.cards.vocabulary import CHOICES, Ability, Effect, Price, Trigger, When

_NUMBERS = (Effect.MORALE, Effect.KNOWLEDGE, Effect.DRAW, Effect.TUNNEL_RESOURCE)  # effects with an amount
_GROUPS = (("first", 0), ("second", 2))  # of a tile's cost, and where they begin in its row


class CardFeatures(NamedTuple):
    """The cards as numbers, in the order of the notation.

    Attributes:
        recruits: float32 (recruits, K).
        tiles: float32 (tiles, L).
        recruit_columns: the names of the K columns. A recruit with several abilities has the sum of theirs.
        tile_columns: the names of the L columns.
    """

    recruits: np.ndarray
    tiles: np.ndarray
    recruit_columns: tuple[str, ...]
    tile_columns: tuple[str, ...]


@cache
def features() -> CardFeatures:
    """Every card as numbers, in read-only arrays.

    For a recruit: the faction, and the events, spaces, conditions, prices and effects (with amounts) of its abilities, whether
    they are optional, and flags for everything that is not in a row. For a tile: the units of its cost with the items that can
    pay them, the faces that its penalty is for, and a flag for each other penalty.
    """
    recruits, recruit_columns = _table([_recruit(k) for k in range(len(RECRUITS))])
    tiles, tile_columns = _table([_tile(k) for k in range(len(TILES))])
    return CardFeatures(recruits, tiles, recruit_columns, tile_columns)


def _table(rows: list[dict[str, float]]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Rows of named numbers as one array, 0 where a row does not have a name, and the names of its columns."""
    columns = tuple(dict.fromkeys(name for row in rows for name in row))
    table = np.array([[row.get(name, 0.0) for name in columns] for row in rows], np.float32)
    table.flags.writeable = False
    return table, columns


def _recruit(number: int) -> dict[str, float]:
    """The features of a recruit; the columns that all rows share come first."""
    recruit = RECRUITS[number]
    row = {f"faction {name}": float(k == recruit.faction) for k, name in enumerate(FACTIONS)}
    row |= dict.fromkeys(("abilities", "may", "costs morale", "costs knowledge"), 0.0)
    for kind, word in ((Trigger, "on"), (When, "when"), (Price, "price")):
        row |= {f"{word} {member.name.lower()}": 0.0 for member in kind}
    row |= {f"at {space}": 0.0 for space in SPACES}
    for ability in recruit.abilities:
        for name, value in _ability(ability).items():
            row[name] = row.get(name, 0.0) + value
    return row | {f"also {word}": 1.0 for word in recruit.also}


def _ability(ability: Ability) -> dict[str, float]:
    """The features of one ability of a recruit."""
    row = {"abilities": 1.0, "may": float(ability.may), "costs morale": ability.morale, "costs knowledge": ability.knowledge}
    row |= {f"on {ability.on.name.lower()}": 1.0, f"when {ability.when.name.lower()}": 1.0}
    row |= {f"price {ability.price.name.lower()}": 1.0}
    row |= {f"at {space}": 1.0 for k, space in enumerate(SPACES) if ability.at >> k & 1}
    for effect, a, b in ability.do:
        for name, value in _effect(Effect(effect), a, b).items():
            row[name] = row.get(name, 0.0) + value
    return row


def _effect(effect: Effect, a: int, b: int) -> dict[str, float]:
    """The features of one effect of an ability, with its amount."""
    word = effect.name.lower()
    if effect == Effect.GOODS:
        return {f"gains {GOODS[a]}": float(b)}
    if effect == Effect.CHOOSE:
        return {f"chooses {name}": float(b) for k, name in enumerate(GAINS) if CHOICES[a] >> k & 1}
    if effect == Effect.ADVANCE:
        return {f"advances {FACTIONS[a]}": 1.0}
    return {word: float(a) if effect in _NUMBERS else 1.0}


def _tile(number: int) -> dict[str, float]:
    """The features of a market tile."""
    row: dict[str, float] = {}
    for word, start in _GROUPS:
        units, items = (int(value) for value in TILE_COST[number][start : start + 2])
        row |= {f"{word} units": float(units)}
        row |= {f"{word} {item}": float(items >> k & 1) for k, item in enumerate(ITEMS)}
    faces = {f"penalty of face {face}": float(FACE_PENALTY[face] == number) for face in range(1, len(FACE_PENALTY))}
    row |= faces
    if not any(faces.values()):
        row[f"penalty of {TILES[number]}"] = 1.0
    return row
