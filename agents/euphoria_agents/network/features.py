"""The features that networks compute from an observation; `network.checkpoint` has the formula."""

from __future__ import annotations

import numpy as np

from euphoria_env.observations import FIELDS

# Fields with a feature for each step: their number is a name (which tile, which space), or its first units matter most.
STEPPED = (
    "num_players", "knowledge", "morale", "stars", "goods", "hand_size", "workers", "hidden_recruits", "resolved",
    "own_artifacts", "own_recruits", "own_tiles", "allegiance", "miners", "occupant", "tile", "units", "space",
    "placed_face", "further_left", "resolving", "payment",
)  # fmt: skip
MOST_STEPS = {"goods": 6, "hand_size": 6, "occupant": 2, "units": 3}
FULL_SCALE = 6  # the plain feature of an entry is 1 from this value on, or at the highest value if that is lower


class Features:
    """The features that a network computes from an observation; `network.checkpoint` has the formula.

    Args:
        source: (F,) the indices of the entries of the observation, ascending.
        offset: (F,) what is subtracted from the entry.
        scale: (F,) the factor for the difference.

    Attributes:
        rest: (F,) float32, the features of an observation of zeros.
    """

    def __init__(self, source: np.ndarray, offset: np.ndarray, scale: np.ndarray) -> None:
        self.source = source.astype(np.int32)
        self.offset, self.scale = offset.astype(np.float32), scale.astype(np.float32)
        self.rest = self.at(np.zeros(1, np.float32))[:, 0]

    def at(self, values: np.ndarray) -> np.ndarray:
        """Returns all features for each value that their entries may have: float32 (F, V) for `values`, float32 (V,)."""
        found: np.ndarray = np.clip((values - self.offset[:, None]) * self.scale[:, None], -1, 1)
        return found

    def of(self, observation: np.ndarray) -> np.ndarray:
        """Returns the features of an observation, int8 (OBS_SIZE,), as float32 (F,)."""
        found: np.ndarray = np.clip((observation[self.source] - self.offset) * self.scale, -1, 1)
        return found

    def tensors(self) -> dict[str, np.ndarray]:
        """Returns the tensors of a checkpoint that define the features."""
        return {"features.source": self.source, "features.offset": self.offset, "features.scale": self.scale}


def make_features() -> Features:
    """Returns the features: each entry of an observation, scaled; for those in `STEPPED`, also each step: -1 below, 1 from it."""
    rows: list[tuple[int, float, float]] = []
    for field in FIELDS:
        name = field.name.rpartition(".")[2]
        most = min(field.high, MOST_STEPS.get(name, field.high)) if name in STEPPED else 0
        for entry in range(field.start, field.start + field.size):
            rows.append((entry, 0.0, 1 / min(field.high, FULL_SCALE)))
            rows += [(entry, step - 0.5, 2.0) for step in range(2, most + 1)]
    return Features(*np.array(rows).T)
