"""A win in hand: moves of one player that win in this turn for certain, whatever is hidden, drawn or rolled.

Breadth first, the moves of the player who decides are played on copies of the game, in which all that they cannot know is dealt
again with a fixed seed; so games that they cannot tell apart have the same answer (R19). Their last star must be placed before
anything is drawn, rolled or shown, and before anybody else decides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from euphoria_env.actions import NUM_ACTIONS
from euphoria_env.board import FIRST_ARTIFACT, STARS
from euphoria_env.engine.byte_copies import borrowed, pointer_to
from euphoria_env.engine.determinize import deal_hidden_row
from euphoria_env.engine.jit import entry, jit
from euphoria_env.engine.legal_moves import answer
from euphoria_env.engine.loop import advance
from euphoria_env.engine.move_set import list_moves
from euphoria_env.engine.state import GAME_DTYPE, OVER, ROWS, stars_missing
from euphoria_env.engine.tape import TAPE, TAPE_EVENTS, TAPE_FIRST, empty_tape, forget_events
from euphoria_env.event_kinds import EVENT_SIZE, KIND_ROWS, EventKind
from euphoria_env.observations import start_of

if TYPE_CHECKING:
    from euphoria_agents.agent import Explanation
    from euphoria_env import Game

NEAR = 3  # the most missing stars with which a win is looked for
_MOST_ROWS, _MOST_MOVES = 256, 1000  # of one search: it takes at most about 1 ms, and finds the same everywhere
_EVENTS = 128  # of one move
_SAFE = 3  # missing stars that another player cannot all place by what is drawn until the end is checked; a tile gives none
_STARS_LEFT, _TO_WIN = start_of("player_0.stars"), start_of("stars_to_win")
_OPENS = (EventKind.SHUFFLED, EventKind.REVEALED, EventKind.OFFER)  # what follows may depend on hidden cards
_UNSURE = np.array([bool(row.outcome or row.secret) or kind in _OPENS for kind, row in KIND_ROWS.items()])


def sure_win(game: Game) -> int:
    """Returns the first move of a shortest way to win in this turn for certain, the lowest of several; -1 if none is found."""
    rows = np.empty(_MOST_ROWS + 1, GAME_DTYPE)
    rows[:1].view(np.uint8)[:] = game.states.view(np.uint8)
    return int(find_sure_win(rows, empty_tape(_EVENTS)))


def take_sure_wins(moves: np.ndarray, observations: np.ndarray, deal: Callable[[int], Game]) -> None:
    """Puts sure wins in place of other moves; `deal(k)` returns the game of decision k, determinized for its player."""
    for k in np.flatnonzero(observations[:, _STARS_LEFT] + observations[:, _TO_WIN] <= STARS + NEAR).tolist():
        if (win := sure_win(deal(k))) >= 0:
            moves[k] = win


def explain_sure_win(found: Explanation, game: Game) -> Explanation:
    """Returns an explanation after a sure win, if there is one, got the value 1 and all visits, or else the probability 1."""
    win = sure_win(game)
    for move in found["moves"] if win >= 0 else ():
        if move["visits"] is None:
            move["prior"] = float(move["action"] == win)
        if move["action"] == win:
            move["value"], found["seats"] = 1.0, [float(seat == game.player) for seat in range(game.rules.num_players)]
    if win >= 0 and found["moves"][0]["visits"] is not None:
        visits = sum(move["visits"] or 0 for move in found["moves"])
        for move in found["moves"]:
            move["visits"] = visits * (move["action"] == win)
    return found


@entry(ROWS, TAPE)
def find_sure_win(rows, tape):  # type: ignore[no-untyped-def]
    """Returns what `sure_win` does, for the first row; the others have room for the positions that are reached."""
    rows, tape = borrowed(rows), pointer_to(tape, 0)
    first, moves = np.empty(len(rows), np.int64), np.empty(NUM_ACTIONS, np.int64)
    p, turn = int(rows[0]["player"]), rows[0]["turn"]
    deal_hidden_row(rows[0], p, 0)
    known, left, k = 1, _MOST_MOVES, 0
    while k < known and stars_missing(rows[0], p) <= NEAR:
        for move in moves[: min(left, list_moves(rows[k]["legal"], moves))]:
            left -= 1
            g = rows[known]
            rows[known] = rows[k]
            first[known] = first[k] if k else move
            forget_events(tape)
            answer(g, tape, move)
            advance(g, tape)
            if wins(g, tape, p, stars_missing(rows[k], p)):
                return first[known]
            on = tape[TAPE_EVENTS] >= 0 and g["status"] < OVER and g["player"] == p and g["turn"] == turn
            known += on and known < len(rows) - 1
        k += 1
    return -1


@jit
def wins(g, tape, p, missing):  # type: ignore[no-untyped-def]
    """Returns whether a move has won for certain for player p, to whom stars were missing; marks the tape if it is unsure."""
    at, events, drawn, built, late = int(tape[TAPE_FIRST]), int(tape[TAPE_EVENTS]), False, False, False
    for _ in range(min(events, _EVENTS)):
        kind, own = int(tape[at]), tape[at + 1] == p
        forced = not own and tape[at + 2] >= FIRST_ARTIFACT and (kind == EventKind.PAID or kind == EventKind.DISCARDED)
        drawn = forced or _UNSURE[kind] or drawn
        late = (built and kind != EventKind.RETURNED and kind != EventKind.STAR) or late  # the tile may have changed it
        built = kind == EventKind.BUILT or built
        missing -= own and EventKind.STAR <= kind <= EventKind.STAR_ON_DILEMMA and not (drawn or late)
        at += EVENT_SIZE
    if drawn or built or events > _EVENTS:
        tape[TAPE_EVENTS] = -1
    if missing > 0 or events > _EVENTS:
        return False
    safe, needed = True, _SAFE if drawn else 1
    for q in range(int(g["num_players"])):
        safe = safe and (q == p or stars_missing(g, q) >= needed)
    return safe or (not drawn and not built and g["status"] == OVER and g["winner"] == p)
