"""The board as a picture: a self-contained SVG of own design."""

from __future__ import annotations

from collections.abc import Iterable

from euphoria_env.board import (
    ALLEGIANCE_END,
    AREAS,
    ARTIFACT_MARKETS,
    ARTIFACTS,
    COMMODITIES,
    FACTIONS,
    GOODS,
    ICARUS,
    MARKETS,
    MINER_END,
    RESOURCES,
    SLOTS_PER_SITE,
    STARS,
    TANK,
    TERRITORIES,
    TRACK_END,
    TUNNEL_ENDS,
    TUNNELS,
)
from euphoria_env.cards.recruits import FACTION_OF, recruit_number
from euphoria_env.render.canvas import (
    CELL,
    DIM,
    FACTION_COLOURS,
    FAINT,
    INK,
    PANEL,
    PAPER,
    PLAYER_COLOURS,
    SLOT,
    Canvas,
    text_width,
    wrap,
)
from euphoria_env.render.view import (
    REGION_NAMES,
    Drawable,
    PlayerView,
    RecruitView,
    View,
    cost_view,
    site_of,
    view_of,
)
from euphoria_env.words import PAIR_SPACES, PENALTY_TEXTS, short_title, title

PICTURE_WIDTH, PICTURE_HEIGHT = 1600, 1120
_MARGIN, _GAP, _PAD = 16, 8, 12
_TOP = 76
_BOARD_WIDTH = 1126
_STRIP = 84
_BODY = PICTURE_HEIGHT - _TOP - _MARGIN
_BAND = (_BODY - _STRIP - 4 * _GAP) / 4
_HEAD = 46  # of a region: its name, its track, its territory
_CELL_HEIGHT = _BAND - _HEAD - 10
_PANELS_X = _MARGIN + _BOARD_WIDTH + _GAP + 4
_PANELS_WIDTH = PICTURE_WIDTH - _MARGIN - _PANELS_X
_TALLEST_PANEL = 196
_BONUSES = (2, 5, 8, ALLEGIANCE_END)  # allegiance steps that give something (R7)
_REVEALING_STEP = 6  # of a miner (R7.5)
_TUNNEL_END_GAINS = ("water", "food", "energy")
_GOLD = "#f3d27a"
_WARNING = "#e79a8b"

_LEGEND_HEIGHT = 170
_LEGEND_COLUMNS = (
    (("energy", "energy"), ("water", "water"), ("food", "food")),
    (("bliss", "bliss"), ("gold", "gold"), ("stone", "stone")),
    (("clay", "clay"), ("commodity", "any commodity"), ("resource", "any resource")),
    (("artifact", "artifact"), ("flag", "allegiance"), ("worker", "new worker")),
)
_LEGEND_BONUSES = (
    ("2", "1 more commodity in the area"),
    ("5", "the tunnel gives both (Icarus: artifact)"),
    ("8", "hidden recruits show themselves"),
    ("11", "a star on each active recruit"),
)

_Gain = str | tuple[int, str]  # a symbol, with a number or without
_ICARUS_GAINS: dict[str, tuple[tuple[_Gain, ...], str]] = {
    "wind_salon": (("star", "flag"), "the star: this territory"),
    "nimbus_loft": (("star", "flag"), "any 3 resources; the star: this territory"),
    "breeze_bar": (((2, "artifact"), "flag"), "bliss and a commodity other than bliss"),
    "sky_lounge": (((2, "resource"), "flag"), "the resources in any mix"),
}


def board_svg(game: Drawable, seat: int | None = None) -> str:
    """The board as SVG: what everybody may see, or what the player of a seat may see.

    Raises:
        ValueError: no such seat.
    """
    view = view_of(game, seat)
    c = Canvas(PICTURE_WIDTH, PICTURE_HEIGHT)
    c.rect(0, 0, PICTURE_WIDTH, PICTURE_HEIGHT, PAPER, 0)
    _header(c, view)
    for faction in range(len(FACTIONS)):
        _region(c, view, faction, _TOP + faction * (_BAND + _GAP))
    _strip(c, view, _TOP + 4 * (_BAND + _GAP))
    _panels(c, view)
    return c.svg(f"Euphoria, {view.headline}")


