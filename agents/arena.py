"""Games between agents: every line-up plays from every seat, and win rates come with intervals."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from agents.base import Agent
from euphoria_env import Batch, Rules

TABLES = 64  # games played side by side, so that agents answer many decisions at once
Z_95 = 1.959964  # two-sided 95 %


def wilson(wins: int, games: int, z: float = Z_95) -> tuple[float, float]:
    """Wilson's confidence interval of a rate; (0, 1) without games."""
    if games == 0:
        return 0.0, 1.0
    rate, zz = wins / games, z * z / games
    middle = (rate + zz / 2) / (1 + zz)
    half = z / (1 + zz) * math.sqrt(rate * (1 - rate) / games + zz / (4 * games))
    return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(frozen=True)
class Score:
    """How one agent of a line-up did.

    Attributes:
        wins: games won; a truncated game is won by nobody.
        games: games played, truncated ones included.
        mean_rank: 1 is best.
    """

    wins: int
    games: int
    mean_rank: float

    @property
    def rate(self) -> float:
        """The share of games won."""
        return self.wins / max(1, self.games)

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the rate."""
        return wilson(self.wins, self.games)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.rate:.1%} ({low:.1%} to {high:.1%})"


@dataclass(frozen=True)
class Result:
    """What came of a match.

    Attributes:
        scores: one for each agent of the line-up, in its order.
        games: games played.
        truncated: how many of them were cut off.
        decisions: decisions of all agents together, in the games that count.
        seconds: how long it took.
    """

    scores: list[Score]
    games: int
    truncated: int
    decisions: int
    seconds: float


def play_match(
    agents: Sequence[Agent],
    games: int,
    rules: Rules | None = None,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Result:
    """Plays a number of games between the agents of a line-up; the seats rotate from game to game.

    Every table plays a number of games that is fixed beforehand, so that short games count no more than long ones.

    Args:
        agents: one for each player; the same object may sit on several seats.
        games: how many; a multiple of the number of players gives everybody every seat about equally often.
        rules: the options; the default are those of as many players as there are agents.
        seed: equal seeds give equal matches.
        progress: called when games have ended, with their number.

    Raises:
        ValueError: there are not as many agents as players, or no games.
    """
    rules = Rules(num_players=len(agents)) if rules is None else rules
    if rules.num_players != len(agents):
        raise ValueError(f"a game of {rules.num_players} needs as many agents, not {len(agents)}")
    if games < 1:
        raise ValueError(f"games must be a positive integer, not {games}")
    start = time.perf_counter()
    match = _Match(agents, games, rules, seed)
    while match.left.any():
        ended = match.step()
        if ended and progress is not None:
            progress(ended)
    scores = [Score(int(w), games, float(r) / games) for w, r in zip(match.wins, match.ranks, strict=True)]
    return Result(scores, games, match.truncated, match.decisions, time.perf_counter() - start)


class _Match:
    """The tables of a match, who sits where, and what came of it so far.

    Attributes:
        left: (tables,), games still to play at each.
        seats: (tables, seats), the place in the line-up of who sits there.
    """

    def __init__(self, agents: Sequence[Agent], games: int, rules: Rules, seed: int) -> None:
        tables, n = min(TABLES, games), len(agents)
        self.agents = agents
        self.rng = np.random.default_rng(seed)
        self.batch = Batch(tables, rules, seed=seed, reward="win")
        self.left = games // tables + (np.arange(tables) < games % tables)
        self.seats = (np.arange(n) + np.arange(tables)[:, None]) % n
        self.wins, self.ranks = np.zeros(n, np.int64), np.zeros(n, np.int64)
        self.truncated = self.decisions = 0

    def step(self) -> int:
        """Plays one decision at every table; how many games that count have ended."""
        batch = self.batch
        counting = self.left > 0
        moves = batch.mask.argmax(axis=1)  # where nothing counts any more, any move
        deciders = self.seats[np.arange(len(moves)), batch.player]
        by_agent: dict[int, list[int]] = {}
        for place, agent in enumerate(self.agents):
            by_agent.setdefault(id(agent), []).append(place)
        for places in by_agent.values():
            tables = np.flatnonzero(counting & np.isin(deciders, places))
            if len(tables):
                moves[tables] = self._ask(self.agents[places[0]], tables)
        batch.step(moves)
        self.decisions += int(counting.sum())
        ended = np.flatnonzero(counting & (batch.terminated | batch.truncated))
        for table in ended.tolist():
            self._end(table)
        return len(ended)

    def _ask(self, agent: Agent, tables: np.ndarray) -> np.ndarray:
        """The moves of an agent at some tables."""
        observations, masks = self.batch.observation[tables], self.batch.mask[tables]
        if not agent.needs_game:
            return agent.act_batch(observations, masks, self.rng)
        moves = np.empty(len(tables), np.int64)
        for k, table in enumerate(tables):
            seat, seed = int(self.batch.player[table]), int(self.rng.integers(2**62))
            game = self.batch.game(int(table)).determinize(seat, seed)
            moves[k] = agent.act(observations[k], masks[k], self.rng, game)
        return moves

    def _end(self, table: int) -> None:
        """Counts a game that has ended, and moves everybody one seat on."""
        self.left[table] -= 1
        self.truncated += int(self.batch.truncated[table])
        self.ranks[self.seats[table]] += self.batch.ranking[table]
        self.wins[self.seats[table]] += self.batch.rewards[table] == 1.0
        self.seats[table] = np.roll(self.seats[table], 1)
