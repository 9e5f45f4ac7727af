"""Numbers, rows and arrays that compiled code gets: what it cannot take is refused by name, and nothing is changed then."""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from euphoria_agents import load
from euphoria_env import Batch, Game, Rules, actions
from euphoria_env.engine import loop
from euphoria_env.engine.jit import entry
from euphoria_env.engine.state import GAME_DTYPE, ROWS, STACK_DEPTH, Operation, push
from euphoria_env.engine.tape import empty_tape
from euphoria_env.envs.random_moves import sample
from euphoria_env.envs.sb3 import EuphoriaVecEnv
from euphoria_env.envs.single import EuphoriaEnv
from euphoria_env.envs.vector import EuphoriaVectorEnv
from euphoria_env.observations import OBS_SIZE
from euphoria_env.trajectories import ENDED, OPEN, Trajectories, estimate_advantages
from tests.tools.playing import everything, random_game

TWO, N = Rules(num_players=2), 4
NAN = float("nan")
NO_NUMBERS = [True, np.True_, 1.0, np.float32(1), NAN, None, "1", b"1", [1], (), np.array([1]), np.array(1.0)]
NO_GAMES = [-1, N, -N - 1, 2**31, 2**63, -(2**70), np.int8(-1), np.uint64(2**63)]
LISTS_OF_NONE = [
    [True, False], np.ones(N, np.bool_), [1.0], [NAN], np.array([0.5]), ["1"], [None], np.array([1], object),
    np.array([1], "M8[s]"), 1, np.array(1), [[1]], np.zeros((1, 1), int), {1}, "12",
]  # fmt: skip
LISTS_BEYOND = [[-1], [N], [0, 1, 99], [2**31], [2**63], [-(2**63)], np.array([-1], np.int8), np.array([2**64 - 1], np.uint64)]
THE_SAME = [
    [1, 3], (1, 3), range(1, 4, 2), np.array([1, 3], np.int8), np.array([1, 3], np.uint64), np.array([1, 3], ">i8"),
    np.array([1, 0, 3, 0])[::2], [np.int16(1), np.uint8(3)], np.frombuffer(np.array([1, 3]).tobytes(), np.int64),
]  # fmt: skip


def at_an_end() -> Batch:
    """Games of which some, but not all, ended in the last step."""
    batch = Batch(N, Rules(num_players=2, max_turns=9), seed=5, events=3)
    rng = np.random.default_rng(0)
    while True:
        batch.step(batch.sample(rng))
        if 0 < len(batch.ended) < N:
            return batch


@pytest.mark.parametrize(
    ("value", "error"), [*((x, TypeError) for x in NO_NUMBERS), *((x, IndexError) for x in NO_GAMES)], ids=repr
)
def test_what_is_no_number_of_a_game(value: Any, error: type[Exception]) -> None:
    batch = Batch(N, TWO, seed=1)
    before = everything(batch)
    with pytest.raises(error, match="the number of a game must be"):
        batch.game(value)
    assert everything(batch) == before


@pytest.mark.parametrize("call", [Batch.restart, lambda batch, games: Trajectories(batch, 100).add(games)])
def test_what_are_no_numbers_of_games(call: Callable[[Batch, Any], Any]) -> None:
    batch = at_an_end()
    before = everything(batch)
    for games in LISTS_OF_NONE:
        with pytest.raises((TypeError, ValueError), match="games must be"):
            call(batch, games)
    for games in LISTS_BEYOND:
        with pytest.raises(IndexError, match="games must"):
            call(batch, games)
    call(batch, [])
    assert everything(batch) == before


@pytest.mark.parametrize("games", THE_SAME, ids=repr)
def test_numbers_of_games_of_any_kind(games: Any) -> None:
    batch, expected = Batch(N, TWO, seed=1), Batch(N, TWO, seed=1)
    batch.restart(games)
    expected.restart([1, 3])
    assert everything(batch) == everything(expected)
    trajectories = Trajectories(batch, 2)
    trajectories.add(games)
    assert trajectories.game.tolist() == [1, 3]


