"""The board as an array of pixels, through the optional packages resvg_py and Pillow.

The runs of shapes of the SVG are drawn as sprites, which are cached and pasted over each other, since drawing takes most of the
time and little changes from picture to picture.
"""

from __future__ import annotations

import io
import math
import threading
from collections import OrderedDict
from collections.abc import Collection, Hashable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from euphoria_env.render.sheet import Run, Sheet
from euphoria_env.render.svg import Drawing, draw

if TYPE_CHECKING:
    from euphoria_env.game import Game

_MOST_BYTES = 64 * 2**20  # of the cached sprites
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
        game, seat, width, names, last, theme, changed: as for `board_svg`.
        within: width and height in pixels; the picture is scaled to the largest size that fits.

    Raises:
        ImportError: resvg_py or Pillow is not installed.
        ValueError: as `board_svg`.
    """
    try:
        import resvg_py  # noqa: F401
        from PIL import Image
    except ImportError as error:
        raise ImportError("pictures as pixels need resvg_py and Pillow: pip install '.[render]'") from error
    drawing = draw(game, seat, width, names, last, theme, changed)
    wide, tall = size = drawing.size
    if within is not None:
        wide = max(1, min(within[0], within[1] * wide // tall))
        size = wide, math.ceil(wide * tall / drawing.size[0])
    scale = _scale(drawing, size)
    picture = Image.new("RGB", size, drawing.sheet.colour("paper"))
    for run in drawing.sheet.runs:
        if run.shapes:
            image, left, top = _SPRITES.placed(run, drawing.sheet, scale)
            picture.paste(image, (left, top), image)
    return np.array(picture)


class _Scale(NamedTuple):
    """The transformation from a sheet to pixels."""

    across: float
    down: float
    above: float  # pixels above the sheet


def _scale(drawing: Drawing, size: tuple[int, int]) -> _Scale:
    """The transformation that shows the SVG of a drawing in a size."""
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


class _Sprites:
    """A cache of the sprites that were used last, by everything that they depend on."""

    def __init__(self) -> None:
        self._sprites: OrderedDict[Hashable, _Sprite] = OrderedDict()
        self._lock = threading.Lock()
        self.bytes = 0

    def placed(self, run: Run, sheet: Sheet, scale: _Scale) -> tuple[Any, int, int]:
        """The image of a run of shapes, and its left upper corner in the picture."""
        x, y, unit = run.at
        x, y = round(x * scale.across, 6), round(y * scale.down + scale.above, 6)
        left, top = math.floor(x), math.floor(y)
        sprite = self._sprite(run, sheet, (unit * scale.across, unit * scale.down), (round(x - left, 6), round(y - top, 6)))
        return sprite.image, left + sprite.left, top + sprite.top

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


_SPRITES = _Sprites()
