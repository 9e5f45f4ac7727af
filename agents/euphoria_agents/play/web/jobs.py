"""Runs analyses in processes beside the server; clients take turns, and a process ends when nobody waits for it."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Hashable
from typing import Any

from euphoria_agents import background
from euphoria_agents.matches.processes import Worker
from euphoria_agents.play.web.errors import Refused
from euphoria_agents.play.web.limits import Limit
from euphoria_agents.play.web.queueing import FairQueue, in_thread

SLICE = 5.0  # seconds after which a job pauses if other clients wait


class Jobs:
    """Runs one analysis at a time; the clients take turns, and at most `most` run or wait."""

    def __init__(self, most: Limit) -> None:
        self._most = most
        self._tasks: dict[Hashable, tuple[str, asyncio.Task[None]]] = {}  # by key, the client and the task
        self._turns = FairQueue(Limit(1, 1))
        self._since = 0.0  # when the present turn began

    def running(self, key: Hashable) -> bool:
        """Returns whether the job with this key runs or waits for its turn."""
        return key in self._tasks and not self._tasks[key][1].done()

    def check_room(self, client: str) -> None:
        """Raises `Refused` (503) if as many jobs as are allowed run or wait already."""
        waiting = [whose for whose, task in self._tasks.values() if not task.done()]
        if len(waiting) >= self._most.in_all or waiting.count(client) >= self._most.per_client:
            limits = f"{self._most.in_all} in all, {self._most.per_client} for each address"
            raise Refused(503, f"too many analyses are waiting already: at most {limits}")

    def begin(self, key: Hashable, client: str, work: Callable[[], Coroutine[Any, Any, bool]]) -> None:
        """Starts a job: in each of its turns `work` is called, which continues it and returns whether it is done."""

        async def in_turn() -> None:
            done = False
            while not done:
                async with self._turns.slot(client):
                    self._since = time.monotonic()
                    done = await work()

        self._tasks = {key: found for key, found in self._tasks.items() if not found[1].done()}
        self._tasks[key] = client, asyncio.create_task(in_turn())

    def must_yield(self, key: Hashable) -> bool:
        """Returns whether the running job must pause because other clients wait."""
        return time.monotonic() > self._since + SLICE and self._turns.wanted_by_others(self._tasks[key][0])

    def stop(self, key: Hashable) -> None:
        """Cancels the job with this key, if there is one; its finished part stays."""
        if key in self._tasks:
            self._tasks.pop(key)[1].cancel()

    def close(self) -> None:
        """Cancels all jobs."""
        for _, task in self._tasks.values():
            task.cancel()


@contextlib.asynccontextmanager
async def started(work: Callable[[Any], Any]) -> AsyncIterator[Worker]:
    """Yields a new worker process, and ends it when the `with` statement ends."""
    worker = await in_thread(lambda: Worker(work))
    try:
        yield worker
    finally:
        background.begin(worker.end)  # in a thread, since `end` waits for the process


async def answer_of(worker: Worker, item: Any) -> Any:
    """Returns what a process answers for an item; ends the process if the caller is cancelled.

    Raises a `RuntimeError` if the process has died, a `WorkerError` if the work raised an error.
    """

    def exchange() -> Any:
        worker.take(item)
        return worker.answer()

    answer = await in_thread(exchange, worker.end)
    if answer is None:
        raise RuntimeError("the process that worked on this has died")
    return answer[0]
