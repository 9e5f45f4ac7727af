"""Playouts: games that are played on by the weights of `euphoria_agents.players.weights`."""

from __future__ import annotations

from euphoria_agents.players.weights import spin, weigh
from euphoria_env.engine.chance import random_bits
from euphoria_env.engine.jit import jit
from euphoria_env.engine.legal_moves import answer
from euphoria_env.engine.loop import advance
from euphoria_env.engine.move_set import list_moves
from euphoria_env.engine.state import OVER

ALL_TURNS = 2**31 - 1


@jit
def random_unit(rng):  # type: ignore[no-untyped-def]
    """Returns a random number from [0, 1)."""
    return random_bits(rng) / 4294967296.0


@jit
def play_out(g, tape, moves, weights, last_turn, decisions):  # type: ignore[no-untyped-def]
    """Plays until turn `last_turn` or the game is over, or `decisions` are made; returns how many were made.

    `moves` (int64) and `weights` (float64) are workspace for NUM_ACTIONS. Random numbers come from the generator in the row.
    """
    for played in range(decisions):
        if g["status"] >= OVER or g["turn"] > last_turn:
            return played
        n = list_moves(g["legal"], moves)
        weigh(g, moves, n, weights)
        chosen = spin(weights, n, random_unit(g["rng"]))
        if chosen < 0:  # only in an impossible row
            return played
        answer(g, tape, int(moves[chosen]))
        advance(g, tape)
    return decisions
