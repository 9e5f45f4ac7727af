"""Endpoints: each declares who may call it and the type of its body, and only this module checks both."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, NamedTuple, TypeVar

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from euphoria_agents.play.failures import Told
from euphoria_agents.play.web.errors import Refused
from euphoria_agents.play.web.limits import MAX_BODY
from euphoria_agents.play.web.permissions import Permission, held_seats
from euphoria_agents.play.web.queueing import in_thread, until_disconnect
from euphoria_agents.play.web.registry import GameRegistry
from euphoria_agents.play.web.store import HOST
from euphoria_agents.play.web.wire import COOKIE, encoded, wanted_language
from euphoria_agents.validation import checked, decoded
from euphoria_env.json_reader import Json

QUICK = 10_000  # bytes that are read without a thread
T = TypeVar("T")
Finder = Callable[[str, str], Awaitable[Any]]  # from a name and a client, finds a game or study, or raises `Refused`

Spec = Annotated[str, Meta(min_length=1, max_length=100)]
SeatNumber = Annotated[int, Meta(ge=0, le=5)]
Version = Annotated[int, Meta(ge=0, le=2**53)]


class Body(msgspec.Struct, forbid_unknown_fields=True):
    """An empty body, and the base of all others."""


class Query(msgspec.Struct, forbid_unknown_fields=True):
    """The query of a GET request, empty here, and the base of all others."""


class SeatQuery(Query):
    """The seat whose view is shown; None: the view of everybody."""

    seat: SeatNumber | None = None


@dataclass
class RequestContext:
    """A request whose body has been read."""

    request: Request
    body: Any  # the body, or the query of a GET, in the type that the endpoint names
    endpoint: Endpoint
    registry: GameRegistry  # the games of the server, its store and its threads
    kind: str = ""  # "game" or "study"; empty if it is about neither
    name: str = ""
    item: Any = None  # the `RunningGame` or study; None if it is about neither, or the endpoint does not load it
    # the seats whose tokens the request has, `HOST` included; nobody holds the seat of an agent
    held: frozenset[int] = frozenset()

    async def check_permission(self) -> None:
        """Sets `held`, and raises `Refused` if the client may not call the endpoint; is called again after long waits."""
        if self.kind:
            hashes = await in_thread(lambda: self.registry.store.hashes(self.name))
            held = held_seats(hashes, self.name, self.request.cookies)
            session = getattr(self.item, "session", None)
            self.held = frozenset(held if session is None else held & {HOST, *session.people})
        permission = self.endpoint.permission
        if not permission.allows(self):
            raise Refused(403, Told(permission.refusal, seat=self.seat, kind=self.kind))

    async def run(self, work: Callable[[], T]) -> T:
        """Runs `work` in a thread, once nobody else uses the item and a slot is free for this client."""
        async with self.registry.working.slot(self.client, lock=getattr(self.item, "lock", None)):
            return await in_thread(work)

    @property
    def seat(self) -> int | None:
        """The seat that the body names; None if it names none."""
        return getattr(self.body, "seat", None)

    @property
    def host(self) -> bool:
        """Whether this client made the game or study."""
        return HOST in self.held

    @property
    def language(self) -> str:
        """The language of the page that asks."""
        return language_of(self.request)

    @property
    def client(self) -> str:
        """The address from which the request came."""
        return self.request.client.host if self.request.client else ""


class Endpoint(NamedTuple):
    """An endpoint of the API."""

    method: str
    path: str
    permission: Permission  # who may call it
    # returns a response, or a value to be sent as JSON; a function that is not async is called in a thread
    handler: Callable[[RequestContext], Awaitable[Response | Json] | Response | Json]
    body: type[msgspec.Struct] = Body  # the type of the body, or of the query of a GET
    reads: bool = True  # whether the game or study is loaded; False makes it possible to delete a damaged one


def route(endpoint: Endpoint, registry: GameRegistry, finders: Mapping[str, Finder]) -> Route:
    """Returns the route of an endpoint, with its checks; `finders` load games and studies."""

    async def answer(request: Request) -> Response:
        body = await _read_body(request, endpoint.body, registry.limits.body_seconds)
        return await until_disconnect(request, respond(RequestContext(request, body, endpoint, registry)))

    async def respond(context: RequestContext) -> Response:
        for kind, find in finders.items():
            if name := context.request.path_params.get(kind) or getattr(context.body, kind, None):
                context.kind, context.name = kind, name
                if endpoint.reads:
                    context.item = await find(name, context.client)
                elif not await in_thread(lambda: registry.store.exists(context.kind, context.name)):
                    raise Refused(404, f"there is no such {kind}")
        session = getattr(context.item, "session", None)
        if session is not None and context.seat is not None and context.seat >= len(session.seats):
            raise Refused(422, f"seat must be a number from 0 to {len(session.seats) - 1}")
        await context.check_permission()
        handler: Any = endpoint.handler
        if inspect.iscoroutinefunction(handler):
            return as_response(await handler(context), language=context.language)
        return await context.run(lambda: as_response(handler(context), language=context.language))

    return Route(endpoint.path, answer, methods=[endpoint.method])


def as_response(found: Any, status: int = 200, language: str = "en") -> Response:
    """Converts data, dataclasses, msgspec structs and phrases included, to a JSON response; returns a response unchanged."""
    if isinstance(found, Response):
        return found
    return Response(encoded(found, language), status, media_type="application/json")


def language_of(request: Request) -> str:
    """Returns the language that the reader of a page chose, or else the first one that the browser accepts."""
    return wanted_language(request.cookies.get(COOKIE), request.headers.get("accept-language", ""))


def read_query(request: Request, kind: type[T]) -> T:
    """Reads the query of an address; raises a `ValueError` if it is not of this type, or names something twice."""
    pairs = request.query_params.multi_items()
    if len(dict(pairs)) < len(pairs):
        raise ValueError("the address says something twice")
    return checked(dict(pairs), kind, strict=False)


async def _read_body(request: Request, kind: type[msgspec.Struct], seconds: float) -> Any:
    """Reads the body of a request, or the query of a GET; no other request has a query.

    Raises `Refused` if the body is too long (413), or arrives too slowly (408), a `ValueError` if it is not of this type.
    """
    query = read_query(request, kind if issubclass(kind, Query) else Query)
    if request.method in ("GET", "HEAD"):
        return query
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for chunk in request.stream():
                body += chunk
                if len(body) > MAX_BODY:
                    raise Refused(413, f"a message has at most {MAX_BODY:,} bytes")
    except TimeoutError:
        raise Refused(408, f"the message did not come within {seconds:g} seconds") from None
    read = partial(decoded, bytes(body), kind)
    return await in_thread(read) if len(body) > QUICK else read()
