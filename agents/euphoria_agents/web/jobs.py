"""Long work while the server answers others: one job after the other, in a process that ends with whoever waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Hashable, Iterator
from contextlib import contextmanager
from typing import Any

from euphoria_agents.matches.processes import Worker
from euphoria_agents.web.refusals import Refused

MOST_WAITING = 8  # jobs under way and in the queue
LOOK_EVERY = 0.005  # seconds, for what the process has done


class Jobs:
    """Jobs that are done one after the other, each found by its key.

    Args:
        kind: what they are, in the plural.
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._tasks: dict[Hashable, asyncio.Task[None]] = {}
        self._turn = asyncio.Lock()

    def running(self, key: Hashable) -> bool:
        """Whether a job is at work, or waits for its turn."""
        return key in self._tasks and not self._tasks[key].done()

    def check_room(self) -> None:
        """Refuses another job if there are too many.

        Raises:
            Refused: there are (503).
        """
        if sum(not task.done() for task in self._tasks.values()) >= MOST_WAITING:
            raise Refused(503, f"{MOST_WAITING} {self._kind} are waiting already")

    def begin(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Has a job done when its turn has come."""

        async def in_turn() -> None:
            async with self._turn:
                await work()

        self._tasks = {key: task for key, task in self._tasks.items() if not task.done()}
        self._tasks[key] = asyncio.create_task(in_turn())

    def stop(self, key: Hashable) -> None:
        """Ends a job, if there is one; what it has done so far stays."""
        if key in self._tasks:
            self._tasks.pop(key).cancel()

    def close(self) -> None:
        """Ends all jobs."""
        for task in self._tasks.values():
            task.cancel()


async def answer_of(worker: Worker, item: Any) -> Any:
    """Gives a process something to do, and waits for what it makes of it.

    Raises:
        RuntimeError: it has died.
        WorkerError: the work failed.
    """
    worker.take(item)
    while not worker.connection.poll():
        await asyncio.sleep(LOOK_EVERY)
    answer = worker.answer()
    if answer is None:
        raise RuntimeError("the process that worked on this has died")
    return answer[0]


@contextmanager
def ended(worker: Worker) -> Iterator[Worker]:
    """A process that ends with this."""
    try:
        yield worker
    finally:
        worker.end()
