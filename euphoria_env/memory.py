"""What agents with a memory get beside observation and mask: the last events, and a number for each game and seat."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from euphoria_env.game import Game


class Memory(NamedTuple):
    """What agents with a memory may know of N decisions; computed only for those that need it.

    Attributes:
        events: `events(k)` returns the last k events of each game as its seat sees them, int8 (N, k, EVENT_SIZE).
        ids: `ids(agent)` returns the numbers of the games and seats, int64 (N,); see `Ids.of`.
    """

    events: Callable[[int], np.ndarray]
    ids: Callable[[Any], np.ndarray]


class Ids:
    """Numbers for games and seats, from 0 to 2^63 - 1, which tell nothing else; agents are told when they begin and end.

    Args:
        secret: with it the numbers are made from the names of games, so that nobody can compute a name.
    """

    def __init__(self, secret: bytes = b"") -> None:
        self._secret = secret
        self._open: dict[str, dict[int, tuple[Any, int]]] = {}  # by game and seat, the agent that was asked, and the number

    def of(self, agent: Any, decisions: Iterable[tuple[str, int]]) -> np.ndarray:
        """Returns the numbers of an agent's decisions, int64 (N,), after calling its `begin` with those that are new.

        Args:
            agent: the agent, which is about to be asked.
            decisions: for each, the name of the game, which no later game has, and the seat.
        """
        ids, new = [], []
        for game, seat in decisions:
            seats = self._open.setdefault(game, {})
            if seat not in seats or seats[seat][0] is not agent:
                seats[seat] = agent, self._number(game, seat)
                new.append(seats[seat][1])
            ids.append(seats[seat][1])
        tell(agent, "begin", new)
        return np.array(ids, np.int64)

    @property
    def games(self) -> Collection[str]:
        """The names of the games that have begun and not ended."""
        return list(self._open)

    def end(self, games: Iterable[str]) -> None:
        """Calls `end` of the agents that were asked in these games, each once with all of its numbers."""
        ended: dict[int, tuple[Any, list[int]]] = {}
        for game in games:
            for agent, number in self._open.pop(game, {}).values():
                ended.setdefault(id(agent), (agent, []))[1].append(number)
        for agent, numbers in ended.values():
            tell(agent, "end", numbers)

    def _number(self, game: str, seat: int) -> int:
        return int.from_bytes(hashlib.blake2b(f"{game}-{seat}".encode(), digest_size=8, key=self._secret).digest()) >> 1


def tell(agent: Any, what: str, numbers: Collection[int]) -> None:
    """Calls `begin` or `end` of an agent that has it, unless there are no numbers; errors get a note that names the agent."""
    method = getattr(agent, what, None)
    if numbers and callable(method):
        try:
            method(np.array(numbers, np.int64))
        except Exception as error:
            error.add_note(f"raised by the agent {getattr(agent, 'name', type(agent).__qualname__)}")
            raise


def memory_of(game: Game, name: str, ids: Ids) -> Memory:
    """Returns what an agent with a memory may know of the present decision of a game, which has this name in `ids`."""
    seat = game.player
    return Memory(lambda k: game.last_events(seat, k)[None], lambda agent: ids.of(agent, [(name, seat)]))
