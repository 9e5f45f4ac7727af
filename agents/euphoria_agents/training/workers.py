"""The workers of a training run: processes that each play a share of its games and learn together from all of them.

This is synchronous data-parallel training by `torch.distributed` (gloo): in each step of the optimizer every worker finds the
gradients of its share of the batch, and all go on with their mean, so that their networks stay equal. The first worker, rank 0,
is the process of the command: it alone shows, rates and saves. The others are started here, on this machine or on a Ray cluster,
or by `torchrun`; they learn from the first one what they are to do.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from importlib.metadata import version
from typing import Any

import torch
import torch.distributed as dist

from euphoria_agents.child_process import start_process
from euphoria_agents.error_text import one_line
from euphoria_agents.matches.ray_cluster import connected

PATIENCE = timedelta(minutes=10)  # until somebody who does not answer is given up; the compiler may run meanwhile
ARRIVAL = 120.0  # seconds until a worker that was started must be there
LAST_WORDS = 2.0  # seconds in which a worker that fails says why
SAME = ("euphoria-env", "torch", "numba", "numpy")  # packages that must have the same versions everywhere
FAULT, HERE = "fault", "here"  # keys of the store
NOT_MAIN = "its process has ended; a script that trains must do so below `if __name__ == '__main__':`"

Work = Callable[["Group"], None]


class WorkerLost(RuntimeError):
    """A worker has gone, or does not answer."""


class Group:
    """The workers of a run, as one of them sees them; without a store, one worker alone.

    Args:
        rank: which one this is; 0 is the first.
        size: how many there are.
        store: where they meet.

    Attributes:
        waited: seconds spent with the others, for the slowest of them and for what goes between them.

    Raises:
        WorkerLost: not all came; from each method: somebody has gone.
    """

    def __init__(self, rank: int = 0, size: int = 1, store: dist.Store | None = None) -> None:
        self.rank, self.size, self._store = rank, size, store
        self.waited = 0.0
        if size > 1:
            with self._together():
                dist.init_process_group("gloo", store=store, rank=rank, world_size=size, timeout=PATIENCE)

    @property
    def first(self) -> bool:
        """Whether this is the worker that shows, rates and saves."""
        return self.rank == 0

    def share(self, what: Any = None) -> Any:
        """What the first worker has, for all."""
        box = [what]
        if self.size > 1:
            with self._together():
                dist.broadcast_object_list(box)
        return box[0]

    def gather(self, what: Any) -> list[Any]:
        """What everyone has, by rank, for all."""
        found = [what] * self.size
        if self.size > 1:
            with self._together():
                dist.all_gather_object(found, what)
        return found

    def average(self, parameters: Sequence[torch.nn.Parameter]) -> None:
        """Replaces the gradients by their means over the workers: the greatest one in place, the others together."""
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
        """Looks whether all have the same versions of what they compute with.

        Raises:
            ValueError: they do not; on the first worker, which tells who differs.
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
        """Something that all do; if it fails, somebody has gone."""
        start = time.perf_counter()
        try:
            yield
        except RuntimeError as error:
            raise WorkerLost(self._why()) from error
        self.waited += time.perf_counter() - start

    def _why(self) -> str:
        """What is known of the worker that has gone."""
        if self.first and self._store is not None:
            until = time.monotonic() + LAST_WORDS
            while time.monotonic() < until:
                if self._store.check([FAULT]):
                    return self._store.get(FAULT).decode()
                time.sleep(0.05)
        return "a worker has gone: it was killed, or its machine is down or cannot be reached"


# ------------------------------------------------------------------------------------------------------- how they are started


def torchrun_size() -> int:
    """How many workers `torchrun` has started; 0: it has not started this process."""
    return int(os.environ["WORLD_SIZE"]) if dist.is_torchelastic_launched() else 0


def torchrun_rank() -> int:
    """Which one of them this is; 0 also without `torchrun`."""
    return int(os.environ["RANK"]) if torchrun_size() else 0


