"""The ethical dilemma: a player pays an artifact of its type, or any two, for a star or a recruit (R14)."""

from __future__ import annotations

from euphoria_env.actions import CHOOSE_RECRUIT, DILEMMA, PAY_MATCH
from euphoria_env.board import ARTIFACT_SET, FIRST_ARTIFACT, MAX_RECRUITS
from euphoria_env.cards.recruits import FACTION_OF, NUM_RECRUITS
from euphoria_env.decisions import Decision, Verb
from euphoria_env.engine.allegiance import activate, revealed_factions
from euphoria_env.engine.bits import index_from
from euphoria_env.engine.chance import RECRUIT_CARDS, draw_card
from euphoria_env.engine.jit import jit
from euphoria_env.engine.placement import take_chosen
from euphoria_env.engine.stars import take_star
from euphoria_env.engine.state import HELD, OUT_BY, RESOLVED_RECRUIT, RESOLVED_STAR, Operation, ask_for, ask_series, push
from euphoria_env.engine.tape import log_cause, log_event
from euphoria_env.event_kinds import EventKind


@jit
def can_resolve(g, p):
    """Returns whether a player may resolve their dilemma now."""
    return g["resolved"][p] == 0 and (g["hand_size"][p] >= 2 or g["artifacts"][p, int(g["dilemma"][p])] >= 1)


@jit
def resolve_dilemma(g, p):
    """Asks how the dilemma is paid, after `star` or `recruit` was chosen."""
    push(g, Operation.NEXT_TURN, p, 0, 0)
    push(g, Operation.END_CHECK, p, 0, 0)
    push(g, Operation.LIMITS, p, 0, 0)  # R4.8; with the cards that there are, nothing after the payment lowers morale or draws
    push(g, Operation.DILEMMA_PAID, p, RESOLVED_STAR + index_from(g["answer"], DILEMMA, 2), 0)
    push(g, Operation.DILEMMA_WAY_CHOSEN, p, 0, 0)
    ask_for(g, Decision.DILEMMA_WAY, p)


@jit
def dilemma_way_chosen(g, p):
    """Takes the artifact of the dilemma, or asks for any two."""
    if g["answer"] == PAY_MATCH:
        g["chosen"][FIRST_ARTIFACT + int(g["dilemma"][p])] = 1
    else:
        ask_series(g, p, Verb.PAY, 2, ARTIFACT_SET, 0, 0)


@jit
def dilemma_paid(g, tape, p, resolution):
    """Takes the payment, then places the star or draws the recruits to choose from."""
    log_cause(tape, EventKind.DILEMMA, p, g["dilemma"][p], resolution)
    take_chosen(g, tape, p)
    g["resolved"][p] = resolution
    if resolution == RESOLVED_RECRUIT:
        push(g, Operation.DILEMMA_RECRUIT, p, 0, 0)
    else:
        push(g, Operation.STAR_REACTIONS, p, 0, 0)
        if take_star(g, p):
            log_event(tape, EventKind.STAR_ON_DILEMMA, p, -1, -1)


@jit
def dilemma_recruit(g, tape, p):
    """Draws 2 recruits, or as many as there are, and asks which one is kept."""
    n = 0
    for _ in range(2):
        card = draw_card(g, tape, g["recruit_place"], RECRUIT_CARDS)
        if card >= 0:
            g["hand"][p, n] = card
            g["recruit_place"][card] = HELD + p
            log_event(tape, EventKind.RECRUIT_DEALT, p, card, -1)
            n += 1
    if n:
        push(g, Operation.RECRUIT_KEPT, p, 0, 0)
        ask_for(g, Decision.RECRUIT, p)


@jit
def recruit_kept(g, tape, p):
    """Keeps the chosen recruit, active at once if its faction is revealed; the other one goes out of the game."""
    card = index_from(g["answer"], CHOOSE_RECRUIT, NUM_RECRUITS)
    for k in range(2):
        other = int(g["hand"][p, k])
        if other >= 0 and other != card:
            g["recruit_place"][other] = OUT_BY + p
            log_event(tape, EventKind.RECRUIT_OUT, p, other, -1)
        g["hand"][p, k] = -1
    slot = index_from(g["num_recruits"][p], 0, MAX_RECRUITS)
    g["recruits"][p, slot] = card
    g["num_recruits"][p] = slot + 1
    log_event(tape, EventKind.RECRUIT_KEPT, p, card, -1)
    if (revealed_factions(g) >> int(FACTION_OF[card])) & 1:
        push(g, Operation.STAR_REACTIONS, p, 0, 0)
        activate(g, tape, p, slot)


assert RESOLVED_STAR == 1 and RESOLVED_RECRUIT == 2
