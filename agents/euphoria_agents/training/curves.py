"""The curves of a run as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from euphoria_agents.files import write_figure
from euphoria_agents.matches.match import Z_95, wilson
from euphoria_agents.training.run_metadata import Rating


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
