"""The costs of spaces, with the recruits that give other ways to pay (R4.1, R18.3)."""

from __future__ import annotations

import numpy as np

from euphoria_env import board
from euphoria_env.cards.recruits import BRIAN, FLARTNER, JACKO, JOSH, KADEN, MATTHEW, MICHAEL
from euphoria_env.cards.spaces import SPACE_COST
from euphoria_env.cards.tiles import COURTHOUSE, TILE_COST
from euphoria_env.decisions import Verb
from euphoria_env.engine.artifacts import max_of_a_type
from euphoria_env.engine.bits import count_bits, lowest_bit
from euphoria_env.engine.jit import jit
from euphoria_env.engine.markers import has_room
from euphoria_env.engine.state import PAID_FOOD_FOR_BLISS, PAID_ONE_ARTIFACT, enabled_recruits, has_ability, has_penalty, member
from euphoria_env.engine.tape import TAPE_NEXT, log_cause, log_event
from euphoria_env.event_kinds import EventKind

_BLISS_SET = 1 << board.BLISS
_FOOD_SET = 1 << board.FOOD
_PLENTY = 99


def _in_units(costs: np.ndarray) -> np.ndarray:
    """Returns costs with the sets of items as sets of the bits of `count_units`."""
    assert not (costs[:, 1] & costs[:, 3]).any() and (costs[:, [0, 2]] <= 4).all()
    wide = [sum(15 << 4 * item for item in range(len(board.ITEMS)) if items >> item & 1) for items in costs[:, 1::2].flat]
    return np.stack([costs[:, 0], wide[::2], costs[:, 2], wide[1::2]], axis=1)


SPACE_UNITS, TILE_UNITS = _in_units(SPACE_COST), _in_units(TILE_COST)


@jit
def cost_of(g, p, space, bumping):
    """Returns (units_a, set_a, units_b, set_b), the cost of a space; `bumping`: whether another player is bumped (Matthew)."""
    if board.FIRST_MARKET <= space < board.FIRST_MARKET + board.NUM_MARKETS:
        row = TILE_COST[int(g["tile"][space - board.FIRST_MARKET])]
    else:
        row = SPACE_COST[space]
    units_a, set_a, units_b, set_b = row[0], row[1], row[2], row[3]
    cards = enabled_recruits(g, p)
    if cards:
        if bumping and board.FIRST_TUNNEL <= space < board.FIRST_TUNNEL + len(board.TUNNELS) and (cards >> MATTHEW) & 1:
            set_a |= board.KNOWLEDGE_SET
        if board.FIRST_SLOT <= space < board.FIRST_MARKET:
            if (cards >> MICHAEL) & 1:
                set_a |= board.RESOURCE_SET
            if (cards >> FLARTNER) & 1:
                set_a |= board.ARTIFACT_SET
        elif board.FIRST_MARKET <= space < board.FIRST_ARTIFACT_MARKET and set_b & board.RESOURCE_SET and (cards >> JOSH) & 1:
            set_b |= _BLISS_SET
        if (cards >> BRIAN) & 1:
            if set_a & _BLISS_SET:
                set_a |= _FOOD_SET
            if set_b & _BLISS_SET:
                set_b |= _FOOD_SET
    return units_a, set_a, units_b, set_b


@jit
def markers_due(g, p, space):
    """Returns the morale and the knowledge that a space costs besides its units (Brian in Icarus, Kaden at a tunnel end)."""
    morale = 1 if (board.ICARUS_SET >> space) & 1 and has_ability(g, p, BRIAN) else 0
    end = space - board.FIRST_TUNNEL_END
    knowledge = 2 if 0 <= end < len(board.TUNNELS) and not member(g, p, end) else 0
    return morale, knowledge


@jit
def log_payment(g, tape, p, space):
    """Logs the payment for a space, and the recruits without whom it would not be possible."""
    if not tape[TAPE_NEXT]:
        return
    chosen = 0
    for item in range(len(board.ITEMS)):
        if g["chosen"][item]:
            chosen |= 1 << item
    resources, artifacts = chosen & board.RESOURCE_SET, chosen & board.ARTIFACT_SET
    if not chosen and not g["due_morale"] and not g["due_knowledge"]:
        return
    log_cause(tape, EventKind.PAYS, p, space, -1)
    ways = 0
    if g["due_knowledge"]:
        ways |= 1 << KADEN
    if chosen & board.KNOWLEDGE_SET:
        ways |= 1 << MATTHEW
    if g["paid"] & PAID_ONE_ARTIFACT:
        ways |= 1 << JACKO
    if board.FIRST_SLOT <= space < board.FIRST_MARKET:
        ways |= (1 << FLARTNER) if artifacts else 0
        ways |= (1 << MICHAEL) if resources & ~SPACE_COST[space, 1] else 0
    elif board.FIRST_MARKET <= space < board.FIRST_ARTIFACT_MARKET:
        tile = int(g["tile"][space - board.FIRST_MARKET])
        ways |= (1 << JOSH) if TILE_COST[tile, 3] & board.RESOURCE_SET and not resources else 0
    bliss_missing = space >= board.BREEZE_BAR and not (chosen & _BLISS_SET)
    if g["paid"] & PAID_FOOD_FOR_BLISS or bliss_missing or markers_due(g, p, space)[0]:
        ways |= 1 << BRIAN
    while ways:
        log_event(tape, EventKind.WAY, p, lowest_bit(ways), -1)
        ways &= ways - 1


