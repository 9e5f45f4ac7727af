"""The last layers of a trained player: how probable it is that each seat wins, learned from games that it plays against itself.

They are a network of their own beside policy and value, from what one player sees to a logit for each seat, counted from that
player on; their softmax over the seats that play adds up to 1. It is trained on who won (cross-entropy), when the policy is
finished: during training the learner meets others than itself, and the value that it learns counts what is won against those.
In a checkpoint these layers are called `outlook`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from torch import Tensor, nn

from euphoria_agents.network.checkpoint import parts, read_checkpoint, save_checkpoint, without_win_probs
from euphoria_agents.network.features import Features
from euphoria_agents.players.ppo import PPO
from euphoria_agents.progress import Progress
from euphoria_agents.training.config import Options
from euphoria_agents.training.network import FirstLayer, hidden_layers, layer_tensors, linear, load_layer, must_fit, relu_layers
from euphoria_agents.training.self_play import MOST_TURNS, Positions, play_round
from euphoria_env.board import MAX_PLAYERS
from euphoria_env.engine.features import NUM_FEATURES

WIDTHS = [256, 128]  # of the hidden layers
ROUND = 256  # games of each number of players
STEEPEST = 1.0  # gradients are cut to this norm
BATCH = 1024  # positions in a step
FROM_NOTHING, FURTHER = (2, 1e-3), (1, 3e-4)  # passes through the positions, and the rate of Adam, which goes down to 0
EPSILON = 0.02  # share of the moves that are drawn from all that are legal
MIXED = 0.06  # share of the games with other options, drawn at random


class WinProbs(nn.Module):
    """The network.

    Args:
        features: what goes in.
        widths: of its hidden layers; at least one.
    """

    def __init__(self, features: Features, widths: list[int]) -> None:
        super().__init__()
        self.widths = widths
        self.first = FirstLayer(features, widths[0])
        self.described = nn.Linear(MAX_PLAYERS * NUM_FEATURES, widths[0], bias=False)
        self.hidden = hidden_layers(widths[0], widths[1:])
        self.head = linear(widths[-1], MAX_PLAYERS, 0.01)

    def forward(self, seen: Positions, which: np.ndarray) -> Tensor:
        """The log-probabilities of the seats in some positions, (N, MAX_PLAYERS), the observer's first; -inf for absent ones."""
        first = self.first.of(seen.rows, which) + self.described(torch.from_numpy(seen.described[which]))
        logits = self.head(relu_layers(self.hidden, torch.relu(first)))
        absent = torch.arange(MAX_PLAYERS) >= torch.from_numpy(seen.players[which])[:, None]
        log_probs: Tensor = logits.masked_fill(absent, -torch.inf).log_softmax(1)
        return log_probs

    def tensors(self) -> dict[str, np.ndarray]:
        """The tensors of a checkpoint, as `network.checkpoint` has them."""
        found = self.first.tensors("outlook.0")
        found["outlook.0.weight"] = np.concatenate([found["outlook.0.weight"], self.described.weight.detach().numpy()], 1)
        for k, one in enumerate([*self.hidden, self.head], start=1):
            found |= layer_tensors(f"outlook.{k}", one)
        return found


def new_model(features: Features, critic: Path | None) -> WinProbs:
    """Returns a network that has not learned yet, or a copy of a critic's.

    Args:
        features: what goes in.
        critic: a player with win probabilities. If they do not depend on the features of the seats, the weights of these are 0.

    Raises:
        ValueError: the critic cannot be read, has no win probabilities, or has other features.
    """
    if critic is None:
        return WinProbs(features, WIDTHS)
    tensors = read_checkpoint(critic)[1]
    found = parts(tensors, critic)
    must_fit(features.tensors(), found.features.tensors(), critic)
    if not found.win_probs:
        raise ValueError(f"{critic}: a critic needs win probabilities, and this player has none")
    model = WinProbs(features, [len(bias) for _, bias in found.win_probs[:-1]])
    weight, inputs = tensors["outlook.0.weight"], len(features.source)
    with torch.no_grad():
        model.first.load(weight[:, :inputs], tensors["outlook.0.bias"])
        model.described.weight.zero_()
        model.described.weight[:, : weight.shape[1] - inputs] = torch.from_numpy(weight[:, inputs:])
        for k, one in enumerate([*model.hidden, model.head], start=1):
            load_layer(f"outlook.{k}", one, tensors)
    return model


