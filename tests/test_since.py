"""A position in the middle of a turn: how the turn began, and what was played since. Nothing else can state such a position."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from euphoria_agents.play.session import Seat, Session
from euphoria_agents.record_steps import Replayed
from euphoria_env import Batch, Game, Rules
from euphoria_env.game import seed_row
from tests.tools.playing import active, all_rules, prefer, random_move

TUNNEL = {
    "rules": {"num_players": 2}, "seed": 1, "workers": {"euphorian_tunnel": [[1, 3]]},
    "players": [{"workers": [4, 4], "goods": {"energy": 1}}, {"workers": [2]}],
}  # fmt: skip
RULES = [*all_rules()]
PLACED = "place 4 euphorian_tunnel"
OVER = {"status": "over", "winner": 0, "ranking": [1, 2]}


def in_json(game: Game) -> Any:
    return json.loads(json.dumps(game.to_dict()))


def any_move(game: Game, rng: random.Random) -> None:
    """Plays a move, sometimes with given outcomes, after outcomes were loaded, or with another generator."""
    kind = rng.random()
    if kind < 0.1:
        game.load(dice=[rng.randint(1, 6)], artifacts=[])
    elif kind < 0.15:
        game.reseed(rng.getrandbits(60))
    move = (random_move if game.turn else prefer)(game, rng)
    listed = game.chance(move, 40) if kind > 0.7 else None
    game.play(move, outcomes=rng.choice(listed)[1] if listed else None)


@pytest.mark.parametrize("rules", RULES, ids=lambda rules: str(rules.num_players))
def test_every_decision_can_be_written_and_read(rules: Rules) -> None:
    rng = random.Random(rules.num_players)
    game, asked = Game(rules, seed=1, load={"dice": [1, 2, 3]}), set()
    for _ in range(90):
        if not game.legal():
            break
        d = in_json(game)
        read = Game.from_dict(d)
        assert read == game and read.to_dict() == d and Game.from_record(read.to_record()) == game
        assert game.deciding != "open" or "since" not in d
        asked.add(game.deciding)
        any_move(game if rng.random() < 0.9 else (game := game.clone()), rng)
    assert len(asked) > 3 and Game.from_record(game.to_record()) == game


def test_since_has_what_was_played_and_loaded() -> None:
    game = Game.from_dict(TUNNEL)
    beginning = game.to_dict()
    game.load(dice=[6])
    assert game.to_dict() == beginning | {"load": {"dice": [6]}}
    game.play(PLACED, outcomes=[("dice", 2)])
    game.load(artifacts=["book"])
    game.reseed(7)
    assert game.describe()["load"] == {} and game.describe()["workers"]["euphorian_tunnel"] == [[0, 4]]
    d = game.to_dict()
    assert d == beginning | {"load": {"dice": [6]}, "since": [
        'load [["dice", 2]]', PLACED, "seed 7",  # which makes void what was loaded before it
    ]}  # fmt: skip
    read = Game.from_dict(d)
    assert read == game and read.history == [f"{PLACED} | dice 2"]
    game.play("gain gold")
    assert "since" in game.to_dict(), "a further worker may be placed"
    game.play("end")
    assert "since" not in game.to_dict() and game.player == 1


@pytest.mark.parametrize(
    ("since", "message"),
    [
        ("place 4 farm", "^since must be a list"), ({}, "^since must be a list"), (None, "^since must be a list"),
        ([4], r"^since\[0\] must be a move or a line of outcomes, not 4$"),
        ([None], r"^since\[0\] must"), ([[PLACED]], r"^since\[0\] must"),
        (["place 3 farm"], r"^since\[0\]: 'place 3 farm' is illegal"), (["gain gold"], r"^since\[0\]: .* is illegal"),
        (["pending"], r"^since\[0\]: "), ([PLACED, PLACED], r"^since\[1\]: .* is illegal"), ([PLACED + " "], r"^since\[0\]"),
        ([PLACED + " | dice 6"], r"^since\[0\]"), (["load"], r"^since\[0\]"), (["load 7"], r"^since\[0\]: load must be"),
        (['load {"dice": [7]}'], r"^since\[0\]: load\.dice\[0\] must"), (['load {"dies": [1]}'], r"^since\[0\]: load\.dies"),
        ([PLACED, 'load {"recruits": ["nobody"]}'], r"^since\[1\]: load\.recruits"),
        (['load [["dice", 6]]'], r"^since\[0\]: a move must follow"), (["load []", "load []"], r"^since\[1\]: a move must"),
        (['load [["dice", 6]]', "seed 3"], r"^since\[1\]: a move must follow"),
        (['load [["dice", 6]]', "place 4 farm"], r"^since\[1\]: outcomes\[0\]: .* cannot follow"),
        (["load []", PLACED], r"^since\[1\]: outcomes: 0 are too few"), (["load " + "[" * 100_000], r"^since\[0\]: JSON"),
        (["seed x"], r"^since\[0\]"), (["seed 1.5"], r"^since\[0\]: seed must"), (["seed"], r"^since\[0\]"),
    ],
)  # fmt: skip
def test_what_cannot_have_been_played_is_refused(since: Any, message: str) -> None:
    """The position that was given does not change."""
    d = {**TUNNEL, "since": since}
    before = copy.deepcopy(d)
    with pytest.raises(ValueError, match=message):
        Game.from_dict(d)
    assert d == before


@pytest.mark.parametrize("end", [OVER, {"status": "truncated", "ranking": [1, 1]}])
def test_nothing_is_played_after_the_end(end: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"^since\[0\]: .*the game has ended$"):
        Game.from_dict({**TUNNEL, **end, "since": [PLACED]})
    assert Game.from_dict({**TUNNEL, **end, "since": []}).legal() == []


@pytest.mark.parametrize("rules", RULES[:6], ids=lambda rules: str(rules.num_players))
def test_the_setup_follows_from_its_generator(rules: Rules) -> None:
    game = Game(rules, seed=5, load={"dice": [6, 5]})
    d = in_json(game)
    assert set(d) == {"rules", "status", "generator", "load"} and Game.from_dict(d) == game
    assert Game.from_dict({"rules": rules.to_dict(), "status": "setup", "seed": 5, "load": {"dice": [6, 5]}}) == game
    game.play(game.legal()[0])
    assert Game.from_dict({**d, "since": game.history}) == game
    for key, value in {"players": [{}], "turn": 1, "player": 0, "winner": None, "miners": {}, "offers": 0}.items():
        with pytest.raises(ValueError, match=f"^{key}: no such key; allowed are rules, seed, status"):
            Game.from_dict({**d, key: value})


@pytest.mark.parametrize("pending", [{}, None, {"depth": 1, "stack": [[37, 0, 0, 0]], "check": "0"}])
def test_the_state_of_a_turn_cannot_be_written(pending: Any) -> None:
    """Not in a position, at the start of a record, or in a stored session, all of which earlier versions wrote."""
    match = "pending: a position that an earlier version wrote in the middle of a turn cannot be read"
    position = {**Game.from_dict(TUNNEL).to_dict(), "pending": pending}
    with pytest.raises(ValueError, match=f"^{match}"):
        Game.from_dict(position)
    header, *rest = Game.from_dict(TUNNEL).to_record().splitlines()
    record = "\n".join([json.dumps({**json.loads(header), "position": position}), *rest])
    with pytest.raises(ValueError, match=f"^line 1: {match}"):
        Game.from_record(record)
    saved = Session.of(Game.from_dict(TUNNEL), [Seat("Ann"), Seat("Bob")]).to_dict()
    with pytest.raises(ValueError, match=f"^record: line 1: {match}"):
        Session.from_dict({**saved, "record": record})


@pytest.mark.parametrize(
    "taken",
    [
        lambda game: game.determinize(0, 1),
        lambda game: Game.from_rows(game.states),
        lambda game: Game.taking(game.states.copy()),
        lambda game: Batch(2, Rules(num_players=3), seed=4).game(1),
    ],
)
def test_a_game_from_a_bare_row_does_not_know_how_its_turn_began(taken: Callable[[Game], Game]) -> None:
    game = Game.from_dict(TUNNEL)
    game.play(PLACED)
    bare = taken(game)
    for write in (bare.to_dict, bare.to_record, bare.clone().to_dict):
        with pytest.raises(ValueError, match="^this game was taken from its state in the middle of a turn, and does not know"):
            write()
    assert bare.describe()["players"] and str(bare)
    while bare.deciding != "open":
        bare.play(bare.legal()[0])
    assert Game.from_dict(bare.to_dict()) == bare
    bare.play(bare.legal()[0])
    assert Game.from_dict(bare.to_dict()) == bare


def test_a_seed_decides_all_chance_from_now_on() -> None:
    rng = random.Random(3)
    for rules in RULES[:4]:
        game = Game(rules, seed=3)
        for _ in range(30):
            game.play(prefer(game, rng))
        rows, other = game.states.copy(), game.clone()
        seed_row(rows[0], 11)
        game.load(dice=[1])
        game.reseed(11)
        other.reseed(12)
        assert game == Game.taking(rows) != other and Game.from_dict(in_json(game)) == game
    with pytest.raises(ValueError, match="^seed must"):
        game.reseed("x")  # type: ignore[arg-type]


@pytest.mark.parametrize("rules", RULES[::3], ids=lambda rules: str(rules.num_players))
def test_a_replayed_game_knows_every_turn(rules: Rules) -> None:
    """Also where it began in the middle of one, and where outcomes wait."""
    rng, start = random.Random(4), Game(rules, seed=2)
    for _ in range(rng.randrange(9)):
        any_move(start, rng)
    game = Replayed.from_dict(start.to_dict())
    for _ in range(60):
        if game.legal():
            any_move(game, rng)
    for ply, rows in enumerate([*game.before, game.states]):
        there = game.at(ply)
        assert there.states.tobytes() == rows.tobytes()
        assert Game.from_dict(in_json(there)) == there == Game.from_record(there.to_record())
    assert game.at(len(game.before)) == game


def test_the_deepest_stack_of_play_can_be_written_and_read() -> None:
    """A worker of a double on the tank bumps that of the owner of Amanda and Brian, who is asked what to pay."""
    bumper = {"workers": [4, 4], "knowledge": 2, "morale": 4, "goods": {"energy": 3}}
    bumper |= {"recruits": active("chase_the_miner", "julia_the_thought_inspector", "phil_the_spy")}
    bumped = {"workers": [2], "goods": {"food": 1, "bliss": 1}}
    bumped |= {"recruits": active("amanda_the_broker", "brian_the_viticulturist")}
    position = {"rules": {"num_players": 2}, "seed": 1, "players": [bumper, bumped], "workers": {"tank_energy": [[1, 5]]}}
    game = Game.from_dict(position)
    game.play("place 4 tank_energy")
    game.play("use amanda_the_broker")
    assert game.legal() == ["pay food", "pay bliss"] and game.states["depth"] == 12
    assert Game.from_dict(game.to_dict()) == game == Game.from_record(game.to_record())
