"""The documentation: generated pages are fresh, examples and tutorials run, the commands exist."""

import contextlib
import io
import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import euphoria_agents
import euphoria_env.render
import euphoria_env.text
import euphoria_env.words
from euphoria_agents.__main__ import main
from euphoria_agents.commands import COMMANDS
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.cards.spaces import SITE_COSTS
from euphoria_env.cards.tiles import TILES
from euphoria_env.words import cost_words
from scripts import reference
from tests.tools import scenario_runner
from tests.tools.commands import euphoria
from tests.tools.scripts import call

ROOT = Path(__file__).parent.parent
DOCS = sorted((ROOT / "docs").rglob("*.md"))
TUTORIALS = [page for page in DOCS if page.parent.name == "tutorials"]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS]


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).with_suffix("").as_posix().removeprefix("docs/")


def blocks(page: Path) -> list[tuple[str, str]]:
    """The blocks of code of a page: language and text."""
    return re.findall(r"^```(\w+)\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def examples() -> list[tuple[str, str]]:
    """The Python examples of the pages, each with a name; those of a tutorial belong together and are run as one."""
    pages = [page for page in PAGES if page not in TUTORIALS]
    python = {page: [code for language, code in blocks(page) if language == "python"] for page in pages}
    return [(f"{name_of(page)}-{k}", code) for page, found in python.items() for k, code in enumerate(found, 1)]


def test_generated_pages_are_fresh(monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "0")  # the script sets it, which would last, unless it is set
    assert call("generate_docs", "--check") == ""


def test_the_reference_has_all_public_names():
    known = {part for names in reference.NAMES.values() for name in names for part in name.split(".")}
    for module in (euphoria_env, euphoria_agents, euphoria_env.render, euphoria_env.text, euphoria_env.words):
        assert {name for name in module.__all__ if not name.isupper()} <= known, module.__name__


@pytest.mark.slow
@pytest.mark.parametrize("code", [pytest.param(code, id=name) for name, code in examples()])
def test_example_runs(code):
    if "euphoria_agents.data" in code:
        pytest.importorskip("pyarrow")
    if "sb3" in code:
        pytest.importorskip("sb3_contrib")
    exec(compile(code, "<example>", "exec"), {"__name__": "__example__"})


TRAINING = {"tutorials/study", "tutorials/own-algorithm"}  # what these do takes its time


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [pytest.param(page, id=name_of(page), marks=[pytest.mark.long] * (name_of(page) in TRAINING)) for page in TUTORIALS]
)
def test_tutorial_runs(page, tmp_path, monkeypatch, capsys):
    """Every block, one after the other in a folder of their own; a `text` block is what the one before it prints."""
    monkeypatch.chdir(tmp_path)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "agents")])}
    names = {"__name__": "__example__"}
    for (language, code), (following, expected) in itertools.pairwise([*blocks(page), ("", "")]):
        capsys.readouterr()
        if language == "python":
            if named := re.match(r"# (\w+\.py)\n", code):
                (tmp_path / named[1]).write_text(code, encoding="utf-8")
            exec(compile(code, f"<{page.name}>", "exec"), names)
        elif language == "sh":
            shell = f'euphoria() {{ "{sys.executable}" -m euphoria_agents "$@"; }}\n{code}'
            done = subprocess.run(["bash", "-ec", shell], env=environment, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
        elif language == "yaml":
            for scenario in scenario_runner.read_text(code, page.name):
                assert isinstance(scenario, scenario_runner.Scenario), scenario
                scenario_runner.run(scenario)
        else:
            assert language == "text"
        if following == "text":
            assert capsys.readouterr().out == expected


# ------------------------------------------------------------------------------------------------------- figures of matches

SHOWN = re.compile(r"^euphoria ((?:evaluate|tournament) .*--seed .*)\n```\n\n((?:\|.*\n)+|```text\n(?:.*\n)+?```)", re.MULTILINE)
MATCHES = [(page, *found) for page in PAGES for found in SHOWN.findall(page.read_text(encoding="utf-8"))]


def numbers(line):
    return re.findall(r"\d+(?:\.\d+)?", line)


@pytest.mark.slow
@pytest.mark.parametrize(("page", "command", "shown"), MATCHES, ids=[f"{name_of(one[0])}-{one[1].split()[0]}" for one in MATCHES])
def test_the_figures_of_a_page_are_those_of_its_command(page, command, shown, tmp_path, monkeypatch):
    """Compares all that a table shows right after its command, but for the times, which are its last columns."""
    monkeypatch.setenv("COLUMNS", "200")  # a narrow table has other lines
    status, printed, told = euphoria(*command.split(), cwd=tmp_path)
    assert status == 0, told
    rows = [numbers(line) for line in shown.splitlines() if "." in line]
    times, players = shown.count(" ms"), shown.startswith("| players")
    lines = [" ".join(numbers(line)) for line in printed.splitlines()]
    for row in rows:
        wanted = " ".join(row[players : len(row) - times])
        assert any(line.startswith(wanted) for line in lines), (row, printed)


# ---------------------------------------------------------------------------------------------- what nothing else would miss

DEFINITIONS = {"R1.1", "R1.3", "R1.4"}  # nothing happens in them


def test_everything_has_a_scenario():
    """Each paragraph of the rules and each recruit is named by a scenario; each market tile is in the position of one."""
    scenarios = [item for _, item in scenario_runner.read_folder() if isinstance(item, scenario_runner.Scenario)]
    named = {name for scenario in scenarios for name in (*scenario.rules, *scenario.cards)}
    markets = "".join(str((scenario.given or {}).get("markets")) for scenario in scenarios)
    paragraphs = set(re.findall(r"\*\*(R\d+\.\d+)\*\*", (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")))
    assert paragraphs - named == DEFINITIONS
    assert not set(RECRUIT_NAMES) - named
    assert not [tile for tile in TILES if f"'{tile}'" not in markets]


def test_rules_page_has_all_cards_and_costs():
    text = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    for name in RECRUIT_NAMES:
        assert text.count(f"| `{name}` |") == 1
    for tile in TILES:
        assert f"| `{tile}` | {cost_words('euphorian_market_1', tile)} |" in text
    for site, resources in SITE_COSTS.items():
        assert f"| `{site}` | {resources[0]} | {resources[1]} |" in text


# --------------------------------------------------------------------------------------------------------- the commands


def known_flags(command):
    """The options of a command, as its help lists them."""
    with pytest.raises(SystemExit), contextlib.redirect_stdout(io.StringIO()) as printed:
        main([*command.split(), "--help"])
    return set(re.findall(r"--[a-z0-9-]+", printed.getvalue()))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_and_options_exist(page):
    """The command knows each `euphoria COMMAND --option` on a page; old runs in ```text blocks may name others."""
    code = "\n".join(re.findall(r"```sh\n.*?```|`[^`\n]+`", page.read_text(encoding="utf-8"), re.DOTALL))
    for line in re.findall(r"(?:^|[`/\s])euphoria ([a-z][^`\n#]*)", code.replace("\\\n", " ")):
        command, *words = line.split()
        command = two if (two := " ".join([command, *words[:1]])) in COMMANDS else command
        flags = {word.partition("=")[0] for word in words if word.startswith("--")}
        assert command in COMMANDS and flags <= known_flags(command), line
