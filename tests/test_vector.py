"""The vector environments: the same games as the single one, many at a time, for Gymnasium and for Stable-Baselines3."""

from __future__ import annotations

import copy
import re
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics

from euphoria_agents import Agent, load
from euphoria_env import Batch, Rules, actions, env, raw_env
from euphoria_env.envs import GYMNASIUM_ID, register
from euphoria_env.envs.opponents import Opponents
from euphoria_env.envs.random_moves import sample
from euphoria_env.envs.single import EuphoriaEnv
from euphoria_env.envs.vector import EuphoriaVectorEnv
from euphoria_env.events import KINDS
from euphoria_env.observations import OBS_SIZE, start_of

WEIGHTS = load("weights")
RESULTS = ("ranking", "winner", "is_success")  # of a game, in its last info


class Fixed(Agent):
    """Always answers the same to the same question, so that games can be played twice; counts what all copies are asked."""

    def __init__(self, salt: int = 0) -> None:
        self.salt = salt
        self.questions = np.zeros(1, np.int64)

    def __deepcopy__(self, _: Any) -> Fixed:
        return copy.copy(self)

    @property
    def asked(self) -> int:
        return int(self.questions[0])

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Any = None) -> int:
        self.questions += 1
        bits = np.random.default_rng(int(observation.astype(np.int64).sum()) + 1000 * self.salt)
        return int(WEIGHTS.act(observation, mask, bits))


def run(env: EuphoriaVectorEnv, steps: int, seed: int) -> list[tuple[Any, ...]]:
    """Plays; what was seen, step by step."""
    rng = np.random.default_rng(seed)
    observation, infos = env.reset(seed=seed)
    seen: list[tuple[Any, ...]] = [(observation.tobytes(), infos["seat"].tolist())]
    for _ in range(steps):
        moves = WEIGHTS.act_batch(observation, infos["action_mask"], rng)
        observation, rewards, terminated, truncated, infos = env.step(moves)
        ends = infos.get("final_info", {"ranking": np.zeros(0)})["ranking"].tolist()
        seen.append((observation.tobytes(), rewards.tolist(), terminated.tolist(), truncated.tolist(), ends))
    return seen


# ------------------------------------------------------------------------------------------------------------ one legal move


@pytest.mark.parametrize("kind", [np.bool_, np.int8, np.float32])
def test_sample_draws_every_legal_move_alike(kind: Any) -> None:
    mask, rng = np.zeros(actions.NUM_ACTIONS, kind), np.random.default_rng(0)
    mask[[0, 5, 663]] = 1
    one = np.array([sample(mask, rng) for _ in range(3000)])
    many = sample(np.tile(mask, (3000, 1)), rng)
    for moves in (one, many):
        found, counts = np.unique(moves, return_counts=True)
        assert found.tolist() == [0, 5, 663] and counts.min() > 900
    assert isinstance(sample(mask, rng), int)


def test_sample_says_where_nothing_is_legal() -> None:
    masks, rng = np.zeros((2, actions.NUM_ACTIONS), np.int8), np.random.default_rng(0)
    masks[0, 3] = 1
    with pytest.raises(ValueError, match="mask 1 has no legal move"):
        sample(masks, rng)
    with pytest.raises(ValueError, match="no legal move"):
        sample(masks[1], rng)


# --------------------------------------------------------------------------------------------------- as Gymnasium wants it


def test_shapes_types_and_spaces() -> None:
    env = EuphoriaVectorEnv(5, num_players=3, max_turns=15)
    assert env.observation_space.shape == (5, OBS_SIZE) and env.action_space.shape == (5,)
    observation, infos = env.reset(seed=0)
    rng, ends = np.random.default_rng(0), 0
    for _ in range(100):
        assert env.observation_space.contains(observation)
        assert infos["action_mask"].dtype == np.int8 and infos["action_mask"].shape == (5, actions.NUM_ACTIONS)
        assert env.action_masks().dtype == np.bool_ and np.array_equal(env.action_masks(), infos["action_mask"])
        given = observation, infos["action_mask"]
        kept = copy.deepcopy(given)
        moves = sample(infos["action_mask"], rng)
        assert env.action_space.contains(moves)
        observation, rewards, terminated, truncated, infos = env.step(moves)
        np.testing.assert_equal(given, kept)
        assert [(array.dtype, array.shape) for array in (rewards, terminated, truncated)] == [(float, (5,)), *[(bool, (5,))] * 2]
        ended = terminated | truncated
        assert ended.any() == ("final_obs" in infos)
        if ended.any():
            assert np.array_equal(infos["_final_obs"], ended) and np.array_equal(infos["_final_info"], ended)
            assert all((one is not None) == there for one, there in zip(infos["final_obs"], ended, strict=True))
            assert all(env.single_observation_space.contains(one) for one in infos["final_obs"][ended])
            assert infos["final_info"]["ranking"][ended].min() == 1
        ends += int(ended.sum())
    assert ends > 5


