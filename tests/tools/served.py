"""A server of games in a thread of its own, and somebody who asks it, as rudely as a test wants."""

from __future__ import annotations

import asyncio
import http.client
import inspect
import json
import threading
import time
import zlib
from collections.abc import Callable
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

from euphoria_agents.play.web.app import make_app
from euphoria_agents.play.web.limits import Limits
from euphoria_agents.play.web.server import Server, listen
from euphoria_agents.play.web.store import Store

ANN, BOB = {"name": "Ann", "spec": None, "here": True}, {"name": "Bob", "spec": None}
RANDOM, GREEDY = {"name": "R", "spec": "random"}, {"name": "G", "spec": "greedy"}

PATIENCE = 3600  # seconds that a visitor may be silent and still be connected; uvicorn's 5 are few on a busy machine


class Served:
    """A server on a free port, from `with` to its end."""

    def __init__(self, data: Path, allowed: tuple[str, ...] = (), **limits: Any) -> None:
        self.data, self.allowed, self.limits = data, allowed, Limits(**limits)
        self.port = 0
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))
        self._ready = threading.Event()
        self._visitors: list[Visitor] = []

    def visitor(self, client: str = "127.0.0.1") -> Visitor:
        """Somebody who asks, from an address of this machine; hangs up when the server ends."""
        self._visitors.append(Visitor(self.port, client))
        return self._visitors[-1]

    async def _serve(self) -> None:
        self.store = Store(self.data)
        self.app = make_app(self.store, self.allowed, limits=self.limits)
        self.registry = self.app.state.registry
        self.loop = asyncio.get_running_loop()
        self.server = Server(self.app, timeout_graceful_shutdown=1, timeout_keep_alive=PATIENCE)
        listening = listen("127.0.0.1", 0)
        serving = asyncio.create_task(self.server.serve(sockets=[listening]))
        while not self.server.started:
            await asyncio.sleep(0.01)
        self.port = listening.getsockname()[1]
        self._ready.set()
        await serving
        listening.close()
        self.store.close()

    def __enter__(self) -> Served:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: Any) -> None:
        for visitor in self._visitors:
            visitor.close()
        self.loop.call_soon_threadsafe(self.registry.close)
        self.server.should_exit = True
        self._thread.join()

    def inside(self, work: Callable[[], Any]) -> Any:
        """The result of a function that runs on the loop of the server."""

        async def call() -> Any:
            found = work()
            return await found if inspect.isawaitable(found) else found

        return asyncio.run_coroutine_threadsafe(call(), self.loop).result(300)


class Visitor:
    """A browser without a screen: keeps cookies, sends the requests of a page, or any others."""

    def __init__(self, port: int, client: str = "127.0.0.1") -> None:
        self.port = port
        self.cookies: dict[tuple[str, str], str] = {}  # by path and name
        self._line = http.client.HTTPConnection("127.0.0.1", port, source_address=(client, 0))

    def ask(
        self, method: str, path: str, body: Any = None, headers: dict[str, str | None] | None = None
    ) -> tuple[int, bytes, http.client.HTTPMessage]:
        """Status, content and headers of an answer; a header that is None is left out."""
        here = f"http://127.0.0.1:{self.port}"
        sent: dict[str, str | None] = {"Host": f"127.0.0.1:{self.port}", "Cookie": self._cookies(path)}
        if method != "GET":
            sent |= {"Content-Type": "application/json", "Origin": here, "Sec-Fetch-Site": "same-origin"}
        sent |= headers or {}
        raw = body if isinstance(body, bytes) else b"" if body is None and method == "GET" else json.dumps(body or {}).encode()
        if "Content-Length" not in sent and method != "GET":
            sent["Content-Length"] = str(len(raw))
        try:
            self._line.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in sent.items():
                if value is not None:
                    self._line.putheader(name, value)
            self._line.endheaders(raw)
            answer = self._line.getresponse()
            content = answer.read()
        except (http.client.HTTPException, OSError):
            self._line.close()
            raise
        for line in answer.headers.get_all("Set-Cookie", []):
            for name, morsel in SimpleCookie(line).items():
                self.cookies[morsel["path"], name] = morsel.value
        return answer.status, content, answer.headers

    def get(self, path: str) -> Any:
        """The JSON of an answer that must be good."""
        status, content, _ = self.ask("GET", path)
        assert status == 200, content
        return json.loads(content)

    def post(self, path: str, body: Any = None) -> Any:
        """As `get`."""
        status, content, _ = self.ask("POST", path, body)
        assert status in (200, 201), content
        return json.loads(content)

    def close(self) -> None:
        """Hangs up."""
        self._line.close()

    def _cookies(self, path: str) -> str | None:
        found = [f"{name}={value}" for (where, name), value in self.cookies.items() if f"{path}/".startswith(f"{where}/")]
        return "; ".join(found) or None


