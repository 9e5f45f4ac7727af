"""The pages in other languages: the catalogue has every text of the server and of the pages, and what it lacks stays English."""

# ruff: noqa: F811
from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from euphoria_agents.play.web.replay_page import MOVERS, replay_page
from euphoria_agents.play.web.scenes import lessons
from euphoria_agents.record_steps import Replayed
from euphoria_env import Game, Rules, actions
from euphoria_env.phrases import LANGUAGES
from euphoria_env.render.board import board_fragment
from euphoria_env.render.view import view_of
from tests.test_browser import Tab, chromium, pytestmark, server  # noqa: F401
from tests.tools.browser import ServerProcess, check_page
from tests.tools.playing import random_game
from tests.tools.positions import any_position

PERSON, SAME_SCREEN = ({"name": name, "spec": None, "here": True} for name in ("Xan", "Wynn"))
AGENT, ELSEWHERE = {"name": "Yul", "spec": "greedy"}, {"name": "Qin", "spec": None, "here": False}
MAKE = """async (body) => (await (await fetch("/api/games", {method: "POST", headers: {"Content-Type": "application/json"},
    body: JSON.stringify(body)})).json())"""


# The texts and labels that a page shows, without names and what is in English everywhere.
TAKE = """() => {
    const skipped = "bdi, code, script, style, [translate=no]:not(span), kbd, #board .die, .spec, option[lang]";
    const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
    const found = [];
    for (let node = walker.currentNode; node; node = walker.nextNode()) {
        if ((node.closest ? node : node.parentElement).closest(skipped)) continue;
        found.push(...(node.getAttribute ? ["title", "aria-label"].map((name) => node.getAttribute(name)) : [node.nodeValue]));
    }
    return found.filter(Boolean);
}"""
# Plays a game up to a decision, at random; returns what the hints say of all its moves.
PLAY = """async (most) => {
    const by = document.querySelector("script[type=module]").src;
    const { adviceInWords } = (await import(by)).modules["coach.js"];
    const facts = await (await fetch(new URL(`facts.${document.documentElement.lang}.json`, by))).json();
    const api = `/api/games/${location.pathname.split("/")[2]}`;
    const see = async (seat) => (await fetch(`${api}/view?seat=${seat}`)).json();
    const said = new Set();
    for (let state = await see(0); !state.over && state.decisions < most; ) {
        state = await see(state.mine.includes(state.decider) ? state.decider : 0);
        if (state.seat !== state.decider) continue;
        for (const one of state.moves.flatMap((move) => adviceInWords(facts, state, state.seat, move))) said.add(one.textContent);
        const { action } = state.moves[(7 * state.decisions) % state.moves.length];
        const body = JSON.stringify({ seat: state.seat, version: state.version, action });
        await fetch(`${api}/moves`, { method: "POST", headers: { "Content-Type": "application/json" }, body });
    }
    return [...said];
}"""
# The labels of boards that leave their space, or lie upon another one.
CROWDED = """(boards) => boards.flatMap((board) => {
    document.body.innerHTML = `<div style="width: 900px">${board}</div>`;
    const all = [...document.querySelectorAll("text")].map((text) => [text, text.getBoundingClientRect()]);
    return all.filter(([text, a]) => {
        const ground = text.closest(".space")?.querySelector(".ground").getBoundingClientRect();
        return (ground && (a.left < ground.left || a.right > ground.right)) || all.some(([other, b]) => other !== text
            && a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 4 && b.top < a.bottom - 4);
    }).map(([text]) => text.textContent);
})"""
ENGLISH = {
    *("the", "of", "and", "or", "you", "your", "with", "from", "for", "is", "are", "gain", "gains", "pay", "pays", "place"),
    *("places", "star", "worker", "knowledge", "turn"),
}
Open = Callable[..., Any]


