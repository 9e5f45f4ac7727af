"""Runs work in units on a Ray cluster, as `euphoria_agents.matches.processes` does on one machine.

The nodes need the same version of this package, and checkpoints at the same paths; `play_unit` of a tournament checks both. In a
temporary cluster of this machine the workers import from where this process does.
"""

from __future__ import annotations

import contextlib
import logging
import socket
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from euphoria_agents.child_process import check_homes, child_environment, homes
from euphoria_agents.error_text import WorkerError, missing_library, one_line
from euphoria_agents.matches.processes import ATTEMPTS, Answer, Item

IN_FLIGHT = 1000  # the most items that Ray has at a time


def on_ray(work: Callable[[Item], Answer], items: Iterable[Item], address: str | None = None) -> Iterator[tuple[Item, Answer]]:
    """Calls `work` for every item, each on one core of a cluster, and yields each item with its answer when that is ready.

    If a worker or a whole node dies, its items are done again elsewhere.

    Raises:
        ValueError: Ray is not installed, or there is no such cluster.
        RuntimeError: an item killed `ATTEMPTS` workers; or the work raised an error in a worker (`WorkerError`).
    """
    with connected(address) as ray:
        yield from _call(ray, work, items)


@contextlib.contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """Connects to a cluster, and disconnects afterwards unless it was connected before.

    Args:
        address: the address of a running cluster, such as "auto" or "host:6379"; None: a temporary cluster of this machine.

    Raises:
        ValueError: Ray is not installed, or there is no such cluster.
    """
    try:
        import ray
    except ModuleNotFoundError as error:
        if missing_library(error) != "ray":
            raise
        raise ValueError(
            "Ray is not installed here: pip install 'euphoria-env[play,rllib]', in an environment of its own"
        ) from error
    if ray.is_initialized():
        yield ray
        return
    try:
        _reach(address)
        here = {} if address else {"runtime_env": {"env_vars": child_environment()}}
        ray.init(address or "local", log_to_driver=False, logging_level=logging.ERROR, **here)
    except (OSError, ValueError) as error:
        raise ValueError(f"no Ray cluster at {address!r}: {error}") from error
    try:
        yield ray
    finally:
        ray.shutdown()


def _reach(address: str | None) -> None:
    """Checks that something answers at the address; Ray itself would try for a long time."""
    host, colon, port = (address or "").removeprefix("ray://").rpartition(":")
    if colon:
        socket.create_connection((host, int(port)), timeout=10).close()


def _call(ray: Any, work: Callable[[Item], Answer], items: Iterable[Item]) -> Iterator[tuple[Item, Answer]]:
    """Keeps up to `IN_FLIGHT` calls running until all are done."""
    host, ours = socket.gethostname(), homes()

    def there(item: Item) -> Answer:
        if socket.gethostname() == host:
            check_homes(ours)
        return work(item)

    remote = ray.remote(num_cpus=1, max_retries=ATTEMPTS - 1)(there)
    waiting = iter(items)
    pending = {remote.remote(item): item for item in islice(waiting, IN_FLIGHT)}
    try:
        while pending:
            (done,), _ = ray.wait(list(pending), num_returns=1)
            item = pending.pop(done)
            try:
                answer = ray.get(done)
            except ray.exceptions.RayTaskError as error:
                raise WorkerError(one_line(error.cause), str(error)) from error
            except ray.exceptions.RayError as error:
                raise RuntimeError(f"on the cluster, {item}: {error}") from error
            yield item, answer
            pending |= {remote.remote(item): item for item in islice(waiting, 1)}
    finally:
        for reference in pending:
            ray.cancel(reference, force=True)