def test_starts_are_those_of_games_that_restart() -> None:
    batch, other = Batch(N, TWO, seed=1), Game(Rules(num_players=3), 1)
    before, start = everything(batch), Game(TWO, 7)
    ended = random_game(TWO, 1)
    for games, starts, error in (
        ([0, 1], {2: start}, ValueError), ([], {0: start}, ValueError), ([0, 0], None, ValueError), ([0], {0: other}, ValueError),
        ([0], {0: ended}, ValueError), ([0], {0: None}, TypeError), ([0], {0: start.to_dict()}, TypeError),
        ([0], {-4: start}, IndexError), ([1], {True: start}, TypeError), ([0], [start], TypeError),
        ([0], {0.0: start}, TypeError), ([0], {None: start}, TypeError),
    ):  # fmt: skip
        with pytest.raises(error):
            batch.restart(games, starts)
        assert everything(batch) == before


@pytest.mark.parametrize("wrong", [None, 3, np.random, [0.5] * N, type("Ones", (), {"random": lambda self, n: np.ones(n)})()])
def test_moves_are_drawn_by_a_generator(wrong: Any) -> None:
    with pytest.raises(TypeError, match="rng must"):
        Batch(N, TWO, seed=1).sample(wrong)


# -------------------------------------------------------------------------------------------------------------------- rows


NO_ROWS: list[Callable[[np.ndarray], Any]] = [
    lambda rows: rows[0], lambda rows: rows.tolist(), lambda rows: rows.tobytes(), lambda rows: rows.view(np.uint8),
    lambda _: None,
    lambda rows: rows.astype(GAME_DTYPE.newbyteorder()), lambda rows: rows[["player", "turn"]],
    lambda rows: rows[:0], lambda rows: np.repeat(rows, 2), lambda rows: rows[None], lambda rows: rows.reshape(()),
    lambda rows: np.zeros(1, GAME_DTYPE), lambda rows: np.full(1, 255, np.uint8).repeat(GAME_DTYPE.itemsize).view(GAME_DTYPE),
]  # fmt: skip


@pytest.mark.parametrize("change", NO_ROWS)
def test_what_is_no_row_of_a_game(change: Callable[[np.ndarray], Any]) -> None:
    game = Game(TWO, seed=1)
    with pytest.raises((TypeError, ValueError), match="rows (must be|hold no possible game)"):
        Game.from_rows(change(game.states))


@pytest.mark.parametrize(
    ("field", "value"),
    [("hand_size", 3), ("active_cards", 7), ("open_spaces", 0), ("rng", 2**40), ("owned", 5), ("shown_rules", 1), ("deck", 0),
     ("recruit_place", 3), ("placed_face", 7), ("ask", 0), ("ask", 99), ("stack", 50), ("dilemma", -1), ("depth", 127),
     ("depth", -1), ("player", 5), ("num_players", 7), ("num_players", -1), ("space", 100), ("num_active", 99), ("legal", -1),
     ("max_turns", -5), ("winner", 9), ("status", 77)],
)  # fmt: skip
def test_a_row_that_would_lead_out_of_it_is_refused(field: str, value: int) -> None:
    rows = Game(TWO, seed=1).states.copy()
    rows[field] = value
    with pytest.raises(ValueError, match="rows hold no possible game"):
        Game.from_rows(rows)


@pytest.mark.parametrize("change", NO_ROWS[:-2])
def test_what_no_game_can_take(change: Callable[[np.ndarray], Any]) -> None:
    with pytest.raises((TypeError, ValueError), match="rows must be"):
        Game.taking(change(Game(TWO, seed=1).states))


