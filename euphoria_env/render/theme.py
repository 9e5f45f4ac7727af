"""The colours of the drawing by name, in a table for each theme. Pages use them as CSS variables; pictures contain the values.

Each name has one meaning. A seat has colours for its dice and stars (`seat-0`), for what is printed on them (`seat-0-ink`), for
their outline (`seat-0-edge`), and for lines and texts on a ground (`seat-0-line`). A faction has colours for lines and texts
(`euphorian`), for the ground of its region (`euphorian-ground`) and for the cells on it (`euphorian-cell`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from euphoria_env.board import FACTIONS

# The colours of each player's dice and stars, and of what is printed on them. They differ for every kind of colour vision and in
# grey. Nobody has to tell them apart, since the player's number is always shown.
PLAYER_COLOURS = (
    ("#e62141", "#ffffff"),
    ("#508bf9", "#101218"),
    ("#5db78b", "#101218"),
    ("#fadb4c", "#101218"),
    ("#e4acef", "#101218"),
    ("#fbf7ee", "#101218"),
)
_SEATS = {f"seat-{k}": fill for k, (fill, _) in enumerate(PLAYER_COLOURS)}
_SEATS |= {f"seat-{k}-ink": ink for k, (_, ink) in enumerate(PLAYER_COLOURS)}


def _theme(factions: Mapping[str, tuple[str, str, str]], lines: tuple[str, ...], **colours: str) -> dict[str, str]:
    suffixes = ("", "-ground", "-cell")
    regions = {f"{name}{suffix}": colour for name in FACTIONS for suffix, colour in zip(suffixes, factions[name], strict=True)}
    seats = {f"seat-{k}-line": line for k, line in enumerate(lines)}
    edges = {f"seat-{k}-edge": line if colours["edge"] == "none" else colours["edge"] for k, line in enumerate(lines)}
    return colours | regions | _SEATS | seats | edges


_LIGHT = _theme(
    {
        "euphorian": ("#7d5a00", "#f6e9c8", "#fffaf0"),
        "subterran": ("#0f6670", "#d3e9ea", "#f4fbfb"),
        "wastelander": ("#96430f", "#f6dccb", "#fff7f1"),
        "icarite": ("#5a47a8", "#e3def7", "#f9f7ff"),
    },
    ("#b3122e", "#1f57c4", "#1d6b45", "#6e5800", "#8a3b9b", "#5c584c"),
    ink="#14171f",
    dim="#464b57",
    faint="#767c8a",
    paper="#edebe4",
    panel="#f8f7f3",
    slot="#ffffff",
    earth="#e8dfd1",
    edge="#14171f",
    frame="#767c8a",
    gold="#775600",
    star="#a87400",
    legal="#0a6fb8",
    chosen="#14171f",
    changed="#a85b00",
    best="#1b7a3d",
    played="#b8321a",
)
THEMES: dict[str, dict[str, str]] = {
    "dark": _theme(
        {
            "euphorian": ("#d9a441", "#2b2517", "#3a3323"),
            "subterran": ("#4fb0bd", "#14272c", "#20363c"),
            "wastelander": ("#e08a5c", "#2d211b", "#3c2d26"),
            "icarite": ("#b0a3ee", "#262340", "#343053"),
        },
        ("#f0566c", "#74a3fb", "#5db78b", "#fadb4c", "#e4acef", "#fbf7ee"),
        ink="#f4f0e6",
        dim="#c0c3cb",
        faint="#8b91a1",
        paper="#14171f",
        panel="#1e222d",
        slot="#14171f",
        earth="#1f1a17",
        edge="none",
        frame="none",
        gold="#f3d27a",
        star="#f3d27a",
        legal="#5fd3ff",
        chosen="#ffffff",
        changed="#ffb020",
        best="#5fd38a",
        played="#ff8a73",
    ),
    "light": _LIGHT,
    "print": _LIGHT | {"paper": "#ffffff", "panel": "#ffffff"},
}
PAGE = "page"  # used in place of a theme: colours are CSS variables, which the page sets (`variables`)


@lru_cache(1024)
def colour(name: str, theme: str) -> str:
    """Returns a colour as SVG text; "none" and colours that begin with "#" stay as they are."""
    if name == "none" or name.startswith("#"):
        return name
    return f"var(--{name})" if theme == PAGE else THEMES[theme][name]


def variables(theme: str) -> str:
    """Returns the colours of a theme as declarations of CSS variables."""
    return " ".join(f"--{name}: {value};" for name, value in THEMES[theme].items())
