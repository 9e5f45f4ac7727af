"""Checks every request first: it must be for this server, and come from its own pages."""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from euphoria_agents.play.web.refusals import refusal
from euphoria_agents.play.web.server_limits import MAX_BODY

LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
SAFE = ("GET", "HEAD")


class Guard:
    """ASGI middleware: refuses requests for other hosts, from other sites, and messages that are no JSON or too long.

    Args:
        app: what is guarded.
        hosts: the names under which this server may be asked for, without port.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str]) -> None:
        self.app = app
        self.hosts = frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        if scope["type"] != "http":  # the life of the server; there are no websockets
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        why = self._objection(scope)
        answer = self.app if why is None else refusal(*why)
        await answer(scope, receive, send_guarded)

    def _objection(self, scope: Scope) -> tuple[int, str] | None:
        """Why a request is refused, with the status; None: it is not."""
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or self._name(hosts[0]) not in self.hosts:
            return 421, "this server is not asked for under that name; `euphoria serve --hosts` allows more"
        origins, safe = headers.getlist("origin"), scope["method"] in SAFE
        if any(origin.partition("://")[2].lower() != hosts[0].lower() for origin in origins):
            return 403, "requests come from the pages of this server only"
        page = safe and headers.get("sec-fetch-mode") == "navigate"  # a link from elsewhere may lead to a page
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none") and not page:
            return 403, "requests come from the pages of this server only"
        if not safe and headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return 415, "messages are JSON, with the content type application/json"
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length[:12]) > MAX_BODY:
            return 413, f"a message has at most {MAX_BODY:,} bytes"
        return None

    @staticmethod
    def _name(host: str) -> str:
        """The name in a Host header, without port; empty if it is malformed."""
        try:
            parts = urlsplit(f"//{host}")
            _ = parts.port  # raises if it is none
            return (parts.hostname or "") if parts.path == "" and "@" not in host else ""
        except ValueError:
            return ""
