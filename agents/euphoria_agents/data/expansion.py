"""The compiled part of loading, which expands sparse rows to arrays."""

from __future__ import annotations

import numpy as np

from euphoria_env.engine.jit import array, entry


@entry(
    "int64[:] int64[:]",
    array(np.int16, read_only=True),
    array(np.int8, read_only=True),
    "int64[:]",
    array(np.int16, read_only=True),
    "int8[:,:] bool_[:,:]",
)
def expand(rows, begins, entries, values, legal_begins, legal, observation, mask):  # type: ignore[no-untyped-def]
    """Writes the observations and action masks of K decisions into arrays of zeros.

    Args:
        rows: int64 (K,), the numbers of the decisions.
        begins, entries, values: the entries that are not 0, in CSR form: where those of each decision begin, int64; their indices
            in the observation, int16; their values, int8.
        legal_begins, legal: the same for the legal moves: where they begin, int64; their action ids, int16.
        observation, mask: int8 (K, OBS_SIZE) and bool (K, NUM_ACTIONS), which are written.
    """
    for k in range(len(rows)):
        row = rows[k]
        for j in range(begins[row], begins[row + 1]):
            observation[k, entries[j]] = values[j]
        for j in range(legal_begins[row], legal_begins[row + 1]):
            mask[k, legal[j]] = True
