"""`mcts:BUDGET[:EVALUATOR]`: information-set Monte-Carlo tree search (`agents.search.tree`).

The budget is a number of simulations or a time a decision. The evaluator says which moves are tried first and what a new position
is worth: `weights` plays on to the end of the game by the weights, `greedy` asks our own evaluation at the end of the turn, `ppo`
or `ppo:PATH` a trained network.
"""

from __future__ import annotations

from agents.search.searcher import Searcher, read_budget
from agents.search.tree import BY_NETWORK, EVALUATORS, PUCT, Plan
from euphoria_env.engine.rewards import WIN, reward_number

FORM = "mcts:BUDGET[:EVALUATOR]"
DEFAULT = "greedy"
EXPLORATION = {"weights": 0.5, "greedy": 0.5, "ppo": 0.5}  # by evaluator; 1 and more play worse


def make(argument: str) -> Searcher:
    """The agent of a spec such as "mcts:200", "mcts:0.5s:weights" or "mcts:0.5s:ppo:path/to/checkpoint".

    Raises:
        ValueError: the budget, the evaluator or the checkpoint is wrong.
    """
    budget, named, rest = argument.partition(":")
    name, colon, path = rest.partition(":")
    name = name if named else DEFAULT
    if name not in EVALUATORS or (colon and (name != "ppo" or not path)):
        raise ValueError(f"{FORM}: the evaluator is {', '.join(EVALUATORS)} or ppo:PATH, not {rest!r}")
    amount = read_budget(budget)
    evaluator = EVALUATORS.index(name)
    net, reward = None, WIN
    if evaluator == BY_NETWORK:
        from agents.ppo import checkpoint_path
        from agents.search.network import load_network

        net, trained_for = load_network(checkpoint_path(path))
        reward = reward_number(trained_for)
    return Searcher(Plan(PUCT, evaluator, EXPLORATION[name], reward), amount, net)
