"""What a browser loads for a page: everything is named in it, comes compressed, and is kept until it changes."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from euphoria_agents.play.web import files
from euphoria_agents.play.web.files import KEPT, PAGES, STATIC
from euphoria_agents.play.web.guard import HEADERS
from tests.tools.served import Served


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("pages") / "games.sqlite") as found:
        yield found


def named(server: Served, page: str) -> list[str]:
    """The addresses in a page."""
    status, content, headers = server.visitor().ask("GET", page)
    assert status == 200 and headers["Cache-Control"] == "no-store"
    return re.findall(r'(?:href|src)="(/[^"]+)"', content.decode())


@pytest.mark.parametrize("page", PAGES)
def test_a_page_names_what_it_loads_which_is_kept_for_ever(server: Served, page: str) -> None:
    visitor, loaded = server.visitor(), [path for path in named(server, page) if path.startswith("/static/")]
    assert loaded
    for path in set(loaded):
        status, content, headers = visitor.ask("GET", path)
        packed = visitor.ask("GET", path, headers={"Accept-Encoding": "gzip"})
        assert status == 200 and headers["Cache-Control"] == KEPT and gzip.decompress(packed[1]) == content
        assert (
            packed[2]["Content-Encoding"] == "gzip" and packed[2]["Content-Security-Policy"] == HEADERS["Content-Security-Policy"]
        )
        if path.endswith(".js"):
            text = (STATIC / Path(path).name).read_text(encoding="utf-8")
            assert {f"{Path(path).parent}/{name}" for name in re.findall(r'from "\./(.*?)"', text)} <= set(loaded), path


def test_addresses_change_with_what_is_there(server: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "page_icon", lambda: "<svg/>")
    with Served(tmp_path / "games.sqlite") as other:
        first, second = named(server, "/help"), named(other, "/help")
        assert len(first) == len(second) and not {path for path in first if "static" in path} & set(second)
        assert other.visitor().ask("GET", first[0])[0] == 404


def test_the_name_of_a_game_cannot_end_an_attribute(server: Served) -> None:
    content = server.visitor().ask("GET", "/play/%22%3E%3Cscript%3E")[1]
    assert b"<script>" not in content and b"/api/games/%22%3E%3Cscript%3E/view" in content
