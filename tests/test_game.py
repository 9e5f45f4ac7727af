"""`Game`: bad input is refused with a message that helps, and changes nothing."""

from __future__ import annotations

import json

import numpy as np
import pytest

from euphoria_env import Game, IllegalMove, Rules, actions
from euphoria_env.board import FACTIONS
from euphoria_env.cards.recruits import FACTION_OF, RECRUIT_NAMES
from euphoria_env.cards.tiles import TILES
from euphoria_env.game_log import queues_of

TWO = {"rules": {"num_players": 2}, "seed": 1}
NICK = {"name": "nick_the_understudy", "active": True}
PARK = {"tile": "bemusement_park"}


POOL, SIX = [name for k, name in enumerate(RECRUIT_NAMES) if FACTIONS[FACTION_OF[k]] == "wastelander"], [*TILES[:6]]
OUTSIDER, OUTSIDE = next(name for name in RECRUIT_NAMES if name not in POOL), TILES[6]
# By option, rules in which it cannot be so (R17.6).
NO_RULES: dict[str, list] = {
    "num_players": [1, 7, "4", True, 3.0],
    "trading": [1],
    "trades_per_turn": [-1, 11],
    "max_turns": [0],
    "track_draft": [None],
    "colour": ["red"],
    "stars_to_win": [0, 11],
    "recruits": [POOL[1:], [*POOL, "nobody"], [*POOL, POOL[0]]],
    "markets": [SIX[1:], [*SIX, "nowhere"], [*SIX, SIX[0]]],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in NO_RULES.items() for value in values])
def test_rules_are_checked(name, value) -> None:
    for make in (Rules.from_dict, lambda rules: Game.from_dict({"rules": rules})):
        with pytest.raises(ValueError, match=rf"rules\.{name}"):
            make({"num_players": 2, name: value})
    for more in ({"num_players": 3, "recruits": POOL}, {"num_players": 2, "market_draft": True, "markets": [*SIX, OUTSIDE]}):
        with pytest.raises(ValueError, match="rules.(recruits|markets)"):
            Rules(**more)


NO_ACTIONS = [
    559.9, np.float32(559.5), b"559", -1, 664, 2**63, -(2**70), float("inf"), float("nan"), True, np.True_, np.array([3]),
    np.array([], int), np.array(3.0), None, int, [3],
]  # fmt: skip
NO_MOVES = [(move, "not a move") for move in ("place 7 farm", "", "fly")]
NO_MOVES += [(move, "lower case with single spaces") for move in ("Place 4 farm", "place  4 farm", "place 4 farm ")]
NO_MOVES += [(action, "an action is an integer from 0 to 663") for action in NO_ACTIONS]


@pytest.mark.parametrize(("move", "named"), NO_MOVES, ids=repr)
def test_what_is_no_move(move, named) -> None:
    game = Game(Rules(num_players=2), seed=1)
    before = game.fingerprint()
    with pytest.raises(ValueError, match=named) as error:
        game.play(move)
    assert isinstance(move, str) or all(legal in str(error.value) for legal in game.legal())
    assert game.fingerprint() == before
    with pytest.raises(ValueError, match=named):
        (actions.parse if isinstance(move, str) else actions.name)(move)


@pytest.mark.parametrize("move", ["place 4 farm", 0, 663, np.int64(5)])
def test_illegal_move_names_itself_and_the_legal_ones(move) -> None:
    game = Game(Rules(num_players=2), seed=1)
    before = game.fingerprint()
    with pytest.raises(IllegalMove, match="is illegal") as error:
        game.play(move)
    assert all(legal in str(error.value) for legal in game.legal())
    assert game.fingerprint() == before and not game.history


def test_actions_round_trip() -> None:
    assert actions.NUM_ACTIONS == 664
    for row in actions.table():
        assert actions.parse(row.name) == row.action and actions.name(row.action) == row.name and row.meaning
    with pytest.raises(ValueError, match="663"):
        actions.name(664)
    with pytest.raises(ValueError, match="not a move"):
        actions.parse(3)  # type: ignore[arg-type]


def _player(**values):
    return {**TWO, "players": [values]}


