"""The ratings of a run: the learner against the fixed opponents, in a process beside the training."""

from __future__ import annotations

import functools
import os
from collections import deque
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from euphoria_agents.matches.match import play_match
from euphoria_agents.matches.processes import ATTEMPTS, Worker
from euphoria_agents.players.ppo import PPO
from euphoria_agents.registry import load
from euphoria_agents.training.config import Large, Number, Options, Players, Time
from euphoria_env import Rules

NICENESS = 5  # of the process
RATED = {2, 4}  # numbers of players, if the run has one of them


class Rating(msgspec.Struct):
    """The result against one opponent in a rating."""

    decisions: Number  # when in the run
    hours: Time
    players: Players  # how many play
    against: str
    wins: Number  # of the learner
    games: Large
    rank: Annotated[float, Meta(ge=1, le=6)]  # its mean

    def __post_init__(self) -> None:
        if self.wins > self.games:
            raise ValueError("wins must be at most games")


class Due(msgspec.Struct):
    """A rating that is still to be made, of the player in the league's file of this update."""

    update: Number
    decisions: Number
    hours: Time

    def file(self, run: Path) -> Path:
        """The player."""
        return self_file(run, f"{self.update:06d}")


class RatingsState(msgspec.Struct):
    """The ratings so far: the results, one for each rating and opponent, and what is still due."""

    results: list[Rating]
    due: list[Due]


def self_file(run: Path, name: str) -> Path:
    """The player of a past self."""
    return run / "league" / f"{name}.safetensors"


class Ratings:
    """All ratings of a run, and those that are still to be made, one after another.

    Args:
        options: of the run.

    Attributes:
        results: one for each rating and opponent.
        due: who waits; the first one is being rated, if there is a worker.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self.results: list[Rating] = []
        self.due: deque[Due] = deque()
        self._worker: Worker | None = None
        self._died = 0

    def finished(self, wait: bool = False) -> list[tuple[list[Rating], str]]:
        """Returns the ratings that were finished since the last call: the results of each, and a report.

        Args:
            wait: whether for all that are due.

        Raises:
            RuntimeError: the process that rates dies again and again; or, as `WorkerError`, an opponent failed.
        """
        found = []
        while self.due:
            worker = self._working()
            if not wait and not worker.connection.poll():
                break
            answer = worker.answer()
            if answer is None:
                self._died += 1
                if self._died == ATTEMPTS:
                    raise RuntimeError(f"the process that rates the player died {ATTEMPTS} times")
                continue
            self.due.popleft()
            self._died = 0
            self.results += answer[0][0]
            found.append(answer[0])
        return found

    def _working(self) -> Worker:
        """The process that rates the next one."""
        if self._worker is None or self._worker.ended:
            self._worker = Worker(functools.partial(_rate, self._options))
        if self._worker.item is None:
            self._worker.take(self.due[0])
        return self._worker

    def close(self) -> None:
        """Ends the process; what is due stays so."""
        if self._worker is not None:
            self._worker.end()
            self._worker = None


# ---------------------------------------------------------------------------------------------------- in the other process


_opponent = functools.cache(load)


@functools.cache
def _step_back() -> None:
    """Leaves the cores to those who train."""
    os.nice(NICENESS)


def _rate(options: Options, due: Due) -> tuple[list[Rating], str]:
    """Plays the matches of a rating; returns the results and a report."""
    _step_back()
    agent = PPO.load(due.file(options.run))
    results, lines = list[Rating](), [f"after {due.decisions:,} decisions:"]
    for n in sorted(set(options.players) & RATED) or sorted(set(options.players)):
        rules = Rules(num_players=n, **options.game)
        for name in dict.fromkeys(options.baselines):
            score = play_match([agent, *[_opponent(name)] * (n - 1)], options.rating_games, rules, seed=due.update).scores[0]
            results.append(Rating(due.decisions, due.hours, n, name, score.wins, score.games, score.mean_rank))
            lines.append(f"  {n} players, against {name}: {score}")
    return results, "\n".join(lines)
