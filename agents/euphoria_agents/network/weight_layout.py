"""Lays out a network for `network.compiled_layers`: the first layer as a table of rows to add up, the others in one array.

A *row* stands for one value, from 1 on, of one entry of the observation. The first layer is the sum of an observation's rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from euphoria_agents.network.checkpoint import Layers, LayerWeights
from euphoria_agents.network.compiled_layers import NO_HEAD, VALUES, AfterstateHead, Policy
from euphoria_agents.network.features import Features
from euphoria_agents.network.float_vectors import aligned_copy
from euphoria_env.actions import NUM_ACTIONS
from euphoria_env.engine.features import NUM_CHANGES
from euphoria_env.observations import OBS_SIZE

NO_LAYER = np.zeros((0, 0), np.float32), np.zeros(0, np.float32)
NO_LAYERS: Layers = []


class RowFeatures(NamedTuple):
    """For each row, the features that its value changes, compared with an observation of zeros, in CSR form."""

    ends: np.ndarray  # int64 (R + 1,), where the features of each row begin in the next two arrays, and end
    feature: np.ndarray  # int32, the numbers of the features
    value: np.ndarray  # float32, by how much they change


def row_begins(features: Features) -> np.ndarray:
    """Returns the number of the first row of each entry of the observation, int64 (OBS_SIZE + 1,).

    An entry has a row for each of the values 1, 2, ... up to the value from which its features no longer change.
    """
    seen = np.arange(1, VALUES, dtype=np.float32)
    changes = features.at(seen)
    differ = changes != changes[:, -1:]
    settled = np.where(differ.any(1), VALUES - differ[:, ::-1].argmax(1), 1)
    most = np.zeros(OBS_SIZE, np.int64)
    np.maximum.at(most, features.source, settled)
    return np.concatenate([[0], np.cumsum(most)])


def features_of_rows(features: Features, begins: np.ndarray) -> RowFeatures:
    """Returns the features that each row changes; `begins` comes from `row_begins`."""
    sizes = np.diff(begins)
    entry = np.repeat(np.arange(OBS_SIZE), sizes)
    seen = np.arange(begins[-1]) - begins[entry] + 1
    first = np.searchsorted(features.source, entry)
    count = np.searchsorted(features.source, entry, "right") - first
    row = np.repeat(np.arange(len(entry)), count)
    index = first[row] + np.arange(len(row)) - (np.cumsum(count) - count)[row]
    x = (seen[row].astype(np.float32) - features.offset[index]) * features.scale[index]
    change = np.clip(x, -1, 1) - features.rest[index]
    differs = change != 0
    ends = np.concatenate([[0], np.cumsum(np.bincount(row[differs], minlength=len(entry)))])
    return RowFeatures(ends, index[differs].astype(np.int32), change[differs])


def active_feature_rows(features: Features, layers: Layers) -> tuple[np.ndarray, np.ndarray, Layers]:
    """Computes what each row adds to the first layer.

    Args:
        features: the inputs of the first layer.
        layers: all layers, as (in, out) weights and bias.

    Returns:
        `row_begins`; the rows, float32 (R, out); and the layers, the first of which has no weights left, only its bias.
    """
    (weight, bias), *others = layers
    begins = row_begins(features)
    ends, index, change = features_of_rows(features, begins)
    rows = np.zeros((begins[-1], weight.shape[1]), np.float32)
    (some,) = np.nonzero(np.diff(ends))
    rows[some] = np.add.reduceat(change[:, None] * weight[index], ends[some]) if len(some) else 0
    resting = (features.rest[:, None] * weight.astype(np.float64)).sum(0)  # in a fixed order, which a matrix product has not
    return begins, rows, [(weight[:0], (bias + resting).astype(np.float32)), *others]


def flatten(layers: Layers) -> tuple[np.ndarray, np.ndarray]:
    """Joins the weights of layers in one array.

    Returns:
        A float32 array with the (in, out) weights and then the bias of each layer; and a table, int64 (layers, 3), of where each
        layer begins in it, its number of inputs and its number of outputs.
    """
    flat, table, start = [np.zeros(0)], np.zeros((len(layers), 3), np.int64), 0
    for row, (weight, bias) in zip(table, layers, strict=True):
        row[:] = start, *weight.shape
        flat += [weight.ravel(), bias]
        start += weight.size + bias.size
    return aligned_copy(np.concatenate(flat)), table


def lay_out_head(layers: Layers) -> AfterstateHead:
    """Lays out an afterstate head, if there are layers; the bias of its output changes no probability and is left out."""
    if not layers:
        return NO_HEAD
    (weight, bias), (out, _) = layers
    changes, moves, shared = np.split(weight, [NUM_CHANGES, NUM_CHANGES + NUM_ACTIONS])
    return AfterstateHead(*map(aligned_copy, (changes, moves + bias, shared.ravel(), out.ravel())))


def lay_out(
    features: Features, hidden: Layers, head: LayerWeights, value: LayerWeights = NO_LAYER, afterstates: Layers = NO_LAYERS
) -> Policy:
    """Lays out hidden layers, a policy head, perhaps a value head and an afterstate head for the compiled layers.

    Their weights are (in, out).
    """
    begins, rows, hidden = active_feature_rows(features, hidden)
    weights, table = flatten(hidden)
    move, bias, worth, shift = map(aligned_copy, (head[0].T, head[1], value[0].ravel(), value[1]))
    return Policy(begins, aligned_copy(rows), weights, table, move, bias, worth, shift, lay_out_head(afterstates))
