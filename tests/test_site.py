"""The pages as a site: made without a warning, such as one of a broken link, with a notebook that ran; it fits a phone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.tools.browser import browser_path, launched

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
