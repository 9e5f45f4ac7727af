"""Several machines that train together: one process on each, started by PyTorch's `torchrun`.

This is synchronous data-parallel training by `torch.distributed` (gloo): in each step of the optimizer every process computes the
gradients of its share of the decisions, and all apply their mean, so that the networks stay equal. The first process, rank 0,
reads the run, reports, rates and saves. Within a process, threads share the work (`training.threads`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from importlib.metadata import version
from typing import Any

import torch
import torch.distributed as dist

from euphoria_agents.matches.tournament import hash_of_code

PATIENCE = timedelta(hours=1)  # until a process that does not answer is given up; the compiler may run meanwhile
SAME = ("euphoria-env", "torch", "numba", "numpy")  # packages that must have the same versions everywhere


class ProcessLost(RuntimeError):
    """A process has gone, or does not answer."""


@contextmanager
def _together() -> Iterator[None]:
    """Encloses what all processes do together; if it fails, somebody has gone."""
    try:
        yield
    except RuntimeError as error:
        raise ProcessLost("a process has gone: it was killed, or its machine is down or cannot be reached") from error


class Group:
    """The processes of a run, as one of them sees them; without `torchrun` this process alone.

    Attributes:
        rank: the number of this one; 0 is the first.
        size: how many there are.

    Raises:
        ProcessLost: not all came; from each method: somebody has gone.
    """

    @_together()
    def __init__(self) -> None:
        launched = dist.is_torchelastic_launched()
        self.rank, self.size = (int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])) if launched else (0, 1)
        if self.size > 1:
            dist.init_process_group("gloo", rank=self.rank, world_size=self.size, timeout=PATIENCE)

    @property
    def first(self) -> bool:
        """Whether this is the process that reports, rates and saves."""
        return self.rank == 0

    @_together()
    def share(self, value: Any = None) -> Any:
        """Returns the value of the first process to all."""
        box = [value]
        if self.size > 1:
            dist.broadcast_object_list(box)
        return box[0]

    @_together()
    def gather(self, value: Any) -> list[Any]:
        """Returns the values of all processes, by rank, to all."""
        found = [value] * self.size
        if self.size > 1:
            dist.all_gather_object(found, value)
        return found

    @_together()
    def average(self, gradient: torch.Tensor) -> None:
        """Replaces gradients by their means over the processes."""
        here = gradient.cpu()  # the same one, on the processor
        dist.all_reduce(here)
        gradient.copy_(here / self.size)

    def agree(self) -> None:
        """Checks that all processes run the same code, with the same versions of the packages they compute with.

        Raises:
            ValueError: they have not; on the first process.
        """
        mine = {**{name: version(name) for name in SAME}, "the code": hash_of_code().hex()[:16]}
        for rank, theirs in enumerate(self.gather(mine)):
            if self.first and theirs != mine:
                name = next(name for name in mine if theirs[name] != mine[name])
                raise ValueError(f"process {rank} has {name} {theirs[name]}, the first one {mine[name]}: they must be the same")

    def close(self) -> None:
        """Leaves the group; the others notice."""
        if self.size > 1 and dist.is_initialized():
            dist.destroy_process_group()
