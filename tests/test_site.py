"""The pages as a site: made without a warning, such as one of a broken link, with a notebook that ran.

It fits a phone, is searched with and without a server, and its buttons work.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.tools.browser import launched, needs_browser, playwright_library

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
SOURCES = [path.relative_to(DOCS).with_suffix(".html") for path in sorted([*DOCS.rglob("*.md"), *DOCS.rglob("*.ipynb")])]
TRAINED = 2048  # decisions in the notebook: an update
PHONE = 360
pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, as `make site` makes it, with a notebook that trains less."""
    folder = tmp_path_factory.mktemp("docs") / "site"
    path = os.pathsep.join([str(ROOT), str(ROOT / "agents")])
    environment = {**os.environ, "PYTHONPATH": path, "EUPHORIA_NOTEBOOK_DECISIONS": str(TRAINED)}
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", str(DOCS), str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def test_the_notebook_plays_trains_and_plots(site: Path) -> None:
    text = (site / "tutorials" / "first-steps.html").read_text(encoding="utf-8")
    assert f"{TRAINED:,} decisions" in text and "games won" in text
    pictures = re.findall(r'<img [^>]*src="\.\./_images/[^"]+\.(svg|png)"', text)
    assert sorted(pictures) == ["png", "png", "svg", "svg"]


# ------------------------------------------------------------------------------------------------------------ in a browser


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    playwright = playwright_library()
    with playwright.sync_playwright() as found:
        browser = launched(found)
        yield browser
        browser.close()


@needs_browser
def test_no_page_is_wider_than_a_phone(chromium: Any, site: Path) -> None:
    tab = chromium.new_page(viewport={"width": PHONE, "height": 740}, is_mobile=True, has_touch=True)
    faults: list[str] = []
    tab.on("pageerror", lambda error: faults.append(str(error)))
    for page in SOURCES:
        tab.goto((site / page).as_uri())
        if (wide := tab.evaluate("document.querySelector('.content').scrollWidth")) > PHONE:
            faults.append(f"{page} is {wide} wide")
    tab.close()
    assert not faults


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """Where the site is served."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=site)) as server:
        threading.Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@needs_browser
def test_the_search_shows_excerpts_where_the_site_is_served_and_works_where_it_is_not(
    chromium: Any, site: Path, address: str
) -> None:
    tab = chromium.new_page()
    faults: list[str] = []
    tab.on("pageerror", lambda error: faults.append(str(error)))
    for place, excerpt in ((address, "p.context"), (site.as_uri(), "a")):
        tab.goto(f"{place}/search.html?q=retrieve")
        tab.locator(f"#search-results li {excerpt}").first.wait_for()
    tab.close()
    assert not faults


@needs_browser
def test_code_is_copied_and_the_moving_board_pauses(chromium: Any, address: str) -> None:
    context = chromium.new_context(permissions=["clipboard-read", "clipboard-write"], color_scheme="dark")
    tab = context.new_page()
    tab.goto(address)
    board = tab.locator("article [class*=only-dark]")
    assert tab.locator("article img:visible").get_attribute("src") == "_images/turns-dark.webp"
    tab.locator(".highlight").first.hover()
    tab.locator(".highlight button").first.click()
    tab.get_by_text("Copied").wait_for()
    assert tab.evaluate("navigator.clipboard.readText()") == "euphoria serve --browser"
    board.and_(tab.get_by_role("button", name="Pause")).click()
    tab.locator("canvas:visible").wait_for()
    context.close()
    context = chromium.new_context(reduced_motion="reduce")
    context.new_page().goto(address)
    context.pages[0].locator("canvas:visible").wait_for()
    context.close()
