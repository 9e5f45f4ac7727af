"""Garbage collection while something is imported or compiled: most new objects stay, and to look through them takes long."""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Iterator

_RARELY = (200_000, 1_000_000, 1_000_000)  # new objects before a collection, which looks at these alone
_lock, _thresholds = threading.Lock(), [gc.get_threshold()]  # the original ones, then one pair for each use that goes on


@contextlib.contextmanager
def collected_rarely() -> Iterator[None]:
    """Makes Python collect garbage rarely; the thresholds are as before when the last use ends, in whatever thread."""
    with _lock:
        if len(_thresholds) == 1:
            _thresholds[0] = gc.get_threshold()
        _thresholds.append(_RARELY)
        gc.set_threshold(*_RARELY)
    try:
        yield
    finally:
        with _lock:
            _thresholds.pop()
            if not gc.get_freeze_count():
                gc.freeze()  # with the next line: the new objects count as old ones, without a collection
                gc.unfreeze()
            gc.set_threshold(*_thresholds[-1])
