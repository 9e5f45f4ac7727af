"""Features of every recruit and market tile, computed from their rows, so that a network can play with cards it never saw."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import NamedTuple

import numpy as np

from euphoria_env.board import FACTIONS, GAINS, GOODS, ITEMS, SPACES
from euphoria_env.cards.recruits import RECRUITS, Recruit
from euphoria_env.cards.tiles import FACE_PENALTY, TILE_COST, TILES
from euphoria_env.cards.vocabulary import CHOICES, Effect, Price, Trigger, When

_NUMBERS = (Effect.MORALE, Effect.KNOWLEDGE, Effect.DRAW, Effect.TUNNEL_RESOURCE)  # effects with an amount


class CardFeatures(NamedTuple):
    """The features of the cards, in the order of the notation.

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
    """Returns the features of every card, in read-only arrays.

    For a recruit: the faction, and the events, spaces, conditions, prices and effects (with amounts) of its abilities, whether
    they are optional, and a flag for each ability that no row expresses. For a tile: the units of its cost with the items that
    can pay them, the faces that its penalty is for, and a flag for each other penalty.
    """
    recruits, recruit_columns = _table([*map(_recruit, RECRUITS)])
    tiles, tile_columns = _table([*map(_tile, range(len(TILES)))])
    return CardFeatures(recruits, tiles, recruit_columns, tile_columns)


def _table(rows: list[Counter[str]]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Returns rows of named numbers as one array, 0 where a row lacks a name, and the names of its columns."""
    columns = tuple(dict.fromkeys(name for row in rows for name in row))
    table = np.array([[row[name] for name in columns] for row in rows], np.float32)
    table.flags.writeable = False
    return table, columns


def _recruit(recruit: Recruit) -> Counter[str]:
    """Returns the features of a recruit; the columns that all rows share come first."""
    row = Counter({f"faction {name}": int(k == recruit.faction) for k, name in enumerate(FACTIONS)})
    row.update(dict.fromkeys(("abilities", "may", "costs morale", "costs knowledge"), 0))
    for kind, word in ((Trigger, "on"), (When, "when"), (Price, "price")):
        row.update({f"{word} {member.name.lower()}": 0 for member in kind})
    row.update({f"at {space}": 0 for space in SPACES})
    for ability in recruit.abilities:
        row.update(abilities=1, may=ability.may)
        row.update({"costs morale": ability.morale, "costs knowledge": ability.knowledge})
        row.update(f"at {space}" for k, space in enumerate(SPACES) if ability.at >> k & 1)
        for word, member in (("on", ability.on), ("when", ability.when), ("price", ability.price)):
            row[f"{word} {member.name.lower()}"] += 1
        for effect, a, b in ability.do:
            row.update(_effect(Effect(effect), a, b))
    row.update(f"also {word}" for word in recruit.also)
    return row


def _effect(effect: Effect, a: int, b: int) -> dict[str, int]:
    """Returns the features of one effect of an ability, with its amount."""
    if effect == Effect.GOODS:
        return {f"gains {GOODS[a]}": b}
    if effect == Effect.CHOOSE:
        return {f"chooses {name}": b for k, name in enumerate(GAINS) if CHOICES[a] >> k & 1}
    if effect == Effect.ADVANCE:
        return {f"advances {FACTIONS[a]}": 1}
    return {effect.name.lower(): a if effect in _NUMBERS else 1}


def _tile(number: int) -> Counter[str]:
    """Returns the features of a market tile."""
    row = Counter[str]()
    for word, (units, items) in zip(("first", "second"), TILE_COST[number].reshape(2, 2).tolist(), strict=True):
        row[f"{word} units"] = units
        row.update({f"{word} {item}": items >> k & 1 for k, item in enumerate(ITEMS)})
    faces = {f"penalty of face {face}": int(FACE_PENALTY[face] == number) for face in range(1, len(FACE_PENALTY))}
    row.update(faces)
    if not any(faces.values()):
        row[f"penalty of {TILES[number]}"] = 1
    return row
