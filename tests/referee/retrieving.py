"""R3.4, R3.5: retrieving workers; the recruits that act on it."""

from __future__ import annotations

from . import ending, tracks
from .artifacts import hand_limits
from .asking import Decision, Flow, use
from .rolling import roll_batch
from .state import Player, Table, Worker
from .tables import AREAS, FACES, REGION, RESOURCES, SPACES
from .tracks import gain_one, pays_for

Standing = tuple[str, Worker]  # a worker and the space on which it stands


def payments(table: Table, player: Player) -> list[str]:
    """The moves `retrieve X`: all ways to pay for a retrieval, if there is anything to retrieve."""
    if table.workers_on_board(player) == 0:
        return []
    ways = ["free"]
    ways += [good for good in ("food", "bliss") if player.goods[good] >= 1]
    # Retrieving: may pay 1 energy instead of food or bliss
    if player.goods["energy"] >= 1 and table.has(player, "jefferson_the_shock_artist"):
        ways.append("energy")
    return ways


def move_text(verb: str, space: str, worker: Worker) -> str:
    """At the four multi-use spaces always with the face, elsewhere never."""
    return f"{verb} {worker.face} {space}" if space in AREAS else f"{verb} {space}"


def choose_workers(table: Table, player: Player) -> Flow[list[Standing]]:
    """R18.2: a series in the order of the spaces, on one space by face, lowest first; `done` after the first."""
    mine = [(space, worker) for space, worker in table.workers() if worker.owner == player.seat]
    mine.sort(key=lambda standing: (SPACES.index(standing[0]), standing[1].face))
    taken: list[Standing] = []
    left = mine
    while left:
        options: dict[str, Standing | None] = {}
        for space, worker in left:
            options.setdefault(move_text("take", space, worker), (space, worker))  # equal workers: the first of them
        if taken:
            options["done"] = None
        answer = yield Decision(player.seat, options)
        if answer is None:
            break
        taken.append(answer)
        position = next(i for i, (_, worker) in enumerate(left) if worker is answer[1])
        left = left[position + 1 :]
    return taken


def retrieve(table: Table, player: Player, way: str) -> Flow[None]:
    retrieved = yield from choose_workers(table, player)

    if way != "free":  # once for all of them
        player.goods[way] -= 1

    if way == "free":
        tracks.lose_morale(table, player, 2 if table.penalty(player, "cafeteria_of_nameless_meat") else 1)
    elif way == "energy":  # Jefferson: then lose 1 K and gain 1 M (instead of 2 M)
        tracks.lose_knowledge(table, player, 1)
        tracks.gain_morale(table, player, 1)
    elif way == "bliss" and table.has(player, "gidget_the_hypnotist") and (yield from use(player.seat, "gidget_the_hypnotist")):
        tracks.lose_knowledge(table, player, 2)  # instead of gaining 2 M
    else:
        tracks.gain_morale(table, player, 2)
    yield from hand_limits(table)

    # Until the roll the workers stay on their spaces (R3.5). The region counts for sacrificed ones, too.
    regions = {REGION[space] for space, _ in retrieved}
    yield from sacrifices(table, player, retrieved)
    if retrieved:
        set_faces: tuple[int, ...] = ()
        if way == "free" and table.has(player, "yordy_the_demotivator"):
            set_faces = yield from yordy(table, player)
        for space, worker in retrieved:
            table.return_to_supply(space, worker)  # it leaves the board: to its owner, in the roll below
        yield from roll_batch(table, player, len(retrieved) - len(set_faces), set_faces)

    # Retrieving, all those workers stood in Subterra: gain 1 water or 1 stone, after the roll
    if regions == {"subterran"} and table.has(player, "maggie_the_outlaw"):
        yield from gain_one(table, player, ("water", "stone"))
    ending.check(table)  # R16.1: at the end of a retrieval


def sacrifices(table: Table, player: Player, retrieved: list[Standing]) -> Flow[None]:
    """Before the roll Pete and Sheppard, each once: may sacrifice one of those workers, gain 4 food / bliss and 1
    resource. Takes the worker out of `retrieved`."""
    for name in table.abilities(player):
        good = {"pete_the_cannibal": "food", "dr_sheppard_the_lobotomist": "bliss"}.get(name)
        if good is None or not table.has(player, name):
            continue
        if not retrieved or table.workers_owned(player) <= 1:  # R13.4: never one's last worker
            continue
        if not (yield from use(player.seat, name)):
            continue
        options: dict[str, Standing] = {}
        for standing in retrieved:
            options.setdefault(move_text("sacrifice", *standing), standing)
        chosen = yield Decision(player.seat, options)
        table.return_to_supply(*chosen)
        retrieved[:] = [standing for standing in retrieved if standing[1] is not chosen[1]]
        player.gain(good, 4)
        yield from gain_one(table, player, RESOURCES)


def yordy(table: Table, player: Player) -> Flow[tuple[int, ...]]:
    """Retrieving for free: may pay 1 energy, set the face of one of those workers."""
    if not (yield from pays_for(table, player, "yordy_the_demotivator", good="energy")):
        return ()
    face: int = yield Decision(player.seat, {f"set {face}": face for face in FACES})
    return (face,)
