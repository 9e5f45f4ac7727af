"""Tunnels: their miners, and what they give (R8)."""

from __future__ import annotations

from euphoria_env.board import BIT, FIRST_TUNNEL, FIRST_TUNNEL_END, GAIN_ARTIFACT, MINER_END, TUNNELS
from euphoria_env.cards.spaces import TUNNEL_RESOURCE
from euphoria_env.decisions import Verb
from euphoria_env.engine.artifacts import draw_artifacts
from euphoria_env.engine.bits import index_from
from euphoria_env.engine.jit import jit
from euphoria_env.engine.markers import gain_goods
from euphoria_env.engine.state import ask_series, has_bonus
from euphoria_env.engine.tape import log_event
from euphoria_env.event_kinds import EventKind


@jit
def tunnel_of(g):
    """Returns the number of the tunnel of the placement under way."""
    return index_from(g["space"], FIRST_TUNNEL, len(TUNNELS))


@jit
def move_miner(g, tape, p, tunnel):
    """Moves a miner 1 step, to 9 at most, where the tunnel end opens (R8.1, R8.2)."""
    if g["miners"][tunnel] < MINER_END:
        g["miners"][tunnel] += 1
        log_event(tape, EventKind.MINER, p, tunnel, g["miners"][tunnel])
        if g["miners"][tunnel] == MINER_END:
            g["open_spaces"] |= BIT[FIRST_TUNNEL_END + tunnel]


@jit
def tunnel_choice(g, tape, p):
    """Asks whether the tunnel gives its resource or an artifact; with the bonus gives both, the resource first (R8.1, R7.3)."""
    tunnel = tunnel_of(g)
    resource = int(TUNNEL_RESOURCE[tunnel])
    if has_bonus(g, p, tunnel, 5):
        gain_goods(g, tape, p, resource, 1)
        g["took_resource"] = 1
        log_event(tape, EventKind.BONUS, p, tunnel, 5)
        draw_artifacts(g, tape, p, 1, 0)
    else:
        ask_series(g, p, Verb.MINE, 1, (1 << resource) | (1 << GAIN_ARTIFACT), 0, 0)
