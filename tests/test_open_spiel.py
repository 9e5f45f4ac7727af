"""The game for OpenSpiel. Only `make test-clients` installs OpenSpiel, and runs this file; elsewhere it is skipped.

`python -m tests.test_open_spiel`, in that environment, writes the kept playthrough again.
"""

from __future__ import annotations

import copy
import json
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")

from open_spiel.python.algorithms import generate_playthrough, ismcts, mcts  # noqa: E402

from euphoria_env import Game  # noqa: E402
from euphoria_env.envs import open_spiel  # noqa: E402, F401 (it registers the game)
from euphoria_env.event_kinds import KINDS  # noqa: E402
from tests.tools.playing import FLAGS, expected_rewards, stars  # noqa: E402

pytestmark = pytest.mark.filterwarnings("default")  # OpenSpiel's own
KEPT = Path(__file__).parent / "golden" / "open_spiel.txt"
OWN_TESTS = {
    "open_spiel.integration_tests.api_test": "--test_only_games=python_euphoria",
    "open_spiel.python.tests.games_sim_test": "GamesSimTest.test_multiplayer_game_3p_python_euphoria",
}
SHORT = {"players": 3, "stars_to_win": 1, "max_turns": 40}


def load(**parameters: Any) -> Any:
    return pyspiel.load_game("python_euphoria", SHORT | parameters)


def decisions(state: Any, seed: int) -> Iterator[Any]:
    """The state before every decision of a random game, and at the end."""
    rng = random.Random(seed)
    while not state.is_terminal():
        if not state.is_chance_node():
            yield state
        state.apply_action(rng.choice(state.legal_actions()))
    yield state


def playthrough() -> str:
    """OpenSpiel's record of a short game, without tensors and blank lines, for length."""
    game = "python_euphoria(players=2,stars_to_win=1,max_turns=4,reward=rank,chance_samples=8,events=0)"
    lines = generate_playthrough.playthrough_lines(game, seed=1)
    return "".join(f"{line}\n" for line in lines if line and "Tensor(" not in line)


@pytest.mark.parametrize("players", range(2, 7))
def test_random_simulations_of_openspiel(players: int) -> None:
    everything = load(players=players, **dict.fromkeys(FLAGS, True))
    pyspiel.random_sim_test(everything, num_sims=1, serialize=True, verbose=False)
    sampled = load(players=players, chance_samples=1, reward="stars")
    assert sampled.get_type().chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC
    pyspiel.random_sim_test(sampled, num_sims=1, serialize=False, verbose=False)


@pytest.mark.parametrize("module", OWN_TESTS)
def test_own_tests_of_openspiel(module: str) -> None:
    code = f"import euphoria_env.envs.open_spiel, runpy; runpy.run_module({module!r}, run_name='__main__', alter_sys=True)"
    done = subprocess.run([sys.executable, "-c", code, OWN_TESTS[module]], capture_output=True, text=True)
    assert done.returncode == 0 and re.search(r"Ran [1-9]\d* test", done.stderr), done.stderr


def test_the_kept_playthrough() -> None:
    assert playthrough() == KEPT.read_text(encoding="utf-8")


def test_nobody_sees_what_is_hidden() -> None:
    """A player sees and remembers the same when all that they cannot know is dealt again."""
    sampler, changed = pyspiel.UniformProbabilitySampler(1, 0.0, 1.0), 0
    for state in decisions(load().new_initial_state(), 1):
        for player in range(3 * (not state.is_terminal())):
            other = state.resample_from_infostate(player, sampler)
            for view in ("information_state_string", "information_state_tensor", "observation_string", "observation_tensor"):
                assert getattr(other, view)(player) == getattr(state, view)(player)
            changed += other.observation_string((player + 1) % 3) != state.observation_string((player + 1) % 3)
    assert changed


