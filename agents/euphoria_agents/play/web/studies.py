"""The HTTP endpoints of studies: a recorded game decision by decision, and agents' opinions of the decisions.

A record reveals all secrets of its game. So a study can be found only by its name, which nobody can guess, and a game can be
studied only when it has ended, or if it is a practice game.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from starlette.responses import Response

from euphoria_agents.error_text import one_line
from euphoria_agents.play import Seat, Session
from euphoria_agents.play.study.decision_analysis import outcome
from euphoria_agents.play.study.game_analysis import Analysis, differences
from euphoria_agents.play.study.move_comparison import compare, moves_to_compare
from euphoria_agents.play.study.summary import THRESHOLD
from euphoria_agents.play.transcript import Transcript
from euphoria_agents.play.web.board_data import catalogue
from euphoria_agents.play.web.endpoints import Body, Query, RequestContext, Spec, as_response
from euphoria_agents.play.web.errors import Refused
from euphoria_agents.play.web.jobs import Jobs, answer_of, started
from euphoria_agents.play.web.permissions import give, new_tokens
from euphoria_agents.play.web.queueing import FairQueue, SharedTasks, in_thread, patiently
from euphoria_agents.play.web.registry import GameRegistry
from euphoria_agents.play.web.replay_page import MOVERS, replay_page
from euphoria_agents.play.web.store import HOST, CannotSave, Damaged
from euphoria_agents.play.web.wire import brief, briefly, move_data
from euphoria_agents.players.search.searcher import MOST
from euphoria_agents.record_steps import Replayed, last_space, steps
from euphoria_env import Game
from euphoria_env.actions import NAMES
from euphoria_env.json_reader import Json
from euphoria_env.record import replayed
from euphoria_env.render.board import board_fragment
from euphoria_env.render.view import view_of

MAX_LOADED, MAX_DECISIONS = 8, 60_000  # studies in memory, and their decisions, each of which takes 1.5 kB
SAVED_EVERY = 2.0  # seconds between two saves of an analysis under way
JUDGES = ("mcts:100:ppo", "mcts:300:ppo", "mcts:1000:ppo", "ppo")  # agents offered first: they explain most; quickest first

Ply = Annotated[int, Meta(ge=0, lt=10**6)]


class NewStudy(Body):
    """A request for a study of a record, a position, or a game."""

    record: str | None = None
    position: Any = None
    game: str | None = None

    def __post_init__(self) -> None:
        if sum(one is not None for one in (self.record, self.position, self.game)) != 1:
            raise ValueError("a study is made of a record, a position or a game")


class Start(Body):
    """A decision of a study, from which a new game begins."""

    study: str
    ply: Ply


class SpecBody(Body):
    """The spec of the agent that judges."""

    spec: Spec


class AnalysisQuery(Query):
    """Asks for the entries of an agent's analysis, from number `first` on."""

    spec: str = ""
    first: Ply = msgspec.field(default=0, name="from")


class PageQuery(Query):
    """Asks for a study as a page in a language, with the analysis by `spec`."""

    spec: str = ""
    language: str = "en"

    def __post_init__(self) -> None:
        catalogue(self.language)


@dataclass
class StudyAnalysis:
    """The finished part of an analysis; `trouble`: why it stopped early; empty if it did not."""

    header: Any = None
    entries: list[Any] = field(default_factory=list)
    trouble: str = ""


@dataclass
class Study:
    """A study in memory: its name, the players' names, the record, and the game at its end. Whoever uses it holds `lock`."""

    name: str
    names: list[str]
    record: str
    game: Replayed
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @cached_property
    def transcript(self) -> Transcript:
        """The game in words."""
        return Transcript(self.game, self.names)

    def at(self, ply: int) -> Game:
        """Returns the game before a decision or at its end; raises `Refused` if it has fewer decisions."""
        if ply > len(self.game.before):
            raise Refused(404, f"the game has {len(self.game.before)} decisions")
        return self.game.at(ply)


