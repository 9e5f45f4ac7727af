"""The facts of a move: each says what happens to whom, why, and how much, in its continuations (`words.continuations`)."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import NamedTuple

from euphoria_env.decisions import Decision, Verb
from euphoria_env.event_kinds import KIND_ROWS, EventKind
from euphoria_env.events import causes

# Members of the enums as plain integers, which Python finds many times as fast.
K, D, V = (SimpleNamespace(**{member.name: int(member) for member in kinds}) for kinds in (EventKind, Decision, Verb))
# Kinds of fact besides those of events: a player chooses, may use a recruit, may place a further worker.
CHOICE, MAY_USE, MAY_PLACE = range(len(EventKind), len(EventKind) + 3)
# Changes of a player: the verb, and what changes; markers have their sign too.
CHANGES = {
    K.PAID: ("pay", "item"),
    K.LOST: ("lose", "item"),
    K.GAINED: ("gain", "item"),
    K.RECEIVED: ("get", "item"),
    K.GIVEN: ("give", "item"),
    K.DRAWN: ("draw", "artifact"),
    K.DISCARDED: ("discard", "item"),
    K.KNOWLEDGE_GAINED: ("gain", "knowledge +"),
    K.KNOWLEDGE_PAID: ("raise", "knowledge +"),
    K.KNOWLEDGE_LOST: ("lose", "knowledge -"),
    K.MORALE_GAINED: ("gain", "morale +"),
    K.MORALE_PAID: ("pay", "morale -"),
    K.MORALE_LOST: ("lose", "morale -"),
    K.ALLEGIANCE: ("advance", "allegiance +"),
    K.MINER: ("advance", "miner +"),
    K.STAR: ("place", "star"),
    K.STAR_ON_RECRUIT: ("place", "star"),
    K.STAR_ON_DILEMMA: ("place", "star"),
    K.WORKER_GAINED: ("gain", "worker"),
    K.SACRIFICED: ("sacrifice", "worker"),
}
_ROWS = list(KIND_ROWS.values())
# Facts that are told without what caused them.
_WITHOUT_CAUSE = {
    K.ABILITY, K.BUILT, K.BUMPED, K.CUT_OFF, K.FACE_SET, K.HAND_LIMIT, K.PENALTY, K.RECRUIT_ACTIVE, K.RECRUIT_DEALT,
    K.RETURNED, K.REVEALED, K.ROLL, K.STAYS, K.WON, K.WORKER_GAINED, K.WORKER_LOST,
}  # fmt: skip
# The results of a choice, which the terms of the choice tell.
_CHOSEN = {
    K.PAID, K.GAINED, K.LOST, K.DRAWN, K.DISCARDED, K.KNOWLEDGE_PAID, K.KNOWLEDGE_LOST, K.MORALE_GAINED, K.STAR,
}  # fmt: skip


class Cause(NamedTuple):
    """The event that causes others; its field `a` if that is a recruit, a tile or a faction. All -1: the move itself."""

    kind: int = -1
    player: int = -1
    a: int = -1


NO_CAUSE = Cause()


class Fact(NamedTuple):
    """A change for a player in some continuations of a move, with its cause.

    Attributes:
        kind: an `EventKind`, or `CHOICE`, `MAY_USE`, `MAY_PLACE`.
        a: the item, recruit, place or faction, if it has one.
        reaction: the recruit that adds this to another change (Nick, Curtis), or -1. Of `WON`: 1 if dice decide who wins.
        verb, text: what is chosen: "gain", "1 gold or 1 artifact".
        least, most: how much of it, in one continuation.
        lines: the number of continuations in which it happens.
        plain: the number of those in which nobody uses an optional ability.
    """

    kind: int
    player: int
    a: int = -1
    reaction: int = -1
    cause: Cause = NO_CAUSE
    verb: str = ""
    text: str = ""
    least: int = 0
    most: int = 0
    lines: int = 0
    plain: int = 0


class Consequences(NamedTuple):
    """The consequences of a move.

    Attributes:
        facts: in the order in which they happen first.
        lines: the number of continuations, those left out in which nothing is left to pay for the space (R4.3).
        plain: the number of those in which nobody uses an optional ability.
        chances: the lowest and the highest chance of each player to lose a worker to the knowledge check.
    """

    facts: list[Fact]
    lines: int
    plain: int
    chances: list[tuple[float, float]]


class Question(NamedTuple):
    """A decision in a continuation, which stands among its events.

    Attributes:
        kind: `CHOICE`, `MAY_USE`, `MAY_PLACE`, or -1: any other.
        units: the number of things that are chosen.
        for_space: whether they pay for a space, or for the dilemma.
    """

    kind: int
    player: int
    a: int = -1
    verb: str = ""
    text: str = ""
    units: int = 0
    for_space: bool = False


Path = list[Question | list[int]]  # events are lists: kind, player, a, b


class Continuation:
    """Collects what happens in one continuation, and why.

    Attributes:
        found: what happens, and how much of it.
        uses_ability: whether somebody uses an optional ability.
    """

    def __init__(self, asked: Question | None) -> None:
        self.found: Counter[Fact] = Counter()
        self.uses_ability = False
        self._previous: Question | list[int] | None = asked
        self._cause = self._interrupted = NO_CAUSE
        self._next = NO_CAUSE  # of the next event alone
        self._is_interrupted = False
        self._chooser, self._units = -1, 0  # who chooses, and how much has not yet happened of what is chosen

    def add(self, entry: Question | list[int]) -> None:
        """Adds the next event or question."""
        if isinstance(entry, Question):
            self._ask(entry)
        else:
            self._happen(*entry)
        self._previous = entry

    def _ask(self, asked: Question) -> None:
        if asked == self._previous or (asked.verb == "pay" and self._units > 0):  # the same choice goes on
            return
        self._chooser, self._units = asked.player, asked.units
        if asked.kind == CHOICE and asked.text:
            cause = Cause(K.PAYS, asked.player) if asked.for_space else self._cause
            self.found[Fact(CHOICE, asked.player, -1, -1, cause, asked.verb, asked.text)] += 1
        elif asked.kind in (MAY_USE, MAY_PLACE):
            self.found[Fact(asked.kind, asked.player, asked.a)] += 1

    def _happen(self, kind: int, player: int, a: int, b: int) -> None:
        scope, (of, amount) = causes(kind, a), _amount(kind, a, b)
        self.uses_ability |= kind == K.ABILITY and isinstance(self._previous, Question) and self._previous.kind == MAY_USE
        if self._units > 0 and player == self._chooser and kind in _CHOSEN and self._next.kind != K.REACTION:
            self._units -= amount
            return
        if scope and kind not in (K.PAYS, K.DILEMMA, K.REACTION):
            self._units = 0
        if kind in _WITHOUT_CAUSE:
            self.found[Fact(kind, player, of)] += amount
        elif kind in CHANGES and amount:
            reaction = self._next.a if self._next.kind == K.REACTION else -1
            cause = self._cause if reaction >= 0 or self._next is NO_CAUSE else self._next
            self.found[Fact(kind, player, of, reaction, cause)] += amount
        self._next = Cause(kind, player, a) if scope == "next" else NO_CAUSE
        if kind == K.RESUMED:
            self._cause, self._is_interrupted = self._interrupted, False
        elif scope in ("group", "interruption"):
            if scope == "interruption" and not self._is_interrupted:
                self._interrupted = self._cause
            self._is_interrupted = scope == "interruption"
            self._cause = Cause(kind, player, a if kind in (K.ABILITY, K.PENALTY) else -1)


def _amount(kind: int, a: int, b: int) -> tuple[int, int]:
    """Returns the item of an event, or -1 if its kind says it, and the amount."""
    row = _ROWS[kind]
    if row.b == "number":
        return a, b
    if row.a == "steps" or row.a.startswith("number"):
        return -1, a
    return -1 if row.secret or row.a in ("space", "face") else a, 1