def test_the_wrappers_and_the_registry_of_gymnasium() -> None:
    register()
    made = gymnasium.make_vec(GYMNASIUM_ID, num_envs=4, num_players=2, max_turns=10, reward="rank")
    assert isinstance(made.unwrapped, EuphoriaVectorEnv)
    env = DictInfoToList(RecordEpisodeStatistics(made))
    _, infos = env.reset(seed=1)
    rng, ended, returns = np.random.default_rng(1), 0, np.zeros(4)
    while ended < 6:
        moves = sample(np.stack([info["action_mask"] for info in infos]), rng)
        _, rewards, terminated, truncated, infos = env.step(moves)
        returns += rewards
        for i in np.flatnonzero(terminated | truncated):
            assert infos[i]["episode"]["r"] == pytest.approx(returns[i])
            assert infos[i]["final_info"]["ranking"].shape == (2,) and infos[i]["final_obs"].shape == (OBS_SIZE,)
            returns[i] = 0.0
            ended += 1
    env.close()


# --------------------------------------------------------------------------------------------------------------- the games


SHAPED = {"potential": {"goods": 0.1, "morale": -1.0}, "gamma": 0.9, "end": "stars"}
PLAYED = [((2,), "win", 1), ((3,), "stars", "random"), ((4,), "rank", "random"), ((2, 4, 3), "rank", "random")]
PLAYED += [((3,), SHAPED, "random"), ((2,), SHAPED["potential"], 0)]


@pytest.mark.parametrize(("players", "reward", "seat"), PLAYED)
def test_the_same_games_as_the_single_environment(players: tuple[int, ...], reward: Any, seat: int | str) -> None:
    """Each game is copied into a single environment and played there too, until it ends."""
    n, limit = 4, None if max(players) < 4 else 60
    line_up = [Fixed(k) for k in range(max(players) - 1)]
    each: list[dict[str, Any]] = [{"num_players": players[i % len(players)], "max_turns": limit} for i in range(n)]
    rules: dict[str, Any] = each[0] if len(players) == 1 else {"rules": [Rules(**one) for one in each]}
    env = EuphoriaVectorEnv(n, opponents=line_up, seat=seat, reward=reward, **rules)
    observation, infos = env.reset(seed=3)
    batch, learner, rng = env.learners.ready, Fixed(9), np.random.default_rng(0)
    singles = []
    for i in range(n):
        others = line_up[: each[i]["num_players"] - 1]
        single = EuphoriaEnv(opponents=others, seat=int(infos["seat"][i]), reward=reward, **each[i])
        single.reset(seed=0)
        single._begin(batch.game(i), 0)
        single._asked = True
        singles.append(single)
    running = set(range(n))
    while running:
        moves = np.array([learner.act(o, m, rng) for o, m in zip(observation, infos["action_mask"], strict=True)])
        observation, rewards, terminated, truncated, infos = env.step(moves)
        for i in sorted(running):
            seen, reward_, over, cut, info = singles[i].step(int(moves[i]))
            assert (rewards[i], terminated[i], truncated[i]) == (pytest.approx(reward_), over, cut)
            if over or cut:
                running.remove(i)
                assert np.array_equal(infos["final_obs"][i], seen)
                for name in ("seat", *RESULTS):
                    told = infos["final_info"][name][i]
                    np.testing.assert_equal(told[: each[i]["num_players"]] if name == "ranking" else told, info[name])
            else:
                assert np.array_equal(observation[i], seen) and np.array_equal(infos["action_mask"][i], info["action_mask"])


