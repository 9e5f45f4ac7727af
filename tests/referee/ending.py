"""Chapter 16: the end of the game."""

from __future__ import annotations

from .asking import Chance, Flow
from .rolling import roll_die
from .state import GameEnds, Player, Table
from .tables import STARS


def check(table: Table) -> None:
    """R16.1, R17.5: as soon as some player has placed the 10th star (`stars_to_win`) the game ends at once."""
    if any(STARS - player.stars >= table.rules.stars_to_win for player in table.players):
        raise GameEnds


def standing(table: Table, player: Player) -> tuple[int, ...]:
    """R16.2, R16.3: the criteria in order, each so that more is better."""
    return (
        -player.stars,  # most stars placed
        player.morale,
        -player.knowledge,
        sum(player.seat in market.stars for market in table.markets.values()),
        sum(player.seat in territory for territory in table.territories.values()),
    )


def finish(table: Table) -> Flow[None]:
    """R16.2: finds the winner and ranks everybody. R17.5: of those past the mark the ones with most stars come first; who
    is best has passed it."""
    best = max(standing(table, player) for player in table.players)
    tied = [player for player in table.players if standing(table, player) == best]
    while len(tied) > 1:
        sums: list[int] = []
        for player in tied:  # seat order; plain rolls, the workers keep the faces
            for worker in range(len(player.available)):
                player.available[worker] = yield from roll_die()
            sums.append(sum(player.available))
        lowest = min(sums)
        tied = [player for player, total in zip(tied, sums, strict=True) if total == lowest]
        if lowest == 0 and len(tied) > 1:
            lot: int = yield Chance("lots", [player.seat for player in tied])
            tied = [table.players[lot]]
    table.over = True
    table.winner = tied[0].seat
    table.ranking = rank(table, tied[0])


def cut_off(table: Table) -> None:
    """R16.4: truncated, not over, without a winner; R16.3 ranks all."""
    table.truncated = True
    table.ranking = rank(table, None)


def rank(table: Table, winner: Player | None) -> list[int]:
    """R16.3: a rank is 1 plus the number of players who are better. The winner is better than everybody."""
    marks = [(player is winner, *standing(table, player)) for player in table.players]
    return [1 + sum(other > mark for other in marks) for mark in marks]
