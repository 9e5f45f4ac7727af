"""Threads that share the work of a training run: the steps of the games, and the parts of an update.

What is computed does not depend on which thread computes it, nor on when.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import torch

from euphoria_agents.machine import usable_cores

Task = Callable[[], Any]
KINDS = ("urgent", "background")  # of tasks: the urgent ones come first


class Threads:
    """A number of threads, the caller's among them.

    Compiled kernels and PyTorch's operations release the interpreter's lock, so that the threads run side by side. If there are
    exactly as many threads as cores, each stays on a core of its own while it works. With fewer the system chooses, as two runs
    would take the same cores otherwise.

    Args:
        size: into how many parts work is divided, at least 1. No more threads run than there are cores.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._changed = threading.Condition()
        self._waiting: dict[str, deque[Task]] = {kind: deque() for kind in KINDS}
        self._running = dict.fromkeys(KINDS, 0)
        self._error: BaseException | None = None
        self._closed = False
        cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_setaffinity") else []
        self._cores = cores if len(cores) == size > 1 else []  # the one of each thread, the caller's first; empty: any
        torch.set_num_threads(1)
        running = range(1, min(size, usable_cores()))
        self._others = [threading.Thread(target=self._serve, args=(k,), daemon=True) for k in running]
        for thread in self._others:
            thread.start()

    def run(self, tasks: Sequence[Task]) -> None:
        """Runs tasks before all others, and returns when they are done.

        Raises:
            BaseException: what a task raised, once none is running any more.
        """
        if self.size == 1:
            for task in tasks:
                task()
            return
        self._add("urgent", tasks)
        self._help("urgent")

    def start(self, tasks: Sequence[Task]) -> None:
        """Runs tasks in the background, until `finish`. A task that returns something true is run again."""
        self._add("background", tasks)

    def finish(self) -> None:
        """Helps with the tasks in the background until they are done; errors as of `run`."""
        self._help("background")

    def close(self) -> None:
        """Ends the other threads, once they have finished what they are doing."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._others:
            thread.join()

    def _add(self, kind: str, tasks: Sequence[Task]) -> None:
        with self._changed:
            self._waiting[kind].extend(tasks)
            self._changed.notify_all()

    @contextmanager
    def _on_own_core(self, k: int) -> Iterator[None]:
        """Keeps thread k, which calls this, on its core; what it starts later may run on all again."""
        if not self._cores:
            yield
            return
        with suppress(OSError):  # the core was taken away from the process
            os.sched_setaffinity(0, self._cores[k : k + 1])
        try:
            yield
        finally:
            with suppress(OSError):
                os.sched_setaffinity(0, self._cores)

    def _serve(self, k: int) -> None:
        """Runs in each of the other threads: does tasks until the end."""
        torch.set_num_threads(1)
        with self._on_own_core(k):
            self._work(KINDS, lambda: self._closed)

    def _help(self, kind: str) -> None:
        """Works until no task of this kind waits or runs."""
        with self._on_own_core(0):
            self._work((kind,), lambda: not (self._waiting[kind] or self._running[kind]))
        if self._error is not None:
            error, self._error = self._error, None
            raise error

    def _work(self, kinds: Sequence[str], over: Callable[[], bool]) -> None:
        """Takes and runs tasks of these kinds until it is over; after an error no other one is begun."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: over() or any(self._waiting[kind] for kind in kinds))
                if over():
                    return
                kind = next(kind for kind in kinds if self._waiting[kind])
                task = self._waiting[kind].popleft()
                self._running[kind] += 1
            again: bool = False
            failed: BaseException | None = None
            try:
                again = bool(task()) and kind == "background"
            except BaseException as error:
                failed = error
            with self._changed:
                self._error = self._error or failed
                if self._error is not None:
                    for tasks in self._waiting.values():
                        tasks.clear()
                elif again:
                    self._waiting[kind].append(task)
                self._running[kind] -= 1
                self._changed.notify_all()


def ranges(size: int, parts: int) -> list[tuple[int, int]]:
    """Divides the numbers from 0 to `size` - 1 into ranges of almost equal length: the first one and the one after the last."""
    bounds = [size * k // parts for k in range(parts + 1)]
    return list(zip(bounds[:-1], bounds[1:], strict=True))
