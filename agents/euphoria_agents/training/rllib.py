"""The environment for RLlib, and the players that come of it. Needs Ray, in an environment of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from gymnasium import spaces
from ray.rllib.algorithms.algorithm import Algorithm
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.multi_agent_env import MultiAgentEnv
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

from euphoria_agents.agent import Agent, int8_rows
from euphoria_env import actions
from euphoria_env.envs.aec import raw_env
from euphoria_env.envs.observation_space import observation_box

if TYPE_CHECKING:
    from euphoria_env import Game

POLICY = "shared"  # all seats play and learn with it
_HIGH = observation_box().high.astype(np.float32)


def scaled(observations: np.ndarray) -> np.ndarray:
    """Observations as RLlib's networks get them: float32 from 0 to 1."""
    return observations / _HIGH


class EuphoriaMultiAgentEnv(MultiAgentEnv):
    """`euphoria_v0` for RLlib: in each step the one who must decide observes and acts.

    An observation is a dict as RLlib's action masking wants it: `observations` (float32, (OBS_SIZE,), see `scaled`) and
    `action_mask` (float32, (NUM_ACTIONS,)). When the game ends everybody observes once more, without a legal move.

    Args:
        config: the keyword arguments of `euphoria_env.env`: `num_players`, `reward`, ...
    """

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        super().__init__()
        self._env = raw_env(**(config or {}))
        self.agents = self.possible_agents = self._env.possible_agents[:]
        masks = spaces.Box(0.0, 1.0, (actions.NUM_ACTIONS,), np.float32)
        seen = spaces.Dict({"action_mask": masks, "observations": spaces.Box(0.0, 1.0, _HIGH.shape, np.float32)})
        self.observation_spaces = dict.fromkeys(self.agents, seen)
        self.action_spaces = dict.fromkeys(self.agents, spaces.Discrete(actions.NUM_ACTIONS))

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
        """Starts a game."""
        self._env.reset(seed, options)
        return self._observations(False), {}

    def step(self, action_dict: dict[str, int]) -> tuple[dict[str, Any], ...]:
        """Plays the decision of the one who must decide.

        Raises:
            IllegalMove: the action is not legal.
        """
        env = self._env
        env.step(int(action_dict[env.agent_selection]))
        terminated, truncated = any(env.terminations.values()), any(env.truncations.values())
        ends = {"__all__": terminated}, {"__all__": truncated}
        return self._observations(terminated or truncated), dict(env.rewards), *ends, {}

    def _observations(self, ended: bool) -> dict[str, Any]:
        found = {}
        for agent in self.possible_agents if ended else [self._env.agent_selection]:
            seen = self._env.observe(agent)
            found[agent] = {
                "action_mask": seen["action_mask"].astype(np.float32),
                "observations": scaled(seen["observation"]),
            }
        return found


def ppo_config(rules: dict[str, Any], hidden: list[int], seed: int, runners: int, envs: int) -> PPOConfig:
    """PPO with action masks by self-play: one network for all seats.

    Args:
        rules: the keyword arguments of `euphoria_env.env`.
        hidden: widths of the layers.
        seed: of network and games.
        runners: processes that play; 0: the one that learns plays too.
        envs: games in each of them.
    """
    model = DefaultModelConfig(fcnet_hiddens=hidden, fcnet_activation="relu", vf_share_layers=True)
    module = RLModuleSpec(module_class=ActionMaskingTorchRLModule, model_config=model)
    config = PPOConfig().framework("torch").debugging(seed=seed)
    config = config.environment(EuphoriaMultiAgentEnv, env_config=rules, disable_env_checking=True)  # it plays illegal moves
    config = config.env_runners(num_env_runners=runners, num_envs_per_env_runner=envs, batch_mode="truncate_episodes")
    config = config.multi_agent(policies={POLICY}, policy_mapping_fn=lambda *_, **__: POLICY)
    return config.rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={POLICY: module}))


class RLModuleAgent(Agent):
    """A player with the network that an algorithm has by now; it draws its moves as in training."""

    def __init__(self, algorithm: Algorithm) -> None:
        self._module = algorithm.get_module(POLICY)

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Game | None = None) -> int:
        """Chooses a move; see `Agent.act`."""
        return int(self.act_batch(observation[None], mask[None], rng)[0])

    def act_batch(self, observations: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Chooses a move in each game; see `Agent.act_batch`."""
        seen = {
            "action_mask": torch.from_numpy(int8_rows(masks).astype(np.float32)),
            "observations": torch.from_numpy(scaled(int8_rows(observations))),
        }
        with torch.no_grad():
            logits = self._module.forward_inference({"obs": seen})["action_dist_inputs"].numpy()
        return (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
