"""Games over HTTP: what seats see and do."""

from __future__ import annotations

import asyncio
import dataclasses
import secrets
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from euphoria_agents.play import Seat, Session, Stale
from euphoria_agents.play.names import told_apart
from euphoria_agents.play.study.stars import stars_by_source
from euphoria_agents.play.web import endpoints
from euphoria_agents.play.web.agent_permissions import Specs
from euphoria_agents.play.web.board_data import board_patches
from euphoria_agents.play.web.endpoints import Asked, Body, Query, SeatNumber, Spec, Version
from euphoria_agents.play.web.game_registry import GameRegistry, RunningGame
from euphoria_agents.play.web.refusals import Refused, refusal
from euphoria_agents.play.web.store import HOST
from euphoria_agents.play.web.studies import Start, Studies, branch
from euphoria_agents.play.web.turns import in_thread
from euphoria_env import Game, Rules, words
from euphoria_env.json_reader import Json

USUAL = Rules().to_dict()
LISTED = 50  # games in the list
LOGGED = 40  # lines of the log in a view
MOST_MOVES = 64  # in one request
CANNOT_UNDO = "nothing can be taken back: somebody has decided since, something was drawn, or a card was shown"
HEARTBEAT = 15.0  # seconds after which a silent stream says that it lives

Pace = Annotated[float, Meta(ge=0, le=60)]


class NewSeat(Seat, frozen=True, forbid_unknown_fields=True):
    """A seat of a new game; `here`: of a person at the screen that makes it."""

    here: bool = False


class NewGame(Body):
    """A new game by its rules, from a position, or from a decision of a study."""

    seats: list[NewSeat]
    practice: bool = False
    pace: Pace | None = 0.5
    rules: dict[str, Any] | None = None
    position: Any = None
    start: Start | None = None

    def __post_init__(self) -> None:
        if sum(way is not None for way in (self.rules, self.position, self.start)) > 1:
            raise ValueError("a game is made of rules, of a position or of a decision of a study, which have their own")


class Sit(Body):
    """The token of a seat link."""

    token: str


class Look(Query):
    """The view to be shown; `decision`: the game as it was before a decision that was made."""

    seat: SeatNumber | None = None
    log: str = ""
    decision: Version | None = None


class Decide(Body):
    """The decision of a seat, as it was seen."""

    seat: SeatNumber
    version: Version


class Move(Decide):
    """A move, in notation or as an id; `then`: further ones of the same seat, which are played with it or not at all."""

    action: int | str
    then: Annotated[list[int | str], Meta(max_length=MOST_MOVES)] = []


class Hint(Decide):
    """The agent to be asked for a hint; None: the one that is offered first."""

    spec: Spec | None = None


class Past(Query):
    """A decision that was made."""

    decision: Version | None = None


class HandOver(Body):
    """A seat for an agent, or for a person (`spec`: None), who gets a new link."""

    seat: SeatNumber
    spec: Spec | None


class SetPace(Body):
    """Seconds between the moves of agents; None: each waits for a step."""

    pace: Pace | None


