"""Policy distillation (Rusu et al. 2016): a network learns policies and values of several, each for some numbers of players.

    python scripts/distill.py --teachers 2=duel.safetensors 3,4,5,6=table.safetensors --out runs/both.safetensors

Teachers, student and other agents play games against each other, and the student learns what the teacher of this number of
players would do in every decision, whoever makes it. The student begins as a copy of the teacher for the most players, and keeps
its win probabilities unless it learns its own (`--win-probs-games`). All teachers must have networks of one shape.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: the arrays are small, more threads only wait for each other

import dataclasses
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import torch
from rich.console import Console

from euphoria_agents import load
from euphoria_agents.dataclass_arguments import command, option, parse_options, written
from euphoria_agents.network.checkpoint import read_checkpoint, save_checkpoint
from euphoria_agents.players.ppo import PPO
from euphoria_agents.progress import Progress
from euphoria_agents.training import config
from euphoria_agents.training.config import Count, Count0, Positive, Seed
from euphoria_agents.training.csr import join_lists
from euphoria_agents.training.imitation import Decisions, Labels, Student, divergence, labels_by, network_of, record
from euphoria_agents.training.network import Network
from euphoria_agents.training.win_probs import learn_win_probs
from euphoria_agents.validation import checked
from euphoria_env import Batch, Rules
from euphoria_env.envs.asking import BatchGames, Generators, Player, play_agents

DECISIONS = 2  # of every game, which make a step of the optimizer together
RENEWED = 50  # steps of the optimizer after which the student plays as it then is


@dataclasses.dataclass
class Options:
    """Trains one network to play like several, each of which is a teacher for some numbers of players."""

    teachers: list[str] = option([], "PLAYERS=FILE, such as 2=a.safetensors 3,4,5,6=b.safetensors", metavar="PLAYERS=FILE")
    others: list[str] = option(["weights"], "agents that play besides teachers and student")
    out: Path = option(Path("runs/distilled.safetensors"), "file of the student", type=written, metavar="FILE")
    steps: Count = option(2000, "of the optimizer")
    games: Count = option(384, "played side by side, with each number of players")
    learning_rate: Positive = option(3e-4, "of Adam in the first step; falls to 0 in a straight line")
    win_probs_games: Count0 = option(0, "games with each number of players from which it learns its own win probabilities")
    half: bool = option(False, "write the student in 16 bits")
    seed: Seed = option(0, "equal seeds give equal students")


def read_teachers(texts: Sequence[str]) -> dict[int, Path]:
    """The file of the teacher for each number of players.

    Raises:
        ValueError: there is none, one is not of the form PLAYERS=FILE, or two are of the same number of players.
    """
    found: dict[int, Path] = {}
    for text in texts:
        numbers, equals, path = text.partition("=")
        if not equals or not path or not all(one in "23456" for one in numbers.split(",")):
            raise ValueError(f"a teacher is PLAYERS=FILE, as in 2=FILE or 3,4,5,6=FILE, not {text!r}")
        for n in map(int, numbers.split(",")):
            if found.setdefault(n, Path(path)) != Path(path):
                raise ValueError(f"there are two teachers for {n} players: {found[n]} and {path}")
    if not found:
        raise ValueError("name the --teachers")
    return found


class Tables(BatchGames):
    """Games whose seats are taken by agents drawn at random; others follow when they end. See `asking.Games`.

    Args:
        agents: who plays; the last one is the student, which may be replaced.
        players, games, rng: how many, and what all chance comes from.
    """

    def __init__(self, agents: list[Player], players: int, games: int, rng: np.random.Generator) -> None:
        super().__init__(games)
        self.agents, self.rng = agents, rng
        self.batch = Batch(games, Rules(num_players=players, max_turns=600), int(rng.integers(2**62)), threads=1)
        self._seated = rng.integers(len(agents), size=(games, players))

    def asked(self) -> list[tuple[Player, np.ndarray]]:
        """See `asking.Games.asked`."""
        deciding = self._seated[np.arange(self.batch.n), self.batch.player]
        return [(agent, (deciding == k).nonzero()[0]) for k, agent in enumerate(self.agents)]

    def advance(self) -> None:
        """Plays the moves."""
        self.batch.step(self.moves)
        ended = (self.batch.terminated | self.batch.truncated).nonzero()[0]
        self._seated[ended] = self.rng.integers(len(self.agents), size=(len(ended), self._seated.shape[1]))


def play(tables: dict[int, Tables], begins: np.ndarray, generators: Generators) -> dict[int, Decisions]:
    """Some decisions of every game, by number of players."""
    played: dict[int, list[Decisions]] = {n: [] for n in tables}
    for _ in range(DECISIONS):
        for n, table in tables.items():
            played[n].append(record(table.batch.observation, table.batch.mask, begins))
        play_agents([*tables.values()], generators)
    return {n: join(decisions) for n, decisions in played.items()}


def join(several: Iterable[Decisions]) -> Decisions:
    """The decisions of several, one after another."""
    return Decisions(*map(join_lists, zip(*several, strict=True)))


def distill(teachers: dict[int, Network], tables: dict[int, Tables], options: Options, console: Console) -> Network:
    """A copy of the last teacher, which learns to play like that of each number of players."""
    rng, last = np.random.default_rng(options.seed), teachers[max(teachers)]
    student, gaps = Student(last, options.learning_rate, options.steps), dict.fromkeys(teachers, 0.0)
    with Progress(console, "distilling", "steps", options.steps) as bar:
        for step in range(options.steps):
            if renewed := step % RENEWED == 0:
                playing, generators = PPO.of(student.network.tensors()), Generators(rng)
                for table in tables.values():
                    table.agents[-1] = playing
            decisions = play(tables, last.first.begins, generators)
            labels = {n: labels_by(teachers[n], some) for n, some in decisions.items()}
            if renewed:
                for n, label in labels.items():
                    gaps[n] = divergence(student.network, decisions[n], label, np.arange(len(label.values)))
            together = Labels(*map(torch.cat, zip(*labels.values(), strict=True)))
            student.step(join(decisions.values()), together, rng.permutation(len(together.values)))
            bar.show(step + 1, "divergence " + ", ".join(f"{gap:.4f} with {n}" for n, gap in gaps.items()) + " players")
    return student.graduate()


def main() -> None:
    options, console = parse_options(Options), Console(emoji=False, markup=False)
    checked(vars(options), Options)
    files = read_teachers(options.teachers)
    torch.set_num_threads(1)
    read = {path: read_checkpoint(path) for path in files.values()}
    last = files[max(files)]
    header, tensors = read[last]
    for path, (_, other) in read.items():
        network_of(tensors, last).load(other, path)  # refuses networks of another shape
    networks = {path: network_of(tensors, path) for path, (_, tensors) in read.items()}
    rng, others = np.random.default_rng([options.seed, 1]), [load(spec) for spec in options.others]
    tables = {n: Tables([*others, PPO.load(path), PPO.load(last)], n, options.games, rng) for n, path in files.items()}
    student = distill({n: networks[path] for n, path in files.items()}, tables, options, console)
    training = header["training"] | {"distilled": {"teachers": options.teachers, "steps": options.steps}}
    kind = np.float16 if options.half else np.float32
    save_checkpoint(options.out, tensors | student.tensors(), training, kind)
    if options.win_probs_games:
        asked = config.Options(
            win_probs_games=options.win_probs_games, players=sorted(files), half=options.half, seed=options.seed
        )
        learn_win_probs(asked, options.out, console)
    console.print(f"written: {options.out}")


if __name__ == "__main__":
    command(main)