def test_equal_seeds_give_equal_games() -> None:
    rules: dict[str, Any] = {"num_players": 3, "max_turns": 40, "pool": ["random", "weights"]}
    env = EuphoriaVectorEnv(6, **rules)
    first = run(env, 80, seed=1)
    assert any(any(step[3]) for step in first[1:])
    other = run(env, 80, seed=2)
    assert first != other
    assert run(env, 80, seed=1) == first
    assert run(EuphoriaVectorEnv(6, **rules), 80, seed=1) == first
    unseeded = env.reset()[0]
    assert not np.array_equal(unseeded, env.reset()[0])


# ------------------------------------------------------------------------------------------------------------ the opponents


def test_opponents_are_never_replaced_in_the_middle_of_a_game() -> None:
    first, second, third = Fixed(1), Fixed(2), Fixed(3)
    env = EuphoriaVectorEnv(6, pool=[first, second], num_players=3, max_turns=30)
    observation, infos = env.reset(seed=0)
    rng, opponents = np.random.default_rng(0), env.learners.opponents
    fresh = np.zeros(6, np.bool_)  # which began after the others were set
    for step in range(200):
        if step == 5:
            env.set_opponents(third)
        asked, was_fresh = first.asked + second.asked, fresh.all()
        before = [(int(infos["seat"][i]), [*opponents.at(i)]) for i in range(6)]
        observation, _, terminated, truncated, infos = env.step(WEIGHTS.act_batch(observation, infos["action_mask"], rng))
        fresh |= (terminated | truncated) & (step >= 5)
        for i, ended in enumerate(terminated | truncated):
            seat, sitting = int(infos["seat"][i]), [*opponents.at(i)]
            others = [agent for p, agent in enumerate(sitting) if p != seat]
            assert ended or (seat, others) == (before[i][0], [agent for p, agent in enumerate(before[i][1]) if p != seat])
            assert all(agent.salt in ((3,) if fresh[i] else (1, 2)) for agent in others)
        assert not was_fresh or first.asked + second.asked == asked
    assert fresh.all() and first.asked and second.asked and third.asked
    env.set_opponents("random")
    assert len(opponents.agents) <= 3  # those who left are forgotten


@pytest.mark.parametrize("opponents", ["random", [("random", 1), ("weights", 2)]], ids=["one", "a mixture"])
def test_what_happens_in_a_game_changes_no_other(opponents: Any) -> None:
    """The other games stay equal when the learner of game 0 answers differently, and its game ends more often."""
    told = []
    for answer in ("first", "last", "illegal"):
        env = EuphoriaVectorEnv(3, opponents=opponents, seat="random", illegal="end", num_players=3, stars_to_win=1)
        _, infos = env.reset(seed=7)
        for _ in range(250):
            masks = np.asarray(infos["action_mask"]).astype(bool)
            moves = masks.argmax(1)
            if answer != "first":
                moves[0] = np.flatnonzero(masks[0])[-1] if answer == "last" else (~masks[0]).argmax()
            observations, rewards, *_, infos = env.step(moves)
            told.append([observations[1:].tobytes(), rewards[1:].tobytes(), env.learners.seats[1:].tobytes()])
    assert told[:250] == told[250:500] == told[500:] and len({seats for *_, seats in told}) > 3


def test_a_pool_is_drawn_from_seat_by_seat() -> None:
    agents = [Fixed(1), Fixed(2), Fixed(3)]
    opponents = Opponents(300, 4, "weights", agents)
    opponents.seat(np.arange(300), np.zeros(300, np.int64), np.full(300, 4), np.random.default_rng(0).random)
    for p in range(1, 4):
        at = [opponents.at(i)[p] for i in range(300)]
        assert all(70 < sum(one.salt == agent.salt for one in at) < 130 for agent in agents)
    same = np.mean([opponents.at(i)[1].salt == opponents.at(i)[2].salt for i in range(300)])
    assert 0.2 < same < 0.47


# ------------------------------------------------------------------------------------------------------------- what is refused