IMPOSSIBLE = [
    ({**TWO, "colour": 1}, "colour"),
    ({**TWO, "rules": {"num_players": 9}}, "num_players"),
    (_player(hair="red"), "players\\[0\\].hair"),
    (_player(knowledge=7), "players\\[0\\].knowledge"),
    (_player(morale=0), "players\\[0\\].morale"),
    (_player(knowledge=True), "players\\[0\\].knowledge"),
    (_player(workers=[1, 2, 3, 4, 5]), "players\\[0\\].workers"),
    (_player(workers=[]), "players\\[0\\].workers"),
    (_player(workers=[7]), "players\\[0\\].workers"),
    ({**_player(workers=[1, 2, 3]), "workers": {"farm": [[0, 1], [0, 2]]}}, "players\\[0\\].workers"),
    ({**TWO, "workers": {"farm": [[0, 1]] * 5}}, "workers.farm"),
    ({**TWO, "workers": {"farm": [[2, 1]]}}, "workers.farm"),
    ({**TWO, "workers": {"farm": [[0]]}}, "workers.farm"),
    ({**TWO, "workers": {"moon": [[0, 1]]}}, "workers.moon"),
    ({**TWO, "workers": {"wind_salon": [[0, 1], [1, 1]]}}, "workers.wind_salon"),
    ({**TWO, "workers": {"euphorian_tunnel_end": [[0, 1]]}}, "workers.euphorian_tunnel_end"),
    ({**TWO, "workers": {"euphorian_market_1": [[0, 1]]}}, "workers.euphorian_market_1"),
    ({**TWO, "workers": {"euphorian_site_1_1": [[0, 1]], "euphorian_site_1_2": [[1, 1]]}}, "workers.euphorian_site_1"),
    (
        {**TWO, "workers": {"euphorian_site_1_1": [[0, 1]]}, "markets": {"euphorian_market_1": {"built": True}}},
        "workers.euphorian_site_1_1",
    ),
    (_player(goods={"energy": 10001}), "goods.energy"),
    (_player(goods={"oil": 1}), "goods.oil"),
    (_player(morale=1, artifacts={"book": 2}), "artifacts"),
    (_player(morale=6, artifacts={"book": 7}), "artifacts.book"),
    ({**_player(morale=6, artifacts={"book": 4}), "discards": {"book": 3}}, "discards"),
    (_player(recruits=[{"name": "nobody", "active": True}]), "recruits\\[0\\].name"),
    (_player(recruits=[{"name": "nick_the_understudy"}]), "recruits\\[0\\].active"),
    (_player(recruits=[{**NICK, "hat": 1}]), "recruits\\[0\\].hat"),
    (_player(recruits=[NICK] * 2), "recruits\\[1\\].name"),
    (_player(recruits=[{**NICK, "star": True}]), "recruits\\[0\\].star"),
    ({**_player(recruits=[{**NICK, "active": False}]), "allegiance": {"wastelander": 8}}, "recruits\\[0\\].active"),
    ({**_player(recruits=[{**NICK, "active": False}]), "miners": {"wastelander": 6}}, "recruits\\[0\\].active"),
    (_player(stars=9), "stars"),
    (_player(dilemma={"artifact": "bat", "resolved": "maybe"}), "dilemma.resolved"),
    ({**TWO, "players": [{"dilemma": {"artifact": "bat"}}, {"dilemma": {"artifact": "bat"}}]}, "dilemma.artifact"),
    ({**TWO, "players": [{}, {}, {}]}, "players"),
    ({**TWO, "allegiance": {"euphorian": 12}}, "allegiance.euphorian"),
    ({**TWO, "miners": {"euphorian": 10}}, "miners.euphorian"),
    ({**TWO, "miners": {"icarite": 1}}, "miners.icarite"),
    ({**TWO, "territories": {"icarite_territory": [0, 0, 1]}}, "territories.icarite_territory"),
    ({**TWO, "markets": {"euphorian_market_1": {"built": True, "stars": [1, 1]}}}, "markets.euphorian_market_1.stars"),
    ({**TWO, "markets": {"euphorian_market_1": {"stars": [1]}}}, "markets.euphorian_market_1.stars"),
    ({**TWO, "markets": {"euphorian_market_1": {"tile": "casino"}}}, "markets.euphorian_market_1.tile"),
    ({**TWO, "markets": dict.fromkeys(("euphorian_market_1", "subterran_market_1"), PARK)}, "markets.subterran_market_1.tile"),
    ({**TWO, "player": 2}, "player"),
    ({**TWO, "turn": 0}, "turn"),
    ({"rules": {"num_players": 2, "max_turns": 7}, "turn": 8}, "turn"),
    ({**TWO, "offers": 1}, "offers"),
    ({"rules": {"num_players": 2, "trading": True, "trades_per_turn": 2}, "offers": 3}, "offers"),
    ({**TWO, "seed": "x"}, "seed"),
    ({**TWO, "status": "ended"}, "status"),
    ({**TWO, "workers": {"euphorian_tunnel": [0, 3]}}, r"workers.euphorian_tunnel\[0\] must be \[player, face\], not 0"),
    ({**TWO, "workers": {"euphorian_tunnel": [[0, 3], [1, 3]]}}, "workers.euphorian_tunnel: 2 workers"),
    ({**TWO, "winner": 1}, "winner"),
    ({"turn": 2**31 - 2}, "turn"),  # would overflow
    ({"generator": [0, 0]}, "generator"),  # would stand still
    ({"load": []}, "load"),
    ({"tiles_out": dict.fromkeys(TILES[:13])}, "tiles_out"),
    ({"status": "over", "winner": 0, "ranking": [2, 1, 3, 4]}, "ranking"),
    ({"status": "over", "winner": 0, "ranking": [1, 1, 3, 4]}, "ranking"),
    ({"status": "truncated", "winner": None, "ranking": [2, 2, 3, 4]}, "ranking"),
    ({"status": "truncated", "winner": 1, "ranking": [1, 2, 3, 4]}, "winner"),
    (
        {"rules": {"num_players": 2, "recruits": POOL}, "players": [{"recruits": [{**NICK, "name": OUTSIDER}]}]},
        r"players\[0\].recruits",
    ),
    ({"rules": {"num_players": 2, "markets": SIX}, "markets": {"euphorian_market_1": {"tile": OUTSIDE}}}, "euphorian_market_1"),
    ([], "must be an object"),
    (None, "must be an object"),
]


