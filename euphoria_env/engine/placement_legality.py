"""Finds the spaces where a worker may be placed (R4.1, R1.6, R8.2, R12)."""

from __future__ import annotations

import numpy as np

from euphoria_env import board
from euphoria_env.cards.recruits import BRIAN, FLARTNER, JACKO, JOSH, KADEN, MATTHEW, MICHAEL
from euphoria_env.cards.spaces import SPACE_COST
from euphoria_env.cards.tiles import APOTHECARY, ARENA, COURTHOUSE, LOUNGE, PLAZA, SPA
from euphoria_env.engine.artifacts import max_of_a_type
from euphoria_env.engine.bits import lowest_bit
from euphoria_env.engine.byte_vectors import WIDTH, differing_from
from euphoria_env.engine.costs import SPACE_UNITS, TILE_UNITS, count_units, holdings, payable, printed_payable
from euphoria_env.engine.jit import jit
from euphoria_env.engine.state import GAME_DTYPE, enabled_recruits, has_ability, has_penalty, member


def _price_classes() -> list[tuple[int, int]]:
    """Returns, for each price class, one space and the set of all spaces that have the same price for everybody."""
    by_price: dict[object, list[str]] = {}
    for number, name in enumerate(board.SPACES):
        if board.FIRST_SLOT <= number < board.FIRST_MARKET or name in ("breeze_bar", "sky_lounge"):
            price: object = tuple(SPACE_COST[number]) + (name in ("breeze_bar", "sky_lounge"),)
        elif name in board.ARTIFACT_MARKETS[:2]:
            price = "artifacts"
        else:
            price = name
        by_price.setdefault(price, []).append(name)
    return [(board.SPACES.index(names[0]), board.space_set(*names)) for names in by_price.values()]


_CLASSES = _price_classes()
PRICE_SPACE = np.array([space for space, _ in _CLASSES], np.int8)
PRICE_SET = np.array([spaces for _, spaces in _CLASSES], np.int64)
# A player without these recruits pays the printed cost. `ONE_GOOD` has, by good, the spaces that cost one unit of it; `COSTLY`
# has the price classes that cost more than that in goods; other spaces are free, cost artifacts, or are built markets.
PRICE_CARDS = (1 << BRIAN) | (1 << FLARTNER) | (1 << KADEN) | (1 << MATTHEW) | (1 << MICHAEL)
ONE_GOOD = np.array(
    [
        sum(int(board.BIT[s]) for s in range(board.NUM_SPACES) if tuple(SPACE_COST[s]) == (1, 1 << good, 0, 0))
        for good in range(len(board.GOODS))
    ],
    np.int64,
)
# By set of goods, the spaces that do not cost one unit of a good outside it.
PAYABLE_WITH = np.array(
    [board.ALL_SPACES & ~sum(int(ONE_GOOD[k]) for k in range(len(board.GOODS)) if not goods >> k & 1) for goods in range(128)],
    np.int64,
)
COSTLY = np.array([k for k, (s, _) in enumerate(_CLASSES) if SPACE_COST[s, 0] + SPACE_COST[s, 2] > 1], np.int8)
ARTIFACT_SPACES = board.ARTIFACT_MARKET_SET | board.BIT[board.WIND_SALON]  # they cost 3 artifacts or a pair
ALWAYS_OPEN = board.ALL_SPACES & ~board.SLOT_SET & ~board.MARKET_SET & ~(0b111 << board.FIRST_TUNNEL_END)


@jit
def slots_of(site):
    """Returns the four slots of a construction site, as a set of spaces."""
    return 0b1111 << (board.FIRST_SLOT + board.SLOTS_PER_SITE * site)


@jit
def update_open_spaces(g):
    """Stores the spaces in use: the slots of a site, or its built market; the end of a tunnel from step 9 on (R8.2, R9.3)."""
    spaces = ALWAYS_OPEN
    for k in range(board.NUM_MARKETS):
        spaces |= board.BIT[board.FIRST_MARKET + k] if g["built"][k] else slots_of(k)
    for k in range(len(board.TUNNELS)):
        if g["miners"][k] == 9:
            spaces |= board.BIT[board.FIRST_TUNNEL_END + k]
    g["open_spaces"] = spaces