class StudyEndpoints:
    """The endpoints of studies, which share store, agents and threads with the games."""

    def __init__(self, registry: GameRegistry) -> None:
        self.registry, self.agents, self.store = registry, registry.agents, registry.store
        self._loaded: dict[str, Study] = {}  # the most recently used one is the last
        self.replaying = FairQueue(registry.limits.replaying)
        self._loading = SharedTasks[Study](self.replaying)
        self._analyses: dict[tuple[str, str], StudyAnalysis] = {}  # those that run, wait, or have failed; others are in the store
        self._saving = asyncio.Lock()  # held while an analysis is saved, and changed after its end
        self.processes = FairQueue(registry.limits.processes)  # the slots for processes that make pages or play playouts
        self.jobs = Jobs(registry.limits.waiting)  # the analyses that run or wait, by study and spec

    async def find(self, name: str, client: str) -> Study:
        """Finds a study by its name for a client; raises `Refused` if there is none, `Damaged` if it cannot be read."""
        found = self._loaded.pop(name, None) or await self._loading.result(name, client, lambda: self._load(name))
        self._loaded[name] = found
        decisions = [len(one.game.before) for one in self._loaded.values()]
        while len(decisions) > 1 and (len(decisions) > MAX_LOADED or sum(decisions) > MAX_DECISIONS):
            del self._loaded[next(iter(self._loaded))], decisions[0]
        return found

    async def _load(self, name: str) -> Study:
        if name in self._loaded:  # somebody else has loaded it while this client waited
            return self._loaded[name]
        saved = await in_thread(lambda: self.store.study(name))
        if saved is None:
            raise Refused(404, "there is no such study")
        names, record = saved
        try:
            game, _ = await patiently(lambda: steps(record))
        except ValueError as error:
            raise Damaged("study") from error
        if len(names) != game.rules.num_players:
            raise Damaged("study")
        return Study(name, names, record, game)

    async def make(self, context: RequestContext) -> Response:
        """Makes a study; if there is the same one already, returns its name, but gives the client no right to delete it."""
        body, item, client = context.body, context.item, context.client
        if item is not None:
            record, names = await in_thread(item.session.record), item.session.names
        else:
            game = await self._uploaded(body, client)
            record, names = body.record or await in_thread(game.to_record), player_names(game)
        name, tokens = await in_thread(lambda: self.keep(record, names, client))
        return give(as_response({"id": name}, 201), "study", name, tokens)

    async def _uploaded(self, body: NewStudy, client: str) -> Game:
        """Returns the game of a record or a position that a client has sent."""
        record = body.record
        async with self.replaying.slot(client, self.registry.limits.waiting.per_client):
            if record is None:
                return await in_thread(lambda: Game.from_dict(body.position))
            return (await patiently(lambda: replayed(record, Game)))[0]

    def keep(self, record: str, names: list[str], client: str = "") -> tuple[str, dict[int, str]]:
        """Saves a study of a valid record; returns its name and, unless it existed already, its creator's token.

        Raises `Refused` (503) if there are too many studies, `CannotSave` if it cannot be saved.
        """
        if found := self.store.study_of(names, record):
            return found, {}
        limit = self.registry.limits.kept["study"]
        if self.store.count("study") >= limit.in_all or self.store.count("study", client) >= limit.per_client:
            most = f"{limit.in_all} of this kind, {limit.per_client} for each address"
            raise Refused(503, f"this server keeps {most}; delete one first")
        name, tokens = secrets.token_hex(16), new_tokens(HOST)
        self.store.add_study(name, client, tokens, names, record)
        return name, tokens

    async def delete(self, context: RequestContext) -> Json:
        """Deletes a study."""
        try:
            await in_thread(lambda: self.store.delete("study", context.name))
        finally:  # the thread finishes even if its caller is cancelled
            self._loaded.pop(context.name, None)
            for key in [key for key in self._analyses if key[0] == context.name]:
                self.jobs.stop(key)
                del self._analyses[key]
        return {}

    def overview(self, context: RequestContext) -> Json:
        """Returns the players, and every decision in notation and in words, as the player who decided saw it."""
        study: Study = context.item
        game, transcript = study.game, study.transcript
        return {
            "names": study.names,
            "players": transcript.players,
            "lines": game.history,
            "record": study.record,
            "host": context.host,
            "turns": transcript.turns,
            "log": [line.text for line in transcript.log(transcript.players)],
            "result": outcome(game),
            "headline": view_of(game, None, study.names).headline,
            "mistake": THRESHOLD,
            "judges": list(dict.fromkeys([*JUDGES, *self.agents.offered])),
        }

    def at(self, context: RequestContext) -> Json:
        """Returns the game before a decision or at its end, as a seat or everybody saw it, with its moves and the one played."""
        study: Study = context.item
        ply, game = context.request.path_params["ply"], study.game
        now = study.at(ply)
        view = view_of(now, context.seat, study.names)
        return {
            "ply": ply,
            "player": now.player,
            "over": now.over or now.truncated,
            "view": view,
            "board": board_fragment(
                view, [last_space([NAMES[action] for action in game.played[:ply]])], names=study.names, language=context.language
            ),
            "question": study.transcript.question(ply),
            "moves": [move_data(move) | {"brief": brief(move.facts.text)} for move in study.transcript.moves(ply)],
            "played": game.played[ply] if ply < len(game.played) else None,
        }

    async def opinion(self, context: RequestContext) -> Any:
        """Returns an agent's opinion of one decision."""

        def session_there() -> Session:
            now = context.item.at(context.request.path_params["ply"])
            return Session.of(now, [Seat(name) for name in context.item.names], agents=self.agents.pool)

        session = await context.run(session_there)
        return await self.agents.hint(session, session.player, context.body.spec, context.client)

    def position(self, context: RequestContext) -> Json:
        """Returns the complete position, secrets included, before a decision or at the end."""
        return {"position": context.item.at(context.request.path_params["ply"]).to_dict()}

    async def page(self, context: RequestContext) -> Response:
        """Returns the study as one HTML file that opens anywhere."""
        study, spec = context.item, context.body.spec
        entries = (await in_thread(lambda: self._analysis((study.name, spec)))).entries if spec else []
        most = self.registry.limits.waiting.per_client
        async with self.processes.slot(context.client, most), started(_make_page) as worker:
            page = await answer_of(worker, (study.record, study.names, list(entries), context.body.language))
        return Response(page, media_type="text/html", headers={"Content-Disposition": 'attachment; filename="game.html"'})

    async def analyse(self, context: RequestContext) -> Response:
        """Starts or continues an analysis."""
        study, spec, client = context.item, context.body.spec, context.client
        await self.agents.check(spec, client)
        key = study.name, spec
        before = await in_thread(lambda: self._analysis(key))
        if not self.jobs.running(key):
            self.jobs.check_room(client)
            found = self._analyses[key] = StudyAnalysis(before.header, before.entries)
            self.jobs.begin(key, client, lambda: self._work(key, study.record, found))
        return as_response(await in_thread(lambda: self._progress(key)), 202)

    def analysis(self, context: RequestContext) -> Json:
        """Returns the finished part of an analysis from entry `from` on, with the moves played and the better ones in words."""
        progress = self._progress((context.name, context.body.spec), context.body.first)
        return {**progress, "better": briefly(context.item.transcript.better(progress["entries"]))}

    async def cancel(self, context: RequestContext) -> Json:
        """Stops an analysis; the finished part stays."""
        self.jobs.stop((context.name, context.body.spec))
        return {}

    async def playouts(self, context: RequestContext) -> Json:
        """Compares the move played with the best one by playouts, and adds the result to the analysis; see `compare`."""
        ply, spec, limits = context.request.path_params["ply"], context.body.spec, self.registry.limits
        key = context.name, spec
        await self.agents.check("ppo", context.client)
        found = await in_thread(lambda: self._analysis(key))
        if ply >= len(found.entries):
            raise Refused(422, f"{spec} has not judged this decision")
        work = partial(compare, context.item.game.before[ply], moves_to_compare(found.entries[ply]), (0, ply), MOST)
        async with self.processes.slot(context.client, limits.waiting.per_client), started(work) as worker:
            result = await answer_of(worker, limits.playouts_seconds)

        def add() -> None:
            now = self._analysis(key)
            if ply < len(now.entries):  # otherwise it is made again
                now.entries[ply] = {**now.entries[ply], "playouts": result}
                self.store.save_analysis(*key, now.header, now.entries)

        async with self._saving:
            await in_thread(add)
        return result

    def _analysis(self, key: tuple[str, str]) -> StudyAnalysis:
        return self._analyses.get(key) or StudyAnalysis(*self.store.analysis(*key))

    def _progress(self, key: tuple[str, str], first: int = 0) -> Json:
        found = self._analysis(key)
        entries = found.entries
        return {"running": self.jobs.running(key), "trouble": found.trouble, "done": len(entries), "entries": entries[first:]}

    async def _work(self, key: tuple[str, str], record: str, found: StudyAnalysis) -> bool:
        """Adds the missing entries, computed in a process; returns False if it pauses for other clients, True if it is done."""
        paused = False
        try:
            async with started(_Analyst(record, key[1])) as worker:
                header, _ = await answer_of(worker, None)
                if differences(found.header or {}, header):  # the agent has changed since, so all is computed again
                    found.header, found.entries = header, []
                saved = time.monotonic()
                while (answer := await answer_of(worker, len(found.entries)))[1] is not None:
                    found.header, entry = answer
                    found.entries.append(entry)
                    if paused := self.jobs.must_yield(key):
                        return False
                    if time.monotonic() > saved + SAVED_EVERY:
                        await self._save(key, found)
                        saved = time.monotonic()
        except Exception as error:  # an agent may raise anything
            found.trouble = one_line(error)
        finally:
            try:
                await self._save(key, found)
            except CannotSave as error:
                found.trouble = found.trouble or str(error)
            if not paused and not found.trouble and self._analyses.get(key) is found:
                del self._analyses[key]  # the store has all of it
        return True

    async def _save(self, key: tuple[str, str], found: StudyAnalysis) -> None:
        async with self._saving:
            await in_thread(lambda: self.store.save_analysis(*key, found.header, found.entries))


