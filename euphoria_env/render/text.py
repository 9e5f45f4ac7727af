"""The board as text of any width: complete, in the names of the notation, or short, with a line for each region and player."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from euphoria_env import board
from euphoria_env.phrases import Phrase, Text
from euphoria_env.render.view import PlayerView, View, Worker, remarks, site_slots, view_of
from euphoria_env.words import (
    CHECK,
    RETRIEVING,
    Move,
    area_gains,
    cost_words,
    legal_moves,
    recruit_words,
    short_gain,
    short_title,
    tile_words,
    title,
)
from euphoria_env.words.names import counted

if TYPE_CHECKING:
    from euphoria_env.game import Game

TEXT_WIDTH = 100
_HEADING = 12  # the columns for the name of a region
_NAME = 36  # the columns for the name of a space
_NARROWEST = 20
_HARD_SPACE = "\N{NO-BREAK SPACE}"


def board_text(game: Game, seat: int | None = None, width: int = TEXT_WIDTH, moves: bool = True) -> str:
    """Returns the board as text, as everybody may see it or as the player of a seat may.

    Args:
        game: the game.
        seat: the seat whose view is shown; None: everybody's.
        width: the largest number of columns, 20 or more.
        moves: whether to list the legal moves, too, if the seat decides.

    Raises:
        ValueError: there is no such seat, or the width is smaller.
    """
    if width < _NARROWEST:
        raise ValueError(f"a board needs a width of at least {_NARROWEST} columns, not {width}")
    view = view_of(game, seat)
    rows: list[_Row | str] = [_headline(view, view.asked), *_players(view)]
    for faction in range(len(board.FACTIONS)):
        rows += _region(view, faction)
    rows += ["--- elsewhere", *(_space(view, space) for space in board.TANK), *_cards(view), *_always()]
    if moves and view.legal and seat is not None:
        rows.append(f"--- {len(view.legal)} legal moves (! what may be lost, or whom it bumps)")
        rows += map(_move, legal_moves(game, seat))
    return "\n".join(line.rstrip() for line in _folded(rows, width))


def short_board(view: View, names: Sequence[str], width: int = TEXT_WIDTH) -> str:
    """Returns the board and the players' possessions in at most `width` columns, a line for each region and each player."""
    rows = [_headline(view)]
    rows += [
        _short_region(view, faction, names) for faction in (board.ICARITE, board.EUPHORIAN, board.WASTELANDER, board.SUBTERRAN)
    ]
    tank = [f"by {space.removeprefix('tank_')}{_there(view, space, names)}" for space in board.TANK]
    rows.append(_Row(f"{'Worker tank':{_HEADING}}", (*tank, f"{view.deck_size} cards in the deck"), " | "))
    return "\n".join(_folded([*rows, *_short_players(view, names, width)], width))


def _headline(view: View, asked: Text = "") -> _Row:
    parts = f"Euphoria, {view.headline}", str(asked), f"offer: {view.offer}" if view.offer else ""
    return _Row("", tuple(filter(None, parts)), " | ")


def _short_region(view: View, faction: int, names: Sequence[str]) -> _Row:
    name = board.FACTIONS[faction]
    area, territory = board.AREAS[faction], view.territories[board.TERRITORIES[faction]]
    total = sum(face for _, face in view.workers.get(area, ()))
    parts = [f"allegiance {view.allegiance[name]}", f"{title(area)}{f' {total}' if total else ''}{_there(view, area, names)}"]
    if faction < len(board.TUNNELS):
        parts.append(f"tunnel {view.miners[name]}/{board.MINER_END}{_there(view, board.TUNNELS[faction], names)}")
        parts += [f"its end{_there(view, board.TUNNEL_ENDS[faction], names)}"] * (view.miners[name] == board.MINER_END)
        parts += filter(None, (_short_site(view, market, names) for market in board.MARKETS[2 * faction : 2 * faction + 2]))
    for space in board.ICARUS if faction == board.ICARITE else board.ARTIFACT_MARKETS[faction : faction + 1]:
        parts += [f"{short_title(space)}{_there(view, space, names)}"] * (space in view.workers)
    parts += [f"stars {_owners(territory, names)}"] * bool(territory)
    return _Row(f"{Phrase(f'region.{name}')!s:{_HEADING}}", tuple(parts), " | ")


def _short_site(view: View, market: str, names: Sequence[str]) -> str:
    """Returns a market, or its site if somebody stands there."""
    tile, stars = view.markets[market].tile, view.markets[market].stars
    if tile:
        return f"{short_title(tile)}{_there(view, market, names)}" + (f", stars {_owners(stars, names)}" if stars else "")
    there = [worker for slot in site_slots(market) for worker in view.workers.get(slot, ())]
    return f"site {market[-1]} {len(there)}/{view.workers_to_build}{_among(there, names)}" if there else ""