@pytest.fixture
def opened(chromium: Any) -> Open:
    """Opens pages, in Spanish by default; `entries` replaces the catalogue. Errors of the pages are in `faults` of each."""

    def page(entries: str | None = None, locale: str = "es-ES") -> Any:
        tab = Tab(chromium, locale=locale, reduced_motion="reduce")
        if entries is not None:
            tab.context.route("**/texts.es.json", lambda route: route.fulfill(body=entries, content_type="application/json"))
        tab.page.faults = tab.faults
        return tab.page

    return page


def start(page: Any, server: ServerProcess, *seats: Any, **more: Any) -> None:
    page.goto(server.url)
    made = page.evaluate(MAKE, {"seats": seats, "pace": 0, **more})
    page.evaluate("made => sessionStorage.setItem(`links ${made.id}`, JSON.stringify(made.links))", made)
    page.goto(f"{server.url}/play/{made['id']}")
    page.locator("button.move, #uncover").first.wait_for()


def click(page: Any, *buttons: str) -> None:
    for button in buttons:
        page.locator(button).click()


def texts_of_tables(page: Any, server: ServerProcess) -> set[str]:
    """The texts that a table shows, without any translation, and the hints in words for all moves of two games."""
    start(page, server, PERSON, ELSEWHERE)
    start(page, server, PERSON, AGENT, rules={"trading": True}, practice=True)
    found = set(page.evaluate(PLAY, 20))
    click(page, "#hint", "#tab-cards", "#menu", "#keys")
    page.keyboard.press("Escape")
    click(page, "#menu", "#leave")
    page.keyboard.press("Escape")
    click(page, "#menu", "#look")
    page.locator("#scrub").wait_for()
    found.update(page.evaluate(TAKE))
    start(page, server, PERSON, SAME_SCREEN, rules={"stars_to_win": 1, "max_turns": 20}, practice=True)
    found.update(page.evaluate(PLAY, 400))
    click(page, "#uncover", "#menu")
    return found.union(page.evaluate(TAKE))


def texts_of_lessons(page: Any, server: ServerProcess) -> set[str]:
    """The texts that the page shows during the last two lessons."""
    found = set[str]()
    page.goto(f"{server.url}/learn#check")
    click(page, "#symbols")
    page.keyboard.press("Escape")
    for step in [step for lesson in lessons()[-2:] for step in lesson["steps"]]:
        click(page, f"#move-{actions.parse(step['wanted'][0])}")
        page.locator("#told.right").wait_for()
        found.update(page.evaluate(TAKE))
        click(page, "#on, #next, #first")
    page.locator("#hint").wait_for()
    return found


def texts_of_studies(page: Any, server: ServerProcess, folder: Path) -> set[str]:
    """The texts of a study, and of the first page, where it is opened."""
    (folder / "game.record").write_text(random_game(Rules(num_players=3, max_turns=8), 8).to_record())
    page.goto(server.url)
    click(page, "#more summary")
    found = set(page.evaluate(TAKE))
    page.locator("#file").set_input_files(folder / "game.record")
    page.locator("#slider").wait_for()
    page.locator("#judge").select_option("greedy")
    click(page, "#analyse-greedy")
    page.wait_for_function("() => !document.querySelector('[id^=analyse-], [id^=stop-]')")
    click(page, "#tab-wrong", "#tab-all", "#tab-result", "#guessing")
    page.locator("[id^=guess-]").first.click()
    click(page, "#guessing", "#delete")
    page.keyboard.press("Escape")
    click(page, "#last")
    page.wait_for_function("() => slider.ariaValueNow === slider.ariaValueMax")
    return found.union(page.evaluate(TAKE))


def texts_of_pages(page: Any, server: ServerProcess, folder: Path) -> set[str]:
    found = texts_of_tables(page, server) | texts_of_lessons(page, server) | texts_of_studies(page, server, folder)
    page.goto(f"{server.url}/help")
    page.locator("figure svg").first.wait_for()
    for missing in ("play", "study"):
        found.update(page.evaluate(TAKE))
        page.goto(f"{server.url}/{missing}/nothing")
        page.locator("#message:not(:empty)").wait_for()
    return found.union(page.evaluate(TAKE))


