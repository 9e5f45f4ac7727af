"""The board of a game in a real browser: what fits, what one click does, what moves, and what does not.

Skipped as test_browser.py, whose fixtures it shares.
"""
# ruff: noqa: F811

from __future__ import annotations

from typing import Any

import pytest

from tests.tools.browser import ServerProcess, browser_path, check_page

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
from tests.test_browser import AGENT, ANN, Tab, chromium, server, start, tab  # noqa: E402, F401

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(browser_path() is None, reason="no Chromium here: apt-get install chromium-headless-shell"),
]
SIZES = {"12px", "14px", "16px", "20px", "28px"}
SHIFTS = """window.shift = 0;
new PerformanceObserver((list) => list.getEntries().forEach((one) => (window.shift += one.value)))
    .observe({type: "layout-shift", buffered: true});"""
OUTSIDE = """() => ["board", "tray", "moves", "players"].filter((id) => {
    const box = document.getElementById(id).getBoundingClientRect();
    return box.top < 0 || box.left < 0 || box.bottom > innerHeight || box.right > innerWidth || !box.height;
})"""
TYPE = """() => [...new Set([...document.querySelectorAll("body *")].filter((node) => [...node.childNodes]
    .some((child) => child.nodeType === Node.TEXT_NODE && child.data.trim())).map((node) => getComputedStyle(node).fontSize))]"""
SEEN = """id => {
  const box = document.getElementById(id).getBoundingClientRect();
  return box.top >= 0 && box.bottom <= window.innerHeight;
}"""
WORDS = "document.getElementById('board').textContent.trim().split(/\\s+/).length"
MARK = "() => (window.marked = [...document.querySelectorAll('g.die')]).length"
KEPT = "() => window.marked.filter((node) => node.isConnected).length"
DRAWN_AGAIN = "() => [...document.querySelectorAll('g.die')].filter((node) => !window.marked.includes(node)).length"


def named(n: int) -> list[dict[str, Any]]:
    return [{**AGENT, "name": name, "spec": "weights"} for name in ("Ada", "Boole", "Curie", "Dirac", "Euler")[:n]]


def to_the_board(tab: Tab) -> None:
    """Plays on until a worker may be placed."""
    while not tab.page.locator("#board .can").count():
        assert tab.state() == "move"
        before = tab.version()
        tab.page.locator("#moves button.move").first.click()
        tab.settle(before)
        tab.state()


def test_all_of_it_is_in_sight_and_a_placement_takes_one_click(server: ServerProcess, chromium: Any) -> None:
    tab = Tab(chromium, 1440, 900)
    page = tab.page
    page.goto(start(tab, server, ANN, *named(5)))
    to_the_board(tab)
    assert page.evaluate(OUTSIDE) == []
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    assert page.evaluate(WORDS) <= 250 and set(page.evaluate(TYPE)) <= SIZES
    assert "player " not in page.locator("body").inner_text().lower()
    workers = page.evaluate(MARK)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(f"{request.method} {request.url.rpartition('/')[2]}"))
    page.locator("#tray .held").first.click()
    before = tab.version()
    page.locator("#space-generator").locator(".ground").click(position={"x": 6, "y": 6})
    tab.settle(before)
    assert asked[0] == "POST moves" and 11 <= workers <= 12, "in one of 50 games the agents lose a worker by now (R5.3)"
    assert workers - 1 <= page.evaluate(KEPT) <= workers and page.evaluate(DRAWN_AGAIN) == 0
    tab.state()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.className") == "move"
    tab.context.close()
    assert tab.faults == []


@pytest.mark.long
def test_nothing_jumps_and_a_move_is_one_request(server: ServerProcess, chromium: Any) -> None:
    tab = Tab(chromium, 1440, 900)
    page = tab.page
    page.add_init_script(SHIFTS)
    page.goto(start(tab, server, ANN, {**ANN, "name": "Bob", "here": False}))
    tab.state()
    asked: list[str] = []
    page.on(
        "request",
        lambda request: (
            "/api/" in request.url and "/events" not in request.url and asked.append(f"{request.method} {request.url[-5:]}")
        ),
    )
    before = tab.version()
    page.locator("#moves button.move").first.click()
    tab.settle(before)
    assert asked == ["POST moves"]
    page.goto(start(tab, server, ANN, *named(3)))
    tab.state()
    page.evaluate("window.shift = 0")
    for _ in range(20):
        assert tab.state() == "move"
        before = tab.version()
        page.locator("#moves button.move").last.click()
        tab.settle(before)
    assert page.evaluate("window.shift") <= 0.02
    tab.context.close()
    assert tab.faults == []


@pytest.mark.long
def test_a_tap_on_a_phone_moves_nothing_else(server: ServerProcess, chromium: Any) -> None:
    tab = Tab(chromium, 390, 844, has_touch=True, is_mobile=True)
    page = tab.page
    page.goto(start(tab, server, ANN, *named(2)))
    to_the_board(tab)
    before = tab.version()
    assert page.locator("#regions .dot").count() >= 1
    page.locator("#to-euphorian").tap()
    page.locator("#tray .held").first.tap()
    page.locator("#space-generator").locator(".ground").tap(position={"x": 6, "y": 6})
    tab.settle(before)
    assert page.evaluate("[scrollX, scrollY, document.documentElement.scrollWidth]") == [0, 0, 390]
    page.wait_for_function(SEEN, arg="question")
    page.locator("#sheet").tap()
    page.locator("#tray .card").first.wait_for()
    tab.context.close()
    assert tab.faults == []


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_both_themes_hints_and_what_has_been(server: ServerProcess, chromium: Any, scheme: str) -> None:
    tab = Tab(chromium, 1440, 900, color_scheme=scheme)
    page = tab.page
    page.goto(start(tab, server, ANN, {**AGENT, "spec": "ppo", "name": "Ada"}, practice=True))
    to_the_board(tab)
    page.keyboard.press("h")
    page.locator(".advice").wait_for()
    assert page.locator(".hint.best").inner_text().strip().endswith("best")
    check_page(page)
    page.locator("#moves .move:has(.hint.best)").click()
    tab.state()
    page.locator("#menu").click()
    page.locator("#look").click()
    page.locator("#scrub").wait_for()
    page.locator("#earlier").click()
    page.get_by_role("heading", name="seen again").wait_for()
    check_page(page)
    page.locator("#present").click()
    tab.state()
    page.locator("#menu").click()
    page.locator("#leave").click()
    page.locator("dialog[open]").get_by_role("button", name="No").click()
    page.locator("dialog").wait_for(state="detached")
    tab.context.close()
    assert tab.faults == []
