"""The benchmarks and `euphoria speed` run and write what they should; how fast anything is, no test asks."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("rich")
from euphoria_agents.commands import speed as command  # noqa: E402
from euphoria_agents.commands.shared_arguments import SPEED_GROUPS, SpeedOptions  # noqa: E402
from euphoria_agents.speed.layers import LAYERS  # noqa: E402
from euphoria_agents.speed.measure import Measurement  # noqa: E402
from tests.tools.commands import euphoria  # noqa: E402


def speed(*arguments: Any) -> str:
    """Runs `euphoria speed`; what it printed."""
    status, printed, told = euphoria("speed", *arguments)
    assert status == 0, told
    return printed + told


TINY = ("--players", 2, 3, "--sizes", 1, 3, "--seconds", 0.001, "--repeats", 2)


def test_every_layer_is_measured_and_written(tmp_path: Path) -> None:
    text = speed(*TINY, "--json", tmp_path / "new" / "a.json")
    written = json.loads((tmp_path / "new" / "a.json").read_text())
    assert {"python", "numpy", "numba", "euphoria-env"} <= set(written["versions"])
    assert written["machine"]["cores"] and written["options"]["sizes"] == [1, 3] and written["date"]
    left_out = {layer.name for layer in LAYERS if f"{layer.name} left out, it needs " in text}
    assert {(row["layer"], row["players"], row["n"]) for row in written["results"]} == {
        (layer.name, players, n)
        for layer in LAYERS
        if layer.name not in left_out
        for players in (2, 3)
        for n in ((1, 3) if layer.many else (0,))
    }
    assert all(len(row["values"]) == 2 and min(row["values"]) > 0 and row["median"] for row in written["results"])
    assert all(name in text for name in ("medians, by number of players", "2p", "3p", "batch, mask", "AEC raw"))
    assert tuple(dict.fromkeys(layer.group for layer in LAYERS)) == SPEED_GROUPS


def test_layers_whose_library_is_missing_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "stable_baselines3.common.monitor", None)
    monkeypatch.delitem(sys.modules, "euphoria_env.envs.sb3", raising=False)
    text = speed(*TINY, "--groups", "vector")
    assert text.count("SB3 VecEnv left out, it needs stable_baselines3") == 2 and "vector env" in text


def test_an_interrupt_shows_what_was_measured() -> None:
    def measure(players: int, options: SpeedOptions, results: list[Measurement]) -> Iterator[None]:
        results += [Measurement("AEC raw", players, 0, "decisions/s", [3000.0]), Measurement("AEC wrapped", players, 0, "x", [])]
        yield
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command, "measure", measure)
        status, printed, told = euphoria("speed")
    assert status == 130 and told.endswith("\nstopped\n") and "3k" in printed and "AEC wrapped" not in printed
