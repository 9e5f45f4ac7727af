"""Masked PPO by self-play, whole in one file: a place to begin with an algorithm of your own.

One seat of every game learns; the others are drawn from a pool of baselines and past selves, which play inside the `step` of
`EuphoriaVectorEnv`. The network is a plain one in PyTorch; the logits of illegal actions are masked. A million decisions with two
players take a few minutes on one core:

    python scripts/train_single_file.py --out runs/single/player.npz

Wherever this module is on the path, the file plays as the agent "train_single_file:Player:runs/single/player.npz".
The learning curve is written beside it, as player.csv.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import sys
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import torch
from torch import Tensor, nn

from euphoria_agents import Agent, load, play_match
from euphoria_agents.files import atomic_write
from euphoria_env import actions, observations
from euphoria_env.engine.rewards import REWARD_NAMES
from euphoria_env.envs.vector import EuphoriaVectorEnv

LAYOUT = zlib.crc32(repr((observations.table(), actions.NAMES)).encode())  # a network fits one layout only


def option(default: Any, help: str, low: float = -math.inf, high: float = math.inf) -> Any:
    """A field with its help text and the range of its values."""
    return field(default=default, metadata={"help": help, "range": (low, high)})


@dataclass
class Arguments:
    """The options; every field is one of the command line."""

    out: Path = option(Path("runs/single/player.npz"), "file of the player, written every --save-every updates and at the end")
    seed: int = option(0, "of the games and the network; equal seeds give equal networks", 0)
    decisions: int = option(1_000_000, "decisions of the learner, rounded up to whole updates", 1)
    players: int = option(2, "players in a game", 2, 6)
    reward: str = option("stars", f"the reward to learn from: one of {', '.join(REWARD_NAMES)}; stars is by far the fastest")
    rules: str = option("{}", 'further options of the game as JSON, such as {"trading": true}')
    max_turns: int = option(600, "the number of turns after which training games are truncated", 1)
    baselines: Sequence[str] = option(("random", "weights"), "fixed opponents in the pool")
    past_selves: int = option(4, "past selves in the pool; the oldest one leaves", 1)
    save_every: int = option(10, "updates between two past selves, and between two lines of progress", 1)
    envs: int = option(256, "games side by side", 1)
    rollout: int = option(32, "decisions in each game between two updates", 1)
    batch: int = option(1024, "decisions in a step of the optimizer", 1)
    epochs: int = option(3, "how often an update goes through its decisions", 1)
    width: int = option(256, "of the first hidden layer; the second has half of it", 2)
    learning_rate: float = option(7e-4, "of Adam in the first update; goes down to 0 in a straight line", 0, 1)
    gamma: float = option(0.995, "discount of a decision", 0, 1)
    gae_lambda: float = option(0.95, "of the advantage estimates", 0, 1)
    clip: float = option(0.2, "how far an update may change the probability of an action", 0, 1)
    entropy: float = option(0.01, "weight of the entropy bonus", 0, 1)
    rating_games: int = option(400, "games against each of random and weights at the end; 0: none", 0)

    def __post_init__(self) -> None:
        for one in fields(self):
            value, (low, high) = getattr(self, one.name), one.metadata["range"]
            if isinstance(value, int | float) and not low <= value <= high:
                raise ValueError(f"{one.name} must be from {low} to {high}, not {value}")


class Network(nn.Module):
    """Policy and value: a multilayer perceptron with two hidden layers and two heads.

    Its inputs are the entries of the observation, scaled, and for fields of few entries (goods, stars, tracks, ...) a feature for
    each step, which is 1 from there on: the first unit of a thing is often worth the most. Seats that do not play are left out.
    """

    def __init__(self, players: int, width: int) -> None:
        super().__init__()
        self.players, self.width = players, width
        absent = tuple(f"player_{seat}." for seat in range(players, 6))
        seen = [one for one in observations.table() if not one.name.startswith(absent)]
        entries = [(i, one) for one in seen for i in range(one.start, one.start + one.size)]
        steps = [(i, step) for i, one in entries if one.size <= 8 for step in range(2, min(one.high, 10) + 1)]
        self.entries = torch.tensor([i for i, _ in entries])
        self.scale = torch.tensor([1 / min(one.high, 6) for _, one in entries])  # a count of six is 1, more is not told apart
        self.stepped, self.thresholds = torch.tensor(steps).T
        first, second = nn.Linear(len(entries) + len(steps), width), nn.Linear(width, width // 2)
        self.trunk = nn.Sequential(first, nn.ReLU(), second, nn.ReLU())
        self.policy, self.value = nn.Linear(width // 2, actions.NUM_ACTIONS), nn.Linear(width // 2, 1)
        for layer, gain in ((first, math.sqrt(2)), (second, math.sqrt(2)), (self.policy, 0.01), (self.value, 1.0)):
            nn.init.orthogonal_(layer.weight, gain)
            nn.init.zeros_(layer.bias)

    def forward(self, observation: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Log-probabilities of all actions (N, NUM_ACTIONS) and values (N,), from observations and boolean masks."""
        scaled = (observation[:, self.entries] * self.scale).clamp(max=1)
        hidden = self.trunk(torch.cat([scaled, observation[:, self.stepped] >= self.thresholds], 1))
        logits = self.policy(hidden).masked_fill(~mask, -1e9)  # not -inf: 0 * -inf would spoil the entropy
        return logits.log_softmax(1), self.value(hidden).squeeze(1)

    def write(self, path: Path) -> None:
        """Writes a file for `Player`, whole or not at all."""
        arrays = {name: tensor.numpy() for name, tensor in self.state_dict().items()}
        with atomic_write(path) as beside, beside.open("wb") as file:
            np.savez(file, layout=LAYOUT, players=self.players, width=self.width, **arrays)


