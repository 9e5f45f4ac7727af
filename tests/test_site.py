"""The pages as a site: made without a warning, every link leads somewhere, nothing is fetched, and it fits a phone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urlparse

import pytest

from tests.tools.browser import browser_path, launched

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
SOURCES = [path.relative_to(DOCS).with_suffix(".html") for path in sorted([*DOCS.rglob("*.md"), *DOCS.rglob("*.ipynb")])]
TRAINED = 2048  # decisions in the notebook: an update
PHONE = 360
pytestmark = pytest.mark.long


class Page(HTMLParser):
    """The anchors of a page, its links, and the files that a browser fetches for it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value for name, value in attrs if value is not None}
        self.ids |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        self.fetched += [given[name] for name in ("src", "srcset", "poster", "data") if name in given]
        self.fetched += [given["href"]] if tag == "link" and "href" in given else []


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


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    """All pages of the site by their files."""
    return {path: Page(path) for path in sorted(site.rglob("*.html"))}


def test_every_page_is_there(site: Path) -> None:
    assert len(SOURCES) > 20 and not [page for page in SOURCES if not (site / page).exists()]


def test_every_link_leads_somewhere(pages: dict[Path, Page]) -> None:
    broken = []
    for path, page in pages.items():
        for link in page.links:
            address, anchor = urldefrag(link)
            if urlparse(address).scheme:
                continue
            target = (path.parent / unquote(address)).resolve() if address else path
            if not target.is_file() or (anchor and target in pages and unquote(anchor) not in pages[target].ids):
                broken.append(f"{path.name}: {link}")
    assert not broken
    assert sum(len(page.links) for page in pages.values()) > 1000


def test_nothing_is_fetched_from_elsewhere(site: Path, pages: dict[Path, Page]) -> None:
    for path, page in pages.items():
        for address in page.fetched:
            here = (path.parent / unquote(urlparse(address).path)).exists() and not urlparse(address).netloc
            assert here or address.startswith("data:"), f"{path.name}: {address}"
    for path in site.rglob("*.css"):
        assert not re.findall(r"@import|url\(\s*[\"']?(?:https?:)?//", path.read_text(encoding="utf-8")), path


def test_the_notebook_plays_trains_and_plots(site: Path) -> None:
    text = (site / "tutorials" / "first-steps.html").read_text(encoding="utf-8")
    assert f"{TRAINED:,} decisions" in text and "games won" in text
    pictures = re.findall(r'<img [^>]*src="\.\./_images/[^"]+\.(svg|png)"', text)
    assert sorted(pictures) == ["png", "png", "svg", "svg"]


def test_the_reference_has_shapes(site: Path) -> None:
    text = re.sub(r"<[^>]+>", "", (site / "api.html").read_text(encoding="utf-8"))
    assert "(N, OBS_SIZE) int8, what that player may see" in text and "Raises" in text


# ------------------------------------------------------------------------------------------------------------ in a browser

in_a_browser = pytest.mark.skipif(browser_path() is None, reason="no Chromium here: apt-get install chromium-headless-shell")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as found:
        browser = launched(found)
        yield browser
        browser.close()


@in_a_browser
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


@in_a_browser
def test_the_search_works_from_a_folder(chromium: Any, site: Path) -> None:
    tab = chromium.new_page()
    faults: list[str] = []
    tab.on("console", lambda line: line.type == "error" and faults.append(line.text))
    tab.goto((site / "search.html").as_uri() + "?q=determinize")
    tab.wait_for_selector("#search-results li a")
    found = tab.eval_on_selector_all("#search-results li a", "links => links.map(link => link.getAttribute('href'))")
    tab.close()
    assert any("api.html" in link for link in found) and not faults
