"""The format of network files, and how they are written and read.

A checkpoint is a safetensors file: arrays and one line of JSON, nothing that could be executed. Feature k of an observation is
clip((observation[source[k]] - offset[k]) * scale[k], -1, 1). The features go through the layers of `trunk`, then through those of
`policy` (logits of the moves) or of `value` (the expected sum of rewards). A player may also have win probabilities, which files
call `outlook`: separate layers from the features to a logit for each of six seats, the observer's first; the softmax over the
seats in play gives the probability that each wins. Their first layer may have SEAT_FEATURES more inputs for each of these seats,
the features of `players.search.evaluation` as the observer knows them. A player may have an afterstate head, `afterstates`, of
two layers; its inputs are the columns of a move's afterstate, a 1 for the move, among all, and the last hidden layer of the
policy. Each layer but the last of a part other than `trunk` is followed by a ReLU. The header names the entries of the
observation, the moves and the columns (`network.layouts`). A training run saves its state in the same kind of file.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from euphoria_agents.error_text import missing_library, one_line
from euphoria_agents.files import atomic_write
from euphoria_agents.network.conversion import convert
from euphoria_agents.network.features import Features
from euphoria_agents.network.layouts import description, other_layout, present_layout
from euphoria_env import actions, observations
from euphoria_env.afterstates import FEATURES
from euphoria_env.afterstates import NAMES as CHANGES
from euphoria_env.board import MAX_PLAYERS
from euphoria_env.json_reader import read_json

CHECKPOINT_FORMAT, CHECKPOINT_VERSION = "euphoria-ppo", 3
SEAT_FEATURES, MOST_OF_A_FEATURE = len(FEATURES), 100.0  # the features that describe a seat, and a bound of each
PARTS = ("trunk", "policy", "value", "outlook", "afterstates")


def save_checkpoint(
    path: str | Path, tensors: Mapping[str, np.ndarray], training: Mapping[str, Any], kind: type = np.float32
) -> Path:
    """Writes a checkpoint, whole or not at all.

    Args:
        path: the file; missing folders are made.
        tensors: `features.source` (F,), `.offset`, `.scale`, and for each part and layer `trunk.0.weight` (out, in),
            `trunk.0.bias` (out,), ...
        training: how the network was trained, for people; `reward` and `gamma` in it say what the value means.
        kind: the type of weights and biases, np.float32 or, in half the space, np.float16.

    Raises:
        ValueError: a number is too large for this type; nothing is written.
    """
    for name, tensor in tensors.items():
        if not name.startswith("features.") and np.abs(tensor).max(initial=0) > np.finfo(kind).max:
            raise ValueError(f"{path}: {name} has numbers beyond {np.finfo(kind).max:g}, the most that {np.dtype(kind)} holds")
    kinds = {name: np.float32 if name.startswith("features.") else kind for name in tensors} | {"features.source": np.int32}
    header = {"network": count_layers(tensors), "training": dict(training)}
    return write_tensors(path, CHECKPOINT_FORMAT, {name: tensor.astype(kinds[name]) for name, tensor in tensors.items()}, header)


def count_layers(tensors: Mapping[str, np.ndarray]) -> dict[str, int]:
    """Returns the number of layers in each part."""
    return {part: sum(name.startswith(f"{part}.") for name in tensors) // 2 for part in PARTS}


def write_tensors(path: str | Path, kind: str, tensors: Mapping[str, np.ndarray], facts: Mapping[str, Any]) -> Path:
    """Writes one safetensors file with these tensors, and with `facts` as JSON in its header; see `atomic_write`."""
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    header = {"format": kind, "version": CHECKPOINT_VERSION, **description(), **facts}
    with atomic_write(path) as beside:
        try:
            save_file({n: np.asarray(t, order="C") for n, t in tensors.items()}, beside, {"euphoria": json.dumps(header)})
        except SafetensorError as error:  # safetensors raises it when the disk is full
            raise OSError(*error.args) from error
    return Path(path)


def read_tensors(path: str | Path, kind: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Reads what `write_tensors` wrote; nothing in the file is executed.

    Raises:
        ValueError: there is no such file, or it is damaged or of another kind.
        ImportError: safetensors is not installed.
    """
    try:
        from safetensors import SafetensorError, safe_open
    except ModuleNotFoundError as error:
        if missing_library(error) != "safetensors":
            raise
        raise ImportError("trained players need safetensors: pip install 'euphoria-env[play]'") from error

    if Path(path).exists() and not Path(path).is_file():
        raise ValueError(f"{path} cannot be read as a checkpoint: it is not a regular file")
    try:
        sys.audit("open", str(path), "rb", 0)  # which safetensors leaves out
        with safe_open(path, framework="numpy") as file:
            header = _header(path, file.metadata() or {})
            _check(path, kind, header)
            return header, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dict
    except (OSError, SafetensorError, TypeError, AttributeError) as error:  # the latter two: a type unknown to numpy
        raise ValueError(f"{path} cannot be read as a checkpoint: {one_line(error)}") from error


