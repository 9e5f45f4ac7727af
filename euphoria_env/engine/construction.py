"""Construction: a site with enough workers becomes a market (R9)."""

from __future__ import annotations

from euphoria_env.board import FIRST_SLOT, NUM_MARKETS, SLOTS_PER_SITE, WORKERS_TO_BUILD
from euphoria_env.cards.vocabulary import Trigger
from euphoria_env.engine.bits import index_from
from euphoria_env.engine.jit import jit
from euphoria_env.engine.placement_legality import update_open_spaces
from euphoria_env.engine.stars import star_on_market, take_star
from euphoria_env.engine.state import Operation, push, push_trigger, seat_after, update_penalties
from euphoria_env.engine.tape import log_cause, log_event
from euphoria_env.event_kinds import EventKind


@jit
def construct(g, tape, p):
    """Builds the market of the site just used if it has enough workers (R9.2, R9.3)."""
    market = index_from(g["space"], FIRST_SLOT, SLOTS_PER_SITE * NUM_MARKETS) // SLOTS_PER_SITE
    first = FIRST_SLOT + SLOTS_PER_SITE * market
    n = 0
    for s in range(first, first + SLOTS_PER_SITE):
        n += g["occupant"][s] >= 0
    if n < WORKERS_TO_BUILD[int(g["num_players"])]:
        return
    log_cause(tape, EventKind.BUILT, p, market, g["tile"][market])
    helped = 0
    for k in range(SLOTS_PER_SITE):
        owner = int(g["occupant"][first + k])
        g["back_owner"][k] = owner
        g["back_face"][k] = g["face"][first + k]
        g["occupant"][first + k] = -1
        g["face"][first + k] = 0
        if owner >= 0:
            helped |= 1 << owner
            log_event(tape, EventKind.RETURNED, owner, first + k, g["back_face"][k])
            g["available"][owner, int(g["back_face"][k]) - 1] += 1
    g["helped"] = helped
    g["built"][market] = 1
    update_open_spaces(g)
    update_penalties(g)
    for k in range(int(g["num_players"]) - 1, -1, -1):
        push_trigger(g, seat_after(g, k), Trigger.BUILT)
    push(g, Operation.STAR_REACTIONS, p, 0, 0)
    for k in range(int(g["num_players"])):
        q = seat_after(g, k)
        if (helped >> q) & 1 and take_star(g, q):
            star_on_market(g, tape, q, market)