def learn_win_probs(options: Options, player: Path, console: Console, kind: type[np.floating] = np.float32) -> Path:
    """Gives a player these layers, in place of those it may have; equal options give equal ones, whatever the number of threads.

    Args:
        options: `win_probs_games` of each number of players, `players`, `critic`, `threads` and `seed` count. The layers of the
            critic are trained further, in one pass and at a lower rate; without one, they begin untrained.
        player: its file, which is replaced.
        console: for a progress bar.
        kind: of the numbers that are written; float16 takes half the space.

    Raises:
        ValueError: the player or the critic cannot be read, or the player wins no game.
        OSError: the file cannot be written.
    """
    header, tensors = read_checkpoint(player)
    torch.manual_seed(options.seed)
    model = new_model(parts(tensors, player).features, options.critic)
    passes, rate = FROM_NOTHING if options.critic is None else FURTHER
    optimizer = torch.optim.Adam(model.parameters(), eps=1e-5, fused=True)
    players = sorted(options.players)
    rounds, games = -(-options.win_probs_games // ROUND), min(ROUND, options.win_probs_games)
    play = partial(play_round, PPO.of(tensors, player), players, games, MIXED, EPSILON)
    rng, losses = np.random.default_rng(options.seed), np.full(MAX_PLAYERS + 1, np.nan)
    with Progress(console, "win probabilities", "rounds of games", rounds) as bar:
        for number, positions in enumerate(_played(play, [(options.seed, k) for k in range(rounds)], options.threads)):
            for group in optimizer.param_groups:
                group["lr"] = rate * (1 - number / rounds)
            _learn(model, optimizer, positions, passes, rng, losses)
            bar.show(number + 1, "loss " + ", ".join(f"{losses[n]:.3f} with {n} players" for n in sorted(set(players))))
    found = {str(n): round(losses[n], 4) for n in players if not np.isnan(losses[n])}
    if not found:
        raise ValueError(f"{player}: none of its games was won within {MOST_TURNS} turns, so there is nothing to learn from")
    learned = {"games": rounds * games, "widths": model.widths, "losses": found}
    training = {**header.get("training", {}), "outlook": learned}
    return save_checkpoint(player, without_win_probs(tensors) | model.tensors(), training, kind)


def _played(play: Callable[[Any], Positions], seeds: list[tuple[int, int]], threads: int) -> Iterator[Positions]:
    """The positions of all rounds in their order; a few rounds are played ahead."""
    ahead: deque[Future[Positions]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for seed in seeds:
            ahead.append(pool.submit(play, seed))
            if len(ahead) > threads:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()


def _learn(
    model: WinProbs,
    optimizer: torch.optim.Optimizer,
    positions: Positions,
    passes: int,
    rng: np.random.Generator,
    losses: np.ndarray,
) -> None:
    """Goes through the positions of a round; `losses` keep a running mean of those of the first pass, by number of players."""
    if not len(positions.winners):
        return
    winners = torch.from_numpy(positions.winners)
    for number in range(passes):
        first = np.zeros(len(winners), np.float32)
        for which in np.array_split(rng.permutation(len(winners)), max(1, len(winners) // BATCH)):
            loss = -model(positions, which).gather(1, winners[which, None])[:, 0]
            first[which] = loss.detach().numpy()
            optimizer.zero_grad()
            loss.mean().backward()
            nn.utils.clip_grad_norm_(model.parameters(), STEEPEST)
            optimizer.step()
        if number == 0:  # of positions that are new to it
            for n in np.unique(positions.players):
                new = first[positions.players == n].mean()
                losses[n] = new if np.isnan(losses[n]) else losses[n] + (new - losses[n]) / 10
