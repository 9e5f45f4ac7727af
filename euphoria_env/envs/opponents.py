"""The players of the seats that do not learn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from euphoria_env.agent_protocol import Player, games_by_agent


def as_agent(opponent: Any) -> Player:
    """Returns an agent as it is, or loaded from a spec; `euphoria_agents` is imported late, since it needs the environment.

    Raises:
        ValueError: the argument is neither an object with `act` nor the spec of an agent.
    """
    if isinstance(opponent, str):
        loaded: Player = import_module("euphoria_agents").load(opponent)
        return loaded
    if not callable(getattr(opponent, "act", None)):
        raise ValueError(f"an opponent must be an object with `act`, or a text such as 'weights', not {opponent!r}")
    checked: Player = opponent
    return checked


class Opponents:
    """The players of many games by seat, each fixed from the start of a game to its end.

    Args:
        games: the number of games.
        players: the number of seats in a game.
        opponents, pool: as for `set`.

    Attributes:
        agents: the agents that play or may be drawn.
    """

    def __init__(self, games: int, players: int, opponents: Any, pool: Sequence[Any] | None = None) -> None:
        self._players = players
        self.agents: list[Player] = []
        self._seated = np.zeros((games, players), np.int64)  # indices of `agents`; the one at the learner's seat is not used
        self.set(opponents, pool)

    def set(self, opponents: Any = "weights", pool: Sequence[Any] | None = None) -> None:
        """Chooses the opponents of the games that begin from now on; running games keep theirs.

        Args:
            opponents: an agent or a spec for all seats, or a list of them in turn order after the learner.
            pool: instead of `opponents`: the agents or specs from which each seat of each game is drawn.

        Raises:
            ValueError: something is neither agent nor spec, the pool is empty, or there is not one opponent for each other seat.
        """
        others = self._players - 1
        if pool is not None:
            if isinstance(pool, str) or not isinstance(pool, Sequence):
                raise ValueError(f"pool must be a list of opponents, not {pool!r}")
            if not pool:
                raise ValueError("pool must have at least one opponent")
            chosen = list(pool)
        elif isinstance(opponents, Sequence) and not isinstance(opponents, str):
            chosen = list(opponents)
            if len(chosen) != others:
                raise ValueError(f"opponents must be one, or a list of {others}, not of {len(chosen)}")
        else:
            chosen = [opponents] * others
        loaded = {one: as_agent(one) for one in chosen if isinstance(one, str)}
        agents = [loaded[one] if isinstance(one, str) else as_agent(one) for one in chosen]
        self._forget_unused()
        self._next, self._drawn = np.array([self._index(agent) for agent in agents]), pool is not None

    def _forget_unused(self) -> None:
        """Removes the agents that no longer play in any game."""
        if self.agents:
            used, seated = np.unique(self._seated, return_inverse=True)
            self.agents = [self.agents[k] for k in used]
            self._seated = seated.reshape(self._seated.shape)

    def _index(self, agent: Player) -> int:
        """Returns the index of an agent in `agents`, to which it is added if it is new."""
        for k, known in enumerate(self.agents):
            if known is agent:
                return k
        self.agents.append(agent)
        return len(self.agents) - 1

    def seat(self, games: np.ndarray, seats: np.ndarray, rng: np.random.Generator) -> None:
        """Assigns opponents to the seats of games that begin; `seats` are the seats of the learners."""
        if self._drawn:
            alike = np.full(len(self._next), 1 / len(self._next))
            self._seated[games] = rng.choice(self._next, (len(games), self._players), p=alike)
            rng.random(len(games))  # earlier versions drew these numbers; a seed must still give the same games
        else:
            after = (np.arange(self._players) - seats[:, None]) % self._players  # seats after the learner
            self._seated[games] = self._next[after - 1]

    def at(self, game: int) -> list[Player]:
        """Returns the players of a game by seat; the one at the learner's seat is a placeholder."""
        return [self.agents[k] for k in self._seated[game]]

    def deciding(self, games: np.ndarray, seats: np.ndarray) -> Iterator[tuple[Player, np.ndarray]]:
        """Yields the agents at these seats of these games, each with its games."""
        if len(self.agents) == 1:
            yield self.agents[0], games
        else:
            yield from games_by_agent(self.agents, self._seated[games, seats], games)
