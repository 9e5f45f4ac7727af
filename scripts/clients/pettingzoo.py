"""All seats, with PettingZoo's own test and recordings."""

from __future__ import annotations

from pettingzoo.test import api_test
from pettingzoo.utils.wrappers import RecordVideo

from scripts.clients.common import PICTURES, env, play_aec, videos

NAMES = ("pettingzoo", "moviepy")


def games() -> int:
    api_test(env(), num_cycles=200)
    return play_aec(env())


def recorded() -> int:
    with videos() as folder:
        return play_aec(RecordVideo(env(**PICTURES), folder), 1)


USES = {"`env`, `api_test`": games, "`RecordVideo`": recorded}
