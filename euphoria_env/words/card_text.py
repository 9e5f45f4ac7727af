"""Cards and spaces in words of our own (`cards.toml`), and the text that teaches the game (`learn.md`)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection
from functools import cache
from pathlib import Path

from euphoria_env.board import (
    AREAS,
    ARTIFACT_MARKETS,
    ARTIFACTS,
    COMMODITIES,
    KNOWLEDGE_LIMIT,
    MARKETS,
    REGION,
    RESOURCES,
    SLOTS,
    SPACES,
    TUNNEL_ENDS,
    TUNNELS,
)
from euphoria_env.cards.spaces import SPACE_COST
from euphoria_env.cards.tiles import TILE_COST, TILES
from euphoria_env.json_reader import shown
from euphoria_env.words.names import amount, faction, signed, units

_FOLDER = Path(__file__).parent
_TEXTS: dict[str, dict[str, str]] = tomllib.loads((_FOLDER / "cards.toml").read_text(encoding="utf-8"))
PENALTY_TEXTS = _TEXTS["tiles"]
PAIR_SPACES = (*ARTIFACT_MARKETS, "wind_salon")
# For each sum of faces: units of the good, change of knowledge (0: allegiance instead) (R6.1).
AREA_SUMS = (("1 to 4", 1, 0), ("5 to 8", 1, -1), ("9 or more", 2, 1))
RETRIEVING = "pay 1 food or 1 bliss to gain 2 morale, or retrieve for free and lose 1 morale"  # R3.4
CHECK = (  # R5.3
    f"when you roll, add your knowledge and all your available workers; at {KNOWLEDGE_LIMIT} or more "
    "you lose the highest of them (at most one a turn)"
)
_SPACE_KINDS = {
    "area": AREAS, "tunnel": TUNNELS, "tunnel_end": TUNNEL_ENDS, "slot": SLOTS, "market": MARKETS,
    "artifact_market": ARTIFACT_MARKETS,
}  # fmt: skip


def recruit_words(name: str) -> str:
    """Returns the abilities of a recruit, in a sentence or several.

    Raises:
        ValueError: there is no such recruit.
    """
    return _TEXTS["recruits"][_known(name, _TEXTS["recruits"], "a recruit")]


def tile_words(name: str) -> str:
    """Returns the penalty of a market tile, for players without a star on it.

    Raises:
        ValueError: there is no such tile.
    """
    return PENALTY_TEXTS[_known(name, PENALTY_TEXTS, "a market tile")]


def dilemma_words(artifact: str) -> str:
    """Returns the price of resolving the dilemma of an artifact, and its two results.

    Raises:
        ValueError: there is no such artifact.
    """
    return (
        f"Once per game, as your whole turn: pay {amount(1, _known(artifact, ARTIFACTS, 'an artifact'))} or any 2 artifacts, "
        "then place a star on this card, or draw 2 recruits and keep 1"
    )


def space_words(space: str, tile: str | None = None) -> str:
    """Returns the cost and the gain of a space, with bonuses. For a built market, `tile` names its tile.

    Raises:
        ValueError: there is no such space or no such tile.
    """
    _known(space, SPACES, "a space")
    if tile is not None:
        _known(tile, TILES, "a market tile")
    cost = "the cost on its tile" if space in MARKETS and tile is None else cost_words(space, tile).replace(", ", " and ")
    return _TEXTS["spaces"][_kind(space)].format_map(_of_region(space) | {"cost": cost})


def short_gain(space: str) -> str:
    """Returns the printed gain of a space that is neither an area nor a site, in a few words: "star, allegiance"."""
    return _TEXTS["gains"][_kind(space)].format_map(_of_region(space))


def cost_words(space: str, tile: str | None = None) -> str:
    """Returns the printed cost of a space; that of a built market is on its tile."""
    if space in PAIR_SPACES:
        return "3 artifacts or a pair"
    row = TILE_COST[TILES.index(tile)] if space in MARKETS and tile else SPACE_COST[SPACES.index(space)]
    return ", ".join(units(int(n), int(items)) for n, items in row.reshape(2, 2) if n)


def area_gains(good: str, advance: str = "allegiance +1") -> list[tuple[str, str]]:
    """Returns the gain for each sum of faces in a commodity area: ("5 to 8", "1 energy and knowledge -1")."""
    return [
        (sums, f"{amount(n, good)} and {signed('knowledge', knowledge) if knowledge else advance}")
        for sums, n, knowledge in AREA_SUMS
    ]


@cache
def lessons() -> dict[str, str]:
    """Returns the parts of the text that teaches the game, as Markdown without tables and code, by their headings."""
    text = (_FOLDER / "learn.md").read_text(encoding="utf-8")
    parts = re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return {heading: body.strip() for heading, body in parts}


def _known(name: str, names: Collection[str], kind: str) -> str:
    if name not in names:
        raise ValueError(f"{shown(name)} is not {kind}")
    return name


def _kind(space: str) -> str:
    """Returns the kind of a space, which is its name if it is the only one of its kind."""
    return next((kind for kind, spaces in _SPACE_KINDS.items() if space in spaces), space)


def _of_region(space: str) -> dict[str, str]:
    """Returns the names that differ between the regions, for the region of a space."""
    region = int(REGION[SPACES.index(space)])
    commodity, name = COMMODITIES[region], faction(region)
    return {
        "faction": name,
        "commodity": commodity,
        "resource": RESOURCES[region % len(RESOURCES)],
        "tunnelled": COMMODITIES[(region + 1) % len(RESOURCES)],
        "sums": ", ".join(f"{sums} gives {gain}" for sums, gain in area_gains(commodity, f"{name} allegiance +1")),
    }
