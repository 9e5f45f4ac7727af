"""Machine code of LLVM modules: LLVM optimises and emits it in other processes, while this one compiles on."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import cast

from euphoria_env.engine import cache_files
from euphoria_env.engine.compiler import object_file

Object = tuple[list[str], bytes]  # the names that it needs, and the object file

_COMMAND = "from euphoria_env.engine import machine_code; machine_code.emit_for_parent()"


class Emission:
    """The machine code of LLVM modules, linked and optimised together, which exports some of their functions."""

    def __init__(self, modules: list[bytes], exported: set[str], memory: bytes) -> None:
        self._work = (modules, exported, memory)
        self._process: subprocess.Popen[bytes] | None = None
        self._code: Object | None = None

    def start(self, running: contextlib.ExitStack) -> None:
        """Starts a process that makes it, if there is a core for that; `running` will end the process."""
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        if cores == 1 or not sys.executable or getattr(sys, "frozen", False):
            return
        folders = os.pathsep.join(folder or os.getcwd() for folder in sys.path)
        environment = os.environ | {"PYTHONPATH": folders, "PYTHONSAFEPATH": "1"}
        with contextlib.suppress(OSError), tempfile.TemporaryFile() as given:
            pickle.dump((cache_files.machine(), *self._work), given)
            given.seek(0)
            self._made = running.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - `running` closes it
            command = [sys.executable, "-c", _COMMAND]
            with _interrupts_blocked():
                self._process = subprocess.Popen(command, stdin=given, stdout=self._made, env=environment)
                running.callback(self._end, self._process)

    def make(self) -> Object:
        """Makes the object file in this process."""
        if self._code is None:
            self._code = object_file(*self._work)
        return self._code

    def result(self) -> Object:
        """Returns the object file; makes it here if no process was started, or if that failed, which has then told why."""
        if self._process is None or self._process.wait() != 0:
            return self.make()
        self._made.seek(0)
        return cast(Object, pickle.load(self._made))

    @staticmethod
    def _end(process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.wait()


@contextlib.contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Delays interrupts; a process that is started meanwhile inherits the block, so interrupts never reach it."""
    if sys.platform == "win32":  # signals cannot be blocked there
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def emit_for_parent() -> None:
    """Makes machine code in the process that `Emission` starts."""
    machine, *work = pickle.load(sys.stdin.buffer)
    if machine != cache_files.machine():
        sys.exit("this process would compile for another processor, or with other options")
    pickle.dump(object_file(*work), sys.stdout.buffer)
