"""The functions that numba compiles to single instructions do what their plain-Python versions do, for all places and values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest

from euphoria_env.engine.byte_vectors import WIDTH, differing, differing_from, lanes, spread_bits, where

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")

SIZE = 3 * WIDTH


@numba.njit
def compiled_differing(x, y, at):  # type: ignore[no-untyped-def]
    return differing(x, y, at)


@numba.njit
def compiled_differing_from(x, value, at):  # type: ignore[no-untyped-def]
    return differing_from(x, value, at)


@numba.njit
def compiled_spread(bits, out, at):  # type: ignore[no-untyped-def]
    spread_bits(bits, out, at)


def as_set(word: int) -> int:
    """Returns a word of 64 bits as plain Python has it, without a sign."""
    return word & (1 << WIDTH) - 1


@pytest.mark.parametrize("at", range(SIZE - WIDTH + 1))
def test_sets_of_bytes_that_differ(at: int) -> None:
    rng = np.random.default_rng(at)
    for values in ([-1, 0], [-128, 127], [0, 1, 2, 3], np.arange(-128, 128)):
        x, y = rng.choice(np.array(values, np.int8), (2, SIZE))
        assert as_set(compiled_differing(x, y, at)) == differing(x, y, at)
        for value in {int(x[at]), int(x[at + WIDTH - 1]), -128, -1, 0, 127}:
            assert as_set(compiled_differing_from(x, value, at)) == differing_from(x, value, at)
    for k in range(WIDTH):  # each entry alone
        x = np.zeros(SIZE, np.int8)
        x[at + k] = -1
        assert as_set(compiled_differing(x, np.zeros(SIZE, np.int8), at)) == as_set(compiled_differing_from(x, 0, at)) == 1 << k


@pytest.mark.parametrize("dtype", [np.bool_, np.int8])
@pytest.mark.parametrize("spread", [spread_bits, compiled_spread])
def test_bits_become_bytes_and_nothing_else_changes(dtype: type, spread: Callable[..., Any]) -> None:
    rng = np.random.default_rng(5)
    words = [0, -1, 1, -(2**63), 2**63 - 1, *rng.integers(-(2**63), 2**63 - 1, 200).tolist()]
    for k, word in enumerate(words):
        at, out = k % (SIZE - WIDTH + 1), rng.integers(0, 2, SIZE).astype(dtype)
        expected = out.copy()
        expected[at : at + WIDTH] = [as_set(word) >> bit & 1 for bit in range(WIDTH)]
        spread(word, out, at)
        np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("dtype", [np.int8, np.int16])
@pytest.mark.parametrize("width", [1, 2, 3, 7, 16, 18, 45, WIDTH, WIDTH + 1, 2 * WIDTH])
def test_lanes_write_what_their_function_says_and_nothing_else(width: int, dtype: type) -> None:
    write = lanes(width, lambda x, y, a, b: where(x < a, x + y, where(y == b, x & 15, -1)), 2)

    @numba.njit
    def compiled(out, at, x, first, y, second, a, b):  # type: ignore[no-untyped-def]
        write(out, at, x, first, y, second, a, b)

    rng = np.random.default_rng(width)
    for _ in range(50):
        x, y = rng.integers(-50, 51, (2, SIZE)).astype(dtype)
        at, first, second = rng.integers(0, SIZE - width, 3).tolist()
        found, expected = np.full((2, SIZE), 99, np.int8)
        write(expected, at, x, first, y, second, 10, int(y[second]))
        compiled(found, at, x, first, y, second, 10, int(y[second]))
        np.testing.assert_array_equal(found, expected)
        assert (expected[:at] == 99).all() and (expected[at + width :] == 99).all()
        assert expected[at] == (x[first] + y[second] if x[first] < 10 else x[first] & 15)
