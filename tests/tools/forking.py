"""Forked processes: they have imported what their parent has."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import warnings
from collections.abc import Callable
from multiprocessing import forkserver, resource_tracker
from typing import Any

import pytest

needs_fork = pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")


def in_a_fork(work: Callable[[], Any]) -> Any:
    """Returns what a function returns in a fork of this process."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads beside a fork, which is what is tested
        child = context.Process(target=_tell, args=(work, theirs))
        child.start()
    try:
        return ours.recv()
    finally:
        child.kill()
        child.join()


def become_a_parent() -> None:
    """Lets a fork start processes of its own: the helpers of multiprocessing that its parent has started are not its children."""
    tracker: Any = resource_tracker._resource_tracker
    tracker._fd = tracker._pid = None
    server: Any = forkserver._forkserver
    server._forkserver_pid = server._forkserver_alive_fd = server._forkserver_address = None


def _tell(work: Callable[[], Any], connection: multiprocessing.connection.Connection) -> None:
    become_a_parent()
    connection.send(work())
