"""The Gymnasium environment: what the learner sees and is credited with, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

from euphoria_agents import Agent, load, play_match
from euphoria_env import Game, IllegalMove, Rules, actions
from euphoria_env.agent_protocol import IllegalAnswer
from euphoria_env.engine.rewards import REWARD_NAMES
from euphoria_env.envs import GYMNASIUM_ID, register
from euphoria_env.envs.arguments import MOST_UNASKED
from euphoria_env.envs.single import ILLEGAL_REWARD, EuphoriaEnv
from euphoria_env.envs.vector import EuphoriaVectorEnv
from tests.tools.playing import expected_rewards

WEIGHTS, RANDOM = load("weights"), load("random")


class Spy(Agent):
    """Plays like `weights` and notes who was asked, with what."""

    def __init__(self, needs_game: bool = False) -> None:
        self.needs_game = needs_game
        self.seen: list[tuple[np.ndarray, np.ndarray, Any]] = []

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Any = None) -> int:
        self.seen.append((observation.copy(), mask.copy(), game))
        return WEIGHTS.act(observation, mask, rng)


def play(env: EuphoriaEnv, seed: int, learner: Agent = WEIGHTS) -> tuple[list[tuple[Any, ...]], dict[str, Any]]:
    """One game: (action, reward, hash of the observation) for each step, and the last info."""
    rng = np.random.default_rng(seed)
    observation, info = env.reset(seed=seed)
    steps, ended = [], False
    while not ended:
        assert env.observation_space.contains(observation)
        assert info["action_mask"].dtype == np.int8 and np.array_equal(info["action_mask"], env.action_masks())
        assert np.array_equal(np.flatnonzero(info["action_mask"]), env.game.legal_actions())
        assert env.game.player == info["seat"]
        action = learner.act(observation, info["action_mask"], rng)
        observation, reward, terminated, truncated, info = env.step(action)
        ended = terminated or truncated
        steps.append((action, reward, observation.tobytes()))
    assert not info["action_mask"].any()
    return steps, info


@pytest.mark.parametrize("arguments", [{}, {"mask": "observation"}, {"mask": "observation", "mask_dtype": "bool", "events": 3}])
def test_the_checkers_of_gymnasium_and_stable_baselines(arguments: dict[str, Any]) -> None:
    register()  # a second time
    env = gymnasium.make(GYMNASIUM_ID, num_players=2, **arguments).unwrapped
    check_env(env, skip_render_check=True)
    pytest.importorskip("stable_baselines3.common.env_checker").check_env(env)


@pytest.mark.parametrize("seat", [0, 2, "random"])
def test_equal_seeds_give_equal_games(seat: int | str) -> None:
    env = EuphoriaEnv(seat=seat, num_players=3)
    first, info = play(env, 5)
    play(env, 6)
    again, info_again = play(env, 5)
    assert first == again and info["seat"] == info_again["seat"]
    assert play(EuphoriaEnv(seat=seat, num_players=3), 5)[0] == first


def test_a_random_seat_is_any_seat() -> None:
    env = EuphoriaEnv(opponents="random", num_players=3)
    assert {env.reset(seed=seed)[1]["seat"] for seed in range(-40, 0)} == {0, 1, 2}
    env = EuphoriaEnv(opponents="random", seat=1, num_players=3)
    assert {env.reset(seed=seed)[1]["seat"] for seed in range(5)} == {1}


@pytest.mark.parametrize("reward", REWARD_NAMES)
def test_the_learner_is_credited_also_between_their_own_decisions(reward: str) -> None:
    env, wins = EuphoriaEnv(num_players=3, reward=reward), []
    for seed in range(10):
        steps, info = play(env, seed)
        expected = expected_rewards(reward, env.game, [10] * 3)[info["seat"]]
        assert sum(paid for _, paid, _ in steps) == pytest.approx(expected, abs=1e-5)
        assert reward == "stars" or all(paid == 0 for _, paid, _ in steps[:-1])
        assert info["is_success"] == (info["winner"] == info["seat"]) == (info["ranking"][info["seat"]] == 1)
        wins.append(info["is_success"])
    assert 0 < sum(wins) < len(wins)


def test_opponents_sit_in_turn_order_after_the_learner() -> None:
    asked: list[int] = []

    class Named(Spy):
        def __init__(self, seat: int) -> None:
            super().__init__(needs_game=True)
            self.seat = seat

        def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Any = None) -> int:
            assert game.player == self.seat
            asked.append(self.seat)
            return super().act(observation, mask, rng)

    env = EuphoriaEnv(opponents=[Named(3), Named(0), Named(1)], seat=2, num_players=4, max_turns=20)
    play(env, 0)
    assert set(asked) == {0, 1, 3}


def test_a_searching_opponent_gets_a_game_that_hides_what_it_cannot_know() -> None:
    spy = Spy(needs_game=True)
    env = EuphoriaEnv(opponents=spy, num_players=2, seat=0)
    observation, info = env.reset(seed=4)
    rng = np.random.default_rng(4)
    hidden = set()
    for _ in range(25):
        observation, _, terminated, truncated, info = env.step(WEIGHTS.act(observation, info["action_mask"], rng))
        if terminated or truncated:
            break
        hidden.add(tuple(recruit["name"] for recruit in env.game.to_dict()["players"][0]["recruits"] if not recruit["active"]))
    guessed = set()
    for seen, mask, game in spy.seen:
        assert game.player == 1 and np.array_equal(game.observation(1), seen) and np.array_equal(game.mask(), mask)
        guessed.add(tuple(recruit["name"] for recruit in game.to_dict()["players"][0]["recruits"] if not recruit["active"]))
    assert len(guessed) > len(hidden)


@pytest.mark.parametrize("illegal", ["end", "raise"])
def test_an_illegal_action_loses_or_raises_and_says_why(illegal: str) -> None:
    env = EuphoriaEnv(opponents="random", num_players=2, illegal=illegal)
    _, info = env.reset(seed=0)
    before = env.game
    for action in (int(np.flatnonzero(info["action_mask"] == 0)[0]), -1, actions.NUM_ACTIONS):
        env.reset(seed=0)
        if illegal == "raise":
            with pytest.raises(IllegalMove) as error:
                env.step(action)
            assert all(legal in str(error.value) for legal in before.legal()) and env.game == before
            continue
        _, reward, terminated, truncated, told = env.step(action)
        assert (reward, terminated, truncated) == (ILLEGAL_REWARD, True, False)
        assert all(legal in told["illegal"] for legal in env.game.legal())
        assert told["winner"] == -1 and not told["is_success"] and not told["ranking"].any()
        with pytest.raises(ResetNeeded):
            env.step(0)


class Tampering(Agent):
    """Changes all that it gets, and answers illegally."""

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Any = None) -> int:
        wrong = int(np.flatnonzero(mask == 0)[0])
        observation[:], mask[:] = 0, 1
        rng.bit_generator.state = np.random.default_rng(0).bit_generator.state
        return wrong


@pytest.mark.parametrize("batched", [True, False])
def test_an_agent_is_judged_by_a_mask_that_it_never_had(batched: bool) -> None:
    class Batched(Tampering):
        def act_batch(self, observations: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
            wrong = (masks == 0).argmax(axis=1)
            masks[:] = 1
            return wrong

    agent = Batched() if batched else Tampering()
    for env, action in (
        (EuphoriaEnv(opponents=agent, seat=1, num_players=2), 0),
        (EuphoriaVectorEnv(3, opponents=agent, seat=1, num_players=2, threads=1), np.zeros(3, np.int64)),
    ):
        with pytest.raises(IllegalAnswer, match=rf"^the agent .*{type(agent).__name__} answered .*, which is illegal$") as error:
            env.reset(seed=0)
        with pytest.raises(ResetNeeded):
            env.step(action)
        assert error.value.agent.endswith(type(agent).__name__) and error.value.answer in actions.NAMES
        assert "legal are" not in str(error.value) and error.value.answer not in error.value.public


def test_an_agent_cannot_spoil_the_chance_of_another() -> None:
    class Draws(Agent):
        def __init__(self, spoils: bool) -> None:
            self.spoils, self.drawn = spoils, []

        def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Any = None) -> int:
            self.drawn.append(rng.random())
            if self.spoils:
                rng.bit_generator.state = np.random.default_rng(0).bit_generator.state
            return int(mask.argmax())

    def play_in(make: Any) -> Callable[[list[Agent]], Any]:
        return lambda agents: make(opponents=agents, seat=2, num_players=3).reset(seed=1)

    plays = [play_in(EuphoriaEnv), play_in(partial(EuphoriaVectorEnv, 3, threads=1))]
    plays.append(lambda agents: play_match(agents, 2, Rules(num_players=2, max_turns=8), seed=1))
    for play_with in plays:
        honest = []
        for spoils in (True, False):
            agents = [Draws(spoils), Draws(False)]
            play_with(agents)
            honest.append(agents[1].drawn)
        assert honest[0] == honest[1] != [] and len({*honest[0]}) == len(honest[0])


@pytest.mark.parametrize("use", [lambda env: env.step(0), lambda env: env.action_masks(), lambda env: env.render()])
def test_before_reset_everything_says_so(use: Any) -> None:
    with pytest.raises(ResetNeeded, match=r"call reset\(\)"):
        use(EuphoriaEnv(num_players=2, render_mode="ansi"))


def test_wrong_use() -> None:
    env = EuphoriaEnv(num_players=2, max_turns=1)
    with pytest.raises(ValueError, match="options.seat"):
        env.reset(options={"seat": 1})
    with pytest.raises(ValueError, match="options must be a dict"):
        env.reset(options=1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="its rules are"):
        env.reset(options={"position": {"rules": {"num_players": 3}}})
    env.reset(seed=0)
    ended, before = Game(Rules(num_players=2, max_turns=1), seed=0), env.np_random.bit_generator.state
    while not ended.truncated:
        ended.play(ended.legal()[0])
    with pytest.raises(ValueError, match="has ended"):
        env.reset(seed=5, options={"position": ended.to_dict()})
    assert env.np_random.bit_generator.state == before
    for wrong in (0.5, "0", None, True, np.array([0])):
        with pytest.raises(IllegalMove, match="an action is an integer from 0 to 663|not a move"):
            env.step(wrong)
    env.step(np.array(env.action_masks().argmax()))


# ---------------------------------------------------------------------------------------------------------------- its options


def test_reset_from_a_position() -> None:
    env = EuphoriaEnv(num_players=2, seat=0)
    position = {"player": 0, "players": [{"workers": [6, 6], "goods": {"gold": 3}}, {"workers": [1]}]}
    _, info = env.reset(seed=1, options={"position": position})
    assert env.game.to_dict()["players"][0]["workers"] == [6, 6] and env.game.turn == 1
    again = EuphoriaEnv(num_players=2, seat=0)
    again.reset(seed=1, options={"position": position})
    assert again.game == env.game
    env.reset(options={"position": {**position, "player": 1}})
    assert env.game.player == 0 and env.game.turn == 2, "the opponent has moved"
    env.reset()
    assert env.game.turn == 0


# The opponent is to move and wins with the first star, for which it may pay three artifacts; the learner has seven gold.
NEARLY_WON: dict[str, Any] = {
    "player": 1,
    "players": [{"goods": {"gold": 7}}, {"workers": [6], "morale": 4, "artifacts": {"book": 1, "bat": 1, "bear": 1}}],
}
SHORT: dict[str, Any] = {"opponents": "random", "seat": 0, "num_players": 2, "stars_to_win": 1}


def gold(game: Game) -> int:
    """The learner's share of the goods in the position; nothing else gives it any before it decides."""
    return int(game.to_dict()["players"][0].get("goods", {}).get("gold", 0))


