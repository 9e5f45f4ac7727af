"""Chapter 15: trading."""

from __future__ import annotations

from collections import Counter

from .artifacts import hand_limits
from .asking import Decision, Flow
from .state import Player, Table
from .tables import ARTIFACTS, GOODS

ITEMS = GOODS + ARTIFACTS
MOST = 3  # items from each side


def has_something(player: Player) -> bool:
    return player.hand > 0 or any(player.goods[good] for good in GOODS)


def moves(table: Table, player: Player) -> dict[str, tuple[str, int]]:
    """The moves `trade +k`. R15.1: offers are counted over the whole turn; R15.2: not with a player who has nothing, nor
    having nothing."""
    if not table.rules.trading or table.offers >= table.rules.trades_per_turn or not has_something(player):
        return {}
    n = len(table.players)
    return {f"trade +{k}": ("trade", k) for k in range(1, n) if has_something(table.players[(player.seat + k) % n])}


def may_give(player: Player, given: list[str]) -> list[str]:
    """The items that may be offered next: R18.2, in the fixed order."""
    if len(given) == MOST:
        return []
    start = ITEMS.index(given[-1]) if given else 0
    held = player.goods + player.artifacts
    return [item for item in ITEMS[start:] if given.count(item) < held[item]]


def may_ask(partner: Player, asked: list[str]) -> list[str]:
    """The items that may be asked for next: goods must exist, artifacts up to the partner's number of cards."""
    if len(asked) == MOST:
        return []
    start = ITEMS.index(asked[-1]) if asked else 0
    cards = sum(item in ARTIFACTS for item in asked)
    return [
        item for item in ITEMS[start:] if (cards < partner.hand if item in ARTIFACTS else asked.count(item) < partner.goods[item])
    ]


def trade(table: Table, player: Player, k: int) -> Flow[None]:
    """R15.1: one offer to the k-th player after oneself."""
    table.offers += 1
    partner = table.players[(player.seat + k) % len(table.players)]
    given: list[str] = []
    asked: list[str] = []
    while True:
        options = {}
        if not asked:
            options.update({f"give {item}": ("give", item) for item in may_give(player, given)})
        if given:
            options.update({f"ask {item}": ("ask", item) for item in may_ask(partner, asked)})
        if asked:
            options["offer"] = ("offer", "")
        what, item = yield Decision(player.seat, options)
        if what == "offer":
            break
        (given if what == "give" else asked).append(item)

    wanted = Counter(asked)
    held = partner.goods + partner.artifacts
    if any(held[item] < number for item, number in wanted.items()):
        return  # counts as refused without asking
    if not (yield Decision(partner.seat, {"accept": True, "refuse": False})):
        return
    exchange(player, given, partner, asked)
    yield from hand_limits(table)  # the active player's first


def exchange(player: Player, given: list[str], partner: Player, asked: list[str]) -> None:
    """R15.1: at once; both hand over their items before either takes the other's (it matters at the cap of R1.2)."""
    for giver, items in ((player, given), (partner, asked)):
        for item in items:
            (giver.goods if item in GOODS else giver.artifacts)[item] -= 1
    for taker, items in ((player, asked), (partner, given)):
        for item in items:
            if item in GOODS:
                taker.gain(item)
            else:
                taker.artifacts[item] += 1
