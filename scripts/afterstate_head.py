"""Learns the afterstate head of a player from searches (docs/training.md#the-afterstate-head).

In positions of games of the player against itself, in which its policy gives no move 95 %, a search with the player's network
says how much better than the policy each move is. The head learns to raise the expected advantage, less TEMPERATURE times the
Kullback-Leibler divergence from the policy that the player has. A twentieth of the positions is held out to measure the gain:

    python scripts/afterstate_head.py --player ppo.safetensors --labels runs/labels --out runs/head.safetensors
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: the arrays are small, more threads only wait for each other

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
from msgspec import Meta
from rich.console import Console
from torch import Tensor
from torch.nn.functional import embedding_bag

from euphoria_agents import load
from euphoria_agents.agent import Agent
from euphoria_agents.dataclass_arguments import command, option, parse_options
from euphoria_agents.files import atomic_write
from euphoria_agents.network.checkpoint import Parts, parts, read_checkpoint, save_checkpoint
from euphoria_agents.network.compiled_layers import SETTLED
from euphoria_agents.own_files import PLAYER, READ
from euphoria_agents.players.ppo import PPO, SHIPPED
from euphoria_agents.progress import Progress
from euphoria_agents.registry import file_hash
from euphoria_agents.training.config import Count, PlayerCount, Seed, Width
from euphoria_agents.training.network import AfterstateLayers
from euphoria_agents.training.self_play import MOST_TURNS, play_games
from euphoria_agents.validation import checked
from euphoria_env import Game, Rules
from euphoria_env.engine.state import PLAYING

PART, KEPT, GAMES = 1000, 20, 20  # positions of a file of labels and of a game, games at a time
BATCH, RATE, DECAY, HELD_OUT = 512, 5e-3, 1e-4, 20
LABELS = {r"labels-\d-\d{5,}\.npz": rb"PK\x03\x04"}


@dataclasses.dataclass
class Options:
    """Learns the afterstate head of a player from searches, and writes the player with it."""

    player: Path = option(SHIPPED, "a player with or without a head", files=READ, metavar="FILE")
    out: Path = option(Path("runs/head.safetensors"), "file of the player with the head", files=PLAYER, metavar="FILE")
    labels: Path = option(Path("runs/labels"), "folder of what the searches say, which goes on from there", files=LABELS)
    players: Annotated[list[PlayerCount], Meta(min_length=1)] = option([2, 4], "numbers of players")
    positions: Count = option(60_000, f"positions of each number of players, in thousands; {PART:,} at least")
    simulations: Count = option(64, "of a search")
    hidden: Width = option(64, "hidden units of a new head")
    temperature: float = option(0.002, "an advantage of this share of a win makes a move e times as likely")
    epochs: Count = option(25, "how often all positions are learned from")
    fp16: bool = option(False, "write the player in 16 bits, which takes half the space")
    seed: Seed = option(0, "equal seeds give equal players")


# --------------------------------------------------------------------------------------------------------------- labels


def unsettled(agent: PPO, n: int, rng: np.random.Generator) -> Iterator[Game]:
    """Yields, without end, positions of games of n players that an afterstate head corrects."""
    while True:
        kept = play_games(agent, GAMES, Rules(num_players=n, max_turns=MOST_TURNS), rng, kept=KEPT)
        for row in kept.rows[kept.rows["status"] == PLAYING]:
            game = Game.taking(np.array([row]))
            if agent.log_chances(game.observation(game.player), game.mask()).max() < np.log(SETTLED):
                yield game


def label(agent: PPO, search: Agent, n: int, seed: list[int]) -> dict[str, np.ndarray]:
    """Returns a part of the labels: by position, by legal move, and by entry of its afterstate that is not 0."""
    rng = np.random.default_rng(seed)
    found: dict[str, list[np.ndarray]] = {name: [] for name in ("last", "moves", "sizes", "alone", "prior", "visits", "value")}
    entries: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for _, game in zip(range(PART), unsettled(agent, n, rng), strict=False):
        seen, mask, legal = game.observation(game.player), game.mask(), game.legal_actions()
        said = search.explain(seen, mask, np.random.default_rng(rng.integers(2**62)), game)["moves"]
        changes = game.afterstates()
        rows, columns = np.nonzero(changes)
        entries.append((np.bincount(rows, minlength=len(legal)), columns.astype(np.int16), changes[rows, columns]))
        alone, prior = agent.log_chances(seen, mask)[0, legal], agent.log_chances_in(game.states)[0, legal]
        visits = np.array([move["visits"] for move in said], np.float32)
        value = np.array([move["value"] or 0.0 for move in said], np.float32)
        told = last_layer(agent.parts, seen)[None], legal, [len(legal)], alone, prior, visits, value
        for name, one in zip(found, told, strict=True):
            found[name].append(np.asarray(one))
    counts, columns, amounts = map(np.concatenate, zip(*entries, strict=True))
    arrays = {name: np.concatenate(one) for name, one in found.items()}
    return arrays | {"counts": counts, "columns": columns, "amounts": amounts}


def last_layer(network: Parts, seen: np.ndarray) -> np.ndarray:
    """Returns the last hidden layer of the policy."""
    x = network.features.of(seen)
    for weight, bias in network.trunk:
        x = np.maximum(x @ weight + bias, 0)
    return x


def all_labels(options: Options, console: Console) -> dict[str, np.ndarray]:
    """Returns all labels; makes and keeps the parts that are not there yet.

    Raises:
        ValueError: a part is of another player or of other options.
    """
    agent, spec = PPO.load(options.player), f"mcts:{options.simulations}:ppo+rollouts:{options.player}"
    search, parts_of, found = load(spec), max(1, options.positions // PART), []
    with Progress(console, "searching", "positions", PART * parts_of * len(options.players)) as progress:
        for n in options.players:
            for k in range(parts_of):
                path = options.labels / f"labels-{n}-{k:05}.npz"
                key = json.dumps([file_hash(options.player), options.simulations, n, k, options.seed])
                if not path.exists():
                    with atomic_write(path) as beside, beside.open("wb") as file:
                        np.savez(file, key=key, **label(agent, search, n, [options.seed, n, k]))
                with np.load(path) as file:
                    if str(file["key"]) != key:
                        raise ValueError(f"{path} has labels of another player or of other options: choose another --labels")
                    found.append({name: file[name] for name in file.files if name != "key"})
                progress.advance(PART)
    return {name: np.concatenate([one[name] for one in found]) for name in found[0]}


# ------------------------------------------------------------------------------------------------------------- learning


class Positions:
    """Labels as tensors, with the advantage of each move: how much more than the policy it wins, little visited ones less."""

    def __init__(self, labels: dict[str, np.ndarray]) -> None:
        sizes, self.n = labels["sizes"], len(labels["sizes"])
        owner = np.repeat(np.arange(self.n), sizes)
        visits, prior = labels["visits"].astype(np.float64), np.exp(labels["prior"].astype(np.float64))
        mean = np.bincount(owner, visits * labels["value"], self.n) / np.maximum(np.bincount(owner, visits, self.n), 1)
        above = np.where(visits > 0, labels["value"] - mean[owner], 0.0)
        self.raw = self._centred(above, prior, owner)
        self.advantage = self._centred(above * visits / (visits + 4), prior, owner)
        self.begins, self.sizes = (torch.from_numpy(one) for one in (np.cumsum(sizes) - sizes, sizes.astype(np.int64)))
        self.ends = torch.from_numpy(np.concatenate([[0], np.cumsum(labels["counts"])]))
        self.last, self.alone, self.prior, self.amounts = (
            torch.from_numpy(labels[name]).float() for name in ("last", "alone", "prior", "amounts")
        )
        self.moves, self.columns = (torch.from_numpy(labels[name].astype(np.int64)) for name in ("moves", "columns"))

    def _centred(self, above: np.ndarray, prior: np.ndarray, owner: np.ndarray) -> Tensor:
        return torch.from_numpy(above - np.bincount(owner, prior * above, self.n)[owner]).float()

    def of(self, which: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the numbers of all moves of some positions, and for each of them the place of its position in `which`."""
        return spread(self.begins[which], self.sizes[which])

    def corrections(self, head: AfterstateLayers, which: Tensor) -> Tensor:
        """Returns what a head adds to the logits of all moves of some positions."""
        moves, owner = self.of(which)
        entries, of_move = spread(self.ends[moves], self.ends[moves + 1] - self.ends[moves])
        begins = torch.searchsorted(of_move, torch.arange(len(moves)))
        rows = embedding_bag(self.columns[entries], head.changes, begins, mode="sum", per_sample_weights=self.amounts[entries])
        return torch.relu(rows + head.moves[self.moves[moves]] + (self.last[which] @ head.shared)[owner]) @ head.out


