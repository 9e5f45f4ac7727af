"""The agents: what the roulette player weighs, the text that names an agent, and matches with their intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from euphoria_agents import Agent, load
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


def position(n: int = 4, **first: Any) -> dict[str, Any]:
    """A position with only the first player described."""
    return {"rules": {"num_players": n}, "players": [first]}


# ------------------------------------------------------------------------------------------------------- the weights


def test_tunnels_icarus_and_tank() -> None:
    found = weights(position(workers=[3], morale=6, goods={"energy": 3, "water": 3, "bliss": 1}))
    assert found["place 3 euphorian_tunnel"] == 10
    assert found["place 3 breeze_bar"] == found["place 3 sky_lounge"] == 10
    assert found["place 3 tank_energy"] == found["place 3 tank_water"] == 15 * 3
    assert weights(position(workers=[3], morale=3, artifacts={"bat": 3}, goods={"gold": 3}))["place 3 wind_salon"] == 1
    assert weights(position(workers=[1, 1, 1, 1], goods={"energy": 3}))["place 1 tank_energy"] == 0


def test_the_weight_of_a_space_is_spread_over_faces() -> None:
    found = weights(position(workers=[2, 2, 4], goods={"energy": 1}))
    assert found["place 2 euphorian_tunnel"] == found["place 4 euphorian_tunnel"] == 5


def test_a_small_total_counts_members_and_a_great_one_company() -> None:
    given = position(workers=[1], recruits=[{"name": "ben_the_ludologist", "active": True}])
    given["players"] += [{"recruits": [{"name": "ray_the_foreman", "active": True}]}, {}, {}]
    assert weights(given)["place 1 generator"] == pytest.approx(1 + 1 - 1 / 3)
    assert weights(given)["place 1 aquifer"] == 1
    given["workers"] = {"generator": [[1, 5], [2, 5], [0, 1]]}
    assert weights(given)["place 1 generator"] == pytest.approx(1 + (2 - 1) / 3)


@pytest.mark.parametrize(("stock", "weight"), [(0, 1.0), (4, 1.0), (5, 1.0), (6, 0.0), (20, 0.0)])
def test_a_commodity_is_gathered_up_to_six(stock: int, weight: float) -> None:
    assert weights(position(workers=[1], goods={"food": stock} if stock else {}))["place 1 farm"] == pytest.approx(weight)


@pytest.mark.parametrize(("face_there", "weight"), [([], 10 * 0.2), ([1], 5 * 0.2), ([1, 1], 100)])
def test_sites_by_what_is_missing(face_there: list[int], weight: float) -> None:
    given = position(workers=[3, 4], goods={"gold": 1})
    given["workers"] = {f"euphorian_site_1_{slot + 3}": [[1, face]] for slot, face in enumerate(face_there)}
    assert weights(given)["place 3 euphorian_site_1_2"] == pytest.approx(weight / 2)


def test_a_leader_is_not_helped_to_a_star() -> None:
    given = position(workers=[3, 4], goods={"gold": 1})
    given["workers"] = {"euphorian_site_1_3": [[1, 1]], "euphorian_site_1_4": [[2, 1]]}
    given["territories"] = {"icarite_territory": [1, 1], "subterran_territory": [1, 1, 1]}
    assert weights(given)["place 3 euphorian_site_1_2"] == pytest.approx(100 / 2 * 5 / 10)
    given["workers"] = {"euphorian_site_1_3": [[3, 1]], "euphorian_site_1_4": [[2, 1]]}
    assert weights(given)["place 3 euphorian_site_1_2"] == pytest.approx(100 / 2)


def test_never_retrieves_while_it_can_place() -> None:
    given = position(workers=[1], goods={"food": 1})
    given["workers"] = {"generator": [[0, 1]]}
    found = weights(given)
    assert found["retrieve free"] == found["retrieve food"] == NEVER
    given["players"][0]["workers"] = []
    assert weights(given) == {"retrieve free": 1, "retrieve food": 1}


def test_retrieves_many_but_none_from_sites() -> None:
    given = position(workers=[])
    given["workers"] = {"generator": [[0, 1], [0, 2]], "euphorian_site_1_1": [[0, 3]]}
    found = weights(given, "retrieve free", "take 1 generator")
    assert found == {"take 2 generator": 3, "take euphorian_site_1_1": 0, "done": 1}
    assert weights(given, "retrieve free")["take euphorian_site_1_1"] == 0


def test_a_full_hand_draws_reluctantly() -> None:
    given = position(workers=[3], morale=1, artifacts={"bat": 1}, goods={"energy": 1, "bliss": 1})
    found = weights(given, "place 3 euphorian_tunnel")
    assert found == {"gain gold": 1, "gain artifact": 0.01}
    assert weights(given)["place 3 breeze_bar"] == pytest.approx(0.1)


def test_pairs_are_spared() -> None:
    given = position(workers=[3], morale=6, artifacts={"bat": 2, "book": 1, "bear": 1})
    assert weights(given, "place 3 ark_of_fractured_memories") == {"pay pair bat": 1, "pay three": NEVER}
    given = position(workers=[3], morale=6, artifacts={"bat": 2, "book": 1}, goods={})
    given["players"][0]["recruits"] = [{"name": "jacko_the_archivist", "active": True}]
    found = weights(given, "place 3 ark_of_fractured_memories", "pay one")
    assert found == {"pay bat": NEVER, "pay book": 1}


# ------------------------------------------------------------------------------------------------------- all agents


QUICK = {"greedy": "greedy:1", "mcts": "mcts:5", "boardspace": "boardspace:5"}
ALL = [QUICK.get(name, name) for name in BUILTIN]


def loaded(spec: str) -> Agent:
    """A built-in agent."""
    if spec == "ppo":
        pytest.importorskip("safetensors")
    return load(spec)


@pytest.mark.parametrize("spec", ALL)
def test_it_plays_and_equal_seeds_give_equal_games(spec: str) -> None:
    rules = Rules(num_players=2, max_turns=10)
    once, again = (play_match([loaded(spec), load("random")], 2, rules, seed=4, records=True) for _ in range(2))
    assert once.records == again.records and once.decisions > 10


@pytest.mark.parametrize("spec", ALL)
def test_a_batch_is_played_like_one_after_the_other(spec: str) -> None:
    agent, games = loaded(spec), [Game(Rules(num_players=n), seed=n) for n in range(2, 7)]
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
    with pytest.raises(ValueError, match="needs a game" if loaded(spec).needs_game else "no legal move"):
        loaded(spec).act(np.zeros(observations.OBS_SIZE, np.int8), nothing, np.random.default_rng(0))


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
