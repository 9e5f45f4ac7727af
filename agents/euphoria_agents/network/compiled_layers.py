"""The compiled parts of a network: its features, its layers, and the legal moves only.

Of some 660 moves about five are legal, and most entries of an observation are 0. So a network is computed from the entries that
are not 0 to the moves that are legal; the player and the trainer share this.
"""

from __future__ import annotations

import math

import numpy as np

from euphoria_env.engine.jit import entry, jit

VALUES = 128  # that an entry of an observation can have, from 0 on


@jit
def features_of_entry(e, seen, starts, offset, scale, rest, n, index, value):  # type: ignore[no-untyped-def]
    """Writes from n on the features that differ when this entry is not 0 but `seen`, and by how much; returns where they end.

    Features starts[e] to starts[e + 1] - 1 belong to entry e of the observation; `rest` are those of an observation of zeros.
    """
    x = np.float32(seen)
    for k in range(starts[e], starts[e + 1]):
        change = min(max((x - offset[k]) * scale[k], np.float32(-1.0)), np.float32(1.0)) - rest[k]
        index[n], value[n] = k, change  # without a branch: the next one overwrites what does not differ
        n += change != 0.0
    return n


@jit
def add_weighted(x, weight, index, value, first, last):  # type: ignore[no-untyped-def]
    """Adds rows index[first] to index[last - 1] of `weight` to x, each times its value."""
    for k in range(first, last - 3, 4):  # four at a time: x is read and written less often
        a, b, c, d = weight[index[k]], weight[index[k + 1]], weight[index[k + 2]], weight[index[k + 3]]
        p, q, r, s = value[k], value[k + 1], value[k + 2], value[k + 3]
        for j in range(len(x)):
            x[j] += p * a[j] + q * b[j] + r * c[j] + s * d[j]
    for k in range(last - (last - first) % 4, last):
        a, p = weight[index[k]], value[k]
        for j in range(len(x)):
            x[j] += p * a[j]


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


# ---------------------------------------------------------------------------------------------------------- for the trainer


@entry
def find_active_features(observations, starts, active_features):  # type: ignore[no-untyped-def]
    """Writes the active features of all observations, those of observation i from starts[i] on.

    An active feature is an entry that is not 0, with its value: entry * VALUES + value.
    """
    n = 0
    for i in range(len(observations)):
        starts[i] = n
        for e in range(observations.shape[1]):
            active_features[n] = e * VALUES + observations[i, e]  # as above: the next one overwrites a 0
            n += observations[i, e] != 0
    starts[len(observations)] = n


@entry
def find_legal(masks, starts, legal):  # type: ignore[no-untyped-def]
    """Writes the legal moves of all masks, those of mask i from starts[i] on."""
    n = 0
    for i in range(len(masks)):
        starts[i] = n
        for move in range(masks.shape[1]):
            if masks[i, move]:
                legal[n] = move
                n += 1
    starts[len(masks)] = n


@entry
def number_active_features(active_features, numbers, known):  # type: ignore[no-untyped-def]
    """Replaces each active feature by its number among those that occur, which are written to `known` in order; returns how many.

    `numbers` is workspace for the number of each possible feature.
    """
    numbers[:] = 0
    for k in range(len(active_features)):
        numbers[active_features[k]] = 1
    n = 0
    for feature in range(len(numbers)):
        if numbers[feature]:
            known[n], numbers[feature] = feature, n
            n += 1
    for k in range(len(active_features)):
        active_features[k] = numbers[active_features[k]]
    return n


@entry
def features_of(active_features, starts, offset, scale, rest, ends, index, value):  # type: ignore[no-untyped-def]
    """Writes the numbers of active features, those of feature i from ends[i] to ends[i + 1]."""
    n = 0
    ends[0] = 0
    for i in range(len(active_features)):
        n = features_of_entry(
            active_features[i] // VALUES, active_features[i] % VALUES, starts, offset, scale, rest, n, index, value
        )
        ends[i + 1] = n


