"""Asking agents for their moves: the one place where an agent meets a game, and where its answers are checked."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from euphoria_env.actions import NAMES, NUM_ACTIONS
from euphoria_env.game import Game, IllegalMove


class Player(Protocol):
    """What an agent must have to be asked: `act`.

    It may also have:
        needs_game: if true, `act` is called with a fourth argument, a `Game` that was determinized for its seat (R19).
        act_batch: `act_batch(observations, masks, rng)` answers many games at once; not called if it needs a game.

    `euphoria_agents.Agent` has all of them.
    """

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, /) -> int:
        """Chooses a legal move.

        Args:
            observation: what the player may see, int8 (OBS_SIZE,).
            mask: the legal moves, bool or int8 (NUM_ACTIONS,); at least one.
            rng: the only source of chance, so that equal seeds give equal games.
        """


def ask(
    agent: Player, observations: np.ndarray, masks: np.ndarray, rng: np.random.Generator, deal: Callable[[int], Game]
) -> tuple[np.ndarray, float]:
    """The moves of an agent in some decisions, in one batch where it can.

    Args:
        agent: whom to ask.
        observations: int8 (N, OBS_SIZE).
        masks: bool or int8 (N, NUM_ACTIONS), the legal moves.
        rng: what the agent draws from.
        deal: gives the game of decision k, determinized for the seat that decides (R19); called only if the agent needs it.

    Returns:
        The moves, int64 (N,), and how many seconds the agent thought.

    Raises:
        IllegalMove: an answer is not legal, or no move at all; names the agent. What the agent itself raises gets a note that
            names it.
    """
    if getattr(agent, "needs_game", False):
        answers, seconds = [], 0.0
        for k, (observation, mask) in enumerate(zip(observations, masks, strict=True)):
            answer, took = _timed(agent, agent.act, observation, mask, rng, deal(k))
            answers.append(answer)
            seconds += took
    elif hasattr(agent, "act_batch"):
        answers, seconds = _timed(agent, agent.act_batch, observations, masks, rng)
    else:
        answers, seconds = _timed(agent, _one_by_one, agent, observations, masks, rng)
    return _checked(agent, answers, masks), seconds


def agent_name(agent: Player) -> str:
    """The class of an agent, to say whose fault something is."""
    kind = type(agent)
    return f"{kind.__module__}.{kind.__qualname__}"


def _timed(agent: Player, call: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    """What an agent answers, and how many seconds that took; what it raises is blamed on it."""
    began = time.perf_counter()
    try:
        answer = call(*arguments)
    except SystemExit as error:
        raise RuntimeError(f"the agent {agent_name(agent)} wanted to end the process (SystemExit)") from error
    except Exception as error:
        error.add_note(f"raised by the agent {agent_name(agent)}")
        raise
    return answer, time.perf_counter() - began


def _one_by_one(agent: Player, observations: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> list[int]:
    return [agent.act(o, m, rng) for o, m in zip(observations, masks, strict=True)]


def _checked(agent: Player, answers: Any, masks: np.ndarray) -> np.ndarray:
    """Answers as moves, once each is legal."""
    moves = np.asarray(answers)
    if moves.shape != (len(masks),) or moves.dtype.kind not in "iu":
        wanted = "an action id" if len(masks) == 1 else f"{len(masks)} action ids"
        given = moves[0] if moves.shape == (1,) else answers
        raise IllegalMove(f"the agent {agent_name(agent)} must answer with {wanted}, not {given!r}")
    if len(moves) == 1 and 0 <= moves[0] < NUM_ACTIONS and masks[0, moves[0]]:  # what follows, said quickly for one
        return moves.astype(np.int64, copy=False)
    known = (moves >= 0) & (moves < NUM_ACTIONS)
    legal = known & (masks[np.arange(len(moves)), np.where(known, moves, 0)] != 0)
    if not legal.all():
        k = int(legal.argmin())
        answer = NAMES[moves[k]] if known[k] else int(moves[k])
        allowed = ", ".join(NAMES[action] for action in np.flatnonzero(masks[k]))
        raise IllegalMove(f"the agent {agent_name(agent)} answered {answer!r}, which is illegal; legal are {allowed}")
    return moves.astype(np.int64, copy=False)
