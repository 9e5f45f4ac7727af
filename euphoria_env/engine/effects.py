"""Applies the effects of a card or a space to a player (`cards.vocabulary`)."""

from __future__ import annotations

from euphoria_env import board
from euphoria_env.actions import SET
from euphoria_env.cards.recruits import BRIAN
from euphoria_env.cards.spaces import TUNNEL_RESOURCE
from euphoria_env.cards.tiles import LABORATORY
from euphoria_env.cards.vocabulary import CHOICE_SETS, Effect
from euphoria_env.decisions import Decision, Verb
from euphoria_env.engine.allegiance import advance_allegiance
from euphoria_env.engine.artifacts import draw_artifacts, future
from euphoria_env.engine.bits import index_from
from euphoria_env.engine.jit import jit
from euphoria_env.engine.markers import gain_goods, gain_knowledge, gain_morale, lose_knowledge, lose_morale, take_goods
from euphoria_env.engine.stars import bargain, star_in_region, star_in_territory
from euphoria_env.engine.state import Operation, ask_for, ask_series, has_ability, has_bonus, has_penalty, push, seat_after
from euphoria_env.engine.tape import log_event, log_interruption, log_resumption
from euphoria_env.engine.tunnels import move_miner, tunnel_choice, tunnel_of
from euphoria_env.event_kinds import EventKind


@jit
def apply_effect(g, tape, effect, p, a, b):
    """Carries out one effect on a player."""
    if effect != Effect.BARGAIN:
        log_resumption(tape, p)
    if effect == Effect.MORALE:
        if a > 0:
            gain_morale(g, tape, p, a)
        else:
            lose_morale(g, tape, p, -a)
    elif effect == Effect.KNOWLEDGE:
        if a > 0:
            gain_knowledge(g, tape, p, a)
        else:
            lose_knowledge(g, tape, p, -a)
    elif effect == Effect.GOODS:
        gain_goods(g, tape, p, a, b)
    elif effect == Effect.CHOOSE:
        ask_series(g, p, Verb.GAIN, b, int(CHOICE_SETS[a]), 0, 0)
    elif effect == Effect.DRAW:
        draw_artifacts(g, tape, p, a, 0)
    elif effect == Effect.AREA:
        commodity_area(g, tape, p)
    elif effect == Effect.TUNNEL_RESOURCE:
        gain_goods(g, tape, p, int(TUNNEL_RESOURCE[tunnel_of(g)]), a)
    elif effect == Effect.TUNNEL_CHOICE:
        tunnel_choice(g, tape, p)
    elif effect == Effect.MINER:
        move_miner(g, tape, p, tunnel_of(g))
    elif effect == Effect.ADVANCE:
        advance_allegiance(g, tape, p, a)
    elif effect == Effect.STAR_IN_TERRITORY:
        star_in_territory(g, tape, p, a)
    elif effect == Effect.STAR_IN_REGION:
        star_in_region(g, p, a)
    else:
        apply_special_effect(g, tape, effect, p)


@jit
def apply_special_effect(g, tape, effect, p):
    """Carries out an effect on workers or on other players, or an effect that only one card has."""
    if effect == Effect.ICARITE_BONUS:
        icarite_bonus(g, tape, p)
    elif effect == Effect.NEW_WORKER:
        new_worker(g, tape, p)
    elif effect == Effect.SET_FACE:
        push(g, Operation.FACE_SET, p, 0, 0)
        ask_for(g, Decision.SET_FACE, p)
    elif effect == Effect.TAKE_FACE:
        if g["set_face"] == 0:
            g["set_face"] = g["placed_face"]
    elif effect == Effect.PAY_BLISS:
        push(g, Operation.BLISS_PAID, p, 0, 0)
        ask_series(g, p, Verb.PAY, 1, (1 << board.BLISS) | ((1 << board.FOOD) if has_ability(g, p, BRIAN) else 0), 0, 0)
    elif effect == Effect.SACRIFICE_PLACED:
        sacrifice_placed(g, tape, p)
    elif effect == Effect.SACRIFICE_RETRIEVED:
        push(g, Operation.SACRIFICED, p, 0, 0)
        ask_for(g, Decision.SACRIFICE, p)
    elif effect == Effect.BUMPED_KNOWLEDGE:
        gain_knowledge(g, tape, int(g["bumped"]), 1)
    elif effect == Effect.OTHERS_THERE:
        others_there(g, tape, p)
    elif effect == Effect.OPPONENTS_DRAW:
        opponents_draw(g, p)
    elif effect == Effect.OPPONENTS_BLISS:
        opponents_bliss(g, tape, p)
    elif effect == Effect.BUILDER:
        builder(g, tape, p)
    elif effect == Effect.BARGAIN:
        bargain(g, p)
    elif effect == Effect.FUTURE:
        future(g, tape, p)
    else:
        raise ValueError("no such effect")


