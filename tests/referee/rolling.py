"""R5.2 to R5.4, R12.2: rolling workers; the recruits Ben and Steven. Also Pete and Sheppard on a new worker."""

from __future__ import annotations

from .artifacts import draw, hand_limits
from .asking import Chance, Flow, combinations, series
from .state import Player, Table
from .tables import FACES, GOODS, RESOURCES, ROLL_PENALTIES
from .tracks import gain_one, pays_for


def roll_die() -> Flow[int]:
    face: int = yield Chance("dice", FACES)
    return face


def roll_batch(table: Table, player: Player, dice: int, set_faces: tuple[int, ...] = ()) -> Flow[list[int]]:
    """R5.2: these workers are rolled together as one batch (the caller has taken them from where they were).

    A face that is set counts as rolled (R4.2). Returns the faces of the batch.
    """
    batch = list(set_faces)
    for _ in range(dice):
        batch.append((yield from roll_die()))
    player.available += batch
    lost = knowledge_check(table, player)  # (a)
    yield from roll_penalties(table, player, batch)  # (b)
    for other in table.opponents(player):  # (c)
        if table.has(other, "ben_the_ludologist"):
            yield from ben(table, other, player)
    if lost and table.has(player, "steven_the_scholar"):  # (d)
        yield from steven(table, player)
    return batch


def knowledge_check(table: Table, player: Player) -> bool:
    """R5.3: at 16 or more the player loses one available worker with the highest face, at most one per turn."""
    if player.lost_worker or player.knowledge + sum(player.available) < 16:
        return False
    player.available.remove(max(player.available))
    player.lost_worker = True
    return True


def roll_penalties(table: Table, player: Player, batch: list[int]) -> Flow[None]:
    """R12.2, R5.4: every die of the batch counts, a lost one too; all losses are one series."""
    number = sum(table.penalty(player, ROLL_PENALTIES[face]) for face in batch)
    held = {good: player.goods[good] for good in GOODS}
    number = min(number, sum(held.values()))
    for good in (yield from series(player.seat, "lose", combinations(held, number))):
        player.goods[good] -= 1


def ben(table: Table, player: Player, roller: Player) -> Flow[None]:
    """After another player's roll at least two of their available workers show the same face: may pay 2 M, gain 1
    resource. Once per batch."""
    pair = len(set(roller.available)) < len(roller.available)
    if pair and (yield from pays_for(table, player, "ben_the_ludologist", morale=2)):
        yield from gain_one(table, player, RESOURCES)
        yield from hand_limits(table)


def steven(table: Table, player: Player) -> Flow[None]:
    """You lose a worker to the knowledge check: gain 1 resource and draw 1 artifact."""
    yield from gain_one(table, player, RESOURCES)
    yield from draw(table, player)
    yield from hand_limits(table)


def new_worker(table: Table, player: Player) -> Flow[int]:
    """R4.8: the worker from the tank is rolled; after its R5.2 Pete and Sheppard are asked, also if it was lost.

    Returns its face.
    """
    (face,) = yield from roll_batch(table, player, 1)
    prices = {"pete_the_cannibal": {"knowledge": 2}, "dr_sheppard_the_lobotomist": {"morale": 2}}  # to draw 1 artifact
    for name in table.abilities(player):
        if name in prices and table.has(player, name) and (yield from pays_for(table, player, name, **prices[name])):
            yield from draw(table, player)
            yield from hand_limits(table)
    return face
