"""The layout of the board: a table of boxes, from which the places of spaces, workers and stars are computed.

Icarus is the band on top, Euphoria and the Wastelands stand side by side on the ground, Subterra lies under them, with the worker
tank and the cards beside it.
"""

from __future__ import annotations

from functools import cache

from euphoria_env.board import (
    AREAS,
    ARTIFACT_MARKETS,
    FACTIONS,
    ICARUS,
    MARKETS,
    MINER_END,
    SITES,
    SLOTS,
    SLOTS_PER_SITE,
    TANK,
    TERRITORIES,
    TUNNEL_ENDS,
    TUNNELS,
)
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
RAIL_PITCH = 30  # from step to step of an allegiance rail
RAIL = Box(176, 6, 12 * RAIL_PITCH, 24)

# The cells of a region, from its left upper corner.
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
    **{space: Box(346 + 187 * k, 36, 183, 90) for k, space in enumerate(ICARUS)},
}
_CELLS = dict(zip(FACTIONS, (_SURFACE, _UNDERGROUND, _SURFACE, _SKY), strict=True))
_MOUTH, _END = 152, 106  # widths of the spaces at both ends of a tunnel
_PAD = 10
_SOCKET = (DIE_WIDTH + 6, DIE_HEIGHT + 4)
_NAME = 24  # height of the name of a cell


def _boxes() -> dict[str, Box]:
    """The box of every part of the board, by name."""
    boxes: dict[str, Box] = {}
    for k, faction in enumerate(FACTIONS):
        left, top = REGIONS[faction][:2]
        cells = {name: box.at(left, top) for name, box in _CELLS[faction].items()}
        boxes |= {f"rail-{faction}": RAIL.at(left, top), AREAS[k]: cells["area"], TERRITORIES[k]: cells["territory"]}
        if k == len(TUNNELS):
            boxes |= {space: cells[space] for space in ICARUS}
            continue
        x, y, w, h = cells["tunnel"]
        boxes |= {f"pipe-{faction}": Box(x + _MOUTH, y, w - _MOUTH - _END, h), ARTIFACT_MARKETS[k]: cells["artifact_market"]}
        boxes |= {TUNNELS[k]: Box(x, y, _MOUTH, h), TUNNEL_ENDS[k]: Box(x + w - _END, y, _END, h)}
        for number in (1, 2):
            site = cells[f"site_{number}"]
            boxes |= {MARKETS[2 * k + number - 1]: site, **_slots(SITES[2 * k + number - 1], site)}
    boxes |= {space: Box(WORKS.x + 10 + 139 * k, WORKS.y + 36, 133, 84) for k, space in enumerate(TANK)}
    return boxes | {"deck": Box(WORKS.x + 10, WORKS.y + 130, 76, 86), "discards": Box(WORKS.x + 92, WORKS.y + 130, 190, 86)}


def _slots(site: str, box: Box) -> dict[str, Box]:
    """The four slots of a site, in two rows below its name."""
    w, h = (box.w - 20) / 2, (box.h - _NAME - 12) / 2
    return {
        f"{site}_{k + 1}": Box(box.x + 8 + (w + 4) * (k % 2), box.y + _NAME + (h + 4) * (k // 2), w, h)
        for k in range(SLOTS_PER_SITE)
    }


PLACES = _boxes()
_SIDEWAYS = {*TUNNELS, *TUNNEL_ENDS}  # spaces without a name above the socket


@cache
def socket(space: str) -> Box:
    """The place of a worker on a space for one."""
    box = PLACES[space]
    if space in SLOTS:  # all socket
        return box
    w, h = _SOCKET
    above = 0 if space in _SIDEWAYS else 12 if space in TANK else _NAME
    below = 32 if space in MARKETS else 36 if space in TANK else 0 if space in _SIDEWAYS else 4  # the stars, the gain
    return Box(box.x + (6 if space in _SIDEWAYS else _PAD), box.y + above + (box.h - above - below - h) / 2, w, h)


def is_low(area: str) -> bool:
    """Whether the gains of an area are beside the workers, not below them."""
    return PLACES[area].w > 1.5 * PLACES[area].h


def crowd(area: str) -> Box:
    """The places of the workers in a commodity area."""
    x, y, w, h = PLACES[area]
    return Box(x + 134, y + 8, w - 142, h - 16) if is_low(area) else Box(x + 8, y + 28, w - 16, h - 72)


def standing(space: str, n: int) -> list[tuple[float, float, float]]:
    """Left, top and scale of each of n dice on a space, as large as they fit without touching each other."""
    if space not in AREAS:
        x, y = socket(space).middle
        return [(x - DIE_WIDTH / 2, y - DIE_HEIGHT / 2, 1.0)] * n
    x, y, w, h = crowd(space)
    for scale in (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4):
        wide, tall = DIE_WIDTH * scale + 4, DIE_HEIGHT * scale + 4
        across, down = int((w - 4) // wide), int((h - 4) // tall)
        if n <= across * down:
            break
    return [(x + 4 + wide * (k % across), y + 4 + tall * (k // across), scale) for k in range(n)]


def star_places(place: str, n: int) -> list[tuple[float, float]]:
    """Left and top of the places for stars, one for each of n players."""
    x, y, w, h = PLACES[place]
    pitch = min(TOKEN_SIZE + 3, (w - 10) / n)
    if h < 2 * TOKEN_SIZE:  # beside the name
        return [(x + w - 6 - pitch * (n - k), y + 2) for k in range(n)]
    return [(x + 6 + pitch * k, y + h - TOKEN_SIZE - 6) for k in range(n)]


def rail_step(faction: str, step: int) -> tuple[float, float]:
    """The middle of a step of an allegiance rail."""
    rail = PLACES[f"rail-{faction}"]
    return rail.x + RAIL_PITCH * (step + 0.5), rail.middle[1]


def pipe_step(faction: str, step: int) -> tuple[float, float]:
    """The middle of a step of a tunnel; the miner begins at 0, before the first."""
    pipe = PLACES[f"pipe-{faction}"]
    return pipe.x + pipe.w * (step + 0.6) / (MINER_END + 1.2), pipe.middle[1]
