"""`ppo:PATH`: a network trained by MaskablePPO, kept in a file of tensors.

A checkpoint is a safetensors file: arrays and one line of JSON, nothing that could be executed. It is played with numpy;
PyTorch is only needed to train. The network takes the observation times `scale` through the layers of `trunk`, then through
those of `policy` (logits of the moves) or of `value` (the expected reward); each but the last is followed by a rectifier.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from agents.base import Agent, int8_rows
from euphoria_env import actions, observations

if TYPE_CHECKING:
    from euphoria_env import Game

FORMAT, VERSION = "euphoria-ppo", 1
PARTS = ("trunk", "policy", "value")


def layout() -> dict[str, Any]:
    """What a network depends on: sizes of observation and action space, and a hash of the meaning of every entry."""
    fields = [(field.name, field.start, field.size) for field in observations.table()]
    digest = hashlib.blake2b(repr((fields, actions.NAMES)).encode(), digest_size=8)
    return {"observations": observations.OBS_SIZE, "actions": actions.NUM_ACTIONS, "layout": digest.hexdigest()}


def save_checkpoint(path: str | Path, tensors: Mapping[str, np.ndarray], training: Mapping[str, Any]) -> Path:
    """Writes a checkpoint whole: beside its place first, then renamed.

    Args:
        path: where; missing folders are made.
        tensors: `scale` (OBS_SIZE,), and for each part and layer `trunk.0.weight` (out, in), `trunk.0.bias` (out,), ...
        training: how it came about, to be read by people.
    """
    from safetensors.numpy import save_file

    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    network = {part: sum(name.startswith(f"{part}.") for name in tensors) // 2 for part in PARTS}
    header = {"format": FORMAT, "version": VERSION, **layout(), "network": network, "training": dict(training)}
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        save_file(
            {name: np.ascontiguousarray(tensor, np.float32) for name, tensor in tensors.items()},
            beside,
            {"euphoria": json.dumps(header)},
        )
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
    return path


def read_checkpoint(path: str | Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Reads header and tensors of a checkpoint; nothing in the file is executed.

    Raises:
        ValueError: there is no such file, it is damaged, or it belongs to other observations or actions.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            header = json.loads((file.metadata() or {}).get("euphoria", "null"))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dict
    except (OSError, SafetensorError, ValueError) as error:
        raise ValueError(f"{path} cannot be read as a checkpoint: {error}") from error
    if not isinstance(header, dict) or (header.get("format"), header.get("version")) != (FORMAT, VERSION):
        raise ValueError(f"{path} is no checkpoint of version {VERSION} of this project")
    for key, value in layout().items():
        if header.get(key) != value:
            raise ValueError(
                f"{path} was trained with another version of the environment: its {key} is {header.get(key)!r}, "
                f"that of this one {value!r}"
            )
    return header, tensors


Layers = list[tuple[np.ndarray, np.ndarray]]


def _layers(path: str | Path, part: str, number: int, tensors: dict[str, np.ndarray], width: int) -> tuple[Layers, int]:
    """The layers of a part as (transposed weights, bias), and their width; `width` is that of what goes in."""
    layers: Layers = []
    for k in range(number):
        weight, bias = tensors.get(f"{part}.{k}.weight"), tensors.get(f"{part}.{k}.bias")
        if weight is None or bias is None or weight.ndim != 2 or weight.shape[1] != width or bias.shape != weight.shape[:1]:
            raise ValueError(f"{path}: the tensors of {part}.{k} are missing or do not fit")
        if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
            raise ValueError(f"{path}: the tensors of {part}.{k} are not finite")
        layers.append((np.ascontiguousarray(weight.T), bias))
        width = len(bias)
    return layers, width


class PPO(Agent):
    """Plays a trained policy: draws each move with the probability that the network gives it.

    Args:
        scale: what each entry of the observation is multiplied with.
        layers: of trunk and policy, as (in, out) weights and bias.
    """

    def __init__(self, scale: np.ndarray, layers: Layers) -> None:
        self._scale = scale
        self._layers = layers

    @classmethod
    def load(cls, path: str | Path) -> PPO:
        """Reads a checkpoint.

        Raises:
            ValueError: see `read_checkpoint`, or the tensors do not fit together.
        """
        header, tensors = read_checkpoint(path)
        network, scale = header.get("network"), tensors.get("scale")
        if not isinstance(network, dict) or any(not isinstance(network.get(part), int) for part in PARTS):
            raise ValueError(f"{path}: the header does not describe the network")
        if scale is None or scale.shape != (observations.OBS_SIZE,):
            raise ValueError(f"{path}: the tensor scale is missing or does not fit")
        trunk, width = _layers(path, "trunk", network["trunk"], tensors, observations.OBS_SIZE)
        policy, width = _layers(path, "policy", network["policy"], tensors, width)
        if width != actions.NUM_ACTIONS or not policy:
            raise ValueError(f"{path}: the policy has {width} outputs, not {actions.NUM_ACTIONS}")
        return cls(scale, trunk + policy)

    def logits(self, observations_: np.ndarray) -> np.ndarray:
        """The logits of all moves: float32 (N, NUM_ACTIONS)."""
        x = observations_ * self._scale
        for k, (weight, bias) in enumerate(self._layers):
            if k:
                np.maximum(x, 0.0, out=x)
            x = x @ weight + bias
        return x

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Game | None = None) -> int:
        """Chooses a move; see `Agent.act`."""
        return int(self.act_batch(observation, mask, rng)[0])

    def act_batch(self, observations: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Chooses a move in each game; see `Agent.act_batch`.

        Raises:
            ValueError: a mask has no legal move.
        """
        legal = int8_rows(masks) != 0
        if not legal.any(axis=1).all():
            raise ValueError("a mask has no legal move: has the game ended?")
        logits = np.where(legal, self.logits(int8_rows(observations)), -np.inf)
        chances = np.exp(logits - logits.max(axis=1, keepdims=True)).cumsum(axis=1)
        spins = rng.random((len(chances), 1)) * chances[:, -1:]
        return (chances > spins).argmax(axis=1)
