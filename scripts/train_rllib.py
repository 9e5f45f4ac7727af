"""Masked PPO of RLlib on `EuphoriaVectorEnv`: an example for those who use RLlib anyway.

On one core it learns from 2,400 decisions a second, `euphoria train` with a network of the same size from 13,000
(docs/benchmarking-agents.md). One seat of every game learns, the others are played inside `step`. Needs Ray, in an environment of
its own (`make test-rllib` makes it):

    .venv-rllib/bin/python scripts/train_rllib.py
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # its future default; a warning otherwise

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from gymnasium.vector.utils import batch_space
from ray.rllib.algorithms.algorithm import Algorithm
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

from euphoria_agents import Agent, load, play_match
from euphoria_agents.matches.tournament import check_counts
from euphoria_env import actions
from euphoria_env.envs.observation_space import observation_box
from euphoria_env.envs.single import EuphoriaEnv
from euphoria_env.envs.vector import EuphoriaVectorEnv

HIGH = observation_box().high.astype(np.float32)
SPACE = spaces.Dict(
    action_mask=spaces.Box(0, 1, (actions.NUM_ACTIONS,), np.float32), observations=spaces.Box(0, 1, HIGH.shape, np.float32)
)


def seen(observation: np.ndarray, mask: np.ndarray) -> dict[str, np.ndarray]:
    """What RLlib's masked network gets: float32 from 0 to 1."""
    return {"action_mask": mask.astype(np.float32), "observations": observation / HIGH}


class One(gymnasium.Wrapper[Any, Any, Any, Any]):
    """One game; RLlib only asks it for its spaces."""

    def __init__(self, **options: Any) -> None:
        super().__init__(EuphoriaEnv(**options))
        self.observation_space = SPACE


class Many(EuphoriaVectorEnv):
    """Many games, with the observations as RLlib wants them."""

    def __init__(self, num_envs: int, **options: Any) -> None:
        super().__init__(num_envs, mask="observation", autoreset_mode="NextStep", **options)
        self.single_observation_space = SPACE
        self.observation_space = batch_space(SPACE, num_envs)

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        observed, _ = super().reset(**options)
        return seen(observed["observation"], observed["action_mask"]), {}

    def step(self, moves: np.ndarray) -> tuple[Any, ...]:
        observed, *results, _ = super().step(moves)
        return seen(observed["observation"], observed["action_mask"]), *results, {}


gymnasium.register("Euphoria-RLlib", entry_point=One, vector_entry_point=Many)


class Player(Agent):
    """Plays with the network that an algorithm has by now, as in training."""

    def __init__(self, algorithm: Algorithm) -> None:
        self.network = algorithm.get_module()

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Any = None) -> int:
        return int(self.act_batch(observation[None], mask[None], rng)[0])

    def act_batch(self, observations: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        batch = {name: torch.from_numpy(array) for name, array in seen(observations, masks).items()}
        with torch.no_grad():
            logits = self.network.forward_inference({"obs": batch})["action_dist_inputs"].numpy()
        return (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)


def build(args: argparse.Namespace) -> Algorithm:
    """PPO with action masks."""
    game = {"num_players": args.players, "opponents": args.opponents, "reward": "stars", "max_turns": 600}
    model = DefaultModelConfig(fcnet_hiddens=args.hidden, fcnet_activation="relu", vf_share_layers=True)
    config = PPOConfig().debugging(seed=args.seed, log_level="ERROR")
    config = config.environment("Euphoria-RLlib", env_config=game, disable_env_checking=True)  # the check plays illegal moves
    config = config.env_runners(num_env_runners=0, num_envs_per_env_runner=args.envs, gym_env_vectorize_mode="vector_entry_point")
    config = config.rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule, model_config=model))
    config = config.training(
        train_batch_size_per_learner=args.update, minibatch_size=min(1024, args.update), num_epochs=3, lr=3e-4, gamma=0.995,
        entropy_coeff=0.01,
    )  # fmt: skip
    return config.build_algo()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--players", type=int, default=2, help="players in a game, 2 to 6")
    parser.add_argument("--opponents", default="weights", help="the agent on the other seats")
    parser.add_argument("--updates", type=int, default=30, help="how often the network is updated")
    parser.add_argument("--update", type=int, default=8192, help="decisions of the learner in an update")
    parser.add_argument("--envs", type=int, default=256, help="games side by side")
    parser.add_argument("--hidden", type=int, nargs="+", default=[256, 128], help="widths of the layers")
    parser.add_argument("--seed", type=int, default=0, help="of network and games")
    parser.add_argument("--rating-games", type=int, default=200, help="against each of random and weights in the end")
    args = parser.parse_args()
    try:
        check_counts(updates=args.updates, update=args.update, envs=args.envs)
        algorithm = build(args)
        for update in range(1, args.updates + 1):
            found = algorithm.train()["env_runners"]
            print(f"{update * args.update:,} decisions, mean return {found.get('episode_return_mean', np.nan):.2f}", flush=True)
        for spec in ("random", "weights") if args.rating_games else ():
            lineup = [Player(algorithm), *[load(spec)] * (args.players - 1)]
            score = play_match(lineup, args.rating_games, seed=args.seed).scores[0]
            print(f"against {args.players - 1} {spec}: {score} of {score.games} games won")
        algorithm.stop()
    except ValueError as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        raise SystemExit(2) from None


if __name__ == "__main__":
    main()
