"""A trained network inside the search: it evaluates one position at a time, and only the legal moves.

Its policy is that of `players.ppo`, from the same compiled functions (`network.compiled_layers`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from euphoria_agents.network.checkpoint import Parts, parts, read_checkpoint
from euphoria_agents.network.compiled_layers import (
    Policy,
    change_rows,
    find_changed_rows,
    later_layers,
    log_chances,
    softmax,
)
from euphoria_agents.network.features import Features
from euphoria_agents.network.float_vectors import add_products, aligned_copy
from euphoria_agents.network.weight_layout import NO_LAYER, lay_out
from euphoria_env.board import MAX_PLAYERS
from euphoria_env.engine.features import NUM_FEATURES, describe_seats
from euphoria_env.engine.jit import array, entry, jit, kind_of
from euphoria_env.engine.observe import fill_observation
from euphoria_env.engine.rewards import Reward, reward_number
from euphoria_env.engine.row_checks import check
from euphoria_env.engine.state import GAME_DTYPE
from euphoria_env.observations import OBS_SIZE

STARS_PER_E = 2.0  # an expected lead of this many stars makes winning e times as likely as losing


class SearchNetwork(NamedTuple):
    """A network with the workspace of a search.

    Attributes:
        main: the layers of policy and value.
        win: the layers of the win probabilities, with a row of the head for each seat; their width is 0 if there are none.
        described: float32 (MAX_PLAYERS * NUM_FEATURES * out,), the weights of the features of `describe_seats` in the first layer
            of `win`; empty if the win probabilities depend on the observation alone.
        base: int8 (MAX_PLAYERS, OBS_SIZE), an observation of each player with which later ones are compared; zeros at first.
        main_base, win_base: float32 (MAX_PLAYERS, out), the first layers of these observations, before the ReLU.
        features, observation, places, known, x, y: workspace; `places` are the rows in which the last observation differs from
            the base, as `find_changed_rows` writes them, and `known` how many are added and how many removed.
        seen: float32, the latest output of the hidden layers of `main`.
    """

    main: Policy
    win: Policy
    described: np.ndarray
    base: np.ndarray
    main_base: np.ndarray
    win_base: np.ndarray
    features: np.ndarray
    observation: np.ndarray
    places: np.ndarray
    known: np.ndarray
    x: np.ndarray
    y: np.ndarray
    seen: np.ndarray


def no_network() -> SearchNetwork:
    """Returns a placeholder, for a search that uses no network."""
    empty = np.zeros(0)
    layers = [(np.zeros((0, 0)), empty)]
    return build_network(Parts(Features(empty, empty, empty), layers, layers, layers, [], []))


def load_network(path: str | Path) -> tuple[SearchNetwork, int]:
    """Returns the network of a checkpoint, and the number of the reward on which its value was trained.

    Raises:
        ValueError: the file cannot be read (see `read_checkpoint`), its tensors do not fit, or it names no reward.
    """
    header, tensors = read_checkpoint(path)
    found = parts(tensors, path)
    if (len(found.policy), len(found.value)) != (1, 1):
        raise ValueError(f"{path}: a search needs one layer of policy and of value")
    try:
        return build_network(found), reward_number(_reward(header))
    except ValueError as error:
        raise ValueError(f"{path}: the header does not say for which reward the network was trained: {error}") from error


def _reward(header: Mapping[str, Any]) -> Any:
    training = header.get("training")
    return training.get("reward") if isinstance(training, dict) else None


def build_network(found: Parts) -> SearchNetwork:
    """Returns a network from its parts: policy and value must have one layer each, the win probabilities none or several."""
    main = lay_out(found.features, found.trunk, found.policy[0], found.value[0], found.afterstates)
    size = len(found.features.source)
    absent = np.zeros((size, 0), np.float32), np.zeros(0, np.float32)
    (weight, bias), *hidden, seats = found.win_probs or [absent, NO_LAYER]
    win = lay_out(found.features, [(weight[:size], bias), *hidden], seats)
    widest = max(1, *(int(one.table[:, 1:].max()) for one in (main, win)))
    main_base, win_base = (np.tile(one.weights[: one.rows.shape[1]], (MAX_PLAYERS, 1)) for one in (main, win))
    x, y = np.zeros((2, widest), np.float32)
    return SearchNetwork(
        main, win, aligned_copy(weight[size:].ravel()), np.zeros((MAX_PLAYERS, OBS_SIZE), np.int8), main_base, win_base,
        np.zeros(MAX_PLAYERS * NUM_FEATURES, np.float32), np.zeros(OBS_SIZE, np.int8), np.zeros(2 * OBS_SIZE, np.int32),
        np.zeros(2, np.int64), x, y, np.zeros(main.head.shape[1], np.float32),
    )  # fmt: skip


@jit
def rebase(net, g, p):  # type: ignore[no-untyped-def]
    """Makes the present observation of a player the base, from which observations of later positions differ in few rows."""
    net.base[p] = 0
    net.main_base[p] = net.main.weights[: net.main_base.shape[1]]
    net.win_base[p] = net.win.weights[: net.win_base.shape[1]]
    encode(net, g, p)
    net.base[p] = net.observation
    change_rows(net.main_base[p], net.main.rows, net.places, net.known[0], net.known[1])
    change_rows(net.win_base[p], net.win.rows, net.places, net.known[0], net.known[1])


@jit
def encode(net, g, p):  # type: ignore[no-untyped-def]
    """Writes the observation of a player, and the rows in which it differs from the base."""
    fill_observation(g, p, net.observation)
    net.known[0], net.known[1] = find_changed_rows(net.observation, net.base[p], net.main.begins, net.places)


@jit
def forward(net, p, places, more, less):  # type: ignore[no-untyped-def]
    """Computes the hidden layers for a player, from the rows in `places` that are added to the base and removed from it."""
    x = net.x[: net.main_base.shape[1]]
    x[:] = net.main_base[p]
    change_rows(x, net.main.rows, places, more, less)
    last = later_layers(net.main.weights, net.main.table, net.x, net.y)
    net.seen[:] = last[: len(net.seen)]


@jit
def evaluate(net, g, p):  # type: ignore[no-untyped-def]
    """Computes the hidden layers for a player's present observation."""
    encode(net, g, p)
    forward(net, p, net.places, net.known[0], net.known[1])


