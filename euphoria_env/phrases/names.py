"""The names of cards, spaces and factions: English ones are made from identifiers, those of other languages from rows."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from euphoria_env.board import FACTIONS, MARKETS, SLOTS, SPACES, TANK
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.cards.tiles import TILES

NAMED_SPACES = tuple(name for name in SPACES if name not in (*SLOTS, *MARKETS, *TANK))  # the others have numbers


@cache
def title(name: str) -> str:
    """Returns an identifier as a title: "Spa of Fleeting Pleasure", "Euphorian site 1"."""
    small = ("of", "the", "for", "a", "site", "market", "territory")
    words = name.split("_")
    return " ".join(w if k and w in small else w.capitalize() for k, w in enumerate(words)).replace("Dr ", "Dr. ")


@cache
def short_title(tile: str) -> str:
    """Returns the main words of the name of a tile: "Spa", "Bemusement Park"."""
    words = title(tile).replace("Friendly Local Game ", "").replace("Disassemble a ", "").split(" ")
    cut = next((k for k, word in enumerate(words) if word in ("of", "for")), len(words))
    return " ".join(words[:cut])


@cache
def short_name(recruit: str) -> str:
    """Returns the short name of a recruit: "Kyle", "Jonathan the Artist" (there are two)."""
    name, _, rest = title(recruit).partition(" the ")
    return f"{name} the {rest}" if name == "Jonathan" else name


def english_names() -> dict[str, str]:
    """Returns the English names by id: `name.X`, `the.X` (as after "on"), `short.X`, and for factions `faction.X`."""
    places = [*NAMED_SPACES, *TILES]
    return {
        **{f"name.{one}": title(one) for one in (*places, *RECRUIT_NAMES)},
        **{f"the.{one}": f"the {title(one)}" for one in places},
        **{f"short.{one}": short_title(one) for one in places},
        **{f"short.{one}": short_name(one) for one in RECRUIT_NAMES},
        **{f"faction.{one}": one.capitalize() for one in FACTIONS},
    }


def names_of(rows: Mapping[str, list[str]]) -> dict[str, str]:
    """Returns the names of another language by id. A row has the name, the article of a place, and perhaps a shorter name."""
    found = {}
    for one, (name, article, *short) in rows.items():
        found[f"name.{one}"], found[f"short.{one}"] = name, short[0] if short else name
        if article:
            found[f"the.{one}"] = f"{article} {name}"
    return found
