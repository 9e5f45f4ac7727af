"""Pictures of a game: as text, as SVG and as an array of pixels.

Everything is drawn from a `view`, which has only what all players, or the player of a given seat, may see (R19).
"""

from __future__ import annotations

from euphoria_env.render.pixels import board_array
from euphoria_env.render.svg import board_svg
from euphoria_env.render.text import board_text

__all__ = ["board_array", "board_svg", "board_text"]
