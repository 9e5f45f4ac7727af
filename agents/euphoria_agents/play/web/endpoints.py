"""Endpoints: each declares who may call it and with what body. Both are checked here and nowhere else.

What a server keeps (games, studies) has a name, and tokens for whoever made it (`HOST`) and for the people on the seats
of a game. They stand in cookies that scripts cannot read, for the endpoints of that thing alone.
"""

from __future__ import annotations

import asyncio
import hmac
import inspect
import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, TypeVar

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from euphoria_agents.play import Session
from euphoria_agents.play.web.refusals import Refused
from euphoria_agents.play.web.server_limits import MAX_BODY, Limits
from euphoria_agents.play.web.store import HOST, Store, token_hash
from euphoria_agents.play.web.turns import Turns, in_thread, unless_gone
from euphoria_agents.validation import checked, decoded
from euphoria_env.json_reader import Json

T = TypeVar("T")
Finder = Callable[[str, str], Awaitable[Any]]

MAX_DEPTH = 32  # of nested JSON
COOKIE_AGE = 90 * 24 * 3600  # seconds
PLACES = {"game": "/api/games", "study": "/api/studies"}

Spec = Annotated[str, Meta(min_length=1, max_length=100)]
SeatNumber = Annotated[int, Meta(ge=0, le=5)]
Version = Annotated[int, Meta(ge=0, le=2**53)]


class Body(msgspec.Struct, forbid_unknown_fields=True):
    """A body without anything in it; others are made from it."""


class Query(msgspec.Struct):
    """The query of an address; unknown keys are ignored."""


@dataclass
class Asked:
    """A request, once its body is read.

    Attributes:
        request: as it came.
        body: what it says, or the query of a GET.
        endpoint: what is asked for.
        store: has the tokens.
        desk: the threads for what is done at once.
        kind, name: what it is about: "game" or "study", and which; empty if nothing that is kept.
        thing: the game (`RunningGame`) or study itself; None if the endpoint does without.
        held: the seats whose tokens it brought, `HOST` among them; those of agents are nobody's.
    """

    request: Request
    body: Any
    endpoint: Endpoint
    store: Store
    desk: Turns
    kind: str = ""
    name: str = ""
    thing: Any = None
    held: frozenset[int] = frozenset()

    async def check(self) -> None:
        """Finds out which seats are held now, and whether the endpoint may be called; again after anything that takes long.

        Raises:
            Refused: it may not (403).
        """
        if self.kind:
            hashes = await in_thread(lambda: self.store.hashes(self.name))
            cookies = self.request.cookies
            held = {seat for seat, kept in hashes.items() if matches(kept, cookies.get(_cookie(self.name, seat), ""))}
            game = self.kind == "game" and self.thing is not None
            self.held = frozenset(held & {HOST, *people(self.thing.session)} if game else held)
        if not self.endpoint.who.allows(self):
            raise Refused(403, self.endpoint.who.refusal.format(seat=self.seat, kind=self.kind))

    async def in_turn(self, work: Callable[[], T]) -> T:
        """Works at the thing, in a thread, when nobody else is at it, and it is this client's turn."""
        async with getattr(self.thing, "lock", None) or nullcontext(), self.desk.turn(self.client):
            return await in_thread(work)

    @property
    def seat(self) -> int | None:
        """The seat that the request names."""
        return getattr(self.body, "seat", None)

    @property
    def host(self) -> bool:
        """Whether whoever asks made the thing."""
        return HOST in self.held

    @property
    def client(self) -> str:
        """The address of whoever asks."""
        return self.request.client.host if self.request.client else ""


class Who(NamedTuple):
    """The right that an endpoint requires.

    Attributes:
        allows: whether a request may.
        refusal: what others are told; "{seat}" stands for the seat that they named, "{kind}" for what they asked about.
    """

    allows: Callable[[Asked], bool]
    refusal: str


ANYBODY = Who(lambda asked: True, "")
MAKER = Who(lambda asked: asked.host, "only whoever made this {kind} may do that")
MEMBER = Who(lambda asked: bool(asked.held), "only those who play, or made this game, may do that")
SEATED = Who(lambda asked: asked.seat in asked.held, "seat {seat} is not yours")
VIEWER = Who(lambda asked: asked.seat is None or asked.seat in asked.held, "seat {seat} is not yours")
HELPER = Who(
    lambda asked: asked.host or asked.seat in asked.held or bool(asked.held and asked.thing.failed == asked.seat),
    "seat {seat} is not yours, and no agent has failed there",
)
ENDED = Who(
    lambda asked: asked.thing is None or asked.thing.session.over or asked.thing.session.practice,
    "the game has secrets in it until it has ended",
)
BEGINNER = Who(
    lambda asked: asked.host or asked.thing.began(asked.body.spec, asked.request.cookies),
    "only whoever made this study, or began this analysis, may do that",
)


