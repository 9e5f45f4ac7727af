"""Statistics of many games over HTTP: games between agents, played one batch after the other, or records that are given.

A batch is found only by its name, which nobody can guess. Its games are played in a process of its own, a deal at a time, and
each deal is kept when it has ended: a server that starts again continues the waiting ones.
"""

from __future__ import annotations

import asyncio
import dataclasses
import secrets
from contextlib import suppress
from functools import partial
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from starlette.responses import JSONResponse, Response

from euphoria_agents.error_text import one_line
from euphoria_agents.matches.processes import Worker
from euphoria_agents.study.statistics import Counted, StatisticsTable, count, play_deal, tables
from euphoria_agents.web import endpoints
from euphoria_agents.web.agent_permissions import Specs, budget_of
from euphoria_agents.web.endpoints import Asked, Body, Spec, Version
from euphoria_agents.web.game_registry import check_room
from euphoria_agents.web.jobs import Jobs, answer_of, ended
from euphoria_agents.web.refusals import Refused
from euphoria_agents.web.server_limits import Limits
from euphoria_agents.web.store import HOST, CannotSave, Store
from euphoria_env import Rules
from euphoria_env.json_reader import Json

MOST_GAMES = 1_000
MOST_SEARCH = 200_000  # simulations per decision, times games
SIMULATIONS_A_SECOND = 5_000  # as which a budget of time counts
WAITING, DONE, STOPPED, FAILED = "waiting", "done", "stopped", "failed"


class NewBatch(Body):
    """Games for agents to play, or records of games."""

    agents: list[Spec] | None = None
    games: Annotated[int, Meta(ge=1, le=MOST_GAMES)] | None = None
    rules: dict[str, Any] = msgspec.field(default_factory=dict)
    seed: Version = msgspec.field(default_factory=lambda: secrets.randbits(32))
    records: Annotated[list[str], Meta(min_length=1, max_length=MOST_GAMES)] | None = None

    def __post_init__(self) -> None:
        if (self.records is None) == (self.agents is None):
            raise ValueError("a batch is made of agents or of records")
        if self.agents is not None and self.games is None:
            raise ValueError("games: say how many")


