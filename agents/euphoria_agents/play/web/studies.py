"""Studies over HTTP: a record decision by decision, and what an agent thinks of each.

A record has all secrets of its game. A study is therefore found only by its name, which nobody can guess, and a game that is
played becomes one when it has ended.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import secrets
import time
from collections.abc import Iterator, Mapping
from functools import cached_property, partial
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from starlette.responses import JSONResponse, Response

from euphoria_agents.error_text import one_line
from euphoria_agents.play import Seat, Session
from euphoria_agents.play.study.decision_analysis import outcome
from euphoria_agents.play.study.game_analysis import Analysis
from euphoria_agents.play.study.summary import THRESHOLD
from euphoria_agents.play.transcript import Transcript
from euphoria_agents.play.web import endpoints
from euphoria_agents.play.web.agent_permissions import Specs
from euphoria_agents.play.web.endpoints import Asked, Body, Query, SeatNumber, Spec
from euphoria_agents.play.web.game_registry import GameRegistry, check_room
from euphoria_agents.play.web.jobs import Jobs, answer_of, started
from euphoria_agents.play.web.refusals import Refused
from euphoria_agents.play.web.replay_page import MOVERS, replay_page
from euphoria_agents.play.web.store import HOST, CannotSave, Damaged, token_hash
from euphoria_agents.play.web.turns import Loading, Turns, in_thread
from euphoria_agents.record_steps import Replayed, last_space
from euphoria_env import Game
from euphoria_env.game import seed_row
from euphoria_env.json_reader import Json
from euphoria_env.render.board import board_fragment
from euphoria_env.render.view import view_of

ALIVE = 8  # studies in memory
SAVED_EVERY = 2.0  # seconds
JUDGES = ("mcts:100:ppo", "mcts:300:ppo", "mcts:1000:ppo", "ppo")  # those that say most, the quickest first

Number = Annotated[int, Meta(ge=0, lt=10**6)]


class NewStudy(Body):
    """A study of a record, a position, or a game."""

    record: str | None = None
    position: Any = None
    game: str | None = None

    def __post_init__(self) -> None:
        if sum(one is not None for one in (self.record, self.position, self.game)) != 1:
            raise ValueError("a study is made of a record, a position or a game")


class Start(Body):
    """A decision of a study."""

    study: str
    ply: Number


class Judge(Body):
    """An agent that judges."""

    spec: Spec


class Look(Query):
    """The seat whose view is shown; None: that of everybody."""

    seat: SeatNumber | None = None


class Part(Query):
    """The entries of an analysis from a number on."""

    spec: str = ""
    first: Number = msgspec.field(default=0, name="from")


@dataclasses.dataclass
class Analysed:
    """An analysis as far as it has come; `visitor`: the hash of the cookie of whoever began it."""

    header: Any = None
    entries: list[Any] = dataclasses.field(default_factory=list)
    visitor: bytes = b""
    trouble: str = ""


@dataclasses.dataclass
class Study:
    """A study in memory: the names of the seats, the record, the game at its end, and the analyses of this time.

    Attributes:
        lock: held by whoever works at it.
    """

    name: str
    names: list[str]
    record: str
    game: Replayed
    analyses: dict[str, Analysed]
    lock: asyncio.Lock = dataclasses.field(default_factory=asyncio.Lock)

    @cached_property
    def transcript(self) -> Transcript:
        """The log of the game."""
        return Transcript(self.game, self.names)

    def at(self, ply: int) -> Game:
        """The game before a decision or at its end.

        Raises:
            Refused: it has not so many.
        """
        if ply > len(self.game.before):
            raise Refused(404, f"the game has {len(self.game.before)} decisions")
        return self.game.at(ply)

    def began(self, spec: str, cookies: Mapping[str, str]) -> bool:
        """Whether these are the cookies of whoever began an analysis."""
        found = self.analyses.get(spec)
        return found is not None and endpoints.matches(found.visitor, cookies.get(_visitor(self.name), ""))


class Studies:
    """The endpoints of studies.

    Args:
        registry: the games, whose store and threads the studies share.
        specs: the agents that may judge.

    Attributes:
        jobs: the analyses under way, by study and spec.
    """

    def __init__(self, registry: GameRegistry, specs: Specs) -> None:
        self.registry = registry
        self.specs = specs
        self._alive: dict[str, Study] = {}
        self._loading = Loading[Study]()
        self._analyses: dict[str, dict[str, Analysed]] = {}
        self._processes = Turns(registry.limits.processes.in_all, registry.limits.processes.per_client)
        self.jobs = Jobs(registry.limits.waiting)

    async def find(self, name: str, client: str) -> Study:
        """A study by its name, for a client.

        Raises:
            Refused: there is none (404).
            Damaged: it cannot be read.
        """
        found = self._alive.pop(name, None) or await self._loading.of(name, lambda: self._load(name, client))
        self._alive[name] = found
        while len(self._alive) > ALIVE:
            del self._alive[next(iter(self._alive))]
        return found

    async def _load(self, name: str, client: str) -> Study:
        def load() -> tuple[list[str], str, Replayed]:
            kept = self.registry.store.study(name)
            if kept is None:
                raise Refused(404, "there is no such study")
            try:
                game = Replayed.from_record(kept[1])
            except ValueError as error:
                raise Damaged("study") from error
            if len(kept[0]) != game.rules.num_players:
                raise Damaged("study")
            return *kept, game

        async with self.registry.desk.turn(client):
            return Study(name, *await in_thread(load), self._analyses.setdefault(name, {}))

    # ------------------------------------------------------------------------------------------------------------ studies

    def make(self, asked: Asked) -> Response:
        """A study of a record, a position, or a game that has ended; to find an existing one gives no right over it."""
        body: NewStudy = asked.body
        names = []
        if asked.thing is not None:
            session = asked.thing.session
            record, names = session.record(), [seat.name for seat in session.seats]
        else:
            record = body.record if body.record is not None else Game.from_dict(body.position).to_record()
        game = Game.from_record(record)
        name, tokens = self.of(record, names or player_names(game), asked.client)
        return endpoints.give(JSONResponse({"id": name}, 201), "study", name, tokens)

    def of(self, record: str, names: list[str], client: str = "") -> tuple[str, dict[int, str]]:
        """The study of a good record, by its name; if there is none yet, a new one, with the token of whoever made it.

        Raises:
            Refused: there are too many.
            CannotSave: what it says.
        """
        store = self.registry.store
        if found := store.study_of(names, record):
            return found, {}
        check_room(store, self.registry.limits, "study", client)
        name, tokens = secrets.token_hex(16), endpoints.new_tokens(HOST)
        store.add_study(name, client, tokens, names, record)
        return name, tokens

    async def delete(self, asked: Asked) -> Json:
        """Forgets a study."""
        await in_thread(lambda: self.registry.store.delete("study", asked.name))
        self._alive.pop(asked.name, None)
        for spec in self._analyses.pop(asked.name, {}):
            self.jobs.stop((asked.name, spec))
        return {}

    def overview(self, asked: Asked) -> Json:
        """The players, and every decision in notation and in words, as the player who decided saw it."""
        study: Study = asked.thing
        game, transcript = study.game, study.transcript
        told = {
            "names": study.names,
            "players": transcript.players,
            "lines": game.history,
            "record": study.record,
            "host": asked.host,
        }
        said = {"turns": transcript.turns, "log": transcript.log(transcript.players), "result": outcome(game)}
        said["headline"] = view_of(game, None, study.names).headline
        return {**told, **said, "mistake": THRESHOLD, "judges": [*JUDGES, *set(self.specs.offered).difference(JUDGES)]}

    def at(self, asked: Asked) -> Json:
        """The game before a decision, or at its end, as a seat or everybody saw it, with the moves, and the one played."""
        ply, game = asked.request.path_params["ply"], asked.thing.game
        now = asked.thing.at(ply)
        view = view_of(now, asked.seat, asked.thing.names)
        return {
            "ply": ply,
            "player": now.player,
            "over": now.over or now.truncated,
            "view": dataclasses.asdict(view),
            "board": board_fragment(view, [last_space(game.history[:ply])], names=asked.thing.names),
            "question": asked.thing.transcript.question(ply),
            "moves": [dataclasses.asdict(move) for move in asked.thing.transcript.moves(ply)],
            "played": game.played[ply] if ply < len(game.played) else None,
        }

    async def ask(self, asked: Asked) -> Any:
        """An agent's opinion of one decision."""

        def table() -> Session:
            now = asked.thing.at(asked.request.path_params["ply"])
            return Session.of(now, [Seat(name) for name in asked.thing.names], agents=self.registry.agents)

        session = await asked.in_turn(table)
        return await self.specs.hint(session, session.player, asked.body.spec, asked.client)

    def position(self, asked: Asked) -> Json:
        """The complete position before a decision, or at the end."""
        return {"position": asked.thing.at(asked.request.path_params["ply"]).to_dict()}

    # ----------------------------------------------------------------------------------------------------------- analyses

    async def analyse(self, asked: Asked) -> Response:
        """Begins an analysis, or continues one."""
        study, spec = asked.thing, asked.body.spec
        await self.specs.check(spec, asked.client)
        visitor = asked.request.cookies.get(_visitor(study.name)) or secrets.token_urlsafe(16)
        before = await in_thread(lambda: self._analysis(study, spec))
        if not self.jobs.running((study.name, spec)):
            self.jobs.check_room(asked.client)
            found = study.analyses[spec] = Analysed(before.header, before.entries, token_hash(visitor))
            self._analyses[study.name] = study.analyses
            self.jobs.begin((study.name, spec), asked.client, partial(self._work, study, spec, found))
        answer = JSONResponse(self._progress(study, spec, 0), 202)
        return endpoints.set_cookie(answer, _visitor(study.name), visitor, "study", study.name)

    def analysis(self, asked: Asked) -> Json:
        """The finished part of an analysis, from an entry on, with the move played and the better one in words."""
        told = self._progress(asked.thing, asked.body.spec, asked.body.first)
        return {**told, "better": asked.thing.transcript.better(told["entries"])}

    async def cancel(self, asked: Asked) -> Json:
        """Stops an analysis; the finished part stays."""
        self.jobs.stop((asked.name, asked.body.spec))
        return {}

    async def page(self, asked: Asked) -> Response:
        """The study as one page that opens anywhere, with an analysis if one is named."""
        study: Study = asked.thing
        entries = (await in_thread(lambda: self._analysis(study, asked.body.spec))).entries if asked.body.spec else []
        async with self._processes.turn(asked.client, self.registry.limits.waiting.per_client), started(_page) as worker:
            made = await answer_of(worker, (study.record, study.names, list(entries)))
        return Response(made, media_type="text/html", headers={"Content-Disposition": 'attachment; filename="game.html"'})

    def lines(self, asked: Asked) -> Response:
        """The finished part of an analysis as JSON lines, as `euphoria analyse --out` writes them (docs/study.md)."""
        found = self._analysis(asked.thing, asked.body.spec)
        if found.header is None:
            raise Refused(404, "there is no such analysis")
        return Response("".join(f"{json.dumps(one)}\n" for one in [found.header, *found.entries]), media_type="application/jsonl")

    def _analysis(self, study: Study, spec: str) -> Analysed:
        return study.analyses.get(spec) or Analysed(*self.registry.store.analysis(study.name, spec))

    def _progress(self, study: Study, spec: str, first: int) -> Json:
        found, running = self._analysis(study, spec), self.jobs.running((study.name, spec))
        return {"running": running, "trouble": found.trouble, "entries": found.entries[first:]}

    async def _work(self, study: Study, spec: str, found: Analysed) -> bool:
        """Makes the entries that are missing, in a process; whether none is missing any more, or they cannot be made."""
        try:
            async with started(_Analyst(study.record, spec)) as worker:
                header = await answer_of(worker, None)
                if found.header != header:  # the agent has changed since
                    found.header, found.entries = header, []
                saved = time.monotonic()
                while (entry := await answer_of(worker, len(found.entries))) is not None:
                    found.entries.append(entry)
                    if self.jobs.must_yield((study.name, spec)):
                        return False
                    if time.monotonic() > saved + SAVED_EVERY:
                        await in_thread(partial(self._save, study, spec, found))
                        saved = time.monotonic()
        except Exception as error:  # an agent may raise anything
            found.trouble = one_line(error)
        finally:
            try:
                await in_thread(partial(self._save, study, spec, found))
            except CannotSave as error:
                found.trouble = found.trouble or str(error)
        return True

    def _save(self, study: Study, spec: str, found: Analysed) -> None:
        self.registry.store.save_analysis(study.name, spec, found.header, found.entries)


