"""Tianshou's double DQN with action masks on `EuphoriaVectorEnv`: how to use Tianshou, and a value-based baseline.

One seat of every game learns; the others are fixed players. A million decisions take some twenty minutes on a core.
Tianshou has an environment of its own (docs/benchmark.md); whoever only plays a file needs PyTorch and safetensors:

    .venv-dqn/bin/python scripts/train_masked_dqn.py --out runs/dqn/player.safetensors

Wherever this module is on the path, the file plays as the agent "train_masked_dqn:Player:runs/dqn/player.safetensors".
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
from torch import nn

from euphoria_agents import Agent
from euphoria_agents.dataclass_arguments import command, option, parse_options, written
from euphoria_agents.files import atomic_write
from euphoria_agents.matches.tournament import check_counts
from euphoria_env.actions import NUM_ACTIONS
from euphoria_env.envs.observation_space import observation_box
from euphoria_env.envs.vector import EuphoriaVectorEnv

GAMES = 32  # side by side
HIDDEN = 256
LEARNING_RATE = 3e-4  # falls to nothing
BATCH = 256  # decisions replayed after each one of all games
REPLAY = 400_000  # decisions kept, of two kilobytes
WARM_UP = 10_000  # decisions before the first update, or a tenth of all if that is less
EPSILON = (1.0, 0.02)  # share of random moves: falls to its end within the first part of the training
EXPLORING = 0.2  # that part
CHOICES = {"gamma": 0.995, "n_step_return_horizon": 3, "target_update_freq": 500, "is_double": True, "huber_loss_delta": 1.0}


@dataclasses.dataclass
class Options:
    """Trains a player with Tianshou's double DQN with action masks."""

    out: Path = option(Path("runs/dqn/player.safetensors"), "file of the player", type=written)
    decisions: int = option(1_000_000, "decisions of the learner, rounded up to whole steps of all games")
    players: int = option(2, "number of players")
    opponents: list[str] = option(["random", "weights"], "who sits on the other seats, drawn for each game")
    rules: str = option("{}", 'further options of the game as JSON, such as {"trading": true}')
    seed: int = option(0, "of the games and the network; equal seeds give equal networks")


class Network(nn.Module):
    """The value of each move: that of the position, and by how much each move differs from the average one."""

    def __init__(self) -> None:
        super().__init__()
        high = torch.from_numpy(observation_box().high)
        self.register_buffer("high", high.float(), persistent=False)
        self.body = nn.Sequential(nn.Linear(len(high), HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU())
        self.value, self.advantage = nn.Linear(HIDDEN, 1), nn.Linear(HIDDEN, NUM_ACTIONS)

    def forward(self, observations: Any, state: Any = None, info: Any = None) -> tuple[torch.Tensor, Any]:
        """The values of all moves (N, NUM_ACTIONS), of observations int8 (N, OBS_SIZE), and `state` as Tianshou wants it."""
        found = self.body(torch.as_tensor(observations) / self.high)
        advantage = self.advantage(found)
        return self.value(found) + advantage - advantage.mean(1, keepdim=True), state


class Player(Agent):
    """Plays a trained network: the legal move that it values most.

    Raises:
        ValueError: the file is not a player for this version of the environment. Nothing in it is executed.
    """

    def __init__(self, path: str) -> None:
        torch.set_num_threads(1)
        self.network = Network()
        try:
            self.network.load_state_dict(load_file(path))
        except (OSError, RuntimeError, SafetensorError) as error:
            raise ValueError(f"{path} cannot be read as a player: {error}") from error

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Any = None) -> int:
        """Chooses a move; see `Agent.act`."""
        return int(self.act_batch(observation[None], mask[None], rng)[0])

    @torch.no_grad()
    def act_batch(self, observations: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Chooses a move in each game; see `Agent.act_batch`."""
        values = self.network(np.array(observations))[0].numpy()
        return np.where(np.array(masks, bool), values, -np.inf).argmax(1)


def train(options: Options, console: Console) -> None:
    """Trains, and writes the file of the player."""
    from tianshou.algorithm.modelfree.dqn import DQN, DiscreteQLearningPolicy
    from tianshou.algorithm.optim import AdamOptimizerFactory, LRSchedulerFactoryLinear
    from tianshou.data import Batch, VectorReplayBuffer
    from tianshou.utils.torch_utils import policy_within_training_step

    def seen(observed: dict[str, np.ndarray]) -> Batch:
        return Batch(obs=observed["observation"], mask=observed["action_mask"])

    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    np.random.seed(options.seed)  # of the random moves
    env = EuphoriaVectorEnv(
        GAMES, num_players=options.players, pool=options.opponents, reward="stars", threads=1, mask="observation",
        **json.loads(options.rules),
    )  # fmt: skip
    steps = -(-options.decisions // GAMES)
    policy = DiscreteQLearningPolicy(model=Network(), action_space=env.single_action_space)
    optim = AdamOptimizerFactory(lr=LEARNING_RATE).with_lr_scheduler_factory(LRSchedulerFactoryLinear(1, steps, 1))
    algorithm = DQN(policy=policy, optim=optim, **CHOICES)
    replay = VectorReplayBuffer(min(REPLAY, steps * GAMES), GAMES, ignore_obs_next=True, random_seed=options.seed)
    observed, _ = env.reset(seed=options.seed)
    with console.status(f"{options.decisions:,} decisions ..."), policy_within_training_step(policy):
        for step in range(steps):
            policy.set_eps_training(float(np.interp(step / steps, (0, EXPLORING), EPSILON)))
            now = Batch(obs=seen(observed), info=Batch())
            with torch.no_grad():
                moves = policy.add_exploration_noise(policy(now).act, now)
            observed, rewards, terminated, truncated, _ = env.step(moves)
            replay.add(Batch(obs=now.obs, act=moves, rew=rewards, terminated=terminated, truncated=truncated))
            if len(replay) >= min(WARM_UP, options.decisions // 10):
                algorithm.update(replay, BATCH)
    with atomic_write(options.out) as beside:
        save_file({name: tensor.contiguous() for name, tensor in policy.model.state_dict().items()}, beside)
    console.print(f"{steps * GAMES:,} decisions; written: {options.out}")


def main() -> None:
    options = parse_options(Options)
    check_counts(decisions=options.decisions, seed=options.seed)
    train(options, Console(emoji=False, markup=False))


if __name__ == "__main__":
    command(main)
