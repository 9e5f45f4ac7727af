"""A few SVG shapes: what the picture of the board is made of."""

from __future__ import annotations

import textwrap
from html import escape

FONT = "'DejaVu Sans', Verdana, 'Segoe UI', Helvetica, Arial, sans-serif"
INK, DIM, FAINT = "#f1ece0", "#a9adb8", "#4b5160"
PAPER, PANEL, CELL, SLOT = "#14171f", "#1e222d", "#282d3a", "#191c25"

# Fill of a player's dice and stars, and of the pips on them.
PLAYER_COLOURS = (
    ("#e5534b", "#ffffff"),
    ("#4c93f0", "#ffffff"),
    ("#45b36b", "#10231a"),
    ("#f0c541", "#2b2205"),
    ("#c58af5", "#26103a"),
    ("#f3eee2", "#22252e"),
)
FACTION_COLOURS = ("#d9a441", "#46a3b0", "#cc7044", "#9c8be0")

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

STAR_POINTS = "8,0.8 10.1,5.7 15.4,6.1 11.4,9.6 12.6,14.8 8,12 3.4,14.8 4.6,9.6 0.6,6.1 5.9,5.7"
# Shapes of 16 x 16, by name.
ICONS = {
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
    "worker": '<g fill="none" stroke="#f1ece0" stroke-width="1.5">'
    '<rect x="1.6" y="1.6" width="12.8" height="12.8" rx="3"/><path d="M8 4.8v6.4M4.8 8h6.4"/></g>',
    "flag": '<path d="M3.4 15.4V1" stroke="#f1ece0" stroke-width="1.5"/>'
    '<path d="M4.2 1.4h9.4l-2.6 3.4 2.6 3.4H4.2Z" fill="#f1ece0"/>',
    "lock": '<rect x="2.6" y="7" width="10.8" height="8" rx="1.6" fill="#6d7484"/>'
    '<path d="M5 7V5a3 3 0 0 1 6 0v2" fill="none" stroke="#6d7484" stroke-width="1.8"/>',
    "eye": '<path d="M.8 8C3 4.4 5.4 3 8 3s5 1.4 7.2 5C13 11.6 10.6 13 8 13S3 11.6.8 8Z" fill="none" stroke="#f1ece0" '
    'stroke-width="1.4"/><circle cx="8" cy="8" r="2.3" fill="#f1ece0"/>',
}


class Canvas:
    """Collects shapes; coordinates in pixels from the top left."""

    def __init__(self, width: int, height: int) -> None:
        self.width = width
        self.height = height
        self._parts: list[str] = []

    def svg(self, title: str) -> str:
        """The whole picture."""
        size = f'width="{self.width}" height="{self.height}" viewBox="0 0 {self.width} {self.height}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="{FONT}" role="img">'
        return "\n".join([head, f"<title>{escape(title, quote=False)}</title>", *self._parts, "</svg>"])

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
        self._parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="{radius:g}" fill="{fill}" '
            f'stroke="{stroke}" stroke-width="{width:g}"{dashes}/>'
        )

    def text(
        self, x: float, y: float, text: str, size: float = 13, fill: str = INK, weight: int = 400, anchor: str = "start"
    ) -> None:
        """A line of text; `y` is its base line."""
        self._parts.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" fill="{fill}" font-weight="{weight}" '
            f'text-anchor="{anchor}">{escape(text, quote=False)}</text>'
        )

    def paragraph(
        self,
        x: float,
        y: float,
        w: float,
        text: str,
        size: float = 12,
        fill: str = DIM,
        weight: int = 400,
        lines: int = 9,
    ) -> float:
        """Text in lines of a width; returns the base line of the next."""
        wrapped = wrap(text, w, size, weight)
        if len(wrapped) > lines:
            wrapped[lines - 1] += " ..."
        for line in wrapped[:lines]:
            self.text(x, y, line, size, fill, weight)
            y += size * 1.25
        return y

    def icon(self, x: float, y: float, name: str, size: float = 16, opacity: float = 1) -> None:
        """One of the small symbols, by name of an item or kind of item."""
        faded = "" if opacity == 1 else f' opacity="{opacity:g}"'
        self._parts.append(f'<g transform="translate({x:g} {y:g}) scale({size / 16:g})"{faded}>{ICONS[name]}</g>')

    def star(self, x: float, y: float, fill: str, size: float = 16, stroke: str = "none") -> None:
        """An authority token."""
        self._parts.append(
            f'<polygon transform="translate({x:g} {y:g}) scale({size / 16:g})" points="{STAR_POINTS}" fill="{fill}" '
            f'stroke="{stroke}" stroke-linejoin="round"/>'
        )

    def die(self, x: float, y: float, player: int, face: int, size: float = 24) -> None:
        """A worker: a die in the colour of its player."""
        fill, ink = PLAYER_COLOURS[player]
        self._parts.append(f"<g><title>player {player}, face {face}</title>")
        self.rect(x, y, size, size, fill, size / 5, stroke="#0c0e13", width=1)
        for pip in _PIPS[face]:
            across, down = _PIP_PLACES[pip]
            cx, cy = x + (across * 0.24 + 0.02) * size, y + (down * 0.24 + 0.02) * size
            self._parts.append(f'<circle cx="{cx:.2f}" cy="{cy:.2f}" r="{size * 0.09:.2f}" fill="{ink}"/>')
        self._parts.append("</g>")

    def slot(self, x: float, y: float, size: float = 38, accent: str = FAINT) -> None:
        """An empty space for one worker."""
        self.rect(x, y, size, size, SLOT, 7, stroke=accent, width=1.5)


def text_width(text: str, size: float, weight: int = 400) -> float:
    """About how wide a text is, in a wide font."""
    return len(text) * size * (0.66 if weight > 500 else 0.56)


def wrap(text: str, width: float, size: float, weight: int = 400) -> list[str]:
    """A text in lines that fit a width."""
    return textwrap.wrap(text, max(1, int(width / text_width("n", size, weight))), break_long_words=False)
