"""The board as an array of pixels, through the optional package resvg_py."""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from euphoria_env.render.svg import board_svg

if TYPE_CHECKING:
    from euphoria_env.game import Game

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHANNELS = {2: 3, 6: 4}  # by colour type: RGB, RGBA


def board_array(game: Game, seat: int | None = None, width: int | None = None) -> np.ndarray:
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
        raise ImportError("pictures as pixels need resvg_py: pip install 'euphoria-env[render]'") from error
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
    return np.ascontiguousarray(_unfilter(lines, channels).reshape(height, width, channels)[:, :, :3])


def _chunks(png: bytes) -> dict[bytes, bytes]:
    """The chunks by type; several of one type are joined."""
    chunks: dict[bytes, bytes] = {}
    at = len(_SIGNATURE)
    while at < len(png):
        size, kind = struct.unpack_from(">I4s", png, at)
        chunks[kind] = chunks.get(kind, b"") + png[at + 8 : at + 8 + size]
        at += size + 12
    return chunks


def _unfilter(lines: np.ndarray, channels: int) -> np.ndarray:
    """Undoes the filters of the lines; uint8, shape (height, width * channels)."""
    above = np.zeros(lines.shape[1] - 1, np.uint8)
    pixels = np.empty((len(lines), len(above)), np.uint8)
    for line, out in zip(lines, pixels, strict=True):
        above = out[:] = _UNFILTERS[line[0]](line[1:], above, channels)
    return pixels


def _plain(line: np.ndarray, above: np.ndarray, channels: int) -> np.ndarray:
    return line


def _sub(line: np.ndarray, above: np.ndarray, channels: int) -> np.ndarray:
    return np.cumsum(line.reshape(-1, channels), axis=0, dtype=np.uint8).reshape(-1)


def _up(line: np.ndarray, above: np.ndarray, channels: int) -> np.ndarray:
    return line + above


def _average(line: np.ndarray, above: np.ndarray, channels: int) -> np.ndarray:
    values, top = line.tolist(), above.tolist()
    for i in range(len(values)):
        left = values[i - channels] if i >= channels else 0
        values[i] = (values[i] + (left + top[i]) // 2) & 255
    return np.array(values, np.uint8)


def _paeth(line: np.ndarray, above: np.ndarray, channels: int) -> np.ndarray:
    values, top = line.tolist(), above.tolist()
    for i in range(len(values)):
        a, b, c = (values[i - channels], top[i], top[i - channels]) if i >= channels else (0, top[i], 0)
        to_a, to_b, to_c = abs(b - c), abs(a - c), abs(a + b - 2 * c)
        nearest = a if to_a <= to_b and to_a <= to_c else b if to_b <= to_c else c
        values[i] = (values[i] + nearest) & 255
    return np.array(values, np.uint8)


_UNFILTERS = (_plain, _sub, _up, _average, _paeth)
