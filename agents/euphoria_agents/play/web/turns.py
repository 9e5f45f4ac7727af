"""Work that takes long: beside the event loop, fair between clients, and cancelled when nobody waits for it any more."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Coroutine, Hashable
from contextlib import asynccontextmanager
from typing import Any, Generic, TypeVar

from starlette.requests import Request

from euphoria_agents import background
from euphoria_agents.play.web.refusals import Refused

T = TypeVar("T")
STOP_EVERY = 0.1  # seconds


async def in_thread(work: Callable[[], T], stop: Callable[[], None] = lambda: None) -> T:
    """Runs something in a thread of its own. If whoever waits is cancelled, `stop` is called until the work has ended."""
    result = asyncio.wrap_future(background.begin(work))
    try:
        return await asyncio.shield(result)
    except asyncio.CancelledError:
        while not result.done():  # again, since the work may only be about to begin what is to be stopped
            background.begin(stop)  # which may have to wait for the end of a process
            await asyncio.wait([result], timeout=STOP_EVERY)  # its place, and what it works on, are free only at its end
        result.exception()  # nobody asks for it
        raise


async def unless_gone(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """The result of some work for a request; cancelled if whoever asks hangs up.

    Raises:
        Refused: nobody waits for the answer (499).
    """

    async def gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    task, leaving = asyncio.create_task(work), asyncio.create_task(gone())
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


class Turns:
    """Places at some work. Clients wait for them in turn: a free one goes to the client that holds the fewest.

    Args:
        at_once: the places.
        each: how many of them one client may hold.
    """

    def __init__(self, at_once: int, each: int) -> None:
        self._free, self._each = at_once, each
        self._held, self._last = Counter[str](), ""
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}  # whoever waits the longest stands first

    def wanted_by_others(self, client: str) -> bool:
        """Whether anybody but this client waits."""
        return any(waiting for other, waiting in self._waiting.items() if other != client)

    @property
    def idle(self) -> bool:
        """Whether nobody works or waits."""
        return not self._held and not any(self._waiting.values())

    @asynccontextmanager
    async def turn(self, client: str, most: int | None = None) -> AsyncIterator[None]:
        """A place, once it is the client's turn; `most`: how many of its requests may wait, None: any number.

        Raises:
            Refused: too many of its requests wait already (503).
        """
        waiting = self._waiting.setdefault(client, deque())
        if most is not None and len(waiting) >= most:
            raise Refused(503, f"{most} requests of this kind from your address are waiting already")
        place = asyncio.get_running_loop().create_future()
        waiting.append(place)
        self._hand_out()
        try:
            await place
            yield
        finally:
            if place in waiting:
                waiting.remove(place)
            elif not place.cancelled():
                self._free += 1
                self._held[client] -= 1
                self._held += Counter()  # which forgets those who hold none
            self._hand_out()

    def _hand_out(self) -> None:
        self._waiting = {client: waiting for client, waiting in self._waiting.items() if waiting}
        while self._free:
            able = [client for client in self._waiting if self._waiting[client] and self._held[client] < self._each]
            if not able:
                return
            client = min(able, key=lambda one: (self._held[one], one == self._last))  # the first of equals
            self._last = client
            waiting = self._waiting[client] = self._waiting.pop(client)
            place = waiting.popleft()
            if not place.cancelled():
                place.set_result(None)
                self._held[client] += 1
                self._free -= 1


class Loading(Generic[T]):
    """Things that are being loaded, each once, however many ask for it."""

    def __init__(self) -> None:
        self._tasks: dict[Hashable, asyncio.Task[T]] = {}

    async def of(self, key: Hashable, load: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of `load`, or of the one that is under way for somebody else."""
        if key not in self._tasks:
            task = self._tasks[key] = asyncio.create_task(load())
            task.add_done_callback(lambda _: self._tasks.pop(key))
        return await asyncio.shield(self._tasks[key])
