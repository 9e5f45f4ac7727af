"""Cards and spaces in words of our own: cards from a table (`cards.toml`), costs of spaces from the tables of the engine."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path

from euphoria_env.board import (
    AREAS,
    ARTIFACT_MARKETS,
    ARTIFACTS,
    COMMODITIES,
    KNOWLEDGE_LIMIT,
    MARKETS,
    MAX_WORKERS,
    MINER_END,
    REGION,
    RESOURCES,
    SLOTS,
    SPACES,
    TERRITORIES,
    TUNNEL_ENDS,
    TUNNELS,
    WORKERS_TO_BUILD,
)
from euphoria_env.cards.spaces import SPACE_COST
from euphoria_env.cards.tiles import TILE_COST, TILES
from euphoria_env.json_reader import shown
from euphoria_env.words.names import amount, faction, listed, signed, territory_name, units

_CARDS = tomllib.loads(Path(__file__).with_name("cards.toml").read_text(encoding="utf-8"))
PENALTY_TEXTS: dict[str, str] = _CARDS["tiles"]
PAIR_SPACES = (*ARTIFACT_MARKETS, "wind_salon")
THREE_OR_PAIR = "3 artifacts or a pair"
A_GOOD = "a commodity or resource"
AREA_SUMS = (("1 to 4", 1, 0), ("5 to 8", 1, -1), ("9 or more", 2, 1))  # of faces: units, knowledge; 0: allegiance (R6.1)
RETRIEVING = "pay 1 food or 1 bliss to gain 2 morale, or retrieve for free and lose 1 morale"  # R3.4
CHECK = (  # R5.3
    f"when you roll, add your knowledge and all your available workers; at {KNOWLEDGE_LIMIT} or more "
    "you lose the highest of them (at most one a turn)"
)
HAND_LIMIT = "you may hold as many artifacts as you have morale; you discard any beyond that"  # R5.6
_NEEDED = {int(n): [str(k) for k, needed in enumerate(WORKERS_TO_BUILD) if needed == n] for n in WORKERS_TO_BUILD[2:]}
NEEDED = ", ".join(  # R9.2
    f"{n} workers with {listed(players, 'or')} players" if k == 0 else f"{n} with {listed(players, 'or')}"
    for k, (n, players) in enumerate(_NEEDED.items())
)
_NEW_WORKER = f"then gain a worker and roll it (unless you have {MAX_WORKERS})"  # R6.3
# The gains of spaces beside stars and allegiance: in full, and as short as on a board.
_GAINS = {
    "euphorian_tunnel_end": ("gain 3 water", "3 water"),
    "subterran_tunnel_end": ("gain 3 food", "3 food"),
    "wastelander_tunnel_end": ("gain 3 energy", "3 energy"),
    "tank_energy": (f"lose 2 knowledge, {_NEW_WORKER}", "1 worker, knowledge -2"),
    "tank_water": (f"gain 2 morale, {_NEW_WORKER}", "1 worker, morale +2"),
    "breeze_bar": ("draw 2 artifacts", "2 artifacts"),
    "sky_lounge": ("gain 2 resources", "2 resources"),
}
_ICARITE_BONUS = "with an active Icarite recruit and allegiance 5 or more, draw 1 artifact if you placed the star"


def recruit_words(name: str) -> str:
    """The abilities of a recruit, in a sentence or several.

    Raises:
        ValueError: no such recruit.
    """
    return _found(_CARDS["recruits"], name, "recruit")


def tile_words(name: str) -> str:
    """The penalty of a market tile, for whoever has no star on it.

    Raises:
        ValueError: no such tile.
    """
    return _found(PENALTY_TEXTS, name, "market tile")


def _found(texts: dict[str, str], name: str, kind: str) -> str:
    _check_name(name, tuple(texts), kind)
    return texts[name]


def _check_name(name: str, names: Sequence[str], kind: str) -> None:
    if name not in names:
        raise ValueError(f"{shown(name)} is not a{'n' if kind[0] in 'aeiou' else ''} {kind}")


def dilemma_words(artifact: str) -> str:
    """The price of resolving the dilemma of an artifact, and its two results.

    Raises:
        ValueError: no such artifact.
    """
    _check_name(artifact, ARTIFACTS, "artifact")
    return (
        f"Once per game, as your whole turn: pay {amount(1, artifact)} or any 2 artifacts, "
        "then place a star on this card, or draw 2 recruits and keep 1"
    )


def cost_words(space: str, tile: str | None = None) -> str:
    """The printed cost of a space; that of a built market is on its tile."""
    if space in PAIR_SPACES:
        return THREE_OR_PAIR
    row = TILE_COST[TILES.index(tile)] if space in MARKETS and tile else SPACE_COST[SPACES.index(space)]
    return ", ".join(units(int(n), int(items)) for n, items in row.reshape(2, 2) if n)


def _gain_words(space: str) -> str:
    """The gain of a space, without bonuses."""
    region = int(REGION[SPACES.index(space)])
    if space in SLOTS:
        return f"place a star on the market when it is built ({NEEDED}); the workers then return and are rolled"
    if space in TUNNELS:
        return f"advance its miner by 1, then gain 1 {RESOURCES[region]} or draw 1 artifact"
    if space in TUNNEL_ENDS or region < 0:
        return _GAINS[space][0]
    star = f"place a star in {territory_name(TERRITORIES[region])} (if it has room)"
    star += " or on a built market there that lacks your star" if space in ARTIFACT_MARKETS else ""
    return f"{_GAINS.get(space, (star,))[0]} and advance the {faction(region)} allegiance by 1"


def short_gain(space: str) -> str:
    """The printed gain of a tunnel, a market or another space that is no area or site, in a few words: "star, allegiance"."""
    region = int(REGION[SPACES.index(space)])
    if space in TUNNELS:
        return f"{RESOURCES[region]} or artifact"
    gain = _GAINS.get(space, ("", "star"))[1]
    return gain if space in TUNNEL_ENDS or region < 0 else f"{gain}, allegiance"


def space_words(space: str, tile: str | None = None) -> str:
    """The cost and the gain of a space, with bonuses; of a market with the tile that was built there.

    Raises:
        ValueError: no such space, or no such tile.
    """
    _check_name(space, SPACES, "space")
    if tile is not None:
        _check_name(tile, TILES, "market tile")
    if space in AREAS:
        return _area_words(AREAS.index(space))
    cost = "the cost on its tile" if space in MARKETS and tile is None else cost_words(space, tile)
    recruit = f"active {faction(int(REGION[SPACES.index(space)]))} recruit"
    text = f"Pay {cost.replace(', ', ' and ')}: {_gain_words(space)}" if cost else f"Free: {_gain_words(space)}"
    if space in TUNNELS:
        return f"{text}; with an {recruit} and allegiance 5 or more, both"
    if space in TUNNEL_ENDS:
        return f"{text}; open once the miner is at {MINER_END}, for players with an {recruit}"
    if space in ("wind_salon", "nimbus_loft"):
        return f"{text}; {_ICARITE_BONUS}"
    return f"{text}; what you paid is lost if you retrieve the worker before" if space in SLOTS else text


def _area_words(area: int) -> str:
    """The gain of a commodity area, with its bonus."""
    good, of = COMMODITIES[area], faction(area)
    gains = ", ".join(f"{sums} gives {gain}" for sums, gain in area_gains(good, f"{of} allegiance +1"))
    return (
        f"Free. Add the numbers of all workers there, yours included: {gains}; "
        f"1 more {good} with an active {of} recruit and allegiance 2 or more"
    )


def area_gains(good: str, advance: str = "allegiance +1") -> list[tuple[str, str]]:
    """The gain for each sum of faces in a commodity area: ("5 to 8", "1 energy and knowledge -1")."""
    return [
        (sums, f"{amount(n, good)} and {signed('knowledge', knowledge) if knowledge else advance}")
        for sums, n, knowledge in AREA_SUMS
    ]
