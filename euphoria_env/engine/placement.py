"""One placement from the bump to the recruits that become active (R4). `place` pushes the steps, each an operation, in order."""

from __future__ import annotations

from euphoria_env import board
from euphoria_env.actions import PAY_ONE, PAY_PAIR, PAY_THREE
from euphoria_env.cards.spaces import SPACE_PROGRAM
from euphoria_env.cards.tiles import TILE_FOOD
from euphoria_env.cards.vocabulary import Trigger
from euphoria_env.decisions import Decision, Verb
from euphoria_env.engine.allegiance import revealed_factions
from euphoria_env.engine.artifacts import discard_artifact, limits
from euphoria_env.engine.bits import index_from, lowest_bit
from euphoria_env.engine.costs import asks_artifacts, cost_of, holdings, log_payment, markers_due, payable
from euphoria_env.engine.end import end_check
from euphoria_env.engine.jit import jit
from euphoria_env.engine.markers import pay_knowledge, pay_morale, take_goods
from euphoria_env.engine.state import (
    PAID,
    PAID_ARTIFACT,
    PAID_FOOD_FOR_BLISS,
    PAID_GOLD,
    PAID_ONE_ARTIFACT,
    PLAYING,
    Operation,
    ask_for,
    ask_series,
    push,
    push_program,
    push_trigger,
)
from euphoria_env.engine.tape import log_cause, log_event
from euphoria_env.event_kinds import EventKind