class Endpoint(NamedTuple):
    """An endpoint.

    Attributes:
        who: who may.
        handler: gives an answer, or what is to be sent as JSON; a plain function is called in a thread.
        body: the type of the body; of a GET, that of its query.
        reads: whether what it is about is read; what is damaged can still be deleted.
    """

    method: str
    path: str
    who: Who
    handler: Callable[[Asked], Awaitable[Response | Json] | Response | Json]
    body: type[msgspec.Struct] = Body
    reads: bool = True


def route(endpoint: Endpoint, store: Store, limits: Limits, finders: Mapping[str, Finder], desk: Turns) -> Route:
    """An endpoint, behind its checks.

    Args:
        endpoint: which.
        store: has the tokens.
        limits: those of the server.
        finders: give a game or study by its name, for a client; they raise `Refused` if there is none.
        desk: the threads for what is done at once.
    """

    async def answer(request: Request) -> Response:
        asked = Asked(request, await _read(request, endpoint.body, limits.body_seconds), endpoint, store, desk)
        return await unless_gone(request, respond(asked))

    async def respond(asked: Asked) -> Response:
        for kind in finders:
            if name := asked.request.path_params.get(kind) or getattr(asked.body, kind, None):
                asked.kind, asked.name = kind, name
                if endpoint.reads:
                    asked.thing = await finders[kind](name, asked.client)
                elif not await in_thread(lambda: store.exists(asked.kind, asked.name)):
                    raise Refused(404, f"there is no such {kind}")
        seats = asked.thing.session.seats if asked.kind == "game" and asked.thing is not None else ()
        if asked.seat is not None and seats and asked.seat >= len(seats):
            raise Refused(422, f"seat must be a number from 0 to {len(seats) - 1}")
        await asked.check()
        handler: Any = endpoint.handler
        if inspect.iscoroutinefunction(handler):
            return _sent(await handler(asked))
        return await asked.in_turn(lambda: _sent(handler(asked)))

    return Route(endpoint.path, answer, methods=[endpoint.method])


def _sent(found: Response | Json) -> Response:
    return found if isinstance(found, Response) else JSONResponse(found)


# ----------------------------------------------------------------------------------------------------------------- tokens


def new_tokens(*seats: int) -> dict[int, str]:
    """A token for each seat."""
    return {seat: secrets.token_urlsafe(16) for seat in seats}


def people(session: Session) -> set[int]:
    """The seats of people; the holder of another seat, which was taken away or given up, has no right over it any more."""
    return {k for k, seat in enumerate(session.seats) if seat.spec is None}


def matches(kept: bytes, token: str) -> bool:
    """Whether a token is the one of which this hash is kept."""
    return hmac.compare_digest(kept, token_hash(token))


def give(answer: Response, kind: str, name: str, tokens: Mapping[int, str]) -> Response:
    """Puts tokens into an answer, as cookies that scripts cannot read, and that go to the endpoints of their thing alone."""
    for seat, token in tokens.items():
        set_cookie(answer, _cookie(name, seat), token, kind, name)
    return answer


def set_cookie(answer: Response, cookie: str, value: str, kind: str, name: str) -> Response:
    """Puts a cookie into an answer, for the endpoints of a game or a study."""
    answer.set_cookie(cookie, value, max_age=COOKIE_AGE, path=f"{PLACES[kind]}/{name}", httponly=True, samesite="strict")
    return answer


def _cookie(name: str, seat: int) -> str:
    return f"seat-{name}-{'host' if seat == HOST else seat}"


# ----------------------------------------------------------------------------------------------------------------- bodies


async def _read(request: Request, kind: type[msgspec.Struct], seconds: float) -> Any:
    """The content of a request.

    Raises:
        Refused: it is too long (413), comes too slowly (408), or is nested too deep (422).
        ValueError: it is not JSON, or not of this type.
    """
    if request.method in ("GET", "HEAD"):
        return checked(dict(request.query_params), kind, strict=False) if issubclass(kind, Query) else None
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for chunk in request.stream():
                body += chunk
                if len(body) > MAX_BODY:
                    raise Refused(413, f"a message has at most {MAX_BODY:,} bytes")
    except TimeoutError:
        raise Refused(408, f"the message did not come within {seconds:g} seconds") from None
    return await in_thread(lambda: _understood(bytes(body), kind))


def _understood(body: bytes, kind: type[msgspec.Struct]) -> Any:
    said = decoded(body, Any, "the message")
    if _deeper(said, MAX_DEPTH):
        raise Refused(422, f"the message is nested deeper than {MAX_DEPTH} levels")
    return checked(said, kind)


def _deeper(value: Any, levels: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return levels < 0 or any(_deeper(one, levels - 1) for one in inner)
