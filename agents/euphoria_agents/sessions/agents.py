"""The agents of all tables: each is made once, kept while it is used, and ended when it fails."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from euphoria_agents.agent import Agent
from euphoria_agents.agent_process import FIRST_SECONDS, AgentProcess
from euphoria_agents.registry import is_builtin, load_untrusted
from euphoria_env.envs.asking import AgentFailed


class _Kept:
    """An agent, None until it is made, and the lock of whoever asks it."""

    def __init__(self) -> None:
        self.agent: Agent | None = None
        self.lock = threading.Lock()

    def end(self) -> None:
        agent, self.agent = self.agent, None
        if isinstance(agent, AgentProcess):
            agent.close()


class Agents:
    """Agents by spec. Any number of tables may share them, in any threads: an agent answers one of them at a time.

    Built-in agents answer in this process; those of other people run in processes of their own, which can be ended.

    Args:
        allowed: the specs that the user named when the program was started; besides these, built-in ones without a path.
        most: how many are kept; the one that nobody has used for the longest time leaves.
        seconds: how long a decision of somebody's own agent may take; None: as long as it likes.
        first_seconds: the same for making it and for its first answer, before which it may have to compile.
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
        self._kept: OrderedDict[str, _Kept] = OrderedDict()  # the one used last stands last
        self._choosing = threading.Lock()

    def __contains__(self, spec: str) -> bool:
        return spec in self._kept

    def check(self, spec: str) -> None:
        """Makes the agent, unless it exists.

        Raises:
            ValueError: it is not allowed, or cannot be made; see `registry.load_untrusted`.
            AgentFailed: making it ended its process, or took too long.
        """
        with self.borrowed(spec):
            pass

    @contextmanager
    def borrowed(self, spec: str) -> Iterator[Agent]:
        """The agent, for nobody else meanwhile. One in a process that fails is ended, and made again for the next who asks.

        Raises:
            ValueError, AgentFailed: as for `check`.
        """
        kept = self._of(spec)
        with kept.lock:
            try:
                if kept.agent is None:
                    kept.agent = self._make(spec)
                yield kept.agent
            except AgentFailed:
                kept.end()
                raise
            finally:
                if kept.agent is None:
                    self._kept.pop(spec, None)

    def close(self) -> None:
        """Ends all processes, whatever they are doing."""
        for kept in list(self._kept.values()):
            kept.end()

    def _of(self, spec: str) -> _Kept:
        with self._choosing:
            kept = self._kept.setdefault(spec, _Kept())
            self._kept.move_to_end(spec)
            idle = [one for one, other in self._kept.items() if other is not kept and not other.lock.locked()]
            for one in idle[: max(0, len(self._kept) - self.most)]:
                self._kept.pop(one).end()
            return kept

    def _make(self, spec: str) -> Agent:
        if is_builtin(spec):
            return load_untrusted(spec, self.allowed)
        return AgentProcess(spec, self.allowed, self.first_seconds, self.seconds)
