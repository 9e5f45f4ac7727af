"""What an agent's opinion of a decision comes to: the best move, the regret, and the chances at the end of a game."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from euphoria_env import Game

Row = list[Any]  # of a move: id, prior, visits, value; see `euphoria_agents.agent`


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
