"""`greedy[:SAMPLES]`: looks one decision ahead, and judges the positions by our hand-made evaluation.

SAMPLES is the number of deals, by default 9; fewer are faster, and hardly weaker.
"""

from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING

import numpy as np

from euphoria_agents.agent import Agent, Explanation, explanation
from euphoria_agents.players.search.evaluation import NUM_FEATURES, WEIGHTS, seat_chances
from euphoria_agents.players.search.playouts import play_out
from euphoria_env.actions import NUM_ACTIONS
from euphoria_env.board import MAX_PLAYERS
from euphoria_env.engine.byte_copies import pointer_to
from euphoria_env.engine.determinize import deal_hidden_row
from euphoria_env.engine.jit import entry
from euphoria_env.engine.legal_moves import answer
from euphoria_env.engine.loop import advance
from euphoria_env.engine.move_set import list_moves
from euphoria_env.engine.state import GAME_DTYPE, ROWS
from euphoria_env.engine.tape import TAPE, empty_tape

if TYPE_CHECKING:
    from euphoria_env import Game

SAMPLES, MOST_SAMPLES = 9, 1000
LONGEST_TURN = 200  # decisions; a turn that takes longer is judged before it ends


@entry(ROWS, "int64", TAPE, "int64[:] float64[:,:]")
def look_ahead(rows, seed, tape, chosen, values):  # type: ignore[no-untyped-def]
    """Writes the legal moves of the last row, and by move each seat's win probability, summed over deals; returns their number.

    The first row is workspace; every other row becomes a deal, at last the last one too. Each move is played in each deal, then
    the rest of the turn by the weights, and the evaluation judges the position.
    """
    root = rows[len(rows) - 1]
    moves, roulette = np.empty(NUM_ACTIONS, np.int64), np.empty(NUM_ACTIONS)
    features, chances = np.empty(NUM_FEATURES), np.empty(MAX_PLAYERS)
    n, p = list_moves(root["legal"], chosen), int(root["player"])
    values[:n] = 0.0
    players, quiet = int(root["num_players"]), pointer_to(tape, 0)
    for deal in range(1, len(rows)):
        rows[deal] = root
        deal_hidden_row(rows[deal], p, seed + deal)
        for k in range(n):
            rows[0] = rows[deal]
            g = rows[0]
            answer(g, quiet, int(chosen[k]))
            advance(g, quiet)
            play_out(g, quiet, moves, roulette, int(root["turn"]), LONGEST_TURN)
            seat_chances(g, WEIGHTS, features, chances)
            for q in range(players):
                values[k, q] += chances[q]
    return n


def make_greedy(argument: str = "") -> Greedy:
    """Returns the agent of a spec; `argument` is the number of deals, or empty.

    Raises:
        ValueError: the argument is not a number from 1 to MOST_SAMPLES.
    """
    if argument and not (re.fullmatch(r"[0-9]{1,9}", argument) and 1 <= int(argument) <= MOST_SAMPLES):
        raise ValueError(f"greedy:SAMPLES: the number of deals is one from 1 to {MOST_SAMPLES}, not {argument!r}")
    return Greedy(int(argument or SAMPLES))


class Greedy(Agent):
    """Plays the move with the best win probability at the end of the turn, whose rest the weights play.

    Args:
        samples: the number of deals of hidden cards and future dice; the deals are the same for all moves.
    """

    needs_game = True

    def __init__(self, samples: int = SAMPLES) -> None:
        self._rows = np.zeros(samples + 1, GAME_DTYPE)
        self._tape = empty_tape()
        self._moves, self._values = np.empty(NUM_ACTIONS, np.int64), np.empty((NUM_ACTIONS, MAX_PLAYERS))

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Game | None = None) -> int:
        """Chooses a move; see `Agent.act`.

        Raises:
            ValueError: no game is given, or it has ended.
        """
        moves, chances, mover = self._look_ahead(rng, game)
        return int(moves[chances[:, mover].argmax()])

    def explain(
        self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Game | None = None
    ) -> Explanation:
        """Returns the value of each move, and the win probabilities of the seats after the best one; see `Agent.explain`."""
        moves, chances, mover = self._look_ahead(copy.deepcopy(rng), game)
        values = chances[:, mover]
        return explanation(moves, values=values.tolist(), seats=chances[values.argmax()].tolist())

    def _look_ahead(self, rng: np.random.Generator, game: Game | None) -> tuple[np.ndarray, np.ndarray, int]:
        """Returns the legal moves, each seat's mean win probability after each of them (moves, players), and the mover."""
        if game is None or game.over or game.truncated:
            raise ValueError("a searching agent needs a game that has not ended")
        self._rows[-1] = game.states[0]
        seed, players, mover = int(rng.integers(2**62)), game.rules.num_players, game.player
        n = look_ahead(self._rows, seed, self._tape, self._moves, self._values)
        return self._moves[:n], self._values[:n, :players] / (len(self._rows) - 1), mover
