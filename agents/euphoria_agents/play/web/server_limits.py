"""The limits of a server, for everybody together and for each client; a client is an address."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

DAY = 24 * 3600.0  # seconds
MAX_BODY = 1_000_000  # bytes of a request


@dataclass(frozen=True)
class Kept:
    """The number of things of a kind that are kept."""

    in_all: int
    per_client: int


@dataclass(frozen=True)
class Limits:
    """The limits of a server.

    Attributes:
        kept: how many games and studies are kept.
        idle: seconds without a change after which a game may leave for another one, if there is no room.
        expiry: the same after which a game without an end is deleted; cookies are as old.
        listeners: of one game; those who take part in it have as many places again.
        listeners_per_client: streams of one client, of any games.
        connections: in all.
        connections_per_client: of one client.
        head_seconds: how long the head of a request may take.
        body_seconds: how long its body may take.
        agents: how many are kept in memory.
        first_seconds: how long somebody's own agent may take to be made, and for its first answer of each kind.
        seconds: how long it may take for each further answer.
        thinking: how many agents think at once; the others wait, fairly between clients.
        working: how many threads read and draw games at once, in the same way.
        processes: the same for what is long enough for a process of its own.
        waiting: how many analyses are under way or wait; for one client also how many hints of an agent wait.
    """

    kept: dict[str, Kept] = field(default_factory=lambda: {"game": Kept(5_000, 500), "study": Kept(5_000, 500)})
    idle: float = DAY
    expiry: float = 90 * DAY
    listeners: int = 64
    listeners_per_client: int = 64
    connections: int = 1_000
    connections_per_client: int = 250
    head_seconds: float = 20.0
    body_seconds: float = 30.0
    agents: int = 16
    first_seconds: float = 300.0
    seconds: float = 60.0
    thinking: Kept = Kept(3, 2)
    working: Kept = Kept(16, 4)
    processes: Kept = Kept(2, 1)
    waiting: Kept = Kept(64, 8)


class Places:
    """Counts what clients hold at the moment."""

    def __init__(self, per_client: int) -> None:
        self.per_client = per_client
        self._held: Counter[str] = Counter()

    def take(self, client: str) -> bool:
        """Takes a place; whether there was one."""
        if self._held[client] >= self.per_client:
            return False
        self._held[client] += 1
        return True

    def leave(self, client: str) -> None:
        """Gives a place back."""
        self._held[client] -= 1
        if not self._held[client]:
            del self._held[client]
