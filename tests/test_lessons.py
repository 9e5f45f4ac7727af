"""The lessons, the help and the first page: what they show is what the game does."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from euphoria_agents.play.web import scenes
from euphoria_agents.play.web.board_data import STATIC
from euphoria_env import Game, words
from euphoria_env.render.board import board_fragment
from euphoria_env.render.symbols import ICONS
from euphoria_env.render.view import view_of

LESSONS = {lesson["id"]: lesson for lesson in scenes.lessons()}


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_can_be_played_to_its_end(name: str) -> None:
    lesson = LESSONS[name]
    *before, end = scenes.played(lesson)
    for game, step in zip(before, lesson["steps"], strict=True):
        wrong = [*step.get("wrong", {})]
        assert game.player == 0 and set(step["wanted"] + wrong) <= set(game.legal())
        assert not set(wrong) & set(step["wanted"])
        assert len(game.legal()) > len(step["wanted"]), "nothing can be done wrong"
        assert len({after(game, move).player for move in step["wanted"]}) == 1, "the next step fits all of them"
    assert end.over or end.player != 0


def after(game: Game, move: str) -> Game:
    """The game after a move."""
    found = game.clone()
    found.play(move)
    return found


# What the lessons say of the moves wanted.
@pytest.mark.parametrize(
    "name, step, told",
    [
        ("placement", 0, ["gain 1 energy", "allegiance to 2"]),
        ("placement", 1, ["gain 2 energy (1 from allegiance)", "lose 1 knowledge"]),
        ("bump", 0, ["Ada gets back the bumped 5", "rolls 3", "you pay 1 energy"]),
        ("tunnel", 1, ["the hidden Euphorian recruits become active", "you have Katy active"]),
        ("market", 0, ["place a star on the Bemusement Park", "Ada places a star", "you roll 6"]),
        ("market", 1, ["place a star in the Euphorian territory"]),
        ("check", 0, ["roll 5", "lose the 6 (knowledge check: 16)"]),
        ("check", 1, ["lose 1 knowledge"]),
        ("stars", 1, ["allegiance to 11", "place a star on Gary", "win the game"]),
    ],
)
def test_a_move_does_what_the_lesson_says(name: str, step: int, told: list[str]) -> None:
    game = [*scenes.played(LESSONS[name])][step]
    names = list(scenes.NAMES[: game.rules.num_players])
    log = words.log(after(game, LESSONS[name]["steps"][step]["wanted"][0]), 0, names)[-1]
    assert all(part in log for part in told), log


def test_the_legend_has_every_symbol() -> None:
    table = re.search(r"SYMBOLS = \{(.*?)\n\};", (STATIC / "legend.js").read_text(), re.DOTALL)
    assert table and set(re.findall(r'^  "?([a-z ]+)"?: "', table[1], re.MULTILINE)) == set(ICONS)


def test_the_game_on_the_first_page_is_whole_and_tells_no_secret() -> None:
    shown: Any = scenes.demo()
    texts = ["\n".join(shown["pieces"][line] for line in lines) for lines in shown["frames"]]
    known = [json.loads(text.partition("</svg>\n")[2]) for text in texts]
    assert len(texts) > 50 and {text[:4] for text in texts} == {"<svg"}
    assert [any(player["rank"] == 1 for player in one["players"]) for one in (known[0], known[-1])] == [False, True]
    players = [player for one in known for player in one["players"]]
    assert not any(player["artifacts"] or (player["dilemma"] and not player["resolved"]) for player in players)


def test_pictures_are_boards_before_and_after() -> None:
    found: Any = scenes.pictures()
    shown = set(re.findall(r'data-lesson="(\w+)"', (STATIC / "help.html").read_text()))
    assert shown < set(LESSONS) and len(shown) == 4
    for name, (before, after) in found["frames"].items():
        assert before != after and found["pieces"][before[0]].startswith("<svg")
        wanted = Game.from_dict(LESSONS[name]["position"])
        assert "\n".join(found["pieces"][line] for line in before) == board_fragment(
            view_of(wanted, None), names=scenes.NAMES[: wanted.rules.num_players]
        )