def test_the_string_has_perfect_recall() -> None:
    """It tells two games apart in which everything is the same but the order of two moves."""
    start, ends = {"players": [{"workers": [3, 4], "recruits": []}, {"workers": [2], "recruits": []}]}, []
    for order in (1, -1):
        state = load(players=2).new_initial_state(start)
        for move in ["place 3 generator", "place 2 cloud_mine", "place 4 aquifer"][::order]:
            state.apply_action(state.string_to_action(move))
        ends.append(state)
    for player in range(2):
        assert len({end.observation_string(player) for end in ends}) == 1
        assert len({end.information_state_string(player) for end in ends}) == 2


def test_the_tensor_ends_with_the_last_events() -> None:
    for state in decisions(load(events=5).new_initial_state(), 2):
        for player in range(3):
            _, _, told, _ = state.information_state_string(player).split("\n")
            words = [event.split() for event in told.removeprefix("events: ").split(", ")[-5:]]
            kinds = [[KINDS.index(kind), (int(who) - player) % 3 if who != "-1" else -1] for kind, who, _, _ in words]
            assert np.reshape(state.information_state_tensor(player)[-20:], (5, 4))[:, :2].tolist() == kinds


@pytest.mark.parametrize("reward", ["win", "rank", "stars"])
def test_it_is_the_game_of_the_engine(reward: str) -> None:
    total, before = np.zeros(3), [10, 10, 10]
    for state in decisions(load(reward=reward).new_initial_state(), 3):
        game = Game.from_dict(json.loads(str(state))["position"])
        total += expected_rewards(reward, game, before)
        before = stars(game)
        assert state.returns() == pytest.approx(total)
        assert [state.action_to_string(action) for action in state.legal_actions()] == game.legal()
        assert state.observation_tensor(1) == game.observation(1).tolist()
        again = load(reward=reward).new_initial_state(game.to_dict())
        assert (again.legal_actions(), again.observation_tensor(2)) == (state.legal_actions(), state.observation_tensor(2))


@pytest.mark.parametrize("samples", [1, 64])
def test_a_copy_has_the_same_future_and_lets_the_original_be(samples: int) -> None:
    game = load(chance_samples=samples)
    state = next(decisions(game.new_initial_state(), 4))
    text, copies = str(state), [copy.deepcopy(state), state.clone(), game.deserialize_state(state.serialize())]
    assert len({str(end) for one in copies for *_, end in [decisions(one, 5)]}) == 1
    assert str(state) == text
    first = [str(next(decisions(game.new_initial_state(), 4))) for _ in range(2)]
    assert (first[0] != first[1]) == (samples == 1)  # a sampled stochastic game is another one each time


def test_search() -> None:
    game, chance = load(players=2), np.random.RandomState(1)
    evaluator = mcts.RandomRolloutEvaluator(1, chance, max_length=10)
    searches = [mcts.MCTSBot(game, 1.4, 8, evaluator, random_state=chance), ismcts.ISMCTSBot(game, evaluator, 1.4, 8)]
    state = game.new_initial_state()
    while not state.is_terminal():
        state.apply_action(0 if state.is_chance_node() else searches[state.current_player()].step(state))
    assert sum(state.returns()) == 0


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"players": 7}, "num_players must be an integer from 2 to 6, not 7"),
        ({"reward": "money"}, "reward must be one of win, rank, stars, not 'money'"),
        ({"chance_samples": 0}, "chance_samples must be an integer from 1 to 65536, not 0"),
        ({"events": -1}, "events must be an integer from 0 to 1024, not -1"),
        ({"markets": "bazaar"}, "rules.markets"),
        ({"money": 1}, "Unknown parameter 'money'"),
    ],
)
def test_bad_parameters(parameters: dict[str, Any], error: str) -> None:
    with pytest.raises((ValueError, pyspiel.SpielError), match=re.escape(error)):
        load(**parameters)


if __name__ == "__main__":
    KEPT.write_text(playthrough(), encoding="utf-8")
