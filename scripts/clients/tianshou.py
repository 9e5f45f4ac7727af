"""A masked DQN that learns against masked random play."""

from __future__ import annotations

from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.algorithm.random import MARLRandomDiscreteMaskedOffPolicyAlgorithm
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

from scripts.clients.common import env

NAMES = ("tianshou",)
STEPS = 400


def dqn() -> int:
    games = DummyVectorEnv([lambda: PettingZooEnv(env())] * 2)
    one = PettingZooEnv(env())
    moves = one.action_space
    net = Net(state_shape=one.observation_space["observation"].shape, action_shape=moves.n, hidden_sizes=(64,))
    learner = DQN(policy=DiscreteQLearningPolicy(model=net, action_space=moves, eps_training=0.1), optim=AdamOptimizerFactory())
    both = MultiAgentOffPolicyAlgorithm(algorithms=[learner, MARLRandomDiscreteMaskedOffPolicyAlgorithm(moves)], env=one)
    collector = Collector(both, games, VectorReplayBuffer(1000, 2), exploration_noise=True)
    both.run_training(
        OffPolicyTrainerParams(
            training_collector=collector,
            max_epochs=1,
            epoch_num_steps=STEPS,
            collection_step_num_env_steps=STEPS // 4,
            update_step_num_gradient_steps_per_sample=0.1,
            multi_agent_return_reduction=lambda returns: returns[:, 0],
            show_progress=False,
            verbose=False,
        )
    )
    return STEPS


USES = {"`PettingZooEnv`, `run_training` of a masked `DQN` against masked random play": dqn}
