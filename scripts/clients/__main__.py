"""Runs the uses of one client where it is installed, and prints rows of a table: `python -m scripts.clients NAME`."""

from __future__ import annotations

import contextlib
import importlib
import io
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from importlib.metadata import version


def result(use: Callable[[], int]) -> str:
    """Steps a second, the second time it is done: the first one compiles; or what went wrong."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            use()
            began = time.perf_counter()
            steps = use()
        return f"{steps / (time.perf_counter() - began):,.0f} steps/s"
    except Exception as error:
        traceback.print_exc()
        return f"failed: {type(error).__name__}: {error}".replace("\n", " ").replace("|", "/")[:200]


def main() -> int:
    warnings.simplefilter("ignore")
    client = importlib.import_module(f"scripts.clients.{sys.argv[1]}")
    versions = ", ".join(f"{name} {version(name)}" for name in client.NAMES)
    results = []
    for what, use in client.USES.items():
        results.append(result(use))
        print(f"| {versions} | {what} | {results[-1]} |", flush=True)
        versions = ""
    return int(any(one.startswith("failed") for one in results))


if __name__ == "__main__":
    sys.exit(main())
