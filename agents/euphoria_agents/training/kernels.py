"""The compiled parts of the learner; each can work on a part of its input, so that threads share the work.

An observation is stored as a list of *rows* (`network.weight_layout`): one for each entry that is not 0, which stands for the
entry and its value. A row changes a few features of the network: see `network.weight_layout.RowFeatures`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from euphoria_agents.network.afterstate_head import CHANGE, correction, share
from euphoria_agents.network.compiled_layers import NO_HEAD, AfterstateHead, find_rows, log_chances, normalise
from euphoria_agents.network.float_vectors import add_rows, add_weighted_rows
from euphoria_agents.network.weight_layout import RowFeatures
from euphoria_agents.training.csr import CSR
from euphoria_env.engine.byte_copies import borrowed
from euphoria_env.engine.jit import array, entry, jit, kind_of

BETAS, EPSILON = (0.9, 0.999), 1e-5  # of Adam


class Targets(NamedTuple):
    """The training data of the policy, with an entry for each decision."""

    legal: CSR  # the legal moves
    changes: CSR  # what they change, if the afterstate head corrected them (`network.afterstate_head.CHANGE`)
    move: np.ndarray  # int64, the move that was played
    log_prob: np.ndarray  # float32, its log-probability when it was played, with which PPO compares the present one
    advantage: np.ndarray  # float32


class Loss(NamedTuple):
    """The constants of the policy's loss."""

    clip: float  # how far the probability ratio may leave 1
    entropy: float  # the weight of the entropy bonus
    scale: float  # the factor of all gradients


class Head(NamedTuple):
    """The policy head and the afterstate head, or their gradients; the weights are (NUM_ACTIONS, width)."""

    weight: np.ndarray
    bias: np.ndarray
    afterstates: AfterstateHead


# The kinds of the arguments of entry points.
_INTS, _FLOATS = np.empty(0, np.int64), np.empty(0, np.float32)
_LISTS = CSR(_INTS, np.empty(0, np.int16))
LISTS, LOSS = kind_of(_LISTS), kind_of(Loss(0.0, 0.0, 0.0))
CHANGES = CSR(array(np.int64), array(CHANGE))
TARGETS = Targets(LISTS, CHANGES, array(np.int64), array(np.float32), array(np.float32))
HEAD, FEATURES = (
    kind_of(Head(np.empty((0, 0), np.float32), _FLOATS, NO_HEAD)),
    kind_of(RowFeatures(_INTS, np.empty(0, np.int32), _FLOATS)),
)


@entry("int8[:,:] int64[:] int64[:] int16[:]")
def record_observations(observations, begins, row_ends, row):  # type: ignore[no-untyped-def]
    """Writes the rows of each observation, one after another, to `row`, and where they end to `row_ends`."""
    index = np.empty(len(begins), np.int32)
    for i in range(len(observations)):
        found = find_rows(observations[i], begins, index)
        for j in range(found):
            row[row_ends[i] + j] = index[j]
        row_ends[i + 1] = row_ends[i] + found


# -------------------------------------------------------------------------------------------------------------- first layer


@entry(FEATURES, "float32[:,:] int64 int64 float32[:,:]")
def weigh_rows(features, weight, first, last, out):  # type: ignore[no-untyped-def]
    """Writes what rows `first` to `last` - 1 add to the first layer: the weights of their features, each times its value."""
    features, weight, out = borrowed((features, weight, out))
    for r in range(first, last):
        out[r, :] = 0.0
        add_weighted_rows(out[r], weight, features.feature, features.value, features.ends[r], features.ends[r + 1])


@entry(LISTS, "int64[:] float32[:,:] float32[:] float32[:,:]")
def first_layer(rows, which, table, bias, out):  # type: ignore[no-untyped-def]
    """Writes the first layer of the decisions `which`, before its ReLU."""
    rows, which, table, bias, out = borrowed((rows, which, table, bias, out))
    for k in range(len(which)):
        out[k, :] = bias
        add_rows(out[k], table, rows.indices, rows.indptr[which[k]], rows.indptr[which[k] + 1])