def _there(view: View, space: str, names: Sequence[str]) -> str:
    return _among(view.workers.get(space, ()), names)


def _among(workers: Sequence[Worker], names: Sequence[str]) -> str:
    return f" ({', '.join(f'{names[seat]} {face}' for seat, face in workers)})" if workers else ""


def _owners(seats: Sequence[int], names: Sequence[str]) -> str:
    return ", ".join(names[seat] + (f" {n}" if n > 1 else "") for seat, n in Counter(seats).items())


def _short_players(view: View, names: Sequence[str], width: int) -> Iterator[_Row | str]:
    """Yields a table of the players' possessions, or a paragraph for each player if the table is too wide."""
    longest = max(map(len, names))
    facts = [_facts(player, view.stars_to_win) for player in view.players]
    labels = [f"{'>' if player.deciding else ' '} {names[player.seat]:{longest}}" for player in view.players]
    columns = [[name, *(row[name] for row in facts)] for name in facts[0]]
    widths = [max(map(len, column)) for column in columns]
    if longest + 2 + sum(widths) + len(widths) <= width:
        for label, *cells in zip([" " * (longest + 2), *labels], *columns, strict=True):
            yield " ".join([label, *(f"{cell:>{w}}" for cell, w in zip(cells, widths, strict=True))])
        return
    for label, row in zip(labels, facts, strict=True):
        yield _Row(f"{label} ", tuple(f"{what} {fact}" for what, fact in row.items() if fact != "-"))


def _facts(player: PlayerView, stars_to_win: int) -> dict[str, str]:
    return {
        "stars": f"{board.STARS - player.stars}/{stars_to_win}",
        "dice": " ".join(map(str, player.workers)) or "-",
        "check": f"{player.knowledge + sum(player.workers)}/{board.KNOWLEDGE_LIMIT}",
        "kn": str(player.knowledge or "-"),
        "mo": str(player.morale or "-"),
        **{name: str(player.goods.get(name) or "-") for name in board.GOODS},
        "cards": str(player.hand_size or "-"),
    }


# --------------------------------------------------------------------------------------------------------------- lines


class _Row(NamedTuple):
    """A line of unlimited width: a label and parts, which are indented below the label if they need more lines."""

    label: str
    parts: tuple[str, ...]
    separator: str = ", "


def _folded(rows: Iterable[_Row | str], width: int) -> Iterator[str]:
    """Yields the lines of rows and of plain lines, at most `width` wide; rules fill the width."""
    for row in rows:
        if isinstance(row, str):
            rule = row.startswith("--- ")
            indent = 4 if rule else len(row) - len(row.lstrip()) + 2
            lines = _wrapped(row, indent, width)
            yield from [f"{row} ".ljust(width, "-")] if rule and len(lines) == 1 else lines
        else:
            yield from _wrapped_row(row, width)


def _wrapped_row(row: _Row, width: int) -> list[str]:
    """Returns a row in lines; a part is broken only if it is longer than a line."""
    label, indent = row.label, len(row.label)
    if 5 * indent > 3 * width:  # there is little room beside the label
        label, indent = f"{' ' * (indent - len(label.lstrip()))}{' '.join(label.split())}  ", 4
    parts = [part.replace(" ", _HARD_SPACE) if len(part) <= width - indent else part for part in row.parts]
    separator = row.separator[:-1].replace(" ", _HARD_SPACE) + " "
    return [line.replace(_HARD_SPACE, " ").rstrip() for line in _wrapped(label + separator.join(parts), indent, width)]


def _wrapped(line: str, indent: int, width: int) -> list[str]:
    return textwrap.wrap(line, width, subsequent_indent=" " * indent, break_on_hyphens=False)


# -------------------------------------------------------------------------------------------------------------- players


def _players(view: View) -> Iterator[_Row | str]:
    yield "--- players (worker P0:4 = of player 0, face 4; recruit* = has its star; > decides)"
    for player in view.players:
        yield from _player(player, view.stars_to_win)


def _player(player: PlayerView, stars_to_win: int) -> Iterator[_Row | str]:
    workers = " ".join(map(str, player.workers)) or "none"
    facts = [
        f"knowledge {player.knowledge or '-'}",
        f"morale {player.morale or '-'}",
        f"stars {board.STARS - player.stars}/{stars_to_win}",
        f"workers {workers}" + (f" (and {player.on_board} on the board)" if player.on_board else ""),
        *([f"rank {player.rank}"] if player.rank else []),
        *(["on turn"] if player.active else []),
    ]
    yield _Row(f"{'>' if player.deciding else ' '} P{player.seat}  ", tuple(facts), "  ")
    indent = " " * 6
    yield _Row(indent, tuple(_goods(player)), "; ")
    for recruit in player.recruits:
        mark = "*" * recruit.star if recruit.active else " (hidden)"
        yield _Row(f"{indent}{recruit.name}{mark}: ", (recruit_words(recruit.name),))
    if player.penalties:
        yield _Row(f"{indent}penalties: ", player.penalties)
    yield from (_Row(indent, (remark,)) for remark in remarks(player))
    for key, cards in player.asides.items():
        yield _Row(indent, (str(Phrase(f"view.{key}", cards=", ".join(cards))),))


