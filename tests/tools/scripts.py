"""Programs of `scripts/` and `benchmarks/`, called as their users do, but in this process, which has imported everything."""

from __future__ import annotations

import contextlib
import io
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"


def run(script: Path, *arguments: Any) -> tuple[int, str, str]:
    """Status, output and errors of a script."""
    printed, told, status = io.StringIO(), io.StringIO(), 0
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(printed), contextlib.redirect_stderr(told):
        patch.setattr(sys, "argv", [str(script), *map(str, arguments)])
        patch.syspath_prepend(script.parent)
        patch.setenv("COLUMNS", "120")
        try:
            runpy.run_path(str(script), run_name="__main__")
        except SystemExit as ended:
            status = int(ended.code or 0)
    return status, printed.getvalue(), told.getvalue()


def call(name: str, *arguments: Any, code: int = 0) -> str:
    """Runs one of `scripts/`; what it printed, or if it fails, said of it."""
    status, printed, told = run(SCRIPTS / f"{name}.py", *arguments)
    assert status == code, printed + told
    return told if code else printed
