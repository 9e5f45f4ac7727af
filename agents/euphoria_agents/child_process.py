"""Starts processes that end with the one that started them, whatever either of them is doing."""

from __future__ import annotations

import contextlib
import multiprocessing
import multiprocessing.resource_tracker
import os
import signal
import sys
import threading
import types
from collections.abc import Callable, Iterator
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import Any

if sys.platform != "win32":
    import fcntl

PRELOADED = ["euphoria_agents.agent_process", "euphoria_agents.matches.tournament"]  # imported once, in the server
FORKSERVER = "forkserver" in multiprocessing.get_all_start_methods()
CONTEXT: Any = multiprocessing.get_context("forkserver" if FORKSERVER else "spawn")  # quick to start, and safe beside threads
if FORKSERVER:
    CONTEXT.set_forkserver_preload(PRELOADED)
_STARTING = threading.Lock()  # one thread at a time, since the main module is hidden meanwhile


def start_process(work: Callable[..., None], arguments: tuple[Any, ...]) -> BaseProcess:
    """Starts a process that calls `work`. It ends with this one, ignores interrupts, and may start processes itself."""
    process: BaseProcess = CONTEXT.Process(target=_run, args=(work, arguments), daemon=True)
    with _STARTING, _interrupts_blocked(), _without_main():
        process.start()
    return process


def end_process(process: BaseProcess) -> None:
    """Kills a process, and closes it, which ends what it started and left."""
    process.kill()
    process.join()
    process.close()


@contextlib.contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Lets interrupts wait until this ends; the process that starts here inherits the block, so interrupts never reach it."""
    if sys.platform == "win32":  # signals cannot be blocked there
        yield
        return
    multiprocessing.resource_tracker.ensure_running()  # which the first process would start, and unblock interrupts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _without_main() -> Iterator[None]:
    """Hides the program that runs, so that the new process does not run it again: it may be no file, or have no guard."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _run(work: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    """Runs in the new process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    multiprocessing.current_process().daemon = False  # daemons may have no children
    _end_with_parent()
    work(*arguments)


def _end_with_parent() -> None:
    """Has this process, and its group, end when its parent has ended."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    sentinel = parent.sentinel  # a pipe that closes when the parent has ended
    if sys.platform == "linux":  # the kernel kills it, even if it never returns to the interpreter
        os.setpgid(0, 0)
        fcntl.fcntl(sentinel, fcntl.F_SETOWN, -os.getpid())
        fcntl.fcntl(sentinel, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(sentinel, fcntl.F_SETFL, fcntl.fcntl(sentinel, fcntl.F_GETFL) | os.O_ASYNC)
        if wait([sentinel], 0):
            os._exit(1)
    else:
        threading.Thread(target=lambda: (wait([sentinel]), os._exit(1)), daemon=True).start()