@entry(LISTS, "int64[:] int64 int64 int64[:] int32[:]")
def group_by_row(rows, which, first, last, ends, decisions):  # type: ignore[no-untyped-def]
    """Groups the decisions `first` to `last` - 1 of `which` by the rows that they contain.

    Writes the decisions with row r, as places in `which`, to `decisions` from ends[r] to ends[r + 1] - 1. On entry, ends[0] is
    the place of the first one; `ends` must have two more entries than there are rows.
    """
    rows, which, ends, decisions = borrowed((rows, which, ends, decisions))
    ends[1:] = 0
    for k in range(first, last):
        for j in range(rows.indptr[which[k]], rows.indptr[which[k] + 1]):
            ends[rows.indices[j] + 2] += 1
    ends[1] = ends[0]
    for r in range(2, len(ends)):
        ends[r] += ends[r - 1]
    for k in range(first, last):
        for j in range(rows.indptr[which[k]], rows.indptr[which[k] + 1]):
            r = rows.indices[j] + 1  # ends[r] is where the next decision of the row belongs
            decisions[ends[r]] = k
            ends[r] += 1


@entry("int64[:,:] int32[:] float32[:,:]", FEATURES, "int64 int64 float32[:,:]")
def first_layer_back(ends, decisions, by_out, features, first, last, by_weight):  # type: ignore[no-untyped-def]
    """Writes the gradient of the weights of the features that rows `first` to `last` - 1 change, and of no others.

    `ends` has a row for each call of `group_by_row`. A feature that one of these rows changes must not be changed by other rows.
    """
    ends, decisions, by_out, features, by_weight = borrowed((ends, decisions, by_out, features, by_weight))
    for j in range(features.ends[first], features.ends[last]):
        by_weight[features.feature[j], :] = 0.0
    total = np.empty(by_weight.shape[1], np.float32)
    for r in range(first, last):
        seen = 0
        for part in range(len(ends)):
            seen += ends[part, r + 1] - ends[part, r]
        if not seen:
            continue
        total[:] = 0.0
        for part in range(len(ends)):
            add_rows(total, by_out, decisions, ends[part, r], ends[part, r + 1])
        for j in range(features.ends[r], features.ends[r + 1]):
            by, v = by_weight[features.feature[j]], features.value[j]
            for c in range(len(total)):
                by[c] += v * total[c]


# --------------------------------------------------------------------------------------------------------------- the moves


@entry("float32[:,:] float32[:,:]", HEAD, TARGETS, "int64[:]", LOSS, HEAD, "float64[:]")
def learn_moves(x, by_x, head, targets, which, loss, by_head, facts):  # type: ignore[no-untyped-def]
    """Computes the clipped objective of PPO (Schulman et al. 2017) with an entropy bonus, and the gradients of its loss.

    Args:
        x: float32 (B, width), the last hidden layer of each of the decisions `which`.
        by_x: the gradient with respect to x is added to it; that of `head` is added to `by_head`.
        facts: float64 (4,), to which the sums of objective, entropy, clipped ratios and approximate KL divergence are added.
    """
    x, by_x, head, targets, which, by_head = borrowed((x, by_x, head, targets, which, by_head))
    logs, by_logits = np.empty(len(head.bias), np.float32), np.empty(len(head.bias), np.float32)
    hidden = np.empty((len(head.bias) + 1, len(head.afterstates.out)), np.float32)
    for k in range(len(which)):
        i = which[k]
        legal = targets.legal.indices[targets.legal.indptr[i] : targets.legal.indptr[i + 1]]
        changes = targets.changes.indices[targets.changes.indptr[i] : targets.changes.indptr[i + 1]]
        log_chances(x[k], head.weight, head.bias, legal, len(legal), logs)
        if len(changes):
            correct(head.afterstates, x[k], legal, changes, logs, hidden)
        differentiate_logits(logs, legal, targets, i, loss, by_logits, facts)
        for j in range(len(legal)):
            by_head.bias[legal[j]] += by_logits[j]
            add_multiple(by_head.weight[legal[j]], by_logits[j], x[k])
        add_weighted_rows(by_x[k], head.weight, legal, by_logits, 0, len(legal))
        if len(changes):
            correct_back(head.afterstates, x[k], legal, changes, by_logits, hidden, by_x[k], by_head.afterstates)


