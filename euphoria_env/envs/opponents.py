"""The players of the seats that do not learn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from euphoria_env.envs.asking import Player
from euphoria_env.json_reader import read_array

_ROUNDING = 1e-8  # how far off 1 the sum of chances may be; numpy draws by no others


def as_agent(opponent: Any) -> Player:
    """An agent as it is, or from a spec; the agents are imported late, since they need the environment.

    Raises:
        ValueError: neither an object with `act` nor the spec of an agent.
    """
    if isinstance(opponent, str):
        loaded: Player = import_module("euphoria_agents").load(opponent)
        return loaded
    if not callable(getattr(opponent, "act", None)):
        raise ValueError(f"an opponent must be an object with `act`, or a text such as 'weights', not {opponent!r}")
    checked: Player = opponent
    return checked


def seat_number(seat: Any, players: int) -> int | None:
    """The learner's seat; None if it is drawn for each game.

    Raises:
        ValueError: neither a seat nor "random".
    """
    if seat == "random":
        return None
    if isinstance(seat, bool) or not isinstance(seat, int | np.integer) or not 0 <= seat < players:
        raise ValueError(f"seat must be an integer from 0 to {players - 1} or 'random', not {seat!r}")
    return int(seat)


class Opponents:
    """The player of each seat in many games, fixed from the start of a game to its end.

    Args:
        games: how many.
        players: how many seats a game has.
        opponents: as for `set`.
        pool: as for `set`.

    Attributes:
        agents: those who play or may be drawn.
    """

    def __init__(self, games: int, players: int, opponents: Any, pool: Sequence[Any] | None = None) -> None:
        self._players = players
        self.agents: list[Player] = []
        self._sitting = np.zeros((games, players), np.int64)  # by game and seat, an index of agents; the learner's means nothing
        self.set(opponents, pool)

    def set(
        self,
        opponents: Any = "weights",
        pool: Sequence[Any] | None = None,
        chances: Sequence[float] | None = None,
        same_opponent_prob: float = 0.0,
    ) -> None:
        """Chooses the opponents of the games that begin from now on; those under way end as they began.

        Args:
            opponents: an agent or a text for all seats, or a list of them in turn order after the learner.
            pool: instead of `opponents`: each seat is drawn from these for every game.
            chances: the probabilities of the pool; None: all the same.
            same_opponent_prob: in this share of the games one draw from the pool serves all seats.

        Raises:
            ValueError: neither an agent nor a text, an empty pool, not one opponent for each other seat, or chances that are
                no probabilities of the pool.
        """
        others = self._players - 1
        if pool is not None:
            if isinstance(pool, str) or not isinstance(pool, Sequence):
                raise ValueError(f"pool must be a list of opponents, not {pool!r}")
            chosen = list(pool)
            if not chosen:
                raise ValueError("pool must have at least one opponent")
        elif isinstance(opponents, Sequence) and not isinstance(opponents, str):
            chosen = list(opponents)
            if len(chosen) != others:
                raise ValueError(f"opponents must be one, or a list of {others}, not of {len(chosen)}")
        else:
            chosen = [opponents] * others
        if not 0.0 <= same_opponent_prob <= 1.0:
            raise ValueError(f"same_opponent_prob must be a share from 0 to 1, not {same_opponent_prob!r}")
        texts = {one: as_agent(one) for one in chosen if isinstance(one, str)}
        agents = [texts[one] if isinstance(one, str) else as_agent(one) for one in chosen]
        shares = np.full(len(agents), 1 / len(agents)) if chances is None else np.array(chances, np.float64)
        if shares.shape != (len(agents),) or (shares < 0).any() or not abs(shares.sum() - 1) < _ROUNDING:
            raise ValueError(f"chances must be {len(agents)} probabilities, not {chances!r}")
        self._forget()
        self._next = np.array([self._index(agent) for agent in agents])
        self._drawn, self._same_opponent_prob, self._chances = pool is not None, same_opponent_prob, shares

    def state(self) -> dict[str, np.ndarray]:
        """The seating and the pool, as arrays for `restore`; numbers are those of `agents`."""
        draws = {"drawn": np.array(self._drawn), "same_opponent_prob": np.array(self._same_opponent_prob, np.float64)}
        return {"sitting": self._sitting.copy(), "next": self._next.copy(), "chances": self._chances.copy(), **draws}

    def restore(self, state: Mapping[str, np.ndarray], agents: Sequence[Player]) -> None:
        """Continues from where `state` was taken.

        Raises:
            ValueError: it does not fit these games and agents.
        """
        drawn = bool(read_array(state, "drawn", (), np.bool_))
        same_opponent_prob = float(read_array(state, "same_opponent_prob", (), np.float64, 0, 1))
        seats = np.size(state.get("next", ())) if drawn else self._players - 1
        last = len(agents) - 1
        following = read_array(state, "next", (seats,), np.int64, 0, last)
        sitting = read_array(state, "sitting", self._sitting.shape, np.int64, 0, last)
        chances = read_array(state, "chances", (seats,), np.float64, 0, 1)
        if not abs(chances.sum() - 1) < _ROUNDING:
            raise ValueError("chances: do not add up to 1")
        self.agents = list(agents)
        self._sitting[:], self._next, self._chances = sitting, following.copy(), chances.copy()
        self._drawn, self._same_opponent_prob = drawn, same_opponent_prob

    def _forget(self) -> None:
        """Lets go of the agents that play no game any more."""
        if self.agents:
            used, sitting = np.unique(self._sitting, return_inverse=True)
            self.agents = [self.agents[k] for k in used]
            self._sitting = sitting.reshape(self._sitting.shape)

    def _index(self, agent: Player) -> int:
        for k, known in enumerate(self.agents):
            if known is agent:
                return k
        self.agents.append(agent)
        return len(self.agents) - 1

    def sit_down(self, games: np.ndarray, seats: np.ndarray, rng: np.random.Generator) -> None:
        """Seats the opponents of games that begin, around the seats of their learners."""
        if self._drawn:
            drawn = rng.choice(self._next, (len(games), self._players), p=self._chances)
            same_opponent_prob = rng.random(len(games)) < self._same_opponent_prob
            drawn[same_opponent_prob] = drawn[same_opponent_prob, :1]
            self._sitting[games] = drawn
        else:
            after = (np.arange(self._players) - seats[:, None]) % self._players  # the learner: 0
            self._sitting[games] = self._next[after - 1]

    def at(self, game: int) -> list[Player]:
        """The players of a game by seat; the one at the learner's seat is never asked."""
        return [self.agents[k] for k in self._sitting[game]]

    def asked(self, games: np.ndarray, seats: np.ndarray) -> Iterator[tuple[Player, np.ndarray]]:
        """The agents at these seats of these games, each with its games."""
        if len(self.agents) == 1:
            yield self.agents[0], games
            return
        who = self._sitting[games, seats]
        (present,) = np.bincount(who).nonzero()
        for k in present.tolist():
            yield self.agents[k], games if len(present) == 1 else games[who == k]
