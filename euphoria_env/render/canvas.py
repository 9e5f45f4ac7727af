"""The means of drawing the board: colours, symbols, and a sheet that collects shapes.

The symbols are functions of their own (`icon`, `die`, `token`, `badge`), and `symbols` has all of them for a page to `<use>`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from html import escape

from euphoria_env.board import MAX_PLAYERS

FONT = "'DejaVu Sans', Verdana, 'Segoe UI', Helvetica, Arial, sans-serif"
SMALL, BODY, LARGE = 13, 14, 16  # sizes of texts; nothing but the numbers on dice and stars is smaller
_LINE = 1.3  # from base line to base line, in sizes

# Fill of a player's dice and stars, and of what is printed on them: far apart for every kind of colour sight, and in grey;
# nobody needs to distinguish them: the player's number is always shown.
PLAYER_COLOURS = (
    ("#e62141", "#ffffff"),
    ("#508bf9", "#101218"),
    ("#5db78b", "#101218"),
    ("#fadb4c", "#101218"),
    ("#e4acef", "#101218"),
    ("#fbf7ee", "#101218"),
)


@dataclass(frozen=True)
class Theme:
    """Colours: of texts (`ink`, `dim`, `gold`, `warning`), outlines (`faint`), grounds, and the factions.

    Attributes:
        edge: the outline of symbols, where the ground is as light as they are; "none" where it is dark.
        frame: the outline of cells and panels, where they are as light as the ground; "none" where they are lighter.
    """

    ink: str
    dim: str
    faint: str
    paper: str
    panel: str
    cell: str
    slot: str
    gold: str
    warning: str
    edge: str
    frame: str
    factions: tuple[str, str, str, str]


THEMES = {
    "dark": Theme(
        ink="#f4f0e6",
        dim="#b9bdc7",
        faint="#868d9e",
        paper="#14171f",
        panel="#1e222d",
        cell="#282d3a",
        slot="#191c25",
        gold="#f3d27a",
        warning="#f0a596",
        edge="none",
        frame="none",
        factions=("#d9a441", "#4fb0bd", "#e08a5c", "#a799ea"),
    ),
    "print": Theme(
        ink="#14171f",
        dim="#464b57",
        faint="#767c8a",
        paper="#ffffff",
        panel="#f5f5f2",
        cell="#ffffff",
        slot="#ffffff",
        gold="#775600",
        warning="#9c2a17",
        edge="#14171f",
        frame="#767c8a",
        factions=("#7d5a00", "#0f6670", "#96430f", "#5a47a8"),
    ),
}

_PIPS = {
    1: "c",
    2: "ai",
    3: "aci",
    4: "aegi",
    5: "acegi",
    6: "abeghi",
}
# Where the pips are, in quarters of the side: the corners a e g i, the middle c, the sides b h.
_PIP_PLACES = {"a": (1, 1), "e": (3, 1), "g": (1, 3), "i": (3, 3), "c": (2, 2), "b": (1, 2), "h": (3, 2)}
DIE_WIDTH, DIE_HEIGHT = 40, 26  # the tab with the player's number, and the die itself, a square
_TAB = DIE_WIDTH - DIE_HEIGHT
TOKEN_SIZE = BADGE_SIZE = 24


def _star_points(middle: float, radius: float) -> str:
    """The corners of a star, fat enough for a number."""
    corners = [(radius if k % 2 == 0 else 0.56 * radius, math.pi * (k / 5 - 0.5)) for k in range(10)]
    return " ".join(f"{middle + r * math.cos(a):.2f},{middle + r * math.sin(a):.2f}" for r, a in corners)


_STAR = _star_points(8, 7.8)
# Shapes of 16 x 16, by name; `currentColor` is the ink.
_ICONS = {
    "energy": '<polygon points="9.5,0.5 2.5,9.2 7.2,9.2 5.8,15.5 13.5,6.2 8.6,6.2" fill="#f7cf4b"/>',
    "water": '<path d="M8 .8C8 .8 2.8 7 2.8 10.4a5.2 5.2 0 0 0 10.4 0C13.2 7 8 .8 8 .8Z" fill="#54b4ee"/>'
    '<path d="M5 10.4a3 3 0 0 0 2.2 2.9" fill="none" stroke="#d8f0ff" stroke-width="1.2" stroke-linecap="round"/>',
    "food": '<path d="M1.8 14.2C1.4 6.4 6 1.8 14.4 1.8 14.8 10 10 14.6 1.8 14.2Z" fill="#8cc63f"/>'
    '<path d="M2 14 10.5 5.5" stroke="#3f6b12" stroke-width="1.2"/>',
    "bliss": '<g transform="rotate(-40 8 8)"><rect x="1" y="5" width="14" height="6" rx="3" fill="#f4ecff"/>'
    '<path d="M8 5h4a3 3 0 0 1 0 6H8Z" fill="#b777ee"/></g>',
    "gold": '<polygon points="4.2,4 11.8,4 15.2,12.6 .8,12.6" fill="#eebc2d"/>'
    '<polygon points="4.2,4 11.8,4 12.7,6.4 3.3,6.4" fill="#ffe48a"/>',
    "stone": '<polygon points="3.2,13.6 .9,8.4 4.6,3 11,2.2 15.1,7 13.2,13.6" fill="#94a3b2"/>'
    '<polygon points="4.6,3 11,2.2 9.2,6.4 5,7.6" fill="#c9d3dd"/>',
    "clay": '<rect x=".8" y="3.4" width="14.4" height="9.8" rx="1.4" fill="#c8683c"/>'
    '<path d="M.8 8.3h14.4M8 3.4v4.9M4.4 8.3v4.9M11.6 8.3v4.9" stroke="#7c3715" stroke-width="1.1"/>',
    "resource": '<rect x="4.9" y=".8" width="6.2" height="6.2" rx="1" fill="#eebc2d"/>'
    '<rect x=".9" y="8.6" width="6.2" height="6.2" rx="1" fill="#94a3b2"/>'
    '<rect x="8.9" y="8.6" width="6.2" height="6.2" rx="1" fill="#c8683c"/>',
    "commodity": '<circle cx="4.4" cy="4.4" r="3.2" fill="#f7cf4b"/><circle cx="11.6" cy="4.4" r="3.2" fill="#54b4ee"/>'
    '<circle cx="4.4" cy="11.6" r="3.2" fill="#8cc63f"/><circle cx="11.6" cy="11.6" r="3.2" fill="#b777ee"/>',
    "other commodity": '<circle cx="8" cy="4.2" r="3.2" fill="#f7cf4b"/>'
    '<circle cx="4.2" cy="11.4" r="3.2" fill="#54b4ee"/><circle cx="11.8" cy="11.4" r="3.2" fill="#8cc63f"/>',
    "artifact": '<rect x="2.8" y=".8" width="10.4" height="14.4" rx="1.8" fill="#efe2c4"/>'
    '<path d="M8 4 11 8 8 12 5 8Z" fill="none" stroke="#8d6b2f" stroke-width="1.4"/>',
    "worker": '<g fill="none" stroke="currentColor" stroke-width="1.5">'
    '<rect x="1.6" y="1.6" width="12.8" height="12.8" rx="3"/><path d="M8 4.8v6.4M4.8 8h6.4"/></g>',
    "flag": '<path d="M3.4 15.4V1" stroke="currentColor" stroke-width="1.5"/>'
    '<path d="M4.2 1.4h9.4l-2.6 3.4 2.6 3.4H4.2Z" fill="currentColor"/>',
    "lock": '<rect x="2.6" y="7" width="10.8" height="8" rx="1.6" fill="#6d7484"/>'
    '<path d="M5 7V5a3 3 0 0 1 6 0v2" fill="none" stroke="#6d7484" stroke-width="1.8"/>',
    "eye": '<path d="M.8 8C3 4.4 5.4 3 8 3s5 1.4 7.2 5C13 11.6 10.6 13 8 13S3 11.6.8 8Z" fill="none" stroke="currentColor" '
    'stroke-width="1.4"/><circle cx="8" cy="8" r="2.3" fill="currentColor"/>',
}


def icon(name: str) -> str:
    """A small symbol, by name of an item or kind of item, as SVG in a square of 16."""
    return _ICONS[name]


def die(player: int, face: int, theme: Theme) -> str:
    """A worker, as SVG of `DIE_WIDTH` x `DIE_HEIGHT`: a tab with the number of its player, and a die in their colour."""
    fill, ink = PLAYER_COLOURS[player]
    edge = fill if theme.edge == "none" else theme.edge
    parts = [
        f'<rect x=".75" y=".75" width="{DIE_WIDTH - 1.5}" height="{DIE_HEIGHT - 1.5}" rx="5" fill="{theme.slot}" '
        f'stroke="{edge}" stroke-width="1.5"/>',
        f'<rect x="{_TAB + 0.75}" y=".75" width="{DIE_HEIGHT - 1.5}" height="{DIE_HEIGHT - 1.5}" rx="5" fill="{fill}" '
        f'stroke="{edge}" stroke-width="1.5"/>',
        _number(player, 1 + _TAB / 2, 17.5, 12, theme.ink),
    ]
    for pip in _PIPS[face]:
        across, down = _PIP_PLACES[pip]
        cx, cy = _TAB + (across * 0.24 + 0.02) * DIE_HEIGHT, (down * 0.24 + 0.02) * DIE_HEIGHT
        parts.append(f'<circle cx="{cx:.1f}" cy="{cy:.1f}" r="2.6" fill="{ink}"/>')
    return "".join(parts)


def token(player: int, theme: Theme) -> str:
    """A star with the number of its player, as SVG in a square of `TOKEN_SIZE`."""
    fill, ink = PLAYER_COLOURS[player]
    star = f'<polygon points="{_star_points(12, 11.7)}" fill="{fill}" stroke="{theme.edge}" stroke-linejoin="round"/>'
    return star + _number(player, 12, 16.4, 12, ink)


def badge(player: int, theme: Theme) -> str:
    """The number of a player on a disc in their colour, as SVG in a square of `BADGE_SIZE`."""
    fill, ink = PLAYER_COLOURS[player]
    return f'<circle cx="12" cy="12" r="11" fill="{fill}" stroke="{theme.edge}"/>' + _number(player, 12, 17, BODY, ink)


def _number(number: int, x: float, y: float, size: float, fill: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{fill}" font-weight="700" text-anchor="middle">{number}</text>'


def symbols(theme: Theme = THEMES["dark"]) -> str:
    """All symbols as `<symbol>`s: `icon-energy`, `icon-star`, `die-2-6` (player, face), `token-2` and `badge-2` (player)."""
    shapes = [("icon-star", 16, 16, f'<polygon points="{_STAR}" fill="{theme.gold}"/>')]
    shapes += [(f"icon-{name.replace(' ', '-')}", 16, 16, icon(name)) for name in _ICONS]
    for player in range(MAX_PLAYERS):
        shapes += [(f"die-{player}-{face}", DIE_WIDTH, DIE_HEIGHT, die(player, face, theme)) for face in _PIPS]
        shapes.append((f"token-{player}", TOKEN_SIZE, TOKEN_SIZE, token(player, theme)))
        shapes.append((f"badge-{player}", BADGE_SIZE, BADGE_SIZE, badge(player, theme)))
    return "".join(f'<symbol id="{key}" viewBox="0 0 {w} {h}">{shape}</symbol>' for key, w, h, shape in shapes)


class Canvas:
    """A sheet of a width that collects shapes; coordinates from the top left. `height` is set when all is drawn."""

    def __init__(self, width: float, theme: Theme) -> None:
        self.width = width
        self.height = 0.0
        self.theme = theme
        self._parts: list[str] = []

    def svg(self, title: str, description: str, wide: int, tall: int) -> str:
        """The whole picture, shown at a size in pixels."""
        size = f'width="{wide}" height="{tall}" viewBox="0 0 {self.width:g} {self.height:g}"'
        look = f'font-family="{FONT}" color="{self.theme.ink}" role="img"'
        texts = f"<title>{_escaped(title)}</title>\n<desc>{_escaped(description)}</desc>"
        ground = f'<rect width="{self.width:g}" height="{self.height:g}" fill="{self.theme.paper}"/>'
        return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" {size} {look}>', texts, ground, *self._parts, "</svg>"])

    @contextmanager
    def group(self, kind: str, title: str = "", **data: object) -> Iterator[None]:
        """Shapes that belong together: a class, a text for who points at them, and `data-` attributes."""
        facts = "".join(f' data-{key}="{escape(str(value))}"' for key, value in data.items())
        self._parts.append(f'<g class="{kind}"{facts}>' + (f"<title>{_escaped(title)}</title>" if title else ""))
        yield
        self._parts.append("</g>")

    def rect(
        self,
        x: float,
        y: float,
        w: float,
        h: float,
        fill: str,
        radius: float = 6,
        stroke: str = "none",
        dash: bool = False,
        width: float = 1.5,
    ) -> None:
        """A rectangle with round corners."""
        dashes = ' stroke-dasharray="4 3"' if dash else ""
        outline = "" if stroke == "none" else f' stroke="{stroke}" stroke-width="{width:g}"{dashes}'
        self._parts.append(f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="{radius:g}" fill="{fill}"{outline}/>')

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: float = BODY,
        fill: str = "",
        weight: int = 400,
        anchor: str = "start",
    ) -> None:
        """A line of text; `y` is its base line, its colour is the ink by default."""
        bold = "" if weight == 400 else f' font-weight="{weight}"'
        at = "" if anchor == "start" else f' text-anchor="{anchor}"'
        self._parts.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" fill="{fill or self.theme.ink}"{bold}{at}>{_escaped(text)}</text>'
        )

    def paragraph(
        self,
        x: float,
        y: float,
        w: float,
        text: str,
        size: float = SMALL,
        fill: str = "",
        weight: int = 400,
        lines: int = 9,
    ) -> float:
        """Text in lines of a width; returns the base line of the next."""
        for line in cut(wrap(text, w, size, weight), lines, w, size, weight):
            self.text(x, y, line, size, fill or self.theme.dim, weight)
            y += size * _LINE
        return y

    def icon(self, x: float, y: float, name: str, size: float = 16, opacity: float = 1, colour: str = "") -> None:
        """One of the small symbols, by name of an item or kind of item."""
        look = ("" if opacity == 1 else f' opacity="{opacity:g}"') + (f' color="{colour}"' if colour else "")
        edge = "" if self.theme.edge == "none" else f' stroke="{self.theme.edge}" stroke-width=".8"'
        self._place(x, y, size / 16, icon(name), look + edge)

    def star(self, x: float, y: float, fill: str, size: float = 16, stroke: str = "none") -> None:
        """An authority token without a number."""
        outline = stroke if stroke != "none" else self.theme.edge
        self._place(x, y, size / 16, f'<polygon points="{_STAR}" fill="{fill}" stroke="{outline}" stroke-linejoin="round"/>')

    def die(self, x: float, y: float, player: int, face: int, height: float = DIE_HEIGHT) -> None:
        """A worker."""
        with self.group("worker", f"player {player}, face {face}", player=player, face=face):
            self._place(x, y, height / DIE_HEIGHT, die(player, face, self.theme))

    def token(self, x: float, y: float, player: int) -> None:
        """A star of a player, `TOKEN_SIZE` wide."""
        self._place(x, y, 1, token(player, self.theme))

    def badge(self, x: float, y: float, player: int) -> None:
        """The number of a player, `BADGE_SIZE` wide."""
        self._place(x, y, 1, badge(player, self.theme))

    def _place(self, x: float, y: float, scale: float, shape: str, look: str = "") -> None:
        scaled = "" if scale == 1 else f" scale({scale:g})"
        self._parts.append(f'<g transform="translate({x:g} {y:g}){scaled}"{look}>{shape}</g>')


def _escaped(text: str) -> str:
    return escape(text, quote=False)


# --------------------------------------------------------------------------------------------------------- how wide texts are

# Of the characters from the space to the tilde, in hundredths of the size: DejaVu Sans, the widest of the fonts, and its bold.
_REGULAR = (
    "32 41 46 84 64 96 78 28 40 40 50 84 32 37 32 34 64 64 64 64 64 64 64 64 64 64 34 34 84 84 84 54 "
    "100 69 69 70 77 64 58 78 76 30 30 66 56 87 75 79 61 79 70 64 62 74 69 99 69 62 69 40 34 40 84 50 "
    "50 62 64 55 64 62 36 64 64 28 28 58 28 98 64 62 64 64 42 53 40 64 60 82 60 60 53 64 34 64 84"
)
_BOLD = (
    "35 46 53 84 70 101 88 31 46 46 53 84 38 42 38 37 70 70 70 70 70 70 70 70 70 70 40 40 84 84 84 58 "
    "100 78 77 74 83 69 69 83 84 38 38 78 64 100 84 85 74 85 77 73 69 82 78 111 78 73 73 46 37 46 84 50 "
    "50 68 72 60 72 68 44 72 72 35 35 67 35 105 72 69 72 72 50 60 48 72 66 93 65 66 59 72 37 72 84"
)
_WIDTHS = {weight: [int(w) for w in widths.split()] for weight, widths in ((400, _REGULAR), (700, _BOLD))}
_OTHER_WIDTH = 100  # of all other characters: no smaller than any that is written here


@lru_cache(4096)
def text_width(text: str, size: float, weight: int = 400) -> float:
    """How wide a text is in the widest font."""
    widths = _WIDTHS[weight]
    return sum(widths[ord(x) - 32] if " " <= x <= "~" else _OTHER_WIDTH for x in text) * size / 100


def wrap(text: str, width: float, size: float, weight: int = 400, first: float | None = None) -> list[str]:
    """A text in lines that fit a width; the first one may have another. Words that are too long for a line are broken."""
    space = text_width(" ", size, weight)
    lines, left = [""], width if first is None else first  # left: room in the last line
    for word in text.split():
        wide = text_width(word, size, weight) + (space if lines[-1] else 0)
        if wide > left and (lines[-1] or wide <= width):
            lines.append("")
            wide, left = text_width(word, size, weight), width
        while wide > left and len(word) > 1:
            fits = next((k for k in range(len(word) - 1, 1, -1) if text_width(word[:k], size, weight) <= left), 1)
            lines[-1] = word[:fits]
            lines.append("")
            word, left = word[fits:], width
            wide = text_width(word, size, weight)
        lines[-1] = f"{lines[-1]} {word}".strip()
        left -= wide
    return lines


def cut(lines: list[str], most: int, width: float, size: float, weight: int = 400) -> list[str]:
    """So many of the lines at most, with an ellipsis where some are left out."""
    if len(lines) <= most or most < 1:
        return lines[: max(0, most)]
    last = lines[most - 1]
    while last and text_width(last + "...", size, weight) > width:
        last = last[:-1]
    return [*lines[: most - 1], last.rstrip(" ,;:") + "..."]
