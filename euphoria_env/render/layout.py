"""The layout of the board: a table of boxes, from which the places of spaces, workers and stars are computed.

Icarus is the band on top, Euphoria and the Wastelands stand side by side on the ground, Subterra lies under them, with the worker
tank and the cards beside it.
"""

from __future__ import annotations

from functools import cache

from euphoria_env import board
from euphoria_env.render.sheet import Box
from euphoria_env.render.symbols import DIE_HEIGHT, DIE_WIDTH, TOKEN_SIZE

BOARD = Box(0, 0, 1100, 640)
REGIONS = {
    "euphorian": Box(0, 150, 546, 254),
    "subterran": Box(0, 414, 800, 226),
    "wastelander": Box(554, 150, 546, 254),
    "icarite": Box(0, 0, 1100, 134),
}
WORKS = Box(808, 414, 292, 226)  # the tank and the cards
RAIL_PITCH = 30  # the distance between steps of an allegiance rail
RAIL = Box(176, 6, 12 * RAIL_PITCH, 24)

# The cells of a region, relative to its left upper corner.
_SURFACE = {
    "area": Box(10, 36, 204, 162),
    "site_1": Box(220, 36, 155, 94),
    "site_2": Box(381, 36, 155, 94),
    "artifact_market": Box(220, 136, 155, 62),
    "territory": Box(381, 136, 155, 62),
    "tunnel": Box(10, 204, 526, 42),
}
_UNDERGROUND = {
    "area": Box(10, 36, 264, 130),
    "site_1": Box(280, 36, 158, 130),
    "site_2": Box(444, 36, 158, 130),
    "artifact_market": Box(608, 36, 182, 62),
    "territory": Box(608, 104, 182, 62),
    "tunnel": Box(10, 174, 780, 42),
}
_SKY = {
    "territory": Box(846, 4, 244, 28),
    "area": Box(10, 36, 330, 90),
    **{space: Box(346 + 187 * k, 36, 183, 90) for k, space in enumerate(board.ICARUS)},
}
_CELLS = dict(zip(board.FACTIONS, (_SURFACE, _UNDERGROUND, _SURFACE, _SKY), strict=True))
_MOUTH, _END = 152, 106  # widths of the spaces at both ends of a tunnel
_SOCKET = (DIE_WIDTH + 6, DIE_HEIGHT + 4)
_NAME = 24  # height of the name of a cell
# The room left of, above and below the socket of a space: names above, stars and gains below.
_INSETS = dict.fromkeys(board.SPACES, (10, _NAME, 4)) | dict.fromkeys(board.MARKETS, (10, _NAME, 32))
_INSETS |= dict.fromkeys((*board.TUNNELS, *board.TUNNEL_ENDS), (6, 0, 0)) | dict.fromkeys(board.TANK, (10, 12, 36))


def _boxes() -> dict[str, Box]:
    """Returns the box of every part of the board, by name."""
    boxes: dict[str, Box] = {}
    for k, faction in enumerate(board.FACTIONS):
        left, top = REGIONS[faction][:2]
        cells = {name: box.at(left, top) for name, box in _CELLS[faction].items()}
        boxes |= {f"rail-{faction}": RAIL.at(left, top), board.AREAS[k]: cells["area"], board.TERRITORIES[k]: cells["territory"]}
        if k == len(board.TUNNELS):
            boxes |= {space: cells[space] for space in board.ICARUS}
            continue
        x, y, w, h = cells["tunnel"]
        boxes |= {
            board.ARTIFACT_MARKETS[k]: cells["artifact_market"],
            f"pipe-{faction}": Box(x + _MOUTH, y, w - _MOUTH - _END, h),
        }
        boxes |= {board.TUNNELS[k]: Box(x, y, _MOUTH, h), board.TUNNEL_ENDS[k]: Box(x + w - _END, y, _END, h)}
        for number in (1, 2):
            site = cells[f"site_{number}"]
            boxes |= {board.MARKETS[2 * k + number - 1]: site, **_slots(board.SITES[2 * k + number - 1], site)}
    boxes |= {space: Box(WORKS.x + 10 + 139 * k, WORKS.y + 36, 133, 84) for k, space in enumerate(board.TANK)}
    return boxes | {"deck": Box(WORKS.x + 10, WORKS.y + 130, 76, 86), "discards": Box(WORKS.x + 92, WORKS.y + 130, 190, 86)}


def _slots(site: str, box: Box) -> dict[str, Box]:
    """Returns the four slots of a site, in two rows below its name."""
    w, h = (box.w - 20) / 2, (box.h - _NAME - 12) / 2
    return {
        f"{site}_{k + 1}": Box(box.x + 8 + (w + 4) * (k % 2), box.y + _NAME + (h + 4) * (k // 2), w, h)
        for k in range(board.SLOTS_PER_SITE)
    }


PLACES = _boxes()


def is_low(area: str) -> bool:
    """Returns whether the gains of an area are drawn beside the workers, not below them."""
    return PLACES[area].w > 1.5 * PLACES[area].h


@cache
def socket(name: str) -> Box:
    """Returns the box in which workers stand on a space; the whole box for slots and for parts that are no spaces."""
    x, y, w, h = PLACES[name]
    if name in board.AREAS:
        return Box(x + 134, y + 8, w - 142, h - 16) if is_low(name) else Box(x + 8, y + 28, w - 16, h - 72)
    if name in board.SLOTS or name not in _INSETS:
        return PLACES[name]
    left, above, below = _INSETS[name]
    wide, tall = _SOCKET
    return Box(x + left, y + above + (h - above - below - tall) / 2, wide, tall)


def standing(space: str, n: int) -> list[tuple[float, float, float]]:
    """Returns left, top and scale of each of n dice on a space, as large as possible without touching each other."""
    if space not in board.AREAS:
        x, y = socket(space).middle
        return [(x - DIE_WIDTH / 2, y - DIE_HEIGHT / 2, 1.0)] * n
    x, y, w, h = socket(space)
    for scale in (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4):
        wide, tall = DIE_WIDTH * scale + 4, DIE_HEIGHT * scale + 4
        across, down = int((w - 4) // wide), int((h - 4) // tall)
        if n <= across * down:
            break
    return [(x + 4 + wide * (k % across), y + 4 + tall * (k // across), scale) for k in range(n)]


def star_places(place: str, n: int) -> list[tuple[float, float]]:
    """Returns left and top of the places for stars, one for each of n players."""
    x, y, w, h = PLACES[place]
    pitch = min(TOKEN_SIZE + 3, (w - 10) / n)
    if h < 2 * TOKEN_SIZE:  # there is room only beside the name
        return [(x + w - 6 - pitch * (n - k), y + 2) for k in range(n)]
    return [(x + 6 + pitch * k, y + h - TOKEN_SIZE - 6) for k in range(n)]


def rail_step(faction: str, step: int) -> tuple[float, float]:
    """Returns the middle of a step of an allegiance rail."""
    rail = PLACES[f"rail-{faction}"]
    return rail.x + RAIL_PITCH * (step + 0.5), rail.middle[1]


def pipe_step(faction: str, step: int) -> tuple[float, float]:
    """Returns the middle of a step of a tunnel; the miner begins at 0, before the first."""
    pipe = PLACES[f"pipe-{faction}"]
    return pipe.x + pipe.w * (step + 0.6) / (board.MINER_END + 1.2), pipe.middle[1]
