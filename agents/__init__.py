"""Agents that play Euphoria, and `load`, which makes one from a line of text."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from agents.base import Agent

__all__ = ["Agent", "load", "specs"]


def _random(argument: str) -> Agent:
    from agents.uniform import Uniform

    return Uniform()


def _weights(argument: str) -> Agent:
    from agents.weights import Weights

    return Weights()


def _greedy(argument: str) -> Agent:
    from agents.greedy import make

    return make(argument)


def _mcts(argument: str) -> Agent:
    from agents.mcts import make

    return make(argument)


def _boardspace(argument: str) -> Agent:
    from agents.boardspace import make

    return make(argument)


def _ppo(argument: str) -> Agent:
    from agents.ppo import PPO, checkpoint_path

    return PPO.load(checkpoint_path(argument))


class _Row(NamedTuple):
    """A kind of agent: how its spec is written, whether it may stand alone and with a colon, and what makes it."""

    form: str
    alone: bool
    argument: bool
    make: Callable[[str], Agent]


# Modules are imported when they are asked for: some bring big libraries along.
_TABLE = {
    "random": _Row("random", True, False, _random),
    "weights": _Row("weights", True, False, _weights),
    "greedy": _Row("greedy[:SAMPLES]", True, True, _greedy),
    "mcts": _Row("mcts:BUDGET[:EVALUATOR]", False, True, _mcts),
    "boardspace": _Row("boardspace[:BUDGET]", True, True, _boardspace),
    "ppo": _Row("ppo[:PATH]", True, True, _ppo),
}


def specs() -> list[str]:
    """How the specs that `load` knows are written."""
    return [row.form for row in _TABLE.values()]


def load(spec: str) -> Agent:
    """Makes an agent from a line of text such as "random", "greedy", "mcts:0.5s" or "ppo:path/to/checkpoint".

    Raises:
        ValueError: there is no such agent, or its argument is missing, superfluous or wrong.
    """
    name, colon, argument = spec.partition(":") if isinstance(spec, str) else ("", "", "")
    row = _TABLE.get(name)
    if row is None or bool(argument) != bool(colon) or not (row.argument if colon else row.alone):
        raise ValueError(f"no agent is called {spec!r}; allowed are {', '.join(specs())}")
    return row.make(argument)
