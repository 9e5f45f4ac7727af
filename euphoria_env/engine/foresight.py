"""The consequences of a move: the engine plays it on a copy, goes on in many ways, and what these have in common is certain.

All that the player who decides cannot know is dealt again first (R19). A continuation ends with the next decision about a turn
or a placement, or with the game. Its events become *facts*: what happened to whom, by what cause, and how much of it.
"""

from __future__ import annotations

import numpy as np

from euphoria_env.actions import NUM_ACTIONS, PAY_ONE, PAY_PAIR, PAY_THREE, SKIP, USE
from euphoria_env.board import (
    ALLEGIANCE_END,
    FIRST_MARKET,
    FIRST_SLOT,
    KNOWLEDGE_LIMIT,
    MAX_PLAYERS,
    MAX_WORKERS,
    NUM_MARKETS,
    NUM_SPACES,
    SLOTS_PER_SITE,
)
from euphoria_env.cards.recruits import BEN, ESME, FACTION_OF, GAMBLER, GEEK, NUM_RECRUITS
from euphoria_env.cards.tiles import ACADEMY, FACE_PENALTY
from euphoria_env.decisions import Decision, Verb
from euphoria_env.engine.byte_copies import pointer_to
from euphoria_env.engine.chance import DICE, RECRUIT_CARDS
from euphoria_env.engine.determinize import deal_hidden_row
from euphoria_env.engine.jit import entry, jit
from euphoria_env.engine.legal_moves import answer
from euphoria_env.engine.loop import advance
from euphoria_env.engine.move_set import is_legal, list_moves
from euphoria_env.engine.state import HELD, IN_DECK, ON_SITE, OUT, OUT_BY, OVER, ROWS, Operation, under
from euphoria_env.engine.tape import TAPE, TAPE_FIRST, TAPE_HEADER, TAPE_NEXT, empty_tape, note
from euphoria_env.event_kinds import EVENT_SIZE, KIND_ROWS, EventKind

# Decisions are noted among the events, as kinds of their own; of a series `a` is its verb and units, `b` its two sets.
ASKED = len(EventKind)
_KINDS = ASKED + len(Decision)
FOR_SPACE = 1 << 15  # in `a`: a space is paid, or the dilemma

WAYS = ("3 artifacts", "a pair", "the artifact of the dilemma", "2 artifacts", "1 artifact")

# Of whom, what and how much; `b` of an event is the recruit that brings it about with another change (Nick, Curtis). In how many
# continuations, and in how many of those in which nobody uses an optional ability.
FACT_COLUMNS = ("kind", "player", "a", "b", "cause", "cause_player", "cause_a", "least", "most", "lines", "plain")
LEAST, MOST, LINES, PLAIN = range(7, 11)
MOST_FACTS = 96
DEEPEST = 32  # decisions in one continuation
_EVENTS = 600
MOST_LINES = 250  # continuations of a move in all

_E = EventKind
# The kinds that become facts, and the results of a series of choices, which are told by its terms.
_TOLD = (
    _E.PAID, _E.LOST, _E.GAINED, _E.GIVEN, _E.RECEIVED, _E.DRAWN, _E.DISCARDED, _E.KNOWLEDGE_GAINED, _E.KNOWLEDGE_PAID,
    _E.KNOWLEDGE_LOST, _E.MORALE_GAINED, _E.MORALE_PAID, _E.MORALE_LOST, _E.ALLEGIANCE, _E.MINER, _E.REVEALED,
    _E.RECRUIT_ACTIVE, _E.BUILT, _E.STAR, _E.STAR_ON_RECRUIT, _E.STAR_ON_DILEMMA, _E.HAND_LIMIT, _E.PENALTY, _E.STAYS,
    _E.WORKER_LOST, _E.WORKER_GAINED, _E.ABILITY, _E.SACRIFICED, _E.RECRUIT_DEALT, _E.BUMPED, _E.RETURNED, _E.FACE_SET,
    _E.ROLL, _E.CUT_OFF,
)  # fmt: skip
_CHOSEN = (
    _E.PAID, _E.GAINED, _E.LOST, _E.DRAWN, _E.DISCARDED, _E.KNOWLEDGE_PAID, _E.KNOWLEDGE_LOST, _E.MORALE_GAINED, _E.STAR,
)  # fmt: skip
_ONE, _B_OF_A, _A, _UNNAMED = range(4)  # the amount of an event: 1 of `a`, `b` of `a`, `a`, or 1 of something


