"""The log: a row for each kind of event, and a line for each decision.

A line is made of clauses with "; " between them: who, what, and in brackets why. A clause without a subject has that of the
clause before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
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
_KIND_ROWS, _WORDS = list(KIND_ROWS.values()), list(EVENT_WORDS.values())
# The kinds that always begin a group; abilities may interrupt one.
_BEGINS_GROUP = np.array([row.causes == "group" and kind != _K.ABILITY for kind, row in KIND_ROWS.items()])
_CAUSE_KINDS = {kind for kind, row in KIND_ROWS.items() if row.causes} | {_K.WAY, _K.RESUMED, _K.RETRIEVED}
_EFFECTS = {*range(_K.GAINED, _K.MINER + 1), _K.STAR, _K.SACRIFICED} - {_K.SHUFFLED}  # the log says why these happen
_IMPLIED = {_K.ROLL, _K.ABILITY, _K.REACTION, _K.BONUS, _K.PENALTY, _K.HAND_LIMIT}  # the log has these only if no effect follows
# The ids of the fields that stand for names.
_NAMED: dict[str, Callable[[str], Text]] = {
    "artifact": lambda name: Phrase(f"kind.{name}"),
    "faction": lambda name: Phrase(f"faction.{name}"),
    "item": lambda name: Phrase(f"kind.{name}"),
    "market": site,
    "payment": lambda name: Phrase(f"payment.{name}"),
    "recruit": lambda name: Phrase(f"short.{name}"),
    "resolution": lambda name: Phrase(f"resolution.{name}"),
    "tie-break": lambda name: Phrase(f"tie.{name}"),
    "tile": lambda name: Phrase(f"name.{name}"),
}
RETRIEVING, HAND_LIMIT = Phrase("why.retrieving"), Phrase("why.hand_limit")
ALLEGIANCE = Phrase("noun.allegiance", n=1)
_SPACES, _ARTIFACT_WAYS = frozenset(SPACES), ("one", "two", "three")


class Clause(NamedTuple):
    """A part of a line: a player, a verb and an item. Neighbours whose first four fields are equal are joined."""

    player: int  # -1: nobody
    says: str
    why: Text = ""
    counted: bool = False
    item: Text = ""
    n: int = 1
    source: Text = ""
    change: Text = ""


class Deed(NamedTuple):
    """What somebody does: the verb, the items and, if it is to be said, why."""

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
        self.clauses: list[Clause] = []  # the clauses of the line so far
        self._known: dict[tuple[int, int, int], tuple[Text, Text, Text]] = {}
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
            self.turn += kind == _K.TURN
            if _WORDS[kind].says and not (kind in _IMPLIED and _follows(kind, following)):
                self.clauses.append(self.clause(*event))
            self.keep_cause(*event)

    def _texts(self, kind: int, a: int, b: int) -> tuple[Text, Text, Text]:
        """Returns the item, the change and the cause for an event, all for one unit."""
        key = kind, a, b
        if key not in self._known or kind == _K.TURN:
            row, words = _KIND_ROWS[kind], _WORDS[kind]
            fields = {"n": 1, "a": self._field(row.a, a), "b": self._field(row.b, b)} | self._more_fields(kind, a, b)

            def text(id: str, sign: int = 1) -> Text:
                if id in ("", "name"):
                    return fields["a"] if id else ""
                if id == "amount":
                    return counted(1, NAMES[row.a][a])
                return Phrase(id, **{name: {**fields, "n": sign}[name] for name in arguments(templates("en")[id])})

            item = counted(1, words.hidden) if row.secret and a < 0 else text(words.item)
            self._known[key] = item, text(words.change, words.sign) or item, text(words.why)
        return self._known[key]

    def _more_fields(self, kind: int, a: int, b: int) -> dict[str, Any]:
        """Returns fields that some kinds of event have in place of `a` and `b`."""
        if kind in (_K.BUILT, _K.PENALTY):
            return {"tile": Phrase(f"the.{NAMES['tile'][b if kind == _K.BUILT else a]}")}
        if kind in (_K.STAR_ON_RECRUIT, _K.STAR_ON_DILEMMA):
            return {"a": Phrase("where.on", place=self._field("recruit", a) or Phrase("the_dilemma"))}
        if kind in (_K.MORALE_SET, _K.KNOWLEDGE_SET):
            return {"a": Phrase("where.step", n=a) if a else Phrase("where.no_step")}
        return {"a": str(self.turn)} if kind == _K.TURN else {}

    def clause(self, kind: int, player: int, a: int, b: int) -> Clause:
        """Returns the clause of an event."""
        row, words = _KIND_ROWS[kind], _WORDS[kind]
        item, change, _ = self._texts(kind, a, b)
        hidden = row.secret and a < 0
        n = 1 if hidden or not words.number else {"a": a, "b": b}.get(words.number, 1)
        why = self.why if kind in _EFFECTS else ""
        return Clause(player, words.says, why, hidden or bool(words.number), item, n, self._source, change)

    def keep_cause(self, kind: int, player: int, a: int, b: int) -> str:
        """Keeps an event as the cause of those that follow; returns which ones it causes (`events.causes`)."""
        self._next = self._source = ""
        if kind not in _CAUSE_KINDS:
            return ""
        scope, why = causes(kind, a), self._texts(kind, a, b)[2]
        if scope == "next":
            self._next, self._source = why, ALLEGIANCE if kind == _K.BONUS else ""
        elif scope == "interruption":
            self._interruption = why
        elif scope == "group":
            self._group, self._interruption = why, ""
        elif kind == _K.WAY:
            self._group = listed([self._group if self._group not in self.obvious else "", why])
        elif kind == _K.RESUMED:
            self._interruption = ""
        if kind == _K.PLACED:
            self.obvious.add(why)
        elif kind == _K.RETRIEVED:
            self.obvious.add(RETRIEVING)
        return scope

    def deeds(self, clauses: Iterable[Clause]) -> Iterator[tuple[int, Deed]]:
        """Yields what clauses say, each with its player; neighbours that can be joined are."""
        for (player, says, why, are_counted), run in groupby(clauses, key=lambda clause: clause[:4]):
            told = [clause[4:7] for clause in run]
            items = listed(totals(told) if are_counted else [item for item, *_ in told])
            yield player, Deed(says, items, "" if why in self.obvious else why)

    def line(self, is_shown: bool = True) -> Line:
        """Returns the clauses so far as a line, and begins the next one."""
        parts, last = list[tuple[Text, Text]](), -1
        for player, deed in self.deeds(self.clauses):
            who = self._names[player] if player >= 0 else ""
            what = deed.by(who)
            parts.append((who, what if player in (-1, last) else Phrase("sentence", who=who, what=what)))
            last = player
        begins_turn = bool(self.clauses) and self.clauses[-1].says == EVENT_WORDS[_K.TURN].says
        self.clauses, self.obvious = [], set()
        return Line(tuple(parts), self.turn if begins_turn else None, is_shown)


@dataclass(frozen=True)
class Line:
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
    return following in ((_K.DIE, _K.FACE_SET) if kind == _K.ROLL else _EFFECTS) or kind == following == _K.PENALTY


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
) -> list[Line]:
    """Returns the lines of the log as phrases; the arguments are those of `log`."""
    events, decided = game.event_array(seat), game.decided(since)
    narrator = Narrator(game.states[0], called(int(game.states[0]["num_players"]), seat if spoken_to else None, names), game.turn)
    if not decided:
        return []
    first = decided[0].first if since else 0
    groups = np.flatnonzero(_BEGINS_GROUP[events[:first, 0]])
    begin = int(groups[-1]) if len(groups) else 0
    narrator.turn -= int(np.count_nonzero(events[begin:, 0] == _K.TURN))
    narrator.tell(events[begin:first].tolist())
    narrator.line()
    lines = []
    for player, action, _, end in decided:
        narrator.tell(events[first:end].tolist())
        first = end
        if action == actions.END or all(clause.says == EVENT_WORDS[_K.TURN].says for clause in narrator.clauses):
            narrator.clauses.insert(0, _silent_choice(player, action))
        lines.append(narrator.line(not actions.TAKE <= action < actions.DONE))
    return lines


def _silent_choice(player: int, action: int) -> Clause:
    """Returns the clause of a choice that logs no event yet; it does not name a chosen card, which is secret."""
    verb, _, rest = actions.NAMES[action].partition(" ")
    if verb == "gain" and rest == "knowledge":
        verb = "lose"  # which chosen knowledge is
    if verb == "choose":
        return Clause(player, "decides")
    notation = actions.NAMES[action].replace("_", " ")
    said = Phrase(f"choice.{verb}", notation=notation, what=_chosen(rest)) if f"choice.{verb}" in templates("en") else notation
    return Clause(player, "chooses", item=said)


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
