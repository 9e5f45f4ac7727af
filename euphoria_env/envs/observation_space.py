"""The spaces of the environments."""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from euphoria_env.observations import FIELDS, OBS_SIZE


def observation_box() -> spaces.Box:
    """The space of a flat observation: int8, (OBS_SIZE,), every field up to its highest value."""
    high = np.concatenate([np.full(field.size, field.high, np.int8) for field in FIELDS])
    return spaces.Box(np.zeros(OBS_SIZE, np.int8), high, dtype=np.int8)
