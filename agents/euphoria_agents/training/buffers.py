"""What an update learns from: the decisions of all games since the last one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer

from euphoria_agents.network.checkpoint import Features
from euphoria_agents.training.sparse_rows import CSR, Seen, find_active_features, find_legal, join, look_up


class RolloutBuffer(MaskableRolloutBuffer):
    """A buffer whose masks are booleans: a quarter of the memory, and of the time to copy them."""

    def reset(self) -> None:
        """Empties it."""
        self.mask_dims = int(self.action_space.n)
        self.action_masks = np.ones((self.buffer_size, self.n_envs, self.mask_dims), np.bool_)
        super(MaskableRolloutBuffer, self).reset()  # for that of MaskableRolloutBuffer makes masks of floats


class Samples(NamedTuple):
    """Some decisions, under the names that sb3-contrib gives them."""

    observations: Seen
    actions: torch.Tensor
    old_values: torch.Tensor
    old_log_prob: torch.Tensor
    advantages: torch.Tensor
    returns: torch.Tensor
    action_masks: CSR


class SparseBuffer(MaskableRolloutBuffer):
    """A buffer of active features and legal moves instead of observations and masks, found once for all epochs.

    Args:
        features: what the network sees of an observation; the other arguments are those of any buffer.
    """

    def __init__(self, *args: Any, features: Features, **kwargs: Any) -> None:
        self._features = features
        super().__init__(*args, **kwargs)

    def reset(self) -> None:
        """Empties it."""
        self._active_features: list[CSR] = []  # a step after the other, until they are asked for
        self._legal: list[CSR] = []
        self._all: tuple[Seen, CSR] | None = None
        self.obs_shape = (0,)  # of observations there is nothing else
        super(MaskableRolloutBuffer, self).reset()

    def add(self, obs: np.ndarray, *args: Any, action_masks: np.ndarray) -> None:
        """Adds a decision of each game."""
        self._active_features.append(find_active_features(obs))
        self._legal.append(find_legal(action_masks))
        super(MaskableRolloutBuffer, self).add(obs[:, :0], *args)

    def get(self, batch_size: int | None = None) -> Iterator[Samples]:
        """All decisions in a random order, that of sb3-contrib, so many at a time."""
        games, steps = np.divmod(np.random.permutation(self.buffer_size * self.n_envs), self.buffer_size)
        order = steps * self.n_envs + games  # for here they lie step by step, there game by game
        if self._all is None:
            self._all = look_up(join(self._active_features), self._features), join(self._legal)
            self._active_features, self._legal = [], []
        size = batch_size or len(order)
        for first in range(0, len(order), size):
            yield self._take(*self._all, order[first : first + size])

    def _take(self, seen: Seen, legal: CSR, which: np.ndarray) -> Samples:
        """Some of the decisions."""

        def taken(array: np.ndarray) -> torch.Tensor:
            return torch.from_numpy(array.reshape(-1)[which])

        return Samples(
            seen._replace(active_features=seen.active_features._replace(which=which)),
            taken(self.actions),
            taken(self.values),
            taken(self.log_probs),
            taken(self.advantages),
            taken(self.returns),
            legal._replace(which=which),
        )
