"""Sums of rows of weights in compiled code are those of Python, bit for bit, for any number of columns, rows and inputs."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from euphoria_agents.network.float_vectors import (
    WIDTH,
    add_products,
    add_rows,
    add_weighted_rows,
    aligned_copy,
    positives,
    subtract_rows,
)

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")

SIZES = (1, 15, 16, 63, WIDTH, WIDTH + 17, 2 * WIDTH, 3 * WIDTH + 47)


@numba.njit
def compiled_add(x, table, index, first, last):  # type: ignore[no-untyped-def]
    add_rows(x, table, index, first, last)


@numba.njit
def compiled_subtract(x, table, index, first, last):  # type: ignore[no-untyped-def]
    subtract_rows(x, table, index, first, last)


@numba.njit
def compiled_weighted(x, table, index, factors, first, last):  # type: ignore[no-untyped-def]
    add_weighted_rows(x, table, index, factors, first, last)


@numba.njit
def compiled_products(out, weights, x):  # type: ignore[no-untyped-def]
    add_products(out, weights, x)


@numba.njit
def compiled_positives(x, at):  # type: ignore[no-untyped-def]
    return positives(x, at)


@pytest.mark.parametrize("size", SIZES)
def test_compiled_sums_are_those_of_python(size: int) -> None:
    rng = np.random.default_rng(size)
    table, x = (rng.normal(size=shape).astype(np.float32) for shape in ((40, size), size))
    index, factors = rng.integers(40, size=50).astype(np.int16), rng.normal(size=50).astype(np.float32)
    ones = np.ones(50)
    for plain, compiled, given, times in (
        (add_rows, compiled_add, (), ones),
        (subtract_rows, compiled_subtract, (), -ones),
        (add_weighted_rows, compiled_weighted, (factors,), factors),
    ):
        for first, last in ((0, 0), (3, 4), (0, 8), (5, 20), (1, 50)):
            expected, found = x.copy(), x.copy()
            plain(expected, table, index, *given, first, last)
            compiled(found, table, index, *given, first, last)
            assert np.array_equal(found, expected), (plain.__name__, first, last)
            assert found == pytest.approx(x + times[first:last] @ table[index[first:last]], abs=1e-4)


@pytest.mark.parametrize("size", SIZES)
def test_compiled_products_are_those_of_python(size: int) -> None:
    rng = np.random.default_rng(size)
    for inputs in SIZES:
        out, weights, x = (rng.normal(size=n).astype(np.float32) for n in (size, inputs * size, inputs))
        expected, found = out.copy(), out.copy()
        add_products(expected, weights, x)
        compiled_products(found, weights, x)
        assert np.array_equal(found, expected)
        assert found == pytest.approx(out + np.maximum(x, 0) @ weights.reshape(inputs, size), abs=1e-4)
        for at in range(0, inputs, WIDTH):
            assert (
                compiled_positives(x, at) % 2**64
                == positives(x, at)
                == sum(1 << k for k, one in enumerate(x[at : at + WIDTH]) if one > 0)
            )


def test_aligned_copies_begin_a_line() -> None:
    for shape in ((3,), (7, 5), (0, 4), (1000, 256)):
        array = np.random.default_rng(0).normal(size=shape)
        copy = aligned_copy(array)
        assert copy.ctypes.data % 64 == 0 or not copy.size
        assert copy.dtype == np.float32 and copy.flags.c_contiguous and np.array_equal(copy, array.astype(np.float32))
