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
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from euphoria_agents.sessions import Agents
from euphoria_agents.web import positions
from euphoria_agents.web.agent_permissions import Specs
from euphoria_agents.web.batches import Batches
from euphoria_agents.web.board_data import colours, facts, page_icon, symbols
from euphoria_agents.web.game_registry import AgentExecutor, GameRegistry
from euphoria_agents.web.games import Games
from euphoria_agents.web.guard import LOCAL_HOSTS, Guard
from euphoria_agents.web.refusals import Refused, broken, missing, refused
from euphoria_agents.web.store import CannotSave, Store
from euphoria_agents.web.studies import Studies

STATIC = Path(__file__).parent / "static"
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
PAGES = {
    "/": "home.html",
    "/play/{game}": "play.html",
    "/study/{study}": "study.html",
    "/edit": "edit.html",
    "/help": "help.html",
    "/statistics": "statistics.html",
    "/statistics/{batch}": "statistics.html",
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
    store: Store,
    allowed: Collection[str] = (),
    hosts: Collection[str] = LOCAL_HOSTS,
) -> Starlette:
    """The server as an ASGI application; `app.state.registry` has its games, `app.state.studies` its studies.

    Args:
        store: where everything is kept.
        allowed: agents of somebody's own that may be asked for.
        hosts: the names under which the server may be asked for.
    """
    agents = Agents(allowed)
    registry = GameRegistry(store, agents, AgentExecutor(at_once=2, patience=60, first_patience=300))
    offered = {**AGENTS, **{spec: spec for spec in allowed if spec not in AGENTS}}
    files = {path.name: path.read_text(encoding="utf-8") for path in STATIC.iterdir() if path.suffix in TYPES}
    files |= {"symbols.svg": symbols(), "icon.svg": page_icon(), "colours.css": colours()}
    known = facts(offered)
    specs = Specs(list(offered), agents, registry.executor)
    studies = Studies(registry, specs)
    batches = Batches(store, specs)

    async def static(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in files or name.endswith(".html"):
            raise Refused(404, "there is nothing at this address")
        return Response(files[name], media_type=TYPES[Path(name).suffix])

    def page(name: str) -> Route:
        async def answer(_: Request) -> Response:
            return Response(files[PAGES[name]], media_type="text/html")

        return Route(name, answer)

    async def everything_known(_: Request) -> Response:
        return JSONResponse(known)

    @asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        batches.resume()
        first = asyncio.create_task(specs.check(specs.offered[0]))  # most games want it, and it takes a second to load
        yield
        first.cancel()
        registry.close()
        studies.close()
        batches.close()

    app = Starlette(
        routes=[
            *(page(name) for name in PAGES),
            Route("/static/{name}", static),
            Route("/api/facts", everything_known),
            *Games(registry, specs, studies).routes(),
            *studies.routes(),
            *positions.ROUTES,
            *batches.routes(),
        ],
        middleware=[Middleware(Guard, hosts=hosts)],
        exception_handlers={
            Refused: refused,
            ValueError: refused,
            CannotSave: refused,
            HTTPException: missing,
            Exception: broken,
        },
        lifespan=life,
    )
    app.state.registry, app.state.studies = registry, studies
    return app
