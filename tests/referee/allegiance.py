"""Chapter 7: the allegiance tracks, and recruits that are revealed. Also the miners of R8.1, which reveal them too."""

from __future__ import annotations

from .asking import Flow
from .stars import after_stars
from .state import Player, Recruit, Table
from .tables import MAX_ALLEGIANCE, MAX_MINER


def advance(table: Table, faction: str) -> Flow[None]:
    """R7.1: one step. R7.4 (step 8) takes effect as R4.9 says: see `reveal`."""
    if table.allegiance[faction] == MAX_ALLEGIANCE:
        return
    table.allegiance[faction] += 1
    if table.allegiance[faction] == MAX_ALLEGIANCE:
        yield from stars_on_recruits(table, faction)


def stars_on_recruits(table: Table, faction: str) -> Flow[None]:
    """R7.6: every player at once places 1 star on each of their active recruits of that faction."""
    placed = []
    for player in table.turn_order():
        for recruit in player.active:
            if recruit.faction == faction and star_on_recruit(player, recruit):
                placed.append(player)
    yield from after_stars(table, placed)


def star_on_recruit(player: Player, recruit: Recruit) -> bool:
    if recruit.star or player.stars == 0:  # one per recruit, ever; as far as there are stars
        return False
    recruit.star = True
    player.stars -= 1
    return True


def advance_miner(table: Table, faction: str) -> None:
    """R8.1: one step, to 9 at most. R7.5 (step 6) takes effect as R4.9 says."""
    table.miners[faction] = min(MAX_MINER, table.miners[faction] + 1)


def reveal(table: Table) -> Flow[None]:
    """R4.9, R7.4, R7.5: hidden recruits of revealed factions become active. Together: in the order in which the player
    got them (R4.11). Where the track is already at 11 the recruit gets its star at once."""
    placed = []
    for player in table.turn_order():
        for recruit in list(player.hidden):
            if table.revealed(recruit.faction):
                player.hidden.remove(recruit)
                player.active.append(recruit)
                if table.allegiance[recruit.faction] == MAX_ALLEGIANCE and star_on_recruit(player, recruit):
                    placed.append(player)
    yield from after_stars(table, placed)


def bonus(table: Table, player: Player, faction: str, tier: int, before: dict[str, int]) -> bool:
    """R7.2 (tier 1, at 2) and R7.3 (tier 2, at 5): whether the player has the bonus. It uses the position of the marker from
    before this placement (R4.4). R12.4 switches it off."""
    return (
        before[faction] >= {1: 2, 2: 5}[tier]
        and table.faction_active(player, faction)
        and not table.penalty(player, "registry_of_personal_secrets")
    )
