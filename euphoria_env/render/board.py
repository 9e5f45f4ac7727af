"""Draws the board for pictures and pages as a seat may see it: four regions, the worker tank and the cards.

A page may rely on these ids and classes:

- `g.space#space-NAME[data-space]`: a space; `data-x`, `data-y`: the middle of the place where workers stand. Its first shape has
  the class `ground`, a place for one worker the class `socket`. Further classes of spaces: `legal`, `closed` (the end of a
  tunnel), `changed`.
  The slots of a site exist until its market is built; from then on the space of the market exists.
- `g.tile#tile-MARKET[data-market]`: a site or what was built there, with the class `unbuilt` or `built`.
- `g.territory#territory-FACTION`, `g.deck#deck`, `g.discards#discards`.
- Things that move are in one layer for each kind, placed only by `transform`, in board coordinates: `g.die#die-SEAT-K`
  (with `data-seat`, `data-face`, `data-space`; K counts the dice of a seat on the board in the order of the spaces),
  `g.star#star-PLACE-SEAT` (a second star of a seat in a territory ends in `-2`, a third in `-3`), `g.miner#miner-FACTION`,
  `g.allegiance#allegiance-FACTION`.
- `places` returns the centres of spaces, territories, decks and rails, for animations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cache

from euphoria_env import board
from euphoria_env.cards.spaces import SPACE_COST, SPACE_PROGRAM
from euphoria_env.cards.tiles import TILE_COST, TILES
from euphoria_env.cards.vocabulary import Effect
from euphoria_env.phrases import Phrase, listed
from euphoria_env.render.layout import BOARD, PLACES, REGIONS, WORKS, is_low, pipe_step, rail_step, socket, standing, star_places
from euphoria_env.render.lettering import text_width
from euphoria_env.render.sheet import BODY, LARGE, SMALL, TITLE, Box, Part, Sheet, parts_width
from euphoria_env.render.symbols import TOKEN_SIZE
from euphoria_env.render.theme import PAGE
from euphoria_env.render.view import View, site_slots
from euphoria_env.words import AREA_SUMS, PAIR_SPACES
from euphoria_env.words.card_text import space_phrase
from euphoria_env.words.names import space_title

_REVEALING_STEP = 6  # the step of a miner that reveals recruits (R7.5)
_SET_NAMES = {
    board.ARTIFACT_SET: "artifact",
    board.RESOURCE_SET: "resource",
    board.COMMODITY_SET: "commodity",
    board.item_set("energy", "water", "food"): "other commodity",
}
_SYMBOL_OF = {
    Effect.STAR_IN_TERRITORY: "star",
    Effect.STAR_IN_REGION: "star",
    Effect.ADVANCE: "flag",
    Effect.NEW_WORKER: "worker",
}
# By region, the outline of its towers, dunes or clouds, and where that begins.
_SKYLINES = {
    "euphorian": ("v-5h18v-4h20v-4h14v4h22v-6h18v9h30v-4h26v-6h8v-3h10v3h8v6h30v10", 40, 1),
    "wastelander": ("q40-20 90-6t110-2q50-18 100-2t110 8", 50, 3),
    "icarite": ("q27 22 55 0" * 20, 0, 130),
}


def board_fragment(
    view: View, changed: Collection[str] = (), theme: str = PAGE, names: Sequence[str] = (), language: str = "en"
) -> str:
    """Returns the board as an SVG element in any size, with the ids that the module docstring lists.

    Args:
        view: the visible part of a game.
        changed: spaces that get a mark, because something happened there.
        theme: one of `THEMES`, or `PAGE` for a page that defines the CSS variables and the symbols (`symbols`).
        names: the names of the players in tooltips; empty: their numbers.
        language: the language of names and tooltips.
    """
    sheet = Sheet(theme, names, language)
    draw_board(sheet, view, changed)
    return sheet.svg(BOARD, sheet.say(Phrase("board.board")))


def places() -> dict[str, tuple[float, float]]:
    """Returns the centre of each space, territory, deck and rail, by name, in the coordinates of the board."""
    return {name: socket(name).middle for name in PLACES}


def draw_board(s: Sheet, view: View, changed: Collection[str] = ()) -> None:
    """Draws the board, its left upper corner at the origin."""
    _ground(s)
    for k, faction in enumerate(board.FACTIONS):
        with s.group("region", Phrase(f"region.{faction}"), f"region-{faction}", region=faction):
            _head(s, k, faction)
            _territory(s, view, k, faction)
            _area(s, view, changed, k, faction)
            if k == len(board.TUNNELS):
                for space in board.ICARUS:
                    _plain(s, view, changed, space, Phrase(f"name.{space}"), faction)
            else:
                _land(s, view, changed, k, faction)
    _works(s, view, changed)
    _markers(s, view)
    _stars(s, view)
    _dice(s, view)


# -------------------------------------------------------------------------------------------------------------- scenery


def _ground(s: Sheet) -> None:
    """Draws the land: a cloud over a city and dunes, and the earth with a cave in it."""
    s.rect(BOARD, "paper", 0)
    earth = Box(0, REGIONS["subterran"].y - 6, BOARD.w, BOARD.h - REGIONS["subterran"].y + 6)
    s.rect(earth, "earth", 0)
    s.path(f"M0 {earth.y + 1:g}{'l12-5 16 4 10-3 17 4' * 20}V{earth.y + 1:g}Z", "earth", BOARD)
    for faction in board.FACTIONS:
        box = REGIONS[faction]
        s.rect(box, f"{faction}-ground", 22 if faction == "subterran" else 12)
        skyline, left, top = _SKYLINES.get(faction, ("", 0, 0))
        if skyline:
            s.path(f"M{box.x + left:g} {box.y + top:g}{skyline}Z", f"{faction}-ground", BOARD)


def _head(s: Sheet, k: int, faction: str) -> None:
    """Draws the name of a region, and its allegiance rail with the four bonuses on it (R7)."""
    x, y, _, _ = REGIONS[faction]
    s.text(x + 14, y + 26, s.say(Phrase(f"region.{faction}")).upper(), TITLE, faction, 700)
    first, middle = rail_step(faction, 0)
    last, _ = rail_step(faction, board.ALLEGIANCE_END)
    bonuses = {2: board.COMMODITIES[k], 5: "artifact", 8: "eye", 11: "star"}
    with s.group("rail", Phrase("board.rail", of=Phrase(f"of_region.{faction}"))):
        s.rect(Box(first, middle - 2, last - first, 4), "faint", 2)
        for step in range(board.ALLEGIANCE_END + 1):
            at, _ = rail_step(faction, step)
            if step in bonuses:
                s.disc(at, middle, 11, f"{faction}-cell", faction)
                s.icon(at - 7, middle - 7, bonuses[step], 14, "star" if step == board.ALLEGIANCE_END else "ink")
            else:
                s.disc(at, middle, 4, "faint")


@contextmanager
def _space(
    s: Sheet, view: View, changed: Collection[str], space: str, faction: str = "", tile: str | None = None, state: str = ""
) -> Iterator[Box]:
    """Draws the ground and the socket of a space, and after the `with` block the mark of a change; yields the socket."""
    legal, slot, marked = space in view.open_spaces, space in board.SLOTS, space in changed
    kinds = " ".join(filter(None, ["space", state, "legal" if legal else "", "changed" if marked else ""]))
    at = socket(space)
    x, y = at.middle
    workers = [s.worker_words(*worker) for worker in view.workers.get(space, ())]
    about = listed([_about_space(space, tile), *workers], "semicolon")
    with s.group(kinds, about, f"space-{space}", space=space, x=float(x), y=float(y)):
        outline, width = ("legal", 3) if legal else (faction, 1.5) if slot else ("frame", 1)
        s.rect(PLACES[space], "slot" if slot else f"{faction}-cell" if faction else "panel", 8, outline, width, "ground")
        if not slot:
            outline, width = ("frame", 1) if space in board.AREAS else ("faint" if state else faction or "faint", 1.5)
            s.rect(at, "slot", 7, outline, width, "socket")
        yield at
        if marked:
            left, top, wide, _ = PLACES[space]
            s.path(f"M{left + wide - 16:g} {top:g}h8q8 0 8 8v8Z", "changed", PLACES[space], "corner")


# --------------------------------------------------------------------------------------------------------------- spaces


@cache
def _about_space(space: str, tile: str | None) -> Phrase:
    """Returns the name of a space, and what happens there."""
    return Phrase("board.space", name=space_title(space, tile), words=Phrase("small", text=space_phrase(space, tile)))


@cache
def _cost(space: str, tile: str | None = None) -> tuple[Part, ...]:
    """Returns the cost of a space, or of the market built from a tile, as symbols."""
    if space in PAIR_SPACES:
        return (3, "artifact"), "/", "pair"
    row = TILE_COST[TILES.index(tile)] if tile else SPACE_COST[board.SPACES.index(space)]
    groups = ((int(row[0]), int(row[1])), (int(row[2]), int(row[3])))
    return tuple((units, _SET_NAMES.get(items) or board.ITEMS[items.bit_length() - 1]) for units, items in groups if units)


@cache
def _gain(space: str) -> tuple[Part, ...]:
    """Returns the gain of a space as symbols."""
    symbols: list[Part] = []
    for step in SPACE_PROGRAM[board.SPACES.index(space)]:
        op, a, b = (int(value) for value in step)
        if op in _SYMBOL_OF:
            symbols.append(_SYMBOL_OF[Effect(op)])
        elif op == Effect.GOODS:
            symbols.append((b, board.GOODS[a]))
        elif op == Effect.DRAW:
            symbols.append((a, "artifact"))
        elif op == Effect.CHOOSE:
            symbols.append((b, "resource"))
        elif op in (Effect.KNOWLEDGE, Effect.MORALE):
            symbols.append((f"{_sign(a)}{abs(a)}", "knowledge" if op == Effect.KNOWLEDGE else "morale"))
    return tuple(symbols)


def _area(s: Sheet, view: View, changed: Collection[str], k: int, faction: str) -> None:
    """Draws a commodity area: the gain for each sum, and room for all the workers (R6.1)."""
    area, box, low = board.AREAS[k], PLACES[board.AREAS[k]], is_low(board.AREAS[k])
    there = view.workers.get(area, ())
    with _space(s, view, changed, area, faction) as at:
        s.text(box.x + 10, box.y + 20, s.say(Phrase(f"name.{area}")), BODY, weight=700)
        for n, (sums, units, knowledge) in enumerate(AREA_SUMS):
            gain: list[Part] = [*[board.COMMODITIES[k]] * units, *([_sign(knowledge), "knowledge"] if knowledge else ["flag"])]
            x = box.x + (10 if low else (12, 60, 124)[n])
            y = box.y + (28 + (box.h - 30) / 3 * n if low else box.h - 40)
            s.text(x, y + 13, sums.replace(" to ", "–").replace(" or more", "+"), SMALL, "dim")
            s.parts(x + (28 if low else 0), y + (0 if low else 17), gain)
        if there:
            s.new_run()
            end = at.x - 6 if low else box.x + box.w - 10
            s.text(end, box.y + 20, str(sum(face for _, face in there)), BODY, "dim", 700, "end")


def _sign(n: int) -> str:
    return "+" if n > 0 else "−"


def _plain(
    s: Sheet, view: View, changed: Collection[str], space: str, about: Phrase, faction: str, tile: str | None = None
) -> None:
    """Draws a space for one worker: its name, and its cost and gain in one line or two."""
    box, name = PLACES[space], s.say(about)
    with _space(s, view, changed, space, faction, tile) as at:
        s.text(box.x + 10, box.y + 19, name, BODY if text_width(name, BODY, 700) < box.w - 16 else SMALL, weight=700)
        (_, middle), x, cost, gain = at.middle, at.x + at.w + 8, _cost(space, tile), ("→", *_gain(space))
        if x + parts_width((*cost, *gain)) <= box.x + box.w - 8:
            s.parts(x, middle - 8, [*cost, *gain])
        else:
            s.parts(x, middle - 17, cost)
            s.parts(x, middle + 2, gain)


def _land(s: Sheet, view: View, changed: Collection[str], k: int, faction: str) -> None:
    """Draws the sites or markets, the artifact market and the tunnel of a region that is not Icarus."""
    for number, market in enumerate(board.MARKETS[2 * k : 2 * k + 2], 1):
        tile = view.markets[market].tile
        with s.group(f"tile {'built' if tile else 'unbuilt'}", name=f"tile-{market}", market=market):
            if tile:
                _plain(s, view, changed, market, Phrase(f"short.{tile}"), faction, tile)
                places = star_places(market, len(view.players))
                _star_places(s, [place for seat, place in enumerate(places) if seat not in view.markets[market].stars], faction)
            else:
                _site(s, view, changed, market, number, faction)
    _plain(s, view, changed, board.ARTIFACT_MARKETS[k], Phrase(f"short.{board.ARTIFACT_MARKETS[k]}"), faction)
    _tunnel(s, view, changed, k, faction)


def _star_places(s: Sheet, places: Sequence[tuple[float, float]], faction: str) -> None:
    """Draws the places that no star has taken."""
    for x, y in places:
        s.disc(x + TOKEN_SIZE / 2, y + TOKEN_SIZE / 2, 9, "slot", faction, 1)


def _site(s: Sheet, view: View, changed: Collection[str], market: str, number: int, faction: str) -> None:
    """Draws the four slots of a site: each shows the resource that it costs, until a worker stands there (R9.1)."""
    box = PLACES[market]
    slots = site_slots(market)
    taken = sum(slot in view.workers for slot in slots)
    s.rect(box, f"{faction}-cell", 8, "frame", 1)
    s.text(box.x + 10, box.y + 18, s.say(Phrase("board.site", n=number)), BODY, weight=700)
    s.text(
        box.x + box.w - 10, box.y + 18, s.say(Phrase("one_of", n=taken, whole=view.workers_to_build)), BODY, "dim", anchor="end"
    )
    for slot in slots:
        with _space(s, view, changed, slot, faction) as at:
            if slot not in view.workers:
                (x, y), cost = at.middle, _cost(slot)
                s.parts(x - parts_width(cost) / 2, y - 8, cost)


def _tunnel(s: Sheet, view: View, changed: Collection[str], k: int, faction: str) -> None:
    """Draws the tunnel: a space at its mouth, the pipe that the miner digs, and the space at its end (R8)."""
    tunnel, end, miner = board.TUNNELS[k], board.TUNNEL_ENDS[k], view.miners[faction]
    x, y, w, h = PLACES[f"pipe-{faction}"]
    middle = y + h / 2
    with s.group("pipe", _steps("tunnel", faction, miner, board.MINER_END)):
        s.rect(Box(x - 12, y, w + 24, h), "earth", 0)
        s.rect(Box(x - 4, middle - 9, w + 8, 18), "slot", 0, faction)
        if miner:
            s.rect(Box(x - 3, middle - 5, pipe_step(faction, miner)[0] - x, 10), faction, 4, kind="dug")
        for step in range(1, board.MINER_END + 1):
            center, _ = pipe_step(faction, step)
            if step == _REVEALING_STEP:
                s.icon(center - 7, middle - 7, "eye", 14, "paper" if miner > step else "ink", line="none")
            elif step > miner:
                s.disc(center, middle, 2, "faint")
        for flange in (x + 2, x + w - 8):
            s.rect(Box(flange, middle - 13, 6, 26), faction, 2)
    with _space(s, view, changed, tunnel, faction) as at:
        s.parts(at.x + at.w + 6, middle - 8, [*_cost(tunnel), "→", board.RESOURCES[k], "/", "artifact"])
    with _space(s, view, changed, end, faction, state="" if miner == board.MINER_END else "closed") as at:
        if miner < board.MINER_END:
            s.icon(at.middle[0] - 8, middle - 8, "lock", fill="faint")
        s.parts(at.x + at.w + 5, middle - 8, ["→", *_gain(end)])


def _territory(s: Sheet, view: View, k: int, faction: str) -> None:
    box, stars = PLACES[board.TERRITORIES[k]], star_places(board.TERRITORIES[k], len(view.players))
    there = view.territories[board.TERRITORIES[k]]
    stars_there = [Phrase("board.star", who=s.names[seat]) for seat in there]
    about = listed([Phrase("board.territory", of=Phrase(f"of_region.{faction}")), *stars_there], "semicolon")
    with s.group("territory", about, f"territory-{faction}", territory=board.TERRITORIES[k]):
        s.rect(box, f"{faction}-cell", 8, "frame", 1)
        beside = box.h < 2 * TOKEN_SIZE
        x, anchor = (stars[0][0] - 8, "end") if beside else (box.x + 10, "start")
        s.text(x, box.y + 19, s.say(Phrase("board.here_territory")), SMALL, "dim", anchor=anchor)
        _star_places(s, stars[len(there) :], faction)


def _works(s: Sheet, view: View, changed: Collection[str]) -> None:
    """Draws the worker tank, the artifact deck and its discards."""
    s.rect(WORKS, "panel", 12, "frame", 1)
    s.text(WORKS.x + 14, WORKS.y + 25, s.say(Phrase("board.tank")), LARGE, weight=700)
    for space in board.TANK:
        with _space(s, view, changed, space) as at:
            s.parts(at.x + at.w + 8, at.middle[1] - 8, [*_cost(space), "→"])
            s.parts(at.x, at.y + at.h + 9, _gain(space))
    box = PLACES["deck"]
    with s.group("deck", Phrase("board.deck", n=view.deck_size), "deck"):
        for shift in (6, 3, 0):
            s.rect(Box(box.x + 8 + shift, box.y + 12 + shift / 2, 44, 58), "#efe2c4", 5, "#8d6b2f", 1)
        s.icon(box.x + 16, box.y + 20, "artifact", 28)
        s.text(box.x + 30, box.y + 66, str(view.deck_size), BODY, "#14171f", 700, "middle")
    box = PLACES["discards"]
    with s.group("discards", Phrase("board.discards"), "discards"):
        s.rect(box, "slot", 8, "frame", 1)
        for k, name in enumerate(board.ARTIFACTS):
            n = view.discards.get(name, 0)
            x, y = box.x + 12 + 56 * (k % 3), box.y + 14 + 34 * (k // 3)
            s.new_run()
            s.icon(x, y, name, 20, opacity=1 if n else 0.45)
            s.text(x + 25, y + 15, str(n), BODY, "ink" if n else "dim", 700 if n else 400)


# ------------------------------------------------------------------------------------------------------------ what moves


def _steps(what: str, faction: str, n: int, end: int) -> Phrase:
    """Returns how far a marker or a tunnel is."""
    return Phrase(f"board.{what}", of=Phrase(f"of_region.{faction}"), n=n, end=end)


def _markers(s: Sheet, view: View) -> None:
    """Draws allegiance markers on their rails, miners in their pipes."""
    with s.group("markers"):
        for faction in board.FACTIONS:
            step = view.allegiance[faction]
            at = rail_step(faction, step)
            about = _steps("allegiance", faction, step, board.ALLEGIANCE_END)
            with s.group("allegiance", about, f"allegiance-{faction}", at, faction=faction, step=step):
                s.disc(0, 0, 13, faction, "ink", 2)
                s.text(0, 5, str(step), BODY, "paper", 700, "middle")
        for faction in board.FACTIONS[: len(board.TUNNELS)]:
            step = view.miners[faction]
            label = _steps("miner", faction, step, board.MINER_END)
            with s.group("miner", label, f"miner-{faction}", pipe_step(faction, step), faction=faction, step=step):
                s.disc(0, 0, 13, faction, "ink", 2)
                s.icon(-9, -9, "miner", 18, "paper", line="none")


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
    """Draws the workers on the board."""
    count = [0] * len(view.players)
    with s.group("dice"):
        for space in board.SPACES:
            there = view.workers.get(space, ())
            for (x, y, scale), (seat, face) in zip(standing(space, len(there)), there, strict=True):
                s.die(x, y, seat, face, scale, f"die-{seat}-{count[seat]}", space)
                count[seat] += 1
