"""The compiled engine against the same code as plain Python, with bounds checked, and on other Python versions: bit for bit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.golden_games import FOLDER
from tests.walk import walk

ROOT = Path(__file__).parent.parent
OTHER_VERSIONS = [f"python3.{minor}" for minor in range(11, 16) if minor != sys.version_info.minor]
# Replays the records given on the command line; prints their fingerprints.
REPLAY = """
import sys
from euphoria_env import Game
for name in sys.argv[1:]:
    print(Game.from_record(open(name).read()).fingerprint())
"""


def _run(*command: str | Path, python: str = sys.executable, **environment: str) -> list[str]:
    done = subprocess.run(
        [python, *command], cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, timeout=550
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()


def test_plain_python_plays_the_same() -> None:
    lines = _run("-W", "error", "-m", "tests.walk", "--decisions", "200", NUMBA_DISABLE_JIT="1")
    assert lines == list(walk(decisions=200))


@pytest.mark.slow  # compiles the engine anew, with checks
def test_no_index_is_out_of_bounds(tmp_path: Path) -> None:
    lines = _run("-m", "tests.walk", "--decisions", "200", NUMBA_BOUNDSCHECK="1", NUMBA_CACHE_DIR=str(tmp_path))
    assert lines == list(walk(decisions=200))


@pytest.mark.slow
def test_another_python_version_replays_the_records() -> None:
    """EUPHORIA_PYTHONS, a list like PATH, names interpreters that have the dependencies; else those on the PATH are tried."""
    named = os.environ.get("EUPHORIA_PYTHONS", "")
    pythons = [python for python in named.split(os.pathsep) if python]
    for python in () if pythons else filter(None, map(shutil.which, OTHER_VERSIONS)):
        tried = subprocess.run([python, "-c", "import gymnasium, numba, pettingzoo"], capture_output=True)
        pythons += [python] * (tried.returncode == 0)
    if not pythons:
        pytest.skip("no other Python version with numba, gymnasium and pettingzoo here; EUPHORIA_PYTHONS can name one")
    records = sorted(FOLDER.glob("*.record"))
    for python in pythons:
        fingerprints = _run("-c", REPLAY, *records, python=python, NUMBA_DISABLE_JIT="1")
        assert fingerprints == [path.read_text().split()[-1] for path in records], python
