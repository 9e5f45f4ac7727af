"""A position with what led to it, and what follows of the observation from the turn so far, by the rules alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from euphoria_env.board import SPACES
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.decisions import DECISIONS, VERBS
from euphoria_env.event_kinds import KINDS
from tests.referee.tables import ARTIFACTS, FACTIONS, GOODS, TILES, TUNNELS

Position = dict[str, Any]
Happened = tuple[int, int, int, int]  # kind, player, a, b
Numbers = Sequence[int]

UNITS = (*GOODS, *ARTIFACTS, "knowledge")
GEEK, GAMBLER, ESME, CHASE, LAURA = (
    RECRUIT_NAMES.index(name)
    for name in ("geek_the_oracle", "jonathan_the_gambler", "esme_the_fireman", "chase_the_miner", "laura_the_philanthropist")
)


def counts(names: Iterable[str], of: dict[str, int]) -> list[int]:
    return [of.get(name, 0) for name in names]


@dataclass
class Situation:
    """A position, and what led to it.

    Attributes:
        d: the position.
        pending: what the state says of the turn under way; empty if there is none.
        opening: the last position in which a player was asked what to do in a turn; None in the setup.
        moves: those since then.
        events: those since then, what is hidden too.
    """

    d: Position
    pending: dict[str, Any]
    opening: Position | None = None
    moves: Sequence[str] = ()
    events: Sequence[Happened] = ()
    known: dict[Any, Numbers] = field(default_factory=dict)  # what all seats share

    def __post_init__(self) -> None:
        self.n = len(self.d["players"])
        ended = self.d["status"] in ("over", "truncated")
        self.asked = "nothing" if ended else DECISIONS[self.pending["ask"]] if self.pending else "open"
        self.playing = self.d["status"] == "playing"

    def seat(self, player: int, observer: int) -> int:
        """The seat of a player, counted from the observer in the order of play."""
        return (player - observer) % self.n

    def happened(self, *names: str) -> list[int]:
        """The numbers of the events of some kinds since the turn was opened."""
        return [k for k, event in enumerate(self.events) if KINDS[event[0]] in names]


def last_placed(s: Situation) -> Happened | None:
    placed = s.happened("placed")
    return s.events[placed[-1]] if placed else None


def space_of_placement(s: Situation) -> Numbers:
    placed = last_placed(s) if s.pending else None
    return [placed[2] + 1 if placed else 0]


def since_placed(s: Situation, *names: str) -> list[Happened]:
    """The events of some kinds in the placement under way."""
    placed = s.happened("placed")
    return [s.events[k] for k in s.happened(*names) if k > placed[-1]] if placed else []


def bumped(s: Situation) -> Happened | None:
    found = since_placed(s, "bumped") if s.pending else []
    return found[0] if found else None


def allegiance_before(s: Situation) -> Numbers:
    """R4.4: the tracks as they stood when the worker was placed."""
    placed = s.happened("placed")
    if not s.pending or not placed or s.opening is None:
        return [0] * len(FACTIONS)
    tracks = counts(FACTIONS, s.opening["allegiance"])
    for k in s.happened("allegiance"):
        if k < placed[-1]:
            tracks[s.events[k][2]] = s.events[k][3]
    return tracks


def paid(s: Situation) -> Numbers:
    """R4.3: paid; a slot with gold; a slot with an artifact; the ark with one artifact; food for bliss at a built market."""
    placed = s.happened("placed")
    if not s.pending or not placed:
        return [0] * 5
    space = SPACES[s.events[placed[-1]][2]]
    units = {UNITS[a]: b for _, _, a, b in since_placed(s, "paid")} if since_placed(s, "pays") else {}
    cards = sum(units.get(name, 0) for name in ARTIFACTS)
    slot, market = "_site_" in space, s.d["markets"].get(space)
    printed = sum("food" in unit for unit in TILES[market["tile"]]) if market else 0
    return [
        int(bool(since_placed(s, "pays", "gains"))),
        int(slot and "gold" in units),
        int(slot and cards > 0),
        int(space == "ark_of_fractured_memories" and (cards == 1 or _pays_one_card(s))),
        int(market is not None and units.get("food", 0) > printed),
    ]


def _pays_one_card(s: Situation) -> bool:
    """Whether somebody chooses the one artifact that they pay."""
    asked = s.asked == "series" and VERBS[s.pending["verb"]] == "pay" and s.pending["units_a"] == 1
    return asked and s.pending["set_a"] >> UNITS.index(ARTIFACTS[0]) > 0


def star_placed(s: Situation) -> Numbers:
    """The star that the space gives (R13.6); those of a construction come later (R9.3), those on recruits are others."""
    names = [KINDS[kind] for kind, *_ in since_placed(s, "star", "built")] if s.pending else []
    return [int(names[:1] == ["star"])]


def took_resource(s: Situation) -> Numbers:
    """R8.1: the first thing gained in a tunnel is its resource, if that was taken."""
    gains = since_placed(s, "gains") if s.pending else []
    if not gains or SPACES[gains[-1][2]] not in TUNNELS:
        return [0]
    after = s.events[s.happened("gains")[-1] + 1 :]
    names = [KINDS[kind] for kind, *_ in after if KINDS[kind] in ("gained", "drawn", "none_left", "ability")]
    return [int(names[:1] == ["gained"])]


def new_face(s: Situation) -> Numbers:
    """R6.3: the face that the new worker was rolled with."""
    gained = s.happened("worker_gained")
    if not s.pending or not gained or not since_placed(s, "worker_gained"):
        return [0]
    return [next((event[2] for event in s.events[gained[-1] :] if KINDS[event[0]] == "die"), 0)]


def further_left(s: Situation) -> Numbers:
    """R3.3: of c workers that showed the face when the turn was opened, c - 1 may follow the first; Chase's do not count."""
    placed = s.happened("placed")
    if not s.pending or not placed or s.opening is None:
        return [0]
    _, player, _, face = s.events[placed[0]]
    of_chase = [k for k in placed[1:] if s.events[k - 1][2] == CHASE and KINDS[s.events[k - 1][0]] == "reaction"]
    followed = len(placed) - 1 - len(of_chase)
    return [s.opening["players"][player]["workers"].count(face) - 1 - followed]