MAKERS = {"aec": raw_env, "single": EuphoriaEnv, "vector": partial(EuphoriaVectorEnv, 2), "number": EuphoriaVectorEnv}
TWO_AND_THREE = [Rules(num_players=n) for n in (2, 3)]
WRONG: list[tuple[str, dict[str, Any], str]] = [
    *(("single vector", {"seat": seat}, "seat must be .*'random'") for seat in (4, True, "first")),
    ("single vector", {"render_mode": "human"}, "render_mode must"),
    ("aec single vector", {"render_mode": "hologram"}, "render_mode must"),
    ("single vector", {"opponents": "nobody"}, "random, weights"),
    ("single vector", {"opponents": ["random", "random"]}, "a list of 3"),
    ("single vector", {"opponents": 7}, "an object with `act`"),
    *(
        ("single vector", {"opponents": {"random": wrong}}, "the weight of 'random' must be a number from 0 to")
        for wrong in (-1, float("nan"), 1e10, True, "1", None)
    ),
    ("single vector", {"opponents": [("random", 0), ("weights", 0.0)]}, "a weight above 0"),
    ("single vector", {"opponents": {}}, "opponents must have at least one"),
    ("single vector", {"opponents": [(7, 1)]}, "an object with `act`"),
    ("single vector", {"opponents": [("random", 1), "weights"]}, "a list of 3, or a mixture"),
    ("single vector", {"illegal": True}, "illegal must"),
    ("aec single vector", {"num_players": 7}, "num_players"),
    ("aec single vector", {"reward": "money"}, "win, rank, stars"),
    ("aec single vector", {"events": 1.5}, "events must"),
    ("aec single vector", {"mask": "nowhere"}, "mask must"),
    ("aec single vector", {"mask_dtype": "float32"}, "mask_dtype must"),
    *(
        ("aec single vector", {"render_size": size}, "render_size must")
        for size in (5, (160,), (0, 9), (True, 9), "160", (9.0, 9))
    ),
    ("number", {"num_envs": 0}, "number of games"),
    ("vector", {"pool": []}, "at least one"),
    ("vector", {"pool": [7]}, "an object with `act`"),
    *(("vector", {"pool": pool}, "pool must be a list") for pool in (5, "weights")),
    ("vector", {"autoreset_mode": "never"}, "autoreset_mode must"),
    ("vector", {"rules": TWO_AND_THREE[:1]}, "rules must be a list of 2, not of 1"),
    ("vector", {"rules": TWO_AND_THREE, "num_players": 2}, "rules are given, so num_players must"),
    ("vector", {"rules": TWO_AND_THREE, "seat": 2}, "from 0 to 1"),
    ("vector", {"rules": lambda rng: Rules(), "seat": 2}, "from 0 to 1"),
    ("vector", {"rules": TWO_AND_THREE, "opponents": ["random"]}, "a list of 2, or a mixture .*, not a list of 1"),
]


@pytest.mark.parametrize(("makers", "arguments", "message"), WRONG)
def test_wrong_arguments(makers: str, arguments: dict[str, Any], message: str) -> None:
    for name in makers.split():
        with pytest.raises(ValueError, match=message):
            MAKERS[name](**arguments)


@pytest.mark.parametrize(
    ("called", "make"),
    [
        ("env", env),
        ("raw_env", raw_env),
        ("Rules", Rules),
        ("EuphoriaEnv", partial(gymnasium.make, GYMNASIUM_ID)),
        ("EuphoriaVectorEnv", partial(gymnasium.make_vec, GYMNASIUM_ID, num_envs=2)),
        ("EuphoriaVecEnv", lambda **words: vec_env(2, **words)),
    ],
)
def test_an_unknown_keyword(called: str, make: Any) -> None:
    for name, hint in (("num_player", r"did you mean 'num_players'\?"), ("frameskip", "allowed are .*num_players, ")):
        with pytest.raises(TypeError, match=rf"^{called}\(\) got an unexpected keyword '{name}'; {hint}"):
            make(**{name: 4})
    with pytest.raises(TypeError, match=r"^Batch\(\) got an unexpected keyword 'thread'; did you mean 'threads'\?$"):
        Batch(2, thread=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="'thread'; allowed are"):
        env(thread=1)


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_every_info_is_documented(mode: AutoresetMode) -> None:
    page = (Path(__file__).parents[1] / "docs" / "environment.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?) \|", page.partition("**Infos.**")[2].partition("**The end.**")[0], re.MULTILINE)
    env = EuphoriaVectorEnv(4, opponents="random", num_players=2, max_turns=1, illegal="end", autoreset_mode=mode)
    found, infos = set[str](), env.reset(seed=1)[1]
    while "ranking" not in found:
        infos = env.step(sample(infos["action_mask"], np.random.default_rng(0)))[-1]
        found |= infos.keys() | infos.get("final_info", {}).keys()
    keys = {key for key in found if not key.startswith("_")}
    assert found == keys | {f"_{key}" for key in keys}
    assert keys <= set(re.findall(r"`(\w+)`", " ".join(rows)))


