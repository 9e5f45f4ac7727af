"""Work on 64 bytes at once, for which numba has no words: sets of bytes that differ, bits spread over bytes, memory loaded ahead.

The caller sees to it that the bytes exist: nothing here is checked, whatever the settings of numba.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from euphoria_env.engine.jit import native

WIDTH = 64
_LINE = 64  # bytes that processors load at once
_BYTE, _WORD, _NUMBER = ir.IntType(8), ir.IntType(64), ir.IntType(32)
_BYTES = ir.VectorType(_BYTE, WIDTH)


def _place(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    """Returns a pointer to entry `at` of an array of single bytes."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), _BYTE.as_pointer())


def _load(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    place = _place(context, builder, kind, array, at)
    return builder.load(builder.bitcast(place, _BYTES.as_pointer()), align=1)


def _differ(typing_context: Any, x: Any, y: Any, at: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        first, second = (_load(context, builder, signature.args[k], arguments[k], arguments[2]) for k in (0, 1))
        return builder.bitcast(builder.icmp_signed("!=", first, second), _WORD)

    return types.int64(x, y, types.int64), generate


@native(_differ)
def differing(x: Any, y: Any, at: int) -> int:
    """Returns which of 64 entries of two int8 arrays, from `at` on, differ, as a set of bits."""
    return sum(1 << k for k in range(WIDTH) if x[at + k] != y[at + k])


def _differ_from(typing_context: Any, x: Any, value: Any, at: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        one = builder.insert_element(ir.Constant(_BYTES, ir.Undefined), builder.trunc(arguments[1], _BYTE), _NUMBER(0))
        all_of_it = builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(_NUMBER, WIDTH), [0] * WIDTH))
        found = _load(context, builder, signature.args[0], arguments[0], arguments[2])
        return builder.bitcast(builder.icmp_signed("!=", found, all_of_it), _WORD)

    return types.int64(x, types.int64, types.int64), generate


@native(_differ_from)
def differing_from(x: Any, value: int, at: int) -> int:
    """Returns which of 64 entries of an int8 array, from `at` on, differ from a value of int8, as a set of bits.

    If the array has fewer, as a field of a row may, the caller masks the bits beyond its end.
    """
    return sum(1 << k for k, entry in enumerate(x[at : at + WIDTH]) if entry != value)


def _spread(typing_context: Any, bits: Any, out: Any, at: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature.args[1], arguments[1], arguments[2])
        bytes_ = builder.zext(builder.bitcast(arguments[0], ir.VectorType(ir.IntType(1), WIDTH)), _BYTES)
        builder.store(bytes_, builder.bitcast(place, _BYTES.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.none(types.int64, out, types.int64), generate


@native(_spread)
def spread_bits(bits: int, out: Any, at: int) -> None:
    """Writes the bits of a word as 64 entries of a bool or int8 array, from `at` on, the lowest first."""
    for k in range(WIDTH):
        out[at + k] = (bits >> k) & 1


def prefetcher(size: int) -> Any:
    """Returns a function that asks the processor to load `size` bytes of an array, from entry `at` on, to be written."""

    def prefetch(typing_context: Any, array: Any, at: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            first = _place(context, builder, signature.args[0], *arguments)
            kind = ir.FunctionType(ir.VoidType(), [first.type, _NUMBER, _NUMBER, _NUMBER])
            call = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
            for line in range(0, size, _LINE):
                builder.call(call, [builder.gep(first, [_NUMBER(line)]), _NUMBER(1), _NUMBER(3), _NUMBER(1)])
            return context.get_dummy_value()

        return types.none(array, types.int64), generate

    return native(prefetch)(lambda array, at: None)
