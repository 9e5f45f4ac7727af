"""Measures a player in the middle of its training: matches against fixed agents, as rows of `evaluations.csv`."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from euphoria_agents.files import append_line, read_text, write_whole
from euphoria_agents.matches.match import play_match
from euphoria_agents.players.ppo import PPO
from euphoria_agents.training.config import Options
from euphoria_env import Rules

FILE = "evaluations.csv"
COLUMNS = "decisions,minutes,players,against,games,wins,win_rate,low,high,mean_rank"


class Evaluations:
    """Writes the evaluations of a run; every one plays the same deals.

    Args:
        options: those of the run.
        decisions: where the run stands; rows of later ones, which a resumed run repeats, are removed.
    """

    def __init__(self, options: Options, decisions: int) -> None:
        self._options, self._path = options, options.run / FILE
        if options.evaluate_every is not None:
            kept = [line for line, one in rows_of(self._path) if int(one["decisions"]) <= decisions] if decisions else []
            write_whole(self._path, "\n".join([COLUMNS, *kept]) + "\n")

    def due(self, before: int, now: int) -> bool:
        """Returns whether an update that led from `before` to `now` decisions passed a point of evaluation."""
        every = self._options.evaluate_every
        return every is not None and now // every > before // every

    def evaluate(self, tensors: dict[str, np.ndarray], decisions: int, seconds: float) -> list[str]:
        """Plays the matches of a network, writes their rows, and returns the results as text."""
        options, agent, told = self._options, PPO.of(tensors), []
        for n in sorted(set(options.players)):
            for name in dict.fromkeys(options.against):
                rules = Rules(num_players=n, **options.game)
                score = play_match([agent, *[name] * (n - 1)], options.evaluation_games, rules, options.seed).scores[0]
                figures = score.rate, *score.paired_interval, score.mean_rank
                cells = [
                    decisions,
                    f"{seconds / 60:.2f}",
                    n,
                    f'"{name}"',
                    score.games,
                    score.wins,
                    *(f"{one:.5f}" for one in figures),
                ]
                append_line(self._path, ",".join(map(str, cells)))
                told.append(f"{decisions:,} decisions, {n} players, against {name}: {score}")
        return told


def rows_of(path: Path) -> Iterable[tuple[str, dict[str, str]]]:
    """Returns the lines of an `evaluations.csv`, each with its values by column; none if there is no such file.

    Raises:
        ValueError: the file is of another kind; the message names it.
    """
    if not path.exists():
        return []
    header, *lines = read_text(path).splitlines() or [""]
    rows = [*csv.DictReader([header, *lines])]
    if header != COLUMNS or len(rows) != len(lines) or any(None in row or None in row.values() for row in rows):
        raise ValueError(f"{path} has no evaluations of a training, which begin with {COLUMNS}")
    return [*zip(lines, rows, strict=True)]
