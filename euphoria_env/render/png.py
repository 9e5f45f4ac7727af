"""The board as an array of pixels, through the optional package resvg_py."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np

from euphoria_env.render.svg import board_svg
from euphoria_env.render.view import Drawable

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHANNELS = {2: 3, 6: 4}  # by colour type: RGB, RGBA


def board_array(game: Drawable, seat: int | None = None, width: int | None = None) -> np.ndarray:
    """The board as pixels, uint8, shape (height, width, 3).

    Args:
        game: the game.
        seat: whose private cards are shown too; None: nobody's.
        width: of the picture in pixels; None: that of the SVG.

    Raises:
        ImportError: resvg_py is not installed.
        ValueError: no such seat.
    """
    svg = board_svg(game, seat)
    png = _resvg().svg_to_bytes(svg_string=svg, **({} if width is None else {"width": width}))
    return decode_png(bytes(png))


def _resvg() -> Any:
    try:
        import resvg_py
    except ImportError as error:
        raise ImportError("pictures as pixels need resvg_py: pip install '.[render]'") from error
    return resvg_py


def decode_png(png: bytes) -> np.ndarray:
    """Decodes an opaque PNG of 8 bits a channel, RGB or RGBA, not interlaced; uint8, shape (height, width, 3).

    Raises:
        ValueError: this is no such PNG.
    """
    if not png.startswith(_SIGNATURE):
        raise ValueError("not a PNG")
    chunks = _chunks(png)
    width, height, depth, colour, _, _, interlace = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    if depth != 8 or colour not in _CHANNELS or interlace:
        raise ValueError(f"cannot read a PNG of depth {depth}, colour type {colour}, interlace {interlace}")
    channels = _CHANNELS[colour]
    lines = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, 1 + width * channels)
    differences = lines[:, 1:].reshape(height, width, channels)[:, :, :3]
    return _unfilter(lines[:, 0], differences.astype(np.int16)).astype(np.uint8)


def _chunks(png: bytes) -> dict[bytes, bytes]:
    """The chunks by type; several of one type are joined."""
    chunks: dict[bytes, bytes] = {}
    at = len(_SIGNATURE)
    while at < len(png):
        size, kind = struct.unpack_from(">I4s", png, at)
        chunks[kind] = chunks.get(kind, b"") + png[at + 8 : at + 8 + size]
        at += size + 12
    return chunks


def _unfilter(kinds: np.ndarray, differences: np.ndarray) -> np.ndarray:
    """Undoes the filters of the lines.

    A pixel follows from those to the left, above and to the left above, so all pixels of a diagonal are done at once.

    Args:
        kinds: filter of each line, shape (height,).
        differences: what the filters left, int16, shape (height, width, 3).

    Returns:
        The pixels, int16, shape (height, width, 3).
    """
    height, width, _ = differences.shape
    pixels = np.zeros((height + 1, width + 1, 3), np.int16)  # with a black line above and on the left
    for diagonal in range(height + width - 1):
        y = np.arange(max(0, diagonal - width + 1), min(height, diagonal + 1))
        x = diagonal - y
        guess = _guess(kinds[y, None], pixels[y + 1, x], pixels[y, x + 1], pixels[y, x])
        pixels[y + 1, x + 1] = (differences[y, x] + guess) & 255
    return pixels[1:, 1:]


def _guess(kinds: np.ndarray, left: np.ndarray, above: np.ndarray, corner: np.ndarray) -> np.ndarray:
    """What the filters expect of a pixel: 0 nothing, 1 left, 2 above, 3 their mean, 4 the nearest (Paeth)."""
    to_left, to_above, to_corner = abs(above - corner), abs(left - corner), abs(left + above - 2 * corner)
    above_or_corner = np.where(to_above <= to_corner, above, corner)
    nearest = np.where((to_left <= to_above) & (to_left <= to_corner), left, above_or_corner)
    return np.select([kinds == 1, kinds == 2, kinds == 3, kinds == 4], [left, above, (left + above) // 2, nearest], 0)
