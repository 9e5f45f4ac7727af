"""Writes masks, observations and events into arrays of the caller (laid out as `observations` and `event_kinds` say)."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from euphoria_env import board
from euphoria_env.cards.recruits import NUM_RECRUITS
from euphoria_env.cards.tiles import NUM_TILES
from euphoria_env.cards.vocabulary import Trigger
from euphoria_env.decisions import Decision, Verb
from euphoria_env.engine.byte_copies import borrowed, copy_bytes, pointer_to
from euphoria_env.engine.byte_vectors import lanes, spread_bits, where
from euphoria_env.engine.jit import entry, jit
from euphoria_env.engine.move_set import fill_mask
from euphoria_env.engine.row_checks import check
from euphoria_env.engine.state import HELD, IN_BY, OUT_BY, PLAYING, ROWS, SETUP, Operation
from euphoria_env.engine.tape import TAPE, TAPE_EVENTS, TAPE_FIRST, TAPE_LIMIT, TAPE_NEXT
from euphoria_env.event_kinds import EVENT_SIZE, OF_PLAYER, SECRET
from euphoria_env.observations import PLAYER_SIZE, PLAYERS_START, table
from euphoria_env.rules import DIGIT, OPTIONS_SIZE


def _starts(fields: dict[str, int]) -> Any:
    """Returns the starts of fields as a named tuple, whose entries are constants in compiled code."""
    return namedtuple("_Starts", fields)(**fields)


_AT = _starts({field.name: field.start for field in table() if "." not in field.name})
_DIGIT_BITS = DIGIT.bit_length() - 1
_CARDS = 63  # it has all the bits of the number of a recruit
# The starts of fields within the block of a player.
_IN_PLAYER = _starts(
    {field.name.removeprefix("player_0."): field.start - PLAYERS_START for field in table() if field.name.startswith("player_0.")}
)


@jit
def write_digits(out, at, value):
    """Writes a number as three digits, lowest first."""
    value = min(int(value), DIGIT**3 - 1)
    for k in range(3):
        out[at + k] = (value >> _DIGIT_BITS * k) & (DIGIT - 1)


# Relative seats are counted from the observer p on, in the order of play: p has 0, the next player 1.


@jit
def place_of(player, p, n):
    """Returns the relative seat of a player."""
    return player - p if player >= p else player - p + n


@jit
def place_plus_one(player, p, n):
    """Returns the relative seat of a player plus 1; 0 for nobody (-1)."""
    return place_of(player, p, n) + 1 if player >= 0 else 0


@jit
def player_at(place, p, n):
    """Returns the player at a relative seat."""
    return p + place if p + place < n else p + place - n


@jit
def places_of(players, p, n):
    """Returns the relative seats of a set of players."""
    return ((players >> p) | (players << (n - p))) & ((1 << n) - 1)


# Two numbers or sources: for the players from the observer p on, and for those before p.
def _place_plus_one(player: Any, p: Any, from_p: Any, before_p: Any) -> Any:
    return where(player < 0, 0, player + where(player < p, before_p, from_p))


def _turned(from_p: Any, before_p: Any, seat: Any, seats_from_p: Any, n: Any) -> Any:
    return where(seat < seats_from_p, from_p, where(seat < n, before_p, 0))


_SINGLE_SPACES = board.NUM_SPACES - board.NUM_AREAS
_AREA_SEATS = (np.arange(board.NUM_AREAS * board.MAX_PLAYERS * 6) // 6 % board.MAX_PLAYERS).astype(np.int8)
_STAR_SEATS = (np.arange(len(board.FACTIONS) * board.MAX_PLAYERS) % board.MAX_PLAYERS).astype(np.int8)
_BITS = (1 << np.arange(board.MAX_PLAYERS)).astype(np.int8)
# Each of these writes one field.
_write_goods = lanes(len(board.GOODS), lambda goods: where(goods < 127, goods, 127))
_write_bits = lanes(len(_BITS), lambda bit, bits: where(bit & bits == 0, 0, 1))
_write_own_recruits = lanes(NUM_RECRUITS, lambda place, put_out: where(place == put_out, 5, 0))
_write_own_tiles = lanes(
    NUM_TILES, lambda place, held, chosen, out: where(place == held, 1, where(place == chosen, 2, where(place == out, 3, 0)))
)
_write_tiles = lanes(board.NUM_MARKETS, lambda tile, built: where(built == 0, 0, tile + 1), 2)
_write_occupants, _write_players = lanes(_SINGLE_SPACES, _place_plus_one), lanes(board.MAX_WORKERS, _place_plus_one)
_write_areas, _write_territories = lanes(len(_AREA_SEATS), _turned, 3), lanes(len(_STAR_SEATS), _turned, 3)


@jit
def fill_player(g, p, out):
    """Writes what is public of a player into an int8 array of zeros from this player's entries on, and over some that follow."""
    out[_IN_PLAYER.present] = 1
    out[_IN_PLAYER.knowledge] = g["knowledge"][p]
    out[_IN_PLAYER.morale] = g["morale"][p]
    out[_IN_PLAYER.stars] = g["stars"][p]
    _write_goods(out, _IN_PLAYER.goods, g["goods"], len(board.GOODS) * p)
    out[_IN_PLAYER.hand_size] = g["hand_size"][p]
    copy_bytes(out, _IN_PLAYER.available, g["available"][p], 6)
    out[_IN_PLAYER.workers] = g["owned"][p]
    out[_IN_PLAYER.lost_worker] = g["lost_worker"][p]
    used, active = int(g["used"][p]), int(g["num_active"][p])
    out[_IN_PLAYER.used_geek] = used & 1
    out[_IN_PLAYER.used_gambler] = used >> 1
    starred = int(g["starred"])
    for k in range(board.MAX_RECRUITS):  # without a branch, for speed: -1 writes to `penalties`, which are set after
        card, is_active = int(g["recruits"][p, k]) & _CARDS, k < active
        out[_IN_PLAYER.recruits + card] = (k + 1) * is_active
        out[_IN_PLAYER.recruit_stars + k] = (starred >> card) & is_active
    if g["status"] != SETUP:
        out[_IN_PLAYER.hidden_recruits] = g["num_recruits"][p] - active
    out[_IN_PLAYER.resolved] = g["resolved"][p]
    out[_IN_PLAYER.resolved_dilemma + (int(g["dilemma"][p]) & 7)] = g["resolved"][p] != 0
    spread_bits(int(g["penalty"][p]), out, _IN_PLAYER.penalties)


