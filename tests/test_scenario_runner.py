"""The runner of the scenarios finds what is not as a scenario says, and what is written wrongly in one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.tools.scenario_runner import BadScenario, ScenarioFailed, differences, parse, read_files, read_text, run

POSITION = {
    "rules": {"num_players": 3},
    "player": 1,
    "players": [
        {
            "knowledge": 3,
            "workers": [2, 5],
            "goods": {"energy": 3, "gold": 1},
            "recruits": [
                {"name": "nick_the_understudy", "active": True, "star": False},
                {"name": "ben_the_ludologist", "active": False},
            ],
            "dilemma": {"artifact": "bat", "resolved": None},
        },
        {"lost_worker": True},
        {},
    ],
    "workers": {"generator": [[1, 4], [0, 2]]},
    "markets": {"euphorian_market_1": {"tile": "bemusement_park", "built": True, "stars": [1, 0]}},
    "territories": {"icarite_territory": [0, 0, 2]},
    "pending": [{"what": "pay"}],
}


@pytest.mark.parametrize(
    ("expected", "where"),
    [
        ({"player": 1, "players": [{"knowledge": 3}, {"lost_worker": True}]}, None),
        ({"player": 0}, "player: should be 0, is 1"),
        ({"player": None}, "player: should be null"),
        ({"players": [{"knowledge": 4}]}, "players[0].knowledge"),
        ({"players": [{}, {"lost_worker": 1}]}, "players[1].lost_worker"),
        ({"players": [{}, {}, {}, {}]}, "players"),
        # lists: whole, in any order
        ({"players": [{"workers": [5, 2]}], "workers": {"generator": [[0, 2], [1, 4]]}}, None),
        ({"players": [{"workers": [5]}]}, "players[0].workers"),
        ({"workers": {"generator": [[4, 1], [0, 2]]}}, "workers.generator"),
        ({"territories": {"icarite_territory": [2, 0, 0]}, "markets": {"euphorian_market_1": {"stars": [0, 1]}}}, None),
        ({"territories": {"icarite_territory": [0, 2, 2]}}, "territories.icarite_territory"),
        # left out: 0, empty, false, null
        ({"turn": 0, "players": [{"goods": {"clay": 0}, "artifacts": {"book": 0}, "lost_worker": False}]}, None),
        ({"players": [{}, {"goods": {"energy": 0}, "workers": [], "recruits": [], "dilemma": {"resolved": None}}]}, None),
        ({"workers": {"farm": []}, "markets": {"subterran_market_2": {"built": False, "stars": []}}, "miners": {}}, None),
        ({"players": [{"goods": {}}]}, "players[0].goods"),
        ({"players": [{"goods": {"clay": 2}}]}, "players[0].goods.clay"),
        ({"workers": {}}, "workers"),
        ({"workers": {"farm": [[0, 1]]}}, "workers.farm"),
        ({"markets": {"subterran_market_2": {"built": True}}}, "markets.subterran_market_2.built"),
        ({"players": [{"dilemma": {"resolved": "star"}}]}, "players[0].dilemma.resolved"),
        # recruits: by name
        ({"players": [{"recruits": [{"name": "nick_the_understudy", "active": True}, "ben_the_ludologist"]}]}, None),
        ({"players": [{"recruits": [{"name": "ben_the_ludologist", "star": False}]}]}, None),
        ({"players": [{"recruits": [{"name": "ben_the_ludologist", "active": True}]}]}, "players[0].recruits.ben_the_ludologist"),
        ({"players": [{"recruits": ["katy_the_dietician"]}]}, "players[0].recruits"),
        ({"players": [{"recruits": []}]}, "players[0].recruits"),
    ],
)
def test_a_difference_is_named(expected: Any, where: str | None) -> None:
    found = differences(expected, POSITION)
    assert found == [] if where is None else len(found) == 1 and found[0].startswith(where)


# ------------------------------------------------------------------------------------------------------------- running


PLACED = {"kind": "placed", "player": 0, "space": "farm", "face": 4}
GAINED = {"kind": "gained", "item": "food", "number": 1}
GOOD = {
    "id": "farm",
    "rule": "R6.1",
    "given": {"rules": {"num_players": 2}, "players": [{"workers": [4]}, {"workers": [1]}], "seed": 1},
    "play": ["place 4 farm"],
    "then": {"player": 1, "players": [{"goods": {"food": 1}}]},
    "legal": ["place 1 generator"],
    "illegal": ["place 4 farm"],
    "over": False,
    "winner": None,
    "events": [PLACED, GAINED, {"kind": "turn", "player": 1}],
}


def check(**changed: Any) -> None:
    """A placement on the farm, by which the player gains 1 food and the faction a step; as written, or with other keys."""
    run(parse({**GOOD, **changed}, "farm.yaml:1"))


def test_what_is_so_passes() -> None:
    check()
    check(events=[])
    check(given={"rules": {"num_players": 2}, "players": [{"workers": [4]}, {"workers": [1]}]})  # with several seeds


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"play": ["place 4 farm", "place 4 farm"]}, "place 4 farm"),
        ({"then": {"player": 0}}, "player: should be 0, is 1"),
        ({"then": {"plyer": 1}}, "plyer: there is no such key"),
        ({"then": {"players": [{"good": {}}]}}, "players[0].good: there is no such key"),
        ({"legal": ["place 4 farm"]}, "should be legal: place 4 farm"),
        ({"illegal": ["place 1 farm"]}, "should be illegal: place 1 farm"),
        ({"over": True}, "over"),
        ({"winner": 0}, "winner"),
        ({"ranking": [1, 2]}, "ranking"),
        ({"given": {"bad": 1}}, "bad"),
        ({"events": [GAINED, PLACED]}, "placed"),
        ({"events": [GAINED, GAINED]}, "gained"),
        ({"events": [{**GAINED, "number": 2}]}, "number: 2"),
        ({"events": [{"kind": "turn", "player": None}]}, "turn"),
    ],
)
def test_what_is_not_so_fails(changed: dict[str, Any], named: str) -> None:
    with pytest.raises(ScenarioFailed) as error:
        check(**changed)
    assert named in str(error.value)


@pytest.mark.parametrize(
    "changed",
    [
        {"plai": ["end"]},
        {"play": ["fly"]},
        {"illegal": ["fly"]},
        {"new": {}},
        {"events": [{"player": 0}]},
        {"events": [{"kind": "ate"}]},
        {"events": [{"kind": "gained", "amount": 1}]},
        {"events": [{"kind": "gained", "item": "fish"}]},
        {"given": None},
    ],
    ids=str,
)
def test_what_is_written_wrongly_is_no_scenario(changed: dict[str, Any]) -> None:
    with pytest.raises(BadScenario):
        check(**changed)


@pytest.mark.parametrize("text", ["{", "id: a", "- [", "text", "- {id: b, rule: R1, rule: R2, given: {}, play: [end]}"])
def test_what_is_no_file_of_scenarios(text: str) -> None:
    with pytest.raises(BadScenario):
        list(read_text(text, "file"))


def test_ids_are_unique(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.yaml").write_text("- {id: a, rule: R1, given: {}, play: [end]}\n", encoding="utf-8")
    with pytest.raises(BadScenario, match=r"one\.yaml"):
        read_files(sorted(tmp_path.glob("*.yaml")))
