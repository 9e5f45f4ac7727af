"""The first page, the lessons and the help in a real browser, as somebody uses them who has never seen the game."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from euphoria_agents.play.web import scenes
from euphoria_env import actions
from tests.test_browser import SEEN, SMALL, Tab, chromium, pytestmark, server, tab, tabs
from tests.tools.browser import ServerProcess, check_page

DICE = "[...document.querySelectorAll('#demo .die')].map((die) => die.outerHTML).join()"


def game_of(tab: Tab) -> Any:
    """The public view of the game whose page is open."""
    tab.page.wait_for_url("**/play/*")
    return tab.page.evaluate("async () => (await fetch(`/api/games/${location.pathname.split('/')[2]}/view`)).json()")


def test_one_click_begins_a_game(server: ServerProcess, tab: Tab) -> None:
    page = tab.page
    page.goto(server.url)
    page.get_by_role("radio", name="very easy").check()
    page.get_by_role("radio", name="4", exact=True).check()
    page.get_by_role("button", name="Play now").click()
    assert [one["spec"] for one in game_of(tab)["seats"]] == [None, "random", "random", "random"]
    page.locator("button.move").first.wait_for()
    page.goto(server.url)
    page.locator("#running a").wait_for()
    assert page.get_by_role("radio", name="4", exact=True).is_checked()  # as chosen before
    page.get_by_role("button", name="Watch agents").click()
    assert [one["spec"] for one in game_of(tab)["seats"]] == ["random"] * 4


@pytest.mark.parametrize("size", [(1280, 800), (390, 844), (844, 390), (640, 450)])
def test_the_first_page_fits(server: ServerProcess, tabs: Callable[..., Tab], size: tuple[int, int]) -> None:
    page = tabs(*size).page
    page.goto(server.url)
    page.locator("#demo-toggle").wait_for()
    assert page.evaluate(SEEN, "start")
    assert size[0] < 1280 or page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    page.get_by_text("More options").click()
    page.locator("#name-1").wait_for()
    check_page(page)
    assert page.evaluate(SMALL) == []


def test_the_board_of_the_first_page_moves_by_itself_unless_motion_is_off(
    server: ServerProcess, tabs: Callable[..., Tab]
) -> None:
    page = tabs().page
    page.goto(server.url)
    page.locator("#demo-toggle").wait_for()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_function(f"before => {DICE} !== before", arg=page.evaluate(DICE))
    assert asked == []  # the server does nothing for it
    still = tabs(reduced_motion="reduce").page
    still.goto(server.url)
    still.get_by_role("button", name="Play the game on the board").wait_for()


def answer(page: Any, move: str) -> None:
    """Makes a move of the list, and waits for what is said of it."""
    page.locator(f"#move-{actions.parse(move)}").click()
    page.locator("#told.right, #told.wrong").wait_for()


def test_all_lessons_by_somebody_who_errs_at_first(server: ServerProcess, tab: Tab) -> None:
    page = tab.page
    page.goto(f"{server.url}/learn")
    for number, lesson in enumerate(scenes.lessons()):
        page.get_by_role("heading", name=f"{number + 1}. {lesson['title']}").wait_for()
        for k, step in enumerate(lesson["steps"]):
            page.get_by_text(step["task"]).wait_for()
            if (number, k) == (0, 0):
                page.keyboard.press("7")  # place 5 farm
                page.locator("#back").click()
                page.get_by_text(step["task"]).wait_for()
                check_page(page)
                page.locator("#board .best").press("Enter")
            else:
                answer(page, step["wanted"][0])
            page.get_by_text(step["right"]).wait_for()
            last = k == len(lesson["steps"]) - 1
            if (number, last) != (5, True):
                page.locator("#next" if last else "#on").click()
    assert page.locator("#controls button[aria-label$=', done']").count() == 6
    page.locator("#first").click()
    page.locator(".advice p").first.wait_for()
    assert "Advice: Choose" in page.locator(".advice").inner_text()
    page.goto(server.url)
    games = page.evaluate("async () => (await (await fetch('/api/games')).json()).games")
    assert [one for one in games if len(one["seats"]) > 1 and one["seats"][1]["spec"] is None] == []  # those of lessons are gone


def test_the_help_has_pictures_and_symbols(server: ServerProcess, tab: Tab) -> None:
    tab.page.goto(f"{server.url}/help")
    tab.page.locator("#legend li").first.wait_for()
    tab.page.locator("figure .pair").last.wait_for()
    assert tab.page.locator("figure svg").count() == 9
