"""The compiled parts of a network: its features, its layers, and the legal moves only.

Of some 660 moves about five are legal, and most entries of an observation are 0. So a network is computed from the entries that
are not 0 to the moves that are legal; the player and the trainer share this.
"""

from __future__ import annotations

import math

import numpy as np

from euphoria_env.engine.jit import entry, jit


@jit
def find_features(observation, starts, offset, scale, rest, index, value):  # type: ignore[no-untyped-def]
    """Writes the features that are not as in an observation of zeros (there: `rest`), and by how much; returns how many.

    Features starts[e] to starts[e + 1] - 1 belong to entry e of the observation.
    """
    n = 0
    for e in range(len(observation)):
        if observation[e] == 0:
            continue
        x = np.float32(observation[e])
        for k in range(starts[e], starts[e + 1]):
            change = min(max((x - offset[k]) * scale[k], np.float32(-1.0)), np.float32(1.0)) - rest[k]
            if change != 0.0:
                index[n] = k
                value[n] = change
                n += 1
    return n


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
def hidden(observation, starts, offset, scale, rest, weights, table, index, value, x, y):  # type: ignore[no-untyped-def]
    """All layers one after another; returns the one of x and y that has the last.

    The rows of `table`: where the weights of the layer begin, its inputs, its outputs.
    """
    n = find_features(observation, starts, offset, scale, rest, index, value)
    at, size_in, size_out = table[0]
    x[:size_out] = weights[at + size_in * size_out : at + (size_in + 1) * size_out]
    for k in range(n):
        row = weights[at + index[k] * size_out : at + (index[k] + 1) * size_out]
        v = value[k]
        for j in range(size_out):
            x[j] += v * row[j]
    for j in range(size_out):
        x[j] = max(x[j], np.float32(0.0))
    for k in range(1, len(table)):
        layer(x, weights, table[k, 0], table[k, 1], table[k, 2], y)
        x, y = y, x
    return x


@entry
def choose_by_network(observations, masks, spins, starts, offset, scale, rest, weights, table, head, bias, moves, chances):  # type: ignore[no-untyped-def]
    """Writes a move of each game, by one number from [0, 1) each; -1 where none is legal.

    `chances` gets the logarithms of the probabilities of the legal moves, if it has room.
    """
    index, value = np.empty(len(offset), np.int32), np.empty(len(offset), np.float32)
    width = table[:, 2].max()
    x, y = np.empty(width, np.float32), np.empty(width, np.float32)
    legal, found = np.empty(len(bias), np.int64), np.empty(len(bias), np.float32)
    for i in range(len(observations)):
        last = hidden(observations[i], starts, offset, scale, rest, weights, table, index, value, x, y)
        n = log_legal_chances(last, head, bias, masks[i], legal, found)
        k = draw_by_logs(found, n, spins[i])
        moves[i] = legal[k] if k >= 0 else -1
        if len(chances):
            for k in range(n):
                chances[i, legal[k]] = found[k]


# ---------------------------------------------------------------------------------------------------------- for the trainer


@entry
def features_of(observations, starts, offset, scale, rest, rows, index, value):  # type: ignore[no-untyped-def]
    """Writes the features of all observations, those of observation i from rows[i] on."""
    n = 0
    for i in range(len(observations)):
        rows[i] = n
        n += find_features(observations[i], starts, offset, scale, rest, index[n:], value[n:])
    return n


@entry
def add_rows(rows, index, value, weight, bias, out):  # type: ignore[no-untyped-def]
    """The first layer: the bias, and the rows of the features times their values."""
    for i in range(len(out)):
        x = out[i]
        x[:] = bias
        for k in range(rows[i], rows[i + 1]):
            row, v = weight[index[k]], value[k]
            for j in range(len(x)):
                x[j] += v * row[j]


@entry
def add_back(rows, index, value, gradient, out):  # type: ignore[no-untyped-def]
    """The gradient of the weights of the first layer."""
    for i in range(len(gradient)):
        g = gradient[i]
        for k in range(rows[i], rows[i + 1]):
            row, v = out[index[k]], value[k]
            for j in range(len(g)):
                row[j] += v * g[j]


@entry
def draw_moves(hidden_, weight, bias, masks, spins, moves, chosen):  # type: ignore[no-untyped-def]
    """Writes a move of each game, by one number from [0, 1) each, and the logarithm of its probability."""
    legal, found = np.empty(len(bias), np.int64), np.empty(len(bias), np.float32)
    for i in range(len(hidden_)):
        n = log_legal_chances(hidden_[i], weight, bias, masks[i], legal, found)
        k = draw_by_logs(found, n, spins[i])
        moves[i], chosen[i] = legal[k], found[k]


@entry
def judge_moves(hidden_, weight, bias, masks, moves, rows, legal, found, chosen, entropy):  # type: ignore[no-untyped-def]
    """Writes the logarithms of the probabilities of all legal moves, that of the move made, and the entropy.

    Those of game i begin at rows[i].
    """
    n = 0
    for i in range(len(hidden_)):
        rows[i] = n
        n += log_legal_chances(hidden_[i], weight, bias, masks[i], legal[n:], found[n:])
        entropy[i] = 0.0
        for k in range(rows[i], n):
            entropy[i] -= math.exp(found[k]) * found[k]
            if legal[k] == moves[i]:
                chosen[i] = found[k]
    rows[len(hidden_)] = n


@entry
def judge_back(hidden_, weight, moves, rows, legal, found, entropy, by_chosen, by_entropy, by_hidden, by_weight, by_bias):  # type: ignore[no-untyped-def]
    """The gradients of `judge_moves`, from those by its two results."""
    for i in range(len(hidden_)):
        x, by_x = hidden_[i], by_hidden[i]
        for k in range(rows[i], rows[i + 1]):
            move, chance = legal[k], np.float32(math.exp(found[k]))
            by_logit = by_chosen[i] * (np.float32(move == moves[i]) - chance) - by_entropy[i] * chance * (found[k] + entropy[i])
            by_bias[move] += by_logit
            row, by_row = weight[move], by_weight[move]
            for j in range(len(x)):
                by_x[j] += by_logit * row[j]
                by_row[j] += by_logit * x[j]
