"""The PettingZoo environment: PettingZoo's own tests, and what they leave open."""

from __future__ import annotations

import copy
import pickle
import random
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from pettingzoo.test import api_test, render_test, seed_test
from pettingzoo.test.state_test import test_state as check_state
from pettingzoo.test.state_test import test_state_space as check_state_space
from pettingzoo.utils import wrappers

from euphoria_env import IllegalMove, Rules, actions, env, raw_env
from euphoria_env.engine.rewards import REWARD_NAMES
from tests.test_state_machines import NO_ACTIONS
from tests.tools.playing import all_rules, random_game

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
MAKERS = pytest.mark.parametrize("make", [env, raw_env], ids=["env", "raw_env"])
REWARDS = pytest.mark.parametrize("reward", REWARD_NAMES)


def legal_move(environment, rng: random.Random) -> int:
    """A legal action of the agent who decides."""
    return int(rng.choice(np.flatnonzero(environment.observe(environment.agent_selection)["action_mask"])))


@MAKERS
@REWARDS
@pytest.mark.parametrize("n", range(2, 7))
def test_the_api(make, reward: str, n: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # It would like a plain array better than PettingZoo's own convention for masks.
        warnings.filterwarnings("ignore", "Observation (space for each agent|is not a NumPy array)")
        api_test(make(num_players=n, max_turns=12, reward=reward), num_cycles=150)


@MAKERS
def test_the_api_with_every_option(make) -> None:
    for rules in all_rules():
        api_test(make(**{**rules.to_dict(), "max_turns": 6}), num_cycles=60)


@MAKERS
@pytest.mark.parametrize("n", range(2, 7))
def test_equal_seeds(make, n: int) -> None:
    seed_test(lambda: make(num_players=n, max_turns=12, trading=n == 3, recruit_draft=n == 4), num_cycles=60)


@MAKERS
def test_rendering(make, capsys: pytest.CaptureFixture[str]) -> None:
    render_test(lambda render_mode: make(num_players=3, max_turns=12, render_mode=render_mode))
    capsys.readouterr()


@REWARDS
def test_what_an_agent_has_collected_between_its_decisions(reward: str) -> None:
    """`last()` gives all rewards since the agent's own last decision; over a game they sum up."""
    rng = random.Random(1)
    for seed in range(3):
        environment = env(num_players=2, max_turns=60, reward=reward)
        environment.reset(seed=seed)
        collected, given = dict.fromkeys(environment.agents, 0.0), dict.fromkeys(environment.agents, 0.0)
        for agent in environment.agent_iter():
            observation, r, terminated, truncated, _ = environment.last()
            collected[agent] += r
            action = None if terminated or truncated else int(rng.choice(np.flatnonzero(observation["action_mask"])))
            environment.step(action)
            if action is not None:
                for name, value in environment.rewards.items():
                    given[name] += value
        assert collected == pytest.approx(given)
        assert sum(given.values()) == pytest.approx(0)


def test_the_same_seed_and_the_next_game() -> None:
    environment, other, games = raw_env(num_players=2), raw_env(num_players=2), []
    for seed in (5, None):
        for one in (environment, other):
            one.reset(seed=seed)
        games.append(environment.game)
        assert environment.game == other.game
    other.reset(seed=5)
    assert other.game == games[0] != games[1]
    with pytest.raises(ValueError, match="seed"):
        environment.reset(seed="x")


@MAKERS
def test_reset_from_a_position(make) -> None:
    environment = make(num_players=3, max_turns=9)
    position = {"player": 2, "players": [{}, {}, {"workers": [6, 6], "goods": {"gold": 3}}]}
    environment.reset(seed=3, options={"position": position})
    assert environment.agent_selection == "player_2"
    game = environment.unwrapped.game
    assert game.describe()["players"][2]["workers"] == [6, 6] and game.rules == Rules(num_players=3, max_turns=9)
    environment.reset(seed=3, options={"position": position})
    assert environment.unwrapped.game == game, "what the position leaves out comes from the seed"
    environment.reset(options={})
    assert environment.unwrapped.game.turn == 0


def test_the_registry_of_pettingzoo() -> None:
    pettingzoo = pytest.importorskip("pettingzoo", "1.26")
    environment = pettingzoo.make("aec", "euphoria_env/euphoria-v0", num_players=2)
    environment.reset(seed=1)
    assert environment.metadata["name"] == "euphoria_v0" and environment.num_agents == 2


@pytest.mark.parametrize("n", [2, 6])
def test_the_state_as_pettingzoo_wants_it(n: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*Illegal move")
        check_state_space(env(num_players=n, max_turns=12))
        check_state(env(num_players=n, max_turns=12), 30)


def test_the_size_of_pictures() -> None:
    pytest.importorskip("resvg_py")
    for size in ((160, 112), (200, 50), (50, 200)):
        environment = raw_env(num_players=2, render_mode="rgb_array", render_size=size)
        environment.reset(seed=1)
        picture = environment.render()
        assert picture.shape == (size[1], size[0], 3) and picture.dtype == np.uint8 and picture.std() > 5


@pytest.mark.parametrize(
    "use",
    [
        lambda env: env.step(0),
        lambda env: env.observe("player_0"),
        lambda env: env.last(),
        lambda env: env.state(),
        lambda env: env.render(),
        lambda env: next(iter(env.agent_iter())),
    ],
)
def test_before_reset_everything_says_so(use) -> None:
    environment = raw_env(num_players=2, render_mode="ansi")
    with pytest.raises(ResetNeeded, match=r"no game has begun.*call reset\(\)"):
        use(environment)
    assert not hasattr(environment, "agents") and not hasattr(environment, "nothing")
    environment.reset(seed=1)
    assert environment.agents


@pytest.mark.parametrize("option", [{"mask": "info"}, {"mask_dtype": "bool"}], ids=str)
def test_masks_in_infos_alone_or_of_another_type(option) -> None:
    environment, usual = env(num_players=3, max_turns=3, **option), env(num_players=3, max_turns=3)
    for one in (environment, usual):
        one.reset(seed=1)
    for _ in environment.agent_iter():
        assert environment.last()[1:4] == usual.last()[1:4]
        for agent in environment.agents:
            seen, expected = environment.observe(agent), usual.observe(agent)
            assert environment.observation_space(agent).contains(seen)
            masks = [environment.infos[agent]["action_mask"], *([] if "mask" in option else [seen["action_mask"]])]
            assert all(np.array_equal(mask, expected["action_mask"]) for mask in masks)
            assert all(mask.dtype == option.get("mask_dtype", "int8") for mask in masks)
            assert np.array_equal(seen if "mask" in option else seen["observation"], expected["observation"])
        move = None if any(usual.last()[2:4]) else legal_move(usual, random.Random(1))
        environment.step(move)
        usual.step(move)


def everything(environment) -> list:
    """All that an environment tells."""
    names = ("agents", "agent_selection", "rewards", "_cumulative_rewards", "terminations", "truncations", "infos")
    seen = [environment.observe(agent) for agent in environment.possible_agents]
    return copy.deepcopy([*(getattr(environment, name) for name in names), seen, environment.state(), environment.game])


@pytest.mark.parametrize("rules", [{"num_players": 2, "max_turns": 4}, {"num_players": 4, "trading": True, "max_turns": 3}])
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))], ids=["deepcopy", "pickle"])
def test_what_is_refused_or_written_into_changes_nothing(rules, copied) -> None:
    environment, rng = raw_env(events=3, reward="stars", **rules), random.Random(1)
    environment.reset(seed=3)
    while environment.game.legal():
        before, twin = everything(environment), copied(environment)
        for wrong in (*NO_ACTIONS, int(environment.game.mask().argmin())):
            with pytest.raises(IllegalMove):
                environment.step(wrong)
        for options in (5, {"position": 5}, {"position": {"rules": {"num_players": 5}}}, {"position": {"x": 1}}):
            with pytest.raises(ValueError, match="options|position|x: no such key"):
                environment.reset(options=options)
        seen = [array for agent in environment.agents for array in environment.observe(agent).values()]
        for array in (environment.state(), *seen):
            array[...] = 1
        environment.game.play(environment.game.legal()[0])
        move = legal_move(environment, rng)
        for one in (twin, environment):
            np.testing.assert_equal(everything(one), before)
            one.step(move)
        np.testing.assert_equal(everything(twin), everything(environment))


