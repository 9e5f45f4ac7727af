"""Runs units of work in a pool of processes, any of which may be killed without losing a result, and resumes interrupted work."""

from __future__ import annotations

import contextlib
from collections import Counter, deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

from euphoria_agents.child_process import ChildProcess
from euphoria_agents.error_text import WorkerError, full_text, one_line

ATTEMPTS = 3  # an item that has killed this many workers is not tried again

Item = TypeVar("Item", bound=Any)
Answer = TypeVar("Answer")
Run = Callable[[Callable[[Item], Answer], Iterable[Item]], Iterator[tuple[Item, Answer]]]  # `in_processes`, or on a cluster


def in_processes(
    work: Callable[[Item], Answer], items: Iterable[Item], processes: int
) -> Generator[tuple[Item, Answer], None, None]:
    """Calls `work` for every item in worker processes (for `processes` = 1 in this process), and yields item and answer as ready.

    If a worker dies, another one does its item again. Only the main thread may iterate; an interrupt, or the end of the
    iteration, ends the workers.

    Raises:
        RuntimeError: an item killed `ATTEMPTS` workers; or the work raised an error in a worker (`WorkerError`).
    """
    waiting = deque(items)
    if processes == 1:
        yield from ((item, work(item)) for item in waiting)
        return
    died: Counter[Item] = Counter()
    workers = [Worker(work) for _ in range(min(processes, len(waiting)))]
    try:
        while True:
            for k, worker in enumerate(workers):
                if worker.item is None and waiting:
                    if worker.ended:
                        workers[k] = worker = Worker(work)
                    worker.take(waiting.popleft())
            busy = {worker.connection: worker for worker in workers if worker.item is not None}
            if not busy:
                return
            for connection in wait([*busy]):
                worker = busy[connection]
                item, answer = worker.item, worker.answer()
                if answer is not None:
                    yield item, answer[0]
                    continue
                died[item] += 1
                if died[item] == ATTEMPTS:
                    raise RuntimeError(f"{ATTEMPTS} processes died with {item}")
                waiting.appendleft(item)
    finally:
        for worker in workers:
            worker.end()


def resume_work(
    units: Sequence[Item],
    finished: Collection[Item],
    work: Callable[[Item], Answer],
    run: Run[Item, Answer],
    save: Callable[[Item, Answer], None],
    progress: Callable[[int], None] | None = None,
    resumable: bool = True,
) -> None:
    """Does the units of work that are not finished, and saves each result as soon as it is ready.

    Args:
        units: all units; each has a number of `games`, and its result depends on nothing but its fields.
        finished: the units whose results were saved before.
        work: returns the result of a unit.
        run: calls `work` for many units: `in_processes`, or on a cluster.
        save: called with each unit and its result.
        progress: called with a number of games: first that of all finished units, then that of each result.
        resumable: whether saved results last; then an interrupt gets the note that the same command continues.
    """
    report = progress or (lambda games: None)
    report(sum(unit.games for unit in finished))
    try:
        for unit, result in run(work, [unit for unit in units if unit not in finished]):
            save(unit, result)
            report(unit.games)
    except KeyboardInterrupt as interrupt:
        if resumable:
            interrupt.add_note("the same command continues where it stopped")
        raise


class Worker(ChildProcess):
    """A process that calls `work` for one item after another."""

    def __init__(self, work: Callable[[Any], Any]) -> None:
        super().__init__(_serve, work)
        self.item: Any = None  # the item that it works on; None: it is idle

    def take(self, item: Any) -> None:
        """Sends an item to the process."""
        self.item = item
        with contextlib.suppress(OSError):  # the process has just died, which `answer` notices
            self.connection.send(item)

    def answer(self) -> tuple[Any] | None:
        """Waits for the answer and returns it in a tuple, None if the process died; raises a `WorkerError` if the work failed."""
        self.item = None
        try:
            good, answer = self.connection.recv()
        except (EOFError, OSError):
            self.end()
            return None
        if not good:
            raise WorkerError(*answer)
        return (answer,)


def _serve(connection: Connection, work: Callable[[Any], Any]) -> None:
    """Answers item after item, in the worker process."""
    while True:
        try:
            item = connection.recv()
        except EOFError:
            return
        try:
            answer = True, work(item)
        except Exception as error:
            answer = False, (one_line(error), full_text(error))
        connection.send(answer)
