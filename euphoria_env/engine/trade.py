"""Trading: an offer, item by item, and its answer (R15)."""

from __future__ import annotations

from euphoria_env.actions import ACCEPT, ASK, GIVE, OFFER, REFUSE, TRADE
from euphoria_env.board import ARTIFACTS, FIRST_ARTIFACT, GOODS, KNOWLEDGE_ITEM
from euphoria_env.decisions import Decision, Verb
from euphoria_env.engine.artifacts import move_artifact
from euphoria_env.engine.bits import index_from
from euphoria_env.engine.costs import units_of_item
from euphoria_env.engine.jit import jit
from euphoria_env.engine.markers import add_goods, take_goods
from euphoria_env.engine.move_set import allow
from euphoria_env.engine.state import Operation, ask_for, push, seat_after
from euphoria_env.engine.tape import log_cause, log_event
from euphoria_env.event_kinds import EventKind

MOST_ITEMS = 3  # the most items on each side of an offer (R15.1)
_TRADED = KNOWLEDGE_ITEM  # the number of items that can be traded: all before knowledge


@jit
def has_goods(g, p):
    """Returns whether a player has anything to trade."""
    n = int(g["hand_size"][p])
    for item in range(len(GOODS)):
        n += int(g["goods"][p, item])
    return n > 0


@jit
def allow_offers(g, words, p):
    """Allows offers to the players to whom one may be made (R15.1, R15.2)."""
    if g["trading"] and g["offers"] < g["trades_per_turn"] and has_goods(g, p):
        for k in range(1, int(g["num_players"])):
            if has_goods(g, seat_after(g, k)):
                allow(words, TRADE + k - 1)


@jit
def begin_offer(g, tape, p):
    """Begins the offer that was chosen; it counts towards the limit, whatever becomes of it (R15.1, R15.2)."""
    g["offers"] += 1
    g["partner"] = seat_after(g, index_from(g["answer"], TRADE, int(g["num_players"]) - 1) + 1)
    g["last"] = 0
    log_cause(tape, EventKind.OFFER, p, g["partner"], -1)
    push(g, Operation.OFFERED, p, 0, 0)
    ask_for(g, Decision.TRADE, p)


@jit
def count_items(counts):
    """Returns the number of items of one side of an offer."""
    n = 0
    for item in range(_TRADED):
        n += int(counts[item])
    return n


@jit
def may_give(g, p, item):
    """Returns whether the player may add one of an item to what they offer."""
    return units_of_item(g, p, Verb.PAY, item) > 0


@jit
def may_ask(g, item):
    """Returns whether one of an item may be added to what is asked: goods only if the partner has them, any artifact (R15.2)."""
    partner = int(g["partner"])
    if item < FIRST_ARTIFACT:
        return g["goods"][partner, item] > g["asked"][item]
    artifacts = 0
    for other in range(FIRST_ARTIFACT, _TRADED):
        artifacts += int(g["asked"][other])
    return artifacts < g["hand_size"][partner]


@jit
def allow_offer(g, words):
    """Allows the moves that continue an offer: first `give`, then `ask` (R18.2), then `offer`."""
    p, last = int(g["player"]), int(g["last"])
    given, asked = count_items(g["chosen"]), count_items(g["asked"])
    if asked == 0 and given < MOST_ITEMS:
        for item in range(last, _TRADED):
            if may_give(g, p, item):
                allow(words, GIVE + item)
    if given:
        first = last if asked else 0
        if asked < MOST_ITEMS:
            for item in range(first, _TRADED):
                if may_ask(g, item):
                    allow(words, ASK + item)
        if asked:
            allow(words, OFFER)


@jit
def extend_offer(g):
    """Adds the chosen item to the offer; returns whether the offer is sent."""
    action = int(g["answer"])
    if action == OFFER:
        return True
    item = index_from(action, ASK if action >= ASK else GIVE, _TRADED)
    g["last"] = item
    if action >= ASK:
        g["asked"][item] += 1
    else:
        g["chosen"][item] += 1
    return False


@jit
def offered(g, tape, p):
    """Asks the partner, unless they lack what is asked for (R15.2)."""
    partner = int(g["partner"])
    for item in range(_TRADED):
        if g["chosen"][item]:
            log_event(tape, EventKind.OFFERED, p, item, g["chosen"][item])
    for item in range(_TRADED):
        if g["asked"][item]:
            log_event(tape, EventKind.WANTED, p, item, g["asked"][item])
    push(g, Operation.REPLIED, p, 0, 0)
    for kind in range(len(ARTIFACTS)):
        if g["asked"][FIRST_ARTIFACT + kind] > g["artifacts"][partner, kind]:
            g["answer"] = OFFER
            return
    ask_for(g, Decision.REPLY, partner)


@jit
def replied(g, tape, p):
    """Exchanges the items if the offer was accepted; then come the hand limits, and the decision that the offer interrupted."""
    partner = int(g["partner"])
    if g["answer"] == ACCEPT:
        log_cause(tape, EventKind.ACCEPTED, partner, p, -1)
        exchange(g, tape, p, partner)
        push(g, Operation.LIMITS, p, 0, 0)
    elif g["answer"] == REFUSE:
        log_event(tape, EventKind.REFUSED, partner, p, -1)
    else:
        log_event(tape, EventKind.REFUSED_UNASKED, partner, p, -1)
    g["chosen"][:] = 0
    g["asked"][:] = 0
    g["partner"] = -1
    g["last"] = 0


@jit
def exchange(g, tape, p, partner):
    """Exchanges the items of an offer: both sides hand over, then both receive."""
    for item in range(_TRADED):
        hand_over(g, tape, p, item, int(g["chosen"][item]))
        hand_over(g, tape, partner, item, int(g["asked"][item]))
    for item in range(_TRADED):
        receive(g, tape, p, item, int(g["asked"][item]))
        receive(g, tape, partner, item, int(g["chosen"][item]))


@jit
def hand_over(g, tape, p, item, n):
    """Takes n of an item from a player."""
    if n and item < FIRST_ARTIFACT:
        take_goods(g, tape, EventKind.GIVEN, p, item, n)
    elif n:
        move_artifact(g, p, item - FIRST_ARTIFACT, -n)
        log_event(tape, EventKind.GIVEN, p, item, n)


@jit
def receive(g, tape, p, item, n):
    """Gives a player n of an item."""
    if n and item < FIRST_ARTIFACT:
        add_goods(g, tape, EventKind.RECEIVED, p, item, n)
    elif n:
        move_artifact(g, p, item - FIRST_ARTIFACT, n)
        log_event(tape, EventKind.RECEIVED, p, item, n)


assert GIVE < ASK < OFFER
