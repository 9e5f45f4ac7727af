"""R4.5: the recruits of the placing player that trigger on the placement (chapter 13), also what a recruit gives for a
way of paying. Conditions are looked at when the recruit acts (R13.8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import allegiance, tracks
from .artifacts import discard, draw, draw_plain, hand_limits
from .asking import Flow, series, use
from .costs import printed_units
from .legality import workers_on_site
from .state import Table
from .tables import ARTIFACT_MARKETS, ARTIFACTS, MARKETS, RESOURCES, SLOTS, TUNNELS
from .tracks import gain_one, pays_for

if TYPE_CHECKING:
    from .placement import Placement


def act(table: Table, placement: Placement) -> Flow[None]:
    """R4.11: in the order in which they became active. R5.6: the hand limit as soon as each ability is complete.

    The function of an ability has the name of its recruit.
    """
    for name in table.abilities(placement.player):
        if name in globals() and table.has(placement.player, name):
            yield from globals()[name](table, placement)
            yield from hand_limits(table)


# --- conditions ------------------------------------------------------------------------------------------------------


def other_faces(table: Table, placement: Placement) -> list[int]:
    """R13.3: the other workers "there": in the whole commodity area, or in all four slots of the site."""
    if placement.space in SLOTS:
        there = workers_on_site(table, SLOTS[placement.space][0])
    else:
        there = table.board[placement.space]
    return [worker.face for worker in there if worker is not placement.worker]


def alone(table: Table, placement: Placement) -> bool:
    return not other_faces(table, placement)


def highest_or_alone(table: Table, placement: Placement) -> bool:
    """Sole possession: a tie fails (R13.3)."""
    return all(placement.face > face for face in other_faces(table, placement))


def lowest_or_alone(table: Table, placement: Placement) -> bool:
    return all(placement.face < face for face in other_faces(table, placement))


def star_on_a_market(placement: Placement) -> bool:
    """ "Placing on a market, after you place a star": built markets and the three artifact markets; R13.6."""
    return placement.star and placement.space in (*MARKETS, *ARTIFACT_MARKETS)


def no_resource(placement: Placement) -> bool:
    return all(placement.player.goods[resource] == 0 for resource in RESOURCES)


# --- commodity areas -------------------------------------------------------------------------------------------------


def gary_the_electrician(table: Table, placement: Placement) -> Flow[None]:
    """Placing on the generator with another worker there of the same face: gain 1 M or 1 energy."""
    if placement.space == "generator" and placement.face in other_faces(table, placement):
        yield from gain_one(table, placement.player, ("morale", "energy"))


def katy_the_dietician(table: Table, placement: Placement) -> Flow[None]:
    """Placing on the generator with no artifact in hand: gain 1 food."""
    if placement.space == "generator" and placement.player.hand == 0:
        placement.player.gain("food")
    yield from ()


def faith_the_hydroelectrician(table: Table, placement: Placement) -> Flow[None]:
    """Placing on the aquifer with no artifact in hand: gain 1 energy."""
    if placement.space == "aquifer" and placement.player.hand == 0:
        placement.player.gain("energy")
    yield from ()


def ian_the_horticulturist(table: Table, placement: Placement) -> Flow[None]:
    """Placing on the farm with no resource: gain 1 water."""
    if placement.space == "farm" and no_resource(placement):
        placement.player.gain("water")
    yield from ()


def josiah_the_hacker(table: Table, placement: Placement) -> Flow[None]:
    """Placing on the generator, farm or cloud mine: every other player with a worker there gains 1 K, you gain 1 M
    (even without other workers)."""
    if placement.space in ("generator", "farm", "cloud_mine"):
        for opponent in table.opponents(placement.player):
            if any(worker.owner == opponent.seat for worker in table.board[placement.space]):
                tracks.gain_knowledge(table, opponent, 1)
        tracks.gain_morale(table, placement.player, 1)
    yield from ()


def soulless_the_plumber(table: Table, placement: Placement) -> Flow[None]:
    """Placing on the aquifer, your worker lowest there or alone: gain 1 M or 1 water."""
    if placement.space == "aquifer" and lowest_or_alone(table, placement):
        yield from gain_one(table, placement.player, ("morale", "water"))


def sir_scarby_the_harvester(table: Table, placement: Placement) -> Flow[None]:
    """Placing on the farm, your worker highest there or alone: lose 1 K or gain 1 food."""
    if placement.space == "farm" and highest_or_alone(table, placement):
        yield from gain_one(table, placement.player, ("knowledge", "food"))


def sarinee_the_cloud_miner(table: Table, placement: Placement) -> Flow[None]:
    """Placing on the cloud mine, your worker alone there: lose 1 K or gain 1 bliss."""
    if placement.space == "cloud_mine" and alone(table, placement):
        yield from gain_one(table, placement.player, ("knowledge", "bliss"))


def kyle_the_scavenger(table: Table, placement: Placement) -> Flow[None]:
    """Placing on the generator, farm or aquifer, your worker alone there: may pay K+2, draw 1 artifact."""
    player = placement.player
    if placement.space in ("generator", "farm", "aquifer") and alone(table, placement):
        if (yield from pays_for(table, player, "kyle_the_scavenger", knowledge=2)):
            yield from draw(table, player)


def zong_the_astronomer(table: Table, placement: Placement) -> Flow[None]:
    """Placing on the cloud mine: may pay K+1, draw 1 artifact; then every opponent gains 1 bliss."""
    player = placement.player
    if placement.space == "cloud_mine" and (yield from pays_for(table, player, "zong_the_astronomer", knowledge=1)):
        yield from draw(table, player)
        for opponent in table.opponents(player):
            opponent.gain("bliss")


# --- tunnels ---------------------------------------------------------------------------------------------------------


def andrew_the_spelunker(table: Table, placement: Placement) -> Flow[None]:
    """Euphorian or Wastelander tunnel, you take its gold or clay and have no artifact in hand: draw 1 artifact."""
    if placement.space in ("euphorian_tunnel", "wastelander_tunnel"):
        if placement.took_resource and placement.player.hand == 0:
            yield from draw(table, placement.player)


def chase_the_miner(table: Table, placement: Placement) -> Flow[None]:
    """Placing on a tunnel: may sacrifice that worker, gain 2 of that tunnel's resource. Never the last one (R13.4)."""
    player = placement.player
    if placement.space in TUNNELS and table.workers_owned(player) > 1:
        if (yield from use(player.seat, "chase_the_miner")):
            table.return_to_supply(placement.space, placement.worker)
            player.gain(TUNNELS[placement.space][2], 2)


