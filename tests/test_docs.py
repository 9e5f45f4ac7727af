"""The documentation: generated pages are fresh, links lead somewhere, examples run, numbers are right."""

import itertools
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from euphoria_agents.registry import BUILTIN
from euphoria_env import actions, observations
from euphoria_env.board import NUM_AREAS
from euphoria_env.cards import recruits, tiles
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.cards.spaces import SITE_COSTS
from euphoria_env.cards.tiles import TILES
from euphoria_env.cards.vocabulary import Effect
from euphoria_env.engine.rewards import REWARD_NAMES, Reward
from euphoria_env.rules import OPTIONS
from euphoria_env.words import cost_words
from tests.tools import scenario_runner

ROOT = Path(__file__).parent.parent
DOCS = sorted((ROOT / "docs").rglob("*.md"))
TUTORIALS = [page for page in DOCS if page.parent.name == "tutorials"]
README = ROOT / "README.md"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
PAGES = [README, CONTRIBUTING, *DOCS]
GENERATOR = ROOT / "scripts" / "generate_docs.py"
GENERATED = {"actions", "events", "observations"}
FEWEST, MOST = OPTIONS["num_players"].range


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
    if "euphoria_agents.data" in code:
        pytest.importorskip("pyarrow")
    exec(compile(code, "<example>", "exec"), {"__name__": "__example__"})


TRAINING = {"tutorials/study", "tutorials/own-algorithm"}  # what these do takes its time


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [pytest.param(page, id=name_of(page), marks=[pytest.mark.long] * (name_of(page) in TRAINING)) for page in TUTORIALS],
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


def test_there_are_examples():
    assert TUTORIALS and {name.rpartition("-")[0] for name, _ in examples()} >= {
        "README",
        "positions",
        "environment",
        "architecture",
    }


@pytest.mark.parametrize("file", PAGES, ids=name_of)
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
        assert f"| `{tile}` | {cost_words('euphorian_market_1', tile)} |" in text
    for site, resources in SITE_COSTS.items():
        assert f"| `{site}` | {resources[0]} | {resources[1]} |" in text


# Numbers that follow from code, with the words around them: a file, a pattern, and what its groups must be.
NUMBERS = [
    ("docs/environment.md", r"Discrete\((\d+)\)", [actions.NUM_ACTIONS]),
    ("docs/environment.md", r"shape `\((\d+),\)`, raw", [observations.OBS_SIZE]),
    ("docs/environment.md", r"`observation` \| `int8`, `\((\d+),\)`", [observations.OBS_SIZE]),
    ("docs/environment.md", r"`action_mask` \| `int8`, `\((\d+),\)`", [actions.NUM_ACTIONS]),
    ("docs/environment.md", r"`player_0` to `player_(\d)`, as many as `num_players` \((\d) to (\d)\)", [MOST - 1, FEWEST, MOST]),
    ("docs/positions.md", r"There are (\d+) of\s+them", [actions.NUM_ACTIONS]),
    ("docs/positions.md", r"All (\d+)\s+`use` moves", [len(RECRUIT_NAMES)]),
    ("docs/actions.md", r"There are (\d+) actions, the", [actions.NUM_ACTIONS]),
    ("docs/actions.md", r"first (\d) are the multi-use", [NUM_AREAS]),
    ("docs/observations.md", r"shape `\((\d+),\)`: raw", [observations.OBS_SIZE]),
    (
        "docs/observations.md",
        r"`markets` \(`(\d+):(\d+)`\)",
        [observations.start_of("recruits"), observations.start_of("max_turns")],
    ),
    ("docs/observations.md", r"Each of the (\d) seats has a block of (\d+) entries", [MOST, observations.PLAYER_SIZE]),
    ("docs/training.md", r"logits of\s+(\d+) moves", [actions.NUM_ACTIONS]),
    ("README.md", r"for (\d) to (\d) players, with", [FEWEST, MOST]),
    ("docs/report.md", r"There are (\d+)\s+actions, of which", [actions.NUM_ACTIONS]),
    ("docs/report.md", r"an int8 vector of\s+(\d+) entries", [observations.OBS_SIZE]),
    (
        "CHANGELOG.md",
        r"for (\d) to (\d) players: all (\d+) recruits, (\d+) market tiles",
        [FEWEST, MOST, len(RECRUIT_NAMES), len(TILES)],
    ),
]


