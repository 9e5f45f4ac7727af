"""Commands that people type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class TypedCommand(NamedTuple, Generic[T]):
    """A command.

    Attributes:
        form: how it is typed.
        help: what it does.
        do: takes what follows the first word.
    """

    form: str
    help: str
    do: Callable[[str], T]


def by_word(*commands: TypedCommand[T]) -> dict[str, TypedCommand[T]]:
    """Commands by their first words."""
    return {command.form.partition(" ")[0]: command for command in commands}
