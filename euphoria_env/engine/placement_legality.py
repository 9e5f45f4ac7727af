"""Finds the spaces where a worker may be placed (R4.1, R1.6, R8.2, R12)."""

from __future__ import annotations

import numpy as np

from euphoria_env import board
from euphoria_env.cards.recruits import BRIAN, FLARTNER, KADEN, MATTHEW, MICHAEL
from euphoria_env.cards.spaces import SPACE_COST
from euphoria_env.cards.tiles import APOTHECARY, ARENA, LOUNGE, PLAZA, SPA
from euphoria_env.engine.costs import holdings, payable
from euphoria_env.engine.jit import jit
from euphoria_env.engine.state import enabled_recruits, has_ability, has_penalty, member


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
# has the price classes that cost more than that; all other spaces are free.
PRICE_CARDS = (1 << BRIAN) | (1 << FLARTNER) | (1 << KADEN) | (1 << MATTHEW) | (1 << MICHAEL)
ONE_GOOD = np.array(
    [
        sum(int(board.BIT[s]) for s in range(board.NUM_SPACES) if tuple(SPACE_COST[s]) == (1, 1 << good, 0, 0))
        for good in range(len(board.GOODS))
    ],
    np.int64,
)
FIRST_COSTLY = board.SPACES.index("tank_energy")
COSTLY = np.array(
    [k for k, (s, _) in enumerate(_CLASSES) if s >= FIRST_COSTLY and not board.FIRST_SLOT <= s < board.FIRST_MARKET], np.int8
)
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
    spaces = 0
    for k in range(board.NUM_MARKETS):
        if g["built"][k]:
            if has_penalty(g, p, PLAZA) and not (int(g["market_stars"][k]) >> p) & 1:
                spaces |= board.BIT[board.FIRST_MARKET + k]
            continue
        first = board.FIRST_SLOT + board.SLOTS_PER_SITE * k
        for s in range(first, first + board.SLOTS_PER_SITE):
            if g["occupant"][s] >= 0:
                spaces |= board.BIT[s]
                if g["occupant"][s] != p and has_penalty(g, p, LOUNGE):
                    spaces |= slots_of(k)
    if g["penalty"][p] == 0:
        return spaces
    if has_penalty(g, p, APOTHECARY):
        spaces |= board.ICARUS_SET
    if has_penalty(g, p, SPA):
        for s in range(board.NUM_AREAS, board.NUM_SPACES):
            if g["occupant"][s] == p:
                spaces |= board.BIT[s]
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
        for good in range(len(board.GOODS)):
            if g["goods"][p, good] == 0:
                spaces &= ~ONE_GOOD[good]
        for k in COSTLY:
            spaces = without_unpayable(g, p, spaces, k, 0, held)
    else:
        for k in range(len(PRICE_SPACE)):
            spaces = without_unpayable(g, p, spaces, k, extra_morale, held)
    return spaces


@jit
def without_unpayable(g, p, spaces, k, extra_morale, held):
    """Returns a set of spaces, without those of a price class if a player cannot pay for them."""
    if spaces & PRICE_SET[k]:
        space = int(PRICE_SPACE[k])
        if not payable(g, p, space, bumps_other(g, p, space), extra_morale, held):
            return spaces & ~PRICE_SET[k]
    return spaces


assert board.AREA_SET == 0b1111 and board.FIRST_TUNNEL == board.NUM_AREAS and board.FIRST_TUNNEL_END < FIRST_COSTLY
