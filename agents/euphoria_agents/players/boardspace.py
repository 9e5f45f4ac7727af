"""`boardspace[:BUDGET]`: the only public computer player of the game, rebuilt on our search tree as its author describes it.

It is UCT with exploration 0.5; each new node gets a playout by the weights, and 100 virtual visits spread over its moves by
weight. Where the published facts leave something open, we chose: a virtual visit is worth the mean of the node's real ones; the
result of a player is their own score minus the best score of the others; the move played is the one with the most visits, virtual
ones included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from euphoria_agents.players.search.evaluators import BOARDSPACE, BY_WEIGHTS, SearchPlan
from euphoria_agents.players.search.inference import STARS_PER_E
from euphoria_agents.players.search.searcher import Budget, Searcher, read_budget, shares
from euphoria_env.board import STARS
from euphoria_env.engine.rewards import Reward

if TYPE_CHECKING:
    from euphoria_env import Game

UCT_EXPLORATION = 0.5
TWO_PLAYERS, MORE_PLAYERS = read_budget("2.5s"), read_budget("3.75s")


class Boardspace(Searcher):
    """The Boardspace player; without a budget it thinks as long as on Boardspace.net."""

    def __init__(self, budget: Budget | None = None) -> None:
        super().__init__(SearchPlan(BOARDSPACE, BY_WEIGHTS, BY_WEIGHTS, UCT_EXPLORATION, int(Reward.WIN)), budget or TWO_PLAYERS)
        self._own_time = budget is None

    def _search_from(self, game: Game, rng: np.random.Generator, until_decided: bool = False) -> None:
        if self._own_time:
            self.budget = TWO_PLAYERS if game.rules.num_players == 2 else MORE_PLAYERS
        super()._search_from(game, rng, until_decided)

    # A result is a lead over the best of the others, a tenth for each star. It is converted to a win probability like the value
    # of a network that was trained on the reward `stars`.

    def _chances_of_moves(self, results: np.ndarray, players: int) -> np.ndarray:
        return 1 / (1 + (players - 1) * np.exp(-results * STARS / STARS_PER_E))

    def _chances_of_seats(self, results: np.ndarray) -> np.ndarray:
        return shares(np.exp(results * STARS / STARS_PER_E))


def make_boardspace(argument: str = "") -> Boardspace:
    """Returns the agent of a spec such as "boardspace", "boardspace:200" or "boardspace:0.5s".

    Raises:
        ValueError: the budget is wrong.
    """
    return Boardspace(read_budget(argument) if argument else None)
