"""Makes the players of matches: agents of this project once, all others in processes, none of which gets a deal twice."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from euphoria_agents.agent import Agent
from euphoria_agents.agent_process import FIRST_SECONDS, AgentProcess
from euphoria_agents.registry import is_builtin, load
from euphoria_env.agent_protocol import keeps_games_apart
from euphoria_env.derived_seeds import stretched

MOST_IDLE = 16  # the processes that are kept, if the present match needs no more

Kind = tuple[str, float | None]  # a spec, and the limit for a decision
Cast = list[list[Agent]]  # the agents of a line-up by place, for each rotation around the table


def seed_for(agents: Iterable[Agent], seed: Any) -> Any:
    """Returns the seed of the games of these agents: one that nobody finds by trying, unless all keep games apart."""
    return seed if all(map(keeps_games_apart, agents)) else int.from_bytes(stretched(seed))


class _Process(NamedTuple):
    """A process of an agent that may remember games, and the deals that it got."""

    kind: Kind
    agent: Agent
    deals: set[Hashable]


class Players:
    """Agents by spec, which are kept from match to match.

    An agent of this project is made once: it keeps games apart (`agent_protocol.keeps_games_apart`), or asks a server that may
    remember them, whoever asks. Any other plays in processes: one for each of its seats of a deal, over all games of this deal.
    """

    def __init__(self) -> None:
        self._shared: dict[Kind, Agent] = {}
        self._processes: list[_Process] = []  # the most recently used ones are the last

    def player(self, spec: str, limit: float | None = None) -> Agent:
        """Returns an agent of a spec: a built-in one if there is no limit, otherwise an `AgentProcess`; raises what they raise.

        `limit` is that of a decision after the first one, in seconds; None: `FIRST_SECONDS`, as for the first one.
        """
        kind = spec, limit
        if kind in self._shared:
            return self._shared[kind]
        return next((one.agent for one in self._processes if one.kind == kind), None) or self._made(kind)

    def cast(self, lineup: Sequence[Agent | str], deals: Hashable, limit: float | None = None) -> Cast:
        """Returns the agents for the games of some deals, each of which is played in every rotation; made as by `player`.

        Args:
            lineup: agents, which play in all rotations, or specs.
            deals: names these deals, so that no process gets them twice.
            limit: of the first agent, if it is a spec.
        """
        kinds = [(one, None if place else limit) if isinstance(one, str) else None for place, one in enumerate(lineup)]
        seats = self.seats({kind: len(lineup) * kinds.count(kind) for kind in kinds if kind}, deals)
        return [[seats[kind].pop() if kind else one for kind, one in zip(kinds, lineup, strict=True)] for _ in lineup]  # type: ignore[misc]

    def seats(self, numbers: Mapping[Kind, int], deals: Hashable) -> dict[Kind, list[Agent]]:
        """Returns an agent for each seat in some deals, by spec and limit, given how many seats each has."""
        found = {kind: self._seats(kind, number, deals) for kind, number in numbers.items()}
        while len(self._processes) > max(MOST_IDLE, sum(numbers.values())):
            self._processes.pop(0).agent.close()  # type: ignore[attr-defined]
        return found

    def _seats(self, kind: Kind, number: int, deals: Hashable) -> list[Agent]:
        first = self.player(*kind)
        if is_builtin(kind[0]):
            return [first] * number
        free = [one for one in self._processes if one.kind == kind and deals not in one.deals][:number]
        self._processes = [one for one in self._processes if one not in free] + free  # those of this match are the last
        for _ in range(number - len(free)):
            self._made(kind)
        used = self._processes[-number:]
        for one in used:
            one.deals.add(deals)
        return [one.agent for one in used]

    def _made(self, kind: Kind) -> Agent:
        """Makes an agent and keeps it."""
        spec, limit = kind
        if limit is None and is_builtin(spec):
            agent = load(spec)
        else:
            agent = AgentProcess(spec, FIRST_SECONDS, limit or FIRST_SECONDS)
        if is_builtin(spec):
            self._shared[kind] = agent
        else:
            self._processes.append(_Process(kind, agent, set()))
        return agent

    def processes(self, specs: Collection[str]) -> list[AgentProcess]:
        """Returns the processes of the agents of these specs that are not of this project."""
        agents = [*self._shared.values(), *(one.agent for one in self._processes)]
        return [one for one in agents if isinstance(one, AgentProcess) and one.name in specs and not is_builtin(one.name)]

    def close(self) -> None:
        """Ends all processes, and forgets all agents."""
        agents = [*self._shared.values(), *(one.agent for one in self._processes)]
        self._shared, self._processes = {}, []
        for agent in agents:
            if isinstance(agent, AgentProcess):
                agent.close()