def test_wrong_use() -> None:
    env = EuphoriaVectorEnv(2, num_players=2)
    with pytest.raises(ResetNeeded):
        env.step(np.zeros(2, np.int64))
    for arguments, named in (
        ({"options": {"seat": 1}}, "options.seat"), ({"seed": [1, 2, 3]}, "a list of 2, not of 3"), ({"seed": [1, "2"]}, "seed"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=named):
            env.reset(**arguments)
    env.reset(seed=0)
    for wrong in (np.zeros(3, np.int64), np.zeros(2)):
        with pytest.raises(ValueError, match="2 integers"):
            env.step(wrong)


# ------------------------------------------------------------------------------------------------------- Stable-Baselines3


def vec_env(n: int, **arguments: Any) -> Any:
    pytest.importorskip("stable_baselines3")
    from euphoria_env.envs.sb3 import EuphoriaVecEnv

    return EuphoriaVecEnv(n, **arguments)


@pytest.mark.parametrize("reward", ["rank", "stars"])
def test_sb3_plays_the_same_games_as_gymnasium(reward: str) -> None:
    arguments: dict[str, Any] = {"num_players": 3, "max_turns": 25, "reward": reward}
    gym, sb3 = EuphoriaVectorEnv(4, **arguments), vec_env(4, **arguments)
    observation, infos = gym.reset(seed=8)
    sb3.seed(8)
    assert np.array_equal(sb3.reset(), observation) and np.array_equal(vec_env(4, seed=8, **arguments).reset(), observation)
    rng, returns, lengths, ends = np.random.default_rng(8), np.zeros(4), np.zeros(4, np.int64), 0
    for _ in range(80):
        masks = np.stack(sb3.env_method("action_masks"))
        assert masks.dtype == np.bool_ and np.array_equal(masks, sb3.action_masks())
        moves = WEIGHTS.act_batch(observation, infos["action_mask"], rng)
        observation, rewards, terminated, truncated, infos = gym.step(moves)
        seen, rewards_, dones, sb3_infos = sb3.step(moves)
        assert np.array_equal(seen, observation) and seen.dtype == np.int8 and rewards_.dtype == np.float32
        assert rewards_.tolist() == pytest.approx(rewards.tolist())
        assert np.array_equal(dones, terminated | truncated) and [bool(info) for info in sb3_infos] == dones.tolist()
        returns, lengths, ends = returns + rewards, lengths + 1, ends + dones.sum()
        for i in np.flatnonzero(dones):
            info, final = sb3_infos[i], infos["final_info"]
            assert np.array_equal(info["terminal_observation"], infos["final_obs"][i])
            assert info["TimeLimit.truncated"] == (truncated[i] and reward != "rank")  # a rank is paid when a game is truncated
            for name in RESULTS:
                np.testing.assert_equal(info[name], final[name][i])
            assert info["episode"]["r"] == pytest.approx(returns[i]) and info["episode"]["l"] == lengths[i]
            returns[i] = lengths[i] = 0
    assert ends > 5


def test_sb3_answers_for_single_games() -> None:
    env = vec_env(3, num_players=2, seed=0)
    env.reset()
    assert env.has_attr("action_masks") and not env.has_attr("nothing")
    assert env.get_attr("render_mode") == [None] * 3 and env.env_is_wrapped(gymnasium.Wrapper) == [False] * 3
    for call in (lambda: env.env_method("fly"), lambda: env.set_attr("x", 1)):
        with pytest.raises(AttributeError):
            call()
    env.set_opponents("random")
    with pytest.raises(ResetNeeded):
        vec_env(1, num_players=2).step(np.zeros(1, np.int64))


@pytest.mark.slow
def test_maskable_ppo_trains_and_is_evaluated_unchanged() -> None:
    sb3_contrib = pytest.importorskip("sb3_contrib")
    evaluation = pytest.importorskip("sb3_contrib.common.maskable.evaluation")
    utils = pytest.importorskip("sb3_contrib.common.maskable.utils")
    pytest.importorskip("torch").set_num_threads(1)
    env = vec_env(8, num_players=2, max_turns=12, reward="rank")
    assert utils.is_masking_supported(env)
    model = sb3_contrib.MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=64, n_epochs=1, seed=0, device="cpu")
    model.learn(256)
    assert model.num_timesteps == 256 and len(model.ep_info_buffer) > 0 and len(model.ep_success_buffer) > 0
    mean, _ = evaluation.evaluate_policy(model, vec_env(4, num_players=2, max_turns=12, reward="rank", seed=1), n_eval_episodes=6)
    assert -1.0 <= mean <= 1.0


