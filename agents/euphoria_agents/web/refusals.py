"""What the server refuses, and with which status."""

from __future__ import annotations

import json
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from euphoria_env.json_reader import Json, Reader

MAX_BODY = 1_000_000  # bytes
MAX_DEPTH = 32  # of nested JSON


class Refused(Exception):
    """A request that is answered with a status and a sentence."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def refusal(status: int, message: str) -> JSONResponse:
    """The answer to a refused request."""
    return JSONResponse({"error": message}, status)


async def refused(_: Request, error: Exception) -> Response:
    """Starlette's handler of what is said to whoever asked: `Refused`, bad values, and that nothing can be saved."""
    status = error.status if isinstance(error, Refused) else 507 if isinstance(error, OSError) else 422
    return refusal(status, str(error))


async def broken(_: Request, error: Exception) -> Response:
    """Starlette's handler of our own faults: the log of the server has them, the page nothing of it."""
    return refusal(500, "the server made a mistake; its log says which")


async def missing(_: Request, error: Exception) -> Response:
    """Starlette's handler of addresses and methods that there are not."""
    status = getattr(error, "status_code", 404)
    return refusal(status, "no such method here" if status == 405 else "there is nothing at this address")


async def read_body(request: Request, allowed: tuple[str, ...]) -> Json:
    """The JSON object that a request brings.

    Raises:
        Refused: it is too long (413), no JSON, or nested too deep (422).
        ValueError: it is no object with keys out of `allowed`.
    """
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY:
            raise Refused(413, f"a message has at most {MAX_BODY:,} bytes")
    try:
        found = json.loads(body.decode(), parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise Refused(422, "the message is no JSON") from None
    if _deeper(found, MAX_DEPTH):
        raise Refused(422, f"the message is nested deeper than {MAX_DEPTH} levels")
    return Reader().mapping("" if isinstance(found, dict) else "the message", found, allowed)


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def _deeper(value: Any, levels: int) -> bool:
    layer = [value]
    for _ in range(levels):
        layer = [inner for outer in layer for inner in _within(outer)]
    return bool(layer)


def _within(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
