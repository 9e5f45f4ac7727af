"""Masked PPO on many games."""

from __future__ import annotations

import gymnasium
from agilerl.algorithms import PPO
from agilerl.rollouts import collect_rollouts

from scripts.clients.common import GYMNASIUM_ID, SEAT

NAMES = ("agilerl",)


def ppo() -> int:
    games = gymnasium.make_vec(GYMNASIUM_ID, 4, **SEAT)
    agent = PPO(games.single_observation_space, games.single_action_space, num_envs=4, learn_step=256)
    collect_rollouts(agent, games)
    agent.learn()
    return 256


USES = {"masked `PPO` on `make_vec`: `collect_rollouts`, `learn`": ppo}