@jit
def fill_private(g, p, out):
    """Writes what only the observer knows (R19.2)."""
    copy_bytes(out, _AT.own_artifacts, g["artifacts"][p], len(board.ARTIFACTS))
    spread_bits(1 << (int(g["dilemma"][p]) & 7), out, _AT.own_dilemma)
    _write_own_recruits(out, _AT.own_recruits, g["recruit_place"], 0, OUT_BY + p)
    active, owned = int(g["num_active"][p]), int(g["num_recruits"][p])
    for k in range(board.MAX_RECRUITS):  # the same: -1 writes to `own_tiles`
        out[_AT.own_recruits + (int(g["recruits"][p, k]) & _CARDS)] = active <= k < owned
    _write_own_tiles(out, _AT.own_tiles, g["tile_place"], 0, HELD + p, IN_BY + p, OUT_BY + p)
    if g["status"] == SETUP and active == 0 and owned:
        out[_AT.own_recruits + int(g["recruits"][p, 0])] = 2
    if g["ask"] == Decision.RECRUIT or g["status"] == SETUP:
        for k in range(board.DEALT_RECRUITS):
            if g["hand"][p, k] >= 0:
                out[_AT.own_recruits + int(g["hand"][p, k])] = 3
            if g["kept"][p, k] >= 0:
                out[_AT.own_recruits + int(g["kept"][p, k])] = 4


