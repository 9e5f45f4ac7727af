"""One game and many, with Gymnasium's own wrappers and recordings."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from gymnasium import make, make_vec
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import vector

from scripts.clients.common import GYMNASIUM_ID, PICTURES, SEAT, play_vector, videos

NAMES = ("gymnasium", "moviepy")
WRAPPERS: dict[str, Any] = {
    "NormalizeObservation": vector.NormalizeObservation,
    "FlattenObservation": vector.FlattenObservation,
    "DtypeObservation": partial(vector.DtypeObservation, dtype=np.float32),
    "RescaleObservation": partial(vector.RescaleObservation, min_obs=0.0, max_obs=1.0),
    "NormalizeReward": vector.NormalizeReward,
    "RecordEpisodeStatistics": vector.RecordEpisodeStatistics,
}
ALL = list(WRAPPERS)
ALLOWED = {"NextStep": ALL, "Disabled": ALL[1:], "SameStep": ALL[4:]}  # by Gymnasium itself, by autoreset mode


def one_game() -> int:
    env = make(GYMNASIUM_ID, **SEAT)
    check_env(env.unwrapped, skip_render_check=True)
    _, info = env.reset(seed=1)
    for _ in range(200):
        *_, over, cut, info = env.step(info["action_mask"].argmax())
        if over or cut:
            _, info = env.reset()
    return 200


def many(vectorization_mode: str | None) -> int:
    return play_vector(make_vec(GYMNASIUM_ID, 4, vectorization_mode, **SEAT))


def native(mode: str, **arguments: Any) -> Any:
    return make_vec(GYMNASIUM_ID, 4, autoreset_mode=mode, **SEAT, **arguments)


def wrapped(mode: str) -> int:
    return sum(play_vector(WRAPPERS[name](native(mode))) for name in ALLOWED[mode])


def recorded(mode: str) -> int:
    with videos() as folder:
        return play_vector(vector.RecordVideo(native(mode, **PICTURES), folder), 10)


USES = {"`make`, `check_env`": one_game}
USES |= {f"`make_vec`, {kind or 'native'}": partial(many, kind) for kind in ("sync", "async", None)}
for mode, names in ALLOWED.items():
    USES[f"native, {mode}: `{'`, `'.join(names)}`"] = partial(wrapped, mode)
    USES[f"native, {mode}: `RecordVideo`"] = partial(recorded, mode)
