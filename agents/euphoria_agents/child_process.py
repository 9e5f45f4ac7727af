"""Starts processes that end with their parent.

Where processes can fork, the new process becomes a guard: it forks a worker and waits. When the worker or the parent has ended,
the guard ends the worker with all its descendants, on Linux also those in other sessions, and then itself. On Linux the worker of
a first guard is a second one: a worker that kills or stops its parent is still ended by the first.
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

import euphoria_agents
import euphoria_env

PRELOADED = ["euphoria_agents.agent_process", "euphoria_agents.matches.work"]  # imported once, in the fork server
FORKSERVER = "forkserver" in multiprocessing.get_all_start_methods()
CONTEXT: Any = multiprocessing.get_context("forkserver" if FORKSERVER else "spawn")  # quick, and safe with threads
if FORKSERVER:
    CONTEXT.set_forkserver_preload(PRELOADED)
GUARDS = 2 if sys.platform == "linux" else 1  # elsewhere the first one could not find the worker of a second
ENDING_SECONDS = 5.0  # the time that processes get to end by themselves
SET_PARENT_DEATH_SIGNAL, SET_CHILD_SUBREAPER = 1, 36  # of Linux's `prctl`
_starting = threading.Lock()


class ChildProcess:
    """A process and the connection to it, which is closed when the process ends.

    It calls `work(connection, *arguments)`, which can all be pickled, ends with this process, ignores interrupts, and may start
    processes itself.
    """

    def __init__(self, work: Callable[..., None], *arguments: Any) -> None:
        self.connection, theirs = CONTEXT.Pipe()
        with _starting, _inheritance() as before:
            self._process = CONTEXT.Process(target=_run, args=(before, homes(), work, theirs, *arguments), daemon=True)
            self._process.start()
        theirs.close()  # so that the end of the process closes the connection
        self._ending, self.sentinel = threading.Lock(), self._process.sentinel  # ready when the process has ended

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
        """Ends the process with all its descendants; another thread that waits for an answer gets an `EOFError` or `OSError`."""
        with self._ending:
            if not self.connection.closed:
                self._process.terminate()  # the guard ends the others first
                with contextlib.suppress(AttributeError, ProcessLookupError):  # on Windows; it has ended
                    os.kill(self._process.pid, signal.SIGCONT)  # somebody may have stopped it
                self._process.join(ENDING_SECONDS)
                self._process.kill()
                self._process.join()
                self._process.close()
                self.connection.close()


def child_environment() -> dict[str, str]:
    """Returns environment variables that make a new Python import from where this process does, not from its working folder."""
    return {"PYTHONPATH": os.pathsep.join(folder or os.getcwd() for folder in sys.path), "PYTHONSAFEPATH": "1"}


def homes() -> tuple[str | None, str | None]:
    """Returns the paths of the packages that this process has imported, which show what copy of the project it runs."""
    return euphoria_env.__file__, euphoria_agents.__file__


def check_homes(found: tuple[str | None, str | None]) -> None:
    """Compares `homes()` of another process with those of this one; raises a `RuntimeError` if they differ."""
    for theirs, ours in zip(found, homes(), strict=True):
        if theirs != ours:
            raise RuntimeError(f"one process imports {theirs}, the other {ours}: all must run the same copy of euphoria-env")


@contextlib.contextmanager
def _inheritance() -> Iterator[dict[str, str | None]]:
    """Prepares what a new process inherits, and yields the former values of the environment variables that it sets.

    The main module is hidden, so that the new process does not run it again: it may be no file, or lack a `__name__` check.
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


def _run(
    environment: Mapping[str, str | None], home: tuple[str | None, str | None], work: Callable[..., None], *arguments: Any
) -> None:
    """Does the work in the new process, with the environment of its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    multiprocessing.current_process().daemon = False  # daemons may have no children
    _set_variables(environment)
    parent: Any = multiprocessing.parent_process()
    if sys.platform == "win32":
        threading.Thread(target=lambda: (wait([parent.sentinel]), os._exit(1)), daemon=True).start()
    else:
        for _ in range(GUARDS):
            _fork_with_guard(parent.sentinel)
    check_homes(home)
    work(*arguments)


# ------------------------------------------------------------------------------------------------------------- the guard

if sys.platform != "win32":

    def _fork_with_guard(sentinel: int) -> None:
        """Forks a worker, in which this function returns; this process becomes its guard until the parent's sentinel is ready."""
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer)  # signals wake the guard through the pipe, so none is missed
        for number in (signal.SIGCHLD, signal.SIGTERM):
            signal.signal(number, lambda *_: None)
        os.setpgid(0, 0)
        _prctl(SET_CHILD_SUBREAPER, 1)  # descendants whose parents have ended become children of the guard
        guard, worker = os.getpid(), os.fork()
        if worker:
            _guard(worker, sentinel, reader, writer)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        os.close(reader)
        os.close(writer)
        os.setpgid(0, 0)
        _prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)  # the worker dies too if somebody kills the guard
        if os.getppid() != guard:
            os._exit(1)

    def _guard(worker: int, sentinel: int, reader: int, writer: int) -> NoReturn:
        """Waits until the worker or the parent ends, ends all descendants, and ends as the worker did."""
        kept = sorted((sentinel, reader, writer))
        for low, high in zip([2, *kept], [*kept, os.sysconf("SC_OPEN_MAX")], strict=True):
            os.closerange(low + 1, high)  # closes all else, so that the worker alone holds its connections
        status = None
        while status is None:
            ready = wait([sentinel, reader])
            told = os.read(reader, 512) if reader in ready else b""
            if sentinel in ready or signal.SIGTERM in told:
                os.kill(worker, signal.SIGKILL)
                status = os.waitpid(worker, 0)[1]
            else:
                status = _status_of(worker)
        _end_descendants(worker)
        code = os.waitstatus_to_exitcode(status)
        if code < 0:
            _end_by(-code)
        os._exit(code)

    def _status_of(worker: int) -> int | None:
        """Returns the exit status of the worker if it has ended, and reaps other processes that have ended."""
        while True:
            child, status = os.waitpid(-1, os.WNOHANG)
            if child in (0, worker):
                return status if child else None

    def _end_by(number: int) -> None:
        """Ends this process by a signal."""
        with contextlib.suppress(OSError):  # SIGKILL has no handler
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
        os.kill(os.getpid(), number)

    def _end_descendants(worker: int) -> None:
        """Kills all descendants of this process, on Linux also those in other sessions."""
        if sys.platform != "linux":  # elsewhere they cannot all be found
            _killed(-worker)
            return
        while [process for process in _descendants() if _killed(process)]:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(-1, 0)

    def _descendants() -> list[int]:
        """Returns the ids of all descendants of this process."""
        parents: dict[int, int] = {}
        for process in filter(str.isdecimal, os.listdir("/proc")):
            with contextlib.suppress(OSError), open(f"/proc/{process}/stat", "rb") as file:
                parents[int(process)] = int(file.read().rpartition(b")")[2].split()[1])
        found = [os.getpid()]
        for one in found:
            found += [process for process, parent in parents.items() if parent == one]
        return found[1:]

    def _killed(process: int) -> bool:
        """Kills a process or, if the id is negative, a process group; returns False if that is impossible or not permitted."""
        try:
            os.kill(process, signal.SIGKILL)
        except OSError:
            return False
        return True

    def _prctl(option: int, value: int) -> None:
        """Sets an attribute of this process, which only Linux has."""
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