@jit
def forbidden(g, p):
    """Returns the spaces that are taken, or that a market penalty forbids a player, as a set."""
    spaces = differing_from(g["occupant"], -1, 0) & board.SLOT_SET
    if g["penalty"][p] == 0:
        return spaces
    if has_penalty(g, p, PLAZA):
        for k in range(board.NUM_MARKETS):
            if g["built"][k] and not (int(g["market_stars"][k]) >> p) & 1:
                spaces |= board.BIT[board.FIRST_MARKET + k]
    if has_penalty(g, p, LOUNGE):
        others = spaces & differing_from(g["occupant"], p, 0)
        for k in range(board.NUM_MARKETS):
            if others & slots_of(k):
                spaces |= slots_of(k)
    if has_penalty(g, p, APOTHECARY):
        spaces |= board.ICARUS_SET
    if has_penalty(g, p, SPA):
        spaces |= board.ALL_SPACES & ~board.AREA_SET & ~differing_from(g["occupant"], p, 0)
    if has_penalty(g, p, ARENA):
        for s in range(board.NUM_AREAS):
            for f in range(6):
                if g["area"][s, p, f]:
                    spaces |= board.BIT[s]
    return spaces


@jit
def bumps_other(g, p, space):
    """Returns whether placing there bumps another player's worker."""
    return space >= board.NUM_AREAS and g["occupant"][space] >= 0 and g["occupant"][space] != p


@jit
def open_spaces(g, p, extra_morale):
    """Returns the spaces where a player may place a worker, as a set (R4.1); a further worker costs `extra_morale` (R17.4)."""
    spaces = int(g["open_spaces"]) & ~forbidden(g, p)
    for k in range(len(board.TUNNELS)):
        if not member(g, p, k) and not has_ability(g, p, KADEN):
            spaces &= ~board.BIT[board.FIRST_TUNNEL_END + k]
    held = holdings(g, p)
    if extra_morale == 0 and not enabled_recruits(g, p) & PRICE_CARDS:
        return payable_as_printed(g, p, spaces & PAYABLE_WITH[held & board.GOODS_SET], held)
    for k in range(len(PRICE_SPACE)):
        spaces = without_unpayable(g, p, spaces, k, extra_morale, held)
    return spaces


@jit
def payable_as_printed(g, p, spaces, held):
    """Returns those spaces of a set that a player who pays printed costs can pay for; single goods have been looked at."""
    units = count_units(g, p)
    for k in COSTLY:
        if spaces & PRICE_SET[k] and not printed_payable(units, SPACE_UNITS[int(PRICE_SPACE[k])]):
            spaces &= ~PRICE_SET[k]
    built = spaces & board.MARKET_SET
    while built:
        s = lowest_bit(built)
        built &= built - 1
        if not printed_payable(units, TILE_UNITS[int(g["tile"][s - board.FIRST_MARKET])]):
            if not (has_ability(g, p, JOSH) and payable(g, p, s, False, 0, held)):
                spaces &= ~board.BIT[s]
    return spaces & ~unpayable_in_artifacts(g, p)


@jit
def unpayable_in_artifacts(g, p):
    """Returns the spaces that cost 3 artifacts or a pair and that a player cannot pay for, as a set (R10.1, R11.1)."""
    cards = g["hand_size"][p]
    if cards >= 3 or (cards == 2 and max_of_a_type(g, p) == 2 and not has_penalty(g, p, COURTHOUSE)):
        return 0
    if cards and has_ability(g, p, JACKO):
        return ARTIFACT_SPACES & ~board.BIT[board.ARK]
    return ARTIFACT_SPACES


@jit
def without_unpayable(g, p, spaces, k, extra_morale, held):
    """Returns a set of spaces, without those of a price class if a player cannot pay for them."""
    if spaces & PRICE_SET[k]:
        space = int(PRICE_SPACE[k])
        if not payable(g, p, space, bumps_other(g, p, space), extra_morale, held):
            return spaces & ~PRICE_SET[k]
    return spaces


_OCCUPANTS = GAME_DTYPE.fields["occupant"][1]  # type: ignore[index]
assert board.NUM_SPACES <= WIDTH and GAME_DTYPE.itemsize - _OCCUPANTS >= WIDTH  # since `forbidden` reads so far
