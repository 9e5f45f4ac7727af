"""The connections of the server: each client has only so many, and must send its requests in time."""

from __future__ import annotations

import asyncio
from typing import Any

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol

from euphoria_agents.play.web.server_limits import Limits, Places

_BODY = b'{"error": "too many connections from this address"}'
_HEAD = b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: %d\r\n\r\n"
_FULL = _HEAD % len(_BODY) + _BODY


def configuration(app: Starlette, **more: Any) -> uvicorn.Config:
    """The settings with which uvicorn serves an application from `make_app`."""
    limits: Limits = app.state.limits
    return uvicorn.Config(
        app, http=_protocol(limits), limit_concurrency=limits.connections, server_header=False, log_level="warning", **more
    )


def _protocol(limits: Limits) -> type[asyncio.Protocol]:
    """The class of connections of one server."""
    places = Places(limits.connections_per_client)

    class Connection(H11Protocol):
        """A connection that counts for its client, and ends if a request's head does not come in time."""

        _peer = ""
        _late: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            peer = (transport.get_extra_info("peername") or [""])[0]
            if not places.take(peer):
                self.transport = transport
                transport.write(_FULL)
                transport.close()
                return
            self._peer = peer
            super().connection_made(transport)
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            if self._late is not None:
                self._late.cancel()
            if self.flow is not None:  # it had a place
                places.leave(self._peer)
                super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch()

        def _watch(self) -> None:
            """Starts the clock when a request may begin, and stops it when its head has arrived."""
            if self.cycle is None or self.cycle.response_complete:
                self._late = self._late or self.loop.call_later(limits.head_seconds, self.transport.abort)
            elif self._late is not None:
                self._late.cancel()
                self._late = None

    return Connection
