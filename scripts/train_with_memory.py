"""Masked PPO with a memory, whole in one file: attention over the last events that the learner saw (docs/events.md).

One seat of every game learns against agents that play inside the `step` of `EuphoriaVectorEnv`. Beside the observation, the
network sees the last `--events` events: each is embedded from its kind, its player and its two fields, and one query, made from
the observation, attends to them. `--events 0` is the same without a memory, to compare with:

    python scripts/train_with_memory.py --events 32
    python scripts/train_with_memory.py --events 0

At the end the learner plays `--rating-games` games against each opponent in `--rate-against`, all from the setup.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from euphoria_env import actions, observations
from euphoria_env.board import MAX_PLAYERS
from euphoria_env.envs.vector import EuphoriaVectorEnv
from euphoria_env.event_kinds import KINDS

FIELD = 129  # values of `a` and `b`: -1 to 127
GAMMA, GAE_LAMBDA, CLIP, ENTROPY = 0.995, 0.95, 0.2, 0.01


class Seen(NamedTuple):
    """The inputs of the learners: observations (N, OBS_SIZE), masks (N, NUM_ACTIONS), events (N, K, EVENT_SIZE)."""

    observation: Tensor
    mask: Tensor
    events: Tensor

    @classmethod
    def of(cls, seen: Any, infos: dict[str, Any]) -> Seen:
        mask = torch.from_numpy(infos["action_mask"]).bool()
        if isinstance(seen, dict):
            return cls(torch.from_numpy(seen["observation"]), mask, torch.from_numpy(seen["events"]))
        return cls(torch.from_numpy(seen), mask, torch.zeros(len(seen), 0, 4, dtype=torch.int8))


class Memory(nn.Module):
    """Attends to events: one query for each row of `hidden`, a key and a value for each event."""

    def __init__(self, events: int, width: int, size: int) -> None:
        super().__init__()
        self.kind, self.player = nn.Embedding(len(KINDS), size, padding_idx=0), nn.Embedding(MAX_PLAYERS + 1, size)
        self.a, self.b = nn.Embedding(FIELD, size), nn.Embedding(FIELD, size)
        self.age = nn.Parameter(0.1 * torch.randn(events, size))
        self.query, self.key = nn.Linear(width, size, bias=False), nn.Linear(size, size, bias=False)
        self.value = nn.Sequential(nn.Linear(size, size), nn.ReLU(), nn.Linear(size, size))

    def forward(self, hidden: Tensor, events: Tensor) -> Tensor:
        """The memory, (N, size)."""
        kind, player, a, b = events.long().unbind(2)
        embedded = self.kind(kind) * (1 + self.a(a + 1) + self.b(b + 1)) + self.player(player + 1) + self.age
        scores = (self.key(embedded) * self.query(hidden)[:, None]).sum(2) / math.sqrt(embedded.shape[2])
        weights = scores.masked_fill(kind == 0, -1e9).softmax(1)
        return (weights[:, :, None] * self.value(embedded)).sum(1)


class Network(nn.Module):
    """Policy and value from the observation, and from what the memory makes of the events if there is one."""

    def __init__(self, events: int, width: int, size: int) -> None:
        super().__init__()
        high = np.concatenate([np.full(one.size, min(one.high, 6), np.float32) for one in observations.table()])
        self.register_buffer("scale", torch.from_numpy(1 / high))
        self.trunk = nn.Sequential(nn.Linear(len(high), width), nn.ReLU())
        self.memory = Memory(events, width, size) if events else None
        self.second = nn.Sequential(nn.Linear(width + (size if events else 0), width // 2), nn.ReLU())
        self.policy, self.value = nn.Linear(width // 2, actions.NUM_ACTIONS), nn.Linear(width // 2, 1)
        nn.init.orthogonal_(self.policy.weight, 0.01)

    def forward(self, seen: Seen) -> tuple[Tensor, Tensor]:
        """Log-probabilities of all actions (N, NUM_ACTIONS) and values (N,)."""
        hidden = self.trunk((seen.observation * self.scale).clamp(max=1))
        if self.memory is not None:
            hidden = torch.cat([hidden, self.memory(hidden, seen.events)], 1)
        hidden = self.second(hidden)
        logits = self.policy(hidden).masked_fill(~seen.mask, -1e9)  # not -inf: 0 * -inf would spoil the entropy
        return logits.log_softmax(1), self.value(hidden).squeeze(1)


def sample(log_probs: Tensor, rng: np.random.Generator) -> np.ndarray:
    """Draws an action for each row; never one of probability 0, which the illegal ones have."""
    cumulative = log_probs.exp().double().cumsum(1).numpy()
    return (cumulative <= rng.random((len(cumulative), 1)) * cumulative[:, -1:]).sum(1)


def estimate_advantages(reward: Tensor, value: Tensor, following: Tensor, done: Tensor) -> Tensor:
    """Generalized advantage estimates (T, N), from rewards, values and dones (T, N), and the values of what follows (N,)."""
    advantage, last = torch.zeros_like(reward), torch.zeros_like(following)
    for t in reversed(range(len(reward))):
        delta = reward[t] + GAMMA * following * ~done[t] - value[t]
        advantage[t] = last = delta + GAMMA * GAE_LAMBDA * last * ~done[t]
        following = value[t]
    return advantage


def loss(network: Network, batch: Sequence[Tensor]) -> Tensor:
    """The clipped loss of PPO, with those of value and entropy."""
    *seen, action, old_log_prob, advantage, target = batch
    log_probs, value = network(Seen(*seen))
    ratio = (log_probs.gather(1, action[:, None]).squeeze(1) - old_log_prob).exp()
    advantage = (advantage - advantage.mean()) / (advantage.std(correction=0) + 1e-8)
    objective = torch.min(ratio * advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * advantage).mean()
    entropy = -(log_probs.exp() * log_probs).sum(1).mean()
    return 0.5 * (value - target).square().mean() - objective - ENTROPY * entropy


def train(args: argparse.Namespace) -> Network:
    """Trains a network and prints how it goes."""
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    env = EuphoriaVectorEnv(
        args.envs, pool=args.opponents, reward="stars", threads=1, events=args.events, num_players=args.players, max_turns=600
    )
    network = Network(args.events, args.width, args.size)
    optimizer = torch.optim.Adam(network.parameters(), eps=1e-5)
    observation, infos = env.reset(seed=args.seed)
    seen, wins, start = Seen.of(observation, infos), list[bool](), time.monotonic()
    updates = math.ceil(args.decisions / (args.rollout * args.envs))
    for update in range(updates):
        rollout = []
        for _ in range(args.rollout):
            with torch.no_grad():
                log_probs, value = network(seen)
            action = torch.from_numpy(sample(log_probs, rng))
            observation, reward, terminated, truncated, infos = env.step(action.numpy())
            done = torch.from_numpy(terminated | truncated)
            log_prob = log_probs.gather(1, action[:, None]).squeeze(1)
            rollout.append((*seen, action, log_prob, value, torch.from_numpy(reward).float(), done))
            seen = Seen.of(observation, infos)
            if done.any():
                wins += infos["final_info"]["is_success"][done.numpy()].tolist()
        *decisions, value, reward, done = (torch.stack(column) for column in zip(*rollout, strict=True))
        with torch.no_grad():
            advantage = estimate_advantages(reward, value, network(seen)[1], done)
        batch = [column.flatten(0, 1) for column in (*decisions, advantage, advantage + value)]
        optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - update / updates)
        for _ in range(args.epochs):
            for rows in torch.randperm(args.rollout * args.envs).split(args.batch):
                optimizer.zero_grad()
                loss(network, [column[rows] for column in batch]).backward()
                nn.utils.clip_grad_norm_(network.parameters(), 0.5)
                optimizer.step()
        if (update + 1) % args.report == 0 or update + 1 == updates:
            made, won = (update + 1) * args.rollout * args.envs, np.mean(wins) if wins else math.nan
            speed = made / (time.monotonic() - start)
            print(f"{made:,} decisions, {speed:,.0f}/s; {len(wins)} games, won {won:.1%}", flush=True)
            wins = []
    return network


@torch.no_grad()
def rate(args: argparse.Namespace, network: Network, opponent: str) -> tuple[int, int]:
    """Games won and played against an opponent on all other seats: the first one of so many that begin together."""
    n, rng = args.rating_games, np.random.default_rng(args.seed)
    env = EuphoriaVectorEnv(n, opponent, threads=1, events=args.events, num_players=args.players, max_turns=600)
    observation, infos = env.reset(seed=args.seed + 1)
    won, ended = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    while not ended.all():
        action = sample(network(Seen.of(observation, infos))[0], rng)
        observation, _, terminated, truncated, infos = env.step(action)
        new = (terminated | truncated) & ~ended
        if new.any():
            won[new] = infos["final_info"]["is_success"][new]
            ended |= new
    return int(won.sum()), n


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0, help="of the games and the network; equal seeds give equal networks")
    parser.add_argument("--events", type=int, default=32, help="how many events the network sees; 0: no memory")
    parser.add_argument("--players", type=int, default=2, help="players in a game")
    parser.add_argument("--decisions", type=int, default=1_000_000, help="decisions of the learner")
    parser.add_argument("--opponents", nargs="+", default=["random", "weights"], help="who is drawn for the other seats")
    parser.add_argument("--envs", type=int, default=128, help="games side by side")
    parser.add_argument("--rollout", type=int, default=32, help="decisions in each game between two updates")
    parser.add_argument("--batch", type=int, default=1024, help="decisions in a step of the optimizer")
    parser.add_argument("--epochs", type=int, default=3, help="how often an update goes through its decisions")
    parser.add_argument("--width", type=int, default=256, help="of the first hidden layer")
    parser.add_argument("--size", type=int, default=32, help="of what is remembered")
    parser.add_argument("--learning-rate", type=float, default=7e-4, help="of Adam in the first update; goes down to 0")
    parser.add_argument("--report", type=int, default=20, help="updates between two lines of progress")
    parser.add_argument("--rating-games", type=int, default=400, help="games against each opponent at the end; 0: none")
    parser.add_argument("--rate-against", nargs="*", default=["random", "weights"], help="opponents of these games")
    args = parser.parse_args()
    torch.set_num_threads(1)
    try:
        network = train(args)
        for opponent in args.rate_against if args.rating_games else ():
            won, games = rate(args, network, opponent)
            print(f"against {opponent}: {won} of {games} games won", flush=True)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
