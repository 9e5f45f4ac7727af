"""Allegiance: advancing a track, revealing recruits, stars at the end of a track (R7)."""

from __future__ import annotations

from euphoria_env.board import ALLEGIANCE_END, BIT, FACTIONS, TUNNELS
from euphoria_env.cards.recruits import FACTION_OF
from euphoria_env.engine.jit import jit
from euphoria_env.engine.stars import star_on_recruit
from euphoria_env.engine.state import Operation, push, seat_after
from euphoria_env.engine.tape import log_cause, log_event
from euphoria_env.event_kinds import EventKind

REVEALING_ALLEGIANCE = 8  # R7.4
REVEALING_MINER = 6  # R7.5


@jit
def revealed_factions(g):
    """Returns the factions whose hidden recruits must be active (R7.4, R7.5), as a set."""
    factions = 0
    for f in range(len(FACTIONS)):
        if g["allegiance"][f] >= REVEALING_ALLEGIANCE or (f < len(TUNNELS) and g["miners"][f] >= REVEALING_MINER):
            factions |= 1 << f
    return factions


@jit
def advance_allegiance(g, tape, p, faction):
    """Advances an allegiance marker by 1; at 11 all players put stars on their active recruits of the faction (R7.1, R7.6)."""
    if g["allegiance"][faction] == ALLEGIANCE_END:
        return
    g["allegiance"][faction] += 1
    log_event(tape, EventKind.ALLEGIANCE, p, faction, g["allegiance"][faction])
    if g["allegiance"][faction] == ALLEGIANCE_END:
        for k in range(int(g["num_players"])):
            q = seat_after(g, k)
            for slot in range(int(g["num_active"][q])):
                card = int(g["recruits"][q, slot])
                if FACTION_OF[card] == faction:
                    star_on_recruit(g, tape, q, card)
        push(g, Operation.STAR_REACTIONS, p, 0, 0)


@jit
def activate(g, tape, p, slot):
    """Makes a hidden recruit the last of the active ones; at allegiance 11 it gets its star at once (R7.5)."""
    card = int(g["recruits"][p, slot])
    for k in range(slot, int(g["num_active"][p]), -1):
        g["recruits"][p, k] = g["recruits"][p, k - 1]
    g["recruits"][p, int(g["num_active"][p])] = card
    g["num_active"][p] += 1
    g["active_cards"][p] |= BIT[card]
    log_event(tape, EventKind.RECRUIT_ACTIVE, p, card, -1)
    if g["allegiance"][int(FACTION_OF[card])] == ALLEGIANCE_END:
        star_on_recruit(g, tape, p, card)


@jit
def hidden_revealed(g, p, revealed):
    """Returns the first hidden recruit of a player whose faction is revealed, as a slot; -1 if there is none."""
    for slot in range(int(g["num_active"][p]), int(g["num_recruits"][p])):
        if (revealed >> int(FACTION_OF[int(g["recruits"][p, slot])])) & 1:
            return slot
    return -1


@jit
def activate_revealed(g, tape, p):
    """Activates, in turn order, the hidden recruits of the factions that this placement revealed (R4.9, R16.1)."""
    revealed = revealed_factions(g)
    if revealed == g["revealed"]:
        return
    for f in range(len(FACTIONS)):
        if (revealed >> f) & 1 and not (int(g["revealed"]) >> f) & 1:
            log_cause(tape, EventKind.REVEALED, -1, f, -1)
    g["revealed"] = revealed
    activated = False
    for k in range(int(g["num_players"])):
        q = seat_after(g, k)
        slot = hidden_revealed(g, q, revealed)
        while slot >= 0:
            activate(g, tape, q, slot)
            activated = True
            slot = hidden_revealed(g, q, revealed)
    if activated:
        push(g, Operation.END_CHECK, p, 0, 0)
        push(g, Operation.LIMITS, p, 0, 0)
        push(g, Operation.STAR_REACTIONS, p, 0, 0)  # R4.9; with the cards that there are, none goes from below 8 to 11 at once
