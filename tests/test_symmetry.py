"""The seats are equal: a position whose seats are rotated has the same moves, observations and, with the same chance, the same
continuation. Only the setup and the last roll of a tie (R2.7, R16.2) go by seat number.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from euphoria_env import Game, Rules
from tests.tools.playing import differing, prefer, random_move
from tests.tools.positions import any_position

Position = dict[str, Any]
GAMES = 150
MOVES = 40


def rotated(d: Position, k: int) -> Position:
    """A complete position at the start of a turn, or an ended one, in which everybody sits k seats further on."""
    n = d["rules"]["num_players"]

    def seat(p: int) -> int:
        return (p + k) % n

    def seats(players: list[int]) -> list[int]:
        return sorted(seat(p) for p in players)

    def owners(cards: dict[str, int | None]) -> dict[str, int | None]:
        return {name: None if p is None else seat(p) for name, p in cards.items()}

    turned = {
        **d,
        "player": seat(d["player"]),
        "active": seat(d["active"]),
        "players": [d["players"][(p - k) % n] for p in range(n)],
        "workers": {space: sorted([seat(p), face] for p, face in there) for space, there in d["workers"].items()},
        "markets": {name: {**market, "stars": seats(market["stars"])} for name, market in d["markets"].items()},
        "territories": {name: seats(stars) for name, stars in d["territories"].items()},
        "recruits_out": owners(d["recruits_out"]),
        "tiles_out": owners(d["tiles_out"]),
        "tiles_in": owners(d["tiles_in"]),
    }
    if "ranking" in d:
        turned["winner"] = None if d["winner"] is None else seat(d["winner"])
        turned["ranking"] = [d["ranking"][(p - k) % n] for p in range(n)]
    if "load" in d and "lots" in d["load"]:
        turned["load"] = {**d["load"], "lots": [seat(p) for p in d["load"]["lots"]]}
    return turned


def without_chance(d: Position) -> Position:
    """A position without the generator, and without what is pending (observations and moves show that)."""
    return {name: value for name, value in d.items() if name not in ("generator", "pending", "load")}


def assert_rotated(game: Game, other: Game, k: int) -> None:
    n = game.rules.num_players
    assert other.player == (game.player + k) % n
    assert other.legal() == game.legal()
    for p in range(n):
        assert differing(other.observation((p + k) % n), game.observation(p)) == []
    assert without_chance(other.to_dict()) == without_chance(rotated(game.to_dict(), k))


def play_both(game: Game, other: Game, k: int, move: str) -> bool:
    """Plays a move in both games, with the same chance; False where the seats matter: in the last roll of a tie."""
    n, drawn = game.rules.num_players, len(game.outcomes)
    game.play(move)
    load: dict[str, list[Any]] = {}
    for kind, value in game.outcomes[drawn:]:
        load.setdefault(kind, []).append((value + k) % n if kind == "lots" else value)
    if game.over and "dice" in load:
        return False
    other.load(**load)
    other.play(move)
    assert other.to_dict()["load"] == {}, "something else was drawn"
    return True


def follow(game: Game, k: int, rng: random.Random, moves: int) -> None:
    """Plays on in a position and in the rotated one."""
    other = Game.from_dict(rotated(game.to_dict(), k))
    for _ in range(moves):
        assert_rotated(game, other, k)
        if not game.legal() or not play_both(game, other, k, (prefer if rng.random() < 0.5 else random_move)(game, rng)):
            return
    assert_rotated(game, other, k)


@pytest.mark.parametrize("part", range(5))
def test_random_positions(part: int) -> None:
    rng = random.Random(part)
    for number in range(GAMES // 5):
        game = Game.from_dict({**any_position(rng), "seed": number})
        follow(game, rng.randrange(1, game.rules.num_players), rng, MOVES)


@pytest.mark.parametrize("n", range(2, 7))
def test_games_from_their_first_turn_on(n: int) -> None:
    """With the recruits and tiles that were put in and out of the game, which their owners know (R19.2)."""
    rng = random.Random(n)
    game = Game(Rules(num_players=n, trading=True, recruit_draft=True, market_draft=True, track_draft=True), seed=n)
    while game.turn == 0:
        game.play(random_move(game, rng))
    for k in range(1, n):
        follow(game.clone(), k, rng, 150)
