"""Rolling a batch of workers: knowledge check, roll penalties, the recruits that react (R5.2 to R5.4, R5.8, R12.2)."""

from __future__ import annotations

from euphoria_env.board import GOODS, GOODS_SET, KNOWLEDGE_LIMIT, MAX_WORKERS
from euphoria_env.cards.recruits import BEN
from euphoria_env.cards.tiles import FACE_PENALTY
from euphoria_env.cards.vocabulary import Trigger
from euphoria_env.decisions import Verb
from euphoria_env.engine.chance import roll_die
from euphoria_env.engine.jit import jit
from euphoria_env.engine.state import HELD, Operation, ask_series, has_penalty, push, push_trigger
from euphoria_env.engine.tape import log_cause, log_event, log_interruption
from euphoria_env.event_kinds import EventKind


@jit
def knowledge_check(g, tape, p):
    """Takes the highest available worker if the sum is 16 or more, once a turn; returns whether a worker was lost (R5.3)."""
    total = int(g["knowledge"][p])
    highest = 0
    for f in range(6):
        n = int(g["available"][p, f])
        total += (f + 1) * n
        if n:
            highest = f
    if total < KNOWLEDGE_LIMIT or g["lost_worker"][p]:
        return False
    g["available"][p, highest] -= 1
    g["owned"][p] -= 1
    g["lost_worker"][p] = 1
    log_event(tape, EventKind.WORKER_LOST, p, highest + 1, total)
    return True


@jit
def with_face(faces, k, face):
    """Returns a list of up to four faces, packed into an integer, with a face added at index k."""
    return faces | face << 3 * k


@jit
def roll(g, tape, p, n, old_faces):
    """Rolls n workers of a player as one batch, one of them with the face that was set, and starts all that follows (R5.2).

    Returns the last face. The workers are no longer counted as available; `old_faces` has their old faces (`with_face`), 0 for a
    new worker.
    """
    log_cause(tape, EventKind.ROLL, p, n, -1)
    face = rolled = 0
    for k in range(n):
        old_face = old_faces >> 3 * k & 7 or -1
        if k == 0 and g["set_face"]:
            face = int(g["set_face"])
            log_event(tape, EventKind.FACE_SET, p, face, old_face)
        else:
            face = roll_die(g, tape)
            log_event(tape, EventKind.DIE, p, face, old_face)
        g["available"][p, face - 1] += 1
        rolled = with_face(rolled, k, face)
    g["set_face"] = 0
    g["roller"] = p
    lost = knowledge_check(g, tape, p)
    losses = 0
    for k in range(n):
        tile = int(FACE_PENALTY[rolled >> 3 * k & 7])
        if has_penalty(g, p, tile):
            losses += 1
            log_interruption(tape, EventKind.PENALTY, p, tile, -1)
    if lost:
        push_trigger(g, p, Trigger.LOST_WORKER)
    ben = int(g["recruit_place"][BEN]) - HELD
    if 0 <= ben < g["num_players"] and ben != p:
        push_trigger(g, ben, Trigger.OTHERS_ROLLED)
    if losses:
        goods = 0
        for item in range(len(GOODS)):
            goods += int(g["goods"][p, item])
        if goods:
            ask_series(g, p, Verb.LOSE, min(losses, goods), GOODS_SET, 0, 0)
    return face


@jit
def reroll(g, tape):
    """Rolls the workers that were returned, player by player, then a worker that was gained (R4.2, R4.8)."""
    for first in range(MAX_WORKERS):
        p = int(g["back_owner"][first])
        if p >= 0:
            push(g, Operation.REROLL, p, 0, 0)
            n = old_faces = 0
            for k in range(first, MAX_WORKERS):
                if g["back_owner"][k] == p:
                    old_faces = with_face(old_faces, n, int(g["back_face"][k]))
                    g["available"][p, int(g["back_face"][k]) - 1] -= 1
                    g["back_owner"][k] = -1
                    g["back_face"][k] = 0
                    n += 1
            roll(g, tape, p, n, old_faces)
            return
    if g["new_worker"]:
        p = int(g["turn_player"])
        g["new_worker"] = 0
        g["owned"][p] += 1
        log_cause(tape, EventKind.WORKER_GAINED, p, -1, -1)
        push_trigger(g, p, Trigger.NEW_WORKER)
        g["new_face"] = roll(g, tape, p, 1, 0)
