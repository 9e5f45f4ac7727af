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
from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from euphoria_agents.error_text import one_line
from euphoria_agents.record_steps import last_space
from euphoria_agents.sessions import AgentFailed, Seat, Session
from euphoria_agents.study.analysis import Analysis
from euphoria_agents.study.decision_analysis import Replayed
from euphoria_agents.study.summary import THRESHOLD
from euphoria_agents.web.agent_permissions import Specs, read_spec
from euphoria_agents.web.game_registry import GameRegistry
from euphoria_agents.web.refusals import Refused, read_body
from euphoria_agents.web.store import CannotSave
from euphoria_env import Game, words
from euphoria_env.game import seed_row
from euphoria_env.json_reader import Json, Reader
from euphoria_env.render.view import view_of

MAX_STUDIES = 5_000
ALIVE = 8  # studies in memory
WAITING = 8  # analyses under way and in the queue
SAVED_EVERY = 2.0  # seconds
READ = Reader()
JUDGES = ("mcts:100:ppo", "mcts:300:ppo", "mcts:1000:ppo", "ppo")  # those that say most, the quickest first


@dataclasses.dataclass
class Job:
    """An analysis under way."""

    task: asyncio.Task[None] | None = None
    header: Any = None
    entries: list[Any] = dataclasses.field(default_factory=list)
    trouble: str = ""

    @property
    def running(self) -> bool:
        """Whether it is at work, or waits for its turn."""
        return self.task is not None and not self.task.done()


