"""R4.2: bumping, and the recruits that trigger on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import allegiance, tracks
from .artifacts import draw, hand_limits
from .asking import Decision, Flow, series, use
from .rolling import roll_batch
from .state import Player, Table
from .tables import COMMODITIES, FACES, RESOURCES, TANK, TUNNELS
from .tracks import gain_one, pays_for

if TYPE_CHECKING:
    from .placement import Placement


def bump(table: Table, placement: Placement) -> Flow[None]:
    """The worker on the temporary space returns to its owner and is rolled at once (R5.2)."""
    assert placement.bumped is not None
    player = placement.player
    owner = table.players[placement.bumped.owner]
    old_face = placement.bumped.face
    owner.available.append(old_face)  # R5.8: available with its old face until it is rolled
    face = None
    if table.has(owner, "amanda_the_broker"):
        face = yield from amanda(table, owner)
    if placement.bumped_another and table.has(player, "julia_the_thought_inspector"):
        if (yield from julia(table, player)) and face is None:
            face = placement.face
    owner.available.remove(old_face)
    if face is None:
        yield from roll_batch(table, owner, 1)
    else:
        yield from roll_batch(table, owner, 0, (face,))
    if placement.bumped_another:
        yield from act(table, placement, owner)


def amanda(table: Table, owner: Player) -> Flow[int | None]:
    """Your worker is bumped, by anybody: may pay 1 bliss (Brian: or 1 food), set its face instead of rolling."""
    items = ["food", "bliss"] if table.has(owner, "brian_the_viticulturist") else ["bliss"]
    payable = {(item,) for item in items if tracks.can_pay(owner, good=item)}
    if not payable or not (yield from use(owner.seat, "amanda_the_broker")):
        return None
    (item,) = yield from series(owner.seat, "pay", payable)
    tracks.pay(table, owner, good=item)
    face: int = yield Decision(owner.seat, {f"set {face}": face for face in FACES})
    return face


def julia(table: Table, player: Player) -> Flow[bool]:
    """You bump another player's worker: may pay 1 M, gain 1 resource; the bumped worker takes the face of yours instead
    of being rolled (unless its owner has set it). Returns whether Julia was used."""
    if not (yield from pays_for(table, player, "julia_the_thought_inspector", morale=1)):
        return False
    yield from gain_one(table, player, RESOURCES)
    yield from hand_limits(table)  # R5.6: at once, before R4.2 goes on
    return True


def act(table: Table, placement: Placement, owner: Player) -> Flow[None]:
    """The bumper's other recruits that trigger on bumping another player's worker, when R5.2 is finished."""
    assert placement.bumped is not None
    player, space = placement.player, placement.space
    tunnel = TUNNELS.get(space)
    for name in table.abilities(player):
        if not table.has(player, name):
            continue

        if name == "laura_the_philanthropist":
            # from a tunnel or the tank: may give the other 1 gold, draw 2 artifacts
            if (tunnel or space in TANK) and (yield from pays_for(table, player, name, good="gold")):
                owner.gain("gold")
                yield from draw(table, player, 2)

        elif name == "major_dave_the_demolitionist":
            # from a tunnel: may pay K+1, gain 1 of that tunnel's resource and move its miner 1 more
            if tunnel and (yield from pays_for(table, player, name, knowledge=1)):
                player.gain(tunnel[2])
                allegiance.advance_miner(table, tunnel[0])

        elif name == "phil_the_spy":
            # a worker of an opponent without an active Subterran recruit: may pay K+1, draw 1 artifact
            if not table.faction_active(owner, "subterran") and (yield from pays_for(table, player, name, knowledge=1)):
                yield from draw(table, player)

        elif name == "xander_the_excavator":
            # a worker of higher face (before its roll) from a tunnel: may pay K+1, gain 1 of that tunnel's resource
            if tunnel and placement.bumped.face > placement.face and (yield from pays_for(table, player, name, knowledge=1)):
                player.gain(tunnel[2])

        elif name == "lee_the_gossip":
            # may pay 1 M, the other gains 1 K, you gain 1 commodity
            if (yield from pays_for(table, player, name, morale=1)):
                tracks.gain_knowledge(table, owner, 1)
                yield from gain_one(table, player, COMMODITIES)

        elif name == "maxime_the_ambassador":
            # may pay 2 M, the other gains 1 K, you draw 1 artifact
            if (yield from pays_for(table, player, name, morale=2)):
                tracks.gain_knowledge(table, owner, 1)
                yield from draw(table, player)

        elif name == "rebecca_the_peddler":
            # may pay 2 M, the other gains 1 K, you gain 1 resource
            if (yield from pays_for(table, player, name, morale=2)):
                tracks.gain_knowledge(table, owner, 1)
                yield from gain_one(table, player, RESOURCES)

        yield from hand_limits(table)  # R5.6: as soon as the ability is complete
