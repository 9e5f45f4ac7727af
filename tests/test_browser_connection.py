"""The page of a game when its server is away, its stream cannot be had, its machine slept, or its seat is played elsewhere."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.test_browser import ASKED_AGAIN, POST, chromium, pytestmark, server
from tests.tools.browser import ServerProcess
from tests.tools.served import ANN, BOB, RANDOM

VERSION = "Number(document.body.dataset.version)"
DECIDED = "async game => (await (await fetch(`/api/games/${game}/view`)).json()).decisions"
COUNT = """window.animated = 0;
const animate = Element.prototype.animate;
Element.prototype.animate = function (...how) { window.animated++; return animate.apply(this, how); };"""


@pytest.fixture
def context(chromium: Any) -> Iterator[Any]:
    found = chromium.new_context(viewport={"width": 1280, "height": 900})
    found.set_default_timeout(0)  # none: cores may be busy
    yield found
    found.close()


def begun(context: Any, server: ServerProcess, *seats: Any, pace: float | None = 0) -> tuple[Any, Any]:
    """A page without a game, and the answer to the request for a new one."""
    page = context.new_page()
    page.goto(f"{server.url}/help")
    return page, page.evaluate(POST, ["/api/games", {"seats": seats, "pace": pace}])


def opened(context: Any, server: ServerProcess, game: str) -> tuple[Any, list[str]]:
    """The page of a game, and what it asks from then on."""
    page, asked = context.new_page(), []
    page.on("request", lambda request: asked.append(request.url.rpartition("/")[2].partition("?")[0]))
    page.goto(f"{server.url}/play/{game}")
    until(page, f"{VERSION} >= 0")
    return page, asked


def until(page: Any, condition: str) -> None:
    page.wait_for_function(f"() => {condition}")


def decide(page: Any) -> None:
    """Plays the first move, and waits for what comes of it."""
    before = page.evaluate(VERSION)
    page.locator("#moves button.move").first.click()
    if (again := page.locator(ASKED_AGAIN)).count():
        again.click()
    until(page, f"{VERSION} > {before}")
    page.wait_for_selector("#moves button.move")


def message(page: Any) -> str:
    return str(page.locator("#message").text_content())


def test_the_page_goes_on_by_itself_after_a_restart(tmp_path: Path, context: Any) -> None:
    server = ServerProcess(tmp_path / "games.sqlite").start()
    _, made = begun(context, server, ANN, RANDOM)
    page, asked = opened(context, server, made["id"])
    for _ in range(5):
        decide(page)
    assert asked.count("moves") == 5 and asked.count("view") == asked.count("events") == 1  # one request for a click, no other
    moves = page.locator("#moves").text_content()
    page.reload()
    page.wait_for_selector("#moves button.move")
    assert page.locator("#moves").text_content() == moves
    server.end(signal.SIGKILL)
    page.get_by_text("cannot be reached").wait_for()
    page.locator("#moves button.move").first.click()
    page.get_by_text("cannot be reached").wait_for()
    server.start()
    page.get_by_text("cannot be reached").wait_for(state="hidden")
    page.keyboard.press("Escape")
    assert page.locator("#moves").text_content() == moves and message(page) == ""
    decide(page)
    server.end(signal.SIGINT)


def test_two_tabs_of_one_seat_show_the_same_and_decide_once(server: ServerProcess, context: Any) -> None:
    _, made = begun(context, server, ANN, RANDOM)
    (one, _), (other, asked) = (opened(context, server, made["id"]) for _ in range(2))
    decide(one)
    until(other, f"{VERSION} >= {one.evaluate(VERSION)}")
    assert asked.count("view") == 1

    def late(route: Any) -> None:
        """The other tab decides while this request is on its way."""
        decide(one)
        route.continue_()

    other.route("**/moves", late)
    other.wait_for_selector("#moves button.move")
    other.locator("#moves button.move").first.click()
    other.get_by_text("this was decided in another tab").wait_for()
    until(other, f"{VERSION} >= {one.evaluate(VERSION)}")


def test_without_a_stream_the_page_asks_and_alarms_nobody(server: ServerProcess, context: Any) -> None:
    start, made = begun(context, server, RANDOM, {**RANDOM, "name": "S"}, pace=None)
    context.route("**/events*", lambda route: route.fulfill(status=503, json={"error": "too many listen to this game"}))
    page, _ = opened(context, server, made["id"])
    for _ in range(2):
        before = page.evaluate(VERSION)
        start.evaluate(POST, [f"/api/games/{made['id']}/step", {}])
        until(page, f"{VERSION} > {before}")
        assert message(page) == ""


def test_after_an_hour_away_nothing_is_animated_and_then_all_is(server: ServerProcess, chromium: Any, context: Any) -> None:
    start, made = begun(context, server, RANDOM, {**RANDOM, "name": "S"}, pace=None)
    step, elsewhere = [f"/api/games/{made['id']}/step", {}], chromium.new_context()
    elsewhere.add_init_script(COUNT)
    elsewhere.clock.install()
    elsewhere.route("**/events*", lambda route: route.abort())
    page, asked = opened(elsewhere, server, made["id"])
    elsewhere.route("**/view*", lambda route: route.abort())
    page.get_by_text("cannot be reached").wait_for()
    for decided in range(3):
        start.evaluate(POST, step)
        while start.evaluate(DECIDED, made["id"]) == decided:
            pass
    elsewhere.clock.fast_forward("01:00:00")
    assert page.evaluate(VERSION) == 0
    elsewhere.unroute_all()
    until(page, f"{VERSION} > 0")
    assert page.evaluate("window.animated") == 0
    while asked.count("events") == 1:  # the view may come before the stream is asked for again
        page.evaluate("0")
    assert message(page) == ""
    while not page.evaluate("window.animated"):
        before = page.evaluate(VERSION)
        start.evaluate(POST, step)
        until(page, f"{VERSION} > {before}")
    elsewhere.close()


def test_whose_seat_was_given_away_watches(server: ServerProcess, chromium: Any, context: Any) -> None:
    start, made = begun(context, server, ANN, BOB)
    elsewhere = chromium.new_context()
    page, _ = opened(elsewhere, server, f"{made['id']}#token={made['links'][0]['token']}")
    page.wait_for_selector("#tray > *", state="attached")
    start.evaluate(POST, [f"/api/games/{made['id']}/seats", {"seat": 1, "spec": "random"}])
    page.wait_for_selector("#tray > *", state="detached")
    assert message(page) == ""
    elsewhere.close()
