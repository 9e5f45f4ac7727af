"""Players trained with an older layout of the observation, made to fit this one: they play the same moves in the same games."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from euphoria_agents.network.checkpoint import CHECKPOINT_FORMAT, CHECKPOINT_VERSION, open_tensors, parts, save_checkpoint
from euphoria_env import actions, observations
from euphoria_env.json_reader import shown

# By the hash of an older layout: the fields of today's observation that it lacks. The network gives them no weight.
ADDED_SINCE: dict[str, tuple[str, ...]] = {
    "c7af5d3b7b17f199": ("stars_to_win", "recruits", "markets"),  # version 2
}


def convert(old: str | Path, new: str | Path) -> Path:
    """Writes a checkpoint of this version from one of an older one.

    Raises:
        ValueError: the old file cannot be read, is not a player, fits already, or has an unknown layout.
        OSError: the new one cannot be written.
    """

    def check(header: dict[str, Any]) -> None:
        if header.get("format") != CHECKPOINT_FORMAT or type(header.get("version")) is not int:
            raise ValueError(f"{old} is not a trained player of this project ({CHECKPOINT_FORMAT})")
        if header["version"] >= CHECKPOINT_VERSION:
            raise ValueError(f"{old} is of version {header['version']} already; only older ones are converted")
        if header.get("layout") not in tuple(ADDED_SINCE) or header.get("actions") != actions.NUM_ACTIONS:
            raise ValueError(f"{old} has the layout {shown(header.get('layout'))}; known are {', '.join(ADDED_SINCE)}")

    header, tensors = open_tensors(old, check)
    kept = entries_kept(ADDED_SINCE[header["layout"]])
    source = tensors.get("features.source", np.zeros(0, np.int32))
    if source.dtype.kind != "i" or not len(source) or source.min() < 0 or source.max() >= len(kept):
        raise ValueError(f"{old}: features.source must be integers from 0 to {len(kept) - 1}")
    tensors["features.source"] = kept[source].astype(np.int32)
    parts(tensors, old)
    training = header.get("training")
    return save_checkpoint(new, tensors, training if isinstance(training, dict) else {})


def entries_kept(added: tuple[str, ...]) -> np.ndarray:
    """The present place of each entry of an older observation, int64 (old OBS_SIZE,), if these fields were added since."""
    lost = {i for field in observations.table() if field.name in added for i in range(field.start, field.start + field.size)}
    return np.array([i for i in range(observations.OBS_SIZE) if i not in lost])
