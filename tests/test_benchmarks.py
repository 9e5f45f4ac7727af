"""The benchmarks and `euphoria speed` run and write what they should; how fast anything is, no test asks."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.tools.commands import euphoria, start
from tests.tools.scripts import run

pytest.importorskip("rich")
FOLDER = Path(__file__).parent.parent / "benchmarks"


def call(script: Path, *arguments: Any, code: int = 0) -> str:
    """Runs a benchmark; what it printed."""
    status, printed, told = run(script, *arguments)
    assert status == code, printed + told
    return printed + told


def speed(*arguments: Any, code: int = 0) -> str:
    """Runs `euphoria speed`; what it printed."""
    status, printed, told = euphoria("speed", *arguments)
    assert status == code, printed + told
    return printed + told


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("--players 7", "players must be 2 to 6, not [7]"),
        ("--sizes 0", "must be positive"),
        ("--seconds nan", "must be positive"),
        ("--groups all", "invalid choice: 'all'"),
        ("--seed -1", "seed must be at least 0"),
        ("--threads 2", "threads are measured with --training only"),
        ("--training --threads 0", "threads must be at least 1, not 0"),
        ("--training --repeats 0", "repeats must be at least 1, not 0"),
        ("--training --seed -1", "seed must be at least 0, not -1"),
        (
            "--training --threads 1 --quick --plot a.png --groups engine --players 2 --sizes 1 --seconds 1 --clock cpu",
            "only --threads, --repeats, --seed, --json go with --training, "
            "not --quick, --plot, --groups, --players, --sizes, --seconds, --clock",
        ),
    ],
)
def test_bad_input(wrong: str, message: str) -> None:
    told = speed(*wrong.split(), code=2)
    assert told.startswith("error: ") and message in told and told.count("\n") == 1


@pytest.mark.parametrize(
    ("group", "library", "left", "message"),
    [
        ("vector", "stable_baselines3.common.monitor", ["vector env"], "SB3 VecEnv left out, it needs stable_baselines3"),
        ("picture", "resvg_py", [], "frame, little changed left out, it needs resvg_py: pip install 'euphoria-env[render]'"),
        ("picture", "", ["frame, new", "frame, little changed"], ""),
    ],
)
def test_layers_whose_library_is_missing_are_left_out(
    group: str, library: str, left: list[str], message: str, monkeypatch: Any, capsys: Any
) -> None:
    from euphoria_agents.speed import layers, turns
    from euphoria_agents.speed.settings import GROUPS, Plan

    assert (*dict.fromkeys(layer.group for layer in layers.LAYERS), "memory", "start") == GROUPS
    if library:
        monkeypatch.setitem(sys.modules, library, None)
    elif group == "picture":
        pytest.importorskip("resvg_py")
    monkeypatch.delitem(sys.modules, "euphoria_env.envs.sb3", raising=False)
    turns._report_left_out.cache_clear()
    found = [*turns.measure(Plan([group], [2, 3], [1, 2], 0.001, 1, 0))]
    assert [*dict.fromkeys(one.layer for one in found)] == left and all(min(one.values) > 0 for one in found)
    reported = [line for line in capsys.readouterr().err.splitlines() if "left out" in line]
    assert (reported[-1].startswith(message) if message else not reported) and len(reported) <= 2


def test_layers_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a machine that gets busier slows all of them; each figure is told again with all its values."""
    from euphoria_agents.speed import layers, turns
    from euphoria_agents.speed.settings import Plan

    calls: list[str] = []

    def make(name: str, players: int, n: int, seed: int) -> Any:
        def chunk() -> tuple[int, float]:
            calls.append(f"{name}{players}/{n}")
            return 1, 1.0

        return chunk

    made = [layers.Layer(name, "group", partial(make, name), many=name == "b") for name in "ab"]
    monkeypatch.setattr(turns, "LAYERS", made)
    found = [*turns.measure(Plan(["group"], [2, 3], [1, turns.TOGETHER + 1], 0.5, 2, 0))]
    large = turns.TOGETHER + 1
    for players, order in ((2, calls[: len(calls) // 2]), (3, calls[len(calls) // 2 :])):
        small, big = [f"a{players}/0", f"b{players}/1"], f"b{players}/{large}"
        first = [small[0], small[0], small[1], small[1]]  # one chunk of each does not count
        assert order == [*first, *small, big, big, big]
    assert [(one.layer, one.n, len(one.values)) for one in found[:4]] == [("a", 0, 1), ("b", 1, 1), ("a", 0, 2), ("b", 1, 2)]
    assert Plan([], [2], [1], 1, 1, 0).clock == "cpu"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_is_measured_is_told_at_once_and_at_the_end(number: signal.Signals) -> None:
    """Endless repeats: the first value of each figure is a line, and whatever stops the measurement gets the table."""
    with start("speed", "--groups", "aec", "--players", 2, "--seconds", 0.001, "--repeats", 10**9) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(2)]
        process.send_signal(number)
        printed, told = process.communicate()
    assert [line.split(", ")[0] for line in lines] == ["AEC raw", "AEC wrapped"]
    assert all(re.search(r", 2 players: [\d.]+[kM]? decisions/s\n$", line) for line in lines)
    assert "medians, by number of players" in printed and printed.count("AEC wrapped") == 1
    assert process.returncode == 130 and told.endswith("\nstopped\n") and "Traceback" not in told


@pytest.mark.long
def test_every_layer_runs_and_is_written(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    found, drawing = tmp_path / "new" / "found.json", tmp_path / "found.png"
    tiny = ("--quick", "--players", 2, "--sizes", 1, 3, "--seconds", 0.001, "--repeats", 2)
    text = speed(*tiny, "--json", found, "--plot", drawing)
    assert "engine" in text and drawing.read_bytes().startswith(b"\x89PNG")

    written = json.loads(found.read_text())
    assert {"python", "numpy", "numba", "euphoria-env"} <= set(written["versions"])
    assert written["machine"]["cores"] and written["options"]["sizes"] == [1, 3] and written["date"]
    layers = {row["layer"] for row in written["results"]}
    wanted = {"engine", "batch, mask", "vector env", "Game.play(id)", "Game.clone", "AEC raw", "AEC wrapped"}
    assert wanted | {"memory, state"} <= layers
    assert {row["n"] for row in written["results"] if row["layer"] == "batch, mask"} == {1, 3}
    for row in written["results"]:
        assert row["median"] > 0 and row["unit"] and row["players"] == 2
        assert len(row["values"]) == (1 if row["unit"] == "bytes" else 2)


@pytest.mark.slow
def test_a_peer_that_cannot_be_installed_is_left_out(tmp_path: Path) -> None:
    """No network here: the environment of the peer exists, but is empty."""
    home = tmp_path / "rlcard"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    (home / ".installed").touch()
    found = tmp_path / "peers.json"
    few = ("--seconds", 0.001, "--repeats", 1, "--players", 2)
    text = call(FOLDER / "peers.py", "--peers", "rlcard", "--folder", tmp_path, "--json", found, *few)
    assert "rlcard left out" in text
    written = json.loads(found.read_text())
    assert list(written["left_out"]) == ["rlcard"]
    assert {row["peer"] for row in written["results"]} == {"euphoria-env"}


def test_training_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sb3_contrib")
    from euphoria_agents.speed import training
    from euphoria_agents.speed.settings import TrainingPlan
    from tests.tools.small_runs import options

    for name, value in {"WARM": 1, "UPDATES": 1, "GAMES": 4, "STEPS": 4}.items():
        monkeypatch.setattr(training, name, value)
    monkeypatch.setattr(training, "Options", lambda **given: options(**{"run": None, **given}, decisions=100 * 21 * 8))
    clock = iter([(10.0, 1.0), (20.0, 3.0), (10.0, 1.0), (20.0, 3.1)])  # run, and waited
    monkeypatch.setattr(training, "_scheduled", lambda: next(clock))
    measured = list(training.measure_training(TrainingPlan([1, 2], repeats=2, seed=3)))
    found = [one for one in measured if one.unit != "%"]
    waits = [one for one in measured if one.unit == "%"]
    assert [round(one.median) for one in waits] == [20, 21]
    assert ["worthless" in one.layer for one in waits] == [False, True]
    parts = ("playing alone", "learning alone", "both")
    assert [one.layer for one in found] == [
        *(f"training, {threads}: {part}" for threads in ("1 thread", "2 threads") for part in parts),
        "MaskablePPO on EuphoriaVecEnv",
    ]
    assert all(one.unit == "own decisions/s" and len(one.values) == 2 and min(one.values) > 0 for one in found)


def test_what_is_measured_of_training_is_shown_and_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from euphoria_agents.commands import speed as command
    from euphoria_agents.speed.measure import Measurement
    from euphoria_agents.speed.settings import SpeedOptions, TrainingPlan

    def measured(plan: TrainingPlan) -> Iterator[Measurement]:
        yield Measurement("training, 3 threads", 0, 0, "own decisions/s", [float(plan.seed)] * plan.repeats)
        yield Measurement("training, 3 threads: waiting", 0, 0, "%", [12.5])

    monkeypatch.setitem(sys.modules, "euphoria_agents.speed.training", SimpleNamespace(measure_training=measured))
    command.run(SpeedOptions(training=True, threads=[3], seed=7000, json=tmp_path / "found.json"))
    lines = [line.replace("│", "").replace("┃", "").split() for line in capsys.readouterr().out.splitlines()]
    assert ["training", "median", "unit"] in lines and ["training,", "3", "threads", "7k", "own", "decisions/s"] in lines
    assert ["training,", "3", "threads:", "waiting", "12.5", "%"] in lines
    written = json.loads((tmp_path / "found.json").read_text())
    assert written["options"] == {"threads": [3], "repeats": 5, "seed": 7000}
    assert [row["median"] for row in written["results"]] == [7000, 12.5]
