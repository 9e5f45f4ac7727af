"""Draws moves with the probabilities that a network gives them."""

from __future__ import annotations

from typing import Any

import numpy as np

from euphoria_env.actions import NAMES, NUM_ACTIONS
from euphoria_env.json_reader import shown


def sample_action(logits: Any, mask: Any, rng: np.random.Generator) -> Any:
    """Draws a legal move, or one for each of many games, with the probabilities softmax(logits) of the legal moves.

    Args:
        logits: logits or log-probabilities, (NUM_ACTIONS,) or (N, NUM_ACTIONS): an array, or a tensor without a gradient. Of
            probabilities take the logarithm. Those of illegal moves do not count, and -inf stands for the probability 0.
        mask: the legal moves, bool or int8, of the same shape.
        rng: one number is drawn from it for each move.

    Returns:
        An int; for many games an int64 array (N,). Equal logits, masks and generators give equal moves.

    Raises:
        TypeError: the mask is not of booleans or integers, or `rng` is not a generator of numpy.
        ValueError: a logit, also that of an illegal move, is NaN or positive infinity, no legal move has a probability, or the
            shapes are wrong; the message names the row and the move. Nothing is drawn.
    """
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng must be a Generator of numpy, not {shown(rng)}")
    found, legal = np.asarray(logits, np.float64), np.asarray(mask)
    if legal.dtype.kind not in "biu":  # 0 for legal and -inf for illegal moves would be taken the other way round
        raise TypeError(f"mask must be of booleans or integers, not {legal.dtype}")
    if found.ndim not in (1, 2) or found.shape[-1] != NUM_ACTIONS or legal.shape != found.shape:
        shapes = f"not {found.shape} and {legal.shape}"
        raise ValueError(f"logits and mask must both be of shape ({NUM_ACTIONS},) or (N, {NUM_ACTIONS}), {shapes}")
    if len(wrong := np.argwhere(~(found < np.inf))):
        *row, action = wrong[0].tolist()
        raise ValueError(f"logits{row + [action]} is {found[tuple(wrong[0])]} ({NAMES[action]}), one of {len(wrong)}")
    found = np.where(legal, found, -np.inf)
    best = found.max(-1, keepdims=True)
    if len(dead := np.flatnonzero(best == -np.inf)):
        raise ValueError(f"row {dead[0]} has no legal move with a probability: has the game ended?")
    sums = np.exp(found - best).cumsum(-1)
    moves = (sums <= rng.random(best.shape) * sums[..., -1:]).sum(-1)
    return moves if moves.ndim else int(moves)
