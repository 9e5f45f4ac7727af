"""Observations and masks without their zeros, as the compiled parts of the trainer take them (`network.kernels`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from euphoria_agents.network import kernels
from euphoria_agents.network.checkpoint import Features
from euphoria_env.observations import OBS_SIZE


class CSR(NamedTuple):
    """CSR of different lengths.

    Attributes:
        starts: int64, where each row begins in `items`; the last one is where they all end.
        items: int32, all rows one after another.
        which: int64 (n,), the rows that are meant.
    """

    starts: np.ndarray
    items: np.ndarray
    which: np.ndarray

    def size(self) -> int:
        """How many items there are in the rows that are meant."""
        return int((self.starts[self.which + 1] - self.starts[self.which]).sum())


class Seen(NamedTuple):
    """What is seen in observations.

    Attributes:
        active_features: of each observation the numbers of its active_features: entries that are not 0, with what they are.
        ends, features, changes: the features of each reading, and by how much they differ; see `kernels.features_of`.
    """

    active_features: CSR
    ends: np.ndarray
    features: np.ndarray
    changes: np.ndarray


def find_active_features(observations: np.ndarray) -> CSR:
    """The active_features of observations, int8 (n, OBS_SIZE)."""
    starts, room = np.empty(len(observations) + 1, np.int64), np.empty(observations.size + 1, np.int32)
    kernels.find_active_features(observations, starts, room)
    return CSR(starts, room[: starts[-1]].copy(), np.arange(len(observations)))


def find_legal(masks: np.ndarray) -> CSR:
    """The legal moves of masks, (n, NUM_ACTIONS) of booleans."""
    masks = np.ascontiguousarray(masks).view(np.int8)
    starts, legal = np.empty(len(masks) + 1, np.int64), np.empty(np.count_nonzero(masks), np.int32)
    kernels.find_legal(masks, starts, legal)
    return CSR(starts, legal, np.arange(len(masks)))


def join(parts: Sequence[CSR]) -> CSR:
    """All rows of all parts, in their order."""
    sizes = np.concatenate([np.diff(part.starts) for part in parts])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return CSR(starts, np.concatenate([part.items for part in parts]), np.arange(len(sizes)))


def look_up(active_features: CSR, features: Features) -> Seen:
    """What is seen in observations, by their active_features; numbers these in place."""
    room = np.empty((2, OBS_SIZE * kernels.VALUES), np.int32)
    known = room[0, : kernels.number_active_features(active_features.items, room[1], room[0])]
    starts, *others = features.arrays()
    most = int(np.diff(starts)[known // kernels.VALUES].sum())
    ends, index, value = np.empty(len(known) + 1, np.int64), np.empty(most, np.int32), np.empty(most, np.float32)
    kernels.features_of(known, starts, *others, ends, index, value)
    return Seen(active_features, ends, index, value)