# ------------------------------------------------------------------------------------------------------------- its options


def first_legal(infos: dict[str, Any]) -> np.ndarray:
    return infos["action_mask"].argmax(axis=1)


@pytest.mark.parametrize("mode", ["NextStep", AutoresetMode.DISABLED])
def test_other_autoreset_modes_show_the_same_games(mode: Any) -> None:
    """The games of SAME_STEP, each with one more step that shows how it ended."""
    arguments: dict[str, Any] = {"opponents": Fixed(), "seat": 0, "num_players": 2, "max_turns": 8, "reward": "rank"}
    same, env = EuphoriaVectorEnv(3, **arguments), EuphoriaVectorEnv(3, autoreset_mode=mode, render_mode="ansi", **arguments)
    assert env.autoreset_mode is env.metadata["autoreset_mode"] is AutoresetMode(mode)
    assert EuphoriaVectorEnv.metadata["autoreset_mode"] is same.autoreset_mode is AutoresetMode.SAME_STEP
    runs: list[list[list[Any]]] = [[[], [], []], [[], [], []]]
    (seen, infos), (shown, told) = same.reset(seed=1), env.reset(seed=1)
    for _ in range(60):
        seen, rewards, over, cut, infos = same.step(first_legal(infos))
        for i in range(3):
            ended = bool(over[i] | cut[i])
            last = infos["final_obs"][i] if ended else seen[i]
            final = infos["final_info"]["ranking"][i].tolist() if ended else None
            runs[0][i].append((last.tobytes(), float(rewards[i]), bool(over[i]), bool(cut[i]), final))
    waits = np.zeros(3, np.bool_)
    for _ in range(80):
        if mode is AutoresetMode.DISABLED and waits.any():
            with pytest.raises(ResetNeeded, match="reset_mask"):
                env.step(first_legal(told))
            shown, told = env.reset(options={"reset_mask": waits})
            waits[:] = False
        assert np.array_equal(told["action_mask"], env.action_masks())
        assert np.array_equal(told["action_mask"].any(axis=1), ~waits)
        shown, rewards, over, cut, told = env.step(np.where(waits, -5, first_legal(told)))
        ended = over | cut
        assert np.array_equal(told["action_mask"].any(axis=1), ~ended)
        of = env.learners
        assert env.render() == tuple(str(of.final_game(i) if ended[i] else of.ready.game(i)) for i in range(3))
        for i in np.flatnonzero(~waits):
            final = told["ranking"][i].tolist() if ended[i] else None
            runs[1][i].append((shown[i].tobytes(), float(rewards[i]), bool(over[i]), bool(cut[i]), final))
        assert not rewards[waits].any() and not ended[waits].any()
        if ended.any():
            assert np.array_equal(told["_ranking"], ended) and "final_obs" not in told
        waits = ended
    for i in range(3):
        n = min(map(len, (runs[0][i], runs[1][i])))
        assert n > 3 and runs[0][i][:n] == runs[1][i][:n]