@jit
def icarite_bonus(g, tape, p):
    """Draws the artifact of the Icarite bonus, if the star was placed (R7.3)."""
    if g["star_placed"] and has_bonus(g, p, board.ICARITE, 5):
        log_event(tape, EventKind.BONUS, p, board.ICARITE, 5)
        draw_artifacts(g, tape, p, 1, 0)


@jit
def new_worker(g, tape, p):
    """Notes that a worker is gained later (R4.8), unless the player has 4 or the Laboratory forbids it (R6.3, R12.6)."""
    owned = int(g["owned"][p])
    g["new_worker"] = owned < board.MAX_WORKERS
    if g["new_worker"] and owned >= 2 and has_penalty(g, p, LABORATORY):
        g["new_worker"] = 0
        log_interruption(tape, EventKind.PENALTY, p, LABORATORY, -1)


@jit
def sacrifice_placed(g, tape, p):
    """Puts the placed worker back into the supply (Chase, R13.4)."""
    space = int(g["space"])
    log_event(tape, EventKind.SACRIFICED, p, space, g["face"][space])
    g["occupant"][space] = -1
    g["face"][space] = 0
    g["owned"][p] -= 1


@jit
def opponents_draw(g, p):
    """Lets every other player draw an artifact, in turn order (Jacko)."""
    for k in range(int(g["num_players"]) - 1, -1, -1):
        if seat_after(g, k) != p:
            push(g, Effect.DRAW, seat_after(g, k), 1, 0)


@jit
def opponents_bliss(g, tape, p):
    """Gives every other player 1 bliss (Zong)."""
    for q in range(int(g["num_players"])):
        if q != p:
            gain_goods(g, tape, q, board.BLISS, 1)


@jit
def builder(g, tape, p):
    """Gives Ray's owner 2 morale if they helped to build; otherwise takes 2 knowledge from them."""
    if (int(g["helped"]) >> p) & 1:
        gain_morale(g, tape, p, 2)
    else:
        lose_knowledge(g, tape, p, 2)


@jit
def gain_chosen(g, tape, p):
    """Gives what was chosen in a series of gains; knowledge that was chosen is lost, not gained."""
    for item in range(len(board.GOODS)):
        if g["chosen"][item]:
            gain_goods(g, tape, p, item, int(g["chosen"][item]))
    if g["chosen"][board.GAIN_MORALE]:
        gain_morale(g, tape, p, int(g["chosen"][board.GAIN_MORALE]))
    if g["chosen"][board.GAIN_KNOWLEDGE]:
        lose_knowledge(g, tape, p, int(g["chosen"][board.GAIN_KNOWLEDGE]))
    artifacts = int(g["chosen"][board.GAIN_ARTIFACT])
    if g["verb"] == Verb.MINE:
        g["took_resource"] = artifacts == 0
    g["chosen"][:] = 0
    draw_artifacts(g, tape, p, artifacts, 0)


@jit
def commodity_area(g, tape, p):
    """Gives what a commodity area gives for the sum of all faces there (R6.1, R7.2)."""
    area = index_from(g["space"], 0, board.NUM_AREAS)
    total = 0
    for q in range(int(g["num_players"])):
        for f in range(6):
            total += (f + 1) * int(g["area"][area, q, f])
    gain_goods(g, tape, p, area, 2 if total >= 9 else 1)
    if has_bonus(g, p, area, 2):
        log_event(tape, EventKind.BONUS, p, area, 2)
        gain_goods(g, tape, p, area, 1)
    if total <= 4:
        advance_allegiance(g, tape, p, area)
    elif total <= 8:
        lose_knowledge(g, tape, p, 1)
    else:
        gain_knowledge(g, tape, p, 1)


@jit
def others_there(g, tape, p):
    """Gives every other player with a worker in the commodity area 1 knowledge (Josiah)."""
    area = index_from(g["space"], 0, board.NUM_AREAS)
    for q in range(int(g["num_players"])):
        n = 0
        for f in range(6):
            n += int(g["area"][area, q, f])
        if n and q != p:
            gain_knowledge(g, tape, q, 1)


@jit
def bliss_paid(g, tape, p):
    """Takes the bliss that Amanda costs, or the food that Brian's owner chose to pay instead."""
    if g["chosen"][board.FOOD]:
        log_event(tape, EventKind.WAY, p, BRIAN, -1)
    for item in range(len(board.GOODS)):
        if g["chosen"][item]:
            take_goods(g, tape, EventKind.PAID, p, item, int(g["chosen"][item]))
    g["chosen"][:] = 0


@jit
def face_set(g):
    """Stores the chosen face, which one worker of the next roll will show."""
    g["set_face"] = index_from(g["answer"], SET, 6) + 1
