"""Makes each agent once for all tables, keeps it while it is used, and ends it if it fails."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import partial

from euphoria_agents.agent import Agent
from euphoria_agents.agent_process import FIRST_SECONDS, AgentProcess
from euphoria_agents.registry import check_allowed, is_builtin, load
from euphoria_env.agent_protocol import AgentFailed
from euphoria_env.memory import Ids


class Unavailable(ValueError):
    """An agent is not allowed here, or cannot be made; its message may be shown, since the agent has not seen a game yet."""


class _Kept:
    """An agent that is kept, and its state."""

    def __init__(self) -> None:
        self.agent: Agent | None = None  # None until it is made
        self.process: AgentProcess | None = None  # the process of the agent, also while it is made; None: it runs in this process
        self.answered = False  # whether it has answered before, so that it need not compile any more
        self.lock = threading.Lock()  # held by the thread that asks it
        self.ids, self.ended = Ids(), list[str]()  # the numbers of games for the agent, and games of whose end it must be told

    def end_games(self) -> None:
        """Tells the agent of the games that have ended; a process that fails at it is ended."""
        try:
            while self.ended:
                self.ids.end([self.ended.pop()])
        except AgentFailed:
            self.end()

    def end(self) -> None:
        process, self.agent, self.process, self.answered, self.ids = self.process, None, None, False, Ids()
        if process is not None:
            process.close()


class Agents:
    """Agents by spec, which any number of tables may share, in any threads: an agent answers one table at a time.

    Built-in agents run in this process, all others in processes, which can be ended: one for each seat, so that none sees a game
    from two seats.

    Args:
        allowed: the specs that the user named when the program was started; besides these, built-in ones without a path.
        most: how many agents are kept; beyond that, the one that was unused for the longest time is ended.
        seconds: the time limit for a decision of an agent that is not built in; None: no limit.
        first_seconds: the limit for making such an agent and for its first answer, before which it may have to compile.
    """

    def __init__(
        self,
        allowed: Collection[str] = (),
        most: int = 16,
        seconds: float | None = None,
        first_seconds: float = FIRST_SECONDS,
    ) -> None:
        self.allowed = frozenset(allowed)
        self.most, self.seconds, self.first_seconds = most, seconds, first_seconds
        self._kept: OrderedDict[tuple[str, int], _Kept] = OrderedDict()  # the most recently used one is the last
        self._choosing = threading.Lock()

    def __contains__(self, spec: str) -> bool:
        return any(key[0] == spec and kept.agent is not None for key, kept in list(self._kept.items()))

    def answered(self, spec: str, seat: int) -> bool:
        """Returns whether an agent has answered before, so that its next answer need not wait for a compiler."""
        kept = self._kept.get(_key(spec, seat))
        return kept is not None and kept.answered

    def check(self, spec: str, seat: int = 0) -> None:
        """Makes the agent unless it exists; if it does, does not wait for it, though it may be answering somebody.

        Raises `Unavailable` if it is not allowed, or cannot be made, an `AgentFailed` if its process ended or took too long.
        """
        kept = self._kept.get(_key(spec, seat))
        if kept is None or kept.agent is None:
            with self._held(spec, seat):
                pass

    @contextmanager
    def borrowed(self, spec: str, seat: int) -> Iterator[Agent]:
        """Yields the agent of a seat, which nobody else can ask meanwhile. A process that fails is ended, the next one is new.

        Raises:
            Unavailable, AgentFailed: as for `check`.
        """
        with self._held(spec, seat) as kept:
            assert kept.agent is not None
            yield kept.agent
            kept.answered = True

    def ids(self, spec: str, seat: int) -> Ids:
        """Returns the numbers of games and seats for an agent that is borrowed."""
        return self._kept[_key(spec, seat)].ids

    def end_game(self, spec: str, seat: int, name: str) -> None:
        """Tells an agent that a game has ended: now, or if somebody is asking it, before it is asked again."""
        kept = self._kept.get(_key(spec, seat))
        if kept is None:
            return
        kept.ended.append(name)
        if kept.lock.acquire(blocking=False):
            try:
                kept.end_games()
            finally:
                kept.lock.release()

    def stop(self, spec: str, seat: int) -> None:
        """Ends the process or the search of an agent; any thread may call it."""
        kept = self._kept.get(_key(spec, seat))
        if kept is not None and kept.process is not None:
            kept.process.close()
        elif kept is not None and (stop := getattr(kept.agent, "stop", None)):
            stop()

    @contextmanager
    def _held(self, spec: str, seat: int) -> Iterator[_Kept]:
        key = _key(spec, seat)
        kept = self._entry(key)
        with kept.lock:
            try:
                kept.end_games()
                if kept.agent is None:
                    kept.agent = self._make(spec, kept)
                yield kept
            except AgentFailed:
                kept.end()
                raise
            finally:
                if kept.agent is None:
                    self._kept.pop(key, None)

    def close(self) -> None:
        """Ends all processes, also those that are answering."""
        for kept in list(self._kept.values()):
            kept.end()

    def _entry(self, key: tuple[str, int]) -> _Kept:
        with self._choosing:
            kept = self._kept.setdefault(key, _Kept())
            self._kept.move_to_end(key)
            idle = [one for one, other in self._kept.items() if other is not kept and not other.lock.locked()]
            for one in idle[: max(0, len(self._kept) - self.most)]:
                self._kept.pop(one).end()
            return kept

    def _make(self, spec: str, kept: _Kept) -> Agent:
        try:
            check_allowed(spec, self.allowed)
            if is_builtin(spec):
                return load(spec)
            return AgentProcess(spec, self.first_seconds, self.seconds, begun=partial(setattr, kept, "process"))
        except ValueError as error:
            raise Unavailable(str(error)) from error


def _key(spec: str, seat: int) -> tuple[str, int]:
    """Returns the key of an agent: built-in ones keep games apart (`agent_protocol.keeps_games_apart`), and play all seats."""
    return spec, 0 if is_builtin(spec) else seat
