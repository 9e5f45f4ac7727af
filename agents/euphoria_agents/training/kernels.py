"""The compiled parts of the trainer: each works on a range, so that threads can share the work.

An observation is a list of *rows* (`network.weight_layout`): one for each entry that is not 0, by its value. A row stands for a
few features of the network with their values: `ends`, `index` and `value`, see `network.weight_layout.features_of_rows`.
"""

from __future__ import annotations

import math

import numpy as np

from euphoria_agents.network.compiled_layers import add_rows, draw_by_logs, find_rows, hidden, log_chances, log_legal_chances
from euphoria_env.engine.jit import entry, jit

# ------------------------------------------------------------------------------------------------------------------- playing


@entry(
    "int8[:,:] bool_[:,:] int64[:] float64[:] int64[:] float32[:,:] float32[:] int64[:,:] float32[:,:] float32[:] "
    "int64 int64[:] float32[:] int64[:] int16[:] int64[:] int16[:]"
)
def play_and_record(  # type: ignore[no-untyped-def]
    observations, masks, games, uniforms, begins, rows, weights, table, head, bias,
    n, move, log_prob, row_ends, row, legal_ends, legal,
):  # fmt: skip
    """Draws a move in each of these games by one uniform each, and records the decision.

    Decision n + k, that of games[k], gets its move, the logarithm of its probability, and what it was made from: its rows end at
    row_ends[n + k + 1], its legal moves at legal_ends[n + k + 1].
    """
    width = table[:, 2].max()
    x, y = np.empty(width, np.float32), np.empty(width, np.float32)
    index, moves = np.empty(len(begins), np.int32), np.empty(len(bias), np.int64)
    chances = np.empty(len(bias), np.float32)
    for k in range(len(games)):
        i, first, low = games[k], row_ends[n + k], legal_ends[n + k]
        found = find_rows(observations[i], begins, index)
        last = hidden(index, found, rows, weights, table, x, y)
        options = log_legal_chances(last, head, bias, masks[i], moves, chances)
        chosen = draw_by_logs(chances, options, uniforms[k])
        move[n + k], log_prob[n + k] = moves[chosen], chances[chosen]
        for j in range(found):
            row[first + j] = index[j]
        for j in range(options):
            legal[low + j] = moves[j]
        row_ends[n + k + 1], legal_ends[n + k + 1] = first + found, low + options


@entry("int8[:,:] int64[:] int64[:] int16[:]")
def record_observations(observations, begins, row_ends, row):  # type: ignore[no-untyped-def]
    """Writes the rows of observations one after another."""
    index = np.empty(len(begins), np.int32)
    for i in range(len(observations)):
        found = find_rows(observations[i], begins, index)
        for j in range(found):
            row[row_ends[i] + j] = index[j]
        row_ends[i + 1] = row_ends[i] + found


# -------------------------------------------------------------------------------------------------------------- first layer


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


@entry("int64[:] int32[:] float32[:] float32[:,:] int64 int64 float32[:,:]")
def weigh_rows(ends, index, value, weight, first, last, out):  # type: ignore[no-untyped-def]
    """Writes what rows first to last - 1 add to the first layer: the weights of their features times their values."""
    for r in range(first, last):
        out[r, :] = 0.0
        add_weighted(out[r], weight, index, value, ends[r], ends[r + 1])


@entry("int64[:] int16[:] int64[:] float32[:,:] float32[:] float32[:,:]")
def first_layer(row_ends, row, which, table, bias, out):  # type: ignore[no-untyped-def]
    """Writes the first layer of these decisions, before its rectifier."""
    for k in range(len(which)):
        out[k, :] = bias
        add_rows(out[k], table, row, row_ends[which[k]], row_ends[which[k] + 1])


@entry("int64[:] int16[:] int64[:] float32[:,:] int64[:] int32[:] float32[:] int64 int64 float32[:,:]")
def first_layer_back(row_ends, row, which, by_out, ends, index, value, first, last, by_weight):  # type: ignore[no-untyped-def]
    """Writes the gradient of the weights of the features that rows first to last - 1 stand for, and of no others.

    No feature may belong both to one of these rows and to another one.
    """
    starts = np.zeros(last - first + 1, np.int64)
    for k in range(len(which)):
        for j in range(row_ends[which[k]], row_ends[which[k] + 1]):
            if first <= row[j] < last:
                starts[row[j] - first + 1] += 1
    for r in range(last - first):
        starts[r + 1] += starts[r]
    where, at = np.empty(starts[last - first], np.int32), starts[:-1].copy()  # the decisions of each row, one after another
    for k in range(len(which)):
        for j in range(row_ends[which[k]], row_ends[which[k] + 1]):
            if first <= row[j] < last:
                where[at[row[j] - first]] = k
                at[row[j] - first] += 1
    for r in range(first, last):
        for j in range(ends[r], ends[r + 1]):
            by_weight[index[j], :] = 0.0
    total = np.empty(by_weight.shape[1], np.float32)
    for r in range(first, last):
        if starts[r - first] == starts[r - first + 1]:
            continue
        total[:] = 0.0
        add_rows(total, by_out, where, starts[r - first], starts[r - first + 1])
        for j in range(ends[r], ends[r + 1]):
            by, v = by_weight[index[j]], value[j]
            for c in range(len(total)):
                by[c] += v * total[c]


