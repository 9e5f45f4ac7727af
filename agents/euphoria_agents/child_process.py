"""Starts processes that end with their parent.

Where processes can fork, the new process becomes a guard: it forks a worker and waits. When the worker or the parent has ended,
the guard ends the worker with its group of processes, and then itself.
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import multiprocessing.resource_tracker
import os
import signal
import sys
import threading
import types
from collections.abc import Callable, Iterator, Mapping
from multiprocessing.connection import wait
from typing import Any, NoReturn

PRELOADED = ["euphoria_agents.agent_process", "euphoria_agents.matches.tournament"]  # imported once, in the server
FORKSERVER = "forkserver" in multiprocessing.get_all_start_methods()
CONTEXT: Any = multiprocessing.get_context("forkserver" if FORKSERVER else "spawn")  # starts quickly, and is safe beside threads
if FORKSERVER:
    CONTEXT.set_forkserver_preload(PRELOADED)
SET_PARENT_DEATH_SIGNAL = 1  # of Linux's `prctl`
_starting = threading.Lock()


class ChildProcess:
    """A process and the connection to it. It ends with this process, ignores interrupts, and may start processes itself.

    Args:
        work: called in the process as `work(connection, *arguments)`.
        arguments: objects that can be pickled, as can `work`.

    Attributes:
        connection: to the process; it is closed when the process ends.
    """

    def __init__(self, work: Callable[..., None], *arguments: Any) -> None:
        self.connection, theirs = CONTEXT.Pipe()
        with _starting, _inheritance() as before:
            self._process = CONTEXT.Process(target=_run, args=(before, work, theirs, *arguments), daemon=True)
            self._process.start()
        theirs.close()  # so that the end of the process closes the connection
        self._ending = threading.Lock()

    @property
    def ended(self) -> bool:
        """Whether the process has ended."""
        return self.connection.closed or self.exit_status(0) is not None

    def exit_status(self, seconds: float) -> int | None:
        """Waits for the end of the process; returns its exit status, negative for a signal, or None if it has not ended."""
        status: int | None = None
        with contextlib.suppress(ValueError):  # another thread has just ended it
            self._process.join(seconds)
            status = self._process.exitcode
        return status

    def end(self) -> None:
        """Ends the process with its group; another thread that waits for an answer gets an `EOFError` or `OSError`."""
        with self._ending:
            if not self.connection.closed:
                self._process.terminate()  # the guard ends the others first
                self._process.join()
                self._process.close()
                self.connection.close()


def child_environment() -> dict[str, str]:
    """Returns the variables that make Python import from where this process does, and not from its working folder."""
    return {"PYTHONPATH": os.pathsep.join(folder or os.getcwd() for folder in sys.path), "PYTHONSAFEPATH": "1"}


@contextlib.contextmanager
def _inheritance() -> Iterator[dict[str, str | None]]:
    """Prepares what a new process inherits, and yields the former values of the variables that it sets.

    The main program is hidden, so that the new process does not run it again: it may be no file, or have no guard.
    """
    with _interrupts_blocked():
        main, before = sys.modules["__main__"], _set_variables(child_environment())
        sys.modules["__main__"] = types.ModuleType("__main__")
        try:
            yield before
        finally:
            sys.modules["__main__"] = main
            _set_variables(before)


def _set_variables(new: Mapping[str, str | None]) -> dict[str, str | None]:
    """Sets environment variables, removes those that are None, and returns the former values."""
    before = {name: os.environ.get(name) for name in new}
    for name, value in new.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    return before


@contextlib.contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Delays interrupts; a process that is started meanwhile inherits the block, so interrupts never reach it."""
    if sys.platform == "win32":  # signals cannot be blocked there
        yield
        return
    multiprocessing.resource_tracker.ensure_running()  # otherwise the first process starts it, and unblocks interrupts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _run(environment: Mapping[str, str | None], work: Callable[..., None], *arguments: Any) -> None:
    """Does the work in the new process, with the environment of its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    multiprocessing.current_process().daemon = False  # daemons may have no children
    _set_variables(environment)
    parent: Any = multiprocessing.parent_process()
    if sys.platform == "win32":
        threading.Thread(target=lambda: (wait([parent.sentinel]), os._exit(1)), daemon=True).start()
    else:
        _fork_with_guard(parent.sentinel)
    work(*arguments)


# ------------------------------------------------------------------------------------------------------------- the guard

if sys.platform != "win32":

    def _fork_with_guard(sentinel: int) -> None:
        """Forks this process: the fork returns; this one becomes its guard until `sentinel`, that of the parent, is ready."""
        os.setpgid(0, 0)  # so that it outlives the group of its parent
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        guard, worker = os.getpid(), os.fork()
        with contextlib.suppress(OSError):  # both do it, so that it is done when one of them goes on
            os.setpgid(worker, worker)
        if worker:
            _guard(worker, sentinel)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)  # if somebody kills the guard
        if os.getppid() != guard:
            os._exit(1)

    def _guard(worker: int, sentinel: int) -> NoReturn:
        """Waits until the worker or the parent ends, ends the group of the worker, and ends as the worker did."""

        def end_group(*_: object) -> None:
            with contextlib.suppress(OSError):  # nobody is left in it
                os.killpg(worker, signal.SIGKILL)

        def end_with_parent() -> None:
            wait([sentinel])
            end_group()

        signal.signal(signal.SIGTERM, end_group)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        threading.Thread(target=end_with_parent, daemon=True).start()
        code = os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])
        end_group()
        if code >= 0:
            os._exit(code)
        with contextlib.suppress(OSError):  # SIGKILL has no handler
            signal.signal(-code, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {-code})
        os.kill(os.getpid(), -code)
        os._exit(1)
