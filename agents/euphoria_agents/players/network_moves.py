"""The moves of a network in games, in compiled code; the afterstate head looks at the game itself."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from euphoria_agents.network.afterstate_head import HeadWorkspace, correct_logs, new_head_workspace
from euphoria_agents.network.compiled_layers import POLICY, draw_by_logs, find_rows, hidden, log_chances, widest
from euphoria_env.actions import NUM_ACTIONS
from euphoria_env.board import MAX_PLAYERS
from euphoria_env.engine.byte_copies import borrowed
from euphoria_env.engine.jit import array, entry, jit
from euphoria_env.engine.move_set import list_moves
from euphoria_env.engine.observe import fill_observation
from euphoria_env.engine.rewards import NUM_NOTES
from euphoria_env.engine.row_checks import check
from euphoria_env.engine.state import GAME_DTYPE
from euphoria_env.engine.tape import TAPE_HEADER
from euphoria_env.observations import OBS_SIZE


class Workspace(NamedTuple):
    """The arrays in which a decision is computed."""

    observation: np.ndarray
    seen: np.ndarray  # the rows of the observation
    x: np.ndarray
    y: np.ndarray
    moves: np.ndarray
    numbers: np.ndarray  # the weights of the moves, for the player `weights`
    value: np.ndarray  # the output of the value head
    logs: np.ndarray  # the log-probabilities of the moves
    notes: np.ndarray  # this array and the next two are for `play_on`
    potential: np.ndarray
    rewards: np.ndarray
    chances: np.ndarray  # each seat's chance to win, by a critic
    tape: np.ndarray  # an empty tape: no events are logged
    head: HeadWorkspace


@jit
def new_workspace(width, size):  # type: ignore[no-untyped-def]
    """Returns a workspace for networks whose layers and afterstate heads have at most these widths."""
    integers, numbers = np.zeros(TAPE_HEADER + OBS_SIZE + 1, np.int32), np.empty(NUM_ACTIONS + NUM_NOTES + 2 * MAX_PLAYERS)
    floats = np.empty(2 * width + 1 + NUM_ACTIONS + MAX_PLAYERS, np.float32)  # few arrays are made faster than many
    left, rest = floats[2 * width :], numbers[NUM_ACTIONS:]
    return Workspace(
        np.empty(OBS_SIZE, np.int8), integers[TAPE_HEADER:], floats[:width], floats[width : 2 * width],
        np.empty(NUM_ACTIONS, np.int64), numbers[:NUM_ACTIONS], left[:1], left[1 : 1 + NUM_ACTIONS],
        rest[:NUM_NOTES], rest[NUM_NOTES : NUM_NOTES + MAX_PLAYERS], left[1 + NUM_ACTIONS :], rest[NUM_NOTES + MAX_PLAYERS :],
        integers[:TAPE_HEADER], new_head_workspace(size),
    )  # fmt: skip


@jit
def choose_by_policy(g, policy, n, work):  # type: ignore[no-untyped-def]
    """Writes the log-probabilities of the n legal moves, and the value.

    Returns:
        The numbers of rows of the observation, in `work.seen`, and of changes by the moves, in `work.head.changes`.
    """
    policy, work = borrowed(policy), borrowed(work)
    fill_observation(g, int(g["player"]), work.observation)
    found = find_rows(work.observation, policy.begins, work.seen)
    last = hidden(work.seen, found, policy.rows, policy.weights, policy.table, work.x, work.y)
    log_chances(last, policy.head, policy.bias, work.moves, n, work.logs)
    changes = correct_logs(policy, g, last, work.moves, n, work.logs, work.tape, work.head)
    value = policy.value_bias[0] if len(policy.value) else np.float32(0.0)
    for j in range(len(policy.value)):
        value += last[j] * policy.value[j]
    work.value[0] = value
    return found, changes


@entry(array(GAME_DTYPE, read_only=True), POLICY, "float64[:] int64[:] float32[:,:]")
def choose_in_games(rows, policy, uniforms, moves, chances):  # type: ignore[no-untyped-def]
    """Writes a move of each game, drawn by one number from [0, 1) each; -1 where none is legal.

    `chances` gets the log-probabilities of the legal moves, unless it is empty.
    """
    work = new_workspace(widest(policy.table), len(policy.afterstates.out))
    for i in range(len(rows)):
        check(rows, i)
        n = list_moves(rows[i]["legal"], work.moves)
        moves[i] = -1
        if n > 0:
            choose_by_policy(rows[i], policy, n, work)
            moves[i] = work.moves[draw_by_logs(work.logs, n, uniforms[i])]
        if len(chances):
            for k in range(n):
                chances[i, work.moves[k]] = work.logs[k]