def branch(study: Study, ply: int) -> Game:
    """The game at a decision of a study: the same cards, but other chance from there.

    Raises:
        Refused: there is no such decision.
    """
    if ply > len(study.game.before) or (game := study.at(ply)).over or game.truncated:
        raise Refused(422, "start.ply: the game has ended there")
    rows = game.states.copy()
    seed_row(rows[0], secrets.randbits(63))
    return Game.taking(rows)


def _page(item: tuple[str, list[str], list[Any]]) -> str:
    """The work of the process that makes a page."""
    record, names, entries = item
    return replay_page(Replayed.from_record(record), names, MOVERS, entries)


class _Analyst:
    """Analyses a game in a process, an entry at a time."""

    def __init__(self, record: str, spec: str) -> None:
        self._of = record, spec
        self._analysis: Analysis | None = None
        self._entries: Iterator[Any] | None = None

    def __call__(self, first: int | None) -> Any:
        """The header of the analysis, and then its entries from the first on that is asked for, in order; None at the end."""
        self._analysis = self._analysis or Analysis(*self._of)
        if first is None:
            return self._analysis.header
        self._entries = self._entries or self._analysis.entries(first)
        return next(self._entries, None)


def _visitor(name: str) -> str:
    """The cookie of whoever begins analyses of a study."""
    return f"visitor-{name}"


def player_names(game: Game) -> list[str]:
    """The names of players who are not named."""
    return [f"Player {k}" for k in range(game.rules.num_players)]
