"""The spaces of the environments."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from euphoria_env.actions import NUM_ACTIONS
from euphoria_env.board import MAX_PLAYERS
from euphoria_env.event_kinds import KINDS
from euphoria_env.observations import FIELDS, OBS_SIZE


def observation_box() -> spaces.Box:
    """The space of a flat observation: int8, (OBS_SIZE,), every field up to its highest value."""
    high = np.concatenate([np.full(field.size, field.high, np.int8) for field in FIELDS])
    return spaces.Box(np.zeros(OBS_SIZE, np.int8), high, dtype=np.int8)


def events_box(events: int) -> spaces.Box:
    """The space of the last events: int8, (events, EVENT_SIZE)."""
    low, high = np.array([0, -1, -1, -1], np.int8), np.array([len(KINDS) - 1, MAX_PLAYERS - 1, 127, 127], np.int8)
    return spaces.Box(np.tile(low, (events, 1)), np.tile(high, (events, 1)), dtype=np.int8)


def observation_space(mask: np.dtype[Any] | None, events: int) -> spaces.Space[Any]:
    """The space of what `observed` makes; `mask` is the type of the mask, None if it is not in the observation."""
    parts: dict[str, spaces.Space[Any]] = {"observation": observation_box()}
    if mask is not None:
        parts["action_mask"] = spaces.Box(0, 1, (NUM_ACTIONS,), mask.type)
    if events:
        parts["events"] = events_box(events)
    return spaces.Dict(parts) if len(parts) > 1 else parts["observation"]


def observed(observation: np.ndarray, mask: np.ndarray | None, events: np.ndarray | None) -> Any:
    """An observation; a dict if there is a mask in it or if there are events."""
    parts = {"observation": observation}
    if mask is not None:
        parts["action_mask"] = mask
    if events is not None and events.size:
        parts["events"] = events
    return parts if len(parts) > 1 else observation
