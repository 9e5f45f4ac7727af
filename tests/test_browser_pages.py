"""The page that edits a position, in a real browser: with the mouse, the keyboard, on a phone.

Skipped as test_browser.py, whose fixtures they share.
"""
# ruff: noqa: F811

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from euphoria_env import Game, Rules
from euphoria_env.cards.recruits import RECRUIT_NAMES
from tests.tools.browser import ServerProcess, browser_path
from tests.tools.playing import random_game

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
from tests.test_browser import Tab, chromium, server, tab, tab_to  # noqa: E402, F401

pytestmark = [
    pytest.mark.long,  # three journeys of test_browser.py are part of `make test`
    pytest.mark.skipif(browser_path() is None, reason="no Chromium here: apt-get install chromium-headless-shell"),
]
RIGHT = "#save-record:not([disabled])"


def field(key: str) -> str:
    """The input of a key of the position."""
    return f"[id='{key}']"


def position(tab: Tab) -> Any:
    return json.loads(tab.page.locator("#json").input_value())


def check_eyes(tab: Tab) -> None:
    """Nothing for axe to complain of, and nothing wider than the page."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    found = axe.run(tab.page).response["violations"]
    assert [(one["id"], [node["html"] for node in one["nodes"]][:3]) for one in found] == []
    assert tab.page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_form_and_json_go_in_step(server: ServerProcess, tab: Tab, tmp_path: Path) -> None:
    page = tab.page
    page.goto(server.url)
    page.get_by_role("link", name="Edit a position").click()
    page.locator(RIGHT).wait_for()
    page.locator("#new-players").select_option("2")
    page.locator("#new").click()
    page.wait_for_function("JSON.parse(document.getElementById('json').value).rules.num_players === 2")
    now = position(tab)
    held = {card["name"] for one in now["players"] for card in one["recruits"]}
    page.locator("#part-json > summary").click()
    now["workers"] = {"wind_salon": [[0, 5]]}
    now["recruits_out"] = {name: 0 for name in set(RECRUIT_NAMES) - held}  # whatever is added was out
    page.locator("#json").fill(json.dumps(now))
    for part in ("player-1", "turn"):
        page.locator(f"#part-{part} > summary").click()
    page.locator(field("players[1].goods.gold")).fill("4")
    page.locator(field("players[1].workers")).fill("2 6")
    page.locator(field("player")).select_option("1")
    page.locator(field("rules.trading")).check()
    page.locator("#recruit-1").click()
    now = position(tab)
    assert now["workers"] == {"wind_salon": [[0, 5]]} and now["players"][1]["goods"] == {"gold": 4}
    assert now["players"][1]["workers"] == [2, 6]
    assert now["player"] == 1 and now["rules"]["trading"] and len(now["players"][1]["recruits"]) == 3
    page.get_by_text("Player 1: choose what to do").wait_for()
    page.locator("#board .die[data-space=wind_salon]").wait_for()
    assert page.locator("#player-1").is_visible()
    # the other way round
    now["allegiance"]["subterran"], now["players"][1]["goods"] = 4, {"clay": 2}
    page.locator("#json").fill(json.dumps(now))
    assert page.locator(field("allegiance.subterran")).input_value() == "4"
    assert page.locator(field("players[1].goods.clay")).input_value() == "2"
    assert page.locator(field("players[1].goods.gold")).input_value() == ""
    page.locator("#allegiance-subterran", has_text="4").wait_for()
    # every form of it
    with page.expect_download() as waiting:
        page.locator("#save-record").click()
    waiting.value.save_as(tmp_path / "position.record")
    game = Game.from_record((tmp_path / "position.record").read_text())
    assert game.player == 1 and game.to_dict()["workers"] == {"wind_salon": [[0, 5]]}
    page.reload()
    page.locator(RIGHT).wait_for()
    assert position(tab) == now
    check_eyes(tab)


def test_what_is_wrong_stands_beside_its_field(server: ServerProcess, tab: Tab) -> None:
    page = tab.page
    page.goto(f"{server.url}/edit")
    page.locator(RIGHT).wait_for()
    page.locator("#part-tracks > summary").click()
    page.locator(field("allegiance.icarite")).fill("12")
    page.locator(field("fault-allegiance.icarite")).get_by_text("from 0 to 11").wait_for()
    assert page.locator(field("allegiance.icarite")).get_attribute("aria-invalid") == "true"
    assert page.locator("#study").is_disabled()
    now = position(tab)
    now["players"][2]["morale"] = 7
    del now["allegiance"]["icarite"]
    page.locator("#part-json > summary").click()
    page.locator("#json").fill(json.dumps(now))
    page.locator("#fix", has_text="players[2].morale").click()
    assert (
        page.evaluate("document.activeElement.id") == "players[2].morale"
        and page.locator("#part-player-2").get_attribute("open") == ""
    )
    check_eyes(tab)
    page.locator(field("players[2].morale")).fill("3")
    page.locator(RIGHT).wait_for()
    assert page.locator("[aria-invalid]").count() == 0 and "icarite" not in position(tab)["allegiance"]
    for text in ('{"players": 5}', '{"workers": [1], "rules": 3}', '{"markets": {"x": null}, "players": [null, 3]}', "[1]", "{"):
        page.locator("#json").fill(text)
        page.get_by_text("to fix").wait_for()
        assert page.locator("#save-record").is_disabled()


def test_a_position_is_written_by_clicks(server: ServerProcess, tab: Tab) -> None:
    page = tab.page
    page.goto(f"{server.url}/edit")
    page.locator(RIGHT).wait_for()
    for tool, target in (
        ("#face-5", "#space-wind_salon"),
        ("#star", "#territory-euphorian"),
        ("#market", "#tile-subterran_market_1 > rect"),
        ("#face-2", "#player-1"),
    ):
        page.locator("#seat-1").click()
        page.locator(tool).click()
        page.locator(target).first.click()
    now = position(tab)
    assert now["workers"] == {"wind_salon": [[1, 5]]} and now["territories"]["euphorian_territory"] == [1]
    assert now["markets"]["subterran_market_1"]["built"] and now["players"][1]["workers"][-1] == 2
    page.locator("#board .die[data-space=wind_salon]").wait_for()
    rail = page.locator("[data-region=icarite] .rail > :first-child").bounding_box()
    page.mouse.click(rail["x"] + rail["width"] * 4 / 11, rail["y"] + 2)
    pipe = page.locator("[data-region=wastelander] .pipe > :nth-child(2)").bounding_box()
    page.mouse.click(pipe["x"] + pipe["width"] * 0.452, pipe["y"] + 9)
    now = position(tab)
    assert now["allegiance"]["icarite"] == 4 and now["miners"]["wastelander"] == 4
    page.locator("#remove").click()
    page.locator("#star-euphorian_territory-1").click()
    page.locator("#board .die[data-space=wind_salon]").click()
    now = position(tab)
    assert now["workers"] == {} and now["territories"]["euphorian_territory"] == []
    page.locator("#undo").click()
    assert position(tab)["workers"] == {"wind_salon": [[1, 5]]}
    page.locator("#seat-0").click()
    page.locator("#face-1").click()
    page.locator("#space-farm").focus()
    page.keyboard.press("Enter")
    page.locator("#board .die[data-space=farm]").wait_for()
    check_eyes(tab)


def test_a_position_leads_on_by_the_keyboard_alone(server: ServerProcess, tab: Tab) -> None:
    page, keys = tab.page, tab.page.keyboard
    page.goto(f"{server.url}/edit")
    page.locator(RIGHT).wait_for()
    tab_to(tab, "play")
    keys.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Turn and rules"
    keys.press("Enter")
    keys.press("Tab")
    keys.press("Tab")
    with page.expect_response(lambda answer: '"turn":77' in (answer.request.post_data or "")):
        keys.press("Control+A")
        keys.type("77")
    page.locator(RIGHT).wait_for()
    keys.press("Shift+Tab")
    keys.press("Shift+Tab")
    keys.press("Shift+Tab")
    keys.press("Enter")
    page.locator("#start").wait_for()
    tab_to(tab, "start")
    keys.press("Enter")
    page.locator("#board").wait_for()
    page.get_by_text("turn 77", exact=False).first.wait_for()


def test_a_study_gives_its_position_to_the_editor(server: ServerProcess, tab: Tab) -> None:
    game = random_game(Rules(num_players=2, max_turns=9), 8)
    page = tab.page
    page.goto(server.url)
    study = page.evaluate(
        """async (record) => (await (await fetch("/api/studies", {method: "POST", headers: {"Content-Type": "application/json"},
        body: JSON.stringify({record})})).json()).id""",
        game.to_record(),
    )
    page.goto(f"{server.url}/study/{study}#1")
    page.get_by_role("link", name="Edit this position").click()
    page.get_by_text("This is the middle of a decision").wait_for()
    assert position(tab)["status"] == "setup"
    page.locator("#drop").click()
    page.locator(RIGHT).wait_for()
    assert "pending" not in position(tab) and position(tab)["turn"] == 1


@pytest.mark.parametrize("width", [1280, 360])
def test_how_to_play_is_a_click_away(server: ServerProcess, chromium: Any, width: int) -> None:
    tab = Tab(chromium, width=width)
    tab.page.goto(server.url)
    tab.page.get_by_role("link", name="How to play").click()
    tab.page.get_by_role("heading", name="Why low knowledge and high morale").wait_for()
    check_eyes(tab)
    tab.context.close()
    assert tab.faults == []
