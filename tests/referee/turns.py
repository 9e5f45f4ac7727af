"""Chapter 3 and R4.10: the turns."""

from __future__ import annotations

from typing import Any

from . import dilemma, ending, retrieving, trading
from .asking import Decision, Flow
from .legality import placements
from .placement import place
from .state import GameEnds, Player, Table


def play_on(table: Table) -> Flow[None]:
    """From the start of a turn (of `table.active_player`) to the end of the game."""
    try:
        while True:
            yield from take_turn(table, table.players[table.active_player])
            if table.rules.max_turns is not None and table.turn >= table.rules.max_turns:
                ending.cut_off(table)  # R16.4
                return
            begin_turn(table, (table.active_player + 1) % len(table.players))  # R2.6: clockwise
    except GameEnds:
        yield from ending.finish(table)


def begin_turn(table: Table, seat: int) -> None:
    table.active_player = seat
    table.turn += 1
    table.offers = 0
    for player in table.players:
        player.lost_worker = False  # R5.3: per turn, whoever's turn it is
        player.used = set()  # R13.2


def take_turn(table: Table, player: Player) -> Flow[None]:
    """R3.1: exactly one of placing, retrieving, resolving the dilemma; before it, offers (R15.2)."""
    at_start = list(player.available)
    while True:
        options: dict[str, tuple[Any, ...]] = {}
        options.update(placements(table, player, player.available))
        options.update({f"retrieve {way}": ("retrieve", way) for way in retrieving.payments(table, player)})
        if dilemma.ways(player):
            options.update({f"dilemma {choice}": ("dilemma", choice) for choice in ("star", "recruit")})
        options.update(trading.moves(table, player))
        what, *details = yield Decision(player.seat, options, opening=True)
        if what == "trade":
            yield from trading.trade(table, player, *details)
        elif what == "retrieve":
            yield from retrieving.retrieve(table, player, *details)
            return
        elif what == "dilemma":
            yield from dilemma.resolve(table, player, *details)
            return
        else:
            face, space = details
            yield from place_workers(table, player, face, space, count=at_start.count(face))
            return


def place_workers(table: Table, player: Player, face: int, space: str, *, count: int) -> Flow[None]:
    """R3.3: the first worker, then up to count - 1 further ones of that face. R4.10: Chase's new worker first."""
    chase = yield from place(table, player, face, space, further=False)
    placed = 0  # further ones
    while True:
        if chase is not None:
            new_face, chase = chase, None
            if may_place_chases(table, player, new_face):
                chases_space = yield from choose_space(table, player, new_face, further=False)
                if chases_space is not None:
                    chase = yield from place(table, player, new_face, chases_space, further=False)
                    continue  # R4.10 again, after this placement
        if placed >= count - 1 or face not in player.available or fountain(table, player):
            return
        next_space = yield from choose_space(table, player, face, further=True)
        if next_space is None:
            return
        placed += 1
        chase = yield from place(table, player, face, next_space, further=True)


def choose_space(table: Table, player: Player, face: int, *, further: bool) -> Flow[str | None]:
    """The space of a further worker, or of Chase's (not `further`: R17.4 costs it nothing); None: nowhere.

    R15.2: offers may be made here too. After one the decision is asked again: the possible payments may have changed.
    """
    while True:
        options: dict[str, tuple[Any, ...]] = dict(placements(table, player, [face], further=further))
        options["end"] = ("end",)
        options.update(trading.moves(table, player))
        what, *details = yield Decision(player.seat, options)
        if what == "end":
            return None
        if what == "place":
            space: str = details[1]
            return space
        yield from trading.trade(table, player, *details)


def may_place_chases(table: Table, player: Player, face: int) -> bool:
    """Chase: gaining a worker, after its roll, if an available worker shows its face, you may place one of that face at
    once; this neither uses up nor gives placements of R3.3."""
    return face in player.available and table.has(player, "chase_the_miner") and not fountain(table, player)


def fountain(table: Table, player: Player) -> bool:
    """R12.6: at most one worker placed per turn; looked up whenever a further worker would be placed."""
    return table.penalty(player, "fountain_of_wishful_thinking")