def _header(c: Canvas, view: View) -> None:
    c.text(_MARGIN + 2, 50, "EUPHORIA", 32, _GOLD, 700)
    c.text(_MARGIN + 232, 34, view.headline, 17, INK, 700)
    c.text(_MARGIN + 232, 56, view.asked or "the game has ended", 14, DIM)
    if view.offer:
        c.text(PICTURE_WIDTH - _MARGIN, 56, view.offer, 14, _GOLD, anchor="end")


# -------------------------------------------------------------------------------------------------------------- regions


def _region(c: Canvas, view: View, faction: int, y: float) -> None:
    colour = FACTION_COLOURS[faction]
    c.rect(_MARGIN, y, _BOARD_WIDTH, _BAND, PANEL, 10)
    c.rect(_MARGIN, y, 6, _BAND, colour, 3)
    x = _MARGIN + 18
    c.text(x, y + 31, REGION_NAMES[faction].upper(), 19, colour, 700)
    _allegiance(c, view.allegiance[FACTIONS[faction]], x + 176, y + 10, colour)
    _territory(c, view, faction, _MARGIN + _BOARD_WIDTH - _PAD, y + 10, colour)
    if faction == len(TUNNELS):
        _icarus(c, view, x, y + _HEAD, colour)
    else:
        _land(c, view, faction, x, y + _HEAD, colour)


def _allegiance(c: Canvas, step: int, x: float, y: float, colour: str) -> None:
    """The allegiance track: a box for each step, those with a bonus outlined."""
    c.text(x, y + 19, "allegiance", 12, DIM)
    x += 76
    for k in range(ALLEGIANCE_END + 1):
        bonus = k in _BONUSES
        reached = 0 < step >= k
        c.rect(x, y, 30, 28, colour if reached else SLOT, 5, stroke=INK if bonus else FAINT, width=1.4)
        c.text(x + 15, y + 19, str(k), 13, PAPER if reached else DIM, 700 if k == step else 400, "middle")
        x += 34


def _territory(c: Canvas, view: View, faction: int, right: float, y: float, colour: str) -> None:
    stars = view.territories[TERRITORIES[faction]]
    x = right - 28 * len(view.players)
    c.text(x - 8, y + 19, "territory", 12, DIM, anchor="end")
    for k in range(len(view.players)):
        _star_place(c, x + 28 * k, y + 2, stars[k] if k < len(stars) else None, colour)


def _star_place(c: Canvas, x: float, y: float, player: int | None, colour: str = FAINT) -> None:
    """A place for a star, 24 wide, and the star on it."""
    c.rect(x, y, 24, 24, SLOT, 12, stroke=colour, width=1)
    if player is not None:
        _player_star(c, x + 1, y + 0.5, player, 22)


def _player_star(c: Canvas, x: float, y: float, player: int, size: float) -> None:
    fill, ink = PLAYER_COLOURS[player]
    c.star(x, y, fill, size)
    c.text(x + size / 2, y + size * 0.68, str(player), size * 0.42, ink, 700, "middle")


def _cell(c: Canvas, x: float, y: float, w: float, name: str, note: str = "", height: float = _CELL_HEIGHT) -> None:
    c.rect(x, y, w, height, CELL, 7)
    c.text(x + _PAD, y + 21, name, 13, INK, 700)
    if note:
        c.text(x + w - _PAD, y + 21, note, 12, DIM, anchor="end")


def _place(c: Canvas, view: View, space: str, x: float, y: float, colour: str = FAINT) -> None:
    """A space for one worker, and the worker on it."""
    c.slot(x, y, accent=colour)
    worker = view.worker_on(space)
    if worker:
        c.die(x + 5, y + 5, *worker, size=28)


