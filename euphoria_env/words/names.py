"""Names and amounts in words: identifiers become titles, sets of items become lists."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np

from euphoria_env.board import (
    ARTIFACT_SET,
    COMMODITY_SET,
    FACTIONS,
    GAINS,
    ITEMS,
    MARKETS,
    RESOURCE_SET,
    SLOTS,
    SPACES,
    STAR_PLACES,
    TANK,
    TERRITORIES,
    item_set,
)
from euphoria_env.cards.tiles import TILES

_PLURALS = {"bat": "bats", "bear": "bears", "book": "books", "box": "boxes", "artifact": "artifacts", "resource": "resources"}
_PLURALS |= {"recruit": "recruits", "market tile": "market tiles"}
_PLURALS |= {"star": "stars", "worker": "workers", "more worker": "more workers", "commodity": "commodities"}
_PLURALS |= {"Balloons card": "Balloons cards", "Bifocals card": "Bifocals cards"}
_SINGULARS = {"balloons": "Balloons card", "bifocals": "Bifocals card"}  # artifacts whose names are plurals
_ITEM_KINDS = ((ARTIFACT_SET, "artifact"), (RESOURCE_SET, "resource"), (COMMODITY_SET, "commodity"))
_OTHER_COMMODITY = item_set("energy", "water", "food")


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


def amount(n: int, what: str) -> str:
    """Returns a number of something: "3 water", "2 artifacts", "1 Balloons card"."""
    what = _SINGULARS.get(what, what)
    return f"{n} {_PLURALS.get(what, what) if n != 1 else what}"


def totals(changes: Iterable[tuple[str, int, str]]) -> list[str]:
    """Adds up changes of one kind, and says where they come from: "2 bliss (1 from allegiance)", "1 artifact (Kyle)".

    Args:
        changes: the thing, the number and the source of each change ("": the space or the card itself). For a marker the thing is
            "knowledge +" or "morale -", and the number its steps.
    """
    sources: dict[str, dict[str, int]] = {}
    for what, n, source in changes:
        found = sources.setdefault(what, {})
        found[source] = found.get(source, 0) + n
    return [_total(what, found) for what, found in sources.items()]


def _total(what: str, sources: dict[str, int]) -> str:
    n = sum(sources.values())
    text = f"{what}{n}" if what[-1] in "+-" else amount(n, what)
    if len(sources) == 1:
        source = next(iter(sources))
        return f"{text} ({source})" if source else text
    return f"{text} ({listed(f'{k} from {source}' for source, k in sources.items() if source)})"


def signed(track: str, n: int) -> str:
    """Returns a step of a marker: "knowledge -1"."""
    return f"{track} {n:+d}"


def listed(parts: Iterable[str], last: str = "and") -> str:
    """Returns parts as a list: "a, b and c"."""
    parts = list(parts)
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {last} {parts[-1]}" if parts else ""


def faction(number: int) -> str:
    """Returns the name of a faction."""
    return FACTIONS[number].capitalize()


@cache
def units(n: int, items: int) -> str:
    """Returns a number of units, each any of a set of items: "3 resources", "1 bliss or food"."""
    if items == _OTHER_COMMODITY:
        return amount(n, "other commodity")
    names = []
    for kind, name in _ITEM_KINDS:
        if items & kind == kind:
            names.append(name)
            items &= ~kind
    names = [name for k, name in enumerate(ITEMS) if items >> k & 1] + names
    counted = [amount(n, name) for name in names if name != "knowledge"]
    text = " or ".join([counted[0], *(one.split(" ", 1)[1] for one in counted[1:])])
    return f"{text} or {signed('knowledge', n)}" if "knowledge" in names else text


def gain_name(gain: str, n: int = 1) -> str:
    """Returns a gain of `GAINS`: "1 energy", "morale +1", "knowledge -1" (chosen knowledge is lost)."""
    if gain in ("morale", "knowledge"):
        return signed(gain, n if gain == "morale" else -n)
    return amount(n, gain)


@cache
def gains(n: int, options: int) -> str:
    """Returns a number of gains, each any of a set of `GAINS`: "2 resources", "morale +1 or 1 energy"."""
    for kind, name in _ITEM_KINDS[1:]:
        if options == kind:
            return amount(n, name)
    return " or ".join(gain_name(gain, n) for k, gain in enumerate(GAINS) if options >> k & 1)


def space_name(space: str, tile: str | None = None) -> str:
    """Returns the name of a space, as after "on": "the Generator", "slot 2 of Euphorian site 1"; for a built market its tile."""
    if space in SLOTS:
        site, slot = space.rsplit("_", 1)
        return f"slot {slot} of {title(site)}"
    if space in MARKETS:
        return f"the {title(tile)}" if tile else title(space)
    if space in TANK:
        return f"the Worker Tank ({space.split('_')[1]})"
    return f"the {title(space)}"


def tile_at(g: np.void, space: int) -> str | None:
    """Returns the tile of a built market; None for any other space."""
    market = MARKETS.index(SPACES[space]) if SPACES[space] in MARKETS else -1
    return TILES[int(g["tile"][market])] if market >= 0 and g["built"][market] else None


def named(g: np.void, space: int) -> str:
    """Returns the name of a space in this game."""
    return space_name(SPACES[space], tile_at(g, space))


def star_place(g: np.void, place: int) -> str:
    """Returns a place for stars in this game: "in the Euphorian territory", "on the Spa of Fleeting Pleasure"."""
    name = STAR_PLACES[place]
    return f"in the {title(name)}" if name in TERRITORIES else f"on {named(g, SPACES.index(name))}"


def called(players: int, seat: int | None, names: Sequence[str] | None) -> list[str]:
    """Returns what each player is called in a text: the reader "you", equal names with their numbers, others "player 1".

    A player named "You" or "you" is called "you" if the text is for everybody (`seat` None), and by number if it is for another
    player. Raises a `ValueError` if `names` does not have one name for each player.
    """
    if names is None:
        found = [f"player {k}" for k in range(players)]
    elif isinstance(names, str) or len(names) != players or not all(isinstance(name, str) for name in names):
        raise ValueError(f"names must be None or {players} texts, one for each seat, not {names!r}")
    else:
        found = [name if names.count(name) == 1 else f"{name} ({k + 1})" for k, name in enumerate(names)]
        instead = [YOU if seat is None else f"player {k + 1}" for k in range(players)]
        found = [instead[k] if name in ("You", YOU) else name for k, name in enumerate(found)]
    return [YOU if k == seat else name for k, name in enumerate(found)]


def possessive(name: str) -> str:
    """Returns the possessive of a name: "Ada's", "your"."""
    return "your" if name == YOU else f"{name}'s"


def second_person(text: str) -> str:
    """Returns what a player does in the second person: "gain 1 gold" for "gains 1 gold"."""
    verb, space, rest = text.partition(" ")
    stem = verb[:-2] if verb.endswith(("ches", "shes", "sses", "xes")) else verb.removesuffix("s")
    return f"{_IRREGULAR.get(verb, stem)}{space}{rest}"


YOU = "you"  # the name of the reader
_IRREGULAR = {"is": "are", "has": "have", "does": "do"}


def capital(text: str) -> str:
    """Returns a text with a capital, unless it begins with a name."""
    return text[:1].upper() + text[1:] if text.split(" ")[0] in (YOU, "player", "the") else text


def does(name: str, text: str) -> str:
    """Returns a sentence of what a player does: "Ada gains 1 gold", "you gain 1 gold"."""
    return f"{name} {second_person(text) if name == YOU else text}"
