"""Chapter 4: the resolution of one placement, R4.1 to R4.9 in this order (R4.10 is in `turns.py`)."""

from __future__ import annotations

from dataclasses import dataclass, field

from . import allegiance, artifacts, bumping, construction, costs, ending, gains, placing_recruits, rolling
from .asking import Flow
from .legality import bumps_another
from .state import Player, Table, Worker
from .tables import TEMPORARY


@dataclass
class Placement:
    """The facts that later steps of a placement need about earlier ones."""

    player: Player
    face: int
    space: str
    worker: Worker
    before: dict[str, int]  # the allegiance markers before this placement (R4.4)
    bumped: Worker | None = None  # with the face from before its roll
    bumped_another: bool = False  # R13.5: it was another player's
    payment: costs.Payment = field(default_factory=costs.Payment)
    star: bool = False  # the star that the space gives was placed (R13.6)
    took_resource: bool = False  # the resource of a tunnel was taken
    new_worker: bool = False  # a worker was gained in the tank


def place(table: Table, player: Player, face: int, space: str, *, further: bool) -> Flow[int | None]:
    """R4.1 was looked at when the move was offered. Returns the face of Chase's new worker, if there is one."""
    # R4.2
    worker = Worker(player.seat, face)
    placement = Placement(player, face, space, worker, before=dict(table.allegiance))
    placement.bumped_another = bumps_another(table, player, space)
    player.available.remove(face)
    if space in TEMPORARY and table.board[space]:
        (placement.bumped,) = table.board[space]
        table.board[space] = []
    table.board[space].append(worker)
    if placement.bumped is not None:
        yield from bumping.bump(table, placement)

    # R4.3
    cost = costs.cost_of(table, player, space, bumps_another=placement.bumped_another, further=further)
    ways = costs.ways_to_pay(table, player, space, cost)
    if ways:  # else the worker stays and R4.4 and R4.5 are skipped
        placement.payment = yield from costs.choose_payment(player, ways)
        costs.carry_out(table, player, cost, placement.payment)
        yield from artifacts.hand_limits(table)
        # R4.4
        yield from gains.gain(table, placement)
        yield from artifacts.hand_limits(table)
        # R4.5
        yield from placing_recruits.act(table, placement)

    # R4.6
    returned = yield from construction.build_if_complete(table, space)
    # R4.7
    ending.check(table)
    # R4.8
    yield from artifacts.hand_limits(table)
    for owner, faces in returned:
        for old_face in faces:
            owner.available.remove(old_face)
        yield from rolling.roll_batch(table, owner, len(faces))
    chase = None
    if placement.new_worker:
        rolled = yield from rolling.new_worker(table, player)
        if table.has(player, "chase_the_miner"):
            chase = rolled
    # R4.9, then the check of R16.1 "after recruits became active"
    yield from allegiance.reveal(table)
    ending.check(table)
    return chase
