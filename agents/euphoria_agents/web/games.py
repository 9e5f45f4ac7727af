"""Games over HTTP: who may see and do what, and how it is asked for."""

from __future__ import annotations

import asyncio
import dataclasses
import hmac
import secrets
from collections.abc import AsyncIterator, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from euphoria_agents.sessions import AgentFailed, Seat, Session, Stale, WrongSeat
from euphoria_agents.web.agent_permissions import Specs, read_spec
from euphoria_agents.web.game_registry import MAX_LISTENERS, GameRegistry, RunningGame
from euphoria_agents.web.refusals import Refused, read_body
from euphoria_agents.web.store import HOST, token_hash
from euphoria_agents.web.studies import Studies
from euphoria_env import Game, Rules
from euphoria_env.json_reader import Json, Reader

LISTED = 50  # games in the list
LOGGED = 40  # lines of the log in a view
HEARTBEAT = 15.0  # seconds after which a silent stream says that it lives
LONGEST_PACE = 60.0
READ = Reader()


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

    def routes(self) -> list[Route]:
        """Where the endpoints are."""
        one = "/api/games/{game}"
        return [
            Route("/api/games", self.list, methods=["GET"]),
            Route("/api/games", self.make, methods=["POST"]),
            Route(one, self.delete, methods=["DELETE"]),
            Route(f"{one}/sit", self.sit, methods=["POST"]),
            Route(f"{one}/view", self.view, methods=["GET"]),
            Route(f"{one}/moves", self.move, methods=["POST"]),
            Route(f"{one}/undo", self.undo, methods=["POST"]),
            Route(f"{one}/hint", self.hint, methods=["POST"]),
            Route(f"{one}/pace", self.pace, methods=["POST"]),
            Route(f"{one}/step", self.step, methods=["POST"]),
            Route(f"{one}/retry", self.retry, methods=["POST"]),
            Route(f"{one}/seats", self.hand_over, methods=["POST"]),
            Route(f"{one}/record", self.record, methods=["GET"]),
            Route(f"{one}/events", self.events, methods=["GET"]),
        ]

    # ---------------------------------------------------------------------------------------------------- making, finding

    async def list(self, _: Request) -> Response:
        """The games that changed last, with what everybody may know of them."""
        return JSONResponse({"games": self.registry.store.games(LISTED)})

    async def make(self, request: Request) -> Response:
        """A new game; the seats of people "here" become cookies at once, the others links."""
        body = await read_body(request, ("seats", "rules", "practice", "pace", "position", "start"))
        seats, here = _seats(body.get("seats"))
        practice = READ.boolean("practice", body.get("practice", False))
        for seat in seats:
            if seat.spec is not None:
                await self.specs.check(seat.spec)
        game = await self._begin(body, len(seats))
        session = Session.of(game, seats, practice, self.registry.agents)
        people = [k for k, seat in enumerate(seats) if seat.spec is None]
        pace = _pace(body["pace"]) if "pace" in body else 0.5
        name, tokens = self.registry.open(session, people, pace)
        links = [{"seat": seat, "token": tokens[seat]} for seat in people if seat not in here]
        answer = JSONResponse({"id": name, "links": links}, 201)
        for k in [HOST, *here]:
            _give(answer, name, k, tokens[k])
        return answer

    async def _begin(self, body: Json, players: int) -> Game:
        """The game that is asked for: by its rules, from a position, or from a decision of a study."""
        if sum(key in body for key in ("rules", "position", "start")) > 1:
            raise Refused(422, "a game is made of rules, of a position or of a decision of a study, which have their own")
        if "position" in body:
            return await asyncio.to_thread(Game.from_dict, body["position"])
        if "start" in body:
            return await self.studies.branch(body["start"])
        options = READ.mapping("rules", body.get("rules", {}), Rules().to_dict())
        return Game(Rules.from_dict({**options, "num_players": players}), secrets.randbits(63))

    async def sit(self, request: Request) -> Response:
        """The token of a seat link becomes a cookie."""
        body = await read_body(request, ("token",))
        name = request.path_params["game"]
        token = READ.text("token", body.get("token"))
        self.registry.table(name)
        for seat, kept in self.registry.store.seat_hashes(name).items():
            if hmac.compare_digest(kept, token_hash(token)):
                answer = JSONResponse({"seat": seat})
                _give(answer, name, seat, token)
                return answer
        raise Refused(403, "this link opens no seat of this game")

    async def delete(self, request: Request) -> Response:
        """Forgets a game; only whoever made it can."""
        await read_body(request, ())
        table = self._table(request)
        self._check(request, table, HOST)
        self.registry.delete(table.name)
        return JSONResponse({})

    # ------------------------------------------------------------------------------------------------------------ playing

    async def view(self, request: Request) -> Response:
        """What a seat, or everybody, may see."""
        table = self._table(request)
        asked = request.query_params.get("seat")
        if asked is not None and not (asked.isascii() and asked.isdecimal() and len(asked) < 3):
            raise Refused(422, "seat: must be the number of a seat")
        seat = None if asked is None else self._check(request, table, int(asked))
        return self._shown(request, table, seat, whole=request.query_params.get("log") == "all")

    async def move(self, request: Request) -> Response:
        """Plays a move of a seat."""
        body = await read_body(request, ("seat", "version", "action"))
        table, seat = self._seated(request, body)
        action = body.get("action")
        if isinstance(action, bool) or not isinstance(action, int | str):
            raise Refused(422, "action: must be a move, in notation or as an id")
        return self._changed(request, table, seat, lambda session: session.play(seat, action, _version(body)))

    async def undo(self, request: Request) -> Response:
        """Takes back to the last decision of a seat."""
        body = await read_body(request, ("seat", "version"))
        table, seat = self._seated(request, body)
        version = _version(body)
        if not table.session.can_undo(seat):
            raise Refused(409, "nothing can be taken back: somebody has decided since, something was drawn, or a card was shown")
        return self._changed(request, table, seat, lambda session: session.undo(seat, version))

    async def hint(self, request: Request) -> Response:
        """What an agent thinks of the decision of a seat, from what this seat may know."""
        body = await read_body(request, ("seat", "version", "spec"))
        table, seat = self._seated(request, body)
        session = table.session.clone()
        if _version(body) != session.version or session.over or session.player != seat:
            raise Refused(409, "this is not your decision now; look again")
        spec = read_spec("spec", body.get("spec")) or self.specs.offered[0]
        await self.specs.check(spec)
        try:
            said = await self.registry.executor.think(spec, lambda: session.hint(seat, spec), kind="hint")
        except (TimeoutError, AgentFailed) as error:
            raise Refused(503, str(error)) from None
        return JSONResponse(said)

    async def hand_over(self, request: Request) -> Response:
        """Gives a seat to an agent: one's own, or that of an agent that failed; whoever made the game may give any."""
        body = await read_body(request, ("seat", "spec"))
        table = self._table(request)
        seat = READ.integer("seat", body.get("seat"), 0, len(table.session.seats) - 1)
        spec = read_spec("spec", body.get("spec"))
        if spec is None:
            raise Refused(422, "spec: must be an agent")
        if table.session.seats[seat].spec is None:
            if HOST not in self._held(request, table):
                self._check(request, table, seat)
        else:
            self._check_some(request, table)
        await self.specs.check(spec)
        table = self._table(request)
        table.change(lambda session: session.hand_over(seat, spec))
        return JSONResponse({})

    # ------------------------------------------------------------------------------------------------------------ watching

    async def pace(self, request: Request) -> Response:
        """Changes the speed of the agents."""
        body = await read_body(request, ("pace",))
        pace = _pace(body.get("pace"))
        self._steered(request).set_pace(pace)
        return JSONResponse({})

    async def step(self, request: Request) -> Response:
        """Lets an agent make its move."""
        await read_body(request, ())
        self._steered(request).step()
        return JSONResponse({})

    async def retry(self, request: Request) -> Response:
        """Asks an agent that failed once more."""
        await read_body(request, ())
        self._steered(request).retry()
        return JSONResponse({})

    async def record(self, request: Request) -> Response:
        """The whole game, once nothing in it is secret any more."""
        table = self._table(request)
        if not (table.session.over or table.session.practice):
            raise Refused(403, "the record has all secrets in it: it is given away when the game has ended")
        return JSONResponse({"record": table.session.record()})

    async def events(self, request: Request) -> Response:
        """A stream of version numbers, one whenever something is new."""
        table = self._table(request)
        if table.listeners >= MAX_LISTENERS:
            raise Refused(503, "too many listen to this game")
        return StreamingResponse(_versions(table), media_type="text/event-stream")

    # ------------------------------------------------------------------------------------------------------------- helpers

    def _table(self, request: Request) -> RunningGame:
        return self.registry.table(request.path_params["game"])

    def _held(self, request: Request, table: RunningGame) -> set[int]:
        """The seats of whoever asks."""
        found = set()
        for seat, kept in self.registry.store.seat_hashes(table.name).items():
            token = request.cookies.get(_cookie(table.name, seat))
            if token and hmac.compare_digest(kept, token_hash(token)):
                found.add(seat)
        return found

    def _check(self, request: Request, table: RunningGame, seat: int) -> int:
        """A seat, if it belongs to whoever asks.

        Raises:
            Refused: it does not.
        """
        if seat not in self._held(request, table):
            raise Refused(403, "only whoever made this game may do that" if seat == HOST else f"seat {seat} is not yours")
        return seat

    def _check_some(self, request: Request, table: RunningGame) -> None:
        if not self._held(request, table):
            raise Refused(403, "only those who play, or made this game, may do that")

    def _steered(self, request: Request) -> RunningGame:
        """A game, if whoever asks takes part in it."""
        table = self._table(request)
        self._check_some(request, table)
        return table

    def _seated(self, request: Request, body: Json) -> tuple[RunningGame, int]:
        """A game and a seat in it that belongs to whoever asks."""
        table = self._table(request)
        seat = READ.integer("seat", body.get("seat"), 0, len(table.session.seats) - 1)
        return table, self._check(request, table, seat)

    def _changed(self, request: Request, table: RunningGame, seat: int, act: Callable[[Session], Any]) -> Response:
        try:
            table.change(act)
        except (Stale, WrongSeat) as error:
            raise Refused(409, str(error)) from None
        return self._shown(request, table, seat)

    def _shown(self, request: Request, table: RunningGame, seat: int | None, whole: bool = False) -> Response:
        held = self._held(request, table)
        answer = shown(table, seat, whole)
        answer["mine"] = sorted(k for k in held if k >= 0 and table.session.seats[k].spec is None)
        answer["host"] = HOST in held
        return JSONResponse(answer)


