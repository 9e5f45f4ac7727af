"""R5.1, R13.10: the knowledge and morale markers, and prices paid with them. Nothing here is ever asked."""

from __future__ import annotations

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
