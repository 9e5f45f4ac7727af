"""Readers of values from JSON and arrays of unknown origin; each error names the field and what is allowed."""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

import numpy as np

Json = dict[str, Any]


class FieldError(ValueError):
    """A field has a value that is not allowed; its key is empty if the whole value is wrong."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(field, reason)
        self.field, self.reason = field, reason

    def __str__(self) -> str:
        separator = " " if self.reason.startswith("must ") else ": "
        return f"{self.field or 'the whole'}{separator}{self.reason}"


def read_integer(key: str, value: Any, low: int, high: int | None = None) -> int:
    """Returns an integer of Python or numpy from `low` to `high` (None: no limit) as an int, or raises a `FieldError`."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < low or (high is not None and value > high):
        limit = "on" if high is None else f"to {high}"
        raise FieldError(key, f"must be an integer from {low} {limit}, not {shown(value)}")
    return int(value)


def read_seed(value: Any) -> int:
    """Returns a seed, which may be any integer, as a signed 64-bit integer; raises a `FieldError` for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise FieldError("seed", f"must be an integer or None, not {shown(value)}")
    return (int(value) + 2**63) % 2**64 - 2**63


class Reader:
    """Reads JSON values. Each method takes the key of the value and raises `FieldError` for a wrong one.

    Args:
        n: the number of players, for values that name players.
    """

    integer = staticmethod(read_integer)

    def __init__(self, n: int = 0) -> None:
        self.n = n

    @staticmethod
    def fail(key: str, reason: str) -> NoReturn:
        """Refuses a value."""
        raise FieldError(key, reason)

    @staticmethod
    def must(key: str, rule: str) -> NoReturn:
        """Refuses a value; `rule` says what it must do or be."""
        raise FieldError(key, f"must {rule}")

    @staticmethod
    def require(condition: object, key: str, reason: str) -> None:
        """Refuses a value unless a condition holds."""
        if not condition:
            raise FieldError(key, reason)

    def mapping(self, key: str, value: Any, allowed: Iterable[str]) -> Json:
        """Returns a copy of an object, all of whose keys are in `allowed`."""
        if not isinstance(value, dict):
            self.must(key, f"be an object, not {shown(value)}")
        allowed = list(allowed)
        for name in value:
            if name not in allowed:
                self.fail(f"{key}.{as_key(name)}" if key else as_key(name), f"no such key; allowed are {', '.join(allowed)}")
        return dict(value)

    def number(self, key: str, value: Any, low: float, high: float) -> float:
        """Returns an integer or a float, of Python or numpy, from `low` to `high` as a float."""
        real = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
        if not real or not low <= value <= high:
            self.must(key, f"be a number from {low} to {high}, not {shown(value)}")
        return float(value)

    def integers(self, key: str, value: Any, shape: tuple[int, ...], low: int, high: int) -> Any:
        """Returns nested lists of this shape, all of whose integers are from `low` to `high`."""
        if not shape:
            return self.integer(key, value, low, high)
        entries = self.items(key, value)
        if len(entries) != shape[0]:
            self.must(key, f"have {shape[0]} entries")
        return [self.integers(f"{key}[{k}]", entry, shape[1:], low, high) for k, entry in enumerate(entries)]

    def boolean(self, key: str, value: Any) -> bool:
        """Returns true or false."""
        if not isinstance(value, bool):
            self.must(key, f"be true or false, not {shown(value)}")
        return bool(value)

    def one_of(self, key: str, value: Any, names: tuple[Any, ...]) -> int:
        """Returns the index of a name in `names`."""
        if not isinstance(value, str | None) or value not in names:
            self.fail(key, f"{shown(value)} is not one of {', '.join(map(str, names))}")
        return names.index(value)

    def items(self, key: str, value: Any) -> list[Any]:
        """Returns a copy of a list."""
        if not isinstance(value, list | tuple):
            self.must(key, f"be a list, not {shown(value)}")
        return list(value)

    def player(self, key: str, value: Any) -> int:
        """Returns the number of a player."""
        return self.integer(key, value, 0, self.n - 1)

    def players(self, key: str, value: Any) -> list[int]:
        """Returns a list of players."""
        return [self.player(f"{key}[{k}]", p) for k, p in enumerate(self.items(key, value))]

    def counts(self, key: str, value: Any, names: tuple[str, ...], most: int) -> list[int]:
        """Returns a count from 0 to `most` for each name, 0 if it is left out."""
        given = self.mapping(key, value, names)
        return [self.integer(f"{key}.{name}", given.get(name, 0), 0, most) for name in names]


BYTE_ORDER_MARK = "\ufeff"  # some editors begin every text with it


def read_json(text: str) -> Any:
    """Returns the value of a JSON text; raises a `ValueError` if it is not JSON, or is nested too deep."""
    try:
        return json.loads(text.removeprefix(BYTE_ORDER_MARK))
    except RecursionError:
        raise ValueError("JSON that is nested too deep") from None


def read_array(
    arrays: Mapping[str, np.ndarray], name: str, shape: tuple[int, ...], kind: Any, low: float = -math.inf, high: float = math.inf
) -> np.ndarray:
    """Returns `arrays[name]`; raises a `FieldError` unless it has this shape, dtype and range, and no infinite values."""
    array = arrays.get(name)
    if not isinstance(array, np.ndarray) or array.shape != shape or array.dtype != kind:
        found = f"not {array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else "but is missing or no array"
        Reader.must(name, f"be {np.dtype(kind)} of shape {shape}, {found}")
    if array.size and not (np.isfinite(array).all() and low <= array.min() and array.max() <= high):
        Reader.must(name, f"be finite numbers from {low} to {high}")
    return array


def read_index(name: str, value: Any, n: int) -> int:
    """Returns an index of one of n things, from 0 to n - 1; negative ones do not count from the end.

    Raises a `TypeError` if it is not an integer, an `IndexError` if it is out of range.
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
    """Returns indices of some of n things as a new int64 array (K,).

    Raises a `TypeError` unless they are integers, a `ValueError` unless they are a list or an array of one dimension, an
    `IndexError` for one that is not from 0 to n - 1.
    """
    given = np.asarray(values)
    if given.ndim != 1:
        raise ValueError(f"{name} must be of one dimension, not of shape {given.shape}")
    if given.size and given.dtype.kind not in "iu":
        raise TypeError(f"{name} must be integers from 0 to {n - 1}, not {given.dtype}")
    if given.size and not (given.min() >= 0 and given.max() < n):
        raise IndexError(f"{name} must be from 0 to {n - 1}, not {given[(given < 0) | (given >= n)].tolist()}")
    return np.array(given, np.int64)


def read_distinct(name: str, values: Any, n: int) -> np.ndarray:
    """Returns indices as `read_indices` does, with its errors; a `ValueError` also names one that comes twice."""
    found = read_indices(name, values, n)
    if len(np.unique(found)) < len(found):
        raise ValueError(f"{name} must be named once each, not {found.tolist()}")
    return found


def as_key(name: Any) -> str:
    """Returns a key for a message; one that is not a short printable text is quoted and cut."""
    return name if isinstance(name, str) and name.isprintable() and len(name) <= 50 else shown(name)


def shown(value: Any) -> str:
    """Returns the repr of a value for a message, cut to 200 characters."""
    try:
        text = repr(value)
    except RecursionError:
        return f"a {type(value).__name__} that is nested too deep"
    return text if len(text) <= 200 else f"{text[:200]}..."
