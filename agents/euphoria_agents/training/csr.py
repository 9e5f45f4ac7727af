"""Sparse lists of numbers in CSR form, such as the rows of observations and the legal moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class CSR(NamedTuple):
    """Lists of different lengths, as in a compressed sparse row matrix without values."""

    indptr: np.ndarray  # int64 (N + 1,), where each list begins in `indices`; the last one is where they all end
    indices: np.ndarray  # int16 or of another type, all lists one after another


def places_of(lists: CSR, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the sizes of the lists `which`, and the places of their numbers in `indices`."""
    sizes = np.diff(lists.indptr)[which]
    starts = lists.indptr[which] - (np.cumsum(sizes) - sizes)
    return sizes, np.repeat(starts, sizes) + np.arange(sizes.sum())


def chosen_lists(lists: CSR, which: np.ndarray, room: int) -> CSR:
    """Returns the lists `which`; their `indptr` gets the length `room`, so that more lists can follow."""
    sizes, places = places_of(lists, which)
    ends = np.zeros(room, np.int64)
    np.cumsum(sizes, out=ends[1 : len(which) + 1])
    return CSR(ends, lists.indices[places])


def join_lists(parts: Sequence[CSR]) -> CSR:
    """Returns all lists of several parts, one after another."""
    sizes = np.concatenate([np.diff(part.indptr) for part in parts])
    return CSR(np.concatenate([[0], np.cumsum(sizes)]), np.concatenate([part.indices for part in parts]))
