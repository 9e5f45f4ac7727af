"""`mcts:BUDGET[:EVALUATOR[:PATH]]`: information-set Monte-Carlo tree search (`euphoria_agents.players.search.tree_search`).

The budget is a number of simulations or a time per decision. The evaluator computes the priors of the moves of a new node, and
the value of its position: `weights` plays on to the end of the game by the weights, `greedy` applies our evaluation at the end of
the turn, and `ppo` or `ppo:PATH` asks a trained network. Two evaluators joined by a plus share the work: `ppo+greedy` takes the
priors from the network and the values from `greedy`; `ppo+rollouts` plays some decisions on by the network's policy before it
asks the network (truncated rollouts, Tesauro and Galperin 1996): slower, but less wrong.
"""

from __future__ import annotations

from euphoria_agents.players.search.evaluators import BY_NETWORK, BY_ROLLOUTS, EVALUATORS, PUCT, SearchPlan
from euphoria_agents.players.search.searcher import Searcher, read_budget
from euphoria_env.engine.rewards import Reward

FORM = "mcts:BUDGET[:EVALUATOR[:PATH]]"
DEFAULT = "greedy"
PUCT_EXPLORATION = 0.5  # 1 and more play worse, with every evaluator


def make_mcts(argument: str) -> Searcher:
    """Returns the agent of a spec such as "mcts:200", "mcts:0.5s:weights", "mcts:0.5s:ppo:path/to/file" or "mcts:200:ppo+greedy".

    Raises:
        ValueError: the budget, the evaluator or the checkpoint is wrong.
    """
    budget, named, rest = argument.partition(":")
    names, colon, path = (rest if named else DEFAULT).partition(":")
    priors, plus, values = names.partition("+")
    pair = [priors, values if plus else priors]
    known = pair == ["ppo", "rollouts"] or set(pair) <= set(EVALUATORS[:BY_ROLLOUTS])
    if not known or (colon and ("ppo" not in pair or not path)):
        alone = ", ".join(EVALUATORS[:BY_ROLLOUTS])
        raise ValueError(f"{FORM}: the evaluator is {alone}, ppo:PATH or two as in ppo+greedy or ppo+rollouts, not {rest!r}")
    amount = read_budget(budget)
    first, second = (EVALUATORS.index(name) for name in pair)
    net, reward = None, int(Reward.WIN)
    if BY_NETWORK in (first, second):
        from euphoria_agents.players.ppo import checkpoint_path
        from euphoria_agents.players.search.inference import load_network

        net, reward = load_network(checkpoint_path(path))
    agent = Searcher(SearchPlan(PUCT, first, second, PUCT_EXPLORATION, reward), amount, net)
    agent.takes_wins = not path.startswith("@")  # those that benchmarks name play as ever
    return agent
