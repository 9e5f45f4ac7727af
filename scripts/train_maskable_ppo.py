"""sb3-contrib's MaskablePPO with its default network on `EuphoriaVecEnv`: how to use Stable-Baselines3 as it is, and a baseline.

One seat of every game learns; the others are fixed players. Two million decisions with two players take some ten minutes on a
core:

    python scripts/train_maskable_ppo.py --out runs/maskable/player.safetensors

Wherever this module is on the path, the file plays as the agent "train_maskable_ppo:Player:runs/maskable/player.safetensors".
`euphoria train` has a faster network and a league of past selves.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.logger import CSVOutputFormat, Logger
from stable_baselines3.common.vec_env import VecEnv

from euphoria_agents import Agent, EuphoriaVecEnv
from euphoria_agents.dataclass_arguments import command, option, parse_options
from euphoria_agents.files import atomic_write
from euphoria_agents.matches.work import check_counts

FILES = {"": rb'.{8}\{.*"action_net\.', ".csv": rb"[\w/,]*time/fps"}  # what this script wrote before
GAMES = 64  # side by side
SIZES = {"n_steps": 128, "batch_size": 1024, "n_epochs": 3}
CHOICES = {"learning_rate": lambda left: 7e-4 * left, "gamma": 0.995, "ent_coef": 0.01}


@dataclasses.dataclass
class Options:
    """Trains a player with sb3-contrib's MaskablePPO and its default network."""

    out: Path = option(Path("runs/maskable/player.safetensors"), "file of the player", files=FILES)
    decisions: int = option(2_000_000, "decisions of the learner, rounded up to whole updates")
    players: list[int] = option([2], "numbers of players that share the games")
    opponents: list[str] = option(["random", "weights"], "who sits on the other seats, drawn for each game")
    rules: str = option("{}", 'further options of the game as JSON, such as {"trading": true}')
    seed: int = option(0, "of the games and the network; equal seeds give equal networks")


class Player(Agent):
    """Plays a trained network: draws each move with the probability that the network gives it.

    Raises:
        ValueError: the file is not a player for this version of the environment. Nothing in it is executed.
    """

    def __init__(self, path: str) -> None:
        torch.set_num_threads(1)
        space = EuphoriaVecEnv(1)
        self.policy = MaskableActorCriticPolicy(space.observation_space, space.action_space, lambda _: 0.0)
        try:
            self.policy.load_state_dict(load_file(path))
        except (OSError, RuntimeError, SafetensorError) as error:
            raise ValueError(f"{path} cannot be read as a player: {error}") from error

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Any = None) -> int:
        """Chooses a move; see `Agent.act`."""
        return int(self.act_batch(observation[None], mask[None], rng)[0])

    @torch.no_grad()
    def act_batch(self, observations: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Chooses a move in each game; see `Agent.act_batch`."""
        found = self.policy.get_distribution(torch.from_numpy(np.array(observations)), np.array(masks, bool))
        sums = found.distribution.probs.double().cumsum(1).numpy()
        return (sums <= rng.random((len(sums), 1)) * sums[:, -1:]).sum(1)


class JoinedVecEnv(EuphoriaVecEnv):
    """Several `EuphoriaVecEnv` as one, for games of different numbers of players."""

    def __init__(self, parts: list[EuphoriaVecEnv]) -> None:
        self.parts, self.render_mode = parts, None
        self._ends = np.cumsum([part.num_envs for part in parts])
        VecEnv.__init__(self, int(self._ends[-1]), parts[0].observation_space, parts[0].action_space)

    def reset(self) -> np.ndarray:
        """Restarts all games; the seeds of the parts come from the seed of the whole."""
        for k, part in enumerate(self.parts if self._seeds[0] is not None else []):
            part.seed(int(np.random.SeedSequence([self._seeds[0], k]).generate_state(1)[0]))
        self._reset_seeds()
        return np.concatenate([part.reset() for part in self.parts])

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Plays a decision of every learner."""
        moves = np.split(self._actions, self._ends[:-1])
        steps = [part.step(some) for part, some in zip(self.parts, moves, strict=True)]
        observations, rewards, dones, infos = zip(*steps, strict=True)
        return np.concatenate(observations), np.concatenate(rewards), np.concatenate(dones), sum(infos, [])

    def action_masks(self) -> np.ndarray:
        """The learners' legal moves."""
        return np.concatenate([part.action_masks() for part in self.parts])


def train(options: Options, console: Console) -> None:
    """Trains, and writes the file of the player."""
    torch.set_num_threads(1)
    games, rules = GAMES // len(options.players), json.loads(options.rules)
    kinds = [{**rules, "num_players": n, "pool": options.opponents, "reward": "stars", "threads": 1} for n in options.players]
    env = JoinedVecEnv([EuphoriaVecEnv(games, **kind) for kind in kinds])
    model = MaskablePPO("MlpPolicy", env, seed=options.seed, device="cpu", **SIZES, **CHOICES)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    model.set_logger(Logger(None, [CSVOutputFormat(str(options.out.with_suffix(".csv")))]))
    with console.status(f"{options.decisions:,} decisions ..."):
        model.learn(options.decisions)
    model.logger.close()
    with atomic_write(options.out) as beside:
        save_file({name: tensor.contiguous() for name, tensor in model.policy.state_dict().items()}, beside)
    console.print(f"{model.num_timesteps:,} decisions; written: {options.out}")


def main() -> None:
    options = parse_options(Options)
    check_counts(decisions=options.decisions, seed=options.seed)
    train(options, Console(emoji=False, markup=False))


if __name__ == "__main__":
    command(main)
