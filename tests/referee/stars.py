"""R1.5, R4.12, R12.5: placing stars, and what acts on placed stars: the Theater and Esme."""

from __future__ import annotations

from collections.abc import Sequence

from . import tracks
from .artifacts import discard
from .asking import Decision, Flow, combinations, series, use
from .state import Player, Table
from .tables import MARKETS, REGION, TERRITORY


def place_in_territory(table: Table, player: Player, faction: str) -> bool:
    """One star in the territory, if there is room (R2.4) and the player has one (R1.5). Returns whether it was placed."""
    if player.stars == 0 or not table.free_territory(faction):
        return False
    player.stars -= 1
    table.territories[TERRITORY[faction]].append(player.seat)
    return True


def place_on_market(table: Table, player: Player, market: str) -> bool:
    """One star on the market: one at most for each player (R10.3)."""
    if player.stars == 0:
        return False
    player.stars -= 1
    table.markets[market].stars.append(player.seat)
    return True


def place_by_choice(table: Table, player: Player, faction: str) -> Flow[bool]:
    """R10.1: on a free space of the region's territory, or on a built market of that region that lacks the player's star.

    If there is no place, no star is placed.
    """
    if player.stars == 0:
        return False
    options = {}
    for market in MARKETS:
        tile = table.markets[market]
        if REGION[market] == faction and tile.built and player.seat not in tile.stars:
            options[f"star {market}"] = market
    if table.free_territory(faction):
        options[f"star {TERRITORY[faction]}"] = TERRITORY[faction]
    if not options:
        return False
    place = yield Decision(player.seat, options)
    if place in table.markets:
        return place_on_market(table, player, place)
    return place_in_territory(table, player, faction)


def after_stars(table: Table, placed: Sequence[Player]) -> Flow[None]:
    """R4.12: all stars of one event have been placed; `placed` names the player of each. First the Theater acts, then
    Esme is asked; once for each star, players in turn order from the active one."""
    for player in table.turn_order():
        for _ in [star for star in placed if star is player]:
            # R12.5. The star on the Theater itself frees its owner, who gains nothing.
            if table.penalty(player, "theater_of_revelatory_propaganda"):
                tracks.gain_knowledge(table, player, 1)
    for player in table.turn_order():
        for _ in [star for star in placed if star is player]:
            if table.has(player, "esme_the_fireman") and player.hand >= 1:
                yield from esme(table, player)


def esme(table: Table, player: Player) -> Flow[None]:
    """May discard an artifact, gain 1 energy and either lose 1 K or gain 1 M; a book instead gives 2 energy, loses 2 K
    and gains 2 M."""
    if not (yield from use(player.seat, "esme_the_fireman")):
        return
    (artifact,) = yield from series(player.seat, "discard", combinations(player.artifacts, 1))
    discard(table, player, artifact)
    if artifact == "book":
        player.gain("energy", 2)
        tracks.lose_knowledge(table, player, 2)
        tracks.gain_morale(table, player, 2)
        return
    player.gain("energy")
    yield from tracks.gain_one(table, player, ("knowledge", "morale"))
