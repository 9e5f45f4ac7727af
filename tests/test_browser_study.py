"""The study in a real browser: what is told of opinions, where things are, how it plays by itself, a server that goes away."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.test_browser import DECISION, Tab, at, chromium, opened, pytestmark, server, tab, tabs
from tests.tools.browser import ServerProcess

STANDINGS = """async (moves) => {
  const { asRows, best, figure, standing } = (await import(document.scripts[0].src)).modules["opinions.js"];
  const rows = asRows(moves.map(([prior, visits, value], action) => ({ action, prior, visits, value })));
  return rows.map((one) => [standing(one, best(rows)), figure(one, rows)[0]]);
}"""
BOXES = """() => Object.fromEntries(["board", "moves", "players", "holdings", "course"].map((id) =>
    [id, document.getElementById(id).getBoundingClientRect().toJSON()]))"""


def test_a_column_has_one_unit_and_equal_moves_are_told(server: ServerProcess, tab: Tab) -> None:
    tab.page.goto(server.url)
    searched = [[0.5, 60, 0.261], [0.3, 30, 0.264], [0.1, 9, 0.1], [0.1, 1, 0.9], [0.0, 0, None]]
    told = [["best", "26 %"], ["about equal", "26 %"], ["", "10 %"], ["", "90 %"], ["", "–"]]
    assert tab.page.evaluate(STANDINGS, searched) == told
    assert tab.page.evaluate(STANDINGS, [[0.9, None, None], [0.1, None, None]]) == [["best", "90 %"], ["", "10 %"]]
    assert tab.page.evaluate(STANDINGS, [[None, None, 0.4], [None, None, 0.5]]) == [["", "40 %"], ["best", "50 %"]]


def test_an_agent_that_does_not_search_is_said_to_find_no_mistakes(server: ServerProcess, tab: Tab, tmp_path: Path) -> None:
    opened(tab, server, tmp_path)
    page = tab.page
    assert page.locator("button.main").all_inner_texts() == ["Analyse the game"]
    assert page.locator("#judge option").first.inner_text() == "very hard (searches 100)"
    page.locator("#judge").select_option("ppo")
    page.locator("#analyse-ppo").click()
    page.get_by_text("ppo does not search, so it cannot price mistakes.").wait_for()
    page.wait_for_function("() => !document.querySelector('[id^=analyse-], [id^=stop-]')")
    assert page.locator("#tab-wrong").inner_text() == "Mistakes" and page.locator("#learn").is_disabled()
    assert page.locator("#moves thead th").all_inner_texts() == ["Move", "first idea"]
    assert page.locator(".chart .end").all_text_contents()[1::2] == ["Player 1", "Player 2"]


def test_nothing_lies_upon_anything_else(server: ServerProcess, tabs: Callable[..., Tab], tmp_path: Path) -> None:
    one = tabs(1440, 900)
    opened(one, server, tmp_path, players=4)
    page = one.page
    found = page.evaluate(BOXES)
    assert found["board"]["bottom"] <= 900 and found["holdings"]["top"] - found["board"]["bottom"] < 20
    assert found["holdings"]["right"] <= found["moves"]["left"]
    lefts = {card.bounding_box()["x"] for card in page.locator("#holdings > *").all()}  # type: ignore[index]
    assert len(lefts) == 2
    page.set_viewport_size({"width": 1440, "height": 600})
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    found = page.evaluate(BOXES)
    assert found["board"]["top"] < found["moves"]["top"] >= 0  # the right column stays
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.querySelector('.chart').getBoundingClientRect().width <= innerWidth")


def test_a_study_plays_by_itself(server: ServerProcess, tab: Tab, tmp_path: Path) -> None:
    decisions = opened(tab, server, tmp_path)
    page = tab.page
    page.locator("#speed").click()
    page.locator("#speed").click()
    page.locator("body").press(" ")
    page.get_by_role("button", name="pause (space bar)").wait_for()
    at(tab, decisions)
    page.get_by_role("button", name="play (space bar)").wait_for()
    page.locator("#guessing").check()
    assert page.locator("#playback").count() == 0


def test_a_study_waits_for_a_server_that_goes_away(tmp_path: Path, chromium: Any) -> None:
    process = ServerProcess(tmp_path / "games.sqlite").start()
    tab = Tab(chromium)
    page = tab.page
    opened(tab, process, tmp_path)
    process.end(signal.SIGKILL)
    page.locator("#forward").click()
    page.get_by_text("The server cannot be reached; this page goes on when it is back.").wait_for()
    process.start()
    at(tab, 1)
    page.locator("#message:empty").wait_for(state="attached")
    assert page.evaluate(DECISION) == "1"
    tab.context.close()
    assert process.end(signal.SIGINT) in (0, 130)
