"""The threads that share the work of a training run: the games of a rollout, and the parts of an optimizer's step."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import count
from typing import Any

import torch

from euphoria_agents.machine import usable_cores

Task = Callable[[], Any]


class Threads:
    """A number of threads, including the caller's. Results do not depend on which thread runs a task, nor on when.

    Compiled kernels and PyTorch's operations release the interpreter's lock, so that the threads run side by side. If there are
    exactly as many threads as cores, each stays on a core of its own while it works. With fewer threads the operating system
    chooses the cores, since two runs would otherwise take the same ones.

    Args:
        size: the number of parts into which work is divided, at least 1. No more threads run than there are cores.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_setaffinity") else []
        self._cores = cores if len(cores) == size > 1 else []  # the core of each thread, the caller's first; empty: any core
        torch.set_num_threads(1)
        self._others = min(size, usable_cores()) - 1
        numbers = count(1)
        self._pool = ThreadPoolExecutor(max(1, self._others), initializer=lambda: self._begin(next(numbers)))

    def run(self, tasks: Sequence[Task]) -> None:
        """Runs tasks, and returns when all are done.

        Raises:
            BaseException: what a task raised, after all running tasks have ended; after an error no other task is begun.
        """
        left = deque(tasks)
        helping = [self._pool.submit(self._work, left) for _ in range(min(self._others, len(tasks) - 1))]
        try:
            with self._on_own_core():
                self._work(left)
        finally:
            left.clear()
            errors = [helper.exception() for helper in helping]
        for error in filter(None, errors):
            raise error

    def close(self) -> None:
        """Ends the other threads."""
        self._pool.shutdown()

    def _begin(self, k: int) -> None:
        """Prepares thread k."""
        torch.set_num_threads(1)
        if self._cores:
            with suppress(OSError):  # the core was taken away from the process
                os.sched_setaffinity(0, self._cores[k : k + 1])

    @contextmanager
    def _on_own_core(self) -> Iterator[None]:
        """Keeps the caller's thread on its core during the `with` statement; afterwards it may run on all cores again."""
        if not self._cores:
            yield
            return
        with suppress(OSError):
            os.sched_setaffinity(0, self._cores[:1])
        try:
            yield
        finally:
            with suppress(OSError):
                os.sched_setaffinity(0, self._cores)

    @staticmethod
    def _work(left: deque[Task]) -> None:
        """Runs tasks until none is left."""
        try:
            while left:
                try:
                    task = left.popleft()
                except IndexError:  # another thread took the last one
                    return
                task()
        except BaseException:
            left.clear()
            raise


def ranges(size: int, parts: int) -> list[tuple[int, int]]:
    """Divides the numbers from 0 to `size` - 1 into ranges of almost equal length; returns the start and the end of each."""
    bounds = [size * k // parts for k in range(parts + 1)]
    return list(zip(bounds[:-1], bounds[1:], strict=True))
