"""The compiled forward pass of a network, from the entries of an observation that are not 0 to the legal moves.

Of some 660 moves about five are legal, and most entries of an observation are 0; the rest of the work is skipped. The module
`training.kernels` builds on these functions.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from euphoria_agents.network import float_vectors
from euphoria_agents.network.float_vectors import add_products, add_rows, positives, subtract_rows
from euphoria_env.engine.bits import lowest_bit
from euphoria_env.engine.byte_copies import borrowed
from euphoria_env.engine.byte_vectors import WIDTH, differing, differing_from
from euphoria_env.engine.jit import entry, jit, kind_of

SETTLED = 0.95  # the probability of a move by the policy alone from which on an afterstate head corrects nothing
VALUES = 128  # the number of values that an entry of an observation can have, from 0 on


class AfterstateHead(NamedTuple):
    """A head that corrects the logits by what each move changes (`network.afterstate_head`); H is 0 if there is none."""

    changes: np.ndarray  # float32 (NUM_CHANGES, H)
    moves: np.ndarray  # float32 (NUM_ACTIONS, H), the bias of the hidden layer included
    shared: np.ndarray  # float32 (width * H,), the weights of the policy's last hidden layer
    out: np.ndarray  # float32 (H,)


class Policy(NamedTuple):
    """A network with a policy head, perhaps a value head and an afterstate head, laid out for the compiled layers."""

    begins: np.ndarray  # this array and the next three are laid out by `network.weight_layout`
    rows: np.ndarray
    weights: np.ndarray
    table: np.ndarray
    head: np.ndarray  # float32 (NUM_ACTIONS, width), the policy head: the weights of each move's logit
    bias: np.ndarray  # float32 (NUM_ACTIONS,), of the policy head
    value: np.ndarray  # float32 (width,), the weights of the value head; empty without one
    value_bias: np.ndarray  # float32 (1,)
    afterstates: AfterstateHead


_MATRIX, _VECTOR = np.empty((0, 0), np.float32), np.empty(0, np.float32)
NO_HEAD = AfterstateHead(_MATRIX, _MATRIX, _VECTOR, _VECTOR)
_PARTS = np.empty(0, np.int64), _MATRIX, _VECTOR, np.empty((0, 0), np.int64), _MATRIX, _VECTOR, _VECTOR, _VECTOR
POLICY = kind_of(Policy(*_PARTS, NO_HEAD))


@jit
def log_chances(x, weight, bias, moves, n, out):  # type: ignore[no-untyped-def]
    """Writes the log-probabilities of n moves, from the outputs x of the last hidden layer, none of which is negative."""
    x, weight = borrowed(x), borrowed(weight)
    size = weight.shape[1]
    for k in range(0, n, 4):  # four at a time: one sum alone would wait for each addition; the last move may be repeated
        m0, m1, m2, m3 = moves[k], moves[min(k + 1, n - 1)], moves[min(k + 2, n - 1)], moves[min(k + 3, n - 1)]
        row0, row1, row2, row3 = weight[m0], weight[m1], weight[m2], weight[m3]
        sum0, sum1, sum2, sum3 = bias[m0], bias[m1], bias[m2], bias[m3]
        for first in range(0, size, float_vectors.WIDTH):
            bits = positives(x[:size], first)
            while bits:
                i = first + lowest_bit(bits)
                bits &= bits - 1
                sum0 += x[i] * row0[i]
                sum1 += x[i] * row1[i]
                sum2 += x[i] * row2[i]
                sum3 += x[i] * row3[i]
        out[k], out[min(k + 1, n - 1)], out[min(k + 2, n - 1)], out[min(k + 3, n - 1)] = sum0, sum1, sum2, sum3
    normalise(out, n)


@jit
def normalise(out, n):  # type: ignore[no-untyped-def]
    """Turns n logits into log-probabilities."""
    top = -math.inf
    for k in range(n):
        top = max(top, out[k])
    total = 0.0
    for k in range(n):
        total += math.exp(out[k] - top)
    for k in range(n):
        out[k] -= top + math.log(total)


@jit
def settled(logs, n):  # type: ignore[no-untyped-def]
    """Returns whether one of n log-probabilities is so high that the afterstate head corrects nothing."""
    top = -math.inf
    for k in range(n):
        top = max(top, logs[k])
    return top >= math.log(SETTLED)


@jit
def softmax(values, n):  # type: ignore[no-untyped-def]
    """Replaces n logits by the probabilities that they stand for."""
    highest = -math.inf
    for k in range(n):
        highest = max(highest, values[k])
    total = 0.0
    for k in range(n):
        values[k] = math.exp(values[k] - highest)
        total += values[k]
    for k in range(n):
        values[k] /= total


@jit
def draw_by_logs(chances, n, chance):  # type: ignore[no-untyped-def]
    """Returns the index of the move that `chance`, from [0, 1), draws by n log-probabilities; -1 if n is 0."""
    for k in range(n):
        chance -= math.exp(chances[k])
        if chance < 0.0:
            return k
    return n - 1


@jit
def layer(x, weights, at, size_in, size_out, out):  # type: ignore[no-untyped-def]
    """Writes the outputs of a layer with ReLU; no input is negative. At `at` begin its (in, out) weights, then its bias."""
    x, weights, out = borrowed((x, weights, out))
    first_bias = at + size_in * size_out
    out[:size_out] = weights[first_bias : first_bias + size_out]
    add_products(out[:size_out], weights[at:first_bias], x[:size_in])
    for j in range(size_out):
        out[j] = max(out[j], np.float32(0.0))


@jit
def row_of(value, first, last):  # type: ignore[no-untyped-def]
    """Returns the row for this value of an entry whose rows are `first` to `last` - 1; -1 if it has none."""
    return min(first + value, last) - 1 if value > 0 and first < last else -1


@jit
def find_rows(observation, begins, index):  # type: ignore[no-untyped-def]
    """Writes into `index` the rows (`network.weight_layout`) whose sum is the first layer of an observation; returns how many."""
    observation, begins, index = borrowed((observation, begins, index))
    n = 0
    for first in range(0, len(observation), WIDTH):
        at = min(first, len(observation) - WIDTH)
        bits = differing_from(observation, 0, at) & -(1 << (first - at))  # the last entries overlap with those before
        while bits:
            e = at + lowest_bit(bits)
            bits &= bits - 1
            index[n] = row_of(observation[e], begins[e], begins[e + 1])
            n += index[n] >= 0
    return n


@jit
def find_changed_rows(observation, base, begins, index):  # type: ignore[no-untyped-def]
    """Compares the rows of an observation with those of `base`; returns how many it has more, and how many it lacks.

    Writes the additional ones from the start of `index` on, and those that it lacks backwards from the end.
    """
    observation, base, begins, index = borrowed((observation, base, begins, index))
    more, less = 0, 0
    for first in range(0, len(observation), WIDTH):
        at = min(first, len(observation) - WIDTH)
        bits = differing(observation, base, at) & -(1 << (first - at))  # the last entries overlap with those before
        while bits:
            e = at + lowest_bit(bits)
            bits &= bits - 1
            new = row_of(observation[e], begins[e], begins[e + 1])
            old = row_of(base[e], begins[e], begins[e + 1])
            if new != old:
                index[more] = new
                more += new >= 0
                index[len(index) - 1 - less] = old
                less += old >= 0
    return more, less


@jit
def change_rows(x, rows, index, more, less):  # type: ignore[no-untyped-def]
    """Adds to x the `more` rows at the start of `index`, and subtracts the `less` rows at its end."""
    subtract_rows(x, rows, index, len(index) - less, len(index))
    add_rows(x, rows, index, 0, more)


@jit
def hidden(index, n, rows, weights, table, x, y):  # type: ignore[no-untyped-def]
    """Computes all hidden layers, from the n rows in `index`; returns the one of the workspaces x and y that has the last layer.

    `rows`, `weights` and `table` are laid out by `network.weight_layout`.
    """
    at, _, size_out = table[0]
    x[:size_out] = weights[at : at + size_out]
    add_rows(x[:size_out], rows, index, 0, n)
    return later_layers(weights, table, x, y)


@jit
def later_layers(weights, table, x, y):  # type: ignore[no-untyped-def]
    """Does the rest of `hidden`: x has the first layer before its ReLU."""
    for j in range(table[0, 2]):
        x[j] = max(x[j], np.float32(0.0))
    for k in range(1, len(table)):
        layer(x, weights, table[k, 0], table[k, 1], table[k, 2], y)
        x, y = y, x
    return x


@jit
def widest(table):  # type: ignore[no-untyped-def]
    """Returns the greatest width of a layer in a table of layers."""
    width = 0
    for k in range(len(table)):
        width = max(width, table[k, 2])
    return width


@entry("int8[:,:] int8[:,:] float64[:]", POLICY, "int64[:] bool_[:] float32[:,:]")
def choose_by_network(observations, masks, uniforms, policy, moves, unsettled, chances):  # type: ignore[no-untyped-def]
    """Writes a move of each game by the policy alone, drawn by one number from [0, 1) each; -1 where none is legal.

    `unsettled` gets whether an afterstate head corrects the decision, and `chances` the log-probabilities of the legal moves,
    unless it is empty.
    """
    index = np.empty(len(policy.begins), np.int32)
    width = widest(policy.table)
    x, y = np.empty(width, np.float32), np.empty(width, np.float32)
    legal, found = np.empty(len(policy.bias), np.int64), np.empty(len(policy.bias), np.float32)
    for i in range(len(masks)):
        rows = find_rows(observations[i], policy.begins, index)
        last = hidden(index, rows, policy.rows, policy.weights, policy.table, x, y)
        n = 0
        for move in range(len(masks[i])):
            if masks[i, move]:
                legal[n] = move
                n += 1
        log_chances(last, policy.head, policy.bias, legal, n, found)
        k = draw_by_logs(found, n, uniforms[i])
        moves[i] = legal[k] if k >= 0 else -1
        unsettled[i] = len(policy.afterstates.out) > 0 and not settled(found, n)
        if len(chances):
            for k in range(n):
                chances[i, legal[k]] = found[k]


@entry("int8[:,:]", POLICY, "float32[:,:]")
def write_outputs(observations, policy, out):  # type: ignore[no-untyped-def]
    """Writes the outputs of the head for each observation, float32 (N, outputs), all of them and without a softmax."""
    index = np.empty(len(policy.begins), np.int32)
    width = widest(policy.table)
    x, y = np.empty(width, np.float32), np.empty(width, np.float32)
    for i in range(len(observations)):
        last = hidden(index, find_rows(observations[i], policy.begins, index), policy.rows, policy.weights, policy.table, x, y)
        for k in range(len(policy.bias)):
            total = policy.bias[k]
            for j in range(policy.head.shape[1]):
                total += last[j] * policy.head[k, j]
            out[i, k] = total