# --------------------------------------------------------------------------------------------------------------- the moves


@entry("float32[:,:] float32[:,:] float32[:] int64[:] int16[:] int64[:] float32[:]")
def judge_moves(x, head, bias, legal_ends, legal, which, log_probs):  # type: ignore[no-untyped-def]
    """Writes the logarithms of the probabilities of the legal moves of these decisions to where `legal` has the moves.

    x has the last hidden layer of each of these decisions.
    """
    for k in range(len(which)):
        low, high = legal_ends[which[k]], legal_ends[which[k] + 1]
        log_chances(x[k], head, bias, legal[low:high], high - low, log_probs[low:high])


@entry(
    "float32[:,:] float32[:,:] float32[:] int64[:] int16[:] int64[:] int64[:] float32[:] float32[:] "
    "float64 float64 float64 float32[:,:] float32[:,:] float32[:] float64[:]"
)
def learn_moves(  # type: ignore[no-untyped-def]
    x, head, bias, legal_ends, legal, which, move, log_prob, advantage,
    clip, entropy_weight, scale, by_x, by_head, by_bias, facts,
):  # fmt: skip
    """The clipped objective of PPO (Schulman et al. 2017) with an entropy bonus, and the gradients of its loss times `scale`.

    Args:
        x: float32 (B, width), the last hidden layer of each of the decisions `which`.
        log_prob, advantage: of all decisions; the ratio is that of the present probability to exp(log_prob).
        by_x: gets the gradient; those of `head` and `bias` are added to `by_head` and `by_bias`.
        facts: float64 (4,); the sums of objective, entropy, clipped ratios and approximate divergence are added.
    """
    chances = np.empty(len(bias), np.float32)
    for k in range(len(which)):
        i = which[k]
        low, high = legal_ends[i], legal_ends[i + 1]
        log_chances(x[k], head, bias, legal[low:high], high - low, chances)
        chosen, entropy = 0, 0.0
        for j in range(high - low):
            entropy -= math.exp(chances[j]) * chances[j]
            if legal[low + j] == move[i]:
                chosen = j
        difference = np.float64(
            chances[chosen] - log_prob[i]
        )  # float64, so that the two products below are equal within the clip
        ratio, gain = math.exp(difference), np.float64(advantage[i])
        clipped = gain * min(max(ratio, 1.0 - clip), 1.0 + clip)
        by_chosen = -gain * ratio * scale if gain * ratio <= clipped else 0.0
        facts[0] += min(gain * ratio, clipped)
        facts[1] += entropy
        facts[2] += abs(ratio - 1.0) > clip
        facts[3] += ratio - 1.0 - difference
        seen, by_seen = x[k], by_x[k]
        by_seen[:] = 0.0
        for j in range(high - low):
            chance, m = math.exp(chances[j]), legal[low + j]
            by_chance = by_chosen * ((1.0 if j == chosen else 0.0) - chance)
            by_policy = entropy_weight * (chances[j] + entropy)
            by_logit = np.float32(by_chance + scale * chance * by_policy)
            by_bias[m] += by_logit
            weight, by_weight = head[m], by_head[m]
            for c in range(len(seen)):
                by_seen[c] += by_logit * weight[c]
                by_weight[c] += by_logit * seen[c]


# --------------------------------------------------------------------------------------------------------------- optimizer


@entry("float32[:] float32[:] float32[:] float32[:] float64 float64 float64 float64 float64 int64")
def adam(parameters, gradient, mean, square, scale, rate, beta1, beta2, epsilon, step):  # type: ignore[no-untyped-def]
    """A step of Adam (Kingma and Ba 2015), with the gradient times `scale`; all arrays are of one length."""
    a, b = np.float32(1.0 - beta1), np.float32(1.0 - beta2)
    size, root = np.float32(rate / (1.0 - beta1**step)), np.float32(1.0 / math.sqrt(1.0 - beta2**step))
    low, by = np.float32(epsilon), np.float32(scale)
    for k in range(len(parameters)):
        g = gradient[k] * by
        m, v = mean[k] + a * (g - mean[k]), square[k] + b * (g * g - square[k])
        mean[k], square[k] = m, v
        parameters[k] -= size * m / (np.sqrt(v) * root + low)