@pytest.mark.parametrize(("position", "named"), IMPOSSIBLE, ids=[named for _, named in IMPOSSIBLE])
def test_impossible_positions_name_the_key(position, named) -> None:
    with pytest.raises(ValueError, match=named):
        Game.from_dict(position)


def test_a_position_at_the_start_of_a_turn_may_be_edited() -> None:
    d = Game.from_dict(TWO).to_dict()
    d["players"][0]["goods"] = {"gold": 5}
    assert Game.from_dict(d).describe()["players"][0]["goods"] == {"gold": 5}


@pytest.mark.parametrize(
    ("load", "named"),
    [
        ({"dice": [0]}, "dice\\[0\\]"),
        ({"dice": 3}, "dice"),
        ({"coins": [1]}, "coins"),
        ({"artifacts": ["gun"]}, "artifacts\\[0\\]"),
        ({"lots": [2]}, "lots\\[0\\]"),
        ({"recruits": ["nick_the_understudy"]}, "held"),
        ({"recruits": ["ben_the_ludologist"] * 2}, "twice"),
    ],
)
def test_impossible_loads_are_refused(load, named) -> None:
    game = Game.from_dict({**TWO, "players": [{"recruits": [NICK]}]})
    before = game.fingerprint()
    with pytest.raises(ValueError, match=named):
        game.load(**{"dice": [1, 2], **load})
    assert game.fingerprint() == before


def test_loaded_outcomes_are_drawn_in_their_order_and_not_copied_at_each_step() -> None:
    rng, tapes = np.random.default_rng(0), []
    dice, lots = rng.integers(1, 7, 2000).tolist(), [0, 1] * 5000
    game, given = Game(Rules(num_players=2, max_turns=5000), 1, {"lots": lots, "dice": dice[:100]}), 100
    for step in range(800):
        if not step % 7:  # more is loaded, so that some wait always
            game.load(dice=dice[given : given + 5])
            given += 5
        if not step % 100:
            game = game.clone()
        if step % 11:
            game.play(game.legal()[-1])
        else:
            known = game.chance(game.legal()[0])
            game.play(game.legal()[0], known[-1][1] if known else [])
        waiting = queues_of(game._log.waiting)
        assert waiting["lots"] == lots and waiting["dice"] == dice[given - len(waiting["dice"]) : given]
        tapes.append(game._log.begin())
    assert len({id(tape) for tape in tapes}) < 100  # a copy of the game has one of its own
    assert Game.from_record(game.to_record()) == game


def test_a_loaded_card_that_is_not_in_the_deck_changes_nothing() -> None:
    game = Game.from_dict(_player(workers=[4], morale=6, artifacts={"book": 6}, goods={"energy": 1}))
    game.load(artifacts=["book"])
    game.play("place 4 euphorian_tunnel")
    before = game.fingerprint()
    with pytest.raises(ValueError, match="not in the deck"):
        game.play("gain artifact")
    assert game.fingerprint() == before


def _record() -> list[str]:
    game = Game(Rules(num_players=2), seed=1)
    for _ in range(12):
        game.play(int(game.legal_actions()[0]))
    game.load(dice=[3])
    game.play(int(game.legal_actions()[0]))
    text = game.to_record()
    assert Game.from_record(text) == game
    assert json.loads(text.splitlines()[0])["seed"] == 1
    return text.splitlines()


@pytest.mark.parametrize("line", [0, 1, 5, -2, -1])
def test_a_corrupted_record_names_the_line(line) -> None:
    lines = _record()
    number = line % len(lines) + 1
    lines[line] = "nonsense"
    with pytest.raises(ValueError, match=f"line {number}:"):
        Game.from_record("\n".join(lines))


def test_a_record_with_another_die_names_the_line() -> None:
    lines = _record()
    at = next(k for k, line in enumerate(lines) if "| dice" in line)
    lines[at] = lines[at][:-1] + ("1" if lines[at][-1] != "1" else "2")
    with pytest.raises(ValueError, match=f"line {at + 1}:"):
        Game.from_record("\n".join(lines))


@pytest.mark.parametrize("text", ["", "{}", "{}\nx", "[]\nx", 5])
def test_what_is_no_record(text) -> None:
    with pytest.raises(ValueError, match="record|line"):
        Game.from_record(text)
