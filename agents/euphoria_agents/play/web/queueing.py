"""Runs long work beside the event loop, fairly between clients, and cancels it when its client has gone."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Hashable
from contextlib import asynccontextmanager
from typing import Any, Generic, TypeVar

from starlette.requests import Request

from euphoria_agents import background
from euphoria_agents.play.web.errors import Refused
from euphoria_agents.play.web.limits import Limit

T = TypeVar("T")
STOP_EVERY = 0.1  # seconds


async def in_thread(work: Callable[[], T], stop: Callable[[], None] = lambda: None) -> T:
    """Runs `work` in a thread of its own. If the caller is cancelled, `stop` is called until the work has ended."""
    result = asyncio.wrap_future(background.begin(work))
    try:
        return await asyncio.shield(result)
    except asyncio.CancelledError:
        while not result.done():  # again, since the work may only be about to begin what is to be stopped
            background.begin(stop)  # which may have to wait for the end of a process
            await asyncio.wait([result], timeout=STOP_EVERY)  # its slot and its game are free only at its end
        result.exception()  # marks it as seen
        raise


async def until_disconnect(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """The result of some work for a request; the work is cancelled if the client disconnects.

    Raises:
        Refused: the client has disconnected (499).
    """

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
    """A limited number of slots. A free slot goes to the waiting client that holds the fewest, or was served longest ago.

    Args:
        limit: the slots in all, and how many one client may hold.
    """

    def __init__(self, limit: Limit) -> None:
        self._free, self._per_client = limit
        self._held = Counter[str]()
        self._waiting: list[tuple[str, asyncio.Future[None]]] = []  # in the order of arrival
        self._served: list[str] = []  # waiting clients that were served, the last one last

    def wanted_by_others(self, client: str) -> bool:
        """Whether another client waits."""
        return any(other != client for other, _ in self._waiting)

    @property
    def idle(self) -> bool:
        """Whether nobody holds a slot or waits."""
        return not self._held and not self._waiting

    @asynccontextmanager
    async def slot(self, client: str, most: int | None = None) -> AsyncIterator[None]:
        """Waits for a slot and holds it; `most`: how many requests of this client may wait, None: any number.

        Raises:
            Refused: as many wait already (503).
        """
        if most is not None and [other for other, _ in self._waiting].count(client) >= most:
            raise Refused(503, f"{most} requests of this kind from your address are waiting already")
        granted = asyncio.get_running_loop().create_future()
        self._waiting.append((client, granted))
        self._grant()
        try:
            await granted
            yield
        finally:
            if (client, granted) in self._waiting:
                self._waiting.remove((client, granted))
            else:
                self._free += 1
                self._held = self._held - Counter([client])  # without clients that hold none
            self._grant()

    def _grant(self) -> None:
        while self._free:
            able = [one for one in self._waiting if self._held[one[0]] < self._per_client and not one[1].cancelled()]
            if not able:
                return
            client, granted = first = min(able, key=lambda one: (self._held[one[0]], self._last_served(one[0])))
            self._waiting.remove(first)
            granted.set_result(None)
            self._held[client] += 1
            self._free -= 1
            waiting = {other for other, _ in self._waiting}
            self._served = [other for other in self._served if other != client and other in waiting] + [client]

    def _last_served(self, client: str) -> int:
        return self._served.index(client) if client in self._served else -1


class SharedTasks(Generic[T]):
    """Tasks by key, each run once, however many wait for it."""

    def __init__(self) -> None:
        self._tasks: dict[Hashable, asyncio.Task[T]] = {}

    async def result(self, key: Hashable, start: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of the task under way for this key, or of a new one."""
        if key not in self._tasks:
            task = self._tasks[key] = asyncio.create_task(start())
            task.add_done_callback(lambda _: self._tasks.pop(key))
        return await asyncio.shield(self._tasks[key])
