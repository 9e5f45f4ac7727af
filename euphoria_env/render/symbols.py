"""The symbols of the drawing: small pictures of goods, cards and markers, dice, stars and badges."""

from __future__ import annotations

import math
from functools import lru_cache

from euphoria_env.board import MAX_PLAYERS
from euphoria_env.render.theme import colour


def star_points(middle: float, radius: float) -> str:
    """Returns the corners of a star, fat enough for a number."""
    corners = [(radius if k % 2 == 0 else 0.56 * radius, math.pi * (k / 5 - 0.5)) for k in range(10)]
    return " ".join(f"{middle + r * math.cos(a):.2f},{middle + r * math.sin(a):.2f}" for r, a in corners)


_CARD = '<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="1.8" fill="#efe2c4" stroke="#8d6b2f" stroke-width=".9"/>'
_LINE = 'fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round"'
# Shapes of 16 x 16, by name; `currentColor` is the ink.
ICONS = {
    "energy": '<polygon points="9.5,0.5 2.5,9.2 7.2,9.2 5.8,15.5 13.5,6.2 8.6,6.2" fill="#f7cf4b"/>',
    "water": '<path d="M8 .8C8 .8 2.8 7 2.8 10.4a5.2 5.2 0 0 0 10.4 0C13.2 7 8 .8 8 .8Z" fill="#54b4ee"/>'
    '<path d="M5 10.4a3 3 0 0 0 2.2 2.9" fill="none" stroke="#d8f0ff" stroke-width="1.2" stroke-linecap="round"/>',
    "food": '<path d="M1.8 14.2C1.4 6.4 6 1.8 14.4 1.8 14.8 10 10 14.6 1.8 14.2Z" fill="#8cc63f"/>'
    '<path d="M2 14 10.5 5.5" stroke="#3f6b12" stroke-width="1.2"/>',
    "bliss": '<g transform="rotate(-40 8 8)"><rect x="1" y="5" width="14" height="6" rx="3" fill="#f4ecff"/>'
    '<path d="M8 5h4a3 3 0 0 1 0 6H8Z" fill="#b777ee"/></g>',
    "gold": '<polygon points="4.2,4 11.8,4 15.2,12.6 .8,12.6" fill="#eebc2d"/>'
    '<polygon points="4.2,4 11.8,4 12.7,6.4 3.3,6.4" fill="#ffe48a"/>',
    "stone": '<polygon points="3.2,13.6 .9,8.4 4.6,3 11,2.2 15.1,7 13.2,13.6" fill="#94a3b2"/>'
    '<polygon points="4.6,3 11,2.2 9.2,6.4 5,7.6" fill="#c9d3dd"/>',
    "clay": '<rect x=".8" y="3.4" width="14.4" height="9.8" rx="1.4" fill="#c8683c"/>'
    '<path d="M.8 8.3h14.4M8 3.4v4.9M4.4 8.3v4.9M11.6 8.3v4.9" stroke="#7c3715" stroke-width="1.1"/>',
    "resource": '<rect x="4.9" y=".8" width="6.2" height="6.2" rx="1" fill="#eebc2d"/>'
    '<rect x=".9" y="8.6" width="6.2" height="6.2" rx="1" fill="#94a3b2"/>'
    '<rect x="8.9" y="8.6" width="6.2" height="6.2" rx="1" fill="#c8683c"/>',
    "commodity": '<circle cx="4.4" cy="4.4" r="3.2" fill="#f7cf4b"/><circle cx="11.6" cy="4.4" r="3.2" fill="#54b4ee"/>'
    '<circle cx="4.4" cy="11.6" r="3.2" fill="#8cc63f"/><circle cx="11.6" cy="11.6" r="3.2" fill="#b777ee"/>',
    "other commodity": '<circle cx="8" cy="4.2" r="3.2" fill="#f7cf4b"/>'
    '<circle cx="4.2" cy="11.4" r="3.2" fill="#54b4ee"/><circle cx="11.8" cy="11.4" r="3.2" fill="#8cc63f"/>',
    "artifact": _CARD.format(x=2.8, y=0.8, w=10.4, h=14.4)
    + '<path d="M8 4 11 8 8 12 5 8Z" fill="none" stroke="#8d6b2f" stroke-width="1.4"/>',
    "pair": _CARD.format(x=0.8, y=0.8, w=9, h=12.4)
    + _CARD.format(x=6.2, y=2.8, w=9, h=12.4)
    + '<path d="M8.4 7.6h4.6M8.4 10.4h4.6" stroke="#8d6b2f" stroke-width="1.4"/>',
    "balloons": '<circle cx="5.4" cy="5" r="4" fill="#f0566c"/><circle cx="11" cy="6.6" r="4" fill="#54b4ee"/>'
    '<path d="M5.4 9 8 15.4 11 10.6" fill="none" stroke="#a0805a" stroke-width="1.1"/>',
    "bat": '<path d="M2.6 13.4 12 4" stroke="#c98d4a" stroke-width="2" stroke-linecap="round"/>'
    '<path d="M7.2 8.8 12.4 3.6" stroke="#c98d4a" stroke-width="4.6" stroke-linecap="round"/>'
    '<circle cx="2.6" cy="13.4" r="1.7" fill="#8a5a26"/>',
    "bear": '<circle cx="3.8" cy="4" r="2.6" fill="#a8713d"/><circle cx="12.2" cy="4" r="2.6" fill="#a8713d"/>'
    '<circle cx="8" cy="8.8" r="6.2" fill="#c08850"/><ellipse cx="8" cy="11" rx="2.8" ry="2.2" fill="#f0dcbc"/>'
    '<circle cx="5.8" cy="7.4" r=".9" fill="#2a1a0c"/><circle cx="10.2" cy="7.4" r=".9" fill="#2a1a0c"/>'
    '<circle cx="8" cy="10.4" r=".9" fill="#2a1a0c"/>',
    "bifocals": '<g fill="#bfe3f5" stroke="#7d8796" stroke-width="1.4"><circle cx="4.3" cy="8.6" r="3.3"/>'
    '<circle cx="11.7" cy="8.6" r="3.3"/><path d="M7.4 8h1.2M1.2 7 .6 5M14.8 7l.6-2" fill="none"/></g>',
    "book": '<path d="M2.6 2.2h8.8a2 2 0 0 1 2 2v9.6H4.4a1.8 1.8 0 0 1-1.8-1.8Z" fill="#7c5cc4"/>'
    '<path d="M4.4 11.4h9v2.4h-9a1.2 1.2 0 0 1 0-2.4Z" fill="#efe7d2"/><path d="M5.6 5h5" stroke="#e9dcff" stroke-width="1.3"/>',
    "box": '<polygon points="8,1.4 14.6,4.6 8,7.8 1.4,4.6" fill="#e2bb83"/><polygon points="1.4,4.6 8,7.8 8,15 1.4,11.6" '
    'fill="#c5965a"/><polygon points="14.6,4.6 8,7.8 8,15 14.6,11.6" fill="#a87a42"/>',
    "knowledge": '<polygon points="8,2.6 15.6,6 8,9.4 .4,6" fill="currentColor"/>'
    '<path d="M4 9v2.6c1.8 1.9 6.2 1.9 8 0V9L8 10.9Z" fill="currentColor"/>'
    '<path d="M14.4 6.6v5" stroke="currentColor" stroke-width="1.2"/>',
    "morale": '<path d="M8 14.4C3 10.6 1 8.2 1 5.5A3.6 3.6 0 0 1 8 4.3 3.6 3.6 0 0 1 15 5.5c0 2.7-2 5.1-7 8.9Z" fill="#f08aa0"/>',
    "worker": f'<g {_LINE}><rect x="1.6" y="1.6" width="12.8" height="12.8" rx="3"/><path d="M8 4.8v6.4M4.8 8h6.4"/></g>',
    "flag": '<path d="M3.4 15.4V1" stroke="currentColor" stroke-width="1.5"/>'
    '<path d="M4.2 1.4h9.4l-2.6 3.4 2.6 3.4H4.2Z" fill="currentColor"/>',
    "lock": '<rect x="2.6" y="7" width="10.8" height="8" rx="1.6" fill="currentColor"/>'
    '<path d="M5 7V5a3 3 0 0 1 6 0v2" fill="none" stroke="currentColor" stroke-width="1.8"/>',
    "eye": f'<g {_LINE}><path d="M.8 8C3 4.4 5.4 3 8 3s5 1.4 7.2 5C13 11.6 10.6 13 8 13S3 11.6.8 8Z"/></g>'
    '<circle cx="8" cy="8" r="2.3" fill="currentColor"/>',
    "miner": f'<g {_LINE}><path d="M2.2 6.4C4.6 2.6 9.6 1.6 13.8 4.2"/><path d="M8 4 11.4 14.2"/></g>',
    "star": f'<polygon points="{star_points(8, 7.8)}" fill="currentColor"/>',
    "tick": f'<path d="M3 8.6 6.6 12 13 4.4" {_LINE}/>',
    "cross": f'<path d="M4 4 12 12M12 4 4 12" {_LINE}/>',
}
_PIPS = {1: "c", 2: "ai", 3: "aci", 4: "aegi", 5: "acegi", 6: "abeghi"}
# The places of the pips, in quarters of the side: the corners a e g i, the middle c, the sides b h.
_PIP_PLACES = {"a": (1, 1), "e": (3, 1), "g": (1, 3), "i": (3, 3), "c": (2, 2), "b": (1, 2), "h": (3, 2)}
DIE_WIDTH, DIE_HEIGHT = 40, 26  # the figure with the number of its player, and the die, a square
_SIDE = 24
TOKEN_SIZE = BADGE_SIZE = 24