class Batches:
    """The endpoints of batches.

    Args:
        store: where they are kept.
        specs: the agents that may play.
        limits: how many there may be.

    Attributes:
        jobs: plays them; a batch whose job is ended from outside goes on waiting.
    """

    def __init__(self, store: Store, specs: Specs, limits: Limits) -> None:
        self.store = store
        self.specs = specs
        self.limits = limits
        self.jobs = Jobs("batches")

    def resume(self) -> None:
        """Continues the batches that were waiting when the server ended."""
        for name in self.store.batches(WAITING):
            self._begin(name)

    def find(self, name: str) -> Json:
        """The state of a batch.

        Raises:
            Refused: there is none (404).
        """
        batch = self.store.batch(name)
        if batch is None:
            raise Refused(404, "there is no such batch")
        if batch["state"] == WAITING and not self.jobs.running(name):
            batch |= {"state": STOPPED, "trouble": "it was interrupted"}
        return batch

    # ------------------------------------------------------------------------------------------------------------- making

    async def make(self, asked: Asked) -> Response:
        """A batch of games to play, or of records."""
        body: NewBatch = asked.body
        check_room(self.store, self.limits, "batch", asked.client)
        name, tokens = secrets.token_hex(16), endpoints.new_tokens(HOST)
        if body.records is not None:
            games = await asyncio.to_thread(_count_all, body.records)
            self.store.add_batch(name, asked.client, tokens, DONE, {"agents": [], "games": len(games)}, games)
        else:
            settings = await self._settings(body.agents or [], body)
            self.jobs.check_room()
            self.store.add_batch(name, asked.client, tokens, WAITING, settings, [])
            self._begin(name)
        return endpoints.give(JSONResponse({"id": name}, 201), "batch", name, tokens)

    async def _settings(self, agents: list[str], body: NewBatch) -> Json:
        """The games to be played.

        Raises:
            ValueError: a wrong rule or agent, or too many games for it.
        """
        rules, games = Rules.from_dict({**body.rules, "num_players": len(agents)}), body.games or 1
        for spec in agents:
            await self.specs.check(spec)
            budget = budget_of(spec)
            effort = min(budget.simulations, SIMULATIONS_A_SECOND * budget.seconds * budget.threads) if budget else 0
            if effort * games > MOST_SEARCH:
                raise ValueError(f"games: with {spec} there may be at most {int(MOST_SEARCH / effort)}")
        deals = -(-games // len(agents))
        return {"agents": agents, "rules": rules.to_dict(), "seed": body.seed, "games": deals * len(agents)}

    # ------------------------------------------------------------------------------------------------------------ looking

    async def show(self, asked: Asked) -> Json:
        """The state of a batch, and the tables of the games so far."""
        games = self.store.counted(asked.name)
        made = await asyncio.to_thread(_tables, games)
        return {**asked.thing, "host": asked.host, "done": len(games), "tables": [dataclasses.asdict(table) for table in made]}

    async def csv(self, asked: Asked) -> Response:
        """One of the tables as comma-separated values."""
        made = await asyncio.to_thread(_tables, self.store.counted(asked.name))
        found = next((table for table in made if table.name == asked.request.path_params["table"]), None)
        if found is None:
            raise Refused(404, f"there is no such table; there are {', '.join(table.name for table in made) or 'none yet'}")
        headers = {"Content-Disposition": f'attachment; filename="{found.name}.csv"'}
        return Response(found.csv(), media_type="text/csv", headers=headers)

    # ----------------------------------------------------------------------------------------------------------- steering

    async def stop(self, asked: Asked) -> Json:
        """Ends the work at a batch; the games that have ended stay."""
        if asked.thing["state"] == WAITING:
            self.store.set_batch(asked.name, STOPPED)
            self.jobs.stop(asked.name)
        return {}

    async def go_on(self, asked: Asked) -> Json:
        """Continues a batch that was stopped, or failed."""
        if asked.thing["state"] in (STOPPED, FAILED):
            self.jobs.check_room()
            self.store.set_batch(asked.name, WAITING)
            self._begin(asked.name)
        return {}

    async def delete(self, asked: Asked) -> Json:
        """Forgets a batch."""
        self.store.delete("batch", asked.name)
        self.jobs.stop(asked.name)
        return {}

    # ------------------------------------------------------------------------------------------------------------ playing

    def _begin(self, name: str) -> None:
        self.jobs.begin(name, partial(self._work, name))

    async def _work(self, name: str) -> None:
        """Plays the deals that are missing."""
        try:
            await self._play(name, self.store.batch(name) or {})
            self.store.set_batch(name, DONE)
        except Exception as error:  # an agent may raise anything
            with suppress(CannotSave):
                self.store.set_batch(name, FAILED, one_line(error))

    async def _play(self, name: str, batch: Json) -> None:
        agents, done = batch["agents"], self.store.count_counted(name)
        for spec in agents:
            await self.specs.check(spec)  # a server that was started again may allow others
        with ended(Worker(_play_deal)) as worker:
            while done < batch["games"]:
                deal = await answer_of(worker, (agents, batch["rules"], batch["seed"], done // len(agents)))
                self.store.add_counted(name, done, deal)
                done += len(agents)


def _play_deal(item: tuple[list[str], Json, int, int]) -> list[Json]:
    """The work of the process."""
    agents, rules, seed, deal = item
    return [dataclasses.asdict(game) for game in play_deal(agents, Rules.from_dict(rules), seed, deal)]


def _count_all(records: list[str]) -> list[Json]:
    """The counts of records.

    Raises:
        ValueError: one cannot be counted; names it.
    """
    found = []
    for k, record in enumerate(records):
        try:
            found.append(dataclasses.asdict(count(record, deal=k)))
        except ValueError as error:
            raise ValueError(f"records[{k}]: {error}") from None
    return found


def _tables(games: list[Json]) -> list[StatisticsTable]:
    return tables([Counted(**game) for game in games])
