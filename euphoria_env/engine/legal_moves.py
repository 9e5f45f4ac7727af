"""Finds the legal moves of the decision that is asked, and takes its answer (R18)."""

from __future__ import annotations

import numpy as np

from euphoria_env import actions, board
from euphoria_env.cards.recruits import JACKO, JEFFERSON
from euphoria_env.cards.tiles import COURTHOUSE
from euphoria_env.decisions import Decision, Verb
from euphoria_env.engine.artifacts import discard_artifact
from euphoria_env.engine.bits import index_from
from euphoria_env.engine.costs import completable, units_of_item
from euphoria_env.engine.dilemma import can_resolve
from euphoria_env.engine.effects import gain_chosen
from euphoria_env.engine.jit import jit
from euphoria_env.engine.markers import take_goods
from euphoria_env.engine.move_set import SEVERAL, allow, allow_set, clear, only_legal
from euphoria_env.engine.placement_legality import open_spaces
from euphoria_env.engine.retrieval import AREA_WORKERS, on_board, take_worker, workers_elsewhere, workers_in_areas
from euphoria_env.engine.state import RETRIEVE_BLISS, RETRIEVE_ENERGY, RETRIEVE_FOOD, has_ability, has_penalty, seat_after
from euphoria_env.engine.trade import allow_offer, allow_offers, extend_offer
from euphoria_env.event_kinds import EventKind

# For each verb of a series, the action id of item 0, or for `DISCARD`, whose ids begin with the artifacts, what it would be.
_SERIES = {
    Verb.PAY: actions.PAY,
    Verb.GAIN: actions.GAIN,
    Verb.LOSE: actions.LOSE,
    Verb.DISCARD: actions.DISCARD - board.FIRST_ARTIFACT,
    Verb.MINE: actions.GAIN,
}
SERIES_ACTION = np.array([_SERIES[verb] for verb in Verb], np.int16)


@jit
def find_legal(g):
    """Finds the legal moves of the decision that is asked; returns the only one, `SEVERAL` or `NONE` (R18.1)."""
    words = g["legal"]
    clear(words)
    p = int(g["player"])
    asked = int(g["ask"])
    if asked == Decision.OPEN:
        allow_opening(g, words, p)
        return min(only_legal(words), SEVERAL)  # even a single move that opens a turn is asked for
    if asked == Decision.FURTHER:
        words[max(int(g["placed_face"]), 1) - 1] = open_spaces(g, p, int(g["due_morale"]))
        allow(words, actions.END)
        allow_offers(g, words, p)
    elif asked == Decision.SERIES:
        allow_series(g, words, p)
    elif asked == Decision.TAKE:
        allow_take(g, words, p)
    elif asked == Decision.USE:
        allow(words, actions.USE + int(g["card"]))
        allow(words, actions.SKIP)
        return SEVERAL
    elif asked == Decision.ARTIFACT_WAY or asked == Decision.DILEMMA_WAY:
        allow_way(g, words, p, asked)
    elif asked == Decision.TRADE:
        allow_offer(g, words)
    elif asked == Decision.REPLY:
        allow(words, actions.ACCEPT)
        allow(words, actions.REFUSE)
    else:
        allow_listed(g, words, p, asked)
    return only_legal(words)


@jit
def allow_listed(g, words, p, asked):
    """Allows the choices of decisions that offer faces, star places, workers, cards or steps of a track."""
    if asked == Decision.SET_FACE:
        for f in range(6):
            allow(words, actions.SET + f)
    elif asked == Decision.STAR:
        for place in range(len(board.STAR_PLACES)):
            if (int(g["set_a"]) >> place) & 1:
                allow(words, actions.STAR + place)
    elif asked == Decision.SACRIFICE:
        for k in range(int(g["num_taken"])):
            allow(words, actions.SACRIFICE + int(g["taken"][k]))
    elif asked == Decision.RECRUIT:
        for k in range(board.DEALT_RECRUITS):
            if g["hand"][p, k] >= 0:
                allow(words, actions.CHOOSE_RECRUIT + int(g["hand"][p, k]))
    elif asked == Decision.TILE:
        for k in range(board.DEALT_TILES):
            allow(words, actions.CHOOSE_TILE + int(g["tile_hand"][p, k]))
    elif asked == Decision.TRACK:
        allow_track(g, words, p)
    else:
        raise ValueError("no such decision")


@jit
def allow_opening(g, words, p):
    """Allows the moves that open a turn (R3.1)."""
    spaces = -1
    workers = 0
    for f in range(6):
        n = int(g["available"][p, f])
        if n:
            workers += n
            if spaces < 0:
                spaces = open_spaces(g, p, 0)
            words[f] = spaces
    if g["owned"][p] > workers:
        allow(words, actions.RETRIEVE)
        if g["goods"][p, board.FOOD]:
            allow(words, actions.RETRIEVE + RETRIEVE_FOOD)
        if g["goods"][p, board.BLISS]:
            allow(words, actions.RETRIEVE + RETRIEVE_BLISS)
        if g["goods"][p, board.ENERGY] and has_ability(g, p, JEFFERSON):
            allow(words, actions.RETRIEVE + RETRIEVE_ENERGY)
    if can_resolve(g, p):
        allow(words, actions.DILEMMA)
        allow(words, actions.DILEMMA + 1)
    allow_offers(g, words, p)


