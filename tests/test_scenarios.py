"""Every scenario of tests/scenarios, one test each: `pytest -k ID` runs one."""

import pytest

from tests.tools.scenario_runner import BadScenario, Scenario, ScenarioFailed, read_folder, run

FOUND = read_folder()


def test_there_are_scenarios():
    assert FOUND, "no *.yaml in tests/scenarios"


@pytest.mark.parametrize("scenario", [pytest.param(item, id=name) for name, item in FOUND])
def test_scenario(scenario: Scenario | BadScenario):
    wrong = scenario if isinstance(scenario, BadScenario) else None
    try:
        if wrong is None:
            run(scenario)
    except (BadScenario, ScenarioFailed) as error:
        wrong = error
    if wrong is not None:
        pytest.fail(str(wrong), pytrace=False)