def professor_reitz_the_archaeologist(table: Table, placement: Placement) -> Flow[None]:
    """Placing on a tunnel without bumping: may pay K+2, draw 1 artifact and move its miner 1 more."""
    player = placement.player
    if placement.space in TUNNELS and placement.bumped is None:
        if (yield from pays_for(table, player, "professor_reitz_the_archaeologist", knowledge=2)):
            yield from draw(table, player)
            allegiance.advance_miner(table, TUNNELS[placement.space][0])


# --- construction sites ----------------------------------------------------------------------------------------------


def michael_the_engineer(table: Table, placement: Placement) -> Flow[None]:
    """Placing on a construction site: any resource may pay; if it was gold (also where gold is asked), gain 1 M
    and 1 K."""
    if placement.space in SLOTS and "gold" in placement.payment.items:
        tracks.gain_morale(table, placement.player, 1)
        tracks.gain_knowledge(table, placement.player, 1)
    yield from ()


def flartner_the_scammer(table: Table, placement: Placement) -> Flow[None]:
    """Placing on a construction site: an artifact may pay instead of the resource; if it did, gain 1 M."""
    if placement.space in SLOTS and any(item in ARTIFACTS for item in placement.payment.items):
        tracks.gain_morale(table, placement.player, 1)
    yield from ()


def dr_nakagawa_the_tribute(table: Table, placement: Placement) -> Flow[None]:
    """Placing on a construction site: may advance the Euphorian allegiance by 1 (before the market is built)."""
    if placement.space in SLOTS and (yield from use(placement.player.seat, "dr_nakagawa_the_tribute")):
        yield from allegiance.advance(table, "euphorian")


def jonathan_the_artist(table: Table, placement: Placement) -> Flow[None]:
    """Placing on a construction site, your worker highest there or alone: may pay K+1, draw 1 artifact."""
    player = placement.player
    if placement.space in SLOTS and highest_or_alone(table, placement):
        if (yield from pays_for(table, player, "jonathan_the_artist", knowledge=1)):
            yield from draw(table, player)


# --- markets ---------------------------------------------------------------------------------------------------------


def bradley_the_futurist(table: Table, placement: Placement) -> Flow[None]:
    """After you place a star: may pay K+2, draw 2 artifacts and discard 1 of those two. Plain draws (R4.11); discards
    only if both came (R5.7)."""
    player = placement.player
    if star_on_a_market(placement) and (yield from pays_for(table, player, "bradley_the_futurist", knowledge=2)):
        first = yield from draw_plain(table, player)
        second = yield from draw_plain(table, player)
        if first is not None and second is not None:
            (artifact,) = yield from series(player.seat, "discard", {(first,), (second,)})
            discard(table, player, artifact)


def brett_the_lockpicker(table: Table, placement: Placement) -> Flow[None]:
    """After you place a star: may pay K+1, gain 1 resource."""
    player = placement.player
    if star_on_a_market(placement) and (yield from pays_for(table, player, "brett_the_lockpicker", knowledge=1)):
        yield from gain_one(table, player, RESOURCES)


def flavio_the_merchant(table: Table, placement: Placement) -> Flow[None]:
    """After you place a star: may pay K+1, draw 1 artifact."""
    player = placement.player
    if star_on_a_market(placement) and (yield from pays_for(table, player, "flavio_the_merchant", knowledge=1)):
        yield from draw(table, player)


def brian_the_viticulturist(table: Table, placement: Placement) -> Flow[None]:
    """If at least one food paid for bliss on a built market, gain 1 K and advance the Wastelander allegiance by 1, once
    per placement."""
    if placement.space in MARKETS:
        asked = sum("food" in unit for unit in printed_units(table, placement.space))
        if placement.payment.items.count("food") > asked:
            tracks.gain_knowledge(table, placement.player, 1)
            yield from allegiance.advance(table, "wastelander")


def jacko_the_archivist(table: Table, placement: Placement) -> Flow[None]:
    """Ark: if 1 artifact was paid instead of 3 or a pair, every opponent draws 1; in turn order (R4.11)."""
    if placement.payment.way == "one":
        for opponent in table.opponents(placement.player):
            yield from draw(table, opponent)
