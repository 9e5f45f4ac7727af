"""One seat, many games and all seats, masked."""

from __future__ import annotations

import gymnasium
from torchrl.envs import ActionMask, GymEnv, GymWrapper, PettingZooWrapper, TransformedEnv
from torchrl.envs.utils import check_env_specs

from scripts.clients.common import GYMNASIUM_ID, MASKED, SEAT, env

NAMES = ("torchrl",)


def one_seat() -> int:
    masked = TransformedEnv(GymEnv(GYMNASIUM_ID, **MASKED), ActionMask())
    check_env_specs(masked)
    return masked.rollout(200, break_when_any_done=False).numel()


def many(mode: str, arguments: dict[str, object]) -> int:
    games = GymWrapper(gymnasium.make_vec(GYMNASIUM_ID, 4, autoreset_mode=mode, **arguments))
    masked = TransformedEnv(games, ActionMask())
    return masked.rollout(50, break_when_any_done=False).numel()


def all_seats() -> int:
    games = PettingZooWrapper(env(), use_mask=True, done_on_any=True)
    check_env_specs(games)
    return games.rollout(200, break_when_any_done=False).numel()


USES = {
    "`GymEnv`, `ActionMask`, `check_env_specs`": one_seat,
    "`GymWrapper(make_vec(...))`, `ActionMask`, Disabled": lambda: many("Disabled", MASKED),
    "`GymWrapper(make_vec(...))`, `ActionMask`, SameStep, mask in `info`": lambda: many("SameStep", {"illegal": "end", **SEAT}),
    "`PettingZooWrapper`, masked, `check_env_specs`": all_seats,
}
