"""Statistics of many games over HTTP: games between agents, played one batch after the other, or records that are given.

A batch is found only by its name, which nobody can guess. Its games are played in a process of its own, a deal at a time, and
each deal is kept when it has ended: a server that starts again continues the waiting ones.
"""

from __future__ import annotations

import dataclasses
import secrets
from contextlib import suppress
from functools import partial
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from starlette.responses import JSONResponse, Response

from euphoria_agents.error_text import one_line
from euphoria_agents.study.statistics import Counted, StatisticsTable, count, play_deal, tables
from euphoria_agents.web import endpoints
from euphoria_agents.web.agent_permissions import Specs, budget_of
from euphoria_agents.web.endpoints import Asked, Body, Spec, Version
from euphoria_agents.web.game_registry import check_room
from euphoria_agents.web.jobs import Jobs, answer_of, started
from euphoria_agents.web.refusals import Refused
from euphoria_agents.web.server_limits import Limits
from euphoria_agents.web.store import HOST, CannotSave, Store
from euphoria_agents.web.turns import Turns, in_thread
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
        self.jobs = Jobs("batches", limits.waiting)
        self._processes = Turns(limits.processes.in_all, limits.processes.per_client)

    def resume(self) -> None:
        """Continues the batches that were waiting when the server ended."""
        for name, client in self.store.batches(WAITING):
            self._begin(name, client)

    async def find(self, name: str, _client: str) -> Json:
        """The state of a batch.

        Raises:
            Refused: there is none (404).
            Damaged: it cannot be read.
        """
        batch = await in_thread(lambda: self.store.batch(name))
        if batch is None:
            raise Refused(404, "there is no such batch")
        if batch["state"] == WAITING and not self.jobs.running(name):
            batch |= {"state": STOPPED, "trouble": "it was interrupted"}
        return batch

    # ------------------------------------------------------------------------------------------------------------- making

    async def make(self, asked: Asked) -> Response:
        """A batch of games to play, or of records."""
        body: NewBatch = asked.body
        await in_thread(lambda: check_room(self.store, self.limits, "batch", asked.client))
        name, tokens = secrets.token_hex(16), endpoints.new_tokens(HOST)
        if body.records is not None:
            games = await self._counted(body.records, asked.client)
            settings, state = {"agents": [], "games": len(games)}, DONE
        else:
            games, settings, state = [], await self._settings(body.agents or [], body, asked.client), WAITING
            self.jobs.check_room(asked.client)
        await in_thread(lambda: self.store.add_batch(name, asked.client, tokens, state, settings, games))
        if state == WAITING:
            self._begin(name, asked.client)
        return endpoints.give(JSONResponse({"id": name}, 201), "batch", name, tokens)

    async def _counted(self, records: list[str], client: str) -> list[Json]:
        """The counts of records.

        Raises:
            ValueError: one cannot be counted; names it.
        """
        async with self._processes.turn(client, self.limits.waiting.per_client), started(_count_all) as worker:
            games, fault = await answer_of(worker, records)
        if fault:
            raise ValueError(fault)
        return list(games)

    async def _settings(self, agents: list[str], body: NewBatch, client: str) -> Json:
        """The games to be played.

        Raises:
            ValueError: a wrong rule or agent, or too many games for it.
        """
        rules, games = Rules.from_dict({**body.rules, "num_players": len(agents)}), body.games or 1
        for spec in agents:
            await self.specs.check(spec, client)
            budget = budget_of(spec)
            effort = min(budget.simulations, SIMULATIONS_A_SECOND * budget.seconds * budget.threads) if budget else 0
            if effort * games > MOST_SEARCH:
                raise ValueError(f"games: with {spec} there may be at most {int(MOST_SEARCH / effort)}")
        deals = -(-games // len(agents))
        return {"agents": agents, "rules": rules.to_dict(), "seed": body.seed, "games": deals * len(agents)}

    # ------------------------------------------------------------------------------------------------------------ looking

    def show(self, asked: Asked) -> Json:
        """The state of a batch, and the tables of the games so far."""
        games = self.store.counted(asked.name)
        made = [dataclasses.asdict(table) for table in _tables(games)]
        return {**asked.thing, "host": asked.host, "done": len(games), "tables": made}

    def csv(self, asked: Asked) -> Response:
        """One of the tables as comma-separated values."""
        made = _tables(self.store.counted(asked.name))
        found = next((table for table in made if table.name == asked.request.path_params["table"]), None)
        if found is None:
            raise Refused(404, f"there is no such table; there are {', '.join(table.name for table in made) or 'none yet'}")
        headers = {"Content-Disposition": f'attachment; filename="{found.name}.csv"'}
        return Response(found.csv(), media_type="text/csv", headers=headers)

    # ----------------------------------------------------------------------------------------------------------- steering

    async def stop(self, asked: Asked) -> Json:
        """Ends the work at a batch; the games that have ended stay."""
        if asked.thing["state"] == WAITING:
            await in_thread(lambda: self.store.set_batch(asked.name, STOPPED))
            self.jobs.stop(asked.name)
        return {}

    async def go_on(self, asked: Asked) -> Json:
        """Continues a batch that was stopped, or failed."""
        if asked.thing["state"] in (STOPPED, FAILED):
            self.jobs.check_room(asked.client)
            await in_thread(lambda: self.store.set_batch(asked.name, WAITING))
            self._begin(asked.name, asked.client)
        return {}

    async def delete(self, asked: Asked) -> Json:
        """Forgets a batch."""
        await in_thread(lambda: self.store.delete("batch", asked.name))
        self.jobs.stop(asked.name)
        return {}

    # ------------------------------------------------------------------------------------------------------------ playing

    def _begin(self, name: str, client: str) -> None:
        self.jobs.begin(name, client, partial(self._work, name, client))

    async def _work(self, name: str, client: str) -> bool:
        """Plays the deals that are missing; whether none is missing any more, or they cannot be played."""
        try:
            if not await self._play(name, client):
                return False
            await in_thread(lambda: self.store.set_batch(name, DONE))
        except Exception as error:  # an agent may raise anything
            trouble = one_line(error)
            with suppress(CannotSave):
                await in_thread(lambda: self.store.set_batch(name, FAILED, trouble))
        return True

    async def _play(self, name: str, client: str) -> bool:
        batch, done = await in_thread(lambda: (self.store.batch(name) or {}, self.store.count_counted(name)))
        agents = batch["agents"]
        for spec in agents:
            await self.specs.check(spec, client)  # a server that was started again may allow others
        async with started(_play_deal) as worker:
            while done < batch["games"]:
                deal = await answer_of(worker, (agents, batch["rules"], batch["seed"], done // len(agents)))
                await in_thread(partial(self.store.add_counted, name, done, deal))
                done += len(agents)
                if self.jobs.must_yield(name):
                    return False
        return True


def _play_deal(item: tuple[list[str], Json, int, int]) -> list[Json]:
    """The work of the process."""
    agents, rules, seed, deal = item
    return [dataclasses.asdict(game) for game in play_deal(agents, Rules.from_dict(rules), seed, deal)]


def _count_all(records: list[str]) -> tuple[list[Json], str]:
    """The work of another process: the counts of records, and what is wrong with the first that cannot be counted."""
    found = []
    for k, record in enumerate(records):
        try:
            found.append(dataclasses.asdict(count(record, deal=k)))
        except ValueError as error:
            return [], f"records[{k}]: {error}"
    return found, ""


def _tables(games: list[Json]) -> list[StatisticsTable]:
    return tables([Counted(**game) for game in games])
