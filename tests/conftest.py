"""What all tests begin with."""

from __future__ import annotations

import signal
from collections import Counter

import pytest

pytest.register_assert_rewrite("tests.tools")  # before anything imports them: their asserts say what differs
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever starts the tests in the background has it ignored


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts files with many slow tests first, so that no worker is left with one of them when the others have finished."""
    slow = Counter(item.path for item in items if item.get_closest_marker("slow"))
    items.sort(key=lambda item: -slow[item.path])
