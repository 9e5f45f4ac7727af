"""The scripts that train and say how good a player is, with little to do."""

from __future__ import annotations

import importlib
import itertools
import json
import re
import runpy
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")
pytest.importorskip("rich")
import torch  # noqa: E402
from rich.console import Console  # noqa: E402
from safetensors.torch import save_file  # noqa: E402

from euphoria_agents import load, play_match  # noqa: E402
from euphoria_agents.benchmark.tasks import TASKS, Task  # noqa: E402
from euphoria_agents.dataclass_arguments import parse_options  # noqa: E402
from euphoria_agents.network.checkpoint import read_checkpoint, save_checkpoint  # noqa: E402
from euphoria_agents.players.ppo import SHIPPED  # noqa: E402
from euphoria_agents.training.config import Options, check  # noqa: E402
from euphoria_env import Game, Rules  # noqa: E402
from euphoria_env.actions import NUM_ACTIONS  # noqa: E402
from tests.tools.scripts import SCRIPTS, call, run  # noqa: E402


@pytest.mark.long
def test_calibration() -> None:
    told = call("calibration", "--games", "6", "--players", "3", "--positions", "0")
    assert "value" in told and "evaluation" in told
    told = call("calibration", "--games", "0", "--players", "4", "--positions", "100", "--advantages", "4")
    assert "outlook" in told and "noise of one" in told


def test_test_positions_of_other_versions_are_refused(tmp_path: Path) -> None:
    read, file = runpy.run_path(str(SCRIPTS / "calibration.py"))["read_test_set"], tmp_path / "positions.npz"
    np.savez(file, rows_2=np.zeros((3, 7), np.uint8), phase_2=np.zeros(3), won_2=np.zeros((3, 2)), true_2=np.zeros(3))
    with pytest.raises(ValueError, match="of another version, whose states and cards have other numbers; --make new ones"):
        read(file, 2)
    with pytest.raises(ValueError, match="no test positions of 3 players"):
        read(file, 3)


def test_the_mean_of_players_has_the_mean_of_their_weights(tmp_path: Path) -> None:
    header, tensors = read_checkpoint(SHIPPED)
    other, out = tmp_path / "other.safetensors", tmp_path / "mean.safetensors"
    save_checkpoint(other, {**tensors, "value.0.bias": 3 * tensors["value.0.bias"]}, header["training"])
    files = [str(SHIPPED), str(other)] * 3
    call("average", "--files", *files, "--win-probs-games", "0", "--out", str(out))
    header, mean = read_checkpoint(out)
    assert header["training"]["averaged"] == files and "outlook" not in header["training"]
    for name, one in mean.items():
        assert one == pytest.approx(tensors[name] * (2 if name == "value.0.bias" else 1), abs=1e-5), name
        assert not name.startswith("features.") or (one == tensors[name]).all(), "a run could not start with the mean"
    save_checkpoint(other, {**tensors, "trunk.1.bias": tensors["trunk.1.bias"][:-1]}, header["training"])
    assert "trunk.1 are missing or do not fit" in call("average", "--files", *files, "--out", str(tmp_path / "new"), code=2)
    critic, before = shutil.copy(out, tmp_path / "critic.safetensors"), out.read_bytes()
    told = call("average", "--files", str(SHIPPED), "--critic", str(critic), "--out", str(out), code=2)
    assert "a critic needs win probabilities" in told and out.read_bytes() == before


@pytest.mark.slow
def test_the_report_of_make_run_has_a_chart_and_a_board(tmp_path: Path) -> None:
    call("demo", "--minutes", "0.01", "--games", "4", "--out", str(tmp_path))
    assert re.findall(r"!\[.+\]\((.+)\)", (tmp_path / "report.md").read_text()) == ["progress.svg", "board.svg"]
    chart = (tmp_path / "progress.svg").read_text()
    assert ">minutes of training<" in chart and ">among equals 25 %<" in chart
    game = Game.from_record((tmp_path / "game.record").read_text())
    assert game.over and f"in turn {game.turn}." in (tmp_path / "report.md").read_text()


