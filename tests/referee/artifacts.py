"""R5.6 and R5.7: drawing and discarding artifacts, the hand limit; the recruits Geek and Jonathan the Gambler."""

from __future__ import annotations

from . import tracks
from .asking import Chance, Flow, combinations, series, use
from .state import Player, Table


def discard(table: Table, player: Player, artifact: str) -> None:
    """Paid, lost and discarded artifacts go to the discards (R5.7)."""
    player.artifacts[artifact] -= 1
    table.discards[artifact] += 1


def discard_series(table: Table, player: Player, number: int) -> Flow[None]:
    """The player discards that many cards, or as many as there are."""
    number = min(number, player.hand)
    for artifact in (yield from series(player.seat, "discard", combinations(player.artifacts, number))):
        discard(table, player, artifact)


def hand_limits(table: Table) -> Flow[None]:
    """R5.6: everybody whose hand is above their morale discards down to it, in turn order from the active player."""
    for player in table.turn_order():
        if player.hand > player.morale:
            yield from discard_series(table, player, player.hand - player.morale)


def draw_plain(table: Table, player: Player) -> Flow[str | None]:
    """R5.7: one card, which no recruit changes. None if deck and discards are empty."""
    if table.deck.total() == 0:
        table.deck, table.discards = table.discards, table.deck
    cards = list(table.deck.elements())
    if not cards:
        return None
    artifact: str = yield Chance("artifacts", cards)
    table.deck[artifact] -= 1
    player.artifacts[artifact] += 1
    return artifact


def draw(table: Table, player: Player, number: int = 1) -> Flow[None]:
    """R5.7: cards are drawn one at a time. R4.11: Geek and the Gambler are asked before each single card, in the order
    in which they became active; the first one used applies. Each of them is used once per turn (R13.2)."""
    for _ in range(number):
        instead = False
        for name in table.abilities(player):
            if instead or name in player.used or not table.has(player, name):
                continue
            if name == "geek_the_oracle" and tracks.can_pay(player, knowledge=1):
                instead = yield from use(player.seat, name)
                if instead:
                    player.used.add(name)
                    yield from geek(table, player)
            elif name == "jonathan_the_gambler":
                instead = yield from use(player.seat, name)
                if instead:
                    player.used.add(name)
                    yield from gambler(table, player)
        if not instead:
            yield from draw_plain(table, player)


def geek(table: Table, player: Player) -> Flow[None]:
    """Drawing an artifact: may pay K+1, draw 3 instead, then discard 2 from your hand."""
    tracks.pay(table, player, knowledge=1)
    for _ in range(3):
        yield from draw_plain(table, player)
    yield from discard_series(table, player, 2)  # R5.7: what is there of 2


def gambler(table: Table, player: Player) -> Flow[None]:
    """Drawing an artifact: may draw 2 instead; you then show your hand, and if it holds a pair every opponent draws 1
    (a plain draw: R4.11; in turn order from the active player)."""
    for _ in range(2):
        yield from draw_plain(table, player)
    if any(number >= 2 for number in player.artifacts.values()):
        for opponent in table.opponents(player):
            yield from draw_plain(table, opponent)
