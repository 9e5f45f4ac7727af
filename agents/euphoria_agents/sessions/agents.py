"""The agents of all tables, each made once."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from euphoria_agents.agent import Agent
from euphoria_agents.registry import load_untrusted


class Agents:
    """Agents by spec. Any number of tables may share them, in any threads: an agent is asked by one at a time.

    Args:
        allowed: the specs that the user named when the program was started; besides these, built-in ones without a path.
    """

    def __init__(self, allowed: Collection[str] = ()) -> None:
        self.allowed = frozenset(allowed)
        self._made: dict[str, tuple[Agent, threading.Lock]] = {}
        self._making = threading.Lock()

    def check(self, spec: str) -> None:
        """Makes the agent, unless it is there.

        Raises:
            ValueError: it is not allowed, or cannot be made; see `registry.load_untrusted`.
        """
        self._of(spec)

    @contextmanager
    def borrowed(self, spec: str) -> Iterator[Agent]:
        """The agent, for nobody else meanwhile.

        Raises:
            ValueError: as for `check`.
        """
        agent, lock = self._of(spec)
        with lock:
            yield agent

    def _of(self, spec: str) -> tuple[Agent, threading.Lock]:
        with self._making:
            if spec not in self._made:
                self._made[spec] = load_untrusted(spec, self.allowed), threading.Lock()
            return self._made[spec]
