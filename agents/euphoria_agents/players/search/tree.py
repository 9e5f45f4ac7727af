"""The tree of a search: nodes and moves (edges), and the arrays that a search works in."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from euphoria_env.actions import NUM_ACTIONS
from euphoria_env.board import MAX_PLAYERS
from euphoria_env.engine.byte_copies import pointer_to
from euphoria_env.engine.features import NUM_FEATURES
from euphoria_env.engine.jit import jit
from euphoria_env.engine.legal_moves import answer
from euphoria_env.engine.loop import advance
from euphoria_env.engine.move_set import WORD_BITS
from euphoria_env.engine.state import GAME_DTYPE
from euphoria_env.engine.tape import empty_tape

# When the nodes or the edges are used up, the tree stops growing; the operating system provides only the memory that is used.
NODES, EDGES, SEEN = 2**19, 2**22, 2**25
DEEPEST = 200  # decisions from the root
NODE = np.dtype(
    [
        ("decision", np.int32),  # what `decision` returns for it
        ("first", np.int32),  # edge with the lowest move, or -1
        ("sibling", np.int32),  # another node to which the same move led, or -1
        ("waits", np.int32),  # whether its priors must still be computed, from entries of `Tree.seen`
        ("first_seen", np.int32),  # the first of these entries
        ("more_seen", np.int32),  # how many of them are rows to be added
        ("last_seen", np.int32),  # the end of these entries
    ],
    align=True,
)
EDGE = np.dtype(
    [
        ("prior", np.float64),  # probability; for boardspace virtual visits
        ("value", np.float64),  # sum of the mover's results
        ("availability", np.int32),  # simulations in which the move was legal
        ("visits", np.int32),
        ("next", np.int32),  # edge of the same node with the next move, or -1
        ("child", np.int32),  # first of the nodes that the move led to, which are siblings; or -1
        ("move", np.int64),
    ],
    align=True,
)


class Tree(NamedTuple):
    """Nodes and moves (edges); node 0 is the root.

    The network computes the priors of a node only when a second simulation reaches the node, which half of the nodes never see.
    Until then `seen`, int32, keeps the rows in which its observation differs from that of the root (`inference.encode`).

    `used`, int64 (4,), counts the nodes, edges and entries of `seen` in use, and the simulations begun.
    """

    nodes: np.ndarray
    edges: np.ndarray
    seen: np.ndarray
    used: np.ndarray


class Workspace(NamedTuple):
    """The arrays that a search works in.

    `rows`: the game of the simulation, and the root; `found`: edges of the present node; `path`: the edge and the mover of each
    move of the simulation; `values`: its result for each seat; `seats`: the sum of these results over all simulations.
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


def empty_tree() -> Tree:
    """Returns an empty tree with memory to grow."""
    return Tree(np.empty(NODES, NODE), np.empty(EDGES, EDGE), np.empty(SEEN, np.int32), np.zeros(4, np.int64))


def empty_workspace() -> Workspace:
    """Returns new arrays for a search to work in."""
    return Workspace(
        np.zeros(2, GAME_DTYPE),
        empty_tape(),
        np.empty(NUM_ACTIONS, np.int64),
        np.empty(NUM_ACTIONS),
        np.empty(NUM_ACTIONS, np.int64),
        np.empty((DEEPEST, 2), np.int64),
        np.empty(NUM_FEATURES),
        np.zeros(MAX_PLAYERS),
        np.empty(MAX_PLAYERS),
        np.zeros(MAX_PLAYERS),
    )


NODE_COUNT, EDGE_COUNT, SEEN_COUNT, BEGUN = range(4)  # indices into `Tree.used`


@jit
def allocate(tree, what, n, room):  # type: ignore[no-untyped-def]
    """Allocates n nodes, edges or entries of `seen`, and returns the first; returns -1 if there is no room for them."""
    first = int(tree.used[what])
    if first + n > room:
        return -1
    tree.used[what] = first + n
    return first


