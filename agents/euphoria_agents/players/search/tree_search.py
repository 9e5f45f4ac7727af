"""Information-set Monte-Carlo tree search, for any number of players.

The tree is open-loop: a node stands for the moves that led to it, whatever the dice and cards, and for the player and the kind of
the decision. Every simulation deals again what the searching player cannot know, future dice and cards included, and walks only
through moves that are legal in this deal. Each move keeps the mean of what its mover got from it (max^n).

Several threads may search one tree. Each locks the node whose moves it reads or changes, one node at a time, and never while it
plays, deals or asks an evaluator. A move counts as followed as soon as it is chosen, with nothing gained yet, so that the other
threads try other moves meanwhile.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import typeof

from euphoria_agents.players.search import inference
from euphoria_agents.players.search.atomics import fetch_add, lock_row, unlock_row
from euphoria_agents.players.search.evaluation import NUM_FEATURES, WEIGHTS, outlook
from euphoria_agents.players.search.playouts import ALL_TURNS, play_out
from euphoria_agents.players.weights import weigh
from euphoria_env.actions import NUM_ACTIONS
from euphoria_env.board import MAX_PLAYERS, STARS
from euphoria_env.engine.byte_copies import borrowed, pointer_to
from euphoria_env.engine.determinize import deal_hidden_row
from euphoria_env.engine.jit import entry, jit
from euphoria_env.engine.legal_moves import answer
from euphoria_env.engine.loop import advance
from euphoria_env.engine.move_set import WORD_BITS, count_legal, is_legal, list_moves
from euphoria_env.engine.state import GAME_DTYPE, OVER, ROWS, stars_missing
from euphoria_env.engine.tape import empty_tape

# When nodes or edges are used up the tree grows no further; memory is taken only as far as it is used.
NODES, EDGES, SEEN = 2**19, 2**22, 2**25
DEEPEST = 200  # decisions from the root
LOOKS = 16  # simulations between two looks whether the search is decided
LONGEST_PLAYOUT = 2000  # decisions; then the position is judged as it stands
NODE = np.dtype(
    [
        ("decision", np.int32),
        ("first", np.int32),  # edge with the lowest move, or -1
        ("sibling", np.int32),
        ("waits", np.int32),  # whether its priors are still to be found, from what lies in `Tree.seen`
        ("first_seen", np.int32),
        ("more_seen", np.int32),
        ("last_seen", np.int32),
    ],
    align=True,
)
# Of a tree for several threads; the lock comes first, or numba would take it for a kind of NODE.
SHARED_NODE = np.dtype([("lock", np.int64), *((name, NODE[name]) for name in NODE.names or ())], align=True)
EDGE = np.dtype(
    [
        ("prior", np.float64),  # probability; for boardspace virtual visits
        ("value", np.float64),  # sum of what the mover got
        ("availability", np.int32),  # simulations in which the move was legal
        ("visits", np.int32),
        ("next", np.int32),  # edge of the same node with the next move, or -1
        ("child", np.int32),  # first of the nodes that the move led to, which are siblings; or -1
        ("move", np.int64),
    ],
    align=True,
)

# The sources of the probabilities of a new node's moves (priors) and of its value.
EVALUATORS = ("weights", "greedy", "ppo")
BY_WEIGHTS, BY_GREEDY, BY_NETWORK = range(len(EVALUATORS))
PUCT, BOARDSPACE = range(2)


FLATTENED = 0.3  # the power that a network's probabilities are taken to, which after long training leave too little to be tried
EVEN = 0.25  # share of the prior that is spread evenly over the moves, the rest goes by the weights
VIRTUAL_VISITS = 100.0  # of a new node, spread by the weights (boardspace)
PLAYOUT_PER_PLAYER = 100  # decisions (boardspace)


class SearchPlan(NamedTuple):
    """The settings of a search.

    Attributes:
        style: PUCT or BOARDSPACE.
        priors, values: two of EVALUATORS, by number; PUCT only.
        exploration: the constant of the formula.
        reward: what the values of the network count, a `Reward` by number.
    """

    style: int
    priors: int
    values: int
    exploration: float
    reward: int


class Tree(NamedTuple):
    """Nodes and moves (edges); node 0 is the root.

    A network is asked for the priors of a node when a second simulation comes there, which happens to half of them. Until then
    `seen`, int32, keeps the rows in which the observation of the first one differs from the root (`inference.look`).

    `used`, int64 (4,), says how many nodes, edges and entries of `seen` there are, and simulations begun.
    """

    nodes: np.ndarray
    edges: np.ndarray
    seen: np.ndarray
    used: np.ndarray


class Workspace(NamedTuple):
    """The arrays that a search works in.

    `rows`: where simulations are played, and the root; `path`: of each move of a simulation the edge, its node and the mover;
    `seats`: what each seat got from all simulations together.
    """

    rows: np.ndarray
    tape: np.ndarray
    moves: np.ndarray
    weights: np.ndarray
    found: np.ndarray
    path: np.ndarray
    features: np.ndarray
    values: np.ndarray
    scores: np.ndarray
    seats: np.ndarray


def empty_tree(shared: bool = False) -> Tree:
    """An empty tree with memory to grow, for several threads if it is shared."""
    nodes = np.empty(NODES, SHARED_NODE if shared else NODE)
    return Tree(nodes, np.empty(EDGES, EDGE), np.empty(SEEN, np.int32), np.zeros(4, np.int64))


def empty_workspace() -> Workspace:
    """The arrays that a search works in."""
    return Workspace(
        np.zeros(2, GAME_DTYPE),
        empty_tape(),
        np.empty(NUM_ACTIONS, np.int64),
        np.empty(NUM_ACTIONS),
        np.empty(NUM_ACTIONS, np.int64),
        np.empty((DEEPEST, 3), np.int64),
        np.empty(NUM_FEATURES),
        np.zeros(MAX_PLAYERS),
        np.empty(MAX_PLAYERS),
        np.zeros(MAX_PLAYERS),
    )


# ---- the tree --------------------------------------------------------------------------------------------------------


NODE_COUNT, EDGE_COUNT, SEEN_COUNT, BEGUN = range(4)  # of `Tree.used`


@jit
def take(tree, what, n, room):  # type: ignore[no-untyped-def]
    """The first of n more nodes, edges or entries of `seen`; -1 if there is no room for them."""
    first = fetch_add(tree.nodes, tree.used, what, n)
    if first + n <= room:
        return first
    fetch_add(tree.nodes, tree.used, what, -n)
    return -1


@jit
def add_node(tree, g, sibling):  # type: ignore[no-untyped-def]
    """A node for what is being decided, beside a sibling; -1 if there is no room for it."""
    node = take(tree, NODE_COUNT, 1, len(tree.nodes))
    if node < 0:
        return -1
    tree.nodes[node]["decision"] = decision(g)
    tree.nodes[node]["first"] = -1
    tree.nodes[node]["sibling"] = sibling
    tree.nodes[node]["waits"] = 0
    unlock_row(tree.nodes, node)
    return node


@jit
def decision(g):  # type: ignore[no-untyped-def]
    """The player who decides and the kind of decision, as one number."""
    return MAX_PLAYERS * int(g["ask"]) + int(g["player"])


@jit
def child_of(tree, parent, edge, g):  # type: ignore[no-untyped-def]
    """The node that a move led to in this deal; a new one if it never led to this decision, -1 if there is no room for it."""
    lock_row(tree.nodes, parent)
    first = int(tree.edges[edge]["child"])
    node = first
    while node >= 0 and tree.nodes[node]["decision"] != decision(g):
        node = int(tree.nodes[node]["sibling"])
    if node < 0:
        node = add_node(tree, g, first)
        if node >= 0:
            tree.edges[edge]["child"] = node
    unlock_row(tree.nodes, parent)
    return node


@jit
def find_edges(tree, node, legal, found):  # type: ignore[no-untyped-def]
    """Writes the edges of a node that are legal moves, ascending; returns their number."""
    n = 0
    edge = int(tree.nodes[node]["first"])
    while edge >= 0:
        move = int(tree.edges[edge]["move"])
        found[n] = edge
        n += (legal[move // WORD_BITS] >> (move % WORD_BITS)) & 1
        edge = int(tree.edges[edge]["next"])
    return n


@jit
def add_edges(tree, node, workspace, n, new):  # type: ignore[no-untyped-def]
    """Gives a node those of n moves, ascending, that it does not have yet, their weights as priors; finds the edges of all.

    The edges are number `new` and those after it.
    """
    before, edge = -1, int(tree.nodes[node]["first"])
    for k in range(n):
        move = int(workspace.moves[k])
        while edge >= 0 and tree.edges[edge]["move"] < move:
            before, edge = edge, int(tree.edges[edge]["next"])
        if edge < 0 or tree.edges[edge]["move"] > move:
            after, edge, new = edge, new, new + 1
            row = tree.edges[edge]
            row["move"] = move
            row["next"] = after
            row["child"] = -1
            row["prior"] = workspace.weights[k]
            row["availability"] = 0
            row["visits"] = 0
            row["value"] = 0.0
            if before < 0:
                tree.nodes[node]["first"] = edge
            else:
                tree.edges[before]["next"] = edge
        workspace.found[k] = edge


@jit
def back_up(tree, workspace, depth):  # type: ignore[no-untyped-def]
    """Credits the moves of a simulation with what came of them for their movers, and the seats with what came for them."""
    for p in range(MAX_PLAYERS):
        workspace.seats[p] += workspace.values[p]
    for k in range(depth):
        edge, node, mover = workspace.path[k, 0], workspace.path[k, 1], workspace.path[k, 2]
        lock_row(tree.nodes, node)
        tree.edges[edge]["value"] += workspace.values[mover]
        unlock_row(tree.nodes, node)


# ---- evaluators ------------------------------------------------------------------------------------------------------


@jit
def set_priors(g, workspace, net, plan, n):  # type: ignore[no-untyped-def]
    """Writes to `weights` how probable each of n legal moves is thought to be."""
    if plan.priors == BY_NETWORK:
        inference.observe(net, g, int(g["player"]))
        inference.policy(net, workspace.moves, n, FLATTENED, workspace.weights)
        return
    if plan.priors != BY_WEIGHTS and plan.priors != BY_GREEDY:
        raise ValueError("no such evaluator")
    weigh(g, workspace.moves, n, workspace.weights)
    total = 0.0
    for k in range(n):
        workspace.weights[k] = max(0.0, workspace.weights[k])
        total += workspace.weights[k]
    for k in range(n):
        by_weight = workspace.weights[k] / total if total else 1.0 / n
        workspace.weights[k] = (1.0 - EVEN) * by_weight + EVEN / n


@jit
def keep_seen(tree, g, net):  # type: ignore[no-untyped-def]
    """Keeps what the mover sees, so that `give_priors` can ask the network later; returns where, -1 if there is no room."""
    inference.look(net, g, int(g["player"]))
    more, less = int(net.known[0]), int(net.known[1])
    first = take(tree, SEEN_COUNT, more + less, len(tree.seen))
    if first >= 0:
        tree.seen[first : first + more] = net.places[:more]
        tree.seen[first + more : first + more + less] = net.places[len(net.places) - less :]
    return first


@jit
def postpone_priors(new, seen, known):  # type: ignore[no-untyped-def]
    """Lets a new node wait for its priors; `known`, as of the network, says how much was kept from `seen` on."""
    new["waits"], new["first_seen"], new["more_seen"], new["last_seen"] = 1, seen, known[0], seen + known[0] + known[1]


@jit
def postpones(plan, net, node):  # type: ignore[no-untyped-def]
    """Whether the priors of a new node may wait: not at the root, and not where its value needs the same layers at once."""
    return node > 0 and plan.priors == BY_NETWORK and (plan.values != BY_NETWORK or inference.has_outlook(net))


@jit
def give_priors(tree, node, workspace, net):  # type: ignore[no-untyped-def]
    """Asks the network for the priors of all edges of a locked node, from what was kept; the node is free meanwhile.

    Other threads that come there do the same, with the same result, before they add edges.
    """
    n = 0
    edge = int(tree.nodes[node]["first"])
    while edge >= 0:
        workspace.found[n] = edge
        workspace.moves[n] = tree.edges[edge]["move"]
        edge = int(tree.edges[edge]["next"])
        n += 1
    places, more = tree.seen[tree.nodes[node]["first_seen"] : tree.nodes[node]["last_seen"]], int(tree.nodes[node]["more_seen"])
    unlock_row(tree.nodes, node)
    inference.think(net, tree.nodes[node]["decision"] % MAX_PLAYERS, places, more, len(places) - more)
    inference.policy(net, workspace.moves, n, FLATTENED, workspace.weights)
    lock_row(tree.nodes, node)
    for k in range(n):
        tree.edges[workspace.found[k]]["prior"] = workspace.weights[k]
    tree.nodes[node]["waits"] = 0


@jit
def judge(g, workspace, net, plan, observed):  # type: ignore[no-untyped-def]
    """Writes to `values` what each player may expect, from 0 to 1; `observed`: the network has just seen this for the mover."""
    if g["status"] < OVER:
        if plan.values == BY_NETWORK:
            if inference.has_outlook(net):
                ask_outlook(g, workspace.values, net, observed)
            else:
                ask_network(g, workspace.values, net, plan.reward, observed)
            return
        if plan.values == BY_WEIGHTS:
            last_turn = ALL_TURNS
        elif plan.values == BY_GREEDY:
            last_turn = int(g["turn"])
        else:
            raise ValueError("no such evaluator")
        play_out(g, pointer_to(workspace.tape, 0), workspace.moves, workspace.weights, last_turn, LONGEST_PLAYOUT)
    outlook(g, WEIGHTS, workspace.features, workspace.values)


@jit
def ask_outlook(g, values, net, observed):  # type: ignore[no-untyped-def]
    """Asks for everybody's chances with what the mover sees."""
    if not observed:
        inference.look(net, g, int(g["player"]))
    inference.outlook(net, g, int(g["player"]), values)


