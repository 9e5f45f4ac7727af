"""The rules of the games of a `Batch`: the same for all, one for each, or drawn by a function for each game that begins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from euphoria_env.board import MAX_PLAYERS
from euphoria_env.engine.state import GAME_DTYPE
from euphoria_env.json_reader import shown
from euphoria_env.rules import OPTIONS, Rules, write_rules

RulesSource = Rules | Sequence[Rules] | Callable[[np.random.Generator], Rules]


class BatchRules:
    """The rules of N games.

    Args:
        given: `Rules` for all games, a list of N, a function that draws those of a game that begins, or None: `Rules()`.

    Attributes:
        given: the argument; of a list, a copy.
        drawn: whether a function draws the rules.
        columns: the number of columns of arrays that have one for each player.
        fewest, most: the smallest and the largest number of players that a game may have.
        rows: (K,) state rows that hold nothing but rules.
        kinds: (N,) int64, the number in `rows` of the rules of a game that begins.

    Raises:
        ValueError: `given` is something else, or a list of another length.
    """

    def __init__(self, n: int, given: RulesSource | None) -> None:
        self.given: Any = Rules() if given is None else given
        self.drawn = callable(given)
        self.kinds = np.zeros(n, np.int64)
        self.columns, self.fewest, self.most = MAX_PLAYERS, OPTIONS["num_players"].low, MAX_PLAYERS
        if self.drawn:
            return
        if isinstance(self.given, Rules):
            each, self.columns = [self.given], self.given.num_players
        else:
            each = self.given = _checked_list(n, self.given)
        players = [rules.num_players for rules in each]
        self.fewest, self.most = min(players), max(players)
        self._write(slice(None), each)

    def _write(self, games: Any, each: list[Rules]) -> None:
        """Makes the rows with which these games begin."""
        numbers = {rules: k for k, rules in enumerate(dict.fromkeys(each))}
        self.rows = np.concatenate([_row_bytes(rules) for rules in numbers]).view(GAME_DTYPE)
        self.kinds[games] = [numbers[rules] for rules in each]

    def draw(self, games: np.ndarray, seed: int, episodes: np.ndarray) -> None:
        """Draws the rules of these episodes of games that begin, if a function does so; errors as for `of`."""
        if self.drawn and len(games):
            numbers = zip(games.tolist(), episodes.tolist(), strict=True)
            self._write(games, [self.of(i, seed, i, episode) for i, episode in numbers])

    def fixed(self, i: int) -> Rules | None:
        """Returns the rules that game i always has; None if they are drawn."""
        if self.drawn:
            return None
        return self.given if isinstance(self.given, Rules) else self.given[i]

    def of(self, i: int, seed: int, *key: int) -> Rules:
        """Returns the rules of game i; a function draws them by the seed and `key`; a `ValueError` names the game if it fails."""
        if (rules := self.fixed(i)) is not None:
            return rules
        try:
            rules = self.given(np.random.default_rng(np.random.SeedSequence(seed % 2**64, spawn_key=key)))
        except Exception as error:
            raise ValueError(f"game {i}: the function `rules` failed: {error!r}") from error
        if not isinstance(rules, Rules):
            raise ValueError(f"game {i}: the function `rules` must return a Rules, not {shown(rules)}")
        return rules


def _checked_list(n: int, given: Any) -> list[Rules]:
    """Returns a copy of a list of N rules."""
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise ValueError(f"rules must be a Rules, a list of them or a function, not {shown(given)}")
    if len(given) != n:
        raise ValueError(f"rules must be a list of {n}, not of {len(given)}")
    for i, rules in enumerate(given):
        if not isinstance(rules, Rules):
            raise ValueError(f"rules[{i}] must be a Rules, not {shown(rules)}")
    return list(given)


@lru_cache(256)
def _row_bytes(rules: Rules) -> np.ndarray:
    """Returns the bytes of a state row that holds nothing but rules."""
    row = np.zeros(1, GAME_DTYPE)
    write_rules(row[0], rules)
    return row.view(np.uint8)
