"""Computes from an agent's opinion of a decision the best move and the regret, and from the end of a game who has won."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from euphoria_agents.agent import MoveThought
from euphoria_agents.provenance import Inputs
from euphoria_env import Game

DIGITS = 5  # to which probabilities are rounded

Row = list[Any]  # an agent's opinion of a move: action id, prior, visits, value; see `euphoria_agents.agent.MoveThought`


class Judgement(NamedTuple):
    """An agent's judgement of a decision."""

    moves: list[Row]  # the legal moves; the value of the move played is the one from which `regret` was computed
    seats: list[float] | None  # the win probabilities by seat before the decision; None: not known
    regret: float | None  # the value of the best move minus that of the move played, for the player who moved; None: not known
    # `seats` after the move played, before anything is drawn or rolled; None if nothing is, or if they are not known
    expected: list[float] | None
    inputs: dict[str, Inputs]  # what the agent has read until now, by its spec


def outcome(game: Game) -> list[float] | None:
    """Returns 1 for the winner of a game and 0 for the others; equal shares if it was cut off; None if it has not ended."""
    if game.truncated:
        return [1 / game.rules.num_players] * game.rules.num_players
    return [float(seat == game.winner) for seat in range(game.rules.num_players)] if game.over else None


def merit(prior: float | None, visits: int | None, value: float | None) -> tuple[float, float, float]:
    """Returns the key by which moves are sorted, the best one last: by visits, as a search plays, or else by value first.

    `ordered` of `opinions.js` sorts in the same way.
    """
    return (value or 0.0, prior or 0.0, 0.0) if visits is None else (visits, prior or 0.0, value or 0.0)


def best_of(rows: Sequence[Row]) -> Row:
    """Returns the move that the agent thinks best; see `merit`."""
    return max(rows, key=lambda row: merit(*row[1:]))


def best_thoughts(thoughts: Sequence[MoveThought], most: int) -> list[MoveThought]:
    """Returns the best moves of an explanation, at most so many, the best one first; empty if nothing is known of any move."""
    keys = {one["action"]: merit(one["prior"], one["visits"], one["value"]) for one in thoughts}
    best = sorted(thoughts, key=lambda one: keys[one["action"]], reverse=True)
    return best[:most] if any(map(any, keys.values())) else []


def regret(rows: Sequence[Row], played: Row) -> float | None:
    """Returns the value of the best move minus the value of the move played, at least 0; None if either is not known."""
    best = best_of(rows)[3]
    return None if best is None or played[3] is None else max(0.0, best - played[3])


def rounded(chance: float | None) -> float | None:
    """Rounds a probability, or a change of one, as in files; never to -0.0."""
    return None if chance is None else round(chance, DIGITS) + 0.0
