"""The pages in a real browser: games with the mouse, the keyboard alone and on a phone, two people at one table, studies, faults.

Skipped where there is no Chromium (`apt-get install chromium-headless-shell`, or EUPHORIA_BROWSER=/path/to/one); if CI is set
they fail there, unless EUPHORIA_BROWSER is "none".
"""

from __future__ import annotations

import json
import random
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from euphoria_env import Game, Rules
from tests.tools.browser import ServerProcess, check_page, launched, needs_browser, playwright_library
from tests.tools.playing import random_game

playwright = playwright_library()
pytestmark = [pytest.mark.slow, needs_browser]
SHORT = {"stars_to_win": 1, "max_turns": 60}
OUTSIDE = """() => ["board", "tray", "moves", "players"].filter((id) => {
    const box = document.getElementById(id).getBoundingClientRect();
    return box.top < 0 || box.left < 0 || box.bottom > innerHeight || box.right > innerWidth || !box.height;
})"""
SEEN = """id => {
  const box = document.getElementById(id).getBoundingClientRect();
  return box.top >= 0 && box.bottom <= window.innerHeight;
}"""
JUDGE = "mcts:100:ppo"
POST = """async ([path, body]) => {
    const headers = {"Content-Type": "application/json"};
    return (await fetch(path, {method: "POST", headers, body: JSON.stringify(body)})).json();
}"""
ASKED_AGAIN = "#roll, .move:has-text('Press again')"  # what must be confirmed
DECISION = "document.getElementById('slider')?.getAttribute('aria-valuenow')"
PAGE_LIMIT, CODE_LIMIT = 150_000, 60_000  # bytes sent: of all of a page, of its scripts and styles
SMALL = """[...document.querySelectorAll("button:not(.card), select, input:not([type=checkbox]), summary, a:not(.skip)")]
    .filter((e) => e.offsetParent && e.getBoundingClientRect().height < 43.5).map((e) => e.outerHTML.slice(0, 99))"""


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
        self.size = self.code = 0
        self.hosts: set[str] = set()
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", lambda line: line.type == "error" and self.faults.append(line.text))
        self.page.on("response", self._note)

    def play(self, button: Any = None, **how: Any) -> None:
        """Clicks what makes a move, by default the first of the list; waits until the page shows another version."""
        self.page.locator("button.move").first.wait_for()
        before = self.version()
        (button or self.page.locator("#moves button.move").first).click(**how)
        if (again := self.page.locator(ASKED_AGAIN)).count():
            again.click()
        self.settle(before)

    def _note(self, response: Any) -> None:
        self.hosts.add(response.url.split("/")[2])
        if "/events" not in response.url:
            sent = response.request.sizes()["responseBodySize"]  # compressed
            self.size += sent
            self.code += sent if response.url.endswith((".js", ".css")) else 0

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
def tabs(chromium: Any) -> Iterator[Callable[..., Tab]]:
    """Opens tabs, in which nothing may go wrong."""
    opened: list[Tab] = []

    def one(*size: int, **options: Any) -> Tab:
        opened.append(Tab(chromium, *size, **options))
        return opened[-1]

    yield one
    for tab in opened:
        tab.page.remove_listener("response", tab._note)  # it would ask a page that is closing
        tab.context.close()
        assert tab.faults == []


@pytest.fixture
def tab(tabs: Callable[..., Tab]) -> Tab:
    return tabs()


def start(tab: Tab, server: ServerProcess, *seats: Any, pace: float = 0, practice: bool = False, **rules: Any) -> str:
    """A new game through the API, from the page itself; its address."""
    tab.page.goto(server.url)
    begins = {"position": rules["position"]} if "position" in rules else {"rules": rules}
    body = {"seats": seats, "pace": pace, "practice": practice, **begins}
    made = tab.page.evaluate(POST, ["/api/games", body])
    assert "id" in made, made
    tab.page.evaluate("made => sessionStorage.setItem(`links ${made.id}`, JSON.stringify(made.links))", made)
    return f"{server.url}/play/{made['id']}"


ANN, BOB = {"name": "Ann", "spec": None, "here": True}, {"name": "Bob", "spec": None, "here": True}
AGENT, OTHER = {"name": "Agent", "spec": "greedy"}, {"name": "Other", "spec": "greedy"}


def test_a_game_with_the_mouse_from_the_first_page_on(server: ServerProcess, tab: Tab) -> None:
    page, rng = tab.page, random.Random(1)
    page.goto(server.url)
    page.get_by_role("radio", name="3", exact=True).check()
    page.get_by_text("More options").click()
    page.locator("#who-2").select_option("weights")
    page.locator("#rule-stars_to_win").fill("2")
    page.get_by_role("button", name="Play now").click()
    page.locator("#pace").select_option("0")
    played = by_board = 0
    while tab.state() == "move":
        before, spaces = tab.version(), page.locator("#board .can")
        if spaces.count() and (by_board < 2 or rng.random() < 0.5):
            spaces.nth(rng.randrange(spaces.count())).locator(".ground").click(position={"x": 6, "y": 6})
            by_board += 1
            if page.locator("#popover:popover-open").count():
                page.locator("#popover button.move").last.click()
            tab.settle(before)
        else:
            buttons = page.locator("#moves button.move")
            tab.play(buttons.nth(rng.randrange(buttons.count())))
        played += 1
        assert played < 2000
    assert by_board > 1 and page.locator(".ranking li").count() == 3
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
        if page.locator(ASKED_AGAIN).count():
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


