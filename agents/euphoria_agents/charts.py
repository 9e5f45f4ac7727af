"""The style of all charts: colours of the board, shares in percent, the share among equals, names at the lines."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from euphoria_env.render.theme import THEMES

LIGHT, DARK = THEMES["print"], THEMES["dark"]
INK, DIM, FAINT = LIGHT["ink"], LIGHT["dim"], LIGHT["faint"]
# Of lines, each with a marker of its own for those who see the colours alike.
SERIES = [LIGHT[f"seat-{seat}-line"] for seat in (1, 0, 2, 4, 3)]
MARKERS = "osD^v"
_IN_BOTH_THEMES = ("ink", "dim", "faint", "paper", *(f"seat-{seat}-line" for seat in range(6)))
_GAP = 0.075  # between two names at the right


@contextmanager
def chart(width: float, height: float) -> Iterator[Any]:
    """Gives an empty figure of matplotlib, in inches; it must be filled and written inside the `with` statement."""
    import matplotlib
    from matplotlib.figure import Figure

    style = {
        "axes.axisbelow": True, "axes.edgecolor": FAINT, "axes.facecolor": "none", "axes.grid": True, "axes.labelcolor": INK,
        "axes.spines.right": False, "axes.spines.top": False, "axes.titlecolor": INK, "axes.titlelocation": "left",
        "axes.titlesize": 10, "axes.titleweight": "bold", "figure.constrained_layout.h_pad": 0.08,
        "figure.facecolor": LIGHT["paper"], "font.sans-serif": ["DejaVu Sans", "Arial"], "font.size": 9, "grid.alpha": 0.25,
        "grid.color": FAINT, "lines.linewidth": 1.8, "lines.markersize": 4, "svg.fonttype": "none", "text.color": INK,
        "text.parse_math": False, "xtick.color": INK, "ytick.color": INK,
    }  # fmt: skip
    with matplotlib.rc_context(style):
        yield Figure(figsize=(width, height), layout="constrained")


def svg_text(figure: Any) -> str:
    """Returns a chart as SVG, always the same bytes; it has the dark colours where the reader prefers them."""
    image = io.StringIO()
    figure.savefig(image, format="svg", metadata={"Creator": None, "Date": None})
    # The layout is exact to a few billionths, and matplotlib's names of paths are drawn at random.
    text = re.sub(r"\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}", image.getvalue())
    for k, name in enumerate(dict.fromkeys(re.findall(r'id="(\w+[0-9a-f]{10})"', text))):
        text = text.replace(name, f"path{k}")
    rules = (
        f'[style*="{part}: {LIGHT[name]}"] {{ {part}: {DARK[name]} !important }}'
        for name in _IN_BOTH_THEMES
        for part in ("fill", "stroke")
    )
    style = f"<style>@media (prefers-color-scheme: dark) {{ {' '.join(rules)} }}</style>"
    return text.replace("<defs>", f"{style}\n <defs>", 1)


def in_percent(axis: Any) -> None:
    """Writes the shares on an axis in percent."""
    from matplotlib.ticker import PercentFormatter

    axis.set_major_formatter(PercentFormatter(1, decimals=0, symbol=" %"))


Rate = tuple[float, tuple[float, float]]  # a share, and its interval


def draw_rates(axes: Any, places: Sequence[float], rates: Sequence[Rate], label: str, series: int = 0) -> None:
    """Draws shares as a line, and their intervals as a band; a line without a label is not named."""
    axes.plot(places, [share for share, _ in rates], color=SERIES[series], marker=MARKERS[series], label=label or "_")
    axes.fill_between(
        places, *zip(*(interval for _, interval in rates), strict=True), color=SERIES[series], alpha=0.15, linewidth=0
    )


def finish(axes: Any, title: str, xlabel: str, equal: float) -> None:
    """Adds title and scales to lines of shares, what each would win if all were equally good, and the names of all."""
    axes.set(title=title, xlabel=xlabel, xlim=0, ylim=(0, 1))
    in_percent(axes.yaxis)
    axes.axhline(equal, color=DIM, linestyle="--", linewidth=1, label=f"among equals {100 * equal:.0f} %")
    least = 0.0
    for line in sorted(axes.get_lines(), key=lambda line: line.get_ydata()[-1]):
        if not line.get_label().startswith("_"):
            place = max(line.get_ydata()[-1], least)
            axes.annotate(line.get_label(), (1.02, place), xycoords="axes fraction", color=line.get_color(), va="center")
            least = place + _GAP
