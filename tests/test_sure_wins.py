"""A win in hand is found, taken and explained by networks and searches; what is hidden or drawn makes none certain."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from euphoria_agents import load
from euphoria_agents.agent import explained
from euphoria_agents.benchmark.tasks import JUDGE, NETWORKS
from euphoria_agents.matches.match import play_match
from euphoria_agents.play import Agents, Seat, Session
from euphoria_agents.play.study.decision_analysis import best_thoughts
from euphoria_agents.players.search.sure_wins import NEAR, sure_win
from euphoria_env import Game, Rules, actions
from euphoria_env.agent_protocol import query, query_one
from euphoria_env.engine.state import stars_missing
from tests.tools.playing import all_rules

Position = dict[str, Any]
FREE = {"workers": [4], "morale": 4}
CARDS = {"artifacts": {"book": 2, "bat": 1}}
STONES = {"goods": {"stone": 3}}
ALL = FREE | CARDS | STONES
SPENT = {"dilemma": {"artifact": "book", "resolved": "recruit"}}
BAT = {"dilemma": {"artifact": "bat", "resolved": None}}
SPA = {"markets": {"euphorian_market_1": {"tile": "spa_of_fleeting_pleasure", "built": True}}}
THREE = {"territories": {"subterran_territory": [0], "wastelander_territory": [0, 0]}}
SITE = "euphorian_site_1_1"


def position(missing: int, own: Position, other: Position | None = None, players: int = 2, **more: Any) -> Position:
    """A position in which player 0, who lacks so many stars, begins a turn."""
    rules = {"num_players": players, "stars_to_win": missing, **more.pop("rules", {})}
    return {"rules": rules, "seed": 1, "players": [own, other or {}], **more}


def recruits(*active: str) -> Position:
    return {"recruits": [{"name": name, "active": True} for name in active]}


# Positions, and the first move of the win in hand.
WINS = {
    "a territory": (position(1, FREE | STONES), "place 4 nimbus_loft"),
    "an artifact market": (position(1, FREE | CARDS), "place 4 incinerator_of_historical_accuracy"),
    "a built market": (position(1, FREE | {"goods": {"water": 4}, "artifacts": {"bat": 1}}, **SPA), "place 4 euphorian_market_1"),
    "a dilemma": (position(1, {"workers": [4], "morale": 4, "artifacts": {"bat": 1}} | BAT), "dilemma star"),
    "a site": (position(4, FREE | {"goods": {"gold": 1}}, workers={SITE: [[0, 3]]}, **THREE), "place 4 euphorian_site_1_2"),
    "a recruit": (
        position(2, FREE | CARDS | recruits("katy_the_dietician"), allegiance={"euphorian": 10}),
        "place 4 incinerator_of_historical_accuracy",
    ),
    "an ability": (
        position(4, FREE | {"artifacts": {"bat": 1}} | recruits("flartner_the_scammer"), workers={SITE: [[0, 3]]}, **THREE),
        "place 4 euphorian_site_1_2",
    ),
    "a site, and the other needs one star too": (
        position(1, FREE | {"goods": {"gold": 1}}, workers={SITE: [[0, 3]]}),
        "place 4 euphorian_site_1_2",
    ),
    "two workers": (position(2, ALL | {"workers": [4, 4]}), "place 4 incinerator_of_historical_accuracy"),
    "two workers, a recruit": (
        position(3, ALL | {"workers": [4, 4]} | recruits("katy_the_dietician"), allegiance={"euphorian": 10}),
        "place 4 incinerator_of_historical_accuracy",
    ),
}  # fmt: skip
# Positions in which a win depends on what is drawn or hidden, or on another player; or in which there is none.
UNSURE = {
    "nothing": position(1, FREE),
    "one star too few": position(2, FREE | STONES),
    "a card must be drawn": position(
        1, SPENT | {"workers": [4, 4], "morale": 4, "artifacts": {"bat": 1, "box": 1}, "goods": {"energy": 1}}
    ),
    "a worker must be rolled": position(1, FREE | {"workers": [], "goods": {"stone": 3, "food": 1}}, workers={"farm": [[0, 1]]}),
    "another must give": position(
        1, FREE | {"goods": {"stone": 2, "food": 1}}, {"goods": {"stone": 1}}, rules={"trading": True}
    ),
    "the other gets the last star too": position(1, FREE | {"goods": {"gold": 1}}, {"morale": 6}, workers={SITE: [[1, 3]]}),
}  # fmt: skip


def found(given: Position) -> str:
    move = sure_win(Game.from_dict(given))
    return actions.name(move) if move >= 0 else ""


@pytest.mark.parametrize("kind", WINS)
def test_wins_in_hand_are_found_and_lead_to_the_end(kind: str) -> None:
    given, move = WINS[kind]
    game = Game.from_dict(given)
    assert found(given) == move or not move
    turn = game.turn
    while not game.over:
        assert game.turn == turn and game.player == 0
        game.play(sure_win(game))
    assert game.winner == 0


@pytest.mark.parametrize("kind", UNSURE)
def test_what_is_not_certain_is_none(kind: str) -> None:
    assert found(UNSURE[kind]) == ""


def certain(game: Game, move: int) -> bool:
    """Whether a move wins, or leads to another decision with a win in hand, whatever is drawn: by the list of what may follow."""
    seat, turn = game.player, game.turn
    for _, outcomes in game.chance(move, limit=3000) or []:
        after = game.clone()
        after.play(move, outcomes=outcomes)
        if not (after.winner == seat if after.over else after.player == seat and after.turn == turn and sure_win(after) >= 0):
            return False
    return True


def near_the_end(number: int, seed: int) -> list[Game]:
    """Decisions of players who lack few stars, in games with all options."""
    rng, weights, games = np.random.default_rng(seed), load("weights"), list[Game]()
    rules = [*all_rules()]
    while len(games) < number:
        one = rules[int(rng.integers(len(rules)))]
        game = Game(dataclasses.replace(one, stars_to_win=int(rng.integers(1, 6))), int(rng.integers(2**40)))
        while not (game.over or game.truncated):
            if game.turn and stars_missing(game.states[0], game.player) <= NEAR and rng.random() < 0.2:
                games.append(game.clone())
            game.play(weights.act(game.observation(game.player), game.mask(), rng))
    return games[:number]


def test_wins_are_certain_and_depend_on_what_the_player_knows_alone() -> None:
    wins = listed = 0
    for game in near_the_end(3000, 1):
        move, seat = sure_win(game), game.player
        before = game.states.copy()
        assert all(sure_win(game.determinize(seat, seed)) == move for seed in (1, 2))
        assert (game.states == before).all()
        if move >= 0:
            wins += 1
            listed += game.chance(move, limit=3000) is not None
            assert all(certain(game.determinize(seat, seed), move) for seed in (3, 4)), game.to_dict()
    assert wins >= listed > 50


# ------------------------------------------------------------------------------------------------------------------- agents

TAKERS = ["ppo", "mcts:20", "mcts:5:weights", "mcts:10:ppo", "mcts:5:ppo+greedy"]


def asked(agent: Any, game: Game) -> int:
    """The move that a match gets of an agent."""
    seat, rng = game.player, np.random.default_rng(0)
    given = game.observation(seat), game.mask(), rng
    one = query_one(agent, *given, lambda: game.determinize(seat, 9))
    rng = np.random.default_rng(0)
    many = query(agent, given[0][None], given[1][None], rng, lambda _: game.determinize(seat, 9))[0]
    assert many.tolist() == [one]
    return one


@pytest.mark.parametrize("spec", TAKERS)
def test_agents_take_wins_and_say_so(spec: str) -> None:
    agent = load(spec)
    for given, _ in WINS.values():
        game = Game.from_dict(given)
        move = sure_win(game)
        assert asked(agent, game) == move
        seat, seen = game.player, game.observation(game.player)
        said = explained(agent, seen, game.mask(), np.random.default_rng(0), game.determinize(seat, 9))
        best = best_thoughts(said["moves"], 1)[0]
        assert (best["action"], best["value"], said["seats"]) == (move, 1.0, [1.0, 0.0])
        assert sum(one["prior"] or 0 for one in said["moves"]) == pytest.approx(1)


def test_frozen_agents_play_as_ever() -> None:
    network = NETWORKS["network"]
    frozen, judge = load(network), load(JUDGE.replace("200", "8", 1))
    assert not frozen.takes_wins and not judge.takes_wins  # type: ignore[attr-defined]
    for given, _ in WINS.values():
        game = Game.from_dict(given)
        seen, mask = game.observation(0), game.mask()
        move = frozen.act(seen, mask, np.random.default_rng(0))
        assert (
            asked(frozen, game) == move
            and explained(frozen, seen, mask, np.random.default_rng(0), game)["moves"][0]["value"] is None
        )
    given = UNSURE["nothing"]
    assert asked(load("ppo"), Game.from_dict(given)) in Game.from_dict(given).legal_actions()


def test_what_people_play_with_takes_and_shows_wins() -> None:
    given, move = WINS["a territory"]
    session = Session.of(Game.from_dict(given), [Seat("Ada"), Seat("Ben", "ppo")], agents=Agents())
    best = best_thoughts(session.hint(0, "ppo")["moves"], 1)[0]
    assert actions.name(best["action"]) == move and best["value"] == 1.0
    session = Session.of(Game.from_dict(given), [Seat("Ada", "ppo"), Seat("Ben")], agents=Agents())
    think = session.thinker()
    assert think is not None and actions.name(think()) == move


def test_in_a_match_no_win_is_passed_by() -> None:
    rules, wins = Rules(num_players=2, stars_to_win=4), 0
    result = play_match([load("ppo"), load("mcts:4:ppo")], 12, rules, seed=3, records=True)
    for text, played in zip(result.records, result.played, strict=True):
        game = Game(rules, played.seed)
        for decided in Game.from_record(text).decided():
            move = sure_win(game)
            wins += move >= 0
            assert move in (-1, decided.action)
            game.play(decided.action)
    assert wins >= 6, "some were taken"