def die(player: int, face: int, theme: str) -> str:
    """Returns a worker, as SVG of `DIE_WIDTH` x `DIE_HEIGHT`: a figure with its player's number and a die, in their colour."""
    seat = f"seat-{player}"
    look = f'fill="{colour(seat, theme)}" stroke="{colour(f"{seat}-edge", theme)}" stroke-width="1.5"'
    ink = colour(f"{seat}-ink", theme)
    left, top = DIE_WIDTH - _SIDE, (DIE_HEIGHT - _SIDE) / 2
    parts = [
        f'<circle cx="7.5" cy="5.5" r="4.5" {look}/><rect x=".75" y="9" width="13.5" height="16.25" rx="4" {look}/>',
        _number(player, 7.5, 22.5, 14, ink),
        f'<rect x="{left + 0.75}" y="{top + 0.75}" width="{_SIDE - 1.5}" height="{_SIDE - 1.5}" rx="5" {look}/>',
    ]
    for pip in _PIPS[face]:
        across, down = _PIP_PLACES[pip]
        cx, cy = left + (across * 0.24 + 0.02) * _SIDE, top + (down * 0.24 + 0.02) * _SIDE
        parts.append(f'<circle cx="{cx:.1f}" cy="{cy:.1f}" r="2.5" fill="{ink}"/>')
    return "".join(parts)


