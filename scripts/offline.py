"""Learning from a data set alone: a policy by behaviour cloning, a value network, and a policy that the values improve.

The data set is one of `euphoria collect`; no game is played. `--method bc` imitates every move. `--method awr` is
advantage-weighted regression (Peng et al. 2019): the value network predicts the return of each decision, and moves that led to
more than it predicted count more. Both train the value network. Where a game was cut off, the value of what the seat saw last
stands for the rewards that would have followed. The player is a checkpoint, for `ppo:FILE`; docs/data.md has the
results of both:

    euphoria collect --agents weights ppo:@b109aa4237be --games 4050 --seed 4 --out runs/offline
    python scripts/offline.py --data runs/offline --method awr --out runs/awr.safetensors
    euphoria benchmark duel-v1 --agent ppo:runs/awr.safetensors --name offline-awr --out runs/judged-awr
"""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from euphoria_agents.data import Dataset, load
from euphoria_agents.dataclass_arguments import command, option, parse_options
from euphoria_agents.network.checkpoint import save_checkpoint
from euphoria_agents.network.features import Features
from euphoria_agents.own_files import PLAYER, READ
from euphoria_env import actions, observations

METHODS = ("bc", "awr")


@dataclasses.dataclass
class Options:
    """Learns a player from a data set."""

    data: Path = option(Path("runs/offline"), "folder of the data set", files=READ, metavar="FOLDER")
    method: str = option("bc", "imitate all moves alike, or those more that led to more than was expected", choices=METHODS)
    out: Path = option(Path("runs/offline.safetensors"), "file of the player", files=PLAYER, metavar="FILE")
    seed: int = option(0, "of the network and of the order of the decisions; equal seeds give equal players")
    epochs: int = option(2, "how often all decisions are learned from")
    batch: int = option(1024, "decisions in a step of the optimizer")
    width: int = option(256, "of the first hidden layer; the second has half of it")
    learning_rate: float = option(1e-3, "of Adam in the first step; falls to 0 in a straight line")
    beta: float = option(0.5, "for awr: an advantage of this much weighs a move e times as much")
    most: float = option(10.0, "for awr: no move weighs more than this")

    def __post_init__(self) -> None:
        for name in ("epochs", "batch", "width", "learning_rate", "beta", "most"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be more than 0, not {getattr(self, name)}")
        if self.method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}, not {self.method!r}")


def make_features(players: int) -> Features:
    """Each entry of the observation, scaled; for small fields also a feature for each step: -1 below it, 1 from it on."""
    absent = tuple(f"player_{seat}." for seat in range(players, 6))
    rows: list[tuple[int, float, float]] = []
    for field in observations.table():
        most = min(field.high, 6) if field.size <= 8 else 0
        for entry in range(field.start, field.start + field.size) if not field.name.startswith(absent) else ():
            rows.append((entry, 0.0, 1 / min(field.high, 6)))
            rows += [(entry, step - 0.5, 2.0) for step in range(2, most + 1)]
    return Features(*np.array(rows).T)


