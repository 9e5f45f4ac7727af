"""Work on 64 bytes at once, for which numba has no words: sets of bytes that differ, bits spread over bytes, memory loaded ahead.

The caller sees to it that the bytes exist: nothing here is checked, whatever the settings of numba.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature, signature
from typing import Any

import numpy as np
from llvmlite import ir

from euphoria_env.engine.jit import cgutils, native, types

WIDTH = 64
_LINE = 64  # bytes that processors load at once
_BYTE, _WORD, _NUMBER = ir.IntType(8), ir.IntType(64), ir.IntType(32)
_BYTES = ir.VectorType(_BYTE, WIDTH)


def _place(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    """Returns a pointer to entry `at` of an array, as one to bytes."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), _BYTE.as_pointer())


def _load(context: Any, builder: Any, kind: Any, array: Any, at: Any, shape: Any = _BYTES) -> Any:
    place = _place(context, builder, kind, array, at)
    return builder.load(builder.bitcast(place, shape.as_pointer()), align=1)


def _fill(builder: Any, shape: Any, number: Any) -> Any:
    """Returns a vector that has a number everywhere."""
    one = builder.insert_element(ir.Constant(shape, ir.Undefined), builder.trunc(number, shape.element), _NUMBER(0))
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(_NUMBER, shape.count), [0] * shape.count))


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
        found = _load(context, builder, signature.args[0], arguments[0], arguments[2])
        return builder.bitcast(builder.icmp_signed("!=", found, _fill(builder, _BYTES, arguments[1])), _WORD)

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
    out[at : at + WIDTH] = [(bits >> k) & 1 for k in range(WIDTH)]


def _operator(method: str, *sign: str) -> Any:
    return lambda x, y: _Lanes(x.builder, x.shape, getattr(x.builder, method)(*sign, x.value, x.same(y)))


class _Lanes:
    """A vector of numbers, or of conditions on them, with the operators of Python."""

    def __init__(self, builder: Any, shape: Any, value: Any) -> None:
        self.builder, self.shape, self.value = builder, shape, value

    def same(self, number: Any) -> Any:
        """Returns the vector of LLVM for one of these or for an integer."""
        return number.value if isinstance(number, _Lanes) else ir.Constant(self.shape, [number] * self.shape.count)

    __add__, __and__ = _operator("add"), _operator("and_")
    __lt__, __eq__ = _operator("icmp_signed", "<"), _operator("icmp_signed", "==")


def where(condition: Any, yes: Any, no: Any) -> Any:
    """Returns one of two numbers, in a function for `lanes`."""
    if isinstance(condition, _Lanes):
        builder, shape = condition.builder, condition.shape
        return _Lanes(builder, shape, builder.select(condition.value, condition.same(yes), condition.same(no)))
    return yes if condition else no


def lanes(width: int, function: Callable[..., Any], sources: int = 1) -> Any:
    """Returns a function that writes `width` entries of an int8 array at once, from the entries of other arrays and from numbers.

    It takes the array and where to begin; the same of each of the `sources`, arrays of one type; and the numbers. `function` says
    what entry k becomes: it takes entry k of each source, then the numbers, and may use `where`, +, &, < and ==. Entries that lie
    beyond the ends of a source have any value.
    """
    numbers = len(signature(function).parameters) - sources
    size = 1 << min(width, WIDTH).bit_length() - 1
    firsts = [min(first, width - size) for first in range(0, width, size)]  # the last of the vectors may overlap the one before

    def apply(typing_context: Any, out: Any, at: Any, *given: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            shape = ir.VectorType(context.get_data_type(given[0].dtype), size)
            values = [_Lanes(builder, shape, _fill(builder, shape, number)) for number in arguments[2 + 2 * sources :]]
            for first in firsts:
                starts = [builder.add(start, _WORD(first)) for start in arguments[1 : 2 + 2 * sources : 2]]
                arrays = list(zip(signature.args[::2], arguments[::2], starts, strict=False))
                loaded = [_Lanes(builder, shape, _load(context, builder, *array, shape)) for array in arrays[1:]]
                result = builder.trunc(function(*loaded, *values).value, ir.VectorType(_BYTE, size))
                place = _place(context, builder, *arrays[0])
                builder.store(result, builder.bitcast(place, result.type.as_pointer()), align=1)
            return context.get_dummy_value()

        return types.none(*(kind if isinstance(kind, types.Array) else types.int64 for kind in (out, at, *given))), generate

    names = ["typing_context", "out", "at", *(f"given_{k}" for k in range(2 * sources + numbers))]
    apply.__signature__ = Signature([Parameter(name, Parameter.POSITIONAL_ONLY) for name in names])  # type: ignore[attr-defined]

    def write(out: Any, at: int, *given: Any) -> None:
        flat = [np.ravel(given[2 * k]) for k in range(sources)]
        for k in range(width):
            entries = [int(x[at_x + k]) if 0 <= at_x + k < len(x) else 0 for x, at_x in zip(flat, given[1::2], strict=False)]
            out[at + k] = function(*entries, *map(int, given[2 * sources :]))

    return native(apply)(write)


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
