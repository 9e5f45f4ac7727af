"""MaskablePPO with steps of the optimizer that several workers can take together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.utils import explained_variance
from torch import nn

FACTS = ("policy_gradient_loss", "value_loss", "entropy_loss", "clip_fraction", "approx_kl", "loss")  # of a step, in the log


class Learner(MaskablePPO):
    """sb3-contrib's MaskablePPO; `clip_range_vf`, `target_kl` and `normalize_advantage` stay at their defaults.

    How many steps an update takes depends on the sizes of buffer and batch alone.

    Attributes:
        average: is called with all parameters when they have their gradients, before these are clipped and the optimizer takes
            its step; it may change the gradients, as to the means of several workers. None: nobody else is there.
    """

    average: Callable[[list[nn.Parameter]], None] | None = None

    def train(self) -> None:
        """The steps of an update: `n_epochs` times through the buffer."""
        policy, parameters = self.policy, list(self.policy.parameters())
        policy.set_training_mode(True)
        self._update_learning_rate(policy.optimizer)
        clip = self.clip_range(self._current_progress_remaining)
        epochs = []
        for _ in range(self.n_epochs):
            batches = self.rollout_buffer.get(self.batch_size)
            epochs.append(torch.stack([self._step(parameters, batch, clip) for batch in batches]))
            self._n_updates += 1
        for k, name in enumerate(FACTS):
            facts = epochs[-1:] if name == "approx_kl" else epochs  # how far the whole update has gone
            self.logger.record(f"train/{name}", torch.cat(facts)[:, k].mean().item())
        values, returns = self.rollout_buffer.values.flatten(), self.rollout_buffer.returns.flatten()
        self.logger.record("train/explained_variance", explained_variance(values, returns))
        self.logger.record("train/n_updates", self._n_updates, exclude="tensorboard")
        self.logger.record("train/clip_range", clip)

    def _update_info_buffer(self, infos: list[dict[str, Any]], dones: np.ndarray) -> None:
        """As inherited, without looking at the games that go on: there is nothing to say of them."""
        over = np.flatnonzero(dones)
        super()._update_info_buffer([infos[i] for i in over], dones[over])

    def _step(self, parameters: list[nn.Parameter], batch: Any, clip: float) -> torch.Tensor:
        """A step of the optimizer; returns its `FACTS`."""
        loss, facts = self._loss(batch, clip)
        self.policy.optimizer.zero_grad()
        loss.backward()
        if self.average is not None:
            self.average(parameters)
        nn.utils.clip_grad_norm_(parameters, self.max_grad_norm)
        self.policy.optimizer.step()
        return facts

    def _loss(self, batch: Any, clip: float) -> tuple[torch.Tensor, torch.Tensor]:
        """What a step makes smaller, and its `FACTS`."""
        moves, gain = batch.actions.long().flatten(), batch.advantages
        values, chosen, entropy = self.policy.evaluate_actions(batch.observations, moves, action_masks=batch.action_masks)
        gain = (gain - gain.mean()) / (gain.std() + 1e-8)
        log_ratio = chosen - batch.old_log_prob
        ratio = log_ratio.exp()
        by_policy = -torch.min(gain * ratio, gain * ratio.clamp(1 - clip, 1 + clip)).mean()
        by_value = nn.functional.mse_loss(values.flatten(), batch.returns)
        by_entropy = -entropy.mean()
        loss = by_policy + self.ent_coef * by_entropy + self.vf_coef * by_value
        with torch.no_grad():
            clipped = ((ratio - 1).abs() > clip).float().mean()
            return loss, torch.stack([by_policy, by_value, by_entropy, clipped, (ratio - 1 - log_ratio).mean(), loss])
