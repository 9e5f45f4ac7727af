"""Pictures of a game: as text, as SVG and as an array of pixels.

Everything is drawn from `view`: what all players may see, or what one of them may see if a seat is named (R19).
"""

from __future__ import annotations

from euphoria_env.render.pixels import board_array
from euphoria_env.render.svg import board_svg
from euphoria_env.render.text import board_text

__all__ = ["board_array", "board_svg", "board_text"]
