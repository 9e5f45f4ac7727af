"""The evaluators of a search compute the priors of a node's moves, and the win probabilities of all seats at a leaf."""

from __future__ import annotations

from typing import NamedTuple

from euphoria_agents.players.search import inference
from euphoria_agents.players.search.evaluation import WEIGHTS, seat_chances
from euphoria_agents.players.search.playouts import ALL_TURNS, play_out, random_unit
from euphoria_agents.players.search.tree import SEEN_COUNT, allocate, play_move
from euphoria_agents.players.weights import share_by_weight
from euphoria_env.board import MAX_PLAYERS
from euphoria_env.engine.byte_copies import pointer_to
from euphoria_env.engine.jit import jit
from euphoria_env.engine.move_set import list_moves
from euphoria_env.engine.state import OVER

# The possible sources of a new node's priors and of its value.
EVALUATORS = ("weights", "greedy", "ppo", "rollouts")
BY_WEIGHTS, BY_GREEDY, BY_NETWORK, BY_ROLLOUTS = range(len(EVALUATORS))
PUCT, BOARDSPACE = range(2)

FLATTENED = 0.3  # exponent of a network's probabilities, which after long training are too peaked to make the search explore
EVEN = 0.25  # share of the prior that is spread evenly over the moves; the rest is in proportion to the weights
LONGEST_PLAYOUT = 2000  # decisions; then the position is judged before the end of the game
ROLLOUT = 10  # decisions by the policy before the network judges; 4 to 30 win as much


class SearchPlan(NamedTuple):
    """The settings of a search.

    Attributes:
        style: PUCT or BOARDSPACE.
        priors, values: the indices of two of EVALUATORS; only for PUCT.
        exploration: the exploration constant of PUCT or UCT.
        reward: the number of the `Reward` on which the network's value was trained.
    """

    style: int
    priors: int
    values: int
    exploration: float
    reward: int


@jit
def set_priors(g, workspace, net, plan, n):  # type: ignore[no-untyped-def]
    """Writes the priors of n legal moves to `workspace.weights`."""
    if plan.priors == BY_NETWORK:
        inference.evaluate(net, g, int(g["player"]))
        inference.policy(net, workspace.moves, n, FLATTENED, workspace.weights)
        return
    share_by_weight(g, workspace.moves, n, workspace.weights)
    for k in range(n):
        workspace.weights[k] = (1.0 - EVEN) * workspace.weights[k] + EVEN / n


@jit
def postpone_priors(tree, node, g, net, plan):  # type: ignore[no-untyped-def]
    """Stores what the mover sees at a new node, so that `give_priors` can compute its priors later; returns whether it did.

    It does not for the root, which needs its priors at once, for a node whose value comes from the same layers, or if the memory
    is full.
    """
    if node == 0 or plan.priors != BY_NETWORK or (plan.values == BY_NETWORK and not inference.has_win_probs(net)):
        return False
    inference.encode(net, g, int(g["player"]))
    more, less = int(net.known[0]), int(net.known[1])
    first = allocate(tree, SEEN_COUNT, more + less, len(tree.seen))
    if first < 0:
        return False
    middle, last = first + more, first + more + less
    tree.seen[first:middle] = net.places[:more]
    tree.seen[middle:last] = net.places[len(net.places) - less :]
    new = tree.nodes[node]
    new["waits"], new["first_seen"], new["more_seen"], new["last_seen"] = 1, first, more, last
    return True


@jit
def give_priors(tree, node, workspace, net):  # type: ignore[no-untyped-def]
    """Computes the priors of all edges of a node from what `postpone_priors` stored."""
    n = 0
    edge = int(tree.nodes[node]["first"])
    while edge >= 0:
        workspace.found[n] = edge
        workspace.moves[n] = tree.edges[edge]["move"]
        edge = int(tree.edges[edge]["next"])
        n += 1
    places, more = tree.seen[tree.nodes[node]["first_seen"] : tree.nodes[node]["last_seen"]], int(tree.nodes[node]["more_seen"])
    inference.forward(net, tree.nodes[node]["decision"] % MAX_PLAYERS, places, more, len(places) - more)
    inference.policy(net, workspace.moves, n, FLATTENED, workspace.weights)
    for k in range(n):
        tree.edges[workspace.found[k]]["prior"] = workspace.weights[k]
    tree.nodes[node]["waits"] = 0


@jit
def evaluate_leaf(g, workspace, net, plan, observed):  # type: ignore[no-untyped-def]
    """Writes each player's win probability to `workspace.values`; `observed`: the mover's observation is already encoded."""
    if plan.values == BY_ROLLOUTS:
        roll_out(g, workspace, net)
        observed = False
    elif plan.values in (BY_WEIGHTS, BY_GREEDY) and g["status"] < OVER:
        last_turn = int(g["turn"]) if plan.values == BY_GREEDY else ALL_TURNS
        play_out(g, pointer_to(workspace.tape, 0), workspace.moves, workspace.weights, last_turn, LONGEST_PLAYOUT)
    if g["status"] >= OVER or plan.values in (BY_WEIGHTS, BY_GREEDY):
        seat_chances(g, WEIGHTS, workspace.features, workspace.values)
    elif inference.has_win_probs(net):
        ask_win_probs(g, workspace.values, net, observed)
    else:
        ask_network(g, workspace.values, net, plan.reward, observed)


@jit
def roll_out(g, workspace, net):  # type: ignore[no-untyped-def]
    """Plays some decisions by the network's policy; random numbers come from the generator in the row."""
    for _ in range(ROLLOUT):
        if g["status"] >= OVER:
            return
        n = list_moves(g["legal"], workspace.moves)
        if n == 0:  # only in a deal of an impossible row
            return
        chosen = 0
        if n > 1:
            inference.evaluate(net, g, int(g["player"]))
            inference.policy(net, workspace.moves, n, 1.0, workspace.weights)
            left = random_unit(g["rng"]) - workspace.weights[0]
            while left >= 0.0 and chosen < n - 1:
                chosen += 1
                left -= workspace.weights[chosen]
        play_move(workspace, int(workspace.moves[chosen]))


@jit
def ask_win_probs(g, values, net, observed):  # type: ignore[no-untyped-def]
    """Writes everybody's win probability, as the network predicts it from the mover's observation."""
    if not observed:
        inference.encode(net, g, int(g["player"]))
    inference.win_probs(net, g, int(g["player"]), values)


@jit
def ask_network(g, values, net, reward, observed):  # type: ignore[no-untyped-def]
    """Writes everybody's win probability from the network's values, each from that player's observation.

    With two players the network is asked only for the mover, since the other's probability is the rest.
    """
    n, mover = int(g["num_players"]), int(g["player"])
    if not observed:
        inference.evaluate(net, g, mover)
    values[mover] = inference.chance_to_win(g, mover, inference.value(net), reward)
    if n == 2:
        values[1 - mover] = 1.0 - values[mover]
        return
    for p in range(n):
        if p != mover:
            inference.evaluate(net, g, p)
            values[p] = inference.chance_to_win(g, p, inference.value(net), reward)
