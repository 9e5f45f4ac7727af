"""Measures what the afterstates of a decision cost, with each number of players, in processor time of one thread.

python benchmarks/afterstates.py
"""

from __future__ import annotations

import argparse
import time
from statistics import median

import numpy as np

from euphoria_env import Batch, Rules

GAMES, DECISIONS, REPEATS = 1024, 150, 20


def main() -> None:
    """Prints a line for each number of players."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    rng = np.random.default_rng(parser.parse_args().seed)
    for players in range(2, 7):
        batch, times = Batch(GAMES, Rules(num_players=players), seed=int(rng.integers(2**62)), threads=1), list[float]()
        for _ in range(DECISIONS):
            batch.step(batch.sample(rng))
        for seed in range(REPEATS):
            started = time.process_time()
            begins, _ = batch.afterstates(seed)
            times.append(time.process_time() - started)
        cost, moves = median(times) * 1e6, int(begins[-1])
        print(f"{players} players: {cost / GAMES:.1f} us a decision, {cost / moves:.2f} us a move, {moves / GAMES:.1f} moves")


if __name__ == "__main__":
    main()
