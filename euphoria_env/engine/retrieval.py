"""Retrieving workers: payment, morale, sacrifices, the roll (R3.4, R3.5)."""

from __future__ import annotations

import numpy as np

from euphoria_env.actions import NUM_BOARD_WORKERS, RETRIEVE, SACRIFICE, TAKE, USE
from euphoria_env.board import ALL_SPACES, BLISS, ENERGY, FOOD, MAX_WORKERS, NUM_AREAS, REGION, SUBTERRAN
from euphoria_env.cards.recruits import GIDGET
from euphoria_env.cards.tiles import CAFETERIA
from euphoria_env.cards.vocabulary import Trigger
from euphoria_env.decisions import Decision
from euphoria_env.engine.bits import index_from
from euphoria_env.engine.byte_vectors import differing_from
from euphoria_env.engine.jit import jit
from euphoria_env.engine.markers import gain_morale, lose_knowledge, lose_morale, take_goods
from euphoria_env.engine.rolls import roll, with_face
from euphoria_env.engine.state import (
    RETRIEVE_BLISS,
    RETRIEVE_ENERGY,
    RETRIEVE_FOOD,
    RETRIEVE_FREE,
    Operation,
    ask_for,
    ask_use,
    has_ability,
    has_penalty,
    push,
    push_trigger,
)
from euphoria_env.engine.tape import log_cause, log_event, log_interruption, log_resumption
from euphoria_env.event_kinds import EventKind

AREA_WORKERS = 6 * NUM_AREAS

# The space of each board worker number, which `take` and `sacrifice` use.
WORKER_SPACE = np.array([w // 6 if w < AREA_WORKERS else w - AREA_WORKERS + NUM_AREAS for w in range(NUM_BOARD_WORKERS)], np.int8)


@jit
def on_board(g, p, worker):
    """Returns the number of a player's workers that have this board worker number."""
    if worker < AREA_WORKERS:
        return int(g["area"][worker // 6, p, worker % 6])
    return int(g["occupant"][worker - AREA_WORKERS + NUM_AREAS] == p)


@jit
def workers_in_areas(g, p):
    """Returns the numbers of the board workers that a player has in the commodity areas, as a set."""
    workers = 0
    for k in range(NUM_AREAS):
        workers |= (differing_from(g["area"][k, p], 0, 0) & 0b111111) << (6 * k)
    return workers


@jit
def workers_elsewhere(g, p):
    """Returns the numbers, less `AREA_WORKERS`, of the board workers that a player has on other spaces, as a set."""
    return (~differing_from(g["occupant"], p, 0) & ALL_SPACES) >> NUM_AREAS


@jit
def take_off(g, tape, kind, p, worker):
    """Takes a worker off the board, and logs an event of this kind; returns the face of the worker."""
    space = int(WORKER_SPACE[index_from(worker, 0, NUM_BOARD_WORKERS)])
    if worker < AREA_WORKERS:
        face = worker % 6 + 1
        g["area"][space, p, face - 1] -= 1
    else:
        face = int(g["face"][space])
        g["occupant"][space] = -1
        g["face"][space] = 0
    log_event(tape, kind, p, space, face)
    return face


@jit
def retrieve(g, tape, p):
    """Asks for the workers to retrieve, after the payment was chosen (R3.5)."""
    g["payment"] = int(g["answer"]) - RETRIEVE
    log_cause(tape, EventKind.RETRIEVES, p, g["payment"], -1)
    push(g, Operation.NEXT_TURN, p, 0, 0)
    push(g, Operation.END_CHECK, p, 0, 0)
    push(g, Operation.RETRIEVE_PAID, p, 0, 0)
    ask_for(g, Decision.TAKE, p)


@jit
def take_worker(g):
    """Adds a worker to those that are retrieved."""
    n = index_from(g["num_taken"], 0, MAX_WORKERS)
    g["taken"][n] = index_from(g["answer"], TAKE, NUM_BOARD_WORKERS)
    g["num_taken"] = n + 1


@jit
def retrieve_paid(g, tape, p):
    """Pays, moves morale, and pushes the steps of R3.4."""
    g["all_subterra"] = 1
    for k in range(int(g["num_taken"])):
        if REGION[int(WORKER_SPACE[int(g["taken"][k])])] != SUBTERRAN:
            g["all_subterra"] = 0
    push_trigger(g, p, Trigger.RETRIEVED)
    push(g, Operation.RETRIEVE_ROLL, p, 0, 0)
    push_trigger(g, p, Trigger.BEFORE_ROLL)
    push_trigger(g, p, Trigger.RETRIEVING)
    push(g, Operation.LIMITS, p, 0, 0)
    payment = int(g["payment"])
    if payment == RETRIEVE_FREE:
        lose_morale(g, tape, p, 1)
        if has_penalty(g, p, CAFETERIA) and g["morale"][p] > 1:
            log_interruption(tape, EventKind.PENALTY, p, CAFETERIA, -1)
            lose_morale(g, tape, p, 1)
    elif payment == RETRIEVE_FOOD:
        take_goods(g, tape, EventKind.PAID, p, FOOD, 1)
        gain_morale(g, tape, p, 2)
    elif payment == RETRIEVE_BLISS:
        take_goods(g, tape, EventKind.PAID, p, BLISS, 1)
        if has_ability(g, p, GIDGET):
            push(g, Operation.HYPNOSIS_ANSWERED, p, 0, 0)
            ask_use(g, p, GIDGET)
        else:
            gain_morale(g, tape, p, 2)
    elif payment == RETRIEVE_ENERGY:  # Jefferson
        take_goods(g, tape, EventKind.PAID, p, ENERGY, 1)
        lose_knowledge(g, tape, p, 1)
        gain_morale(g, tape, p, 1)
    else:
        raise ValueError("no such payment")


@jit
def hypnosis_answered(g, tape, p):
    """If the player chose Gidget's ability, loses 2 knowledge instead of gaining 2 morale."""
    if g["answer"] == USE + GIDGET:
        log_cause(tape, EventKind.ABILITY, p, GIDGET, -1)
        lose_knowledge(g, tape, p, 2)
    else:
        log_event(tape, EventKind.DECLINED, p, GIDGET, -1)
        gain_morale(g, tape, p, 2)


@jit
def sacrificed(g, tape, p):
    """Puts one of the retrieved workers back into the supply, for Pete or Sheppard (R13.4)."""
    worker = int(g["answer"]) - SACRIFICE
    take_off(g, tape, EventKind.SACRIFICED, p, worker)
    g["owned"][p] -= 1
    k = 0
    while g["taken"][index_from(k, 0, int(g["num_taken"]))] != worker:
        k += 1
    for j in range(k, MAX_WORKERS - 1):
        g["taken"][j] = g["taken"][j + 1]
    g["taken"][MAX_WORKERS - 1] = -1
    g["num_taken"] -= 1


@jit
def retrieve_roll(g, tape, p):
    """Rolls all retrieved workers together, if any is left."""
    n = int(g["num_taken"])
    log_resumption(tape, p)
    faces = 0
    for k in range(n):
        faces = with_face(faces, k, take_off(g, tape, EventKind.RETRIEVED, p, int(g["taken"][k])))
        g["taken"][k] = -1
    g["num_taken"] = 0
    if n:
        roll(g, tape, p, n, faces)


assert (RETRIEVE_FREE, RETRIEVE_ENERGY) == (0, 3)
