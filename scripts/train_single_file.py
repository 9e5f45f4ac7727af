"""PPO by self-play on `Batch`, whole in one file: a place to begin with an algorithm of your own.

Every seat of every game learns. A million decisions with two players take some two minutes on one core:

    python scripts/train_single_file.py --out runs/single/player.safetensors
    euphoria evaluate --agent ppo:runs/single/player.safetensors --against weights --players 2
"""

from __future__ import annotations

import csv
import dataclasses
import json
import math
import time
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
from msgspec import Meta
from torch import Tensor, nn

from euphoria_agents import load, play_match
from euphoria_agents.dataclass_arguments import command, option, parse_options
from euphoria_agents.files import atomic_write
from euphoria_agents.network.checkpoint import save_checkpoint
from euphoria_agents.own_files import PLAYER
from euphoria_agents.validation import checked
from euphoria_env import Batch, Rules, actions, observations, sample_action
from euphoria_env.trajectories import OPEN, Trajectories, estimate_advantages

CLIP, STEEPEST = 0.2, 0.5  # how far PPO lets a probability's ratio go from 1; the largest norm of a gradient
FILES = {**PLAYER, ".csv": rb"decisions,processor_seconds,won\s"}
MOST = 6  # features do not tell apart what is more than this
Count, Share = Annotated[int, Meta(ge=1, le=10**9)], Annotated[float, Meta(ge=0, le=1)]


@dataclasses.dataclass
class Options:
    """Trains a player by PPO in games against itself."""

    out: Path = option(Path("runs/single/player.safetensors"), "file of the player; its curve is beside it", files=FILES)
    decisions: Count = option(1_000_000, "decisions to learn from, rounded up to whole updates")
    seed: Annotated[int, Meta(ge=0)] = option(0, "of games and network; equal seeds give equal players")
    players: Annotated[int, Meta(ge=2, le=6)] = option(2, "players in a game")
    rules: str = option("{}", 'further options of the game as JSON, such as {"trading": true}')
    reward: str = option("stars", "the reward to learn from, by its name in docs/environment.md")
    games: Count = option(256, "games side by side")
    steps: Annotated[int, Meta(ge=8, le=10**4)] = option(64, "decisions in each game between two updates")
    batch: Count = option(1024, "decisions in a step of the optimizer")
    epochs: Count = option(2, "how often an update goes through its decisions")
    width: Annotated[int, Meta(ge=2, le=2**14)] = option(256, "of the first hidden layer; the second has half of it")
    learning_rate: Share = option(1e-3, "of Adam in the first update; goes down to 0 in a straight line")
    gamma: Share = option(0.995, "discount of a decision")
    gae_lambda: Share = option(0.8, "of the advantage estimates")
    entropy: Share = option(0.006, "weight of the entropy bonus")
    ratings: Count = option(10, "how often the player is saved and rated")
    rating_games: Annotated[int, Meta(ge=0)] = option(200, "games of each rating, against weights on all other seats; 0: none")


class Features(nn.Module):
    """Numbers of the observation as clip((entry - offset) * scale, -1, 1); the tensors are those in a file of `ppo`.

    Short fields (stars, goods, tracks) also have a feature for each step: the first unit of a thing is often worth the most.
    What is equal in all games is left out: the options, and seats that do not play.
    """

    def __init__(self, players: int) -> None:
        super().__init__()
        equal, rows = (*vars(Rules()), *(f"player_{seat}." for seat in range(players, 6))), []
        for start, size, _, high in (field for name, field in observations.fields().items() if not name.startswith(equal)):
            most = min(high, MOST)
            for entry in range(start, start + size):
                rows += [(entry, 0, 1 / most), *((entry, step - 0.5, 2) for step in range(2, most + 1) if size <= 8)]
        for name, column in zip(("source", "offset", "scale"), torch.tensor(rows).T, strict=True):
            self.register_buffer(name, column.int() if name == "source" else column)

    def forward(self, seen: Tensor) -> Tensor:
        return ((seen.float().index_select(1, self.source) - self.offset) * self.scale).clamp(-1, 1)


