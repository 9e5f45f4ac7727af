"""Players that choose in compiled code: what they share with each other, and how they play an environment's opponents."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from euphoria_agents.network.compiled_layers import AfterstateHead, Policy, draw_by_logs
from euphoria_agents.network.float_vectors import aligned_copy
from euphoria_agents.players.greedy import Greedy, judge_moves
from euphoria_agents.players.network_moves import choose_by_policy, new_workspace
from euphoria_agents.players.packed_arguments import WORDS, loader, store
from euphoria_agents.players.ppo import PPO
from euphoria_agents.players.random import Uniform
from euphoria_agents.players.search.playouts import random_unit
from euphoria_agents.players.weights import Weights, spin, weigh
from euphoria_env.agent_protocol import LEARNER, NO_MOVE, keeps_games_apart
from euphoria_env.engine.batch_kernels import BATCH_ARRAYS, BatchArrays, play_on, show_to_decider
from euphoria_env.engine.byte_copies import borrowed, matrix, pointer_to
from euphoria_env.engine.chance import random_bits
from euphoria_env.engine.jit import IS_PLAIN, array, entry, jit, kind_of
from euphoria_env.engine.move_set import list_moves
from euphoria_env.engine.state import OVER
from euphoria_env.engine.tape import tape_of

# The kinds of players; from 0 on a kind is the number of a network. Those that are ASKED choose in Python.
GREEDY, RANDOM, WEIGHTS, ASKED = -4, -3, -2, -1
_ARRAYS = len(Policy._fields) - 1 + len(AfterstateHead._fields)
_GREEDY_GAMES = 16  # the most games in a call of compiled code, if some players are GREEDY


def kinds_of(agents: Iterable[Any], most: int | None = None) -> tuple[list[int], list[int], list[Policy]]:
    """Returns the kind of each agent, how many deals it looks at, and the networks, at most `most`."""
    kinds, deals, policies = list[int](), list[int](), list[Policy]()
    for agent in agents:
        known: Any = type(agent) if keeps_games_apart(agent) else None  # an instance may have functions of its own
        deals.append(agent.samples if known is Greedy else 0)
        if known is PPO and len(policies) != most:
            kinds.append(len(policies))
            policies.append(agent.policy)
        else:
            kinds.append({Greedy: GREEDY, Uniform: RANDOM, Weights: WEIGHTS}.get(known, ASKED))
    return kinds, deals, policies


@jit
def choose_by_rule(g, kind, deals, generator, n, chance, work):  # type: ignore[no-untyped-def]
    """Returns which of the n legal moves in `work.moves` a player without a network chooses; `chance` is from [0, 1)."""
    work = borrowed(work)
    if kind == RANDOM:
        return int(chance * n)
    if kind == WEIGHTS:
        weigh(g, work.moves, n, work.numbers)
        return spin(work.numbers, n, chance)
    values = judge_moves(g, deals, int(random_bits(generator)), pointer_to(work.tape, 0), work.moves, n)
    return np.argmax(values[:, int(g["player"])])


# --------------------------------------------------------------------------------------------------- opponents in environments


class LineUp(NamedTuple):
    """The agents of an environment by number (`Player.compiled`); their networks lie one after another in common arrays."""

    kinds: np.ndarray  # int64 (A, 2), the kind of each player, and how many deals it looks at
    parts: np.ndarray  # int64 (networks, arrays of a `Policy`, 3), where an array of a network begins, and its shape
    integers: np.ndarray  # int64
    floats: np.ndarray  # float32
    width: int  # the greatest width of a layer
    size: int  # the greatest width of an afterstate head

    @property
    def asked(self) -> np.ndarray:
        """Which agents choose in Python, bool (A,)."""
        return self.kinds[:, 0] == ASKED

    def bind(self, learners: np.ndarray, games: BatchArrays, moves: np.ndarray, active: np.ndarray) -> Callable[[int, int], int]:
        """Returns a function that plays games on; see `Player.compiled`."""
        packed: Any = (games, self, learners, moves, active) if IS_PLAIN else np.zeros(WORDS, np.int64)
        _pack(games, self, learners, moves, active, packed)
        return partial(_play_some if self.kinds[:, 1].any() else play_opponents, packed)


def line_up(agents: Iterable[Any]) -> LineUp:
    """Returns the players with these numbers, 0, 1 and so on."""
    kinds, deals, policies = kinds_of(agents)
    parts = np.ones((len(policies), _ARRAYS, 3), np.int64)
    flat: dict[Any, list[np.ndarray]] = {np.dtype(np.int64): [], np.dtype(np.float32): []}
    for k, policy in enumerate(policies):
        for field, one in enumerate([*policy[:-1], *policy.afterstates]):
            parts[k, field, 0] = sum(map(len, flat[one.dtype]))
            parts[k, field, 1 : 1 + one.ndim] = one.shape
            flat[one.dtype].append(np.pad(one.reshape(-1), (0, -one.size % 16)))  # each begins in a line of the cache
    integers, floats = (np.concatenate([np.zeros(0, kind), *found]) for kind, found in flat.items())
    numbers = np.array([kinds, deals], np.int64).T.copy()
    return LineUp(numbers, parts, integers, aligned_copy(floats), *widths(policies))


def widths(policies: Iterable[Policy]) -> tuple[int, int]:
    """Returns the greatest widths of a layer and of an afterstate head of these networks; see `new_workspace`."""
    return max([0, *(int(one.table[:, 2].max()) for one in policies)]), max([0, *(len(one.afterstates.out) for one in policies)])


LINE_UP = kind_of(line_up([]))


@jit
def _part(flat, part):  # type: ignore[no-untyped-def]
    return flat[part[0] : part[0] + part[1] * part[2]]


@jit
def _matrix(flat, part):  # type: ignore[no-untyped-def]
    return matrix(_part(flat, part), part[1], part[2])


@jit
def _network(players, k):  # type: ignore[no-untyped-def]
    """Returns network number k."""
    part, integers, floats = players.parts[k], players.integers, players.floats
    return Policy(
        _part(integers, part[0]), _matrix(floats, part[1]), _part(floats, part[2]), _matrix(integers, part[3]),
        _matrix(floats, part[4]), _part(floats, part[5]), _part(floats, part[6]), _part(floats, part[7]),
        AfterstateHead(_matrix(floats, part[8]), _matrix(floats, part[9]), _part(floats, part[10]), _part(floats, part[11])),
    )  # fmt: skip


@jit
def _choose(g, player, players, generator, work):  # type: ignore[no-untyped-def]
    """Returns the move of a player; NO_MOVE if it chooses in Python."""
    kind = players.kinds[player, 0]
    if kind == ASKED:
        return NO_MOVE
    n, chance = list_moves(g["legal"], work.moves), random_unit(generator)
    if kind < 0:
        return work.moves[choose_by_rule(g, kind, players.kinds[player, 1], generator, n, chance, work)]
    choose_by_policy(g, _network(players, kind), n, work)
    return work.moves[draw_by_logs(work.logs, n, chance)]


_ARGUMENTS = BATCH_ARRAYS, LINE_UP, array(LEARNER), array(np.int64), array(np.bool_)
_load = loader(_ARGUMENTS)


@entry(*_ARGUMENTS, "int64[:]")
def _pack(games, players, learners, moves, active, packed):  # type: ignore[no-untyped-def]
    store(packed, (borrowed(games), borrowed(players), borrowed(learners), borrowed(moves), borrowed(active)))


@entry("int64[:] int64 int64", apart=True)
def play_opponents(packed, first, last):  # type: ignore[no-untyped-def]
    """Plays the active games first to last - 1 on, as `Player.compiled` says; returns how many ended."""
    games, players, learners, moves, active = _load(packed)
    work, ends = new_workspace(players.width, players.size), 0
    for i in range(first, last):
        if not active[i]:
            continue
        g, learner, move = games.states[i], learners[i], moves[i]
        seat, agents = learner["seat"], learner["agents"]
        tape, potential = tape_of(games.tapes, i), games.potential[i]
        if move == NO_MOVE:
            move = _choose(g, agents[int(g["player"])], players, learner["generator"], work)
        while move != NO_MOVE:
            play_on(g, int(move), tape, games.reward, work.notes, potential, work.rewards)
            if learner["credited"]:
                learner["reward"] += work.rewards[seat]
            move = NO_MOVE
            if g["status"] < OVER and g["player"] != seat:
                move = _choose(g, agents[int(g["player"])], players, learner["generator"], work)
        if g["status"] >= OVER:
            ends += 1
        else:
            show_to_decider(games, i)
    return ends


def _play_some(packed: np.ndarray, first: int, last: int) -> int:
    """Does the same in several calls, since compiled code cannot be interrupted."""
    return sum(play_opponents(packed, at, min(last, at + _GREEDY_GAMES)) for at in range(first, last, _GREEDY_GAMES))
