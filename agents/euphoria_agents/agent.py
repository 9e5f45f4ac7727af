"""What every player is: something that answers one decision, and better many at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from euphoria_env import Game
    from euphoria_env.envs.asking import Player


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


class CompletedAgent(Agent):
    """An object that has `act`, and perhaps `needs_game` or `act_batch`, as an `Agent`: what it lacks is added.

    Attributes:
        __wrapped__: the object.
    """

    def __init__(self, player: Player) -> None:
        self.__wrapped__: Any = player
        self.needs_game = bool(getattr(player, "needs_game", False))

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Game | None = None) -> int:
        """Chooses a move; see `Agent.act`. The game is passed on only if the object needs one."""
        given = (game,) if self.needs_game else ()
        move: int = self.__wrapped__.act(observation, mask, rng, *given)
        return move

    def act_batch(self, observations: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Chooses a move in each game; see `Agent.act_batch`."""
        if not hasattr(self.__wrapped__, "act_batch"):
            return super().act_batch(observations, masks, rng)
        return np.asarray(self.__wrapped__.act_batch(observations, masks, rng))


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
