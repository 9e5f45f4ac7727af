"""Studies in a real browser: mistakes and how to learn from them, and the first page that leads back.

Skipped as test_browser.py, whose fixtures they share.
"""
# ruff: noqa: F811

from __future__ import annotations

import json
from pathlib import Path

import pytest

from euphoria_env import Game, Rules
from tests.tools.browser import ServerProcess, browser_path, check_page
from tests.tools.playing import random_game

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
from tests.test_browser import Tab, chromium, server, tab  # noqa: E402, F401

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(browser_path() is None, reason="no Chromium here: apt-get install chromium-headless-shell"),
]
JUDGE = "mcts:100:ppo"
SIZES = """[...new Set([...document.querySelectorAll("body *")].filter((e) => e.getClientRects().length
    && [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())).map((e) => getComputedStyle(e).fontSize))]"""
DECISION = "document.getElementById('slider')?.getAttribute('aria-valuenow')"


def opened(tab: Tab, server: ServerProcess, folder: Path, players: int = 2, turns: int = 6) -> int:
    """Opens the study of a game that was played at random; returns its number of decisions."""
    game = random_game(Rules(num_players=players, max_turns=turns), 8)
    (folder / "game.record").write_text(game.to_record())
    tab.page.goto(server.url)
    tab.page.locator("#file").set_input_files(folder / "game.record")
    tab.page.locator("#slider").wait_for()
    return len(game.history)


def analysed(tab: Tab) -> None:
    """Has the game judged."""
    tab.page.locator("#judge").select_option(JUDGE)
    tab.page.locator(f"[id='analyse-{JUDGE}']").click()
    tab.page.wait_for_function("() => !document.querySelector('[id^=analyse-], [id^=stop-]')")


def at(tab: Tab, decision: int) -> None:
    """Waits until a decision is shown."""
    tab.page.wait_for_function(f"n => {DECISION} === String(n)", arg=decision)


def test_a_game_is_looked_at_without_an_agent(server: ServerProcess, tab: Tab, tmp_path: Path) -> None:
    decisions = opened(tab, server, tmp_path, players=3)
    page = tab.page
    at(tab, 0)
    page.keyboard.press("ArrowRight")
    at(tab, 1)
    page.locator("#slider").focus()
    page.keyboard.press("End")
    at(tab, decisions)
    page.get_by_text("The game has ended.").wait_for()
    page.locator("#tab-all").click()
    assert page.locator("#shown-tab li").count() == decisions
    page.locator("#ply-2").click()
    at(tab, 2)
    assert page.locator("#players .cell").count() == 3 and page.locator("#learn").is_disabled()
    check_page(page)
    page.goto(server.url)
    page.locator("#studies a").first.click()
    page.locator("#slider").wait_for()


@pytest.mark.long
def test_an_agent_judges_a_game_and_somebody_learns_from_it(server: ServerProcess, tab: Tab, tmp_path: Path) -> None:
    opened(tab, server, tmp_path, turns=16)
    page = tab.page
    page.locator("#judge").select_option(JUDGE)
    page.locator(f"[id='ask-{JUDGE}']").click()  # about this decision alone
    page.locator("#moves meter").first.wait_for()
    analysed(tab)
    assert page.locator("polyline.chance").count() == 2 and page.locator("#course .readout b").count() == 2
    page.locator("#threshold").fill("1")
    page.locator("#threshold").press("Enter")
    wrong = page.locator("[id^=mistake-]:not(#mistake-before)")
    marks = wrong.count()
    assert marks == page.locator("path.mistake").count() > 1
    assert "better" in wrong.first.inner_text()
    wrong.last.click()
    page.get_by_text(", a mistake").wait_for()
    assert page.locator(".sign.best").count() == page.locator(".sign.played").count() == 1
    page.locator("#mistake-before").click()
    with page.expect_download() as file:
        page.locator("#position").click()
    assert Game.from_dict(json.loads(Path(file.value.path()).read_text())).legal()
    with page.expect_download() as file:
        page.locator("#page").click()
    assert "Content-Security-Policy" in Path(file.value.path()).read_text()
    page.locator("#tab-result").click()
    assert page.locator("#summary tbody tr").count() == 2
    assert "own dice" in page.locator("#lucks").inner_text() and page.locator("#lucks thead th").count() == 3
    page.locator("#summary .term").first.click()
    page.locator("#about-error:popover-open").wait_for()
    page.keyboard.press("Escape")
    check_page(page)

    page.locator("#learn").click()
    seat = next(k for k in (0, 1) if page.locator(f"#learn-{k}").is_enabled())
    page.locator(f"#learn-{seat}").click()
    page.get_by_text("Mistake 1 of").wait_for()
    assert page.locator("#slider, .chance, .ring, .heat-bar, #moves table, #shown-tab").count() == 0
    check_page(page)
    page.locator("#show").click()
    page.get_by_text("Yes, that is the best move.").wait_for()
    assert page.locator(".sign.played").count() == 1 and page.locator(".chance").count() == 2
    page.locator("#leave").click()
    page.locator("#guessing").check()
    page.locator("[id^=guess-]").first.click()
    page.locator(".answer").wait_for()
    page.locator("#guessing").uncheck()


@pytest.mark.long
def test_a_game_goes_on_from_a_study(server: ServerProcess, tab: Tab, tmp_path: Path) -> None:
    opened(tab, server, tmp_path)
    page = tab.page
    page.locator("#slider").focus()
    page.keyboard.press("PageDown")
    at(tab, 10)
    page.locator("#branch").click()
    page.get_by_role("heading", name="Play on from turn").wait_for()
    page.locator("#start").click()
    page.wait_for_url("**/play/*")
    page.goto(server.url)
    page.locator("#running a").wait_for()
    check_page(page)
    page.locator("#studies a").first.click()
    page.locator("#delete").click()
    page.locator("#delete-really").click()
    page.locator("#new").wait_for()
    page.wait_for_function("document.querySelectorAll('#studies a').length === 0")


@pytest.mark.long
def test_all_pages_in_both_themes_and_five_sizes_of_type(server: ServerProcess, tab: Tab, tmp_path: Path) -> None:
    opened(tab, server, tmp_path, players=4)
    analysed(tab)
    page = tab.page
    for address in (page.url, f"{server.url}/"):
        page.goto(address)
        page.locator("main button").first.wait_for()
        for scheme in ("dark", "light"):
            page.emulate_media(color_scheme=scheme)
            for width in (1440, 1024, 390):
                page.set_viewport_size({"width": width, "height": 900})
                check_page(page)
        assert set(page.evaluate(SIZES)) <= {f"{n}px" for n in (12, 14, 16, 20, 28)}
