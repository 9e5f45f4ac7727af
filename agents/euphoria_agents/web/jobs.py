"""Long work in a process of its own, which ends with whoever waits for it, while the server answers others."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from euphoria_agents.matches.processes import Worker

LOOK_EVERY = 0.005  # seconds, for what the process has done


async def answer_of(worker: Worker, item: Any) -> Any:
    """Gives a process something to do, and waits for what it makes of it.

    Raises:
        RuntimeError: it has died.
        WorkerError: the work failed.
    """
    worker.take(item)
    while not worker.connection.poll():
        await asyncio.sleep(LOOK_EVERY)
    answer = worker.answer()
    if answer is None:
        raise RuntimeError("the process that worked on this has died")
    return answer[0]


@contextmanager
def ended(worker: Worker) -> Iterator[Worker]:
    """A process that ends with this."""
    try:
        yield worker
    finally:
        worker.end()
