"""A server on loopback that speaks OpenAI's chat protocol, with any fault that a test wants."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = str | tuple[int, str] | bytes | None  # a text, a status with a body, raw bytes of a body, or None: hang up


class Server(ThreadingHTTPServer):
    """Answers each request with what `answer` returns for the last message and the number of the request.

    Attributes:
        requests: the bodies and the headers of all requests.
    """

    daemon_threads = True

    def __init__(self, answer: Callable[[str, int], Answer]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer, self.requests, self.lock = answer, list[tuple[dict[str, Any], Any]](), threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with self.server.lock:
            self.server.requests.append((body, self.headers))
            number = len(self.server.requests)
        found = self.server.answer(body["messages"][-1]["content"], number)
        if found is None:
            self.connection.close()
            return
        status, content = found if isinstance(found, tuple) else (200, found)
        if isinstance(content, str) and status == 200:
            message = {"role": "assistant", "content": content}
            usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
            content = json.dumps({"id": "1", "object": "chat.completion", "created": 0, "model": "m", "usage": usage,
                "choices": [{"index": 0, "finish_reason": "stop", "message": message}]})  # fmt: skip
        data = content.encode() if isinstance(content, str) else content
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("retry-after-ms", "1")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def model_server(answer: Callable[[str, int], Answer]) -> Iterator[Server]:
    """Yields a server that runs until the end of the block."""
    with Server(answer) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()
