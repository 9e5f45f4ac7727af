"""The limits of a server, in all and for each client; a client is an address."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

DAY = 24 * 3600.0  # seconds
MAX_BODY = 1_000_000  # bytes of a request


class Limit(NamedTuple):
    """How many things of a kind there may be, in all and for one client."""

    in_all: int
    per_client: int


@dataclass(frozen=True)
class Limits:
    """The limits of a server; times are in seconds."""

    kept: dict[str, Limit] = field(default_factory=lambda: {"game": Limit(5_000, 500), "study": Limit(5_000, 500)})
    idle: float = DAY  # a game that has not changed for so long may be deleted to make room
    listeners: int = 64  # streams of one game; for clients who play in it, the limit is twice as high
    listeners_per_client: int = 64
    connections: Limit = Limit(1_000, 250)
    head_seconds: float = 20.0  # in which the head of a request must arrive
    body_seconds: float = 30.0  # in which its body must arrive
    agents: int = 16  # agents in memory
    first_seconds: float = 300.0  # for making an agent of the user's own, and for its first answer
    seconds: float = 60.0  # for its further answers
    thinking: Limit = Limit(3, 2)  # agents that think at once
    working: Limit = Limit(16, 4)  # threads that read and draw games
    replaying: Limit = Limit(3, 1)  # records of others that are replayed at once
    processes: Limit = Limit(2, 1)  # processes that make pages or play playouts
    playouts_seconds: float = 4.0  # for the playouts of one decision
    waiting: Limit = Limit(64, 8)  # analyses that run or wait; per client also hints that wait for one agent