def after_one_worker(position: dict[str, Any]) -> dict[str, Any]:
    """The position in which the opponent has placed one of two equal workers, and may place the other."""
    game = Game.from_dict(position)
    game.play("place 6 generator")
    assert game.player == 1 and game.deciding == "further"
    return game.to_dict()


def test_a_position_that_ends_too_soon_begins_again() -> None:
    whole = Game.from_dict({**NEARLY_WON, "rules": {"num_players": 2, "stars_to_win": 1}, "seed": 3}).to_dict()
    whole["players"][1]["workers"] = [6, 6]
    mid_turn = after_one_worker(whole)
    env, first = EuphoriaEnv(**SHORT), []
    for seed in range(30):
        env.reset(seed=seed, options={"position": (whole, NEARLY_WON, mid_turn)[seed % 3]})
        assert gold(env.game) == 7 and env.game.player == 0
        first.append(env.game)
    again = EuphoriaEnv(**SHORT)
    again.reset(seed=7, options={"position": NEARLY_WON})
    assert again.game == first[7]
    games, kept = EuphoriaVectorEnv(40, **SHORT), []
    for _ in range(2):
        games.reset(seed=1, options={"position": [NEARLY_WON, whole, NEARLY_WON, mid_turn] * 10})
        assert all(gold(games.learners.ready.game(i)) == 7 for i in range(40))
        kept.append(games.learners.ready.states.copy())
    assert np.array_equal(*kept)
    games.reset(options={"position": [None, NEARLY_WON] * 20, "reset_mask": np.arange(40) < 20})
    now = games.learners.ready.states
    assert not now["turn"][:20:2].any() and now["turn"][1:20:2].all() and np.array_equal(kept[0][20:], now[20:])


