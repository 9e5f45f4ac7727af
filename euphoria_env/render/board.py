"""The board alone, drawn from what a seat may see: four regions, the worker tank, the cards.

The drawing is one for the picture and the page. Whoever moves its nodes may rely on this:

- `g.space#space-NAME[data-space]`: a space; `data-x`, `data-y`: where workers stand on it (its middle). Its first shape has the
  class `ground`, a place for one worker `socket`. Further classes: `legal`, `closed` (the end of a tunnel), `changed`, `best`,
  `played`. The slots of a site exist until its market is built, the market from then on.
- `g.tile#tile-MARKET[data-market]`: a site or what was built there, with the class `unbuilt` or `built`.
- `g.territory#territory-FACTION`, `g.deck#deck`, `g.discards#discards`.
- What moves lies in one layer each, placed by its `transform` alone, in the coordinates of the board: `g.die#die-SEAT-K` (with
  `data-seat`, `data-face`, `data-space`; K counts the dice of a seat on the board by the order of the spaces),
  `g.star#star-PLACE-SEAT` (a second star of a seat in a territory ends in `-2`, a third in `-3`), `g.miner#miner-FACTION`,
  `g.allegiance#allegiance-FACTION`.
- `places` says where the middle of everything is, for what flies from one to the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

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
from euphoria_env.render.canvas import text_width
from euphoria_env.render.layout import (
    BOARD,
    PIPE_PITCH,
    PLACES,
    RAIL_PITCH,
    REGIONS,
    WORKS,
    crowd,
    dice_in,
    socket,
    star_places,
)
from euphoria_env.render.sheet import BODY, LARGE, SMALL, TITLE, Box, Part, Sheet, parts_width
from euphoria_env.render.symbols import DIE_HEIGHT, DIE_WIDTH, TOKEN_SIZE
from euphoria_env.render.theme import PAGE
from euphoria_env.render.view import REGION_NAMES, View, cost_view, site_of
from euphoria_env.words import AREA_SUMS, PAIR_SPACES, short_title, space_words, title

_BONUS_STEPS = (2, 5, 8, 11)  # R7.2 to R7.6
_REVEALING_STEP = 6  # of a miner (R7.5)
_SYMBOL_OF = {
    Effect.STAR_IN_TERRITORY: "star",
    Effect.STAR_IN_REGION: "star",
    Effect.ADVANCE: "flag",
    Effect.NEW_WORKER: "worker",
}
_MARKET_NAMES = dict(zip(ARTIFACT_MARKETS, ("Incinerator", "Free Press", "Ark of Memories"), strict=True))


@dataclass(frozen=True)
class Marks:
    """What is said of spaces beside what lies on them.

    Attributes:
        changed: where something has happened.
        best: where the best move goes.
        played: where a move went that was a mistake.
        heat: the share of a search that went there.
    """

    changed: Collection[str] = ()
    best: Collection[str] = ()
    played: Collection[str] = ()
    heat: Mapping[str, float] = field(default_factory=dict)


def board_fragment(view: View, marks: Marks = Marks(), theme: str = PAGE) -> str:
    """The board as an SVG element of its own, as large as there is room, with ids as the module says.

    Args:
        view: what is shown.
        marks: what is said of spaces.
        theme: one of `THEMES`, or `PAGE` for a page: with CSS variables, and symbols that the page has (`symbols`).
    """
    sheet = Sheet(theme)
    draw_board(sheet, view, marks)
    return sheet.svg(BOARD, "The board")


def places() -> dict[str, tuple[float, float]]:
    """Where the middle of each space, territory, deck and rail is, by name, in the coordinates of the board."""
    return {name: (crowd(name) if name in AREAS else _socketed(name)).middle for name in PLACES}


def _socketed(name: str) -> Box:
    return socket(name) if name in SPACES else PLACES[name]


def draw_board(s: Sheet, view: View, marks: Marks = Marks()) -> None:
    """Draws the board, its left upper corner at the origin."""
    _ground(s)
    for k, faction in enumerate(FACTIONS):
        with s.group("region", REGION_NAMES[k], f"region-{faction}", region=faction):
            _head(s, k, faction)
            _territory(s, view, k, faction)
            _area(s, view, marks, k, faction)
            if k == len(TUNNELS):
                for space in ICARUS:
                    _plain(s, view, marks, space, title(space), faction)
            else:
                _land(s, view, marks, k, faction)
    _works(s, view, marks)
    _markers(s, view)
    _stars(s, view)
    _dice(s, view)


# -------------------------------------------------------------------------------------------------------------- scenery


def _ground(s: Sheet) -> None:
    """The land: a cloud, a city, dunes, and the earth with a cave in it."""
    s.rect(BOARD, "paper", 0, kind="paper")
    _, _, w, h = REGIONS["icarite"]
    puffs = "".join("a27.5 11 0 0 1 -55 0" for _ in range(int(w // 55)))
    s.path(f"M0 18Q0 0 18 0H{w - 18:g}Q{w:g} 0 {w:g} 18V{h - 6:g}{puffs}Z", "icarite-ground")
    x, y, w, h = REGIONS["euphorian"]
    towers = "v-5h16v-7h22v12h20v-9h14v-5h8v5h10v9h26v-6h30v6h18v-12h6v-3h12v3h6v12h24v-8h20v8"
    s.path(f"M{x:g} {y + 10:g}q0-10 10-10h40{towers}H{x + w - 10:g}q10 0 10 10V{y + h:g}H{x:g}Z", "euphorian-ground")
    x, y, w, h = REGIONS["wastelander"]
    dunes = "q40-20 90-4t110-2q50-16 100 2t90-4q40-6 60 6"
    s.path(f"M{x:g} {y + 10:g}q0-10 10-10h40{dunes}H{x + w - 10:g}q10 0 10 10V{y + h:g}H{x:g}Z", "wastelander-ground")
    x, y, w, h = REGIONS["subterran"]
    edge = "l18-5 26 4 22-3 30 5 24-4" * 9
    s.path(f"M0 {y - 6:g}{edge}H{BOARD.w:g}V{BOARD.h:g}H0Z", "earth")
    s.rect(REGIONS["subterran"], "subterran-ground", 26)


def _head(s: Sheet, k: int, faction: str) -> None:
    """The name of a region, and its allegiance rail with the four bonuses on it."""
    x, y, _, _ = REGIONS[faction]
    s.text(x + 14, y + 26, REGION_NAMES[k].upper(), TITLE, faction, 700)
    rail = PLACES[f"rail-{faction}"]
    first, middle = rail.x + RAIL_PITCH / 2, rail.y + rail.h / 2
    bonuses = {2: COMMODITIES[k], 5: "artifact", 8: "eye", 11: "star"}
    with s.group("rail", "allegiance"):
        s.rect(Box(first, middle - 2, RAIL_PITCH * ALLEGIANCE_END, 4), "faint", 2)
        for step in range(ALLEGIANCE_END + 1):
            at = first + RAIL_PITCH * step
            if step in bonuses:
                s.disc(at, middle, 11, f"{faction}-cell", faction)
                s.icon(at - 7, middle - 7, bonuses[step], 14, "gold" if step == ALLEGIANCE_END else "ink")
            else:
                s.disc(at, middle, 4, "faint")


def _cell(s: Sheet, view: View, marks: Marks, space: str, faction: str, box: Box, radius: float = 8) -> None:
    """The ground of a space, with what is said of it."""
    legal = space in view.open_spaces
    s.rect(box, f"{faction}-cell" if faction else "panel", radius, "legal" if legal else "frame", 3 if legal else 1, "ground")
    x, y, w, h = box
    share = marks.heat.get(space, 0)
    if share >= 0.005:
        s.rect(Box(x + 4, y + h - 5, (w - 8) * share, 4), "best", 2, kind="heat")
    if space in marks.changed:
        s.path(
            f"M{x + w - 16:g} {y:g}h{16 - radius:g}q{radius:g} 0 {radius:g} {radius:g}v{16 - radius:g}Z", "changed", kind="corner"
        )
    for inset, name in ((1, "played"), (4, "best")):
        if space in getattr(marks, name):
            ring = Box(x + inset, y + inset, w - 2 * inset, h - 2 * inset)
            s.rect(ring, "none", radius - 2, name, 3, f"ring-{name}")


def _space(s: Sheet, view: View, marks: Marks, space: str, tile: str | None = None, more: str = "") -> object:
    """The group of a space."""
    kinds = ["space", more, "legal" if space in view.open_spaces else ""]
    kinds += [name for name in ("changed", "best", "played") if space in getattr(marks, name)]
    x, y = (crowd(space) if space in AREAS else socket(space)).middle
    return s.group(" ".join(filter(None, kinds)), space_words(space, tile), f"space-{space}", space=space, x=float(x), y=float(y))


def _socket(s: Sheet, space: str, faction: str) -> None:
    s.rect(socket(space), "slot", 7, faction or "faint", 1.5, "socket")


# --------------------------------------------------------------------------------------------------------------- spaces


def _cost(space: str, tile: str | None = None) -> list[Part]:
    """The cost of a space as symbols."""
    if space in PAIR_SPACES:
        return [(3, "artifact"), "/", "pair"]
    return [(units, item) for item, units in cost_view(space, tile)]


def _gain(space: str) -> list[Part]:
    """The gain of a space as symbols."""
    symbols: list[Part] = []
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
            symbols.append((f"{_sign(a)}{abs(a)}", "knowledge" if op == Effect.KNOWLEDGE else "morale"))
    return symbols


def _area(s: Sheet, view: View, marks: Marks, k: int, faction: str) -> None:
    """A commodity area: what each sum gives, and room for all the workers."""
    area, box = AREAS[k], PLACES[AREAS[k]]
    there = view.workers.get(area, ())
    with _space(s, view, marks, area):
        _cell(s, view, marks, area, faction, box)
        s.text(box.x + 10, box.y + 20, title(area), BODY, weight=700)
        beside = box.w > 2 * box.h
        s.rect(crowd(area), "slot", 7, kind="socket")
        if there:
            s.text(
                box.x + (106 if beside else box.w - 10),
                box.y + (box.h - 8 if beside else 20),
                f"Σ {sum(face for _, face in there)}",
                BODY,
                "dim",
                700,
                "end",
            )
        for n, (sums, units, knowledge) in enumerate(AREA_SUMS):
            parts: list[Part] = [COMMODITIES[k]] * units + ([_sign(knowledge), "knowledge"] if knowledge else ["flag"])
            if beside:
                x, y = box.x + 10, box.y + 27 + 20 * n
                s.text(x, y + 13, _short(sums), SMALL, "dim")
                s.parts(x + 28, y, parts)
            else:
                x, y = box.x + (12, 60, 124)[n], box.y + box.h - 32
                s.text(x, y + 9, _short(sums), SMALL, "dim")
                s.parts(x, y + 12, parts)


def _sign(n: int) -> str:
    return "+" if n > 0 else "−"


def _short(sums: str) -> str:
    return sums.replace(" to ", "–").replace(" or more", "+")


def _plain(s: Sheet, view: View, marks: Marks, space: str, name: str, faction: str) -> None:
    """A space for one worker with its name, its cost and its gain."""
    box, at = PLACES[space], socket(space)
    with _space(s, view, marks, space):
        _cell(s, view, marks, space, faction, box)
        s.text(box.x + 10, box.y + 19, name, BODY, weight=700)
        _socket(s, space, faction)
        _recipe(s, at.x + at.w + 8, at.y - 2, box.x + box.w - at.x - at.w - 12, _cost(space), _gain(space))


def _recipe(s: Sheet, x: float, y: float, w: float, cost: list[Part], gain: list[Part]) -> None:
    """Cost and gain in a line, or in two where there is no room."""
    if parts_width([*cost, "→", *gain]) <= w:
        s.parts(x, y + 9, [*cost, "→", *gain])
        return
    s.parts(x, y, cost)
    s.parts(x, y + 19, ["→", *gain])


def _land(s: Sheet, view: View, marks: Marks, k: int, faction: str) -> None:
    """Sites or markets, artifact market and tunnel of a region on the ground."""
    for number, market in enumerate(MARKETS[2 * k : 2 * k + 2], 1):
        tile = view.markets[market].tile
        with s.group(f"tile {'built' if tile else 'unbuilt'}", name=f"tile-{market}", market=market):
            if tile:
                _market(s, view, marks, market, tile, faction)
            else:
                _site(s, view, marks, market, number, faction)
    _plain(s, view, marks, ARTIFACT_MARKETS[k], _MARKET_NAMES[ARTIFACT_MARKETS[k]], faction)
    _tunnel(s, view, marks, k, faction)


def _market(s: Sheet, view: View, marks: Marks, market: str, tile: str, faction: str) -> None:
    box = PLACES[market]
    with _space(s, view, marks, market, tile):
        _cell(s, view, marks, market, faction, box)
        name = short_title(tile)
        s.text(box.x + 10, box.y + 19, name, BODY if text_width(name, BODY, 700) < box.w - 16 else SMALL, weight=700)
        _socket(s, market, faction)
        at = socket(market)
        _recipe(s, at.x + at.w + 8, at.y - 2, box.x + box.w - at.x - at.w - 12, _cost(market, tile), _gain(market))
        for x, y in star_places(market, len(view.players)):
            s.disc(x + TOKEN_SIZE / 2, y + TOKEN_SIZE / 2, 9, "slot", faction, 1)


def _site(s: Sheet, view: View, marks: Marks, market: str, number: int, faction: str) -> None:
    """The four slots of a site: each shows the resource that it costs, until a worker stands there."""
    box = PLACES[market]
    slots = [f"{site_of(market)}_{k}" for k in range(1, SLOTS_PER_SITE + 1)]
    taken = sum(slot in view.workers for slot in slots)
    s.rect(box, f"{faction}-cell", 8, "frame", 1)
    s.text(box.x + 10, box.y + 19, f"Site {number}", BODY, weight=700)
    s.text(box.x + box.w - 10, box.y + 19, f"{taken} of {view.workers_to_build}", BODY, "dim", anchor="end")
    for slot in slots:
        with _space(s, view, marks, slot):
            at = socket(slot)
            _cell(s, view, marks, slot, faction, at, 7)
            _socket(s, slot, "legal" if slot in view.open_spaces else faction)
            cost = _cost(slot)
            s.parts(at.x + (at.w - parts_width(cost)) / 2, at.y + (at.h - 16) / 2, cost)


def _tunnel(s: Sheet, view: View, marks: Marks, k: int, faction: str) -> None:
    """The tunnel: a space at its mouth, the pipe that the miner digs, and the space at its end."""
    tunnel, end = TUNNELS[k], TUNNEL_ENDS[k]
    box, miner = PLACES[f"tunnel-{faction}"], view.miners[faction]
    s.rect(box, "earth", 10)
    with _space(s, view, marks, tunnel):
        _cell(s, view, marks, tunnel, faction, PLACES[tunnel], 10)
        _socket(s, tunnel, faction)
        at = socket(tunnel)
        s.parts(at.x + at.w + 6, at.y + 7, [*_cost(tunnel), "→", RESOURCES[k], "/", "artifact"])
    with _space(s, view, marks, end, more="" if miner == MINER_END else "closed"):
        _cell(s, view, marks, end, faction, PLACES[end], 10)
        _socket(s, end, faction if miner == MINER_END else "")
        at = socket(end)
        if miner < MINER_END:
            s.icon(at.x + at.w / 2 - 8, at.y + 7, "lock", fill="faint")
        s.parts(at.x + at.w + 5, at.y + 7, ["→", *_gain(end)])
    first, middle = _pipe(faction)
    pitch = PIPE_PITCH[faction]
    pipe = Box(first - pitch + 4, middle - 9, MINER_END * pitch + pitch / 2 - 4, 18)
    with s.group("pipe", f"miner {miner} of {MINER_END}"):
        s.rect(pipe, "slot", 9, faction)
        if miner:
            s.rect(Box(pipe.x + 4, middle - 5, first + pitch * (miner - 1) - pipe.x - 4, 10), faction, 5, kind="dug")
        for step in range(1, MINER_END + 1):
            at_step = first + pitch * (step - 1)
            if step > miner:
                s.disc(at_step, middle, 2, "faint")
        at_step = first + pitch * (_REVEALING_STEP - 1)
        s.icon(at_step - 7, middle - 7, "eye", 14, "paper" if miner >= _REVEALING_STEP else "ink")


def _pipe(faction: str) -> tuple[float, float]:
    """Where the first step of a tunnel is."""
    box, pitch = PLACES[f"tunnel-{faction}"], PIPE_PITCH[faction]
    room = box.w - PLACES[TUNNELS[0]].w - PLACES[TUNNEL_ENDS[0]].w
    left = box.x + PLACES[TUNNELS[0]].w + (room - pitch * MINER_END) / 2
    return left + pitch * 0.75, box.y + box.h / 2


def _territory(s: Sheet, view: View, k: int, faction: str) -> None:
    box = PLACES[TERRITORIES[k]]
    with s.group("territory", "territory", f"territory-{faction}", territory=TERRITORIES[k]):
        s.rect(box, f"{faction}-cell", 8, "frame", 1)
        stars = star_places(TERRITORIES[k], len(view.players))
        if box.h < 40:
            s.text(stars[0][0] - 8, box.y + 19, "Territory", SMALL, "dim", anchor="end")
        else:
            s.text(box.x + 10, box.y + 19, "Territory", SMALL, "dim")
        for x, y in stars:
            s.disc(x + TOKEN_SIZE / 2, y + TOKEN_SIZE / 2, 10, "slot", faction, 1)


def _works(s: Sheet, view: View, marks: Marks) -> None:
    """The worker tank, the artifact deck and its discards."""
    s.rect(WORKS, "panel", 12)
    s.text(WORKS.x + 14, WORKS.y + 25, "Worker tank", LARGE, weight=700)
    for space in TANK:
        box, at = PLACES[space], socket(space)
        with _space(s, view, marks, space):
            _cell(s, view, marks, space, "", box)
            _socket(s, space, "")
            s.parts(at.x, box.y + 5, _cost(space))
            s.parts(at.x + at.w + 6, at.y + 7, ["→", "worker"])
            s.parts(at.x, box.y + box.h - 24, _gain(space)[1:])
    box = PLACES["deck"]
    with s.group("deck", f"{view.deck_size} artifacts in the deck", "deck"):
        for shift in (6, 3, 0):
            s.rect(Box(box.x + 8 + shift, box.y + 12 + shift / 2, 44, 58), "#efe2c4", 5, "#8d6b2f", 1)
        s.icon(box.x + 16, box.y + 20, "artifact", 28)
        s.text(box.x + 30, box.y + 66, str(view.deck_size), BODY, "#14171f", 700, "middle")
    box = PLACES["discards"]
    with s.group("discards", "discarded artifacts", "discards"):
        s.rect(box, "slot", 8)
        for k, name in enumerate(ARTIFACTS):
            n = view.discards.get(name, 0)
            x, y = box.x + 12 + 56 * (k % 3), box.y + 14 + 34 * (k // 3)
            s.icon(x, y, name, 20, opacity=1 if n else 0.45)
            s.text(x + 25, y + 15, str(n), BODY, "ink" if n else "dim", 700 if n else 400)


# ------------------------------------------------------------------------------------------------------------ what moves


def _markers(s: Sheet, view: View) -> None:
    """Allegiance markers on their rails, miners in their pipes."""
    with s.group("markers"):
        for faction in FACTIONS:
            rail, step = PLACES[f"rail-{faction}"], view.allegiance[faction]
            at = rail.x + RAIL_PITCH * (step + 0.5), rail.y + rail.h / 2
            with s.group("allegiance", f"allegiance {step}", f"allegiance-{faction}", at, faction=faction, step=step):
                s.disc(0, 0, 13, faction, "ink", 2)
                s.text(0, 5, str(step), BODY, "paper", 700, "middle")
        for faction in FACTIONS[: len(TUNNELS)]:
            (x, y), step = _pipe(faction), view.miners[faction]
            with s.group(
                "miner", f"miner {step} of {MINER_END}", f"miner-{faction}", (x + PIPE_PITCH[faction] * (step - 1), y), step=step
            ):
                s.disc(0, 0, 13, faction, "ink", 2)
                s.icon(-9, -9, "miner", 18, "paper")


def _stars(s: Sheet, view: View) -> None:
    n = len(view.players)
    with s.group("stars"):
        for market, there in view.markets.items():
            places = star_places(market, n)
            for seat in there.stars:
                s.token(*places[seat], seat, f"star-{market}-{seat}")
        for territory, stars in view.territories.items():
            seen: Counter[int] = Counter()
            for (x, y), seat in zip(star_places(territory, n), stars, strict=False):
                seen[seat] += 1
                s.token(x, y, seat, f"star-{territory}-{seat}" + (f"-{seen[seat]}" if seen[seat] > 1 else ""))


def _dice(s: Sheet, view: View) -> None:
    """The workers on the board."""
    count = [0] * len(view.players)
    with s.group("dice"):
        for space in SPACES:
            there = view.workers.get(space, ())
            for (x, y, scale), (seat, face) in zip(_standing(space, len(there)), there, strict=True):
                s.die(x, y, seat, face, scale, f"die-{seat}-{count[seat]}", space)
                count[seat] += 1


def _standing(space: str, n: int) -> Sequence[tuple[float, float, float]]:
    if space in AREAS:
        x, y, w, h = crowd(space)
        return dice_in(Box(x + 4, y + 4, w - 8, h - 8), n)
    x, y, w, h = socket(space)
    return [(x + (w - DIE_WIDTH) / 2, y + (h - DIE_HEIGHT) / 2, 1.0)] * n