@jit
def ask_network(g, values, net, reward, observed):  # type: ignore[no-untyped-def]
    """Asks the network for everybody's chances; of two players only the mover, since what one wins the other loses."""
    n, mover = int(g["num_players"]), int(g["player"])
    if not observed:
        inference.observe(net, g, mover)
    values[mover] = inference.chance_to_win(g, mover, inference.value(net), reward)
    if n == 2:
        values[1 - mover] = 1.0 - values[mover]
        return
    for p in range(n):
        if p != mover:
            inference.observe(net, g, p)
            values[p] = inference.chance_to_win(g, p, inference.value(net), reward)


# ---- simulations --------------------------------------------------------------------------------------------------------


@jit
def select(tree, workspace, plan, n, players):  # type: ignore[no-untyped-def]
    """The one of n legal moves to follow: PUCT that counts the simulations in which a move was legal (ISMCTS)."""
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
    """Walks from the root, whose deal lies in the first row, to a new node, judges it, and credits the moves."""
    g = workspace.rows[0]
    node = depth = 0
    observed = False
    while g["status"] < OVER and depth < DEEPEST and node >= 0:
        n = count_legal(g["legal"])
        lock_row(tree.nodes, node)
        new = tree.nodes[node]["first"] < 0
        if tree.nodes[node]["waits"]:
            give_priors(tree, node, workspace, net)
        missing = n - find_edges(tree, node, g["legal"], workspace.found)
        if missing:
            edge = take(tree, EDGE_COUNT, missing, len(tree.edges))
            unlock_row(tree.nodes, node)
            if edge < 0:
                break
            list_moves(g["legal"], workspace.moves)
            seen = keep_seen(tree, g, net) if new and postpones(plan, net, node) else -1
            if seen < 0:
                set_priors(g, workspace, net, plan, n)
            lock_row(tree.nodes, node)
            if not new or tree.nodes[node]["first"] < 0:  # otherwise another thread was quicker
                if seen >= 0:
                    postpone_priors(tree.nodes[node], seen, net.known)
                    workspace.weights[:n] = 0.0
                add_edges(tree, node, workspace, n, edge)
        if new:
            unlock_row(tree.nodes, node)
            observed = plan.priors == BY_NETWORK
            break
        edge = int(workspace.found[select(tree, workspace, plan, n, int(g["num_players"]))])
        tree.edges[edge]["visits"] += 1
        unlock_row(tree.nodes, node)
        workspace.path[depth, 0], workspace.path[depth, 1], workspace.path[depth, 2] = edge, node, g["player"]
        depth += 1
        answer(g, pointer_to(workspace.tape, 0), int(tree.edges[edge]["move"]))
        advance(g, pointer_to(workspace.tape, 0))
        if g["status"] < OVER:
            node = child_of(tree, node, edge, g)
    judge(g, workspace, net, plan, observed)
    back_up(tree, workspace, depth)