class Network(nn.Module):
    """Policy and value: a multilayer perceptron with two hidden layers and two heads."""

    def __init__(self, features: Features, width: int) -> None:
        super().__init__()
        self.features = features
        self.register_buffer("source", torch.from_numpy(features.source))
        self.register_buffer("offset", torch.from_numpy(features.offset))
        self.register_buffer("scale", torch.from_numpy(features.scale))
        sizes = len(features.source), width, width // 2
        self.trunk = nn.ModuleList([nn.Linear(*pair) for pair in zip(sizes, sizes[1:], strict=False)])
        self.policy, self.value = nn.Linear(width // 2, actions.NUM_ACTIONS), nn.Linear(width // 2, 1)

    def hidden(self, observation: Tensor) -> Tensor:
        """The last hidden layer, from which policy and value are made."""
        hidden = ((observation[:, self.source] - self.offset) * self.scale).clamp(-1, 1)
        for layer in self.trunk:
            hidden = functional.relu(layer(hidden))
        return hidden

    @torch.no_grad()
    def values(self, observation: Tensor) -> Tensor:
        """The values (N,) of observations."""
        return self.value(self.hidden(observation)).squeeze(1)

    def forward(self, observation: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Log-probabilities of all moves (N, NUM_ACTIONS) and values (N,), from observations and masks."""
        hidden = self.hidden(observation)
        logits = self.policy(hidden).masked_fill(~mask, -torch.inf)
        return logits.log_softmax(1), self.value(hidden).squeeze(1)

    def tensors(self) -> dict[str, np.ndarray]:
        """The tensors of a checkpoint."""
        layers = {"trunk.0": self.trunk[0], "trunk.1": self.trunk[1], "policy.0": self.policy, "value.0": self.value}
        found = self.features.tensors()
        for name, layer in layers.items():
            found |= {f"{name}.weight": layer.weight.detach().numpy(), f"{name}.bias": layer.bias.detach().numpy()}
        return found


class Returns:
    """The return of each decision: the rewards of its seat from there on, and if the game was cut off, the value of its end."""

    def __init__(self, data: Dataset) -> None:
        self._begins = np.zeros(len(data), np.int64)  # the number of the first decision of each game
        self._rewards, self._end = np.zeros(data.decisions, np.float32), np.full(data.decisions, -1)
        ends: list[np.ndarray] = []
        at = 0
        for k, game in enumerate(data):
            self._begins[k] = at
            for seat in set(game["seat"].tolist()):
                own = np.flatnonzero(game["seat"] == seat)
                self._rewards[at + own] = game["reward"][own][::-1].cumsum()[::-1]
                if game["truncated"][own[-1]]:
                    self._end[at + own] = len(ends)
                    ends.append(game["final_observation"][own[-1]])
            at += len(game["seat"])
        self._ends = torch.from_numpy(np.array(ends, np.int8))

    def of(self, batch: dict[str, np.ndarray], network: Network) -> Tensor:
        """The returns of a batch, float32 (N,)."""
        rows = self._begins[batch["game"]] + batch["index"]
        found, end = torch.from_numpy(self._rewards[rows]), torch.from_numpy(self._end[rows])
        cut = end >= 0
        if cut.any():
            found[cut] += network.values(self._ends[end[cut]])
        return found


def train(options: Options) -> Network:
    """Trains a network and writes its file.

    Raises:
        ValueError: there is no data set, or it is damaged.
    """
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    data = load(options.data)
    returns, network = Returns(data), Network(make_features(data.rules.num_players), options.width)
    optimizer = torch.optim.Adam(network.parameters())
    seen, total, begun = 0, data.decisions * options.epochs, time.monotonic()
    for epoch in range(options.epochs):
        losses = np.zeros(3)
        for batch in data.batches(options.batch, seed=options.seed * 1000 + epoch):
            observation, mask, move = (torch.from_numpy(batch[name]) for name in ("observation", "action_mask", "action"))
            outcome = returns.of(batch, network)
            log_chances, value = network(observation, mask)
            chosen = log_chances.gather(1, move[:, None]).squeeze(1)
            weight = torch.ones_like(value)
            if options.method == "awr":
                weight = ((outcome - value.detach()) / options.beta).exp().clamp(max=options.most)
            imitation, error = -(weight * chosen).sum() / weight.sum(), (outcome - value).square().mean()
            optimizer.param_groups[0]["lr"] = options.learning_rate * (1 - seen / total)
            optimizer.zero_grad()
            (imitation + 0.5 * error).backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            seen += len(move)
            losses += np.array([-chosen.detach().mean(), error.detach(), 1]) * len(move)
        log_loss, squared = losses[:2] / losses[2]
        print(
            f"epoch {epoch + 1}: {seen:,} decisions, {seen / (time.monotonic() - begun):,.0f}/s; "
            f"log-loss {log_loss:.3f}, squared error of the value {squared:.3f}",
            flush=True,
        )
    save_checkpoint(options.out, network.tensors(), {"reward": data.reward, "gamma": 1.0, "method": options.method})
    return network


def main() -> None:
    train(parse_options(Options))


if __name__ == "__main__":
    command(main)
