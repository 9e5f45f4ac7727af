"""Converts decisions that another version of the environment collected to the present layout, by name (`network.layouts`)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from euphoria_agents.data.parquet import LISTS, Columns
from euphoria_agents.network.layouts import Layout, present_layout
from euphoria_agents.training.csr import CSR

_VALUES = 128  # an entry of an observation is from 0 to 127


def convert(columns: Columns, old: Layout) -> Columns:
    """Returns decisions with the places and numbers that entries, values and moves have now; those that are gone are left out.

    Raises:
        ValueError: a move that was played is gone; the message names it.
    """
    new = present_layout()
    moves, entries = _places(old.actions, new.actions), _places(old.entries, new.entries)
    played = columns.scalars["action"]
    if gone := sorted({old.actions[action] for action in np.unique(played) if moves[action] < 0}):
        raise ValueError(f"the data set has moves that are gone: {', '.join(gone)}")
    codes, lists = _codes(old, new), {"legal": _kept(columns.lists["legal"], moves[columns.lists["legal"].indices])}
    for name, number in (("entries", "values"), ("final_entries", "final_values")):
        places, values = (columns.lists[key] for key in (name, number))
        known = entries[places.indices]
        lists[name] = _kept(places, known)
        lists[number] = _kept(values, np.where(known < 0, -1, codes[places.indices, values.indices]))
    scalars = {**columns.scalars, "action": moves[played].astype(played.dtype)}
    return Columns(scalars, {name: CSR(lists[name].indptr, lists[name].indices.astype(kind)) for name, kind in LISTS.items()})


def _places(old: Iterable[str], new: Iterable[str]) -> np.ndarray:
    """Returns the place of each old name among the new ones; -1 if it is gone."""
    places = {name: k for k, name in enumerate(new)}
    return np.array([places.get(name, -1) for name in old])


def _codes(old: Layout, new: Layout) -> np.ndarray:
    """Returns what each value of an old entry is now, (entries, _VALUES); values that stand for names may have other numbers."""
    codes = np.tile(np.arange(_VALUES), (len(old.entries), 1))
    for row, (name, values) in zip(codes, old.entries.items(), strict=True):
        row[1 : len(values) + 1] = _places(values, new.entries.get(name) or values) + 1
    return codes


def _kept(lists: CSR, found: np.ndarray) -> CSR:
    """Returns lists with the numbers that were found in place of their own; those that are negative are left out."""
    keep = found >= 0
    return CSR(np.concatenate([[0], np.cumsum(keep)])[lists.indptr], found[keep])
