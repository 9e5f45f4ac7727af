"""Networks that meet cards by what is printed on them, not by their names (`train --cards features`).

The weights of the first layer from an entry that stands for a card, and those of the last one to a move that names one, are made
of the numbers of `euphoria_env.cards.features()`, by matrices that all cards share. So a card that was never in a game of
training has weights, too. A checkpoint has the weights that were made: it plays like any other.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import nn
from torch.nn.utils.parametrize import register_parametrization

from euphoria_agents.network.checkpoint import Features
from euphoria_env import actions
from euphoria_env.board import MAX_PLAYERS, NUM_MARKETS
from euphoria_env.cards import features as card_features
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.cards.tiles import TILES
from euphoria_env.observations import start_of

RECRUIT_FIELDS = ("recruits", *(f"player_{k}.recruits" for k in range(MAX_PLAYERS)), "own_recruits")  # an entry for each card
TILE_FIELDS = ("markets", *(f"player_{k}.penalties" for k in range(MAX_PLAYERS)), "own_tiles")

Group = tuple[np.ndarray, np.ndarray]  # rows of a matrix, and what describes each: (n,) and (n, columns)


class Described(nn.Module):
    """A parametrization of a matrix, or a vector, some of whose rows are descriptions times a matrix of their group.

    Args:
        groups: the rows and their descriptions.
        width: of the matrix; 0: it is a vector.
        spread: standard deviation of what is made in the beginning.
    """

    def __init__(self, groups: list[Group], width: int, spread: float) -> None:
        super().__init__()
        self.register_buffer("rows", torch.from_numpy(np.concatenate([rows for rows, _ in groups])), persistent=False)
        self.shared = nn.ParameterList()
        for k, (_, table) in enumerate(groups):
            self.register_buffer(f"table_{k}", torch.from_numpy(table.astype(np.float32)), persistent=False)
            length = float(np.sqrt((table**2).sum(1).mean()))
            size = (table.shape[1], width) if width else (table.shape[1],)
            self.shared.append(nn.Parameter(torch.randn(size) * (spread / length)))

    def forward(self, own: torch.Tensor) -> torch.Tensor:
        """The matrix; of `own` it has the other rows."""
        made = [getattr(self, f"table_{k}") @ shared for k, shared in enumerate(self.shared)]
        return own.index_copy(0, self.rows, torch.cat(made))


def describe(first: nn.Module, head: nn.Linear, spread: float) -> None:
    """Makes the weights of cards in a network's first layer and head of their descriptions."""
    recruits, tiles = (_scaled(table) for table in card_features()[:2])
    groups = _inputs(first.features, recruits, tiles)
    register_parametrization(first, "weight", Described(groups, first.weight.shape[1], spread))
    moves = _moves(recruits, tiles)
    register_parametrization(head, "weight", Described(moves, head.in_features, 0.01 / head.in_features**0.5))
    register_parametrization(head, "bias", Described(moves, 0, 0.0))


def _scaled(table: np.ndarray) -> np.ndarray:
    """Descriptions whose columns weigh alike, and that add up to 1 on average; columns of zeros are left out.

    So a step of Adam, which moves every number of a shared matrix alike, moves the weights of a card about as far as any others.
    """
    most = np.abs(table).max(0)
    scaled: np.ndarray = table[:, most > 0] / most[most > 0]
    return scaled / np.abs(scaled).sum(1).mean()


def _inputs(features: Features, recruits: np.ndarray, tiles: np.ndarray) -> list[Group]:
    """The features of observations that stand for cards."""
    groups = []
    for names, table in ((RECRUIT_FIELDS, recruits), (TILE_FIELDS, tiles)):
        for name in names:
            groups += _by_entry(features, start_of(name), table)
    for market in range(NUM_MARKETS):
        groups += _by_number(features, start_of("tile") + market, tiles)
    return groups


def _by_entry(features: Features, start: int, table: np.ndarray) -> list[Group]:
    """A group for each feature that an entry has: of all cards this feature."""
    rows = np.stack([np.flatnonzero(features.source == start + k) for k in range(len(table))], 1)
    return [(row, table) for row in rows]


def _by_number(features: Features, entry: int, table: np.ndarray) -> list[Group]:
    """The steps of an entry that is the number of a card + 1; each turns from -1 to 1, and so makes of one card the next."""
    rows = np.flatnonzero(features.source == entry)
    card = np.round(features.offset[rows] - 0.5).astype(int)  # that begins at this step; of the plain feature there is none
    between = np.where((card > 0)[:, None], (table[card] - table[card - 1]) / 2, 0)
    return [(rows, between)]


def _moves(recruits: np.ndarray, tiles: np.ndarray) -> list[Group]:
    """The moves that name cards."""

    def ids(verb: str, names: tuple[str, ...]) -> np.ndarray:
        return np.array([actions.parse(f"{verb} {name}") for name in names])

    return [(ids("use", RECRUIT_NAMES), recruits), (ids("choose", RECRUIT_NAMES), recruits), (ids("choose", TILES), tiles)]