def _check(path: str | Path, kind: str, header: Mapping[str, Any]) -> None:
    """Checks that a header is of this kind and version, before any tensor is read."""
    if header.get("format") != kind or type(version := header.get("version")) is not int:
        raise ValueError(f"{path} is not a checkpoint of version {CHECKPOINT_VERSION} of this project ({kind})")
    if version != CHECKPOINT_VERSION:
        raise ValueError(f"{path} is a checkpoint of version {version}; this is version {CHECKPOINT_VERSION}")


def _header(path: str | Path, metadata: Mapping[str, str]) -> dict[str, Any]:
    """Returns this project's header in the metadata of a file; empty if there is none."""
    try:
        header = read_json(metadata.get("euphoria", "null"))
    except ValueError as error:
        raise ValueError(f"{path} cannot be read as a checkpoint: {error}") from error
    return header if isinstance(header, dict) else {}


def under(prefix: str, tensors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Returns the tensors whose names begin with a prefix, by the rest of their names."""
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def without_win_probs(tensors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Returns all tensors but those of the win probabilities."""
    return {name: tensor for name, tensor in tensors.items() if not name.startswith("outlook.")}


def read_checkpoint(path: str | Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Reads the header and the tensors of a checkpoint, float16 as float32.

    One of another version of the environment is converted, and a warning says what that one did not know or this one does not.

    Raises:
        ValueError, ImportError: see `read_tensors`; or the file is of another version of the environment, and does not say what
            its inputs and outputs are.
    """
    header, tensors = read_tensors(path, CHECKPOINT_FORMAT)
    tensors = {name: one.astype(np.float32) if one.dtype == np.float16 else one for name, one in tensors.items()}
    try:
        if (old := other_layout(header)) is not None:
            tensors, told = convert(tensors, old), old.difference(present_layout())
            warnings.warn(f"{path} was trained with another version of the environment, and is converted; {told}", stacklevel=2)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return header, tensors


LayerWeights = tuple[np.ndarray, np.ndarray]  # weights and bias
Layers = list[LayerWeights]
_MOST = 1e15  # bounds the outputs of layers, so that products of two and sums of these fit into float32


def _layers(
    path: str | Path, part: str, number: int, tensors: dict[str, np.ndarray], most: np.ndarray
) -> tuple[Layers, np.ndarray]:
    """Returns the layers of a part as (transposed weights, bias), and the bounds of its outputs from those of its inputs, `most`.

    Raises:
        ValueError: tensors are missing, do not fit together, are not finite, or are so large that outputs may overflow.
    """
    layers: Layers = []
    for k in range(number):
        weight, bias = tensors.get(f"{part}.{k}.weight"), tensors.get(f"{part}.{k}.bias")
        if weight is None or bias is None or weight.ndim != 2 or weight.shape[1] != len(most) or bias.shape != weight.shape[:1]:
            raise ValueError(f"{path}: the tensors of {part}.{k} are missing or do not fit")
        if weight.dtype != np.float32 or bias.dtype != np.float32:
            raise ValueError(f"{path}: the tensors of {part}.{k} must be of float32, not {weight.dtype} and {bias.dtype}")
        if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
            raise ValueError(f"{path}: the tensors of {part}.{k} are not finite")
        most = np.abs(weight).astype(np.float64) @ most + np.abs(bias)
        if most.max(initial=0.0) > _MOST:
            raise ValueError(f"{path}: the tensors of {part}.{k} are so large that the outputs may exceed {_MOST:g}")
        layers.append((weight.T, bias))
    return layers, most


def _features(path: str | Path, tensors: dict[str, np.ndarray]) -> Features:
    """Returns the features of a checkpoint; raises a `ValueError` if their tensors are wrong."""
    source, offset, scale = (tensors.get(f"features.{name}", np.zeros(())) for name in ("source", "offset", "scale"))
    if source.ndim != 1 or not len(source) or offset.shape != source.shape or scale.shape != source.shape:
        raise ValueError(f"{path}: the tensors of features are missing or do not fit")
    if source.dtype.kind != "i" or offset.dtype != np.float32 or scale.dtype != np.float32:
        raise ValueError(f"{path}: the tensors of features must be of int32 and float32")
    if not (np.abs(offset) <= _MOST).all() or not (np.abs(scale) <= _MOST).all():
        raise ValueError(f"{path}: the tensors of features are not finite, or more than {_MOST:g}")
    if source.min() < 0 or source.max() >= observations.OBS_SIZE or (np.diff(source) < 0).any():
        raise ValueError(f"{path}: features.source must ascend, from 0 to {observations.OBS_SIZE - 1}")
    return Features(source, offset, scale)


class Parts(NamedTuple):
    """The features of a network, and the layers of its parts; `win_probs` (`outlook` in files) and `afterstates` may be empty."""

    features: Features
    trunk: Layers
    policy: Layers
    value: Layers
    win_probs: Layers
    afterstates: Layers

    @property
    def head_size(self) -> int:
        """The number of hidden units of the afterstate head; 0 without one."""
        return len(self.afterstates[0][1]) if self.afterstates else 0


def parts(tensors: dict[str, np.ndarray], path: str | Path) -> Parts:
    """Returns the parts of a network; takes and raises what `PPO.of` does."""
    network = count_layers(tensors)
    features = _features(path, tensors)
    trunk, shared = _layers(path, "trunk", network["trunk"], tensors, np.ones(len(features.source)))
    policy, logits = _layers(path, "policy", network["policy"], tensors, shared)
    value, values = _layers(path, "value", network["value"], tensors, shared)
    if not (trunk and policy and value):
        raise ValueError(f"{path}: the network lacks a trunk, a policy or a value")
    if (len(logits), len(values)) != (actions.NUM_ACTIONS, 1):
        found = f"{len(logits)} logits and {len(values)} values"
        raise ValueError(f"{path}: the network has {found}, not {actions.NUM_ACTIONS} and 1")
    inputs = np.ones(len(features.source))
    if tensors.get("outlook.0.weight", np.zeros((0, 0))).shape[-1:] == (len(inputs) + SEAT_FEATURES * MAX_PLAYERS,):
        inputs = np.concatenate([inputs, np.full(SEAT_FEATURES * MAX_PLAYERS, MOST_OF_A_FEATURE)])
    win_probs, seats = _layers(path, "outlook", network["outlook"], tensors, inputs)
    if win_probs and (len(win_probs) < 2 or len(seats) != MAX_PLAYERS):
        raise ValueError(
            f"{path}: the outlook has {len(win_probs)} layers and {len(seats)} seats, not at least 2 and {MAX_PLAYERS}"
        )
    return Parts(features, trunk, policy, value, win_probs, _after(path, network["afterstates"], tensors, shared, len(policy)))


def _after(path: str | Path, number: int, tensors: dict[str, np.ndarray], shared: np.ndarray, policies: int) -> Layers:
    """Returns the layers of an afterstate head; `shared` are the bounds of the outputs of the trunk."""
    inputs = np.concatenate([np.full(len(CHANGES), 2 * MOST_OF_A_FEATURE), np.ones(actions.NUM_ACTIONS), shared])
    layers, outputs = _layers(path, "afterstates", number, tensors, inputs)
    if layers and (len(layers), len(outputs), policies) != (2, 1, 1):
        raise ValueError(f"{path}: an afterstate head has two layers and one output, beside a policy of one layer")
    return layers
