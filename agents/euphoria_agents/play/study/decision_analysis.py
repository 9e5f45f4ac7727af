"""An agent's judgement of each decision of a recorded game.

It depends on the record, the agent and a seed alone, so that any process can judge any decision.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from euphoria_agents.agent import Agent, Explanation, explained
from euphoria_agents.matches.match import AgentGenerator
from euphoria_agents.record_steps import Replayed
from euphoria_agents.registry import load
from euphoria_env import Game
from euphoria_env.derived_seeds import derived_seed
from euphoria_env.game import seed_row

Row = list[Any]  # of a move: id, prior, visits, value; see `euphoria_agents.agent`
FUTURES = 8  # games in which a move without a value is tried, and over which chance is averaged


class Judgement(NamedTuple):
    """An agent's judgement of a decision.

    Attributes:
        moves: the legal moves; that of the move played has the value from which `regret` was computed.
        seats: the chances to win by seat before the decision.
        regret: the value of the best move less that of the move played, for the player who moved.
        expected: the chances by seat after the move played, before anything is drawn or rolled; None if nothing is, or if they
            are not known.
    """

    moves: list[Row]
    seats: list[float] | None
    regret: float | None
    expected: list[float] | None


class Judge:
    """Judges the decisions of a recorded game. A copy in another process makes its own agent and replays the record.

    Args:
        record: the text of the record.
        spec: of the agent.
        seed: of its chance, 0 or more.
    """

    def __init__(self, record: str, spec: str, seed: int) -> None:
        self.record, self.spec, self.seed = record, spec, seed

    def __reduce__(self) -> tuple[Any, ...]:
        return Judge, (self.record, self.spec, self.seed)

    @cached_property
    def game(self) -> Replayed:
        """Returns the game at its end."""
        return Replayed.from_record(self.record)

    @cached_property
    def agent(self) -> Agent:
        """Returns the agent that judges."""
        return load(self.spec)

    def __call__(self, ply: int) -> Judgement:
        """Judges decision number `ply`; the first is 0."""
        state, move = self.game.before[ply], self.game.played[ply]
        now = Game.taking(state.copy())
        opinion = self._explain(now, AgentGenerator(np.random.default_rng((self.seed, ply))))
        rows: list[Row] = [list(thought.values()) for thought in opinion["moves"]]
        played = next(row for row in rows if row[0] == move)
        if played[2] is not None and played[2] < FUTURES and best_of(rows) is not played:
            mover = now.player
            found = self._after(ply, lambda seed: now.determinize(mover, seed))
            played[3] = played[3] if found is None else found[mover]
        expected = None
        if self.game.by_chance(ply) and opinion["seats"] is not None:
            expected = self._after(ply, lambda seed: _with_other_chance(state, seed))
        return Judgement(rows, opinion["seats"], regret(rows, played), expected)

    def seats_at_end(self) -> list[float] | None:
        """Returns the chances to win by seat after the last decision of the record, where the game need not have ended."""
        return self._seats(self.game, np.random.default_rng((self.seed, len(self.game.played))))

    def _explain(self, game: Game, chance: AgentGenerator) -> Explanation:
        """Returns the agent's explanation for the player who must decide, from what that player may know (R19)."""
        seat = game.player
        return explained(self.agent, game.observation(seat), game.mask(), chance.own, chance.deal(game, seat))

    def _seats(self, game: Game, rng: np.random.Generator) -> list[float] | None:
        """Returns the chances to win by seat; None if the agent does not know."""
        return outcome(game) or self._explain(game, AgentGenerator(rng))["seats"]

    def _after(self, ply: int, start: Callable[[int], Game]) -> list[float] | None:
        """Returns the mean chances by seat after the move, in games that `start` makes from seeds; None if they are not known."""
        found = []
        for k in range(FUTURES):
            rng = np.random.default_rng((self.seed, ply, 1 + k))
            game = start(derived_seed(rng) >> 1)
            game.play(self.game.played[ply])
            seats = self._seats(game, rng)
            if seats is None:
                return None
            found.append(seats)
        mean: list[float] = np.mean(found, axis=0).tolist()
        return mean


def _with_other_chance(state: np.ndarray, seed: int) -> Game:
    """Returns the same game, hidden cards included, with other random outcomes to come."""
    rows = state.copy()
    seed_row(rows[0], seed)
    return Game.taking(rows)


def outcome(game: Game) -> list[float] | None:
    """Returns the chances to win in a game that has ended: equal ones if it was cut off; None if it has not ended."""
    if game.truncated:
        return [1 / game.rules.num_players] * game.rules.num_players
    return [float(seat == game.winner) for seat in range(game.rules.num_players)] if game.over else None


def best_of(rows: Sequence[Row]) -> Row:
    """Returns the best move for the agent: the one with most visits if it searched, otherwise the one of the highest value."""
    if any(visits is not None for _, _, visits, _ in rows):
        return max(rows, key=lambda row: (row[2] or 0, row[1] or 0.0, row[3] or 0.0))
    return max(rows, key=lambda row: (row[3] or 0.0, row[1] or 0.0))


def regret(rows: Sequence[Row], played: Row) -> float | None:
    """Returns the value of the best move less that of the move played, at least 0; None if one of them is not known."""
    best = best_of(rows)[3]
    return None if best is None or played[3] is None else max(0.0, best - played[3])
