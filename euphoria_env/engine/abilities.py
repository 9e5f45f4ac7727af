"""Recruits: lets their abilities act if trigger, condition and price allow it (R13, R4.11); `cards.recruits` lists them."""

from __future__ import annotations

from euphoria_env import board
from euphoria_env.actions import USE
from euphoria_env.cards import recruits
from euphoria_env.cards.vocabulary import Price, Trigger, When
from euphoria_env.engine.jit import jit
from euphoria_env.engine.markers import add_goods, has_room, pay_knowledge, pay_morale, take_goods
from euphoria_env.engine.state import (
    PAID_ARTIFACT,
    PAID_FOOD_FOR_BLISS,
    PAID_GOLD,
    PAID_ONE_ARTIFACT,
    RETRIEVE_FREE,
    Operation,
    ask_use,
    enabled_recruits,
    has_ability,
    member,
    push,
    push_program,
)
from euphoria_env.engine.tape import log_cause, log_event, log_interruption
from euphoria_env.event_kinds import EventKind


@jit
def trigger(g, tape, p, event, slot):
    """Lets a player's recruits act on a trigger, from recruit `slot` on, in the order in which they became active."""
    cards = enabled_recruits(g, p)
    if not cards & recruits.TRIGGER_CARDS[event]:
        return
    for k in range(slot, int(g["num_active"][p])):
        card = int(g["recruits"][p, k])
        row = int(recruits.ROW[event, card])
        if row >= 0 and (cards >> card) & 1 and may_act(g, p, row):
            push(g, Operation.TRIGGER, p, event, k + 1)
            if recruits.ROW_MAY[row]:
                push(g, Operation.ABILITY_ANSWERED, p, row, 0)
                ask_use(g, p, card)
            else:
                log_cause(tape, EventKind.ABILITY, p, card, recruits.ROW_NUMBER[row])
                start_ability(g, p, row)
            return


@jit
def may_act(g, p, row):
    """Returns whether an ability can act here: the space, the condition (R13.8) and the price allow it."""
    event = recruits.ROW_TRIGGER[row]
    if (event == Trigger.PLACED or event == Trigger.BUMPED) and not (recruits.ROW_AT[row] >> int(g["space"])) & 1:
        return False
    return (
        holds(g, p, int(recruits.ROW_WHEN[row]))
        and has_room(g, p, int(recruits.ROW_MORALE[row]), int(recruits.ROW_KNOWLEDGE[row]))
        and affords(g, p, int(recruits.ROW_PRICE[row]))
    )


@jit
def start_ability(g, p, row):
    """Pushes the effects of an ability; the hand limit follows them unless the ability interrupts another event (R5.6)."""
    if recruits.ROW_TRIGGER[row] != Trigger.STAR:
        push(g, Operation.LIMITS, p, 0, 0)
    push_program(g, recruits.ROW_PROGRAM, row, p)


@jit
def ability_answered(g, tape, p, row):
    """Uses an ability if the player chose to; the price is paid in the order morale, knowledge, goods (R13.10)."""
    card = int(recruits.ROW_CARD[row])
    if g["answer"] != USE + card:
        log_event(tape, EventKind.DECLINED, p, card, -1)
        return
    if recruits.ROW_TRIGGER[row] == Trigger.STAR:  # the ability acts in the middle of what gave the star
        log_interruption(tape, EventKind.ABILITY, p, card, recruits.ROW_NUMBER[row])
    else:
        log_cause(tape, EventKind.ABILITY, p, card, recruits.ROW_NUMBER[row])
    if recruits.ROW_MORALE[row]:
        pay_morale(g, tape, p, int(recruits.ROW_MORALE[row]))
    if recruits.ROW_KNOWLEDGE[row]:
        pay_knowledge(g, tape, p, int(recruits.ROW_KNOWLEDGE[row]))
    pay_price(g, tape, p, int(recruits.ROW_PRICE[row]))
    start_ability(g, p, row)


@jit
def pay_price(g, tape, p, price):
    """Takes the part of a price about which there is no choice; the effects of the ability take the rest."""
    if price == Price.ENERGY:
        take_goods(g, tape, EventKind.PAID, p, board.ENERGY, 1)
    elif price == Price.GOLD_TO_BUMPED:
        take_goods(g, tape, EventKind.GIVEN, p, board.GOLD, 1)
        add_goods(g, tape, EventKind.RECEIVED, int(g["bumped"]), board.GOLD, 1)
    elif price == Price.BLISS or price == Price.ARTIFACT or price == Price.PLACED_WORKER or price == Price.RETRIEVED_WORKER:
        return
    elif price != Price.NONE:
        raise ValueError("no such price")


