"""The agents: what the roulette player weighs, the text that names an agent, and matches with their intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from euphoria_agents import load
from euphoria_agents.matches.match import play_match, wilson
from euphoria_agents.players.weights import NEVER, read_observation, weigh
from euphoria_agents.registry import BUILTIN
from euphoria_env import Game, Rules, actions, observations
from euphoria_env.engine.move_set import list_moves
from euphoria_env.engine.state import GAME_DTYPE


def weights(position: dict[str, Any], *moves: str) -> dict[str, float]:
    """The weight of every legal move after some moves from a position."""
    game = Game.from_dict({"seed": 1, **position})
    for move in moves:
        game.play(move)
    row, moves, out = np.zeros(1, GAME_DTYPE)[0], np.empty(actions.NUM_ACTIONS, np.int64), np.empty(actions.NUM_ACTIONS)
    read_observation(game.observation(game.player), game.mask().view(np.int8), row)
    n = list_moves(row["legal"], moves)
    weigh(row, moves, n, out)
    return {actions.name(int(move)): float(weight) for move, weight in zip(moves[:n], out[:n], strict=True)}


def position(workers: list[int], board: dict[str, Any] | None = None, **first: Any) -> dict[str, Any]:
    """A position of four players with only the first one described, and more of the board."""
    return {"rules": {"num_players": 4}, "players": [{"workers": workers, **first}], **(board or {})}


def at_site(*others: list[int]) -> dict[str, Any]:
    """Workers, each a player and a face, at a site that needs four."""
    return {"workers": {f"euphorian_site_1_{slot}": [other] for slot, other in enumerate(others, 3)}}


GOLD, SITE, ARK = {"gold": 1}, "place 3 euphorian_site_1_2", "place 3 ark_of_fractured_memories"
LEADER = {"territories": {"icarite_territory": [1, 1], "subterran_territory": [1, 1, 1]}}  # player 1
PLACED = {"generator": [[0, 1], [0, 2]], "euphorian_site_1_1": [[0, 3]]}
JACKO = [{"name": "jacko_the_archivist", "active": True}]
ICARITES = {"energy": 3, "water": 3, "bliss": 1}


@pytest.mark.parametrize(
    ("given", "moves", "expected"),
    [
        (position([3], morale=6, goods=ICARITES), [], {"place 3 euphorian_tunnel": 10, "place 3 breeze_bar": 10}),
        (position([3], morale=6, goods=ICARITES), [], {"place 3 tank_energy": 15 * 3, "place 3 tank_water": 15 * 3}),
        (position([1, 1, 1, 1], goods={"energy": 3}), [], {"place 1 tank_energy": 0}),  # 15 for each worker short of four
        (position([2, 2, 4], goods={"energy": 1}), [], {"place 2 euphorian_tunnel": 5, "place 4 euphorian_tunnel": 5}),
        *((position([1], goods={"food": food}), [], {"place 1 farm": weight}) for food, weight in ((5, 1), (6, 0), (20, 0))),
        # A site, by the workers that are missing; the weight of a space is spread over the faces that could go there.
        (position([3, 4], at_site(), goods=GOLD), [], {SITE: 10 * 0.2 / 2}),
        (position([3, 4], at_site([1, 1]), goods=GOLD), [], {SITE: 5 * 0.2 / 2}),
        (position([3, 4], at_site([1, 1], [2, 1]), goods=GOLD), [], {SITE: 100 / 2}),
        (position([3, 4], at_site([1, 1], [2, 1]) | LEADER, goods=GOLD), [], {SITE: 100 / 2 * 5 / 10}),  # helps the leader
        (position([3, 4], at_site([3, 1], [2, 1]) | LEADER, goods=GOLD), [], {SITE: 100 / 2}),
        # It never retrieves while it can place; then many, but none from sites.
        (position([1], {"workers": {"generator": [[0, 1]]}}), [], {"retrieve free": NEVER}),
        (position([], {"workers": PLACED}), [], {"retrieve free": 1}),
        (position([], {"workers": PLACED}), ["retrieve free"], {"take euphorian_site_1_1": 0}),
        (position([], {"workers": PLACED}), ["retrieve free", "take 1 generator"], {"take 2 generator": 3, "done": 1}),
        # A full hand draws reluctantly, and pairs are spared.
        (position([3], morale=1, artifacts={"bat": 1}, goods=ICARITES), [], {"place 3 breeze_bar": 0.1}),
        (position([3], morale=1, artifacts={"bat": 1}, goods=ICARITES), ["place 3 euphorian_tunnel"], {"gain artifact": 0.01}),
        (position([3], artifacts={"bat": 2, "book": 1, "bear": 1}, morale=6), [ARK], {"pay pair bat": 1, "pay three": NEVER}),
        (
            position([3], artifacts={"bat": 2, "book": 1}, morale=6, recruits=JACKO),
            [ARK, "pay one"],
            {"pay bat": NEVER, "pay book": 1},
        ),
    ],
)
def test_the_weights_are_those_of_the_table(given: dict[str, Any], moves: list[str], expected: dict[str, float]) -> None:
    found = weights(given, *moves)
    assert {move: found[move] for move in expected} == pytest.approx(expected)


def test_a_small_total_counts_members_and_a_great_one_company() -> None:
    given = position([1], recruits=[{"name": "ben_the_ludologist", "active": True}])
    given["players"] += [{"recruits": [{"name": "ray_the_foreman", "active": True}]}, {}, {}]
    assert weights(given)["place 1 generator"] == pytest.approx(1 + 1 - 1 / 3)
    given["workers"] = {"generator": [[1, 5], [2, 5], [0, 1]]}
    assert weights(given)["place 1 generator"] == pytest.approx(1 + (2 - 1) / 3)


# ------------------------------------------------------------------------------------------------------- all agents


QUICK = {"greedy": "greedy:1", "mcts": "mcts:5", "boardspace": "boardspace:5"}
ALL = [QUICK.get(name, name) for name in BUILTIN if name != "llm"]  # which needs a server: tests/test_llm.py


@pytest.mark.parametrize("spec", ALL)
def test_it_plays_and_equal_seeds_give_equal_games(spec: str) -> None:
    rules = Rules(num_players=2, max_turns=10)
    once, again = (play_match([load(spec), load("random")], 2, rules, seed=4, records=True) for _ in range(2))
    assert once.records == again.records and once.decisions > 10


@pytest.mark.parametrize("spec", ALL)
def test_a_batch_is_played_like_one_after_the_other(spec: str) -> None:
    agent, games = load(spec), [Game(Rules(num_players=n), seed=n) for n in range(2, 7)]
    if agent.needs_game:
        with pytest.raises(ValueError, match="needs a game"):
            agent.act_batch(games[0].observation(0)[None], games[0].mask()[None], np.random.default_rng(0))
        return
    rng = np.random.default_rng(0)
    for _ in range(120):
        seen = np.stack([game.observation(game.player) for game in games])
        masks = np.stack([game.mask() for game in games])
        again = np.random.default_rng()
        again.bit_generator.state = rng.bit_generator.state
        moves = agent.act_batch(seen, masks, rng)
        assert moves.tolist() == [agent.act(o, m.astype(np.int8), again) for o, m in zip(seen, masks, strict=True)]
        assert moves.dtype == np.int64
        for game, move in zip(games, moves, strict=True):
            game.play(int(move))


@pytest.mark.parametrize("spec", ALL)
def test_without_a_legal_move_there_is_none(spec: str) -> None:
    nothing = np.zeros(actions.NUM_ACTIONS, np.bool_)
    with pytest.raises(ValueError, match="needs a game" if load(spec).needs_game else "no legal move"):
        load(spec).act(np.zeros(observations.OBS_SIZE, np.int8), nothing, np.random.default_rng(0))


def test_random_is_uniform() -> None:
    masks = np.zeros((6000, actions.NUM_ACTIONS), np.bool_)
    masks[:, [0, 300, 663]] = True
    moves = load("random").act_batch(np.zeros((6000, observations.OBS_SIZE), np.int8), masks, np.random.default_rng(0))
    found, counts = np.unique(moves, return_counts=True)
    assert found.tolist() == [0, 300, 663] and (abs(counts - 2000) < 150).all()


# ------------------------------------------------------------------------------------------------------- matches


def test_matches_and_their_intervals() -> None:
    with pytest.raises(ValueError, match="needs as many agents"):
        play_match([load("random")], 1, Rules(num_players=2))
    with pytest.raises(ValueError, match="positive"):
        play_match([load("random")] * 2, 0)
    assert wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert wilson(0, 10) == pytest.approx((0.0, 0.2775), abs=1e-4)
    assert wilson(0, 0) == (0.0, 1.0)
