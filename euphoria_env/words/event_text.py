"""The log: a row for each kind of event, and a line for each decision.

A line is made of clauses with "; " between them: who, what, and in brackets why. A clause without a subject has that of the
clause before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from euphoria_env import actions
from euphoria_env.event_kinds import KIND_ROWS, NAMES, EventKind
from euphoria_env.events import causes
from euphoria_env.words.names import called, capital, does, listed, named, possessive, short_name, star_place, title, totals

if TYPE_CHECKING:
    from euphoria_env.game import Game


class EventWords(NamedTuple):
    """The words for a kind of event."""

    # what the player does, with {} for the items, or a whole sentence if the kind has no player; "": nothing is said
    says: str = ""
    item: str = ""  # the item, with the fields {a}, {b} and {whose} (the possessive of the player `a`)
    number: str = ""  # the field with the number of items; such numbers are added up. "1": one item; "": `item` is not counted
    why: str = ""  # the reason that is given for the events that it causes
    hidden: str = ""  # the text of the item if the reader may not know `a`
    change: str = ""  # the item as a part of a cost or a gain; a sign gives the direction of a marker. "": as `item`


_K = EventKind
EVENT_WORDS = {
    _K.NOTHING: EventWords(),
    _K.DILEMMA_DEALT: EventWords("is dealt {}", "the dilemma of the {a}", hidden="dilemma"),
    _K.RECRUIT_DEALT: EventWords("is dealt {}", "{a}", hidden="recruit"),
    _K.DRAFTED: EventWords("keeps {}", "{a}", hidden="recruit"),
    _K.PASSED: EventWords("is passed {}", "{a}", hidden="recruit"),
    _K.RECRUIT_KEPT: EventWords("keeps {}", "{a}", hidden="recruit"),
    _K.RECRUIT_OUT: EventWords("puts {} out of the game", "{a}", hidden="recruit"),
    _K.TILE_DEALT: EventWords("is dealt {}", "{a}", hidden="market tile"),
    _K.TILE_IN: EventWords("puts {} in the game", "{a}", hidden="market tile"),
    _K.TILE_OUT: EventWords("puts {} out of the game", "{a}", hidden="market tile"),
    _K.TILE_LAID: EventWords("{} are laid face down", "{a}", hidden="market tile"),
    _K.STARTS: EventWords("is the first player"),
    _K.MORALE_SET: EventWords("puts {}", "the morale marker on {a}"),
    _K.KNOWLEDGE_SET: EventWords("puts {}", "the knowledge marker on {a}"),
    _K.TURN: EventWords("begins turn {}", "{turn}"),
    _K.ASKED: EventWords(),
    _K.LOT: EventWords("the lot falls on {}", "{a}"),
    _K.PLACED: EventWords("places {}", "a {b} on {a}", why="{a}"),
    _K.SITE_BEGUN: EventWords("is the first on {}", "{a}"),
    _K.BUMPED: EventWords("gets back {}", "the bumped {b}"),
    _K.RETRIEVES: EventWords("retrieves workers {}", "{a}", why="retrieving"),
    _K.RETRIEVED: EventWords("takes back {}", "the {b} from {a}"),
    _K.RETURNED: EventWords("gets back {}", "the {b} from {a}"),
    _K.SACRIFICED: EventWords("sacrifices {}", "the {b} on {a}", change="worker"),
    _K.WORKER_GAINED: EventWords("gains {}", "worker", "1"),
    _K.ROLL: EventWords("has no worker to roll"),
    _K.DIE: EventWords("rolls {}", "{a}"),
    _K.FACE_SET: EventWords("sets {}", "the {b} to {a}"),
    _K.WORKER_LOST: EventWords("loses {}", "the {a} (knowledge check: {b})"),
    _K.PAYS: EventWords(why="{a}"),
    _K.STAYS: EventWords("can no longer pay and gets nothing for the worker on {}", "{a}"),
    _K.GAINS: EventWords(why="{a}"),
    _K.ABILITY: EventWords("uses {}", "{a}", why="{a}"),
    _K.DECLINED: EventWords("does not use {}", "{a}"),
    _K.WAY: EventWords(why="{a}"),
    _K.REACTION: EventWords("has {} act", "{a}", why="{a}"),
    _K.BONUS: EventWords("gets nothing for {}", "allegiance"),
    _K.PENALTY: EventWords("is under {}", "the penalty of the {a}", why="penalty of the {a}"),
    _K.HAND_LIMIT: EventWords("holds {} too many", "artifact", "a", why="hand limit"),
    _K.RESUMED: EventWords(),
    _K.GAINED: EventWords("gains {}", "{a}", "b"),
    _K.PAID: EventWords("pays {}", "{a}", "b"),
    _K.LOST: EventWords("loses {}", "{a}", "b"),
    _K.GIVEN: EventWords("hands over {}", "{a}", "b"),
    _K.RECEIVED: EventWords("receives {}", "{a}", "b"),
    _K.DRAWN: EventWords("draws {}", "{a}", "1", hidden="artifact"),
    _K.NONE_LEFT: EventWords("finds no artifact left to draw"),
    _K.SHUFFLED: EventWords("the discards are shuffled into a new deck"),
    _K.DISCARDED: EventWords("discards {}", "{a}", "b"),
    _K.KNOWLEDGE_GAINED: EventWords("gains {}", "knowledge", "a", change="knowledge +"),
    _K.KNOWLEDGE_PAID: EventWords("pays {}", "knowledge +", "a"),
    _K.KNOWLEDGE_LOST: EventWords("loses {}", "knowledge", "a", change="knowledge -"),
    _K.MORALE_GAINED: EventWords("gains {}", "morale", "a", change="morale +"),
    _K.MORALE_PAID: EventWords("pays {}", "morale", "a", change="morale -"),
    _K.MORALE_LOST: EventWords("loses {}", "morale", "a", change="morale -"),
    _K.ALLEGIANCE: EventWords("advances {}", "the {a} allegiance to {b}", change="{a} allegiance +"),
    _K.MINER: EventWords("advances {}", "the {a} miner to {b}", change="{a} miner +"),
    _K.REVEALED: EventWords("the hidden {} recruits become active", "{a}"),
    _K.RECRUIT_ACTIVE: EventWords("has {} active", "{a}"),
    _K.BUILT: EventWords("completes {}", "{a}: the {b}"),
    _K.STAR: EventWords("places {}", "a star {a}", change="star {a}"),
    _K.STAR_ON_RECRUIT: EventWords("places {}", "a star on {a}", change="star on {a}"),
    _K.STAR_ON_DILEMMA: EventWords("places {}", "a star on the dilemma", change="star on the dilemma"),
    _K.DILEMMA: EventWords("resolves {}", "the dilemma of the {a} for {b}"),
    _K.OFFER: EventWords("begins an offer to {}", "{a}"),
    _K.OFFERED: EventWords("offers {}", "{a}", "b"),
    _K.WANTED: EventWords("asks for {}", "{a}", "b"),
    _K.ACCEPTED: EventWords("accepts {} offer", "{whose}"),
    _K.REFUSED: EventWords("refuses {} offer", "{whose}"),
    _K.REFUSED_UNASKED: EventWords("cannot meet {} offer", "{whose}"),
    _K.TIE_BROKEN: EventWords("wins the tie by {}", "{a}"),
    _K.WON: EventWords("wins the game"),
    _K.CUT_OFF: EventWords("the game is cut off"),
    _K.RANK: EventWords("ends on rank {}", "{a}"),
}
_KIND_ROWS, _WORDS = list(KIND_ROWS.values()), list(EVENT_WORDS.values())
# The kinds that always begin a group; abilities may interrupt one.
_BEGINS_GROUP = np.array([row.causes == "group" and kind != _K.ABILITY for kind, row in KIND_ROWS.items()])
_CAUSE_KINDS = {kind for kind, row in KIND_ROWS.items() if row.causes} | {_K.WAY, _K.RESUMED, _K.RETRIEVED}
_EFFECTS = {*range(_K.GAINED, _K.MINER + 1), _K.STAR, _K.SACRIFICED} - {_K.SHUFFLED}  # the log says why these happen
_IMPLIED = {_K.ROLL, _K.ABILITY, _K.REACTION, _K.BONUS, _K.PENALTY, _K.HAND_LIMIT}  # the log has these only if no effect follows
_TIES = ("more stars", "higher morale", "lower knowledge", "more markets", "more territories", "the lower roll", "the lot")
_NAMED: dict[str, Callable[[str], str]] = {  # turns the fields that stand for names into words
    "artifact": str,
    "faction": str.capitalize,
    "item": str,
    "market": lambda name: title(name.replace("market", "site")),
    "payment": "for {}".format,
    "recruit": short_name,
    "resolution": "a {}".format,
    "tie-break": dict(zip(NAMES["tie-break"], _TIES, strict=True)).__getitem__,
    "tile": title,
}
_RETRIEVING = EVENT_WORDS[_K.RETRIEVES].why


class Clause(NamedTuple):
    """A part of a line: a player, a verb and an item. Neighbours whose first four fields are equal are joined."""

    player: int  # -1: nobody
    says: str
    why: str = ""
    counted: bool = False
    item: str = ""
    n: int = 1
    source: str = ""
    change: str = ""


class Narrator:
    """Turns events into clauses, one after the other, with their causes; `turn` is the number of the turn before the first."""

    def __init__(self, row: np.void, names: Sequence[str], turn: int) -> None:
        self.row, self._names, self.turn = row, names, turn
        self.clauses: list[Clause] = []  # the clauses of the line so far
        self._known: dict[tuple[int, int, int], tuple[str, str, str]] = {}
        self.begin(set())

    def begin(self, obvious: set[str]) -> None:
        """Forgets all causes, and sets the obvious ones."""
        self.obvious = obvious
        self._group = self._interruption = self._next = self._source = ""  # the causes of the next events

    def _field(self, meaning: str, value: int) -> str:
        if value < 0:
            return ""
        if meaning in _NAMED:
            return _NAMED[meaning](NAMES[meaning][value])
        if meaning == "space":
            return named(self.row, value)
        if meaning == "star place":
            return star_place(self.row, value)
        if meaning == "player":
            return self._names[value]
        return str(value) if value or meaning != "now at" else "no step"

    @property
    def why(self) -> str:
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

    def _texts(self, kind: int, a: int, b: int) -> tuple[str, str, str]:
        """Returns the item, the change and the cause in the words of an event."""
        key = kind, a, b
        if key not in self._known or kind == _K.TURN:
            row, words = _KIND_ROWS[kind], _WORDS[kind]
            fields = {"a": self._field(row.a, a), "b": self._field(row.b, b), "turn": self.turn}
            fields["whose"] = possessive(self._names[a]) if row.a == "player" else ""
            item = words.hidden if row.secret and a < 0 else words.item.format_map(fields)
            self._known[key] = item, words.change.format_map(fields) or item, words.why.format_map(fields)
        return self._known[key]

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
            self._next, self._source = why, "allegiance" if kind == _K.BONUS else ""
        elif scope == "interruption":
            self._interruption = why
        elif scope == "group":
            self._group, self._interruption = why, ""
        elif kind == _K.WAY:
            self._group = listed(filter(None, [self._group if self._group not in self.obvious else "", why]))
        elif kind == _K.RESUMED:
            self._interruption = ""
        if kind == _K.PLACED:
            self.obvious.add(why)
        elif kind == _K.RETRIEVED:
            self.obvious.add(_RETRIEVING)
        return scope

    def phrases(self, clauses: Iterable[Clause]) -> Iterator[tuple[int, str]]:
        """Yields clauses in words, each with its player and without the name: "gains 1 gold (Kyle)"."""
        for (player, says, why, counted), run in groupby(clauses, key=lambda clause: clause[:4]):
            told = [clause[4:7] for clause in run]
            items = totals(told) if counted else [item for item, *_ in told]
            yield player, says.format(listed(items)) + (f" ({why})" if why and why not in self.obvious else "")

    def line(self) -> str:
        """Returns the clauses so far as a line, and begins the next one."""
        parts, last = list[str](), -1
        for player, text in self.phrases(self.clauses):
            if player >= 0:
                text = does(self._names[player], text).removeprefix(f"{self._names[player]} " if player == last else "")
            last = player
            parts.append(text)
        self.clauses, self.obvious = [], set()
        return capital("; ".join(parts))


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
        lines.append(narrator.line())
    return lines


def _silent_choice(player: int, action: int) -> Clause:
    """Returns the clause of a choice that logs no event yet; it does not name a chosen card, which is secret."""
    name = actions.NAMES[action].replace("_", " ")
    return Clause(player, "decides") if name.startswith("choose ") else Clause(player, "chooses {}", item=f'"{name}"')
