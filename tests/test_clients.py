"""`make test-clients`, as far as it can be looked at without installing anything."""

from __future__ import annotations

import re
from pathlib import Path

from scripts import test_clients as script

ROOT = Path(__file__).parents[1]


PAGE = (ROOT / "docs" / "clients.md").read_text(encoding="utf-8")


def test_the_page_has_every_snippet_and_the_versions_tested() -> None:
    included = re.findall(r"```{literalinclude} \.\./scripts/snippets/(\S+)\n", PAGE)
    assert sorted(included) == sorted(path.name for path in script.SNIPPETS.glob("*.py"))
    assert {name.removeprefix("with_").removesuffix(".py") for name in included} == set(script.CLIENTS)
    for name in included:
        client = name.removeprefix("with_").removesuffix(".py")
        assert f"| {script.versions(client)} | `{name}` | " in PAGE
