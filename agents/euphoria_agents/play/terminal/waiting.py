"""Waiting for an agent, which may think for a long time or forever, so that people can step in."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Work(Generic[T]):
    """Something that is done in a thread of its own, which nobody needs to wait for in the end.

    Args:
        do: what is done.
    """

    def __init__(self, do: Callable[[], T]) -> None:
        self._result: list[T] = []
        self._error: Exception | None = None
        self._done = threading.Event()  # after an interrupted `join` a thread counts as ended

        def work() -> None:
            try:
                self._result.append(do())
            except Exception as error:
                self._error = error
            self._done.set()

        threading.Thread(target=work, daemon=True).start()

    def ready(self, seconds: float) -> bool:
        """Whether it is done; waits so long for it. An interrupt ends the waiting, not the work."""
        return self._done.wait(seconds)

    def result(self) -> T:
        """The result, once it is ready.

        Raises:
            Exception: what it raised.
        """
        if self._error is not None:
            raise self._error
        return self._result[0]
