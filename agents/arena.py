"""Games between agents: every line-up plays from every seat, and win rates come with intervals."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from agents.base import Agent
from euphoria_env import Game, Rules

AT_ONCE = 64  # games played side by side, so that agents answer many decisions at once
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
        decisions: decisions of all agents together.
        seconds: how long it took.
    """

    scores: list[Score]
    games: int
    truncated: int
    decisions: int
    seconds: float


class _Table:
    """A game under way, and who of the line-up sits where."""

    def __init__(self, number: int, rules: Rules, seed: int) -> None:
        self.rotation = number % rules.num_players
        self.game = Game(rules, seed=seed)

    def decider(self) -> int:
        """The place in the line-up of the player who must decide."""
        return (self.game.player + self.rotation) % self.game.rules.num_players

    def ranks(self) -> list[int]:
        """The final ranks in the order of the line-up."""
        ranking = self.game.ranking
        assert ranking is not None
        return [ranking[(k - self.rotation) % len(ranking)] for k in range(len(ranking))]

    def winner(self) -> int | None:
        """The place of the winner in the line-up."""
        winner = self.game.winner
        return None if winner is None else (winner + self.rotation) % self.game.rules.num_players


def play_match(
    agents: Sequence[Agent],
    games: int,
    rules: Rules | None = None,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Result:
    """Plays a number of games between the agents of a line-up; the seats rotate from game to game.

    Args:
        agents: one for each player; the same object may sit on several seats.
        games: how many; a multiple of the number of players gives everybody every seat equally often.
        rules: the options; the default are those of as many players as there are agents.
        seed: equal seeds give equal matches.
        progress: called after every round of decisions with the number of games that ended in it.

    Raises:
        ValueError: there are not as many agents as players.
    """
    rules = Rules(num_players=len(agents)) if rules is None else rules
    if rules.num_players != len(agents):
        raise ValueError(f"a game of {rules.num_players} needs as many agents, not {len(agents)}")
    rng = np.random.default_rng(seed)
    numbers = iter(range(games))
    wins, ranks = np.zeros(len(agents), np.int64), np.zeros(len(agents), np.int64)
    truncated = decisions = 0
    start = time.perf_counter()

    def new_tables(n: int) -> list[_Table]:
        return [_Table(k, rules, int(rng.integers(2**62))) for k, _ in zip(numbers, range(n), strict=False)]

    tables = new_tables(AT_ONCE)
    while tables:
        decisions += len(tables)
        _decide(agents, tables, rng)
        ended = [table for table in tables if table.game.over or table.game.truncated]
        for table in ended:
            ranks += table.ranks()
            truncated += table.game.truncated
            winner = table.winner()
            if winner is not None:
                wins[winner] += 1
        if ended:
            tables = [table for table in tables if not (table.game.over or table.game.truncated)] + new_tables(len(ended))
        if progress is not None:
            progress(len(ended))
    scores = [Score(int(w), games, float(r) / max(1, games)) for w, r in zip(wins, ranks, strict=True)]
    return Result(scores, games, truncated, decisions, time.perf_counter() - start)


def _decide(agents: Sequence[Agent], tables: list[_Table], rng: np.random.Generator) -> None:
    """One decision in every game; those of one agent are asked together."""
    by_agent: dict[int, list[_Table]] = {}
    for table in tables:
        by_agent.setdefault(id(agents[table.decider()]), []).append(table)
    for theirs in by_agent.values():
        games = [table.game for table in theirs]
        for game, move in zip(games, _moves(agents[theirs[0].decider()], games, rng), strict=True):
            game.play(int(move))


def _moves(agent: Agent, games: list[Game], rng: np.random.Generator) -> Sequence[int] | np.ndarray:
    """The moves of one agent in several games."""
    if agent.needs_game:
        return [
            agent.act(
                game.observation(game.player), game.mask(), rng, game.determinize(game.player, int(rng.integers(2**62)))
            )
            for game in games
        ]
    observations = np.stack([game.observation(game.player) for game in games])
    return agent.act_batch(observations, np.stack([game.mask() for game in games]), rng)
