"""Counting bits with the processor's own instructions, and indices that are checked."""

from __future__ import annotations

from typing import Any

from euphoria_env.engine.jit import jit, native, types


def _population(typing_context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.int64), generate


@native(_population)
def count_bits(word: int) -> int:
    """Returns the number of bits set in a word that is not negative."""
    return int(word).bit_count()


@jit
def lowest_bit(word):
    """Returns the number of the lowest bit set in a word; the word must not be 0."""
    return count_bits((word & -word) - 1)


@jit
def index_from(value, first, n):
    """Returns value - first, an index of one of n things.

    Raises:
        ValueError: it is none; in a row from outside, an operation may be pending for another decision or space.
    """
    if not first <= value < first + n:
        raise ValueError("what is pending in this row is impossible")
    return int(value) - first
