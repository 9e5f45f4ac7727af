"""RLlib: PPO with its network for masked actions, which wants floats and the key `observations`."""

import gymnasium
import numpy as np
import torch
from gymnasium.spaces import Box, Dict
from gymnasium.wrappers import TransformObservation
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune import register_env

from euphoria_agents import Agent, load, play_match
from euphoria_env import Rules, actions, observations

RULES = {"num_players": 2, "stars_to_win": 3}
UPDATES = 8
SPACE = Dict(
    action_mask=Box(0, 1, (actions.NUM_ACTIONS,), np.float32), observations=Box(0, 6, (observations.OBS_SIZE,), np.float32)
)


def seen(observation, mask):
    return {"action_mask": np.float32(mask), "observations": np.float32(observation).clip(max=6)}


def make(config):
    name = "euphoria_env:euphoria_env/Euphoria-v0"
    game = gymnasium.make(name, opponents="random", reward="stars", mask="observation", **RULES)
    return TransformObservation(game, lambda parts: seen(parts["observation"], parts["action_mask"]), SPACE)


register_env("euphoria", make)
model = DefaultModelConfig(fcnet_hiddens=[64], vf_share_layers=True)
config = PPOConfig().environment("euphoria", disable_env_checking=True)  # the check plays illegal actions
config = config.env_runners(num_env_runners=0, num_envs_per_env_runner=16).debugging(seed=1)
config = config.rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule, model_config=model))
config = config.training(train_batch_size_per_learner=2048, minibatch_size=512, num_epochs=4, lr=2e-3, gamma=0.99, lambda_=0.95)
algorithm = config.build_algo()
for _ in range(UPDATES):
    algorithm.train()
network = algorithm.get_module()


class Learned(Agent):
    @torch.no_grad()
    def act(self, observation, mask, rng, game=None):
        parts = {name: torch.from_numpy(part)[None] for name, part in seen(observation, mask).items()}
        return int(network.forward_inference({"obs": parts})["action_dist_inputs"].argmax())


print(play_match([Learned(), load("random")], 100, Rules(**RULES), seed=1).scores[0], "of 100 games won")
algorithm.stop()
