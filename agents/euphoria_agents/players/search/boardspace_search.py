"""Simulations in the style of Boardspace's bot: UCT with virtual visits, moves stored when a node is made, and short playouts."""

from __future__ import annotations

import math

from euphoria_agents.players.search.playouts import ALL_TURNS, play_out
from euphoria_agents.players.search.tree import (
    DEEPEST,
    EDGE_COUNT,
    add_edges,
    allocate,
    back_up,
    child_of,
    follow_edge,
    play_move,
)
from euphoria_agents.players.weights import share_by_weight
from euphoria_env.board import STARS
from euphoria_env.engine.byte_copies import pointer_to
from euphoria_env.engine.jit import jit
from euphoria_env.engine.move_set import is_legal, list_moves
from euphoria_env.engine.state import OVER, stars_missing

VIRTUAL_VISITS = 100.0  # in a new node, spread over its moves by weight
PLAYOUT_PER_PLAYER = 100  # decisions, times the number of players, after which a playout ends


@jit
def select_stored(tree, node, exploration):  # type: ignore[no-untyped-def]
    """Returns the edge to follow, by UCT; a virtual visit is worth the mean of the node's real visits."""
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
    """Makes a simulation as Boardspace's bot does: a stored move that is illegal in this deal ends it, and its mover scores 0."""
    g = workspace.rows[0]
    node, depth, failed = 0, 0, -1
    while g["status"] < OVER and depth < DEEPEST and node >= 0:
        if tree.nodes[node]["first"] < 0:
            store_moves(tree, node, workspace, g)
            break
        edge = select_stored(tree, node, plan.exploration)
        move = follow_edge(tree, workspace, depth, edge)
        depth += 1
        if not is_legal(g["legal"], move):
            failed = int(g["player"])
            break
        play_move(workspace, move)
        if g["status"] < OVER:
            node = child_of(tree, edge, g)
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
    """Stores the legal moves of this deal in a node, with the virtual visits spread by their weights."""
    n = list_moves(g["legal"], workspace.moves)
    edge = allocate(tree, EDGE_COUNT, n, len(tree.edges))
    if edge < 0:
        return
    share_by_weight(g, workspace.moves, n, workspace.weights)
    for k in range(n):
        workspace.weights[k] *= VIRTUAL_VISITS
    add_edges(tree, node, workspace, n, edge)
