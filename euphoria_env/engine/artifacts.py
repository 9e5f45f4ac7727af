"""Artifact cards: drawing, the recruits that change a draw, and the hand limit (R5.6, R5.7, R4.11)."""

from __future__ import annotations

from euphoria_env.actions import USE
from euphoria_env.board import ARTIFACT_SET, ARTIFACTS, FIRST_ARTIFACT, TRACK_END
from euphoria_env.cards.recruits import GAMBLER, GEEK
from euphoria_env.cards.vocabulary import Effect
from euphoria_env.decisions import Verb
from euphoria_env.engine.chance import draw_artifact
from euphoria_env.engine.jit import jit
from euphoria_env.engine.markers import pay_knowledge
from euphoria_env.engine.state import USED_GAMBLER, USED_GEEK, Operation, ask_series, ask_use, has_ability, push, seat_after
from euphoria_env.engine.tape import log_event, log_interruption
from euphoria_env.event_kinds import EventKind


@jit
def move_artifact(g, p, kind, n):
    """Puts n cards of a type into a hand; a negative n takes cards out."""
    g["artifacts"][p, kind] += n
    g["hand_size"][p] += n


@jit
def discard_artifact(g, tape, event, p, kind, n):
    """Moves n cards of a type from a hand to the discards, and logs it as this kind of event: PAID or DISCARDED."""
    move_artifact(g, p, kind, -n)
    g["discards"][kind] += n
    log_event(tape, event, p, FIRST_ARTIFACT + kind, n)


@jit
def draw_plain(g, tape, p):
    """Draws one card without asking anybody; returns its type, or -1 if there is none."""
    kind = draw_artifact(g, tape)
    if kind >= 0:
        move_artifact(g, p, kind, 1)
        log_event(tape, EventKind.DRAWN, p, kind, -1)
    else:
        log_event(tape, EventKind.NONE_LEFT, p, -1, -1)
    return kind


@jit
def draw_artifacts(g, tape, p, n, slot):
    """Draws n cards one at a time; before each, the owner of Geek or the Gambler is asked, from recruit `slot` on (R4.11)."""
    while n > 0:
        for k in range(slot, int(g["num_active"][p])):
            card = int(g["recruits"][p, k])
            used = int(g["used"][p])
            if (card == GEEK and not used & USED_GEEK and g["knowledge"][p] < TRACK_END and has_ability(g, p, GEEK)) or (
                card == GAMBLER and not used & USED_GAMBLER and has_ability(g, p, GAMBLER)
            ):
                push(g, Operation.DRAW_ANSWERED, p, n, k)
                ask_use(g, p, card)
                return
        draw_plain(g, tape, p)
        n -= 1
        slot = 0


@jit
def draw_answered(g, tape, p, n, slot):
    """Continues a draw: Geek or the Gambler draws several cards in place of one, if the player chose so."""
    card = int(g["recruits"][p, slot])
    if g["answer"] != USE + card:
        log_event(tape, EventKind.DECLINED, p, card, -1)
        draw_artifacts(g, tape, p, n, slot + 1)
        return
    log_interruption(tape, EventKind.ABILITY, p, card, -1)
    push(g, Effect.DRAW, p, n - 1, 0)
    if card == GEEK:
        g["used"][p] |= USED_GEEK
        pay_knowledge(g, tape, p, 1)
        for _ in range(3):
            draw_plain(g, tape, p)
        push(g, Operation.GEEK_DISCARD, p, 0, 0)
        return
    g["used"][p] |= USED_GAMBLER
    for _ in range(2):
        draw_plain(g, tape, p)
    if max_of_a_type(g, p) >= 2:
        for k in range(int(g["num_players"])):
            q = seat_after(g, k)
            if q != p:
                draw_plain(g, tape, q)


@jit
def max_of_a_type(g, p):
    """Returns the most cards of one type in a hand."""
    most = 0
    for kind in range(len(ARTIFACTS)):
        most = max(most, int(g["artifacts"][p, kind]))
    return most


@jit
def ask_discards(g, p, n, items):
    """Asks a player to discard n cards of a set of items, or all such cards if there are fewer."""
    n = min(n, int(g["hand_size"][p]))
    if n > 0:
        ask_series(g, p, Verb.DISCARD, n, items, 0, 0)


@jit
def future(g, tape, p):
    """Draws 2 cards for Bradley's owner and asks which of them to discard, unless the deck had fewer (R5.7)."""
    first = draw_plain(g, tape, p)
    second = draw_plain(g, tape, p)
    if second >= 0:
        ask_discards(g, p, 1, (1 << (FIRST_ARTIFACT + first)) | (1 << (FIRST_ARTIFACT + second)))


@jit
def limits(g, tape):
    """Asks everybody who holds too many cards to discard, in turn order (R5.6, R4.8)."""
    n = int(g["num_players"])
    over = False
    for p in range(n):
        over |= g["hand_size"][p] > g["morale"][p]
    if not over:
        return
    for k in range(n):
        p = seat_after(g, k)
        excess = int(g["hand_size"][p]) - int(g["morale"][p])
        if excess > 0:
            log_interruption(tape, EventKind.HAND_LIMIT, p, excess, -1)
            push(g, Operation.LIMITS, p, 0, 0)
            ask_discards(g, p, excess, ARTIFACT_SET)
            return
