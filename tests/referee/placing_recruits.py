"""R4.5: the recruits of the placing player that trigger on the placement (chapter 13), also what a recruit gives for a
way of paying. Conditions are looked at when the recruit acts (R13.8)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from . import allegiance, tracks
from .artifacts import discard, draw, draw_plain, hand_limits
from .asking import Flow, gain_choice, series, use
from .costs import printed_units
from .legality import workers_on_site
from .state import Table
from .tables import ARTIFACT_MARKETS, ARTIFACTS, MARKETS, RESOURCES, SLOTS, TUNNELS

if TYPE_CHECKING:
    from .placement import Placement


def act(table: Table, placement: Placement) -> Flow[None]:
    """R4.11: in the order in which they became active. R5.6: the hand limit as soon as each ability is complete."""
    for name in table.abilities(placement.player):
        if name in ABILITIES and table.has(placement.player, name):
            yield from ABILITIES[name](table, placement)
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


def gary(table: Table, placement: Placement) -> Flow[None]:
    """Placing on the generator with another worker there of the same face: gain 1 M or 1 energy."""
    if placement.space == "generator" and placement.face in other_faces(table, placement):
        if (yield from gain_choice(placement.player.seat, ("morale", "energy"))) == "morale":
            tracks.gain_morale(table, placement.player, 1)
        else:
            placement.player.gain("energy")


def katy(table: Table, placement: Placement) -> Flow[None]:
    """Placing on the generator with no artifact in hand: gain 1 food."""
    if placement.space == "generator" and placement.player.hand == 0:
        placement.player.gain("food")
    yield from ()


def faith(table: Table, placement: Placement) -> Flow[None]:
    """Placing on the aquifer with no artifact in hand: gain 1 energy."""
    if placement.space == "aquifer" and placement.player.hand == 0:
        placement.player.gain("energy")
    yield from ()


def ian(table: Table, placement: Placement) -> Flow[None]:
    """Placing on the farm with no resource: gain 1 water."""
    if placement.space == "farm" and no_resource(placement):
        placement.player.gain("water")
    yield from ()


def josiah(table: Table, placement: Placement) -> Flow[None]:
    """Placing on the generator, farm or cloud mine: every other player with a worker there gains 1 K, you gain 1 M
    (even without other workers)."""
    if placement.space in ("generator", "farm", "cloud_mine"):
        for opponent in table.opponents(placement.player):
            if any(worker.owner == opponent.seat for worker in table.board[placement.space]):
                tracks.gain_knowledge(table, opponent, 1)
        tracks.gain_morale(table, placement.player, 1)
    yield from ()


def soulless(table: Table, placement: Placement) -> Flow[None]:
    """Placing on the aquifer, your worker lowest there or alone: gain 1 M or 1 water."""
    if placement.space == "aquifer" and lowest_or_alone(table, placement):
        if (yield from gain_choice(placement.player.seat, ("morale", "water"))) == "morale":
            tracks.gain_morale(table, placement.player, 1)
        else:
            placement.player.gain("water")


def scarby(table: Table, placement: Placement) -> Flow[None]:
    """Placing on the farm, your worker highest there or alone: lose 1 K or gain 1 food."""
    if placement.space == "farm" and highest_or_alone(table, placement):
        if (yield from gain_choice(placement.player.seat, ("knowledge", "food"))) == "knowledge":
            tracks.lose_knowledge(table, placement.player, 1)
        else:
            placement.player.gain("food")


def sarinee(table: Table, placement: Placement) -> Flow[None]:
    """Placing on the cloud mine, your worker alone there: lose 1 K or gain 1 bliss."""
    if placement.space == "cloud_mine" and alone(table, placement):
        if (yield from gain_choice(placement.player.seat, ("knowledge", "bliss"))) == "knowledge":
            tracks.lose_knowledge(table, placement.player, 1)
        else:
            placement.player.gain("bliss")


def kyle(table: Table, placement: Placement) -> Flow[None]:
    """Placing on the generator, farm or aquifer, your worker alone there: may pay K+2, draw 1 artifact."""
    player = placement.player
    if placement.space in ("generator", "farm", "aquifer") and alone(table, placement):
        if tracks.can_pay(player, knowledge=2) and (yield from use(player.seat, "kyle_the_scavenger")):
            tracks.pay(table, player, knowledge=2)
            yield from draw(table, player)


def zong(table: Table, placement: Placement) -> Flow[None]:
    """Placing on the cloud mine: may pay K+1, draw 1 artifact; then every opponent gains 1 bliss."""
    player = placement.player
    if placement.space == "cloud_mine" and tracks.can_pay(player, knowledge=1):
        if (yield from use(player.seat, "zong_the_astronomer")):
            tracks.pay(table, player, knowledge=1)
            yield from draw(table, player)
            for opponent in table.opponents(player):
                opponent.gain("bliss")


# --- tunnels ---------------------------------------------------------------------------------------------------------


def andrew(table: Table, placement: Placement) -> Flow[None]:
    """Euphorian or Wastelander tunnel, you take its gold or clay and have no artifact in hand: draw 1 artifact."""
    if placement.space in ("euphorian_tunnel", "wastelander_tunnel"):
        if placement.took_resource and placement.player.hand == 0:
            yield from draw(table, placement.player)


def chase(table: Table, placement: Placement) -> Flow[None]:
    """Placing on a tunnel: may sacrifice that worker, gain 2 of that tunnel's resource. Never the last one (R13.4)."""
    player = placement.player
    if placement.space in TUNNELS and table.workers_owned(player) > 1:
        if (yield from use(player.seat, "chase_the_miner")):
            table.return_to_supply(placement.space, placement.worker)
            player.gain(TUNNELS[placement.space][2], 2)