@jit
def units_of_set(g, p, verb, items, first):
    """Returns the number of units of a set of items, from `first` on, that a player can still put into the series under way."""
    n = 0
    items = items >> first << first
    while items:
        n += units_of_item(g, p, verb, lowest_bit(items))
        items &= items - 1
    return n


@jit
def units_of_item(g, p, verb, item):
    """Returns the number of units of one item that a player can still put into the series under way."""
    if verb == Verb.GAIN or verb == Verb.MINE:
        return _PLENTY
    if item < board.FIRST_ARTIFACT:
        return int(g["goods"][p, item]) - int(g["chosen"][item])
    if item < board.KNOWLEDGE_ITEM:
        return int(g["artifacts"][p, item - board.FIRST_ARTIFACT]) - int(g["chosen"][item])
    return board.TRACK_END - int(g["knowledge"][p]) - int(g["chosen"][item])


@jit
def completable(g, p, verb, units_a, set_a, units_b, set_b, first):
    """Returns whether the series under way, units_a of set_a and units_b of set_b, can be completed from item `first` on."""
    own_a = own_b = both = 0
    for item in range(len(board.ITEMS)):
        n = int(g["chosen"][item])
        if n:
            in_a, in_b = (set_a >> item) & 1, (set_b >> item) & 1
            if in_a and in_b:
                both += n
            elif in_a:
                own_a += n
            else:
                own_b += n
    if own_a > units_a or own_b > units_b:
        return False
    own_a += units_of_set(g, p, verb, set_a & ~set_b, first)
    own_b += units_of_set(g, p, verb, set_b & ~set_a, first)
    return fill_both(units_a, units_b, own_a, own_b, both + units_of_set(g, p, verb, set_a & set_b, first))


@jit
def fill_both(units_a, units_b, own_a, own_b, both):
    """Returns whether two groups of units can be filled with items of their own and items that serve both.

    By Hall's theorem this is so if there are enough items for each group and enough for both together.
    """
    return min(units_a, own_a) + min(units_b, own_b) + both >= units_a + units_b


@jit
def holdings(g, p):
    """Returns the items of which a player can pay at least one, as a set."""
    items = 0
    for item in range(len(board.GOODS)):
        if g["goods"][p, item]:
            items |= 1 << item
    if g["hand_size"][p]:
        for kind in range(len(board.ARTIFACTS)):
            if g["artifacts"][p, kind]:
                items |= 1 << (board.FIRST_ARTIFACT + kind)
    return items | (board.KNOWLEDGE_SET if g["knowledge"][p] < board.TRACK_END else 0)


@jit
def unary(n):
    """Returns n bits of 4, all of them for more, none for fewer than 0, which an impossible row may have.

    A printed cost has two groups of at most 4 units, of different items: so up to 4 of each item count.
    """
    return (1 << min(max(n, 0), 4)) - 1


@jit
def count_units(g, p):
    """Returns how many goods and artifacts of each type a player has, as a set: for each item as many bits of 4, in order."""
    units = 0
    for item in range(len(board.GOODS)):
        units |= unary(int(g["goods"][p, item])) << (4 * item)
    if g["hand_size"][p]:
        for kind in range(len(board.ARTIFACTS)):
            units |= unary(int(g["artifacts"][p, kind])) << (4 * (board.FIRST_ARTIFACT + kind))
    return units


@jit
def printed_payable(units, row):
    """Returns whether a row of `SPACE_UNITS` or `TILE_UNITS` can be paid with what `count_units` found."""
    return count_bits(units & row[1]) >= row[0] and count_bits(units & row[3]) >= row[2]


@jit
def asks_artifacts(space):
    """Returns whether a space costs 3 artifacts or a pair (R10.1, R11.1)."""
    return board.FIRST_ARTIFACT_MARKET <= space <= board.WIND_SALON


@jit
def payable(g, p, space, bumping, extra_morale, held):
    """Returns whether a player has a way to pay for a space (R4.1).

    `extra_morale` is what a further worker costs (R17.4); `held` is the result of `holdings`.
    """
    morale, knowledge = markers_due(g, p, space)
    if not has_room(g, p, morale + extra_morale, knowledge):
        return False
    if asks_artifacts(space):
        return (
            g["hand_size"][p] >= 3
            or (g["hand_size"][p] == 2 and max_of_a_type(g, p) == 2 and not has_penalty(g, p, COURTHOUSE))
            or (g["hand_size"][p] >= 1 and space == board.ARK and has_ability(g, p, JACKO) != 0)
        )
    units_a, set_a, units_b, set_b = cost_of(g, p, space, bumping)
    if (units_a and not set_a & held) or (units_b and not set_b & held):
        return False
    if units_a + units_b <= 1:
        return True
    own_a, own_b = units_of_set(g, p, Verb.PAY, set_a & ~set_b, 0), units_of_set(g, p, Verb.PAY, set_b & ~set_a, 0)
    return fill_both(units_a, units_b, own_a, own_b, units_of_set(g, p, Verb.PAY, set_a & set_b, 0))
