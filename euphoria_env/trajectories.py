"""Trajectories on `Batch`: the decisions of each seat of each game, linked one to the next, and advantages estimated from them.

In a game of several players the decisions of a seat lie far apart, and its rewards come in between, whoever moves. `Trajectories`
keeps for chosen decisions what a learner needs: the reward until the same seat's next decision, how many turns that took, and
which decision that was. docs/tutorials/batch-self-play.md has a learner of 30 lines that is built on it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from euphoria_env.batch import Batch
from euphoria_env.engine import trajectory_kernels
from euphoria_env.engine.trajectory_kernels import ENDED, OPEN

__all__ = ["ENDED", "OPEN", "Trajectories", "estimate_advantages"]


class Trajectories:
    """Decisions in the order in which they were made.

    Args:
        batch: the games.
        capacity: how many decisions there is room for.

    Attributes:
        size: how many there are; of the arrays below, (capacity,), the first `size` entries count.
        game: int64, where the decision was made.
        seat: int64, by whom.
        turn: int64, the number of the turn in the game.
        reward: float32, of the seat, from this decision until its next one or the end of the game.
        elapsed: int64, the turns from this decision to the next one of the seat; 0 until there is one.
        following: int64, the number of the next decision of the seat; `OPEN` until there is one, `ENDED` if the game is over.
    """

    def __init__(self, batch: Batch, capacity: int) -> None:
        self.size, self.capacity = 0, capacity
        self.game, self.seat, self.turn, self.elapsed, self.following = np.zeros((5, capacity), np.int64)
        self.reward = np.zeros(capacity, np.float32)
        self._batch = batch
        self._latest = np.full(batch.rewards.shape, -1, np.int64)  # the open decision of each seat

    def add(self, games: np.ndarray) -> slice:
        """Adds the decision that is due in each of these games; call it before the step that plays them.

        Args:
            games: int64 (K,), their numbers.

        Returns:
            The numbers of the new decisions.

        Raises:
            ValueError: there is no room.
        """
        first, last = self.size, self.size + len(games)
        if last > self.capacity:
            raise ValueError(f"there is room for {self.capacity} decisions, not {last}")
        trajectory_kernels.link_decisions(
            games, self._batch.player, self._batch.states, self._latest, first,
            self.game, self.seat, self.turn, self.reward, self.elapsed, self.following,
        )  # fmt: skip
        self.size = last
        return slice(first, last)

    def credit(self) -> None:
        """Gives the rewards of the last step of the games to the latest decision of each seat; call it after every step."""
        batch = self._batch
        trajectory_kernels.credit_decisions(
            batch.rewards, batch.terminated, batch.truncated, self._latest, self.reward, self.following
        )

    def carry_over(self) -> np.ndarray:
        """Begins again with the open decisions alone.

        Returns:
            int64 (K,), what their numbers were; they are 0 to K - 1 now.
        """
        (kept,) = np.nonzero(self.following[: self.size] == OPEN)
        self.size = len(kept)
        for array in self.arrays().values():
            array[: len(kept)] = array[kept]
        self._link()
        return kept

    def arrays(self) -> dict[str, np.ndarray]:
        """All arrays, by their names."""
        return {name: getattr(self, name) for name in ("game", "seat", "turn", "reward", "elapsed", "following")}

    def restore(self, arrays: dict[str, Any]) -> None:
        """Continues with the first entries of `arrays` of another one on the same games, which must be consistent."""
        self.size = len(arrays["game"])
        for name, array in self.arrays().items():
            array[: self.size] = arrays[name]
        self._link()

    def _link(self) -> None:
        """Finds the open decision of each seat."""
        self._latest[:] = -1
        (kept,) = np.nonzero(self.following[: self.size] == OPEN)
        self._latest[self.game[kept], self.seat[kept]] = kept


def estimate_advantages(
    values: np.ndarray, rewards: np.ndarray, following: np.ndarray, discount: float | np.ndarray, gae_lambda: float
) -> np.ndarray:
    """Generalized advantage estimates (Schulman et al. 2016) along linked decisions; values + advantages are the returns.

    Args:
        values: float32 (N,), the value of each decision; that of an open one stands for all that follows it.
        rewards: float32 (N,), as in `Trajectories`.
        following: int64 (N,), as in `Trajectories`; each is later than the decision itself.
        discount: of what follows a decision, one number for all or float32 (N,), such as gamma ** elapsed to discount by turns.
        gae_lambda: between 0, which trusts the next value, and 1, which trusts the rewards.

    Returns:
        float32 (N,); 0 for open decisions, from which nothing can be learned yet.
    """
    advantages = np.empty(len(values), np.float32)
    discounts = np.broadcast_to(np.asarray(discount, np.float32), advantages.shape).copy()
    trajectory_kernels.estimate(values, rewards, discounts, following, float(gae_lambda), advantages)
    return advantages
