"""A network laid out for the compiled layers (`network.compiled_layers`): inputs as rows to add up, all layers in one array."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from euphoria_agents.network.checkpoint import Features, Layers
from euphoria_agents.network.compiled_layers import VALUES
from euphoria_env.observations import OBS_SIZE


def active_feature_rows(features: Features, layers: Layers) -> tuple[np.ndarray, np.ndarray, Layers]:
    """Sums up what each active feature, an entry that is not 0 with its value, adds to the first layer.

    Args:
        features: what goes in.
        layers: as (in, out) weights and bias.

    Returns:
        int64 (OBS_SIZE + 1,), where the rows of each entry begin, those of 1, 2, ... up to a value beyond which all are the same;
        the rows, float32 (R, out); and the layers, of which the first has nothing left but the bias.
    """
    (weight, bias), *others = layers
    source, rest = features.source, features.rest
    seen = np.arange(1, VALUES, dtype=np.float32)
    changes = features.at(seen) - rest[:, None]
    differ = changes != changes[:, -1:]
    settled = np.where(differ.any(1), VALUES - differ[:, ::-1].argmax(1), 1)  # the value from which a feature stays as it is
    most = np.zeros(OBS_SIZE, np.int64)
    np.maximum.at(most, source, settled)
    begins = np.concatenate([[0], np.cumsum(most)])
    rows = np.zeros((begins[-1], weight.shape[1]), np.float32)
    for value in range(1, int(most.max()) + 1):
        (chosen,) = (most[source] >= value).nonzero()
        entries, firsts = np.unique(source[chosen], return_index=True)
        rows[begins[entries] + value - 1] = np.add.reduceat(changes[chosen, value - 1, None] * weight[chosen], firsts)
    return begins, rows, [(weight[:0], bias + rest @ weight), *others]


def flatten(groups: Sequence[Layers]) -> tuple[np.ndarray, list[np.ndarray]]:
    """The weights of groups of layers in one array, and of each group a table.

    Returns:
        float32, of each layer the (in, out) weights, then the bias; and int64 (layers, 3) for each group: where the weights of
        the layer begin, its inputs, its outputs.
    """
    flat, tables, start = [np.zeros(0)], [], 0
    for layers in groups:
        table = np.zeros((len(layers), 3), np.int64)
        for row, (weight, bias) in zip(table, layers, strict=True):
            row[:] = start, *weight.shape
            flat += [weight.ravel(), bias]
            start += weight.size + bias.size
        tables.append(table)
    return np.concatenate(flat).astype(np.float32), tables
