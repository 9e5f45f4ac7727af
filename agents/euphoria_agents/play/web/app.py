"""The server put together: guard, pages, endpoints."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from euphoria_agents.play import Agents
from euphoria_agents.play.web import endpoints, games, studies
from euphoria_agents.play.web.agent_permissions import Specs
from euphoria_agents.play.web.board_data import bare_board, colours, facts, page_icon, symbols
from euphoria_agents.play.web.game_registry import GameRegistry
from euphoria_agents.play.web.refusals import STATUS, Refused, broken, missing, refused
from euphoria_agents.play.web.request_guard import LOCAL_HOSTS, Guard
from euphoria_agents.play.web.routes import route_table
from euphoria_agents.play.web.server_limits import Limits
from euphoria_agents.play.web.store import Store
from euphoria_env.board import MAX_PLAYERS

STATIC = Path(__file__).parent / "static"
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
        allowed: agents of somebody's own that may be asked for.
        hosts: the names under which the server may be asked for.
        limits: how much the server takes; None: the usual ones.
    """
    limits = limits or Limits()
    agents = Agents(allowed, limits.agents, limits.seconds, limits.first_seconds)
    registry = GameRegistry(store, agents, limits)
    offered = {**AGENTS, **{spec: spec for spec in allowed if spec not in AGENTS}}
    specs = Specs(list(offered), agents, registry.executor, limits.waiting.per_client)
    all_studies = studies.Studies(registry, specs)
    table = route_table(games.Games(registry, specs, all_studies), all_studies, facts(offered))

    @asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        first = asyncio.create_task(specs.check(specs.offered[0]))  # most games want it, and it takes a second to load
        yield
        first.cancel()
        for one in (registry, all_studies.jobs):
            one.close()

    finders: dict[str, endpoints.Finder] = {"game": registry.game, "study": all_studies.find}
    app = Starlette(
        routes=[*_pages(), *(endpoints.route(one, store, limits, finders, registry.desk) for one in table)],
        middleware=[Middleware(Guard, hosts=hosts)],
        exception_handlers={**dict.fromkeys(STATUS, refused), HTTPException: missing, Exception: broken},
        lifespan=life,
    )
    app.state.registry, app.state.studies, app.state.endpoints, app.state.limits = registry, all_studies, table, limits
    return app


def _pages() -> list[Route]:
    """The pages and what belongs to them, which are the same for everybody."""
    files = {path.name: path.read_text(encoding="utf-8") for path in STATIC.iterdir() if path.suffix in TYPES}
    files |= {"symbols.svg": symbols(), "icon.svg": page_icon(), "colours.css": colours()}
    files |= {f"board-{n}.svg": bare_board(n) for n in range(2, MAX_PLAYERS + 1)}

    async def static(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in files or name.endswith(".html"):
            raise Refused(404, "there is nothing at this address")
        return Response(files[name], media_type=TYPES[Path(name).suffix])

    def page(name: str) -> Route:
        async def answer(_: Request) -> Response:
            return Response(files[PAGES[name]], media_type="text/html")

        return Route(name, answer)

    return [*(page(name) for name in PAGES), Route("/static/{name}", static)]
