"""Which agents may be asked for over HTTP."""

from __future__ import annotations

from typing import Any

from euphoria_agents.players.search.searcher import Budget, read_budget
from euphoria_agents.sessions import Agents
from euphoria_agents.web.game_registry import AgentExecutor
from euphoria_agents.web.refusals import Refused
from euphoria_env.json_reader import Reader

MOST_SIMULATIONS, MOST_SECONDS = 10_000, 10.0  # a decision
MOST_SPECS = 16  # each takes memory


class Specs:
    """The agents of a server.

    Args:
        offered: those that the forms offer; the first one plays on for people who leave, and gives hints.
        agents: where they come from; it knows those of somebody's own, with which the server was started.
        executor: where they are loaded.
    """

    def __init__(self, offered: list[str], agents: Agents, executor: AgentExecutor) -> None:
        self.offered = offered
        self._agents = agents
        self._thinkers = executor
        self._known: set[str] = set()

    async def check(self, spec: str) -> None:
        """Loads an agent if it may be asked for, in a thread: the first time may take seconds.

        Raises:
            ValueError: it may not, or cannot be loaded.
            Refused: there are too many different ones, or it takes too long (503).
        """
        if spec in self._known:
            return
        if spec not in (*self.offered, *self._agents.allowed):
            _check_budget(spec)
            if len(self._known) >= MOST_SPECS:
                raise Refused(503, f"this server plays {MOST_SPECS} different agents, and has as many")
        try:
            await self._thinkers.think(spec, lambda: self._agents.check(spec), kind="load")
        except TimeoutError as error:
            raise Refused(503, str(error)) from None
        self._known.add(spec)


def read_spec(key: str, value: Any) -> str | None:
    """A spec, or None for a person.

    Raises:
        ValueError: it is neither.
    """
    if value is None:
        return None
    spec = Reader().text(key, value)
    if not 1 <= len(spec) <= 100 or not spec.isprintable():
        raise ValueError(f"{key}: must be an agent such as ppo, or null for a person")
    return spec


def _check_budget(spec: str) -> None:
    """Refuses a built-in agent that would think for too long.

    Raises:
        ValueError: its budget is too big, or none.
    """
    budget = budget_of(spec)
    if budget is not None and budget.seconds > MOST_SECONDS and budget.simulations > MOST_SIMULATIONS:
        raise ValueError(f"agent {spec!r} thinks too long: at most {MOST_SIMULATIONS} simulations or {MOST_SECONDS:g} s")


def budget_of(spec: str) -> Budget | None:
    """How much a built-in agent searches for a decision; None for others, and for those that take what they need.

    Raises:
        ValueError: it says a budget that is none.
    """
    kind, _, rest = spec.partition(":")
    number = rest.partition(":")[0]
    return read_budget(number) if kind in ("mcts", "boardspace", "greedy") and number else None
