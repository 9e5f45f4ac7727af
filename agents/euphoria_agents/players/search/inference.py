"""A trained network inside the search: asked about one position at a time, and of its moves only about the legal ones.

Its answers are those of `players.ppo`, from the same compiled parts (`network.compiled_layers`).
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from euphoria_agents.network.checkpoint import Features, Parts, parts, read_checkpoint
from euphoria_agents.network.compiled_layers import change_rows, find_changed_rows, later_layers, layer, log_chances, softmax
from euphoria_agents.network.weight_layout import active_feature_rows, flatten
from euphoria_env.board import MAX_PLAYERS
from euphoria_env.engine.jit import jit
from euphoria_env.engine.observe import fill_observation
from euphoria_env.engine.rewards import Reward, reward_number
from euphoria_env.observations import OBS_SIZE

STARS_PER_E = 2.0  # an expected lead of this many stars makes winning e times as likely as losing


class SearchNetwork(NamedTuple):
    """A network in flat arrays, with its workspace.

    Attributes:
        begins, rows: what it sees of an observation; see `network.weight_layout.active_feature_rows`.
        weights, trunk, policy, value: the hidden layers; see `network.weight_layout.flatten`.
        win_rows, win_layers: the same of the network that says who wins; no rows if there is none.
        logits, bias: float32 (NUM_ACTIONS, in) and (NUM_ACTIONS,), the last layer of the policy.
        worth, worth_bias: float32 (in,) and (1,), the last layer of the value.
        seats, seats_bias: float32 (MAX_PLAYERS, in) and (MAX_PLAYERS,), the last layer of the win probabilities.
        base: int8 (MAX_PLAYERS, OBS_SIZE), an observation of each player that others are compared with; zeros at first.
        trunk_base, win_base: float32 (MAX_PLAYERS, out), what the first layers make of those, before the rectifier.
        observation, places, known, x, y: workspace; `places` are the rows in which what was seen last differs from the base, as
            `find_changed_rows` has them, and `known` how many come and go.
        seen: float32, what came out of the trunk last.
    """

    begins: np.ndarray
    rows: np.ndarray
    weights: np.ndarray
    trunk: np.ndarray
    policy: np.ndarray
    value: np.ndarray
    win_rows: np.ndarray
    win_layers: np.ndarray
    logits: np.ndarray
    bias: np.ndarray
    worth: np.ndarray
    worth_bias: np.ndarray
    seats: np.ndarray
    seats_bias: np.ndarray
    base: np.ndarray
    trunk_base: np.ndarray
    win_base: np.ndarray
    observation: np.ndarray
    places: np.ndarray
    known: np.ndarray
    x: np.ndarray
    y: np.ndarray
    seen: np.ndarray


def no_network() -> SearchNetwork:
    """A placeholder that is passed where no network is used."""
    empty = np.zeros(0)
    layers = [(np.zeros((0, 0)), empty)]
    return build_network(Parts(Features(empty, empty, empty), layers, layers, layers, []))


def load_network(path: str | Path) -> tuple[SearchNetwork, int]:
    """The network of a checkpoint, and the number of the reward that its values count.

    Raises:
        ValueError: it cannot be read (see `read_checkpoint`), its tensors do not fit, or it names no reward.
    """
    header, tensors = read_checkpoint(path)
    network = build_network(parts(tensors, path))
    try:
        return network, reward_number(_reward(header))
    except ValueError as error:
        raise ValueError(f"{path}: the header does not say for which reward the network was trained: {error}") from error


def reward_of(header: Mapping[str, Any]) -> int | None:
    """The number of the reward that the values of a checkpoint count; None if its header does not say."""
    with contextlib.suppress(ValueError):
        return reward_number(_reward(header))
    return None


def _reward(header: Mapping[str, Any]) -> Any:
    training = header.get("training")
    return training.get("reward") if isinstance(training, dict) else None


def build_network(found: Parts) -> SearchNetwork:
    """A network from its parts."""
    begins, rows, trunk = active_feature_rows(found.features, found.trunk)
    absent = np.zeros((len(found.features.source), 0)), np.zeros(0)
    *judging, (seats, seats_bias) = found.win_probs or [absent, absent]
    _, win_rows, judging = active_feature_rows(found.features, judging)
    weights, tables = flatten([trunk, found.policy[:-1], found.value[:-1], judging])
    trunk_table, policy_table, value_table, win_table = tables
    widest = max(1, *(int(table[:, 1:].max(initial=0)) for table in tables))
    (logits, logits_bias), (worth, worth_bias) = found.policy[-1], found.value[-1]
    return SearchNetwork(
        begins,
        rows,
        weights,
        trunk_table,
        policy_table,
        value_table,
        win_rows,
        win_table,
        np.ascontiguousarray(logits.T, np.float32),
        np.ascontiguousarray(logits_bias, np.float32),
        np.ascontiguousarray(worth.ravel(), np.float32),
        np.ascontiguousarray(worth_bias, np.float32),
        np.ascontiguousarray(seats.T, np.float32),
        np.ascontiguousarray(seats_bias, np.float32),
        np.zeros((MAX_PLAYERS, OBS_SIZE), np.int8),
        np.tile(weights[trunk_table[0, 0] :][: rows.shape[1]], (MAX_PLAYERS, 1)),
        np.tile(weights[win_table[0, 0] :][: win_rows.shape[1]], (MAX_PLAYERS, 1)),
        np.zeros(OBS_SIZE, np.int8),
        np.zeros(2 * OBS_SIZE, np.int32),
        np.zeros(2, np.int64),
        np.zeros(widest, np.float32),
        np.zeros(widest, np.float32),
        np.zeros(found.trunk[-1][0].shape[1], np.float32),
    )


@jit
def rebase(net, g, p):  # type: ignore[no-untyped-def]
    """Makes the present observation of a player the base: those near it differ in few rows."""
    net.base[p] = 0
    net.trunk_base[p] = net.weights[net.trunk[0, 0] :][: net.trunk_base.shape[1]]
    net.win_base[p] = net.weights[net.win_layers[0, 0] :][: net.win_base.shape[1]]
    encode(net, g, p)
    net.base[p] = net.observation
    change_rows(net.trunk_base[p], net.rows, net.places, net.known[0], net.known[1])
    change_rows(net.win_base[p], net.win_rows, net.places, net.known[0], net.known[1])


@jit
def encode(net, g, p):  # type: ignore[no-untyped-def]
    """Writes the observation of a player, and the rows in which it differs from the base."""
    fill_observation(g, p, net.observation)
    net.known[0], net.known[1] = find_changed_rows(net.observation, net.base[p], net.begins, net.places)


@jit
def forward(net, p, places, more, less):  # type: ignore[no-untyped-def]
    """Computes the trunk for a player, from the rows that are added to the base and those that are taken off."""
    x = net.x[: net.trunk_base.shape[1]]
    x[:] = net.trunk_base[p]
    change_rows(x, net.rows, places, more, less)
    last = later_layers(net.weights, net.trunk, net.x, net.y)
    net.seen[:] = last[: len(net.seen)]


@jit
def evaluate(net, g, p):  # type: ignore[no-untyped-def]
    """Computes the trunk for what a player sees."""
    encode(net, g, p)
    forward(net, p, net.places, net.known[0], net.known[1])


@jit
def head(net, table):  # type: ignore[no-untyped-def]
    """Computes the hidden layers of policy or value from the last output of the trunk."""
    x, y = net.x, net.y
    x[: len(net.seen)] = net.seen
    for k in range(len(table)):
        layer(x, net.weights, table[k, 0], table[k, 1], table[k, 2], y)
        x, y = y, x
    return x


@jit
def policy(net, moves, n, power, priors):  # type: ignore[no-untyped-def]
    """Writes the probabilities of n legal moves, taken to a power, from the last output of the trunk."""
    log_chances(head(net, net.policy), net.logits, net.bias, moves, n, priors)
    for k in range(n):
        priors[k] *= power
    softmax(priors, n)


@jit
def value(net):  # type: ignore[no-untyped-def]
    """The value, from the last output of the trunk."""
    x = head(net, net.value)
    worth = net.worth_bias[0]
    for j in range(len(net.worth)):
        worth += x[j] * net.worth[j]
    return float(worth)


@jit
def chance_to_win(g, p, expected, reward):  # type: ignore[no-untyped-def]
    """A player's chance to win, from 0 to 1, as an expected sum of rewards implies it.

    Of `STARS` those already placed count too, as the lead over the others.
    """
    n = int(g["num_players"])
    if reward == Reward.WIN:
        return min(1.0, max(0.0, (expected * (n - 1) + 1.0) / n))
    if reward == Reward.RANK:
        return min(1.0, max(0.0, (expected + 1.0) / 2))
    if reward == Reward.STARS:
        lead = expected
        for q in range(n):
            lead += (int(g["stars"][q]) - int(g["stars"][p])) / (n - 1)
        return 1.0 / (1.0 + (n - 1) * math.exp(-lead / STARS_PER_E))
    raise ValueError("no such reward")


@jit
def has_win_probs(net):  # type: ignore[no-untyped-def]
    """Whether the network has layers for the win probabilities."""
    return net.win_rows.shape[1] > 0


@jit
def win_probs(net, g, observer, chances):  # type: ignore[no-untyped-def]
    """Writes each seat's chance to win, from the observation that was encoded last, which must be that of this player."""
    n = int(g["num_players"])
    first = net.x[: net.win_base.shape[1]]
    first[:] = net.win_base[observer]
    change_rows(first, net.win_rows, net.places, net.known[0], net.known[1])
    x = later_layers(net.weights, net.win_layers, net.x, net.y)
    for k in range(n):
        logit = net.seats_bias[k]
        for j in range(net.seats.shape[1]):
            logit += x[j] * net.seats[k, j]
        chances[(observer + k) % n] = logit
    softmax(chances, n)