def test_two_browsers_at_one_table(server: ServerProcess, tabs: Callable[..., Tab]) -> None:
    ann, bob = tabs(), tabs()
    ann.page.goto(start(ann, server, ANN, {**BOB, "here": False}))
    bob.page.goto(ann.page.locator("#link-1").input_value())
    bob.page.wait_for_function("location.hash === ''")
    movers = set[Tab]()
    for _ in range(15):
        for tab in (ann, bob):
            tab.page.locator("#question").wait_for()
        movers.add(mover := ann if ann.page.locator("button.move").count() else bob)
        mover.play()
        for tab in (ann, bob):
            tab.page.wait_for_function("(version) => Number(document.body.dataset.version) >= version", arg=int(mover.version()))
    assert movers == {ann, bob}


def test_two_people_at_one_screen_see_nothing_of_each_other(server: ServerProcess, tab: Tab) -> None:
    tab.page.goto(start(tab, server, {**ANN, "name": "You"}, BOB, **SHORT))
    covers = 0
    for _ in range(12):
        if tab.state() == "cover":
            covers += 1
            shown = tab.page.evaluate("document.querySelector('main').textContent + document.getElementById('tray').textContent")
            assert (
                re.search("Pass the screen to (Player 1|Bob)", shown)
                and "hand:" not in shown
                and "Dilemma" not in shown
                and "hidden" not in shown
            )
            tab.page.locator("#uncover").click()
        tab.play()
    assert covers >= 2


def test_no_game_and_a_damaged_record_are_told(server: ServerProcess, chromium: Any, tmp_path: Path) -> None:
    page = Tab(chromium).page
    page.goto(f"{server.url}/play/0123456789abcdef")
    page.get_by_text("there is no such game").wait_for()
    (tmp_path / "game.record").write_text(Game(seed=1).to_record().replace("fingerprint", "place 4 farm\nfingerprint"))
    page.goto(server.url)
    page.locator("#file").set_input_files(tmp_path / "game.record")
    page.get_by_text("line 2").wait_for()
    assert page.url == f"{server.url}/"


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
def test_names_roles_and_contrast(server: ServerProcess, tab: Tab, width: int) -> None:
    page = tab.page
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(start(tab, server, ANN, AGENT, OTHER))
    for _ in range(14):
        tab.play()
    tab.state()
    check_page(page)
    assert page.evaluate(SMALL) == []
    for region in ("board", "players", "your things"):
        assert page.get_by_role("region", name=region, exact=True).count() == 1
    log = page.get_by_role("log", name="What happened").get_by_role("listitem").all_inner_texts()
    assert len(log) > 5 and all(line.strip().startswith(("You ", AGENT["name"], OTHER["name"])) for line in log)


# ----------------------------------------------------------------------- the board: what fits, what one click does, what moves


def named(n: int) -> list[dict[str, Any]]:
    return [{**AGENT, "name": name, "spec": "weights"} for name in ("Ada", "Boole", "Curie", "Dirac", "Euler")[:n]]


def to_the_board(tab: Tab) -> None:
    """Plays on until a worker may be placed."""
    while not tab.page.locator("#board .can").count():
        tab.play()
        tab.state()


def test_all_of_it_is_in_sight_and_a_placement_takes_one_click(server: ServerProcess, tabs: Callable[..., Tab]) -> None:
    tab = tabs(1440, 900)
    page = tab.page
    page.goto(start(tab, server, ANN, *named(5)))
    to_the_board(tab)
    assert page.evaluate(OUTSIDE) == []
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    assert "player " not in page.locator("body").inner_text().lower()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(f"{request.method} {request.url.rpartition('/')[2]}"))
    page.locator("#tray .held").first.click()
    tab.play(page.locator("#space-generator").locator(".ground"), position={"x": 6, "y": 6})
    assert asked[0] == "POST moves"
    tab.state()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.className") == "move"


@pytest.mark.long
def test_a_tap_on_a_phone_moves_nothing_else(server: ServerProcess, tabs: Callable[..., Tab]) -> None:
    tab = tabs(390, 844, has_touch=True, is_mobile=True)
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


@pytest.mark.long
def test_hints_and_what_has_been(server: ServerProcess, tabs: Callable[..., Tab]) -> None:
    tab = tabs(1440, 900)
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
    page.locator("#back").click()
    page.get_by_role("heading", name="seen again").wait_for()
    check_page(page)
    page.locator("#playback").click()
    page.locator("#present").wait_for(state="detached")  # it has played on to the end
    tab.state()
    page.locator("#menu").click()
    page.locator("#leave").click()
    page.locator("dialog[open]").get_by_role("button", name="No").click()
    page.locator("dialog").wait_for(state="detached")


# --------------------------------------------------------------------------------------------------------------------- studies


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
    assert page.locator("polyline.chance").count() == 2 and page.locator(".chart .end").count() == 4
    page.locator("#threshold").fill("1")
    page.locator("#threshold").press("Enter")
    wrong = page.locator("[id^=mistake-]:not(#mistake-before)")
    marks = wrong.count()
    assert marks == page.locator("path.mistake").count() > 1
    assert "better" in wrong.first.inner_text()
    wrong.last.click()
    page.get_by_text(", a mistake").wait_for()
    page.locator("#check").press("Enter")
    page.get_by_text("plays on from both moves").wait_for()
    page.locator("#check").press("Enter")  # stops it
    page.get_by_text("Check by playouts").click()
    page.locator("#moves p [role=status]").get_by_text("±").wait_for()
    assert page.locator("#check").count() == 0
    marks -= page.get_by_text("not certain: ").count()  # then it is no mistake
    assert marks == wrong.count() == page.locator("path.mistake").count()
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
    page.locator("#confirm").click()
    page.locator("#new").wait_for()
    page.wait_for_function("document.querySelectorAll('#studies a').length === 0")
