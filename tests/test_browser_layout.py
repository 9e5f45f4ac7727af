"""The pages at every size and for every eye: lettering of 10 px at least, targets for fingers, nothing that axe complains of."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from euphoria_agents.play.web.replay_page import replay_page
from euphoria_agents.record_steps import Replayed
from euphoria_env import Game, Rules
from tests.test_browser import Tab, analysed, chromium, opened, pytestmark, server, start, tabs
from tests.tools.browser import ServerProcess, check_page
from tests.tools.playing import random_game

NAMES = ("Ada", "Boole", "Curie", "Dirac", "Euler", "Fermat")
SIZES = ((1024, 768), (844, 390), (390, 844), (640, 400), (1280, 900), (1366, 768), (1440, 900), (1920, 1080))
STATES = ("home", "help", "study", "file", *((n, when) for n in (2, 6) for when in ("start", "middle", "end")))
# The smallest letters in pixels of the screen, those of the drawing and of its symbols included, and where they are.
SMALLEST = """() => {
  const sizes = [];
  for (const node of document.querySelectorAll("body *")) {
    if (node.closest(".sprite, .unseen, script, noscript") || !node.getClientRects().length) continue;
    const symbol = node.localName === "use" && document.querySelector(node.getAttribute("href"));
    const text = symbol ? symbol.querySelector("text") : [...node.childNodes].some((one) => one.data?.trim()) && node;
    if (!text) continue;
    const {a = 1, b = 0} = node.getScreenCTM?.() ?? {};
    const width = symbol && node.width.baseVal.value;
    const scale = Math.hypot(a, b) * (width ? width / symbol.viewBox.baseVal.width : 1);
    sizes.push([scale * parseFloat(getComputedStyle(text).fontSize), node.outerHTML.slice(0, 80)]);
  }
  return sizes.sort(([one], [other]) => one - other)[0];
}"""
BOX = "id => document.getElementById(id).getBoundingClientRect().toJSON()"


def middle(players: int) -> dict[str, Any]:
    """A position in which the first player may place a worker."""
    game, rng = Game(Rules(num_players=players), seed=3), random.Random(5)
    while game.player or game.turn < 20 or not any(move.startswith("place") for move in game.legal()):
        game.play(rng.choice(game.legal()))
    return game.to_dict()


def table(tab: Tab, server: ServerProcess, players: int, when: str) -> None:
    """Opens a game of a person and agents at its start, in its middle or, of agents alone, at its end."""
    person = {"spec": None, "here": True} if when != "end" else {}
    seats = [{"name": name, "spec": "random", **({} if k else person)} for k, name in enumerate(NAMES[:players])]
    game = {"start": {}, "middle": {"position": middle(players)}, "end": {"max_turns": 1}}[when]
    tab.page.goto(start(tab, server, *seats, **game))
    tab.page.locator(".ranking" if when == "end" else "#moves button.move").first.wait_for()


@pytest.mark.parametrize("players", [2, 4, 6])
def test_lettering_and_targets_are_large_enough(server: ServerProcess, tabs: Callable[..., Tab], players: int) -> None:
    tab = tabs(reduced_motion="reduce")
    page = tab.page
    table(tab, server, players, "middle")
    fonts = "document.fonts.ready.then((all) => [...all].map((one) => `${one.family} ${one.status}`))"
    assert page.evaluate(fonts) == ["Inter loaded"]
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        size, where = page.evaluate(SMALLEST)
        assert size >= 9.95, (width, height, where)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        heights = page.evaluate("[...document.querySelectorAll('button.move')].map((e) => e.getBoundingClientRect().height)")
        assert min(heights) >= 43.5, (width, height)
        board, row, side = (page.evaluate(BOX, part) for part in ("board", "players", "side"))
        assert board["height"] >= height * 0.33, (width, height)
        if height < 560:  # the players in one line; the board on the left, the moves on the right, at full height
            assert abs(board["right"] - 0.6 * width) < 9 and row["right"] <= side["left"] + 1 and row["height"] < 44
            assert side["top"] <= 1 and side["bottom"] >= height - 1


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["dark", "light"])
@pytest.mark.parametrize("state", STATES)
def test_nothing_is_wrong_for_any_eye(
    server: ServerProcess, tabs: Callable[..., Tab], tmp_path: Path, state: str | tuple[int, str], scheme: str
) -> None:
    tab = tabs(color_scheme=scheme, reduced_motion="reduce")
    page = tab.page
    if isinstance(state, tuple):
        table(tab, server, *state)
    elif state == "study":
        opened(tab, server, tmp_path, players=4)
        analysed(tab)
    elif state == "file":
        record = random_game(Rules(num_players=3, max_turns=6), 8).to_record()
        (tmp_path / "game.html").write_text(replay_page(Replayed.from_record(record), NAMES[:3]), encoding="utf-8")
        page.goto((tmp_path / "game.html").as_uri())
        page.locator("#board svg").wait_for()
    else:
        page.goto(f"{server.url}/{state.removeprefix('home')}")
        page.locator("figure .pair" if state == "help" else "#demo-toggle").last.wait_for()
    for width, height in ((1280, 900), (844, 390), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        check_page(page)
