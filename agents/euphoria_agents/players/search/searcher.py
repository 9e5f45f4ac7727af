"""The base class of the agents that search a tree, with their budget and the memory for tree and simulations."""

from __future__ import annotations

import copy
import math
import re
import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from euphoria_agents.agent import Agent, Explanation, explanation
from euphoria_agents.players.search.evaluators import SearchPlan
from euphoria_agents.players.search.inference import SearchNetwork, no_network
from euphoria_agents.players.search.tree import BEGUN, EDGE_COUNT, empty_tree, empty_workspace, most_visited, root_edges
from euphoria_agents.players.search.tree_search import search

if TYPE_CHECKING:
    from euphoria_env import Game

AT_A_TIME = 0.02  # seconds of a call of compiled code, which cannot look at the clock or be interrupted
MOST = 2**40  # the most simulations of a budget


class Budget(NamedTuple):
    """The budget of a decision: a number of simulations, or of seconds."""

    simulations: int
    seconds: float

    def __str__(self) -> str:
        return str(self.simulations) if math.isinf(self.seconds) else f"{self.seconds:g}s"


def read_budget(text: str, unit: str = "simulations") -> Budget:
    """Reads a budget from a text such as "200" (simulations, or what `unit` names) or "0.5s" (seconds).

    Raises:
        ValueError: the text is neither, or the number is out of range.
    """
    if re.fullmatch(r"[0-9]+", text) and 0 < int(text) <= MOST:
        return Budget(int(text), math.inf)
    if re.fullmatch(r"([0-9]+(\.[0-9]*)?|\.[0-9]+)s", text) and 0 < float(text[:-1]) < 1e6:
        return Budget(MOST, float(text[:-1]))
    raise ValueError(f"a budget is a number of {unit} such as 200 or a time such as 0.5s, not {text!r}")


class Searcher(Agent):
    """Plays the move that its search followed most often; a single legal move is played at once.

    Args:
        plan: the settings of the search.
        budget: the budget of a decision.
        net: the network, if the plan uses one.
    """

    needs_game = keeps_games_apart = True

    def __init__(self, plan: SearchPlan, budget: Budget, net: SearchNetwork | None = None) -> None:
        self.budget = budget
        self._plan = plan
        self._net = no_network() if net is None else net
        self._tree, self._workspace = empty_tree(), empty_workspace()
        self._pace = 0.0  # simulations per second, in the latest call
        self._stopped = False

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Game | None = None) -> int:
        """Chooses a move; see `Agent.act`.

        Raises:
            ValueError: no game is given, or it has ended.
        """
        game = _open(game)
        moves = game.legal_actions()
        if len(moves) == 1:
            return int(moves[0])
        self._search_from(game, rng, until_decided=True)
        return most_visited(self._tree)

    def explain(
        self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Game | None = None
    ) -> Explanation:
        """Returns what a search finds, even if only one move is legal; see `Agent.explain`.

        The first simulation judges the position itself and follows no move, so there is one visit fewer than simulations.
        The value of a move is the mean of its mover's results, or None if no simulation followed it; the win probabilities of the
        seats are the means over all simulations.
        """
        game = _open(game)
        self._search_from(game, copy.deepcopy(rng))
        edges, seats = root_edges(self._tree), self._workspace.seats[: game.rules.num_players]
        visits = edges["visits"]
        values = self._chances_of_moves(edges["value"] / np.maximum(visits, 1), len(seats))
        return explanation(
            edges["move"].astype(np.int64),
            priors=(edges["prior"] / edges["prior"].sum()).tolist(),
            visits=visits.tolist(),
            values=[value if followed else None for value, followed in zip(values.tolist(), visits, strict=True)],
            seats=self._chances_of_seats(seats / (1 + visits.sum())).tolist(),
        )

    def value_of(self, move: int, game: Game, seed: int) -> float:
        """Returns the mover's win probability after a move, from a search that begins every simulation with it.

        Equal seeds give simulations with equal numbers the same deals, whatever the move. Only for searches with priors (`mcts`).

        Args:
            move: a legal move, as an action id.
            game: the game before the move, determinized for its mover.
            seed: an integer, 0 to 2^62.

        Raises:
            ValueError: the game has ended.
        """
        self._begin_at(_open(game))
        self._search(seed, only=move)
        edges = root_edges(self._tree)
        edge = edges[edges["move"] == move]
        return float(self._chances_of_moves(edge["value"] / np.maximum(edge["visits"], 1), game.rules.num_players)[0])

    def stop(self) -> None:
        """Ends the search that is under way."""
        self._stopped = True

    def _chances_of_moves(self, results: np.ndarray, players: int) -> np.ndarray:
        """Converts the mover's mean result after each move to a win probability; here it already is one."""
        return results

    def _chances_of_seats(self, results: np.ndarray) -> np.ndarray:
        """Converts each seat's mean result to a win probability; here they only have to be made to add up to 1."""
        return shares(results)

    def _begin_at(self, game: Game) -> None:
        """Makes a position the root."""
        self._workspace.rows[1] = game.states[0]
        self._workspace.seats[:] = 0.0

    def _search_from(self, game: Game, rng: np.random.Generator, until_decided: bool = False) -> None:
        """Searches a position with the whole budget or, with `until_decided`, until the rest of it cannot change the move."""
        self._begin_at(game)
        self._search(int(rng.integers(2**62)), until_decided)

    def _search(self, seed: int, until_decided: bool = False, only: int = -1) -> None:
        """Makes at least one simulation; the tree does not depend on how they are divided into calls. See `_search_from`.

        With `only`, every simulation after the first one begins with this move.
        """
        start = before = time.perf_counter()
        begun, last, left = self._tree.used[BEGUN:], self.budget.simulations, self.budget.seconds
        begun[0], self._stopped = 0, False
        while begun[0] == 0 or (begun[0] < last and left > 0 and not self._stopped):
            most = min(last - int(begun[0]), max(1, int(self._pace * min(AT_A_TIME, left))))
            if begun[0] == 0 and only >= 0:
                most = 1  # it adds the root's edges alone; a move without a prior is never better than one that has it
            made = search(self._tree, self._workspace, self._net, self._plan, seed, until_decided, most, last)
            if begun[0] == 1 and only >= 0:
                edges = self._tree.edges[: self._tree.used[EDGE_COUNT]]
                edges["prior"] = edges["move"] == only
            now = time.perf_counter()
            self._pace = made / (now - before)
            before, left = now, self.budget.seconds - (now - start)


def _open(game: Game | None) -> Game:
    """Returns the game; raises a `ValueError` if there is none, or if it has ended."""
    if game is None or not len(game.legal_actions()):
        raise ValueError("a searching agent needs a game that has not ended")
    return game


def shares(chances: np.ndarray) -> np.ndarray:
    """Returns probabilities scaled so that they add up to 1; equal ones if all are 0."""
    total = chances.sum()
    return chances / total if total > 0 else np.full(len(chances), 1 / len(chances))
