"""The loop that carries out what is pending until somebody has a real choice, and the entry points of the engine."""

from __future__ import annotations

from euphoria_env.board import ARTIFACT_SET
from euphoria_env.cards.vocabulary import Effect
from euphoria_env.decisions import Decision
from euphoria_env.engine.abilities import ability_answered, trigger
from euphoria_env.engine.allegiance import activate_revealed
from euphoria_env.engine.artifacts import ask_discards, draw_answered, limits
from euphoria_env.engine.byte_copies import borrowed, pointer_to
from euphoria_env.engine.chance import random_below, seed_rng
from euphoria_env.engine.construction import construct
from euphoria_env.engine.dilemma import dilemma_paid, dilemma_recruit, dilemma_way_chosen, recruit_kept
from euphoria_env.engine.effects import apply_effect, bliss_paid, face_set
from euphoria_env.engine.end import end_check
from euphoria_env.engine.jit import entry, jit
from euphoria_env.engine.legal_moves import answer, find_legal
from euphoria_env.engine.move_set import NONE, count_legal, is_legal, nth_legal
from euphoria_env.engine.placement import close, paid, pay, way_chosen
from euphoria_env.engine.retrieval import hypnosis_answered, retrieve_paid, retrieve_roll, sacrificed
from euphoria_env.engine.rolls import reroll
from euphoria_env.engine.row_checks import check
from euphoria_env.engine.setup import (
    begin_setup,
    choose_recruits,
    deal_tiles,
    draft,
    drafted,
    lay_tiles,
    recruit_chosen,
    tile_chosen,
    track,
    track_set,
)
from euphoria_env.engine.stars import bargain_chosen, star_chosen, star_reactions
from euphoria_env.engine.state import OVER, ROWS, SETUP, Operation
from euphoria_env.engine.tape import TAPE, log_event
from euphoria_env.engine.trade import offered, replied
from euphoria_env.engine.turn import chase, clear_pending, further, further_answered, next_turn, open_turn, opened
from euphoria_env.event_kinds import EventKind

_FIRST_OPERATION = len(Effect)
_MOST_FORCED = 10_000  # forced answers between two decisions; more come only from an impossible row


@jit
def carry_out(g, tape, op, p, a, b):
    """Carries out one operation; the most frequent ones are tested first."""
    if op < _FIRST_OPERATION:
        apply_effect(g, tape, op, p, a, b)
    elif op == Operation.LIMITS:
        limits(g, tape)
    elif op == Operation.TRIGGER:
        trigger(g, tape, p, a, b)
    elif op == Operation.ABILITY_ANSWERED:
        ability_answered(g, tape, p, a)
    elif op == Operation.PAY:
        pay(g, tape, p)
    elif op == Operation.WAY_CHOSEN:
        way_chosen(g, p)
    elif op == Operation.PAID:
        paid(g, tape, p)
    elif op == Operation.CONSTRUCT:
        construct(g, tape, p)
    elif op == Operation.END_CHECK:
        end_check(g, tape)
    elif op == Operation.CLOSE:
        close(g, tape, p)
    elif op == Operation.REROLL:
        reroll(g, tape)
    elif op == Operation.ACTIVATE:
        activate_revealed(g, tape, p)
    elif op == Operation.FURTHER:
        further(g, p, a, b)
    elif op == Operation.FURTHER_ANSWERED:
        further_answered(g, tape, p, a, b)
    elif op == Operation.NEXT_TURN:
        next_turn(g, tape)
    elif op == Operation.OPENED:
        opened(g, tape, p)
    else:
        carry_out_rare(g, tape, op, p, a, b)


@jit
def carry_out_rare(g, tape, op, p, a, b):
    """Carries out one operation of an ability, a retrieval, the dilemma or a trade."""
    if op == Operation.CHASE:
        chase(g, p)
    elif op == Operation.DRAW_ANSWERED:
        draw_answered(g, tape, p, a, b)
    elif op == Operation.GEEK_DISCARD:
        ask_discards(g, p, 2, ARTIFACT_SET)
    elif op == Operation.STAR_CHOSEN:
        star_chosen(g, tape, p, a)
    elif op == Operation.STAR_REACTIONS:
        star_reactions(g, tape)
    elif op == Operation.BARGAIN_CHOSEN:
        bargain_chosen(g, tape, p)
    elif op == Operation.FACE_SET:
        face_set(g)
    elif op == Operation.BLISS_PAID:
        bliss_paid(g, tape, p)
    elif op == Operation.SACRIFICED:
        sacrificed(g, tape, p)
    elif op == Operation.RETRIEVE_PAID:
        retrieve_paid(g, tape, p)
    elif op == Operation.HYPNOSIS_ANSWERED:
        hypnosis_answered(g, tape, p)
    elif op == Operation.RETRIEVE_ROLL:
        retrieve_roll(g, tape, p)
    elif op == Operation.DILEMMA_WAY_CHOSEN:
        dilemma_way_chosen(g, p)
    elif op == Operation.DILEMMA_PAID:
        dilemma_paid(g, tape, p, a)
    elif op == Operation.DILEMMA_RECRUIT:
        dilemma_recruit(g, tape, p)
    elif op == Operation.RECRUIT_KEPT:
        recruit_kept(g, tape, p)
    elif op == Operation.OFFERED:
        offered(g, tape, p)
    elif op == Operation.REPLIED:
        replied(g, tape, p)
    else:
        carry_out_setup(g, tape, op, p, a)