def shown(table: RunningGame, seat: int | None, whole: bool) -> Json:
    """What a seat may see, as JSON: a function of what it may know."""
    session = table.session
    lines = session.log(seat)
    first = 0 if whole else max(0, len(lines) - LOGGED)
    return {
        "version": session.version,
        "seat": seat,
        "seats": [{"name": one.name, "spec": one.spec} for one in session.seats],
        "practice": session.practice,
        "over": session.over,
        "decider": None if session.over else session.player,
        "view": dataclasses.asdict(session.view(seat)),
        "last": session.last_space,
        "question": session.question(seat),
        "moves": [dataclasses.asdict(move) for move in session.moves(seat)] if seat is not None else [],
        "can_undo": seat is not None and session.can_undo(seat),
        "log": lines[first:],
        "log_from": first,
        "pace": table.pace,
        "trouble": table.trouble,
        "waits_for_agent": table.waits_for_agent,
    }


async def _versions(table: RunningGame) -> AsyncIterator[str]:
    table.listeners += 1
    try:
        while not table.closed:
            changed = table.changed
            yield f"data: {table.session.version}\n\n"
            while True:
                try:
                    await asyncio.wait_for(changed.wait(), HEARTBEAT)
                    break
                except TimeoutError:
                    yield ": still there\n\n"
    finally:
        table.listeners -= 1


