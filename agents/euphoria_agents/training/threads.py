"""Threads that share the work of a training run: the steps of the games, and the parts of an update.

What is computed does not depend on which thread computes it, nor on when.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import torch

Task = Callable[[], Any]


class Threads:
    """A number of threads, the caller's among them; urgent tasks come before those in the background.

    Compiled kernels and PyTorch's operations release the interpreter's lock, so that the threads run side by side.

    Args:
        size: into how many parts work is divided, at least 1. No more threads run than there are cores.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._changed = threading.Condition()
        self._urgent: deque[Task] = deque()
        self._background: deque[Task] = deque()
        self._running = {"urgent": 0, "background": 0}
        self._error: BaseException | None = None
        self._closed = False
        torch.set_num_threads(1)
        self._others = [threading.Thread(target=self._work, daemon=True) for _ in range(min(size, os.cpu_count() or 1) - 1)]
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
        with self._changed:
            self._urgent.extend(tasks)
            self._changed.notify_all()
        self._help("urgent", background=False)

    def start(self, tasks: Sequence[Task]) -> None:
        """Runs tasks in the background, until `finish`. A task that returns something true is run again."""
        with self._changed:
            self._background.extend(tasks)
            self._changed.notify_all()

    def finish(self) -> None:
        """Helps with the tasks in the background until they are done; errors as of `run`."""
        self._help("background", background=True)

    def close(self) -> None:
        """Ends the other threads, once they have finished what they are doing."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._others:
            thread.join()

    def _help(self, kind: str, background: bool) -> None:
        """Works until no task of this kind waits or runs."""
        tasks = self._background if background else self._urgent
        while True:
            with self._changed:
                while self._running[kind] and not tasks:
                    self._changed.wait()
                if not tasks:
                    break
                task = tasks.popleft()
                self._running[kind] += 1
            self._do(kind, task)
        if self._error is not None:
            error, self._error = self._error, None
            raise error

    def _work(self) -> None:
        """Takes and runs tasks until `close`: the loop of each of the other threads."""
        torch.set_num_threads(1)
        while True:
            with self._changed:
                while not (self._urgent or self._background or self._closed):
                    self._changed.wait()
                if self._closed:
                    return
                kind = "urgent" if self._urgent else "background"
                task = (self._urgent or self._background).popleft()
                self._running[kind] += 1
            self._do(kind, task)

    def _do(self, kind: str, task: Task) -> None:
        """Runs a task; after an error no other one is begun."""
        again: Any = False
        try:
            again = task()
        except BaseException as error:
            with self._changed:
                self._error = self._error or error
                self._urgent.clear()
                self._background.clear()
        with self._changed:
            if again and kind == "background" and self._error is None:
                self._background.append(task)
            self._running[kind] -= 1
            self._changed.notify_all()


def ranges(size: int, parts: int) -> list[tuple[int, int]]:
    """Divides the numbers from 0 to `size` - 1 into ranges of almost equal length: the first one and the one after the last."""
    bounds = [size * k // parts for k in range(parts + 1)]
    return list(zip(bounds[:-1], bounds[1:], strict=True))
