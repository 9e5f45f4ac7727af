"""Stars (authority tokens): placing them, and the reactions after all stars of one event are placed (R1.5, R4.12)."""

from __future__ import annotations

from euphoria_env.actions import STAR
from euphoria_env.board import ARTIFACT_SET, ARTIFACTS, BIT, ENERGY, FIRST_ARTIFACT, STAR_PLACES, TERRITORIES, TRACK_END, gain_set
from euphoria_env.cards.recruits import ESME
from euphoria_env.cards.tiles import THEATER
from euphoria_env.cards.vocabulary import CHOICES, Trigger
from euphoria_env.decisions import Decision, Verb
from euphoria_env.engine.artifacts import ask_discards
from euphoria_env.engine.bits import index_from
from euphoria_env.engine.jit import jit
from euphoria_env.engine.markers import gain_goods, gain_knowledge, gain_morale, lose_knowledge
from euphoria_env.engine.state import HELD, Operation, ask_for, ask_series, has_penalty, push, seat_after, update_penalties
from euphoria_env.engine.tape import log_event, log_interruption
from euphoria_env.event_kinds import EventKind

_BOOK = ARTIFACTS.index("book")
_KNOWLEDGE_OR_MORALE = gain_set("knowledge", "morale")
assert _KNOWLEDGE_OR_MORALE in CHOICES


@jit
def take_star(g, p):
    """Takes a star from a player's supply for the event under way; returns whether there was one."""
    if g["stars"][p] == 0:
        return False
    g["stars"][p] -= 1
    g["fresh_stars"][p] += 1
    return True


@jit
def territory_has_room(g, faction):
    """Returns whether a territory has a free star space (R2.4)."""
    n = 0
    for p in range(int(g["num_players"])):
        n += g["territory"][faction, p]
    return n < g["num_players"]


@jit
def star_on_market(g, tape, p, market):
    """Puts a taken star on a built market, which ends its penalty for the player (R9.4)."""
    log_event(tape, EventKind.STAR, p, len(TERRITORIES) + market, -1)
    g["market_stars"][market] |= 1 << p
    update_penalties(g)


@jit
def star_on_recruit(g, tape, p, card):
    """Places a star on a recruit, if it never had one and the player has one left (R7.6)."""
    if not (g["starred"] >> card) & 1 and take_star(g, p):
        g["starred"] |= BIT[card]
        log_event(tape, EventKind.STAR_ON_RECRUIT, p, card, -1)


@jit
def star_in_territory(g, tape, p, faction):
    """Places the star of a built market, the wind salon or the nimbus loft, if there is room (R10.2, R11.1)."""
    if territory_has_room(g, faction) and take_star(g, p):
        g["territory"][faction, p] += 1
        log_event(tape, EventKind.STAR, p, faction, -1)
        g["star_placed"] = 1
        push(g, Operation.STAR_REACTIONS, p, 0, 0)


@jit
def star_in_region(g, p, faction):
    """Asks where the star of an artifact market goes: in the territory, or on a built market that lacks it (R10.1)."""
    places = 0
    if territory_has_room(g, faction):
        places = 1 << faction
    for market in (2 * faction, 2 * faction + 1):
        if g["built"][market] and not (int(g["market_stars"][market]) >> p) & 1:
            places |= 1 << (len(TERRITORIES) + market)
    if places and g["stars"][p] > 0:
        g["set_a"] = places
        push(g, Operation.STAR_CHOSEN, p, faction, 0)
        ask_for(g, Decision.STAR, p)


@jit
def star_chosen(g, tape, p, faction):
    """Places the star at the chosen place."""
    place = index_from(g["answer"], STAR, len(STAR_PLACES))
    if place < len(TERRITORIES):
        star_in_territory(g, tape, p, faction)
    elif take_star(g, p):
        star_on_market(g, tape, p, place - len(TERRITORIES))
        g["star_placed"] = 1
        push(g, Operation.STAR_REACTIONS, p, 0, 0)


@jit
def star_reactions(g, tape):
    """Reacts to all stars of one event: the Theater acts, then Esme is asked for each star of her owner (R4.12, R12.5)."""
    for k in range(int(g["num_players"])):
        p = seat_after(g, k)
        if g["fresh_stars"][p] and has_penalty(g, p, THEATER) and g["knowledge"][p] < TRACK_END:
            log_interruption(tape, EventKind.PENALTY, p, THEATER, -1)
            gain_knowledge(g, tape, p, int(g["fresh_stars"][p]))
    owner = int(g["recruit_place"][ESME]) - HELD
    for p in range(int(g["num_players"])):
        if p == owner:
            for _ in range(int(g["fresh_stars"][p])):
                push(g, Operation.TRIGGER, p, Trigger.STAR, 0)
        g["fresh_stars"][p] = 0


@jit
def bargain(g, p):
    """Asks Esme's owner for an artifact to discard."""
    push(g, Operation.BARGAIN_CHOSEN, p, 0, 0)
    ask_discards(g, p, 1, ARTIFACT_SET)


@jit
def bargain_chosen(g, tape, p):
    """Gives Esme's owner the gain for the discarded card; a book counts double and leaves no choice."""
    if g["last"] == FIRST_ARTIFACT + _BOOK:
        gain_goods(g, tape, p, ENERGY, 2)
        lose_knowledge(g, tape, p, 2)
        gain_morale(g, tape, p, 2)
    else:
        gain_goods(g, tape, p, ENERGY, 1)
        ask_series(g, p, Verb.GAIN, 1, _KNOWLEDGE_OR_MORALE, 0, 0)