# ------------------------------------------------------------------------------------------------------------------ gate

PAIRED = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])  # what one may win more in the two games of a deal
SHARES, TILT = np.array([1, 2, 4, 2, 1]) / 10, np.array([-2, -1, 0, 1, 2]) / 5


@pytest.mark.parametrize(
    ("gains", "verdict"),
    [
        ((0.0, 0.0), "refused"), ((0.1, 0.1), "accepted"), ((0.25, 0.1), "accepted"), ((0.25, -0.2), "refused"),
        ((0.1,) * 6, "accepted"), ((0.0,) * 6, "refused"), ((0.25,) * 5 + (-0.2,), "refused"),
    ],
)  # fmt: skip
def test_the_gate_is_as_often_wrong_as_it_says(gains: tuple[float, ...], verdict: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A candidate that loses to one of the pool is refused, however much it gains elsewhere."""
    monkeypatch.syspath_prepend(SCRIPTS)
    script, rng, found = importlib.import_module("gate"), np.random.default_rng(1), []
    for _ in range(150):
        gate, told = script.Gate([*"abcdef"][: len(gains)], gain=0.1, loss=0.2, error=0.05), "undecided"
        while told == "undecided":
            drawn = [rng.choice(PAIRED, 16, p=SHARES + gain * TILT) for gain in gains]
            told = gate.add(np.stack(drawn, 1))
        found.append(told)
    assert found.count(verdict) >= 0.9 * len(found)


def test_the_gate_plays_until_it_knows_and_goes_on_where_it_was(tmp_path: Path) -> None:
    asked = ["--instead-of", "random", "--against", "random", "--players", "2", "--stars-to-win", "3", "--processes", "1"]
    asked += ["--out", str(tmp_path)]
    told = call("gate", "--agent", "weights", *asked)
    assert told.splitlines()[-1] == "weights instead of random: accepted" and "deals, bounds ±2.94: all +" in told
    journal = tmp_path / "chunks.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines[:-1]) + lines[-1][:100])
    assert call("gate", "--agent", "weights", *asked) == told
    assert len(journal.read_text().splitlines()) == len(lines) + 1, "the torn line stays, and its games are played again"
    asked[1] = asked[3] = "weights"
    assert "random instead of weights: refused" in run(SCRIPTS / "gate.py", "--agent", "random", *asked)[1]


def test_what_the_gate_cannot_test() -> None:
    assert "both 'greedy'" in call("gate", "--agent", "greedy", code=2)
    assert "--against must not have the candidate, 'weights'" in call("gate", "--agent", "weights", code=2)
    assert "--error must be between 0 and 0.5, not 0.5" in call("gate", "--error", "0.5", code=2)


# ------------------------------------------------------------------------------------------------------------- baselines


def test_the_rates_of_the_frozen_opponents() -> None:
    text = call("anchors", "--tasks", "short-v1", "--games", "60", "--processes", "1")
    ratings = json.loads(text.partition(": ")[2].strip().rstrip(",").replace("(", "[").replace(")", "]"))
    assert ratings == sorted(ratings) and len(ratings) == 4


def test_maskable_ppo_trains_a_player(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the options of a task; what is no player is refused."""
    out, rules = tmp_path / "player.safetensors", json.dumps({"stars_to_win": 3})
    call("train_maskable_ppo", "--out", str(out), "--decisions", "1", "--players", "2", "3", "--rules", rules)
    assert "time/total_timesteps" in (tmp_path / "player.csv").read_text().splitlines()[0].split(",")
    monkeypatch.syspath_prepend(SCRIPTS)
    agent = load(f"train_maskable_ppo:Player:{out}")
    results = [
        play_match([agent, load("random")], 4, Rules(num_players=2, stars_to_win=3), seed=1, records=True) for _ in range(2)
    ]
    assert results[0].records == results[1].records and results[0].truncated == 0
    with pytest.raises(ValueError, match="cannot be read as a player"):
        load(f"train_maskable_ppo:Player:{SHIPPED}")


def test_a_player_of_rllib_needs_no_ray(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its tensors are named as RLlib names them (tests/test_rllib.py compares the networks)."""
    monkeypatch.syspath_prepend(SCRIPTS)
    script = importlib.import_module("train_rllib")
    widths = (len(script.HIGH), *script.HIDDEN, NUM_ACTIONS)
    names = [*(f"encoder.encoder.net.mlp.{2 * k}" for k in range(len(script.HIDDEN))), "pi.net.mlp.0"]
    tensors = {}
    for name, (before, after) in zip(names, itertools.pairwise(widths), strict=True):
        tensors |= {f"{name}.weight": torch.zeros(after, before), f"{name}.bias": torch.zeros(after)}
    game = Game(Rules(num_players=2), seed=1)
    tensors["pi.net.mlp.0.bias"][game.legal_actions()[2]] = 50.0
    save_file(tensors, tmp_path / "player.safetensors")
    agent = load(f"train_rllib:Player:{tmp_path / 'player.safetensors'}")
    assert agent.act(game.observation(game.player), game.mask(), np.random.default_rng(1)) == game.legal_actions()[2]
    result = play_match([agent, load("random")], 4, Rules(num_players=2, stars_to_win=2), seed=1)
    assert result.scores[0].games == 4 and "ray" not in sys.modules
    with pytest.raises(ValueError, match="cannot be read as a player"):
        load(f"train_rllib:Player:{SHIPPED}")


@pytest.mark.parametrize("task", TASKS.values(), ids=list(TASKS))
def test_trainings_of_the_baselines_are_by_the_rules(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(SCRIPTS)
    baselines = importlib.import_module("baselines")
    folder = Path("runs")
    arguments = baselines.BASELINES["euphoria-train"].arguments(task, 1000, 1, folder)
    options = parse_options(Options, arguments=arguments[3:])
    check(options)
    assert (options.decisions, options.seed, tuple(options.players)) == (1000, 1, task.players)
    assert Rules(num_players=2, **options.game) == Rules(num_players=2, **task.training)
    for name in ("single-file", "maskable-ppo"):
        arguments = baselines.BASELINES[name].arguments(task, 1000, 1, folder)
        told = dict(itertools.pairwise(arguments))
        assert Rules(num_players=2, **json.loads(told["--rules"])) == Rules(num_players=2, **task.training)
        assert told["--decisions"] == "1000" and told["--seed"] == "1" and set(arguments) >= {"--out", "--players"}


def test_the_curve_of_a_baseline_is_kept_beside_its_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(SCRIPTS)
    baselines = importlib.import_module("baselines")
    options = baselines.Options(out=tmp_path / "out", results=tmp_path / "results")
    files = {"euphoria-train": "run/progress.csv", "single-file": "player.csv"}

    def work(arguments: list[str]) -> None:  # what the programs leave, without their work
        judged = "benchmark" in arguments
        path = Path(arguments[arguments.index("--out") + 1], "result.json") if judged else folder / files[name]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}" if judged else f"decisions\n{name}\n")

    monkeypatch.setattr(baselines, "run", work)
    monkeypatch.setattr(baselines, "make_entry", lambda folder, links, training: {"training": training})
    for name in files:
        folder = options.out / "duel-v1" / f"{name}-2000000-0"
        baselines.train_and_judge(options, Console(quiet=True), TASKS["duel-v1"], name, 0)
        found = options.results / "duel-v1" / folder.name
        assert json.loads(found.with_suffix(".json").read_text())["training"]["seed"] == 0
        assert found.with_suffix(".csv").read_text() == f"decisions\n{name}\n"
