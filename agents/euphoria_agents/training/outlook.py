"""The outlook of a trained player: how probable it is that each seat wins, learnt from games that it plays against itself.

It is a network of its own beside policy and value, from what one player sees to a logit for each seat, counted from that player
on; their softmax over the seats that play adds up to 1. It is trained on who won (cross-entropy), when the policy is finished:
during training the learner meets others than itself, and what it learns to expect is what is won against those.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from torch import nn

from euphoria_agents.matches.processes import in_processes
from euphoria_agents.network.checkpoint import Features, parts, read_checkpoint, save_checkpoint, without_outlook
from euphoria_agents.progress import Progress
from euphoria_agents.training.config import OutlookOptions, check_outlook
from euphoria_agents.training.policy import FirstLayer, hidden_layers, linear, linear_tensors, run
from euphoria_agents.training.self_play import MOST_TURNS, Positions, Round, play_round
from euphoria_agents.training.sparse_rows import Seen, look_up
from euphoria_env.board import MAX_PLAYERS

ROUND = 256  # games of each number of players
STEEPEST = 1.0  # gradients are cut to this norm


class Outlook(nn.Module):
    """The network.

    Args:
        features: what goes in.
        widths: of its hidden layers; at least one.
    """

    def __init__(self, features: Features, widths: list[int]) -> None:
        super().__init__()
        self.first = FirstLayer(features, widths[0])
        self.hidden = nn.ModuleList(hidden_layers(widths[0], widths[1:]))
        self.head = linear(widths[-1], MAX_PLAYERS, 0.01)

    def forward(self, seen: Seen, players: torch.Tensor) -> torch.Tensor:
        """The logarithms of everybody's chances, (N, MAX_PLAYERS), the observer's first; -inf for seats that nobody has."""
        logits = self.head(run(self.hidden, torch.relu(self.first(seen))))
        chances: torch.Tensor = logits.masked_fill(torch.arange(MAX_PLAYERS) >= players[:, None], -torch.inf).log_softmax(1)
        return chances

    def tensors(self) -> dict[str, np.ndarray]:
        """The tensors of a checkpoint, as `network.checkpoint` has them."""
        found = self.first.tensors("outlook.0")
        for k, one in enumerate([*self.hidden, self.head], start=1):
            found |= linear_tensors(f"outlook.{k}", one)
        return found


def fit(options: OutlookOptions, console: Console) -> Path:
    """Gives a player an outlook, in place of the one it may have; returns the file.

    The same options give the same outlook on one machine, whatever the number of processes.

    Raises:
        ValueError: an option is wrong, the player cannot be read, or wins no game.
        OSError: the file cannot be written.
    """
    check_outlook(options)
    header, tensors = read_checkpoint(options.player)
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    model = Outlook(parts(tensors, options.player).features, options.widths)
    optimizer = torch.optim.Adam(model.parameters(), eps=1e-5, fused=True)
    players = tuple(sorted(set(options.players)))
    rounds = [
        Round(options.player, players, ROUND, options.mixed, options.epsilon, options.seed, number)
        for number in range(-(-options.games // ROUND))
    ]
    rng, losses = np.random.default_rng(options.seed), np.full(MAX_PLAYERS + 1, np.nan)
    with Progress(console, "outlook", "rounds of games", len(rounds)) as bar:
        for number, positions in enumerate(_played(rounds, options.processes)):
            for group in optimizer.param_groups:
                group["lr"] = options.learning_rate * (1 - number / len(rounds))
            _learn(model, optimizer, positions, options, rng, losses)
            bar.show(number + 1, "loss " + ", ".join(f"{losses[n]:.3f} with {n} players" for n in players))
    found = {str(n): round(losses[n], 4) for n in players if not np.isnan(losses[n])}
    if not found:
        raise ValueError(
            f"{options.player}: none of its games was won within {MOST_TURNS} turns, so there is nothing to learn from"
        )
    training = {**header.get("training", {}), "outlook": options.facts() | {"losses": found}}
    return save_checkpoint(
        options.new, without_outlook(tensors) | model.tensors(), training, np.float16 if options.half else np.float32
    )


def _played(rounds: list[Round], processes: int) -> Iterator[Positions]:
    """The positions of all rounds in their order."""
    early: dict[int, Positions] = {}
    wanted = 0
    for one, positions in in_processes(play_round, rounds, processes):
        early[one.number] = positions
        while wanted in early:
            yield early.pop(wanted)
            wanted += 1


def _learn(
    model: Outlook,
    optimizer: torch.optim.Optimizer,
    positions: Positions,
    options: OutlookOptions,
    rng: np.random.Generator,
    losses: np.ndarray,
) -> None:
    """Goes through the positions of a round; `losses` keep a running mean of those of the first pass, by number of players."""
    if not len(positions.winners):
        return
    seen = look_up(positions.active_features, model.first.features)
    winners, players = torch.from_numpy(positions.winners), torch.from_numpy(positions.players)
    for epoch in range(options.epochs):
        first = np.zeros(len(winners), np.float32)
        for which in np.array_split(rng.permutation(len(winners)), max(1, len(winners) // options.batch)):
            chances = model(seen._replace(active_features=seen.active_features._replace(which=which)), players[which])
            loss = -chances.gather(1, winners[which, None])[:, 0]
            first[which] = loss.detach().numpy()
            optimizer.zero_grad()
            loss.mean().backward()
            nn.utils.clip_grad_norm_(model.parameters(), STEEPEST)
            optimizer.step()
        if epoch == 0:  # of positions that it has not learnt from
            for n in np.unique(positions.players):
                new = first[positions.players == n].mean()
                losses[n] = new if np.isnan(losses[n]) else losses[n] + (new - losses[n]) / 10