class Games:
    """The endpoints of games.

    Args:
        registry: the games.
        specs: the agents that may play.
        studies: from which games may branch off.
    """

    def __init__(self, registry: GameRegistry, specs: Specs, studies: Studies) -> None:
        self.registry = registry
        self.specs = specs
        self.studies = studies

    # ---------------------------------------------------------------------------------------------------- making, finding

    async def list(self, _: Asked) -> Json:
        """The games that changed last, with what everybody may know of them, and the names of those that are damaged."""
        found, damaged = await in_thread(lambda: self.registry.store.games(LISTED))
        return {"games": found, "damaged": damaged}

    async def make(self, asked: Asked) -> Response:
        """A new game; the seats of people "here" become cookies at once, the others links."""
        body: NewGame = asked.body
        seats = [Seat(one.name, one.spec) for one in told_apart(body.seats)]
        for seat in seats:
            if seat.spec is not None:
                await self.specs.check(seat.spec, asked.client)
        begin = await self._beginning(body, asked.client)
        session = await asked.in_turn(lambda: Session.of(begin(), seats, body.practice, self.registry.agents))
        people = [k for k, seat in enumerate(seats) if seat.spec is None]
        name, tokens = await self.registry.open(session, people, body.pace, asked.client)
        here = [k for k in people if body.seats[k].here]
        answer = JSONResponse({"id": name, "links": _links(tokens, [k for k in people if k not in here])}, 201)
        return endpoints.give(answer, "game", name, {k: tokens[k] for k in [HOST, *here]})

    async def _beginning(self, body: NewGame, client: str) -> Callable[[], Game]:
        """A function that makes the game that is asked for."""
        if body.position is not None:
            return lambda: Game.from_dict(body.position)
        if body.start is not None:
            study = await self.studies.find(body.start.study, client)
            ply = body.start.ply
            return lambda: branch(study, ply)
        return lambda: Game(Rules.from_dict({**(body.rules or {}), "num_players": len(body.seats)}), secrets.randbits(63))

    def sit(self, asked: Asked) -> Response:
        """The token of a seat link becomes a cookie."""
        token, free = asked.body.token, {HOST, *endpoints.people(asked.thing.session)}
        for seat, kept in self.registry.store.hashes(asked.name).items():
            if seat in free and endpoints.matches(kept, token):
                return endpoints.give(JSONResponse({"seat": seat}), "game", asked.name, {seat: token})
        raise Refused(403, "this link opens no seat of this game")

    async def delete(self, asked: Asked) -> Json:
        """Forgets a game."""
        await self.registry.delete(asked.name)
        return {}

    # ------------------------------------------------------------------------------------------------------------ playing

    def view(self, asked: Asked) -> Json:
        """The view of a seat, or of everybody."""
        body: Look = asked.body
        if body.decision is None:
            return _shown(asked, body.log == "all")
        return past(asked.thing.session, asked.seat, _checked(asked.thing.session, body.decision))

    async def move(self, asked: Asked) -> Json:
        """Plays a move of a seat."""
        body: Move = asked.body
        if body.then:
            return await _changed(asked, lambda game: game.play_together(body.seat, [body.action, *body.then], body.version))
        return await _changed(asked, lambda game: game.play(body.seat, body.action, body.version))

    async def undo(self, asked: Asked) -> Json:
        """Takes back to the last decision of a seat."""
        body: Decide = asked.body

        def take_back(session: Session) -> None:
            if not session.can_undo(body.seat):
                raise Refused(409, CANNOT_UNDO)
            session.undo(body.seat, body.version)

        return await _changed(asked, take_back)

    async def hint(self, asked: Asked) -> Any:
        """An agent's opinion of the decision of a seat, from what this seat may know."""
        body: Hint = asked.body
        session = await asked.in_turn(lambda: asked.thing.session.clone())
        if body.version != session.version or session.over or session.player != body.seat:
            raise Refused(409, "this is not your decision now; look again")
        said = await self.specs.hint(session, body.seat, body.spec or self.specs.adviser, asked.client)
        await asked.check()
        return said

    async def why(self, asked: Asked) -> Any:
        """The reasons of the agent that made a decision."""
        session = await asked.in_turn(lambda: asked.thing.session.clone())
        decision = _checked(session, session.decisions if asked.body.decision is None else asked.body.decision)
        seat, action = session.made(decision) if decision < session.decisions else (-1, -1)
        spec = session.seats[seat].spec if seat >= 0 else None
        if spec is None:
            raise Refused(409, "no agent made this decision")
        thought = await self.specs.hint(session, seat, spec, asked.client, decision)
        return {**thought, "seat": seat, "action": action, "texts": await asked.in_turn(lambda: _texts(session, decision))}

    async def hand_over(self, asked: Asked) -> Json:
        """Gives a seat to an agent, or to a person, who gets a link that only whoever made the game can give away."""
        body: HandOver = asked.body
        if body.spec is not None:
            await self.specs.check(body.spec, asked.client)
            asked.thing = await self.registry.game(asked.name, asked.client)  # it may have left the memory meanwhile
        elif not asked.host:
            raise Refused(403, "only whoever made this game may give a seat to a person")
        before = asked.thing.session.seats[body.seat]
        await asked.check()  # it may have been taken away meanwhile

        def give(session: Session) -> None:
            if session.seats[body.seat] != before:
                raise Stale("somebody else has given this seat away; look again")
            session.hand_over(body.seat, body.spec)

        tokens = endpoints.new_tokens(body.seat) if body.spec is None else {}
        await asked.thing.change(give, tokens)
        return {"links": _links(tokens, tokens)}

    # ------------------------------------------------------------------------------------------------------------ watching

    async def pace(self, asked: Asked) -> Json:
        """Changes the speed of the agents."""
        await asked.thing.set_pace(asked.body.pace)
        return {}

    async def step(self, asked: Asked) -> Json:
        """Lets an agent make its move."""
        asked.thing.step()
        return {}

    async def retry(self, asked: Asked) -> Json:
        """Asks an agent that failed once more."""
        asked.thing.retry()
        return {}

    def record(self, asked: Asked) -> Json:
        """The whole game."""
        return {"record": asked.thing.session.record()}

    async def events(self, asked: Asked) -> Response:
        """A stream of version numbers, one whenever something is new."""
        return Response(media_type=STREAM) if asked.request.method == "HEAD" else _Listener(asked, self.registry)


