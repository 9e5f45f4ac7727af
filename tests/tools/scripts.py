"""The programs of `scripts/`, called as their users do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPTS = Path(__file__).parents[2] / "scripts"


def call(name: str, *arguments: str, code: int = 0) -> str:
    """Runs a script; what it printed, or if it fails, said of it."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "COLUMNS": "120"}
    command = [sys.executable, str(SCRIPTS / f"{name}.py"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stderr if code else done.stdout
