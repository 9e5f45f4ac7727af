"""Work shared out over a Ray cluster; `agents.processes` does the same on one machine.

The nodes need this package in the same version, and checkpoints at the same paths; `tournament.play_chunk` looks at both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from agents.processes import ATTEMPTS, Answer, Item

IN_FLIGHT = 1000  # items that Ray knows of at a time


def on_ray(work: Callable[[Item], Answer], items: Iterable[Item], address: str | None = None) -> Iterator[tuple[Item, Answer]]:
    """Calls `work` for every item on one core of a cluster, and gives each with its answer as it is ready.

    If a worker or a whole node dies, what it was doing is done again elsewhere.

    Args:
        work: what is called; anything that can be pickled.
        items: what it is called with.
        address: of a running cluster, such as "auto" or "host:6379"; None: a cluster of this machine alone, for this once.

    Raises:
        ValueError: Ray is not installed, or there is no such cluster.
        RuntimeError: the work failed, or an item killed its workers again and again.
    """
    try:
        import ray
    except ImportError as error:
        raise ValueError(
            "Ray is not installed here; it needs an environment of its own: see docs/benchmarking-agents.md"
        ) from error
    started = not ray.is_initialized()
    if started:
        try:
            ray.init(address=address, log_to_driver=False, logging_level="warning")
        except (ConnectionError, ValueError) as error:
            raise ValueError(f"no Ray cluster at {address!r}: {error}") from error
    remote = ray.remote(num_cpus=1, max_retries=ATTEMPTS - 1)(work if hasattr(work, "__name__") else lambda item: work(item))
    waiting = iter(items)
    pending = {remote.remote(item): item for item in islice(waiting, IN_FLIGHT)}
    try:
        while pending:
            (done,), _ = ray.wait(list(pending), num_returns=1)
            item = pending.pop(done)
            try:
                answer = ray.get(done)
            except ray.exceptions.RayError as error:
                raise RuntimeError(f"on the cluster, {item}: {error}") from error
            yield item, answer
            pending |= {remote.remote(item): item for item in islice(waiting, 1)}
    finally:
        for reference in pending:
            ray.cancel(reference, force=True)
        if started:
            ray.shutdown()