@jit
def select_stored(tree, node, exploration):  # type: ignore[no-untyped-def]
    """The stored move to follow: UCT in which virtual visits are worth as much as the real ones on average."""
    virtual = value = 0.0
    real = 0
    edge = int(tree.nodes[node]["first"])
    while edge >= 0:
        virtual += tree.edges[edge]["prior"]
        real += tree.edges[edge]["visits"]
        value += tree.edges[edge]["value"]
        edge = int(tree.edges[edge]["next"])
    visits = virtual + real
    expected = value / real if real else 0.0
    best, highest = -1, -math.inf
    edge = int(tree.nodes[node]["first"])
    while edge >= 0:
        own = tree.edges[edge]["prior"] + tree.edges[edge]["visits"]
        score = math.inf
        if own > 0:
            mean = (tree.edges[edge]["value"] + tree.edges[edge]["prior"] * expected) / own
            score = mean + exploration * math.sqrt(math.log(visits) / own)
        if score >= highest:
            best, highest = edge, score
        edge = int(tree.edges[edge]["next"])
    return best


@jit
def descend_stored(tree, workspace, plan):  # type: ignore[no-untyped-def]
    """As Boardspace's bot descends: a stored move that is illegal in this deal ends it, with the score 0 for its mover."""
    g = workspace.rows[0]
    node, depth, failed = 0, 0, -1
    while g["status"] < OVER and depth < DEEPEST and node >= 0:
        lock_row(tree.nodes, node)
        if tree.nodes[node]["first"] < 0:
            unlock_row(tree.nodes, node)
            store_moves(tree, node, workspace, g)
            break
        edge = select_stored(tree, node, plan.exploration)
        tree.edges[edge]["visits"] += 1
        unlock_row(tree.nodes, node)
        workspace.path[depth, 0], workspace.path[depth, 1], workspace.path[depth, 2] = edge, node, g["player"]
        depth += 1
        move = int(tree.edges[edge]["move"])
        if not is_legal(g["legal"], move):
            failed = int(g["player"])
            break
        answer(g, pointer_to(workspace.tape, 0), move)
        advance(g, pointer_to(workspace.tape, 0))
        if g["status"] < OVER:
            node = child_of(tree, node, edge, g)
    n = int(g["num_players"])
    if failed < 0:
        play_out(g, pointer_to(workspace.tape, 0), workspace.moves, workspace.weights, ALL_TURNS, PLAYOUT_PER_PLAYER * n)
    for p in range(n):
        workspace.scores[p] = 0.0 if p == failed else 1.0 - int(stars_missing(g, p)) / STARS
    for p in range(n):
        best = 0.0
        for q in range(n):
            if q != p:
                best = max(best, workspace.scores[q])
        workspace.values[p] = workspace.scores[p] - best
    back_up(tree, workspace, depth)


