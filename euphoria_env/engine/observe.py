"""Writes masks, observations and events into arrays of the caller (laid out as `observations` and `event_kinds` say)."""

from __future__ import annotations

import numpy as np

from euphoria_env.board import (
    ARTIFACT_SET,
    ARTIFACTS,
    DEALT_RECRUITS,
    FACTIONS,
    GOODS,
    ITEMS,
    MARKETS,
    MAX_RECRUITS,
    MAX_WORKERS,
    NUM_AREAS,
    NUM_SPACES,
    TUNNELS,
)
from euphoria_env.cards.recruits import NUM_RECRUITS
from euphoria_env.cards.tiles import NUM_TILES
from euphoria_env.cards.vocabulary import Trigger
from euphoria_env.decisions import Decision, Verb
from euphoria_env.engine.byte_copies import borrowed, copy_bytes, pointer_to
from euphoria_env.engine.jit import entry, jit
from euphoria_env.engine.move_set import fill_mask
from euphoria_env.engine.state import HELD, IN_BY, OUT_BY, PLAYING, ROWS, SETUP, Operation
from euphoria_env.engine.tape import TAPE, TAPE_EVENTS, TAPE_FIRST, TAPE_LIMIT, TAPE_NEXT
from euphoria_env.event_kinds import EVENT_SIZE, OF_PLAYER, SECRET
from euphoria_env.observations import PLAYER_SIZE, PLAYERS_START, start_of
from euphoria_env.rules import DIGIT, OPTIONS_SIZE


def _starts(*names: str) -> list[int]:
    """The starts of fields of the observation."""
    return [start_of(name) for name in names]


def _in_player(*names: str) -> list[int]:
    """The starts of fields within the block of a player."""
    return [start_of(f"player_0.{name}") - PLAYERS_START for name in names]


_PRESENT, _KNOWLEDGE, _MORALE, _STARS, _GOODS = _in_player("present", "knowledge", "morale", "stars", "goods")
_HAND_SIZE, _AVAILABLE, _WORKERS, _LOST = _in_player("hand_size", "available", "workers", "lost_worker")
_USED_GEEK, _USED_GAMBLER, _RECRUITS = _in_player("used_geek", "used_gambler", "recruits")
_RECRUIT_STARS, _HIDDEN, _RESOLVED = _in_player("recruit_stars", "hidden_recruits", "resolved")
_RESOLVED_DILEMMA, _PENALTIES = _in_player("resolved_dilemma", "penalties")

_TURN, _STATUS, _ACTIVE, _DECIDER = _starts("turn", "status", "active", "decider")
_OWN_ARTIFACTS, _OWN_DILEMMA, _OWN_RECRUITS, _OWN_TILES = _starts("own_artifacts", "own_dilemma", "own_recruits", "own_tiles")
_ALLEGIANCE, _MINERS, _AREAS, _OCCUPANT, _OCCUPANT_FACE = _starts("allegiance", "miners", "areas", "occupant", "occupant_face")
_BUILT, _TILE, _MARKET_STARS, _TERRITORIES = _starts("built", "tile", "market_stars", "territories")
_DISCARDS, _DECK_SIZE = _starts("discards", "deck_size")
_ASKED, _CARD, _VERB, _UNITS = _starts("asked", "card", "verb", "units")
_FIRST_GROUP, _SECOND_GROUP, _LAST, _CHOSEN = _starts("first_group", "second_group", "last", "chosen")
_REQUESTED, _PARTNER, _OFFERS = _starts("requested", "partner", "offers")
_SPACE, _PLACED_FACE, _BUMPED, _BUMPED_FACE = _starts("space", "placed_face", "bumped", "bumped_face")
_BEFORE, _DUE, _PAID = _starts("allegiance_before", "due", "paid")
_STAR_PLACED, _TOOK_RESOURCE, _HELPED = _starts("star_placed", "took_resource", "helped")
_NEW_WORKER, _NEW_FACE, _SET_FACE, _TO_ROLL, _ROLLER = _starts("new_worker", "new_face", "set_face", "to_roll", "roller")
_PAYMENT, _TAKEN, _RESOLVING, _BARGAINS_LEFT = _starts("payment", "taken", "resolving", "bargains_left")
_FURTHER_LEFT, _DRAWS_LEFT = _starts("further_left", "draws_left")


@jit
def write_digits(out, at, value):
    """Writes a number as three digits, lowest first."""
    value = min(int(value), DIGIT**3 - 1)
    for k in range(3):
        out[at + k] = value % DIGIT
        value //= DIGIT


# Players are counted from the observer p on, in the order of play: p is at place 0, the next one at place 1.


@jit
def place_of(player, p, n):
    """The relative seat of a player."""
    return player - p if player >= p else player - p + n


@jit
def place_plus_one(player, p, n):
    """The relative seat of a player plus 1; 0 for nobody (-1)."""
    return place_of(player, p, n) + 1 if player >= 0 else 0


@jit
def player_at(place, p, n):
    """The player at a relative seat."""
    return p + place if p + place < n else p + place - n


