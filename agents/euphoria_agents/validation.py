"""Validates data from files and requests against typed classes (msgspec); every error names the key."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from euphoria_agents.files import read_whole

T = TypeVar("T")
_DESCRIBED: dict[str, str] = {}  # by regular expression, as messages show it: what fits


def described(pattern: str, what: str) -> msgspec.Meta:
    """The constraint of a text that must match a regular expression; messages name what is allowed in words."""
    _DESCRIBED[repr(pattern)] = what
    return msgspec.Meta(pattern=pattern)


def checked(value: Any, kind: type[T], name: str = "", strict: bool = True) -> T:
    """Converts plain data, as `json.loads` gives it, to a type.

    Args:
        value: dicts, lists, texts, numbers, booleans and None.
        kind: a `msgspec.Struct` or another type that msgspec knows; ranges are given by `msgspec.Meta`.
        name: the key of the value itself, for messages.
        strict: False: a text may stand for a number or a boolean, as in the query of an address.

    Raises:
        ValueError: the value does not fit; the message names the key and what is allowed.
    """
    try:
        return msgspec.convert(value, kind, strict=strict)
    except msgspec.ValidationError as error:
        raise ValueError(_sentence(str(error), name)) from None


def decoded(text: str | bytes, kind: type[T], name: str = "") -> T:
    """Reads a JSON text as a type, as `checked` does; raises a `ValueError` if it is not JSON, or does not fit."""
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.ValidationError as error:
        raise ValueError(_sentence(str(error), name)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"{name or 'the text'} is not valid JSON: {error}") from None


def decoded_lines(path: Path, kind: type[T]) -> Iterator[T]:
    """Yields the lines of a file as a type, none if it does not exist; leaves out lines that do not fit, such as a torn one."""
    for line in read_whole(path).splitlines() if path.exists() else ():
        with contextlib.suppress(ValueError):
            yield decoded(line, kind)


def _sentence(message: str, name: str) -> str:
    """Puts msgspec's message after the key: "Expected `int` >= 1 - at `$.seats[2]`" becomes "seats[2]: expected int >= 1"."""
    what, _, path = message.replace("`", "").partition(" - at ")
    key = (name + path.removeprefix("$")).removeprefix(".")
    expected, _, pattern = what.partition("str matching regex ")
    what = expected + _DESCRIBED[pattern] if pattern in _DESCRIBED else what
    what = what[0].lower() + what[1:]
    return f"{key}: {what}" if key else what
