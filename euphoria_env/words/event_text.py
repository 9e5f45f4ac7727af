"""The log: a row for each kind of event, and a line for each decision.

A line is made of clauses with "; " between them: who, what, and in brackets why. A clause without a subject is of the one before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from euphoria_env import actions
from euphoria_env.board import MARKETS, SPACES, STAR_PLACES, TERRITORIES
from euphoria_env.cards.tiles import TILES
from euphoria_env.event_kinds import KIND_ROWS, NAMES, EventKind
from euphoria_env.events import causes
from euphoria_env.words.names import (
    amount,
    called,
    capital,
    does,
    gain_name,
    listed,
    possessive,
    short_name,
    site_name,
    space_name,
    territory_name,
    title,
    totals,
)

if TYPE_CHECKING:
    from euphoria_env.game import Game


class Told(NamedTuple):
    """The words for a kind of event.

    Attributes:
        says: what the player does, {} being the items; a sentence without a subject where the kind has no player. "": nothing.
        item: with the fields {a} and {b}, and {whose}: of the player `a`.
        number: the field with the number of items, which are added up; "1": it is one of them; "": `item` is text.
        why: what is said of the events that it causes.
        hidden: what is counted where the reader may not know `a`.
    """

    says: str = ""
    item: str = ""
    number: str = ""
    why: str = ""
    hidden: str = ""


_K = EventKind
TOLD = {
    _K.NOTHING: Told(),
    _K.DILEMMA_DEALT: Told("is dealt {}", "the dilemma of the {a}", hidden="dilemma"),
    _K.RECRUIT_DEALT: Told("is dealt {}", "{a}", hidden="recruit"),
    _K.DRAFTED: Told("keeps {}", "{a}", hidden="recruit"),
    _K.PASSED: Told("is passed {}", "{a}", hidden="recruit"),
    _K.RECRUIT_KEPT: Told("keeps {}", "{a}", hidden="recruit"),
    _K.RECRUIT_OUT: Told("puts {} out of the game", "{a}", hidden="recruit"),
    _K.TILE_DEALT: Told("is dealt {}", "{a}", hidden="market tile"),
    _K.TILE_IN: Told("puts {} in the game", "{a}", hidden="market tile"),
    _K.TILE_OUT: Told("puts {} out of the game", "{a}", hidden="market tile"),
    _K.TILE_LAID: Told("{} are laid face down", "{a}", hidden="market tile"),
    _K.STARTS: Told("is the first player"),
    _K.MORALE_SET: Told("puts {}", "the morale marker on {a}"),
    _K.KNOWLEDGE_SET: Told("puts {}", "the knowledge marker on {a}"),
    _K.TURN: Told("begins turn {}", "{turn}"),
    _K.ASKED: Told(),
    _K.LOT: Told("the lot falls on {}", "{a}"),
    _K.PLACED: Told("places {}", "a {b} on {a}", why="{a}"),
    _K.SITE_BEGUN: Told("is the first on {}", "{a}"),
    _K.BUMPED: Told("gets back {}", "the bumped {b}"),
    _K.RETRIEVES: Told("retrieves workers {}", "{a}", why="retrieving"),
    _K.RETRIEVED: Told("takes back {}", "the {b} from {a}"),
    _K.RETURNED: Told("gets back {}", "the {b} from {a}"),
    _K.SACRIFICED: Told("sacrifices {}", "the {b} on {a}"),
    _K.WORKER_GAINED: Told("gains {}", "worker", "1"),
    _K.ROLL: Told("has no worker to roll"),
    _K.DIE: Told("rolls {}", "{a}"),
    _K.FACE_SET: Told("sets {}", "the {b} to {a}"),
    _K.WORKER_LOST: Told("loses {}", "the {a} (knowledge check: {b})"),
    _K.PAYS: Told(why="{a}"),
    _K.STAYS: Told("can no longer pay and gets nothing for the worker on {}", "{a}"),
    _K.GAINS: Told(why="{a}"),
    _K.ABILITY: Told("uses {}", "{a}", why="{a}"),
    _K.DECLINED: Told("does not use {}", "{a}"),
    _K.WAY: Told(why="{a}"),
    _K.REACTION: Told("has {} act", "{a}", why="{a}"),
    _K.BONUS: Told("gets nothing for {}", "allegiance"),
    _K.PENALTY: Told("is under {}", "the penalty of the {a}", why="penalty of the {a}"),
    _K.HAND_LIMIT: Told("holds {} too many", "artifact", "a", why="hand limit"),
    _K.RESUMED: Told(),
    _K.GAINED: Told("gains {}", "{a}", "b"),
    _K.PAID: Told("pays {}", "{a}", "b"),
    _K.LOST: Told("loses {}", "{a}", "b"),
    _K.GIVEN: Told("hands over {}", "{a}", "b"),
    _K.RECEIVED: Told("receives {}", "{a}", "b"),
    _K.DRAWN: Told("draws {}", "{a}", "1", hidden="artifact"),
    _K.NONE_LEFT: Told("finds no artifact left to draw"),
    _K.SHUFFLED: Told("the discards are shuffled into a new deck"),
    _K.DISCARDED: Told("discards {}", "{a}", "b"),
    _K.KNOWLEDGE_GAINED: Told("gains {}", "knowledge", "a"),
    _K.KNOWLEDGE_PAID: Told("pays {}", "knowledge +", "a"),
    _K.KNOWLEDGE_LOST: Told("loses {}", "knowledge", "a"),
    _K.MORALE_GAINED: Told("gains {}", "morale", "a"),
    _K.MORALE_PAID: Told("pays {}", "morale", "a"),
    _K.MORALE_LOST: Told("loses {}", "morale", "a"),
    _K.ALLEGIANCE: Told("advances {}", "the {a} allegiance to {b}"),
    _K.MINER: Told("advances {}", "the {a} miner to {b}"),
    _K.REVEALED: Told("the hidden {} recruits become active", "{a}"),
    _K.RECRUIT_ACTIVE: Told("has {} active", "{a}"),
    _K.BUILT: Told("completes {}", "{a}: the {b}"),
    _K.STAR: Told("places {}", "a star {a}"),
    _K.STAR_ON_RECRUIT: Told("places {}", "a star on {a}"),
    _K.STAR_ON_DILEMMA: Told("places {}", "a star on the dilemma"),
    _K.DILEMMA: Told("resolves {}", "the dilemma of the {a} for {b}"),
    _K.OFFER: Told("begins an offer to {}", "{a}"),
    _K.OFFERED: Told("offers {}", "{a}", "b"),
    _K.WANTED: Told("asks for {}", "{a}", "b"),
    _K.ACCEPTED: Told("accepts {} offer", "{whose}"),
    _K.REFUSED: Told("refuses {} offer", "{whose}"),
    _K.REFUSED_UNASKED: Told("cannot meet {} offer", "{whose}"),
    _K.TIE_BROKEN: Told("wins the tie by {}", "{a}"),
    _K.WON: Told("wins the game"),
    _K.CUT_OFF: Told("the game is cut off"),
    _K.RANK: Told("ends on rank {}", "{a}"),
}
_ROWS, _TOLD = list(KIND_ROWS.values()), list(TOLD.values())
_GROUP = np.array([row.causes == "group" and kind != _K.ABILITY for kind, row in KIND_ROWS.items()])  # for certain
_EFFECTS = {*range(_K.GAINED, _K.MINER + 1), _K.STAR, _K.SACRIFICED} - {_K.SHUFFLED}  # of which is told why
_IMPLIED = {_K.ROLL, _K.ABILITY, _K.REACTION, _K.BONUS, _K.PENALTY, _K.HAND_LIMIT}  # told only where no effect follows
_TIES = ("more stars", "higher morale", "lower knowledge", "more markets", "more territories", "the lower roll", "the lot")
_NAMED: dict[str, Callable[[str], str]] = {  # the fields that stand for names
    "artifact": str,
    "faction": str.capitalize,
    "item": str,
    "market": lambda name: site_name(name.replace("market", "site")),
    "payment": "for {}".format,
    "recruit": short_name,
    "resolution": "a {}".format,
    "tie-break": dict(zip(NAMES["tie-break"], _TIES, strict=True)).__getitem__,
    "tile": title,
}
_RETRIEVING = TOLD[_K.RETRIEVES].why


class _Clause(NamedTuple):
    player: int  # -1: none
    says: str
    why: str = ""
    counted: bool = False
    item: str = ""
    n: int = 1
    source: str = ""


class _Teller:
    """Tells events one after the other, with what caused them, to the player of a seat or to everybody."""

    def __init__(self, game: Game, names: Sequence[str]) -> None:
        row = game.states[0]
        tiles = zip(row["tile"].tolist(), row["built"].tolist(), strict=True)
        self._tiles = [TILES[tile] if built else None for tile, built in tiles]
        self._names = names
        self.turn = game.turn
        self.clauses: list[_Clause] = []
        self._obvious = set[str]()  # why things happen that the line says anyway
        self._group = self._interruption = self._next = self._source = ""  # why what comes next happens

    def space(self, space: str) -> str:
        """The name of a space; of a market by its tile."""
        return space_name(space, self._tiles[MARKETS.index(space)] if space in MARKETS else None)

    def star_place(self, place: str) -> str:
        """The place of a star."""
        return f"in {territory_name(place)}" if place in TERRITORIES else f"on {self.space(place)}"

    def _field(self, meaning: str, value: int) -> str:
        if value < 0:
            return ""
        if meaning in _NAMED:
            return _NAMED[meaning](NAMES[meaning][value])
        if meaning == "space":
            return self.space(SPACES[value])
        if meaning == "star place":
            return self.star_place(STAR_PLACES[value])
        if meaning == "player":
            return self._names[value]
        return str(value) if value or meaning != "now at" else "no step"

    def tell(self, events: list[list[int]]) -> None:
        """Adds the clauses of events."""
        for (kind, player, a, b), (following, *_) in zip(events, [*events[1:], [0]], strict=False):
            row, told = _ROWS[kind], _TOLD[kind]
            self.turn += kind == _K.TURN
            fields = {"a": self._field(row.a, a), "b": self._field(row.b, b), "turn": self.turn}
            fields["whose"] = possessive(self._names[a]) if row.a == "player" else ""
            if told.says and not (kind in _IMPLIED and _follows(kind, following)):
                hidden = row.secret and a < 0
                item = told.hidden if hidden else told.item.format_map(fields)
                n = 1 if hidden else {"a": a, "b": b}.get(told.number, 1)
                why = (self._next or self._interruption or self._group) if kind in _EFFECTS else ""
                self.clauses.append(_Clause(player, told.says, why, hidden or bool(told.number), item, n, self._source))
            self._note_cause(kind, causes(kind, a), told.why.format_map(fields))

    def _note_cause(self, kind: int, scope: str, why: str) -> None:
        """Keeps why the events happen that follow."""
        self._next = why if scope == "next" else ""
        self._source = "allegiance" if kind == _K.BONUS else ""
        if scope == "interruption":
            self._interruption = why
        elif scope == "group":
            self._group, self._interruption = why, ""
        elif kind == _K.WAY:
            self._group = listed(filter(None, [self._group if self._group not in self._obvious else "", why]))
        elif kind == _K.RESUMED:
            self._interruption = ""
        if kind == _K.PLACED:
            self._obvious.add(why)
        elif kind == _K.RETRIEVED:
            self._obvious.add(_RETRIEVING)

    def line(self) -> str:
        """The clauses so far as a line; the next one begins."""
        parts, last = list[str](), -1
        for (player, says, why, counted), run in groupby(self.clauses, key=lambda clause: clause[:4]):
            told = [clause[4:] for clause in run]
            items = totals(told) if counted else [item for item, *_ in told]
            text = says.format(listed(items)) + (f" ({why})" if why and why not in self._obvious else "")
            if player >= 0:
                text = does(self._names[player], text).removeprefix(f"{self._names[player]} " if player == last else "")
            last = player
            parts.append(text)
        self.clauses, self._obvious = [], set()
        return capital("; ".join(parts))


def _follows(kind: int, following: int) -> bool:
    """Whether the next event is told as what this one brings about, or is another of the same penalties."""
    return following in ((_K.DIE, _K.FACE_SET) if kind == _K.ROLL else _EFFECTS) or kind == following == _K.PENALTY


def log(
    game: Game, seat: int | None = None, names: Sequence[str] | None = None, since: int = 0, *, spoken_to: bool = True
) -> list[str]:
    """The log, a line for each decision: who did what, and why.

    Args:
        game: with its history.
        seat: who reads it; None: everybody. Cards that the reader may not know are not named (R19).
        names: what the players are called; None: "player 0" and so on.
        since: only the lines of the decisions from this number on; the first is 0, and tells of the deal too.
        spoken_to: whether the reader is "you", or has a name as the others have.

    Raises:
        ValueError: no such seat, another number of names, or a number less than 0.
    """
    events, decided = game.event_array(seat), game.decided(since)
    teller = _Teller(game, called(game.rules.num_players, seat if spoken_to else None, names))
    if not decided:
        return []
    first = decided[0].first if since else 0
    groups = np.flatnonzero(_GROUP[events[:first, 0]])
    begin = int(groups[-1]) if len(groups) else 0
    teller.turn -= int(np.count_nonzero(events[begin:, 0] == _K.TURN))
    teller.tell(events[begin:first].tolist())
    teller.line()
    lines = []
    for player, action, _, end in decided:
        teller.tell(events[first:end].tolist())
        first = end
        if action == actions.END or all(clause.says == TOLD[_K.TURN].says for clause in teller.clauses):
            teller.clauses.insert(0, _choice(teller, player, action))
        lines.append(teller.line())
    return lines


# Choices by which nothing happens yet: by the first word of the notation, the verb and how the item is told.
_CHOICES = {
    "end": "places no further worker",
    "done": "takes no further worker",
    "take": "chooses {}",
    "sacrifice": "chooses {}",
    "dilemma": "wants {} for the dilemma",
    "pay": "chooses to pay {}",
    "gain": "chooses {}",
    "lose": "chooses to lose {}",
    "discard": "chooses to discard {}",
    "star": "chooses to place a star {}",
    "set": "chooses the face {}",
    "give": "chooses to offer {}",
    "ask": "chooses to ask for {}",
}
_WAYS = {"three": "any 3 artifacts", "match": "the artifact of the dilemma", "two": "any 2 artifacts", "one": "1 artifact"}
_WAYS |= {"knowledge": "knowledge +1"}


def _choice(teller: _Teller, player: int, action: int) -> _Clause:
    """The texts of a move."""
    verb, *rest = actions.NAMES[action].split()
    what = rest[-1] if rest else ""
    if verb in ("take", "sacrifice"):
        item = f"the {rest[0] if len(rest) > 1 else 'worker'} on {teller.space(what)}"
    elif verb == "star":
        item = teller.star_place(what)
    elif verb == "gain":
        item = gain_name(what)
    elif verb in ("set", "dilemma"):
        item = what if verb == "set" else f"a {what}"
    else:
        item = _WAYS.get(what) or amount(len(rest), what)  # "pay pair bat": two
    return _Clause(player, _CHOICES.get(verb, "decides"), item=item)
