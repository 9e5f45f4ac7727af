"""A trained network inside compiled code: the tensors of a checkpoint in a few flat arrays, evaluated one position at a time.

Its answers are those of `agents.ppo`; here only what the search asks for is computed: zeros are skipped, and of the moves only the
legal ones get a logit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from euphoria_env.actions import NUM_ACTIONS
from euphoria_env.engine.jit import jit
from euphoria_env.engine.observe import fill_observation
from euphoria_env.observations import OBS_SIZE

PARTS = ("trunk", "policy", "value")
TRUNK, POLICY, VALUE = range(len(PARTS))


class Network(NamedTuple):
    """The tensors of a network, and room to evaluate them.

    Attributes:
        source: int64 (F,), the entry of the observation that a feature looks at.
        offset, scale: float32 (F,), a feature is (entry - offset) * scale, clipped to -1 and 1.
        layers: int64 (L, 4), a row for each layer: its part, inputs, outputs, and where it begins among the parameters.
        parameters: float32, of each layer the weights as (in, out), then the bias.
        observation: int8 (OBS_SIZE,), room.
        x, y: float32, room for the widest layer.
        trunk: float32, what came out of the trunk.
    """

    source: np.ndarray
    offset: np.ndarray
    scale: np.ndarray
    layers: np.ndarray
    parameters: np.ndarray
    observation: np.ndarray
    x: np.ndarray
    y: np.ndarray
    trunk: np.ndarray


def no_network() -> Network:
    """What is passed where no network is asked."""
    return build({}, {"features.source": [], "features.offset": [], "features.scale": []})


def build(parts: Mapping[str, int], tensors: Mapping[str, Any]) -> Network:
    """A network from the tensors of a checkpoint, which fit together.

    Args:
        parts: the number of layers of each part.
        tensors: `features.source`, `features.offset`, `features.scale`, and for each part and layer `trunk.0.weight` (out, in),
            `trunk.0.bias` (out,), ...
    """
    source = np.asarray(tensors["features.source"], np.int64)
    rows: list[list[int]] = []
    flat: list[np.ndarray] = []
    start, widest = 0, len(source)
    for part, name in enumerate(PARTS):
        for k in range(parts.get(name, 0)):
            weight, bias = np.asarray(tensors[f"{name}.{k}.weight"]), np.asarray(tensors[f"{name}.{k}.bias"])
            rows.append([part, weight.shape[1], weight.shape[0], start])
            flat += [weight.T.ravel(), bias]
            start += weight.size + bias.size
            widest = max(widest, *weight.shape)
    return Network(
        source,
        np.asarray(tensors["features.offset"], np.float32),
        np.asarray(tensors["features.scale"], np.float32),
        np.array(rows, np.int64).reshape(-1, 4),
        np.concatenate([np.zeros(0), *flat]).astype(np.float32),
        np.zeros(OBS_SIZE, np.int8),
        *(np.zeros(widest, np.float32) for _ in range(3)),
    )


@jit
def features(net):  # type: ignore[no-untyped-def]
    """Writes the features of the observation to x."""
    for k in range(len(net.source)):
        value = (np.float32(net.observation[net.source[k]]) - net.offset[k]) * net.scale[k]
        net.x[k] = min(np.float32(1.0), max(np.float32(-1.0), value))


@jit
def layer(net, row):  # type: ignore[no-untyped-def]
    """Takes x through a layer; the answer is in y."""
    inputs, outputs, start = net.layers[row, 1], net.layers[row, 2], net.layers[row, 3]
    y = net.y[:outputs]
    y[:] = net.parameters[start + inputs * outputs : start + (inputs + 1) * outputs]
    for i in range(inputs):
        x = net.x[i]
        if x != 0.0:
            weights = net.parameters[start + i * outputs : start + (i + 1) * outputs]
            for j in range(outputs):
                y[j] += x * weights[j]


@jit
def rectify(net, width, out):  # type: ignore[no-untyped-def]
    """Writes what is positive of y."""
    for j in range(width):
        out[j] = max(np.float32(0.0), net.y[j])


@jit
def observe(net, g, p):  # type: ignore[no-untyped-def]
    """Takes what a player sees through the trunk."""
    fill_observation(g, p, net.observation)
    features(net)
    width = len(net.source)
    for row in range(len(net.layers)):
        if net.layers[row, 0] == TRUNK:
            layer(net, row)
            width = int(net.layers[row, 2])
            rectify(net, width, net.x)
    net.trunk[:width] = net.x[:width]


@jit
def part_start(net, part):  # type: ignore[no-untyped-def]
    """Brings the trunk to x; the first layer of a part, and the one after its last."""
    net.x[:] = net.trunk
    first = last = 0
    for row in range(len(net.layers)):
        first += net.layers[row, 0] < part
        last += net.layers[row, 0] <= part
    return first, last


@jit
def policy(net, moves, n, priors):  # type: ignore[no-untyped-def]
    """Writes the probabilities of n legal moves, as seen by whoever has observed last."""
    first, last = part_start(net, POLICY)
    for row in range(first, last - 1):
        layer(net, row)
        rectify(net, net.layers[row, 2], net.x)
    inputs, start = net.layers[last - 1, 1], net.layers[last - 1, 3]
    for k in range(n):
        priors[k] = net.parameters[start + inputs * NUM_ACTIONS + moves[k]]
    for i in range(inputs):
        x = net.x[i]
        if x != 0.0:
            weights = net.parameters[start + i * NUM_ACTIONS : start + (i + 1) * NUM_ACTIONS]
            for k in range(n):
                priors[k] += x * weights[moves[k]]
    highest = priors[:n].max()
    total = 0.0
    for k in range(n):
        priors[k] = np.exp(priors[k] - highest)
        total += priors[k]
    for k in range(n):
        priors[k] /= total


@jit
def value(net):  # type: ignore[no-untyped-def]
    """The value of the position for whoever has observed last."""
    first, last = part_start(net, VALUE)
    for row in range(first, last):
        layer(net, row)
        if row < last - 1:
            rectify(net, net.layers[row, 2], net.x)
    return float(net.y[0])
