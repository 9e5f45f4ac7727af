"""A step of expert iteration (Anthony et al. 2017) and its control: a player learns from its own search, or only from itself.

The player plays games against itself. Some of its decisions are searched: the result of every move at the root is kept. From the
same positions two networks are then trained, which begin as copies of the player. The *expert* learns the player's policy,
tilted towards moves with better results: in proportion to p(a) exp(A(a) / t), where A(a) is how much more the move won than the
mean of the search, taken to be less where the move was followed rarely. The *control* learns the player's policy as it is, and
shows whether such a training loses anything by itself. Both keep the values. `scripts/gate.py` then compares all three.

Called again, the script continues with the positions that are not searched yet.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: the arrays are small, more threads only wait for each other

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import torch
from msgspec import Meta
from rich.console import Console

from euphoria_agents import load
from euphoria_agents.dataclass_arguments import command, option, parse_options, written_folder
from euphoria_agents.files import keep_to, whole_file
from euphoria_agents.network.checkpoint import read_checkpoint, save_checkpoint
from euphoria_agents.players.ppo import PPO, checkpoint_path
from euphoria_agents.progress import Progress
from euphoria_agents.registry import hash_of
from euphoria_agents.training.config import Count, Players, Positive, Seed, Threads
from euphoria_agents.training.csr import CSR, join_lists
from euphoria_agents.training.imitation import Decisions, Labels, Student, divergence, labels_by, network_of, record
from euphoria_agents.training.network import Network
from euphoria_agents.validation import checked
from euphoria_env import Batch, Rules

TABLES = 64  # games side by side
OF_A_ROUND = 400  # positions
SHARE = 0.02  # of the decisions that are searched
SETTLED = 0.98  # a move more probable than this leaves nothing to choose
RARE = 10.0  # visits with which half of a move's advantage is believed
TESTED = 0.1  # share of the positions that are not learned from


@dataclasses.dataclass
class Options:
    """Searches positions of a player's games, and trains two copies of it: one by the searches, one by its own policy."""

    player: str = option("", "the file of the player; the one that ships, if none is named")
    out: Path = option(Path("runs/expert"), "folder of the positions and of the players", type=written_folder)
    players: Annotated[list[Players], Meta(min_length=1)] = option([2, 3, 4, 5, 6], "numbers of players")
    positions: Count = option(100_000, "how many, with all numbers of players together")
    simulations: Count = option(500, "of each position")
    temperature: Positive = option(0.05, "of the tilt: an advantage of this much, in games won, makes a move e times as likely")
    learning_rate: Positive = option(1e-4, "of Adam in the first step; falls to 0 in a straight line")
    epochs: Count = option(4, "how often all positions are learned from")
    batch: Count = option(1024, "positions in a step of the optimizer")
    threads: Threads = option(os.cpu_count() or 1, "that search; any number gives the same players")
    seed: Seed = option(0, "equal seeds give equal players")


class Searched(NamedTuple):
    """Decisions and what their searches found.

    Attributes:
        decisions: searched ones.
        visits, values: float32, of all legal moves one after another: how often each was followed, and the mean result for the
            mover.
    """

    decisions: Decisions
    visits: np.ndarray
    values: np.ndarray


def search_round(path: Path, simulations: int, seed: int, players: int, number: int) -> Searched:
    """Plays and searches; the same for equal arguments.

    Args:
        path: the player.
        simulations: of each position.
        seed: of all rounds.
        players: in each game.
        number: of the round.
    """
    rng = np.random.default_rng([seed, players, number])
    player, searcher = PPO.load(path), load(f"mcts:{simulations}:ppo:{path}")
    batch = Batch(TABLES, Rules(num_players=players, max_turns=600), int(rng.integers(2**62)), threads=1)
    observations, masks, moves = [], [], []
    while len(observations) < OF_A_ROUND:
        chances = np.exp(player.log_chances(batch.observation, batch.mask)).max(1)
        for i in np.flatnonzero((chances < SETTLED) & (rng.random(TABLES) < SHARE)).tolist():
            game = batch.game(i).determinize(int(batch.player[i]), int(rng.integers(2**62)))
            observations.append(batch.observation[i].copy())
            masks.append(batch.mask[i].copy())
            moves += searcher.explain(observations[-1], masks[-1], rng, game)["moves"]
        batch.step(player.act_batch(batch.observation, batch.mask, rng))
    return Searched(
        record(np.array(observations), np.array(masks), player.row_begins),
        np.array([one["visits"] for one in moves], np.float32),
        np.array([one["value"] or 0.0 for one in moves], np.float32),
    )


