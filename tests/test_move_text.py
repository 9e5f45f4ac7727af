"""Moves are named and priced in one way: equal gains are added up, parts are separated, prices are said alike."""

from __future__ import annotations

import random
import re

import pytest

from euphoria_env import Game, words
from euphoria_env.words import Move
from euphoria_env.words.names import totals
from tests.tools.positions import any_position


def _move(game: Game, notation: str) -> Move:
    return next(move for move in words.legal_moves(game, game.player) if move.notation == notation)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ([("bliss", 1, ""), ("bliss", 1, "allegiance")], ["2 bliss (1 from allegiance)"]),
        ([("artifact", 1, "Kyle")], ["1 artifact (Kyle)"]),
        ([("artifact", 1, "Zong"), ("artifact", 2, "Laura")], ["3 artifacts (1 from Zong and 2 from Laura)"]),
        (
            [("knowledge +", 1, ""), ("energy", 2, ""), ("knowledge +", 1, "Theater")],
            ["knowledge +2 (1 from Theater)", "2 energy"],
        ),
    ],
)
def test_changes_of_one_kind_are_added_up(changes, said) -> None:
    assert totals(changes) == said


def test_an_allegiance_bonus_is_part_of_the_gain() -> None:
    nick = {"name": "sarinee_the_cloud_miner", "active": True}
    players = [{"workers": [3, 1], "recruits": [nick]}, {"workers": [1]}]
    game = Game.from_dict({"rules": {"num_players": 2}, "players": players, "allegiance": {"icarite": 3}})
    assert _move(game, "place 3 cloud_mine").gain.startswith("2 bliss (1 from allegiance), ")


def test_a_price_is_said_alike_when_it_is_offered_and_when_it_is_asked() -> None:
    """A space where the recruit is told in full, because the text of the space is short."""
    kyle = {"name": "kyle_the_scavenger", "active": True}
    game = Game.from_dict({"rules": {"num_players": 2}, "players": [{"workers": [5], "recruits": [kyle]}, {"workers": [1]}]})
    assert "you may raise your knowledge by 2: draw 1 artifact (Kyle)" in _move(game, "place 5 generator").gain
    game.play("place 5 generator")
    assert _move(game, "use kyle_the_scavenger").cost == "knowledge +2"


def test_what_a_price_brings_about_is_no_second_price() -> None:
    """Curtis acts on the morale that a further worker costs, before the rest of the price is chosen (R17.4, R13.10)."""
    curtis = {"name": "curtis_the_propagandist", "active": True}
    player = {"workers": [2, 2], "knowledge": 4, "morale": 4, "goods": {"bliss": 3, "food": 1, "water": 1}, "recruits": [curtis]}
    rules = {"num_players": 2, "doubles_cost_morale": True}
    game = Game.from_dict({"rules": rules, "seed": 1, "players": [player, {"workers": [1]}]})
    game.play("place 2 farm")
    move = next(move for move in words.legal_moves(game, 0) if move.space == "breeze_bar")
    assert (move.cost, move.gain.split(", ")[0]) == ("1 bliss, 1 other commodity, morale -1", "knowledge -1 (Curtis)")


def test_an_offer_asks_the_partner() -> None:
    players = [{"workers": [3], "goods": {"water": 2}}, {"workers": [1], "goods": {"gold": 2, "clay": 1}}]
    game = Game.from_dict({"rules": {"num_players": 2, "trading": True}, "players": players})
    for notation in ("trade +1", "give water"):
        game.play(notation)
        assert game.player == 0
    asking = _move(game, "ask gold")
    assert (asking.group, asking.text) == ("Ask for", "Ask player 1 for 1 gold")


def test_a_comma_only_separates_parts() -> None:
    """In a cost; alternatives within a part have "or" between them."""
    rng, checked = random.Random(1), 0
    for _ in range(120):
        game = Game.from_dict({**any_position(rng), "seed": rng.getrandbits(32)})
        for _ in range(12):
            if not game.legal():
                break
            for move in words.legal_moves(game, game.player):
                for part in filter(None, move.cost.split(", ")):
                    assert re.match(r"\d |(morale|knowledge) [+-]\d|that worker|one of those workers|a pair", part), move
                    checked += " or " in part
                assert len(move.cost) <= 120 and not re.search(r"R\d+\.\d", f"{move.text}{move.cost}{move.gain}{move.risk}"), move
            game.play(rng.choice(game.legal()))
    assert checked > 20
