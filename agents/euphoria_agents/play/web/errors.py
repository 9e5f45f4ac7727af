"""The errors of the server, and the HTTP status of each."""

from __future__ import annotations

import logging
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from euphoria_agents.play import PlayerFailed, Stale, WrongSeat
from euphoria_agents.play.failures import Told
from euphoria_agents.play.web.store import CannotSave, Damaged

LOG = logging.getLogger("euphoria_agents.web")


class Refused(Exception):
    """A request is refused, with this HTTP status and this message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


# The status of each error whose message is sent to the client; the first class that fits counts. `Refused` has its own status.
STATUS: dict[type[Exception], int] = {
    Refused: 0,
    Stale: 409,
    WrongSeat: 409,
    ValueError: 422,
    RecursionError: 422,  # JSON nested too deep
    Damaged: 500,
    PlayerFailed: 503,
    CannotSave: 507,
}


def error_response(status: int, message: str) -> JSONResponse:
    """Returns the response to a refused request."""
    return JSONResponse({"error": message, **told(message)}, status)


def told(message: str) -> dict[str, Any]:
    """Returns the key and the parts of a message, from which a page says it in its language; nothing if it has none."""
    return {"key": message.key, "parts": message.parts} if isinstance(message, Told) else {}


async def expected_error(_: Request, error: Exception) -> Response:
    """Handles the errors in `STATUS`, for Starlette."""
    if isinstance(error, PlayerFailed | Damaged):
        LOG.warning("%s", error, exc_info=error)
    status = next(status for kind, status in STATUS.items() if isinstance(error, kind))
    message = error.args[0] if error.args and isinstance(error.args[0], Told) else str(error)
    return error_response(getattr(error, "status", status), message)


async def unexpected_error(_: Request, error: Exception) -> Response:
    """Handles all other errors, for Starlette, which writes them to the log; the client does not see them."""
    return error_response(500, "the server made a mistake; its log says which")


async def not_found(_: Request, error: Exception) -> Response:
    """Handles unknown addresses and methods, for Starlette."""
    status = getattr(error, "status_code", 404)
    return error_response(status, "no such method here" if status == 405 else "there is nothing at this address")
