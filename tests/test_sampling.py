"""`sample_action`: moves drawn from masked logits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from euphoria_env import actions, sample_action

N = actions.NUM_ACTIONS


def test_moves_have_the_probabilities_of_the_logits() -> None:
    rng, logits, mask = np.random.default_rng(0), np.full(N, 5.0), np.zeros(N, np.int8)
    legal = [3, 7, 8, N - 1]
    mask[legal], logits[legal] = 1, [1000.0, 1000.0 + np.log(3), -np.inf, 1000.0 + np.log(4)]
    many = sample_action(np.tile(logits, (8000, 1)), np.tile(mask, (8000, 1)), rng)
    assert many.dtype == np.int64 and set(many) == {3, 7, N - 1}
    assert [np.mean(many == move) for move in (3, 7, N - 1)] == pytest.approx([1 / 8, 3 / 8, 4 / 8], abs=0.02)
    one = [sample_action(logits, mask.astype(bool), np.random.default_rng(seed)) for seed in range(9)]
    assert type(one[0]) is int and one == [
        sample_action(logits[None], mask[None], np.random.default_rng(seed))[0] for seed in range(9)
    ]


@pytest.mark.parametrize(
    ("logits", "mask", "message"),
    [
        ({(1, 5): np.nan, (2, 9): np.nan}, {}, rf"logits\[1, 5\] is nan \({actions.NAMES[5]}\), one of 2"),
        ({(0, 4): np.inf}, {}, rf"logits\[0, 4\] is inf \({actions.NAMES[4]}\), one of 1"),
        ({2: -np.inf}, {}, "row 2 has no legal move with a probability"),
        ({}, {1: 0}, "row 1 has no legal move"),
    ],
)
def test_what_is_no_distribution_is_named(logits: dict[Any, float], mask: dict[Any, int], message: str) -> None:
    found, legal, rng = np.zeros((3, N)), np.ones((3, N), np.int8), np.random.default_rng(0)
    for array, changes in ((found, logits), (legal, mask)):
        for at, value in changes.items():
            array[at] = value
    before = rng.bit_generator.state
    with pytest.raises(ValueError, match=message):
        sample_action(found, legal, rng)
    assert rng.bit_generator.state == before
    for wrong in (np.where(legal, 0.0, -np.inf), legal.astype(str), None):  # the first is the mask of a transformer
        with pytest.raises(TypeError, match="mask must be of booleans or integers"):
            sample_action(np.zeros_like(found), wrong, rng)
    with pytest.raises(TypeError, match="rng must be a Generator of numpy, not None"):
        sample_action(np.zeros_like(found), legal, None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="must both be of shape"):
        sample_action(found[:2], legal, rng)
