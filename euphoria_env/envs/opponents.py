"""The players of the seats that do not learn."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from euphoria_env.agent_protocol import LEARNER, Player, games_by_agent, keeps_games_apart, most_events, separated
from euphoria_env.derived_seeds import derived_generator, stretched
from euphoria_env.json_reader import Reader, shown

_LARGEST_WEIGHT = 1e9


def as_agent(opponent: Any) -> Player:
    """Returns an agent as it is, or loaded from a spec; raises a `ValueError` if it is neither of the two."""
    if isinstance(opponent, str):
        return import_module("euphoria_agents").load(opponent)
    if not callable(getattr(opponent, "act", None)):
        raise ValueError(f"an opponent must be an object with `act`, or a text such as 'weights', not {opponent!r}")
    return opponent


def _compiled(agents: Sequence[Player]) -> Any:
    """Returns the agents as compiled code plays them (`Player.compiled`); None if all choose in Python."""
    # Others may name any module, which would get all hidden cards, and a subclass may have another `act`.
    modules = (type(agent).__dict__.get("compiled") for agent in agents if keeps_games_apart(agent))
    module = next(filter(None, modules), None)
    return module and import_module(module).line_up(agents)


def _mixture(opponents: Any, pool: Any) -> list[tuple[Any, Any]] | None:
    """Returns the opponents that are drawn, each with its weight; None if every seat has its own."""
    if pool is not None:
        if isinstance(pool, str) or not isinstance(pool, Sequence):
            raise ValueError(f"pool must be a list of opponents, not {pool!r}")
        return [(one, 1) for one in pool]
    if isinstance(opponents, Mapping):
        return list(opponents.items())
    pairs = isinstance(opponents, list | tuple) and all(isinstance(one, tuple) and len(one) == 2 for one in opponents)
    return list(opponents) if pairs and opponents else None


def _probabilities(name: str, mixture: list[tuple[Any, Any]]) -> np.ndarray:
    """Returns the probability of each opponent of a mixture."""
    if not mixture:
        raise ValueError(f"{name} must have at least one opponent")
    weights = np.zeros(len(mixture))
    for k, (opponent, weight) in enumerate(mixture):
        number = weight.item() if isinstance(weight, np.generic) else weight
        weights[k] = Reader().number(f"the weight of {shown(opponent)}", number, 0, _LARGEST_WEIGHT)
    if not weights.any():
        raise ValueError(f"{name} must have an opponent with a weight above 0")
    return weights / weights.sum()


def _loaded(line_up: Sequence[Any], known: dict[str, Player]) -> list[Player]:
    """Returns the agents of a line-up; `known` has those of specs that keep games apart, and so are loaded once."""
    agents = []
    for one in line_up:
        agent = known[one] if isinstance(one, str) and one in known else as_agent(one)
        if isinstance(one, str) and keeps_games_apart(agent):
            known[one] = agent
        agents.append(agent)
    return separated(agents)


class Opponents:
    """The players of many games by seat, each fixed from the start of a game to its end.

    An agent that may remember games (`keeps_games_apart`) never has two seats of one: a spec is loaded, and an object copied, for
    each seat after the learner's.

    Args:
        players: the number of seats in a game; with games of different sizes, the largest.
        opponents, pool: as for `set`.
    """

    def __init__(self, games: int, players: int, opponents: Any, pool: Sequence[Any] | None = None) -> None:
        self._players = players
        self.agents: list[Player] = []  # the agents that play or may be drawn
        self.learners = np.zeros(games, LEARNER)  # the learners of the games and their opponents
        self.set(opponents, pool)

    def set(self, opponents: Any = "weights", pool: Sequence[Any] | None = None) -> None:
        """Chooses the opponents of the games that begin from now on; running games keep theirs.

        Args:
            opponents: an agent or a spec for all seats, or a list of them in turn order after the learner, of which a game with
                fewer seats takes the first; or a mixture, from which each seat of each game is drawn: a dict from agent or spec
                to weight, or a list of pairs (agent or spec, weight).
            pool: instead of `opponents`: a list, the mixture in which all have the same weight.

        Raises:
            ValueError: something is neither agent nor spec, or cannot be copied, there is not one opponent for each other seat,
                or a weight is not a number from 0 to 10^9, or none is above 0.
        """
        others = self._players - 1
        probabilities, mixture = None, _mixture(opponents, pool)
        if mixture is not None:
            probabilities = _probabilities("opponents" if pool is None else "pool", mixture)
            rows = [[one] * others for one, _ in mixture]
        elif isinstance(opponents, Sequence) and not isinstance(opponents, str):
            rows = [list(opponents)]
            if len(opponents) != others:
                allowed = f"one, a list of {others}, or a mixture (a dict or pairs, with weights)"
                raise ValueError(f"opponents must be {allowed}, not a list of {len(opponents)}")
        else:
            rows = [[opponents] * others]
        known: dict[str, Player] = {}
        seated = [_loaded(row, known) for row in rows]
        most_events(itertools.chain(*seated))  # refuses impossible numbers
        self._forget_unused()
        self._next, self._probabilities = np.array([[self._index(agent) for agent in row] for row in seated]), probabilities
        self.compiled = _compiled(self.agents)  # as compiled code plays them (`Player.compiled`); None if all choose in Python

    @property
    def most_events(self) -> int:
        """The most events that an opponent needs."""
        return most_events(self.agents)

    @property
    def _seated(self) -> np.ndarray:
        """int64 (N, players), indices of `agents`; the one at the learner's seat is not used."""
        return self.learners["agents"][:, : self._players]

    def _forget_unused(self) -> None:
        """Removes the agents that no longer play in any game."""
        if self.agents:
            used, seated = np.unique(self._seated, return_inverse=True)
            self.agents = [self.agents[k] for k in used]
            self._seated[:] = seated.reshape(self._seated.shape)

    def _index(self, agent: Player) -> int:
        """Returns the index of an agent in `agents`, to which it is added if it is new."""
        for k, known in enumerate(self.agents):
            if known is agent:
                return k
        self.agents.append(agent)
        return len(self.agents) - 1

    def seat(
        self, games: np.ndarray, seats: np.ndarray, players: np.ndarray, draw: Callable[[tuple[int, int]], np.ndarray]
    ) -> None:
        """Assigns opponents to the seats of games that begin.

        Args:
            games, seats, players: int64 (K,): the games, the seats of their learners, and their numbers of players.
            draw: returns random numbers from [0, 1) of a shape (K, seats), by which a mixture's opponents are drawn.
        """
        self.learners["seat"][games] = seats
        after, row = (np.arange(self._players) - seats[:, None]) % players[:, None], np.array(0)  # seats after the learner
        if self._probabilities is not None:
            row = self._probabilities.cumsum()[:-1].searchsorted(draw(after.shape), "right")
        self._seated[games] = self._next[row, after - 1]

    def key(self, seed: int | None) -> bytes:
        """Returns the key for what agents get in games of this seed: empty if all are of this project (`keeps_games_apart`)."""
        return b"" if all(map(keeps_games_apart, self.agents)) else stretched(seed)

    def seed(self, rng: np.random.Generator, games: Any = slice(None)) -> None:
        """Seeds the generators of compiled opponents in games, from which nobody can compute the state of `rng` (R19)."""
        self.learners["generator"][games] = derived_generator(rng).integers(1, 2**29, (len(self.learners), 2))[games]

    def at(self, game: int, asked: bool = False) -> list[Any]:
        """Returns the players of a game by seat, a placeholder at the learner's; if `asked`, None for those in compiled code."""
        compiled = np.zeros(len(self.agents), np.bool_) if not asked or self.compiled is None else ~self.compiled.asked
        return [None if compiled[k] else self.agents[k] for k in self._seated[game]]

    def deciding(self, games: np.ndarray, seats: np.ndarray) -> Iterator[tuple[Player, np.ndarray]]:
        """Yields the agents in Python at these seats of these games, each with its games."""
        numbers = self._seated[games, seats]
        if self.compiled is not None:
            asked = self.compiled.asked[numbers]
            games, numbers = games[asked], numbers[asked]
        yield from games_by_agent(self.agents, numbers, games)
