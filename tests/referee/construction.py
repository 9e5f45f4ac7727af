"""Chapter 9, R4.6: a site that now has enough workers is built."""

from __future__ import annotations

from . import stars, tracks
from .asking import Flow
from .state import Player, Table
from .tables import MARKET_OF_SITE, SLOTS, WORKERS_NEEDED


def build_if_complete(table: Table, space: str) -> Flow[list[tuple[Player, list[int]]]]:
    """R9.3. Returns the workers that went back to their owners and are still to be rolled: for each player, in the
    order in which their first worker left the site, their (old) faces."""
    if space not in SLOTS:
        return []
    site = SLOTS[space][0]
    slots = [slot for slot, (of_site, _) in SLOTS.items() if of_site == site]
    workers = [worker for slot in slots for worker in table.board[slot]]
    if len(workers) < WORKERS_NEEDED[len(table.players)]:
        return []

    market = table.markets[MARKET_OF_SITE[site]]
    market.built = True  # the tile is turned over, its space opens, the slots are closed from now on

    returned: dict[int, list[int]] = {}
    for slot in slots:
        for worker in table.board[slot]:
            returned.setdefault(worker.owner, []).append(worker.face)
            table.players[worker.owner].available.append(worker.face)  # R5.8: with its old face
        table.board[slot] = []

    helpers = [player for player in table.turn_order() if player.seat in returned]
    placed = [player for player in helpers if stars.place_on_market(table, player, MARKET_OF_SITE[site])]
    yield from stars.after_stars(table, placed)  # R4.12: before Ray

    for player in table.turn_order():
        if table.has(player, "ray_the_foreman"):  # gain 2 M if you helped, otherwise lose 2 K
            if player in helpers:
                tracks.gain_morale(table, player, 2)
            else:
                tracks.lose_knowledge(table, player, 2)
    return [(table.players[seat], faces) for seat, faces in returned.items()]
