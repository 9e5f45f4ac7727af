"""The pages in browsers that forbid things or keep nonsense, and in games that somebody else changes or deletes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.test_browser import AGENT, ANN, Tab, chromium, server, start, tab, tabs
from tests.test_browser import pytestmark as pytestmark
from tests.test_browser_table import HAND, requests, table
from tests.tools.browser import ServerProcess

__all__ = ["chromium", "server", "tab", "tabs"]  # fixtures
STORAGE = {
    "forbidden": """for (const place of ["localStorage", "sessionStorage"])
        Object.defineProperty(window, place, {get() { throw new DOMException("forbidden"); }});""",
    "full": "Storage.prototype.setItem = () => { throw new DOMException('full'); };",
    "damaged": "for (const name of ['library', 'table', 'language']) localStorage.setItem(name, '{');",
    "of another kind": """localStorage.setItem("library", '{"games": 3, "lessons": [null], "studies": "x"}');
        localStorage.setItem("table", "null"); localStorage.setItem("language", "[]");""",
}
DELETE = """async (address) => (await fetch(address, {
    method: "DELETE", headers: {"Content-Type": "application/json"}, body: "{}"})).json()"""


@pytest.mark.parametrize("script", STORAGE.values(), ids=STORAGE)
def test_the_pages_work_with_any_storage(server: ServerProcess, tabs: Callable[..., Tab], script: str) -> None:
    page = tabs().page
    page.add_init_script(script)
    page.goto(f"{server.url}/learn#nonsense")
    page.locator("#board .best").first.press("Enter")
    page.locator("#told.right").wait_for()
    page.goto(f"{server.url}/?lang=__proto__")
    page.locator("#start").click()
    page.locator("#moves button.move").first.wait_for()
    assert page.url.startswith(f"{server.url}/play/")


def test_without_cookies_the_page_says_so_before_it_makes_a_game(server: ServerProcess, tab: Tab) -> None:
    tab.page.add_init_script("Object.defineProperty(Navigator.prototype, 'cookieEnabled', {get: () => false});")
    tab.page.goto(server.url)
    tab.page.locator("#start").click()
    tab.page.get_by_text("Please allow cookies").wait_for()
    assert tab.page.url == f"{server.url}/"


def test_a_lesson_whose_game_is_gone_starts_again(server: ServerProcess, tab: Tab) -> None:
    page, games = tab.page, []
    page.on("request", lambda request: "/view" in request.url and games.append(request.url.partition("/view")[0]))
    page.goto(f"{server.url}/learn")
    page.locator("#moves .move").first.wait_for()
    page.keyboard.press("Control+1")  # is for the browser
    page.evaluate(DELETE, games[0])
    page.locator("#board .best").first.press("Enter")
    page.get_by_text("The lesson starts again").wait_for()
    page.locator("#board .best").first.press("Enter")
    page.locator("#told.right").wait_for()
    assert tab.faults.pop().endswith("404 (Not Found)") and len(games) == 2


def test_a_key_that_is_held_down_plays_once(server: ServerProcess, tab: Tab) -> None:
    table(tab, server, mine={**HAND, "workers": [4, 4]}, workers={"aquifer": [[0, 4]]})
    before, asked = tab.version(), requests(tab)
    tab.page.keyboard.down("1")
    tab.settle(before)
    tab.state()
    tab.page.keyboard.down("1")
    tab.page.keyboard.up("1")
    assert asked == ["moves"] and tab.page.locator("#moves button.move").count()


def test_a_name_that_is_a_word_is_not_translated(server: ServerProcess, tab: Tab) -> None:
    names: list[dict[str, Any]] = [{**ANN, "name": "You"}, {**AGENT, "name": "Star"}, {**AGENT, "name": "<b>"}]
    tab.page.goto(f"{start(tab, server, *names)}?lang=es")
    tab.page.locator("#moves button.move").first.wait_for()
    assert tab.page.locator(".cell b").all_inner_texts() == ["Tú", "Star", "<b>"]
    tab.page.goto(server.url)
    tab.page.locator("#games .one", has_text="Star").wait_for(state="attached")