@jit
def differentiate_logits(logs, legal, targets, i, loss, by_logits, facts):  # type: ignore[no-untyped-def]
    """Writes the gradient of the loss of decision i with respect to the logits of its legal moves, and adds to the facts."""
    chosen, entropy = 0, 0.0
    for j in range(len(legal)):
        entropy -= math.exp(logs[j]) * logs[j]
        if legal[j] == targets.move[i]:
            chosen = j
    # float64, so that `clipped` equals gain * ratio exactly where nothing is clipped
    difference = np.float64(logs[chosen] - targets.log_prob[i])
    ratio, gain = math.exp(difference), np.float64(targets.advantage[i])
    clipped = gain * min(max(ratio, 1.0 - loss.clip), 1.0 + loss.clip)
    by_chosen = -gain * ratio * loss.scale if gain * ratio <= clipped else 0.0
    facts[0] += min(gain * ratio, clipped)
    facts[1] += entropy
    facts[2] += abs(ratio - 1.0) > loss.clip
    facts[3] += ratio - 1.0 - difference
    for j in range(len(legal)):
        chance = np.float32(math.exp(logs[j]))
        by_chance = by_chosen * ((1.0 if j == chosen else 0.0) - chance)
        by_logits[j] = by_chance + loss.scale * chance * loss.entropy * (logs[j] + entropy)


@jit
def correct(head, last, legal, changes, logs, hidden):  # type: ignore[no-untyped-def]
    """Corrects log-probabilities as `afterstate_head.correct_logs` does, but from recorded changes.

    `hidden` gets the hidden layer of each move; its last row is workspace.
    """
    share(head, last, hidden[len(hidden) - 1])
    end = 0
    for j in range(len(legal)):
        first = end
        while end < len(changes) and changes[end]["move"] == j:
            end += 1
        logs[j] += correction(head, hidden[len(hidden) - 1], legal[j], changes, first, end, hidden[j])
    normalise(logs, len(legal))


@jit
def correct_back(head, last, legal, changes, by_logits, hidden, by_last, by_head):  # type: ignore[no-untyped-def]
    """Adds the gradients with respect to an afterstate head and, through it, to the last hidden layer of the policy.

    `hidden` comes from `correct`; its gradients replace it.
    """
    by_shared, size = hidden[len(hidden) - 1], len(head.out)
    by_shared[:] = np.float32(0.0)
    for j in range(len(legal)):
        own, factor = hidden[j], by_logits[j]
        add_multiple(by_head.out, factor, own)
        for c in range(size):
            own[c] = factor * head.out[c] if own[c] > np.float32(0.0) else np.float32(0.0)
        add_multiple(by_shared, np.float32(1.0), own)
        add_multiple(by_head.moves[legal[j]], np.float32(1.0), own)
    for k in range(len(changes)):
        add_multiple(by_head.changes[changes[k]["column"]], changes[k]["amount"], hidden[changes[k]["move"]])
    for c in range(len(last)):
        if last[c] > np.float32(0.0):
            add_multiple(by_head.shared[c * size : (c + 1) * size], last[c], by_shared)
            for j in range(size):
                by_last[c] += head.shared[c * size + j] * by_shared[j]


@jit
def add_multiple(out, factor, x):  # type: ignore[no-untyped-def]
    """Adds a factor times x to `out`."""
    out, x = borrowed((out, x))
    for c in range(len(out)):
        out[c] += factor * x[c]


@entry("float32[:,:] float32[:,:] float32[:]")
def relu_back(out, by, by_bias):  # type: ignore[no-untyped-def]
    """Turns the gradient `by` with respect to outputs of a layer after its ReLU into that before; writes that of its bias."""
    out, by, by_bias = borrowed((out, by, by_bias))
    by_bias[:] = 0.0
    for k in range(len(by)):
        for c in range(len(by_bias)):
            by[k, c] = by[k, c] if out[k, c] > np.float32(0.0) else np.float32(0.0)
            by_bias[c] += by[k, c]


# --------------------------------------------------------------------------------------------------------------- optimizer


@entry("float32[:] float32[:] float32[:] float32[:] float64 float64 int64")
def adam(parameters, gradient, mean, square, scale, rate, step):  # type: ignore[no-untyped-def]
    """Takes a step of Adam (Kingma and Ba 2015) with the gradient times `scale`; all arrays have the same length."""
    beta1, beta2 = BETAS
    a, b = np.float32(1.0 - beta1), np.float32(1.0 - beta2)
    size, root = np.float32(rate / (1.0 - beta1**step)), np.float32(1.0 / math.sqrt(1.0 - beta2**step))
    low, by = np.float32(EPSILON), np.float32(scale)
    for k in range(len(parameters)):
        g = gradient[k] * by
        m, v = mean[k] + a * (g - mean[k]), square[k] + b * (g * g - square[k])
        mean[k], square[k] = m, v
        parameters[k] -= size * m / (np.sqrt(v) * root + low)
