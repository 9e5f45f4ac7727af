"""The consequences of a move: it is played on copies of the game, in many ways; what happens in all of them is certain.

All that the player who decides cannot know is dealt again first (R19). A continuation ends with the next decision about a turn
or a placement, or with the game. Its events become *facts*: what happens to whom, why, and how much of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, takewhile

import numpy as np

from euphoria_env.actions import END, NUM_ACTIONS, PAY_MATCH, PAY_ONE, PAY_PAIR, PAY_THREE, PAY_TWO
from euphoria_env.board import (
    ALLEGIANCE_END,
    ARTIFACTS,
    FIRST_SLOT,
    KNOWLEDGE_LIMIT,
    MAX_PLAYERS,
    MAX_WORKERS,
    NUM_SPACES,
    SLOT_SET,
    SLOTS_PER_SITE,
    STAR_PLACES,
)
from euphoria_env.cards.recruits import BEN, ESME, FACTION_OF
from euphoria_env.cards.tiles import ACADEMY, FACE_PENALTY
from euphoria_env.engine.chance import DICE
from euphoria_env.engine.determinize import deal_hidden
from euphoria_env.engine.loop import step
from euphoria_env.engine.observe import write_mask
from euphoria_env.engine.state import HELD, IN_DECK, ON_SITE, OUT, OUT_BY, OVER, Operation, copy_rows
from euphoria_env.engine.tape import TAPE_FIRST, TAPE_NEXT, empty_tape
from euphoria_env.event_kinds import EVENT_SIZE, NAMES
from euphoria_env.words.facts import CHOICE, MAY_PLACE, MAY_USE, Consequences, Continuation, D, Fact, K, Path, Question, V
from euphoria_env.words.names import amount, either, gains, star_place, units

# Faces of the dice that continuations roll: the lowest, the highest, unequal ones twice, then each other face.
_ALWAYS, _UNEQUAL = 2, 4
_ROLLS = ([1] * 16, [6] * 16, [1, 2, 3, 4] * 4, [6, 5, 4, 3] * 4, *([face] * 16 for face in range(2, 6)))
_MOST_LINES = 250  # continuations of a move for each of these rolls
_EVENTS = 600  # of one step, at most
_SUMS = [np.ones(1)]  # the chance of each sum of faces, by the number of dice
for _ in range(MAX_WORKERS):
    _SUMS.append(np.convolve(_SUMS[-1], [0, *[1 / 6] * 6]))


_BY_ROLL = NAMES["tie-break"].index("roll")
_VERBS = {V.PAY: "pay", V.GAIN: "gain", V.MINE: "gain", V.LOSE: "lose", V.DISCARD: "discard"}


def consequences(rows: np.ndarray, moves: list[int]) -> list[Consequences]:
    """The consequences of legal moves of the game in `rows`, an array of one row, as far as the player who decides may know."""
    rows = copy_rows(rows)
    deal_hidden(rows, 0, int(rows[0]["player"]), 1)
    faces = _faces_that_matter(rows[0])
    recruits = _recruits_to_draw(rows[0])
    return [_Explorer(rows, move).explore(faces, recruits) for move in moves]


class _Explorer:
    """Plays a move on copies of a game, and then all that may follow until the next placement or turn."""

    def __init__(self, rows: np.ndarray, move: int) -> None:
        self.rows, self.move, self.start = copy_rows(rows), move, rows[0]
        if move < END and SLOT_SET >> move % NUM_SPACES & 1:
            _without_academy(self.rows[0], (move % NUM_SPACES - FIRST_SLOT) // SLOTS_PER_SITE)
        self.facts: dict[Fact, Fact] = {}  # by the same without numbers
        self.lines = self.plain = 0
        self.asked = _question(self.start, self.start, _legal(rows))
        self.chances = [(1.0, 0.0)] * int(self.start["num_players"])

    def explore(self, faces: set[int], recruits: list[int]) -> Consequences:
        """The consequences, with `_faces_that_matter` and `_recruits_to_draw`."""
        for k, dice in enumerate(_ROLLS):
            if k >= _ALWAYS and (0 if k < _UNEQUAL else dice[0]) not in faces:
                continue
            tape = empty_tape(_EVENTS, [dice, [], recruits])
            first, rolled = tape[DICE], False
            for backwards in (False, True):
                found = list(islice(self.continuations(self.rows, tape, self.move, [], 2 - backwards, backwards), _MOST_LINES))
                rolled |= any(used[DICE] > first for _, _, used in found)
                for path, g, _ in found:
                    self.add(path, g, with_chances=k == 0)
                if len(found) == 1:
                    break
            if not rolled:
                break
        return Consequences([*self.facts.values()], self.lines, self.plain, self.chances)

    def continuations(
        self, rows: np.ndarray, tape: np.ndarray, action: int, path: Path, deviations: int, backwards: bool
    ) -> Iterator[tuple[Path, np.void, np.ndarray]]:
        """Plays an action and continues in all ways in which at most `deviations` answers are not the first of their options.

        Yields the events and questions of each, the game at its end, and the tape.
        """
        rows, tape = copy_rows(rows), tape.copy()
        tape[TAPE_NEXT] = tape[TAPE_FIRST]
        step(rows, 0, action, tape)
        events, g = tape[tape[TAPE_FIRST] : tape[TAPE_NEXT]].reshape(-1, EVENT_SIZE).tolist(), rows[0]
        path = [*path, *takewhile(lambda event: event[0] != K.TURN, events)]
        ended = g["status"] >= OVER or g["turn"] != self.start["turn"] or g["ask"] == D.OPEN
        legal = [] if ended else _legal(rows)
        if question := None if ended else _question(self.start, g, legal):
            path.append(question)
        if ended or g["ask"] == D.FURTHER:
            yield path, g, tape
            return
        options = _options(g, legal, int(self.start["player"]))
        for k, option in enumerate(reversed(options) if backwards else options):
            if k == 0 or deviations:
                yield from self.continuations(rows, tape, option, path, deviations - (k > 0), backwards)

    def add(self, path: Path, g: np.void, with_chances: bool) -> None:
        """Adds a continuation that ended with the game `g` so."""
        path, tied = _before_roll_off(path, g)
        line = Continuation(self.asked)
        for entry in path:
            line.add(entry)
        line.found.update(Fact(K.WON, q, reaction=1) for q in tied)
        counts = not any(fact.kind == K.STAYS for fact in line.found)
        plain = counts and not line.uses_ability
        self.lines += counts
        self.plain += plain
        for fact, n in line.found.items():
            *_, least, most, lines, others = self.facts.get(fact, (n, n, 0, 0))
            self.facts[fact] = Fact(*fact[:7], min(least, n), max(most, n), lines + counts, others + plain)
        if with_chances:
            self.add_chances(path)

    def add_chances(self, path: Path) -> None:
        """Widens the chances to lose a worker by those in a continuation."""
        rolled = {entry[1] for entry in path if entry[0] == K.ROLL}
        for p, (low, high) in enumerate(self.chances):
            events = [entry for entry in path if entry[1] == p and not isinstance(entry, Question)] if p in rolled else []
            chance = _chance_to_lose(self.start, p, events, self.start["ask"] == D.SET_FACE) if events else 0.0
            if chance is not None:
                self.chances[p] = min(low, chance), max(high, chance)


def _before_roll_off(path: Path, g: np.void) -> tuple[Path, list[int]]:
    """Returns the events before the rolls that decide a tie (R16.2), and who rolls; without such rolls, all events and nobody."""
    rolls = (K.ROLL, K.DIE, K.LOT, K.TIE_BROKEN)
    for k in range(len(path) - 1, -1, -1) if g["status"] == OVER else ():
        if path[k][0] == K.TIE_BROKEN and path[k][2] >= _BY_ROLL:
            while path[k][0] in rolls:
                k -= 1
            return path[: k + 1], np.flatnonzero(g["ranking"][: g["num_players"]] <= 2).tolist()
    return path, []


# ---------------------------------------------------------------------------------------------------- decisions on the way


def _legal(rows: np.ndarray) -> list[int]:
    """The legal moves, ascending."""
    mask = np.empty(NUM_ACTIONS, np.bool_)
    write_mask(rows, 0, mask)
    return np.flatnonzero(mask).tolist()


def _options(g: np.void, legal: list[int], mover: int) -> list[int]:
    """The answers to try; only two where many make no difference: in a series, and where others choose."""
    asked, units = g["ask"], g["units_a"] + g["units_b"]
    few = g["player"] != mover or asked in (D.SET_FACE, D.SACRIFICE)
    few |= asked == D.TAKE and g["num_taken"] > 0
    few |= asked == D.SERIES and (g["verb"] == V.DISCARD or (g["verb"] != V.LOSE and units > 1))
    if asked == D.USE:
        return legal[::-1]  # an ability is first declined
    return [legal[0], legal[-1]] if few and len(legal) > 2 else legal


def _question(start: np.void, g: np.void, legal: list[int]) -> Question | None:
    """Returns the question that follows in a continuation of `start`; None for a further placement, which is always allowed."""
    asked, p = g["ask"], int(g["player"])
    operation, _, _, left = g["stack"][max(0, int(g["depth"]) - 1)].tolist()
    if asked == D.SERIES:
        verb, n = int(g["verb"]), int(g["units_a"] + g["units_b"])
        for_space = verb == V.PAY and operation != Operation.BLISS_PAID
        return Question(CHOICE, p, -1, _VERBS[verb], _series_text(g, verb), n, for_space)
    if asked in (D.ARTIFACT_WAY, D.DILEMMA_WAY):
        return Question(CHOICE, p, -1, "pay", either(_way_texts(g, legal)), 3, True)
    if asked == D.STAR:
        places = either(star_place(start, k) for k in range(len(STAR_PLACES)) if g["set_a"] >> k & 1)
        return Question(CHOICE, p, -1, "place", f"1 star {places}", 1)
    if asked == D.SET_FACE:
        return Question(CHOICE, p, -1, "set", "the number of that worker")
    if asked == D.USE:
        return Question(MAY_USE, p, int(g["card"]))
    if asked == D.FURTHER:
        return Question(MAY_PLACE, p) if operation == Operation.FURTHER_ANSWERED and not left else None
    return Question(-1, p)


def _series_text(g: np.void, verb: int) -> str:
    """Returns the choice of a series in words: "1 bliss, 1 other commodity"; "" where a roll takes something, which is a risk."""
    groups = [(int(g["units_a"]), int(g["set_a"])), (int(g["units_b"]), int(g["set_b"]))]
    if verb == V.LOSE:
        return ""
    if verb == V.DISCARD:
        return amount(groups[0][0], "artifact")
    return ", ".join(units(n, items) if verb == V.PAY else gains(n, items) for n, items in groups if n)


def _way_texts(g: np.void, legal: list[int]) -> Iterator[str]:
    """The legal ways to pay artifacts."""
    texts = {PAY_THREE: "3 artifacts", PAY_PAIR: "a pair", PAY_TWO: "2 artifacts", PAY_ONE: "1 artifact"}
    texts[PAY_MATCH] = amount(1, ARTIFACTS[int(g["dilemma"][int(g["player"])])])
    ways = {PAY_PAIR if PAY_PAIR <= action < PAY_THREE else action for action in legal}
    return (texts[way] for way in (PAY_THREE, PAY_PAIR, PAY_MATCH, PAY_TWO, PAY_ONE) if way in ways)


# ------------------------------------------------------------------------------------------------ what nobody knows before


def _chance_to_lose(start: np.void, p: int, events: Sequence[Sequence[int]], setting: bool) -> float | None:
    """The chance of a player to lose a worker to the knowledge check, over all faces of the dice that are rolled (R5.3).

    Args:
        start: the game before.
        p: the player.
        events: the events of that player in a continuation.
        setting: whether a face that is set counts; otherwise the chance is None where a face is set.
    """
    knowledge = int(start["knowledge"][p])
    known = knowledge + sum((k + 1) * n for k, n in enumerate(start["available"][p].tolist()))  # of the sum that is checked
    safe = np.ones(1)  # the chance of each sum of the dice so far, no worker being lost
    rolling = dice = 0
    for kind, _, a, b in events:
        if kind == K.ROLL:
            rolling, dice = a, 0
        elif kind in (K.DIE, K.FACE_SET):
            if kind == K.FACE_SET and not setting:
                return None
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


def _faces_that_matter(g: np.void) -> set[int]:
    """The faces that cost somebody a good; all, and 0, if equal ones matter to somebody (Ben)."""
    if HELD <= g["recruit_place"][BEN] < HELD + MAX_PLAYERS:
        return {*range(7)}
    penalties = np.bitwise_or.reduce(g["penalty"])
    return {face for face in range(1, 7) if penalties >> int(FACE_PENALTY[face]) & 1}


def _without_academy(g: np.void, market: int) -> None:
    """Puts another tile there if the one that was dealt switches off recruits; that must not count as known."""
    if g["built"][market] or g["tile"][market] != ACADEMY:
        return
    for other in np.flatnonzero(g["built"] == 0):
        if other != market:
            g["tile"][market], g["tile"][other] = g["tile"][other], ACADEMY
            return
    places = g["tile_place"]
    for tile in np.flatnonzero(places == IN_DECK)[:1]:
        places[ACADEMY], places[tile] = IN_DECK, ON_SITE
        g["tile"][market] = tile


def _recruits_to_draw(g: np.void) -> list[int]:
    """A recruit who gets a star at once, Esme best of all, and one who does not, for the dilemma to draw (R14.1); -1: none."""
    found = [-1, -1]
    for card, place in enumerate(g["recruit_place"].tolist()):
        if place in (IN_DECK, OUT) or (OUT_BY <= place < ON_SITE and place != OUT_BY + g["player"]):
            starred = g["allegiance"][FACTION_OF[card]] == ALLEGIANCE_END
            if not starred or card == ESME or found[0] < 0:
                found[not starred] = card
    return found