def spread(begins: Tensor, sizes: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the numbers in ranges of these sizes, one after another, and the range of each."""
    owner = torch.repeat_interleave(torch.arange(len(sizes)), sizes)
    return torch.arange(len(owner)) - (torch.cumsum(sizes, 0) - sizes)[owner] + begins[owner], owner


def log_softmax(logits: Tensor, owner: Tensor, n: int) -> Tensor:
    """Returns the log-probabilities of the moves of each of n positions."""
    shifted = logits - torch.full((n,), -torch.inf).scatter_reduce(0, owner, logits.detach(), "amax")[owner]
    return shifted - torch.zeros(n).index_add(0, owner, shifted.exp()).log()[owner]


def learn(head: AfterstateLayers, data: Positions, options: Options, progress: Progress) -> None:
    """Trains the head on all positions but those held out, which are the last ones of a fixed order."""
    order = torch.randperm(data.n, generator=torch.Generator().manual_seed(options.seed))
    known, steps = order[: data.n - data.n // HELD_OUT], 0
    total = options.epochs * -(-len(known) // BATCH)
    optimizer = torch.optim.AdamW(head.parameters(), RATE, weight_decay=DECAY)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total, pct_start=0.1)
    for _ in range(options.epochs):
        for which in known[torch.randperm(len(known))].split(BATCH):
            moves, owner = data.of(which)
            logs = log_softmax(data.alone[moves] + data.corrections(head, which), owner, len(which))
            gain = data.advantage[moves] / options.temperature - (logs - data.prior[moves])
            optimizer.zero_grad()
            (-(logs.exp() * gain).sum() / len(which)).backward()
            optimizer.step()
            schedule.step()
            steps += 1
            progress.show(steps)
    with torch.no_grad():
        report(head, data, order[len(known) :], progress.console)


def report(head: AfterstateLayers, data: Positions, which: Tensor, console: Console) -> None:
    """Prints what the policy gains in positions that were held out, beside a policy that is only as much sharper."""
    moves, owner = data.of(which)
    logs = log_softmax(data.alone[moves] + data.corrections(head, which), owner, len(which))
    low, high = 0.1, 20.0
    for _ in range(40):
        power = (low * high) ** 0.5
        sharper = log_softmax(power * data.prior[moves], owner, len(which))
        low, high = (power, high) if -(sharper.exp() * sharper).sum() > -(logs.exp() * logs).sum() else (low, power)
    for name, one in (("with the head", logs), (f"only sharper (power {power:.2f})", sharper)):
        gain = torch.zeros(len(which)).index_add(0, owner, (one.exp() - data.prior[moves].exp()) * data.raw[moves])
        console.print(f"{name}: {100 * gain.mean():+.3f} ± {100 * gain.std() / len(which) ** 0.5:.3f} % of a win each decision")


def main() -> None:
    options, console = parse_options(Options), Console(emoji=False, markup=False)
    checked(vars(options), Options)
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    header, tensors = read_checkpoint(options.player)
    network = parts(tensors, options.player)
    data = Positions(all_labels(options, console))
    head = AfterstateLayers(len(network.policy[0][0]), network.head_size or options.hidden)
    if network.head_size:
        with torch.no_grad():
            head.load(tensors)
    with Progress(console, "learning", "steps") as progress:
        learn(head, data, options, progress)
    save_checkpoint(options.out, tensors | head.tensors(), header.get("training", {}), np.float16 if options.fp16 else np.float32)
    console.print(f"written: {options.out}")


if __name__ == "__main__":
    command(main)
