"""Handles interrupts (Ctrl-C), so that none is lost and none ends in a traceback."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

LATER = 0.02  # seconds until a lost interrupt is repeated
STOPPED = 130  # the exit status of a command that was interrupted


def end_quietly() -> None:
    """Makes an interrupt during the imports end the process at once, without a traceback; ignored interrupts stay ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _stop)


def _stop(*_: object) -> None:
    os.write(2, b"\nstopped\n")
    os._exit(STOPPED)


@contextmanager
def interrupts_heeded() -> Iterator[threading.Event]:
    """Yields an event that an interrupt sets, since libraries that are being imported turn it into other errors.

    An interrupt that comes where nothing can be raised, such as in a callback of the compiler, is repeated a little later.
    """
    came, handler, hook = threading.Event(), signal.getsignal(signal.SIGINT), sys.unraisablehook

    def interrupt(*_: object) -> None:
        came.set()
        raise KeyboardInterrupt

    def again(lost: sys.UnraisableHookArgs) -> None:
        if issubclass(lost.exc_type, KeyboardInterrupt):
            threading.Timer(LATER, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT)).start()
        else:
            hook(lost)

    ours = handler in (signal.default_int_handler, _stop)  # otherwise interrupts are ignored, or handled by others
    sys.unraisablehook = again
    if ours:
        signal.signal(signal.SIGINT, interrupt)
    try:
        yield came
    finally:
        sys.unraisablehook = hook
        if ours:
            signal.signal(signal.SIGINT, handler)
