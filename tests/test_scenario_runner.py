"""The runner of the scenarios finds what is not as a scenario says, and what is written wrongly in one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.tools.scenario_runner import BadScenario, ScenarioFailed, parse, read_files, read_text, run

PLACED = {"kind": "placed", "player": 0, "space": "farm", "face": 4}
GAINED = {"kind": "gained", "item": "food", "number": 1}
NICK = {"name": "nick_the_understudy", "active": True}
GOOD = {
    "id": "farm",
    "rule": "R6.1",
    "given": {"rules": {"num_players": 2}, "players": [{"workers": [4], "recruits": [NICK]}, {"workers": [1, 2]}], "seed": 1},
    "play": ["place 4 farm"],
    "then": {
        "player": 1,
        "players": [{"goods": {"food": 1, "clay": 0}, "recruits": [NICK["name"]]}, {"workers": [2, 1], "artifacts": {}}],
        "workers": {"farm": [[0, 4]], "generator": []},
    },
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
    check(given={key: value for key, value in GOOD["given"].items() if key != "seed"})  # with several seeds


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"play": ["place 4 farm", "place 4 farm"]}, "place 4 farm"),
        ({"then": {"player": 0}}, "player: should be 0, is 1"),
        ({"then": {"player": True}}, "player: should be true, is 1"),
        ({"then": {"plyer": 1}}, "plyer: there is no such key"),
        ({"then": {"players": [{"good": {}}]}}, "players[0].good: there is no such key"),
        ({"then": {"players": [{"goods": {}}]}}, "players[0].goods"),
        ({"then": {"players": [{"goods": {"clay": 2}}]}}, "players[0].goods.clay"),
        ({"then": {"players": [{}, {"workers": [1]}]}}, "players[1].workers"),
        ({"then": {"players": [{}, {}, {"morale": 1}]}}, "players[2]"),
        ({"then": {"players": [{"recruits": [{**NICK, "active": False}]}]}}, "players[0].recruits.nick_the_understudy"),
        ({"then": {"players": [{"recruits": ["katy_the_dietician"]}]}}, "players[0].recruits"),
        ({"then": {"markets": {"subterran_market_2": {"built": True}}}}, "markets.subterran_market_2.built"),
        ({"then": {"workers": {"farm": [[4, 0]]}}}, "workers.farm"),
        ({"legal": ["place 4 farm"]}, "should be legal: place 4 farm"),
        ({"illegal": ["place 1 farm"]}, "should be illegal: place 1 farm"),
        ({"over": True}, "over"),
        ({"winner": 0}, "winner"),
        ({"ranking": [1, 2]}, "ranking"),
        ({"given": {"bad": 1}}, "bad"),
        ({"events": [GAINED, PLACED]}, "placed"),
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
        *({"plai": ["end"]}, {"play": ["fly"]}, {"illegal": ["fly"]}, {"new": {}}, {"given": None}),
        *({"events": [{"kind": "ate"}]}, {"events": [{"kind": "gained", "amount": 1}]}),
        {"events": [{"kind": "gained", "item": "fish"}]},
    ],
    ids=str,
)
def test_what_is_written_wrongly_is_no_scenario(changed: dict[str, Any]) -> None:
    with pytest.raises(BadScenario):
        check(**changed)


@pytest.mark.parametrize("text", ["{", "id: a", "text", "- {id: b, rule: R1, rule: R2, given: {}, play: [end]}"])
def test_what_is_no_file_of_scenarios(text: str) -> None:
    with pytest.raises(BadScenario):
        list(read_text(text, "file"))


def test_ids_are_unique(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.yaml").write_text("- {id: a, rule: R1, given: {}, play: [end]}\n", encoding="utf-8")
    with pytest.raises(BadScenario, match=r"one\.yaml"):
        read_files(sorted(tmp_path.glob("*.yaml")))
