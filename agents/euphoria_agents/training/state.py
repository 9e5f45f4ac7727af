"""The state of a training run beyond its games, as arrays: what all workers share, and what each has for itself."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy


def under(prefix: str, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays whose names begin so, by the rest of their names."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def pack_network(policy: MaskableActorCriticPolicy) -> dict[str, np.ndarray]:
    """Network and optimizer, which are the same in all workers."""
    arrays = {f"policy.{name}": tensor.numpy() for name, tensor in policy.state_dict().items()}
    for k, moments in policy.optimizer.state_dict()["state"].items():
        arrays |= {f"optimizer.{k}.{name}": tensor.numpy() for name, tensor in moments.items()}
    return arrays


def unpack_network(policy: MaskableActorCriticPolicy, arrays: Mapping[str, np.ndarray]) -> None:
    """The reverse of `pack_network`."""
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    policy.load_state_dict({name: tensors[f"policy.{name}"] for name in policy.state_dict()})
    state: dict[int, dict[str, torch.Tensor]] = {}
    for name, tensor in tensors.items():
        if name.startswith("optimizer."):
            _, k, what = name.split(".")
            state.setdefault(int(k), {})[what] = tensor.clone()
    policy.optimizer.load_state_dict({**policy.optimizer.state_dict(), "state": state})


def pack_worker(model: MaskablePPO) -> dict[str, np.ndarray]:
    """The generators of a worker, and where its games began."""
    state = np.random.get_state(legacy=False)["state"]
    return {
        "torch": torch.get_rng_state().numpy(),
        "numpy": state["key"],
        "numpy.position": np.array([state["pos"]]),
        "starts": model._last_episode_starts,
    }


def unpack_worker(model: MaskablePPO, arrays: Mapping[str, np.ndarray]) -> None:
    """The reverse of `pack_worker`."""
    model._last_episode_starts = arrays["starts"]
    torch.set_rng_state(torch.from_numpy(arrays["torch"]))
    generator = {"key": arrays["numpy"], "pos": int(arrays["numpy.position"][0])}
    np.random.set_state({"bit_generator": "MT19937", "state": generator})
