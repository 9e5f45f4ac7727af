"""Compiled functions that choose a uniformly random legal move, for random players and benchmarks."""

from __future__ import annotations

from typing import Any

import numpy as np

from euphoria_env.actions import NUM_ACTIONS
from euphoria_env.engine.jit import array, entry, jit


@jit
def pick(mask, chance):  # type: ignore[no-untyped-def]
    """Returns the legal move of a mask that a number from [0, 1) selects; -1 if none is legal."""
    n = 0
    for action in range(len(mask)):
        n += mask[action] != 0
    left = int(chance * n)
    for action in range(len(mask)):
        if mask[action]:
            if left == 0:
                return action
            left -= 1
    return -1


@entry(array(np.int8, read_only=True), "float64")
def choose_one(mask, chance):  # type: ignore[no-untyped-def]
    """Returns a legal move of one mask, int8 (NUM_ACTIONS,), selected as by `pick`; -1 if none is legal."""
    return pick(mask, chance)


@entry(array(np.int8, 2, read_only=True), "float64[:] int64[:]")
def choose_uniformly(masks, chances, moves):  # type: ignore[no-untyped-def]
    """Writes a legal move of each mask, selected by one number from [0, 1) for each; -1 where none is legal."""
    for i in range(len(masks)):
        moves[i] = pick(masks[i], chances[i])


def sample(mask: np.ndarray, rng: np.random.Generator) -> Any:
    """Returns a legal move, each with the same probability.

    Args:
        mask: the legal moves, of booleans or numbers, (NUM_ACTIONS,), or those of many games, (N, NUM_ACTIONS). C-contiguous
            arrays are the quickest; others are copied.
        rng: one number is drawn from it for each move.

    Returns:
        An int; for many games an int64 array (N,).

    Raises:
        TypeError: the masks have another dtype.
        ValueError: the masks have another shape, or one has no legal move.
    """
    rows = np.ascontiguousarray(mask)
    if rows.ndim not in (1, 2) or rows.shape[-1] != NUM_ACTIONS:
        raise ValueError(f"mask must be of shape ({NUM_ACTIONS},) or (N, {NUM_ACTIONS}), not {rows.shape}")
    if rows.dtype.kind not in "biuf":
        raise TypeError(f"mask must be of booleans or numbers, not {rows.dtype}")
    if rows.dtype != np.int8:
        rows = rows.view(np.int8) if rows.dtype.itemsize == 1 else (rows != 0).view(np.int8)
    if rows.ndim == 1:
        move = choose_one(rows, rng.random())
        if move < 0:
            raise ValueError("the mask has no legal move: has the game ended?")
        return move
    moves = np.empty(len(rows), np.int64)
    choose_uniformly(rows, rng.random(len(rows)), moves)
    if len(moves) and moves.min() < 0:
        raise ValueError(f"mask {int(moves.argmin())} has no legal move: has the game ended?")
    return moves
