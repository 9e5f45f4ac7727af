"""Decides which agents may be requested over HTTP."""

from __future__ import annotations

from typing import Any

from euphoria_agents.play import Agents, Session
from euphoria_agents.play.web.game_registry import AgentExecutor
from euphoria_agents.play.web.refusals import Refused
from euphoria_agents.players.search.searcher import read_budget
from euphoria_env.envs.asking import AgentFailed

MOST_SIMULATIONS, MOST_SECONDS = 10_000, 10.0  # per decision


class Specs:
    """The agents of a server.

    Args:
        offered: those that the forms offer; the first one plays on for people who leave.
        agents: where they come from; it knows those of somebody's own, with which the server was started.
        executor: where they are loaded, and think.
        most: how many hints of one agent may wait for one client.

    Attributes:
        adviser: gives hints unless another one is asked for.
    """

    adviser = "mcts:4000:ppo"  # a tenth of a second; by a number of simulations, as equal knowledge must give equal hints

    def __init__(self, offered: list[str], agents: Agents, executor: AgentExecutor, most: int) -> None:
        self.offered = offered
        self._most = most
        self._agents = agents
        self._executor = executor

    async def check(self, spec: str, client: str = "") -> None:
        """Loads an agent for a client, if it may be asked for, in a thread: the first time may take seconds.

        Raises:
            ValueError: it may not, or cannot be loaded.
            Refused: its process fails (503).
        """
        if spec in self._agents:
            return
        if spec not in (*self.offered, *self._agents.allowed):
            _check_budget(spec)
        try:
            await self._executor.think(spec, client, lambda: self._agents.check(spec))
        except AgentFailed as error:  # it has seen nothing yet that it could tell
            raise Refused(503, str(error)) from None

    async def hint(self, session: Session, seat: int, spec: str, client: str, decision: int | None = None) -> Any:
        """An agent's opinion of the decision of a seat, for a client; raises as `check` and `Session.hint`.

        Raises:
            Refused: too many hints of this agent wait for the same client (503).
        """
        await self.check(spec, client)
        return await self._executor.think(spec, client, lambda: session.hint(seat, spec, decision), self._most)


def _check_budget(spec: str) -> None:
    """Refuses a built-in agent that would think for too long.

    Raises:
        ValueError: its budget is too big, or none.
    """
    kind, _, rest = spec.partition(":")
    number = rest.partition(":")[0]
    budget = read_budget(number) if kind in ("mcts", "boardspace", "greedy") and number else None
    if budget is not None and budget.seconds * budget.threads > MOST_SECONDS and budget.simulations > MOST_SIMULATIONS:
        raise ValueError(
            f"agent {spec!r} thinks too long: at most {MOST_SIMULATIONS} simulations or {MOST_SECONDS:g} s of all threads"
        )
