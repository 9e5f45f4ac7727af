"""A recorded game as a page of its own: it shows what it says, holds nothing that is hidden, and asks nobody for anything."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from euphoria_agents.__main__ import main
from euphoria_agents.play.study.game_analysis import Analysis, saved_entries
from euphoria_agents.play.web.replay_page import EVERYBODY, MOVERS, replay_page
from euphoria_agents.record_steps import Replayed
from euphoria_env import Game, Rules
from euphoria_env.render.view import view_of
from tests.tools.browser import browser_path, check_page, launched, playwright_library, skipped
from tests.tools.playing import random_game

NAMES = ["Ann", "Bob", "</script><b>Cleo"]


@pytest.fixture(scope="module")
def game() -> Replayed:
    return Replayed.from_record(random_game(Rules(num_players=3, max_turns=9), 5).to_record())


@pytest.fixture(scope="module")
def analysis(game: Replayed, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The file of an analysis."""
    path = tmp_path_factory.mktemp("analysis") / "analysis.jsonl"
    list(Analysis(game.to_record(), "mcts:8:ppo").in_file(path))
    return path.read_text()


@pytest.fixture(scope="module")
def entries(analysis: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in analysis.splitlines()[1:]]


def data(page: str) -> Any:
    """The data in the page."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])


@pytest.mark.parametrize("seen_by", [EVERYBODY, MOVERS, 1])
def test_every_decision_is_shown_as_its_viewer_saw_it(game: Replayed, seen_by: int | str) -> None:
    held = data(replay_page(game, NAMES, seen_by))
    texts, lines = list[str](), list[int]()
    for changes in held["changes"]:  # as the page puts them together
        for at, dropped, *added in changes:
            lines[at : at + dropped] = added
        texts.append("\n".join(held["pieces"][line] for line in lines))
    assert len(texts) == len(game.played) + 1 == len(held["log"]) + 1 == len(held["turns"])
    for ply, text in enumerate(texts):
        now = game.at(ply)
        seat = {EVERYBODY: None, MOVERS: now.player}.get(seen_by, seen_by) if ply < len(game.played) or seen_by == 1 else None
        board, _, known = text.partition("</svg>\n")
        assert json.loads(known)["players"] == json.loads(json.dumps([asdict(one) for one in view_of(now, seat).players]))  # type: ignore[arg-type]
        assert board.startswith("<svg")


def twin(seed: int) -> Replayed:
    """A game that differs from others of its kind in what seat 0 cannot know, and in nothing that it sees."""
    start, rng = Game(Rules(num_players=3), seed=5), random.Random(5)
    while start.turn == 0:
        start.play(rng.choice(start.legal()))
    game = Replayed.from_dict(start.determinize(0, seed).to_dict())
    game.load(dice=[3, 5, 2, 6, 1, 4] * 9)
    for _ in range(14):
        game.play(
            next(move for move in game.legal() if move.startswith(("place", "retrieve", "take", "done", "gain", "pay", "skip")))
        )
    return Replayed.from_record(game.to_record())


@pytest.mark.parametrize("seen_by", [0, EVERYBODY])
def test_nothing_hidden_is_in_any_byte(seen_by: int | str) -> None:
    one, other = twin(1), twin(2)
    assert one.to_record() != other.to_record() and one.history == other.history
    assert replay_page(one, NAMES, seen_by) == replay_page(other, NAMES, seen_by)
    assert replay_page(one, NAMES, MOVERS) != replay_page(other, NAMES, MOVERS)


def test_an_analysis_is_shown_to_those_who_may_see_it(game: Replayed, entries: list[dict[str, Any]]) -> None:
    with pytest.raises(ValueError, match="can be seen by movers, or by a seat"):
        replay_page(game, NAMES, EVERYBODY, entries)
    assert data(replay_page(game, NAMES, MOVERS, entries))["entries"] == entries
    own = data(replay_page(game, NAMES, 1, entries))["entries"]
    assert own and all(one["player"] == 1 and one["luck"] is None for one in own)
    assert {one["ply"] for one in own} == {one["ply"] for one in entries if one["player"] == 1}


def test_names_stay_text_and_nothing_is_fetched(game: Replayed, entries: list[dict[str, Any]]) -> None:
    page = replay_page(game, NAMES, MOVERS, entries)
    assert "<b>Cleo" not in page and page.count("</script>") == 2 and data(page)["names"] == NAMES
    assert set(re.findall(r"https?://[\w./]+", page)) <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"\bfetch\(|XMLHttpRequest|import\(|\bsrc=|url\((?!data:)", page) and "default-src 'none'" in page
    assert not re.search(r"^import ", page, re.MULTILINE) and len(page) < 500_000


def test_without_javascript_a_page_is_in_its_language(game: Replayed) -> None:
    for language, setup in (("en", "Setup"), ("es", "Preparación")):
        page = replay_page(game, NAMES, language=language)
        assert f'<html lang="{language}">' in page and f"<li>{setup}: " in page


@pytest.fixture
def files(game: Replayed, analysis: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("game.record").write_text(game.to_record())
    Path("analysis.jsonl").write_text(analysis)
    return tmp_path


def test_the_command_writes_the_page(files: Path, game: Replayed) -> None:
    def page(*words: str) -> Any:
        main(["replay", "game.record", "--html", "page.html", *words])
        return data(Path("page.html").read_text())

    assert page()["seat"] == EVERYBODY and page("--view", "2", "--names", "Ann", "Bob", "Cleo")["seat"] == 2
    held = page("--analysis", "analysis.jsonl")
    assert held["seat"] == MOVERS and held["entries"] == saved_entries(Path("analysis.jsonl"), game.to_record(), game)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--view", "1"), "--view is of the page: name its file by --html"),
        (("--html", "p.html", "--view", "3"), "a seat from 0 to 2, not 3"),
        (("--html", "p.html", "--names", "Ann"), "a name for each of the 3 players, not 1"),
        (("--html", "p.html", "--analysis", "game.record"), "not an analysis of this project"),
        (("--html", "p.html", "--analysis", "other.jsonl"), "of another analysis: record is"),
        (("--html", "p.html", "--analysis", "bad.jsonl"), "bad.jsonl, line 2"),
    ],
)
def test_what_is_wrong_is_told_and_nothing_written(files: Path, words: tuple[str, ...], told: str, capsys: Any) -> None:
    header, *lines = Path("analysis.jsonl").read_text().splitlines()
    Path("other.jsonl").write_text(json.dumps({**json.loads(header), "record": "0"}) + "\n")
    Path("bad.jsonl").write_text("\n".join([header, "{}", *lines[1:]]) + "\n")
    with pytest.raises(SystemExit):
        main(["replay", "game.record", *words])
    assert told in capsys.readouterr().err and not Path("p.html").exists()


DECISION = "document.getElementById('slider').getAttribute('aria-valuenow')"


@pytest.fixture(scope="module")
def page(game: Replayed, entries: list[dict[str, Any]]) -> str:
    return replay_page(game, NAMES, MOVERS, entries)


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Opens a page from a file, on a phone without a network; nothing may go wrong there."""
    if skipped():
        pytest.skip("no Chromium here: apt-get install chromium-headless-shell")
    playwright = playwright_library()
    faults: list[str] = []
    with playwright.sync_playwright() as found:
        browser = launched(found)

        def one(text: str, **options: Any) -> Any:
            (tmp_path / "game.html").write_text(text)
            page = browser.new_context(offline=True, viewport={"width": 390, "height": 844}, **options).new_page()
            page.on("pageerror", lambda error: faults.append(str(error)))
            page.on("console", lambda line: line.type == "error" and faults.append(line.text))
            page.goto((tmp_path / "game.html").as_uri())
            return page

        yield one
    assert faults == []


