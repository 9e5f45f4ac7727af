"""The ratings of a run: the learner against the fixed opponents, in a process beside the training."""

from __future__ import annotations

import functools
import os
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec
import numpy as np
from matplotlib.figure import Figure
from msgspec import Meta

from euphoria_agents.files import write_figure
from euphoria_agents.matches import tournament
from euphoria_agents.matches.match import Z_95, Played, play_match, wilson
from euphoria_agents.matches.processes import ATTEMPTS, Worker
from euphoria_agents.network.checkpoint import parts, under
from euphoria_agents.players.ppo import PPO
from euphoria_agents.registry import load
from euphoria_agents.training.config import Large, Number, Options, Players, Time
from euphoria_env import Rules

NICENESS = 5  # of the process
RATED = {2, 4}  # numbers of players, if the run has one of them
SELF = "self"  # the learner among the baselines of a rating
PREFIX = "rating."  # of the tensors of those who wait, in the state of a run
MOST_STRENGTH = 1e4  # of openskill; ratings begin at 25

Mu = Annotated[float, Meta(ge=-MOST_STRENGTH, le=MOST_STRENGTH)]
Sigma = Annotated[float, Meta(ge=1e-6, le=MOST_STRENGTH)]
Strengths = dict[str, tuple[Mu, Sigma]]  # of agents, by openskill


class Rating(msgspec.Struct):
    """The result against one opponent in a rating, and the openskill rating of the learner after all of them."""

    decisions: Number  # when in the run
    hours: Time
    players: Players  # how many play
    against: str
    wins: Number  # of the learner
    games: Large
    rank: Annotated[float, Meta(ge=1, le=6)]  # its mean
    mu: Mu = 0.0  # its strength
    sigma: Sigma = 1.0  # the standard deviation of that

    def __post_init__(self) -> None:
        if self.wins > self.games:
            raise ValueError("wins must be at most games")


class RatingsState(msgspec.Struct):
    """The ratings so far."""

    results: list[Rating]  # one for each rating and opponent
    strengths: Strengths  # of the baselines
    due: list[tuple[Number, Number, Time]]  # update, decisions and hours of the players that are still to be rated


class Due(NamedTuple):
    """A player to be rated."""

    update: int  # when in the run
    decisions: int
    hours: float
    tensors: dict[str, np.ndarray]  # its network


class Ratings:
    """All ratings of a run, and those that are still to be made, one after another.

    Args:
        options: of the run.

    Attributes:
        results: one for each rating and opponent.
        due: who waits; the first one is being rated, if there is a worker.
    """

    def __init__(self, options: Options) -> None:
        self.results: list[Rating] = []
        self._options = options
        self._strengths: Strengths = {}
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
            new, self._strengths, words = answer[0]
            self.results += new
            found.append((new, words))
        return found

    def _working(self) -> Worker:
        """The process that rates the next one."""
        if self._worker is None or self._worker.ended:
            self._worker = Worker(functools.partial(_rate, self._options))
        if self._worker.item is None:
            self._worker.take((self.due[0], self.results, self._strengths))
        return self._worker

    def close(self) -> None:
        """Ends the process; what is due stays so."""
        if self._worker is not None:
            self._worker.end()
            self._worker = None

    def state(self) -> tuple[dict[str, np.ndarray], RatingsState]:
        """Arrays and metadata for `restore`."""
        arrays = {f"{PREFIX}{due.update}.{name}": tensor for due in self.due for name, tensor in due.tensors.items()}
        return arrays, RatingsState(self.results, self._strengths, [due[:3] for due in self.due])

    def restore(self, arrays: dict[str, np.ndarray], state: RatingsState) -> None:
        """Continues from where `state` was taken.

        Raises:
            ValueError: a network that is to be rated is missing or damaged.
        """
        self.results, self._strengths = state.results, state.strengths
        for update, decisions, hours in state.due:
            tensors = under(f"{PREFIX}{update}.", arrays)
            parts(tensors, f"{PREFIX}{update}")
            self.due.append(Due(update, decisions, hours, tensors))


# ---------------------------------------------------------------------------------------------------- in the other process


_opponent = functools.cache(load)


@functools.cache
def _step_back() -> None:
    """Leaves the cores to those who train."""
    os.nice(NICENESS)


def _rate(options: Options, item: tuple[Due, list[Rating], Strengths]) -> tuple[list[Rating], Strengths, str]:
    """Plays the matches of a rating and draws the curves; returns the results, the baselines' strengths, and a report."""
    _step_back()
    player, before, strengths = item
    agent = PPO.of(player.tensors)
    results, lines = list[Rating](), list[str]()
    games: list[tuple[tuple[str, ...], Played]] = []
    names = list(dict.fromkeys(options.baselines))
    for n in sorted(set(options.players) & RATED) or sorted(set(options.players)):
        for name in names:
            match = play_match(
                [agent, *[_opponent(name)] * (n - 1)],
                options.rating_games,
                Rules(num_players=n, **options.game),
                seed=player.update,
            )
            games += [((SELF, *[name] * (n - 1)), game) for game in match.played]
            score = match.scores[0]
            results.append(Rating(player.decisions, player.hours, n, name, score.wins, score.games, score.mean_rank))
            lines.append(f"  {n} players, against {name}: {score}")
    strengths = tournament.rate([SELF, *names], games, strengths)
    mu, sigma = strengths.pop(SELF)  # the next self is another player
    heading = f"after {player.decisions:,} decisions: rating {mu:.1f} ± {Z_95 * sigma:.1f} (95 %)"
    results = [msgspec.structs.replace(one, mu=mu, sigma=sigma) for one in results]
    draw_curves([*before, *results], options.run / "curves.png")
    return results, strengths, "\n".join([heading, *lines])


def draw_curves(ratings: Sequence[Rating], path: Path) -> None:
    """Draws win rates with their intervals, and openskill ratings, against decisions and against hours."""
    figure = Figure(figsize=(12, 8), dpi=110)
    axes = figure.subplots(2, 2, sharex="col", sharey="row")
    for column, what in enumerate(("decisions", "hours")):
        for players, against in sorted({(one.players, one.against) for one in ratings}):
            mine = [one for one in ratings if (one.players, one.against) == (players, against)]
            low, high = zip(*(wilson(one.wins, one.games) for one in mine), strict=True)
            times = [getattr(one, what) for one in mine]
            label = f"{players} players, against {against}"
            axes[0, column].plot(times, [one.wins / one.games for one in mine], label=label)
            axes[0, column].fill_between(times, low, high, alpha=0.15)
        points = sorted({(getattr(one, what), one.mu, one.sigma) for one in ratings})
        axes[1, column].errorbar(*zip(*((x, mu) for x, mu, _ in points), strict=True), [Z_95 * sigma for *_, sigma in points])
        axes[1, column].set_xlabel(f"{what} of training")
    axes[0, 0].set(ylabel="games won, ± 95 % interval", ylim=(0, 1))
    axes[1, 0].set(ylabel="openskill rating, ± 95 % interval")
    axes[0, 1].legend(fontsize="small")
    figure.tight_layout()
    write_figure(path, figure)
