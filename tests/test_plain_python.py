"""The compiled engine against the same code as plain Python, and with bounds checked: bit for bit."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools.walk import walk

ROOT = Path(__file__).parent.parent


def _run(*command: str, **environment: str) -> list[str]:
    done = subprocess.run([sys.executable, *command], cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()


def test_plain_python_plays_the_same() -> None:
    lines = _run("-W", "error", "-m", "tests.tools.walk", "200", NUMBA_DISABLE_JIT="1")
    assert lines == list(walk(decisions=200))


NETWORK = """
import hashlib, numpy as np
from euphoria_agents import load
from euphoria_env import Game, Rules
game, agent, rng = Game(Rules(num_players=3), seed=1), load("ppo"), np.random.default_rng(0)
for _ in range(60):
    game.play(agent.act(game.observation(game.player), game.mask(), rng, game))
matrix = rng.random((300, 300), np.float32)
print(hashlib.sha256(matrix @ matrix).hexdigest())
told = agent.explain(game.observation(game.player), game.mask(), rng, game)
print(game.to_record(), hashlib.sha256(agent.log_chances_in(game.states)).hexdigest(), told)
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="OpenBLAS has other kernels there")
def test_networks_do_not_depend_on_the_matrix_library() -> None:
    """They compute the same, bit for bit, with other code of OpenBLAS, by which matrices multiply otherwise."""
    (product, *told), (other, *told_too) = _run("-c", NETWORK), _run("-c", NETWORK, OPENBLAS_CORETYPE="Prescott")
    if product == other:
        pytest.skip("numpy's matrix library has the same code for all processors")
    assert told == told_too


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment in which everything is compiled again, with checks."""
    return {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path_factory.mktemp("checked"))}


@pytest.mark.long
def test_no_index_is_out_of_bounds_beyond_the_engine(checked: dict[str, str]) -> None:
    """In batches, trajectories, environments, agents, searches and the words for moves: their own tests, with checks."""
    names = ("batch", "trajectories", "vector", "single_env", "aec", "agents", "explain", "search", "words")
    _run("-m", "pytest", "-q", "-n", "0", "-m", "not slow and not long", *(f"tests/test_{name}.py" for name in names), **checked)
