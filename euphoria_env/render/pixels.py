"""The board as an array of pixels, through the optional packages resvg_py and Pillow."""

from __future__ import annotations

import io

import numpy as np

from euphoria_env.render.svg import board_svg
from euphoria_env.render.view import Drawable


def board_array(game: Drawable, seat: int | None = None, width: int | None = None) -> np.ndarray:
    """The board as pixels, uint8, shape (height, width, 3).

    Args:
        game: the game.
        seat: whose private cards are shown too; None: nobody's.
        width: of the picture in pixels; None: that of the SVG.

    Raises:
        ImportError: resvg_py or Pillow is not installed.
        ValueError: no such seat.
    """
    try:
        import resvg_py
        from PIL import Image
    except ImportError as error:
        raise ImportError("pictures as pixels need resvg_py and Pillow: pip install '.[render]'") from error
    png = resvg_py.svg_to_bytes(svg_string=board_svg(game, seat), width=width)
    return np.array(Image.open(io.BytesIO(png)).convert("RGB"))
