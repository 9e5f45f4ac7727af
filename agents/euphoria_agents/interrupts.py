"""Interrupts (Ctrl-C) that nothing on their way loses."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

LATER = 0.02  # seconds


@contextmanager
def interrupts_heeded() -> Iterator[threading.Event]:
    """Gives what tells whether an interrupt came, for libraries that are just being imported make other errors of it.

    One that comes where nothing can be raised, such as in a callback of the compiler, comes again a little later.
    """
    came, handler, hook = threading.Event(), signal.getsignal(signal.SIGINT), sys.unraisablehook

    def interrupt(*_: Any) -> None:
        came.set()
        raise KeyboardInterrupt

    def again(lost: Any) -> None:
        if issubclass(lost.exc_type, KeyboardInterrupt):
            threading.Timer(LATER, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT)).start()
        else:
            hook(lost)

    ours = handler is signal.default_int_handler  # else interrupts are ignored, or somebody else's
    sys.unraisablehook = again
    if ours:
        signal.signal(signal.SIGINT, interrupt)
    try:
        yield came
    finally:
        sys.unraisablehook = hook
        if ours:
            signal.signal(signal.SIGINT, handler)
