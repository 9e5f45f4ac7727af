"""The board as an array of pixels, through the optional packages resvg_py and Pillow."""

from __future__ import annotations

import io
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np

from euphoria_env.render.svg import draw

if TYPE_CHECKING:
    from euphoria_env.game import Game


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
        import resvg_py
        from PIL import Image
    except ImportError as error:
        raise ImportError("pictures as pixels need resvg_py and Pillow: pip install '.[render]'") from error
    svg, wide, tall = draw(game, seat, width, names, last, theme, changed)
    if within is not None:
        wide = max(1, min(within[0], within[1] * wide // tall))
    png = resvg_py.svg_to_bytes(svg_string=svg, width=wide)
    return np.array(Image.open(io.BytesIO(png)).convert("RGB"))
