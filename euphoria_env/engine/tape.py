"""The tape of a game: an array of the loaded outcomes, which chance takes first, and of the event log.

It is one int32 array: a header (next and end position of the queue of each kind of outcome, an error, the place of the next
event, and more), the queues, then a ring of events. A tape without room for events logs nothing and is never written to.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from euphoria_env.engine.byte_copies import pointer_to
from euphoria_env.engine.jit import array, jit
from euphoria_env.event_kinds import EVENT_SIZE, EventKind

KINDS = ("dice", "artifacts", "recruits", "markets", "dilemmas", "lots")
TAPE_END = len(KINDS)
TAPE_ERROR = 2 * len(KINDS)  # 1 + the kind of a loaded outcome that is impossible; 0: none is
TAPE_FIRST = TAPE_ERROR + 1  # where the events begin
TAPE_NEXT = TAPE_ERROR + 2  # where the next event goes; 0: none is logged
TAPE_EVENTS = TAPE_ERROR + 3  # how many events were logged
TAPE_INTERRUPTED = TAPE_ERROR + 4  # whether the last cause interrupted another one
TAPE_LIMIT = TAPE_ERROR + 5  # the end of the events
TAPE_VIEWER = TAPE_ERROR + 6  # 1 + the player for whom cards that they cannot see change places with loaded ones; 0: for nobody
TAPE_HEADER = TAPE_ERROR + 7
TAPE, TAPES = array(np.int32), array(np.int32, 2)  # types of arguments of entry points


def empty_tape(events: int = 0, queues: Sequence[Sequence[int]] = ()) -> np.ndarray:
    """Returns a tape with room for the last `events` events, and loaded outcomes of each kind, in the order of `KINDS`."""
    loaded = sum(map(len, queues))
    tape = np.zeros(TAPE_HEADER + loaded + EVENT_SIZE * events, np.int32)
    at = TAPE_HEADER
    for kind, queue in enumerate(queues):
        tape[kind], tape[TAPE_END + kind] = at, at + len(queue)
        tape[at : at + len(queue)] = queue
        at += len(queue)
    tape[TAPE_FIRST], tape[TAPE_LIMIT] = at, len(tape)
    tape[TAPE_NEXT] = at if events else 0
    return tape


@jit
def tape_of(tapes, i):
    """Returns the tape of game i: each game has one, or all share one that logs nothing."""
    return pointer_to(tapes, tapes.shape[1] * i if len(tapes) > 1 else 0)


@jit
def forget_events(tape):
    """Forgets all events."""
    if tape[TAPE_NEXT]:
        tape[TAPE_NEXT] = tape[TAPE_FIRST]
        tape[TAPE_EVENTS] = 0
        tape[TAPE_INTERRUPTED] = 0


@jit
def loaded(tape, kind):
    """Returns the next loaded outcome of a kind; -1 if there is none, or if it is left to the generator."""
    at = int(tape[kind])
    if at >= tape[TAPE_END + kind]:
        return -1
    tape[kind] = at + 1
    return int(tape[at])


@jit
def waiting(tape, kind):
    """Returns the cards among the loaded outcomes of a kind, as a set: they are not drawn before their turn."""
    cards = 0
    for at in range(tape[kind], tape[TAPE_END + kind]):
        if tape[at] >= 0:
            cards |= 1 << int(tape[at])
    return cards


@jit
def log_event(tape, kind, player, a, b):
    """Logs an event, if there is room for events."""
    at = int(tape[TAPE_NEXT])
    if at:
        tape[at] = kind
        tape[at + 1] = player
        tape[at + 2] = a
        tape[at + 3] = b
        at += EVENT_SIZE
        tape[TAPE_NEXT] = at if at < tape[TAPE_LIMIT] else tape[TAPE_FIRST]
        tape[TAPE_EVENTS] += 1


@jit
def log_cause(tape, kind, player, a, b):
    """Logs an event that opens a group: the cause of those that follow."""
    log_event(tape, kind, player, a, b)
    if tape[TAPE_INTERRUPTED]:
        tape[TAPE_INTERRUPTED] = 0


@jit
def log_interruption(tape, kind, player, a, b):
    """Logs an event that causes those that follow, until the interrupted group of events continues."""
    log_event(tape, kind, player, a, b)
    if tape[TAPE_NEXT]:
        tape[TAPE_INTERRUPTED] = 1


@jit
def log_resumption(tape, player):
    """Logs that the interrupted group of events continues, if there is one."""
    if tape[TAPE_INTERRUPTED]:
        log_cause(tape, EventKind.RESUMED, player, -1, -1)