def test_the_page_opens_from_a_file(game: Replayed, page: str, opened: Callable[..., Any]) -> None:
    shown = opened(page, reduced_motion="reduce")
    assert shown.evaluate(DECISION) == "0" and shown.locator("#board .space").count() > 20
    shown.keyboard.press("ArrowRight")
    shown.locator("#forward").click()
    assert shown.evaluate(DECISION) == "2"
    shown.locator("#slider").focus()
    shown.keyboard.press("End")
    assert shown.evaluate(DECISION) == str(len(game.played)) and shown.locator("#players .cell").count() == 3
    shown.locator("#back").click()
    shown.locator("#tab-result").click()
    assert shown.locator("#summary tbody tr").count() == 3 and "<b>Cleo" in shown.locator("#summary").inner_text()
    check_page(shown)


def test_a_better_move_is_named_if_its_words_differ(page: str, opened: Callable[..., Any]) -> None:
    gold, clay = (["Pay ", {"n": "1", "symbol": item, "words": f"1 {item}"}] for item in ("gold", "clay"))
    held = json.dumps(data(page) | {"better": {"0": [gold, clay], "1": [gold, gold]}}).replace("<", "\\u003c")
    shown = opened(re.sub(r'(id="data">).*?(?=</script>)', lambda found: found[1] + held, page, flags=re.DOTALL))
    assert shown.locator("#moves .better").inner_text() == "Better: Pay 1 clay"
    shown.keyboard.press("ArrowRight")
    shown.locator("#slider[aria-valuenow='1']").wait_for()
    assert not shown.locator("#moves .better").count()


