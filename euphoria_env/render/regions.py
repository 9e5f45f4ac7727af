"""The board in the picture: the four regions, the tank, what retrieving costs, and the artifact cards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial

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
    SPACES,
    TANK,
    TERRITORIES,
    TUNNEL_ENDS,
    TUNNELS,
)
from euphoria_env.cards.spaces import SPACE_PROGRAM
from euphoria_env.cards.vocabulary import Effect
from euphoria_env.render.canvas import BODY, DIE_HEIGHT, DIE_WIDTH, LARGE, PLAYER_COLOURS, SMALL, TOKEN_SIZE, Canvas, text_width
from euphoria_env.render.view import REGION_NAMES, View, Worker, cost_view, site_of
from euphoria_env.words import AREA_SUMS, PAIR_SPACES, SHORT_CHECK, signed, space_words, step_words, tile_words, title

GAP = 6  # between cells
PAD = 12  # within a cell
STRIP_HEIGHT = 88
_CELL_HEIGHT = 179
_HEAD = 40  # a line of a region's head: its name, its track, its next bonus, its territory
_SLOT_WIDTH, _SLOT_HEIGHT = DIE_WIDTH + 8, DIE_HEIGHT + 10
_BESIDE = PAD + _SLOT_WIDTH + 10  # where the text beside a slot begins
_ICON = 18
_AREA, _TUNNEL, _SITE, _MARKET, _SKY = 224, 244, 224, 180, 216  # least widths of cells
_FACTION_NAMES = tuple(name.capitalize() for name in FACTIONS)
# The bonuses for players with an active recruit of the faction, from the step given (R7); those of 8 and 11 are for everybody.
_BONUSES = {2: "one more in the area", 5: "tunnel gives both", 8: "hidden ones show", 11: "star for each recruit"}
_ICARITE_BONUSES = {**_BONUSES, 5: "artifact with a star"}
_REVEALING_STEP = 6  # of a miner (R7.5)

_Gain = str | tuple[int, str]  # a symbol, with a number or without
_STAR_REMARK = "the star goes on this territory"
_OTHER_REMARK = "bliss, and a commodity other than bliss"
_ICARUS_REMARKS = {
    "wind_salon": _STAR_REMARK,
    "nimbus_loft": f"any 3 resources; {_STAR_REMARK}",
    "breeze_bar": _OTHER_REMARK,
    "sky_lounge": f"{_OTHER_REMARK}; the resources in any mix",
}
_SYMBOL_OF = {
    Effect.STAR_IN_TERRITORY: "star",
    Effect.STAR_IN_REGION: "star",
    Effect.ADVANCE: "flag",
    Effect.NEW_WORKER: "worker",
}

Block = tuple[float, Callable[[float, float, float], None]]  # its least width; draws it at x, y, so wide


@lru_cache(256)
def flow(widths: tuple[float, ...], room: float) -> list[tuple[int, float, float]]:
    """Blocks of least widths in as few rows as there can be, all about as full: the row, the left side and the width of each."""
    number = len(_rows(widths, room))
    narrowest = next(w for w in (*range(int(max(widths)), int(room), 8), room) if len(_rows(widths, w)) <= number)
    places = []
    for k, row in enumerate(_rows(widths, narrowest)):
        stretch = (room - GAP * (len(row) - 1)) / sum(row)
        x = 0.0
        for width in row:
            places.append((k, x, width * stretch))
            x += width * stretch + GAP
    return places


def _rows(widths: Sequence[float], room: float) -> list[list[float]]:
    rows: list[list[float]] = []
    for width in widths:
        if not rows or sum(rows[-1]) + GAP * len(rows[-1]) + width > room:
            rows.append([])
        rows[-1].append(width)
    return rows


def draw_flow(blocks: Sequence[Block], x: float, y: float, w: float, height: float) -> None:
    """Draws blocks of one height in rows."""
    for (row, left, width), (_, draw) in zip(flow(tuple(least for least, _ in blocks), w), blocks, strict=True):
        draw(x + left, y + row * height, width)


def flow_height(blocks: Sequence[Block], w: float, height: float) -> float:
    """How much height blocks in rows need."""
    return height * (flow(tuple(least for least, _ in blocks), w)[-1][0] + 1)


# -------------------------------------------------------------------------------------------------------------- regions


def region(c: Canvas, view: View, faction: int, x: float, y: float, w: float) -> float:
    """A region of the board; returns where it ends."""
    colour = c.theme.factions[faction]
    head: list[Block] = [
        (150, partial(_name, c, REGION_NAMES[faction], colour)),
        (380, partial(_allegiance, c, view.allegiance[FACTIONS[faction]], colour)),
        (230, partial(_next_bonus, c, view, faction)),
        (74 + 28 * len(view.players), partial(_territory, c, view, faction, colour)),
    ]
    cells = _icarus(c, view, colour) if faction == len(TUNNELS) else _land(c, view, faction, colour)
    left, room = x + 16, w - 16 - 10
    head_height = flow_height(head, room, _HEAD) + 2
    height = head_height + flow_height(cells, room, _CELL_HEIGHT + GAP)
    with c.group("region", region=FACTIONS[faction]):
        c.rect(x, y, w, height, c.theme.panel, 10)
        c.rect(x, y, 6, height, colour, 3)
        draw_flow(head, left, y, room, _HEAD)
        draw_flow(cells, left, y + head_height, room, _CELL_HEIGHT + GAP)
    return y + height


def _name(c: Canvas, name: str, colour: str, x: float, y: float, w: float) -> None:
    c.text(x, y + 28, name.upper(), 18, colour, 700)


def _allegiance(c: Canvas, step: int, colour: str, x: float, y: float, w: float) -> None:
    """The allegiance track: a box for each step, those with a bonus outlined."""
    c.text(x, y + 27, "allegiance", SMALL, c.theme.dim)
    x += 76
    pitch = (w - 76) / (ALLEGIANCE_END + 1)
    for k in range(ALLEGIANCE_END + 1):
        reached, bonus = 0 < step >= k, k in _BONUSES
        stroke, width = (c.theme.ink, 2.5) if bonus else (c.theme.faint, 1)
        c.rect(x, y + 8, min(34, pitch - 3), 28, colour if reached else c.theme.slot, 5, stroke, width=width)
        number = c.theme.paper if reached else c.theme.dim
        c.text(x + min(34, pitch - 3) / 2, y + 27, str(k), BODY, number, 700 if k == step else 400, "middle")
        x += min(37, pitch)


def _next_bonus(c: Canvas, view: View, faction: int, x: float, y: float, w: float) -> None:
    step = view.allegiance[FACTIONS[faction]]
    bonuses = _ICARITE_BONUSES if faction == len(TUNNELS) else _BONUSES
    for at, bonus in bonuses.items():
        if step < at:
            c.text(x + 8, y + 27, f"at {at}: {bonus}", SMALL, c.theme.dim)
            return


def _territory(c: Canvas, view: View, faction: int, colour: str, x: float, y: float, w: float) -> None:
    stars = view.territories[TERRITORIES[faction]]
    left = x + w - 28 * len(view.players)
    with c.group("territory", territory=TERRITORIES[faction]):
        c.text(left - 8, y + 27, "territory", SMALL, c.theme.dim, anchor="end")
        for k in range(len(view.players)):
            _star_place(c, left + 28 * k, y + 9, stars[k] if k < len(stars) else None, colour)


def _star_place(c: Canvas, x: float, y: float, player: int | None, colour: str) -> None:
    """A place for a star, and the star on it."""
    if player is None:
        c.rect(x + 1, y + 1, TOKEN_SIZE - 2, TOKEN_SIZE - 2, c.theme.slot, TOKEN_SIZE / 2 - 1, stroke=colour, width=1)
    else:
        c.token(x, y, player)


# ---------------------------------------------------------------------------------------------------------------- cells


def _cell(c: Canvas, x: float, y: float, w: float, name: str, note: str = "", is_open: bool = False) -> None:
    outline, width = (c.theme.ink, 3) if is_open else (c.theme.frame, 1)
    c.rect(x, y, w, _CELL_HEIGHT, c.theme.cell, 7, outline, width=width)
    c.text(x + PAD, y + 22, name, BODY, weight=700)
    if note:
        c.text(x + w - PAD, y + 22, note, SMALL, c.theme.dim, anchor="end")


def _place(c: Canvas, view: View, space: str, x: float, y: float, colour: str = "") -> None:
    """A space for one worker, and the worker on it; where one may be placed now the outline is thick."""
    stroke, width = (c.theme.ink, 3) if space in view.open_spaces else (colour or c.theme.faint, 1.5)
    c.rect(x, y, _SLOT_WIDTH, _SLOT_HEIGHT, c.theme.slot, 7, stroke=stroke, width=width)
    worker = view.worker_on(space)
    if worker:
        c.die(x + 4, y + 5, *worker)


def _items(c: Canvas, x: float, y: float, *items: _Gain) -> float:
    """Symbols, each with a number if it is a pair, and words; returns where they end."""
    for item in items:
        if isinstance(item, tuple):
            c.text(x, y + 14, str(item[0]))
            x += text_width(str(item[0]), BODY) + 2
            item = item[1]
        if item == "star":
            c.star(x, y, c.theme.gold, _ICON)
        elif item in ("or", "→", "or a pair") or item in ARTIFACTS:
            c.text(x, y + 14, item, SMALL, c.theme.dim)
            x += text_width(item, SMALL) - _ICON
        else:
            c.icon(x, y, item, _ICON)
        x += _ICON + 5
    return x - 5


def _cost(space: str, tile: str | None = None) -> list[_Gain]:
    """The cost of a space as symbols."""
    if space in PAIR_SPACES:
        return [(3, "artifact"), "or a pair"]
    cost: list[_Gain] = []
    for item, units in cost_view(space, tile):
        cost += [(units, "artifact"), item] if item in ARTIFACTS else [(units, item)]
    return cost


def _gain(space: str) -> tuple[list[_Gain], str]:
    """The gain of a space as symbols, and the rest of it in words."""
    symbols: list[_Gain] = []
    words: list[str] = []
    for step in SPACE_PROGRAM[SPACES.index(space)]:
        op, a, b = (int(value) for value in step)
        if op in _SYMBOL_OF:
            symbols.append(_SYMBOL_OF[Effect(op)])
        elif op == Effect.GOODS:
            symbols.append((b, GOODS[a]))
        elif op == Effect.DRAW:
            symbols.append((a, "artifact"))
        elif op == Effect.CHOOSE:
            symbols.append((b, "resource"))
        elif op in (Effect.KNOWLEDGE, Effect.MORALE):
            words.append(step_words((op, a, b)))
    return symbols, ", ".join(words)


def _land(c: Canvas, view: View, faction: int, colour: str) -> list[Block]:
    """Area, tunnel, sites or markets, and artifact market of a region on the ground."""
    sites: list[Block] = [
        (_SITE, partial(_site_or_market, c, view, market, number, colour))
        for number, market in enumerate(MARKETS[2 * faction : 2 * faction + 2], 1)
    ]
    return [
        (_AREA, partial(_area, c, view, faction)),
        (_TUNNEL, partial(_tunnel, c, view, faction, colour)),
        *sites,
        (_MARKET, partial(_artifact_market, c, view, faction, colour)),
    ]


def _icarus(c: Canvas, view: View, colour: str) -> list[Block]:
    spaces: list[Block] = [(_SKY, partial(_sky_space, c, view, space, colour)) for space in ICARUS]
    return [(_AREA, partial(_area, c, view, len(TUNNELS))), *spaces]


def _area(c: Canvas, view: View, faction: int, x: float, y: float, w: float) -> None:
    area, item = AREAS[faction], COMMODITIES[faction]
    there = view.workers.get(area, ())
    with c.group("space", space_words(area), space=area):
        _cell(c, x, y, w, title(area), f"sum {sum(face for _, face in there)}" if there else "", area in view.open_spaces)
        _crowd(c, there, x + PAD, y + 34, w - 2 * PAD)
        for k, (sums, units, knowledge) in enumerate(AREA_SUMS):
            top = y + 96 + 20 * k
            c.text(x + PAD, top + 14, sums.replace("or more", "up"), SMALL, c.theme.dim)
            at = _items(c, x + PAD + 44, top, (units, item), *([] if knowledge else ["flag"]))
            c.text(at + 5, top + 14, signed("knowledge", knowledge) if knowledge else "", SMALL, c.theme.dim)
        if view.allegiance[FACTIONS[faction]] >= min(_BONUSES):
            c.text(x + PAD, y + 169, f"active {_FACTION_NAMES[faction]}: 1 more", SMALL, c.theme.factions[faction])


def _crowd(c: Canvas, workers: Sequence[Worker], x: float, y: float, w: float) -> None:
    """Any number of workers: dice in two rows; if they are more, a label for each player."""
    across = int(w // (DIE_WIDTH + 3))
    if len(workers) <= 2 * across:
        for k, worker in enumerate(workers):
            c.die(x + (DIE_WIDTH + 3) * (k % across), y + (DIE_HEIGHT + 3) * (k // across), *worker)
        return
    for k, player in enumerate(sorted({player for player, _ in workers})):
        left, top = x + (w + 4) / 2 * (k % 2), y - 1 + 20 * (k // 2)
        fill, ink = PLAYER_COLOURS[player]
        c.rect(left, top, (w - 4) / 2, 18, fill, 5, stroke=c.theme.edge, width=1)
        faces = " ".join(str(face) for owner, face in workers if owner == player)
        c.text(left + 8, top + 14, f"{player}:", SMALL, ink, 700)
        c.text(left + 28, top + 14, faces, SMALL, ink)


def _tunnel(c: Canvas, view: View, faction: int, colour: str, x: float, y: float, w: float) -> None:
    tunnel, end = TUNNELS[faction], TUNNEL_ENDS[faction]
    miner = view.miners[FACTIONS[faction]]
    _cell(c, x, y, w, "Tunnel", f"miner {miner} of {MINER_END}")
    with c.group("space", space_words(tunnel), space=tunnel):
        c.rect(x + 3, y + 30, w - 6, 44, c.theme.cell)
        _place(c, view, tunnel, x + PAD, y + 32, colour)
        _items(c, x + _BESIDE, y + 32, *_cost(tunnel), "→", RESOURCES[faction], "or", "artifact")
        if view.allegiance[FACTIONS[faction]] >= 5:
            c.text(x + _BESIDE, y + 66, f"active {_FACTION_NAMES[faction]}: both", SMALL, colour)
    pitch = (w - 2 * PAD + 3) / MINER_END
    for k in range(1, MINER_END + 1):
        left = x + PAD + pitch * (k - 1)
        dug = k <= miner
        c.rect(left, y + 78, pitch - 3, 16, colour if dug else c.theme.slot, 3, stroke=c.theme.faint, width=1)
        if k == _REVEALING_STEP:
            c.icon(left + (pitch - 3) / 2 - 7, y + 79, "eye", 14, colour=c.theme.paper if dug else c.theme.ink)
    c.text(x + PAD, y + 111, f"step {_REVEALING_STEP}: hidden ones show", SMALL, c.theme.dim)
    with c.group("space", space_words(end), space=end):
        c.rect(x + 3, y + 122, w - 6, 48, c.theme.cell)
        _place(c, view, end, x + PAD, y + 128, colour if miner == MINER_END else "")
        if miner < MINER_END:
            c.icon(x + PAD + 15, y + 137, "lock", 18)
        c.text(x + _BESIDE, y + 142, "end", SMALL, c.theme.dim)
        _items(c, x + _BESIDE + 29, y + 128, "→", *_gain(end)[0])
        c.text(x + _BESIDE, y + 162, f"for active {_FACTION_NAMES[faction]}s", SMALL, c.theme.dim)


def _site_or_market(c: Canvas, view: View, market: str, number: int, colour: str, x: float, y: float, w: float) -> None:
    tile = view.markets[market].tile
    if tile is None:
        _site(c, view, market, number, colour, x, y, w)
        return
    with c.group("space", space_words(market, tile), space=market):
        c.rect(x, y, w, _CELL_HEIGHT, c.theme.cell, 7, stroke=colour)
        below = c.paragraph(x + PAD, y + 21, w - 2 * PAD, title(tile), BODY, c.theme.ink, 700, lines=2)
        top = below - 8
        _place(c, view, market, x + PAD, top, colour)
        _items(c, x + _BESIDE, top - 2, *_cost(market, tile))
        _items(c, x + _BESIDE, top + 19, "→", *_gain(market)[0])
        stars = view.markets[market].stars
        for p in range(len(view.players)):
            _star_place(c, x + PAD + 28 * p, top + 42, p if p in stars else None, c.theme.faint)
        penalty = f"no star: {tile_words(tile)}"
        room = int((y + _CELL_HEIGHT - 6 - (top + 81)) // 16) + 1
        c.paragraph(x + PAD, top + 81, w - 2 * PAD, penalty, SMALL, c.theme.warning, lines=room)


def _site(c: Canvas, view: View, market: str, number: int, colour: str, x: float, y: float, w: float) -> None:
    site = site_of(market)
    slots = [f"{site}_{k}" for k in range(1, SLOTS_PER_SITE + 1)]
    taken = sum(slot in view.workers for slot in slots)
    _cell(c, x, y, w, f"Site {number}", f"{taken} of {view.workers_to_build} workers")
    for k, slot in enumerate(slots):
        left = x + PAD + (_SLOT_WIDTH + 2) * k
        with c.group("space", space_words(slot), space=slot):
            c.rect(left, y + 34, _SLOT_WIDTH, _SLOT_HEIGHT + 26, c.theme.cell)
            _place(c, view, slot, left, y + 36, colour)
            _items(c, left + 9, y + 77, *_cost(slot))
    c.paragraph(x + PAD, y + 124, w - 2 * PAD, f"{view.workers_to_build} workers build the market:", lines=1)
    c.paragraph(x + PAD, y + 141, w - 2 * PAD, "a star to each who helped", lines=2)


def _artifact_market(c: Canvas, view: View, faction: int, colour: str, x: float, y: float, w: float) -> None:
    market = ARTIFACT_MARKETS[faction]
    with c.group("space", space_words(market), space=market):
        _cell(c, x, y, w, "")
        c.paragraph(x + PAD, y + 22, w - 2 * PAD, title(market), BODY, c.theme.ink, 700)
        _place(c, view, market, x + PAD, y + 72, colour)
        _items(c, x + _BESIDE, y + 70, *_cost(market))
        _items(c, x + _BESIDE, y + 91, "→", *_gain(market)[0])
        c.paragraph(x + PAD, y + 130, w - 2 * PAD, "the star: territory, or a built market of the region", lines=3)


def _sky_space(c: Canvas, view: View, space: str, colour: str, x: float, y: float, w: float) -> None:
    with c.group("space", space_words(space), space=space):
        _cell(c, x, y, w, title(space))
        _place(c, view, space, x + PAD, y + 46, colour)
        _items(c, x + _BESIDE, y + 42, *_cost(space))
        _items(c, x + _BESIDE, y + 66, "→", *_gain(space)[0])
        c.paragraph(x + PAD, y + 118, w - 2 * PAD, _ICARUS_REMARKS[space])


# ------------------------------------------------------------------------------------------------ tank, retrieving, cards


def strip(c: Canvas, view: View, x: float, y: float, w: float) -> float:
    """The tank, what retrieving costs, the artifact deck and its discards; returns where they end."""
    blocks: list[Block] = [(206, partial(_tank, c, view, k)) for k in range(len(TANK))]
    blocks += [(304, partial(_retrieving, c)), (380, partial(_cards, c, view))]
    draw_flow(blocks, x, y, w, STRIP_HEIGHT + GAP)
    return y + flow_height(blocks, w, STRIP_HEIGHT + GAP) - GAP


def _tank(c: Canvas, view: View, number: int, x: float, y: float, w: float) -> None:
    space = TANK[number]
    with c.group("space", space_words(space), space=space):
        c.rect(x, y, w, STRIP_HEIGHT, c.theme.panel, 10)
        c.text(x + PAD, y + 22, "Worker tank", BODY, weight=700)
        _place(c, view, space, x + PAD, y + 36)
        symbols, effect = _gain(space)
        _items(c, x + _BESIDE, y + 34, *_cost(space), "→", *symbols)
        c.text(x + _BESIDE, y + 69, effect, SMALL, c.theme.dim)


def _retrieving(c: Canvas, x: float, y: float, w: float) -> None:
    c.rect(x, y, w, STRIP_HEIGHT, c.theme.panel, 10)
    c.text(x + PAD, y + 22, "Retrieve any of your workers", BODY, weight=700)
    at = _items(c, x + PAD, y + 31, (1, "food"), "or", (1, "bliss"))
    c.text(at + 8, y + 45, "morale +2; free: -1", SMALL, c.theme.dim)
    c.paragraph(x + PAD, y + 64, w - 2 * PAD, SHORT_CHECK, lines=2)


def _cards(c: Canvas, view: View, x: float, y: float, w: float) -> None:
    c.rect(x, y, w, STRIP_HEIGHT, c.theme.panel, 10)
    c.icon(x + PAD, y + 10, "artifact", 16)
    c.text(x + PAD + 22, y + 22, f"{view.deck_size} in the deck", BODY, weight=700)
    c.text(x + PAD, y + 46, "discards", SMALL, c.theme.dim)
    pitch = (w - PAD - 80) / 3
    for k, name in enumerate(ARTIFACTS):
        n = view.discards.get(name, 0)
        left, base = x + PAD + 68 + pitch * (k % 3), y + 46 + 24 * (k // 3)
        c.text(left, base, str(n), LARGE, c.theme.ink if n else c.theme.dim, 700 if n else 400)
        c.text(left + 16, base, name, SMALL, c.theme.dim)
