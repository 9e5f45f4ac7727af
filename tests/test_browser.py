"""The pages in a real browser: whole games with the mouse, the keyboard alone and on a phone, two people at one table, faults.

Skipped where there is no Chromium (`apt-get install chromium-headless-shell`, or EUPHORIA_BROWSER=/path/to/one).
"""

from __future__ import annotations

import json
import random
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from euphoria_env import Game
from tests.tools.browser import ServerProcess, browser_path, check_page, launched

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(browser_path() is None, reason="no Chromium here: apt-get install chromium-headless-shell"),
]
SHORT = {"stars_to_win": 1, "max_turns": 60}
PAGE_LIMIT, CODE_LIMIT = 150_000, 60_000  # bytes sent: of all of a page, of its scripts and styles
SMALL = """[...document.querySelectorAll("button, select, input:not([type=checkbox]), summary, a:not(.skip)")]
    .filter((e) => e.offsetParent && e.getBoundingClientRect().height < 43.5).map((e) => e.outerHTML.slice(0, 99))"""
LATE = """const atOnce = window.fetch;
window.fetch = async (...asked) => {
  const answer = await atOnce(...asked);
  await new Promise((go) => setTimeout(go, 300));
  return answer;
}"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    process = ServerProcess(tmp_path_factory.mktemp("browser") / "games.sqlite").start()
    yield process
    assert process.end(signal.SIGINT) in (0, 130)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with playwright.sync_playwright() as found:
        browser = launched(found)
        yield browser
        browser.close()


class Tab:
    """A page of its own browser profile, which notes what goes wrong and what it gets."""

    def __init__(self, chromium: Any, width: int = 1280, height: int = 900, **options: Any) -> None:
        self.context = chromium.new_context(viewport={"width": width, "height": height}, **options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(0)  # none: cores may be busy
        self.faults: list[str] = []
        self.told: list[str] = []  # what the server said of games
        self.size = self.code = 0
        self.hosts: set[str] = set()
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", lambda line: line.type == "error" and self.faults.append(line.text))
        self.page.on("response", self._note)

    def _note(self, response: Any) -> None:
        self.hosts.add(response.url.split("/")[2])
        if "/events" not in response.url:
            body = response.body() if response.status == 200 else b""
            sent = response.request.sizes()["responseBodySize"]  # compressed
            self.size += sent
            self.code += sent if response.url.endswith((".js", ".css")) else 0
            if "/api/games/" in response.url:
                self.told.append(body.decode())

    def state(self) -> str:
        """Waits for something to do: "move", "cover" or "over"."""
        found = self.page.wait_for_selector("button.move, .ranking, #uncover")
        return {"uncover": "cover"}.get(
            found.get_attribute("id") or "", "over" if found.evaluate("e => e.tagName") == "OL" else "move"
        )

    def version(self) -> str:
        """The name of the game that the page shows."""
        return str(self.page.evaluate("document.body.dataset.version"))

    def settle(self, before: str) -> None:
        """Waits until the page shows another version."""
        self.page.wait_for_function("before => document.body.dataset.version !== before", arg=before)

    def moves(self) -> str:
        return str(self.page.evaluate("document.getElementById('moves').textContent"))


@pytest.fixture
def tab(chromium: Any) -> Iterator[Tab]:
    one = Tab(chromium)
    yield one
    one.context.close()
    assert one.faults == []


def start(tab: Tab, server: ServerProcess, *seats: Any, pace: float = 0, practice: bool = False, **rules: Any) -> str:
    """A new game through the API, from the page itself; its address."""
    tab.page.goto(server.url)
    body = {"seats": seats, "rules": rules, "pace": pace, "practice": practice}
    made = tab.page.evaluate(
        """async (body) => (await (await fetch("/api/games", {method: "POST", headers: {"Content-Type": "application/json"},
        body: JSON.stringify(body)})).json())""",
        body,
    )
    assert "id" in made, made
    tab.page.evaluate("made => sessionStorage.setItem(`links ${made.id}`, JSON.stringify(made.links))", made)
    return f"{server.url}/play/{made['id']}"


ANN, BOB = {"name": "Ann", "spec": None, "here": True}, {"name": "Bob", "spec": None, "here": True}
AGENT, OTHER = {"name": "Agent", "spec": "greedy"}, {"name": "Other", "spec": "greedy"}


def test_a_game_with_the_mouse_from_the_first_page_on(server: ServerProcess, tab: Tab) -> None:
    page, rng = tab.page, random.Random(1)
    page.goto(server.url)
    page.get_by_role("button", name="One more player").click()
    page.locator("#who-2").select_option("weights")
    page.get_by_text("Rules of this game").click()
    page.locator("#rule-stars_to_win").fill("2")
    page.get_by_role("button", name="Start the game").click()
    page.locator("#pace").select_option("0")
    played = by_board = 0
    while tab.state() == "move":
        before = tab.version()
        spaces = page.locator("#board .can")
        if spaces.count() and rng.random() < 0.5:
            spaces.nth(rng.randrange(spaces.count())).locator(".ground").click(position={"x": 6, "y": 6})
            by_board += 1
            if page.locator("#popover:popover-open").count():
                page.locator("#popover button.move").last.click()
        else:
            buttons = page.locator("#moves button.move")
            buttons.nth(rng.randrange(buttons.count())).click()
        tab.settle(before)
        played += 1
        assert played < 2000
    assert by_board > 3 and page.locator(".ranking li").count() == 3
    assert page.get_by_role("button", name="Study", exact=True).is_visible()


@pytest.mark.long
def test_a_game_with_the_keyboard_alone(server: ServerProcess, tab: Tab) -> None:
    page, keys, rng = tab.page, tab.page.keyboard, random.Random(2)
    page.goto(server.url)
    page.locator("#start").wait_for()
    page.locator("#rule-stars_to_win").evaluate("e => (e.value = 2)")
    tab_to(tab, "start")
    keys.press("Enter")
    page.locator("button.move").first.wait_for()
    tab_to(tab, "pace")
    while page.locator("#pace").input_value() != "0":
        keys.press("ArrowDown")
    played = 0
    while tab.state() == "move":
        if played == 0:
            tab_to(tab, "skip")
            keys.press("Enter")
        before = tab.version()
        keys.press("Tab")
        assert page.evaluate("document.activeElement.className") == "move"
        for _ in range(rng.randrange(6)):
            keys.press("ArrowDown")
        keys.press("Enter")
        tab.settle(before)
        played += 1
        assert played < 2000
    assert played > 8 and page.locator(".ranking li").count() == 2


def tab_to(tab: Tab, wanted: str) -> None:
    """Goes to an element by the Tab key."""
    for _ in range(200):
        tab.page.keyboard.press("Tab")
        if tab.page.evaluate("document.activeElement.id") == wanted:
            return
    raise AssertionError(f"the Tab key does not lead to {wanted}")


def test_two_browsers_at_one_table(server: ServerProcess, chromium: Any) -> None:
    ann, bob = Tab(chromium), Tab(chromium)
    ann.page.goto(start(ann, server, ANN, {**BOB, "here": False}, **SHORT))
    bob.page.goto(ann.page.locator("#link-1").input_value())
    bob.page.wait_for_function("location.hash === ''")
    rng, turns = random.Random(4), 0
    while turns < 25:
        for tab in (ann, bob):
            tab.page.locator("#question").wait_for()
        mover = ann if ann.page.locator("button.move").count() else bob
        if ann.page.locator(".ranking").count():
            break
        mover.state()
        before = mover.version()
        buttons = mover.page.locator("button.move")
        buttons.nth(rng.randrange(buttons.count())).click()
        mover.settle(before)
        for tab in (ann, bob):
            tab.page.wait_for_function("(version) => Number(document.body.dataset.version) >= version", arg=int(mover.version()))
        turns += 1
    assert turns > 10
    for tab, other in ((ann, bob), (bob, ann)):
        for secret in secrets_of(other):
            assert not any(secret in said for said in tab.told)
            assert secret not in tab.page.evaluate("document.querySelector('main').innerHTML")
        assert tab.faults == []
        tab.context.close()


def secrets_of(tab: Tab) -> set[str]:
    """The recruits that only this seat has seen: hidden ones, those put out, and those that were on offer."""
    own, public = set[str](), set[str]()
    for said in map(json.loads, tab.told):
        if said.get("seat") is None or "view" not in said:
            continue
        own |= {move["notation"].removeprefix("choose ") for move in said["moves"] if move["notation"].startswith("choose ")}
        for player in said["view"]["players"]:
            public |= {recruit["name"] for recruit in player["recruits"] if recruit["active"]}
    assert own - public
    return own - public


def test_two_people_at_one_screen_see_nothing_of_each_other(server: ServerProcess, tab: Tab) -> None:
    tab.page.goto(start(tab, server, ANN, BOB, **SHORT))
    seen, covers = "", 0
    for _ in range(12):
        if tab.state() == "cover":
            covers += 1
            shown = tab.page.evaluate("document.querySelector('main').textContent + document.getElementById('tray').textContent")
            assert "Pass the screen to" in shown and "hand:" not in shown and "Dilemma" not in shown and "hidden" not in shown
            tab.page.locator("#uncover").click()
        tab.page.locator("button.move").first.wait_for()
        seen = tab.version()
        tab.page.locator("button.move").first.click()
        tab.settle(seen)
    assert covers >= 2


@pytest.mark.long
def test_watching_agents_step_by_step(server: ServerProcess, tab: Tab) -> None:
    page = tab.page
    page.add_init_script(LATE)
    page.goto(start(tab, server, AGENT, {**OTHER, "spec": "weights"}, pace=0.5, **SHORT))
    page.locator("#pace").select_option("")
    page.locator("#step").wait_for()
    version = int(page.evaluate("document.body.dataset.version"))
    page.locator("#step").click()
    page.wait_for_function("version => Number(document.body.dataset.version) > version", arg=version)
    page.locator("#pace").select_option("0")  # while the step is under way
    assert tab.state() == "over"


def test_reload_and_a_killed_server_in_the_middle_of_a_game(tmp_path: Path, chromium: Any) -> None:
    server = ServerProcess(tmp_path / "games.sqlite").start()
    tab = Tab(chromium)
    page = tab.page
    page.goto(start(tab, server, ANN, AGENT, **SHORT))
    for _ in range(4):
        tab.state()
        before = tab.version()
        page.locator("button.move").last.click()
        tab.settle(before)
    tab.state()
    moves = tab.moves()
    page.reload()
    tab.state()
    assert tab.moves() == moves
    server.end(signal.SIGKILL)
    page.get_by_text("cannot be reached").wait_for()
    page.locator("button.move").first.click()
    page.get_by_text("cannot be reached").wait_for()
    server.start()
    page.get_by_text("cannot be reached").wait_for(state="hidden")
    assert tab.moves() == moves
    before = tab.version()
    page.locator("button.move").first.click()
    tab.settle(before)
    tab.state()
    tab.context.close()
    server.end(signal.SIGINT)


def test_a_page_of_no_game_says_so(server: ServerProcess, chromium: Any) -> None:
    tab = Tab(chromium)
    tab.page.goto(f"{server.url}/play/0123456789abcdef")
    tab.page.get_by_text("there is no such game").wait_for()
    tab.context.close()


def test_pages_are_small_and_ask_nobody_else(server: ServerProcess, tab: Tab) -> None:
    address = start(tab, server, ANN, AGENT)
    tab.size = tab.code = 0
    tab.page.goto(address)
    tab.state()
    assert 10_000 < tab.code < CODE_LIMIT and tab.code < tab.size < PAGE_LIMIT
    assert tab.hosts == {server.url.removeprefix("http://")}
    assert tab.page.evaluate("document.cookie") == ""


@pytest.mark.long
@pytest.mark.parametrize("width", [1280, 360])
def test_names_roles_and_contrast(server: ServerProcess, tab: Tab, width: int, tmp_path: Path) -> None:
    page = tab.page
    page.set_viewport_size({"width": width, "height": 800})

    def check() -> None:
        check_page(page)
        assert page.evaluate(SMALL) == []

    address = start(tab, server, ANN, AGENT, OTHER)
    page.locator("#start").wait_for()
    check()
    page.get_by_role("link", name="How to play").click()
    page.get_by_role("heading", name="Why low knowledge and high morale").wait_for()
    check_page(page)
    page.goto(address)
    for _ in range(14):
        tab.state()
        before = tab.version()
        page.locator("button.move").first.click()
        tab.settle(before)
    tab.state()
    check()
    assert page.get_by_role("heading", level=1).count() == 1
    for region in ("board", "players", "your things"):
        assert page.get_by_role("region", name=region, exact=True).count() == 1
    log = page.get_by_role("log", name="What happened").get_by_role("listitem").all_inner_texts()
    assert len(log) > 5 and all(line.strip().startswith(("You ", AGENT["name"], OTHER["name"])) for line in log)
    for faction in ("euphorian", "subterran", "wastelander", "icarite"):
        assert page.locator(f"#allegiance-{faction}").get_attribute("aria-label").startswith("allegiance")
    for button in page.get_by_role("button").all():
        assert (button.get_attribute("aria-label") or button.inner_text()).strip()


def test_a_damaged_record_says_where(server: ServerProcess, chromium: Any, tmp_path: Path) -> None:
    (tmp_path / "game.record").write_text(Game(seed=1).to_record().replace("fingerprint", "place 4 farm\nfingerprint"))
    tab = Tab(chromium)
    tab.page.goto(server.url)
    tab.page.locator("#file").set_input_files(tmp_path / "game.record")
    tab.page.get_by_text("line 2").wait_for()
    tab.context.close()
