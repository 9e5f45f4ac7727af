"""Trajectories of `Batch` games: links each decision to the next one of the same seat, and estimates advantages.

In a game of several players the decisions of a seat lie far apart, and a seat can be rewarded when another one moves.
`Trajectories` keeps for each decision the reward until the same seat's next decision, how many turns that took, and which
decision that was.
docs/tutorials/own-algorithm.md builds a learner of 30 lines on it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from euphoria_env.batch import Batch, fixed, show
from euphoria_env.engine import trajectory_kernels
from euphoria_env.engine.byte_copies import aligned
from euphoria_env.engine.trajectory_kernels import ENDED, OPEN, DecisionColumns
from euphoria_env.json_reader import read_distinct, read_indices, read_integer

__all__ = ["ENDED", "OPEN", "Trajectories", "estimate_advantages"]


class Trajectories:
    """Stores decisions in the order in which they were made.

    Args:
        batch: the games.
        capacity: the number of decisions for which there is room.

    Attributes:
        size: the number of decisions; they are the first `size` entries of the arrays below, each (capacity,).
        game: int64, the game of the decision.
        seat: int64, the player who decided.
        turn: int64, the number of the turn in the game.
        reward: float32, the sum of the seat's rewards from this decision until its next one or the end of the game.
        elapsed: int64, the turns from this decision to the next one of the seat; 0 until there is one.
        following: int64, the number of the next decision of the seat; `OPEN` until there is one, `ENDED` if the game is over.
        attached: the arrays of `attach`, in order.
    """

    def __init__(self, batch: Batch, capacity: int) -> None:
        self.size, self.capacity = 0, read_integer("capacity", capacity, 0)
        room = {field: aligned(self.capacity, np.float32 if field == "reward" else np.int64) for field in DecisionColumns._fields}
        self._columns = DecisionColumns(**room)
        self._views = show(room)
        self.attached: list[np.ndarray] = []
        self._batch = batch
        self._latest = np.full(batch.rewards.shape, -1, np.int64)  # the open decision of each seat

    game, seat, turn, reward, elapsed, following = map(fixed, DecisionColumns._fields)

    def add(self, games: np.ndarray) -> slice:
        """Adds the decision that is due in each of these games, and returns the numbers of the new decisions.

        Call it before the step that plays the moves.

        Args:
            games: (K,) integers, the numbers of the games.

        Raises:
            TypeError, IndexError: `games` are not numbers of games; nothing is added.
            ValueError: there is no room, a game comes twice, or `games` has another shape; nothing is added.
        """
        games = read_distinct("games", games, self._batch.n)
        read_indices("batch.player", self._batch.player[games], self._batch.rewards.shape[1])
        first, last = self.size, self.size + len(games)
        if not 0 <= first <= last <= len(self._columns.game):
            raise ValueError(f"there is room for {self.capacity} decisions, not {last}")
        batch = self._batch
        trajectory_kernels.link_decisions(games, batch.player, batch.states, self._latest, first, self._columns)
        self.size = last
        return slice(first, last)

    def credit(self) -> None:
        """Adds the rewards of the last step to the latest decision of each seat. Call it after every step."""
        batch = self._batch
        trajectory_kernels.credit_decisions(
            batch.rewards, batch.terminated, batch.truncated, self._latest, self._columns.reward, self._columns.following
        )

    def attach(self, array: np.ndarray) -> np.ndarray:
        """Makes `carry_over` and `grow` move the rows of an array along with the decisions, and returns the array.

        Row k belongs to decision k: its observation, mask, move, log-probability or value. You write the rows of new decisions.

        Raises:
            TypeError: it is not an array of numpy, or it has a mask.
            ValueError: it has fewer rows than there is room for decisions, is read-only, or shares memory with another array, or
                its rows do with each other.
        """
        if not isinstance(array, np.ndarray) or isinstance(array, np.ma.MaskedArray):
            raise TypeError(f"an attached array must be a numpy array without a mask, not {type(array).__name__}")
        if array.ndim == 0 or len(array) < self.capacity:
            raise ValueError(f"an attached array must have {self.capacity} rows or more, not the shape {array.shape}")
        if not array.flags.writeable:
            raise ValueError("an attached array must not be read-only")
        if not any(array is one for one in self.attached):
            if _overlaps(array) or any(np.shares_memory(array, one) for one in (*self._columns, *self.attached)):
                raise ValueError(
                    "an attached array must not share memory with another array or between rows, which would move twice"
                )
            self.attached.append(array)
        return array

    def carry_over(self) -> np.ndarray:
        """Keeps only the open decisions, renumbers them from 0, and returns their old numbers, int64 (K,).

        The rows of attached arrays are moved with them, in place.
        """
        columns = self._columns
        (kept,) = np.nonzero(columns.following[: self.size] == OPEN)
        self.size = len(kept)
        for array in (*columns, *self.attached):
            array[: len(kept)] = array[kept]
        self._latest[:] = -1
        self._latest[columns.game[: self.size], columns.seat[: self.size]] = np.arange(self.size)
        return kept

    def arrays(self) -> dict[str, np.ndarray]:
        """Returns all arrays by name."""
        return dict(vars(self._views))

    def grow(self, capacity: int) -> None:
        """Makes room for more decisions, in new arrays; those in place of attached ones are in `attached`.

        Raises:
            ValueError: `capacity` is not a number of decisions, or there are more decisions.
        """
        self.capacity = read_integer("capacity", capacity, self.size)
        self._columns = DecisionColumns(*map(self._larger, self._columns))
        self._views = show(self._columns._asdict())
        self.attached = [self._larger(old) for old in self.attached]

    def _larger(self, old: np.ndarray) -> np.ndarray:
        """Returns a new array with room for all decisions that begins with the rows of an old one."""
        new = (np.zeros if old.dtype.hasobject else aligned)((self.capacity, *old.shape[1:]), old.dtype)
        new[: self.size] = old[: self.size]
        return new


def _overlaps(array: np.ndarray) -> bool:
    """Returns whether two entries of an array may have the same place in memory."""
    extent = array.itemsize
    axes = zip(array.strides, array.shape, strict=True) if array.size else ()
    for stride, n in sorted((abs(stride), n) for stride, n in axes if n > 1):
        if stride < extent:
            return True
        extent += stride * (n - 1)
    return False


def estimate_advantages(
    values: np.ndarray, rewards: np.ndarray, following: np.ndarray, discount: float | np.ndarray, gae_lambda: float
) -> np.ndarray:
    """Returns generalized advantage estimates (Schulman et al. 2016) along linked decisions; values + advantages are the returns.

    Args:
        values: float32 (N,), the predicted value at each decision; the value of an open one stands for all that follows it.
        rewards: float32 (N,), as in `Trajectories`.
        following: int64 (N,), as in `Trajectories`; each number is greater than that of the decision itself.
        discount: the discount after a decision, a number or float32 (N,), such as gamma ** elapsed to discount by turns.
        gae_lambda: the lambda of the estimate: 0 relies on the value of the next decision, 1 on the rewards alone.

    Returns:
        float32 (N,); 0 for open decisions, from which nothing can be learned yet.

    Raises:
        TypeError: an array does not hold numbers, or `following` does not hold integers.
        ValueError: the lengths differ, or a decision is followed by itself, an earlier one, or one that does not exist.
    """
    n = np.asarray(values).size
    values, rewards = _column("values", values, n, np.float32, "fiu"), _column("rewards", rewards, n, np.float32, "fiu")
    following = _column("following", following, n, np.int64, "iu")
    discounts = _column("discount", np.broadcast_to(discount, n) if np.ndim(discount) == 0 else discount, n, np.float32, "fiu")
    _check_following(following)
    advantages = np.empty(n, np.float32)
    trajectory_kernels.estimate(values, rewards, discounts, following, float(gae_lambda), advantages)
    return advantages


def _column(name: str, given: Any, n: int, kind: Any, kinds: str) -> np.ndarray:
    """Returns n numbers as an array that compiled code accepts: of this dtype, contiguous and writeable."""
    array = np.asarray(given)
    if array.shape != (n,):
        raise ValueError(f"{name} must be of shape ({n},), not {array.shape}")
    if n and array.dtype.kind not in kinds:
        raise TypeError(f"{name} must be {'integers' if kinds == 'iu' else 'numbers'}, not {array.dtype}")
    return np.require(array, kind, ("C", "W", "A"))


def _check_following(following: np.ndarray) -> None:
    """Raises a `ValueError` if a decision is followed by one that is not later or does not exist."""
    n = len(following)
    if not ((following == OPEN) | (following == ENDED) | ((following > np.arange(n)) & (following < n))).all():
        raise ValueError(f"following: a decision follows an earlier one, itself, or none of these {n}")
