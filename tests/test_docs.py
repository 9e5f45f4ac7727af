"""The documentation: generated pages are fresh, links lead somewhere, examples run, numbers are right."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from euphoria_env import actions, observations
from euphoria_env.board import SITE_COSTS
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.cards.tiles import TILES
from euphoria_env.render.view import cost_text

ROOT = Path(__file__).parent.parent
DOCS = sorted((ROOT / "docs").glob("*.md"))
README = ROOT / "README.md"
GENERATOR = ROOT / "scripts" / "generate_docs.py"


def examples() -> list[tuple[str, str]]:
    """The Python examples of the pages, each with a name."""
    found = []
    for file in (README, *DOCS):
        blocks = re.findall(r"^```python\n(.*?)^```", file.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        found += [(f"{file.stem}-{k}", block) for k, block in enumerate(blocks, 1)]
    return found


def run_script(*arguments: str) -> subprocess.CompletedProcess[str]:
    # Without the compiler: the tables need no engine, and it would take a while.
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def test_generated_pages_are_fresh():
    result = run_script(str(GENERATOR), "--check")
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.slow
@pytest.mark.parametrize("code", [pytest.param(code, id=name) for name, code in examples()])
def test_example_runs(code):
    exec(compile(code, "<example>", "exec"), {"__name__": "__example__"})


def test_there_are_examples():
    assert {name.rpartition("-")[0] for name, _ in examples()} >= {"README", "positions", "records", "environment"}


@pytest.mark.parametrize("file", [README, *DOCS], ids=lambda file: file.stem)
def test_links_lead_somewhere(file):
    text = re.sub(r"^```.*?^```|`[^`\n]*`", "", file.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    targets = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r"^\[[^\]]+\]: (\S+)$", text, re.MULTILINE)
    for target in targets:
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        other = (file.parent / path).resolve() if path else file
        assert other.exists(), target
        if anchor:
            assert anchor in anchors(other.read_text(encoding="utf-8")), target
    for name in re.findall(r"(?<=[ ,|])\[([\w./]+)\](?=[ ,])", text):
        assert f"\n[{name}]: " in text, name


def anchors(text: str) -> set[str]:
    """Anchors of a page: those written, and those of its headings as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    made = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return made | set(re.findall(r'<a id="([^"]+)"', text))


def test_rules_page_has_all_paragraphs_once():
    text = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    numbers = re.findall(r'^- <a id="r(\d+)-(\d+)"></a>\*\*R(\d+)\.(\d+)\*\*', text, re.MULTILINE)
    assert all((a, b) == (c, d) for a, b, c, d in numbers)
    last = {
        1: 7,
        2: 7,
        3: 5,
        4: 12,
        5: 8,
        6: 3,
        7: 6,
        8: 2,
        9: 4,
        10: 3,
        11: 2,
        12: 7,
        13: 10,
        14: 2,
        15: 2,
        16: 4,
        17: 6,
    }
    last |= {18: 3, 19: 2}
    expected = [(chapter, k) for chapter, end in last.items() for k in range(1, end + 1)]
    assert [(int(a), int(b)) for a, b, _, _ in numbers] == expected


def test_rules_page_has_all_cards_and_costs():
    text = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    for name in RECRUIT_NAMES:
        assert text.count(f"| `{name}` |") == 1
    for tile in TILES:
        assert f"| `{tile}` | {cost_text('euphorian_market_1', tile)} |" in text
    for site, resources in SITE_COSTS.items():
        assert f"| `{site}` | {resources[0]} | {resources[1]} |" in text


def test_citations_exist():
    known = set(re.findall(r"\*\*(R\d+\.\d+)\*\*", (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")))
    for file in (ROOT / "euphoria_env").rglob("*.py"):
        for cited in re.findall(r"\bR\d+\.\d+\b", file.read_text(encoding="utf-8")):
            assert cited in known, f"{file.relative_to(ROOT)} cites {cited}"


def test_numbers_of_the_environment():
    text = (ROOT / "docs" / "environment.md").read_text(encoding="utf-8")
    assert f"Discrete({actions.NUM_ACTIONS})" in text and text.count(f"({observations.OBS_SIZE},)") == 2
    assert f"There are {actions.NUM_ACTIONS} of them" in (ROOT / "docs" / "notation.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("file", [README, *DOCS], ids=lambda file: file.stem)
def test_no_paths_of_one_machine(file):
    assert not re.search(r"(?:^|[\s(`\"'])/(?:work|home|tmp|usr|Users)/|shared/", file.read_text(encoding="utf-8"))
