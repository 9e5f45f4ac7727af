"""SuperSuit's wrappers that leave a masked observation alone."""

from __future__ import annotations

import supersuit

from scripts.clients.common import env, play_aec

NAMES = ("supersuit",)


def wrapped() -> int:
    clipped = supersuit.pad_action_space_v0(supersuit.clip_reward_v0(env(), -1, 1))
    return play_aec(supersuit.sticky_actions_v0(clipped, 0))


USES = {"`clip_reward_v0`, `pad_action_space_v0`, `sticky_actions_v0` on `env`": wrapped}
