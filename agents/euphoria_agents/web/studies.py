"""Studies over HTTP: a record decision by decision, and what an agent thinks of each.

A record has all secrets of its game. A study is therefore found only by its name, which nobody can guess, and a game that is
played becomes one when it has ended.
"""

from __future__ import annotations

import asyncio
import dataclasses
import secrets
import time
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from euphoria_agents.faults import one_line
from euphoria_agents.study.analysis import Analysis
from euphoria_agents.study.judging import Replayed
from euphoria_agents.study.summary import THRESHOLD, summarise
from euphoria_agents.web.faults import Refused, read_body
from euphoria_agents.web.specs import Specs, read_spec
from euphoria_agents.web.store import CannotSave
from euphoria_agents.web.tables import Hall
from euphoria_env import Game, words
from euphoria_env.reader import Json, Reader
from euphoria_env.render.view import view_of

MAX_STUDIES = 5_000
ALIVE = 8  # studies in memory
WAITING = 8  # analyses under way and in the queue
SAVED_EVERY = 2.0  # seconds
READ = Reader()


@dataclasses.dataclass
class Job:
    """An analysis under way."""

    task: asyncio.Task[None] | None = None
    entries: list[Any] = dataclasses.field(default_factory=list)
    trouble: str = ""


class Studies:
    """The endpoints of studies.

    Args:
        hall: the games, whose store and threads the studies share.
        specs: the agents that may judge.
    """

    def __init__(self, hall: Hall, specs: Specs) -> None:
        self.hall = hall
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
            Route(f"{one}/at/{{ply:int}}", self.at, methods=["GET"]),
            Route(f"{one}/at/{{ply:int}}/position", self.position, methods=["GET"]),
            Route(f"{one}/analyses", self.analysis, methods=["GET"]),
            Route(f"{one}/analyses", self.analyse, methods=["POST"]),
            Route(f"{one}/analyses", self.cancel, methods=["DELETE"]),
        ]

    def close(self) -> None:
        """Stops all analyses."""
        for job in self._jobs.values():
            if job.task is not None:
                job.task.cancel()

    # ------------------------------------------------------------------------------------------------------------ studies

    async def make(self, request: Request) -> Response:
        """A study of a record, or of a game that has ended (at any time, if it is for practice)."""
        body = await read_body(request, ("record", "game"))
        if ("record" in body) == ("game" in body):
            raise Refused(422, "a study is made of a record or of a game")
        if "game" in body:
            session = self.hall.table(READ.text("game", body["game"])).session
            if not (session.over or session.practice):
                raise Refused(403, "the game has secrets in it until it has ended")
            record, names = session.record(), [seat.name for seat in session.seats]
        else:
            record = READ.text("record", body["record"])
            names = []
        if self.hall.store.count_studies() >= MAX_STUDIES:
            raise Refused(503, f"this server keeps {MAX_STUDIES} studies, and has as many")
        game = await asyncio.to_thread(Replayed.from_record, record)
        names = names or [f"Player {k}" for k in range(game.rules.num_players)]
        name = secrets.token_hex(16)
        self.hall.store.add_study(name, names, record)
        return JSONResponse({"id": name}, 201)

    async def overview(self, request: Request) -> Response:
        """Who played, and every decision in notation."""
        names, _, game = await self._study(request)
        players = [int(row["player"][0]) for row in game.before]
        return JSONResponse({"names": names, "players": players, "lines": game.history, "mistake": THRESHOLD})

    async def at(self, request: Request) -> Response:
        """The game before a decision, or at its end, as a seat or everybody saw it, with the moves, and the one played."""
        names, _, game = await self._study(request)
        ply, asked = request.path_params["ply"], request.query_params.get("seat")
        if ply > len(game.before):
            raise Refused(404, f"the game has {len(game.before)} decisions")
        if asked is not None and asked not in map(str, range(len(names))):
            raise Refused(422, f"seat: must be a number from 0 to {len(names) - 1}")
        ended = ply == len(game.before)
        now = game if ended else Game.from_rows(game.before[ply].copy())
        return JSONResponse(
            {
                "ply": ply,
                "player": now.player,
                "view": dataclasses.asdict(view_of(now, None if asked is None else int(asked))),
                "question": words.question(now, now.player),
                "moves": [dataclasses.asdict(move) for move in words.legal_moves(now, now.player)],
                "played": None if ended else game.played[ply],
            }
        )

    async def position(self, request: Request) -> Response:
        """The complete position before a decision, or at the end."""
        _, _, game = await self._study(request)
        ply = request.path_params["ply"]
        if ply > len(game.before):
            raise Refused(404, f"the game has {len(game.before)} decisions")
        return JSONResponse(
            {"position": (game if ply == len(game.before) else Game.from_rows(game.before[ply].copy())).to_dict()}
        )

    # ----------------------------------------------------------------------------------------------------------- analyses

    async def analyse(self, request: Request) -> Response:
        """Begins an analysis, or goes on with one."""
        body = await read_body(request, ("spec",))
        spec = read_spec("spec", body.get("spec"))
        if spec is None:
            raise Refused(422, "spec: must be an agent")
        names, record, _ = await self._study(request)
        await self.specs.check(spec)
        key = (request.path_params["study"], spec)
        job = self._jobs.get(key)
        if job is None or job.task is None or job.task.done():
            if sum(job.task is not None and not job.task.done() for job in self._jobs.values()) >= WAITING:
                raise Refused(503, f"{WAITING} analyses are waiting already")
            self._jobs = {k: one for k, one in self._jobs.items() if one.task is not None and not one.task.done()}
            job = self._jobs[key] = Job(entries=self.hall.store.analysis(*key))
            job.task = asyncio.create_task(self._work(key, record, job))
        return JSONResponse(self._progress(key, 0, len(names)), 202)

    async def analysis(self, request: Request) -> Response:
        """What there is of an analysis, from an entry on."""
        spec, first = request.query_params.get("spec", ""), request.query_params.get("from", "0")
        if not (first.isascii() and first.isdecimal() and len(first) < 7):
            raise Refused(422, "from: must be the number of an entry")
        names, _, _ = await self._study(request)
        return JSONResponse(self._progress((request.path_params["study"], spec), int(first), len(names)))

    async def cancel(self, request: Request) -> Response:
        """Stops an analysis; what there is of it stays."""
        body = await read_body(request, ("spec",))
        job = self._jobs.get((request.path_params["study"], READ.text("spec", body.get("spec"))))
        if job is not None and job.task is not None:
            job.task.cancel()
        return JSONResponse({})

    def _progress(self, key: tuple[str, str], first: int, players: int) -> Json:
        job = self._jobs.get(key)
        entries = job.entries if job else self.hall.store.analysis(*key)
        return {
            "running": job is not None and job.task is not None and not job.task.done(),
            "trouble": job.trouble if job else "",
            "entries": entries[first:],
            "summary": [dataclasses.asdict(one) for one in summarise(entries, players)],
        }

    async def _work(self, key: tuple[str, str], record: str, job: Job) -> None:
        """Makes the entries that are missing, one job after the other, each entry in a thread."""
        store, think = self.hall.store, self.hall.thinkers.think
        try:
            async with self._turn:
                analysis = await think("analysis", lambda: Analysis(record, key[1]))
                missing = analysis.entries(len(job.entries))
                saved = time.monotonic()
                while (entry := await think("analysis", lambda: next(missing, None))) is not None:
                    job.entries.append(entry)
                    if time.monotonic() > saved + SAVED_EVERY:
                        store.save_analysis(*key, job.entries)
                        saved = time.monotonic()
        except Exception as error:  # an agent may raise anything
            job.trouble = one_line(error)
        finally:
            try:
                store.save_analysis(*key, job.entries)
            except CannotSave as error:
                job.trouble = job.trouble or str(error)

    async def _study(self, request: Request) -> tuple[list[str], str, Replayed]:
        """The names of the seats, the record, and the game at its end."""
        name = request.path_params["study"]
        found = self._alive.pop(name, None)
        if found is None:
            kept = self.hall.store.study(name)
            if kept is None:
                raise Refused(404, "there is no such study")
            names, record = kept
            game: Any = await asyncio.to_thread(Replayed.from_record, record)
            found = (names, record, game)
        self._alive[name] = found
        while len(self._alive) > ALIVE:
            del self._alive[next(iter(self._alive))]
        return found
