"""The compiled parts of a network: its features, its layers, and the legal moves only.

Of some 660 moves about five are legal, and most entries of an observation are 0. So a network is computed from the entries that
are not 0 to the moves that are legal. `training.kernels` builds on it.
"""

from __future__ import annotations

import math

import numpy as np

from euphoria_env.engine.jit import entry, jit

VALUES = 128  # that an entry of an observation can have, from 0 on


@jit
def add_rows(x, table, index, first, last):  # type: ignore[no-untyped-def]
    """Adds rows index[first] to index[last - 1] of a table to x."""
    for k in range(first, last - 7, 8):  # eight at a time: x is read and written less often
        a, b, c, d = table[index[k]], table[index[k + 1]], table[index[k + 2]], table[index[k + 3]]
        e, f, g, h = table[index[k + 4]], table[index[k + 5]], table[index[k + 6]], table[index[k + 7]]
        for j in range(len(x)):
            x[j] += a[j] + b[j] + c[j] + d[j] + e[j] + f[j] + g[j] + h[j]
    for k in range(last - (last - first) % 8, last):
        a = table[index[k]]
        for j in range(len(x)):
            x[j] += a[j]


@jit
def log_chances(x, weight, bias, moves, n, out):  # type: ignore[no-untyped-def]
    """Writes the logarithms of the probabilities of n moves, from the last hidden layer."""
    top = -math.inf
    for k in range(n):
        row = weight[moves[k]]
        logit = bias[moves[k]]
        for j in range(len(row)):
            logit += x[j] * row[j]
        out[k] = logit
        top = max(top, out[k])
    total = 0.0
    for k in range(n):
        total += math.exp(out[k] - top)
    for k in range(n):
        out[k] -= top + math.log(total)


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
def log_legal_chances(x, weight, bias, mask, legal, out):  # type: ignore[no-untyped-def]
    """Writes the legal moves and the logarithms of their probabilities; returns how many."""
    n = 0
    for move in range(len(mask)):
        if mask[move]:
            legal[n] = move
            n += 1
    log_chances(x, weight, bias, legal, n, out)
    return n


@jit
def draw_by_logs(chances, n, chance):  # type: ignore[no-untyped-def]
    """Which of n moves a number from [0, 1) chooses, by the logarithms of their probabilities; -1 if there are none."""
    for k in range(n):
        chance -= math.exp(chances[k])
        if chance < 0.0:
            return k
    return n - 1


@jit
def layer(x, weights, at, size_in, size_out, out):  # type: ignore[no-untyped-def]
    """A layer with its rectifier; its (in, out) weights and then its bias begin at `at` of all weights."""
    first_bias = at + size_in * size_out
    out[:size_out] = weights[first_bias : first_bias + size_out]
    for i in range(size_in):
        v = x[i]
        if v != 0.0:
            row = weights[at + i * size_out : at + (i + 1) * size_out]
            for j in range(size_out):
                out[j] += v * row[j]
    for j in range(size_out):
        out[j] = max(out[j], np.float32(0.0))


@jit
def find_rows(observation, begins, index):  # type: ignore[no-untyped-def]
    """Writes which rows (`network.weight_layout`) an observation adds up into `index`; returns how many."""
    n = 0
    for e in range(len(observation)):
        if observation[e] > 0 and begins[e] < begins[e + 1]:
            index[n] = min(begins[e] + observation[e], begins[e + 1]) - 1
            n += 1
    return n


@jit
def hidden(index, n, rows, weights, table, x, y):  # type: ignore[no-untyped-def]
    """All layers one after another, from the n rows that are added up; returns the one of x and y that has the last.

    `rows`, `weights` and `table` are those of `network.weight_layout`.
    """
    at, _, size_out = table[0]
    x[:size_out] = weights[at : at + size_out]
    add_rows(x[:size_out], rows, index, 0, n)
    for j in range(size_out):
        x[j] = max(x[j], np.float32(0.0))
    for k in range(1, len(table)):
        layer(x, weights, table[k, 0], table[k, 1], table[k, 2], y)
        x, y = y, x
    return x


@entry
def choose_by_network(observations, masks, uniforms, begins, rows, weights, table, head, bias, moves, chances):  # type: ignore[no-untyped-def]
    """Writes a move of each game, by one number from [0, 1) each; -1 where none is legal.

    `chances` gets the logarithms of the probabilities of the legal moves, if it has room.
    """
    index = np.empty(len(begins), np.int32)
    width = table[:, 2].max()
    x, y = np.empty(width, np.float32), np.empty(width, np.float32)
    legal, found = np.empty(len(bias), np.int64), np.empty(len(bias), np.float32)
    for i in range(len(observations)):
        last = hidden(index, find_rows(observations[i], begins, index), rows, weights, table, x, y)
        n = log_legal_chances(last, head, bias, masks[i], legal, found)
        k = draw_by_logs(found, n, uniforms[i])
        moves[i] = legal[k] if k >= 0 else -1
        if len(chances):
            for k in range(n):
                chances[i, legal[k]] = found[k]