def reitz(table: Table, placement: Placement) -> Flow[None]:
    """Placing on a tunnel without bumping: may pay K+2, draw 1 artifact and move its miner 1 more."""
    player = placement.player
    if placement.space in TUNNELS and placement.bumped is None and tracks.can_pay(player, knowledge=2):
        if (yield from use(player.seat, "professor_reitz_the_archaeologist")):
            tracks.pay(table, player, knowledge=2)
            yield from draw(table, player)
            allegiance.advance_miner(table, TUNNELS[placement.space][0])


# --- construction sites ----------------------------------------------------------------------------------------------


def michael(table: Table, placement: Placement) -> Flow[None]:
    """Placing on a construction site: any resource may pay; if it was gold (also where gold is asked), gain 1 M
    and 1 K."""
    if placement.space in SLOTS and "gold" in placement.payment.items:
        tracks.gain_morale(table, placement.player, 1)
        tracks.gain_knowledge(table, placement.player, 1)
    yield from ()


def flartner(table: Table, placement: Placement) -> Flow[None]:
    """Placing on a construction site: an artifact may pay instead of the resource; if it did, gain 1 M."""
    if placement.space in SLOTS and any(item in ARTIFACTS for item in placement.payment.items):
        tracks.gain_morale(table, placement.player, 1)
    yield from ()


def nakagawa(table: Table, placement: Placement) -> Flow[None]:
    """Placing on a construction site: may advance the Euphorian allegiance by 1 (before the market is built)."""
    if placement.space in SLOTS and (yield from use(placement.player.seat, "dr_nakagawa_the_tribute")):
        yield from allegiance.advance(table, "euphorian")


def artist(table: Table, placement: Placement) -> Flow[None]:
    """Placing on a construction site, your worker highest there or alone: may pay K+1, draw 1 artifact."""
    player = placement.player
    if placement.space in SLOTS and highest_or_alone(table, placement) and tracks.can_pay(player, knowledge=1):
        if (yield from use(player.seat, "jonathan_the_artist")):
            tracks.pay(table, player, knowledge=1)
            yield from draw(table, player)


# --- markets ---------------------------------------------------------------------------------------------------------


def bradley(table: Table, placement: Placement) -> Flow[None]:
    """After you place a star: may pay K+2, draw 2 artifacts and discard 1 of those two. Plain draws (R4.11); discards
    only if both came (R5.7)."""
    player = placement.player
    if star_on_a_market(placement) and tracks.can_pay(player, knowledge=2):
        if (yield from use(player.seat, "bradley_the_futurist")):
            tracks.pay(table, player, knowledge=2)
            first = yield from draw_plain(table, player)
            second = yield from draw_plain(table, player)
            if first is not None and second is not None:
                (artifact,) = yield from series(player.seat, "discard", {(first,), (second,)})
                discard(table, player, artifact)


def brett(table: Table, placement: Placement) -> Flow[None]:
    """After you place a star: may pay K+1, gain 1 resource."""
    player = placement.player
    if star_on_a_market(placement) and tracks.can_pay(player, knowledge=1):
        if (yield from use(player.seat, "brett_the_lockpicker")):
            tracks.pay(table, player, knowledge=1)
            player.gain((yield from gain_choice(player.seat, RESOURCES)))


def flavio(table: Table, placement: Placement) -> Flow[None]:
    """After you place a star: may pay K+1, draw 1 artifact."""
    player = placement.player
    if star_on_a_market(placement) and tracks.can_pay(player, knowledge=1):
        if (yield from use(player.seat, "flavio_the_merchant")):
            tracks.pay(table, player, knowledge=1)
            yield from draw(table, player)


def brian(table: Table, placement: Placement) -> Flow[None]:
    """If at least one food paid for bliss on a built market, gain 1 K and advance the Wastelander allegiance by 1, once
    per placement."""
    if placement.space in MARKETS:
        asked = sum("food" in unit for unit in printed_units(table, placement.space))
        if placement.payment.items.count("food") > asked:
            tracks.gain_knowledge(table, placement.player, 1)
            yield from allegiance.advance(table, "wastelander")


def jacko(table: Table, placement: Placement) -> Flow[None]:
    """Ark: if 1 artifact was paid instead of 3 or a pair, every opponent draws 1; in turn order (R4.11)."""
    if placement.payment.way == "one":
        for opponent in table.opponents(placement.player):
            yield from draw(table, opponent)


ABILITIES: dict[str, Callable[[Table, Placement], Flow[None]]] = {
    "gary_the_electrician": gary,
    "katy_the_dietician": katy,
    "faith_the_hydroelectrician": faith,
    "ian_the_horticulturist": ian,
    "josiah_the_hacker": josiah,
    "soulless_the_plumber": soulless,
    "sir_scarby_the_harvester": scarby,
    "sarinee_the_cloud_miner": sarinee,
    "kyle_the_scavenger": kyle,
    "zong_the_astronomer": zong,
    "andrew_the_spelunker": andrew,
    "chase_the_miner": chase,
    "professor_reitz_the_archaeologist": reitz,
    "michael_the_engineer": michael,
    "flartner_the_scammer": flartner,
    "dr_nakagawa_the_tribute": nakagawa,
    "jonathan_the_artist": artist,
    "bradley_the_futurist": bradley,
    "brett_the_lockpicker": brett,
    "flavio_the_merchant": flavio,
    "brian_the_viticulturist": brian,
    "jacko_the_archivist": jacko,
}
