"""The board as text, for a terminal of 100 columns. Names are those of the notation, so that moves can be read off."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from euphoria_env.board import (
    ALLEGIANCE_END,
    AREAS,
    ARTIFACT_MARKETS,
    FACTIONS,
    ICARUS,
    MARKETS,
    MINER_END,
    SLOTS_PER_SITE,
    STARS,
    TANK,
    TERRITORIES,
    TUNNEL_ENDS,
    TUNNELS,
)
from euphoria_env.render.view import (
    REGION_NAMES,
    Drawable,
    PlayerView,
    View,
    Worker,
    site_of,
    view_of,
)
from euphoria_env.words import (
    CHECK,
    RETRIEVING,
    Move,
    area_gains,
    cost_words,
    dilemma_words,
    legal_moves,
    recruit_words,
    short_gain,
    tile_words,
)

TEXT_WIDTH = 100
_NAME = 36  # columns of a space's name


def board_text(game: Drawable, seat: int | None = None) -> str:
    """The board as text: what everybody may see, or what the player of a seat may see.

    Raises:
        ValueError: no such seat.
    """
    view = view_of(game, seat)
    lines = [*_header(view), *_players(view)]
    for faction in range(len(FACTIONS)):
        lines += _region(view, faction)
    lines += [_rule("elsewhere"), *_tank(view), *_cards(view), *_always()]
    if view.legal and seat is not None:
        lines += [_rule(f"{len(view.legal)} legal moves (! what may be lost, or whom it bumps)")]
        lines += [line for move in legal_moves(game, seat) for line in _move(move)]
    return "\n".join(line.rstrip() for line in lines)


def _rule(heading: str) -> str:
    return f"--- {heading} ".ljust(TEXT_WIDTH, "-")


def _wrapped(label: str, parts: Iterable[str], separator: str = ", ") -> list[str]:
    """Parts in lines, indented under the label; a part is broken only if it fills more than a line."""
    lines = [label]
    for part in parts:
        new = lines[-1] in (label, " " * len(label))
        if not new and len(lines[-1] + separator + part) > TEXT_WIDTH:
            lines[-1] += separator.rstrip()
            lines.append(" " * len(label))
            new = True
        lines[-1] += part if new else separator + part
    return [broken for line in lines for broken in _broken(line, len(label))]


def _broken(line: str, indent: int) -> list[str]:
    if len(line) <= TEXT_WIDTH:
        return [line]
    return textwrap.wrap(line, TEXT_WIDTH, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)


def _header(view: View) -> Iterator[str]:
    yield from _wrapped("", [part for part in (f"Euphoria, {view.headline}", view.asked) if part], " | ")
    if view.offer:
        yield from _wrapped("offer: ", [view.offer])


# -------------------------------------------------------------------------------------------------------------- players


def _players(view: View) -> Iterator[str]:
    yield _rule("players (worker P0:4 = of player 0, face 4; recruit* = has its star; > decides)")
    for player in view.players:
        yield from _player(player, view.stars_to_win)


def _player(player: PlayerView, stars_to_win: int) -> Iterator[str]:
    marks = ("> " if player.deciding else "  ") + f"P{player.seat}"
    facts = [
        f"knowledge {player.knowledge or '-'}",
        f"morale {player.morale or '-'}",
        f"stars {STARS - player.stars}/{stars_to_win}",
        _hand_of_workers(player),
    ]
    if player.rank:
        facts.append(f"rank {player.rank}")
    if player.active:
        facts.append("on turn")
    yield from _wrapped(f"{marks}  ", facts, "  ")
    indent = " " * 6
    yield from _wrapped(indent, _goods(player), "; ")
    for label, text in (*_recruits(player), _dilemma(player)):
        yield from _wrapped(f"{indent}{label}", [text])
    if player.penalties:
        yield from _wrapped(f"{indent}penalties: ", player.penalties)
    for note in (*player.notes, *player.asides):
        yield from _wrapped(indent, [note])


def _hand_of_workers(player: PlayerView) -> str:
    hand = " ".join(str(face) for face in player.workers) or "none"
    return f"workers {hand}" + (f" (and {player.on_board} on the board)" if player.on_board else "")


def _goods(player: PlayerView) -> Iterator[str]:
    yield ", ".join(f"{n} {name}" for name, n in player.goods.items()) or "no goods"
    cards = f"{player.hand_size} artifact{'' if player.hand_size == 1 else 's'}"
    types = ", ".join(f"{n} {name}" for name, n in (player.artifacts or {}).items())
    yield f"{cards} ({types})" if types else cards


def _recruits(player: PlayerView) -> Iterator[tuple[str, str]]:
    """A line for each recruit that may be shown, with what they do."""
    for recruit in player.recruits:
        mark = "*" * recruit.star if recruit.active else " (hidden)"
        yield f"{recruit.name}{mark}: ", recruit_words(recruit.name)
    if player.hidden:
        yield "", f"{player.hidden} hidden recruit{'' if player.hidden == 1 else 's'}"


def _dilemma(player: PlayerView) -> tuple[str, str]:
    if player.resolved:
        return "", f"dilemma {player.dilemma} resolved for a {player.resolved}"
    return (f"dilemma {player.dilemma}: ", dilemma_words(player.dilemma)) if player.dilemma else ("", "dilemma open")


# -------------------------------------------------------------------------------------------------------------- regions


def _region(view: View, faction: int) -> Iterator[str]:
    name = FACTIONS[faction]
    step = view.allegiance[name]
    heading = f"{REGION_NAMES[faction]}: {name} allegiance {step}/{ALLEGIANCE_END} {_track(step, ALLEGIANCE_END)}"
    if faction < len(TUNNELS):
        miner = view.miners[name]
        heading += f", miner {miner}/{MINER_END} {_track(miner, MINER_END)}"
    yield _rule(heading)
    yield _area(view, AREAS[faction])
    yield from _icarus(view) if faction == len(TUNNELS) else _land(view, faction)
    yield _territory(view, TERRITORIES[faction])


def _track(step: int, end: int) -> str:
    return "[" + "#" * step + "." * (end - step) + "]"


def _worker(worker: Worker | None) -> str:
    return f"P{worker[0]}:{worker[1]}" if worker else "----"


def _space(view: View, space: str, about: str) -> str:
    return f"  {space:{_NAME}} {_worker(view.worker_on(space))}  {about}"


def _area(view: View, area: str) -> str:
    there = view.workers.get(area, ())
    workers = " ".join(_worker(worker) for worker in there)
    return f"  {area:{_NAME}} " + (f"{workers}  (sum {sum(face for _, face in there)})" if there else "----")


def _land(view: View, faction: int) -> Iterator[str]:
    """Tunnel, sites or markets, and artifact market of a region on the ground."""
    tunnel, end = TUNNELS[faction], TUNNEL_ENDS[faction]
    yield _space(view, tunnel, f"{cost_words(tunnel)} -> {short_gain(tunnel)}")
    if view.miners[FACTIONS[faction]] < MINER_END:
        yield f"  {end:{_NAME}} closed"
    else:
        yield _space(view, end, f"-> {short_gain(end)}")
    for market in MARKETS[2 * faction : 2 * faction + 2]:
        yield from _site_or_market(view, market)
    artifact_market = ARTIFACT_MARKETS[faction]
    yield _space(view, artifact_market, f"{cost_words(artifact_market)} -> {short_gain(artifact_market)}")


def _site_or_market(view: View, market: str) -> Iterator[str]:
    tile, stars = view.markets[market].tile, view.markets[market].stars
    if tile is None:
        site = site_of(market)
        slots = [f"{site}_{k}" for k in range(1, SLOTS_PER_SITE + 1)]
        taken = sum(slot in view.workers for slot in slots)
        yield f"  {site + '_1 to 4':{_NAME}} {taken} of {view.workers_to_build} workers that build the market"
        places = [f"{k}: {_worker(view.worker_on(slot))} {cost_words(slot)}" for k, slot in enumerate(slots, 1)]
        yield "    " + " | ".join(places)
        return
    yield _space(view, market, f"{cost_words(market, tile)} -> {short_gain(market)}")
    yield f"    = {tile}, stars: {' '.join(f'P{p}' for p in stars) or 'none'}"
    yield f"      without a star: {tile_words(tile)}"


def _icarus(view: View) -> Iterator[str]:
    for space in ICARUS:
        yield _space(view, space, f"{cost_words(space)} -> {short_gain(space)}")


def _territory(view: View, territory: str) -> str:
    stars = [f"P{p}" for p in view.territories[territory]]
    free = ["--"] * (len(view.players) - len(stars))
    return f"  {territory:{_NAME}} stars: {' '.join(stars + free)}"


def _tank(view: View) -> Iterator[str]:
    for space in TANK:
        yield _space(view, space, f"{cost_words(space)} -> {short_gain(space)}")


def _cards(view: View) -> list[str]:
    discards = [f"{n} {name}" for name, n in view.discards.items()] or ["none"]
    return [f"  {'artifact deck':{_NAME}} {view.deck_size} cards", *_wrapped(f"  {'discards':{_NAME}} ", discards)]


def _always() -> Iterator[str]:
    """What holds in every position: the commodity areas, the knowledge check, retrieving."""
    for k, (sums, gain) in enumerate(area_gains("commodity")):
        yield f"  {'areas, by the sum of all faces' if k == 0 else '':{_NAME}} {sums}: {gain}"
    yield f"  {'retrieving':{_NAME}} {RETRIEVING}"
    yield from _wrapped(f"  {'knowledge check':{_NAME}} ", [CHECK])


def _move(move: Move) -> list[str]:
    """A move with what it costs and gives, and what may go wrong."""
    return _wrapped(f"  {move.notation:{_NAME}} ", filter(None, [move.told, move.risk and f"! {move.risk}"]), "  ")
