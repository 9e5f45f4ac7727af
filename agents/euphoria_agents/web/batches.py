"""Statistics of many games over HTTP: games between agents, played one batch after the other, or records that are given.

A batch is found only by its name, which nobody can guess. Its games are played in a process of its own, a deal at a time, and
each deal is kept when it has ended: a server that starts again goes on with what was waiting.
"""

from __future__ import annotations

import asyncio
import dataclasses
import secrets
from contextlib import suppress
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from euphoria_agents.error_text import one_line
from euphoria_agents.matches.processes import Worker
from euphoria_agents.study.statistics import Counted, StatisticsTable, count, play_deal, tables
from euphoria_agents.web.agent_permissions import Specs, budget_of, read_spec
from euphoria_agents.web.refusals import Refused, read_body
from euphoria_agents.web.store import CannotSave, Store
from euphoria_env import Rules
from euphoria_env.json_reader import Json, Reader

MAX_BATCHES = 500
MOST_WAITING = 8
MOST_GAMES = 1_000
MOST_SEARCH = 200_000  # simulations a decision, times games
SIMULATIONS_A_SECOND = 5_000  # as which a budget of time counts
LOOK_EVERY = 0.02  # seconds, for what the process has done
READ = Reader()
WAITING, DONE, STOPPED, FAILED = "waiting", "done", "stopped", "failed"


