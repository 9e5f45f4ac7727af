"""What the agents that search a tree have in common: a budget, and the memory for tree and simulations."""

from __future__ import annotations

import copy
import math
import os
import re
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from euphoria_agents.agent import Agent, Explanation, explanation
from euphoria_agents.players.search.inference import Network, no_network, with_own_workspace
from euphoria_agents.players.search.tree_search import SearchPlan, empty_tree, empty_workspace, most_visited, root_edges, search

if TYPE_CHECKING:
    from euphoria_env import Game

AT_A_TIME = 0.02  # seconds in compiled code, which heeds neither the clock nor an interrupt
MOST = 2**40  # simulations


class Budget(NamedTuple):
    """How much to search for a decision: so many simulations, or for so many seconds, in each of so many threads."""

    simulations: int
    seconds: float
    threads: int = 1

    def __str__(self) -> str:
        amount = str(self.simulations) if math.isinf(self.seconds) else f"{self.seconds:g}s"
        return amount if self.threads == 1 else f"{self.threads}x{amount}"


def read_budget(text: str) -> Budget:
    """A budget from a text such as "200" (simulations), "0.5s" (seconds) or "2x200" (in each of two threads).

    Raises:
        ValueError: it is none of them, or not positive, or of more threads than there are cores.
    """
    found = re.fullmatch(r"(?:([0-9]{1,9})x)?(?:([0-9]+)|([0-9]+(?:\.[0-9]*)?|\.[0-9]+)s)", text)
    threads, simulations, seconds = (
        (1, 0, 0.0) if found is None else (int(found[1] or 1), int(found[2] or 0), float(found[3] or 0))
    )
    if threads < 1 or not (0 < simulations <= MOST or 0 < seconds < 1e6):
        shape = "a number of simulations such as 200 or a time such as 0.5s"
        raise ValueError(f"a budget is {shape}, not {text!r}; 2x200 is the same in each of two threads")
    cores = os.cpu_count() or 1
    if threads > cores:
        raise ValueError(f"the budget {text!r} is for {threads} threads, but this machine has no more than {cores} cores")
    return Budget(simulations or MOST, seconds or math.inf, threads)


class Searcher(Agent):
    """Plays the move that its search followed most often; a single legal move is played at once.

    Each further thread has a searcher of its own, which grows another tree from other deals; what they find at the root is summed
    up, so that equal seeds give equal moves however fast the threads are.

    Args:
        plan: how to search.
        budget: how much.
        net: the network, where the plan asks for one.
    """

    needs_game = True

    def __init__(self, plan: SearchPlan, budget: Budget, net: Network | None = None) -> None:
        self.budget = budget
        self._plan = plan
        self._net = no_network() if net is None else net
        self._tree, self._workspace = empty_tree(), empty_workspace()
        self._pace = 0.0  # simulations a second, as of late
        self._stopped = False  # from outside, by the thread that has been interrupted
        self._others = [
            Searcher(plan, budget._replace(threads=1), with_own_workspace(self._net)) for _ in range(1, budget.threads)
        ]

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Game | None = None) -> int:
        """Chooses a move; see `Agent.act`.

        Raises:
            ValueError: no game is given, or it has ended.
        """
        game = _open(game)
        moves = game.legal_actions()
        if len(moves) == 1:
            return int(moves[0])
        self._search_from(game, rng)
        return most_visited(self._root())

    def explain(
        self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Game | None = None
    ) -> Explanation:
        """Says what the search found, of a single legal move too; see `Agent.explain`.

        The first simulation judges the position itself and follows no move, so that the visits are one less than the simulations
        of each thread.
        The value of a move is the mean of what its mover got, or None if it was never followed; the chances of the seats are the
        mean of all simulations.
        """
        game = _open(game)
        self._search_from(game, copy.deepcopy(rng))
        edges, trees = self._root(), [self, *self._others]
        seats = np.sum([one._workspace.seats[: game.rules.num_players] for one in trees], axis=0)
        visits = edges["visits"]
        values = self._chances_of_moves(edges["value"] / np.maximum(visits, 1), len(seats))
        return explanation(
            edges["move"].astype(np.int64),
            priors=(edges["prior"] / edges["prior"].sum()).tolist(),
            visits=visits.tolist(),
            values=[value if followed else None for value, followed in zip(values.tolist(), visits, strict=True)],
            seats=self._chances_of_seats(seats / (len(trees) + visits.sum())).tolist(),
        )

    def _chances_of_moves(self, results: np.ndarray, players: int) -> np.ndarray:
        """The mover's chances to win, from the mean of what it got from each move; here they are that already."""
        return results

    def _chances_of_seats(self, results: np.ndarray) -> np.ndarray:
        """The chances of the seats, from the mean of what each got; here they only have to add up to 1."""
        return shares(results)

    def _root(self) -> np.ndarray:
        """The edges of the root, those of all threads together."""
        return merged([root_edges(one._tree) for one in (self, *self._others)])

    def _search_from(self, game: Game, rng: np.random.Generator) -> None:
        """Searches a position."""
        seed, trees = int(rng.integers(2**62)), [self, *self._others]
        for one in trees:
            one.budget, one._stopped = self.budget, False
            one._workspace.rows[1] = game.states[0]
        if not self._others:
            self._search(seed)
            return
        with ThreadPoolExecutor(len(self._others)) as pool:
            searches = [pool.submit(one._search, seed + k * MOST) for k, one in enumerate(self._others, 1)]
            try:
                self._search(seed)
                for search in searches:
                    search.result()
            finally:
                for one in trees:
                    one._stopped = True

    def _search(self, seed: int) -> None:
        """Searches until the budget is spent, at least one simulation; how many at a time changes nothing in the tree."""
        start, done, left = time.perf_counter(), 0, self.budget.seconds
        before = start
        while done == 0 or (done < self.budget.simulations and left > 0 and not self._stopped):
            until = min(self.budget.simulations, done + max(1, int(self._pace * min(AT_A_TIME, left))))
            search(self._tree, self._workspace, self._net, self._plan, seed, done, until)
            now = time.perf_counter()
            self._pace = (until - done) / (now - before)
            done, before, left = until, now, self.budget.seconds - (now - start)


def merged(roots: list[np.ndarray]) -> np.ndarray:
    """The edges of several roots as one: counts and values are sums, priors the mean."""
    rows = np.concatenate(roots)
    _, first, which = np.unique(rows["move"], return_index=True, return_inverse=True)
    found = rows[first]
    for name in ("prior", "value", "availability", "visits"):
        found[name] = np.bincount(which, rows[name])
    found["prior"] /= len(roots)
    return found


def _open(game: Game | None) -> Game:
    """The game, once it is one that can be searched."""
    if game is None or not len(game.legal_actions()):
        raise ValueError("a searching agent needs a game that has not ended")
    return game


def shares(chances: np.ndarray) -> np.ndarray:
    """Chances that were found one by one, made to add up to 1; equal ones if all are 0."""
    total = chances.sum()
    return chances / total if total > 0 else np.full(len(chances), 1 / len(chances))
