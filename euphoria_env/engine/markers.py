"""Gains and losses: knowledge and morale (R5.1), the two recruits that act with every step (R13.10), and goods (R1.2)."""

from __future__ import annotations

from euphoria_env.board import MOST_GOODS, TRACK_END
from euphoria_env.cards.recruits import CURTIS, NICK
from euphoria_env.engine.jit import jit
from euphoria_env.engine.state import has


@jit
def move(track, player, n):
    """Moves a marker n steps, to the end of its track at most; how many steps it really moved."""
    old = int(track[player])
    new = min(max(old + n, 1), TRACK_END)
    track[player] = new
    return abs(new - old)


@jit
def gain_morale(g, p, n):
    """Gains n morale."""
    move(g["morale"], p, n)


@jit
def lose_morale(g, p, n):
    """Loses or pays n morale. Curtis: each step also loses 1 knowledge."""
    steps = move(g["morale"], p, -n)
    if steps and has(g, p, CURTIS):
        move(g["knowledge"], p, -steps)


@jit
def gain_knowledge(g, p, n):
    """Gains or pays n knowledge. Nick: each step also gains 1 morale."""
    steps = move(g["knowledge"], p, n)
    if steps and has(g, p, NICK):
        move(g["morale"], p, steps)


@jit
def lose_knowledge(g, p, n):
    """Loses n knowledge."""
    move(g["knowledge"], p, -n)


@jit
def gain_goods(g, p, item, n):
    """Gains n of a commodity or resource; more than a player can have is not gained (R1.2)."""
    g["goods"][p, item] = min(int(g["goods"][p, item]) + n, MOST_GOODS)


@jit
def room(g, p, morale, knowledge):
    """Whether the price of so much morale and knowledge can be paid whole."""
    return g["morale"][p] - morale >= 1 - (morale == 0) and g["knowledge"][p] + knowledge <= TRACK_END