def test_a_position_in_which_the_learner_is_never_asked() -> None:
    last = {"player": 1, "turn": 9, "players": [{}, {"workers": [6, 6]}]}
    mid_turn = after_one_worker({**last, "rules": {"num_players": 2, "max_turns": 9}, "seed": 3})
    arguments: dict[str, Any] = {"opponents": "random", "seat": 0, "num_players": 2, "max_turns": 9}
    env, games = EuphoriaEnv(**arguments), EuphoriaVectorEnv(3, **arguments)
    of_one, of_many = ([{"position": one} for one in (last, mid_turn)], [{"position": [None, last, mid_turn]}])
    for made, options in [*((env, one) for one in of_one), *((games, one) for one in of_many)]:
        with pytest.raises(ValueError, match=rf"{MOST_UNASKED} games in a row ended before the learner was asked"):
            made.reset(seed=0, options=options)
        with pytest.raises(ResetNeeded):
            made.step(np.zeros(3, np.int64) if made is games else 0)
        made.reset(seed=0)


# ------------------------------------------------------------------------------------------------ who decides, who is asked


@pytest.mark.parametrize("answer", [-1, "no action", None], ids=str)
@pytest.mark.parametrize("mask", ["info", "observation"])
def test_the_mask_of_an_opponent_that_failed_is_not_shown(answer: Any, mask: str) -> None:
    class Failing(Agent):
        def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Any = None) -> Any:
            if answer is None:
                raise KeyError("nothing left")
            return answer

    env = EuphoriaEnv(opponents=Failing(), seat=0, num_players=2, mask=mask)
    for seed in range(3):
        with pytest.raises((IllegalAnswer, KeyError)):
            env.reset(seed=seed)
            while True:
                env.step(int(env.action_masks().argmax()))
        assert env.game.player == 1 and len(env.game.legal()) and not env.action_masks().any()
        with pytest.raises(ResetNeeded):
            env.step(0)


class AskedInBatches:
    """An agent that is asked for many games at a time alone."""

    def __init__(self, agent: Any) -> None:
        self.act_batch = agent.act_batch

    def act(self, *_: Any) -> int:
        pytest.fail("it was asked alone")


@pytest.mark.parametrize("opponents", [["random"] * 3, ["ppo"] * 3, ["random", "weights", "random"]], ids=str)
def test_one_game_alone_is_played_as_in_a_batch(opponents: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The short way of asking built-in agents gives the same games as `act_batch`."""
    for module in ("agent_protocol", "envs.opponents"):  # also for `AskedInBatches`
        monkeypatch.setattr(f"euphoria_env.{module}.keeps_games_apart", lambda agent: True)
    agents = {spec: load(spec) for spec in opponents}
    batched = {spec: AskedInBatches(agent) for spec, agent in agents.items()}
    for seed in range(2):
        envs = (EuphoriaEnv(opponents=[of[spec] for spec in opponents], max_turns=12) for of in (agents, batched))
        first, second = (play(env, seed, RANDOM)[0] for env in envs)
        assert first == second