def token(player: int, theme: str) -> str:
    """Returns a star with the number of its player, as SVG in a square of `TOKEN_SIZE`."""
    fill, ink, edge = (colour(name, theme) for name in (f"seat-{player}", f"seat-{player}-ink", f"seat-{player}-edge"))
    star = f'<polygon points="{star_points(12, 11.7)}" fill="{fill}" stroke="{edge}" stroke-linejoin="round"/>'
    return star + _number(player, 12, 16.4, 12, ink)


def badge(player: int, theme: str) -> str:
    """Returns the number of a player on a disc in their colour, as SVG in a square of `BADGE_SIZE`."""
    fill, ink, edge = (colour(name, theme) for name in (f"seat-{player}", f"seat-{player}-ink", f"seat-{player}-edge"))
    return f'<circle cx="12" cy="12" r="11" fill="{fill}" stroke="{edge}"/>' + _number(player, 12, 17, 14, ink)


def _number(player: int, x: float, y: float, size: int, fill: str) -> str:
    """Returns the number of a player as people count, from 1."""
    look = f'font-size="{size}" fill="{fill}" font-weight="700" text-anchor="middle"'
    return f'<text x="{x:g}" y="{y:g}" {look}>{player + 1}</text>'


@lru_cache(1024)
def symbol(name: str, theme: str) -> str:
    """Returns a symbol to `<use>`, by its id: `icon-energy`, `worker-2-6` (player, face), `token-2` and `badge-2` (player)."""
    kind, _, which = name.partition("-")
    if kind == "icon":
        w, h, shape = 16, 16, ICONS[which.replace("-", " ")]
    elif kind == "worker":
        w, h, shape = DIE_WIDTH, DIE_HEIGHT, die(int(which[0]), int(which[2]), theme)
    else:
        w, h, shape = TOKEN_SIZE, TOKEN_SIZE, (token if kind == "token" else badge)(int(which), theme)
    return f'<symbol id="{name}" viewBox="0 0 {w} {h}">{shape}</symbol>'


def symbols(theme: str) -> str:
    """Returns all symbols of a page."""
    names = [f"icon-{name.replace(' ', '-')}" for name in ICONS]
    for player in range(MAX_PLAYERS):
        names += [f"worker-{player}-{face}" for face in _PIPS]
        names += [f"token-{player}", f"badge-{player}"]
    return "".join(symbol(name, theme) for name in names)