@jit
def add_node(tree, g, sibling):  # type: ignore[no-untyped-def]
    """Adds a node for the present decision of g before `sibling`, and returns it; returns -1 if there is no room for it."""
    node = allocate(tree, NODE_COUNT, 1, len(tree.nodes))
    if node < 0:
        return -1
    tree.nodes[node]["decision"] = decision(g)
    tree.nodes[node]["first"] = -1
    tree.nodes[node]["sibling"] = sibling
    tree.nodes[node]["waits"] = 0
    return node


@jit
def decision(g):  # type: ignore[no-untyped-def]
    """Returns the player who must decide and the kind of decision, as one number."""
    return MAX_PLAYERS * int(g["ask"]) + int(g["player"])


@jit
def child_of(tree, edge, g):  # type: ignore[no-untyped-def]
    """Returns the node that a move led to in this deal; adds one if it never led to this decision; -1 if there is no room."""
    first = int(tree.edges[edge]["child"])
    node = first
    while node >= 0 and tree.nodes[node]["decision"] != decision(g):
        node = int(tree.nodes[node]["sibling"])
    if node < 0:
        node = add_node(tree, g, first)
        if node >= 0:
            tree.edges[edge]["child"] = node
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
    """Adds edges for those of the n moves in `workspace` that a node does not have yet; writes the edges of all n to `found`.

    The moves ascend, and their weights become the priors. The new edges are numbered from `new` on.
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
def follow_edge(tree, workspace, depth, edge):  # type: ignore[no-untyped-def]
    """Counts a visit of an edge, adds the edge and its mover to the path of the simulation, and returns its move."""
    tree.edges[edge]["visits"] += 1
    workspace.path[depth, 0], workspace.path[depth, 1] = edge, workspace.rows[0]["player"]
    return int(tree.edges[edge]["move"])


@jit
def play_move(workspace, move):  # type: ignore[no-untyped-def]
    """Plays a move in the simulation."""
    g, tape = workspace.rows[0], pointer_to(workspace.tape, 0)
    answer(g, tape, move)
    advance(g, tape)


@jit
def back_up(tree, workspace, depth):  # type: ignore[no-untyped-def]
    """Adds the results of a simulation to the sums of the seats, and to each edge on its path the result of its mover."""
    for p in range(MAX_PLAYERS):
        workspace.seats[p] += workspace.values[p]
    for k in range(depth):
        edge, mover = workspace.path[k, 0], workspace.path[k, 1]
        tree.edges[edge]["value"] += workspace.values[mover]


@jit
def is_decided(tree, last):  # type: ignore[no-untyped-def]
    """Returns whether one move of the root will surely be the most visited one after `last` simulations in all."""
    most = second = -math.inf
    left = last - 1  # the first simulation follows no move
    edge = int(tree.nodes[0]["first"])
    while edge >= 0:
        left -= int(tree.edges[edge]["visits"])
        followed = tree.edges[edge]["visits"] + tree.edges[edge]["prior"]
        if followed > most:
            most, second = followed, most
        elif followed > second:
            second = followed
        edge = int(tree.edges[edge]["next"])
    return most - second > left


def root_edges(tree: Tree) -> np.ndarray:
    """Returns a copy of the root's edges, in the order of their moves."""
    found, edge = [], int(tree.nodes[0]["first"])
    while edge >= 0:
        found.append(edge)
        edge = int(tree.edges[edge]["next"])
    return tree.edges[found]


def most_visited(tree: Tree) -> int:
    """Returns the root's move with the most visits, virtual ones included; among equals the one with the higher value.

    A PUCT prior is less than a visit, so it decides only between moves with equally many visits.

    Raises:
        ValueError: the root has no moves; in an impossible game, no deal of the hidden cards may have any.
    """
    rows = root_edges(tree)
    if not len(rows):
        raise ValueError("no deal of the hidden cards has a legal move")
    return int(rows["move"][np.lexsort((-rows["value"], -(rows["visits"] + rows["prior"])))[0]])
