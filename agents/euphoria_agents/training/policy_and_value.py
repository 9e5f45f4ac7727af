"""A player's network as a PyTorch module, to be trained further, and back to a player."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn

from euphoria_agents.network import checkpoint
from euphoria_agents.network.checkpoint import Layers, Parts
from euphoria_agents.network.features import Features, make_features
from euphoria_agents.training.network import layer_tensors, linear
from euphoria_env.actions import NUM_ACTIONS


class PolicyAndValue(nn.Module):
    """The policy and the value of a player.

    Args:
        parts: the network, as `network.checkpoint.parts` returns it.
        training: how it was trained, for the header of its file; `reward` and `gamma` say what the value means.

    Win probabilities and the afterstate head go along unchanged: they were learned for the policy as it was.
    """

    def __init__(self, parts: Parts, training: Mapping[str, Any]) -> None:
        super().__init__()
        self.parts, self.header = parts, dict(training)
        features = parts.features
        for name, array in (("source", features.source.astype(np.int64)), ("offset", features.offset), ("scale", features.scale)):
            self.register_buffer(name, torch.from_numpy(array))
        self.trunk, self.policy, self.value = map(_linear_layers, (parts.trunk, parts.policy, parts.value))

    @classmethod
    def new(cls, trunk: Sequence[int] = (256, 128), features: Features | None = None) -> Self:
        """Returns a module that has not learned yet: hidden layers of these widths, and one layer for each of its answers."""
        features = features or make_features()
        sizes = [len(features.source), *trunk]
        hidden = [linear(a, b, 2**0.5) for a, b in zip(sizes, sizes[1:], strict=False)]
        heads = linear(sizes[-1], NUM_ACTIONS, 0.01), linear(sizes[-1], 1, 1.0)
        trunk_layers, policy, value = ([_arrays(one) for one in part] for part in (hidden, heads[:1], heads[1:]))
        return cls(Parts(features, trunk_layers, policy, value, [], []), {"reward": "win"})

    def forward(self, observations: Tensor, masks: Tensor) -> tuple[Tensor, Tensor]:
        """Answers as `PPO.policy_and_values` does.

        Args:
            observations, masks: (N, OBS_SIZE) and (N, NUM_ACTIONS), of any types.

        Returns:
            The log-probabilities of all moves, (N, NUM_ACTIONS), -inf where one is illegal; and the values, (N,).
        """
        x = ((observations[:, self.source].float() - self.offset) * self.scale).clamp(-1, 1)
        for layer in self.trunk:
            x = torch.relu(layer(x))
        logits, values = _outputs(self.policy, x), _outputs(self.value, x)
        return torch.log_softmax(logits.masked_fill(~masks.bool(), -torch.inf), -1), values[:, 0]

    def tensors(self) -> dict[str, np.ndarray]:
        """Returns the tensors of a checkpoint; see `network.checkpoint`."""
        found = self.parts.features.tensors()
        for name in ("trunk", "policy", "value"):
            for k, layer in enumerate(getattr(self, name)):
                found |= layer_tensors(f"{name}.{k}", layer)
        for file_name, layers in (("outlook", self.parts.win_probs), ("afterstates", self.parts.afterstates)):
            for k, (weight, bias) in enumerate(layers):
                found |= {f"{file_name}.{k}.weight": weight.T, f"{file_name}.{k}.bias": bias}
        return found


def save_checkpoint(module: PolicyAndValue, path: str | Path) -> Path:
    """Writes a module as the file of a player, `ppo:PATH`, whole or not at all.

    Raises:
        TypeError: the module is not a `PolicyAndValue` (`ppo.as_torch()`, `PolicyAndValue.new()`).
        ValueError: a parameter is not finite, or too large; nothing is written.
    """
    if not isinstance(module, PolicyAndValue):
        raise TypeError(f"save_checkpoint takes a PolicyAndValue, such as ppo.as_torch() returns, not {type(module).__name__}")
    tensors = module.tensors()
    checkpoint.parts(tensors, path)  # checks them
    return checkpoint.save_checkpoint(path, tensors, module.header)


def _linear_layers(layers: Layers) -> nn.ModuleList:
    """Returns layers with these (in, out) weights and biases."""
    made = nn.ModuleList(nn.Linear(*weight.shape) for weight, _ in layers)
    with torch.no_grad():
        for one, (weight, bias) in zip(made, layers, strict=True):
            one.weight.copy_(torch.from_numpy(np.ascontiguousarray(weight.T)))
            one.bias.copy_(torch.from_numpy(np.ascontiguousarray(bias)))
    return made


def _arrays(layer: nn.Linear) -> tuple[np.ndarray, np.ndarray]:
    return layer.weight.detach().numpy().T, layer.bias.detach().numpy()


def _outputs(layers: nn.ModuleList, x: Tensor) -> Tensor:
    """Applies layers, each but the last followed by a ReLU."""
    *hidden, last = layers
    for layer in hidden:
        x = torch.relu(layer(x))
    found: Tensor = last(x)
    return found
