"""Hostile input of every kind, in small numbers (`make fuzz` tries more), and what it has found once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from euphoria_agents import load
from euphoria_env import Game, Rules
from euphoria_env.derived_seeds import generator_from
from tests.tools import fuzz

ROOT = Path(__file__).parent.parent
DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.slow
def test_positions() -> None:
    """As plain Python, where an index beyond an array is an error."""
    command = [sys.executable, "-m", "tests.tools.fuzz", "since", "position", "--inputs", "50", "--seed", "3"]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    assert done.stdout.count(" 0 failed") == 2


@pytest.mark.parametrize(
    ("kind", "inputs"), [("since", 150), ("position", 200), ("record", 300), ("checkpoint", 100), ("run", 50)]
)
def test_hostile_input(kind: str, inputs: int) -> None:
    if kind in ("checkpoint", "run"):
        pytest.importorskip("safetensors.numpy")
    if kind == "run":
        pytest.importorskip("torch")
    found = fuzz.fuzz(kind, inputs, seed=3)
    assert found.failures == []
    assert found.refused and found.used and found.refused + found.used == inputs


# -------------------------------------------------------------------------------------------------------------------- records


@pytest.mark.parametrize("version", [True, 2.0, "2", None, 3, [2]])
def test_the_version_of_a_record_is_an_integer(version: Any) -> None:
    first, *rest = Game(Rules(num_players=2), seed=1).to_record().splitlines()
    with pytest.raises(ValueError, match="line 1: version .* cannot be read"):
        Game.from_record("\n".join([json.dumps({**json.loads(first), "version": version}), *rest]))


# -------------------------------------------------------------------------------------------------------- files of networks


def checkpoint(path: Path, tensors: dict[str, np.ndarray] | None = None, **training: Any) -> Path:
    """A file of a small network."""
    pytest.importorskip("safetensors.numpy")
    from euphoria_agents.network.checkpoint import save_checkpoint

    return save_checkpoint(path, fuzz.small_network() | (tensors or {}), training)


@pytest.mark.parametrize("reward", ["fun", 1, None, ["win"], True])
def test_a_reward_that_is_none_is_told_with_the_file(tmp_path: Path, reward: Any) -> None:
    path = checkpoint(tmp_path / "a.safetensors", reward=reward)
    with pytest.raises(ValueError, match=f"^{path}: the header does not say for which reward .* one of win, rank, stars"):
        load(f"mcts:5:ppo:{path}")
    assert load(f"mcts:5:ppo:{checkpoint(path, reward='win')}")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("policy.0.weight", 1e30),
        ("trunk.0.bias", 3e38),
        ("features.scale", 3e38),
        ("value.0.weight", 1e20),
        ("outlook.1.weight", 1e30),
    ],
)
def test_numbers_beyond_all_measure_are_refused(tmp_path: Path, name: str, value: float) -> None:
    """They are finite, and what is computed from them is not."""
    path = checkpoint(tmp_path / "a.safetensors", {name: np.full_like(fuzz.small_network()[name], value)})
    with pytest.raises(ValueError, match=f"^{path}: the tensors of {name.rpartition('.')[0]} "):
        load(f"ppo:{path}")


def write_header(path: Path, header: bytes, size: int, length: int | None = None) -> Path:
    """A safetensors file of this size, all zeros after its header; it takes no room on the disk."""
    with path.open("wb") as file:
        file.write((len(header) if length is None else length).to_bytes(8, "little") + header)
        file.truncate(8 + len(header) + size)
    return path


def test_great_foreign_files_are_refused_unread(tmp_path: Path) -> None:
    pytest.importorskip("safetensors.numpy")
    huge = 3 * 10**9
    tensor = {"dtype": "F32", "shape": [huge // 4], "data_offsets": [0, huge]}
    foreign = write_header(tmp_path / "foreign", json.dumps({"weights": tensor}).encode(), huge)
    small = [
        write_header(tmp_path / "declares", json.dumps({"weights": tensor}).encode(), 100),
        write_header(tmp_path / "long_header", b"{}", 100, length=2**62),
        write_header(tmp_path / "overflow", json.dumps({"weights": tensor | {"shape": [2**62, 2**62]}}).encode(), 100),
        write_header(tmp_path / "deep", b"[" * 100_000, 100),
        write_header(tmp_path / "deep_inside", json.dumps({"__metadata__": {"euphoria": DEEP}}).encode(), 0),
    ]
    tracemalloc.start()
    try:
        for path in (foreign, *small):
            with pytest.raises(ValueError, match=str(path)) as caught:
                load(f"ppo:{path}")
            assert str(caught.value).isprintable()
        assert tracemalloc.get_traced_memory()[1] < 50e6
    finally:
        tracemalloc.stop()


# ----------------------------------------------------------------------------------------------------------- generators


@pytest.mark.parametrize(
    ("key", "value"),
    [("bit_generator", "MT19937"), ("state", {"state": 0, "inc": 0}), ("state", {"state": 1.0, "inc": 1}), ("has_uint32", 2)],
)
def test_generators_that_cannot_be(key: str, value: Any) -> None:
    state: dict[str, Any] = dict(np.random.default_rng(7).bit_generator.state)
    assert generator_from(json.loads(json.dumps(state))).random() == np.random.default_rng(7).random()
    with pytest.raises(ValueError, match=f"^generator.{key}"):
        generator_from({**state, key: value})
