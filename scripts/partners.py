"""Trains the eight frozen players of `partners-v1`, writes their files, and prints the table `PARTNERS` of the tasks.

    python scripts/partners.py --out runs/partners

The script does not repeat finished trainings. Each file lists the commands that made it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import train_single_file  # beside this script

from euphoria_agents.child_process import child_environment
from euphoria_agents.dataclass_arguments import command, option, parse_options, written_folder
from euphoria_agents.network.checkpoint import Features, read_checkpoint, save_checkpoint
from euphoria_agents.players.ppo import SHIPPED

ROOT = Path(__file__).resolve().parent.parent
Tensors = dict[str, np.ndarray]


@dataclasses.dataclass
class Options:
    """Trains the frozen players of partners-v1, one after the other, and writes their files."""

    out: Path = option(Path("runs/partners"), "folder of the trainings; finished ones are not done again", type=written_folder)
    files: Path = option(SHIPPED.parent, "folder of the files", type=written_folder)


def checkpoint(path: Path) -> Tensors:
    """The tensors of a player that our trainer made."""
    return read_checkpoint(path)[1]


def single_file(path: Path) -> Tensors:
    """The tensors of a player of `scripts/train_single_file.py`.

    Its steps are 0 or 1, those of a checkpoint -1 or 1: that changes weights and bias.
    """
    network = train_single_file.Player(path).network
    entries, scale, stepped, thresholds = (
        one.numpy() for one in (network.entries, network.scale, network.stepped, network.thresholds)
    )
    layers = {"trunk.0": network.trunk[0], "trunk.1": network.trunk[2], "policy.0": network.policy, "value.0": network.value}
    tensors = {f"{part}.{name}": one.detach().numpy() for part, layer in layers.items() for name, one in layer.named_parameters()}
    steps = tensors["trunk.0.weight"][:, len(entries) :]
    steps /= 2
    tensors["trunk.0.bias"] = tensors["trunk.0.bias"] + steps.sum(1)
    source, offset = np.concatenate([entries, stepped]), np.concatenate([np.zeros(len(entries)), thresholds - 0.5])
    order = np.argsort(source, kind="stable")
    scales = np.concatenate([scale, np.full(len(stepped), 2.0)])
    tensors["trunk.0.weight"] = tensors["trunk.0.weight"][:, order]
    return tensors | Features(source[order], offset[order], scales[order]).tensors()


class Partner(NamedTuple):
    """The training of a player.

    Attributes:
        about: the difference from the others, for people.
        commands: the commands, called in turn, without `python`; `{folder}` stands for the folder of the training.
        reward, gamma: the reward and the discount that its value is of.
        file: the file that the last command leaves in the folder.
        tensors: reads that file.
    """

    about: str
    commands: tuple[str, ...]
    reward: str = "stars"
    gamma: float = 0.995
    file: str = "ppo.safetensors"
    tensors: Callable[[Path], Tensors] = checkpoint


def trained(options: str, folder: str = "{folder}") -> tuple[str, ...]:
    """The command of our trainer."""
    fixed = "--threads 1 --rating-games 0 --win-probs-games 0 --snapshot 10"
    return (f"-m euphoria_agents train {fixed} --run {folder} {options}",)


PARTNERS = {
    "stars": Partner(
        "our trainer, rewarded for stars, with all numbers of players",
        trained("--decisions 8000000 --seed 31 --learning-rate 0.0012 --trunk 192 96"),
    ),
    "win": Partner(
        "our trainer, first rewarded for stars, then for nothing but winning, against `greedy:3` too",
        (*trained("--decisions 4000000 --seed 32", folder="{folder}/first"),
         *trained("--decisions 6000000 --seed 32 --start {folder}/first/ppo.safetensors --reward win --gamma 0.999 "
                  "--gae-lambda 0.9 --entropy 0.003 --learning-rate 6e-4 --baselines weights greedy:3 --newest 0.3 --older 0.3")),
        "win", 0.999,
    ),
    "rank": Partner(
        "our trainer, rewarded for its rank, three times the entropy, layers apart for policy and value",
        trained("--decisions 6000000 --seed 33 --reward rank --entropy 0.018 --trunk 128 --branch 96"),
        "rank",
    ),
    "options": Partner(
        "our trainer, four of five games with trading, drafts and other options",
        trained("--decisions 5000000 --seed 34 --mixed 0.8 --trunk 128 96"),
    ),
    "features": Partner(
        "our trainer, knows cards by their features, only against itself",
        trained("--decisions 3000000 --seed 35 --cards features --self-play 1 --trunk 128 64"),
    ),
    "hunter": Partner(
        "our trainer, only against `weights`",
        trained("--decisions 4000000 --seed 36 --baselines weights --self-play 0 --newest 0 --older 0 --trunk 96 64"),
    ),
    "single-file": Partner(
        "PPO in one file, only with four players",
        ("scripts/train_single_file.py --out {folder}/player.npz --decisions 2000000 --seed 37 --players 4 --width 192 "
         "--rating-games 0",),
        file="player.npz", tensors=single_file,
    ),
    "clone": Partner(
        "no reinforcement learning: imitates `greedy`, from games of four",
        ("-m euphoria_agents collect --agents greedy --players 4 --games 800 --seed 38 --processes 1 --out {folder}/data",
         "scripts/offline.py --data {folder}/data --method bc --seed 38 --epochs 4 --width 192 --out {folder}/ppo.safetensors"),
        "win", 1.0,
    ),
}  # fmt: skip


def make(name: str, partner: Partner, options: Options) -> str:
    """Trains a player, unless that is done, and writes its file; the beginning of the hash."""
    folder, done = options.out / name, options.out / f"{name}.done"
    if not done.exists():
        for one in partner.commands:
            words = [sys.executable, *shlex.split(one.format(folder=folder))]
            subprocess.run(words, cwd=ROOT, env={**os.environ, **child_environment()}, check=True)
        done.touch()
    said = [f"python {one.format(folder=f'runs/partners/{name}')}" for one in partner.commands]
    about = {"name": name, "about": partner.about, "commands": said, "reward": partner.reward, "gamma": partner.gamma}
    file = save_checkpoint(
        options.files / f"partner-{name}.safetensors", partner.tensors(folder / partner.file), about, np.float16
    )
    return hashlib.sha256(file.read_bytes()).hexdigest()[:12]


def main() -> None:
    options = parse_options(Options)
    options.out.mkdir(parents=True, exist_ok=True)
    for name, partner in PARTNERS.items():
        print(f'    "{name}": "ppo:@{make(name, partner, options)}",', flush=True)


if __name__ == "__main__":
    command(main)
