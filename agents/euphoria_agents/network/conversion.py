"""Converts the tensors of a network to the present layout: what goes in and comes out keeps its name, and with it its weights.

What is new gets weights of 0, which training can change: a new entry of the observation counts for nothing, and a new move has
the logit 0. What is gone counts as 0 in the observation. Where a value stands for a name, as the tile of a market does, the names
may be numbered otherwise; a new one counts as the mean of the others.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np

from euphoria_agents.network.features import FULL_SCALE, Features, make_features
from euphoria_agents.network.layouts import Layout, present_layout
from euphoria_env.board import MAX_PLAYERS


def convert(tensors: Mapping[str, np.ndarray], old: Layout) -> dict[str, np.ndarray]:
    """Returns the tensors of a network (`network.checkpoint`) of another layout for the present one.

    Raises:
        ValueError: the tensors do not fit the old layout.
    """
    try:
        return _converted(tensors, old, present_layout())
    except (KeyError, IndexError, ValueError) as error:
        raise ValueError(f"the tensors do not fit the layout that the file names: {error}") from None


def by_name(array: np.ndarray, old: tuple[str, ...], new: tuple[str, ...], axis: int = 0) -> np.ndarray:
    """Returns an array, along one axis of which the names `old` stand, with those of `new`, and 0 for names that are not old."""
    if array.shape[axis] != len(old):
        raise ValueError(f"an axis of {array.shape[axis]} for {len(old)} names")
    places = {name: k for k, name in enumerate(old)}
    index = np.array([places.get(name, len(old)) for name in new])
    return np.take(np.pad(array, [(0, int(k == axis)) for k in range(array.ndim)]), index, axis)


def _converted(tensors: Mapping[str, np.ndarray], old: Layout, new: Layout) -> dict[str, np.ndarray]:
    source, *_ = given = [tensors[f"features.{name}"] for name in ("source", "offset", "scale")]
    if source.min() < 0 or source.max() >= len(old.entries) or (np.diff(source) < 0).any():
        raise ValueError("features of other entries")
    inputs = _Inputs(*given)
    inputs.take_over(old, new)
    found = {**tensors, **inputs.features()}
    for layer in ("trunk.0", "outlook.0"):
        if (weight := tensors.get(f"{layer}.weight")) is not None:
            own, seats = np.split(weight, [len(source)], axis=1)
            converted, found[f"{layer}.bias"] = inputs.combine(own, tensors[f"{layer}.bias"])
            found[f"{layer}.weight"] = np.concatenate([converted, _seats(seats, old, new)], axis=1)
    last = f"policy.{sum(name.startswith('policy.') for name in tensors) // 2 - 1}"
    for name in (f"{last}.weight", f"{last}.bias"):
        found[name] = by_name(tensors[name], old.actions, new.actions)
    if (weight := tensors.get("afterstates.0.weight")) is not None:
        changes, moves, shared = np.split(weight, np.cumsum([len(old.columns), len(old.actions)]), axis=1)
        if shared.shape[1] != tensors[f"{last}.weight"].shape[1]:
            raise ValueError("the inputs of an afterstate head")
        known = by_name(changes, old.columns, new.columns, axis=1), by_name(moves, old.actions, new.actions, axis=1)
        found["afterstates.0.weight"] = np.concatenate([*known, shared], axis=1)
    return found


def _seats(weight: np.ndarray, old: Layout, new: Layout) -> np.ndarray:
    """Returns the weights of the features of all seats, one seat after the other; there may be none."""
    if not weight.size:
        return weight
    seats = by_name(weight.reshape(len(weight), MAX_PLAYERS, -1), old.features, new.features, axis=2)
    return seats.reshape(len(weight), -1)


class _Inputs:
    """The features of a network of another layout, and how their weights follow from those of the old ones.

    Args:
        source, offset, scale: the old features; see `network.checkpoint.Features`.
    """

    def __init__(self, source: np.ndarray, offset: np.ndarray, scale: np.ndarray) -> None:
        self._source, self._offset, self._scale = source, offset, scale
        self._rows: list[tuple[int, Any, Any]] = []  # source, offset, scale of each new feature
        self._links: list[tuple[int, int, float]] = []  # a new feature, an old one, and how much of its weights it gets
        self._bias = np.zeros(len(source))  # how much of the weights of each old feature the bias gets

    def _table(self, features: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Returns old features for values of their entry, float64 (features, values)."""
        offset, scale = (one[features, None].astype(np.float64) for one in (self._offset, self._scale))
        found: np.ndarray = np.clip((values - offset) * scale, -1, 1)
        return found

    def take_over(self, old: Layout, new: Layout) -> None:
        """Makes the features of each entry of the new layout."""
        ends = np.searchsorted(self._source, np.arange(len(old.entries) + 1))
        features_of = dict(zip(old.entries, itertools.starmap(np.arange, itertools.pairwise(ends)), strict=True))
        fresh = make_features()
        for entry, (name, values) in enumerate(new.entries.items()):
            if name not in old.entries:
                self._rows += [(entry, fresh.offset[k], fresh.scale[k]) for k in np.flatnonzero(fresh.source == entry)]
            elif old.entries[name] in (values, ()) or not values:
                self._keep(entry, features_of[name])
            else:
                self._recode(entry, features_of[name], old.entries[name], values)
        for name, features in features_of.items():
            if name not in new.entries:
                self._bias[features] += self._table(features, np.zeros(1))[:, 0]

    def _keep(self, entry: int, features: np.ndarray) -> None:
        for k in features.tolist():
            self._links.append((len(self._rows), k, 1.0))
            self._rows.append((entry, self._offset[k], self._scale[k]))

    def _recode(self, entry: int, features: np.ndarray, old: tuple[str, ...], new: tuple[str, ...]) -> None:
        """Makes the features of an entry whose values have other names in the new layout."""
        codes = np.array([0, *(old.index(value) + 1 if value in old else -1 for value in new)])
        table, values = self._table(features, np.arange(len(old) + 1)), np.arange(len(codes))
        wanted = np.where(codes < 0, table[:, 1:].mean(1, keepdims=True), table[:, codes])  # by value, how much of each feature
        if len(features) < 2 and (self._table(features, values) == wanted)[:, codes >= 0].all():
            return self._keep(entry, features)
        plain = np.minimum(values / min(len(new), FULL_SCALE), 1)
        first = (wanted[:, 1] - wanted[:, 0]) / plain[1]
        steps = (np.diff(wanted) - first[:, None] * np.diff(plain))[:, 1:] / 2  # each is -1 below its value, and 1 from it on
        self._bias[features] += wanted[:, 0] + steps.sum(1)
        rows = [(0.0, plain[1]), *((value - 0.5, 2.0) for value in values[2:])]
        for row, shares in zip(rows, [first, *steps.T], strict=True):
            self._links += [(len(self._rows), feature, share) for feature, share in zip(features.tolist(), shares, strict=True)]
            self._rows.append((entry, *row))

    def features(self) -> dict[str, np.ndarray]:
        """Returns the tensors of the new features."""
        return Features(*np.array(self._rows, np.float64).T).tensors()

    def combine(self, weight: np.ndarray, bias: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns the weights of the new features, (out, in), and the bias, from those of the old ones."""
        if weight.shape != (len(bias), len(self._bias)):
            raise ValueError("a first layer")
        row, feature, share = np.array(self._links).T
        rows, starts = np.unique(row.astype(int), return_index=True)
        found = np.zeros((len(bias), len(self._rows)), np.float32)
        found[:, rows] = np.add.reduceat(share * weight[:, feature.astype(int)], starts, axis=1)
        return found, (bias + weight @ self._bias).astype(np.float32)