def _cost(c: Canvas, x: float, y: float, space: str, tile: str | None = None) -> float:
    """The cost of a space as symbols; returns where it ends."""
    if space in PAIR_SPACES:
        c.text(x, y + 14, "3", 14)
        c.icon(x + 11, y, "artifact", 18)
        c.text(x + 34, y + 14, "or a pair", 12, DIM)
        return x + 92
    for item, units in cost_view(space, tile):
        c.text(x, y + 14, str(units), 14)
        x += 11
        c.icon(x, y, "artifact" if item in ARTIFACTS else item, 18)
        x += 22
        if item in ARTIFACTS:
            c.text(x, y + 14, item, 12, DIM)
            x += text_width(item, 12)
        x += 6
    return x


def _arrow(c: Canvas, x: float, y: float, *gains: _Gain) -> None:
    """What a space gives: symbols, each with a number if it is a pair, or "or"."""
    c.text(x, y + 14, "→", 14, DIM)
    x += 20
    for gain in gains:
        if gain == "or":
            c.text(x, y + 14, "or", 12, DIM)
            x += 19
            continue
        if gain == "star":
            c.star(x, y, _GOLD, 18)
        else:
            units, name = gain if isinstance(gain, tuple) else (0, gain)
            if units:
                c.text(x, y + 14, str(units), 14)
                x += 11
            c.icon(x, y, name, 18)
        x += 24


