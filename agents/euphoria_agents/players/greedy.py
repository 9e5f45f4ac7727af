"""`greedy[:SAMPLES]`: looks one decision ahead, and judges the positions by our hand-made evaluation.

SAMPLES is the number of deals, by default 9; fewer are faster, and hardly weaker.
"""

from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING

import numpy as np

from euphoria_agents.agent import Agent, Explanation, explanation
from euphoria_agents.players.search.evaluation import WEIGHTS, seat_chances
from euphoria_agents.players.search.playouts import play_out
from euphoria_env.actions import NUM_ACTIONS
from euphoria_env.board import MAX_PLAYERS
from euphoria_env.engine.byte_copies import pointer_to
from euphoria_env.engine.determinize import deal_hidden_row
from euphoria_env.engine.features import NUM_FEATURES
from euphoria_env.engine.jit import array, entry, jit
from euphoria_env.engine.legal_moves import answer
from euphoria_env.engine.loop import advance
from euphoria_env.engine.move_set import list_moves
from euphoria_env.engine.row_checks import check
from euphoria_env.engine.state import GAME_DTYPE
from euphoria_env.engine.tape import TAPE, empty_tape

if TYPE_CHECKING:
    from euphoria_env import Game

SAMPLES, MOST_SAMPLES = 9, 1000
LONGEST_TURN = 200  # decisions; a turn that takes longer is judged before it ends


@jit
def judge_moves(root, deals, seed, tape, chosen, n):  # type: ignore[no-untyped-def]
    """Returns what the n legal moves `chosen` are worth, float64 (n, P): each seat's win probability, summed over the deals.

    Each move is played in each deal of the cards that the mover cannot know, then the rest of the turn by the weights, and the
    evaluation judges the position.
    """
    rows, values = np.zeros(2, GAME_DTYPE), np.zeros((n, int(root["num_players"])))
    moves, weights = np.empty(NUM_ACTIONS, np.int64), np.empty(NUM_ACTIONS)
    features, chances, deal, g = np.empty(NUM_FEATURES), np.empty(MAX_PLAYERS), rows[0], rows[1]
    for number in range(1, deals + 1):
        rows[0] = root
        deal_hidden_row(deal, int(root["player"]), seed + number)
        for k in range(n):
            rows[1] = deal
            answer(g, tape, int(chosen[k]))
            advance(g, tape)
            play_out(g, tape, moves, weights, int(root["turn"]), LONGEST_TURN)
            seat_chances(g, WEIGHTS, features, chances)
            for q in range(values.shape[1]):
                values[k, q] += chances[q]
    return values


@entry(array(GAME_DTYPE, read_only=True), "int64 int64", TAPE, "int64[:] float64[:,:]")
def look_ahead(rows, deals, seed, tape, chosen, values):  # type: ignore[no-untyped-def]
    """Writes the legal moves of the first row, and what they are worth by `judge_moves`; returns their number."""
    check(rows, 0)
    n, players = list_moves(rows[0]["legal"], chosen), int(rows[0]["num_players"])
    found = judge_moves(rows[0], deals, seed, pointer_to(tape, 0), chosen, n)
    for k in range(n):
        values[k, :players] = found[k]
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

    needs_game = keeps_games_apart = True
    compiled = "euphoria_agents.players.compiled"

    def __init__(self, samples: int = SAMPLES) -> None:
        self.samples = samples
        self._tape, self._moves = empty_tape(), np.empty(NUM_ACTIONS, np.int64)

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
        seed, players, values = int(rng.integers(2**62)), game.rules.num_players, np.empty((NUM_ACTIONS, MAX_PLAYERS))
        n = look_ahead(game.states, self.samples, seed, self._tape, self._moves, values)
        return self._moves[:n], values[:n, :players] / self.samples, game.player
