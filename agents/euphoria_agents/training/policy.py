"""The network as PyTorch trains it; `players.ppo` plays it without PyTorch.

It is not the usual dense one: the first layer adds up the features that are not 0, the last one looks at legal moves only (see
`network.compiled_layers`), so that a decision costs a fraction of what all inputs and all moves would.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sb3_contrib.common.maskable.distributions import MaskableDistribution
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from torch import nn

from euphoria_agents.network import compiled_layers
from euphoria_agents.network.checkpoint import Features, widened
from euphoria_agents.training.card_embedding import describe
from euphoria_agents.training.sparse_rows import CSR, Seen, find_active_features, find_legal, look_up
from euphoria_env.observations import FIELDS

_NONE = np.empty(0)
FIRST_SPREAD = 0.06  # standard deviation of the first layer's initial weights


class _AddActiveFeatures(torch.autograd.Function):
    """The first layer: what each active feature adds, then the sum for each observation; only weights and bias have gradients."""

    @staticmethod
    def forward(ctx: Any, weight: torch.Tensor, bias: torch.Tensor, seen: Seen) -> torch.Tensor:
        active_features, *features = seen
        ctx.seen, ctx.shape = seen, weight.shape
        table = np.empty((len(seen.ends) - 1, weight.shape[1]), np.float32)
        compiled_layers.weigh_active_features(*features, weight.detach().numpy(), table)
        out = np.empty((len(active_features.which), weight.shape[1]), np.float32)
        compiled_layers.add_active_features(*active_features, table, bias.detach().numpy(), out)
        return torch.from_numpy(out)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        active_features, *features = ctx.seen
        known = len(ctx.seen.ends) - 1
        table, by_weight = np.empty((known, ctx.shape[1]), np.float32), np.empty(ctx.shape, np.float32)
        ends, where = np.empty(known, np.int64), np.empty(active_features.size(), np.int32)
        compiled_layers.add_back(*active_features, gradient.contiguous().numpy(), ends, where, table)
        compiled_layers.weigh_back(*features, table, by_weight)
        return torch.from_numpy(by_weight), gradient.sum(0), None


class _JudgeMoves(torch.autograd.Function):
    """Logarithm of the probability of the move made, and entropy, among the legal moves."""

    @staticmethod
    def forward(
        ctx: Any, hidden: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, legal: CSR, moves: np.ndarray
    ) -> tuple[torch.Tensor, torch.Tensor]:
        found, chosen, entropy = (np.empty(size, np.float32) for size in (legal.size(), len(moves), len(moves)))
        arrays = hidden.detach().contiguous().numpy(), weight.detach().numpy()
        compiled_layers.judge_moves(*arrays, bias.detach().numpy(), *legal, moves, found, chosen, entropy)
        ctx.arrays = (*arrays, *legal, moves, found, entropy)
        return torch.from_numpy(chosen), torch.from_numpy(entropy)

    @staticmethod
    def backward(ctx: Any, by_chosen: torch.Tensor, by_entropy: torch.Tensor) -> Any:
        hidden, weight = ctx.arrays[:2]
        by = np.zeros_like(hidden), np.zeros_like(weight), np.zeros(len(weight), np.float32)
        compiled_layers.judge_back(*ctx.arrays, by_chosen.contiguous().numpy(), by_entropy.contiguous().numpy(), *by)
        return *(torch.from_numpy(one) for one in by), None, None


class FirstLayer(nn.Module):
    """The features of observations through a linear layer; `weight` is (features, width)."""

    def __init__(self, features: Features, width: int) -> None:
        super().__init__()
        self.features = features
        self.weight = nn.Parameter(torch.randn(len(features.source), width) * FIRST_SPREAD)
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, observations: torch.Tensor | Seen) -> torch.Tensor:
        """The layer of each observation, before its rectifier; `Seen` is what a buffer has found in them already."""
        if not isinstance(observations, Seen):
            observations = look_up(find_active_features(observations.numpy()), self.features)
        found: torch.Tensor = _AddActiveFeatures.apply(self.weight, self.bias, observations)
        return found

    def tensors(self, name: str) -> dict[str, np.ndarray]:
        """As a checkpoint has the layer: there the bias is that of features, here that of an observation of zeros."""
        weight, bias = self.weight.detach().cpu().numpy(), self.bias.detach().cpu().numpy()
        return {f"{name}.weight": weight.T, f"{name}.bias": bias - self.features.rest @ weight}


class DenseFirstLayer(FirstLayer):
    """The same with all features, on any device."""

    def __init__(self, features: Features, width: int) -> None:
        super().__init__(features, width)
        for name in ("source", "offset", "scale", "rest"):  # no part of the network's state, but they must be on its device
            self.register_buffer(name, torch.from_numpy(getattr(features, name)), persistent=False)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """The layer of each observation, before its rectifier."""
        x = (observations[:, self.source] - self.offset) * self.scale
        return torch.addmm(self.bias, x.clamp(-1, 1) - self.rest, self.weight)


def linear(size_in: int, size_out: int, gain: float) -> nn.Linear:
    """A layer with orthogonal weights."""
    made = nn.Linear(size_in, size_out)
    nn.init.orthogonal_(made.weight, gain)
    nn.init.zeros_(made.bias)
    return made


def linear_tensors(name: str, layer: nn.Linear) -> dict[str, np.ndarray]:
    """As a checkpoint has a layer."""
    return {f"{name}.weight": layer.weight.detach().cpu().numpy(), f"{name}.bias": layer.bias.detach().cpu().numpy()}


def hidden_layers(size: int, sizes: list[int]) -> list[nn.Linear]:
    """Layers of these widths."""
    return [linear(a, b, 2**0.5) for a, b in itertools.pairwise([size, *sizes])]


class Policy(MaskableActorCriticPolicy):
    """Policy and value for MaskablePPO.

    Args:
        features: what goes in.
        trunk: widths of the layers that policy and value share; at least one.
        branch: widths of the layers that each has for itself.
        described: whether it meets cards by their features (`training.card_embedding`).
    """

    first_layer: type[FirstLayer] = FirstLayer

    def __init__(
        self, *args: Any, features: Features, trunk: list[int], branch: list[int], described: bool = False, **kwargs: Any
    ) -> None:
        self._parts, self._described = (features, trunk, branch), described
        super().__init__(*args, **kwargs)

    def _build(self, lr_schedule: Any) -> None:
        features, (first, *trunk), branch = self._parts
        last = (branch or trunk or [first])[-1]
        self.first = self.first_layer(features, first)
        self.trunk = nn.ModuleList(hidden_layers(first, trunk))
        self.policy = nn.ModuleList(hidden_layers((trunk or [first])[-1], branch))
        self.value = nn.ModuleList(hidden_layers((trunk or [first])[-1], branch))
        self.head, self.value_head = linear(last, self.action_space.n, 0.01), linear(last, 1, 1.0)
        if self._described:
            describe(self.first, self.head, FIRST_SPREAD)
        self.optimizer = self.optimizer_class(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)

    def _shared(self, observations: torch.Tensor | Seen) -> torch.Tensor:
        x = torch.relu(self.first(observations))
        return run(self.trunk, x)

    def forward(
        self, obs: torch.Tensor, deterministic: bool = False, action_masks: Any = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Moves, values and logarithms of the probabilities of the moves."""
        shared = self._shared(obs)
        uniforms = torch.rand(len(obs), dtype=torch.float64)
        moves, chosen = self._draw(run(self.policy, shared), action_masks, uniforms)
        return moves, self._value(shared), chosen

    def _draw(self, hidden: torch.Tensor, masks: np.ndarray, uniforms: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The moves that the uniforms, numbers from [0, 1), choose, and the logarithms of their probabilities."""
        moves, chosen = np.empty(len(masks), np.int64), np.empty(len(masks), np.float32)
        head = self.head.weight.detach().numpy(), self.head.bias.detach().numpy()
        masks = np.ascontiguousarray(masks).view(np.int8)
        compiled_layers.draw_moves(hidden.detach().numpy(), *head, masks, uniforms.numpy(), moves, chosen)
        return torch.from_numpy(moves), torch.from_numpy(chosen)

    def evaluate_actions(
        self, obs: torch.Tensor | Seen, actions: torch.Tensor, action_masks: Any = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Values, logarithms of the probabilities of the moves, entropies; `action_masks` may be `CSR` of legal moves."""
        shared = self._shared(obs)
        chosen, entropy = self._judge(run(self.policy, shared), action_masks, actions)
        return self._value(shared), chosen, entropy

    def _judge(self, hidden: torch.Tensor, masks: Any, moves: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The logarithms of the probabilities of the moves, and the entropies."""
        legal = masks if isinstance(masks, CSR) else find_legal(masks.numpy())
        judged: tuple[torch.Tensor, torch.Tensor] = _JudgeMoves.apply(
            hidden, self.head.weight, self.head.bias, legal, moves.numpy()
        )
        return judged

    def _value(self, shared: torch.Tensor) -> torch.Tensor:
        value: torch.Tensor = self.value_head(run(self.value, shared))
        return value

    def predict_values(self, obs: torch.Tensor) -> torch.Tensor:
        """The expected sum of rewards."""
        return self._value(self._shared(obs))

    def get_distribution(self, obs: torch.Tensor, action_masks: Any = None) -> MaskableDistribution:
        """The distribution of moves, for `predict`."""
        found = self.action_dist.proba_distribution(action_logits=self.head(run(self.policy, self._shared(obs))))
        if action_masks is not None:
            found.apply_masking(action_masks)
        return found

    def _linear(self) -> Iterator[tuple[str, nn.Linear]]:
        """All layers but the first, with their names in a checkpoint."""
        parts = {"trunk": self.trunk, "policy": [*self.policy, self.head], "value": [*self.value, self.value_head]}
        for part, layers in parts.items():
            for k, one in enumerate(layers, start=part == "trunk"):
                yield f"{part}.{k}", one

    def tensors(self) -> dict[str, np.ndarray]:
        """The tensors of a checkpoint, as `network.checkpoint` has them."""
        found = self.first.features.tensors() | self.first.tensors("trunk.0")
        for name, one in self._linear():
            found |= linear_tensors(name, one)
        return {name: tensor.copy() for name, tensor in found.items()}

    def load(self, tensors: dict[str, np.ndarray], path: str | Path = "the checkpoint") -> None:
        """Takes over the tensors of a checkpoint.

        Args:
            tensors: as `tensors` gives them; an outlook is passed over.
            path: where they are from, for what is wrong with them.

        Raises:
            ValueError: they do not fit together, or are of a network of other widths, or of features that this one lacks; or
                this one makes the weights of cards itself.
        """
        if self._described:
            raise ValueError(f"{path}: a network that meets cards by their features begins untrained")
        mine, tensors = self.tensors(), widened(tensors, self.first.features, path)
        differing = [name for name in {**mine, **tensors} if mine.get(name, _NONE).shape != tensors.get(name, _NONE).shape]
        if differing:
            raise ValueError(f"{path} is of another network: {differing[0]} differs")
        with torch.no_grad():
            weight = tensors["trunk.0.weight"].T
            self.first.weight.copy_(torch.from_numpy(weight))
            self.first.bias.copy_(torch.from_numpy(tensors["trunk.0.bias"] + self.first.features.rest @ weight))
            for name, one in self._linear():
                one.weight.copy_(torch.from_numpy(tensors[f"{name}.weight"]))
                one.bias.copy_(torch.from_numpy(tensors[f"{name}.bias"]))


def run(layers: Any, x: torch.Tensor) -> torch.Tensor:
    """Layers, each followed by its rectifier."""
    for one in layers:
        x = torch.relu(one(x))
    return x


class DensePolicy(Policy):
    """The same network as usual layers over all features and all moves, on any device."""

    first_layer = DenseFirstLayer

    def _chances(self, hidden: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
        """The logarithms of the probabilities of all moves; -inf where illegal."""
        logits: torch.Tensor = self.head(hidden).masked_fill(~masks, -torch.inf)
        return logits.log_softmax(1)

    def _draw(self, hidden: torch.Tensor, masks: np.ndarray, uniforms: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        chances = self._chances(hidden, torch.as_tensor(masks, device=self.device))
        sums = chances.double().exp().cumsum(1)
        moves = torch.searchsorted(sums, uniforms.to(self.device)[:, None] * sums[:, -1:], right=True)
        return moves[:, 0], chances.gather(1, moves)[:, 0]

    def _judge(self, hidden: torch.Tensor, masks: torch.Tensor, moves: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        chances = self._chances(hidden, masks)
        entropy = -(chances.exp() * chances.masked_fill(~masks, 0)).sum(1)
        return chances.gather(1, moves[:, None])[:, 0], entropy


# Fields where the steps of the number matter: it is a name (which tile, which space), or its first units are worth the most.
STEPPED = (
    "num_players", "knowledge", "morale", "stars", "goods", "hand_size", "workers", "hidden_recruits", "resolved",
    "own_artifacts", "own_recruits", "own_tiles", "allegiance", "miners", "occupant", "tile", "units", "space",
    "placed_face", "further_left", "resolving", "payment",
)  # fmt: skip
MOST_STEPS = {"goods": 6, "hand_size": 6, "occupant": 2, "units": 3}
FULL_SCALE = 6  # a count of so many is 1 in the plain feature of an entry


def make_features(steps: bool) -> Features:
    """The entries of an observation, scaled; and a feature for each step of those in `STEPPED`: -1 below it, 1 from it on."""
    rows: list[tuple[int, float, float]] = []
    for field in FIELDS:
        name = field.name.rpartition(".")[2]
        most = min(field.high, MOST_STEPS.get(name, field.high)) if steps and name in STEPPED else 0
        for entry in range(field.start, field.start + field.size):
            rows.append((entry, 0.0, 1 / min(field.high, FULL_SCALE)))
            rows += [(entry, step - 0.5, 2.0) for step in range(2, most + 1)]
    return Features(*np.array(rows).T)