@pytest.mark.parametrize(("file", "pattern", "right"), NUMBERS, ids=range(len(NUMBERS)))
def test_numbers_are_those_of_the_code(file, pattern, right):
    text = (ROOT / file).read_text(encoding="utf-8")
    found = [tuple(map(int, one.groups())) for one in re.finditer(pattern, text)]
    assert found == [tuple(right)], f"{file}: {pattern}"


@pytest.mark.parametrize("file", [page for page in PAGES if name_of(page) not in GENERATED], ids=name_of)
def test_no_other_place_says_a_size(file):
    """Neither the number of actions nor the size of an observation stands where nothing would look at it."""
    text = file.read_text(encoding="utf-8")
    for name, pattern, _ in NUMBERS:
        text = re.sub(pattern, "", text) if ROOT / name == file else text
    assert not re.search(rf"(?<![.,])\b({actions.NUM_ACTIONS}|{observations.OBS_SIZE})\b", text)  # 0.664 and 12,664 are others


TRACE = """
import json, re, sys
from euphoria_env import Game
from euphoria_env.cards.vocabulary import Effect
from euphoria_env.engine import loop
from euphoria_env.engine.state import Operation

carry_out, told = loop.carry_out, []
name = lambda number: (Effect if number < len(Effect) else Operation)(number).name


def traced(g, tape, op, p, a, b):
    carry_out(g, tape, op, p, a, b)
    told.append([name(op), *(name(int(entry[0])) for entry in g["stack"][: int(g["depth"])])])


loop.carry_out = traced
exec(sys.argv[1])
print(json.dumps(told))
"""