class Batches:
    """The endpoints of batches.

    Args:
        store: where they are kept.
        specs: the agents that may play.
    """

    def __init__(self, store: Store, specs: Specs) -> None:
        self.store = store
        self.specs = specs
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._turn = asyncio.Lock()

    def routes(self) -> list[Route]:
        """Where the endpoints are."""
        one = "/api/batches/{batch}"
        return [
            Route("/api/batches", self.make, methods=["POST"]),
            Route(one, self.show, methods=["GET"]),
            Route(one, self.delete, methods=["DELETE"]),
            Route(f"{one}/stop", self.stop, methods=["POST"]),
            Route(f"{one}/go-on", self.go_on, methods=["POST"]),
            Route(f"{one}/{{table}}.csv", self.csv, methods=["GET"]),
        ]

    def resume(self) -> None:
        """Goes on with the batches that were waiting when the server ended."""
        for name in self.store.batches(WAITING):
            self._begin(name)

    def close(self) -> None:
        """Ends all work; what is waiting stays so."""
        for task in self._tasks.values():
            task.cancel()

    # ------------------------------------------------------------------------------------------------------------- making

    async def make(self, request: Request) -> Response:
        """A batch of games to play, or of records."""
        body = await read_body(request, ("agents", "games", "rules", "seed", "records"))
        if ("records" in body) == ("agents" in body):
            raise Refused(422, "a batch is made of agents that play, or of records")
        if self.store.count_batches() >= MAX_BATCHES:
            raise Refused(503, f"this server keeps {MAX_BATCHES} batches, and has as many; delete one first")
        name = secrets.token_hex(16)
        if "records" in body:
            games = await asyncio.to_thread(_count_all, READ.items("records", body["records"]))
            self.store.add_batch(name, DONE, {"agents": [], "games": len(games)}, games)
        else:
            settings = await self._settings(body)
            self._check_room()
            self.store.add_batch(name, WAITING, settings, [])
            self._begin(name)
        return JSONResponse({"id": name}, 201)

    async def _settings(self, body: Json) -> Json:
        """What is to be played.

        Raises:
            ValueError: a wrong rule, agent or number, or too much of it.
        """
        agents = []
        for k, value in enumerate(READ.items("agents", body["agents"])):
            if (spec := read_spec(f"agents[{k}]", value)) is None:
                raise ValueError(f"agents[{k}]: must be an agent such as ppo")
            agents.append(spec)
        rules = Rules.from_dict({**READ.mapping("rules", body.get("rules", {}), Rules().to_dict()), "num_players": len(agents)})
        games = READ.integer("games", body.get("games"), 1, MOST_GAMES)
        seed = READ.integer("seed", body.get("seed", secrets.randbits(32)), 0, 2**53)
        for spec in agents:
            await self.specs.check(spec)
            budget = budget_of(spec)
            effort = min(budget.simulations, SIMULATIONS_A_SECOND * budget.seconds) if budget else 0
            if effort * games > MOST_SEARCH:
                raise ValueError(f"games: with {spec} there may be at most {int(MOST_SEARCH / effort)}")
        deals = -(-games // len(agents))
        return {"agents": agents, "rules": rules.to_dict(), "seed": seed, "games": deals * len(agents)}

    def _check_room(self) -> None:
        if sum(not task.done() for task in self._tasks.values()) >= MOST_WAITING:
            raise Refused(503, f"{MOST_WAITING} batches are waiting already")

    # ------------------------------------------------------------------------------------------------------------ looking

    async def show(self, request: Request) -> Response:
        """How a batch stands, and the tables of the games so far."""
        name, batch = self._batch(request)
        games = self.store.counted(name)
        made = await asyncio.to_thread(_tables, games)
        return JSONResponse({**batch, "done": len(games), "tables": [dataclasses.asdict(table) for table in made]})

    async def csv(self, request: Request) -> Response:
        """One of the tables as comma-separated values."""
        name, _ = self._batch(request)
        made = await asyncio.to_thread(_tables, self.store.counted(name))
        found = next((table for table in made if table.name == request.path_params["table"]), None)
        if found is None:
            raise Refused(404, f"there is no such table; there are {', '.join(table.name for table in made) or 'none yet'}")
        headers = {"Content-Disposition": f'attachment; filename="{found.name}.csv"'}
        return Response(found.csv(), media_type="text/csv", headers=headers)

    def _batch(self, request: Request) -> tuple[str, Json]:
        """The name of a batch, and how it stands."""
        name = request.path_params["batch"]
        batch = self.store.batch(name)
        if batch is None:
            raise Refused(404, "there is no such batch")
        if batch["state"] == WAITING and not self._works_on(name):
            batch |= {"state": STOPPED, "trouble": "it was interrupted"}
        return name, batch

    def _works_on(self, name: str) -> bool:
        return name in self._tasks and not self._tasks[name].done()

    # ----------------------------------------------------------------------------------------------------------- steering

    async def stop(self, request: Request) -> Response:
        """Ends the work at a batch; the games that have ended stay."""
        await read_body(request, ())
        name, batch = self._batch(request)
        if batch["state"] == WAITING:
            self.store.set_batch(name, STOPPED)
            self._tasks.pop(name).cancel()
        return JSONResponse({})

    async def go_on(self, request: Request) -> Response:
        """Goes on with a batch that was stopped, or failed."""
        await read_body(request, ())
        name, batch = self._batch(request)
        if batch["state"] in (STOPPED, FAILED):
            self._check_room()
            self.store.set_batch(name, WAITING)
            self._begin(name)
        return JSONResponse({})

    async def delete(self, request: Request) -> Response:
        """Forgets a batch."""
        await read_body(request, ())
        name, _ = self._batch(request)
        self.store.delete_batch(name)
        if name in self._tasks:
            self._tasks.pop(name).cancel()
        return JSONResponse({})

    # ------------------------------------------------------------------------------------------------------------ playing

    def _begin(self, name: str) -> None:
        self._tasks = {key: task for key, task in self._tasks.items() if not task.done()}
        self._tasks[name] = asyncio.create_task(self._work(name))

    async def _work(self, name: str) -> None:
        """Plays the deals that are missing, one batch after the other."""
        try:
            async with self._turn:
                await self._play(name, self.store.batch(name) or {})
            self.store.set_batch(name, DONE)
        except Exception as error:  # an agent may raise anything
            with suppress(CannotSave):
                self.store.set_batch(name, FAILED, one_line(error))

    async def _play(self, name: str, batch: Json) -> None:
        agents, done = batch["agents"], self.store.count_counted(name)
        for spec in agents:
            await self.specs.check(spec)  # a server that was started again may allow others
        worker = Worker(_play_deal)
        try:
            while done < batch["games"]:
                worker.take((agents, batch["rules"], batch["seed"], done // len(agents)))
                while not worker.connection.poll():
                    await asyncio.sleep(LOOK_EVERY)
                answer = worker.answer()
                if answer is None:
                    raise RuntimeError("the process that played has died")
                self.store.add_counted(name, done, answer[0])
                done += len(agents)
        finally:
            worker.end()


def _play_deal(item: tuple[list[str], Json, int, int]) -> list[Json]:
    """What the process does."""
    agents, rules, seed, deal = item
    return [dataclasses.asdict(game) for game in play_deal(agents, Rules.from_dict(rules), seed, deal)]


def _count_all(records: list[Any]) -> list[Json]:
    """The counts of records.

    Raises:
        ValueError: there are none, or too many, or one cannot be counted; names it.
    """
    if not 1 <= len(records) <= MOST_GAMES:
        raise ValueError(f"records: must be 1 to {MOST_GAMES}, not {len(records)}")
    found = []
    for k, record in enumerate(records):
        try:
            found.append(dataclasses.asdict(count(record, deal=k)))
        except ValueError as error:
            raise ValueError(f"records[{k}]: {error}") from None
    return found


def _tables(games: list[Json]) -> list[StatisticsTable]:
    return tables([Counted(**game) for game in games])