def test_the_page_plays_by_itself(opened: Callable[..., Any]) -> None:
    game = Replayed.from_record(random_game(Rules(num_players=3, max_turns=2), 5).to_record())
    shown = opened(replay_page(game, NAMES, MOVERS))
    shown.locator("#tab-all").click()
    shown.locator("#slider:not([aria-valuenow='0'], [aria-valuenow='1'])").wait_for()
    shown.locator("body").press(" ")
    shown.get_by_role("button", name="play (space bar)").wait_for()
    before = shown.evaluate("scrollY")
    shown.keyboard.press("ArrowRight")
    assert shown.evaluate("scrollY") == before
    shown.locator("#speed").click()
    shown.locator("#speed").click()
    shown.locator("#playback").click()
    shown.locator(f"#slider[aria-valuenow='{len(game.played)}']").wait_for()
    shown.locator("#speed").click()  # to the slowest, at which the buttons stay long enough to be clicked
    shown.get_by_role("button", name="play (space bar)").click()  # from the beginning
    shown.locator(f"#slider:not([aria-valuenow='{len(game.played)}'])").wait_for()
    shown.locator("#last").click()
    shown.get_by_role("button", name="play (space bar)").wait_for()


def test_without_javascript_the_page_shows_the_end_and_the_log(game: Replayed, page: str, opened: Callable[..., Any]) -> None:
    shown = opened(page, java_script_enabled=False)
    assert shown.locator("#board .space").count() > 20 and shown.locator("main li").count() == len(game.played)
    assert shown.locator("h1").inner_text() and shown.locator("main li").last.is_visible()


def test_without_a_browser_tests_are_skipped_but_fail_in_ci(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"PATH": "", "HOME": str(tmp_path), "CI": "true", "EUPHORIA_BROWSER": ""}.items():
        monkeypatch.setenv(name, value)
    assert browser_path() is None and not skipped()
    with pytest.raises(AssertionError, match="no Chromium here"):
        launched(None)
    monkeypatch.setenv("EUPHORIA_BROWSER", "none")
    assert browser_path() is None and skipped()
    monkeypatch.setenv("EUPHORIA_BROWSER", "")
    monkeypatch.delenv("CI")
    assert skipped()
    shell = tmp_path / ".cache" / "ms-playwright" / "chromium_headless_shell-1" / "chrome-linux" / "headless_shell"
    shell.parent.mkdir(parents=True)
    shell.touch()
    assert browser_path() == str(shell)
