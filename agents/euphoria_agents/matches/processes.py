"""A pool of processes, any of which may be killed without loss of a result."""

from __future__ import annotations

import contextlib
from collections import Counter, deque
from collections.abc import Callable, Generator, Hashable, Iterable
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

from euphoria_agents.child_process import ChildProcess
from euphoria_agents.error_text import WorkerError, full_text, one_line

ATTEMPTS = 3  # for each item; an item that has killed so many workers is an error

Item = TypeVar("Item", bound=Hashable)
Answer = TypeVar("Answer")


def in_processes(
    work: Callable[[Item], Answer], items: Iterable[Item], processes: int
) -> Generator[tuple[Item, Answer], None, None]:
    """Calls `work` for every item, and yields each with its answer when it is ready; with one process, in this process.

    If a worker dies, another one does its item again. Call it from the main thread; an interrupt, or the end of the iteration,
    ends the workers.

    Raises:
        RuntimeError: an item killed `ATTEMPTS` workers; or, as `WorkerError`, the work failed in one.
    """
    waiting = deque(items)
    if processes == 1:
        yield from ((item, work(item)) for item in waiting)
        return
    died: Counter[Item] = Counter()
    workers = [Worker(work) for _ in range(min(processes, len(waiting)))]
    try:
        while True:
            for k, worker in enumerate(workers):
                if worker.item is None and waiting:
                    if worker.ended:
                        workers[k] = worker = Worker(work)
                    worker.take(waiting.popleft())
            busy = {worker.connection: worker for worker in workers if worker.item is not None}
            if not busy:
                return
            for connection in wait([*busy]):
                worker = busy[connection]
                item, answer = worker.item, worker.answer()
                if answer is not None:
                    yield item, answer[0]
                    continue
                died[item] += 1
                if died[item] == ATTEMPTS:
                    raise RuntimeError(f"{ATTEMPTS} processes died with {item}")
                waiting.appendleft(item)
    finally:
        for worker in workers:
            worker.end()


class Worker(ChildProcess):
    """A process that calls `work` for one item after another.

    Attributes:
        item: the one that it works on.
    """

    def __init__(self, work: Callable[[Any], Any]) -> None:
        super().__init__(_serve, work)
        self.item: Any = None

    def take(self, item: Any) -> None:
        """Sends an item to the process."""
        self.item = item
        with contextlib.suppress(OSError):  # it has just died, which `answer` notices
            self.connection.send(item)

    def answer(self) -> tuple[Any] | None:
        """Returns the answer for the item in a tuple; None if the process died.

        Raises:
            WorkerError: the work failed.
        """
        self.item = None
        try:
            good, answer = self.connection.recv()
        except (EOFError, OSError):
            self.end()
            return None
        if not good:
            raise WorkerError(*answer)
        return (answer,)


def _serve(connection: Connection, work: Callable[[Any], Any]) -> None:
    """Answers items in the process."""
    while True:
        try:
            item = connection.recv()
        except EOFError:
            return
        try:
            answer = True, work(item)
        except Exception as error:
            answer = False, (one_line(error), full_text(error))
        connection.send(answer)