def _area(c: Canvas, view: View, faction: int, x: float, y: float, w: float) -> None:
    area = AREAS[faction]
    there = view.workers.get(area, ())
    _cell(c, x, y, w, title(area), f"sum {sum(face for _, face in there)}" if there else "")
    c.icon(x + w - 40, y + _CELL_HEIGHT - 36, COMMODITIES[faction], 28, 0.35)
    for k, (player, face) in enumerate(there):
        c.die(x + _PAD + 28 * (k % 6), y + 32 + 28 * (k // 6), player, face, 24)


def _land(c: Canvas, view: View, faction: int, x: float, y: float, colour: str) -> None:
    """Area, tunnel, sites or markets, and artifact market of a region on the ground."""
    _area(c, view, faction, x, y, 190)
    _tunnel(c, view, faction, x + 198, y, 236, colour)
    for k, market in enumerate(MARKETS[2 * faction : 2 * faction + 2]):
        _site_or_market(c, view, market, k + 1, x + 442 + 234 * k, y, 226, colour)
    _artifact_market(c, view, faction, x + 910, y, 186, colour)


def _tunnel(c: Canvas, view: View, faction: int, x: float, y: float, w: float, colour: str) -> None:
    tunnel, end = TUNNELS[faction], TUNNEL_ENDS[faction]
    miner = view.miners[FACTIONS[faction]]
    _cell(c, x, y, w, "Tunnel", f"miner {miner} of {MINER_END}")
    _place(c, view, tunnel, x + _PAD, y + 30, colour)
    at = _cost(c, x + 60, y + 40, tunnel)
    _arrow(c, at, y + 40, RESOURCES[faction], "or", "artifact")
    for k in range(1, MINER_END + 1):
        left = x + _PAD + 23.6 * (k - 1)
        c.rect(left, y + 77, 20, 10, colour if k <= miner else SLOT, 3, stroke=FAINT, width=1)
    c.icon(x + _PAD + 23.6 * (_REVEALING_STEP - 1) + 3, y + 89, "eye", 14, 0.8)
    _place(c, view, end, x + _PAD, y + _CELL_HEIGHT - 50, colour if miner == MINER_END else FAINT)
    if miner < MINER_END:
        c.icon(x + _PAD + 9, y + _CELL_HEIGHT - 41, "lock", 20)
    c.text(x + 60, y + _CELL_HEIGHT - 26, "end", 12, DIM)
    _arrow(c, x + 90, y + _CELL_HEIGHT - 40, (3, _TUNNEL_END_GAINS[faction]))


def _site_or_market(c: Canvas, view: View, market: str, number: int, x: float, y: float, w: float, colour: str) -> None:
    tile = view.markets[market].tile
    if tile is None:
        _site(c, view, market, number, x, y, w, colour)
        return
    c.rect(x, y, w, _CELL_HEIGHT, CELL, 7, stroke=colour)
    lines = wrap(title(tile), w - 2 * _PAD, 13, 700)
    c.paragraph(x + _PAD, y + 19, w - 2 * _PAD, title(tile), 13, INK, 700)
    top = y + 12 + 16 * len(lines)
    _place(c, view, market, x + _PAD, top, colour)
    _cost(c, x + 60, top + 10, market, tile)
    stars = view.markets[market].stars
    for p in range(len(view.players)):
        _star_place(c, x + _PAD + 28 * p, top + 44, p if p in stars else None)
    c.paragraph(x + _PAD, top + 84, w - 2 * _PAD, PENALTY_TEXTS[tile], 12, _WARNING, lines=2)


def _site(c: Canvas, view: View, market: str, number: int, x: float, y: float, w: float, colour: str) -> None:
    site = site_of(market)
    slots = [f"{site}_{k}" for k in range(1, SLOTS_PER_SITE + 1)]
    taken = sum(slot in view.workers for slot in slots)
    _cell(c, x, y, w, f"Site {number}", f"{taken} of {view.workers_to_build} workers")
    for k, slot in enumerate(slots):
        left = x + _PAD + 52 * k
        _place(c, view, slot, left, y + 40, colour)
        c.icon(left + 11, y + 84, cost_view(slot)[0][0], 16)
    c.text(x + _PAD, y + _CELL_HEIGHT - 18, "its market lies face down", 12, DIM)


def _artifact_market(c: Canvas, view: View, faction: int, x: float, y: float, w: float, colour: str) -> None:
    market = ARTIFACT_MARKETS[faction]
    c.rect(x, y, w, _CELL_HEIGHT, CELL, 7)
    c.paragraph(x + _PAD, y + 21, w - 2 * _PAD, title(market), 13, INK, 700)
    _place(c, view, market, x + _PAD, y + 58, colour)
    _cost(c, x + 60, y + 68, market)
    _arrow(c, x + 60, y + 92, "star", "flag")
    c.paragraph(x + _PAD, y + 130, w - 2 * _PAD, "the star: territory or a built market here", 12, lines=2)


def _icarus(c: Canvas, view: View, x: float, y: float, colour: str) -> None:
    _area(c, view, len(TUNNELS), x, y, 190)
    for k, space in enumerate(ICARUS):
        left = x + 198 + 226.5 * k
        gains, remark = _ICARUS_GAINS[space]
        _cell(c, left, y, 218.5, title(space))
        _place(c, view, space, left + _PAD, y + 40, colour)
        _cost(c, left + 60, y + 37, space)
        _arrow(c, left + 60, y + 62, *gains)
        c.paragraph(left + _PAD, y + 112, 218.5 - 2 * _PAD, remark, 12)


# ------------------------------------------------------------------------------------------------------- tank and cards


def _strip(c: Canvas, view: View, y: float) -> None:
    """The tank, the artifact deck and its discards."""
    c.rect(_MARGIN, y, _BOARD_WIDTH, _STRIP, PANEL, 10)
    c.text(_MARGIN + 18, y + 37, "WORKER", 14, DIM, 700)
    c.text(_MARGIN + 18, y + 55, "TANK", 14, DIM, 700)
    for k, (space, effect) in enumerate(zip(TANK, ("2 less knowledge", "2 more morale"), strict=True)):
        left = _MARGIN + 100 + 262 * k
        _place(c, view, space, left, y + 23)
        at = _cost(c, left + 48, y + 22, space)
        _arrow(c, at, y + 22, "worker")
        c.text(left + 48, y + 61, effect, 12, DIM)
    _cards(c, view, _MARGIN + 640, y)


def _cards(c: Canvas, view: View, x: float, y: float) -> None:
    c.icon(x, y + 22, "artifact", 40)
    c.text(x + 44, y + 40, f"{view.deck_size}", 19, INK, 700)
    c.text(x + 44, y + 58, "in the deck", 12, DIM)
    c.text(x + 140, y + 25, "discards", 12, DIM)
    for k, name in enumerate(ARTIFACTS):
        n = view.discards.get(name, 0)
        left = x + 140 + 56 * k
        c.text(left, y + 48, str(n), 16, INK if n else FAINT, 700)
        c.text(left, y + 66, name, 11, DIM if n else FAINT)


# -------------------------------------------------------------------------------------------------------------- players


def _panels(c: Canvas, view: View) -> None:
    n = len(view.players)
    height = min(_TALLEST_PANEL, (_BODY - _GAP * (n - 1)) / n)
    for player in view.players:
        _panel(c, player, view.stars_to_win, _TOP + player.seat * (height + _GAP), height)
    legend_at = _TOP + n * (height + _GAP)
    if PICTURE_HEIGHT - _MARGIN - legend_at >= _LEGEND_HEIGHT:
        _legend(c, legend_at)


def _panel(c: Canvas, player: PlayerView, goal: int, y: float, height: float) -> None:
    x, bottom = _PANELS_X, y + height
    fill, _ = PLAYER_COLOURS[player.seat]
    c.rect(x, y, _PANELS_WIDTH, height, PANEL, 10, stroke=fill if player.deciding else "none", width=2)
    c.rect(x, y, 6, height, fill, 3)
    x += 18
    roomy = height > 180
    air = 4 if roomy else 0
    _name_and_stars(c, player, goal, x, y + 23)
    y += 33 + air
    _tracks_and_workers(c, player, x, y)
    y += 36 + air
    _goods(c, player, x, y)
    y += 27 + air
    y = _recruits(c, player, x, y, rows=2 if roomy else 1)
    _remarks(c, player, x, y + 12, bottom)


def _name_and_stars(c: Canvas, player: PlayerView, goal: int, x: float, y: float) -> None:
    fill, _ = PLAYER_COLOURS[player.seat]
    c.text(x, y, f"Player {player.seat}", 16, fill, 700)
    marks = [f"rank {player.rank}"] if player.rank else ["decides"] * player.deciding + ["on turn"] * player.active
    c.text(x + 84, y, marks[0] if marks else "", 12, INK)
    right = _PANELS_X + _PANELS_WIDTH - _PAD
    placed = STARS - player.stars
    shown = max(goal, placed)  # who passes the mark shows more (R17.5)
    for k in range(shown):
        c.star(right - 18 * (shown - k), y - 14, fill if k < placed else SLOT, 16, "none" if k < placed else FAINT)
    c.text(right - 18 * shown - 8, y, str(placed), 14, INK, 700, "end")


def _tracks_and_workers(c: Canvas, player: PlayerView, x: float, y: float) -> None:
    for k, (name, value) in enumerate((("knowledge", player.knowledge), ("morale", player.morale))):
        left = x + 112 * k
        c.text(left, y + 9, name, 11, DIM)
        c.text(left + 92, y + 9, str(value or "-"), 12, INK, 700, "end")
        for step in range(TRACK_END):
            c.rect(left + 16 * step, y + 14, 13, 12, INK if step < value else SLOT, 3, stroke=FAINT, width=1)
    for k, face in enumerate(player.workers):
        c.die(x + 228 + 31 * k, y, player.seat, face, 27)
    if player.on_board:
        c.text(x + 234 + 31 * len(player.workers), y + 18, f"+ {player.on_board} out", 12, DIM)


def _goods(c: Canvas, player: PlayerView, x: float, y: float) -> None:
    for k, name in enumerate((*GOODS, "artifact")):
        n = player.hand_size if name == "artifact" else player.goods.get(name, 0)
        left = x + 50 * k + (8 if k >= len(COMMODITIES) else 0)
        c.icon(left, y, name, 19, 1 if n else 0.28)
        c.text(left + 23, y + 15, str(n), 14, INK if n else FAINT, 700 if n else 400)


def _recruits(c: Canvas, player: PlayerView, x: float, y: float, rows: int) -> float:
    """Recruits as labels, with short names if they need more rows than that; returns where they end."""
    room = _PANELS_WIDTH - 24
    labels = [(_recruit_name(recruit, False), recruit) for recruit in player.recruits]
    if len(_rows(labels, player.hidden, room)) > rows:
        labels = [(_recruit_name(recruit, True), recruit) for recruit in player.recruits]
    for row in _rows(labels, player.hidden, room):
        left = x
        for label, recruit in row:
            _label(c, left, y, label, recruit, player.seat)
            left += _label_width(label, recruit) + 6
        y += 25
    return y


_Label = tuple[str, RecruitView | None]


def _rows(labels: Iterable[_Label], hidden: int, room: float) -> list[list[_Label]]:
    rows: list[list[_Label]] = []
    left = room
    for label in (*labels, *([(f"{hidden} hidden", None)] if hidden else [])):
        width = _label_width(*label) + 6
        if not rows or width > left:
            rows.append([])
            left = room
        rows[-1].append(label)
        left -= width
    return rows


def _recruit_name(recruit: RecruitView, short: bool) -> str:
    name = title(recruit.name)
    first, _, trade = name.partition(" the ")
    return name if not short else trade if first == "Jonathan" else first


def _label_width(label: str, recruit: RecruitView | None) -> float:
    return text_width(label, 12) + 22 + (18 if recruit and recruit.star else 0)


def _label(c: Canvas, x: float, y: float, label: str, recruit: RecruitView | None, seat: int) -> None:
    width = _label_width(label, recruit)
    if recruit is None:
        c.rect(x, y, width, 22, "none", 11, stroke=FAINT, dash=True)
        c.text(x + 11, y + 15, label, 12, DIM)
        return
    colour = FACTION_COLOURS[FACTION_OF[recruit_number(recruit.name)]]
    c.rect(x, y, width, 22, CELL if recruit.active else "none", 11, stroke=colour, dash=not recruit.active)
    c.text(x + 11, y + 15, label, 12, INK if recruit.active else DIM)
    if recruit.star:
        c.star(x + width - 25, y + 3, PLAYER_COLOURS[seat][0], 15)


def _remarks(c: Canvas, player: PlayerView, x: float, y: float, bottom: float) -> None:
    """The dilemma and the like, then the penalties in force, as far as there is room."""
    which = f" {player.dilemma}" if player.dilemma else ""
    remarks = [f"dilemma{which}: {player.resolved or 'open'}"]
    if player.artifacts:
        remarks.append("hand: " + ", ".join(f"{n} {name}" for name, n in player.artifacts.items()))
    remarks += player.notes
    width = _PANELS_WIDTH - 26
    y = c.paragraph(x, y, width, " · ".join(remarks), 11, DIM, lines=2)
    if player.penalties:
        text = "penalties: " + ", ".join(short_title(tile) for tile in player.penalties)
        c.paragraph(x, y, width, text, 11, _WARNING, lines=max(1, int((bottom - y) / 13.75) + 1))


def _legend(c: Canvas, y: float) -> None:
    """The symbols and the bonuses, where there is room for them."""
    c.rect(_PANELS_X, y, _PANELS_WIDTH, _LEGEND_HEIGHT, "none", 10, stroke=FAINT, width=1)
    x = _PANELS_X + 18
    for column, symbols in enumerate(_LEGEND_COLUMNS):
        for row, (icon, name) in enumerate(symbols):
            left, top = x + (0, 84, 166, 304)[column], y + 14 + 23 * row
            c.icon(left, top, icon, 16)
            c.text(left + 22, top + 13, name, 12, DIM)
    for row, (step, bonus) in enumerate(_LEGEND_BONUSES):
        c.text(x, y + 104 + 17 * row, "allegiance" if row == 0 else "", 12, DIM)
        c.text(x + 88, y + 104 + 17 * row, step, 12, INK, 700, "end")
        c.text(x + 98, y + 104 + 17 * row, bonus, 12, DIM)