@jit
def store_moves(tree, node, workspace, g):  # type: ignore[no-untyped-def]
    """Gives a node the legal moves, with the virtual visits spread by their weights."""
    n = list_moves(g["legal"], workspace.moves)
    edge = take(tree, EDGE_COUNT, n, len(tree.edges))
    if edge < 0:
        return
    weigh(g, workspace.moves, n, workspace.weights)
    total = 0.0
    for k in range(n):
        total += max(0.0, workspace.weights[k])
    for k in range(n):
        share = max(0.0, workspace.weights[k]) / total if total else 1.0 / n
        workspace.weights[k] = VIRTUAL_VISITS * share
    lock_row(tree.nodes, node)
    if tree.nodes[node]["first"] < 0:  # otherwise another thread was quicker
        add_edges(tree, node, workspace, n, edge)
    unlock_row(tree.nodes, node)


# The types of arguments of entry points.
TREE, SHARED_TREE, WORKSPACE = typeof(empty_tree()), typeof(empty_tree(shared=True)), typeof(empty_workspace())
NET, PLAN = typeof(inference.no_network()), typeof(SearchPlan(0, 0, 0, 0.0, 0))


@entry(TREE, WORKSPACE, NET, PLAN, "int64 bool_ int64 int64")
def search(tree, workspace, net, plan, seed, until_decided, most, last):  # type: ignore[no-untyped-def]
    """Makes the next simulations from the root, which is the second row: `most` of them, or up to number `last` - 1.

    Returns the number made. Number 0 begins a new tree. Cards and dice of a simulation depend only on the seed and its number.
    With `until_decided` the search ends as soon as the simulations that are left cannot change `most_visited`.
    """
    return make_simulations(tree, workspace, net, plan, seed, until_decided, most, last)


