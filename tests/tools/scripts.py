"""Programs of `scripts/` and `benchmarks/`, called as their users do, but in this process, which has imported everything."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from tests.tools.commands import run_here

SCRIPTS = Path(__file__).parents[2] / "scripts"


def run(script: Path, *arguments: Any) -> tuple[int, str, str]:
    """Status, output and errors of a script."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(script.parent)
        patch.setenv("COLUMNS", "120")
        return run_here(lambda: runpy.run_path(str(script), run_name="__main__"), script, *arguments)


def call(name: str, *arguments: Any, code: int = 0) -> str:
    """Runs one of `scripts/`, or `../benchmarks/NAME`; what it printed, or if it fails, said of it."""
    status, printed, told = run(SCRIPTS / f"{name}.py", *arguments)
    assert status == code, printed + told
    return told if code else printed