BLANK = np.zeros(OBS_SIZE, np.int8), np.ones(actions.NUM_ACTIONS, np.int8)
USES: list[Callable[[np.ndarray], Any]] = [
    lambda rows: Game.from_rows(rows), lambda rows: Game.taking(rows).mask(), lambda rows: Game.taking(rows).observation(0),
    lambda rows: Game.taking(rows).determinize(0, 1), lambda rows: loop.step(rows, 0, 0, empty_tape()),
    lambda rows: Batch(N, TWO, seed=1).restart([0], {0: Game.taking(rows)}),
    lambda rows: load("greedy:1").act(None, None, np.random.default_rng(0), Game.taking(rows)),
    lambda rows: load("mcts:1").act(None, None, np.random.default_rng(0), Game.taking(rows)),
    lambda rows: load("ppo").explain(*BLANK, np.random.default_rng(0), Game.taking(rows)),
]  # fmt: skip


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize(
    ("field", "value"),
    [("space", 49), ("turn_player", 2), ("occupant", 2), ("ask", 16), ("legal", -1), ("taken", 100), ("depth", 100), ("stack", 5),
     ("placed_face", -1), ("recruits", 48), ("num_recruits", 5), ("artifacts", -1), ("goods", -1), ("num_players", 1)],
)  # fmt: skip
def test_no_entry_point_uses_a_value_beyond_its_range(use: Callable[[np.ndarray], Any], field: str, value: int) -> None:
    rows = Game(TWO, seed=1).states.copy()
    rows[field] = value
    before = rows.tobytes()
    with pytest.raises(ValueError, match="rows hold no possible game|rules"):
        use(rows)
    assert rows.tobytes() == before


@entry(ROWS, "int64")
def fill_stack(rows, n):  # type: ignore[no-untyped-def]
    """Puts n operations on the stack of a row."""
    for _ in range(n):
        push(rows[0], 26, 1, 2, 3)


def test_the_stack_does_not_run_over() -> None:
    rows = np.zeros(1, GAME_DTYPE)
    fill_stack(rows, STACK_DEPTH)
    full = rows.tobytes()
    assert rows["depth"] == STACK_DEPTH and (rows["stack"] == [Operation.TRIGGER, 1, 2, 3]).all()
    with pytest.raises(ValueError, match="more operations are pending than the stack has room for"):
        fill_stack(rows, 1)
    assert rows.tobytes() == full


# ------------------------------------------------------------------------------------------------------ trajectories, masks


def test_advantages_follow_later_decisions_alone() -> None:
    values, rewards = np.ones(3, np.float32), np.zeros(3, np.float32)
    for following in ([3, OPEN, OPEN], [0, OPEN, OPEN], [1, 0, OPEN], [-3, OPEN, OPEN], [10**12, OPEN, ENDED], [-(10**12)] * 3):
        with pytest.raises(ValueError, match="following: a decision follows an earlier one, itself, or none of these 3"):
            estimate_advantages(values, rewards, np.array(following), 0.9, 0.8)
    good = np.array([1, ENDED, OPEN])
    for bad, error in (((values[:2], rewards, good), ValueError), ((values, rewards[:2], good), ValueError),
                       ((values, rewards, good[:2]), ValueError), ((values, rewards, good * 1.0), TypeError),
                       ((values, rewards, good > 0), TypeError), ((values[None], rewards, good), ValueError),
                       ((values, rewards > 0, good), TypeError)):  # fmt: skip
        with pytest.raises(error):
            estimate_advantages(*bad, 0.9, 0.8)
    with pytest.raises(ValueError, match="discount must"):
        estimate_advantages(values, rewards, good, np.ones(2, np.float32), 0.8)
    expected = estimate_advantages(values, rewards, good, 0.9, 0.8)
    frozen = good.astype(np.int16)
    frozen.flags.writeable = False
    for same in ((values.tolist(), rewards.astype(">f8"), frozen), (np.ones(6)[::2], np.zeros((3, 2))[:, 0], good.tolist())):
        assert (estimate_advantages(*same, 0.9, 0.8) == expected).all()


@pytest.mark.parametrize("capacity", [-1, 2.0, True, None, "4"])
def test_there_is_room_for_a_number_of_decisions(capacity: Any) -> None:
    with pytest.raises(ValueError, match="capacity must"):
        Trajectories(Batch(N, TWO, seed=1), capacity)