def branch(study: Study, ply: int) -> Game:
    """Returns the game before a decision with other random outcomes; raises `Refused` (422) if it has no such decision."""
    if ply > len(study.game.before) or (game := study.at(ply)).over or game.truncated:
        raise Refused(422, "start.ply: the game has ended there")
    game.reseed(secrets.randbits(63))
    return game


def player_names(game: Game) -> list[str]:
    """Returns names for the players of a recorded game; a record has none."""
    return [f"Player {k + 1}" for k in range(game.rules.num_players)]


def _make_page(item: tuple[str, list[str], list[Any], str]) -> str:
    """Returns the page of a study; runs in a process of its own."""
    record, names, entries, language = item
    return replay_page(Replayed.from_record(record), names, MOVERS, entries, language)


class _Analyst:
    """Analyses a game entry by entry; runs in a process of its own."""

    def __init__(self, record: str, spec: str) -> None:
        self._arguments = record, spec
        self._analysis: Analysis | None = None
        self._entries: Iterator[Any] | None = None

    def __call__(self, first: int | None) -> Any:
        """Returns the header, and the next entry from number `first` on; None after the last one, or if `first` is None."""
        self._analysis = self._analysis or Analysis(*self._arguments)
        if first is None:
            return self._analysis.header, None
        self._entries = self._entries or self._analysis.entries(first)
        entry = next(self._entries, None)
        return self._analysis.header, entry
