"""The HTTP server: uvicorn with limits for each client. When it stops, it does not wait for event streams to end."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys
import webbrowser
from types import FrameType
from typing import Any

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol

from euphoria_agents.play.web.limits import Limits

KEEP_ALIVE = 75  # seconds that a connection may idle: on a slow line each new one costs a click a round trip
SWITCH = 0.001  # seconds that a thread at work lets the event loop wait for the interpreter
MAX_PORT = 2**16 - 1
_BODY = b'{"error": "too many connections from this address"}'
_HEAD = b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: %d\r\n\r\n"


class Connection(H11Protocol):
    """A connection that is closed if its client has too many, or if the head of a request does not arrive in time."""

    limits = Limits()
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Closes the connection at once if its client has too many."""
        super().connection_made(transport)
        with contextlib.suppress(OSError):  # asyncio does this only for sockets that it made; without it answers wait 40 ms
            transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        addresses = [(getattr(one, "client", None) or [None])[0] for one in self.connections]
        if self.client and addresses.count(self.client[0]) > self.limits.connections.per_client:
            transport.write(_HEAD % len(_BODY) + _BODY)
            transport.close()
        else:
            self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stops the timer."""
        if self._late is not None:
            self._late.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Reads data, then starts or stops the timer."""
        super().data_received(data)
        self._watch()

    def _watch(self) -> None:
        """Starts the timer when a request may begin, and stops it when its head has arrived."""
        if self.cycle is None or self.cycle.response_complete:
            self._late = self._late or self.loop.call_later(self.limits.head_seconds, self.transport.abort)
        elif self._late is not None:
            self._late.cancel()
            self._late = None


class Server(uvicorn.Server):
    """Serves an application from `make_app`; the browser opens `page`, unless it is None, once the server is running.

    `settings` are further arguments of `uvicorn.Config`.
    """

    def __init__(self, app: Starlette, page: str | None = None, **settings: Any) -> None:
        limits: Limits = app.state.limits
        connection = type("Connection", (Connection,), {"limits": limits})
        most = limits.connections.in_all
        settings = {"timeout_keep_alive": KEEP_ALIVE, "server_header": False, "log_level": "warning", **settings}
        sys.setswitchinterval(SWITCH)
        super().__init__(uvicorn.Config(app, http=connection, limit_concurrency=most, **settings))
        self._registry, self._page = app.state.registry, page

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begins to answer."""
        await super().startup(sockets)
        if self._page is not None:
            await asyncio.to_thread(webbrowser.open, self._page)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Handles a signal to stop: ends the event streams first, since uvicorn would wait for them."""
        asyncio.get_event_loop().call_soon_threadsafe(self._registry.close)
        super().handle_exit(sig, frame)


def listen(host: str, port: int) -> socket.socket:
    """Returns a socket that listens at an address (port 0: any free one); raises a `ValueError` if it cannot."""
    if not 0 <= port <= MAX_PORT:
        raise ValueError(f"a port is a number from 0 to {MAX_PORT}, not {port} (--port 0 takes a port that is free)")
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=128)
    except (OSError, TypeError, UnicodeError) as error:
        why = str(getattr(error, "strerror", None) or error).partition(" (while")[0]  # the rest repeats the address
        raise ValueError(f"cannot listen at {host}:{port}: {why} (--port 0 takes a port that is free)") from error
