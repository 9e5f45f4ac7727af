"""A sheet that collects shapes (rectangles, texts, symbols, groups, in named colours) and writes them as SVG."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from html import escape
from typing import NamedTuple

from euphoria_env.board import MAX_PLAYERS
from euphoria_env.phrases import Phrase, Text, say
from euphoria_env.render.lettering import FONT, cut, text_width, wrap
from euphoria_env.render.symbols import BADGE_SIZE, DIE_HEIGHT, DIE_WIDTH, ICONS, TOKEN_SIZE, symbol
from euphoria_env.render.theme import PAGE, colour

_XMLNS = 'xmlns="http://www.w3.org/2000/svg"'
SMALL, BODY, LARGE, TITLE, HUGE = 12, 14, 16, 20, 28  # the five sizes of texts
LINE = 1.3  # the distance of base lines, in font sizes
_ICON, _BETWEEN = 16, 3
_BEFORE = {"start": 0, "middle": 0.5, "end": 1}  # the share of a text's width before its anchor

Part = str | tuple[int | str, str]  # a symbol or words, or a number with a symbol


class Box(NamedTuple):
    """A rectangle: left, top, width, height."""

    x: float
    y: float
    w: float
    h: float

    @property
    def middle(self) -> tuple[float, float]:
        """Its centre."""
        return self.x + self.w / 2, self.y + self.h / 2

    def at(self, x: float, y: float) -> Box:
        """Returns the rectangle moved to the right by `x` and down by `y`."""
        return Box(self.x + x, self.y + y, self.w, self.h)


@dataclass
class Run:
    """Consecutive shapes of one group: the smallest part that can be rendered alone."""

    at: tuple[float, float, float]  # the origin of its group on the sheet, and the scale of the group
    shapes: list[str] = field(default_factory=list)
    symbols: dict[str, None] = field(default_factory=dict)  # in the order of their first use
    boxes: list[Box] = field(default_factory=list)  # a box around each shape, with room for its outline


class Sheet:
    """A sheet that collects shapes; coordinates from the top left.

    Args:
        theme: a name of `THEMES`, whose colours are written into the drawing, or `PAGE`: colours are CSS variables, tooltips are
            `aria-label`s, and symbols are those of the page.
        names: the names of the players in tooltips; empty: "player 1", "player 2", ...
        language: the language of the texts.
    """

    def __init__(self, theme: str, names: Sequence[str] = (), language: str = "en") -> None:
        self.theme, self.language = theme, language
        self.names: list[Text] = [Phrase("named_you") if name == "You" else name for name in names]
        self.names = self.names or [Phrase("player", n=k + 1) for k in range(MAX_PLAYERS)]
        self._parts: list[str] = []
        self.runs = [Run((0, 0, 1))]

    def svg(self, box: Box, title: str, description: str = "", size: tuple[int, int] | None = None) -> str:
        """Returns a part of the sheet as SVG, with a size in pixels or, if it is None, without one, so that the page decides."""
        view = f'viewBox="{box.x:g} {box.y:g} {box.w:g} {box.h:g}"'
        look = f'color="{self.colour("ink")}" role="{"group" if self.theme == PAGE else "img"}"{self._label(title)}'
        if self.theme == PAGE:
            return "\n".join([f"<svg {_XMLNS} {view} {look}", *self._parts, "</svg>"])
        large = f'width="{size[0]}" height="{size[1]}" ' if size else ""
        told = f"<desc>{_escaped(description)}</desc>" if description else ""
        symbols = self._defined(dict.fromkeys(name for run in self.runs for name in run.symbols))
        ground = f'<rect width="{box.w:g}" height="{box.h:g}" fill="{self.colour("paper")}"/>'
        head = f'<svg {_XMLNS} {large}{view} font-family="{FONT}" {look}{told}{symbols}{ground}'
        return "\n".join([head, *self._parts, "</svg>"])

    def part(self, run: Run, size: tuple[int, int], matrix: Sequence[float]) -> str:
        """Returns one run of shapes as SVG of a size in pixels, with a transformation matrix."""
        head = f'<svg {_XMLNS} width="{size[0]}" height="{size[1]}" font-family="{FONT}" color="{self.colour("ink")}">'
        moved = f'<g transform="matrix({" ".join(map(str, matrix))})">{"".join(run.shapes)}</g>'
        return f"{head}{self._defined(run.symbols)}{moved}</svg>"

    def _defined(self, names: Iterable[str]) -> str:
        """Returns the definitions of symbols."""
        return f"<defs>{''.join(symbol(name, self.theme) for name in names)}</defs>"

    def say(self, text: Text) -> str:
        """Returns a text in the language of the sheet."""
        return say(text, self.language)

    def _label(self, text: str) -> str:
        """Returns the end of a tag, with a tooltip."""
        if not text:
            return ">"
        return f' aria-label="{escape(text)}">' if self.theme == PAGE else f"><title>{_escaped(text)}</title>"

    def new_run(self) -> None:
        """Begins a new run, because the next shapes change at other times than the last ones."""
        self.runs.append(Run(self.runs[-1].at))

    def colour(self, name: str) -> str:
        """Returns a colour as SVG writes it."""
        return colour(name, self.theme)

    def _add(self, shape: str, box: Box) -> None:
        """Adds a shape as SVG, and the box around it."""
        self._parts.append(shape)
        self.runs[-1].shapes.append(shape)
        self.runs[-1].boxes.append(box)

    @contextmanager
    def group(self, kind: str, label: Text = "", name: str = "", at: Sequence[float] = (), **data: object) -> Iterator[None]:
        """Puts the shapes that are added in the context into a group of these classes (`kind`), with its tooltip, id and `data-`.

        `at` is its origin, and its scale if that is not 1.
        """
        about = f' id="{name}"' if name else ""
        for key, value in data.items():
            about += f' data-{key}="{value:g}"' if isinstance(value, float) else f' data-{key}="{value}"'
        about += f' transform="{_placed(*at)}"' if at else ""
        about += ' role="group"' if label and self.theme == PAGE else ""  # labels need a role
        self._parts.append(f'<g class="{kind}"{about}{self._label(self.say(label))}')
        outer = self.runs[-1].at
        self.runs.append(Run(_within(outer, *at)))
        yield
        self._parts.append("</g>")
        self.runs.append(Run(outer))

    def rect(self, box: Box, fill: str, radius: float = 6, stroke: str = "none", width: float = 1.5, kind: str = "") -> None:
        """Adds a rectangle with round corners."""
        about = f'class="{kind}" ' if kind else ""
        outline = "" if self.colour(stroke) == "none" else f' stroke="{self.colour(stroke)}" stroke-width="{width:g}"'
        x, y, w, h = box
        where = f'x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="{radius:g}"'
        self._add(f'<rect {about}{where} fill="{self.colour(fill)}"{outline}/>', box)

    def disc(self, x: float, y: float, radius: float, fill: str, stroke: str = "none", width: float = 1.5) -> None:
        """Adds a disc."""
        self.rect(Box(x - radius, y - radius, 2 * radius, 2 * radius), fill, radius, stroke, width)

    def path(self, d: str, fill: str, box: Box, kind: str = "") -> None:
        """Adds a path that lies in a box."""
        about = f'class="{kind}" ' if kind else ""
        self._add(f'<path {about}d="{d}" fill="{self.colour(fill)}"/>', box)

    def text(
        self, x: float, y: float, text: str, size: float = BODY, fill: str = "ink", weight: int = 400, anchor: str = "start"
    ) -> float:
        """Adds a line of text with the base line `y`; returns its right edge if it starts at `x`."""
        bold = "" if weight == 400 else f' font-weight="{weight}"'
        at = "" if anchor == "start" else f' text-anchor="{anchor}"'
        shape = f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" fill="{self.colour(fill)}"{bold}{at}>{_escaped(text)}</text>'
        wide = text_width(text, size, weight)
        self._add(shape, Box(x - _BEFORE[anchor] * wide, y - 1.2 * size, wide, 1.6 * size))
        return x + wide

    def line(self, x: float, y: float, w: float, text: str, size: float, fill: str = "ink", weight: int = 400) -> None:
        """Adds as much of a text as one line of the width `w` holds."""
        self.text(x, y, cut(wrap(text, w, size, weight), 1, w, size, weight)[0], size, fill, weight)

    def icon(
        self, x: float, y: float, name: str, size: float = _ICON, fill: str = "ink", opacity: float = 1, line: str = "edge"
    ) -> None:
        """Adds a small symbol; `fill` colours the parts without a colour of their own, `line` is the outline."""
        look = f' color="{self.colour(fill)}"' + ("" if opacity == 1 else f' opacity="{opacity:g}"')
        edge = "" if self.colour(line) == "none" else f' stroke="{self.colour(line)}" stroke-width=".6"'
        self._use(f"icon-{name.replace(' ', '-')}", size, size, x, y, look + edge)

    def _use(self, name: str, w: float, h: float, x: float = 0, y: float = 0, look: str = "") -> None:
        self.runs[-1].symbols[name] = None
        at = f' x="{x:g}" y="{y:g}"' if x or y else ""
        self._add(f'<use href="#{name}"{at} width="{w:g}" height="{h:g}"{look}/>', Box(x, y, w, h))

    def parts(self, x: float, y: float, parts: Sequence[Part]) -> float:
        """Adds a row, 16 high, of words and of symbols with or without a number; returns its right edge."""
        for part in parts:
            number, name = part if isinstance(part, tuple) else ("", part)
            if number != "":
                x = self.text(x, y + 13, f"{number}", BODY, weight=700) + 2
            if name in ICONS:
                self.icon(x, y, name, fill="star" if name == "star" else "ink")
                x += _ICON + _BETWEEN
            else:
                x = self.text(x, y + 13, name, BODY, "dim") + _BETWEEN
        return x - _BETWEEN

    def worker_words(self, player: int, face: int) -> Phrase:
        """Returns what a worker is called."""
        return Phrase("board.worker", face=face, who=self.names[player])

    def die(self, x: float, y: float, player: int, face: int, scale: float = 1, name: str = "", space: str = "") -> None:
        """Adds a worker."""
        with self.group("die", self.worker_words(player, face), name, (x, y, scale), seat=player, face=face, space=space):
            self._use(f"worker-{player}-{face}", DIE_WIDTH, DIE_HEIGHT)

    def token(self, x: float, y: float, player: int, name: str) -> None:
        """Adds a star of a player."""
        with self.group("star", Phrase("board.star", who=self.names[player]), name, (x, y), seat=player):
            self._use(f"token-{player}", TOKEN_SIZE, TOKEN_SIZE)

    def badge(self, x: float, y: float, player: int) -> None:
        """Adds the number of a player."""
        self._use(f"badge-{player}", BADGE_SIZE, BADGE_SIZE, x, y)


@cache
def parts_width(parts: tuple[Part, ...]) -> float:
    """Returns the width of a row of symbols."""
    return Sheet(PAGE).parts(0, 0, parts)


def _placed(x: float, y: float, scale: float = 1) -> str:
    return f"translate({x:g} {y:g})" + ("" if scale == 1 else f" scale({scale:g})")


def _within(outer: tuple[float, float, float], x: float = 0, y: float = 0, scale: float = 1) -> tuple[float, float, float]:
    """Returns the origin and the scale, on the sheet, of a group within another group."""
    return outer[0] + outer[2] * x, outer[1] + outer[2] * y, outer[2] * scale


def _escaped(text: str) -> str:
    return escape(text, quote=False)