@jit
def write_bits(bits, out, at, n):
    """Writes n bits, one to an entry, from `at` on."""
    for k in range(n):
        out[at + k] = (bits >> k) & 1


@jit
def fill_player(g, p, out):
    """Writes what is public of a player into an int8 array (PLAYER_SIZE,), which must be 0."""
    out[_KNOWLEDGE] = g["knowledge"][p]
    out[_MORALE] = g["morale"][p]
    out[_STARS] = g["stars"][p]
    for item in range(len(GOODS)):
        out[_GOODS + item] = min(int(g["goods"][p, item]), 127)
    out[_HAND_SIZE] = g["hand_size"][p]
    copy_bytes(out, _AVAILABLE, g["available"][p], 6)
    out[_WORKERS] = g["owned"][p]
    out[_LOST] = g["lost_worker"][p]
    used, active = int(g["used"][p]), int(g["num_active"][p])
    out[_USED_GEEK] = used & 1
    out[_USED_GAMBLER] = used >> 1
    starred = int(g["starred"])
    for k in range(MAX_RECRUITS):  # no branch here is cheaper: those that are not active are written where `present` comes last
        card = int(g["recruits"][p, k])
        out[_RECRUITS + card if k < active else _PRESENT] = k + 1
        out[_RECRUIT_STARS + k] = (starred >> card) & 1 if k < active else 0
    out[_PRESENT] = 1
    if g["status"] != SETUP:
        out[_HIDDEN] = g["num_recruits"][p] - active
    resolved, penalty = int(g["resolved"][p]), int(g["penalty"][p])
    if resolved:
        out[_RESOLVED] = resolved
        out[_RESOLVED_DILEMMA + int(g["dilemma"][p])] = 1
    write_bits(penalty, out, _PENALTIES, NUM_TILES)


@jit
def fill_private(g, p, out):
    """Writes what only the observer knows (R19.2)."""
    copy_bytes(out, _OWN_ARTIFACTS, g["artifacts"][p], len(ARTIFACTS))
    out[_OWN_DILEMMA + int(g["dilemma"][p])] = 1
    put_out, held, chosen = np.int8(OUT_BY + p), np.int8(HELD + p), np.int8(IN_BY + p)
    recruits, tiles = g["recruit_place"], g["tile_place"]
    for card in range(NUM_RECRUITS):
        out[_OWN_RECRUITS + card] = 5 if recruits[card] == put_out else 0
    for k in range(int(g["num_active"][p]), int(g["num_recruits"][p])):
        out[_OWN_RECRUITS + int(g["recruits"][p, k])] = 2 if g["status"] == SETUP and k == 0 else 1
    if g["ask"] == Decision.RECRUIT or g["status"] == SETUP:
        for k in range(DEALT_RECRUITS):
            if g["hand"][p, k] >= 0:
                out[_OWN_RECRUITS + int(g["hand"][p, k])] = 3
            if g["kept"][p, k] >= 0:
                out[_OWN_RECRUITS + int(g["kept"][p, k])] = 4
    for tile in range(NUM_TILES):
        place = tiles[tile]
        out[_OWN_TILES + tile] = 1 if place == held else 2 if place == chosen else 3 if place == put_out else 0


@jit
def fill_board(g, p, n, out):
    """Writes the board."""
    copy_bytes(out, _ALLEGIANCE, g["allegiance"], len(FACTIONS))
    copy_bytes(out, _MINERS, g["miners"], len(TUNNELS))
    for q in range(n):
        k = place_of(q, p, n)
        for s in range(NUM_AREAS):
            copy_bytes(out, _AREAS + 36 * s + 6 * k, g["area"][s, q], 6)
            out[_TERRITORIES + 6 * s + k] = g["territory"][s, q]
    copy_bytes(out, _OCCUPANT_FACE, g["face"][NUM_AREAS:], NUM_SPACES - NUM_AREAS)
    # `place_plus_one` once more, in int8: so the compiler does many spaces at once.
    occupant, first, last, before = g["occupant"], np.int8(p), np.int8(1 - p), np.int8(1 - p + n)
    for s in range(NUM_SPACES - NUM_AREAS):
        player = occupant[NUM_AREAS + s]
        out[_OCCUPANT + s] = np.int8(0) if player < 0 else player + (last if player >= first else before)
    for m in range(len(MARKETS)):
        if g["built"][m]:
            out[_BUILT + m] = 1
            out[_TILE + m] = g["tile"][m] + 1
            for k in range(n):
                out[_MARKET_STARS + 6 * m + k] = (int(g["market_stars"][m]) >> player_at(k, p, n)) & 1
    copy_bytes(out, _DISCARDS, g["discards"], len(ARTIFACTS))
    deck = 0
    for kind in range(len(ARTIFACTS)):
        deck += int(g["deck"][kind])
    out[_DECK_SIZE] = deck


