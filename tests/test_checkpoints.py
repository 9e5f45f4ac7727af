"""Files of trained players: damaged ones and those of another version are refused, and nothing of a foreign file is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("safetensors")

import numpy as np
from safetensors.numpy import save_file

from euphoria_agents.network.checkpoint import read_checkpoint
from euphoria_agents.players.ppo import PPO, SHIPPED

HEADER, TENSORS = read_checkpoint(SHIPPED)


def write(path: Path, tensors: dict[str, np.ndarray] = TENSORS, **header: Any) -> Path:
    save_file(tensors, path, {"euphoria": json.dumps(HEADER | header)})
    return path


def test_nothing_but_the_header_of_a_foreign_file_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import safetensors

    def get(*_: Any) -> None:
        raise AssertionError("a tensor was read")

    path, opened = write(tmp_path / "foreign", format="other"), safetensors.safe_open

    class Watched:
        def __init__(self, *arguments: Any, **options: Any) -> None:
            self.file = opened(*arguments, **options)

        def __enter__(self) -> Watched:
            return self

        def __exit__(self, *_: object) -> None:
            """Nothing to close."""

        def metadata(self) -> Any:
            return self.file.metadata()

        keys = get_tensor = get

    monkeypatch.setattr(safetensors, "safe_open", Watched)
    with pytest.raises(ValueError, match="is not a checkpoint"):
        PPO.load(path)


@pytest.mark.parametrize("damage", ["float64", "header of brackets"])
def test_damaged_players_are_refused(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "player"
    if damage == "float64":
        write(path, TENSORS | {"policy.0.weight": TENSORS["policy.0.weight"].astype(np.float64)})
    else:
        save_file(TENSORS, path, {"euphoria": "[" * 100_000})
    with pytest.raises(ValueError, match="must be of float32|cannot be read"):
        PPO.load(path)
