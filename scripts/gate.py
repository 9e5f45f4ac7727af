"""Tests whether an agent may replace another one: a sequential probability ratio test (Wald 1945) on paired deals.

Both agents play the same deals from every seat; in each game one opponent of a pool has all the other seats. One observation is
the share of a deal's games that the candidate wins more, averaged over the pool. The test compares "the candidate gains --gain"
with "it gains nothing", by the normal distribution with the observed variance, and stops at Wald's bounds. Each opponent has a
veto, a test of the same kind: the candidate is refused as soon as it loses --loss against one opponent rather than nothing, and
accepted only when it is decided for each that it does not. The estimates at the end are too large on average, as the test stops
when they look so."""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: the arrays are small, more threads only wait for each other

import dataclasses
import itertools
import math
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from euphoria_agents.commands.match_output import warm_up
from euphoria_agents.dataclass_arguments import command, option, parse_options, rules_options
from euphoria_agents.matches.match import Z_95, MatchResult
from euphoria_agents.matches.players import seed_for
from euphoria_agents.matches.processes import in_processes
from euphoria_agents.matches.work import (
    Journal,
    WorkUnit,
    check_counts,
    choose_seed,
    keep_seed,
    play_units,
    player,
    players_ended,
    seeds_of_a_unit,
    sources,
)
from euphoria_agents.own_files import MATCHES
from euphoria_env import Rules

LEAST = 48  # deals, before which the variance is not trusted
AT_ONCE = 16  # deals, at least, before the state of the test is printed
ACCEPTED, REFUSED, UNDECIDED = "accepted", "refused", "undecided"
BIASED = "on average these differences are too large, since the test stops when they look so: measure them on other deals"


@dataclasses.dataclass
class Options:
    """Tests whether an agent may replace another one; exits with 0 only if it is accepted."""

    agent: str = option("ppo", "the candidate, as for euphoria_agents.load")
    instead_of: str = option("greedy", "the agent that it is to replace")
    against: list[str] = option(["greedy", "weights"], "the pool; the agent that is to be replaced may be one of it")
    players: list[int] = option([2, 4], "numbers of players")
    gain: float = option(0.015, "share of the games that a good candidate wins more")
    loss: float = option(0.03, "share of the games that it must not lose more against any opponent")
    error: float = option(0.05, "how often either verdict may be wrong")
    deals: int = option(4000, "the number of deals after which it is undecided")
    seed: int | None = option(
        None, "equal seeds give equal tests, if no agent looks at the clock or searches in threads; by default 128 random bits"
    )
    processes: int = option(os.cpu_count() or 1, "the number of games at once; any number gives the same verdict")
    out: Path | None = option(None, "folder for the games; the same command continues where it stopped", files=MATCHES)
    game: dict[str, Any] = rules_options()


def log_likelihood_ratio(observed: np.ndarray, null: float, alternative: float) -> float:
    """Returns the log-likelihood ratio of two means, by the normal distribution; 0 for too few observations."""
    if len(observed) < LEAST:
        return 0.0
    variance = max(float(observed.var()), 1 / len(observed))  # few equal deals do not show that deals are equal
    return float((alternative - null) * (observed.mean() - (null + alternative) / 2) * len(observed) / variance)


class Gate:
    """The test, deal by deal.

    Args:
        pool: the opponents.
        gain, loss: see `Options`.
        error: of either kind.

    Attributes:
        observed: (deals, opponents), the share of a deal's games that the candidate won more.
    """

    def __init__(self, pool: list[str], gain: float, loss: float, error: float) -> None:
        self.pool, self.gain, self.loss = pool, gain, loss
        self.bound = math.log((1 - error) / error)
        self.observed = np.zeros((0, len(pool)))

    def add(self, deals: np.ndarray) -> str:
        """Adds the observations of some deals, (deals, opponents), and returns the verdict."""
        self.observed = np.concatenate([self.observed, deals])
        gained, lost = self.ratio, max(self.veto(k) for k in range(len(self.pool)))
        if max(-gained, lost) >= self.bound:
            return REFUSED
        return ACCEPTED if min(gained, -lost) >= self.bound else UNDECIDED

    @property
    def ratio(self) -> float:
        """The log-likelihood ratio of the gain against none, over the whole pool."""
        return log_likelihood_ratio(self.observed.mean(1), 0.0, self.gain)

    def veto(self, opponent: int) -> float:
        """The log-likelihood ratio of the loss against none, against one opponent."""
        return log_likelihood_ratio(self.observed[:, opponent], 0.0, -self.loss)

    def __str__(self) -> str:
        def part(name: str, values: np.ndarray, ratio: float) -> str:
            error = Z_95 * values.std() / max(1, len(values)) ** 0.5
            return f"{name} {values.mean() if len(values) else 0.0:+.1%} ±{error:.1%} ({ratio:+.2f})"

        pool = part("all", self.observed.mean(1), self.ratio)
        each = [part(name, self.observed[:, k], self.veto(k)) for k, name in enumerate(self.pool)]
        return f"{len(self.observed)} deals, bounds ±{self.bound:.2f}: {pool}; loss against {', '.join(each)}"


