"""Chapter 14: the ethical dilemma."""

from __future__ import annotations

from . import ending, stars
from .allegiance import star_on_recruit
from .asking import Chance, Decision, Flow, combinations, series
from .costs import pay_items
from .state import Player, Recruit, Table
from .tables import MAX_ALLEGIANCE


def ways(player: Player) -> dict[str, set[tuple[str, ...]]]:
    """R14.1: the artifact shown on the card, or any two artifacts. Once per game."""
    found: dict[str, set[tuple[str, ...]]] = {}
    if player.resolved is None:
        if player.dilemma is not None and player.artifacts[player.dilemma] >= 1:
            found["match"] = {(player.dilemma,)}
        if player.hand >= 2:
            found["two"] = combinations(player.artifacts, 2)
    return found


def resolve(table: Table, player: Player, choice: str) -> Flow[None]:
    payable = ways(player)
    way = yield Decision(player.seat, {f"pay {way}": way for way in payable})
    pay_items(table, player, (yield from series(player.seat, "pay", payable[way])))
    player.resolved = choice
    placed = []
    if choice == "star":
        if player.stars > 0:
            player.stars -= 1
            placed.append(player)
    else:
        recruit = yield from new_recruit(table, player)
        if recruit is not None and table.revealed(recruit.faction):
            player.active.append(recruit)
            if table.allegiance[recruit.faction] == MAX_ALLEGIANCE and star_on_recruit(player, recruit):
                placed.append(player)
        elif recruit is not None:
            player.hidden.append(recruit)
    yield from stars.after_stars(table, placed)
    ending.check(table)  # R16.1: at the end of a dilemma


def draw_recruit(table: Table) -> Flow[str]:
    """One recruit from the deck. A loaded one that is out of the game changes places with one of the deck."""
    name: str = yield Chance("recruits", tuple(table.recruit_deck), also=tuple(table.recruits_out))
    if name in table.recruits_out:
        del table.recruits_out[name]
        table.recruits_out[table.recruit_deck.pop()] = None
    else:
        table.recruit_deck.remove(name)
    return name


def new_recruit(table: Table, player: Player) -> Flow[Recruit | None]:
    """Draw 2 recruits (or as many as there are), keep 1, the other goes out of the game."""
    drawn: list[str] = []
    while table.recruit_deck and len(drawn) < 2:
        drawn.append((yield from draw_recruit(table)))
    if not drawn:
        return None
    kept = yield Decision(player.seat, {f"choose {name}": name for name in drawn})
    table.recruits_out.update({name: player.seat for name in drawn if name != kept})
    return Recruit(kept)