@jit
def carry_out_setup(g, tape, op, p, a):
    """Carries out one operation of the setup."""
    if op == Operation.DRAFT:
        draft(g, tape, p, a)
    elif op == Operation.DRAFTED:
        drafted(g, tape, p, a)
    elif op == Operation.CHOOSE_RECRUITS:
        choose_recruits(g, tape, p, a)
    elif op == Operation.RECRUIT_CHOSEN:
        recruit_chosen(g, tape, p, a)
    elif op == Operation.DEAL_TILES:
        deal_tiles(g, tape, p)
    elif op == Operation.TILE_CHOSEN:
        tile_chosen(g, tape, p)
    elif op == Operation.LAY_TILES:
        lay_tiles(g, tape)
    elif op == Operation.TRACK:
        track(g, tape, p)
    elif op == Operation.TRACK_SET:
        track_set(g, tape, p)
    else:
        raise ValueError("no such operation")


@jit
def refuse():
    """Refuses to play on."""
    raise ValueError("the game cannot go on: its row is impossible")


@jit
def advance(g, tape):
    """Carries out what is pending until a player has a real choice, or the game has ended (R18.1).

    Raises:
        ValueError: the player who is asked has no legal move, or nobody is ever asked.
    """
    decider, turn, left = int(g["player"]), g["turn"], _MOST_FORCED
    while g["status"] < OVER:
        if g["ask"] != Decision.NOTHING:
            only = find_legal(g)
            if only < 0:
                g["answer"] = 0
                if g["player"] != (decider if g["turn"] == turn else g["turn_player"]):
                    log_event(tape, EventKind.ASKED, g["player"], -1, -1)
                if only == NONE:
                    refuse()
                return
            left -= 1  # operations alone come to an end
            if left == 0:
                refuse()
            answer(g, tape, only)
        elif g["depth"] == 0:  # this happens only after a trade: the turn player is asked again
            open_turn(g)
        else:
            depth = int(g["depth"]) - 1
            g["depth"] = depth
            entry_ = g["stack"][depth]
            op, p, a, b = int(entry_[0]), int(entry_[1]), int(entry_[2]), int(entry_[3])
            entry_[:] = 0
            carry_out(g, tape, op, p, a, b)
    # After the end nobody has a legal move and nothing is pending; `player` keeps the last player who had a choice.
    clear_pending(g)
    g["player"] = decider
    g["legal"][:] = 0


@entry(ROWS, "int64 int64 int64 int64", TAPE)
def new_game(games, i, a, b, c, tape):
    """Sets up game i, whose row holds its rules and is zero otherwise, and seeds its generator from three integers."""
    g, tape = games[i], pointer_to(tape, 0)
    seed_rng(g["rng"], a, b, c)
    begin_setup(g, tape)
    advance(g, tape)


@entry(ROWS, "int64", TAPE)
def resume(games, i, tape):
    """Finds the legal moves of game i, whose row was filled from outside; begins its setup or turn if no decision is asked."""
    check(games, i)
    g, tape = games[i], pointer_to(tape, 0)
    if g["ask"] != Decision.NOTHING:
        find_legal(g)
        return
    if g["status"] == SETUP and g["depth"] == 0:
        begin_setup(g, tape)
    advance(g, tape)


@entry(ROWS, "int64 int64", TAPE)
def step(games, i, action, tape):
    """Plays a move in game i; returns False, and changes nothing, if it is illegal."""
    check(games, i)
    g, tape = games[i], pointer_to(tape, 0)
    if not is_legal(g["legal"], action):
        return False
    answer(g, tape, action)
    advance(g, tape)
    return True


@entry(ROWS, "int64 int64 int64[:]", TAPE)
def random_play(games, i, decisions, rng, tape):
    """Plays up to `decisions` random moves in game i with the generator `rng` (int64[2]); returns how many it played."""
    check(games, i)
    g, rng, tape = games[i], borrowed(rng), pointer_to(tape, 0)
    for n in range(decisions):
        moves = count_legal(g["legal"])
        if moves == 0:
            return n
        answer(g, tape, nth_legal(g["legal"], random_below(rng, moves)))
        advance(g, tape)
    return decisions
