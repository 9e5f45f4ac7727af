"""Information-set Monte-Carlo tree search, for any number of players.

The tree is open-loop: a node stands for the moves that led to it, whatever the dice and cards, and for the player who decides and
the kind of decision. Every simulation deals the cards again that the searching player cannot see, rolls its own dice, and
follows only moves that are legal in this deal. Each edge keeps the sum of the results of its mover (max^n).
"""

from __future__ import annotations

import math

from euphoria_agents.players.search import inference
from euphoria_agents.players.search.boardspace_search import descend_stored
from euphoria_agents.players.search.evaluators import (
    BOARDSPACE,
    BY_NETWORK,
    SearchPlan,
    evaluate_leaf,
    give_priors,
    postpone_priors,
    set_priors,
)
from euphoria_agents.players.search.tree import (
    BEGUN,
    DEEPEST,
    EDGE_COUNT,
    add_edges,
    add_node,
    allocate,
    back_up,
    child_of,
    empty_tree,
    empty_workspace,
    find_edges,
    follow_edge,
    is_decided,
    play_move,
)
from euphoria_env.engine.byte_copies import borrowed
from euphoria_env.engine.determinize import deal_hidden_row
from euphoria_env.engine.jit import entry, jit, kind_of
from euphoria_env.engine.move_set import count_legal, list_moves
from euphoria_env.engine.row_checks import check
from euphoria_env.engine.state import OVER

LOOKS = 16  # simulations between two checks whether the search is decided


@jit
def select(tree, workspace, plan, n, players):  # type: ignore[no-untyped-def]
    """Returns which of n legal moves to follow, by PUCT that counts the simulations in which a move was legal (ISMCTS)."""
    priors = value = 0.0
    visits = 0
    for k in range(n):
        edge = tree.edges[workspace.found[k]]
        edge["availability"] += 1
        priors += edge["prior"]
        value += edge["value"]
        visits += edge["visits"]
    untried = value / visits if visits else 1.0 / players
    best, highest = 0, -math.inf
    for k in range(n):
        edge = tree.edges[workspace.found[k]]
        mean = edge["value"] / edge["visits"] if edge["visits"] else untried
        bonus = plan.exploration * edge["prior"] / priors * math.sqrt(edge["availability"]) / (1 + edge["visits"])
        if mean + bonus > highest:
            best, highest = k, mean + bonus
    return best


@jit
def simulate(tree, workspace, net, plan):  # type: ignore[no-untyped-def]
    """Makes a simulation from the root, whose deal is in the first row, to a new node; evaluates it and backs up the results."""
    g = workspace.rows[0]
    node, depth, observed = 0, 0, False
    while g["status"] < OVER and depth < DEEPEST and node >= 0:
        n = count_legal(g["legal"])
        if n == 0:  # only in a deal of an impossible row
            break
        new = tree.nodes[node]["first"] < 0
        if tree.nodes[node]["waits"]:
            give_priors(tree, node, workspace, net)
        missing = n - find_edges(tree, node, g["legal"], workspace.found)
        if missing:
            edge = allocate(tree, EDGE_COUNT, missing, len(tree.edges))
            if edge < 0:
                break
            list_moves(g["legal"], workspace.moves)
            if new and postpone_priors(tree, node, g, net, plan):
                workspace.weights[:n] = 0.0
            else:
                set_priors(g, workspace, net, plan, n)
            add_edges(tree, node, workspace, n, edge)
        if new:
            observed = plan.priors == BY_NETWORK
            break
        edge = int(workspace.found[select(tree, workspace, plan, n, int(g["num_players"]))])
        play_move(workspace, follow_edge(tree, workspace, depth, edge))
        depth += 1
        if g["status"] < OVER:
            node = child_of(tree, edge, g)
    evaluate_leaf(g, workspace, net, plan, observed)
    back_up(tree, workspace, depth)


# The types of the arguments of entry points.
TREE, WORKSPACE = kind_of(empty_tree()), kind_of(empty_workspace())
PLAN = kind_of(SearchPlan(0, 0, 0, 0.0, 0))


@entry(TREE, WORKSPACE, inference.NETWORK, PLAN, "int64 bool_ int64 int64")
def search(tree, workspace, net, plan, seed, until_decided, most, last):  # type: ignore[no-untyped-def]
    """Makes up to `most` simulations from the root, which is the second row, until `last` have begun; returns how many it made.

    Simulation 0 begins a new tree. Cards and dice of a simulation depend only on the seed and its number. With `until_decided`
    the search ends as soon as the remaining simulations cannot change `most_visited`.
    """
    tree, workspace, net = borrowed(tree), borrowed(workspace), borrowed(net)
    for made in range(most):
        number = int(tree.used[BEGUN])
        if number >= last:
            return made
        tree.used[BEGUN] = number + 1
        if number == 0:
            begin_tree(tree, workspace.rows, net, plan)
        elif until_decided and number % LOOKS == 0 and is_decided(tree, last):
            tree.used[BEGUN] = last
            return made
        workspace.rows[0] = workspace.rows[1]
        deal_hidden_row(workspace.rows[0], int(workspace.rows[1]["player"]), seed + number)
        if plan.style == BOARDSPACE:
            descend_stored(tree, workspace, plan)
        else:
            simulate(tree, workspace, net, plan)
    return most


@jit
def begin_tree(tree, rows, net, plan):  # type: ignore[no-untyped-def]
    """Begins a new tree with the root, which is the second row, and whose observations become the bases of the network."""
    check(rows, 1)
    root = rows[1]
    tree.used[:BEGUN] = 0
    add_node(tree, root, -1)
    if plan.priors == BY_NETWORK or plan.values == BY_NETWORK:
        for p in range(int(root["num_players"])):
            inference.rebase(net, root, p)
