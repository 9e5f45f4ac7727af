"""Observations and masks without their zeros, as the compiled parts of the trainer take them (`network.compiled_layers`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from euphoria_agents.network import compiled_layers
from euphoria_agents.network.checkpoint import Features
from euphoria_env.observations import OBS_SIZE


class CSR(NamedTuple):
    """Rows of different lengths, as in a compressed sparse row matrix without values.

    Attributes:
        indptr: int64, where each row begins in `indices`; the last one is where they all end.
        indices: int32, all rows one after another.
        which: int64 (n,), the rows that are meant.
    """

    indptr: np.ndarray
    indices: np.ndarray
    which: np.ndarray

    def size(self) -> int:
        """The number of indices in the rows that are meant."""
        return int((self.indptr[self.which + 1] - self.indptr[self.which]).sum())


class Seen(NamedTuple):
    """Observations as their active features: entries that are not 0, with their values.

    Attributes:
        active_features: the numbers of the active features of each observation.
        ends, features, changes: the features of the network that each active feature changes, and by how much; see
            `compiled_layers.features_of`.
    """

    active_features: CSR
    ends: np.ndarray
    features: np.ndarray
    changes: np.ndarray


def find_active_features(observations: np.ndarray) -> CSR:
    """The active features of observations, int8 (n, OBS_SIZE)."""
    indptr, indices = np.empty(len(observations) + 1, np.int64), np.empty(observations.size + 1, np.int32)
    compiled_layers.find_active_features(observations, indptr, indices)
    return CSR(indptr, indices[: indptr[-1]].copy(), np.arange(len(observations)))


def find_legal(masks: np.ndarray) -> CSR:
    """The legal moves of masks, (n, NUM_ACTIONS) of booleans."""
    masks = np.ascontiguousarray(masks).view(np.int8)
    indptr, legal = np.empty(len(masks) + 1, np.int64), np.empty(np.count_nonzero(masks), np.int32)
    compiled_layers.find_legal(masks, indptr, legal)
    return CSR(indptr, legal, np.arange(len(masks)))


def join(parts: Sequence[CSR]) -> CSR:
    """All rows of all parts, in their order."""
    sizes = np.concatenate([np.diff(part.indptr) for part in parts])
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    return CSR(indptr, np.concatenate([part.indices for part in parts]), np.arange(len(sizes)))


def look_up(active_features: CSR, features: Features) -> Seen:
    """Looks up the features that active features change; numbers these in place."""
    known, numbers = np.empty((2, OBS_SIZE * compiled_layers.VALUES), np.int32)
    known = known[: compiled_layers.number_active_features(active_features.indices, numbers, known)]
    starts, *others = features.arrays()
    most = int(np.diff(starts)[known // compiled_layers.VALUES].sum())
    ends, index, value = np.empty(len(known) + 1, np.int64), np.empty(most, np.int32), np.empty(most, np.float32)
    compiled_layers.features_of(known, starts, *others, ends, index, value)
    return Seen(active_features, ends, index, value)