def won_by_deal(result: MatchResult, players: int) -> np.ndarray:
    """Returns the share of the games of each deal that the first agent won."""
    return np.array([game.winner == 0 for game in result.played]).reshape(-1, players).mean(1)


def rounds(options: Options, size: int) -> Iterator[dict[tuple[str, str, int], WorkUnit]]:
    """Yields the chunks of each round of `size` deals, by agent, opponent and number of players; no agent meets itself."""
    rules = [Rules(num_players=n, **options.game) for n in dict.fromkeys(options.players)]
    pool, both = dict.fromkeys(options.against), (options.agent, options.instead_of)
    seed = seed_for(map(player, (*both, *pool)), options.seed)
    for number in itertools.count():
        yield {
            (agent, opponent, one.num_players): WorkUnit(lineup, number, seed, size, one, sources(lineup))
            for agent, opponent, one in itertools.product(both, pool, rules)
            if agent != opponent
            for lineup in [(agent, *[opponent] * (one.num_players - 1))]
        }


def gained(options: Options, chunks: dict[tuple[str, str, int], WorkUnit], played: dict[WorkUnit, MatchResult]) -> np.ndarray:
    """Returns the share that the candidate won more in each deal, (deals, opponents): the mean over the numbers of players."""

    def won(agent: str, opponent: str, n: int) -> np.ndarray | float:
        found = chunks.get((agent, opponent, n))
        return won_by_deal(played[found], n) if found else 1 / n  # what one wins among equals

    def more(opponent: str) -> np.ndarray:
        pairs = [won(options.agent, opponent, n) - won(options.instead_of, opponent, n) for n in dict.fromkeys(options.players)]
        return np.mean(pairs, axis=0)

    return np.stack([more(opponent) for opponent in dict.fromkeys(options.against)], 1)


def check(options: Options) -> None:
    """Refuses options that leave nothing to test.

    Raises:
        ValueError: names them.
    """
    check_counts(deals=options.deals, seed=options.seed or 0, processes=options.processes)
    if options.agent == options.instead_of:
        raise ValueError(f"--agent and --instead-of are both {options.agent!r}: there is nothing to compare")
    if options.agent in options.against:
        raise ValueError(f"--against must not have the candidate, {options.agent!r}")
    for name, high in (("gain", 1.0), ("loss", 1.0), ("error", 0.5)):
        if not 0 < getattr(options, name) < high:
            raise ValueError(f"--{name} must be between 0 and {high:g}, not {getattr(options, name):g}")


@players_ended()
def decide(options: Options, console: Console) -> str:
    """Plays until there is a verdict and returns it; the number of processes does not change it."""
    if options.seed is None:
        options.seed = choose_seed(None, options.out)
        keep_seed(options.out, options.seed)
    console.print(f"--seed {options.seed}", soft_wrap=True, highlight=False)
    journal = Journal(options.out / "chunks.jsonl" if options.out else None)
    gate = Gate(list(dict.fromkeys(options.against)), options.gain, options.loss, options.error)
    specs = (options.agent, options.instead_of, *options.against)
    warm_up({spec: Rules(num_players=options.players[0], **options.game) for spec in specs})
    size = seeds_of_a_unit(specs)
    verdict, coming, run = UNDECIDED, rounds(options, size), partial(in_processes, processes=options.processes)
    while verdict == UNDECIDED and len(gate.observed) < options.deals:
        some = list(itertools.islice(coming, max(options.processes, AT_ONCE // size)))
        played = play_units([chunk for chunks in some for chunk in chunks.values()], journal, run)
        for chunks in some:
            if verdict == UNDECIDED and len(gate.observed) < options.deals:
                verdict = gate.add(gained(options, chunks, played))
        console.print(str(gate), soft_wrap=True, highlight=False)
    if verdict != UNDECIDED:
        console.print(BIASED, soft_wrap=True, highlight=False)
    console.print(f"{options.agent} instead of {options.instead_of}: {verdict}", soft_wrap=True, highlight=False)
    return verdict


def main() -> None:
    options = parse_options(Options)
    check(options)
    if decide(options, Console(emoji=False, markup=False)) != ACCEPTED:
        sys.exit(1)


if __name__ == "__main__":
    command(main)
