"""The server's refusals, each with its status."""

from __future__ import annotations

import logging

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from euphoria_agents.play import AgentFailed, Stale, WrongSeat
from euphoria_agents.play.web.store import CannotSave, Damaged

LOG = logging.getLogger("euphoria_agents.play.web")


class Refused(Exception):
    """A request that is answered with a status and a sentence."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


# The status of each error that is sent to the client; the first that fits counts.
STATUS: dict[type[Exception], int] = {
    Refused: 0,
    Stale: 409,
    WrongSeat: 409,
    ValueError: 422,
    Damaged: 500,
    AgentFailed: 503,
    CannotSave: 507,
}


def refusal(status: int, message: str) -> JSONResponse:
    """The answer to a refused request."""
    return JSONResponse({"error": message}, status)


async def refused(_: Request, error: Exception) -> Response:
    """Starlette's handler of all that is said to whoever asked; see `STATUS`."""
    if isinstance(error, AgentFailed | Damaged):
        LOG.warning("%s", error, exc_info=error)
    status = next(status for kind, status in STATUS.items() if isinstance(error, kind))
    return refusal(getattr(error, "status", status), str(error))


async def broken(_: Request, error: Exception) -> Response:
    """Starlette's handler of our own faults: the log of the server has them, the page nothing of it."""
    return refusal(500, "the server made a mistake; its log says which")


async def missing(_: Request, error: Exception) -> Response:
    """Starlette's handler of addresses and methods that there are not."""
    status = getattr(error, "status_code", 404)
    return refusal(status, "no such method here" if status == 405 else "there is nothing at this address")
