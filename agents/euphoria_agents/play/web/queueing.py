"""Runs long work beside the event loop, shares slots fairly between clients, and cancels what nobody waits for."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Hashable, Iterable
from contextlib import asynccontextmanager, nullcontext
from typing import Any, Generic, TypeVar

import anyio
from starlette.requests import Request

from euphoria_agents import background
from euphoria_agents.play.web.errors import Refused
from euphoria_agents.play.web.limits import Limit

T = TypeVar("T")
STOP_EVERY = 0.1  # seconds between two calls of `stop`
SLICE, PAUSE = 0.001, 0.0005  # seconds that patient work goes on, and then lets other threads run


async def in_thread(work: Callable[[], T], stop: Callable[[], None] = lambda: None) -> T:
    """Runs `work` in a thread of its own. If the caller is cancelled, `stop` is called until the work has ended."""
    result = asyncio.wrap_future(background.begin(work))
    try:
        return await asyncio.shield(result)
    except asyncio.CancelledError:
        with anyio.CancelScope(shield=True):  # anyio cancels a task again at each `await`
            while not result.done():  # `stop` is repeated, since the work may not have begun yet what it stops
                background.begin(stop)  # in a thread, since it may wait for the end of a process
                await asyncio.wait([result], timeout=STOP_EVERY)  # until then the caller must hold its slot, and perhaps a game
        result.exception()  # so that asyncio does not report it as never retrieved
        raise


async def patiently(steps: Callable[[], Iterable[T]]) -> T:
    """Goes through `steps()` in a thread that stops for all others again and again, and ends if the caller is cancelled.

    Returns the last step, of which there must be one.
    """
    left = threading.Event()

    def work() -> T:
        until = time.perf_counter() + SLICE
        for last in steps():  # noqa: B007
            if time.perf_counter() > until:
                if left.wait(PAUSE):
                    break
                until = time.perf_counter() + SLICE
        return last

    return await in_thread(work, left.set)


async def until_disconnect(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Returns the result of work for a request; cancels it, and raises `Refused` (499), if the client disconnects."""

    async def disconnect() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    task, leaving = asyncio.create_task(work), asyncio.create_task(disconnect())
    try:
        await asyncio.wait([task, leaving], return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            task.cancel()
            await asyncio.wait([task])
        if task.cancelled():
            raise Refused(499, "nobody waits for this any more")
        return task.result()
    finally:
        leaving.cancel()
        task.cancel()


class FairQueue:
    """Limits the number of slots in all, and how many of them a client holds while others compete for them."""

    def __init__(self, limit: Limit) -> None:
        self._limit = limit
        self._slots = asyncio.Semaphore(limit.in_all)
        self._shares: dict[str, asyncio.Semaphore] = {}  # by client, the slots that it may hold
        self._requests = Counter[str]()  # by client, the requests that hold a slot or wait

    def wanted_by_others(self, client: str) -> bool:
        """Returns whether another client holds a slot or waits."""
        return bool(self._requests.keys() - {client})

    @property
    def idle(self) -> bool:
        """Whether nobody holds a slot or waits."""
        return not self._requests

    @asynccontextmanager
    async def slot(self, client: str, most: int | None = None, lock: asyncio.Lock | None = None) -> AsyncIterator[None]:
        """Waits for a slot and holds it, and the lock of a thing that several clients use, if it is given.

        A client that waits for its own slots does not hold the lock. Raises `Refused` (503) if `most` of its requests wait.
        """
        if most is not None and self._requests[client] >= self._limit.per_client + most:
            raise Refused(503, f"{most} requests of this kind from your address are waiting already")
        share = self._shares.setdefault(client, asyncio.Semaphore(self._limit.per_client))
        self._requests[client] += 1
        try:
            async with share, lock or nullcontext(), self._slots:
                yield
        finally:
            self._requests -= Counter([client])  # unlike -= 1, this removes a client at 0
            if client not in self._requests:
                del self._shares[client]


class SharedTasks(Generic[T]):
    """Tasks by key in slots of a queue; each runs once, however many wait for it, and is cancelled when nobody does."""

    def __init__(self, queue: FairQueue) -> None:
        self._queue = queue
        self._tasks: dict[Hashable, asyncio.Task[T]] = {}
        self._waiting = Counter[asyncio.Task[T]]()  # by task, how many wait for it

    async def result(self, key: str, client: str, start: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Returns the result of the task under way for this key, or of a new one; every client waits for a slot of its own."""

        async def in_slot() -> T:
            async with self._queue.slot(client):
                return await self._shared(key, start)

        return await self._shared((key, client), in_slot)

    async def _shared(self, key: Hashable, start: Callable[[], Coroutine[Any, Any, T]]) -> T:
        if key not in self._tasks:
            self._tasks[key] = asyncio.create_task(start())
        task = self._tasks[key]
        self._waiting[task] += 1
        try:
            return await asyncio.shield(task)
        finally:
            self._waiting -= Counter([task])
            if task not in self._waiting:  # it is done, or nobody waits for it any more
                task.cancel()
                if self._tasks.get(key) is task:
                    del self._tasks[key]