@contextmanager
def workers(size: int, work: Work, ray: bool = False, ray_address: str | None = None) -> Iterator[Group]:
    """The group of the first worker, with all others; they end when it is left.

    Under `torchrun` it is the group that this process belongs to, as whichever worker.

    Args:
        size: how many.
        work: what the others do, once they belong to the group.
        ray: whether they are started on a Ray cluster.
        ray_address: of it; as for `connected`.

    Raises:
        ValueError: `torchrun` has started another number of them; or there is no such cluster, or it is too small.
        WorkerLost: not all came.
    """
    with ExitStack() as stack:
        started, rank = torchrun_size(), torchrun_rank()
        if started:
            if rank == 0 and started != size:
                raise ValueError(f"the run has {size} workers, but torchrun has started {started}")
            store, *_ = next(iter(dist.rendezvous("env://", timeout=PATIENCE)))
            group = Group(rank, started, dist.PrefixStore("euphoria", store))
        elif size == 1:
            group = Group()
        else:
            store = stack.enter_context(_on_ray(size, work, ray_address) if ray else _here(size, work))
            group = Group(0, size, store)
        stack.callback(group.close)
        yield group


def _meeting(host: str, size: int) -> dist.TCPStore:
    """A store at this machine, at a port that is free."""
    return dist.TCPStore(host, 0, size, is_master=True, timeout=PATIENCE, wait_for_workers=False)


@contextmanager
def _here(size: int, work: Work) -> Iterator[dist.Store]:
    """Starts the others as processes of this machine."""
    host = "127.0.0.1"
    store = _meeting(host, size)
    processes = {rank: start_process(_join, (work, rank, size, host, store.port)) for rank in range(1, size)}
    try:
        _await(store, size, lambda rank: None if processes[rank].is_alive() else NOT_MAIN)
        yield store
    finally:
        for process in processes.values():
            process.kill()
            process.join()


@contextmanager
def _on_ray(size: int, work: Work, address: str | None) -> Iterator[dist.Store]:
    """Starts the others on a Ray cluster, each on a core of its own."""
    with connected(address) as ray:
        cores = int(ray.cluster_resources().get("CPU", 0))
        if cores < size - 1:
            raise ValueError(f"{size} workers need a Ray cluster of {size - 1} cores besides this process; it has {cores}")
        host = ray.util.get_node_ip_address()
        store = _meeting(host, size)
        remote = ray.remote(num_cpus=1, max_retries=0, scheduling_strategy="SPREAD")(_join)
        tasks = [remote.remote(work, rank, size, host, store.port) for rank in range(1, size)]

        def ended(rank: int) -> str | None:
            """Why a task is over, if it is."""
            done, _ = ray.wait([tasks[rank - 1]], timeout=0)
            try:
                return "its task has ended" if done and ray.get(done) else None
            except ray.exceptions.RayError as error:
                return one_line(getattr(error, "cause", error))

        try:
            _await(store, size, ended)
            yield store
        finally:
            for task in tasks:
                ray.cancel(task, force=True)


def _await(store: dist.Store, size: int, ended: Callable[[int], str | None]) -> None:
    """Waits until all others have come, for the group would wait long for one that never does.

    Args:
        store: where they say that they are there.
        size: of the group.
        ended: why a worker cannot come any more; None: it may.

    Raises:
        WorkerLost: somebody does not come; with what is known of it.
    """
    until = time.monotonic() + ARRIVAL
    for rank in range(1, size):
        while not store.check([f"{HERE}/{rank}"]):
            why = ended(rank) or (time.monotonic() > until and f"it is not there after {ARRIVAL:.0f} s")
            if why:
                said = store.get(FAULT).decode() if store.check([FAULT]) else why
                raise WorkerLost(f"worker {rank} did not come: {said}")
            time.sleep(0.01)


def _join(work: Work, rank: int, size: int, host: str, port: int) -> None:
    """What a worker does that is not the first; what goes wrong is for the first one to tell."""
    store = dist.TCPStore(host, port, size, timeout=PATIENCE)
    try:
        store.set(f"{HERE}/{rank}", "")
        group = Group(rank, size, store)
        work(group)
        group.close()
    except WorkerLost:  # the first one knows
        pass
    except Exception as error:
        store.set(FAULT, f"worker {rank}: {one_line(error)}")
