"""The HTTP endpoints of games: what each seat sees and does."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any

from msgspec import Meta
from starlette.responses import Response

from euphoria_agents.play import Seat, Session, Stale
from euphoria_agents.play.seats import with_distinct_names
from euphoria_agents.play.study.stars import stars_by_source
from euphoria_agents.play.web import scenes
from euphoria_agents.play.web.agents import ADVISER
from euphoria_agents.play.web.endpoints import Body, RequestContext, SeatNumber, SeatQuery, Spec, Version, as_response
from euphoria_agents.play.web.errors import Refused, told
from euphoria_agents.play.web.permissions import give, new_tokens, token_matches
from euphoria_agents.play.web.queueing import in_thread
from euphoria_agents.play.web.registry import GameRegistry, RunningGame
from euphoria_agents.play.web.store import HOST
from euphoria_agents.play.web.stream import STREAM, ViewStream
from euphoria_agents.play.web.studies import Start, StudyEndpoints, branch
from euphoria_agents.play.web.wire import asked, line_data, move_data, way_data
from euphoria_env import Game, Rules
from euphoria_env.board import MAX_PLAYERS
from euphoria_env.json_reader import Json
from euphoria_env.render.board import board_fragment

DEFAULT_RULES = Rules().to_dict()
LISTED = 50  # games in the list of games
LOGGED = 40  # decisions in the log of a view
MAX_MOVES = 64  # moves after the first one in a request

Pace = Annotated[float, Meta(ge=0, le=60)]


class NewSeat(Seat, frozen=True, forbid_unknown_fields=True):
    """A seat of a new game; `here`: whether its player uses the browser that makes the game."""

    spec: Spec | None = None
    here: bool = False


class NewGame(Body):
    """A request for a new game: with rules, from a position, or from a decision of a study."""

    seats: list[NewSeat]
    practice: bool = False
    pace: Pace | None = 0.5
    rules: dict[str, Any] | None = None
    position: Any = None
    start: Start | None = None

    def __post_init__(self) -> None:
        if not 2 <= len(self.seats) <= MAX_PLAYERS:  # before the agents are made
            raise ValueError(f"a game has 2 to {MAX_PLAYERS} seats, not {len(self.seats)}")
        if sum(way is not None for way in (self.rules, self.position, self.start)) > 1:
            raise ValueError("a game is made of rules, of a position or of a decision of a study, which have their own")


class Sit(Body):
    """The token of a seat link."""

    token: str


class ViewQuery(SeatQuery):
    """A request for a view: of now, or of the moment before `decision`; `own`: if no seat is named, of the client's only seat."""

    decision: Version | None = None
    own: bool = False


class Decide(Body):
    """A request about the decision of a seat; `version`: the version of the game that the player saw."""

    seat: SeatNumber
    version: Version


class MoveBody(Decide):
    """A move, in notation or as an action id; `then`: further moves that answer the same series, or retrieve workers with it."""

    action: int | str
    then: Annotated[list[int | str], Meta(max_length=MAX_MOVES)] = []


class Hint(Decide):
    """A request for a hint; `spec`: the agent that is asked, None: `ADVISER`."""

    spec: Spec | None = None


class HandOver(Body):
    """A request to give a seat to an agent, or to a person (`spec`: None), who gets a new link."""

    seat: SeatNumber
    spec: Spec | None


class SetPace(Body):
    """A request to set the seconds between the moves of agents; None: each move waits for a step."""

    pace: Pace | None


