"""Low-level code that is faster than indexing: byte copies, bare pointers, arrays without reference counting, or aligned."""

from __future__ import annotations

from typing import Any

import numpy as np

from euphoria_env.engine.jit import cgutils, native, types

_ALIGNMENT = 64  # bytes; vectors across two lines of the cache load slowly, and JAX copies arrays that begin elsewhere


def aligned(shape: int | tuple[int, ...], dtype: Any) -> np.ndarray:
    """Returns an array of zeros that begins at a multiple of `_ALIGNMENT` bytes; it owns no memory, so nobody can resize it."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    room = np.frombuffer(bytearray(size + _ALIGNMENT), np.uint8)
    first = -room.ctypes.data % _ALIGNMENT
    return room[first : first + size].view(dtype).reshape(shape)


def _copy(typing_context: Any, out: Any, at: Any, source: Any, n: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        to, first, what, count = arguments
        target = context.make_array(signature.args[0])(context, builder, to).data
        start = context.make_array(signature.args[2])(context, builder, what).data
        cgutils.raw_memcpy(builder, builder.gep(target, [first]), start, count, 1)
        return context.get_dummy_value()

    return types.none(out, types.int64, source, types.int64), generate


@native(_copy)
def copy_bytes(out: Any, at: int, source: Any, n: int) -> None:
    """Copies the first n entries of an int8 array into another one, from `at` on; both are C-contiguous."""
    out[at : at + n] = source.reshape(-1)[:n]


def _point(typing_context: Any, array: Any, at: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.gep(data, [arguments[1]])

    return types.CPointer(array.dtype)(array, types.int64), generate


@native(_point)
def pointer_to(array: Any, at: int) -> Any:
    """Returns a flat view of a contiguous array from entry `at` on; in compiled code it is a pointer, which fits a register."""
    return array.reshape(-1)[at:]


def _shape(typing_context: Any, flat: Any, rows: Any, columns: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        found = context.make_array(signature.args[0])(context, builder, arguments[0])
        result = context.make_array(signature.return_type)(context, builder)
        result.data, result.itemsize, result.nitems = found.data, found.itemsize, found.nitems
        result.shape = cgutils.pack_array(builder, arguments[1:])
        result.strides = cgutils.pack_array(builder, [builder.mul(arguments[2], found.itemsize), found.itemsize])
        result.meminfo, result.parent = (cgutils.get_null_value(each.type) for each in (result.meminfo, result.parent))
        return result._getvalue()

    return flat.copy(ndim=2)(flat, types.int64, types.int64), generate


@native(_shape)
def matrix(flat: Any, rows: int, columns: int) -> Any:
    """Returns a contiguous array of one dimension as one of two, of as many entries; use it as `borrowed`."""
    return flat.reshape(rows, columns)


def _lend(typing_context: Any, value: Any) -> Any:
    def lend(context: Any, builder: Any, kind: Any, given: Any) -> Any:
        if isinstance(kind, types.BaseTuple):
            parts = zip(kind, cgutils.unpack_tuple(builder, given), strict=True)
            return context.make_tuple(builder, kind, [lend(context, builder, *part) for part in parts])
        if not isinstance(kind, types.Array):
            return given
        lent = context.make_array(kind)(context, builder, given)
        lent.meminfo = cgutils.get_null_value(lent.meminfo.type)
        lent.parent = cgutils.get_null_value(lent.parent.type)
        return lent._getvalue()

    return value(value), lambda context, builder, signature, arguments: lend(context, builder, value, arguments[0])


@native(_lend)
def borrowed(value: Any) -> Any:
    """Returns the same array, or tuple of arrays and numbers; compiled code then passes it on without reference counting.

    Use it only for parameters, since their owner outlives the call.
    """
    return value
