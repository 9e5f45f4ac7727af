"""`make test-clients`, as far as it can be looked at without installing anything."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from scripts import test_clients as script

ROOT = Path(__file__).parents[1]


def test_every_client_has_its_uses() -> None:
    modules = {path.stem for path in (ROOT / "scripts" / "clients").glob("[a-z]*.py")}
    assert modules - {"common"} == set(script.CLIENTS)


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


def test_failed_uses_are_rows() -> None:
    code = "print('a line of a library'); print('| a | b | failed: ValueError |'); raise SystemExit(1)"
    assert script.rows(script.run(("using it", 60), sys.executable, "-c", code)) == ["| a | b | failed: ValueError |"]


def test_unknown_clients(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["test_clients.py", "sb4"])
    assert script.main() == 2 and "no such client: sb4; there are bounds," in capsys.readouterr().err
