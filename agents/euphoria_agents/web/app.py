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

from euphoria_agents.sessions import Agents
from euphoria_agents.web import batches, endpoints, games, positions, studies
from euphoria_agents.web.agent_permissions import Specs
from euphoria_agents.web.board_data import colours, facts, page_icon, symbols
from euphoria_agents.web.endpoints import ANYBODY, BEGINNER, ENDED, HELPER, MAKER, MEMBER, SEATED, VIEWER, Asked, Endpoint
from euphoria_agents.web.game_registry import AgentExecutor, GameRegistry
from euphoria_agents.web.guard import LOCAL_HOSTS, Guard
from euphoria_agents.web.limits import Limits
from euphoria_agents.web.refusals import STATUS, Refused, broken, missing, refused
from euphoria_agents.web.store import Store
from euphoria_env.json_reader import Json

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
    registry = GameRegistry(store, agents, AgentExecutor(at_once=2), limits)
    offered = {**AGENTS, **{spec: spec for spec in allowed if spec not in AGENTS}}
    specs = Specs(list(offered), agents, registry.executor)
    all_studies = studies.Studies(registry, specs)
    all_batches = batches.Batches(store, specs, limits)
    table = _endpoints(games.Games(registry, specs, all_studies), all_studies, all_batches, facts(offered))

    @asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        all_batches.resume()
        first = asyncio.create_task(specs.check(specs.offered[0]))  # most games want it, and it takes a second to load
        yield
        first.cancel()
        for one in (registry, all_studies, all_batches):
            one.close()

    finders = {"game": registry.game, "study": all_studies.find, "batch": all_batches.find}
    app = Starlette(
        routes=[*_pages(), *endpoints.routes(table, store, limits, finders)],
        middleware=[Middleware(Guard, hosts=hosts)],
        exception_handlers={**dict.fromkeys(STATUS, refused), HTTPException: missing, Exception: broken},
        lifespan=life,
    )
    app.state.registry, app.state.studies, app.state.endpoints, app.state.limits = registry, all_studies, table, limits
    return app


def _endpoints(game: games.Games, study: studies.Studies, batch: batches.Batches, known: Json) -> list[Endpoint]:
    """All that can be asked for, and by whom. Whoever knows the name of a study or a batch may look at it."""

    async def everything_known(_: Asked) -> Json:
        return known

    a_game, a_study, a_batch = (f"{endpoints.PLACES[kind]}/{{{kind}}}" for kind in ("game", "study", "batch"))
    at, analyses = f"{a_study}/at/{{ply:int}}", f"{a_study}/analyses"
    return [
        Endpoint("GET", "/api/facts", ANYBODY, everything_known),
        Endpoint("GET", "/api/games", ANYBODY, game.list),
        Endpoint("POST", "/api/games", ANYBODY, game.make, games.NewGame),
        Endpoint("DELETE", a_game, MAKER, game.delete),
        Endpoint("POST", f"{a_game}/sit", ANYBODY, game.sit, games.Sit),
        Endpoint("GET", f"{a_game}/view", VIEWER, game.view, games.Look),
        Endpoint("POST", f"{a_game}/moves", SEATED, game.move, games.Move),
        Endpoint("POST", f"{a_game}/undo", SEATED, game.undo, games.Decide),
        Endpoint("POST", f"{a_game}/hint", SEATED, game.hint, games.Hint),
        Endpoint("POST", f"{a_game}/pace", MEMBER, game.pace, games.SetPace),
        Endpoint("POST", f"{a_game}/step", MEMBER, game.step),
        Endpoint("POST", f"{a_game}/retry", MEMBER, game.retry),
        Endpoint("POST", f"{a_game}/seats", HELPER, game.hand_over, games.HandOver),
        Endpoint("GET", f"{a_game}/record", ENDED, game.record),
        Endpoint("GET", f"{a_game}/events", ANYBODY, game.events),
        Endpoint("POST", "/api/studies", ENDED, study.make, studies.NewStudy),
        Endpoint("GET", a_study, ANYBODY, study.overview),
        Endpoint("DELETE", a_study, MAKER, study.delete),
        Endpoint("GET", at, ANYBODY, study.at, studies.Look),
        Endpoint("POST", at, ANYBODY, study.ask, studies.Judge),
        Endpoint("GET", f"{at}/position", ANYBODY, study.position),
        Endpoint("GET", analyses, ANYBODY, study.analysis, studies.Part),
        Endpoint("POST", analyses, ANYBODY, study.analyse, studies.Judge),
        Endpoint("DELETE", analyses, BEGINNER, study.cancel, studies.Judge),
        Endpoint("GET", f"{analyses}/lines", ANYBODY, study.lines, studies.Part),
        Endpoint("POST", "/api/positions/new", ANYBODY, positions.new, positions.NewPosition),
        Endpoint("POST", "/api/positions/check", ANYBODY, positions.check, positions.CheckPosition),
        Endpoint("POST", "/api/batches", ANYBODY, batch.make, batches.NewBatch),
        Endpoint("GET", a_batch, ANYBODY, batch.show),
        Endpoint("DELETE", a_batch, MAKER, batch.delete),
        Endpoint("POST", f"{a_batch}/stop", MAKER, batch.stop),
        Endpoint("POST", f"{a_batch}/go-on", MAKER, batch.go_on),
        Endpoint("GET", f"{a_batch}/{{table}}.csv", ANYBODY, batch.csv),
    ]


def _pages() -> list[Route]:
    """The pages and what belongs to them, which are the same for everybody."""
    files = {path.name: path.read_text(encoding="utf-8") for path in STATIC.iterdir() if path.suffix in TYPES}
    files |= {"symbols.svg": symbols(), "icon.svg": page_icon(), "colours.css": colours()}

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
