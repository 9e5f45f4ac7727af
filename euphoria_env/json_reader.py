"""Reading values out of JSON and arrays that may come from anywhere; every complaint names the key."""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

import numpy as np

Json = dict[str, Any]


class Reader:
    """Reads values, of a game of n players where it matters.

    Raises:
        ValueError: by each method, for a wrong value; the message names the key.
    """

    def __init__(self, n: int = 0) -> None:
        self.n = n

    @staticmethod
    def fail(key: str, message: str) -> NoReturn:
        """Refuses a value."""
        raise ValueError(f"{key}: {message}")

    @staticmethod
    def must(key: str, rule: str) -> NoReturn:
        """Refuses a value, and says what it must be instead."""
        raise ValueError(f"{key} must {rule}")

    def mapping(self, key: str, value: Any, allowed: Iterable[str]) -> Json:
        """An object with keys out of `allowed`."""
        allowed = list(allowed)
        if not isinstance(value, dict):
            self.must(key or "the whole", f"be an object, not {shown(value)}")
        for name in value:
            if name not in allowed:
                self.fail(f"{key}.{as_key(name)}" if key else as_key(name), f"no such key; allowed are {', '.join(allowed)}")
        return dict(value)

    def integer(self, key: str, value: Any, low: int, high: int) -> int:
        """An integer of a range."""
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            self.must(key, f"be an integer from {low} to {high}, not {shown(value)}")
        return int(value)

    def number(self, key: str, value: Any, low: float, high: float) -> float:
        """A number of a range, whole or not."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            self.must(key, f"be a number from {low} to {high}, not {shown(value)}")
        return float(value)

    def integers(self, key: str, value: Any, shape: tuple[int, ...], low: int, high: int) -> list[int]:
        """All the integers of nested lists of this shape, one after another."""
        if not shape:
            return [self.integer(key, value, low, high)]
        entries = self.items(key, value)
        if len(entries) != shape[0]:
            self.must(key, f"have {shape[0]} entries")
        return [x for k, entry in enumerate(entries) for x in self.integers(f"{key}[{k}]", entry, shape[1:], low, high)]

    def boolean(self, key: str, value: Any) -> bool:
        """True or false."""
        if not isinstance(value, bool):
            self.must(key, f"be true or false, not {shown(value)}")
        return bool(value)

    def text(self, key: str, value: Any) -> str:
        """A text."""
        if not isinstance(value, str):
            self.must(key, f"be a text, not {shown(value)}")
        return str(value)

    def one_of(self, key: str, value: Any, names: tuple[Any, ...]) -> int:
        """The position of a name in a tuple of names."""
        if not isinstance(value, str | None) or value not in names:
            self.fail(key, f"{shown(value)} is not one of {', '.join(str(name) for name in names)}")
        return names.index(value)

    def items(self, key: str, value: Any) -> list[Any]:
        """A list."""
        if not isinstance(value, list | tuple):
            self.must(key, f"be a list, not {shown(value)}")
        return list(value)

    def players(self, key: str, value: Any) -> list[int]:
        """A list of players."""
        return [self.integer(f"{key}[{k}]", p, 0, self.n - 1) for k, p in enumerate(self.items(key, value))]

    def counts(self, key: str, value: Any, names: tuple[str, ...], most: int) -> list[int]:
        """Counts by name; 0 for what is left out."""
        given = self.mapping(key, value, names)
        return [self.integer(f"{key}.{name}", given.get(name, 0), 0, most) for name in names]


BYTE_ORDER_MARK = "\ufeff"  # some editors begin every text with it


def read_json(text: str) -> Any:
    """The value of a JSON text, with or without a byte-order mark.

    Raises:
        ValueError: the text is not JSON, or is nested too deep to be read.
    """
    try:
        return json.loads(text.removeprefix(BYTE_ORDER_MARK))
    except RecursionError:
        raise ValueError("JSON that is nested too deep") from None


def read_array(
    arrays: Mapping[str, np.ndarray], name: str, shape: tuple[int, ...], kind: Any, low: float = -math.inf, high: float = math.inf
) -> np.ndarray:
    """One of several arrays, of this shape and type, with finite values of a range.

    Raises:
        ValueError: it is missing, of another shape or type, or has other values; names it.
    """
    array = arrays.get(name)
    if not isinstance(array, np.ndarray) or array.shape != shape or array.dtype != kind:
        found = f"not {array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else "but is missing or no array"
        Reader.must(name, f"be {np.dtype(kind)} of shape {shape}, {found}")
    if array.size and not (np.isfinite(array).all() and low <= array.min() and array.max() <= high):
        Reader.must(name, f"be finite numbers from {low} to {high}")
    return array


def read_index(name: str, value: Any, n: int) -> int:
    """The number of one of n things, from 0 to n - 1; none counts from the end.

    Raises:
        TypeError: it is not an integer.
        IndexError: there is no such thing.
    """
    try:
        index = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        index = None
    if index is None:
        raise TypeError(f"{name} must be an integer from 0 to {n - 1}, not {shown(value)}")
    if not 0 <= index < n:
        raise IndexError(f"{name} must be from 0 to {n - 1}, not {index}")
    return index


def read_indices(name: str, values: Any, n: int) -> np.ndarray:
    """The numbers of some of n things, as `read_index` takes each: a fresh int64 array (K,).

    Raises:
        TypeError: they are not integers.
        ValueError: they are not a list, or an array of one dimension.
        IndexError: there is no such thing.
    """
    given = np.asarray(values)
    if given.ndim != 1:
        raise ValueError(f"{name} must be of one dimension, not of shape {given.shape}")
    if given.size and given.dtype.kind not in "iu":
        raise TypeError(f"{name} must be integers from 0 to {n - 1}, not {given.dtype}")
    if given.size and not (given.min() >= 0 and given.max() < n):
        raise IndexError(f"{name} must be from 0 to {n - 1}, not {given[(given < 0) | (given >= n)].tolist()}")
    return np.array(given, np.int64)


def as_key(name: Any) -> str:
    """A key that may be anything, for a message: as it is, or quoted and cut if it is not a short text in one line."""
    return name if isinstance(name, str) and name.isprintable() and len(name) <= 50 else shown(name)


def shown(value: Any) -> str:
    """A value for a message, cut where it is long or nested too deep to be written out."""
    try:
        text = repr(value)
    except RecursionError:
        return f"a {type(value).__name__} that is nested too deep"
    return text if len(text) <= 200 else f"{text[:200]}..."
