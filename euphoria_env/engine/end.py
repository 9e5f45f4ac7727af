"""The end of the game: the tenth star, tie-breaks, ranking (R16)."""

from __future__ import annotations

import numpy as np

from euphoria_env.board import FACTIONS, NUM_MARKETS, STARS
from euphoria_env.engine.bits import lowest_bit
from euphoria_env.engine.chance import draw_lot, roll_die
from euphoria_env.engine.jit import jit
from euphoria_env.engine.rolls import with_face
from euphoria_env.engine.state import OVER, TRUNCATED, stars_missing
from euphoria_env.engine.tape import log_cause, log_event
from euphoria_env.event_kinds import NAMES, EventKind

_UNITS = np.array([4096, 512, 64, 8, 1], np.int64)  # the weight of each comparison in the score, in order
_MOST_ROLLS = 1000  # so many ties in a row happen only if the generator stands still
_BY_ROLL, _BY_LOT = len(_UNITS), len(_UNITS) + 1
assert len(NAMES["tie-break"]) == _BY_LOT + 1


@jit
def tie_break_score(g, p):
    """Returns a number to compare players by R16.2 and R16.3: stars, morale, knowledge, markets and territories with a star."""
    markets = territories = 0
    for k in range(NUM_MARKETS):
        markets += (int(g["market_stars"][k]) >> p) & 1
    for f in range(len(FACTIONS)):
        territories += g["territory"][f, p] > 0
    value = 8 * (STARS - int(g["stars"][p])) + int(g["morale"][p])
    value = 8 * value + 7 - int(g["knowledge"][p])
    return 64 * value + 8 * markets + territories


@jit
def rank_by_score(g):
    """Ranks everybody; equal players share a rank (R16.3)."""
    n = int(g["num_players"])
    for p in range(n):
        better = 0
        for q in range(n):
            better += tie_break_score(g, q) > tie_break_score(g, p)
        g["ranking"][p] = 1 + better


@jit
def clear_end(g, status):
    """Ends the game with this status, and clears all that is pending."""
    g["status"] = status
    g["depth"] = 0
    g["stack"][:] = 0
    g["ask"] = 0


@jit
def truncate(g, tape):
    """Cuts the game off, without a winner (R16.4)."""
    rank_by_score(g)
    log_cause(tape, EventKind.CUT_OFF, -1, -1, -1)
    log_ranks(g, tape)
    clear_end(g, TRUNCATED)


@jit
def roll_off(g, tape, tied):
    """Lets tied players roll until one has the lowest sum, and returns that player (R16.2); draws a lot after `_MOST_ROLLS`."""
    n = int(g["num_players"])
    by, rolls = -1, 0
    while tied & (tied - 1):
        rolls += 1
        by = _BY_ROLL
        lowest, winners = 99, 0
        for p in range(n):
            if not (tied >> p) & 1:
                continue
            workers = total = faces = 0
            for f in range(6):
                for _ in range(int(g["available"][p, f])):
                    faces = with_face(faces, workers, f + 1)
                    workers += 1
                g["available"][p, f] = 0
            log_cause(tape, EventKind.ROLL, p, workers, -1)
            for k in range(workers):
                face = roll_die(g, tape)
                log_event(tape, EventKind.DIE, p, face, faces >> 3 * k & 7)
                g["available"][p, face - 1] += 1
                total += face
            if total < lowest:
                lowest, winners = total, 0
            if total == lowest:
                winners |= 1 << p
        tied = winners
        if (lowest == 0 or rolls == _MOST_ROLLS) and tied & (tied - 1):
            by = _BY_LOT
            tied = 1 << draw_lot(g, tape, tied)
    winner = lowest_bit(tied)
    if by >= 0:
        log_event(tape, EventKind.TIE_BROKEN, winner, by, -1)
    return winner


@jit
def log_ranks(g, tape):
    """Logs the final ranks."""
    for p in range(int(g["num_players"])):
        log_event(tape, EventKind.RANK, p, g["ranking"][p], -1)


@jit
def log_tie_break(g, tape, winner):
    """Logs which comparison decided between the winner and the others who have placed enough stars, if there are any."""
    by = -1
    for p in range(int(g["num_players"])):
        if p != winner and stars_missing(g, p) == 0:
            k = 0  # the first comparison in which they differ
            while tie_break_score(g, p) // _UNITS[k] == tie_break_score(g, winner) // _UNITS[k]:
                k += 1
            by = max(by, k)
    if by >= 0:
        log_event(tape, EventKind.TIE_BROKEN, winner, by, -1)


@jit
def end_check(g, tape):
    """Ends the game if somebody has placed as many stars as win it (R16.1, R17.5)."""
    n = int(g["num_players"])
    fewest = STARS
    for p in range(n):
        fewest = min(fewest, stars_missing(g, p))
    if fewest:
        return
    rank_by_score(g)
    tied = 0
    for p in range(n):
        if g["ranking"][p] == 1:
            tied |= 1 << p
    winner = roll_off(g, tape, tied)
    if tied & (tied - 1) == 0:
        log_tie_break(g, tape, winner)
    for p in range(n):
        if (tied >> p) & 1 and p != winner:
            g["ranking"][p] = 2
    g["winner"] = winner
    log_cause(tape, EventKind.WON, winner, -1, -1)
    log_ranks(g, tape)
    clear_end(g, OVER)
