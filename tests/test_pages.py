"""A page names every file that a browser loads for it; browsers keep these files until one changes."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from euphoria_agents.play.web.files import KEPT, PAGES
from euphoria_agents.play.web.guard import HEADERS
from tests.tools.served import Served


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("pages") / "games.sqlite") as found:
        yield found


@pytest.mark.parametrize("page", PAGES)
def test_a_page_names_what_it_loads_which_is_kept_for_ever(server: Served, page: str) -> None:
    visitor = server.visitor()
    status, content, headers = visitor.ask("GET", page)
    assert status == 200 and headers["Cache-Control"] == "no-store"
    loaded = set(re.findall(r'(?:href|src)="(/static/[^"]+)"', content.decode()))
    assert loaded
    for path in loaded:
        status, script, headers = visitor.ask("GET", path)
        assert status == 200 and all(headers[name] == value for name, value in {**HEADERS, "Cache-Control": KEPT}.items())
        assert visitor.ask("GET", path.replace(path.split("/")[2], "0" * 12))[0] == 404
        if path.endswith(".js"):
            assert not re.search(rb"^import ", script, re.MULTILINE), path


def test_the_name_of_a_game_cannot_end_an_attribute(server: Served) -> None:
    content = server.visitor().ask("GET", "/play/%22%3E%3Cscript%3E")[1]
    assert b"<script>" not in content and b"/api/games/%22%3E%3Cscript%3E/view" in content
