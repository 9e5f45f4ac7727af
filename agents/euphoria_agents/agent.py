"""What every player is: something that answers one decision, and better many at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from euphoria_env import Game


class Agent(ABC):
    """A player. It sees the observation and the legal moves, never the game itself.

    Attributes:
        needs_game: whether `act` wants a `Game`; it is always one that was determinized for the seat of the agent (R19).
    """

    needs_game: bool = False

    @abstractmethod
    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Game | None = None) -> int:
        """Chooses a move.

        Args:
            observation: what the player may see, int8 (OBS_SIZE,).
            mask: the legal moves, bool or int8 (NUM_ACTIONS,); at least one.
            rng: the only source of chance, so that equal seeds give equal games.
            game: a determinized copy of the game, for those who set `needs_game`.
        """

    def act_batch(self, observations: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Chooses a move in each of many games: integers (N,), from observations (N, OBS_SIZE) and masks (N, NUM_ACTIONS)."""
        return np.array([self.act(o, m, rng) for o, m in zip(observations, masks, strict=True)])


def int8_rows(array: Any) -> np.ndarray:
    """An observation, a mask, or many of them, as the one type that compiled code takes: int8, contiguous, in two dimensions."""
    array = np.asarray(array)
    if array.dtype == np.bool_:
        array = array.view(np.int8)
    if array.ndim == 1:
        array = array[None]
    if array.dtype == np.int8 and array.flags.carray:  # nearly always, and faster than asking `require`
        return array
    return np.require(array, np.int8, ("C", "W"))


def check_found(moves: np.ndarray) -> np.ndarray:
    """The moves as they are, once each is one.

    Raises:
        ValueError: a mask had no legal move, for which compiled code answers -1.
    """
    if (moves < 0).any():
        raise ValueError(f"mask {int(moves.argmin())} has no legal move: has the game ended?")
    return moves
