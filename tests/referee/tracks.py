"""R5.1, R13.1, R13.10: the knowledge and morale markers, prices paid with them, and a choice of one gain."""

from __future__ import annotations

from collections.abc import Iterable

from .asking import Flow, gain_choice, use
from .state import Player, Table
from .tables import MAX_TRACK


def gain_knowledge(table: Table, player: Player, points: int) -> None:
    for _ in range(points):
        if player.knowledge < MAX_TRACK:  # the marker stops at the end of the track
            player.knowledge += 1
            if table.has(player, "nick_the_understudy"):  # each K you gain or pay: gain 1 M
                gain_morale(table, player, 1)


def lose_knowledge(table: Table, player: Player, points: int) -> None:
    for _ in range(points):
        if player.knowledge > 1:
            player.knowledge -= 1


def gain_morale(table: Table, player: Player, points: int) -> None:
    for _ in range(points):
        if player.morale < MAX_TRACK:
            player.morale += 1


def lose_morale(table: Table, player: Player, points: int) -> None:
    for _ in range(points):
        if player.morale > 1:
            player.morale -= 1
            if table.has(player, "curtis_the_propagandist"):  # each M you lose or pay: lose 1 K
                lose_knowledge(table, player, 1)


def can_pay(player: Player, *, morale: int = 0, knowledge: int = 0, good: str | None = None) -> bool:
    """A price needs room for the whole amount, looked at before it is paid (introduction, R13.10)."""
    return player.morale - morale >= 1 and player.knowledge + knowledge <= MAX_TRACK and (good is None or player.goods[good] >= 1)


def pay(table: Table, player: Player, *, morale: int = 0, knowledge: int = 0, good: str | None = None) -> None:
    """R13.10: in the order morale, knowledge (paying knowledge raises it), goods."""
    lose_morale(table, player, morale)
    gain_knowledge(table, player, knowledge)
    if good is not None:
        player.goods[good] -= 1


def pays_for(
    table: Table, player: Player, recruit: str, *, morale: int = 0, knowledge: int = 0, good: str | None = None
) -> Flow[bool]:
    """R13.1: asks about a "may" that has a price, if the player can pay it, and takes it. Returns whether it was paid."""
    if not can_pay(player, morale=morale, knowledge=knowledge, good=good) or not (yield from use(player.seat, recruit)):
        return False
    pay(table, player, morale=morale, knowledge=knowledge, good=good)
    return True


def gain_one(table: Table, player: Player, items: Iterable[str]) -> Flow[None]:
    """Gives the player one of these, as they choose: a good, 1 M ("morale"), or 1 K less ("knowledge")."""
    item = yield from gain_choice(player.seat, items)
    if item == "morale":
        gain_morale(table, player, 1)
    elif item == "knowledge":
        lose_knowledge(table, player, 1)
    else:
        player.gain(item)
