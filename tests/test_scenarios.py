"""The scenarios of tests/scenarios, on the engine and on the referee: a test for each file names all that fail."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.referee import Referee
from tests.tools.scenario_runner import FOLDER, BadScenario, ScenarioFailed, read_files, run


class _Games:
    """The referee's games, made as the runner of the scenarios makes those of the engine."""

    def __call__(self, rules, seed, load=None):
        return Referee.new(rules, load, seed)

    def from_dict(self, position):
        return Referee.from_dict(position, seed=position["seed"])


REFEREE = SimpleNamespace(Game=_Games(), Rules=dict)
FILES = sorted(FOLDER.rglob("*.yaml"))


def faults(file: Path) -> list[str]:
    """The faults of each scenario of a file, or of the engine or the referee with it."""
    found = []
    for _, scenario in read_files([file]):
        for name, api in (("engine", None), ("referee", REFEREE)):
            try:
                if isinstance(scenario, BadScenario):
                    raise scenario
                run(scenario, api)
            except BadScenario as error:
                found.append(str(error))
                break
            except ScenarioFailed as error:
                found.append(f"the {name}: {error}")
            except Exception as error:
                error.add_note(f"the {name} in the scenario {scenario.title}")
                raise
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_scenarios(file: Path) -> None:
    if wrong := faults(file):
        pytest.fail("\n\n".join([*wrong, f"{len(wrong)} faults in {file.name}"]), pytrace=False)


def test_no_id_is_there_twice() -> None:
    ids = Counter(name for file in FILES for name in re.findall(r"^- id: *(\S+)", file.read_text(encoding="utf-8"), re.MULTILINE))
    assert len(ids) > 2000 and [name for name, times in ids.items() if times > 1] == []


def test_every_failing_scenario_is_named(tmp_path: Path) -> None:
    """Scenarios of the file that hold are not named."""
    start = "given: {rules: {num_players: 2}}"
    (tmp_path / "three.yaml").write_text(
        f"- {{id: one, rule: R1.1, {start}, over: true}}\n- {{id: two, rule: R1.1, {start}, over: false}}\n- {{id: three}}\n"
    )
    found = faults(tmp_path / "three.yaml")
    assert [text.partition(" (")[0] for text in found[:2]] == ["the engine: one", "the referee: one"]
    assert len(found) == 3 and found[2].startswith("three")
