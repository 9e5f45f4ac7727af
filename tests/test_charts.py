"""Charts: every colour has one for the dark, and names stand beside their lines without touching."""

from __future__ import annotations

import itertools
import re

import pytest

pytest.importorskip("matplotlib")

from euphoria_agents import charts  # noqa: E402


def drawn() -> str:
    with charts.chart(6, 3) as figure:
        axes = figure.subplots()
        for series in range(len(charts.SERIES)):
            charts.draw_rates(axes, [0, 1], [(0.1, (0.0, 0.2)), (0.5, (0.4, 0.6))], f"agent {series}", series)
        charts.draw_rates(axes, [0, 1], [(0.3, (0.2, 0.4)), (0.5, (0.4, 0.6))], "")
        charts.finish(axes, "Games won", "minutes", 1 / 4)
        return charts.svg_text(figure)


def test_a_chart_follows_the_theme_of_its_reader() -> None:
    picture = drawn()
    assert picture == drawn(), "the same bytes"
    rules, rest = re.search(r"@media \(prefers-color-scheme: dark\) .*", picture)[0], picture.partition("<defs>")[2]
    used = set(re.findall(r"(?:fill|stroke): #\w{6}", rest))
    assert len(used) > 10 and all(f'[style*="{colour}"]' in rules for colour in used)


def test_names_stand_beside_their_lines_one_above_the_other() -> None:
    picture = drawn()
    names = re.findall(r'font-size: 9px[^>]* y="([\d.]+)"[^>]*>(agent \d|among equals 25 %)<', picture)
    heights = sorted(float(y) for y, _ in names)
    assert len(names) == 1 + len(charts.SERIES) and all(above + 9 <= below for above, below in itertools.pairwise(heights))
    assert ">40 %<" in picture
