"""The mean of the weights of several players, such as the last ones in the league of a run (Izmailov et al. 2018).

    python scripts/average.py --files runs/mine/league/{000960,000980,001000}.safetensors --out runs/mean.safetensors

The mean learns win probabilities of its own, as the finished player of a run does.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: the arrays are small, more threads only wait for each other

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
from msgspec import Meta
from rich.console import Console

from euphoria_agents.dataclass_arguments import command, option, parse_options
from euphoria_agents.network.checkpoint import parts, read_checkpoint, save_checkpoint
from euphoria_agents.own_files import PLAYER, READ
from euphoria_agents.training import config
from euphoria_agents.training.config import THREADS, Count0, PlayerCount, Seed, ThreadCount
from euphoria_agents.training.network import Network
from euphoria_agents.training.win_probs import learn_win_probs, new_model
from euphoria_agents.validation import checked


@dataclasses.dataclass
class Options:
    """Averages the weights of players with networks of one shape, and writes the mean as a player."""

    files: Annotated[list[Path], Meta(min_length=1)] = option([], "the players", files=READ, metavar="FILE")
    out: Path = option(Path("runs/mean.safetensors"), "file of the mean", files=PLAYER, metavar="FILE")
    win_probs_games: Count0 = option(2000, "games with each number of players to learn win probabilities from; 0: none")
    critic: Path | None = option(
        None, "a player whose win probabilities are trained further; else they begin untrained", files=READ
    )
    players: Annotated[list[PlayerCount], Meta(min_length=1)] = option(
        [2, 3, 4, 5, 6], "numbers of players in these games; one named twice gets twice as many"
    )
    fp16: bool = option(False, "write the mean in 16 bits, which takes half the space")
    threads: ThreadCount = option(THREADS, "that play; any number gives the same player")
    seed: Seed = option(0, "equal seeds give equal players")


def mean(files: Sequence[Path]) -> dict[str, np.ndarray]:
    """The mean of policies and values, as the tensors of a checkpoint.

    Raises:
        ValueError: a file cannot be read, or its network has another shape than that of the first file.
    """
    first, several = parts(read_checkpoint(files[0])[1], files[0]), []
    network = Network(first.features, [len(bias) for _, bias in first.trunk], first.head_size)
    for path in files:
        network.load(read_checkpoint(path)[1], path)
        several.append(network.tensors())
    return network.first.features.tensors() | {
        name: np.mean([tensors[name] for tensors in several], axis=0) for name in several[0] if not name.startswith("features.")
    }


def main() -> None:
    options, console = parse_options(Options), Console(emoji=False, markup=False)
    checked(vars(options), Options)
    torch.set_num_threads(1)
    tensors, training = mean(options.files), read_checkpoint(options.files[-1])[0].get("training", {})
    if options.critic is not None:
        new_model(parts(tensors, options.files[0]).features, options.critic)  # refuses a wrong critic before anything is written
    training = {name: value for name, value in training.items() if name != "outlook"} | {"averaged": [*map(str, options.files)]}
    kind = np.float16 if options.fp16 else np.float32
    save_checkpoint(options.out, tensors, training, kind)
    if options.win_probs_games:
        same = {name: getattr(options, name) for name in ("win_probs_games", "players", "critic", "threads", "seed")}
        learn_win_probs(config.Options(**same), options.out, console, kind)
    console.print(f"written: {options.out}")


if __name__ == "__main__":
    command(main)
