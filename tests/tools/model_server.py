"""A server on loopback that speaks OpenAI's chat protocol, with any fault that a test wants."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# A text, a status with a body, raw bytes of a body, None (hang up), or a function that answers by itself.
Answer = str | tuple[int, str] | bytes | None | Callable[["Handler"], None]


class Server(ThreadingHTTPServer):
    """Answers each request with what `answer` returns for the last message and the number of the request.

    Attributes:
        requests: the bodies and the headers of all requests.
        closed: set when the server ends.
    """

    daemon_threads = True

    def __init__(self, answer: Callable[[str, int], Answer]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer, self.requests, self.lock = answer, list[tuple[dict[str, Any], Any]](), threading.Lock()
        self.closed = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, *_: Any) -> None:
        """Says nothing of clients that have hung up."""


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with self.server.lock:
            self.server.requests.append((body, self.headers))
            number = len(self.server.requests)
        found = self.server.answer(body["messages"][-1]["content"], number)
        if found is None:
            self.connection.close()
        elif callable(found):
            found(self)
        else:
            status, content = found if isinstance(found, tuple) else (200, found)
            content = said(content) if isinstance(content, str) and status == 200 else content
            self.reply(status, content.encode() if isinstance(content, str) else content)

    def reply(self, status: int, body: bytes, length: int | None = None, **headers: str) -> None:
        """Sends a whole answer; `length`: what it says of the body's length."""
        usual = {"content-type": "application/json", "retry-after-ms": "1"}
        usual |= {"content-length": str(len(body) if length is None else length)}
        self.send_response(status)
        for name, value in (usual | {name.replace("_", "-"): value for name, value in headers.items()}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def drip(self, part: bytes, seconds: float) -> None:
        """Sends a part again and again with pauses, until the client hangs up or the server ends."""
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while not self.server.closed.wait(seconds) if seconds else not self.server.closed.is_set():
            self.wfile.write(part)

    def log_message(self, *_: Any) -> None:
        pass


def said(text: str, finish: str = "stop") -> bytes:
    """The body of a response in which the model says a text."""
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    choices = [{"index": 0, "finish_reason": finish, "message": message}]
    return json.dumps(
        {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "usage": usage, "choices": choices}
    ).encode()


def dripping_body(handler: Handler) -> None:
    handler.reply(200, b"", 10**6)
    handler.drip(b" ", 0.02)


def dripping_headers(handler: Handler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nx: ")
    handler.drip(b"x", 0.02)


def endless_body(handler: Handler) -> None:
    handler.reply(200, b"", 10**12)
    handler.drip(b" " * 2**16, 0)


def endless_error(handler: Handler) -> None:
    handler.reply(500, b"", 10**12)
    handler.drip(b"x" * 2**16, 0)


def endless_headers(handler: Handler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    handler.drip(b"x: y\r\n" * 2**12, 0)


def endless_interim(handler: Handler) -> None:
    handler.drip(b"HTTP/1.1 100 Continue\r\n\r\n", 0)


def reset(handler: Handler) -> None:
    """Begins an answer, and resets the connection."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{")
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()


def redirect(handler: Handler) -> None:
    """Sends the client to where it is."""
    handler.reply(307, b"", location=handler.path)


def wait_for_days(handler: Handler) -> None:
    handler.reply(503, b"", retry_after_ms="1e9", retry_after="1000000")


def wait_a_minute(handler: Handler) -> None:
    handler.reply(503, b"", retry_after_ms="60000", retry_after="60")


@contextmanager
def model_server(answer: Callable[[str, int], Answer]) -> Iterator[Server]:
    """Yields a server that runs until the end of the block."""
    with Server(answer) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield server
        finally:  # also if the block raises an error: its thread would ask a closed socket again and again
            server.closed.set()
            server.shutdown()
