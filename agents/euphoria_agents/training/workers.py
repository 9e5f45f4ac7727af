"""The workers of a training run: processes that each play a share of its games and learn together from all of them.

This is synchronous data-parallel training by `torch.distributed` (gloo): in each step of the optimizer every worker computes the
gradients of its share of the batch, and all apply their mean, so that the networks stay equal. The first worker, rank 0, reads
the run, reports, rates and saves. PyTorch's elastic launcher starts the workers: from here those of one machine, as `torchrun`
those of several.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from importlib.metadata import version
from typing import Any

import torch
import torch.distributed as dist

from euphoria_agents.error_text import WorkerError, full_text, one_line

PATIENCE = timedelta(minutes=10)  # until a worker that does not answer is given up; the compiler may run meanwhile
ROOT_CAUSE_FIRST = 2.0  # seconds that a worker which lost another one leaves to the launcher to notice that one
INTERRUPTED = 130  # exit status
SAME = ("euphoria-env", "torch", "numba", "numpy")  # packages that must have the same versions everywhere
NOT_MAIN = "a script that trains must do so below `if __name__ == '__main__':`"


class WorkerLost(RuntimeError):
    """A worker has gone, or does not answer."""


class Group:
    """The workers of a run, as one of them sees them; by default this process alone.

    Args:
        rank: the number of this one; 0 is the first.
        size: how many there are.

    Attributes:
        waited: seconds spent waiting for the others and for the communication with them.

    Raises:
        WorkerLost: not all came; from each method: somebody has gone.
    """

    def __init__(self, rank: int = 0, size: int = 1) -> None:
        self.rank, self.size = rank, size
        self.waited = 0.0
        if size > 1:
            with self._together():
                dist.init_process_group("gloo", rank=rank, world_size=size, timeout=PATIENCE)

    @classmethod
    def launched(cls) -> Group:
        """The group that the launcher has put this process into."""
        return cls(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))

    @property
    def first(self) -> bool:
        """Whether this is the worker that reports, rates and saves."""
        return self.rank == 0

    def share(self, value: Any = None) -> Any:
        """Returns the value of the first worker to all."""
        box = [value]
        if self.size > 1:
            with self._together():
                dist.broadcast_object_list(box)
        return box[0]

    def gather(self, value: Any) -> list[Any]:
        """Returns the values of all workers, by rank, to all."""
        found = [value] * self.size
        if self.size > 1:
            with self._together():
                dist.all_gather_object(found, value)
        return found

    def average(self, parameters: Sequence[torch.nn.Parameter]) -> None:
        """Replaces the gradients by their means over the workers: the largest one in place, the others together."""
        if self.size == 1:
            return
        gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        *small, largest = sorted(gradients, key=torch.Tensor.numel)
        flat = torch.cat([gradient.reshape(-1) for gradient in small]) if small else torch.empty(0)
        for mean in (largest, flat):
            self._add_up(mean)
            mean /= self.size
        for gradient, mean in zip(small, flat.split([gradient.numel() for gradient in small]), strict=True):
            gradient.copy_(mean.view_as(gradient))

    def _add_up(self, tensor: torch.Tensor) -> None:
        """Replaces a tensor by its sum over the workers."""
        here = tensor.cpu()  # the same one, on the processor
        with self._together():
            dist.all_reduce(here)
        tensor.copy_(here)

    def agree(self) -> None:
        """Checks that all workers have the same versions of the packages they compute with.

        Raises:
            ValueError: they have not; on the first worker.
        """
        mine = {name: version(name) for name in SAME}
        for rank, theirs in enumerate(self.gather(mine)):
            if self.first and theirs != mine:
                name = next(name for name in SAME if theirs[name] != mine[name])
                raise ValueError(f"worker {rank} has {name} {theirs[name]}, the first one {mine[name]}: they must be the same")

    def close(self) -> None:
        """Leaves the group; the others notice."""
        if self.size > 1 and dist.is_initialized():
            dist.destroy_process_group()

    @contextmanager
    def _together(self) -> Iterator[None]:
        """Encloses what all workers do together; if it fails, somebody has gone."""
        start = time.perf_counter()
        try:
            yield
        except RuntimeError as error:
            raise WorkerLost("a worker has gone: it was killed, or its machine is down or cannot be reached") from error
        self.waited += time.perf_counter() - start


# --------------------------------------------------------------------------------------------------------------- the launcher


def is_launched() -> bool:
    """Whether a launcher, `torchrun` or `launch`, has started this process."""
    return bool(dist.is_torchelastic_launched())


def launched_rank() -> int:
    """The number of this worker; 0 without a launcher."""
    return int(os.environ["RANK"]) if is_launched() else 0


def launch(size: int, work: Callable[..., Any], *arguments: Any) -> Any:
    """Calls `work(*arguments)` in so many workers on this machine, and returns what the first one returns.

    A worker that is interrupted exits with the status `INTERRUPTED`.

    Raises:
        KeyboardInterrupt: the workers were interrupted, and have ended.
        WorkerError: the first worker failed.
        WorkerLost: another worker failed, or one was killed; all have ended.
    """
    from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs, SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    for name in logging.root.manager.loggerDict:
        if name.startswith("torch.distributed.elastic"):
            logging.getLogger(name).setLevel(logging.CRITICAL)  # they would report what is raised here
    before = set(multiprocessing.active_children())
    with tempfile.TemporaryDirectory() as folder, _signals_kept():
        config = LaunchConfig(
            min_nodes=1,
            max_nodes=1,
            nproc_per_node=size,
            run_id=uuid.uuid4().hex,
            rdzv_backend="c10d",
            rdzv_endpoint="localhost:0",
            local_addr="localhost",
            max_restarts=0,
            shutdown_timeout=int(PATIENCE.total_seconds()),  # to end the update under way, and save
            logs_specs=DefaultLogsSpecs(log_dir=folder),
        )
        try:
            return elastic_launch(config, _worker)(work, *arguments)[0]
        except SignalException:
            raise KeyboardInterrupt from None
        except ChildFailedError as error:
            rank, failure = next(iter(error.failures.items()))
            raise _error_of(rank, failure) from None
        finally:
            for process in set(multiprocessing.active_children()) - before:
                process.kill()
                process.join()


def _worker(work: Callable[..., Any], *arguments: Any) -> Any:
    """Does the work of a worker; an error is left to the launcher in a line."""
    os.setpgrp()  # Ctrl-C reaches the launcher alone, which passes it on once
    try:
        return work(*arguments)
    except WorkerLost:
        time.sleep(ROOT_CAUSE_FIRST)
        raise
    except Exception as error:
        raise WorkerError(one_line(error), full_text(error)) from error


def _error_of(rank: int, failure: Any) -> BaseException:
    """Returns the error that says why a worker failed."""
    if failure.exitcode == INTERRUPTED:
        return KeyboardInterrupt()
    if failure.exitcode < 0:
        return WorkerLost(f"worker {rank} has gone: it was killed ({signal.Signals(-failure.exitcode).name})")
    kind, _, line = (failure.message["message"] if isinstance(failure.message, dict) else "").partition(": ")
    if kind == WorkerLost.__name__:
        return WorkerLost(line)
    if kind != WorkerError.__name__:
        return WorkerLost(f"worker {rank} has ended with status {failure.exitcode}: {NOT_MAIN}")
    return WorkerLost(f"worker {rank}: {line}") if rank else WorkerError(line, line)


@contextmanager
def _signals_kept() -> Iterator[None]:
    """Restores the handlers of signals that the launcher replaces."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
