"""Checks that every request is for this server, and comes from its own pages."""

from __future__ import annotations

import re
from collections.abc import Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from euphoria_agents.play.web.errors import error_response
from euphoria_agents.play.web.limits import MAX_BODY

LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
FOREIGN = 403, "requests come from the pages of this server only"
_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^\[\]:@/?#\s]+))(?::\d*)?", re.ASCII)  # a name or an address, and a port


class Guard:
    """ASGI middleware that refuses requests for other hosts or from other sites, long bodies, and bodies that are not JSON.

    Clients may call this server by the names in `hosts`, without a port.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str]) -> None:
        self.app = app
        self.hosts = frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self._refusal(Headers(scope=scope), scope["method"]) if scope["type"] == "http" else None
        await (error_response(*refusal) if refusal else self.app)(scope, receive, send_with_headers)

    def _refusal(self, headers: Headers, method: str) -> tuple[int, str] | None:
        """Returns the status and the message of the refusal; None if the request is accepted."""
        hosts, safe = headers.getlist("host"), method in ("GET", "HEAD")
        host = _HOST.fullmatch(hosts[0].lower()) if len(hosts) == 1 else None
        if host is None or (host[1] or host[2]) not in self.hosts:
            return 421, "this server is not asked for under that name; `euphoria serve --hosts` allows more"
        if any(origin.partition("://")[2].lower() != host[0] for origin in headers.getlist("origin")):
            return FOREIGN
        link = safe and headers.get("sec-fetch-mode") == "navigate"  # another site may link to a page
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none") and not link:
            return FOREIGN
        if not safe and headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return 415, "messages are JSON, with the content type application/json"
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length[:12]) > MAX_BODY:
            return 413, f"a message has at most {MAX_BODY:,} bytes"
        return None
