"""The network as PyTorch trains it: a wide sparse first layer, a trunk, a policy head and a value head."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from euphoria_agents.network.checkpoint import Layers, parts, without_win_probs
from euphoria_agents.network.compiled_layers import NO_HEAD, AfterstateHead, Policy
from euphoria_agents.network.features import Features
from euphoria_agents.network.float_vectors import aligned_copy
from euphoria_agents.network.weight_layout import features_of_rows, flatten, row_begins
from euphoria_agents.training import kernels
from euphoria_agents.training.csr import CSR
from euphoria_env.actions import NUM_ACTIONS
from euphoria_env.engine.features import NUM_CHANGES

FIRST_SPREAD = 0.06  # standard deviation of the first layer's initial weights
MOST_ROWS = 2**15  # so that int16 can number them
_NONE, _NAMES = np.empty(0), ("weight", "bias")


class FirstLayer(nn.Module):
    """A linear layer on the features of observations, computed from the rows of each observation (`training.kernels`).

    Args:
        features: the features, its inputs.
        width: the number of its outputs.

    Attributes:
        weight, bias: (features, width) and (width,).
        begins: int64 (OBS_SIZE + 1,), the first row of each entry of the observation.
        row_features: the features that each row changes; see `network.weight_layout.RowFeatures`.
    """

    def __init__(self, features: Features, width: int) -> None:
        super().__init__()
        self.features = features
        self.weight = nn.Parameter(torch.randn(len(features.source), width) * FIRST_SPREAD)
        self.bias = nn.Parameter(torch.zeros(width))
        self.begins = row_begins(features)
        if self.rows > MOST_ROWS:
            raise ValueError(f"the features of the network make {self.rows} rows, more than {MOST_ROWS}")
        self.row_features = features_of_rows(features, self.begins)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.begins[-1])

    def of(self, rows: CSR, which: np.ndarray) -> Tensor:
        """Returns the layer's outputs, before the ReLU, (N, width), for the observations `which`, given as lists of rows."""
        found: Tensor = _AddRows.apply(self.weight, self.bias, self, rows, which)
        return found

    def room_for_groups(self, rows: CSR, which: np.ndarray, firsts: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Returns the arrays that `kernels.group_by_row` fills, for the parts of `which` that begin at `firsts`."""
        ends = np.empty((len(firsts), self.rows + 2), np.int64)
        starts = np.concatenate([[0], np.cumsum(rows.indptr[which + 1] - rows.indptr[which])])
        ends[:, 0] = starts[list(firsts)]
        return ends, np.empty(starts[-1], np.int32)

    def table(self) -> np.ndarray:
        """Returns what each row adds to the layer, float32 (rows, width)."""
        weight = self.weight.detach().numpy()
        table = torch.empty(self.rows, weight.shape[1]).numpy()
        kernels.weigh_rows(self.row_features, weight, 0, self.rows, table)
        return table

    def tensors(self, name: str) -> dict[str, np.ndarray]:
        """Returns the layer as a checkpoint has it.

        There the bias is the output if all features are 0, here the output for an observation of zeros.
        """
        weight, bias = self.weight.detach().numpy(), self.bias.detach().numpy()
        return {f"{name}.weight": weight.T, f"{name}.bias": bias - self.features.rest @ weight}

    def load(self, weight: np.ndarray, bias: np.ndarray) -> None:
        """Sets the parameters to a layer as a checkpoint has it."""
        self.weight.copy_(torch.from_numpy(weight.T))
        self.bias.copy_(torch.from_numpy(bias + self.features.rest @ weight.T))


class _AddRows(torch.autograd.Function):
    """Computes `FirstLayer` by kernels, three times as fast as PyTorch's embedding bag; only weight and bias get gradients."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, bias: Tensor, layer: FirstLayer, rows: CSR, which: np.ndarray) -> Tensor:
        ctx.seen = layer, rows, which, weight.shape
        out = np.empty((len(which), weight.shape[1]), np.float32)
        kernels.first_layer(rows, which, layer.table(), bias.detach().numpy(), out)
        return torch.from_numpy(out)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        layer, rows, which, shape = ctx.seen
        by_weight = np.empty(shape, np.float32)
        ends, decisions = layer.room_for_groups(rows, which, [0])
        kernels.group_by_row(rows, which, 0, len(which), ends[0], decisions)
        by_out = gradient.contiguous().numpy()
        kernels.first_layer_back(ends, decisions, by_out, layer.row_features, 0, layer.rows, by_weight)
        return torch.from_numpy(by_weight), gradient.sum(0), None, None, None


def linear(size_in: int, size_out: int, gain: float) -> nn.Linear:
    """Returns a layer with orthogonal weights and a bias of zeros."""
    made = nn.Linear(size_in, size_out)
    nn.init.orthogonal_(made.weight, gain)
    nn.init.zeros_(made.bias)
    return made


def hidden_layers(size: int, sizes: Sequence[int]) -> nn.ModuleList:
    """Returns hidden layers of these widths, the first for `size` inputs."""
    return nn.ModuleList(linear(a, b, 2**0.5) for a, b in itertools.pairwise([size, *sizes]))


def relu_layers(layers: Any, x: Tensor) -> Tensor:
    """Applies layers to x, each followed by a ReLU."""
    for one in layers:
        x = torch.relu(one(x))
    return x


def layer_tensors(name: str, layer: nn.Linear) -> dict[str, np.ndarray]:
    """Returns the tensors of a layer as a checkpoint has them."""
    return {f"{name}.weight": layer.weight.detach().numpy(), f"{name}.bias": layer.bias.detach().numpy()}


def load_layer(name: str, layer: nn.Linear, tensors: dict[str, np.ndarray]) -> None:
    """Sets the parameters of a layer to the tensors of a checkpoint."""
    layer.weight.copy_(torch.from_numpy(tensors[f"{name}.weight"]))
    layer.bias.copy_(torch.from_numpy(tensors[f"{name}.bias"]))


def must_fit(mine: dict[str, np.ndarray], theirs: dict[str, np.ndarray], path: str | Path) -> None:
    """Raises a `ValueError` unless the tensors from a file have the names, shapes and features of a network."""
    for name in mine | theirs:
        one, other = mine.get(name, _NONE), theirs.get(name, _NONE)
        if one.shape != other.shape or (name.startswith("features.") and (one != other).any()):
            raise ValueError(f"{path} is of another network: {name} differs")


class AfterstateLayers(nn.Module):
    """An afterstate head, as `network.afterstate_head` computes it; at first it corrects nothing.

    Args:
        width: the width of the policy's last hidden layer.
        size: the number of hidden units.
    """

    def __init__(self, width: int, size: int) -> None:
        super().__init__()
        self.changes, self.moves = (
            nn.Parameter(torch.randn(NUM_CHANGES, size) * 0.1),
            nn.Parameter(torch.zeros(NUM_ACTIONS, size)),
        )
        self.shared, self.out = nn.Parameter(torch.randn(width, size) * 0.02), nn.Parameter(torch.zeros(size))

    def tensors(self) -> dict[str, np.ndarray]:
        """Returns the head as a checkpoint has it; no bias is apart from the moves."""
        weight = torch.cat([self.changes, self.moves, self.shared]).detach().numpy().T
        out = self.out.detach().numpy()[None]
        layers = (weight, np.zeros(len(weight), np.float32)), (out, np.zeros(1, np.float32))
        return {f"afterstates.{k}.{name}": one for k, layer in enumerate(layers) for name, one in zip(_NAMES, layer, strict=True)}

    def load(self, tensors: dict[str, np.ndarray]) -> None:
        """Sets the parameters to the tensors of a checkpoint."""
        changes, moves, shared = np.split(tensors["afterstates.0.weight"].T, [NUM_CHANGES, NUM_CHANGES + NUM_ACTIONS])
        given = changes, moves + tensors["afterstates.0.bias"], shared, tensors["afterstates.1.weight"][0]
        for parameter, one in zip(self.parameters(), given, strict=True):
            parameter.copy_(torch.from_numpy(np.ascontiguousarray(one)))


def head_arrays(changes: Tensor, moves: Tensor, shared: Tensor, out: Tensor) -> AfterstateHead:
    """Returns the parameters of an afterstate head, or their gradients, for compiled code, not copied."""
    return AfterstateHead(*(one.detach().numpy() for one in (changes, moves, shared.view(-1), out)))


class Network(nn.Module):
    """The network of policy and value.

    Args:
        features: its inputs.
        trunk: the widths of the hidden layers, which policy and value share; at least one.
        afterstates: the number of hidden units of the afterstate head; 0: it has none.
    """

    def __init__(self, features: Features, trunk: Sequence[int], afterstates: int = 0) -> None:
        super().__init__()
        self.first = FirstLayer(features, trunk[0])
        self.trunk = hidden_layers(trunk[0], trunk[1:])
        self.head, self.value_head = linear(trunk[-1], NUM_ACTIONS, 0.01), linear(trunk[-1], 1, 1.0)
        self.afterstates = AfterstateLayers(trunk[-1], afterstates) if afterstates else None

    def later(self, first: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the last layer of the trunk, (N, width), and the values, (N,), from the first layer, (N, width)."""
        last = relu_layers(self.trunk, torch.relu(first))
        return last, self.value_head(last)[:, 0]

    def layers(self) -> Iterator[tuple[str, Any]]:
        """Yields all layers but the first, with their names in a checkpoint."""
        for k, one in enumerate(self.trunk, start=1):
            yield f"trunk.{k}", one
        yield from (("policy.0", self.head), ("value.0", self.value_head))

    def afterstate_head(self) -> AfterstateHead:
        """Returns the afterstate head for compiled code, not copied; one without hidden units if the network has none."""
        return head_arrays(*self.afterstates.parameters()) if self.afterstates else NO_HEAD

    def player(self) -> Policy:
        """Returns a copy of the network for `play_kernels.play_actor_games`, which does not change while the network learns."""
        bias = self.first.bias.detach().numpy()
        hidden: Layers = [(np.zeros((0, len(bias)), np.float32), bias)]
        for one in self.trunk:
            hidden.append((one.weight.detach().numpy().T, one.bias.detach().numpy()))
        weights, table = flatten(hidden)
        parameters = self.head.weight, self.head.bias, self.value_head.weight[0], self.value_head.bias
        move, shift, worth, level = (aligned_copy(one.detach().numpy()) for one in parameters)
        head = AfterstateHead(*map(aligned_copy, self.afterstate_head()))
        return Policy(self.first.begins, self.first.table(), weights, table, move, shift, worth, level, head)

    def tensors(self) -> dict[str, np.ndarray]:
        """Returns the tensors of the network as a checkpoint has them; see `network.checkpoint`."""
        found = self.first.features.tensors() | self.first.tensors("trunk.0")
        for name, one in self.layers():
            found |= layer_tensors(name, one)
        found |= self.afterstates.tensors() if self.afterstates else {}
        return {name: tensor.copy() for name, tensor in found.items()}

    def load(self, tensors: dict[str, np.ndarray], path: str | Path = "the checkpoint") -> None:
        """Sets the parameters to the tensors of a checkpoint.

        Args:
            tensors: as `tensors` returns them; the layers of the win probabilities are ignored.
            path: the path of their file, for error messages.

        Raises:
            ValueError: they do not fit together, or the network has other widths or features.
        """
        parts(tensors, path)
        must_fit(self.tensors(), without_win_probs(tensors), path)
        with torch.no_grad():
            self.first.load(tensors["trunk.0.weight"], tensors["trunk.0.bias"])
            for name, one in self.layers():
                load_layer(name, one, tensors)
            if self.afterstates:
                self.afterstates.load(tensors)