ARRAYS = ("states", "player", "mask", "observation", "events", "rewards", "terminated", "truncated", "ranking", "ended")
MADE = [
    *((at_an_end, name) for name in (*ARRAYS, "final_observation", "num_players", "end_states")),
    *((lambda: Trajectories(at_an_end(), 100), name) for name in ("game", "seat", "turn", "reward", "elapsed", "following")),
]


@pytest.mark.parametrize(("make", "name"), MADE)
def test_nobody_replaces_or_reshapes_an_array_that_compiled_code_writes_to(make: Callable[[], Any], name: str) -> None:
    one, same = make(), make()
    with pytest.raises(AttributeError):
        setattr(one, name, np.zeros(1, getattr(one, name).dtype))
    with pytest.raises(AttributeError):
        delattr(one, name)
    with contextlib.suppress(ValueError):
        getattr(one, name).resize((1,), refcheck=False)
    with contextlib.suppress(ValueError, AttributeError):
        getattr(one, name).base.resize((1,), refcheck=False)
    with contextlib.suppress(AttributeError), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        getattr(one, name).shape = (*getattr(one, name).shape, 1)
    for each in (one, same):
        batch = each if isinstance(each, Batch) else each._batch
        batch.step(batch.sample(np.random.default_rng(0)))
        if isinstance(each, Trajectories):
            each.add(np.arange(N))
            each.credit()
            each.carry_over()
    assert getattr(one, name).tobytes() == getattr(same, name).tobytes()


def test_states_are_to_look_at() -> None:
    batch = Batch(N, TWO, seed=1)
    for write in (lambda: batch.states.fill(0), lambda: batch.states["turn"].fill(7), lambda: batch.num_players.fill(6)):
        with pytest.raises(ValueError, match="read-only"):
            write()


@pytest.mark.parametrize("call", ["step", "check", "restart", "sample", "seen_at_end", "final_observation"])
def test_a_second_thread_is_told(call: str) -> None:
    """The function `rules` is called in the middle of a restart: here another thread then uses the batch."""
    found, uses = list[BaseException](), list[Callable[[], Any]]()

    def rules(_: np.random.Generator) -> Rules:
        for use in uses:
            other = threading.Thread(target=use)
            other.start()
            other.join()
        return TWO

    def use() -> None:
        try:
            batch.final_observation if call == "final_observation" else getattr(batch, call)(np.zeros(0, np.int64))
        except RuntimeError as error:
            found.append(error)

    batch = Batch(N, rules, seed=1)
    uses.append(use)
    batch.restart([0])
    assert "another thread uses this Batch" in str(found[0])
    uses.clear()
    batch.step(batch.sample(np.random.default_rng(0)))


def test_games_are_added_once_each() -> None:
    batch = Batch(N, TWO, seed=1)
    trajectories = Trajectories(batch, 10)
    for twice in ([0, 0], [1, 2, 1], np.zeros(2, np.int8)):
        with pytest.raises(ValueError, match="games must be named once each"):
            trajectories.add(twice)
    assert trajectories.size == 0 and (trajectories._latest == -1).all()


def test_attached_rows_have_memory_of_their_own() -> None:
    trajectories, room, window = Trajectories(Batch(N, TWO, seed=1), 8), np.zeros((64, 4)), np.lib.stride_tricks.as_strided
    for bad in (window(room, (8, 4), (8, 8)), window(room, (8,), (0,)), window(room, (8, 2), (8, 16)), room[:4],
                trajectories.seat, trajectories.reward[:, None]):  # fmt: skip
        with pytest.raises(ValueError, match="an attached array must"):
            trajectories.attach(bad)
    for other in (np.ma.zeros(8), [0] * 8, None):
        with pytest.raises(TypeError, match="an attached array must"):
            trajectories.attach(other)
    for good in (room[:32:-2], room[:32:2, 1:3].swapaxes(0, 0), np.zeros((4, 8)).T, np.zeros((8, 0)), np.zeros(8, "U3")):
        trajectories.attach(good)


