"""The log: a row for each kind of event, and a line for each decision.

A line is made of clauses with "; " between them: who, what, and in brackets why. A clause without a subject has that of the
clause before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from euphoria_env import actions
from euphoria_env.board import GAINS, ITEMS, SPACES
from euphoria_env.event_kinds import KIND_ROWS, NAMES, EventKind
from euphoria_env.events import causes
from euphoria_env.phrases import Phrase, Text, arguments, listed, templates
from euphoria_env.words.names import because, called, capital, counted, named, site, space_name, star_place, totals

if TYPE_CHECKING:
    from euphoria_env.game import Game


class EventWords(NamedTuple):
    """The templates for a kind of event; those of items have the arguments `a`, `b`, and `n`, which is 1 for one item."""

    says: str = ""  # what the player does to the items; "": nothing is said
    # the item. "name": the name of `a`; "amount": so many of what `a` names
    item: str = ""
    number: str = ""  # the field with the number of items; such numbers are added up. "1": one item; "": items are not counted
    why: str = ""  # the reason that is given for the events that it causes. "name": the name of `a`
    hidden: str = ""  # what the item is if the reader may not know `a`
    change: str = ""  # the item as a part of a cost or a gain; "": as `item`
    sign: int = 1  # the direction of a marker in `change`


_K = EventKind
EVENT_WORDS = {
    _K.NOTHING: EventWords(),
    _K.DILEMMA_DEALT: EventWords("is_dealt", "item.dilemma", hidden="dilemma"),
    _K.RECRUIT_DEALT: EventWords("is_dealt", "name", hidden="recruit"),
    _K.DRAFTED: EventWords("keeps", "name", hidden="recruit"),
    _K.PASSED: EventWords("is_passed", "name", hidden="recruit"),
    _K.RECRUIT_KEPT: EventWords("keeps", "name", hidden="recruit"),
    _K.RECRUIT_OUT: EventWords("puts_out", "name", hidden="recruit"),
    _K.TILE_DEALT: EventWords("is_dealt", "name", hidden="market tile"),
    _K.TILE_IN: EventWords("puts_in", "name", hidden="market tile"),
    _K.TILE_OUT: EventWords("puts_out", "name", hidden="market tile"),
    _K.TILE_LAID: EventWords("tiles_laid", "name", hidden="market tile"),
    _K.STARTS: EventWords("is_first"),
    _K.MORALE_SET: EventWords("puts", "item.morale_marker"),
    _K.KNOWLEDGE_SET: EventWords("puts", "item.knowledge_marker"),
    _K.TURN: EventWords("begins_turn", "name"),
    _K.ASKED: EventWords(),
    _K.LOT: EventWords("lot_falls", "name"),
    _K.PLACED: EventWords("places", "item.placed", why="name"),
    _K.SITE_BEGUN: EventWords("is_first_on", "name"),
    _K.BUMPED: EventWords("gets_back", "item.bumped"),
    _K.RETRIEVES: EventWords("retrieves", "name", why="why.retrieving"),
    _K.RETRIEVED: EventWords("takes_back", "item.back"),
    _K.RETURNED: EventWords("gets_back", "item.back"),
    _K.SACRIFICED: EventWords("sacrifices", "item.there", change="amount.worker"),
    _K.WORKER_GAINED: EventWords("gains", "amount.worker", "1"),
    _K.ROLL: EventWords("has_no_worker"),
    _K.DIE: EventWords("rolls", "name"),
    _K.FACE_SET: EventWords("sets", "item.set"),
    _K.WORKER_LOST: EventWords("loses", "item.lost"),
    _K.PAYS: EventWords(why="name"),
    _K.STAYS: EventWords("stays", "name"),
    _K.GAINS: EventWords(why="name"),
    _K.ABILITY: EventWords("uses", "name", why="name"),
    _K.DECLINED: EventWords("declines", "name"),
    _K.WAY: EventWords(why="name"),
    _K.REACTION: EventWords("has_act", "name", why="name"),
    _K.BONUS: EventWords("gets_nothing", "item.bonus"),
    _K.PENALTY: EventWords("is_under", "item.penalty", why="why.penalty"),
    _K.HAND_LIMIT: EventWords("holds_too_many", "amount.artifact", "a", why="why.hand_limit"),
    _K.RESUMED: EventWords(),
    _K.GAINED: EventWords("gains", "amount", "b"),
    _K.PAID: EventWords("pays", "amount", "b"),
    _K.LOST: EventWords("loses", "amount", "b"),
    _K.GIVEN: EventWords("hands_over", "amount", "b"),
    _K.RECEIVED: EventWords("receives", "amount", "b"),
    _K.DRAWN: EventWords("draws", "amount", "1", hidden="artifact"),
    _K.NONE_LEFT: EventWords("finds_none"),
    _K.SHUFFLED: EventWords("shuffled"),
    _K.DISCARDED: EventWords("discards", "amount", "b"),
    _K.KNOWLEDGE_GAINED: EventWords("gains", "amount.knowledge", "a", change="track.knowledge"),
    _K.KNOWLEDGE_PAID: EventWords("pays", "track.knowledge", "a"),
    _K.KNOWLEDGE_LOST: EventWords("loses", "amount.knowledge", "a", change="track.knowledge", sign=-1),
    _K.MORALE_GAINED: EventWords("gains", "amount.morale", "a", change="track.morale"),
    _K.MORALE_PAID: EventWords("pays", "amount.morale", "a", change="track.morale", sign=-1),
    _K.MORALE_LOST: EventWords("loses", "amount.morale", "a", change="track.morale", sign=-1),
    _K.ALLEGIANCE: EventWords("advances", "item.allegiance", change="track.allegiance"),
    _K.MINER: EventWords("advances", "item.miner", change="track.miner"),
    _K.REVEALED: EventWords("revealed", "name"),
    _K.RECRUIT_ACTIVE: EventWords("has_active", "name"),
    _K.BUILT: EventWords("completes", "item.market"),
    _K.STAR: EventWords("places", "item.star", change="amount.star_at"),
    _K.STAR_ON_RECRUIT: EventWords("places", "item.star", change="amount.star_at"),
    _K.STAR_ON_DILEMMA: EventWords("places", "item.star", change="amount.star_at"),
    _K.DILEMMA: EventWords("resolves", "item.resolved"),
    _K.OFFER: EventWords("begins_offer", "name"),
    _K.OFFERED: EventWords("offers", "amount", "b"),
    _K.WANTED: EventWords("asks_for", "amount", "b"),
    _K.ACCEPTED: EventWords("accepts", "item.offer"),
    _K.REFUSED: EventWords("refuses", "item.offer"),
    _K.REFUSED_UNASKED: EventWords("cannot_meet", "item.offer"),
    _K.TIE_BROKEN: EventWords("wins_tie", "name"),
    _K.WON: EventWords("wins"),
    _K.CUT_OFF: EventWords("cut_off"),
    _K.RANK: EventWords("ends_on_rank", "name"),
}
# The members of the enum as plain integers, which Python looks up many times as fast.
K = SimpleNamespace(**{kind.name: int(kind) for kind in EventKind})
CHOICE = -1  # used in place of a kind of event
_KIND_ROWS, _WORDS = list(KIND_ROWS.values()), list(EVENT_WORDS.values())
_SAYS = [words.says for words in _WORDS]
# The kinds that always begin a group; abilities may interrupt one.
_BEGINS_GROUP = np.array([row.causes == "group" and kind != _K.ABILITY for kind, row in KIND_ROWS.items()])
_CAUSE_KINDS = {int(kind) for kind, row in KIND_ROWS.items() if row.causes} | {K.WAY, K.RESUMED, K.RETRIEVED}
_EFFECTS = {*range(K.GAINED, K.MINER + 1), K.STAR, K.SACRIFICED} - {K.SHUFFLED}  # the log says why these happen
_IMPLIED = {K.ROLL, K.ABILITY, K.REACTION, K.BONUS, K.PENALTY, K.HAND_LIMIT}  # the log has these only if no effect follows


@cache
def _named(kind: str, name: str) -> Phrase:
    return Phrase(f"{kind}.{name}")


# The texts for the values of fields that stand for names.
_NAMED: dict[str, Callable[[str], Text]] = {
    "artifact": lambda name: _named("kind", name),
    "faction": lambda name: _named("faction", name),
    "item": lambda name: _named("kind", name),
    "market": site,
    "payment": lambda name: _named("payment", name),
    "recruit": lambda name: _named("short", name),
    "resolution": lambda name: _named("resolution", name),
    "tie-break": lambda name: _named("tie", name),
    "tile": lambda name: _named("name", name),
}
_Texts = tuple[Text, Text, Text]


def _arguments(id: str) -> frozenset[str]:
    return arguments(templates("en")[id])


def _uses(words: EventWords, field: str) -> bool:
    """Returns whether the texts for a kind of event depend on a field."""
    ids = (words.item, words.change, words.why)
    if field == "a" and not {"name", "amount"}.isdisjoint(ids):
        return True
    return any(field in _arguments(id) or "tile" in _arguments(id) for id in ids if id not in ("", "name", "amount"))


@cache
def _used(field: str) -> list[bool]:
    """Returns for each kind of event whether its texts depend on a field."""
    return [_uses(words, field) for words in _WORDS]


# The kinds whose texts depend neither on the game nor on the names of its players; those of the others are kept by a narrator.
_SAME_EVERYWHERE = {
    int(kind) for kind, row in KIND_ROWS.items() if {row.a, row.b}.isdisjoint(("space", "star place", "player"))
} - {K.TURN}
_EVERYWHERE: dict[tuple[int, int, int], _Texts] = {}
RETRIEVING, HAND_LIMIT = Phrase("why.retrieving"), Phrase("why.hand_limit")
ALLEGIANCE = Phrase("noun.allegiance", n=1)
_SPACES, _ARTIFACT_WAYS = frozenset(SPACES), ("one", "two", "three")


@dataclass(eq=False, slots=True)
class Clause:
    """A part of a line: what an event, or a choice, says of a player. A narrator has one for all events that say the same."""

    kind: int
    player: int  # -1: nobody
    says: str
    why: Text = ""
    counted: bool = False
    item: Text = ""
    source: Text = ""
    change: Text = ""

    @property
    def joins(self) -> tuple[int, str, Text, bool]:
        """Neighbours of which this is equal are joined."""
        return self.player, self.says, self.why, self.counted


class Deed(NamedTuple):
    """A deed of somebody: the verb, the items and, if it is to be said, the reason."""

    says: str
    items: Text
    why: Text

    def by(self, who: Text) -> Text:
        """Returns what `who` does, without the name: "gains 1 gold (Kyle)"."""
        return because(Phrase(f"does.{self.says}", who=who, items=self.items), self.why)


class Narrator:
    """Turns events into clauses, one after the other, with their causes; `turn` is the number of the turn before the first."""

    def __init__(self, row: np.void, names: Sequence[Text], turn: int) -> None:
        self.row, self._names, self.turn = row, names, turn
        self.told: list[tuple[Clause, int]] = []  # the clauses of the line so far, each with the number of items
        self._known: dict[tuple[int, int, int], _Texts] = {}
        self._clauses: dict[tuple[int, ...], Clause] = {}
        self._ways: dict[tuple[int, int], Text] = {}
        self._uses_a, self._uses_b = _used("a"), _used("b")
        self.begin(set())

    def begin(self, obvious: set[Text]) -> None:
        """Forgets all causes, and sets the obvious ones."""
        self.obvious = obvious
        self._group: Text = ""  # the causes of the next events
        self._interruption: Text = ""
        self._next: Text = ""
        self._source: Text = ""

    def _field(self, meaning: str, value: int) -> Text:
        if value < 0:
            return ""
        if meaning in _NAMED:
            return _NAMED[meaning](NAMES[meaning][value])
        if meaning == "space":
            return named(self.row, value)
        if meaning == "star place":
            return star_place(self.row, value)
        return self._names[value] if meaning == "player" else str(value)

    @property
    def why(self) -> Text:
        """The cause of the next event."""
        return self._next or self._interruption or self._group

    def tell(self, events: list[list[int]]) -> None:
        """Adds the clauses of events."""
        for event, (following, *_) in zip(events, [*events[1:], [0]], strict=False):
            kind = event[0]
            self.turn += kind == K.TURN
            if _SAYS[kind] and not (kind in _IMPLIED and _follows(kind, following)):
                self.told.append(self.clause(*event))
            self.keep_cause(*event)

    def _texts(self, kind: int, a: int, b: int) -> _Texts:
        """Returns the item, the change and the cause for an event, all for one unit."""
        known = _EVERYWHERE if kind in _SAME_EVERYWHERE else self._known
        key = kind, a if self._uses_a[kind] or a < 0 else 0, b if self._uses_b[kind] else 0
        if key not in known or kind == K.TURN:
            known[key] = self._made_texts(kind, a, b)
        return known[key]

    def _made_texts(self, kind: int, a: int, b: int) -> _Texts:
        row, words = _KIND_ROWS[kind], _WORDS[kind]
        fields = {"n": 1, "a": self._field(row.a, a), "b": self._field(row.b, b)} | self._more_fields(kind, a, b)

        def text(id: str, sign: int = 1) -> Text:
            if id in ("", "name"):
                return fields["a"] if id else ""
            if id == "amount":
                return counted(1, NAMES[row.a][a])
            return Phrase(id, **{name: {**fields, "n": sign}[name] for name in _arguments(id)})

        item = counted(1, words.hidden) if row.secret and a < 0 else text(words.item)
        return item, text(words.change, words.sign) or item, text(words.why)

    def _more_fields(self, kind: int, a: int, b: int) -> dict[str, Any]:
        """Returns fields that some kinds of event have in place of `a` and `b`."""
        if kind in (K.BUILT, K.PENALTY):
            return {"tile": Phrase(f"the.{NAMES['tile'][b if kind == K.BUILT else a]}")}
        if kind in (K.STAR_ON_RECRUIT, K.STAR_ON_DILEMMA):
            return {"a": Phrase("where.on", place=self._field("recruit", a) or Phrase("the_dilemma"))}
        if kind in (K.MORALE_SET, K.KNOWLEDGE_SET):
            return {"a": Phrase("where.step", n=a) if a else Phrase("where.no_step")}
        return {"a": str(self.turn)} if kind == K.TURN else {}

    def clause(self, kind: int, player: int, a: int, b: int) -> tuple[Clause, int]:
        """Returns the clause of an event, and the number of its items."""
        item, change, _ = texts = self._texts(kind, a, b)
        hidden, number = a < 0 and _KIND_ROWS[kind].secret, _WORDS[kind].number
        why = self.why if kind in _EFFECTS else ""
        key = kind, player, id(texts), id(why), id(self._source)
        if key not in self._clauses or kind == K.TURN:
            counts = hidden or bool(number)
            self._clauses[key] = Clause(kind, player, _SAYS[kind], why, counts, item, self._source, change)
        return self._clauses[key], 1 if hidden else a if number == "a" else b if number == "b" else 1

    def choice(self, player: int, says: str, text: Text) -> Clause:
        """Returns the clause of a choice."""
        key = CHOICE, player, hash((says, text)), id(self.why)
        if key not in self._clauses:
            self._clauses[key] = Clause(CHOICE, player, says, self.why, item=text)
        return self._clauses[key]

    def keep_cause(self, kind: int, player: int, a: int, b: int) -> str:
        """Keeps an event as the cause of those that follow; returns which ones it causes (`events.causes`)."""
        self._next = self._source = ""
        if kind not in _CAUSE_KINDS:
            return ""
        scope, why = causes(kind, a), self._texts(kind, a, b)[2]
        if scope == "next":
            self._next, self._source = why, ALLEGIANCE if kind == K.BONUS else ""
        elif scope == "interruption":
            self._interruption = why
        elif scope == "group":
            self._group, self._interruption = why, ""
        elif kind == K.WAY:
            group = self._group if self._group not in self.obvious else ""
            self._group = self._ways.setdefault((id(group), id(why)), listed([group, why]))
        elif kind == K.RESUMED:
            self._interruption = ""
        if kind == K.PLACED:
            self.obvious.add(why)
        elif kind == K.RETRIEVED:
            self.obvious.add(RETRIEVING)
        return scope

    def deeds(self, told: Iterable[tuple[Clause, int]]) -> Iterator[tuple[int, Deed]]:
        """Yields what clauses say, each with its player; neighbours that can be joined are."""
        for (player, says, why, counts), run in groupby(told, key=lambda one: one[0].joins):
            parts = [(clause.item, n, clause.source) for clause, n in run]
            items = listed(totals(parts) if counts else [item for item, *_ in parts])
            yield player, Deed(says, items, "" if why in self.obvious else why)

    def line(self, is_shown: bool = True) -> LogLine:
        """Returns the clauses so far as a line, and begins the next one."""
        parts, last = list[tuple[Text, Text]](), -1
        for player, deed in self.deeds(self.told):
            who = self._names[player] if player >= 0 else ""
            what = deed.by(who)
            parts.append((who, what if player in (-1, last) else Phrase("sentence", who=who, what=what)))
            last = player
        begins_turn = bool(self.told) and self.told[-1][0].kind == K.TURN
        self.told, self.obvious = [], set()
        return LogLine(tuple(parts), self.turn if begins_turn else None, is_shown)


@dataclass(frozen=True)
class LogLine:
    """A line of the log; `str` gives it in English.

    Attributes:
        clauses: the player of each clause, "" if it has none, and the clause.
        turn: the number of the turn whose beginning is its last clause, if it is.
        is_shown: false for a choice of which the next line tells.
    """

    clauses: tuple[tuple[Text, Text], ...]
    turn: int | None
    is_shown: bool = True

    @property
    def text(self) -> Text:
        """The whole line."""
        return _sentence(self.clauses)

    @property
    def happened(self) -> Text:
        """The line without the beginning of a turn."""
        return _sentence(self.clauses if self.turn is None else self.clauses[:-1]) if self.is_shown else ""

    def __str__(self) -> str:
        """Returns the whole line in English."""
        return str(self.text)


def _sentence(clauses: Sequence[tuple[Text, Text]]) -> Text:
    return capital(listed((text for _, text in clauses), "semicolon"), clauses[0][0]) if clauses else ""


def _follows(kind: int, following: int) -> bool:
    """Returns whether the event `following` is an effect of this kind, or both are penalties."""
    return following in ((K.DIE, K.FACE_SET) if kind == K.ROLL else _EFFECTS) or kind == following == K.PENALTY


def log(
    game: Game, seat: int | None = None, names: Sequence[str] | None = None, since: int = 0, *, spoken_to: bool = True
) -> list[str]:
    """Returns the log, a line for each decision: who did what, and why.

    Args:
        game: the game, with its history.
        seat: who reads it; None: everybody. Cards that the reader may not know are not named (R19).
        names: what the players are called; None: "player 0" and so on.
        since: the number of the first decision that gets a line; the line of decision 0 tells of the deal too.
        spoken_to: whether the reader is called "you" rather than by name.

    Raises:
        ValueError: there is no such seat, `names` does not have one name for each player, or `since` is negative.
    """
    return [str(line) for line in log_lines(game, seat, names, since, spoken_to=spoken_to)]


def log_lines(
    game: Game, seat: int | None = None, names: Sequence[str] | None = None, since: int = 0, *, spoken_to: bool = True
) -> list[LogLine]:
    """Returns the lines of the log as phrases; the arguments are those of `log`."""
    events, decided = game.event_array(seat), game.decided(since)
    narrator = Narrator(game.states[0], called(int(game.states[0]["num_players"]), seat if spoken_to else None, names), game.turn)
    if not decided:
        return []
    first = decided[0].first if since else 0
    groups = np.flatnonzero(_BEGINS_GROUP[events[:first, 0]])
    begin = int(groups[-1]) if len(groups) else 0
    narrator.turn -= int(np.count_nonzero(events[begin:, 0] == K.TURN))
    narrator.tell(events[begin:first].tolist())
    narrator.line()
    lines = []
    for player, action, _, end in decided:
        narrator.tell(events[first:end].tolist())
        first = end
        is_silent = action == actions.END or all(clause.kind == K.TURN for clause, _ in narrator.told)
        if is_silent:
            narrator.told.insert(0, (_silent_choice(player, action), 1))
        lines.append(narrator.line(is_shown=not (is_silent and actions.TAKE <= action < actions.DONE)))
    return lines


def _silent_choice(player: int, action: int) -> Clause:
    """Returns the clause of a choice that logs no event yet; it does not name a chosen card, which is secret."""
    verb, _, rest = actions.NAMES[action].partition(" ")
    if verb == "gain" and rest == "knowledge":
        verb = "lose"  # which chosen knowledge is
    if verb == "choose":
        return Clause(CHOICE, player, "decides")
    notation = actions.NAMES[action].replace("_", " ")
    said = Phrase(f"choice.{verb}", notation=notation, what=_chosen(rest)) if f"choice.{verb}" in templates("en") else notation
    return Clause(CHOICE, player, "chooses", item=said)


def _chosen(rest: str) -> Text:
    """Returns what a silent choice concerns, from what follows the verb in its notation."""
    kind, _, name = rest.partition(" ")
    if kind in _SPACES or name in _SPACES:
        return Phrase("item.there", a=space_name(name), b=kind) if name else Phrase("item.worker_on", a=space_name(kind))
    if kind in _ARTIFACT_WAYS or kind == "pair":
        return counted(2, name) if name else counted(_ARTIFACT_WAYS.index(kind) + 1, "artifact")
    if kind in ("star", "recruit", "match"):
        return Phrase(f"resolution.{kind}")
    return counted(1, kind) if kind in (*ITEMS, *GAINS) else kind
