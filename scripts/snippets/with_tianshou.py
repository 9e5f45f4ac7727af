"""Tianshou: a double DQN, which takes masks under the names `obs` and `mask`."""

import gymnasium
import numpy as np
import torch
from gymnasium.spaces import Dict
from gymnasium.wrappers import TransformObservation
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Batch, Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

from euphoria_agents import Agent, load, play_match
from euphoria_env import Rules, actions, observations

RULES = {"num_players": 2, "stars_to_win": 3}
GAMES, DECISIONS = 8, 12_000


def make():
    name = "euphoria_env:euphoria_env/Euphoria-v0"
    game = gymnasium.make(name, opponents="random", reward="stars", mask="observation", **RULES)
    space = Dict(obs=game.observation_space["observation"], mask=game.observation_space["action_mask"])
    return TransformObservation(game, lambda seen: {"obs": seen["observation"], "mask": seen["action_mask"]}, space)


torch.manual_seed(1)
np.random.seed(1)
net = Net(state_shape=observations.OBS_SIZE, action_shape=actions.NUM_ACTIONS, hidden_sizes=(64,))
policy = DiscreteQLearningPolicy(model=net, action_space=make().action_space, eps_training=0.1)
dqn = DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), gamma=0.97, n_step_return_horizon=3, target_update_freq=100)
collector = Collector(dqn, DummyVectorEnv([make] * GAMES), VectorReplayBuffer(DECISIONS, GAMES), exploration_noise=True)
dqn.run_training(
    OffPolicyTrainerParams(
        training_collector=collector, max_epochs=1, epoch_num_steps=DECISIONS, collection_step_num_env_steps=GAMES * 8,
        update_step_num_gradient_steps_per_sample=0.1, batch_size=128, show_progress=False, verbose=False,
    )
)  # fmt: skip


class Learned(Agent):
    @torch.no_grad()
    def act(self, observation, mask, rng, game=None):
        seen = Batch(obs=Batch(obs=observation[None], mask=np.asarray(mask, np.int8)[None]), info=Batch())
        return int(policy(seen).act[0])


print(play_match([Learned(), load("random")], 100, Rules(**RULES), seed=1).scores[0], "of 100 games won")
