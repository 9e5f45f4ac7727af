"""Long work while the server answers others, in processes that end with whoever waits for them."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Hashable
from concurrent.futures import Future
from functools import partial
from typing import Any

from euphoria_agents import background
from euphoria_agents.matches.processes import Worker
from euphoria_agents.play.web.errors import Refused
from euphoria_agents.play.web.limits import Limit
from euphoria_agents.play.web.queueing import FairQueue, in_thread

SLICE = 5.0  # seconds after which a job lets those of others go on


class Jobs:
    """Analyses that are done one at a time, in turn for each client; each is found by its key.

    Args:
        most: how many may be under way or wait.
    """

    def __init__(self, most: Limit) -> None:
        self._most = most
        self._tasks: dict[Hashable, tuple[str, asyncio.Task[None]]] = {}  # with the client of each
        self._turns = FairQueue(Limit(1, 1))
        self._since = 0.0  # when the one at work began

    def running(self, key: Hashable) -> bool:
        """Whether a job is at work, or waits for its turn."""
        return key in self._tasks and not self._tasks[key][1].done()

    def check_room(self, client: str) -> None:
        """Refuses another job if there are too many.

        Raises:
            Refused: there are (503).
        """
        waiting = [whose for whose, task in self._tasks.values() if not task.done()]
        if len(waiting) >= self._most.in_all or waiting.count(client) >= self._most.per_client:
            limits = f"{self._most.in_all} in all, {self._most.per_client} for each address"
            raise Refused(503, f"too many analyses are waiting already: at most {limits}")

    def begin(self, key: Hashable, client: str, work: Callable[[], Coroutine[Any, Any, bool]]) -> None:
        """Has a job done when its turn has come: `work` continues it, until it is done (True) or `must_yield`."""

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
        """Ends a job, if there is one; what it has done so far stays."""
        if key in self._tasks:
            self._tasks.pop(key)[1].cancel()

    def close(self) -> None:
        """Ends all jobs."""
        for _, task in self._tasks.values():
            task.cancel()


@contextlib.asynccontextmanager
async def started(work: Callable[[Any], Any]) -> AsyncIterator[Worker]:
    """A process that ends with this, whatever it is doing."""
    starting = background.begin(lambda: Worker(work))
    try:
        yield await asyncio.wrap_future(starting)
    finally:
        starting.add_done_callback(lambda made: background.begin(partial(_end, made)))


def _end(made: Future[Worker]) -> None:
    if made.exception() is None:
        made.result().end()


async def answer_of(worker: Worker, item: Any) -> Any:
    """Gives a process something to do, and waits for what it makes of it; ends it if nobody does.

    Raises:
        RuntimeError: it has died.
        WorkerError: the work failed.
    """

    def exchange() -> Any:
        worker.take(item)
        return worker.answer()

    answer = await in_thread(exchange, worker.end)
    if answer is None:
        raise RuntimeError("the process that worked on this has died")
    return answer[0]