class GameEndpoints:
    """The endpoints of games, which may branch off from studies."""

    def __init__(self, registry: GameRegistry, studies: StudyEndpoints) -> None:
        self.registry, self.agents, self.studies = registry, registry.agents, studies

    async def list(self, context: RequestContext) -> Json:
        """Returns the public summaries of the games that changed last, and the names of the damaged ones among them."""
        found, damaged = await in_thread(lambda: self.registry.store.games(LISTED))
        return {"games": [{**one, "headline": _headline(one["headline"], context.language)} for one in found], "damaged": damaged}

    async def demo(self, context: RequestContext) -> Json:
        """Returns the game of agents that the first page replays."""
        await self.agents.check(scenes.AGENT, context.client)
        return await context.run(lambda: scenes.demo(context.language))

    async def make(self, context: RequestContext) -> Response:
        """Makes a game. The response has cookies for the people at this browser, and links for other people."""
        body: NewGame = context.body
        seats = [Seat(one.name, one.spec) for one in with_distinct_names(body.seats)]
        for seat in seats:
            if seat.spec is not None:
                await self.agents.check(seat.spec, context.client)
        start = await self._start(body, context.client)
        session = await context.run(lambda: Session.of(start(), seats, body.practice, self.agents.pool))
        name, tokens = await self.registry.open(session, body.pace, context.client)
        here = [k for k in session.people if body.seats[k].here]
        answer = as_response({"id": name, "links": _links(tokens, [k for k in session.people if k not in here])}, 201)
        return give(answer, "game", name, {k: tokens[k] for k in [HOST, *here]})

    async def _start(self, body: NewGame, client: str) -> Callable[[], Game]:
        """Returns a function that makes the game from which the session begins."""
        if body.position is not None:
            return lambda: Game.from_dict(body.position)
        if body.start is not None:
            study, ply = await self.studies.find(body.start.study, client), body.start.ply
            return lambda: branch(study, ply)
        return lambda: Game(Rules.from_dict({"num_players": len(body.seats), **(body.rules or {})}), secrets.randbits(63))

    def sit(self, context: RequestContext) -> Response:
        """Turns the token of a seat link into a cookie."""
        token, free = context.body.token, {HOST, *context.item.session.people}
        for seat, kept in self.registry.store.hashes(context.name).items():
            if seat in free and token_matches(kept, token):
                return give(as_response({"seat": seat}), "game", context.name, {seat: token})
        raise Refused(403, "this link opens no seat of this game")

    async def delete(self, context: RequestContext) -> Json:
        """Deletes a game."""
        await self.registry.delete(context.name)
        return {}

    def view(self, context: RequestContext) -> Json:
        """Returns the view of a seat, or of everybody."""
        body: ViewQuery = context.body
        seats = context.held - {HOST}
        if body.own and body.seat is None and len(seats) == 1:
            (body.seat,) = seats
        if body.decision is None:
            return _view(context)
        session: Session = context.item.session
        if body.decision > session.decisions:
            raise Refused(422, f"decision must be a number from 0 to {session.decisions}")
        return {
            "decision": body.decision,
            "decisions": session.decisions,
            **_board(session, body.seat, context.language, body.decision),
        }

    async def move(self, context: RequestContext) -> Json:
        """Plays one or more moves of a seat."""
        body: MoveBody = context.body
        return await _change(context, lambda game: game.play_together(body.seat, [body.action, *body.then], body.version))

    async def undo(self, context: RequestContext) -> Json:
        """Takes back the last decision of a seat."""
        body: Decide = context.body
        return await _change(context, lambda game: game.undo(body.seat, body.version))

    async def hint(self, context: RequestContext) -> Any:
        """Returns an agent's opinion of the decision of a seat; the agent gets only what this seat may know."""
        body: Hint = context.body
        session = await context.run(lambda: context.item.session.clone())
        if body.version != session.version or session.over or session.player != body.seat:
            raise Refused(409, "this is not your decision now; look again")
        opinion = await self.agents.hint(session, body.seat, body.spec or ADVISER, context.client)
        await context.check_permission()
        return opinion

    async def hand_over(self, context: RequestContext) -> Json:
        """Gives a seat to an agent or, if the creator of the game asks, to a person, for whom the response has a link."""
        body: HandOver = context.body
        if body.spec is not None:
            await self.agents.check(body.spec, context.client)
            context.item = await self.registry.game(context.name, context.client)  # it may have left the memory meanwhile
        elif not context.host:
            raise Refused(403, "only whoever made this game may give a seat to a person")
        before = context.item.session.seats[body.seat]
        await context.check_permission()  # the seat may have been taken away meanwhile

        def hand_over(session: Session) -> None:
            if session.seats[body.seat] != before:
                raise Stale("somebody else has given this seat away; look again")
            session.hand_over(body.seat, body.spec)

        tokens = new_tokens(body.seat) if body.spec is None else {}
        await context.item.change(hand_over, tokens)
        return {"links": _links(tokens, tokens)}

    async def pace(self, context: RequestContext) -> Json:
        """Changes the pace of the agents."""
        await context.item.set_pace(context.body.pace)
        return {}

    async def step(self, context: RequestContext) -> Json:
        """Lets a waiting agent make its move."""
        context.item.step()
        return {}

    async def retry(self, context: RequestContext) -> Json:
        """Asks again an agent that failed."""
        context.item.retry()
        return {}

    def record(self, context: RequestContext) -> Json:
        """Returns the whole game as a record."""
        return {"record": context.item.session.record()}

    async def events(self, context: RequestContext) -> Response:
        """Returns a stream of the views of a seat, or of everybody."""
        return Response(media_type=STREAM) if context.request.method == "HEAD" else ViewStream(context, _view)