@entry(SHARED_TREE, WORKSPACE, NET, PLAN, "int64 bool_ int64 int64")
def search_together(tree, workspace, net, plan, seed, until_decided, most, last):  # type: ignore[no-untyped-def]
    """Does the same in one of several threads, each with its own workspace, that share a tree; number 0 is made alone."""
    return make_simulations(tree, workspace, net, plan, seed, until_decided, most, last)


@jit
def make_simulations(tree, workspace, net, plan, seed, until_decided, most, last):  # type: ignore[no-untyped-def]
    """Makes simulations; see `search`."""
    tree, workspace, net = borrowed(tree), borrowed(workspace), borrowed(net)
    for made in range(most):
        number = fetch_add(tree.nodes, tree.used, BEGUN, 1)
        if number >= last:
            return made
        if number == 0:
            begin(tree, workspace.rows[1], net, plan)
        elif until_decided and number % LOOKS == 0 and is_decided(tree, last):
            tree.used[BEGUN] = last
            return made
        workspace.rows[0] = workspace.rows[1]
        deal_hidden_row(workspace.rows[0], int(workspace.rows[1]["player"]), seed + number)
        if plan.style == PUCT:
            simulate(tree, workspace, net, plan)
        elif plan.style == BOARDSPACE:
            descend_stored(tree, workspace, plan)
        else:
            raise ValueError("no such style of search")
    return most