@pytest.mark.parametrize("dtype", ["int8", "bool"])
def test_mask_and_events_in_the_observations(dtype: str) -> None:
    arguments: dict[str, Any] = {"opponents": Fixed(), "num_players": 2, "max_turns": 8, "mask_dtype": dtype}
    plain = EuphoriaVectorEnv(3, **arguments)
    env, sb3 = (make(3, mask="observation", events=6, **arguments) for make in (EuphoriaVectorEnv, vec_env))
    sb3.seed(1)
    (seen, infos), (observation, _), learned = env.reset(seed=1), plain.reset(seed=1), sb3.reset()
    ends = 0
    for _ in range(60):
        assert env.observation_space.contains(seen) and np.array_equal(seen["observation"], observation)
        assert np.array_equal(seen["action_mask"], infos["action_mask"])
        assert seen["action_mask"].dtype == infos["action_mask"].dtype == dtype
        assert all(np.array_equal(learned[name], seen[name]) for name in seen)
        moves = first_legal(infos)
        (seen, _, over, cut, infos), (observation, *_), (learned, _, _, told) = (one.step(moves) for one in (env, plain, sb3))
        for i in np.flatnonzero(over | cut):
            for last in (infos["final_obs"][i], told[i]["terminal_observation"]):
                assert KINDS[last["events"][-1, 0]] == "rank"
            assert env.single_observation_space.contains(infos["final_obs"][i])
            assert not infos["final_obs"][i]["action_mask"].any()
            ends += 1
    assert ends > 3


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_an_illegal_action_may_end_its_game(mode: AutoresetMode) -> None:
    env = EuphoriaVectorEnv(3, opponents="random", num_players=2, illegal="end", autoreset_mode=mode)
    observation, infos = env.reset(seed=0)
    moves = first_legal(infos)
    legal = env.learners.ready.game(1).legal()
    for wrong in (-1, actions.NUM_ACTIONS, int(np.flatnonzero(infos["action_mask"][1] == 0)[0])):
        observation, infos = env.reset(seed=0)
        moves[1] = wrong
        later, rewards, over, cut, infos = env.step(moves)
        assert rewards.tolist() == [0.0, -1.0, 0.0] and over.tolist() == [False, True, False] and not cut.any()
        final = infos["final_info"] if mode is AutoresetMode.SAME_STEP else infos
        last = infos["final_obs"][1] if mode is AutoresetMode.SAME_STEP else later[1]
        assert np.array_equal(last, observation[1]) and final["illegal"][0] == "" and final["winner"][1] == -1
        assert all(move in final["illegal"][1] for move in legal) and not final["is_success"].any()
        assert not final["ranking"].any()
    if mode is AutoresetMode.DISABLED:
        _, infos = env.reset(options={"reset_mask": np.array([False, True, False])})
    elif mode is AutoresetMode.NEXT_STEP:
        *_, infos = env.step(first_legal(infos))
    assert infos["action_mask"].any(axis=1).all() and env.learners.ready._episodes.tolist() == [0, 1, 0]


def test_sb3_an_illegal_action_may_end_its_game() -> None:
    env = vec_env(2, opponents="random", num_players=2, illegal="end", seed=0)
    env.reset()
    _, rewards, dones, infos = env.step(np.array([-1, env.action_masks()[1].argmax()]))
    assert rewards.tolist() == [-1, 0] and dones.tolist() == [True, False] and not infos[1]
    assert "legal are" in infos[0]["illegal"] and infos[0]["winner"] == -1 and infos[0]["episode"]["r"] == -1


POSITION: dict[str, Any] = {"player": 1, "players": [{}, {"workers": [6, 6], "goods": {"gold": 3}}]}


