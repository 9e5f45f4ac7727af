"""Learning by imitation: a network learns the probabilities of moves, and the values, that others give to the same decisions."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from euphoria_agents.network.checkpoint import parts
from euphoria_agents.training.csr import CSR, places_of
from euphoria_agents.training.network import Network
from euphoria_agents.training.self_play import rows_of

AT_ONCE = 4096  # decisions that a network is asked about
STEEPEST = 1.0  # gradients are cut to this norm
VALUE_COEFFICIENT = 0.5


class Decisions(NamedTuple):
    """Decisions, each as its mover sees it."""

    rows: CSR  # of the observations; see `rows_of`
    moves: CSR  # the legal ones


class Labels(NamedTuple):
    """The probabilities of the legal moves of all decisions one after another, float32, and the values, float32 (N,)."""

    chances: Tensor
    values: Tensor


def network_of(tensors: dict[str, np.ndarray], path: Path) -> Network:
    """The network of a player.

    Args:
        tensors: of its checkpoint.
        path: of the checkpoint, for error messages.

    Raises:
        ValueError: they do not fit together.
    """
    found = parts(tensors, path)
    network = Network(found.features, [len(bias) for _, bias in found.trunk], [len(bias) for _, bias in found.policy[:-1]])
    network.load(tensors, path)
    return network


def record(observations: np.ndarray, masks: np.ndarray, begins: np.ndarray) -> Decisions:
    """Decisions from int8 observations (N, OBS_SIZE) and masks (N, NUM_ACTIONS); `begins` as of `rows_of`."""
    moves = masks.nonzero()[1].astype(np.int16)
    ends = np.concatenate([[0], np.cumsum(masks.sum(1, dtype=np.int64))])
    return Decisions(rows_of(observations, begins), CSR(ends, moves))


def log_probs(network: Network, decisions: Decisions, which: np.ndarray) -> tuple[Tensor, Tensor, Tensor]:
    """The log-probabilities of the legal moves of some decisions, their places among those of all, and the values."""
    hidden, values = network.later(network.first.of(decisions.rows, which))
    sizes, places = places_of(decisions.moves, which)
    moves = torch.from_numpy(decisions.moves.indices[places].astype(np.int64))
    owner = torch.from_numpy(np.repeat(np.arange(len(which)), sizes))
    logits = (hidden[owner] * network.head.weight[moves]).sum(1) + network.head.bias[moves]
    logits = logits - torch.zeros(len(which)).scatter_reduce(0, owner, logits.detach(), "amax", include_self=False)[owner]
    total = torch.zeros(len(which)).index_add(0, owner, logits.exp()).log()
    return logits - total[owner], torch.from_numpy(places), values


def labels_by(network: Network, decisions: Decisions) -> Labels:
    """The policy and the values of a network."""
    labels = Labels(torch.empty(len(decisions.moves.indices)), torch.empty(len(decisions.rows.indptr) - 1))
    with torch.no_grad():
        for which in _portions(np.arange(len(labels.values))):
            logs, places, labels.values[which] = log_probs(network, decisions, which)
            labels.chances[places] = logs.exp()
    return labels


def divergence(network: Network, decisions: Decisions, labels: Labels, which: np.ndarray) -> float:
    """The mean Kullback-Leibler divergence of the policy from the labels of some decisions."""
    total = 0.0
    with torch.no_grad():
        for some in _portions(which):
            logs, places, _ = log_probs(network, decisions, some)
            chances = labels.chances[places]
            total += float((chances * (chances.clamp_min(1e-30).log() - logs)).sum())
    return total / len(which)


def _portions(which: np.ndarray) -> list[np.ndarray]:
    return np.array_split(which, -(-len(which) // AT_ONCE))


class Student:
    """A copy of a network that learns labels, and the mean of its weights in the second half of its steps.

    Args:
        teacher: what it begins as.
        rate: the learning rate of Adam in the first step, which falls to 0 in a straight line.
        steps: how many there will be.
    """

    def __init__(self, teacher: Network, rate: float, steps: int) -> None:
        self.network = copy.deepcopy(teacher)
        self.mean = torch.optim.swa_utils.AveragedModel(self.network)
        self._optimizer = torch.optim.Adam(self.network.parameters(), eps=1e-5)
        self._rate, self._steps, self._done = rate, steps, 0

    def step(self, decisions: Decisions, labels: Labels, which: np.ndarray) -> None:
        """Learns from some decisions: the cross-entropy of the policy, and the squared error of the value."""
        logs, places, values = log_probs(self.network, decisions, which)
        policy = -(labels.chances[places] * logs).sum() / len(which)
        value = (labels.values[which] - values).square().mean()
        self._optimizer.param_groups[0]["lr"] = self._rate * (1 - self._done / self._steps)
        self._optimizer.zero_grad()
        (policy + VALUE_COEFFICIENT * value).backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), STEEPEST)
        self._optimizer.step()
        self._done += 1
        if 2 * self._done > self._steps:
            self.mean.update_parameters(self.network)

    def graduate(self) -> Network:
        """The network with the mean weights."""
        self.network.load_state_dict(self.mean.module.state_dict())
        return self.network
