"""`make test-clients`, as far as it can be looked at without installing anything."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from scripts import test_clients as script

ROOT = Path(__file__).parents[1]


PAGE = (ROOT / "docs" / "clients.md").read_text(encoding="utf-8")
HALF = "51.0% (41.3% to 60.6%) of 100 games won"
MORE = "63.0% (53.2% to 71.8%) of 100 games won"


def test_every_client_has_a_snippet_or_uses() -> None:
    snippets = {path.stem.removeprefix("with_") for path in script.SNIPPETS.glob("*.py")}
    uses = {path.stem for path in script.USES.glob("[a-z]*.py")} - {"common"}
    assert snippets | uses == set(script.CLIENTS) and len(snippets) == 9


def test_the_page_has_every_snippet_and_the_versions_tested() -> None:
    included = re.findall(r"```{literalinclude} \.\./scripts/snippets/(\S+)\n", PAGE)
    assert sorted(included) == sorted(path.name for path in script.SNIPPETS.glob("*.py"))
    for name in included:
        client = name.removeprefix("with_").removesuffix(".py")
        assert f"| {script.versions(client)} | `{name}` | " in PAGE


def test_snippets_are_short() -> None:
    assert {
        path.name for path in script.SNIPPETS.glob("*.py") if len(path.read_text(encoding="utf-8").splitlines()) > 80
    } == set()


@pytest.mark.parametrize(
    ("printed", "fails"), [(f"told\n{MORE}\n", ""), (HALF, f"learned nothing: {HALF}"), ("", "nothing: no score")]
)
def test_a_snippet_must_learn(printed: str, fails: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script, "SNIPPETS", tmp_path)
    monkeypatch.setattr(script, "FOLDER", tmp_path)
    (tmp_path / "jax").mkdir()
    (tmp_path / "with_jax.py").write_text(f"print({printed!r})", encoding="utf-8")
    if fails:
        with pytest.raises(script.Failed, match=re.escape(fails)):
            script.learned("jax", Path(sys.executable))
    else:
        (row,) = script.learned("jax", Path(sys.executable))
        assert row.startswith(f"| jax 0.10.2, optax 0.2.8 | `with_jax.py` | {MORE}, in ")


def test_the_bounds_are_those_declared() -> None:
    assert script.TORCH == "torch==2.13.0"
    assert [need.split("==")[0] for need in script.BOUNDS] == ["numpy", "numba", "gymnasium", "pettingzoo"]
    assert all(set(need.split("==")[1]) <= set("0123456789.") for need in script.BOUNDS)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("raise ValueError('a|b')", "using it: ValueError: a/b"),
        ("print('| a | b | 5 steps/s |'); raise SystemExit(3)", r"using it: \?"),
        ("import time; time.sleep(60)", "using it took longer than 3 s"),
    ],
)
def test_what_went_wrong_is_said(code: str, message: str) -> None:
    with pytest.raises(script.Failed, match=message):
        script.run(("using it", 3), sys.executable, "-c", code)


def test_failed_uses_are_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "print('a line of a library'); print('| a | b | failed: ValueError |'); raise SystemExit(1)"
    found = script.run(("using it", 60), sys.executable, "-c", code)
    monkeypatch.setattr(script, "run", lambda *_: found)
    assert script.used("sb3", Path(sys.executable)) == ["| a | b | failed: ValueError |"]


def test_unknown_clients(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["test_clients.py", "sb4"])
    assert script.main() == 2 and "no such client: sb4; there are gymnasium," in capsys.readouterr().err
