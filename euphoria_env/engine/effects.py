"""What the steps of a card or a space do to a player (the vocabulary of `cards.vocabulary`)."""

from __future__ import annotations

from euphoria_env.actions import SET as SET_ACTION
from euphoria_env.asks import GAIN, MINE, PAY, SACRIFICE, SET_FACE
from euphoria_env.board import (
    BLISS,
    FOOD,
    GAIN_ARTIFACT,
    GAIN_KNOWLEDGE,
    GAIN_MORALE,
    GOODS,
    ICARITE,
    MAX_WORKERS,
)
from euphoria_env.cards.recruits import BRIAN
from euphoria_env.cards.spaces import TUNNEL_RESOURCE
from euphoria_env.cards.tiles import LABORATORY
from euphoria_env.cards.vocabulary import CHOICE_SETS
from euphoria_env.engine.allegiance import advance, move_miner, tunnel_of
from euphoria_env.engine.artifacts import draw, future
from euphoria_env.engine.jit import jit
from euphoria_env.engine.markers import gain_knowledge, gain_morale, lose_knowledge, lose_morale
from euphoria_env.engine.stars import bargain, star_in_region, star_in_territory
from euphoria_env.engine.state import (
    DO_ADVANCE,
    DO_AREA,
    DO_BARGAIN,
    DO_BUILDER,
    DO_BUMPED_KNOWLEDGE,
    DO_CHOOSE,
    DO_DRAW,
    DO_FUTURE,
    DO_GOODS,
    DO_ICARITE_BONUS,
    DO_KNOWLEDGE,
    DO_MINER,
    DO_MORALE,
    DO_NEW_WORKER,
    DO_OPPONENTS_BLISS,
    DO_OPPONENTS_DRAW,
    DO_OTHERS_THERE,
    DO_PAY_BLISS,
    DO_SACRIFICE_PLACED,
    DO_SET_FACE,
    DO_STAR_IN_REGION,
    DO_STAR_IN_TERRITORY,
    DO_TAKE_FACE,
    DO_TUNNEL_CHOICE,
    DO_TUNNEL_RESOURCE,
    OP_BLISS_PAID,
    OP_FACE_SET,
    OP_SACRIFICED,
    ask,
    ask_series,
    bonus,
    has,
    push,
    seat_after,
    under,
)


@jit
def apply_effect(g, tape, effect, p, a, b):
    """Carries out one effect on a player."""
    if effect == DO_MORALE:
        if a > 0:
            gain_morale(g, p, a)
        else:
            lose_morale(g, p, -a)
    elif effect == DO_KNOWLEDGE:
        if a > 0:
            gain_knowledge(g, p, a)
        else:
            lose_knowledge(g, p, -a)
    elif effect == DO_GOODS:
        g["goods"][p, a] += b
    elif effect == DO_CHOOSE:
        ask_series(g, p, GAIN, b, int(CHOICE_SETS[a]), 0, 0)
    elif effect == DO_DRAW:
        draw(g, tape, p, a, 0)
    elif effect == DO_AREA:
        commodity_area(g, p)
    elif effect == DO_TUNNEL_RESOURCE:
        g["goods"][p, int(TUNNEL_RESOURCE[tunnel_of(g)])] += a
    elif effect == DO_TUNNEL_CHOICE:
        tunnel_choice(g, tape, p)
    elif effect == DO_MINER:
        move_miner(g, tunnel_of(g))
    elif effect == DO_ADVANCE:
        advance(g, p, a)
    elif effect == DO_STAR_IN_TERRITORY:
        star_in_territory(g, p, a)
    elif effect == DO_STAR_IN_REGION:
        star_in_region(g, p, a)
    elif effect == DO_ICARITE_BONUS:
        if g["star_placed"] and bonus(g, p, ICARITE, 5):
            draw(g, tape, p, 1, 0)
    elif effect == DO_NEW_WORKER:
        owned = int(g["owned"][p])
        g["new_worker"] = owned < MAX_WORKERS and not (owned >= 2 and under(g, p, LABORATORY))
    elif effect == DO_SET_FACE:
        push(g, OP_FACE_SET, p, 0, 0)
        ask(g, SET_FACE, p)
    elif effect == DO_TAKE_FACE:
        if g["set_face"] == 0:
            g["set_face"] = g["placed_face"]
    elif effect == DO_PAY_BLISS:
        push(g, OP_BLISS_PAID, p, 0, 0)
        ask_series(g, p, PAY, 1, (1 << BLISS) | ((1 << FOOD) if has(g, p, BRIAN) else 0), 0, 0)
    elif effect == DO_SACRIFICE_PLACED:
        g["occupant"][int(g["space"])] = -1
        g["face"][int(g["space"])] = 0
        g["owned"][p] -= 1
    elif effect == DO_BUMPED_KNOWLEDGE:
        gain_knowledge(g, int(g["bumped"]), 1)
    elif effect == DO_OTHERS_THERE:
        others_there(g, p)
    elif effect == DO_OPPONENTS_DRAW:
        for k in range(int(g["num_players"]) - 1, -1, -1):
            if seat_after(g, k) != p:
                push(g, DO_DRAW, seat_after(g, k), 1, 0)
    elif effect == DO_OPPONENTS_BLISS:
        for q in range(int(g["num_players"])):
            if q != p:
                g["goods"][q, BLISS] += 1
    elif effect == DO_BUILDER:
        if (int(g["helped"]) >> p) & 1:
            gain_morale(g, p, 2)
        else:
            lose_knowledge(g, p, 2)
    elif effect == DO_BARGAIN:
        bargain(g, p)
    elif effect == DO_FUTURE:
        future(g, tape, p)
    else:  # DO_SACRIFICE_RETRIEVED
        push(g, OP_SACRIFICED, p, 0, 0)
        ask(g, SACRIFICE, p)