class Network(nn.Module):
    """Policy and value: two hidden layers and two heads, named as in a file of `ppo`."""

    def __init__(self, players: int, width: int) -> None:
        super().__init__()
        self.features = Features(players)
        self.trunk = nn.ModuleList([nn.Linear(len(self.features.source), width), nn.Linear(width, width // 2)])
        self.policy = nn.ModuleList([nn.Linear(width // 2, actions.NUM_ACTIONS)])
        self.value = nn.ModuleList([nn.Linear(width // 2, 1)])
        for layer, gain in zip((*self.trunk, *self.policy, *self.value), (2**0.5, 2**0.5, 0.01, 1), strict=True):
            nn.init.orthogonal_(layer.weight, gain)
            nn.init.zeros_(layer.bias)

    def forward(self, seen: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Log-probabilities (N, NUM_ACTIONS), far below all others for illegal moves, and values (N,)."""
        hidden = self.features(seen)
        for layer in self.trunk:
            hidden = layer(hidden).relu()
        logits = self.policy[0](hidden).masked_fill(~mask, -50)  # exp is ten times as slow where its result underflows
        return logits.log_softmax(1), self.value[0](hidden)[:, 0]


class Learner:
    """Many games in which a network has all seats, and its decisions; those without a next one wait for the next update."""

    def __init__(self, options: Options, rules: Rules) -> None:
        torch.manual_seed(options.seed)
        torch.set_num_threads(1)
        self.options, self.rng = options, np.random.default_rng(options.seed)
        self.network = Network(options.players, options.width)
        self.optimizer = torch.optim.Adam(self.network.parameters(), eps=1e-5)
        self.batch = Batch(options.games, rules, options.seed, options.reward, threads=1)
        self.decisions = Trajectories(self.batch, options.games * (options.steps + options.players))
        room = self.decisions.capacity
        self.seen, self.mask = np.zeros((room, observations.OBS_SIZE), np.int8), np.zeros((room, actions.NUM_ACTIONS), np.bool_)
        self.move, (self.log_prob, self.value) = np.zeros(room, np.int64), np.zeros((2, room), np.float32)
        for array in (self.seen, self.mask, self.move, self.log_prob, self.value):
            self.decisions.attach(array)

    @torch.no_grad()
    def play(self) -> None:
        """Plays a decision in every game."""
        new = self.decisions.add(np.arange(self.batch.n))
        self.seen[new], self.mask[new] = self.batch.observation, self.batch.mask
        log_prob, self.value[new] = self.network(torch.from_numpy(self.seen[new]), torch.from_numpy(self.mask[new]))
        self.move[new] = sample_action(log_prob, self.mask[new], self.rng)
        self.log_prob[new] = log_prob.numpy()[np.arange(self.batch.n), self.move[new]]
        self.batch.step(self.move[new])
        self.decisions.credit()

    def learn(self) -> None:
        """Trains the network on all decisions that have a next one, and carries the others over."""
        options, n = self.options, self.decisions.size
        value, reward, following = self.value[:n], self.decisions.reward[:n], self.decisions.following[:n]
        advantage = estimate_advantages(value, reward, following, options.gamma, options.gae_lambda)
        (closed,) = np.nonzero(following != OPEN)
        weight = (advantage - advantage[closed].mean()) / (advantage[closed].std() + 1e-8)
        columns = [*map(torch.from_numpy, (self.seen, self.mask, self.move, self.log_prob, weight, advantage + value))]
        for _ in range(options.epochs):
            for rows in np.array_split(self.rng.permutation(closed), math.ceil(len(closed) / options.batch)):
                self.optimizer.zero_grad()
                self.loss(*(column[rows] for column in columns)).backward()
                nn.utils.clip_grad_norm_(self.network.parameters(), STEEPEST)
                self.optimizer.step()
        self.decisions.carry_over()

    def loss(self, seen: Tensor, mask: Tensor, move: Tensor, old: Tensor, advantage: Tensor, target: Tensor) -> Tensor:
        """The clipped loss of PPO, with those of value and entropy; `old` has the log-probabilities when the moves were made."""
        log_prob, value = self.network(seen, mask)
        ratio = (log_prob.gather(1, move[:, None])[:, 0] - old).exp()
        gain = torch.min(ratio * advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * advantage)
        entropy = -(log_prob.exp() * log_prob).sum(1)
        return (0.5 * (value - target).square() - gain - self.options.entropy * entropy).mean()


def train(options: Options) -> None:
    """Trains a player; saves and rates it now and then."""
    checked(vars(options), Options)
    rules = Rules.from_dict({"max_turns": 600, **json.loads(options.rules), "num_players": options.players})
    learner, seconds, curve = Learner(options, rules), 0.0, [("decisions", "processor_seconds", "won")]
    updates = math.ceil(options.decisions / (options.games * options.steps))
    for update in range(updates):
        start = time.process_time()
        learner.optimizer.param_groups[0]["lr"] = options.learning_rate * (1 - update / updates)
        for _ in range(options.steps):
            learner.play()
        learner.learn()
        seconds += time.process_time() - start
        if (update + 1) * options.ratings >= updates * len(curve):
            made = (update + 1) * options.games * options.steps
            curve.append((made, round(seconds, 1), save_and_rate(learner.network, options, rules, made)))
            with atomic_write(options.out.with_suffix(".csv")) as beside, beside.open("w", newline="") as file:
                csv.writer(file).writerows(curve)
            print("{:,} decisions in {:.0f} s of the processor: {:.1%} won".format(*curve[-1]), flush=True)


def save_and_rate(network: Network, options: Options, rules: Rules, made: int) -> float:
    """Writes the player's file, and returns the share of games that it wins."""
    about = {"reward": options.reward, "gamma": options.gamma, "decisions": made, "seed": options.seed}
    save_checkpoint(options.out, {name: tensor.numpy() for name, tensor in network.state_dict().items()}, about)
    if not options.rating_games:
        return math.nan
    line_up = [load(f"ppo:{options.out}"), *[load("weights")] * (options.players - 1)]
    return play_match(line_up, options.rating_games, rules, seed=1).scores[0].rate


if __name__ == "__main__":
    command(lambda: train(parse_options(Options)))
