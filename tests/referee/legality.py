"""R4.1: where a worker may be placed; the penalties that forbid placing (chapter 12)."""

from __future__ import annotations

from .costs import cost_of, ways_to_pay
from .state import Player, Table, Worker
from .tables import AREAS, MARKET_OF_SITE, MARKETS, MAX_MINER, REGION, SLOTS, SPACES, TEMPORARY, TUNNEL_ENDS


def is_open(table: Table, player: Player, space: str) -> bool:
    """Whether the space is open, and open to the player, and not a single-use space that is taken."""
    if space in SLOTS:
        site = SLOTS[space][0]
        built = table.markets[MARKET_OF_SITE[site]].built
        return not built and not table.board[space]  # R9.3: the slots close for good; R1.6: one worker each
    if space in MARKETS:
        return table.markets[space].built
    if space in TUNNEL_ENDS:  # R8.2
        faction = TUNNEL_ENDS[space][0]
        return table.miners[faction] == MAX_MINER and (
            table.faction_active(player, faction) or table.has(player, "kaden_the_infiltrator")
        )
    return True


def is_forbidden(table: Table, player: Player, space: str) -> bool:
    """R12.1, R12.6: the market penalties that forbid placing."""
    there = table.board[space]
    own_there = any(worker.owner == player.seat for worker in there)
    if REGION[space] == "icarite" and table.penalty(player, "apothecary_of_productive_dreams"):
        return True  # may not place workers in Icarus, cloud mine included
    if space in AREAS and own_there and table.penalty(player, "arena_of_peaceful_conflict"):
        return True  # at most one of your workers in each commodity area
    if space in SLOTS and table.penalty(player, "lounge_of_opulent_frugality"):
        # may not place on a site where another player has a worker: all four slots
        site = SLOTS[space][0]
        if any(worker.owner != player.seat for worker in workers_on_site(table, site)):
            return True
    if space in MARKETS and table.penalty(player, "plaza_of_immortalized_humility"):
        if player.seat not in table.markets[space].stars:
            return True  # may not place on a built market without your star
    # may not bump your own workers
    return space in TEMPORARY and own_there and table.penalty(player, "spa_of_fleeting_pleasure")


def workers_on_site(table: Table, site: str) -> list[Worker]:
    return [worker for slot, (of_site, _) in SLOTS.items() if of_site == site for worker in table.board[slot]]


def bumps_another(table: Table, player: Player, space: str) -> bool:
    """Whether placing there bumps a worker of another player (R13.5)."""
    return space in TEMPORARY and any(worker.owner != player.seat for worker in table.board[space])


def may_place(table: Table, player: Player, space: str, *, further: bool) -> bool:
    """R4.1. A space whose gain would do nothing is still legal (R5.5)."""
    if not is_open(table, player, space) or is_forbidden(table, player, space):
        return False
    cost = cost_of(table, player, space, bumps_another=bumps_another(table, player, space), further=further)
    return bool(ways_to_pay(table, player, space, cost))


def placements(table: Table, player: Player, faces: list[int], *, further: bool = False) -> dict[str, tuple[str, int, str]]:
    """The moves `place f SPACE` for workers with these faces."""
    spaces = [space for space in SPACES if may_place(table, player, space, further=further)]
    return {f"place {face} {space}": ("place", face, space) for face in sorted(set(faces)) for space in spaces}