@jit
def affords(g, p, price):
    """Returns whether a player has what an ability costs besides morale and knowledge."""
    if price == Price.NONE:
        return True
    if price == Price.ENERGY:
        return g["goods"][p, board.ENERGY] > 0
    if price == Price.BLISS:
        return g["goods"][p, board.BLISS] > 0 or (g["goods"][p, board.FOOD] > 0 and has_ability(g, p, recruits.BRIAN) != 0)
    if price == Price.GOLD_TO_BUMPED:
        return g["goods"][p, board.GOLD] > 0
    if price == Price.ARTIFACT:
        return g["hand_size"][p] > 0
    if price == Price.PLACED_WORKER:
        return g["owned"][p] > 1
    if price == Price.RETRIEVED_WORKER:
        return g["owned"][p] > 1 and g["num_taken"] > 0
    raise ValueError("no such price")


@jit
def holds(g, p, when):
    """Returns whether a condition holds now (R13.3, R13.8)."""
    if when == When.ALWAYS:
        return True
    if when == When.NO_ARTIFACT:
        return g["hand_size"][p] == 0
    if when == When.NO_RESOURCE:
        return g["goods"][p, board.FIRST_RESOURCE :].sum() == 0
    if when == When.SAME_FACE or when == When.ALONE or when == When.HIGHEST or when == When.LOWEST:
        return compares(g, when)
    if when == When.WITHOUT_BUMPING:
        return g["bumped"] < 0
    if when == When.STAR_PLACED:
        return g["star_placed"] != 0
    if when == When.PAID_GOLD:
        return g["paid"] & PAID_GOLD != 0
    if when == When.PAID_ARTIFACT:
        return g["paid"] & PAID_ARTIFACT != 0
    if when == When.PAID_ONE_ARTIFACT:
        return g["paid"] & PAID_ONE_ARTIFACT != 0
    if when == When.PAID_FOOD_FOR_BLISS:
        return g["paid"] & PAID_FOOD_FOR_BLISS != 0
    if when == When.TOOK_RESOURCE:
        return g["took_resource"] != 0 and g["hand_size"][p] == 0
    if when == When.BUMPED_HIGHER:
        return g["bumped_face"] > g["placed_face"]
    if when == When.BUMPED_NO_SUBTERRAN:
        return not member(g, int(g["bumped"]), board.SUBTERRAN)
    if when == When.ROLLER_SHOWS_PAIR:
        most = 0
        for f in range(6):
            most = max(most, int(g["available"][int(g["roller"]), f]))
        return most >= 2
    if when == When.FREE_RETRIEVAL:
        return g["payment"] == RETRIEVE_FREE and g["num_taken"] > 0
    if when == When.ALL_FROM_SUBTERRA:
        return g["all_subterra"] != 0
    raise ValueError("no such condition")


@jit
def compares(g, when):
    """Returns whether the placed worker, in its area or site, is alone, highest, lowest or of another's face (R13.3)."""
    mine = int(g["placed_face"])
    lowest, highest, same, others = 7, 0, 0, -1  # -1, since the loop counts the placed worker too
    space = int(g["space"])
    if space < board.NUM_AREAS:
        for f in range(1, 7):
            n = 0
            for q in range(int(g["num_players"])):
                n += int(g["area"][space, q, f - 1])
            others += n
            if f == mine:
                same = n - 1
            elif n:
                lowest, highest = min(lowest, f), max(highest, f)
    else:
        first = space - (space - board.FIRST_SLOT) % board.SLOTS_PER_SITE
        for s in range(first, first + board.SLOTS_PER_SITE):
            if g["occupant"][s] >= 0:
                f = int(g["face"][s])
                others += 1
                same += f == mine and s != space
                if f != mine:
                    lowest, highest = min(lowest, f), max(highest, f)
    if when == When.SAME_FACE:
        return same > 0
    if when == When.ALONE:
        return others == 0
    if when == When.HIGHEST:
        return same == 0 and highest < mine
    if when == When.LOWEST:
        return same == 0 and lowest > mine
    raise ValueError("no such comparison")
