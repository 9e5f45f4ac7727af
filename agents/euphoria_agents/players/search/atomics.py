"""Instructions for threads that share rows of a structured array, which then has a field `lock` (int64).

Rows without that field belong to one thread: for them the same calls lock nothing and cost nothing. Called from Python, which
runs one thread at a time here, they do neither.
"""

from __future__ import annotations

import os
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from euphoria_env.engine.jit import native

SPINS = 64  # attempts to lock before the processor is left to others, one of whom may be the thread that is waited for
LOCK = ir.IntType(64)


def _is_shared(rows: Any) -> bool:
    return "lock" in rows.dtype.fields


def _lock_of(context: Any, builder: Any, rows: Any, value: Any, at: Any) -> Any:
    """The address of the lock of a row."""
    row = builder.gep(context.make_array(rows)(context, builder, value).data, [at])
    return cgutils.pointer_add(builder, row, rows.dtype.offset("lock"), LOCK.as_pointer())


def _lock(typing_context: Any, rows: Any, at: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if _is_shared(rows):
            lock = _lock_of(context, builder, rows, *arguments)
            attempts, locked = builder.append_basic_block(), builder.append_basic_block()
            builder.branch(attempts)
            builder.position_at_end(attempts)
            with cgutils.for_range(builder, LOCK(SPINS)):
                held = builder.atomic_rmw("xchg", lock, LOCK(1), "acquire")
                with builder.if_then(builder.icmp_unsigned("==", held, LOCK(0))):
                    builder.branch(locked)
            if hasattr(os, "sched_yield"):  # POSIX
                give_way = ir.FunctionType(ir.IntType(32), [])
                builder.call(cgutils.get_or_insert_function(builder.module, give_way, "sched_yield"), [])
            builder.branch(attempts)
            builder.position_at_end(locked)
        return context.get_dummy_value()

    return types.none(rows, types.int64), generate


@native(_lock)
def lock_row(rows: Any, at: int) -> None:
    """Waits until a row is free, and locks it."""


def _unlock(typing_context: Any, rows: Any, at: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if _is_shared(rows):
            builder.store_atomic(LOCK(0), _lock_of(context, builder, rows, *arguments), "release", 8)
        return context.get_dummy_value()

    return types.none(rows, types.int64), generate


@native(_unlock)
def unlock_row(rows: Any, at: int) -> None:
    """Frees a row."""


def _add(typing_context: Any, rows: Any, counts: Any, at: Any, n: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        count = builder.gep(context.make_array(counts)(context, builder, arguments[1]).data, [arguments[2]])
        if _is_shared(rows):
            return builder.atomic_rmw("add", count, arguments[3], "acq_rel")
        before = builder.load(count)
        builder.store(builder.add(before, arguments[3]), count)
        return before

    return types.int64(rows, counts, types.int64, types.int64), generate


@native(_add)
def fetch_add(rows: Any, counts: Any, at: int, n: int) -> int:
    """Adds n to an entry of an int64 array that counts something of the rows; returns what it was before."""
    before = int(counts[at])
    counts[at] += n
    return before
