"""`euphoria curves`: draws how strong players became in training."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console

from euphoria_agents.charts import MARKERS, Rate, chart, draw_rates, finish, svg_text
from euphoria_agents.commands.shared_arguments import CurvesOptions
from euphoria_agents.files import read_text, write_whole
from euphoria_agents.training.config import CONFIG
from euphoria_agents.training.evaluations import FILE, rows_of
from euphoria_env.json_reader import read_json

TITLE = "Wins in training"
Matchup = tuple[int, str]  # the number of players and the opponents


class Curve(NamedTuple):
    """The wins of a run, or of several with other seeds, against one kind of opponent."""

    decisions: Sequence[float]
    rates: Sequence[Rate]


def run(options: CurvesOptions) -> None:
    """Reads the runs and writes the picture."""
    console = Console(emoji=False, markup=False)
    groups = grouped(options.runs)
    if len(groups) > len(MARKERS):
        raise ValueError(f"a picture has at most {len(MARKERS)} lines; these runs have {len(groups)} configurations")
    curves = {name: curves_of([evaluations(folder) for folder in folders]) for name, folders in groups.items()}
    matchups = [
        one
        for one in dict.fromkeys(matchup for found in curves.values() for matchup in found)
        if one[1] in (options.against or [one[1]]) and one[0] in (options.players or [one[0]])
    ]
    if not matchups:
        raise ValueError("these runs have no such evaluations: train with --evaluate-every N --against SPEC ...")
    write_whole(options.out, draw(matchups, curves))
    for name, found in curves.items():
        for n, against in (one for one in matchups if one in found):
            (rate, (low, high)), last = found[n, against].rates[-1], found[n, against].decisions[-1]
            console.print(
                f"{name}, {n} players, against {against}: {rate:.1%} ({low:.1%} to {high:.1%}) after {last:,.0f} decisions",
                soft_wrap=True,
            )
    console.print(f"written: {options.out}")


def grouped(folders: Sequence[Path]) -> dict[str, list[Path]]:
    """Returns the runs by the name of their configuration: the options, apart from the seed, in which the runs differ."""
    configs = [_config(folder) for folder in folders]
    differ = [name for name in configs[0] if name != "seed" and any(one.get(name) != configs[0][name] for one in configs)]
    alike = folders[0].name if len(folders) == 1 else f"{len(folders)} seeds"
    found: dict[str, list[Path]] = {}
    for folder, config in zip(folders, configs, strict=True):
        name = ", ".join(f"{key.replace('_', '-')} {_plainly(config.get(key))}" for key in differ)
        found.setdefault(name or alike, []).append(folder)
    return found


def _config(folder: Path) -> dict[str, Any]:
    """Returns the options of a run."""
    try:
        found = read_json(read_text(folder / CONFIG))["options"]
    except (OSError, ValueError, KeyError, TypeError):
        raise ValueError(f"{folder} is no run of euphoria train: it has no {CONFIG} with options") from None
    return dict(found)


def _plainly(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else json.dumps(value) if isinstance(value, dict) else str(value)


def evaluations(folder: Path) -> dict[Matchup, list[tuple[float, Rate]]]:
    """Returns the evaluations of a run: decisions and wins, by match."""
    found: dict[Matchup, list[tuple[float, Rate]]] = {}
    for _, row in rows_of(folder / FILE):
        rate = float(row["win_rate"]), (float(row["low"]), float(row["high"]))
        found.setdefault((int(row["players"]), row["against"]), []).append((float(row["decisions"]), rate))
    return found


def curves_of(runs: Sequence[Mapping[Matchup, list[tuple[float, Rate]]]]) -> dict[Matchup, Curve]:
    """Returns the curves of runs that differ in their seeds alone, up to where the shortest of them ends."""
    found = {}
    for matchup in dict.fromkeys(one for run in runs for one in run):
        points = [run[matchup] for run in runs if matchup in run]
        decisions, rates = [at for at, _ in points[0]], [rate for _, rate in points[0]]
        if len(points) > 1:
            shortest = min(point[-1][0] for point in points)
            decisions = [one for one in decisions if one <= shortest]
            wins = np.array([np.interp(decisions, *np.array([(at, rate) for at, (rate, _) in point]).T) for point in points])
            columns = zip(wins.mean(0).tolist(), wins.min(0).tolist(), wins.max(0).tolist(), strict=True)
            rates = [(mean, (low, high)) for mean, low, high in columns]
        found[matchup] = Curve(decisions, rates)
    return found


def draw(matchups: Sequence[Matchup], curves: Mapping[str, Mapping[Matchup, Curve]]) -> str:
    """Returns a panel for each match, as SVG."""
    columns = min(len(matchups), 3)
    rows = -(-len(matchups) // columns)
    with chart(4.2 * columns, 2.8 * rows) as figure:
        panels = figure.subplots(rows, columns, squeeze=False)
        for axes, (n, against) in zip(panels.flat, matchups, strict=False):
            for series, (name, found) in enumerate(curves.items()):
                if (n, against) in found:
                    draw_rates(axes, *found[n, against], name, series)
            finish(axes, f"{n} players, against {against}", "decisions", 1 / n)
        for axes in panels.flat[len(matchups) :]:
            axes.axis("off")
        return svg_text(figure).replace("<svg ", f"<svg aria-label='{TITLE}' ", 1)