def draws_left(s: Situation) -> Numbers:
    """R4.11: Geek and the Gambler are asked before each card of a draw: two at the breeze bar and with Laura, otherwise one."""
    if s.asked != "use" or s.pending["card"] not in (GEEK, GAMBLER):
        return [0]
    number, drawn, replaced = 1, 0, False
    for kind, player, a, _ in s.events:
        name = KINDS[kind]
        if name == "ability" and a in (GEEK, GAMBLER):
            drawn, replaced = drawn + (player == s.pending["player"]), True
        elif name in ("gains", "ability", "dilemma", "placed", "pays", "roll"):
            pair = (name == "gains" and SPACES[a] == "breeze_bar") or (name == "ability" and a == LAURA)
            number, drawn, replaced = 2 if pair else 1, 0, False
        elif name == "resumed":
            replaced = False
        elif name == "drawn" and player == s.pending["player"] and not replaced:
            drawn += 1
    return [number - drawn]


def resolving(s: Situation) -> Numbers:
    """R14.1: what the dilemma was chosen for, until it is paid."""
    chosen = [move for move in s.moves if move.startswith("dilemma ")]
    if not s.pending or not chosen or s.happened("dilemma"):
        return [0]
    return [("dilemma star", "dilemma recruit").index(chosen[0]) + 1]


def bargains_left(s: Situation) -> Numbers:
    """R4.12: Esme is asked once for each star that the owner of the card placed in the event."""
    if not s.pending:
        return [0]
    placed = answered = 0
    owner, closed, bargaining = s.pending["player"], True, False
    for kind, player, a, _ in s.events:
        name = KINDS[kind]
        if name in ("star", "star_on_recruit", "star_on_dilemma"):
            if closed:
                placed = answered = 0
            placed, closed, bargaining = placed + (player == owner), False, False
        elif name in ("ability", "declined") and a == ESME:
            answered, closed, bargaining = answered + 1, True, name == "ability"
        elif name not in ("recruit_active", "revealed"):
            closed, bargaining = True, bargaining and name in ("gained", "discarded")
    if s.asked == "use" and s.pending["card"] == ESME:
        return [placed - answered - 1]
    return [placed - answered if bargaining and s.asked == "series" else 0]


def retrieval(s: Situation) -> bool:
    """Whether workers are being chosen to be retrieved, or are still on their way (R3.4)."""
    return bool(s.pending) and (s.asked == "take" or s.pending["num_taken"] > 0)


def taken(s: Situation) -> Numbers:
    number = s.pending["num_taken"] if retrieval(s) else 0
    return [s.pending["taken"][k] + 1 if k < number else 0 for k in range(4)]


def partner(s: Situation) -> int:
    """R15.1: the player to whom an offer is being made; -1 when there is none under way."""
    begun = [move for move in s.moves if move.startswith("trade ")] if s.asked in ("trade", "reply") else []
    return (s.d["active"] + int(begun[-1].removeprefix("trade +"))) % s.n if begun else -1
