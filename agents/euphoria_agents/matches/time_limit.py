"""A limit for the time that an agent takes."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class TooSlow(RuntimeError):
    """An agent took longer than it may."""


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Ends what takes longer. What does not return to the interpreter, or runs beside the main thread, is found out afterwards.

    Raises:
        TooSlow: it took longer; says how long.
    """
    if seconds is None:
        yield
        return
    began, here = time.perf_counter(), threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")

    def ring(*_: Any) -> None:
        raise TooSlow(f"not ready after {seconds:g} s")

    if here:
        before = signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        if here:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
    took = time.perf_counter() - began
    if took > seconds:
        raise TooSlow(f"took {took:.1f} s, more than {seconds:g} s")