@pytest.mark.parametrize("language", LANGUAGES[1:])
def test_nothing_on_the_pages_is_english(server: ServerProcess, opened: Open, tmp_path: Path, language: str) -> None:
    page = opened(locale=language)
    texts = texts_of_pages(page, server, tmp_path)
    assert len(texts) > 500
    english = [text for text in sorted(texts) if ENGLISH & {word.strip(".,;:()«»").lower() for word in text.split()}]
    assert not english, "\n".join(text[:90] for text in english)


def test_a_game_in_another_language(server: ServerProcess, opened: Open) -> None:
    page = opened()
    page.goto(f"{server.url}/")
    page.get_by_role("button", name="Jugar ahora").wait_for()
    assert page.evaluate("document.documentElement.lang") == "es" and "jugar" in page.title()
    start(page, server, {**PERSON, "name": "Star"}, {**AGENT, "name": "Moves"})
    page.evaluate(PLAY, 6)
    page.locator("#log li").last.wait_for()
    assert "coloca" in page.locator("#log").inner_text().lower() and page.locator("#log .unit use, #moves .unit use").count()
    assert page.locator("#players .cell b").all_inner_texts() == ["Star", "Moves"]  # names stay as they are
    check_page(page)
    page.locator("#menu").click()
    assert page.locator("#language option").evaluate_all("all => all.map(({ value }) => value)") == [*LANGUAGES]
    page.locator("#language").select_option("en")
    page.get_by_role("button", name="Hint").wait_for()
    page.goto(f"{server.url}/help")
    page.get_by_role("heading", name="The aim").wait_for()  # the choice is kept
    page.goto(f"{server.url}/help?lang=es")
    page.get_by_role("heading", name="El objetivo").wait_for()
    page.goto(f"{server.url}/help?lang=xx")
    page.get_by_role("heading", name="El objetivo").wait_for()
    assert page.faults == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_lettering_of_the_board_fits(server: ServerProcess, opened: Open, language: str) -> None:
    page, rng = opened(locale=language), random.Random(3)
    page.goto(f"{server.url}/help")
    page.locator(f"html[lang={language}]").wait_for()
    boards = [board_fragment(view_of(Game.from_dict(any_position(rng))), language=language) for _ in range(30)]
    assert page.evaluate(CROWDED, boards) == []


@pytest.mark.parametrize("locale", ["en-GB", "de-DE"])
def test_other_browsers_ask_for_no_catalogue(server: ServerProcess, opened: Open, locale: str) -> None:
    page = opened(locale=locale)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(server.url)
    page.get_by_role("button", name="Play now").wait_for()
    assert not [url for url in asked if re.search(r"/texts\.\w+\.json", url)] and page.faults == []


@pytest.mark.parametrize(
    ("entries", "fault"),
    [
        ("{", "es.json"),
        ('{"The aim": "El objetivo"}', ""),
    ],
)
def test_what_a_catalogue_lacks_stays_english(server: ServerProcess, opened: Open, entries: str, fault: str) -> None:
    page = opened(entries)
    page.goto(f"{server.url}/help")
    page.get_by_role("heading", name="The aim" if fault else "El objetivo").wait_for()
    page.get_by_role("heading", name="A turn").wait_for()
    assert len(page.faults) == bool(fault) and fault in "".join(page.faults)


def test_an_exported_page_in_another_language(opened: Open, tmp_path: Path) -> None:
    game = Replayed.from_record(random_game(Rules(num_players=2, max_turns=6), 8).to_record())
    (tmp_path / "game.html").write_text(replay_page(game, ["Xan", "Wynn"], MOVERS, language="es"))
    page = opened(locale="en-GB")
    page.goto((tmp_path / "game.html").as_uri())
    page.get_by_role("tab", name="Jugadas").wait_for()
    assert "empieza el turno" in page.locator("#shown-tab").inner_text() and page.faults == []
    with pytest.raises(ValueError, match="must be one of en, es, not 'xx'"):
        replay_page(game, ["Xan", "Wynn"], language="xx")
