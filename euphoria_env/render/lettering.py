"""The font of pages and pictures; measures texts and breaks their lines.

`inter.ttf` is Inter 4.1 (https://rsms.me/inter, its licence is beside it), cut down by fonttools to Latin and the signs in use,
the weights 400 to 700 and the optical size 14. It is no WOFF2, since resvg reads none; compressed for a page it is as small.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

FONT_FILE = Path(__file__).with_name("inter.ttf")
FONT = "Inter, 'DejaVu Sans', Verdana, 'Segoe UI', Helvetica, Arial, sans-serif"

# The widths of the ASCII characters from space to tilde, in percent of the font size, in DejaVu Sans, the widest of the fonts.
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
_OTHER_WIDTH = 100  # for all other characters: at least the width of any that is used


@lru_cache(4096)
def text_width(text: str, size: float, weight: int = 400) -> float:
    """Returns the width of a text in the widest font."""
    widths = _WIDTHS[weight]
    return sum(widths[ord(x) - 32] if " " <= x <= "~" else _OTHER_WIDTH for x in text) * size / 100


def wrap(text: str, width: float, size: float, weight: int = 400, first: float | None = None) -> list[str]:
    """Breaks a text into lines of this width, the first one of the width `first`. Breaks words that are too long for a line."""
    space = text_width(" ", size, weight)
    lines, left = [""], width if first is None else first  # `left` is the room in the last line
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
    """Returns the first `most` lines, with an ellipsis if some are left out."""
    if len(lines) <= most or most < 1:
        return lines[: max(0, most)]
    last = lines[most - 1]
    while last and text_width(last + "...", size, weight) > width:
        last = last[:-1]
    return [*lines[: most - 1], last.rstrip(" ,;:") + "..."]
