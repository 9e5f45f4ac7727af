"""Where everything on the board lies: one table of boxes, from which spaces, sockets and anchors come.

Icarus is the band on top, Euphoria and the Wastelands stand side by side on the ground, Subterra lies under them, with the worker
tank and the cards beside it.
"""

from __future__ import annotations

from euphoria_env.board import (
    AREAS,
    ARTIFACT_MARKETS,
    FACTIONS,
    ICARUS,
    MARKETS,
    SITES,
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
SOCKET = Box(0, 0, DIE_WIDTH + 6, DIE_HEIGHT + 4)
STAR_PITCH = 23
RAIL_PITCH = 30  # from step to step of an allegiance rail
PIPE_PITCH = {"euphorian": 23, "subterran": 38, "wastelander": 23}  # from step to step of a tunnel

# Within a region: the allegiance rail's first step, cells, and the tunnel.
_SURFACE = {
    "rail": Box(176, 6, 12 * RAIL_PITCH, 24),
    "area": Box(10, 36, 204, 162),
    "site_1": Box(220, 36, 155, 94),
    "site_2": Box(381, 36, 155, 94),
    "artifact_market": Box(220, 136, 155, 62),
    "territory": Box(381, 136, 155, 62),
    "tunnel": Box(10, 204, 526, 42),
}
_UNDERGROUND = {
    "rail": Box(176, 6, 12 * RAIL_PITCH, 24),
    "area": Box(10, 36, 204, 130),
    "site_1": Box(220, 36, 180, 130),
    "site_2": Box(406, 36, 180, 130),
    "artifact_market": Box(592, 36, 198, 62),
    "territory": Box(592, 104, 198, 62),
    "tunnel": Box(10, 172, 780, 46),
}
_SKY = {
    "rail": Box(176, 6, 12 * RAIL_PITCH, 24),
    "territory": Box(846, 4, 244, 28),
    "area": Box(10, 36, 290, 90),
    **{space: Box(306 + 198 * k, 36, 190 if k < 3 else 190, 90) for k, space in enumerate(ICARUS)},
}
_CELLS = dict(zip(FACTIONS, (_SURFACE, _UNDERGROUND, _SURFACE, _SKY), strict=True))


def _boxes() -> dict[str, Box]:
    boxes: dict[str, Box] = {}
    for k, faction in enumerate(FACTIONS):
        left, top = REGIONS[faction][:2]
        cells = {name: box.at(left, top) for name, box in _CELLS[faction].items()}
        boxes |= {f"rail-{faction}": cells["rail"], AREAS[k]: cells["area"], TERRITORIES[k]: cells["territory"]}
        if k == len(TUNNELS):
            boxes |= {space: cells[space] for space in ICARUS}
            continue
        boxes |= {ARTIFACT_MARKETS[k]: cells["artifact_market"], f"tunnel-{faction}": cells["tunnel"]}
        boxes |= _tunnel(k, cells["tunnel"])
        for number in (1, 2):
            boxes |= _site(SITES[2 * k + number - 1], MARKETS[2 * k + number - 1], cells[f"site_{number}"])
    boxes |= {space: Box(WORKS.x + 10 + 139 * k, WORKS.y + 36, 133, 88) for k, space in enumerate(TANK)}
    return boxes | {"deck": Box(WORKS.x + 10, WORKS.y + 130, 90, 86), "discards": Box(WORKS.x + 106, WORKS.y + 130, 176, 86)}


def _tunnel(k: int, box: Box) -> dict[str, Box]:
    """The space at the mouth of a tunnel and the one at its end."""
    return {TUNNELS[k]: Box(box.x, box.y, 150, box.h), TUNNEL_ENDS[k]: Box(box.x + box.w - 106, box.y, 106, box.h)}


def _site(site: str, market: str, box: Box) -> dict[str, Box]:
    """A site, and its four slots in two rows."""
    left, top = box.x + 8, box.y + box.h - 4 - 2 * (SOCKET.h + 2)
    slots = {
        f"{site}_{k + 1}": SOCKET.at(left + (SOCKET.w + 3) * (k % 2), top + (SOCKET.h + 2) * (k // 2))
        for k in range(SLOTS_PER_SITE)
    }
    return {market: box, **slots}


PLACES = _boxes()


def socket(space: str) -> Box:
    """Where a worker stands on a space for one."""
    x, y, _, h = PLACES[space]
    if h == SOCKET.h:  # a slot of a site is all socket
        return SOCKET.at(x, y)
    below = 6 if space in (*TUNNELS, *TUNNEL_ENDS) else 26
    return SOCKET.at(x + (4 if below == 6 else 8), y + below)


def crowd(area: str) -> Box:
    """Where the workers in a commodity area stand."""
    x, y, w, h = PLACES[area]
    if w > h * 2:  # Icarus is low: its sums stand beside the workers
        return Box(x + 116, y + 8, w - 124, h - 16)
    return Box(x + 8, y + 28, w - 16, h - 62)


def dice_in(box: Box, n: int) -> list[tuple[float, float, float]]:
    """Left, top and scale of this number of dice, as large as they fit without touching each other."""
    for scale in (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4):
        w, h = DIE_WIDTH * scale + 4, DIE_HEIGHT * scale + 4
        across, down = int((box.w + 4) // w), int((box.h + 4) // h)
        if n <= across * down:
            break
    return [(box.x + w * (k % across), box.y + h * (k // across), scale) for k in range(n)]


def star_places(place: str, n: int) -> list[tuple[float, float]]:
    """Left and top of the places for stars of this number of players."""
    x, y, w, h = PLACES[place]
    pitch = min(STAR_PITCH + 4, (w - 12) / n)
    top = y + h - TOKEN_SIZE - (2 if h < 40 else 6)
    return [(x + w - 6 - pitch * (n - k) if h < 40 else x + 6 + pitch * k, top) for k in range(n)]
