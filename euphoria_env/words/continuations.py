"""Continuations of a move: plays the move on copies of the game, and continues until the next placement or turn.

First, all cards hidden from the player who decides are dealt again (R19). The copies roll low, high and mixed dice, take the
first and the last answer to every choice, and decline every ability about which a player is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from euphoria_env.actions import NUM_ACTIONS, PAY_MATCH, PAY_ONE, PAY_PAIR, PAY_THREE, PAY_TWO, SKIP, USE
from euphoria_env.board import ARTIFACTS, KNOWLEDGE_LIMIT, MAX_WORKERS, STAR_PLACES
from euphoria_env.cards.recruits import GAMBLER, RECRUIT_NAMES
from euphoria_env.decisions import Decision, Verb
from euphoria_env.engine.determinize import deal_hidden
from euphoria_env.engine.loop import step
from euphoria_env.engine.observe import write_mask
from euphoria_env.engine.state import OVER, copy_rows
from euphoria_env.engine.tape import TAPE_FIRST, TAPE_NEXT, empty_tape
from euphoria_env.event_kinds import EVENT_SIZE, NAMES, SECRET
from euphoria_env.phrases import Phrase, Text, listed
from euphoria_env.words.event_text import HAND_LIMIT, RETRIEVING, Clause, K, Narrator
from euphoria_env.words.names import counted, gains, named, star_place, units

D, V = (SimpleNamespace(**{member.name: int(member) for member in kinds}) for kinds in (Decision, Verb))
_ROLLS = ([1] * 16, [6, 5, 4, 3] * 4)  # the faces that continuations roll
_STEP_EVENTS = 300  # the most events of one step
COST_KINDS = {K.PAID, K.GIVEN, K.DISCARDED, K.KNOWLEDGE_PAID, K.MORALE_PAID, K.MORALE_LOST, K.SACRIFICED}
GAIN_KINDS = {
    K.GAINED, K.RECEIVED, K.DRAWN, K.KNOWLEDGE_GAINED, K.KNOWLEDGE_LOST, K.MORALE_GAINED, K.ALLEGIANCE, K.MINER,
    K.STAR, K.STAR_ON_RECRUIT, K.STAR_ON_DILEMMA, K.WORKER_GAINED,
}  # fmt: skip
NEWS_KINDS = {K.REVEALED, K.RECRUIT_ACTIVE, K.RECRUIT_DEALT, K.BUILT, K.WON, K.CUT_OFF}
_TOLD = COST_KINDS | GAIN_KINDS | NEWS_KINDS
KINDS_OF_OTHERS = (GAIN_KINDS - {K.RECEIVED}) | {K.KNOWLEDGE_PAID, K.MORALE_PAID, K.MORALE_LOST}
# The events that are results of a choice; the text of the choice covers them.
CHOSEN_KINDS = {
    K.PAID, K.GAINED, K.LOST, K.DRAWN, K.DISCARDED, K.KNOWLEDGE_PAID, K.KNOWLEDGE_LOST, K.MORALE_GAINED, K.STAR, K.SACRIFICED,
}  # fmt: skip
_VERBS = {V.PAY: "pay", V.GAIN: "gain", V.MINE: "gain", V.DISCARD: "discard"}
_SECRET = SECRET.tolist()
_ROLL_OFF = NAMES["tie-break"].index("roll")
_SUMS = [np.ones(1)]  # by the number of dice, the probability of each sum of faces
for _ in range(MAX_WORKERS):
    _SUMS.append(np.convolve(_SUMS[-1], [0, *[1 / 6] * 6]))


class _Choice(NamedTuple):
    """A choice: who makes it, its verb ("pay", "gain"), the alternatives in words, and the number of units."""

    player: int
    verb: str
    text: Text
    units: int


class Continuation:
    """One continuation of a move; its narrator turns events into clauses, with their causes."""

    def __init__(self, g: np.void, narrator: Narrator) -> None:
        self.narrator, self.p = narrator, int(g["player"])
        self.found: dict[Clause, int] = {}  # the changes to mention, without the results of choices
        self.events: list[list[int]] = []  # all events, without the rolls that decide a tie
        self.kinds: set[int] = set()
        self.abilities: list[tuple[int, int]] = []  # the recruits about whose use a player is asked, each with the player
        self.has_choice = self.by_roll = self._shows_hand = False
        self._chooser, self._units = -1, 0  # the player who chooses, and the units of the choice still to come
        self._asked: _Choice | None = None  # the last choice, if no event came after it
        self._knows_cards = True  # false once a card that was dealt at random is turned up

    def add(self, event: list[int]) -> None:
        """Adds an event."""
        kind, player, a, b = event
        if kind == K.ABILITY and a == GAMBLER:
            self._shows_hand = True
        if self._shows_hand and player != self.p and kind in (K.DRAWN, K.HAND_LIMIT):
            return  # the player who decides cannot know whether the hand holds a pair
        if kind == K.TIE_BROKEN and a >= _ROLL_OFF:
            self.by_roll = True
            while self.events[-1][0] in (K.ROLL, K.DIE, K.LOT):
                self.events.pop()
        if kind in _TOLD:
            self._count(*self.narrator.clause(kind, player, -1 if _SECRET[kind] else a, b))
        if self.narrator.keep_cause(*event) and kind not in (K.PAYS, K.DILEMMA, K.REACTION):
            self._units = 0
        self._knows_cards &= kind not in (K.BUILT, K.REVEALED)
        self._asked = None
        self.events.append(event)
        self.kinds.add(kind)

    def _count(self, clause: Clause, n: int) -> None:
        is_reaction = bool(self.events) and self.events[-1][0] == K.REACTION
        if clause.kind in CHOSEN_KINDS and clause.player == self._chooser and self._units > 0 and not is_reaction:
            self._units -= n
        elif n and self._is_told(clause.kind, clause):
            self.found[clause] = self.found.get(clause, 0) + n

    def _is_told(self, kind: int, clause: Clause) -> bool:
        """Returns whether to mention a change: not an effect of hidden cards, nor what a roll or the hand limit takes."""
        if kind == K.WON:
            return not self.by_roll
        if kind in NEWS_KINDS:
            return kind != K.RECRUIT_ACTIVE or clause.player == self.p
        if not self._knows_cards and (clause.why or (kind == K.STAR_ON_RECRUIT and clause.player != self.p)):
            return False
        return kind in KINDS_OF_OTHERS if clause.player != self.p else clause.why != HAND_LIMIT

    def ask(self, g: np.void, legal: list[int]) -> None:
        """Adds the question that a player is asked."""
        if g["ask"] == D.USE:
            self.abilities.append((int(g["player"]), int(g["card"])))
            return
        self.has_choice = True
        choice = _choice(g, legal)
        if self.begin_choice(choice) and choice and self.narrator.why != HAND_LIMIT:
            clause = self.narrator.choice(choice.player, choice.verb, choice.text)
            self.found[clause] = self.found.get(clause, 0) + 1

    def begin_choice(self, choice: _Choice | None) -> bool:
        """Expects the results of a choice, which are not mentioned; returns False if there is no new choice."""
        previous, self._asked = self._asked, choice
        if choice is None or choice == previous or (choice.verb == "pay" and self._units > 0):
            return False
        self._chooser, self._units = choice.player, choice.units
        return True


@cache
def _tapes() -> list[np.ndarray]:
    """Returns a tape for each way to roll, which nobody may change."""
    return [empty_tape(_STEP_EVENTS, [dice]) for dice in _ROLLS]


class Explorer:
    """Plays moves on copies of a game."""

    def __init__(self, rows: np.ndarray, names: Sequence[Text]) -> None:
        self._start, self._rows = copy_rows(rows), copy_rows(rows)
        self.g: np.void = self._start[0]
        deal_hidden(self._start, 0, int(self.g["player"]), 1)
        self._bytes, self._start_bytes = self._rows.view(np.uint8), self._start.view(np.uint8)
        self._tapes = _tapes()
        self._tape = self._tapes[0].copy()
        self._narrator = Narrator(self.g, names, 0)
        self._obvious: set[Text] = {named(self.g, int(self.g["space"])), RETRIEVING}
        self._choice = _choice(self.g, _legal(rows))

    def continuations(self, move: int) -> list[list[Continuation]]:
        """Plays a move with low, then other dice, and different answers to choices; returns the continuations of each roll."""
        found: list[list[Continuation]] = []
        for tape in self._tapes:
            found.append([])
            for last in (False, True):
                self._tape[:] = tape
                self._bytes[:] = self._start_bytes
                found[-1].append(self._play(move, last))
                if not found[-1][-1].has_choice:
                    break
            if not any(K.DIE in line.kinds for line in found[-1]):
                break
        return found

    def _play(self, action: int, last: bool) -> Continuation:
        """Plays an action, then the first or the last legal one at each choice."""
        g, tape, turn = self._rows[0], self._tape, self.g["turn"]
        self._narrator.begin(
            self._obvious | ({Phrase(f"short.{RECRUIT_NAMES[action - USE]}")} if USE <= action < SKIP else set())
        )
        line = Continuation(self.g, self._narrator)
        line.begin_choice(self._choice)
        while True:
            tape[TAPE_NEXT] = tape[TAPE_FIRST]
            step(self._rows, 0, action, tape)
            events = tape[tape[TAPE_FIRST] : tape[TAPE_NEXT]].reshape(-1, EVENT_SIZE).tolist()
            for event in events:
                if event[0] == K.TURN:
                    break
                line.add(event)
            asked = g["ask"]
            if g["status"] >= OVER or g["turn"] != turn or asked in (D.OPEN, D.FURTHER, D.RECRUIT):
                return line
            legal = _legal(self._rows)
            line.ask(g, legal)
            action = legal[-1 if last or asked == D.USE else 0]


def _legal(rows: np.ndarray) -> list[int]:
    """Returns the legal moves, ascending."""
    mask = np.empty(NUM_ACTIONS, np.bool_)
    write_mask(rows, 0, mask)
    return mask.nonzero()[0].tolist()


def _choice(g: np.void, legal: list[int]) -> _Choice | None:
    """Returns the choice that a player is asked to make; None if nothing is paid or gained by it, or if a roll forces it."""
    asked, p = g["ask"], int(g["player"])
    if asked == D.SERIES and g["verb"] != V.LOSE:
        verb, groups = int(g["verb"]), [(int(g[f"units_{k}"]), int(g[f"set_{k}"])) for k in "ab"]
        if verb == V.DISCARD:
            return _Choice(p, "discard", counted(groups[0][0], "artifact"), groups[0][0])
        parts = [(units if verb == V.PAY else gains)(n, items) for n, items in groups if n]
        return _Choice(p, _VERBS[verb], listed(parts, "comma"), groups[0][0] + groups[1][0])
    if asked in (D.ARTIFACT_WAY, D.DILEMMA_WAY):
        return _Choice(p, "pay", listed(_ways(g, legal), "either"), 3)
    if asked == D.STAR:
        places = [star_place(g, k) for k in range(len(STAR_PLACES)) if g["set_a"] >> k & 1]
        return _Choice(p, "place", Phrase("amount.star_at", n=1, a=listed(places, "either")), 1)
    return _Choice(p, "pay", counted(1, "worker"), 1) if asked == D.SACRIFICE else None


def _ways(g: np.void, legal: list[int]) -> Iterator[Phrase]:
    """Returns the legal ways to pay artifacts."""
    texts = {PAY_THREE: counted(3, "artifact"), PAY_PAIR: Phrase("a_pair"), PAY_TWO: counted(2, "artifact")}
    texts |= {PAY_ONE: counted(1, "artifact"), PAY_MATCH: counted(1, ARTIFACTS[int(g["dilemma"][int(g["player"])])])}
    ways = {PAY_PAIR if PAY_PAIR <= action < PAY_THREE else action for action in legal}
    return (texts[way] for way in (PAY_THREE, PAY_PAIR, PAY_MATCH, PAY_TWO, PAY_ONE) if way in ways)


def chance_to_lose(start: np.void, p: int, events: Iterable[Sequence[int]]) -> float:
    """Returns the probability that a player loses a worker to the knowledge check, over all rolls of the dice (R5.3).

    `start` is the row of the game before the move, `events` are those of a continuation.
    """
    knowledge = int(start["knowledge"][p])
    known = knowledge + sum((k + 1) * n for k, n in enumerate(start["available"][p].tolist()))  # the part without dice
    safe = np.ones(1)  # the probability of each sum of the dice so far without a lost worker
    rolling = dice = 0
    for kind, _, a, b in (event for event in events if event[1] == p):
        if kind == K.ROLL:
            rolling, dice = a, 0
        elif kind in (K.DIE, K.FACE_SET):
            known += (a if kind == K.FACE_SET else 0) - max(0, b)
            rolling, dice = rolling - 1, dice + (kind == K.DIE)
            if rolling == 0 and not start["lost_worker"][p]:
                safe = np.convolve(safe, _SUMS[dice])
                safe[max(0, KNOWLEDGE_LIMIT - known) :] = 0.0
        elif kind in (K.BUMPED, K.RETRIEVED, K.RETURNED):
            known += b
        elif kind in (K.PLACED, K.WORKER_LOST):
            known -= b if kind == K.PLACED else a
        elif kind in (K.KNOWLEDGE_GAINED, K.KNOWLEDGE_PAID, K.KNOWLEDGE_LOST):
            known, knowledge = known + b - knowledge, b
    return 1.0 - float(safe.sum())
