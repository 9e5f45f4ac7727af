"""The command `euphoria`, in this process, or in one of its own where interrupts and ends are what is tested."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from euphoria_agents.__main__ import main
from euphoria_agents.matches import work

PATHS = os.pathsep.join(filter(None, sys.path))


def run_here(main: Callable[[], Any], *argv: Any) -> tuple[int, str, str]:
    """Status, output and errors of a program, run in this process with these words in `sys.argv`."""
    printed, told, status = io.StringIO(), io.StringIO(), 0
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(printed), contextlib.redirect_stderr(told):
        patch.setattr(sys, "argv", [*map(str, argv)])
        try:
            main()
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
            told.write(ended.code if isinstance(ended.code, str) else "")
    return status, printed.getvalue(), told.getvalue()


def euphoria(*arguments: Any, cwd: Path | None = None) -> tuple[int, str, str]:
    """Status, output and errors of `euphoria`; modules of the folder where it runs are imported afresh."""
    words, before = [*map(str, arguments)], {*sys.modules}
    with pytest.MonkeyPatch.context() as patch:
        if cwd is not None:
            patch.chdir(cwd)
            patch.syspath_prepend(cwd)
        try:
            return run_here(lambda: main(words), "euphoria", *words)
        finally:
            for name in sys.modules.keys() - before:
                if cwd is not None and Path(getattr(sys.modules[name], "__file__", None) or "").parent == cwd:
                    del sys.modules[name]
            work._hashes_once.cache_clear()


def start(*arguments: Any, cwd: Path | None = None, session: bool = False) -> subprocess.Popen[str]:
    """Starts `euphoria`, if so wanted in a group of processes of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "euphoria_agents", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": PATHS},
        preexec_fn=heed_interrupts,
        start_new_session=session,
    )


def heed_interrupts() -> None:
    """Undoes what shells do for commands in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