def _cookie(game: str, seat: int) -> str:
    return f"seat-{game}-{'host' if seat == HOST else seat}"


def _give(answer: Response, game: str, seat: int, token: str) -> None:
    """A token as a cookie that scripts cannot read, and that goes to the endpoints of its game alone."""
    answer.set_cookie(
        _cookie(game, seat), token, max_age=90 * 24 * 3600, path=f"/api/games/{game}", httponly=True, samesite="strict"
    )


def _version(body: Json) -> int:
    return READ.integer("version", body.get("version"), 0, 2**53)


def _seats(given: Any) -> tuple[list[Seat], list[int]]:
    """Who sits where, and the numbers of the people at this screen."""
    seats, here = [], []
    for k, one in enumerate(READ.items("seats", given)):
        d = READ.mapping(f"seats[{k}]", one, ("name", "spec", "here"))
        name, spec = READ.text(f"seats[{k}].name", d.get("name")), read_spec(f"seats[{k}].spec", d.get("spec"))
        try:
            seats.append(Seat(name.strip(), spec))
        except ValueError as error:
            raise ValueError(f"seats[{k}]: {error}") from None
        if READ.boolean(f"seats[{k}].here", d.get("here", False)) and spec is None:
            here.append(k)
    return seats, here


def _pace(value: Any) -> float | None:
    return None if value is None else READ.number("pace", value, 0, LONGEST_PACE)