@jit
def fill_board(g, p, n, out):
    """Writes the board."""
    copy_bytes(out, _AT.allegiance, g["allegiance"], len(board.FACTIONS))
    copy_bytes(out, _AT.miners, g["miners"], len(board.TUNNELS))
    _write_areas(out, _AT.areas, g["area"], 6 * p, g["area"], -6 * (n - p), _AREA_SEATS, 0, n - p, n)
    _write_occupants(out, _AT.occupant, g["occupant"], board.NUM_AREAS, p, 1 - p, 1 - p + n)
    copy_bytes(out, _AT.occupant_face, g["face"][board.NUM_AREAS :], _SINGLE_SPACES)
    copy_bytes(out, _AT.built, g["built"], board.NUM_MARKETS)
    _write_tiles(out, _AT.tile, g["tile"], 0, g["built"], 0)
    stars = 0
    for m in range(board.NUM_MARKETS):
        stars |= places_of(int(g["market_stars"][m]) & -int(g["built"][m]), p, n) << (board.MAX_PLAYERS * m)
    spread_bits(stars, out, _AT.market_stars)
    _write_territories(out, _AT.territories, g["territory"], p, g["territory"], p - n, _STAR_SEATS, 0, n - p, n)
    copy_bytes(out, _AT.discards, g["discards"], len(board.ARTIFACTS))
    deck = 0
    for kind in range(len(board.ARTIFACTS)):
        deck += int(g["deck"][kind])
    out[_AT.deck_size] = deck


@jit
def fill_decision(g, p, n, out):
    """Writes the decision that is asked, and what happened in this turn so far."""
    # `spread_bits` writes `WIDTH` entries, here and above: those that follow its field are written later.
    asked = int(g["ask"])
    out[_AT.asked + asked] = 1
    if asked == Decision.NOTHING:
        return
    if asked == Decision.OPEN:  # nothing has happened in this turn but trades
        out[_AT.offers] = g["offers"]
        return
    if asked == Decision.USE:
        out[_AT.card] = g["card"] + 1
    if asked == Decision.SERIES or asked == Decision.STAR:
        out[_AT.verb] = g["verb"] + 1 if asked == Decision.SERIES else 0
        set_a, set_b = int(g["set_a"]), int(g["set_b"])
        # Only the owner knows which two cards Bradley drew.
        if asked == Decision.SERIES and g["verb"] == Verb.DISCARD and g["player"] != p:
            set_a = board.ARTIFACT_SET
        spread_bits(set_a, out, _AT.first_group)
        if asked == Decision.SERIES:
            spread_bits(set_b, out, _AT.second_group)
            out[_AT.units] = g["units_a"]
            out[_AT.units + 1] = g["units_b"]
    out[_AT.offers] = g["offers"]
    if g["status"] == PLAYING:
        fill_placement(g, p, n, out)
    out[_AT.last] = g["last"]
    copy_bytes(out, _AT.chosen, g["chosen"], len(board.ITEMS))
    copy_bytes(out, _AT.requested, g["asked"], len(board.ITEMS))
    for k in range(int(g["depth"])):
        op = g["stack"][k, 0]
        if op == Operation.FURTHER or op == Operation.FURTHER_ANSWERED:
            out[_AT.further_left] = max(out[_AT.further_left], g["stack"][k, 3])
        elif op == Operation.DRAW_ANSWERED:
            out[_AT.draws_left] = g["stack"][k, 2]
        elif op == Operation.DILEMMA_PAID:
            out[_AT.resolving] = g["stack"][k, 2]
        elif op == Operation.TRIGGER and g["stack"][k, 2] == Trigger.STAR and g["stack"][k, 3] == 0:
            out[_AT.bargains_left] += 1


