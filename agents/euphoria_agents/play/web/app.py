"""The server as an ASGI application: guard, pages, endpoints."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from euphoria_agents.play import Agents
from euphoria_agents.play.web import endpoints
from euphoria_agents.play.web.agents import AgentService
from euphoria_agents.play.web.board_data import STATIC, colours, facts, page_icon, symbols
from euphoria_agents.play.web.errors import STATUS, Refused, expected_error, not_found, unexpected_error
from euphoria_agents.play.web.games import Games
from euphoria_agents.play.web.guard import LOCAL_HOSTS, Guard
from euphoria_agents.play.web.limits import Limits
from euphoria_agents.play.web.registry import GameRegistry
from euphoria_agents.play.web.routes import route_table
from euphoria_agents.play.web.store import Store
from euphoria_agents.play.web.studies import Studies

TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
PAGES = {
    "/": "home.html",
    "/play/{game}": "play.html",
    "/study/{study}": "study.html",
    "/edit": "edit.html",
    "/help": "help.html",
}
AGENTS = {  # offered, the default first
    "ppo": "hard: the trained player",
    "mcts:200:ppo": "very hard: the trained player, searching",
    "mcts:1000:ppo": "hardest: the trained player, searching longer",
    "greedy": "medium: looks one decision ahead",
    "weights": "easy: plays by fixed weights",
    "random": "very easy: plays at random",
}


def make_app(
    store: Store, allowed: Collection[str] = (), hosts: Collection[str] = LOCAL_HOSTS, limits: Limits | None = None
) -> Starlette:
    """The server as an ASGI application. `app.state` has its `registry` of games, its `studies`, `endpoints` and `limits`.

    Args:
        store: where everything is kept.
        allowed: specs of the user's own agents, which clients may use.
        hosts: the names of this server.
        limits: of what clients may use; None: the default ones.
    """
    limits = limits or Limits()
    offered = {**AGENTS, **{spec: spec for spec in allowed if spec not in AGENTS}}
    agents = AgentService(Agents(allowed, limits.agents, limits.seconds, limits.first_seconds), list(offered), limits)
    registry = GameRegistry(store, agents, limits)
    studies = Studies(registry)
    table = route_table(Games(registry, studies), studies, facts(offered))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        first = asyncio.create_task(agents.check(agents.offered[0]))  # most games use it, and it takes a second to load
        yield
        first.cancel()
        registry.close()
        studies.jobs.close()

    finders: dict[str, endpoints.Finder] = {"game": registry.game, "study": studies.find}
    app = Starlette(
        routes=[*_pages(), *(endpoints.route(one, registry, finders) for one in table)],
        middleware=[Middleware(Guard, hosts=hosts), Middleware(GZipMiddleware, compresslevel=4)],
        exception_handlers={**dict.fromkeys(STATUS, expected_error), HTTPException: not_found, Exception: unexpected_error},
        lifespan=lifespan,
    )
    app.state.registry, app.state.studies, app.state.endpoints, app.state.limits = registry, studies, table, limits
    return app


def _pages() -> list[Route]:
    """The routes of the pages and of their static files."""
    files = {path.name: path.read_text(encoding="utf-8") for path in STATIC.iterdir() if path.suffix in TYPES}
    files |= {"symbols.svg": symbols(), "icon.svg": page_icon(), "colours.css": colours()}

    def send(name: str) -> Response:
        return Response(files[name], media_type=TYPES[Path(name).suffix])

    def page(name: str) -> Callable[[Request], Awaitable[Response]]:
        async def answer(_: Request) -> Response:
            return send(name)

        return answer

    async def static(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in files or name.endswith(".html"):
            raise Refused(404, "there is nothing at this address")
        return send(name)

    return [*(Route(path, page(name)) for path, name in PAGES.items()), Route("/static/{name}", static)]