def _links(tokens: Mapping[int, str], seats: Iterable[int]) -> list[Json]:
    return [{"seat": seat, "token": tokens[seat]} for seat in seats]


async def _change(context: RequestContext, act: Callable[[Session], Any]) -> Json:
    """Changes the game, and returns the new view."""
    return await context.item.change(act, see=lambda: _view(context))


def _view(context: RequestContext) -> Json:
    """Returns the view for the seat of a request, with the seats that its client holds."""
    views, key = context.item.views, (context.seat, context.language)
    if key not in views:
        views[key] = seat_view(context.item, *key)
    return {**views[key], "mine": sorted(context.held - {HOST}), "host": context.host}


def seat_view(game: RunningGame, seat: int | None, language: str = "en") -> Json:
    """Returns the view of a seat as JSON with phrases; it depends on nothing that the seat may not know.

    The board is drawn in the language.
    """
    session = game.session
    lines = session.log(seat)
    first = max(0, len(lines) - LOGGED)
    return {
        "version": session.version,
        "seat": seat,
        "seats": session.seats,
        "practice": session.practice,
        "rules": {name: value for name, value in session.rules.to_dict().items() if value != DEFAULT_RULES[name]},
        "over": session.over,
        "decider": None if session.over else session.player,
        "cut_off": session.cut_off,
        **_board(session, seat, language),
        "last": session.last_space,
        "question": session.question(seat),
        "asks": asked(session.question(seat)),
        "moves": [move_data(move) for move in session.moves(seat)] if seat is not None else [],
        "ways": [way_data(way) for way in session.ways(seat)] if seat is not None else [],
        "retrievals": session.retrievals(seat) if seat is not None else [],
        "can_undo": seat is not None and session.can_undo(seat),
        "decisions": session.decisions,
        "log": [line_data(line) for line in lines[first:]],
        "log_from": first,
        "events": session.events(seat, first),
        "made": [session.made(k)[0] for k in range(first, session.decisions)],
        "stars": stars_by_source(session.record()) if session.over else None,
        "pace": game.pace,
        "trouble": game.trouble,
        "told": told(game.trouble),
        "waits_for_agent": game.waits_for_agent,
        "prepares": game.prepares,
    }


def _board(session: Session, seat: int | None, language: str, decision: int | None = None) -> Json:
    view = session.view(seat, decision)
    return {"view": view, "board": board_fragment(view, session.changed(seat, decision), names=session.names, language=language)}


def _headline(saved: str | dict[str, str], language: str) -> str:
    """Returns the headline of a game; an older server saved it in English alone."""
    return saved if isinstance(saved, str) else saved.get(language, saved["en"])