# ------------------------------------------------------------------------------------------------------------------- ends

ILLEGAL = actions.parse("done")  # nobody may say that when a game begins


def terminating(**arguments: Any) -> Any:
    """`raw_env` in PettingZoo's own wrapper that ends a game after an illegal action."""
    return wrappers.TerminateIllegalWrapper(raw_env(**arguments), illegal_reward=-1)


def by_illegal_action(game: Any) -> None:
    game.step(ILLEGAL)


def by_truncation(game: Any) -> None:
    while not any(game.truncations.values()):
        game.step(int(legal_moves(game)[0]))


def by_a_wrapper_that_cuts_off(game: Any) -> None:
    game.last()
    game.unwrapped.truncations = dict.fromkeys(game.agents, True)


def by_a_wrapper_that_changes_entries(game: Any) -> None:
    assert game.infos
    for agent in game.agents:
        game.unwrapped.terminations[agent] = True


def by_the_position(game: Any) -> None:
    game.reset(options={"position": random_game(Rules(num_players=3, max_turns=3), 1).to_dict()})


ENDS: list[tuple[Callable[..., Any], Callable[[Any], None]]] = [
    (make, end)
    for make in (env, terminating, raw_env)
    for end in (by_illegal_action, by_truncation, by_a_wrapper_that_cuts_off, by_a_wrapper_that_changes_entries, by_the_position)
    if (make, end) != (raw_env, by_illegal_action)  # which raises
]