def searched(options: Options, path: Path, console: Console) -> Searched:
    """All positions; those of finished rounds are read from their files."""
    rounds = -(-options.positions // (OF_A_ROUND * len(options.players)))
    files = {(n, k): options.out / f"searched-{n}-{k}.npz" for k in range(rounds) for n in options.players}
    missing = [task for task, file in files.items() if not file.exists()]

    def search(task: tuple[int, int]) -> None:
        found = search_round(path, options.simulations, options.seed, *task)
        with whole_file(files[task]) as beside, beside.open("wb") as written:
            np.savez_compressed(written, *found.decisions.rows, *found.decisions.moves, found.visits, found.values)

    pool = ThreadPoolExecutor(options.threads)
    try:
        with Progress(console, "searching", "rounds", len(files)) as bar:
            for done, _ in enumerate(pool.map(search, missing), len(files) - len(missing) + 1):
                bar.show(done)
    finally:
        pool.shutdown(cancel_futures=True)
    decisions, visits, values = zip(*map(read_round, files.values()), strict=True)
    rows, moves = map(join_lists, zip(*decisions, strict=True))
    return Searched(Decisions(rows, moves), np.concatenate(visits), np.concatenate(values))


def read_round(file: Path) -> Searched:
    """The positions of a finished round."""
    with np.load(file) as arrays:
        ends, row, move_ends, move, visits, values = arrays.values()
    return Searched(Decisions(CSR(ends, row), CSR(move_ends, move)), visits, values)


def tilted(own: Labels, data: Searched, temperature: float) -> Labels:
    """The policy tilted by the results of the search; see the beginning of this file."""
    moves = data.decisions.moves
    starts, sizes = moves.indptr[:-1], np.diff(moves.indptr)
    mean = np.add.reduceat(data.visits * data.values, starts) / np.add.reduceat(data.visits, starts)
    advantage = (data.values - np.repeat(mean, sizes)) * data.visits / (data.visits + RARE)
    weight = own.chances.numpy() * np.exp(advantage / temperature)
    return own._replace(chances=torch.from_numpy(weight / np.repeat(np.add.reduceat(weight, starts), sizes)).float())


def learn(player: Network, decisions: Decisions, labels: Labels, options: Options, console: Console) -> Network:
    """A copy of the player, trained on labels."""
    rng, count = np.random.default_rng(options.seed), len(labels.values)
    tested, learned = np.split(rng.permutation(count), [round(TESTED * count)])
    batches = max(1, len(learned) // options.batch)
    student = Student(player, options.learning_rate, options.epochs * batches)
    for _ in range(options.epochs):
        for which in np.array_split(rng.permutation(learned), batches):
            student.step(decisions, labels, which)
    found = student.graduate()
    before, after = (divergence(network, decisions, labels, tested) for network in (player, found))
    console.print(f"divergence from the labels before: {before:.5f}, after: {after:.5f}")
    return found


def main() -> None:
    options, console = parse_options(Options), Console(emoji=False, markup=False)
    checked(vars(options), Options)
    path = checkpoint_path(options.player).resolve()
    load(f"ppo:{path}")  # refuses what is no player
    keep_to(options.out, {"player": hash_of(f"ppo:{path}").hex(), "simulations": options.simulations, "seed": options.seed})
    data = searched(options, path, console)
    header, tensors = read_checkpoint(path)
    torch.set_num_threads(1)
    player = network_of(tensors, path)
    own = labels_by(player, data.decisions)
    for name, labels in {"control": own, "expert": tilted(own, data, options.temperature)}.items():
        student = learn(player, data.decisions, labels, options, console)
        training = header["training"] | {"expert_iteration": {"labels": name, "positions": len(own.values)}}
        console.print(f"written: {save_checkpoint(options.out / f'{name}.safetensors', tensors | student.tensors(), training)}")


if __name__ == "__main__":
    command(main)
