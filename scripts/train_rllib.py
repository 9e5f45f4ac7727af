"""RLlib's PPO with action masks on `EuphoriaVectorEnv`: an example for those who use RLlib anyway, and a baseline.

On one core it learns from 2,400 decisions a second, `euphoria train` with a network of the same size from 13,000
(docs/benchmark.md). One seat of every game learns, the others are played inside `step`. Ray has an environment of its
own (`make test-rllib` makes it); whoever only plays a file needs PyTorch and safetensors:

    .venv-rllib/bin/python scripts/train_rllib.py --out runs/rllib/player.safetensors

Wherever this module is on the path, the file plays as the agent "train_rllib:Player:runs/rllib/player.safetensors".
"""

from __future__ import annotations

import dataclasses
import json
import os
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from gymnasium.vector.utils import batch_space
from rich.console import Console
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from euphoria_agents import Agent, load, play_match
from euphoria_agents.dataclass_arguments import command, option, parse_options
from euphoria_agents.files import atomic_write, write_whole
from euphoria_agents.matches.work import check_counts
from euphoria_env import Rules, actions
from euphoria_env.envs.environment import observation_box
from euphoria_env.envs.single import EuphoriaEnv
from euphoria_env.envs.vector import EuphoriaVectorEnv

if TYPE_CHECKING:
    from ray.rllib.algorithms.algorithm import Algorithm

FILES = {"": rb'.{8}\{.*"pi\.net\.', ".csv": rb"decisions,mean_return\n"}  # what this script wrote before
GAMES = 256  # side by side
HIDDEN = (256, 128)
UPDATE = 8192  # decisions of the learner
CHOICES = {"minibatch_size": 1024, "num_epochs": 3, "lr": 3e-4, "gamma": 0.995, "entropy_coeff": 0.01}
HIGH = observation_box().high.astype(np.float32)
SPACE = spaces.Dict(
    action_mask=spaces.Box(0, 1, (actions.NUM_ACTIONS,), np.float32), observations=spaces.Box(0, 1, HIGH.shape, np.float32)
)


@dataclasses.dataclass
class Options:
    """Trains a player with RLlib's PPO with action masks."""

    out: Path = option(Path("runs/rllib/player.safetensors"), "file of the player", files=FILES)
    decisions: int = option(250_000, "decisions of the learner, rounded up to whole updates")
    players: int = option(2, "number of players")
    opponents: list[str] = option(["random", "weights"], "who sits on the other seats, drawn for each game")
    rules: str = option("{}", 'further options of the game as JSON, such as {"trading": true}')
    seed: int = option(0, "of the games and the network")
    rating_games: int = option(200, "against each of random and weights in the end")


def seen(observation: np.ndarray, mask: np.ndarray) -> dict[str, np.ndarray]:
    """The input of RLlib's masked network: float32 from 0 to 1."""
    return {"action_mask": mask.astype(np.float32), "observations": observation / HIGH}


class One(gymnasium.Wrapper[Any, Any, Any, Any]):
    """One game; RLlib only asks it for its spaces."""

    def __init__(self, pool: Any = None, **options: Any) -> None:
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
    """Plays a trained network: draws each move with the probability that the network gives it.

    Raises:
        ValueError: the file is not a player for this version of the environment. Nothing in it is executed.
    """

    def __init__(self, path: str | Path) -> None:
        torch.set_num_threads(1)
        try:
            self.network = policy_of(load_file(path))
        except (OSError, RuntimeError, KeyError, ValueError, SafetensorError) as error:
            raise ValueError(f"{path} cannot be read as a player: {error}") from error

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Any = None) -> int:
        """Chooses a move; see `Agent.act`."""
        return int(self.act_batch(observation[None], mask[None], rng)[0])

    @torch.no_grad()
    def act_batch(self, observations: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Chooses a move in each game; see `Agent.act_batch`."""
        logits = self.network(torch.from_numpy(observations / HIGH)).numpy()
        return np.where(masks, logits + rng.gumbel(size=logits.shape), -np.inf).argmax(axis=1)


def policy_of(tensors: dict[str, torch.Tensor]) -> nn.Sequential:
    """The layers of RLlib's network that lead to the logits, of its tensors by name."""
    names = [f"encoder.encoder.net.mlp.{2 * k}" for k in range(len(HIDDEN))] + ["pi.net.mlp.0"]
    widths = (len(HIGH), *HIDDEN, actions.NUM_ACTIONS)
    layers = [nn.Linear(before, after) for before, after in pairwise(widths)]
    for layer, name in zip(layers, names, strict=True):
        layer.load_state_dict({part: tensors[f"{name}.{part}"] for part in ("weight", "bias")})
    return nn.Sequential(*(part for layer in layers[:-1] for part in (layer, nn.ReLU())), layers[-1])


def build(options: Options) -> Algorithm:
    """PPO with action masks."""
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # its future default; a warning otherwise
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

    game = {"num_players": options.players, "pool": options.opponents, "reward": "stars", **json.loads(options.rules)}
    model = DefaultModelConfig(fcnet_hiddens=list(HIDDEN), fcnet_activation="relu", vf_share_layers=True)
    config = PPOConfig().debugging(seed=options.seed, log_level="ERROR")
    config = config.environment("Euphoria-RLlib", env_config=game, disable_env_checking=True)  # the check plays illegal moves
    config = config.env_runners(num_env_runners=0, num_envs_per_env_runner=GAMES, gym_env_vectorize_mode="vector_entry_point")
    config = config.rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule, model_config=model))
    return config.training(train_batch_size_per_learner=UPDATE, **CHOICES).build_algo()


def train(options: Options, console: Console) -> None:
    """Trains, writes the file of the player, and rates it."""
    algorithm = build(options)
    decisions, curve = 0, ["decisions,mean_return"]
    while decisions < options.decisions:
        found = algorithm.train()["env_runners"]
        decisions += UPDATE
        mean = found.get("episode_return_mean", np.nan)
        curve.append(f"{decisions},{mean:.6g}")
        console.print(f"{decisions:,} decisions, mean return {mean:.2f}")
    write_whole(options.out.with_suffix(".csv"), "\n".join(curve) + "\n")
    with atomic_write(options.out) as beside:
        save_file({name: tensor.contiguous() for name, tensor in algorithm.get_module().state_dict().items()}, beside)
    algorithm.stop()
    console.print(f"written: {options.out}")
    rules = Rules(num_players=options.players, **json.loads(options.rules))
    for spec in ("random", "weights") if options.rating_games else ():
        lineup = [Player(options.out), *[load(spec)] * (options.players - 1)]
        score = play_match(lineup, options.rating_games, rules, seed=options.seed).scores[0]
        console.print(f"against {options.players - 1} {spec}: {score} of {score.games} games won")


def main() -> None:
    options = parse_options(Options)
    check_counts(decisions=options.decisions)
    train(options, Console(emoji=False, markup=False))


if __name__ == "__main__":
    command(main)
