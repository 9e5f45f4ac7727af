"""The spaces of the environments."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from euphoria_env.actions import NUM_ACTIONS
from euphoria_env.observations import FIELDS, OBS_SIZE


def observation_box() -> spaces.Box:
    """The space of a flat observation: int8, (OBS_SIZE,), every field up to its highest value."""
    high = np.concatenate([np.full(field.size, field.high, np.int8) for field in FIELDS])
    return spaces.Box(np.zeros(OBS_SIZE, np.int8), high, dtype=np.int8)


def masked_space() -> spaces.Dict:
    """The space of an observation with its mask: `observation` and `action_mask`, both int8."""
    return spaces.Dict({"observation": observation_box(), "action_mask": spaces.Box(0, 1, (NUM_ACTIONS,), np.int8)})


def observed(observation: np.ndarray, mask: np.ndarray, masked: bool) -> Any:
    """An observation as `mask="observation"` or `"info"` wants it; a mask is bool, and copied."""
    return {"observation": observation, "action_mask": mask.astype(np.int8)} if masked else observation