STREAM = "text/event-stream"
SAME = "event: same\n"


class _Listener(Response):
    """The stream of a game, as long as there is a place for whoever listens."""

    def __init__(self, asked: Asked, registry: GameRegistry) -> None:
        super().__init__(media_type=STREAM)
        self._game: RunningGame = asked.thing
        self._client, self._places = asked.client, registry.listening
        self._most = registry.limits.listeners * (2 if asked.held else 1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._game.listeners >= self._most or not self._places.take(self._client):
            await refusal(503, "too many listen to this game")(scope, receive, send)
            return
        self._game.listeners += 1  # counted before anything else can happen
        try:
            await StreamingResponse(_versions(self._game), media_type=STREAM)(scope, receive, send)
        finally:
            self._game.listeners -= 1
            self._places.leave(self._client)


async def _versions(game: RunningGame) -> AsyncIterator[str]:
    """A message for each version; where something else is new, such as the pace, one of the kind "same"."""
    told = -1
    while not game.closed:
        changed, version = game.changed, game.session.version
        yield f"{SAME if version == told else ''}data: {version}\n\n"
        told = version
        while True:
            try:
                await asyncio.wait_for(changed.wait(), HEARTBEAT)
                break
            except TimeoutError:
                yield ": still there\n\n"


def _checked(session: Session, decision: int) -> int:
    """The number of a decision.

    Raises:
        Refused: there is none.
    """
    if decision > session.decisions:
        raise Refused(422, f"decision must be a number from 0 to {session.decisions}")
    return decision


def _texts(session: Session, decision: int) -> dict[int, str]:
    """The moves of a decision that was made, in words, by their ids."""
    game = session.game_at(decision)
    return {move.action: move.text for move in words.legal_moves(game, game.player, session.names)}


async def _changed(asked: Asked, act: Callable[[Session], Any]) -> Json:
    await asked.thing.change(act)
    return await asked.in_turn(lambda: _shown(asked))


def _links(tokens: Mapping[int, str], seats: Iterable[int]) -> list[Json]:
    return [{"seat": seat, "token": tokens[seat]} for seat in seats]


def _shown(asked: Asked, whole: bool = False) -> Json:
    """The view of a seat, and the seats of the client."""
    mine = sorted(asked.held - {HOST})
    kept, key = asked.thing.shown, (asked.seat, whole)
    if key not in kept:
        kept[key] = shown(asked.thing, *key)
    return {**kept[key], "mine": mine, "host": asked.host}


def shown(game: RunningGame, seat: int | None, whole: bool) -> Json:
    """The view of a seat as JSON: a function of what it may know."""
    session = game.session
    lines = session.log(seat)
    first = 0 if whole else max(0, len(lines) - LOGGED)
    return {
        "version": session.version,
        "seat": seat,
        "seats": msgspec.to_builtins(session.seats),
        "practice": session.practice,
        "rules": {name: value for name, value in session.rules.to_dict().items() if value != USUAL[name]},
        "over": session.over,
        "decider": None if session.over else session.player,
        **_board(session, seat),
        "last": session.last_space,
        "question": session.question(seat),
        "moves": [dataclasses.asdict(move) for move in session.moves(seat)] if seat is not None else [],
        "ways": [way._asdict() for way in session.ways(seat)] if seat is not None else [],
        "can_undo": seat is not None and session.can_undo(seat),
        "decisions": session.decisions,
        "log": lines[first:],
        "log_from": first,
        "events": session.events(seat, first),
        "made": [session.made(k)[0] for k in range(first, session.decisions)],
        "stars": stars_by_source(session.record()) if session.over else None,
        "pace": game.pace,
        "trouble": game.trouble,
        "waits_for_agent": game.waits_for_agent,
        "prepares": game.prepares,
    }


def past(session: Session, seat: int | None, decision: int) -> Json:
    """The view of a seat, or of everybody, before a decision that was made."""
    return {"decision": decision, "decisions": session.decisions, **_board(session, seat, decision)}


def _board(session: Session, seat: int | None, decision: int | None = None) -> Json:
    view = session.view(seat, decision)
    board = board_patches(view, session.changed(seat, decision), session.names)
    return {"view": dataclasses.asdict(view), "board": board}