def _amount(kind: EventKind) -> int:
    row = KIND_ROWS[kind]
    if row.b == "number":
        return _B_OF_A
    if row.a == "steps" or row.a.startswith("number"):
        return _A
    return _UNNAMED if row.secret or row.a in ("space", "face") else _ONE


# Facts that are one whatever their cause.
_WITHOUT_CAUSE = (
    _E.ABILITY, _E.BUILT, _E.BUMPED, _E.CUT_OFF, _E.FACE_SET, _E.HAND_LIMIT, _E.PENALTY, _E.RECRUIT_ACTIVE, _E.RECRUIT_DEALT,
    _E.RETURNED, _E.REVEALED, _E.ROLL, _E.STAYS, _E.WORKER_GAINED, _E.WORKER_LOST, _E.WON,
)  # fmt: skip
WITHOUT_CAUSE = np.array([kind in _WITHOUT_CAUSE for kind in range(_KINDS)], np.bool_)
NAMED = np.array([kind in (_E.ABILITY, _E.BONUS, _E.PENALTY) for kind in EventKind], np.bool_)  # causes that `a` names
TOLD = np.array([kind in _TOLD for kind in range(_KINDS)], np.bool_)
CHOSEN = np.array([kind in _CHOSEN for kind in range(_KINDS)], np.bool_)
AMOUNT = np.array([_amount(kind) for kind in EventKind], np.int8)
CAUSES = np.array([("", "group", "interruption", "next").index(row.causes) for row in KIND_ROWS.values()], np.int8)
# Faces of the dice: the lowest first, then the highest, then unequal ones, then each other one.
_ROLLS = 16
ROLLS = np.array([[1] * 16, [6] * 16, [1, 2, 3, 4] * 4, [6, 5, 4, 3] * 4, *([face] * 16 for face in range(2, 6))], np.int32)
_ALWAYS, _UNEQUAL = 2, 4
_SUMS = [np.ones(1)]
for _ in range(MAX_WORKERS):
    _SUMS.append(np.convolve(_SUMS[-1], [0, *[1 / 6] * 6]))
SUMS = np.array([np.pad(row, (0, 6 * MAX_WORKERS + 1 - len(row))) for row in _SUMS])  # chance of each sum, by number of dice


@jit
def ways(legal):
    """The ways of paying that are legal, as a set over `WAYS`."""
    found = 0
    for way in range(PAY_PAIR, PAY_ONE + 1):
        if is_legal(legal, way):
            found |= 1 << (1 if way < PAY_THREE else way - PAY_THREE + int(way > PAY_THREE))
    return found


@jit
def note_question(g, tape):
    """Notes what is asked, with the terms of a series; of a further placement only Chase's."""
    asked, p = int(g["ask"]), int(g["player"])
    top = g["stack"][max(0, int(g["depth"]) - 1)]
    a = b = -1
    if asked == Decision.SERIES:
        a = int(g["verb"]) | int(g["units_a"]) << 3 | int(g["units_b"]) << 9
        if g["verb"] == Verb.PAY and top[0] != Operation.BLISS_PAID:
            a |= FOR_SPACE
        b = int(g["set_a"]) | int(g["set_b"]) << 16
    elif asked == Decision.USE:
        a = int(g["card"])
    elif asked == Decision.STAR:
        a = int(g["set_a"])
    elif asked == Decision.ARTIFACT_WAY or asked == Decision.DILEMMA_WAY:
        a = ways(g["legal"])
    elif asked == Decision.FURTHER and (top[0] != Operation.FURTHER_ANSWERED or top[3] != 0):
        return
    note(tape, ASKED + asked, p, a, b)


