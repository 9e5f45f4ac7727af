"""The afterstate head: a small network that corrects the logits by what each legal move changes (`euphoria_env.afterstates`).

Its hidden layer is the sum of a share of the policy's last hidden layer, of a row for the move, and of a row for each feature
that changes, times its change. It corrects nothing where the policy is nearly sure of a move, as in most decisions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from euphoria_agents.network.compiled_layers import normalise, settled
from euphoria_agents.network.float_vectors import add_products
from euphoria_env.actions import NUM_ACTIONS
from euphoria_env.board import MAX_PLAYERS
from euphoria_env.engine.features import NUM_CHANGES, NUM_FEATURES, deal_for_afterstates, fill_afterstate
from euphoria_env.engine.jit import jit
from euphoria_env.engine.state import GAME_DTYPE

DEAL = 0  # the seed by which cards are dealt again and dice are rolled
# An entry of the afterstates of a decision that is not 0: the number of the move among the legal ones, the column, what is there.
CHANGE = np.dtype([("move", np.int16), ("column", np.int16), ("amount", np.float32)])
MOST_CHANGES = NUM_ACTIONS * NUM_CHANGES  # of a decision


class HeadWorkspace(NamedTuple):
    """The arrays in which a head computes a decision."""

    copies: np.ndarray  # two rows of games
    before: np.ndarray  # float32 (MAX_PLAYERS * NUM_FEATURES,), the features before the move
    after: np.ndarray  # float32 (NUM_CHANGES,), the afterstate of a move
    shared: np.ndarray  # float32 (H,), the part of the hidden layer that all moves share
    hidden: np.ndarray  # float32 (H,)
    changes: np.ndarray  # CHANGE, those of all moves of the latest decision


@jit
def new_head_workspace(size):  # type: ignore[no-untyped-def]
    """Returns a workspace for heads with at most this number of hidden units; 0: for none."""
    copies, room = np.zeros(2 if size else 0, GAME_DTYPE), MOST_CHANGES if size else 0
    before, after = np.empty(MAX_PLAYERS * NUM_FEATURES, np.float32), np.empty(NUM_CHANGES, np.float32)
    return HeadWorkspace(copies, before, after, np.empty(size, np.float32), np.empty(size, np.float32), np.empty(room, CHANGE))


@jit
def list_changes(after, move, changes, at):  # type: ignore[no-untyped-def]
    """Appends what a move changes to `changes` from `at` on; returns where that ends. Each move changes something."""
    for column in range(len(after)):
        if after[column] != np.float32(0.0):
            changes[at]["move"], changes[at]["column"], changes[at]["amount"] = move, column, after[column]
            at += 1
    return at


@jit
def share(head, last, shared):  # type: ignore[no-untyped-def]
    """Writes the part of the hidden layer that all moves share, from the last hidden layer of the policy."""
    shared[:] = np.float32(0.0)
    add_products(shared, head.shared, last[: len(head.shared) // len(shared)])


@jit
def correction(head, shared, move, changes, first, last, hidden):  # type: ignore[no-untyped-def]
    """Writes the hidden layer of a move, whose changes are `first` to `last` - 1; returns the correction of its logit."""
    own = head.moves[move]
    for j in range(len(hidden)):
        hidden[j] = shared[j] + own[j]
    for k in range(first, last):
        row, amount = head.changes[changes[k]["column"]], changes[k]["amount"]
        for j in range(len(hidden)):
            hidden[j] += amount * row[j]
    total = np.float32(0.0)
    for j in range(len(hidden)):
        hidden[j] = max(hidden[j], np.float32(0.0))
        total += hidden[j] * head.out[j]
    return total


@jit
def correct_logs(policy, g, last, moves, n, logs, tape, work):  # type: ignore[no-untyped-def]
    """Corrects the log-probabilities of n legal moves by the afterstate head, if there is one and no move is settled.

    Args:
        last: the policy's last hidden layer; no entry is negative.
        logs: float32, the log-probabilities by the policy alone.
        tape: an empty tape.
        work: a `HeadWorkspace`, which then has the changes of all moves.

    Returns:
        The number of these changes; 0 if nothing was corrected.
    """
    head, size, end = policy.afterstates, len(policy.afterstates.out), 0
    if size == 0 or settled(logs, n):
        return 0
    shared, hidden = work.shared[:size], work.hidden[:size]
    share(head, last, shared)
    deal_for_afterstates(g, DEAL, work.copies, work.before)
    for k in range(n):
        fill_afterstate(work.copies, tape, int(moves[k]), work.before, work.after)
        first, end = end, list_changes(work.after, k, work.changes, end)
        logs[k] += correction(head, shared, moves[k], work.changes, first, end, hidden)
    normalise(logs, n)
    return end