@jit
def place(g, tape, p, face, space, extra_morale):
    """Places an available worker and pushes the steps R4.2 to R4.10; `extra_morale`: the cost of a further worker (R17.4)."""
    g["space"] = space
    g["placed_face"] = face
    g["paid"] = 0
    g["star_placed"] = 0
    g["took_resource"] = 0
    g["new_face"] = 0
    g["helped"] = 0
    g["due_morale"] = extra_morale
    for f in range(len(board.FACTIONS)):
        g["before"][f] = g["allegiance"][f]
    g["available"][p, face - 1] -= 1
    log_cause(tape, EventKind.PLACED, p, space, face)

    if board.FIRST_TANK <= space < board.FIRST_SLOT:
        push(g, Operation.CHASE, p, 0, 0)
    push(g, Operation.CLOSE, p, 0, 0)
    if board.FIRST_SLOT <= space < board.FIRST_MARKET:
        push(g, Operation.CONSTRUCT, p, 0, 0)
        log_first_on_site(g, tape, p, (space - board.FIRST_SLOT) // board.SLOTS_PER_SITE)
    push(g, Operation.PAY, p, 0, 0)

    g["bumped"] = -1
    g["bumped_face"] = 0
    if space < board.NUM_AREAS:
        g["area"][space, p, face - 1] += 1
        return
    if g["occupant"][space] >= 0:
        bump(g, tape, p, space)
    g["occupant"][space] = p
    g["face"][space] = face


@jit
def log_first_on_site(g, tape, p, market):
    """Logs that a worker is the first on a construction site, if it is."""
    for slot in range(board.FIRST_SLOT + board.SLOTS_PER_SITE * market, board.FIRST_SLOT + board.SLOTS_PER_SITE * (market + 1)):
        if g["occupant"][slot] >= 0:
            return
    log_event(tape, EventKind.SITE_BEGUN, p, market, -1)


@jit
def bump(g, tape, p, space):
    """Sends the bumped worker back. Amanda and Julia act before the roll, the bumper's other recruits after it (R4.2, R5.8)."""
    owner = int(g["occupant"][space])
    g["bumped"] = owner
    g["bumped_face"] = g["face"][space]
    log_event(tape, EventKind.BUMPED, owner, space, g["bumped_face"])
    g["back_owner"][0] = owner
    g["back_face"][0] = g["bumped_face"]
    g["available"][owner, int(g["bumped_face"]) - 1] += 1
    if owner != p:
        push_trigger(g, p, Trigger.BUMPED)
    push(g, Operation.REROLL, p, 0, 0)
    if owner != p:
        push_trigger(g, p, Trigger.BUMPING)
    push_trigger(g, owner, Trigger.GETTING_BUMPED)


@jit
def pay(g, tape, p):
    """Asks how the cost is paid; if it cannot be paid, the worker stays, and R4.4 and R4.5 do not happen (R4.3)."""
    space = int(g["space"])
    bumped_other = g["bumped"] >= 0 and g["bumped"] != p
    if not payable(g, p, space, bumped_other, int(g["due_morale"]), holdings(g, p)):
        log_cause(tape, EventKind.STAYS, p, space, -1)
        return
    morale, knowledge = markers_due(g, p, space)
    g["due_morale"] += morale
    g["due_knowledge"] = knowledge
    if asks_artifacts(space):
        push(g, Operation.PAID, p, 0, 0)
        push(g, Operation.WAY_CHOSEN, p, 0, 0)
        ask_for(g, Decision.ARTIFACT_WAY, p)
        return
    units_a, set_a, units_b, set_b = cost_of(g, p, space, bumped_other)
    if units_b or set_a & (set_a - 1):
        push(g, Operation.PAID, p, 0, 0)
        ask_series(g, p, Verb.PAY, units_a, set_a, units_b, set_b)
        return
    if units_a:  # one kind of item: there is nothing to choose (R18.1)
        g["chosen"][lowest_bit(set_a)] = units_a
    paid(g, tape, p)


@jit
def way_chosen(g, p):
    """Asks which artifacts to pay, if the chosen way leaves that open: 3, or the 1 that Jacko allows, but not a pair."""
    way = int(g["answer"])
    if way == PAY_THREE:
        ask_series(g, p, Verb.PAY, 3, board.ARTIFACT_SET, 0, 0)
    elif way == PAY_ONE:
        g["paid"] |= PAID_ONE_ARTIFACT
        ask_series(g, p, Verb.PAY, 1, board.ARTIFACT_SET, 0, 0)
    else:
        g["chosen"][board.FIRST_ARTIFACT + index_from(way, PAY_PAIR, len(board.ARTIFACTS))] = 2


@jit
def take_chosen(g, tape, p):
    """Takes the goods and artifacts that were chosen to pay."""
    for item in range(len(board.GOODS)):
        if g["chosen"][item]:
            take_goods(g, tape, EventKind.PAID, p, item, int(g["chosen"][item]))
    for kind in range(len(board.ARTIFACTS)):
        if g["chosen"][board.FIRST_ARTIFACT + kind]:
            discard_artifact(g, tape, EventKind.PAID, p, kind, int(g["chosen"][board.FIRST_ARTIFACT + kind]))
    g["chosen"][:] = 0


@jit
def paid(g, tape, p):
    """Takes all parts of the cost together, morale and knowledge first (R4.3, R13.10); then comes the gain (R4.4)."""
    g["paid"] |= PAID
    space = int(g["space"])
    market = space - board.FIRST_MARKET
    if board.FIRST_SLOT <= space < board.FIRST_MARKET:
        if g["chosen"][board.GOLD]:
            g["paid"] |= PAID_GOLD
        for kind in range(len(board.ARTIFACTS)):
            if g["chosen"][board.FIRST_ARTIFACT + kind]:
                g["paid"] |= PAID_ARTIFACT
    elif 0 <= market < board.NUM_MARKETS and g["chosen"][board.FOOD] > TILE_FOOD[int(g["tile"][market])]:
        g["paid"] |= PAID_FOOD_FOR_BLISS
    push_gain(g, p)
    log_payment(g, tape, p, space)
    if g["due_morale"]:
        pay_morale(g, tape, p, int(g["due_morale"]))
    knowledge = int(g["due_knowledge"]) + int(g["chosen"][board.KNOWLEDGE_ITEM])
    if knowledge:
        pay_knowledge(g, tape, p, knowledge)
    take_chosen(g, tape, p)
    if SPACE_PROGRAM[space, 0, 0] >= 0:
        log_cause(tape, EventKind.GAINS, p, space, -1)
    g["due_morale"] = 0
    g["due_knowledge"] = 0
    push(g, Operation.LIMITS, p, 0, 0)


@jit
def push_gain(g, p):
    """Pushes what the space gives, then the hand limit and the recruits (R4.4, R4.5, R5.6)."""
    push_trigger(g, p, Trigger.PLACED)
    push(g, Operation.LIMITS, p, 0, 0)
    push_program(g, SPACE_PROGRAM, int(g["space"]), p)


@jit
def close(g, tape, p):
    """Ends a placement: checks for the end, then starts hand limits, re-rolls and activations that are due (R4.7 to R4.9)."""
    end_check(g, tape)
    if g["status"] != PLAYING:
        return
    if revealed_factions(g) != g["revealed"]:
        push(g, Operation.ACTIVATE, p, 0, 0)
    if g["new_worker"] or g["helped"]:
        push(g, Operation.REROLL, p, 0, 0)
    limits(g, tape)
