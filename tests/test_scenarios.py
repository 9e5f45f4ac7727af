"""The scenarios of tests/scenarios, on the engine and on the referee: a test for each file names all that fail."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.referee import Referee
from tests.tools.scenario_runner import FOLDER, ScenarioFailed, read_files, run


class _Games:
    """The referee's games, made as the runner of the scenarios makes those of the engine."""

    def __call__(self, rules, seed, load=None):
        return Referee.new(rules, load, seed)

    def from_dict(self, position):
        return Referee.from_dict(position, seed=position["seed"])


REFEREE = SimpleNamespace(Game=_Games(), Rules=dict)


@pytest.mark.parametrize("file", sorted(FOLDER.rglob("*.yaml")), ids=lambda file: file.stem)
def test_scenarios(file: Path) -> None:
    wrong = []
    for _, scenario in read_files([file]):
        for name, api in (("engine", None), ("referee", REFEREE)):
            try:
                run(scenario, api)
            except ScenarioFailed as error:
                wrong.append(f"the {name}: {error}")
    if wrong:
        pytest.fail("\n\n".join(wrong), pytrace=False)
