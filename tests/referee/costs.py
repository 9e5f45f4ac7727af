"""R4.1, R4.3, R18.3: what a placement costs, how it can be paid, and paying it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from . import tracks
from .artifacts import discard
from .asking import Decision, Flow, combinations, in_order, series
from .state import Player, Table
from .tables import (
    ARTIFACT_MARKETS,
    ARTIFACTS,
    COMMODITIES,
    GOODS,
    MARKETS,
    MAX_TRACK,
    REGION,
    RESOURCES,
    SLOTS,
    TANK,
    TILES,
    TUNNEL_ENDS,
    TUNNELS,
    Units,
)


@dataclass(frozen=True)
class Cost:
    morale: int = 0
    knowledge: int = 0
    units: Units = ()  # for each unit the items that may pay it
    trio: bool = False  # "any 3 artifacts or a pair"


@dataclass(frozen=True)
class Payment:
    """A payment: the way (only at "3 artifacts or a pair") and the items."""

    way: str = ""
    items: tuple[str, ...] = ()


def printed_units(table: Table, space: str) -> Units:
    """The printed goods and artifacts of the cost, without any recruit."""
    if space in TUNNELS:
        return ((TUNNELS[space][1],),)  # R8.1
    if space in TANK:
        return ((TANK[space],),) * 3  # R6.3
    if space in SLOTS:
        return ((SLOTS[space][1],),)  # R9.1
    if space in MARKETS:
        tile = table.markets[space].tile
        assert tile is not None
        return TILES[tile]  # R10.2
    if space == "nimbus_loft":
        return (RESOURCES,) * 3  # R11.1
    if space in ("breeze_bar", "sky_lounge"):
        others = tuple(commodity for commodity in COMMODITIES if commodity != "bliss")
        return (("bliss",), others)
    return ()


def cost_of(table: Table, player: Player, space: str, *, bumps_another: bool, further: bool) -> Cost:
    """The cost with all alternatives that the player's recruits give (R13.1).

    `bumps_another`: the placement bumps a worker of another player; `further`: it is a further worker of R3.3.
    """
    morale = 0
    if further and table.rules.doubles_cost_morale:  # R17.4
        morale += 1
    brian = table.has(player, "brian_the_viticulturist")
    if brian and REGION[space] == "icarite":  # placing in Icarus, cloud mine included, also costs you 1 M
        morale += 1
    knowledge = 0
    if space in TUNNEL_ENDS and not table.faction_active(player, TUNNEL_ENDS[space][0]):
        knowledge = 2  # Kaden, or it is not open for the player (R8.2)
    units = []
    for unit in printed_units(table, space):
        items = set(unit)
        if space in TUNNELS and bumps_another and table.has(player, "matthew_the_thief"):
            items.add("knowledge")  # K+1 may pay for its cost
        if space in SLOTS and table.has(player, "michael_the_engineer"):
            items.update(RESOURCES)  # any resource may pay
        if space in SLOTS and table.has(player, "flartner_the_scammer"):
            items.update(ARTIFACTS)  # an artifact may pay instead of the resource
        asks_bliss = unit == ("bliss",)
        if space in MARKETS and set(unit) <= set(RESOURCES) and table.has(player, "josh_the_negotiator"):
            items.add("bliss")  # 1 bliss may pay for that resource
            asks_bliss = True
        if asks_bliss and brian:
            items.add("food")  # food may pay wherever a cost asks for bliss, also the bliss of Josh
        units.append(in_order(items))
    return Cost(morale, knowledge, tuple(units), trio=space in ARTIFACT_MARKETS or space == "wind_salon")


def ways_to_pay(table: Table, player: Player, space: str, cost: Cost) -> dict[str, set[tuple[str, ...]]]:
    """All payments possible now: way -> combinations. Empty if the player cannot pay. Room on the tracks is looked at
    before anything is paid (R13.10)."""
    if not tracks.can_pay(player, morale=cost.morale, knowledge=cost.knowledge):
        return {}
    ways: dict[str, set[tuple[str, ...]]] = {}
    if cost.trio:
        if not table.penalty(player, "courthouse_of_hasty_judgment"):  # R12.6
            for artifact in ARTIFACTS:
                if player.artifacts[artifact] >= 2:
                    ways[f"pair {artifact}"] = {(artifact, artifact)}
        if player.hand >= 3:
            ways["three"] = combinations(player.artifacts, 3)
        # may pay 1 artifact instead of 3 or a pair
        if space == "ark_of_fractured_memories" and player.hand >= 1 and table.has(player, "jacko_the_archivist"):
            ways["one"] = combinations(player.artifacts, 1)
        return ways
    room = MAX_TRACK - player.knowledge - cost.knowledge
    held = {**player.goods, **player.artifacts, "knowledge": room}
    payable = {in_order(items) for items in product(*cost.units)}
    payable = {items for items in payable if all(held.get(item, 0) >= items.count(item) for item in items)}
    return {"": payable} if payable else {}


def choose_payment(player: Player, ways: dict[str, set[tuple[str, ...]]]) -> Flow[Payment]:
    """R18.3: at "3 artifacts or a pair" the way is chosen first; then the units."""
    way = ""
    if "" not in ways:
        way = yield Decision(player.seat, {f"pay {way}": way for way in ways})
    items = yield from series(player.seat, "pay", ways[way])
    return Payment(way, items)


def carry_out(table: Table, player: Player, cost: Cost, payment: Payment) -> None:
    """R4.3, R13.10: all parts of a cost are paid together, in the order morale, knowledge, goods."""
    tracks.pay(table, player, morale=cost.morale, knowledge=cost.knowledge + payment.items.count("knowledge"))
    pay_items(table, player, payment.items)


def pay_items(table: Table, player: Player, items: tuple[str, ...]) -> None:
    for item in items:
        if item in GOODS:
            player.goods[item] -= 1
        elif item in ARTIFACTS:
            discard(table, player, item)
