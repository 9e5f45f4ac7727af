"""The stream of a game: a listener gets the view of a seat at once, and after each change the parts of it that differ."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator, Callable

from starlette.datastructures import Headers
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from euphoria_agents.play.web.endpoints import RequestContext
from euphoria_agents.play.web.errors import Refused, error_response
from euphoria_agents.play.web.wire import encoded
from euphoria_env.json_reader import Json

HEARTBEAT = 15.0  # seconds after which a silent stream says that it is alive
GAP = 0.05  # seconds between two messages, in which quick agents decide several times
ALIVE = "event: alive\ndata:\n\n"
RETRY = 1000  # milliseconds until a listener that has lost the stream asks again
STREAM = "text/event-stream"


class ViewStream(Response):
    """A response that streams views; its status is 503 if too many clients listen.

    The next message is made when the last one has left, so a slow listener gets the newest view in place of those between.

    Args:
        view: returns the view for a request as it is now, as JSON.
    """

    def __init__(self, context: RequestContext, view: Callable[[RequestContext], Json]) -> None:
        super().__init__(media_type=STREAM)
        self._context, self._view = context, view
        self._before: Json = {}  # the view that the listener has
        self._id = context.request.headers.get("last-event-id", "")  # of this view

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends the response."""
        game, registry, client = self._context.item, self._context.registry, self._context.client
        if not registry.add_listener(game, client, registry.limits.listeners * (2 if self._context.held else 1)):
            await error_response(503, "too many listen to this game")(scope, receive, send)
            return
        squeezed = "gzip" in Headers(scope=scope).get("accept-encoding", "")
        headers = {"Vary": "Accept-Encoding", "X-Accel-Buffering": "no"}  # so that proxies pass each message on at once
        headers |= {"Content-Encoding": "gzip"} if squeezed else {}
        body = _compressed(self._messages()) if squeezed else self._messages()
        try:
            await StreamingResponse(body, headers=headers, media_type=STREAM)(scope, receive, send)
        finally:
            game.listeners.remove(client)

    async def _messages(self) -> AsyncIterator[str]:
        """Yields a message for each change that the listener may see, until the game is deleted or the seat given away."""
        game = self._context.item
        yield f"retry: {RETRY}\n{ALIVE}"
        while not game.closed:
            changed = game.changed
            try:
                await self._context.check_permission()
            except Refused:
                return
            if message := await self._context.run(self._next):
                yield message
                await asyncio.sleep(GAP)
            while not changed.is_set():
                try:
                    await asyncio.wait_for(changed.wait(), HEARTBEAT)
                except TimeoutError:
                    yield ALIVE

    def _next(self) -> str:
        """Returns the message about the view as it is now; empty if the listener has this view."""
        view, before, last = self._view(self._context), self._before, self._id
        language = self._context.language
        self._before, self._id = view, f"{view['version']}-{zlib.crc32(encoded(view, language)):08x}"
        if self._id == last:
            return ""
        return f"id: {self._id}\ndata: {encoded(changes(view, before), language).decode()}\n\n"


async def _compressed(messages: AsyncIterator[str]) -> AsyncIterator[bytes]:
    """Compresses a stream so that each message can be read at once; what the last ones had too costs nearly nothing."""
    squeeze = zlib.compressobj(wbits=16 + zlib.MAX_WBITS)
    async for message in messages:
        yield squeeze.compress(message.encode()) + squeeze.flush(zlib.Z_SYNC_FLUSH)


def changes(view: Json, before: Json) -> Json:
    """Returns the parts of a view that differ from the one before; of the drawn board the lines that do."""
    found = {key: value for key, value in view.items() if key not in before or value != before[key]}
    return {**found, "board": changed_lines(view["board"], before["board"])} if before and "board" in found else found


def changed_lines(text: str, before: str) -> list[str | list[int]]:
    """Returns a text in pieces: a new line, or `[first, end]` for the lines of an earlier text from `first` to before `end`."""
    old = before.split("\n")
    places = {line: k for k, line in enumerate(old)}
    found: list[str | list[int]] = []
    end = 0  # of the last lines that were taken
    for line in text.split("\n"):
        at = end if old[end : end + 1] == [line] else places.get(line)
        if at is None:
            found.append(line)
        elif found and isinstance(found[-1], list) and at == end:
            found[-1][1] = end = at + 1
        else:
            found.append([at, at + 1])
            end = at + 1
    return found