def test_one_move_goes_as_the_page_says():
    """The example of docs/architecture.md in plain Python: operations, and the stack after each."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    example = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[0]
    shown = [
        [operation, *re.findall(r"\w+", stack)]
        for operation, stack in re.findall(r"^\| `([A-Z_]+)` \| .* \| ((?:`[A-Z_]+` ?)+) \|$", text, re.MULTILINE)
    ]
    done = run_script("-c", TRACE, example)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == shown


# ---------------------------------------------------------------------------------------------------------- the rules


def test_recruits_act_where_they_say():
    """In the engine modules that import them by name, in `abilities` with a row, in `effects` with a step of their own."""
    engine = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "euphoria_env" / "engine").glob("*.py")}
    del engine["foresight"]  # which carries out no rule: it asks the others what they would do
    of_spaces = set(re.findall(r"Effect\.(\w+)", (ROOT / "euphoria_env" / "cards" / "spaces.py").read_text(encoding="utf-8")))
    common = of_spaces | {"MORALE", "KNOWLEDGE", "GOODS", "CHOOSE", "DRAW"}
    constants = {value: name for name, value in vars(recruits).items() if name.isupper() and type(value) is int}
    for number, recruit in enumerate(recruits.RECRUITS):
        acts_in = set(recruit.acts_in.split(", "))
        steps = {Effect(step[0]).name for ability in recruit.abilities for step in ability.do}
        imported = rf"^from euphoria_env\.cards\.recruits import (?:[^()\n]*|\([^)]*)\b{constants.get(number, '-')}\b"
        wanted = {module for module, text in engine.items() if re.search(imported, text, re.MULTILINE)}
        wanted |= {"abilities"} if recruit.abilities else set()
        wanted |= {"effects"} if steps - common else set()
        assert wanted <= acts_in, f"{recruit.name} acts in {', '.join(wanted - acts_in)} too"
        names = [word for word in recruit.name.split("_") if word not in {"the", "dr", "sir", "major", "professor", "jonathan"}]
        for module in acts_in - {"abilities", "effects"}:
            assert re.search("|".join(names), engine[module], re.IGNORECASE), f"{module} does not name {recruit.name}"


TABLES = GENERATED | {"leaderboard", "rules"}  # to look things up in, not to read
TEN_MINUTES = 2_200  # words


@pytest.mark.parametrize("file", [page for page in PAGES if name_of(page) not in TABLES], ids=name_of)
def test_no_page_takes_longer_than_ten_minutes(file):
    text = re.sub(r"<!-- \w+: generated.*?<!-- end -->", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(text.split()) <= TEN_MINUTES, "split it: how to do something, what there is to look up, what was tried"


@pytest.mark.parametrize("file", PAGES, ids=name_of)
def test_no_paths_of_one_machine(file):
    assert not re.search(r"(?:^|[\s(`\"'])/(?:work|home|tmp|usr|Users)/|shared/", file.read_text(encoding="utf-8"))


# -------------------------------------------------------------------------------------------------------------- the agents


@pytest.mark.parametrize("name", BUILTIN)
def test_every_agent_that_ships_is_on_the_page_and_can_be_found(name):
    text = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    assert re.search(rf"^\|.*`{name}[`:\[].*\|", text, re.MULTILINE), f"docs/agents.md does not name {name}"
    module, _, attribute = BUILTIN[name].target.partition(":")
    file = ROOT / "agents" / Path(*module.split(".")).with_suffix(".py")
    assert file.exists() and re.search(rf"^(class|def) {attribute}\b", file.read_text(encoding="utf-8"), re.MULTILINE)


def test_readme_names_every_agent():
    text = README.read_text(encoding="utf-8")
    assert not [name for name in BUILTIN if f"`{name}`" not in text]


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


def test_the_engine_reads_every_tile():
    """Tiles are read by their constants; those that take a good for a face, through `FACE_PENALTY`."""
    constants = {
        value: name for name, value in vars(tiles).items() if name.isupper() and type(value) is int and name != "NUM_TILES"
    }
    engine = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "euphoria_env" / "engine").glob("*.py"))
    for number, tile in enumerate(TILES):
        assert number in tiles.FACE_PENALTY[1:] or re.search(rf"(?<!import )\b{constants[number]}\)", engine), (
            f"no rule reads {tile}"
        )


def test_both_chains_know_every_reward():
    engine = (ROOT / "euphoria_env" / "engine" / "rewards.py").read_text(encoding="utf-8")
    search = (ROOT / "agents" / "euphoria_agents" / "players" / "search" / "inference.py").read_text(encoding="utf-8")
    for text, function in ((engine, "fill_rewards"), (search, "chance_to_win")):
        body = text[text.index(f"def {function}") :].partition("\n\n\n")[0]
        assert {name for name in re.findall(r"reward == Reward\.(\w+)", body)} == {reward.name for reward in Reward}, function
    page = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    counts = page[page.index("The meaning of a network's value") :].partition("\n\n")[0]
    assert not (missing := [name for name in REWARD_NAMES if f"`{name}`" not in counts]), f"docs/agents.md: {missing}"


def test_no_text_lists_the_rewards_by_hand():
    """A list would lack the next one; docs/environment.md has a table that is generated."""
    listed = re.compile(r"\W{1,5}(?:(?:or|and)\W{1,4})?".join(REWARD_NAMES[:3]))
    files = [
        path
        for folder in ("euphoria_env", "agents", "scripts", "docs")
        for path in (ROOT / folder).rglob("*.*")
        if path.suffix in (".py", ".md")
    ]
    found = [path.relative_to(ROOT).as_posix() for path in (*files, ROOT / "README.md") if listed.search(path.read_text("utf-8"))]
    assert found == []
