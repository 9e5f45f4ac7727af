"""The oldest versions that the package says it works with."""

from __future__ import annotations

import gymnasium
from pettingzoo.test import api_test

from scripts.clients.common import GYMNASIUM_ID, SEAT, env, play_aec, play_vector

NAMES = ("numpy", "numba", "gymnasium", "pettingzoo")


def games() -> int:
    api_test(env(), num_cycles=200)
    return play_aec(env())


USES = {"`env`, `api_test`": games, "`make_vec`, native": lambda: play_vector(gymnasium.make_vec(GYMNASIUM_ID, 4, **SEAT))}
