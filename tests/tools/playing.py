"""Ways to play random games in tests."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from euphoria_env import Batch, Game, IllegalMove, Rules, observations
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.cards.tiles import TILES
from euphoria_env.rules import OPTIONS

# What a `Batch` shows.
SHOWN = (
    "player", "mask", "observation", "events", "rewards", "terminated", "truncated", "ranking", "final_observation", "states",
)  # fmt: skip
FIELD_OF = [field.name for field in observations.table() for _ in range(field.size)]  # by entry of an observation
FLAGS = tuple(name for name, option in OPTIONS.items() if option.kind is bool)


def all_rules() -> Iterator[Rules]:
    """Every player count plain, with everything, and with each option alone."""
    for n in range(2, 7):
        yield Rules(num_players=n)
        pools = {"recruits": RECRUIT_NAMES[-6 * n :], "markets": TILES[: 6 + n]} if n % 2 else {}  # the smallest (R17.6)
        yield Rules(num_players=n, trades_per_turn=2, stars_to_win=4 + n, **pools, **dict.fromkeys(FLAGS, True))
    for n, option in zip(itertools.cycle(range(2, 7)), FLAGS, strict=False):
        yield Rules(num_players=n, **{option: True})


def everything(batch: Batch) -> dict[str, bytes]:
    """All that a batch shows, and all that its games go on from."""
    return {name: getattr(batch, name).tobytes() for name in (*SHOWN, "_episodes", "_tapes")}


def other_value(name: str) -> Any:
    """A value of an option that is not its default."""
    option, default = OPTIONS[name], getattr(Rules(), name)
    if option.kind is bool:
        return not default
    if option.kind is tuple:
        return option.names[1:]
    assert option.kind is int, f"how is an option of type {option.kind.__name__} changed?"
    return next(value for value in (option.low, option.low + 1) if value != default)


def prefer(game: Game, rng: random.Random) -> str:
    """A move of a player who finishes games: continues sites begun, uses abilities, retrieves only when necessary."""
    legal = game.legal()
    placing = [move for move in legal if move.startswith("place ")]
    if placing:
        occupied = {space.rsplit("_", 1)[0] for space in game.describe()["workers"] if "_site_" in space}
        begun = [move for move in placing if move.split()[2].rsplit("_", 1)[0] in occupied]
        gainful = [move for move in placing if "_market" in move or move.split()[2] in ("wind_salon", "nimbus_loft")]
        resolving = [move for move in legal if move.startswith("dilemma")]
        return rng.choice(resolving or gainful or begun or placing)
    off_site = [move for move in legal if move.startswith("take ") and "_site_" not in move]
    using = [move for move in legal if move.startswith("use ")]
    return rng.choice(using or off_site or legal)


def random_game(rules: Rules, seed: int, decisions: int = 10**9) -> Game:
    """A game of random moves, to its end or for a number of decisions."""
    game, rng = Game(rules, seed), random.Random(seed)
    while game.ranking is None and decisions:
        game.play(rng.choice(game.legal()))
        decisions -= 1
    return game


def random_move(game: Game, rng: random.Random) -> str:
    """Any legal move."""
    return rng.choice(game.legal())


def paid_for_winning(game: Game, before: Sequence[int]) -> np.ndarray:
    n = game.rules.num_players
    return np.array([1.0 if p == game.winner else -1 / (n - 1) for p in range(n)]) * game.over


def paid_for_rank(game: Game, before: Sequence[int]) -> np.ndarray:
    """Players who share a rank share the mean of their places."""
    n, ranking = game.rules.num_players, game.ranking
    if ranking is None:
        return np.zeros(n)
    places = [[place for place, rank in enumerate(sorted(ranking), 1) if rank == own] for own in ranking]
    return np.array([1 - 2 * (np.mean(shared) - 1) / (n - 1) for shared in places])


def paid_for_stars(game: Game, before: Sequence[int]) -> np.ndarray:
    placed = np.array(before) - stars(game)
    return placed - (placed.sum() - placed) / (game.rules.num_players - 1)


# The rewards of docs/environment.md, from the game after the decision and the stars to place before it.
EXPECTED = {"win": paid_for_winning, "rank": paid_for_rank, "stars": paid_for_stars}


def expected_rewards(kind: str, game: Game, before: Sequence[int]) -> np.ndarray:
    return EXPECTED[kind](game, before)


def active(*names: str) -> list[dict[str, Any]]:
    """Active recruits, as a position has them."""
    return [{"name": name, "active": True} for name in names]


def stars(game: Game) -> list[int]:
    return [player["stars"] for player in game.describe()["players"]]


def differing(a: np.ndarray, b: np.ndarray) -> list[str]:
    """The fields in which two observations differ."""
    return [*dict.fromkeys(FIELD_OF[k] for k in np.flatnonzero(a != b))]


def conserved(d: dict[str, Any]) -> None:
    """Asserts that a position has the right number of everything, and that all tracks are in range."""
    n = d["rules"]["num_players"]
    on_board = [0] * n
    for there in d["workers"].values():
        for player, face in there:
            on_board[player] += 1
            assert 1 <= face <= 6
    held = [0] * 6
    names = ("balloons", "bat", "bear", "bifocals", "book", "box")
    recruits: list[str] = []
    for p, player in enumerate(d["players"]):
        assert d["status"] == "setup" or 1 <= len(player["workers"]) + on_board[p] <= 4
        low = 0 if d["status"] == "setup" else 1
        assert low <= player["knowledge"] <= 6 and low <= player["morale"] <= 6
        assert all(count > 0 for count in player["goods"].values())
        shown = sum(stars.count(p) for stars in d["territories"].values()) + (player["dilemma"]["resolved"] == "star")
        shown += sum(p in market["stars"] for market in d["markets"].values())
        shown += sum(recruit["star"] for recruit in player["recruits"])
        assert player["stars"] >= 0 and player["stars"] + shown == 10
        held = [h + player["artifacts"].get(name, 0) for h, name in zip(held, names, strict=True)]
        recruits += [recruit["name"] for recruit in player["recruits"]]
    assert all(h + d["discards"].get(name, 0) <= 6 for h, name in zip(held, names, strict=True))
    assert len(set(recruits)) == len(recruits)
    assert not set(recruits) & set(d["recruits_out"])
    assert all(0 <= value <= 11 for value in d["allegiance"].values())
    assert all(0 <= value <= 9 for value in d["miners"].values())
    tiles = [market["tile"] for market in d["markets"].values() if market["tile"]]
    assert len(set(tiles)) == len(tiles)
    assert all(len(stars) <= n for stars in d["territories"].values())


def is_sound(game: Game, seed: int = 0) -> None:
    """Asserts that a game is valid and that it can be played on."""
    rng = random.Random(seed)
    for _ in range(31):
        d = game.describe()
        conserved(d)
        assert (d["status"] in ("over", "truncated")) == (game.over or game.truncated) == (not game.legal())
        if not game.legal():
            break
        try:
            game.play(rng.choice(game.legal()))
        except IllegalMove:
            raise
        except ValueError as error:  # a loaded outcome that turns out impossible is refused, and nothing has changed
            assert "the loaded outcome" in str(error) and d["load"]
            assert game.describe() == d
            break
    conserved(game.describe())
    assert Game.from_dict(json.loads(json.dumps(game.to_dict()))) == game
    for player in range(game.rules.num_players):
        assert game.observation(player).min() >= 0
        conserved(game.determinize(player, 1).describe())
    str(game)
