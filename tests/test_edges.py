"""Careless and hostile use of the public surface: the right error, which names what was wrong and what is allowed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from euphoria_agents.files import read_text
from euphoria_agents.play.study.game_analysis import about
from euphoria_agents.record_steps import Replayed
from euphoria_env import Game, IllegalMove, Rules, actions, raw_env
from euphoria_env.envs.sb3 import EuphoriaVecEnv
from euphoria_env.envs.single import EuphoriaEnv
from euphoria_env.envs.vector import EuphoriaVectorEnv
from euphoria_env.render import board_svg, board_text
from euphoria_env.words import legal_moves, log, question

TWO = Rules(num_players=2)

ACTIONS = [3, np.int32(3), np.uint8(3), np.array(3), np.array(3, np.int16)]


@pytest.mark.parametrize("action", ACTIONS, ids=repr)
def test_what_is_an_action_id(action: Any) -> None:
    assert type(actions.number(action)) is int and actions.name(action) == actions.NAMES[3]
    with pytest.raises(IllegalMove, match=f"'{actions.NAMES[3]}' is illegal"):
        Game(TWO, seed=1).play(action)
    game, environment = Game(TWO, seed=1), raw_env(num_players=2)
    environment.reset(seed=1)
    game.play(np.array(game.legal_actions()[0]))
    environment.step(np.array(environment.game.legal_actions()[0]))


def test_a_move_that_draws_thousands_of_outcomes_keeps_them_all() -> None:
    """The rolls of R16.2 are repeated while they are equal, up to 1,000 times, and loaded dice can make that so."""
    players = [
        {"workers": faces, "recruits": [{"name": name, "active": True}]}
        for faces, name in (([1, 3], "gary_the_electrician"), ([1], "ben_the_ludologist"))
    ]
    rules = {"num_players": 2, "stars_to_win": 1}
    game = Game.from_dict({"rules": rules, "players": players, "allegiance": {"euphorian": 10}})
    dice = [1, 1] * 3000 + [2, 1]
    game.load(dice=dice)
    game.play("place 1 generator")
    assert game.over and game.ranking is not None
    drawn = [value for kind, value in game.outcomes if kind == "dice"]
    assert drawn == dice[: len(drawn)] and len(drawn) >= 2000
    assert Game.from_record(game.to_record()) == game


# -------------------------------------------------------------------------------------------------- what editors add to texts


BLANK: list[Callable[[str], str]] = [
    lambda text: "\ufeff" + text, lambda text: text + "\n", lambda text: text + "\n \n\t\n\n", lambda text: text.rstrip("\n"),
    lambda text: text.replace("\n", "\r\n"), lambda text: text.replace("\n", "\r"), lambda text: text.replace("\n", "\n\n"),
    lambda text: "\n" + text, lambda text: "\ufeff\r\n" + text.replace("\n", " \r\n \r\n") + "\r\n",
]  # fmt: skip


@pytest.mark.parametrize("change", BLANK)
def test_a_record_that_an_editor_has_saved(change: Callable[[str], str], tmp_path: Path) -> None:
    game = Game(TWO, seed=4)
    game.load(dice=[1, 6, 2])
    while len(game.history) < 25:
        game.play(game.legal()[len(game.history) % len(game.legal())])
    text = change(game.to_record())
    again = Game.from_record(text)
    assert again == game and again.to_record() == game.to_record()
    assert about(text, Replayed.from_record(text)) == about(game.to_record(), Replayed.from_record(game.to_record()))
    file = tmp_path / "game.record"
    file.write_bytes(text.encode())
    assert Game.from_record(read_text(file)) == game


def test_blank_lines_count_where_an_error_is_named() -> None:
    game = Game(TWO, seed=4)
    game.play(game.legal()[0])
    first, move, last = game.to_record().splitlines()
    for text, line in (
        (f"\ufeff\n{first}\n\n{move} | dice 9\n{last}\n", 4), (f"{first}\n\n{move}\n\n\n{last}0\n", 6),
        (f"{first}\n\n{move}\n\n", 3),
        ("\n\n{}\n", 3),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=f"^line {line}: "):
            Game.from_record(text)
    for nothing in ("", "\n", "\ufeff", "\ufeff\r\n \n"):
        with pytest.raises(ValueError, match="this is not a game record: it is empty"):
            Game.from_record(nothing)


def test_seeds_of_numpy_are_seeds_and_others_are_named() -> None:
    one, many = EuphoriaEnv("random"), EuphoriaVectorEnv(2, "random")
    for environment in (one, many):
        expected = environment.reset(seed=3)[0]
        assert (environment.reset(seed=np.int64(3))[0] == expected).all()
    assert (EuphoriaVecEnv(2, "random", seed=np.uint8(3)).reset() == expected).all()
    for wrong in ("a", np.array(3), {3}, 1.5, True):
        with pytest.raises(ValueError, match="seed must be an integer or None"):
            many.reset(seed=wrong)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="seed must be an integer from 0 on"):
            EuphoriaVecEnv(2, "random", seed=wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="load must be an object"):
        one.reset(options={"position": {"load": 3}})


def test_seats_of_numpy_are_seats() -> None:
    game = Game(TWO, seed=4)
    for seat in (np.int8(1), np.uint64(1)):
        assert board_svg(game, seat) == board_svg(game, 1) and board_text(game, seat) == board_text(game, 1)
        assert legal_moves(game, seat) == legal_moves(game, 1) and game.events_for(seat) == game.events_for(1)
        assert (game.observation(seat) == game.observation(1)).all() and game.determinize(seat, 1) == game.determinize(1, 1)
    calls = (board_svg, board_text, legal_moves, question, log, Game.observation, Game.events_for, Game.determinize)
    for call in calls:
        for seat in (-1, 2, True, 1.0, float("nan"), "1", np.True_, np.array([1])):
            with pytest.raises(ValueError, match="0 to 1"):
                call(game, seat, 1) if call is Game.determinize else call(game, seat)
