"""R4.4: what each space gives (chapters 6, 8, 10, 11). The star first, then goods, cards and markers in the printed
order, the allegiance marker last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import allegiance, stars, tracks
from .artifacts import draw
from .asking import Flow, combinations, gain_choice, series
from .state import Table
from .tables import AREAS, ARTIFACT_MARKETS, MARKETS, MAX_WORKERS, REGION, RESOURCES, SLOTS, TANK, TUNNEL_ENDS, TUNNELS

if TYPE_CHECKING:
    from .placement import Placement


def gain(table: Table, placement: Placement) -> Flow[None]:
    space = placement.space
    if space in AREAS:
        yield from commodity_area(table, placement)
    elif space in TUNNELS:
        yield from tunnel(table, placement)
    elif space in TUNNEL_ENDS:
        placement.player.gain(TUNNEL_ENDS[space][1], 3)  # R8.2
    elif space in TANK:
        tank(table, placement)
    elif space in SLOTS:
        pass  # a construction site gives nothing itself (R9.1)
    elif space in MARKETS:
        yield from built_market(table, placement)
    elif space in ARTIFACT_MARKETS:
        yield from artifact_market(table, placement)
    else:
        yield from icarus(table, placement)


def commodity_area(table: Table, placement: Placement) -> Flow[None]:
    """R6.1, R7.2."""
    player = placement.player
    faction, commodity = AREAS[placement.space]
    total = sum(worker.face for worker in table.board[placement.space])
    extra = 1 if allegiance.bonus(table, player, faction, 1, placement.before) else 0
    if total <= 4:
        player.gain(commodity, 1 + extra)
        yield from allegiance.advance(table, faction)
    elif total <= 8:
        player.gain(commodity, 1 + extra)
        tracks.lose_knowledge(table, player, 1)
    else:
        player.gain(commodity, 2 + extra)
        tracks.gain_knowledge(table, player, 1)


def tunnel(table: Table, placement: Placement) -> Flow[None]:
    """R8.1: each use moves the miner before the gain. R7.3: the resource and the artifact, in this order."""
    player = placement.player
    faction, _, resource = TUNNELS[placement.space]
    allegiance.advance_miner(table, faction)
    if allegiance.bonus(table, player, faction, 2, placement.before):
        resource_too = artifact_too = True
    else:
        choice = yield from gain_choice(player.seat, (resource, "artifact"))
        resource_too, artifact_too = choice == resource, choice == "artifact"
    if resource_too:
        player.gain(resource)
        placement.took_resource = True
    if artifact_too:
        yield from draw(table, player)


def tank(table: Table, placement: Placement) -> None:
    """R6.3. The marker moves before the new worker is rolled (R4.8)."""
    player = placement.player
    owned = table.workers_owned(player)
    laboratory = table.penalty(player, "laboratory_of_selective_genetics")  # R12.7
    placement.new_worker = owned < MAX_WORKERS and not (laboratory and owned in (2, 3))
    if placement.space == "tank_energy":
        tracks.lose_knowledge(table, player, 2)
    else:
        tracks.gain_morale(table, player, 2)


def built_market(table: Table, placement: Placement) -> Flow[None]:
    """R10.2: the star goes to the territory, never on the market."""
    faction = REGION[placement.space]
    assert faction is not None
    placement.star = stars.place_in_territory(table, placement.player, faction)
    if placement.star:
        yield from stars.after_stars(table, [placement.player])
    yield from allegiance.advance(table, faction)


def artifact_market(table: Table, placement: Placement) -> Flow[None]:
    """R10.1."""
    faction = REGION[placement.space]
    assert faction is not None
    placement.star = yield from stars.place_by_choice(table, placement.player, faction)
    if placement.star:
        yield from stars.after_stars(table, [placement.player])
    yield from allegiance.advance(table, faction)


def icarus(table: Table, placement: Placement) -> Flow[None]:
    """R11.1. Each space advances the Icarite track by 1."""
    player = placement.player
    if placement.space in ("wind_salon", "nimbus_loft"):
        placement.star = stars.place_in_territory(table, player, "icarite")
        if placement.star:
            yield from stars.after_stars(table, [player])
            if allegiance.bonus(table, player, "icarite", 2, placement.before):  # R7.3
                yield from draw(table, player)
    elif placement.space == "breeze_bar":
        yield from draw(table, player, 2)
    elif placement.space == "sky_lounge":
        mix = combinations(dict.fromkeys(RESOURCES, 2), 2)
        for resource in (yield from series(player.seat, "gain", mix)):
            player.gain(resource)
    yield from allegiance.advance(table, "icarite")