@jit
def gain_chosen(g, tape, p):
    """Gives what was chosen in a series of gains; chosen knowledge is lost."""
    for item in range(len(GOODS)):
        g["goods"][p, item] += g["chosen"][item]
    if g["chosen"][GAIN_MORALE]:
        gain_morale(g, p, int(g["chosen"][GAIN_MORALE]))
    if g["chosen"][GAIN_KNOWLEDGE]:
        lose_knowledge(g, p, int(g["chosen"][GAIN_KNOWLEDGE]))
    artifacts = int(g["chosen"][GAIN_ARTIFACT])
    if g["verb"] == MINE:
        g["took_resource"] = artifacts == 0
    g["chosen"][:] = 0
    draw(g, tape, p, artifacts, 0)


@jit
def commodity_area(g, p):
    """A commodity area: the sum of all faces there decides (R6.1, R7.2)."""
    area = int(g["space"])
    total = 0
    for q in range(int(g["num_players"])):
        for f in range(6):
            total += (f + 1) * int(g["area"][area, q, f])
    n = 2 if total >= 9 else 1
    g["goods"][p, area] += n + bonus(g, p, area, 2)
    if total <= 4:
        advance(g, p, area)
    elif total <= 8:
        lose_knowledge(g, p, 1)
    else:
        gain_knowledge(g, p, 1)


@jit
def tunnel_choice(g, tape, p):
    """A tunnel's gain: its resource or an artifact; with the bonus both, the resource first (R8.1, R7.3)."""
    tunnel = tunnel_of(g)
    resource = int(TUNNEL_RESOURCE[tunnel])
    if bonus(g, p, tunnel, 5):
        g["goods"][p, resource] += 1
        g["took_resource"] = 1
        draw(g, tape, p, 1, 0)
    else:
        ask_series(g, p, MINE, 1, (1 << resource) | (1 << GAIN_ARTIFACT), 0, 0)


@jit
def others_there(g, p):
    """Josiah: every other player with a worker in the commodity area gains 1 knowledge."""
    area = int(g["space"])
    for q in range(int(g["num_players"])):
        n = 0
        for f in range(6):
            n += int(g["area"][area, q, f])
        if n and q != p:
            gain_knowledge(g, q, 1)


@jit
def bliss_paid(g, p):
    """Takes the bliss, or the food in its place, of Amanda."""
    for item in range(len(GOODS)):
        g["goods"][p, item] -= g["chosen"][item]
    g["chosen"][:] = 0


@jit
def face_set(g):
    """Notes the face that the next roll gives to one worker."""
    g["set_face"] = int(g["answer"]) - SET_ACTION + 1
