"""The part of a run's state that is Stable-Baselines3's, as arrays and back: what workers share, and what each has for itself."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from sb3_contrib import MaskablePPO

from euphoria_agents.network.checkpoint import parts
from euphoria_env.json_reader import Reader, read_array


def pack_network(model: MaskablePPO) -> dict[str, np.ndarray]:
    """Network and optimizer, which are the same in all workers."""
    arrays = {f"policy.{name}": tensor.cpu().numpy() for name, tensor in model.policy.state_dict().items()}
    for k, moments in model.policy.optimizer.state_dict()["state"].items():
        arrays |= {f"optimizer.{k}.{name}": tensor.cpu().numpy() for name, tensor in moments.items()}
    return arrays


def unpack_network(model: MaskablePPO, arrays: Mapping[str, np.ndarray]) -> None:
    """The reverse of `pack_network`.

    Raises:
        ValueError: an array is missing, does not fit the model, or has values that cannot be; names it.
    """
    policy, optimizer = model.policy, model.policy.optimizer
    tensors = {name: _tensor(arrays, f"policy.{name}", tensor) for name, tensor in policy.state_dict().items()}
    state = _read_moments(arrays, list(policy.parameters()), 1.01 * model.max_grad_norm)  # and something for rounding
    policy.load_state_dict(tensors)
    parts(policy.tensors(), "policy")
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})


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
    """The reverse of `pack_worker`; errors as of `unpack_network`."""
    starts = read_array(arrays, "starts", (model.n_envs,), np.bool_)
    generator, key, position = _read_generators(arrays)
    model._last_episode_starts = starts
    torch.set_rng_state(generator)
    np.random.set_state({"bit_generator": "MT19937", "state": {"key": key, "pos": position}})


def _tensor(
    arrays: Mapping[str, np.ndarray], name: str, like: torch.Tensor, low: float = -np.inf, high: float = np.inf
) -> torch.Tensor:
    """An array as a tensor of its own, if it is of the shape of another, and finite and of a range."""
    return torch.from_numpy(read_array(arrays, name, tuple(like.shape), np.float32, low, high).copy())


def _read_moments(
    arrays: Mapping[str, np.ndarray], parameters: list[torch.nn.Parameter], steepest: float
) -> dict[int, dict[str, torch.Tensor]]:
    """What Adam keeps of each parameter, whose gradients are cut to `steepest`; nothing before the first update."""
    if not any(name.startswith("optimizer.") for name in arrays):
        return {}
    scalar = torch.zeros(())
    return {
        k: {
            "step": _tensor(arrays, f"optimizer.{k}.step", scalar, 1),
            "exp_avg": _tensor(arrays, f"optimizer.{k}.exp_avg", parameter, -steepest, steepest),
            "exp_avg_sq": _tensor(arrays, f"optimizer.{k}.exp_avg_sq", parameter, 0, steepest**2),
        }
        for k, parameter in enumerate(parameters)
    }


def _read_generators(arrays: Mapping[str, np.ndarray]) -> tuple[torch.Tensor, np.ndarray, int]:
    """The state of torch's generator, and key and position of numpy's."""
    generator = torch.from_numpy(read_array(arrays, "torch", tuple(torch.get_rng_state().shape), np.uint8))
    try:
        torch.Generator().set_state(generator)
    except RuntimeError:
        Reader.fail("torch", "is no state of its generator")
    key = read_array(arrays, "numpy", (624,), np.uint32)
    return generator, key, int(read_array(arrays, "numpy.position", (1,), np.int64, 0, len(key))[0])
