"""The board as an array of pixels, through the optional packages resvg_py and Pillow.

The SVG is drawn in parts, its runs of shapes, which are kept and laid over each other. A picture takes little time if its parts
were drawn lately, and less if most of them lie where they lay in the picture before; its pixels depend on neither.
"""

from __future__ import annotations

import io
import math
import threading
from collections import OrderedDict
from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from euphoria_env.render.sheet import Run, Sheet
from euphoria_env.render.svg import Drawing, draw

if TYPE_CHECKING:
    from PIL import Image

    from euphoria_env.game import Game

_MOST_BYTES = 64 * 2**20  # of the sprites that are kept
_LARGEST = 16 * 2**20  # bytes of a picture that is kept
_ROOM = 3  # around the boxes of shapes, for outlines and overhanging letters


def board_array(
    game: Game,
    seat: int | None = None,
    width: int | None = None,
    names: Sequence[str] | None = None,
    last: str = "",
    theme: str = "dark",
    within: tuple[int, int] | None = None,
    changed: Collection[str] = (),
) -> np.ndarray:
    """The board as pixels, uint8, shape (height, width, 3).

    Args:
        game: the game.
        seat: whose private cards are shown too; None: nobody's.
        width: of the picture in pixels, as for `board_svg`: narrow ones flow, and are taller.
        names: what the players are called, as for `board_svg`.
        last: what happened last, as for `board_svg`.
        theme: the colours, as for `board_svg`.
        within: width and height in pixels; the picture as drawn becomes as large as fits.
        changed: spaces that are marked, as for `board_svg`.

    Raises:
        ImportError: resvg_py or Pillow is not installed.
        ValueError: as `board_svg`.
    """
    try:
        import PIL  # noqa: F401
        import resvg_py  # noqa: F401
    except ImportError as error:
        raise ImportError("pictures as pixels need resvg_py and Pillow: pip install '.[render]'") from error
    drawing = draw(game, seat, width, names, last, theme, changed)
    wide, tall = size = drawing.size
    if within is not None:
        wide = max(1, min(within[0], within[1] * wide // tall))
        size = wide, math.ceil(wide * tall / drawing.size[0])
    scale = _scale(drawing, size)
    parts = [_KEPT.part(run, drawing.sheet, scale) for run in drawing.sheet.runs if run.shapes]
    return np.array(_picture(_Ground(size, drawing.sheet.colour("paper")), parts))


class _Scale(NamedTuple):
    """Leads from a sheet to pixels."""

    across: float
    down: float
    above: float  # pixels above the sheet


def _scale(drawing: Drawing, size: tuple[int, int]) -> _Scale:
    """The scale in which the SVG of a drawing is shown in a size."""
    (wide, tall), box = drawing.size, drawing.box
    stretched, unit = size[1] / tall, wide / box.w
    return _Scale(size[0] / box.w, stretched * unit, stretched * (tall - box.h * unit) / 2)


class _Sprite:
    """A run of shapes as pixels on a transparent ground; `left` and `top` count from the pixel in which its group begins."""

    def __init__(self, run: Run, sheet: Sheet, scale: tuple[float, float], begin: tuple[float, float]) -> None:
        import resvg_py
        from PIL import Image

        left = min(box.x for box in run.boxes) - _ROOM
        top = min(box.y for box in run.boxes) - _ROOM
        right = max(box.x + box.w for box in run.boxes) + _ROOM
        bottom = max(box.y + box.h for box in run.boxes) + _ROOM
        # Rounded, since runs that are written alike may differ in the last digits of their boxes.
        self.left = math.floor(round(begin[0] + left * scale[0], 6))
        self.top = math.floor(round(begin[1] + top * scale[1], 6))
        size = (
            math.ceil(round(begin[0] + right * scale[0], 6)) - self.left,
            math.ceil(round(begin[1] + bottom * scale[1], 6)) - self.top,
        )
        svg = sheet.part(run, size, (scale[0], 0, 0, scale[1], begin[0] - self.left, begin[1] - self.top))
        self.image = Image.open(io.BytesIO(resvg_py.svg_to_bytes(svg_string=svg)))
        self.image.load()
        self.bytes = 4 * size[0] * size[1]


class _Part(NamedTuple):
    """A sprite, and where it lies."""

    sprite: _Sprite
    left: int
    top: int

    @property
    def right(self) -> int:
        """The column behind it."""
        return self.left + self.sprite.image.width

    @property
    def bottom(self) -> int:
        """The row below it."""
        return self.top + self.sprite.image.height


class _Kept:
    """The sprites that were used last, by all that they depend on."""

    def __init__(self) -> None:
        self._sprites: OrderedDict[Hashable, _Sprite] = OrderedDict()
        self._lock = threading.Lock()
        self.bytes = 0

    def part(self, run: Run, sheet: Sheet, scale: _Scale) -> _Part:
        """A run of shapes as part of a picture."""
        x, y, unit = run.at
        x, y = round(x * scale.across, 6), round(y * scale.down + scale.above, 6)
        left, top = math.floor(x), math.floor(y)
        sprite = self._sprite(run, sheet, (unit * scale.across, unit * scale.down), (round(x - left, 6), round(y - top, 6)))
        return _Part(sprite, left + sprite.left, top + sprite.top)

    def _sprite(self, run: Run, sheet: Sheet, scale: tuple[float, float], begin: tuple[float, float]) -> _Sprite:
        key = (sheet.theme, scale, begin, *run.shapes)
        with self._lock:
            if key in self._sprites:
                self._sprites.move_to_end(key)
                return self._sprites[key]
        sprite = _Sprite(run, sheet, scale, begin)
        with self._lock:
            if key not in self._sprites:
                self._sprites[key] = sprite
                self.bytes += sprite.bytes
            while self.bytes > _MOST_BYTES:
                self.bytes -= self._sprites.popitem(last=False)[1].bytes
        return sprite


class _Ground(NamedTuple):
    """A picture with nothing on it."""

    size: tuple[int, int]
    colour: str


_KEPT = _Kept()
_last: tuple[_Ground, list[_Part], Image.Image] | None = None  # the picture before; nobody draws on it any more


def _picture(ground: _Ground, parts: list[_Part]) -> Image.Image:
    """Parts laid on a ground in their order; what is as in the picture before is taken from there."""
    global _last
    before = _last
    changed = _changed(before[1], parts) if before and before[0] == ground else None
    if before is None or changed is None:
        picture = _laid(ground, parts, 0, 0)
    else:
        picture = before[2].copy()
        for old in changed:
            there = [new for new in parts if _meet(old, new)]
            patch = _Ground(old.sprite.image.size, ground.colour)
            picture.paste(_laid(patch, there, old.left, old.top), (old.left, old.top))
    _last = (ground, parts, picture) if 4 * ground.size[0] * ground.size[1] <= _LARGEST else None
    return picture


def _changed(before: Sequence[_Part], parts: Sequence[_Part]) -> list[_Part] | None:
    """The parts that are new or gone; None if most are, or if the others have another order."""
    stay = set(before).intersection(parts)
    changed = [part for part in (*before, *parts) if part not in stay]
    alike = [part for part in before if part in stay] == [part for part in parts if part in stay]
    return changed if alike and len(changed) < len(stay) else None


def _meet(one: _Part, other: _Part) -> bool:
    return one.left < other.right and other.left < one.right and one.top < other.bottom and other.top < one.bottom


def _laid(ground: _Ground, parts: Iterable[_Part], left: int, top: int) -> Image.Image:
    """A ground with parts on it; `left` and `top` are its left upper corner in the picture."""
    from PIL import Image

    picture = Image.new("RGB", ground.size, ground.colour)
    for sprite, x, y in parts:
        picture.paste(sprite.image, (x - left, y - top), sprite.image)
    return picture