@jit
def list_options(g, mover, backwards, options):
    """Writes the answers to try, those of the rest of a series and of other players' choices as far as they make a difference."""
    asked = int(g["ask"])
    if asked == Decision.USE:
        options[0], options[1] = SKIP, USE + int(g["card"])
        n = 2
    else:
        n = list_moves(g["legal"], options)
        few = g["player"] != mover or asked == Decision.SET_FACE or asked == Decision.SACRIFICE
        few |= asked == Decision.TAKE and g["num_taken"] > 0
        few |= (
            asked == Decision.SERIES and g["verb"] != Verb.LOSE and (g["verb"] == Verb.DISCARD or g["units_a"] + g["units_b"] > 1)
        )
        if few and n > 2:
            options[1] = options[n - 1]
            n = 2
    if backwards:
        for k in range(n // 2):
            options[k], options[n - 1 - k] = options[n - 1 - k], options[k]
    return n


@jit
def add_fact(found, n, kind, p, a, b, cause, by, of, amount):
    """Adds to an existing fact, or a new one; returns the number of facts."""
    for k in range(n):
        f = found[k]
        if f[0] == kind and f[1] == p and f[2] == a and f[3] == b and f[4] == cause and f[5] == by and f[6] == of:
            f[LEAST] += amount
            return n
    if n == len(found):
        return n
    f = found[n]
    f[0], f[1], f[2], f[3], f[4], f[5], f[6] = kind, p, a, b, cause, by, of
    f[LEAST] = amount
    return n + 1


@jit
def collect(g, tape, last, under_way, found):
    """Makes facts from the events of a continuation; returns their number. `under_way`: it began in the middle of a series."""
    first = int(tape[TAPE_FIRST])
    n = left = 0
    cause = by = of = kept = kept_by = kept_of = once = once_by = once_of = chooser = -1
    interrupted = rolled_off = False
    for at in range(first, last, EVENT_SIZE):
        kind, p, a, b = int(tape[at]), int(tape[at + 1]), int(tape[at + 2]), int(tape[at + 3])
        if kind == EventKind.TURN:
            break
        if kind >= ASKED:
            asked = kind - ASKED
            paying = False
            if asked == Decision.SERIES:
                before = at - EVENT_SIZE
                if at == first and under_way:
                    continue
                if at > first and tape[before] == kind and tape[before + 2] == a and tape[before + 3] == b:
                    continue
                paying = a & 7 == Verb.PAY
                if paying and left > 0:
                    continue
                left = (a >> 3 & 63) + (a >> 9 & 63)
            elif asked == Decision.ARTIFACT_WAY or asked == Decision.DILEMMA_WAY:
                left = 3
                paying = True
            else:
                left = int(asked == Decision.STAR)
            chooser = p
            if asked == Decision.USE or asked == Decision.FURTHER:
                n = add_fact(found, n, kind, p, a, b, -1, -1, -1, 1)
            elif paying and (asked != Decision.SERIES or a & FOR_SPACE):
                n = add_fact(found, n, kind, p, a, b, EventKind.PAYS, p, -1, 1)
            elif asked == Decision.SERIES or asked == Decision.STAR or asked == Decision.SET_FACE:
                n = add_fact(found, n, kind, p, a, b, cause, by, of, 1)
            continue
        how, mode, amount = int(CAUSES[kind]), AMOUNT[kind], 1
        if kind == EventKind.ABILITY and (a == GEEK or a == GAMBLER or a == ESME):
            how = 2
        if mode == _B_OF_A:
            amount = b
        elif mode == _A:
            amount = a
        if left > 0 and p == chooser and CHOSEN[kind] and once != EventKind.REACTION:
            left -= amount
            continue
        if how and kind != EventKind.PAYS and kind != EventKind.DILEMMA and kind != EventKind.REACTION:
            left = 0
        if kind == EventKind.TIE_BROKEN:
            rolled_off = a >= 5
        elif kind == EventKind.WON and not rolled_off:
            n = add_fact(found, n, kind, p, -1, -1, -1, -1, -1, 1)
        if TOLD[kind] and amount:
            named = a if mode == _ONE or mode == _B_OF_A else -1
            if WITHOUT_CAUSE[kind]:
                n = add_fact(found, n, kind, p, named, -1, -1, -1, -1, amount)
            elif once == EventKind.REACTION:
                n = add_fact(found, n, kind, p, named, once_of, cause, by, of, amount)
            elif once >= 0:
                n = add_fact(found, n, kind, p, named, -1, once, once_by, once_of, amount)
            else:
                n = add_fact(found, n, kind, p, named, -1, cause, by, of, amount)
        once = -1
        if how == 3:
            once, once_by, once_of = kind, p, a
        elif kind == EventKind.RESUMED:
            cause, by, of, interrupted = kept, kept_by, kept_of, False
        elif how:
            if how == 2 and not interrupted:
                kept, kept_by, kept_of = cause, by, of
            interrupted = how == 2
            cause, by, of = kind, p, (a if NAMED[kind] else -1)
    if rolled_off:
        for q in range(int(g["num_players"])):
            if g["ranking"][q] <= 2:
                n = add_fact(found, n, EventKind.WON, q, -1, 1, -1, -1, -1, 1)
    return n


@jit
def has_fact(found, n, kind):
    """Whether there is a fact of a kind."""
    for k in range(n):
        if found[k, 0] == kind:
            return True
    return False


@jit
def uses_ability(tape, last):
    """Whether an optional ability is used in a continuation: a recruit acts right after being asked about."""
    for at in range(int(tape[TAPE_FIRST]), last - EVENT_SIZE, EVENT_SIZE):
        if tape[at] == ASKED + Decision.USE and tape[at + EVENT_SIZE] == EventKind.ABILITY:
            return True
    return False


@jit
def merge(found, n, facts, size, counts, plain):
    """Merges the facts of a continuation with those of others; returns their number. `counts`: facts it lacks are not certain."""
    for k in range(n):
        f = found[k]
        at = 0
        while at < size:
            g = facts[at]
            if g[0] == f[0] and g[1] == f[1] and g[2] == f[2] and g[3] == f[3] and g[4] == f[4] and g[5] == f[5] and g[6] == f[6]:
                break
            at += 1
        if at == len(facts):
            continue
        g = facts[at]
        if at == size:
            size += 1
            g[:] = f
            g[MOST] = f[LEAST]
            g[LINES] = counts
            g[PLAIN] = plain
        else:
            g[LEAST] = min(g[LEAST], f[LEAST])
            g[MOST] = max(g[MOST], f[LEAST])
            g[LINES] += counts
            g[PLAIN] += plain
    return size


@jit
def last_of_checks(g, tape, last):
    """The end of the events that come before the rolls that decide a tie."""
    first, at = int(tape[TAPE_FIRST]), last - EVENT_SIZE
    if g["status"] != OVER:
        return last
    while at >= first and not (tape[at] == EventKind.TIE_BROKEN and tape[at + 2] >= 5):
        at -= EVENT_SIZE
    if at < first:
        return last
    while (
        tape[at - EVENT_SIZE] == EventKind.ROLL
        or tape[at - EVENT_SIZE] == EventKind.DIE
        or tape[at - EVENT_SIZE] == EventKind.LOT
    ):
        at -= EVENT_SIZE
    return at


@jit
def weigh_checks(start, g, tape, last, setting, chances):
    """Widens the chances of everybody to lose a worker by that in this continuation, over all faces of its dice (R5.3).

    `setting`: a face that is set counts; elsewhere what follows from one is left out.
    """
    total, thrown = np.zeros(MAX_PLAYERS, np.int64), np.zeros(MAX_PLAYERS, np.int64)
    knowledge, told = np.zeros(MAX_PLAYERS, np.int64), np.ones(MAX_PLAYERS, np.bool_)
    alive = np.zeros((MAX_PLAYERS, 64))
    players = int(start["num_players"])
    for p in range(players):
        knowledge[p] = start["knowledge"][p]
        alive[p, 0] = 1.0
        for f in range(6):
            total[p] += (f + 1) * int(start["available"][p, f])
    at, last = int(tape[TAPE_FIRST]), last_of_checks(g, tape, last)
    while at < last:
        kind, p, a, b = int(tape[at]), int(tape[at + 1]), int(tape[at + 2]), int(tape[at + 3])
        at += EVENT_SIZE
        if kind == EventKind.TURN:
            break
        if kind == EventKind.PLACED:
            total[p] -= b
        elif kind == EventKind.BUMPED or kind == EventKind.RETRIEVED or kind == EventKind.RETURNED:
            total[p] += b
        elif EventKind.KNOWLEDGE_GAINED <= kind <= EventKind.KNOWLEDGE_LOST:
            knowledge[p] = b
        elif kind == EventKind.WORKER_LOST:
            total[p] -= a
        elif kind == EventKind.ROLL:
            dice = shown = fixed = 0
            for _ in range(a):
                total[p] -= max(0, int(tape[at + 3]))
                if tape[at] == EventKind.DIE:
                    dice += 1
                    shown += int(tape[at + 2])
                else:
                    fixed += int(tape[at + 2])
                    told[p] = setting
                at += EVENT_SIZE
            if not start["lost_worker"][p]:
                roll_once_more(alive[p], knowledge[p] + total[p] - thrown[p] + fixed, dice)
            total[p] += shown + fixed
            thrown[p] += shown
    for p in range(players):
        if told[p]:
            chance = 1.0 - alive[p].sum()
            chances[p, 0] = min(chances[p, 0], chance)
            chances[p, 1] = max(chances[p, 1], chance)


@jit
def roll_once_more(alive, base, dice):
    """Rolls some dice after others, whose sums have these chances without a worker lost; now with these dice too."""
    before = alive.copy()
    alive[:] = 0.0
    for s in range(len(before)):
        if before[s] > 0:
            for t in range(6 * dice + 1):
                if base + s + t < KNOWLEDGE_LIMIT and s + t < len(alive):
                    alive[s + t] += before[s] * SUMS[dice, t]


@jit
def without_academy(g, market):
    """Puts another tile there if the one that was dealt switches off recruits; that must not count as known."""
    if g["built"][market] or g["tile"][market] != ACADEMY:
        return
    for other in range(NUM_MARKETS):
        if other != market and not g["built"][other]:
            g["tile"][market], g["tile"][other] = g["tile"][other], g["tile"][market]
            return
    places = g["tile_place"]
    for tile in range(len(places)):
        if places[tile] == IN_DECK:
            places[ACADEMY], places[tile] = IN_DECK, ON_SITE
            g["tile"][market] = tile
            return


@jit
def load_recruits(g, tape):
    """Lets the dilemma draw a recruit who gets a star at once, Esme best of all, and one who does not (R14.1)."""
    first = TAPE_HEADER + _ROLLS
    tape[first] = tape[first + 1] = -1
    for card in range(NUM_RECRUITS):
        place = int(g["recruit_place"][card])
        if place == IN_DECK or place == OUT or (OUT_BY <= place < ON_SITE and place != OUT_BY + int(g["player"])):
            starred = g["allegiance"][FACTION_OF[card]] == ALLEGIANCE_END
            if not starred or card == ESME or tape[first] < 0:
                tape[first + int(not starred)] = card


@jit
def faces_that_matter(g):
    """The faces that cost somebody a good, as a set; all, and bit 0, if equal ones matter to somebody (Ben)."""
    faces = 0b1111111 if HELD <= g["recruit_place"][BEN] < HELD + MAX_PLAYERS else 0
    for face in range(1, 7):
        for p in range(int(g["num_players"])):
            if under(g, p, int(FACE_PENALTY[face])):
                faces |= 1 << face
    return faces


@jit
def play(g, tape, action):
    """Plays a legal move."""
    answer(g, tape, action)
    advance(g, tape)


@jit
def explore(rows, tape, move, rolls, backwards, most, options, found, facts, size, lines, chances):
    """Plays a move and continues in all ways in which at most `most` answers are not the first.

    Returns how many facts there are now, how many continuations were played here, and whether dice were rolled.
    """
    start = rows[0]
    mover, turn, asked = int(start["player"]), int(start["turn"]), int(start["ask"])
    number, following, spent = np.zeros(DEEPEST, np.int64), np.zeros(DEEPEST, np.int64), np.zeros(DEEPEST, np.int64)
    heads = np.zeros((DEEPEST, 3), np.int64)  # of the tape at each decision
    tape[TAPE_NEXT], tape[DICE], tape[RECRUIT_CARDS] = tape[TAPE_FIRST], TAPE_HEADER, TAPE_HEADER + _ROLLS
    for k in range(_ROLLS):
        tape[TAPE_HEADER + k] = ROLLS[rolls, k]
    load_recruits(start, tape)
    rows[1] = rows[0]
    if move < 6 * NUM_SPACES and FIRST_SLOT <= move % NUM_SPACES < FIRST_MARKET:
        without_academy(rows[1], (move % NUM_SPACES - FIRST_SLOT) // SLOTS_PER_SITE)
    play(rows[1], tape, move)
    depth, tried = 1, 0
    rolled = tape[DICE] > TAPE_HEADER
    while True:
        g = rows[depth]
        at_end = g["status"] >= OVER or g["turn"] != turn or g["ask"] == Decision.OPEN
        if not at_end:
            note_question(g, tape)
        if at_end or g["ask"] == Decision.FURTHER or depth == DEEPEST - 1:
            last = int(tape[TAPE_NEXT])
            n = collect(g, tape, last, asked == Decision.SERIES, found)
            counts = int(not has_fact(found, n, EventKind.STAYS))  # nothing is left to pay with (R4.3)
            plain = counts * int(not uses_ability(tape, last))
            size = merge(found, n, facts, size, counts, plain)
            lines[0] += counts
            lines[1] += plain
            tried += 1
            if rolls == 0:
                weigh_checks(start, g, tape, last, asked == Decision.SET_FACE, chances)
            depth -= 1
            while depth > 0 and (following[depth] == number[depth] or spent[depth] == most):
                depth -= 1
            if depth == 0 or tried >= MOST_LINES:
                return size, tried, rolled
        else:
            number[depth] = list_options(g, mover, backwards, options[depth])
            following[depth] = 0
            heads[depth, 0], heads[depth, 1], heads[depth, 2] = tape[TAPE_NEXT], tape[DICE], tape[RECRUIT_CARDS]
        tape[TAPE_NEXT], tape[DICE], tape[RECRUIT_CARDS] = heads[depth, 0], heads[depth, 1], heads[depth, 2]
        rows[depth + 1] = rows[depth]
        chosen = following[depth]
        following[depth] += 1
        play(rows[depth + 1], tape, int(options[depth, chosen]))
        rolled |= tape[DICE] > TAPE_HEADER
        spent[depth + 1] = spent[depth] + int(chosen > 0)
        depth += 1


@entry(ROWS, "int64[:]", TAPE, "int64[:,:] int32[:,:] int32[:,:,:] int64[:] int64[:,:] float64[:,:,:]")
def foresee(rows, moves, tape, options, found, facts, sizes, lines, chances):
    """Foretells moves of the game in rows[0], in which all that the player cannot know is dealt again; the others are scratch.

    Args:
        rows: (DEEPEST + 1,).
        moves: legal moves.
        tape: `tape_for_foresight`.
        options: int64 (DEEPEST + 1, NUM_ACTIONS), scratch.
        found: int32 (MOST_FACTS, len(FACT_COLUMNS)), scratch.
        facts: int32 (moves, MOST_FACTS, len(FACT_COLUMNS)); with the least and the most of each, and in how many continuations.
        sizes, lines: the number of facts of each move, (moves,), and of continuations: all, and those without optional abilities,
            (moves, 2).
        chances: the least and the highest chance of each player to lose a worker, (moves, MAX_PLAYERS, 2).
    """
    tape = pointer_to(tape, 0)
    g = rows[0]
    deal_hidden_row(g, int(g["player"]), 1)
    faces = faces_that_matter(g)
    for k in range(len(moves)):
        size = 0
        lines[k, :] = 0
        chances[k, :, 0] = 1.0
        chances[k, :, 1] = 0.0
        for rolls in range(len(ROLLS)):
            if rolls < _ALWAYS or (rolls < _UNEQUAL and faces & 1) or (rolls >= _UNEQUAL and faces >> (rolls - _UNEQUAL + 2) & 1):
                rolled = False
                for backwards in range(2):
                    size, tried, dice = explore(
                        rows,
                        tape,
                        int(moves[k]),
                        rolls,
                        backwards,
                        2 - backwards,
                        options,
                        found,
                        facts[k],
                        size,
                        lines[k],
                        chances[k],
                    )
                    rolled |= dice
                    if tried == 1:
                        break
                if not rolled:
                    break
        sizes[k] = size


def foretold(row: np.ndarray, moves: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The facts of moves of a game, their numbers, the numbers of continuations, and the chances to lose a worker (`foresee`)."""
    n = len(moves)
    rows = np.empty(DEEPEST + 1, row.dtype)
    rows.view(np.uint8)[: row.dtype.itemsize] = row.view(np.uint8)
    facts = np.empty((n, MOST_FACTS, len(FACT_COLUMNS)), np.int32)
    sizes, lines, chances = np.empty(n, np.int64), np.empty((n, 2), np.int64), np.empty((n, MAX_PLAYERS, 2))
    options, found = np.empty((DEEPEST + 1, NUM_ACTIONS), np.int64), np.empty(facts.shape[1:], np.int32)
    foresee(rows, moves, empty_tape(_EVENTS, [[0] * _ROLLS, [], [0] * 2]), options, found, facts, sizes, lines, chances)
    return facts, sizes, lines, chances
