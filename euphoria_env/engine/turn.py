"""The turn: what opens it, further equal workers, Chase's new worker, the next player (R3, R4.10, R16.4)."""

from __future__ import annotations

from euphoria_env.actions import DILEMMA, END, PLACE, RETRIEVE
from euphoria_env.board import FACTIONS, MAX_PLAYERS, MAX_WORKERS, NUM_SPACES
from euphoria_env.cards.recruits import CHASE
from euphoria_env.cards.tiles import FOUNTAIN
from euphoria_env.decisions import Decision
from euphoria_env.engine.allegiance import revealed_factions
from euphoria_env.engine.dilemma import resolve_dilemma
from euphoria_env.engine.end import truncate
from euphoria_env.engine.jit import jit
from euphoria_env.engine.placement import place
from euphoria_env.engine.retrieval import retrieve
from euphoria_env.engine.state import Operation, ask_for, has_ability, has_penalty, push, seat_after
from euphoria_env.engine.tape import log_cause, log_event
from euphoria_env.engine.trade import begin_offer
from euphoria_env.event_kinds import EventKind


@jit
def clear_pending(g):
    """Resets the fields of the turn that ended, so that equal positions have equal rows."""
    g["depth"] = 0
    g["revealed"] = revealed_factions(g)
    g["ask"] = 0
    g["card"] = 0
    g["verb"] = 0
    g["units_a"] = 0
    g["set_a"] = 0
    g["units_b"] = 0
    g["set_b"] = 0
    g["last"] = 0
    g["chosen"][:] = 0
    g["asked"][:] = 0
    g["partner"] = -1
    g["answer"] = 0
    g["space"] = 0
    g["placed_face"] = 0
    g["bumped"] = -1
    g["bumped_face"] = 0
    g["due_morale"] = 0
    g["due_knowledge"] = 0
    g["paid"] = 0
    g["star_placed"] = 0
    g["took_resource"] = 0
    g["helped"] = 0
    g["new_worker"] = 0
    g["new_face"] = 0
    g["set_face"] = 0
    g["roller"] = -1
    g["payment"] = 0
    g["num_taken"] = 0
    g["all_subterra"] = 0
    g["fresh_stars"][:] = 0
    for k in range(len(FACTIONS)):
        g["before"][k] = 0
    for k in range(MAX_WORKERS):
        g["back_owner"][k] = -1
        g["back_face"][k] = 0
        g["taken"][k] = -1


@jit
def open_turn(g):
    """Asks the active player for the move that opens the turn, again after a trade (R15.2)."""
    clear_pending(g)
    push(g, Operation.OPENED, int(g["turn_player"]), 0, 0)
    ask_for(g, Decision.OPEN, int(g["turn_player"]))


@jit
def begin_turn(g, tape, p):
    """Begins the turn of a player (R3.1)."""
    g["turn"] += 1
    g["turn_player"] = p
    g["offers"] = 0
    log_cause(tape, EventKind.TURN, p, -1, -1)
    for q in range(MAX_PLAYERS):
        g["lost_worker"][q] = 0
        g["used"][q] = 0
    open_turn(g)


@jit
def next_turn(g, tape):
    """Ends the turn: begins that of the next player, or cuts the game off (R16.4)."""
    if g["max_turns"] and g["turn"] >= g["max_turns"]:
        truncate(g, tape)
    else:
        begin_turn(g, tape, seat_after(g, 1))


@jit
def opened(g, tape, p):
    """Carries out what the player chose to do (R3.1, R15.2)."""
    action = int(g["answer"])
    if action < END:
        face, space = action // NUM_SPACES + 1, action % NUM_SPACES
        push(g, Operation.NEXT_TURN, p, 0, 0)
        if g["available"][p, face - 1] > 1:
            push(g, Operation.FURTHER, p, face, int(g["available"][p, face - 1]) - 1)
        place(g, tape, p, face, space, 0)
    elif action < RETRIEVE + 4:  # the next action, a `take`, does not open a turn
        retrieve(g, tape, p)
    elif action < DILEMMA + 2:
        resolve_dilemma(g, p)
    else:
        begin_offer(g, tape, p)


@jit
def may_place_further(g, p, face):
    """Returns whether a further worker of this face could be placed in this turn (R3.3, R12.6)."""
    return g["available"][p, face - 1] > 0 and not has_penalty(g, p, FOUNTAIN)


@jit
def further(g, p, face, left):
    """Asks for a further worker of an equal face; at most `left` may follow (R3.3)."""
    if left > 0 and may_place_further(g, p, face):
        g["placed_face"] = face
        g["due_morale"] = g["doubles_cost_morale"]
        push(g, Operation.FURTHER_ANSWERED, p, face, left)
        ask_for(g, Decision.FURTHER, p)


@jit
def chase(g, p):
    """Asks Chase's owner to place a worker that shows the face of the one just gained (R4.10)."""
    face = int(g["new_face"])
    if face and has_ability(g, p, CHASE) and may_place_further(g, p, face):
        g["placed_face"] = face
        g["due_morale"] = 0
        push(g, Operation.FURTHER_ANSWERED, p, face, 0)
        ask_for(g, Decision.FURTHER, p)


@jit
def further_answered(g, tape, p, face, left):
    """Places a further worker or begins an offer (R15.2); `left` is 0 for Chase's worker, which is not a further one."""
    action = int(g["answer"])
    if action < END:
        if left:
            push(g, Operation.FURTHER, p, face, left - 1)
        else:
            log_event(tape, EventKind.REACTION, p, CHASE, -1)
        place(g, tape, p, face, (action - PLACE) % NUM_SPACES, int(g["due_morale"]))
    elif action != END:
        if left:
            push(g, Operation.FURTHER, p, face, left)
        else:
            push(g, Operation.CHASE, p, 0, 0)
        begin_offer(g, tape, p)
