"""Loads and asks the agents of a server, fairly between clients."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from euphoria_agents.play import Agents, Session
from euphoria_agents.play.web.errors import Refused
from euphoria_agents.play.web.limits import Limit, Limits
from euphoria_agents.play.web.queueing import FairQueue, in_thread
from euphoria_agents.players.search.searcher import read_budget
from euphoria_agents.registry import fields_of
from euphoria_env.agent_protocol import AgentFailed

T = TypeVar("T")
MAX_SIMULATIONS, MAX_SECONDS = 10_000, 10.0  # the largest budgets of a decision
NICENESS = 10  # of threads in which agents think
ADVISER = "mcts:4000:ppo"  # gives hints; its budget is no time, so that the hint depends only on what the seat knows


class AgentService:
    """Asks the agents of a server: each agent one question at a time, and only a few agents at once.

    The pages offer the specs in `offered`, the default first; `pool` makes and keeps the agents.
    """

    def __init__(self, pool: Agents, offered: list[str], limits: Limits) -> None:
        self.pool, self.offered = pool, offered
        self._max_hints = limits.waiting.per_client
        self.thinking = FairQueue(limits.thinking)
        self._by_spec: dict[str, FairQueue] = {}

    async def ask(self, spec: str, client: str, question: Callable[[], T], most: int | None = None, seat: int = 0) -> T:
        """Runs `question`, which asks the agent of a seat, in a thread; stops the agent if the caller is cancelled.

        Raises `Refused` (503) if `most` questions of this client are already waiting for the agent.
        """
        queue = self._by_spec.setdefault(spec, FairQueue(Limit(1, 1)))
        try:
            async with queue.slot(client, most), self.thinking.slot(client):
                return await in_thread(partial(_nicely, question), partial(self.pool.stop, spec, seat))
        finally:
            if queue.idle:
                self._by_spec.pop(spec, None)

    async def check(self, spec: str, client: str = "") -> None:
        """Loads an agent; raises a `ValueError` if clients may not use it or it fails to load, `Refused` if its process fails."""
        if spec in self.pool:
            return
        if spec not in (*self.offered, *self.pool.allowed):
            check_budget(spec)
        try:
            await self.ask(spec, client, lambda: self.pool.check(spec))
        except AgentFailed as error:  # its message may be sent, since the agent has not seen a game yet
            raise Refused(503, str(error)) from None

    async def hint(self, session: Session, seat: int, spec: str, client: str) -> Any:
        """Returns an agent's opinion of the decision of a seat; raises what `check`, `ask` and `Session.hint` raise."""
        await self.check(spec, client)
        return await self.ask(spec, client, lambda: session.hint(seat, spec), self._max_hints, seat)


def check_budget(spec: str) -> None:
    """Raises a `ValueError` for a built-in agent whose budget is too large, or malformed."""
    fields = fields_of(spec)
    number = fields.get("BUDGET") or fields.get("SAMPLES")
    budget = read_budget(number) if number else None
    if budget is not None and budget.seconds > MAX_SECONDS and budget.simulations > MAX_SIMULATIONS:
        raise ValueError(f"agent {spec!r} thinks too long: at most {MAX_SIMULATIONS} simulations or {MAX_SECONDS:g} s")


def _nicely(question: Callable[[], T]) -> T:
    """Asks in a thread that lets those of requests go first, where threads have priorities of their own."""
    if sys.platform == "linux":
        os.nice(NICENESS)
    return question()