@entry
def weigh_active_features(ends, index, value, weight, out):  # type: ignore[no-untyped-def]
    """Writes what each active feature adds to the first layer: the rows of its features times their values."""
    for i in range(len(out)):
        out[i, :] = 0.0
        add_weighted(out[i], weight, index, value, ends[i], ends[i + 1])


@entry
def weigh_back(ends, index, value, gradient, out):  # type: ignore[no-untyped-def]
    """The gradient of the weights, from that of what each active feature adds."""
    out[:, :] = 0.0
    for i in range(len(gradient)):
        g = gradient[i]
        for k in range(ends[i], ends[i + 1]):
            row, v = out[index[k]], value[k]
            for j in range(len(g)):
                row[j] += v * g[j]


@entry
def add_active_features(starts, active_features, which, table, bias, out):  # type: ignore[no-untyped-def]
    """The first layer of some of the observations: the bias, and what their active features add."""
    for i in range(len(which)):
        out[i, :] = bias
        add_rows(out[i], table, active_features, starts[which[i]], starts[which[i] + 1])


@entry
def add_back(starts, active_features, which, gradient, ends, where, out):  # type: ignore[no-untyped-def]
    """The gradient of what each active feature adds: one by one, from all observations that have it.

    `ends` and `where` are workspace: where the observations of each active feature end, and the observations one after another.
    """
    ends[:] = 0
    for i in range(len(which)):
        for k in range(starts[which[i]], starts[which[i] + 1]):
            ends[active_features[k]] += 1
    n = 0
    for feature in range(len(ends)):
        n, ends[feature] = n + ends[feature], n
    for i in range(len(which)):
        for k in range(starts[which[i]], starts[which[i] + 1]):
            where[ends[active_features[k]]] = i
            ends[active_features[k]] += 1
    n = 0
    for feature in range(len(ends)):
        out[feature, :] = 0.0
        add_rows(out[feature], gradient, where, n, ends[feature])
        n = ends[feature]


@entry
def draw_moves(hidden_, weight, bias, masks, uniforms, moves, chosen):  # type: ignore[no-untyped-def]
    """Writes a move of each game, by one number from [0, 1) each, and the logarithm of its probability."""
    legal, found = np.empty(len(bias), np.int64), np.empty(len(bias), np.float32)
    for i in range(len(hidden_)):
        n = log_legal_chances(hidden_[i], weight, bias, masks[i], legal, found)
        k = draw_by_logs(found, n, uniforms[i])
        moves[i], chosen[i] = legal[k], found[k]


@entry
def judge_moves(hidden_, weight, bias, starts, legal, which, moves, found, chosen, entropy):  # type: ignore[no-untyped-def]
    """Writes the logarithms of the probabilities of all legal moves one after another, that of the move made, and the entropy.

    Those that are legal in game i begin at starts[which[i]].
    """
    n = 0
    for i in range(len(which)):
        first, last = starts[which[i]], starts[which[i] + 1]
        log_chances(hidden_[i], weight, bias, legal[first:last], last - first, found[n:])
        entropy[i] = 0.0
        for k in range(first, last):
            entropy[i] -= math.exp(found[n]) * found[n]
            if legal[k] == moves[i]:
                chosen[i] = found[n]
            n += 1


@entry
def judge_back(  # type: ignore[no-untyped-def]
    hidden_, weight, starts, legal, which, moves, found, entropy, by_chosen, by_entropy, by_hidden, by_weight, by_bias
):
    """The gradients of `judge_moves`, from those by its two results."""
    n = 0
    for i in range(len(which)):
        x, by_x = hidden_[i], by_hidden[i]
        for k in range(starts[which[i]], starts[which[i] + 1]):
            move, chance = legal[k], np.float32(math.exp(found[n]))
            by_logit = by_chosen[i] * (np.float32(move == moves[i]) - chance) - by_entropy[i] * chance * (found[n] + entropy[i])
            by_bias[move] += by_logit
            row, by_row = weight[move], by_weight[move]
            for j in range(len(x)):
                by_x[j] += by_logit * row[j]
                by_row[j] += by_logit * x[j]
            n += 1
