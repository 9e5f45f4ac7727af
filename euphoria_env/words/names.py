"""Names and amounts as phrases."""

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
from euphoria_env.phrases import YOU, Phrase, Text, listed

_ITEM_KINDS = ((ARTIFACT_SET, "artifact"), (RESOURCE_SET, "resource"), (COMMODITY_SET, "commodity"))
_OTHER_COMMODITY = item_set("energy", "water", "food")


@cache
def counted(n: int, what: str) -> Phrase:
    """Returns a number of something: "3 water", "2 artifacts", "1 Balloons card"."""
    return Phrase(f"amount.{what}", n=n)


@cache
def step(track: str, n: int) -> Phrase:
    """Returns a step of a marker: "knowledge -1"."""
    return Phrase(f"track.{track}", n=n)


def with_number(thing: Text, n: int) -> Text:
    """Returns n times an amount."""
    return thing if n == 1 or isinstance(thing, str) else Phrase(thing.id, **{**thing.args, "n": n * thing.args["n"]})


def totals(changes: Iterable[tuple[Text, int, Text]]) -> list[Text]:
    """Adds up changes of one kind, and says where they come from: "2 bliss (1 from allegiance)", "1 artifact (Kyle)".

    Args:
        changes: one of the thing, the number, and the source of each change ("": the space or the card itself).
    """
    sources: dict[Text, dict[Text, int]] = {}
    for what, n, source in changes:
        found = sources.setdefault(what, {})
        found[source] = found.get(source, 0) + n
    return [_total(what, found) for what, found in sources.items()]


def _total(what: Text, sources: dict[Text, int]) -> Text:
    total = with_number(what, sum(sources.values()))
    if len(sources) == 1:
        return because(total, next(iter(sources)))
    return because(total, listed(Phrase("from", n=k, source=source) for source, k in sources.items() if source))


def because(text: Text, why: Text) -> Text:
    """Returns a text with its reason in brackets, if there is one."""
    return Phrase("because", what=text, why=why) if why else text


@cache
def faction(number: int) -> Phrase:
    """Returns the name of a faction."""
    return Phrase(f"faction.{FACTIONS[number]}")


@cache
def units(n: int, items: int) -> Text:
    """Returns a number of units, each any of a set of items: "3 resources", "1 bliss or food"."""
    if items == _OTHER_COMMODITY:
        return counted(n, "other commodity")
    names = []
    for kind, name in _ITEM_KINDS:
        if items & kind == kind:
            names.append(name)
            items &= ~kind
    first, *others = [name for k, name in enumerate(ITEMS[:-1]) if items >> k & 1] + names
    last = [step("knowledge", n)] if items >> ITEMS.index("knowledge") & 1 else []
    return listed([counted(n, first), *(Phrase(f"noun.{name}", n=n) for name in others), *last], "either")


def gain_name(gain: str, n: int = 1) -> Phrase:
    """Returns a gain of `GAINS`: "1 energy", "morale +1", "knowledge -1" (chosen knowledge is lost)."""
    if gain in ("morale", "knowledge"):
        return step(gain, n if gain == "morale" else -n)
    return counted(n, gain)


@cache
def gains(n: int, options: int) -> Text:
    """Returns a number of gains, each any of a set of `GAINS`: "2 resources", "morale +1 or 1 energy"."""
    for kind, name in _ITEM_KINDS[1:]:
        if options == kind:
            return counted(n, name)
    return listed((gain_name(gain, n) for k, gain in enumerate(GAINS) if options >> k & 1), "either")


@cache
def space_name(space: str, tile: str | None = None) -> Phrase:
    """Returns the name of a space, as after "on": "the Generator", "slot 2 of Euphorian site 1"; for a built market its tile."""
    if space in SLOTS:
        return Phrase("place.slot", n=int(space[-1]), site=site(space[:-2]))
    if space in MARKETS:
        return Phrase(f"the.{tile}") if tile else _numbered(space)
    return Phrase(f"place.{space}" if space in TANK else f"the.{space}")


@cache
def space_title(space: str, tile: str | None = None) -> Phrase:
    """Returns the name of a space as a heading: "Generator", "Slot 2 of Euphorian site 1"; for a built market its tile."""
    if space in SLOTS or (space in MARKETS and not tile):
        return Phrase("capital", text=space_name(space))
    return Phrase(f"name.{tile or space}")


@cache
def site(name: str) -> Phrase:
    """Returns the name of the site of a market, which may be named instead."""
    return _numbered(name.replace("market", "site"))


def _numbered(name: str) -> Phrase:
    of, kind, n = name.split("_")
    return Phrase(f"place.{kind}", faction=faction(FACTIONS.index(of)), n=int(n))


def tile_at(g: np.void, space: int) -> str | None:
    """Returns the tile of a built market; None for any other space."""
    market = MARKETS.index(SPACES[space]) if SPACES[space] in MARKETS else -1
    return TILES[int(g["tile"][market])] if market >= 0 and g["built"][market] else None


def named(g: np.void, space: int) -> Phrase:
    """Returns the name of a space in this game."""
    return space_name(SPACES[space], tile_at(g, space))


def star_place(g: np.void, place: int) -> Phrase:
    """Returns a place for stars in this game: "in the Euphorian territory", "on the Spa of Fleeting Pleasure"."""
    name = STAR_PLACES[place]
    if name in TERRITORIES:
        return Phrase("where.territory", faction=faction(place))
    return Phrase("where.on", place=named(g, SPACES.index(name)))


def called(players: int, seat: int | None, names: Sequence[str] | None) -> list[Text]:
    """Returns what each player is called in a text: the reader "you", equal names with their numbers, others "player 1".

    A player named "You" or "you" is called "you" if the text is for everybody (`seat` None), and by number if it is for another
    player. Raises a `ValueError` if `names` does not have one name for each player.
    """
    found: list[Text]
    if names is None:
        found = [Phrase("player", n=k) for k in range(players)]
    elif isinstance(names, str) or len(names) != players or not all(isinstance(name, str) for name in names):
        raise ValueError(f"names must be None or {players} texts, one for each seat, not {names!r}")
    else:
        found = [name if names.count(name) == 1 else f"{name} ({k + 1})" for k, name in enumerate(names)]
        instead = [YOU if seat is None else Phrase("player", n=k + 1) for k in range(players)]
        found = [instead[k] if name in ("You", "you") else name for k, name in enumerate(found)]
    return [YOU if k == seat else name for k, name in enumerate(found)]


def capital(text: Text, who: object) -> Text:
    """Returns a text with a capital, unless it begins with `who` and that is a name."""
    return text if isinstance(who, str) and who else Phrase("capital", text=text)


def does(who: Text, verb: str, **args: object) -> Phrase:
    """Returns a sentence of what a player does: "Ada gains 1 gold", "you gain 1 gold"."""
    return Phrase("sentence", who=who, what=Phrase(f"does.{verb}", who=who, **args))