def _goods(player: PlayerView) -> Iterator[str]:
    yield ", ".join(f"{n} {name}" for name, n in player.goods.items()) or "no goods"
    cards = str(counted(player.hand_size, "artifact"))
    types = ", ".join(f"{n} {name}" for name, n in (player.artifacts or {}).items())
    yield f"{cards} ({types})" if types else cards


# -------------------------------------------------------------------------------------------------------------- regions


def _region(view: View, faction: int) -> Iterator[_Row | str]:
    name = board.FACTIONS[faction]
    step = view.allegiance[name]
    heading = f"--- {Phrase(f'region.{name}')}: {name} allegiance {step}/{board.ALLEGIANCE_END}"
    heading += f" {_track(step, board.ALLEGIANCE_END)}"
    if faction < len(board.TUNNELS):
        miner = view.miners[name]
        heading += f", miner {miner}/{board.MINER_END} {_track(miner, board.MINER_END)}"
    yield heading
    yield _area(view, board.AREAS[faction])
    yield from (_space(view, space) for space in board.ICARUS) if faction == board.ICARITE else _land(view, faction)
    stars = [f"P{p}" for p in view.territories[board.TERRITORIES[faction]]]
    yield _named(board.TERRITORIES[faction], f"stars: {' '.join(stars + ['--'] * (len(view.players) - len(stars)))}")


def _track(step: int, end: int) -> str:
    return "[" + "#" * step + "." * (end - step) + "]"


def _workers(there: Sequence[Worker]) -> str:
    return " ".join(f"P{seat}:{face}" for seat, face in there) or "----"


def _named(name: str, *about: str) -> _Row:
    return _Row(f"  {name:{_NAME}} ", about)


def _space(view: View, space: str, recipe: str = "") -> _Row:
    """Returns a space for one worker, with its cost and gain."""
    recipe = recipe or f"{cost_words(space)} -> {short_gain(space)}"
    return _Row(f"  {space:{_NAME}} {_workers(view.workers.get(space, ()))}  ", (recipe,))


def _area(view: View, area: str) -> _Row:
    there = view.workers.get(area, ())
    return _named(area, _workers(there) + (f"  (sum {sum(face for _, face in there)})" if there else ""))


def _land(view: View, faction: int) -> Iterator[_Row | str]:
    """Tunnel, sites or markets, and artifact market of a region on the ground."""
    end, is_open = board.TUNNEL_ENDS[faction], view.miners[board.FACTIONS[faction]] == board.MINER_END
    yield _space(view, board.TUNNELS[faction])
    yield _space(view, end, f"-> {short_gain(end)}") if is_open else _named(end, "closed")
    for market in board.MARKETS[2 * faction : 2 * faction + 2]:
        yield from _site_or_market(view, market)
    yield _space(view, board.ARTIFACT_MARKETS[faction])


def _site_or_market(view: View, market: str) -> Iterator[_Row | str]:
    tile, stars = view.markets[market].tile, view.markets[market].stars
    if tile is None:
        slots = site_slots(market)
        taken = sum(slot in view.workers for slot in slots)
        yield _named(f"{slots[0]} to 4", f"{taken} of {view.workers_to_build} workers that build the market")
        places = [f"{k}: {_workers(view.workers.get(slot, ()))} {cost_words(slot)}" for k, slot in enumerate(slots, 1)]
        yield _Row("    ", tuple(places), " | ")
        return
    yield _space(view, market, f"{cost_words(market, tile)} -> {short_gain(market)}")
    yield f"    = {tile}, stars: {' '.join(f'P{p}' for p in stars) or 'none'}"
    yield f"      without a star: {tile_words(tile)}"


def _cards(view: View) -> list[_Row]:
    discards = [f"{n} {name}" for name, n in view.discards.items()] or ["none"]
    return [_named("artifact deck", f"{view.deck_size} cards"), _named("discards", *discards)]


def _always() -> Iterator[_Row | str]:
    """Yields the rules that apply in every position: the commodity areas, the knowledge check, retrieving."""
    for k, (sums, gain) in enumerate(area_gains("commodity")):
        yield _named("areas, by the sum of all faces" if k == 0 else "", f"{sums}: {gain}")
    yield _named("retrieving", RETRIEVING)
    yield _named("knowledge check", CHECK)


def _move(move: Move) -> _Row:
    """Returns a move with its cost, gain and risk."""
    return _Row(f"  {move.notation:{_NAME}} ", (*filter(None, [move.told, move.risk and f"! {move.risk}"]),), "  ")