@jit
def fill_decision(g, p, n, out):
    """Writes what is being decided, and the turn so far."""
    asked = int(g["ask"])
    out[_ASKED + asked] = 1
    if asked == Decision.NOTHING:
        return
    out[_OFFERS] = g["offers"]
    if asked == Decision.OPEN:  # nothing else has happened in this turn
        return
    if g["status"] == PLAYING:
        fill_placement(g, p, n, out)
    if asked == Decision.USE:
        out[_CARD] = g["card"] + 1
    if asked == Decision.SERIES or asked == Decision.STAR:
        out[_VERB] = g["verb"] + 1 if asked == Decision.SERIES else 0
        set_a, set_b = int(g["set_a"]), int(g["set_b"])
        # Which two cards Bradley drew only the owner knows.
        if asked == Decision.SERIES and g["verb"] == Verb.DISCARD and g["player"] != p:
            set_a = ARTIFACT_SET
        write_bits(set_a, out, _FIRST_GROUP, len(ITEMS))
        if asked == Decision.SERIES:
            write_bits(set_b, out, _SECOND_GROUP, len(ITEMS))
            out[_UNITS] = g["units_a"]
            out[_UNITS + 1] = g["units_b"]
    out[_LAST] = g["last"]
    copy_bytes(out, _CHOSEN, g["chosen"], len(ITEMS))
    copy_bytes(out, _REQUESTED, g["asked"], len(ITEMS))
    for k in range(int(g["depth"])):
        op = g["stack"][k, 0]
        if op == Operation.FURTHER or op == Operation.FURTHER_ANSWERED:
            out[_FURTHER_LEFT] = max(out[_FURTHER_LEFT], g["stack"][k, 3])
        elif op == Operation.DRAW_ANSWERED:
            out[_DRAWS_LEFT] = g["stack"][k, 2]
        elif op == Operation.DILEMMA_PAID:
            out[_RESOLVING] = g["stack"][k, 2]
        elif op == Operation.TRIGGER and g["stack"][k, 2] == Trigger.STAR and g["stack"][k, 3] == 0:
            out[_BARGAINS_LEFT] += 1


@jit
def fill_placement(g, p, n, out):
    """Writes the placement, the roll, the retrieval and the trade under way."""
    out[_PARTNER] = place_plus_one(g["partner"], p, n)
    out[_PLACED_FACE] = g["placed_face"]
    if g["placed_face"]:
        out[_SPACE] = g["space"] + 1
    out[_BUMPED] = place_plus_one(g["bumped"], p, n)
    out[_BUMPED_FACE] = g["bumped_face"]
    copy_bytes(out, _BEFORE, g["before"], len(FACTIONS))
    out[_DUE] = g["due_morale"]
    out[_DUE + 1] = g["due_knowledge"]
    write_bits(int(g["paid"]), out, _PAID, 5)
    out[_STAR_PLACED] = g["star_placed"]
    out[_TOOK_RESOURCE] = g["took_resource"]
    for k in range(n):
        out[_HELPED + k] = (int(g["helped"]) >> player_at(k, p, n)) & 1
    out[_NEW_WORKER] = g["new_worker"]
    out[_NEW_FACE] = g["new_face"]
    out[_SET_FACE] = g["set_face"]
    for k in range(MAX_WORKERS):
        out[_TO_ROLL + k] = place_plus_one(g["back_owner"][k], p, n)
        out[_TO_ROLL + MAX_WORKERS + k] = g["back_face"][k]
    out[_ROLLER] = place_plus_one(g["roller"], p, n)
    if g["num_taken"] or g["ask"] == Decision.TAKE:
        out[_PAYMENT] = g["payment"] + 1
        for k in range(int(g["num_taken"])):
            out[_TAKEN + k] = g["taken"][k] + 1


@jit
def fill_observation(g, p, out):
    """Writes what player p may see into an int8 array (OBS_SIZE,)."""
    out = borrowed(out)
    out[:] = 0
    n = int(g["num_players"])
    copy_bytes(out, 0, g["shown_rules"], OPTIONS_SIZE)
    write_digits(out, _TURN, g["turn"])
    out[_STATUS] = g["status"]
    out[_ACTIVE + place_of(g["turn_player"], p, n)] = 1
    if g["ask"] != Decision.NOTHING:
        out[_DECIDER + place_of(g["player"], p, n)] = 1
    for k in range(n):
        first = PLAYERS_START + PLAYER_SIZE * k
        fill_player(g, player_at(k, p, n), out[first : first + PLAYER_SIZE])
    fill_private(g, p, out)
    fill_board(g, p, n, out)
    fill_decision(g, p, n, out)


@entry(ROWS, "int64 bool_[:]")
def write_mask(games, i, mask):
    """Writes the legal moves of game i into a bool array (NUM_ACTIONS,)."""
    fill_mask(games[i]["legal"], mask)


@entry(ROWS, "int64 int64 int8[:]")
def write_observation(games, i, player, out):
    """Writes what a player of game i may see into an int8 array (OBS_SIZE,)."""
    fill_observation(games[i], player, out)


@jit
def fill_events(tape, p, n, out):
    """Writes the last events, as player p of n sees them, into an int8 array (K, EVENT_SIZE), oldest first, zeros before them."""
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
    """Writes the last events as player p of n sees them, as `fill_events`."""
    fill_events(pointer_to(tape, 0), p, n, out)
