"""Asking agents for their moves: the one place where an agent meets a game, and where its answers are checked."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from euphoria_env.actions import NAMES, NUM_ACTIONS
from euphoria_env.game import Game, IllegalMove


def ask(
    agent: Any, observations: np.ndarray, masks: np.ndarray, rng: np.random.Generator, deal: Callable[[int], Game]
) -> tuple[np.ndarray, float]:
    """The moves of an agent in some decisions, in one batch where it can.

    Args:
        agent: an object with `act(observation, mask, rng, game)`; without `needs_game` it is called without a game, and may have
            `act_batch(observations, masks, rng)`.
        observations: int8 (N, OBS_SIZE).
        masks: bool or int8 (N, NUM_ACTIONS), the legal moves.
        rng: what the agent draws from.
        deal: gives the game of decision k, determinized for its seat (R19); called only if the agent wants it.

    Returns:
        The moves, int64 (N,), and how many seconds the agent thought.

    Raises:
        IllegalMove: an answer is not legal, or no move at all; names the agent. What the agent itself raises gets a note that
            names it.
    """
    seconds = 0.0
    try:
        if getattr(agent, "needs_game", False):
            answers = []
            for k in range(len(observations)):
                game = deal(k)
                began = time.perf_counter()
                answers.append(agent.act(observations[k], masks[k], rng, game))
                seconds += time.perf_counter() - began
        else:
            began = time.perf_counter()
            if hasattr(agent, "act_batch"):
                answers = agent.act_batch(observations, masks, rng)
            else:
                answers = [agent.act(o, m, rng) for o, m in zip(observations, masks, strict=True)]
            seconds = time.perf_counter() - began
    except Exception as error:
        error.add_note(f"raised by the agent {agent_name(agent)}")
        raise
    return _checked(agent, answers, masks), seconds


def agent_name(agent: Any) -> str:
    """The class of an agent, to say whose fault something is."""
    return f"{type(agent).__module__}.{type(agent).__qualname__}"


def _checked(agent: Any, answers: Any, masks: np.ndarray) -> np.ndarray:
    """Answers as moves, once each is legal."""
    moves = np.asarray(answers)
    if moves.shape != (len(masks),) or moves.dtype.kind not in "iu":
        raise IllegalMove(f"the agent {agent_name(agent)} must answer with {len(masks)} action ids, not {answers!r}")
    known = (moves >= 0) & (moves < NUM_ACTIONS)
    legal = known & (masks[np.arange(len(moves)), np.where(known, moves, 0)] != 0)
    if not legal.all():
        k = int(legal.argmin())
        answer = NAMES[moves[k]] if known[k] else int(moves[k])
        allowed = ", ".join(NAMES[action] for action in np.flatnonzero(masks[k]))
        raise IllegalMove(f"the agent {agent_name(agent)} answered {answer!r}, which is illegal; legal are {allowed}")
    return moves.astype(np.int64, copy=False)
