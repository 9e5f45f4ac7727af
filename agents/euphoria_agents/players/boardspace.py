"""`boardspace[:BUDGET]`: the only public computer player of the game, as its author describes it, on our tree.

UCT with exploration 0.5, a playout by the weights for every new node, and 100 virtual visits spread over its moves by weight.
Where the published facts leave something open, we chose: a virtual visit is worth what the real ones of the node are on average;
the score of a player is their own less that of the best of the others; the move played is the one visited most often, virtual
visits included.
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
    """The bot; without a budget it takes the time that it takes there."""

    def __init__(self, budget: Budget | None = None) -> None:
        super().__init__(SearchPlan(BOARDSPACE, BY_WEIGHTS, BY_WEIGHTS, UCT_EXPLORATION, int(Reward.WIN)), budget or TWO_PLAYERS)
        self._own_time = budget is None

    def _search_from(self, game: Game, rng: np.random.Generator, until_decided: bool = False) -> None:
        if self._own_time:
            self.budget = TWO_PLAYERS if game.rules.num_players == 2 else MORE_PLAYERS
        super()._search_from(game, rng, until_decided)

    # Its score is a lead over the best of the others, a tenth for each star. It becomes a chance to win like the value of a
    # network that was trained to lead.

    def _chances_of_moves(self, results: np.ndarray, players: int) -> np.ndarray:
        return 1 / (1 + (players - 1) * np.exp(-results * STARS / STARS_PER_E))

    def _chances_of_seats(self, results: np.ndarray) -> np.ndarray:
        return shares(np.exp(results * STARS / STARS_PER_E))


def make_boardspace(argument: str = "") -> Boardspace:
    """The agent of a spec such as "boardspace", "boardspace:200" or "boardspace:0.5s".

    Raises:
        ValueError: the budget is wrong.
    """
    return Boardspace(read_budget(argument) if argument else None)