class Listener:
    """Somebody who listens to a game, from `with` to its end, and knows the view that they were sent last.

    Args:
        visitor: whose cookies are sent; None: a stranger.
        headers: more headers.
    """

    def __init__(self, port: int, path: str, visitor: Visitor | None = None, client: str = "127.0.0.1", **headers: str) -> None:
        self._line = http.client.HTTPConnection("127.0.0.1", port, source_address=(client, 0))
        cookies = visitor._cookies(path.partition("?")[0]) if visitor else None
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        self._line.request("GET", path, headers={**sent, **({"Cookie": cookies} if cookies else {})})
        self.answer = self._line.getresponse()
        self.status = self.answer.status
        self._unpack = zlib.decompressobj(16 + zlib.MAX_WBITS) if self.answer.getheader("Content-Encoding") == "gzip" else None
        self._text, self.bytes = b"", 0
        self.view: Any = {}
        self.id = ""

    def __enter__(self) -> Listener:
        return self

    def __exit__(self, *_: Any) -> None:
        self._line.close()

    def message(self) -> dict[str, str]:
        """The fields of the next message; empty at the end of the stream."""
        while b"\n\n" not in self._text:
            try:
                got = self.answer.read1(1 << 16)
            except (http.client.IncompleteRead, OSError):  # the server was killed
                return {}
            if not got:
                return {}
            self.bytes += len(got)
            self._text += self._unpack.decompress(got) if self._unpack else got
        message, _, self._text = self._text.partition(b"\n\n")
        fields = (line.partition(":") for line in message.decode().split("\n"))
        return {name: value.removeprefix(" ") for name, _, value in fields}

    def next(self) -> Any:
        """The next view, put together from what has changed; None at the end of the stream."""
        while message := self.message():
            if "id" in message:
                changed, lines = json.loads(message["data"]), self.view.get("board", "").split("\n")
                if isinstance(changed.get("board"), list):
                    pieces = ([piece] if isinstance(piece, str) else lines[slice(*piece)] for piece in changed["board"])
                    changed["board"] = "\n".join(line for piece in pieces for line in piece)
                self.id, self.view = message["id"], {**self.view, **changed}
                return self.view
        return None


def new(visitor: Visitor, *seats: dict[str, Any], **options: Any) -> Any:
    """A new game, as the answer says it."""
    return visitor.post("/api/games", {"seats": list(seats), "pace": 0, **options})


def play(visitor: Visitor, api: str, view: Any, k: int = 0) -> Any:
    """The view after the move number `k` of a view."""
    move = view["moves"][k]["action"]
    return visitor.post(f"{api}/moves", {"seat": view["seat"], "version": view["version"], "action": move})


def wait_for(visitor: Visitor, path: str, condition: Any, pause: float = 0.01) -> Any:
    """The first view with which a condition holds."""
    while not condition(found := visitor.get(path)):
        time.sleep(pause)
    return found


def wait_until(condition: Callable[[], Any]) -> None:
    """Waits for something to be so."""
    while not condition():
        time.sleep(0.005)
