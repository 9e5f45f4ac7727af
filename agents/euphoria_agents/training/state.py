"""The part of a run's state that is Stable-Baselines3's: network, optimizer and generators, as arrays and back."""

from __future__ import annotations

import numpy as np
import torch
from sb3_contrib import MaskablePPO


def pack_model(model: MaskablePPO) -> dict[str, np.ndarray]:
    """Network, optimizer and generators as arrays."""
    arrays = {f"policy.{name}": tensor.numpy() for name, tensor in model.policy.state_dict().items()}
    for k, moments in model.policy.optimizer.state_dict()["state"].items():
        arrays |= {f"optimizer.{k}.{name}": tensor.numpy() for name, tensor in moments.items()}
    state = np.random.get_state(legacy=False)["state"]
    return arrays | {
        "torch": torch.get_rng_state().numpy(),
        "numpy": state["key"],
        "numpy.position": np.array([state["pos"]]),
        "starts": model._last_episode_starts,
    }


def unpack_model(model: MaskablePPO, arrays: dict[str, np.ndarray]) -> None:
    """The reverse of `pack_model`."""
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    policy, optimizer = model.policy, model.policy.optimizer
    policy.load_state_dict({name: tensors[f"policy.{name}"] for name in policy.state_dict()})
    state: dict[int, dict[str, torch.Tensor]] = {}
    for name, tensor in tensors.items():
        if name.startswith("optimizer."):
            _, k, what = name.split(".")
            state.setdefault(int(k), {})[what] = tensor.clone()
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
    model._last_episode_starts = arrays["starts"]
    torch.set_rng_state(tensors["torch"])
    generator = {"key": arrays["numpy"], "pos": int(arrays["numpy.position"][0])}
    np.random.set_state({"bit_generator": "MT19937", "state": generator})