def legal_moves(game: Any) -> np.ndarray:
    return np.flatnonzero(game.unwrapped.game.mask())


def masks(game: Any) -> Iterator[np.ndarray]:
    """Every mask that anybody can get of a game as it stands."""
    for agent in game.possible_agents:
        seen = game.observe(agent)
        if isinstance(seen, dict) and "action_mask" in seen:
            yield seen["action_mask"]
    yield from (info["action_mask"] for info in game.infos.values())
    if game.agents:
        observation, *_, info = game.last()
        yield info["action_mask"]
        yield game.last(observe=False)[-1]["action_mask"]
        if isinstance(observation, dict):
            yield observation["action_mask"]


@pytest.mark.parametrize(("make", "end"), ENDS)
@pytest.mark.parametrize("arguments", [{}, {"mask": "info"}, {"mask_dtype": "bool", "events": 2}], ids=str)
def test_nobody_has_a_mask_once_a_game_has_ended(make: Any, end: Any, arguments: dict[str, Any]) -> None:
    game = make(num_players=3, max_turns=3, **arguments)
    game.reset(seed=4)
    for _ in range(2):
        game.step(int(legal_moves(game)[-1]))
    assert any(mask.any() for mask in masks(game))
    end(game)
    assert any((*game.terminations.values(), *game.truncations.values()))
    while game.agents:
        assert not any(mask.any() for mask in masks(game))
        game.step(None)
    assert not any(mask.any() for mask in masks(game))


# ------------------------------------------------------------------------------------------------- what was given away


@pytest.mark.parametrize("make", [env, terminating, raw_env])
def test_what_was_given_away_never_changes(make: Any) -> None:
    """Not even when those who are dead are taken out."""
    game, kept = make(num_players=3, max_turns=4, reward="stars"), []
    for illegal in (False, make is env):
        game.reset(seed=1)
        while game.agents:
            told = [game.last(), game.agents, game.infos, game.rewards, game.terminations, game.truncations]
            kept.append((told, copy.deepcopy(told)))
            dead = any((*game.terminations.values(), *game.truncations.values()))
            game.step(None if dead else ILLEGAL if illegal else int(legal_moves(game)[-1]))
    for told, before in kept:
        np.testing.assert_equal(told, before)


def test_info_and_what_others_write_into_it_are_of_one_step() -> None:
    """A wrapper may write into `infos`, and `last` tells of it, until the next step."""
    game = env(num_players=2)
    game.reset(seed=1)
    agent = game.agent_selection
    game.infos[agent]["note"] = 1
    assert game.last()[-1] is game.infos[agent] and game.last()[-1]["note"] == 1
    game.step(int(legal_moves(game)[0]))
    assert all(set(info) == {"action_mask"} for info in game.infos.values())
