"""The errors of a session; the message of a failed agent's error reveals nothing that only its seat may know."""

from __future__ import annotations

import builtins
import re
from typing import Any, Self

from euphoria_agents.play.agents import Unavailable
from euphoria_env import agent_protocol

PLACE = r"\(\w+\.py, line \d+\)"  # all that is shown of the code of an agent


class Told(str):
    """A message in English that pages can say in their language: `key` with {names} for its `parts`."""

    key: str
    parts: dict[str, Any]

    def __new__(cls, key: str, **parts: Any) -> Self:
        """Fills in the parts."""
        made = super().__new__(cls, key.format(**parts))
        made.key, made.parts = key, parts
        return made


class WrongSeat(ValueError):
    """Another seat must decide, or there is no such seat."""


class Stale(ValueError):
    """The game has changed since the version that the player saw, or since the decision that is to be taken back."""


class PlayerFailed(agent_protocol.AgentFailed):
    """An agent raised an error, ended, took too long or gave no legal move; the game waits.

    The message leaves out the text of the agent's error, which may reveal what only its seat may know (R19); the cause has it.
    """

    def __init__(self, seat: int, spec: str, error: Exception) -> None:
        super().__init__(Told("the agent {agent} of seat {seat} failed: {why}", agent=spec, seat=seat, why=_public(error)))
        self.seat, self.spec = seat, spec


def _public(error: Exception) -> str:
    """Returns what everybody may know of a failure: of an error its class, if Python defines it, since other names may reveal."""
    if isinstance(error, Unavailable):
        return "it is not available here"
    if isinstance(error, agent_protocol.TooSlow):
        return "it took too long"
    if isinstance(error, agent_protocol.IllegalAnswer) and not hasattr(error, "__notes__"):
        return error.public
    kind, place = type(error).__name__, ""
    if isinstance(error, agent_protocol.AgentFailed):
        if not error.kind:
            return "its process has ended"
        kind, place = error.kind, error.place if re.fullmatch(PLACE, error.place) else ""
    known = isinstance(getattr(builtins, kind, None), type)
    return f"{kind if known else 'an error'} {place}".rstrip()
