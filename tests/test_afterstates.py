"""Afterstates: what each legal move changes, as far as its player may know."""

from __future__ import annotations

import random

import numpy as np
import pytest

from euphoria_env import Batch, Game, Rules, afterstates
from euphoria_env.board import STARS
from tests.tools.playing import all_rules, prefer

COLUMN = {name: k for k, name in enumerate(afterstates.NAMES)}


def openly(game: Game, seat: int) -> dict[str, float]:
    """Some features of a player, read from what a position tells."""
    told = game.describe()
    own = told["players"][seat]
    return {
        "placed": STARS - own["stars"],
        "knowledge": own["knowledge"],
        "morale": own["morale"],
        "available": len(own["workers"]),
        "to_move": float(game.states["turn_player"][0] == seat),
        "cards": min(3, sum(own.get("artifacts", {}).values())),
    }


@pytest.mark.parametrize("rules", list(all_rules())[:10], ids=lambda rules: f"{rules.num_players}-{rules.trading}")
def test_each_move_is_played_once_in_a_deal_of_its_player(rules: Rules) -> None:
    game, rng, n = Game(rules, 4), random.Random(4), rules.num_players
    told = set[str]()
    for decision in range(160):
        if game.over or game.truncated:
            break
        if decision % 4 == 0:
            player, changes, before = game.player, game.afterstates(7), game.fingerprint()
            assert changes.shape == (len(game.legal()), len(afterstates.NAMES)) and changes.dtype == np.float32
            assert not changes[:, COLUMN[f"player_{n}.placed"] if n < 6 else len(COLUMN) : -len(afterstates.FACTS)].any()
            deal = game.determinize(player, 7 + game.turn)
            assert (deal.afterstates(7) == changes).all() and (game.determinize(player, 1).afterstates(7) == changes).all()
            for move, row in zip(game.legal(), changes, strict=True):
                after, drawn = deal.clone(), len(deal.outcomes)
                after.play(move)
                ended, same = after.over or after.truncated, after.turn == game.turn
                facts = [same and after.player == player, same and after.player != player, True, ended, after.winner == player]
                facts[:2] = [fact and not ended for fact in facts[:2]]
                facts[2] = bool(row[COLUMN["chance"]]) if len(after.outcomes) == drawn else True
                assert row[-len(afterstates.FACTS) :].tolist() == facts
                told |= {name for (name, _), fact in zip(afterstates.FACTS, facts, strict=True) if fact}
                if not ended:
                    for k in range(n):
                        seat = (player + k) % n
                        was, now = openly(deal, seat), openly(after, seat)
                        for name in was:
                            assert row[COLUMN[f"player_{k}.{name}"]] == now[name] - was[name], (move, k, name)
            assert game.fingerprint() == before
        game.play(prefer(game, rng))
    assert {"again", "chance"} <= told


def test_a_winning_move_says_so() -> None:
    for seed in range(40):
        game, rng = Game(Rules(num_players=2, stars_to_win=2), seed), random.Random(seed)
        while not game.over:
            before, player = game.clone(), game.player
            game.play(move := prefer(game, rng))
        row = before.afterstates()[before.legal().index(move)]
        if game.winner == player and row[COLUMN["wins"]]:
            assert row[COLUMN["ends"]] and not game.afterstates().size
            return
    raise AssertionError("no game was won by a move whose deal wins too")


def test_a_batch_has_those_of_its_games() -> None:
    rules = [Rules(num_players=2 + i % 5, trading=i % 2 == 0) for i in range(600)]
    batches, rng = [Batch(600, rules, seed=3, threads=threads) for threads in (1, 2)], np.random.default_rng(3)
    for step in range(90):
        moves = batches[0].sample(rng)
        for batch in batches:
            batch.step(moves)
        if step % 30 == 29:
            (begins, changes), (_, other) = (batch.afterstates(step) for batch in batches)
            assert begins.dtype == np.int64 and (np.diff(begins) == batches[0].mask.sum(1)).all()
            assert changes.tobytes() == other.tobytes() and len(changes) == begins[-1]
            for i in range(0, 600, 37):
                assert (batches[0].game(i).afterstates(step) == changes[begins[i] : begins[i + 1]]).all()


def test_dice_follow_from_the_seed() -> None:
    game = Game(Rules(num_players=2), 1)
    while not game.afterstates()[:, COLUMN["chance"]].any():
        game.play(game.legal()[-1])
    found = {game.afterstates(seed).tobytes() for seed in range(20)}
    assert len(found) > 1 and game.afterstates(5).tobytes() == game.afterstates(5).tobytes()
    for wrong in (None, 0.5, "1"):
        with pytest.raises(ValueError, match="seed"):
            game.afterstates(wrong)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="seed"):
            Batch(1, seed=0).afterstates(wrong)  # type: ignore[arg-type]


def test_every_column_has_a_meaning() -> None:
    assert [name for name, _ in afterstates.table()] == list(afterstates.NAMES) and len(set(afterstates.NAMES)) == len(COLUMN)
