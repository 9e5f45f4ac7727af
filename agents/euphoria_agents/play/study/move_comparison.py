"""Compares two moves by playouts with common random numbers, to tell how certain it is that one is worse."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from euphoria_agents.play.study.decision_analysis import best_of, rounded
from euphoria_agents.players.ppo import PPO, make_ppo
from euphoria_agents.training.play_kernels import NOBODY
from euphoria_agents.training.self_play import dealt_again, play_until, winners
from euphoria_env.actions import NAMES
from euphoria_env.engine.loop import step
from euphoria_env.engine.tape import empty_tape

AT_ONCE = 32  # pairs of playouts between two looks at the clock
CERTAIN = 0.95  # the least certainty with which a move is called a mistake
INTERVAL = 1.96  # standard errors on each side of a mean in which it lies with a probability of 95 %


def moves_to_compare(entry: dict[str, Any]) -> tuple[int, int]:
    """Returns the move played and the best move of an entry of an analysis; raises a `ValueError` if they are the same."""
    played, best = entry["played"], best_of(entry["moves"])[0]
    if played == best:
        why = "only one move is legal" if len(entry["moves"]) == 1 else "the best move was played"
        raise ValueError(f"decision {entry['ply']}: {why}, so there is nothing to compare")
    return played, best


def compare(
    state: np.ndarray, moves: tuple[int, int], seed: Sequence[int], pairs: int, seconds: float = math.inf
) -> dict[str, Any]:
    """Compares two moves by pairs of playouts, in which `ppo` plays on at all seats.

    Both playouts of a pair have the same deal of what the player who decides cannot know (R19), and the same generators of dice,
    draws and moves. A playout counts 1 if that player wins, and an equal share if it is cut off.

    Args:
        state: (1,), the state before the decision, typed as `Game.states`.
        moves: the move played and a better one.
        seed: integers from 0; equal ones give equal results for equal numbers of pairs.
        pairs: how many pairs to play, 1 or more.
        seconds: the time for others after the first `AT_ONCE`.

    Returns:
        `pairs`, how many were played; `difference`, how much more often the better move won, from -1 to 1; `margin`, the half
        width of its 95 % interval; `certainty`, the probability that the move played is worse; `certain`, whether that is at
        least `CERTAIN`.

    Raises:
        ValueError: a move is illegal, or no network ships with this version.
    """
    agent, found, end = make_ppo(), np.zeros(0), math.inf
    while len(found) < pairs and time.monotonic() < end:
        chance = *seed, AT_ONCE + len(found)  # no numbers that `Analysis` uses
        played, better = (_results(agent, state, move, chance) for move in moves)
        found = np.append(found, better - played)[:pairs]
        end = min(end, time.monotonic() + seconds)  # begins here, since compiled code may have been loaded
    return _summary(found)


def _results(agent: PPO, state: np.ndarray, move: int, seed: Sequence[int]) -> np.ndarray:
    """Returns the results of playouts after a move for the player who decides, float64 (AT_ONCE,)."""
    rng, tape = np.random.default_rng(seed), empty_tape()
    rows = dealt_again(state, AT_ONCE, rng)
    for i in range(AT_ONCE):
        if not step(rows, i, move, tape):
            raise ValueError(f"the move {NAMES[move]!r} is illegal here")
    play_until(agent, rows, rng, np.full(AT_ONCE, NOBODY))
    winner = winners(rows)
    return np.where(winner < 0, 1 / int(state["num_players"][0]), winner == state["player"][0])


def _summary(differences: np.ndarray) -> dict[str, Any]:
    """Returns the result for the differences of some pairs, of which each is from -1 to 1.

    Two pairs are added, one half of each possible kind (Agresti and Min 2005), so that a few equal pairs make nothing certain.
    """
    n, total = len(differences), float(differences.sum())
    spread = math.sqrt(float((differences**2).sum()) + 1 - total**2 / (n + 2))
    certainty = (1 + math.erf(total / spread / math.sqrt(2))) / 2
    return {
        "pairs": n,
        "difference": rounded(total / n),
        "margin": rounded(INTERVAL * spread / (n + 2)),
        "certainty": rounded(certainty),
        "certain": certainty >= CERTAIN,
    }