@jit
def allow_series(g, words, p):
    """Allows the next items of a series: not before the last one, and only if the series can be completed (R18.2)."""
    verb = int(g["verb"])
    units_a, set_a, units_b, set_b = int(g["units_a"]), int(g["set_a"]), int(g["units_b"]), int(g["set_b"])
    for item in range(int(g["last"]), len(board.ITEMS)):
        if ((set_a | set_b) >> item) & 1 and units_of_item(g, p, verb, item) > 0:
            g["chosen"][item] += 1
            if completable(g, p, verb, units_a, set_a, units_b, set_b, item):
                allow(words, int(SERIES_ACTION[verb]) + item)
            g["chosen"][item] -= 1


@jit
def allow_take(g, words, p):
    """Allows the workers that can be retrieved next: in the order of spaces, on one space in the order of faces (R18.2)."""
    n = int(g["num_taken"])
    first = int(g["taken"][n - 1]) if n else 0
    same = 0
    for k in range(n):
        same += g["taken"][k] == first
    if n and on_board(g, p, first) > same:
        allow(words, actions.TAKE + first)
    in_areas, elsewhere = workers_in_areas(g, p), workers_elsewhere(g, p)
    if n:
        in_areas &= -(1 << min(first + 1, AREA_WORKERS))
        elsewhere &= -(1 << max(first + 1 - AREA_WORKERS, 0))
        allow(words, actions.DONE)
    allow_set(words, actions.TAKE, in_areas)
    allow_set(words, actions.TAKE + AREA_WORKERS, elsewhere)


@jit
def allow_way(g, words, p, asked):
    """Allows the ways to pay 3 artifacts or a pair, or for the dilemma (R10.1, R12.6, R14.1)."""
    cards = int(g["hand_size"][p])
    if asked == Decision.DILEMMA_WAY:
        if g["artifacts"][p, int(g["dilemma"][p])]:
            allow(words, actions.PAY_MATCH)
        if cards >= 2:
            allow(words, actions.PAY_TWO)
        return
    for kind in range(len(board.ARTIFACTS)):
        if g["artifacts"][p, kind] >= 2 and not has_penalty(g, p, COURTHOUSE):
            allow(words, actions.PAY_PAIR + kind)
    if cards >= 3:
        allow(words, actions.PAY_THREE)
    if cards >= 1 and g["space"] == board.ARK and has_ability(g, p, JACKO):
        allow(words, actions.PAY_ONE)


@jit
def allow_track(g, words, p):
    """Allows the empty spaces of the tracks on which the player has no marker yet; the last player begins with morale (R17.3)."""
    last = seat_after(g, int(g["num_players"]) - 1)
    morale, knowledge = g["morale"][p] == 0, g["knowledge"][p] == 0
    for n in range(1, 7):
        free_morale = free_knowledge = True
        for q in range(int(g["num_players"])):
            free_morale &= g["morale"][q] != n
            free_knowledge &= g["knowledge"][q] != n
        if morale and free_morale:
            allow(words, actions.SET_MORALE + n - 1)
        if knowledge and free_knowledge and not (p == last and morale):
            allow(words, actions.SET_KNOWLEDGE + n - 1)


@jit
def answer(g, tape, action):
    """Takes the answer to a decision; a series continues until it is complete."""
    g["answer"] = action
    asked = int(g["ask"])
    if asked == Decision.SERIES:
        item = index_from(action, int(SERIES_ACTION[int(g["verb"])]), len(board.ITEMS))
        g["chosen"][item] += 1
        g["last"] = item
        n = 0
        for k in range(len(board.ITEMS)):
            n += int(g["chosen"][k])
        if n < int(g["units_a"]) + int(g["units_b"]):
            return
        g["ask"] = Decision.NOTHING
        finish_series(g, tape, int(g["player"]))
    elif asked == Decision.TAKE and action != actions.DONE:
        take_worker(g)
    elif asked != Decision.TRADE or extend_offer(g):
        g["ask"] = Decision.NOTHING


@jit
def finish_series(g, tape, p):
    """Carries out a complete series of gains, losses or discards; a payment is left to the operation that asked for it."""
    verb = int(g["verb"])
    if verb == Verb.GAIN or verb == Verb.MINE:
        gain_chosen(g, tape, p)
    elif verb == Verb.LOSE:
        for item in range(board.FIRST_ARTIFACT):
            if g["chosen"][item]:
                take_goods(g, tape, EventKind.LOST, p, item, int(g["chosen"][item]))
        g["chosen"][:] = 0
    elif verb == Verb.DISCARD:
        for kind in range(len(board.ARTIFACTS)):
            if g["chosen"][board.FIRST_ARTIFACT + kind]:
                discard_artifact(g, tape, EventKind.DISCARDED, p, kind, int(g["chosen"][board.FIRST_ARTIFACT + kind]))
        g["chosen"][:] = 0
    elif verb != Verb.PAY:
        raise ValueError("no such verb")
