"""Pictures of a game as the environments show them."""

from __future__ import annotations

from typing import Any

import numpy as np

from euphoria_env.game import Game
from euphoria_env.render import board_array
from euphoria_env.render.svg import PICTURE_HEIGHT, PICTURE_WIDTH

_BACKGROUND = 255
PICTURE_SIZE = (PICTURE_WIDTH, PICTURE_HEIGHT)  # of the drawing as it is, with up to four players
FRAMES_PER_SECOND = 2  # of recordings: one step is one decision, which somebody wants to read


def frame(game: Game, mode: str | None, size: tuple[int, int]) -> Any:
    """A game as text ("ansi", "human") or as pixels ("rgb_array", uint8 (height, width, 3)); None without a mode.

    The drawing keeps its shape and is as large as fits; what is left of the picture is blank.
    """
    if mode is None:
        return None
    if mode != "rgb_array":
        return str(game)
    width, height = size
    drawn = board_array(game, within=size)[:height, :width]
    if drawn.shape[:2] == (height, width):
        return drawn
    picture = np.full((height, width, 3), _BACKGROUND, np.uint8)
    top, left = (height - drawn.shape[0]) // 2, (width - drawn.shape[1]) // 2
    picture[top : top + drawn.shape[0], left : left + drawn.shape[1]] = drawn
    return picture
