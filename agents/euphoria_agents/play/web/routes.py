"""The routes of the server: method, path, permission, handler and body, a row for each."""

from __future__ import annotations

from euphoria_agents.play.web import games, positions, studies
from euphoria_agents.play.web.endpoints import Endpoint, RequestContext, SeatQuery
from euphoria_agents.play.web.permissions import ANYBODY, ENDED, HELPER, MEMBER, OWNER, PATHS, SEATED, STARTER, VIEWER
from euphoria_env.json_reader import Json


def route_table(game: games.Games, study: studies.Studies, facts: Json) -> list[Endpoint]:
    """Every endpoint with its permission and the type of its body. Anybody who knows the name of a study may look at it."""

    async def all_facts(_: RequestContext) -> Json:
        return facts

    a_game, a_study = (f"{PATHS[kind]}/{{{kind}}}" for kind in ("game", "study"))
    at, analyses = f"{a_study}/at/{{ply:int}}", f"{a_study}/analyses"
    return [
        Endpoint("GET", "/api/facts", ANYBODY, all_facts),
        Endpoint("GET", "/api/games", ANYBODY, game.list),
        Endpoint("POST", "/api/games", ANYBODY, game.make, games.NewGame),
        Endpoint("DELETE", a_game, OWNER, game.delete, reads=False),
        Endpoint("POST", f"{a_game}/sit", ANYBODY, game.sit, games.Sit),
        Endpoint("GET", f"{a_game}/view", VIEWER, game.view, games.ViewQuery),
        Endpoint("POST", f"{a_game}/moves", SEATED, game.move, games.Move),
        Endpoint("POST", f"{a_game}/undo", SEATED, game.undo, games.Decide),
        Endpoint("POST", f"{a_game}/hint", SEATED, game.hint, games.Hint),
        Endpoint("POST", f"{a_game}/pace", MEMBER, game.pace, games.SetPace),
        Endpoint("POST", f"{a_game}/step", MEMBER, game.step),
        Endpoint("POST", f"{a_game}/retry", MEMBER, game.retry),
        Endpoint("POST", f"{a_game}/seats", HELPER, game.hand_over, games.HandOver),
        Endpoint("GET", f"{a_game}/record", ENDED, game.record),
        Endpoint("GET", f"{a_game}/why", ENDED, game.why, games.Past),
        Endpoint("GET", f"{a_game}/events", ANYBODY, game.events),
        Endpoint("POST", "/api/studies", ENDED, study.make, studies.NewStudy),
        Endpoint("GET", a_study, ANYBODY, study.overview),
        Endpoint("DELETE", a_study, OWNER, study.delete, reads=False),
        Endpoint("GET", at, ANYBODY, study.at, SeatQuery),
        Endpoint("POST", at, ANYBODY, study.opinion, studies.SpecBody),
        Endpoint("GET", f"{at}/position", ANYBODY, study.position),
        Endpoint("GET", f"{a_study}/page", ANYBODY, study.page, studies.AnalysisQuery),
        Endpoint("GET", analyses, ANYBODY, study.analysis, studies.AnalysisQuery),
        Endpoint("POST", analyses, ANYBODY, study.analyse, studies.SpecBody),
        Endpoint("DELETE", analyses, STARTER, study.cancel, studies.SpecBody),
        Endpoint("GET", f"{analyses}/lines", ANYBODY, study.lines, studies.AnalysisQuery),
        Endpoint("POST", "/api/positions/new", ANYBODY, positions.new, positions.NewPosition),
        Endpoint("POST", "/api/positions/check", ANYBODY, positions.check, positions.CheckPosition),
    ]
