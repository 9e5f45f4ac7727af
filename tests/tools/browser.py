"""A real browser for tests, and a server in a process of its own that a test may kill."""

from __future__ import annotations

import os
import re
import shutil
import signal
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.tools.commands import start

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")
SHELLS = ("headless_shell", "chrome-headless-shell")  # as Playwright names its own


def browser_path() -> str | None:
    """The path of a Chromium, if there is one: EUPHORIA_BROWSER, one on the path, or one that Playwright has installed."""
    if named := os.environ.get("EUPHORIA_BROWSER"):
        return named if named != "none" else None
    installed = (str(file) for name in SHELLS for file in Path.home().glob(f".cache/ms-playwright/chromium_*/*/{name}"))
    return next((found for name in NAMES if (found := shutil.which(name))), None) or next(installed, None)


def skipped() -> bool:
    """Whether tests in a browser are skipped because there is none. In CI they fail, unless EUPHORIA_BROWSER is "none"."""
    return browser_path() is None and (os.environ.get("EUPHORIA_BROWSER") == "none" or not os.environ.get("CI"))


needs_browser = pytest.mark.skipif(skipped(), reason="no Chromium here: apt-get install chromium-headless-shell")


def playwright_library() -> Any:
    """Playwright; without it the tests are skipped, but fail in CI."""
    name = "playwright.sync_api"
    return import_module(name) if os.environ.get("CI") else pytest.importorskip(name, reason="playwright is not installed")


def launched(playwright: Any) -> Any:
    """The browser."""
    assert browser_path(), "no Chromium here; the tests in a browser are skipped only if EUPHORIA_BROWSER is none, or without CI"
    sandbox = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    return playwright.chromium.launch(executable_path=browser_path(), args=sandbox)


def check_page(page: Any) -> None:
    """Checks that axe finds nothing to complain of, and that nothing is wider than the page."""
    page.evaluate("document.getAnimations().forEach((one) => one.finish())")  # what fades in has no contrast yet
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    found = axe.run(page).response["violations"]
    assert [(one["id"], [node["html"] for node in one["nodes"]][:3]) for one in found] == []
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


class ServerProcess:
    """`euphoria serve` on a file; started again it has the same port."""

    def __init__(self, data: Path, *options: str) -> None:
        self.data, self.options = data, options
        self.port = 0

    def start(self) -> ServerProcess:
        """Starts it, and waits until it answers."""
        self._process = start("serve", "--port", self.port, "--data", self.data, *self.options)
        assert self._process.stdout is not None
        self.line = self._process.stdout.readline()  # what it says first
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", self.line)
        assert found, self.line
        self.port = int(found[1])
        return self

    def end(self, how: signal.Signals) -> int:
        """Ends it by a signal; its exit status."""
        self._process.send_signal(how)
        self._process.communicate()
        return self._process.returncode

    @property
    def url(self) -> str:
        """The address of the server."""
        return f"http://127.0.0.1:{self.port}"
