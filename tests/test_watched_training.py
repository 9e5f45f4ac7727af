"""A training that is watched: options from a file, what a run says of itself, evaluations on the way, and curves over seeds."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.tools.commands import euphoria

pytest.importorskip("torch")

CONFIG = """
players = [2]
envs = 16
threads = 1
decisions = 3000
baselines = ["random"]
rating_games = 0
win-probs-games = 0
evaluate_every = 1000
evaluation_games = 4
against = ["random", "weights"]
trunk = [16]
stars_to_win = 1
save_every = 1
"""


def train(folder: Path, *more: Any, config: str = CONFIG) -> tuple[int, str, str]:
    file = folder.with_suffix(".toml")
    file.write_text(config)
    return euphoria("train", "--config", file, "--run", folder, *more)


def rows(folder: Path) -> list[dict[str, str]]:
    return list(csv.DictReader((folder / "evaluations.csv").read_text().splitlines()))


def test_a_run_is_evaluated_and_says_how_it_was_made(tmp_path: Path) -> None:
    run = tmp_path / "run"
    status, printed, told = train(run, "--seed", 3, "--evaluation-games", 6)
    assert status == 0, told
    found = rows(run)
    assert [(row["players"], row["against"], row["games"]) for row in found[:2]] == [("2", "random", "6"), ("2", "weights", "6")]
    points = [int(row["decisions"]) for row in found[::2]]
    assert (
        points[0] == 0 and [point // 1000 for point in points] == sorted({point // 1000 for point in points}) and len(points) >= 3
    )
    assert all(float(row["win_rate"]) == pytest.approx(int(row["wins"]) / 6, abs=1e-5) for row in found)
    assert all(float(row["low"]) <= float(row["win_rate"]) <= float(row["high"]) for row in found)
    about = json.loads((run / "config.json").read_text())
    assert about["seed"] == about["options"]["seed"] == 3 and about["options"]["evaluation_games"] == 6
    assert about["options"]["envs"] == 16 and about["options"]["game"] == {"stars_to_win": 1}
    assert "--seed 3" in about["commands"][0] and about["versions"]["numpy"] and len(about["commit"].rstrip("+")) == 40

    status, _, told = euphoria("train", "--resume", run, "--decisions", 5000)
    assert status == 0, told
    again = [{**row, "minutes": ""} for row in rows(run)]
    assert again[: len(points)] == [{**row, "minutes": ""} for row in found][: len(points)] and len(again) > len(found)
    assert len(json.loads((run / "config.json").read_text())["commands"]) == 2


def test_curves_are_the_mean_over_seeds(tmp_path: Path) -> None:
    runs = [tmp_path / f"run-{seed}" for seed in (1, 2)]
    for seed, run in enumerate(runs):
        assert train(run, "--seed", seed)[0] == 0
    picture = tmp_path / "curves.svg"
    for _ in range(2):  # its own picture may be replaced
        status, printed, told = euphoria("curves", *runs, "--against", "random", "--out", picture)
        assert status == 0, told
    last = [[float(row["win_rate"]) for row in rows(run) if row["against"] == "random"][-1] for run in runs]
    line = next(line for line in printed.splitlines() if line.startswith("2 seeds, 2 players, against random: "))
    mean, low, high = (float(number) / 100 for number in re.findall(r"([\d.]+)%", line))
    assert min(last) - 0.3 <= low <= mean <= high <= max(last) + 0.3
    assert "against weights" not in printed and "2 players, against random" in picture.read_text()
    assert euphoria("curves", *runs, "--players", 4, "--out", picture)[0] == 2
    status, _, told = euphoria("curves", tmp_path, "--out", tmp_path / "other.svg")
    assert status == 2 and "is no run of euphoria train: it has no config.json" in told
    (runs[0] / "evaluations.csv").write_text("a,b\n1\n")
    assert "has no evaluations of a training" in euphoria("curves", runs[0], "--out", picture)[2]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("enws = 3", "there is no option 'enws': do you mean envs?"),
        ("weather = 3", "there is no option 'weather': allowed are "),
        ("envs = 'many'", "envs"),
        ("stars_to_win = 11", "stars_to_win"),
        ("envs = ", "is no TOML file"),
        ("config = 'other.toml'", "there is no option 'config'"),
    ],
)
def test_wrong_files_of_options_are_refused(tmp_path: Path, config: str, message: str) -> None:
    status, _, told = train(tmp_path / "run", config=config)
    assert status == 2 and message in told and not (tmp_path / "run").exists()