@pytest.mark.parametrize("shape", [(), (663,), (665,), (2, 663), (1, 2, 664), (664, 2), (0,)], ids=repr)
def test_masks_of_another_shape(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="mask must"):
        sample(np.ones(shape, np.int8), rng)
    for spec in ("random", "weights", "ppo"):
        with pytest.raises(ValueError, match="must be of shape"):
            load(spec).act_batch(np.zeros((1, OBS_SIZE), np.int8), np.ones(shape, np.int8), rng)


def test_masks_of_other_kinds() -> None:
    rng, mask = np.random.default_rng(0), np.zeros(actions.NUM_ACTIONS, np.int8)
    mask[7] = 1
    for same in (mask.tolist(), mask > 0, mask.astype(">i4"), np.repeat(mask, 2)[::2], np.frombuffer(mask.tobytes(), np.int8)):
        assert sample(same, rng) == 7
    for wrong in (mask.astype(object), mask.astype(str), mask.astype(complex)):
        with pytest.raises(TypeError, match="mask must"):
            sample(wrong, rng)


@pytest.mark.parametrize("spec", ["weights", "ppo"])
def test_agents_refuse_observations_of_another_shape(spec: str) -> None:
    agent, rng, masks = load(spec), np.random.default_rng(0), np.ones((2, actions.NUM_ACTIONS), np.int8)
    for shape in ((2, 10), (2, OBS_SIZE - 1), (2, OBS_SIZE + 1), (1, OBS_SIZE), (3, OBS_SIZE), (OBS_SIZE,), (), (2, OBS_SIZE, 1)):
        with pytest.raises(ValueError, match="of shape|observations, but"):
            agent.act_batch(np.zeros(shape, np.int8), masks, rng)
        if shape != (OBS_SIZE,):
            with pytest.raises(ValueError, match="of shape|observations, but"):
                agent.explain(np.zeros(shape, np.int8), masks, rng)


@pytest.mark.parametrize("value", [-128, -1, 1, 7, 127])
@pytest.mark.parametrize("spec", ["random", "weights", "ppo"])
def test_agents_answer_observations_that_cannot_be(spec: str, value: int) -> None:
    masks = np.ones((3, actions.NUM_ACTIONS), np.bool_)
    moves = load(spec).act_batch(np.full((3, OBS_SIZE), value, np.int8), masks, np.random.default_rng(0))
    assert ((moves >= 0) & (moves < actions.NUM_ACTIONS)).all()


# ------------------------------------------------------------------------------------------- refused calls of environments


def test_actions_may_change_after_they_were_taken() -> None:
    one, other = (EuphoriaVecEnv(2, "random", num_players=2, seed=1) for _ in range(2))
    for env in (one, other):
        env.reset()
        moves = env.action_masks().argmax(axis=1)
        env.step_async(moves)
        if env is one:
            moves[:] = -1
        env.step_wait()
    assert np.array_equal(one.action_masks(), other.action_masks())


def test_a_refused_position_leaves_the_chance_to_come() -> None:
    ended = random_game(Rules(num_players=2, max_turns=3), 1)
    wrong = [{"position": one} for one in ({"players": 7}, {"rules": {"num_players": 3}}, 5, {"load": {"dice": [1]}})]
    wrong += [{"x": 1}]
    of_many = [*({"position": one} for one in ([None], [None, {"player": 7}], [{}, 5])), {"reset_mask": [True]}]
    for make, refused in ((EuphoriaEnv, wrong), (partial(EuphoriaVectorEnv, 2), [*wrong, *of_many])):
        one, other = (make("random", num_players=2, max_turns=3) for _ in range(2))
        for env in (one, other):
            env.reset(seed=3)
        for options in refused:
            with pytest.raises(ValueError, match="player|position|reset_mask|x"):
                one.reset(seed=4, options=options)
        assert (one.action_masks() == other.action_masks()).all()
        assert (one.reset()[0] == other.reset()[0]).all()
        with pytest.raises(ValueError, match=r"options\.position(\[0\])?: the game has ended"):
            one.reset(seed=4, options={"position": ended.to_dict()})