def sample(log_probs: Tensor, rng: np.random.Generator) -> np.ndarray:
    """Draws an action for each row; never one of probability 0, which the illegal ones have."""
    cumulative = log_probs.exp().double().cumsum(1).numpy()
    return (cumulative <= rng.random((len(cumulative), 1)) * cumulative[:, -1:]).sum(1)


class Player(Agent):
    """Plays a network, or the file of one: draws each action with the probability that the network gives it.

    Raises:
        ValueError: the file is not a player for this version of the environment. Nothing in it is executed.
    """

    def __init__(self, source: str | Path | Network) -> None:
        if isinstance(source, Network):
            self.network = source
            return
        try:
            with Path(source).open("rb") as stream, np.load(stream, allow_pickle=False) as file:
                arrays = {name: torch.from_numpy(file[name]) for name in file.files}
            if arrays.pop("layout") != LAYOUT:
                raise ValueError("it belongs to another version of the environment")
            self.network = Network(int(arrays.pop("players")), int(arrays.pop("width")))
            self.network.load_state_dict(arrays)
        except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError, RuntimeError, BadZipFile) as error:
            raise ValueError(f"{source} cannot be read as a player: {error}") from error

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Any = None) -> int:
        return int(self.act_batch(observation[None], mask[None], rng)[0])

    @torch.no_grad()
    def act_batch(self, observations: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return sample(self.network(torch.tensor(observations), torch.tensor(masks).bool())[0], rng)


def estimate_advantages(args: Arguments, reward: Tensor, value: Tensor, following: Tensor, done: Tensor) -> Tensor:
    """Generalized advantage estimates (T, N), from rewards, values and dones (T, N), and the values of what follows (N,)."""
    advantage, last = torch.zeros_like(reward), torch.zeros_like(following)
    for t in reversed(range(len(reward))):
        delta = reward[t] + args.gamma * following * ~done[t] - value[t]
        advantage[t] = last = delta + args.gamma * args.gae_lambda * last * ~done[t]
        following = value[t]
    return advantage


def loss(args: Arguments, network: Network, batch: Sequence[Tensor]) -> Tensor:
    """The clipped loss of PPO, with those of value and entropy."""
    observation, mask, action, old_log_prob, advantage, target = batch
    log_probs, value = network(observation, mask)
    ratio = (log_probs.gather(1, action[:, None]).squeeze(1) - old_log_prob).exp()
    advantage = (advantage - advantage.mean()) / (advantage.std(correction=0) + 1e-8)
    objective = torch.min(ratio * advantage, ratio.clamp(1 - args.clip, 1 + args.clip) * advantage).mean()
    entropy = -(log_probs.exp() * log_probs).sum(1).mean()
    return 0.5 * (value - target).square().mean() - objective - args.entropy * entropy


def train(args: Arguments) -> Player:
    """Trains a player and writes its file; raises a ValueError where an argument is wrong."""
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    baselines: list[Agent] = [load(spec) for spec in args.baselines]
    past: list[Agent] = []
    rules = {**json.loads(args.rules), "num_players": args.players, "max_turns": args.max_turns}
    env = EuphoriaVectorEnv(args.envs, pool=baselines or ["random"], reward=args.reward, threads=1, **rules)
    network = Network(args.players, args.width)
    optimizer = torch.optim.Adam(network.parameters(), eps=1e-5)
    episode_return = np.zeros(args.envs)  # of the games under way
    finished: list[tuple[float, bool]] = []  # return and victory of those that ended since the last line of progress
    curve: list[tuple[float, ...]] = []  # decisions, mean return, share of games won
    seen, infos = env.reset(seed=args.seed)
    start, updates = time.monotonic(), math.ceil(args.decisions / (args.rollout * args.envs))

    for update in range(updates):
        if update % args.save_every == 0:
            network.write(args.out)
            past = [*past, Player(copy.deepcopy(network))][-args.past_selves :]
            env.set_opponents(pool=baselines + past)  # in the games that begin from now on
        # Collect decisions with the network as it is; whatever the opponents do in between happens inside `step`.
        rollout = []
        for _ in range(args.rollout):
            observation, mask = torch.from_numpy(seen), torch.from_numpy(infos["action_mask"]).bool()
            with torch.no_grad():
                log_probs, value = network(observation, mask)
            action = torch.from_numpy(sample(log_probs, rng))
            seen, reward, terminated, truncated, infos = env.step(action.numpy())
            done = terminated | truncated  # players see the limit of turns, as a rule of the game: nothing follows it either
            log_prob = log_probs.gather(1, action[:, None]).squeeze(1)
            rollout.append((observation, mask, action, log_prob, value, torch.from_numpy(reward).float(), torch.from_numpy(done)))
            episode_return += reward
            if done.any():
                finished += zip(episode_return[done], infos["final_info"]["is_success"][done], strict=True)
                episode_return[done] = 0
        # Learn from them.
        *decisions, value, reward, done = (torch.stack(column) for column in zip(*rollout, strict=True))
        following = network(torch.from_numpy(seen), torch.from_numpy(infos["action_mask"]).bool())[1].detach()
        advantage = estimate_advantages(args, reward, value, following, done)
        batch = [column.flatten(0, 1) for column in (*decisions, advantage, advantage + value)]
        optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - update / updates)
        for _ in range(args.epochs):
            for rows in torch.randperm(args.rollout * args.envs).split(args.batch):
                optimizer.zero_grad()
                loss(args, network, [column[rows] for column in batch]).backward()
                nn.utils.clip_grad_norm_(network.parameters(), 0.5)
                optimizer.step()

        if (update + 1) % args.save_every == 0 or update + 1 == updates:
            made = (update + 1) * args.rollout * args.envs
            mean, won = np.mean(finished, axis=0) if finished else (math.nan, math.nan)
            speed, games = made / (time.monotonic() - start), len(finished)
            print(f"{made:,} decisions, {speed:,.0f}/s; {games} games, mean return {mean:.2f}, won {won:.1%}", flush=True)
            curve.append((made, mean, won))
            finished = []
    network.write(args.out)
    path = args.out.with_suffix(".csv")
    np.savetxt(path, curve, "%.10g", delimiter=",", header="decisions,mean_return,won", comments="")
    return Player(network)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    for one in fields(Arguments):
        kind = {"nargs": "*"} if isinstance(one.default, tuple) else {"type": type(one.default)}
        parser.add_argument(f"--{one.name.replace('_', '-')}", default=one.default, help=one.metadata["help"], **kind)
    try:
        args = Arguments(**vars(parser.parse_args()))
        player = train(args)
        for spec in ("random", "weights") if args.rating_games else ():
            score = play_match([player, *[load(spec)] * (args.players - 1)], args.rating_games, seed=args.seed).scores[0]
            print(f"against {args.players - 1} {spec}: {score} of {score.games} games won")
    except (ValueError, OSError) as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