@jit
def policy(net, moves, n, power, priors):  # type: ignore[no-untyped-def]
    """Writes the policy over n legal moves to `priors`, each probability raised to `power`, from the latest hidden layers.

    It is the policy alone: with the afterstate head at the root the search wins less often (docs/experiments.md).
    """
    log_chances(net.seen, net.main.head, net.main.bias, moves, n, priors)
    for k in range(n):
        priors[k] *= power
    softmax(priors, n)


@jit
def value(net):  # type: ignore[no-untyped-def]
    """Returns the output of the value head, from the latest output of the hidden layers."""
    worth = net.main.value_bias[0]
    for j in range(len(net.seen)):
        worth += net.seen[j] * net.main.value[j]
    return float(worth)


@jit
def chance_to_win(g, p, expected, reward):  # type: ignore[no-untyped-def]
    """Returns the win probability that follows from the expected sum of a player's future rewards.

    For the reward `stars`, the lead in stars that are already placed is added to the expected one.
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
def reward_of_chance(chance, n):  # type: ignore[no-untyped-def]
    """Returns the expected reward `win` with n players for a win probability: the inverse of `chance_to_win`."""
    return (chance * n - 1.0) / (n - 1)


@jit
def has_win_probs(net):  # type: ignore[no-untyped-def]
    """Returns whether the network has layers for the win probabilities."""
    return net.win.rows.shape[1] > 0


@jit
def add_described(net, g, observer, first):  # type: ignore[no-untyped-def]
    """Adds the share of the features of all seats to the first layer of the win probabilities; no feature is negative."""
    describe_seats(g, observer, net.features)
    add_products(first, net.described, net.features)


@jit
def win_probs(net, g, observer, chances):  # type: ignore[no-untyped-def]
    """Writes each seat's win probability, from the observation that was encoded last, which must be that of `observer`."""
    n = int(g["num_players"])
    first = net.x[: net.win_base.shape[1]]
    first[:] = net.win_base[observer]
    change_rows(first, net.win.rows, net.places, net.known[0], net.known[1])
    if len(net.described):
        add_described(net, g, observer, first)
    x = later_layers(net.win.weights, net.win.table, net.x, net.y)
    for k in range(n):
        logit = net.win.bias[k]
        for j in range(net.win.head.shape[1]):
            logit += x[j] * net.win.head[k, j]
        chances[(observer + k) % n] = logit
    softmax(chances, n)


NETWORK = kind_of(no_network())  # the kind of a network, as an argument of entry points


@entry(array(GAME_DTYPE, read_only=True), "int64[:]", NETWORK, "float32[:,:]")
def write_win_probs(rows, seats, net, out):  # type: ignore[no-untyped-def]
    """Writes the win probability of each player of each game, float32 (N, MAX_PLAYERS), from what one seat of each may know."""
    chances = np.empty(MAX_PLAYERS)
    for i in range(len(rows)):
        check(rows, i)
        encode(net, rows[i], seats[i])
        win_probs(net, rows[i], seats[i], chances)
        for k in range(int(rows[i]["num_players"])):
            out[i, k] = chances[k]