@jit
def is_decided(tree, last):  # type: ignore[no-untyped-def]
    """Whether a move of the root remains the most visited one after `last` simulations, the first of which follows none."""
    most = second = -math.inf
    left = last - 1
    lock_row(tree.nodes, 0)
    edge = int(tree.nodes[0]["first"])
    while edge >= 0:
        left -= int(tree.edges[edge]["visits"])
        followed = tree.edges[edge]["visits"] + tree.edges[edge]["prior"]
        if followed > most:
            most, second = followed, most
        elif followed > second:
            second = followed
        edge = int(tree.edges[edge]["next"])
    unlock_row(tree.nodes, 0)
    return most - second > left


@jit
def begin(tree, root, net, plan):  # type: ignore[no-untyped-def]
    """Begins a new tree."""
    tree.used[:BEGUN] = 0
    add_node(tree, root, -1)
    if plan.priors == BY_NETWORK or plan.values == BY_NETWORK:
        for p in range(int(root["num_players"])):
            inference.rebase(net, root, p)


@entry(ROWS, NET, "int64 float64[:]")
def judge_by_network(rows, net, reward, chances):  # type: ignore[no-untyped-def]
    """Writes what the network says of each seat's chance to win in the game of the first row, as far as its mover sees it."""
    if inference.has_outlook(net):
        ask_outlook(rows[0], chances, net, False)
    else:
        ask_network(rows[0], chances, net, reward, False)


def root_edges(tree: Tree) -> np.ndarray:
    """The edges of the root, a copy, in the order of their moves."""
    found, edge = [], int(tree.nodes[0]["first"])
    while edge >= 0:
        found.append(edge)
        edge = int(tree.edges[edge]["next"])
    return tree.edges[found]


def most_visited(tree: Tree) -> int:
    """The move of the root that was followed most often, virtual visits included; of equal ones the better, then the first.

    A prior of PUCT is less than a visit, and decides only between moves followed equally often.
    """
    rows = root_edges(tree)
    return int(rows["move"][np.lexsort((-rows["value"], -(rows["visits"] + rows["prior"])))[0]])
