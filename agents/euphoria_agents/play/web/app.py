"""Makes the server as an ASGI application: guard, pages and endpoints."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware

from euphoria_agents.play import Agents
from euphoria_agents.play.web import endpoints, files, games, scenes, studies
from euphoria_agents.play.web.agents import AgentService
from euphoria_agents.play.web.board_data import facts
from euphoria_agents.play.web.endpoints import Endpoint, RequestContext, SeatQuery
from euphoria_agents.play.web.errors import STATUS, expected_error, not_found, unexpected_error
from euphoria_agents.play.web.guard import LOCAL_HOSTS, Guard
from euphoria_agents.play.web.limits import Limits
from euphoria_agents.play.web.permissions import ANYBODY, ENDED, HELPER, MEMBER, OWNER, PATHS, SEATED, VIEWER
from euphoria_agents.play.web.registry import GameRegistry
from euphoria_agents.play.web.store import Store
from euphoria_env.json_reader import Json
from euphoria_env.phrases import LANGUAGES

AGENTS = {  # the agents that the pages offer, the default first
    "ppo": "hard: the trained player",
    "mcts:200:ppo": "very hard: the trained player, searching",
    "mcts:500:ppo+rollouts": "hardest: the trained player, searching longer",
    "greedy": "medium: looks one decision ahead",
    "weights": "easy: takes what is usually good",
    "random": "very easy: plays at random",
}


def make_app(
    store: Store, allowed: Collection[str] = (), hosts: Collection[str] = LOCAL_HOSTS, limits: Limits | None = None
) -> Starlette:
    """Makes the ASGI application. Its `state` has the `registry` of games, the `studies`, the `endpoints` and the `limits`.

    Args:
        allowed: the specs of the user's own agents that clients may use.
        hosts: the names by which clients may call this server.
    """
    limits = limits or Limits()
    offered = {**AGENTS, **{spec: spec for spec in allowed if spec not in AGENTS}}
    agents = AgentService(Agents(allowed, limits.agents, limits.seconds, limits.first_seconds), list(offered), limits)
    registry = GameRegistry(store, agents, limits)
    all_studies = studies.StudyEndpoints(registry)
    public = {language: facts(offered, language) for language in LANGUAGES}
    table = endpoint_table(games.GameEndpoints(registry, all_studies), all_studies, public)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        first = asyncio.create_task(agents.check(agents.offered[0]))  # most games use it, and it takes a second to load
        yield
        first.cancel()
        registry.close()
        all_studies.jobs.close()

    finders: dict[str, endpoints.Finder] = {"game": registry.game, "study": all_studies.find}
    app = Starlette(
        routes=[*(endpoints.route(one, registry, finders) for one in table), *files.routes(public)],
        middleware=[Middleware(Guard, hosts=hosts), Middleware(GZipMiddleware, compresslevel=4)],
        exception_handlers={**dict.fromkeys(STATUS, expected_error), HTTPException: not_found, Exception: unexpected_error},
        lifespan=lifespan,
    )
    app.state.registry, app.state.studies, app.state.endpoints, app.state.limits = registry, all_studies, table, limits
    return app


def endpoint_table(game: games.GameEndpoints, study: studies.StudyEndpoints, facts: Mapping[str, Json]) -> list[Endpoint]:
    """Returns every endpoint with its permission and the type of its body. Whoever knows a study's name may look at it."""

    async def all_facts(context: RequestContext) -> Json:
        return facts[context.language]

    a_game, a_study = (f"{PATHS[kind]}/{{{kind}}}" for kind in ("game", "study"))
    at, analyses = f"{a_study}/at/{{ply:int}}", f"{a_study}/analyses"
    return [
        Endpoint("GET", "/api/facts", ANYBODY, all_facts),
        Endpoint("GET", "/api/demo", ANYBODY, game.demo),
        Endpoint("GET", "/api/pictures", ANYBODY, lambda context: scenes.pictures(context.language)),
        Endpoint("GET", "/api/games", ANYBODY, game.list),
        Endpoint("POST", "/api/games", ANYBODY, game.make, games.NewGame),
        Endpoint("DELETE", a_game, OWNER, game.delete, reads=False),
        Endpoint("POST", f"{a_game}/sit", ANYBODY, game.sit, games.Sit),
        Endpoint("GET", f"{a_game}/view", VIEWER, game.view, games.ViewQuery),
        Endpoint("POST", f"{a_game}/moves", SEATED, game.move, games.MoveBody),
        Endpoint("POST", f"{a_game}/undo", SEATED, game.undo, games.Decide),
        Endpoint("POST", f"{a_game}/hint", SEATED, game.hint, games.Hint),
        Endpoint("POST", f"{a_game}/pace", MEMBER, game.pace, games.SetPace),
        Endpoint("POST", f"{a_game}/step", MEMBER, game.step),
        Endpoint("POST", f"{a_game}/retry", MEMBER, game.retry),
        Endpoint("POST", f"{a_game}/seats", HELPER, game.hand_over, games.HandOver),
        Endpoint("GET", f"{a_game}/record", ENDED, game.record),
        Endpoint("GET", f"{a_game}/events", VIEWER, game.events, SeatQuery),
        Endpoint("POST", "/api/studies", ENDED, study.make, studies.NewStudy),
        Endpoint("GET", a_study, ANYBODY, study.overview),
        Endpoint("DELETE", a_study, OWNER, study.delete, reads=False),
        Endpoint("GET", at, ANYBODY, study.at, SeatQuery),
        Endpoint("POST", at, ANYBODY, study.opinion, studies.SpecBody),
        Endpoint("POST", f"{at}/playouts", ANYBODY, study.playouts, studies.SpecBody),
        Endpoint("GET", f"{at}/position", ANYBODY, study.position),
        Endpoint("GET", f"{a_study}/page", ANYBODY, study.page, studies.PageQuery),
        Endpoint("GET", analyses, ANYBODY, study.analysis, studies.AnalysisQuery),
        Endpoint("POST", analyses, ANYBODY, study.analyse, studies.SpecBody),
        Endpoint("DELETE", analyses, ANYBODY, study.cancel, studies.SpecBody),
    ]