def test_reset_from_positions() -> None:
    env, sb3 = EuphoriaVectorEnv(3, num_players=2, seat=1), vec_env(2, num_players=2, seat=1)
    seen, infos = env.reset(seed=1, options={"position": POSITION})
    games = [env.learners.ready.game(i) for i in range(3)]
    for game, observation, mask in zip(games, seen, infos["action_mask"], strict=True):
        assert game.describe()["players"][1]["workers"] == [6, 6] and game.player == 1
        assert np.array_equal(game.observation(1), observation) and np.array_equal(game.mask(), mask)
    assert games[0] != games[1], "what the position leaves out is different"
    env.reset(options={"position": [None, POSITION, {**POSITION, "players": [{}, {"workers": [1]}]}]})
    workers = [env.learners.ready.game(i).describe()["players"][1]["workers"] for i in range(3)]
    assert env.learners.ready.game(0).turn == 0 and workers[1:] == [[6, 6], [1]]
    kept = []
    for _ in range(2):
        env.reset(seed=1)
        env.reset(options={"position": [None, POSITION, POSITION]})
        assert env.learners.ready._episodes.tolist() == [0, 1, 1], "the games without a position begin once"
        env.reset(options={"position": POSITION, "reset_mask": np.array([False, True, False])})
        kept.append(env.learners.ready.states.copy())
    assert np.array_equal(*kept), "what the positions leave out goes on from the last seed"
    sb3.set_options({"position": POSITION})
    for turn in (1, 0):  # the options are of one reset
        sb3.reset()
        assert sb3.games.learners.ready.game(1).turn == turn
    assert sb3.rules == Rules(num_players=2)


def test_some_games_are_reset() -> None:
    env = EuphoriaVectorEnv(3, num_players=2)
    _, infos = env.reset(seed=1)
    for _ in range(4):
        *_, infos = env.step(first_legal(infos))
    before = env.learners.ready.states.copy()
    env.reset(options={"reset_mask": np.array([False, True, False])})
    now = env.learners.ready.states
    assert np.array_equal(now[[0, 2]], before[[0, 2]]) and now["turn"][1] == 0 != before["turn"][1]
    dealt = []
    for seed in (7, 7, 8):
        env.reset(seed=seed, options={"reset_mask": np.array([False, True, False])})
        assert env.np_random_seed == seed and np.array_equal(now[[0, 2]], before[[0, 2]])
        dealt.append(env.learners.ready.game(1).fingerprint())
    assert dealt[0] == dealt[1] != dealt[2]
    for wrong in (np.zeros(3, np.bool_), np.ones(2, np.bool_), np.ones(3), 1):
        with pytest.raises(ValueError, match="reset_mask"):
            env.reset(options={"reset_mask": wrong})
    with pytest.raises(ResetNeeded):
        EuphoriaVectorEnv(3, num_players=2).reset(options={"reset_mask": np.ones(3, np.bool_)})


def test_a_list_of_seeds() -> None:
    env = EuphoriaVectorEnv(3, num_players=2, seat=0)
    seen, _ = env.reset(seed=[5, 6, 5])
    again, _ = EuphoriaVectorEnv(3, num_players=2, seat=0).reset(seed=np.array([5, 6, 5]))
    assert np.array_equal(seen, again)
    other, _ = env.reset(seed=[5, 7, None])
    hands = [one[start_of("own_recruits") : start_of("own_recruits") + 48].tolist() for one in (*seen, *other)]
    assert hands[0] == hands[2] == hands[3] != hands[1]
    env.reset(seed=[None, None, None])


def test_a_seed_may_be_negative() -> None:
    env, games = EuphoriaVectorEnv(2, num_players=2, seat=1), []
    for seed in (-5, 5, -5):
        env.reset(seed=seed, options={"position": [POSITION, None]})
        games.append([env.learners.ready.game(i).fingerprint() for i in range(2)])
    assert games[0] == games[2] and all(one != other for one, other in zip(*games[:2], strict=True))


def test_pictures_of_all_games() -> None:
    pytest.importorskip("resvg_py")
    arguments: dict[str, Any] = {"num_players": 2, "render_mode": "rgb_array", "render_size": (160, 112)}
    env, sb3 = EuphoriaVectorEnv(2, **arguments), vec_env(2, **arguments)
    with pytest.raises(ResetNeeded):
        env.render()
    env.reset(seed=1)
    assert [picture.shape for picture in env.render() or ()] == [(112, 160, 3)] * 2
    sb3.reset()
    assert sb3.render().shape in ((112, 320, 3), (224, 160, 3))
    assert sb3.metadata["render_fps"] == env.metadata["render_fps"] == EuphoriaEnv.metadata["render_fps"]