class Studies:
    """The endpoints of studies.

    Args:
        registry: the games, whose store and threads the studies share.
        specs: the agents that may judge.
    """

    def __init__(self, registry: GameRegistry, specs: Specs) -> None:
        self.registry = registry
        self.specs = specs
        self._alive: dict[str, tuple[list[str], str, Replayed]] = {}
        self._jobs: dict[tuple[str, str], Job] = {}
        self._turn = asyncio.Lock()

    def routes(self) -> list[Route]:
        """Where the endpoints are."""
        one = "/api/studies/{study}"
        return [
            Route("/api/studies", self.make, methods=["POST"]),
            Route(one, self.overview, methods=["GET"]),
            Route(one, self.delete, methods=["DELETE"]),
            Route(f"{one}/at/{{ply:int}}", self.at, methods=["GET"]),
            Route(f"{one}/at/{{ply:int}}", self.ask, methods=["POST"]),
            Route(f"{one}/at/{{ply:int}}/position", self.position, methods=["GET"]),
            Route(f"{one}/analyses", self.analysis, methods=["GET"]),
            Route(f"{one}/analyses", self.analyse, methods=["POST"]),
            Route(f"{one}/analyses", self.cancel, methods=["DELETE"]),
            Route(f"{one}/analyses/lines", self.lines, methods=["GET"]),
        ]

    def close(self) -> None:
        """Stops all analyses."""
        for key in self._jobs:
            self._stop(key)

    # ------------------------------------------------------------------------------------------------------------ studies

    async def make(self, request: Request) -> Response:
        """A study of a record, a position, or a game that has ended (at any time, if it is for practice)."""
        body = await read_body(request, ("record", "position", "game"))
        if len(body) != 1:
            raise Refused(422, "a study is made of a record, a position or a game")
        names = []
        if "game" in body:
            session = self.registry.table(READ.text("game", body["game"])).session
            if not (session.over or session.practice):
                raise Refused(403, "the game has secrets in it until it has ended")
            record, names = session.record(), [seat.name for seat in session.seats]
        elif "position" in body:
            record = Game.from_dict(body["position"]).to_record()
        else:
            record = READ.text("record", body["record"])
        game = await asyncio.to_thread(Game.from_record, record)
        return JSONResponse({"id": self.of(record, names or player_names(game))}, 201)

    def of(self, record: str, names: list[str]) -> str:
        """The study of a good record, by its name; a new one, if there is none yet.

        Raises:
            Refused: there are too many.
            CannotSave: what it says.
        """
        if found := self.registry.store.study_of(names, record):
            return found
        if self.registry.store.count_studies() >= MAX_STUDIES:
            raise Refused(503, f"this server keeps {MAX_STUDIES} studies, and has as many; delete one first")
        name = secrets.token_hex(16)
        self.registry.store.add_study(name, names, record)
        return name

    async def branch(self, given: Any) -> Game:
        """The game at a decision of a study, `{"study": name, "ply": number}`: the same cards, but other chance from there.

        Raises:
            Refused, ValueError: there is no such study or decision.
        """
        start = READ.mapping("start", given, ("study", "ply"))
        _, _, game = await self._study(READ.text("start.study", start.get("study")))
        ply = READ.integer("start.ply", start.get("ply"), 0, len(game.before))
        row = _states(game, ply)
        if Game.from_rows(row).over or Game.from_rows(row).truncated:
            raise Refused(422, "start.ply: the game has ended there")
        seed_row(row[0], secrets.randbits(63))
        return Game.from_rows(row)

    async def delete(self, request: Request) -> Response:
        """Forgets a study."""
        await read_body(request, ())
        name = request.path_params["study"]
        await self._study(name)
        self.registry.store.delete_study(name)
        self._alive.pop(name, None)
        for key in [key for key in self._jobs if key[0] == name]:
            self._stop(key)
            del self._jobs[key]
        return JSONResponse({})

    async def overview(self, request: Request) -> Response:
        """Who played, and every decision in notation."""
        names, record, game = await self._study(request.path_params["study"])
        players = [int(row["player"][0]) for row in game.before]
        told = {"names": names, "players": players, "lines": game.history, "record": record}
        return JSONResponse({**told, "mistake": THRESHOLD, "judges": [*JUDGES, *set(self.specs.offered).difference(JUDGES)]})

    async def at(self, request: Request) -> Response:
        """The game before a decision, or at its end, as a seat or everybody saw it, with the moves, and the one played."""
        names, _, game, now = await self._there(request)
        ply, asked = request.path_params["ply"], request.query_params.get("seat")
        if asked is not None and asked not in map(str, range(len(names))):
            raise Refused(422, f"seat: must be a number from 0 to {len(names) - 1}")
        return JSONResponse(
            {
                "ply": ply,
                "player": now.player,
                "over": now.over or now.truncated,
                "view": dataclasses.asdict(view_of(now, None if asked is None else int(asked))),
                "last": last_space(game.history[:ply]),
                "question": words.question(now, now.player),
                "moves": [dataclasses.asdict(move) for move in words.legal_moves(now, now.player)],
                "played": game.played[ply] if ply < len(game.played) else None,
            }
        )

    async def ask(self, request: Request) -> Response:
        """What an agent thinks of one decision."""
        spec = self._spec(await read_body(request, ("spec",)))
        names, _, _, now = await self._there(request)
        await self.specs.check(spec)
        session = Session.of(now, [Seat(name) for name in names], agents=self.registry.agents)
        try:
            said = await self.registry.executor.think(spec, lambda: session.hint(session.player, spec), kind="hint")
        except (TimeoutError, AgentFailed) as error:
            raise Refused(503, str(error)) from None
        return JSONResponse(said)

    async def position(self, request: Request) -> Response:
        """The complete position before a decision, or at the end."""
        _, _, _, now = await self._there(request)
        return JSONResponse({"position": now.to_dict()})

    # ----------------------------------------------------------------------------------------------------------- analyses

    async def analyse(self, request: Request) -> Response:
        """Begins an analysis, or goes on with one."""
        body = await read_body(request, ("spec",))
        spec = self._spec(body)
        _, record, _ = await self._study(request.path_params["study"])
        await self.specs.check(spec)
        key = (request.path_params["study"], spec)
        if key not in self._jobs or not self._jobs[key].running:
            running = {k: job for k, job in self._jobs.items() if job.running}
            if len(running) >= WAITING:
                raise Refused(503, f"{WAITING} analyses are waiting already")
            job = Job(None, *self.registry.store.analysis(*key))
            self._jobs = {**running, key: job}
            job.task = asyncio.create_task(self._work(key, record, job))
        return JSONResponse(self._progress(key, 0), 202)

    async def analysis(self, request: Request) -> Response:
        """What there is of an analysis, from an entry on."""
        spec, first = request.query_params.get("spec", ""), request.query_params.get("from", "0")
        if not (first.isascii() and first.isdecimal() and len(first) < 7):
            raise Refused(422, "from: must be the number of an entry")
        await self._study(request.path_params["study"])
        return JSONResponse(self._progress((request.path_params["study"], spec), int(first)))

    async def cancel(self, request: Request) -> Response:
        """Stops an analysis; what there is of it stays."""
        spec = self._spec(await read_body(request, ("spec",)))
        await self._study(request.path_params["study"])
        self._stop((request.path_params["study"], spec))
        return JSONResponse({})

    async def lines(self, request: Request) -> Response:
        """What there is of an analysis as JSON lines, as `euphoria analyse --out` writes them (docs/study.md)."""
        await self._study(request.path_params["study"])
        job = self._found((request.path_params["study"], request.query_params.get("spec", "")))
        if job.header is None:
            raise Refused(404, "there is no such analysis")
        return Response("".join(f"{json.dumps(one)}\n" for one in [job.header, *job.entries]), media_type="application/jsonl")

    def _stop(self, key: tuple[str, str]) -> None:
        job = self._jobs.get(key)
        if job is not None and job.task is not None:
            job.task.cancel()

    def _found(self, key: tuple[str, str]) -> Job:
        """An analysis as far as it has come."""
        return self._jobs.get(key) or Job(None, *self.registry.store.analysis(*key))

    @staticmethod
    def _spec(body: Json) -> str:
        spec = read_spec("spec", body.get("spec"))
        if spec is None:
            raise Refused(422, "spec: must be an agent")
        return spec

    def _progress(self, key: tuple[str, str], first: int) -> Json:
        job = self._found(key)
        return {"running": job.running, "trouble": job.trouble, "entries": job.entries[first:]}

    async def _work(self, key: tuple[str, str], record: str, job: Job) -> None:
        """Makes the entries that are missing, one job after the other, each entry in a thread."""
        store, think = self.registry.store, self.registry.executor.think
        try:
            async with self._turn:
                analysis = await think("analysis", lambda: Analysis(record, key[1]), kind="load")
                if job.header != analysis.header:  # the agent has changed since
                    job.header, job.entries = analysis.header, []
                missing = analysis.entries(len(job.entries))
                saved = time.monotonic()
                while (entry := await think("analysis", lambda: next(missing, None))) is not None:
                    job.entries.append(entry)
                    if time.monotonic() > saved + SAVED_EVERY:
                        store.save_analysis(*key, job.header, job.entries)
                        saved = time.monotonic()
        except Exception as error:  # an agent may raise anything
            job.trouble = one_line(error)
        finally:
            try:
                store.save_analysis(*key, job.header, job.entries)
            except CannotSave as error:
                job.trouble = job.trouble or str(error)

    async def _there(self, request: Request) -> tuple[list[str], str, Replayed, Game]:
        """What `_study` gives, and the game before a decision or at its end."""
        names, record, game = await self._study(request.path_params["study"])
        ply = request.path_params["ply"]
        if ply > len(game.before):
            raise Refused(404, f"the game has {len(game.before)} decisions")
        return names, record, game, game if ply == len(game.before) else Game.from_rows(_states(game, ply))

    async def _study(self, name: str) -> tuple[list[str], str, Replayed]:
        """The names of the seats, the record, and the game at its end."""
        found = self._alive.pop(name, None)
        if found is None:
            kept = self.registry.store.study(name)
            if kept is None:
                raise Refused(404, "there is no such study")
            names, record = kept
            game: Any = await asyncio.to_thread(Replayed.from_record, record)
            found = (names, record, game)
        self._alive[name] = found
        while len(self._alive) > ALIVE:
            del self._alive[next(iter(self._alive))]
        return found


def _states(game: Replayed, ply: int) -> np.ndarray:
    """The state before a decision, or at the end, as an array of one row of its own."""
    return (game.before[ply] if ply < len(game.before) else game.states).copy()


def player_names(game: Game) -> list[str]:
    """What players are called of whom nobody knows."""
    return [f"Player {k}" for k in range(game.rules.num_players)]
