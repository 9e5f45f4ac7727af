"""Cards and spaces in words of our own, and the text that teaches the game (`learn.md`)."""

from __future__ import annotations

import re
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
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.cards.spaces import SPACE_COST
from euphoria_env.cards.tiles import TILE_COST, TILES
from euphoria_env.json_reader import shown
from euphoria_env.phrases import Phrase, Text, listed, say
from euphoria_env.words.names import counted, faction, step, units

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


def recruit_words(name: str, language: str = "en") -> str:
    """Returns the abilities of a recruit, in a sentence or several.

    Raises:
        ValueError: there is no such recruit.
    """
    return say(Phrase("card.whole", text=card(_known(name, RECRUIT_NAMES, "a recruit"))), language)


def card(name: str) -> Phrase:
    """Returns the abilities of a recruit, without the last full stop, or the penalty of a tile."""
    return Phrase(f"card.{name}")


def tile_words(name: str, language: str = "en") -> str:
    """Returns the penalty of a market tile, for players without a star on it.

    Raises:
        ValueError: there is no such tile.
    """
    return say(card(_known(name, TILES, "a market tile")), language)


def dilemma_words(artifact: str, language: str = "en") -> str:
    """Returns the price of resolving the dilemma of an artifact, and its two results.

    Raises:
        ValueError: there is no such artifact.
    """
    return say(Phrase("card.dilemma", artifact=counted(1, _known(artifact, ARTIFACTS, "an artifact"))), language)


def space_words(space: str, tile: str | None = None, language: str = "en") -> str:
    """Returns the cost and the gain of a space, with bonuses. For a built market, `tile` names its tile.

    Raises:
        ValueError: there is no such space or no such tile.
    """
    return say(space_phrase(space, tile), language)


@cache
def space_phrase(space: str, tile: str | None = None) -> Phrase:
    """Returns what `space_words` says."""
    _known(space, SPACES, "a space")
    if tile is not None:
        _known(tile, TILES, "a market tile")
    cost = Phrase("cost_on_tile") if space in MARKETS and tile is None else price(space, tile, "and")
    return Phrase(f"space.{_kind(space)}", cost=cost, **_of_region(space))


def short_gain(space: str) -> str:
    """Returns the printed gain of a space that is neither an area nor a site, in a few words: "star, allegiance"."""
    return say(Phrase(f"printed.{_kind(space)}", **_of_region(space)))


def cost_words(space: str, tile: str | None = None) -> str:
    """Returns the printed cost of a space; that of a built market is on its tile."""
    return str(price(space, tile))


def price(space: str, tile: str | None = None, last: str = "comma") -> Text:
    """Returns the printed cost of a space as a list of parts."""
    if space in PAIR_SPACES:
        return Phrase("cost_or_pair")
    row = TILE_COST[TILES.index(tile)] if space in MARKETS and tile else SPACE_COST[SPACES.index(space)]
    return listed((units(int(n), int(items)) for n, items in row.reshape(2, 2) if n), last)


def area_gains(good: str) -> list[tuple[str, str]]:
    """Returns the gain for each sum of faces in a commodity area: ("5 to 8", "1 energy and knowledge -1")."""
    return [
        (sums, f"{counted(n, good)} and {step('knowledge', knowledge) if knowledge else Phrase('track.any_allegiance', n=1)}")
        for sums, n, knowledge in AREA_SUMS
    ]


@cache
def lessons() -> dict[str, str]:
    """Returns the parts of the text that teaches the game, as Markdown without tables and code, by their headings."""
    text = Path(__file__).with_name("learn.md").read_text(encoding="utf-8")
    parts = re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return {heading: body.strip() for heading, body in parts}


def _known(name: str, names: Collection[str], kind: str) -> str:
    if name not in names:
        raise ValueError(f"{shown(name)} is not {kind}")
    return name


def _kind(space: str) -> str:
    """Returns the kind of a space, which is its name if it is the only one of its kind."""
    return next((kind for kind, spaces in _SPACE_KINDS.items() if space in spaces), space)


def _of_region(space: str) -> dict[str, Text]:
    """Returns what differs between the regions, for the region of a space."""
    region = int(REGION[SPACES.index(space)])
    commodity, tunnelled = COMMODITIES[region], COMMODITIES[(region + 1) % len(RESOURCES)]
    of = faction(region)
    gains = [
        listed([counted(n, commodity), step("knowledge", knowledge) if knowledge else Phrase("track.allegiance", a=of, n=1)])
        for _, n, knowledge in AREA_SUMS
    ]
    return {
        "faction": of,
        "commodity": Phrase(f"noun.{commodity}", n=1),
        "resource": counted(1, RESOURCES[region % len(RESOURCES)]),
        "resource_name": Phrase(f"noun.{RESOURCES[region % len(RESOURCES)]}", n=1),
        "tunnelled": counted(3, tunnelled),
        **dict(zip(("low", "middle", "high"), gains, strict=True)),
    }
