"""Defines who may call an endpoint. Tokens in cookies prove who made a game or study (`HOST`), and who plays which seat.

Scripts cannot read these cookies, and browsers send them only to the endpoints of their game or study.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from starlette.responses import Response

from euphoria_agents.play.web.limits import DAY
from euphoria_agents.play.web.store import HOST, token_hash

if TYPE_CHECKING:
    from euphoria_agents.play.web.endpoints import RequestContext

COOKIE_AGE = int(90 * DAY)  # seconds
PATHS = {"game": "/api/games", "study": "/api/studies"}


class Permission(NamedTuple):
    """A condition on requests."""

    allows: Callable[[RequestContext], bool]  # whether a request meets it
    refusal: str = ""  # the message if it does not; "{seat}" stands for the seat of the request, "{kind}" for "game" or "study"


ANYBODY = Permission(lambda context: True)
OWNER = Permission(lambda context: context.host, "only whoever made this {kind} may do that")
MEMBER = Permission(lambda context: bool(context.held), "only those who play, or made this game, may do that")
SEATED = Permission(lambda context: context.seat in context.held, "seat {seat} is not yours")
VIEWER = Permission(lambda context: context.seat is None or context.seat in context.held, "seat {seat} is not yours")
HELPER = Permission(
    lambda context: context.host or context.seat in context.held or bool(context.held and context.item.failed == context.seat),
    "seat {seat} is not yours, and no agent has failed there",
)
ENDED = Permission(
    lambda context: context.item is None or context.item.session.over or context.item.session.practice,
    "the game has secrets in it until it has ended",
)


def new_tokens(*seats: int) -> dict[int, str]:
    """Returns a new token of 128 bits for each seat."""
    return {seat: secrets.token_urlsafe(16) for seat in seats}


def token_matches(kept: bytes, token: str) -> bool:
    """Returns whether a token has the hash `kept`."""
    return hmac.compare_digest(kept, token_hash(token))


def held_seats(hashes: Mapping[int, bytes], name: str, cookies: Mapping[str, str]) -> set[int]:
    """Returns the seats of a game or study, `HOST` included, whose tokens are among the cookies."""
    return {seat for seat, kept in hashes.items() if token_matches(kept, cookies.get(_cookie(name, seat), ""))}


def give(answer: Response, kind: str, name: str, tokens: Mapping[int, str]) -> Response:
    """Adds cookies with the tokens of seats to a response, and returns it."""
    for seat, token in tokens.items():
        path = f"{PATHS[kind]}/{name}"
        answer.set_cookie(_cookie(name, seat), token, max_age=COOKIE_AGE, path=path, httponly=True, samesite="strict")
    return answer


def _cookie(name: str, seat: int) -> str:
    return f"seat-{name}-{'host' if seat == HOST else seat}"
