"""Renders the board to an array of pixels, with the optional packages resvg_py and Pillow.

Each run of shapes of the SVG is rendered as an image of its own, and the images are pasted over each other. Rendering takes most
of the time and little changes from picture to picture, so the images are cached.
"""

from __future__ import annotations

import io
import math
import threading
from collections import OrderedDict
from collections.abc import Collection, Hashable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from euphoria_env.render.lettering import FONT_FILE
from euphoria_env.render.sheet import Run, Sheet
from euphoria_env.render.svg import draw

if TYPE_CHECKING:
    from euphoria_env.game import Game

_MOST_BYTES = 64 * 2**20  # the most memory for cached images
_ROOM = 3  # the margin around the boxes of shapes, for outlines and overhanging letters


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
    """Returns the board as pixels, uint8, shape (height, width, 3).

    Args:
        game, seat, width, names, last, theme, changed: as for `board_svg`.
        within: width and height in pixels; the picture is scaled to the largest size that fits.

    Raises:
        ImportError: resvg_py or Pillow is not installed.
        ValueError: as for `board_svg`.
    """
    try:
        import resvg_py  # noqa: F401
        from PIL import Image
    except ImportError as error:
        raise ImportError("pictures as pixels need resvg_py and Pillow: pip install '.[render]'") from error
    drawing = draw(game, seat, width, names, last, theme, changed)
    (wide, tall), box, sheet = drawing.size, drawing.box, drawing.sheet
    across = wide if within is None else max(1, min(within[0], within[1] * wide // tall))
    down = math.ceil(across * tall / wide)
    # An SVG viewer stretches the drawing in the same way: its height becomes a whole number of pixels, with the drawing centred.
    stretched, unit = down / tall, wide / box.w
    scale, above = (across / box.w, stretched * unit), stretched * (tall - box.h * unit) / 2
    picture = Image.new("RGB", (across, down), sheet.colour("paper"))
    for run in sheet.runs:
        if run.shapes:
            image, corner = _placed(sheet, run, scale, above)
            picture.paste(image, corner, image)
    return np.array(picture)


class _Image(NamedTuple):
    """A run of shapes on a transparent ground; `left` and `top` count from the pixel in which its group begins."""

    pixels: Any
    left: int
    top: int

    @property
    def bytes(self) -> int:
        """Its size in memory."""
        return 4 * self.pixels.width * self.pixels.height


def _placed(sheet: Sheet, run: Run, scale: tuple[float, float], above: float) -> tuple[Any, tuple[int, int]]:
    """Returns the image of a run of shapes, and the pixel of the picture that is its left upper corner.

    Rounds the coordinates, since runs with equal SVG text may differ in the last digits of their places.
    """
    x, y, unit = run.at
    x, y = round(x * scale[0], 6), round(y * scale[1] + above, 6)
    left, top = math.floor(x), math.floor(y)
    begin, unit_scale = (round(x - left, 6), round(y - top, 6)), (unit * scale[0], unit * scale[1])
    key = (sheet.theme, begin, unit_scale, *run.shapes)
    image = _IMAGES.get(key) or _IMAGES.add(key, _render(sheet, run, begin, unit_scale))
    return image.pixels, (left + image.left, top + image.top)


def _render(sheet: Sheet, run: Run, begin: tuple[float, float], scale: tuple[float, float]) -> _Image:
    import resvg_py
    from PIL import Image

    def pixel(x: float, y: float) -> tuple[float, float]:
        return round(begin[0] + x * scale[0], 6), round(begin[1] + y * scale[1], 6)

    left, top = map(math.floor, pixel(min(box.x for box in run.boxes) - _ROOM, min(box.y for box in run.boxes) - _ROOM))
    right, bottom = max(box.x + box.w for box in run.boxes) + _ROOM, max(box.y + box.h for box in run.boxes) + _ROOM
    right, bottom = map(math.ceil, pixel(right, bottom))
    svg = sheet.part(run, (right - left, bottom - top), (scale[0], 0, 0, scale[1], begin[0] - left, begin[1] - top))
    pixels = Image.open(io.BytesIO(resvg_py.svg_to_bytes(svg_string=svg, font_files=[str(FONT_FILE)])))
    pixels.load()
    return _Image(pixels, left, top)


class _Images:
    """A cache of images, keyed by all that they depend on; it drops the least recently used ones."""

    def __init__(self) -> None:
        self._images: OrderedDict[Hashable, _Image] = OrderedDict()
        self._lock = threading.Lock()
        self.bytes = 0

    def get(self, key: Hashable) -> _Image | None:
        """Returns an image from the cache, or None."""
        with self._lock:
            if key in self._images:
                self._images.move_to_end(key)
            return self._images.get(key)

    def add(self, key: Hashable, image: _Image) -> _Image:
        """Adds an image to the cache, and returns it."""
        with self._lock:
            if key not in self._images:
                self._images[key] = image
                self.bytes += image.bytes
            while self.bytes > _MOST_BYTES:
                self.bytes -= self._images.popitem(last=False)[1].bytes
        return image


_IMAGES = _Images()
