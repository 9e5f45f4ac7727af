"""The set-up of all tests."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator

import pytest

pytest.register_assert_rewrite("tests.tools", "tests.referee")  # before anything imports them: their asserts say what differs
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever starts the tests in the background has it ignored


# The files that take longest, as measured with `--durations=0`: they begin, so that no worker is left with one at the end.
FIRST = (
    *("tasks", "serve", "oracle", "provenance", "sessions", "own_files", "docs", "study", "training", "hidden", "browser"),
    *("browser_language", "workers", "llm", "differential", "commands", "plain_python", "isolation", "mcp", "words"),
    *("fuzz_files", "vector", "scenarios", "render", "files", "fuzz", "scripts", "tournament", "picture"),
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts the slowest files first; what is not among them keeps its place."""
    places = {f"test_{name}.py": k for k, name in enumerate(FIRST)}
    items.sort(key=lambda item: places.get(item.path.name, len(FIRST)))


@pytest.fixture(autouse=True)
def interrupts_as_before() -> Iterator[None]:
    """A command that ran in this process leaves no handler behind, which would end the process of the tests."""
    handler = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, handler)


@pytest.fixture(scope="module", autouse=True)
def nothing_left_running() -> Iterator[None]:
    """No process that the tests of a file have started goes on after its last fixture."""
    yield
    for process in multiprocessing.active_children():
        process.join()