@jit
def fill_placement(g, p, n, out):
    """Writes the placement, the roll, the retrieval and the trade under way."""
    out[_AT.partner] = place_plus_one(g["partner"], p, n)
    out[_AT.placed_face] = g["placed_face"]
    if g["placed_face"]:
        out[_AT.space] = g["space"] + 1
    out[_AT.bumped] = place_plus_one(g["bumped"], p, n)
    out[_AT.bumped_face] = g["bumped_face"]
    copy_bytes(out, _AT.allegiance_before, g["before"], len(board.FACTIONS))
    out[_AT.due] = g["due_morale"]
    out[_AT.due + 1] = g["due_knowledge"]
    _write_bits(out, _AT.paid, _BITS, 0, g["paid"])  # it has a bit less: the next entry is 0, and set after
    out[_AT.star_placed] = g["star_placed"]
    out[_AT.took_resource] = g["took_resource"]
    _write_bits(out, _AT.helped, _BITS, 0, places_of(int(g["helped"]), p, n))
    out[_AT.new_worker] = g["new_worker"]
    out[_AT.new_face] = g["new_face"]
    out[_AT.set_face] = g["set_face"]
    _write_players(out, _AT.to_roll, g["back_owner"], 0, p, 1 - p, 1 - p + n)
    copy_bytes(out, _AT.to_roll + board.MAX_WORKERS, g["back_face"], board.MAX_WORKERS)
    out[_AT.roller] = place_plus_one(g["roller"], p, n)
    if g["num_taken"] or g["ask"] == Decision.TAKE:
        out[_AT.payment] = g["payment"] + 1
        for k in range(int(g["num_taken"])):
            out[_AT.taken + k] = g["taken"][k] + 1


@jit
def fill_observation(g, p, out):
    """Writes what player p may see into an int8 array (OBS_SIZE,)."""
    out = borrowed(out)
    out[:] = 0
    n = int(g["num_players"])
    copy_bytes(out, 0, g["shown_rules"], OPTIONS_SIZE)
    write_digits(out, _AT.turn, g["turn"])
    out[_AT.status] = g["status"]
    out[_AT.active + place_of(g["turn_player"], p, n)] = 1
    if g["ask"] != Decision.NOTHING:
        out[_AT.decider + place_of(g["player"], p, n)] = 1
    for k in range(n):
        fill_player(g, player_at(k, p, n), out[PLAYERS_START + PLAYER_SIZE * k :])
    fill_private(g, p, out)
    fill_board(g, p, n, out)
    fill_decision(g, p, n, out)


@entry(ROWS, "int64 bool_[:]")
def write_mask(games, i, mask):
    """Writes the legal moves of game i into a bool array (NUM_ACTIONS,)."""
    check(games, i)
    fill_mask(games[i]["legal"], mask)


@entry(ROWS, "int64 int64 int8[:]")
def write_observation(games, i, player, out):
    """Writes what a player of game i may see into an int8 array (OBS_SIZE,)."""
    check(games, i)
    fill_observation(games[i], player, out)


@jit
def fill_events(tape, p, n, out):
    """Writes the last K events as player p of n sees them into int8 (K, EVENT_SIZE), oldest first, zeros before the first one."""
    first, at = int(tape[TAPE_FIRST]), int(tape[TAPE_NEXT])
    room = len(out)
    noted = min(int(tape[TAPE_EVENTS]), room)
    if noted < room:
        out[: room - noted] = 0
        at = first
    for k in range(room - noted, room):
        kind, player, a = int(tape[at]), int(tape[at + 1]), int(tape[at + 2])
        if SECRET[kind] and player != p:
            a = -1
        elif OF_PLAYER[kind]:
            a = place_of(a, p, n)
        out[k, 0] = kind
        out[k, 1] = place_of(player, p, n) if player >= 0 else -1
        out[k, 2] = a
        out[k, 3] = tape[at + 3]
        at += EVENT_SIZE
        if at == tape[TAPE_LIMIT]:
            at = first


@entry(TAPE, "int64 int64 int8[:,:]")
def write_events(tape, p, n, out):
    """Writes the last events as player p of n sees them; see `fill_events`."""
    fill_events(pointer_to(tape, 0), p, n, out)
