"""Gains and losses: knowledge and morale (R5.1), the two recruits that react to every step (R13.10), and goods (R1.2)."""

from __future__ import annotations

from euphoria_env.board import MOST_GOODS, TRACK_END
from euphoria_env.cards.recruits import CURTIS, NICK
from euphoria_env.engine.jit import jit
from euphoria_env.engine.state import has_ability
from euphoria_env.engine.tape import log_event
from euphoria_env.event_kinds import EventKind


@jit
def move_marker(tape, kind, track, player, n):
    """Moves a marker up to n steps, as far as its track goes; returns the number of steps that it moved."""
    old = int(track[player])
    new = min(max(old + n, 1), TRACK_END)
    steps = abs(new - old)
    track[player] = new
    if steps:
        log_event(tape, kind, player, steps, new)
    return steps


@jit
def gain_morale(g, tape, p, n):
    """Gains n morale."""
    move_marker(tape, EventKind.MORALE_GAINED, g["morale"], p, n)


@jit
def lose_morale(g, tape, p, n):
    """Loses n morale."""
    curtis_acts(g, tape, p, move_marker(tape, EventKind.MORALE_LOST, g["morale"], p, -n))


@jit
def pay_morale(g, tape, p, n):
    """Pays n morale."""
    curtis_acts(g, tape, p, move_marker(tape, EventKind.MORALE_PAID, g["morale"], p, -n))


@jit
def gain_knowledge(g, tape, p, n):
    """Gains n knowledge."""
    nick_acts(g, tape, p, move_marker(tape, EventKind.KNOWLEDGE_GAINED, g["knowledge"], p, n))


@jit
def pay_knowledge(g, tape, p, n):
    """Pays n knowledge: the marker rises."""
    nick_acts(g, tape, p, move_marker(tape, EventKind.KNOWLEDGE_PAID, g["knowledge"], p, n))


@jit
def lose_knowledge(g, tape, p, n):
    """Loses n knowledge."""
    move_marker(tape, EventKind.KNOWLEDGE_LOST, g["knowledge"], p, -n)


@jit
def curtis_acts(g, tape, p, steps):
    """Makes Curtis's owner lose 1 knowledge for each step of morale lost."""
    if steps and has_ability(g, p, CURTIS) and g["knowledge"][p] > 1:
        log_event(tape, EventKind.REACTION, p, CURTIS, -1)
        lose_knowledge(g, tape, p, steps)


@jit
def nick_acts(g, tape, p, steps):
    """Gives Nick's owner 1 morale for each step of knowledge gained."""
    if steps and has_ability(g, p, NICK) and g["morale"][p] < TRACK_END:
        log_event(tape, EventKind.REACTION, p, NICK, -1)
        gain_morale(g, tape, p, steps)


@jit
def gain_goods(g, tape, p, item, n):
    """Gains n of a commodity or resource."""
    add_goods(g, tape, EventKind.GAINED, p, item, n)


@jit
def add_goods(g, tape, kind, p, item, n):
    """Adds n of a commodity or resource, gained or received, up to the most that a player can have (R1.2)."""
    old = int(g["goods"][p, item])
    new = min(old + n, MOST_GOODS)
    g["goods"][p, item] = new
    log_event(tape, kind, p, item, new - old)


@jit
def take_goods(g, tape, kind, p, item, n):
    """Takes n of a commodity or resource, which the player pays, loses or hands over."""
    g["goods"][p, item] -= n
    log_event(tape, kind, p, item, n)


@jit
def has_room(g, p, morale, knowledge):
    """Returns whether a player can pay this much morale and knowledge in full."""
    return g["morale"][p] - morale >= 1 - (morale == 0) and g["knowledge"][p] + knowledge <= TRACK_END
