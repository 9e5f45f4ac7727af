"""The runner of the scenarios, tested with plain dicts and a toy game."""

from __future__ import annotations

from textwrap import dedent
from types import SimpleNamespace

import pytest

from tests.tools.scenario_runner import (
    SEEDS,
    SPACES,
    BadScenario,
    Scenario,
    ScenarioFailed,
    differences,
    parse,
    read_files,
    read_text,
    run,
)

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
    "expected",
    [
        {},
        {"player": 1},
        {"players": [{"knowledge": 3}]},
        {"players": [{}, {"lost_worker": True}]},
        # lists: whole, in any order
        {"players": [{"workers": [5, 2]}]},
        {"workers": {"generator": [[0, 2], [1, 4]]}},
        {"territories": {"icarite_territory": [2, 0, 0]}},
        {"markets": {"euphorian_market_1": {"stars": [0, 1]}}},
        # left out: 0, empty, false, null
        {"turn": 0, "players": [{"goods": {"clay": 0}, "artifacts": {"book": 0}, "lost_worker": False}]},
        {"players": [{}, {"goods": {"energy": 0}, "workers": [], "recruits": [], "dilemma": {"resolved": None}}]},
        {"workers": {"farm": []}, "markets": {"subterran_market_2": {"built": False, "stars": []}}},
        {"players": [{"dilemma": {"resolved": None}, "artifacts": {}}, {"goods": {}}], "miners": {}, "discards": {}},
        # recruits: by name
        {"players": [{"recruits": [{"name": "ben_the_ludologist", "active": False}]}]},
        {"players": [{"recruits": [{"name": "nick_the_understudy", "active": True}, "ben_the_ludologist"]}]},
        {"players": [{"recruits": [{"name": "ben_the_ludologist", "star": False}]}]},
    ],
)
def test_what_agrees(expected):
    assert differences(expected, POSITION) == []


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        ({"player": 0}, "player: should be 0, is 1"),
        ({"players": [{"knowledge": 4}]}, "players[0].knowledge: should be 4, is 3"),
        ({"players": [{}, {"lost_worker": False}]}, "players[1].lost_worker: should be false, is true"),
        ({"players": [{}, {"lost_worker": 1}]}, "players[1].lost_worker: should be 1, is true"),
        ({"players": [{}, {}, {}, {}]}, "players: the scenario has 4, the game 3"),
        (
            {"players": [{"workers": [5]}]},
            "players[0].workers: should be [5] in any order, is [2, 5]; too much: [2]",
        ),
        (
            {"workers": {"generator": [[4, 1], [0, 2]]}},
            "workers.generator: should be [[4, 1], [0, 2]] in any order, is [[1, 4], [0, 2]]; "
            "missing: [[4, 1]]; too much: [[1, 4]]",
        ),
        (
            {"territories": {"icarite_territory": [0, 2, 2]}},
            "territories.icarite_territory: should be [0, 2, 2] in any order, is [0, 0, 2]; missing: [2]; too much: [0]",
        ),
        ({"players": [{"goods": {}}]}, "players[0].goods: should be empty, is {energy: 3, gold: 1}"),
        ({"workers": {}}, "workers: should be empty, is {generator: [[1, 4], [0, 2]]}"),
        (
            {"players": [{"goods": {"clay": 2}}]},
            "players[0].goods.clay: should be 2, is left out, so 0, empty, false or null",
        ),
        (
            {"markets": {"subterran_market_2": {"built": True}}},
            "markets.subterran_market_2.built: should be true, is left out, so 0, empty, false or null",
        ),
        ({"workers": {"farm": [[0, 1]]}}, "workers.farm: should be [[0, 1]], is left out, so 0, empty, false or null"),
        (
            {"players": [{"dilemma": {"resolved": "star"}}]},
            "players[0].dilemma.resolved: should be star, is null",
        ),
        (
            {"players": [{"recruits": [{"name": "ben_the_ludologist", "active": True}]}]},
            "players[0].recruits.ben_the_ludologist.active: should be true, is false",
        ),
        (
            {"players": [{"recruits": ["katy_the_dietician"]}]},
            "players[0].recruits: should have katy_the_dietician, has nick_the_understudy, ben_the_ludologist",
        ),
        ({"player": None}, "player: should be null, is 1"),
        ({"player": {"x": 1}}, "player: should be a mapping, is 1"),
    ],
)
def test_what_differs(expected, message):
    assert differences(expected, POSITION) == [message]


def test_an_empty_mapping_means_nothing_but_zeros():
    assert differences({"miners": {}, "workers": {}}, {"miners": {"subterran": 0}, "workers": {"farm": []}}) == []


def test_no_recruits_means_none():
    (message,) = differences({"players": [{"recruits": []}]}, POSITION)
    assert message.startswith("players[0].recruits: should be [] in any order, is [")


@pytest.mark.parametrize(
    "expected",
    [
        {"plaer": 0},
        {"players": [{"goods": {"enregy": 0}}]},
        {"players": [{"mood": 0}]},
        {"workers": {"farms": []}},
        {"markets": {"icarite_market_1": {"stars": []}}},
        {"markets": {"euphorian_market_2": {"star": []}}},
        {"players": [{}, {"dilemma": {"solved": None}}]},
        {"players": [{"recruits": [{"name": "ben_the_ludologist", "hidden": False}]}]},
    ],
)
def test_a_mistyped_key_is_not_one_left_out(expected):
    (message,) = differences(expected, POSITION)
    assert "there is no such key" in message


def test_every_difference_is_named():
    expected = {"player": 0, "players": [{"goods": {"energy": 0, "gold": 0}}]}
    assert [line.split(":")[0] for line in differences(expected, POSITION)] == [
        "player",
        "players[0].goods.energy",
        "players[0].goods.gold",
    ]


def test_spaces():
    assert len(SPACES) == len(set(SPACES)) == 4 + 2 + 3 + 3 + 24 + 6 + 3 + 4


# ------------------------------------------------------------------------------------------------------------- reading

GOOD = {"id": "a", "rule": "R1", "given": {"seed": 4}, "play": ["end"]}


def test_parse():
    scenario = parse({**GOOD, "rule": ["R1", "R2"], "card": "nick_the_understudy", "winner": None}, "file:3")
    assert scenario.rules == ("R1", "R2")
    assert scenario.cards == ("nick_the_understudy",)
    assert scenario.title == "a (R1, R2, nick_the_understudy) in file:3"
    assert scenario.outcome == {"winner": None}
    assert scenario.seeds == (4,)
    assert parse({**GOOD, "given": {}}).seeds == SEEDS


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"the": {}}, "a in file: unknown key 'the'; a scenario has id, rule"),
        ({"new": {}}, "exactly one of `given` and `new`"),
        ({"given": None}, "`given` is a mapping"),
        ({"rule": []}, "`rule` is missing"),
        ({"rule": 1}, "`rule` is a list of texts or one"),
        ({"play": "end"}, "`play` is a list of texts"),
        ({"play": [1]}, "`play` is a list of texts"),
        ({"load": {"dices": [1]}}, "unknown key 'dices'; `load` has dice"),
        ({"load": {"dice": 1}}, "`load: dice` is a list"),
        ({"over": "yes"}, "`over` is true or false"),
        ({"then": {"players": [1]}}, "the entries of players are mappings"),
        ({"then": {"players": [{"recruits": [{"active": True}]}]}}, "a recruit in players[0].recruits has no name"),
        ({"then": {1: 2}}, "the key 1"),
    ],
)
def test_bad_scenarios(change, message):
    with pytest.raises(BadScenario) as error:
        parse({**GOOD, **change}, "file")
    assert message in str(error.value)


@pytest.mark.parametrize("document", [None, [], "text", {}, {"id": 3}])
def test_no_scenario_at_all(document):
    with pytest.raises(BadScenario, match="^file: "):
        parse(document, "file")


def test_new_has_its_own_keys():
    scenario = parse({"id": "a", "rule": "R1", "new": {"rules": {}, "seed": 5, "load": {"dice": [1]}}, "over": False})
    assert scenario.seeds == (5,)
    with pytest.raises(BadScenario, match="unknown key 'players'; `new` has rules, seed, load"):
        parse({"id": "a", "rule": "R1", "new": {"players": []}, "over": False})


def test_a_scenario_that_checks_nothing():
    with pytest.raises(BadScenario, match="checks nothing"):
        parse({"id": "a", "rule": "R1", "given": {}})


def test_reading_yaml():
    text = dedent("""\
        # a comment
        - {id: a, rule: R1, given: {}, play: [end]}
        - id: b
          rule: R2
          given: {player: 1, player: 2}
          play: [end]
        - {id: c, rule: R1, given: {}, plai: [end]}
        - {id: d, rule: R1, given: {}, play: [end]}
    """)
    a, b, c, d = read_text(text, "file")
    assert isinstance(a, Scenario) and a.where == "file:2"
    assert isinstance(b, BadScenario) and str(b) == "file:3: line 5: the key 'player' is there twice"
    assert isinstance(c, BadScenario) and str(c).startswith("c in file:7: unknown key 'plai'")
    assert isinstance(d, Scenario) and d.where == "file:8"


@pytest.mark.parametrize("text", ["{", "id: a", "- [", "text"])
def test_reading_what_is_no_list(text):
    (error,) = read_text(text, "file")
    assert isinstance(error, BadScenario) and "file" in str(error)


def test_ids_are_unique_over_files(tmp_path):
    for name in ("one", "two"):
        (tmp_path / f"{name}.yaml").write_text("- {id: a, rule: R1, given: {}, play: [end]}\n", encoding="utf-8")
    (id_one, one), (id_two, two) = read_files(sorted(tmp_path.glob("*.yaml")))
    assert isinstance(one, Scenario) and id_one == "a"
    assert isinstance(two, BadScenario) and "the id 'a' is taken by" in str(two) and id_two != "a"


# ------------------------------------------------------------------------------------------------------------- running


class Toy:
    """A game of one number, to which the players add in turn; it ends at 3. A loaded die is added too."""

    rules_seen: list[dict] = []

    def __init__(self, rules=None, seed=None, load=None, total=0):
        self.total, self.player, self.seed = total, 0, seed
        self.prompt = "choose a number"
        self.dice = list((load or {}).get("dice", []))
        self.outcomes = []

    @classmethod
    def from_dict(cls, position):
        if "bad" in position:
            raise ValueError("bad: unknown key")
        return cls(seed=position["seed"], total=position.get("turn", 0))

    def load(self, dice):
        self.dice += dice

    def legal(self):
        return [] if self.over else ["add 1", "add 2"]

    def play(self, move):
        if self.total == 1 and move == "add 1" and not self.dice:
            raise IndexError("a bug")
        die = self.dice.pop(0) if self.dice else 0
        self.outcomes += [("dice", die)] if die else []
        self.total += int(move.split()[1]) + die
        self.player = 1 - self.player

    def to_dict(self):
        return {"turn": self.total, "player": self.player, "seed": self.seed}

    over = property(lambda self: self.total >= 3)
    truncated = False
    winner = property(lambda self: self.player if self.over else None)
    ranking = property(lambda self: (1, 2) if self.over else None)


def parse_toy(move):
    if move not in ("add 1", "add 2", "add 9"):
        raise ValueError("unknown word")


API = SimpleNamespace(Game=Toy, Rules=dict, actions=SimpleNamespace(parse=parse_toy))


def play_toy(**document):
    start = {} if "new" in document else {"given": {}}
    run(parse({"id": "toy", "rule": "R1", **start, **document}, "toys.yaml:1"), API)


def fails(**document):
    with pytest.raises(ScenarioFailed) as error:
        play_toy(**document)
    return str(error.value)


def test_what_passes():
    play_toy(play=["add 2"], then={"turn": 2, "player": 1}, legal=["add 1"], illegal=["add 9"], over=False, winner=None)
    play_toy(play=["add 2", "add 1"], illegal=["add 1"], over=True, truncated=False, winner=0, ranking=[1, 2])
    play_toy(new={"load": {"dice": [1]}}, play=["add 1"], then={"turn": 2})
    play_toy(new={"seed": 12}, then={"seed": 12})
    play_toy(given={"turn": 1, "seed": 3}, load={"dice": [5]}, play=["add 1"], then={"turn": 7})


def test_an_illegal_move():
    assert fails(play=["add 2", "add 9"]) == dedent("""\
        toy (R1) in toys.yaml:1 with seed 0: move 2 of 2, 'add 9', is not legal
          played: add 2
          player 1 decides: choose a number
          legal (2):
            add 1
            add 2""")


def test_a_move_after_the_end():
    assert "nothing is legal: over True, truncated False" in fails(play=["add 2", "add 2", "add 2"])


def test_all_that_is_wrong():
    message = fails(
        given={"seed": 1},
        load={"dice": [2]},
        play=["add 1"],
        then={"turn": 4, "player": 0},
        legal=["add 2"],
        illegal=["add 9"],
        over=False,
        winner=None,
        ranking=[2, 1],
    )
    assert message == dedent("""\
        toy (R1) in toys.yaml:1: not as it should be
            turn: should be 4, is 3
            player: should be 0, is 1
            should be legal: add 2
            over: should be false, is true
            winner: should be null, is 1
            ranking: should be [2, 1], is [1, 2]
          played: add 1
          nothing is legal: over True, truncated False
          drawn: dice 2""")


def test_what_should_be_illegal():
    message = fails(illegal=["add 1"])
    assert "not as it should be at the start\n    should be illegal: add 1\n  played: nothing yet" in message


def test_a_winner_0_is_not_none():
    assert "winner: should be null, is 0" in fails(play=["add 2", "add 1"], winner=None)


def test_the_seed_matters():
    assert "with seed 1: not as it should be" in fails(then={"seed": 0})


def test_a_refused_position():
    assert "`given` is refused\n    bad: unknown key" in fails(given={"bad": 1}, over=False)


def test_a_mistyped_move():
    with pytest.raises(BadScenario, match=r"toy \(R1\) in toys.yaml:1: 'ad 1' is no move: unknown word"):
        play_toy(illegal=["ad 1"])


def test_a_bug_in_the_game_is_no_failed_check():
    with pytest.raises(IndexError) as error:
        play_toy(play=["add 1", "add 1"])
    assert error.value.__notes__ == [
        "in move 2 of 2, 'add 1', of the scenario toy (R1) in toys.yaml:1 with seed 0",
    ]


# ------------------------------------------------------------------------------------------------------------- events


def play_farm(*events, api=None):
    """A placement on the farm, by which the player gains 1 food and the faction a step."""
    given = {"rules": {"num_players": 2}, "players": [{"workers": [4]}], "seed": 1}
    document = {"id": "farm", "rule": "R6.1", "given": given, "play": ["place 4 farm"], "events": [*events]}
    run(parse(document, "farm.yaml:1"), api)


PLACED = {"kind": "placed", "player": 0, "space": "farm", "face": 4}
GAINED = {"kind": "gained", "item": "food", "number": 1}


@pytest.mark.parametrize(
    "events",
    [
        [],
        [PLACED],
        [PLACED, GAINED],
        [{"kind": "allegiance", "player": 0, "now at": 1}],
        [{"kind": "gains"}, GAINED, {"kind": "turn", "player": 1}],
    ],
)
def test_events_that_happened(events):
    play_farm(*events)


@pytest.mark.parametrize(
    ("events", "missing"),
    [
        ([GAINED, PLACED], "[{kind: placed, player: 0, space: farm, face: 4}]"),
        ([GAINED, GAINED], "[{kind: gained, item: food, number: 1}]"),
        ([{**GAINED, "number": 2}, PLACED], "[{kind: gained, item: food, number: 2}, {kind: placed"),
        ([{"kind": "turn", "player": 0}], "[{kind: turn, player: 0}]"),
        ([{"kind": "turn", "player": None}], "[{kind: turn, player: null}]"),
    ],
)
def test_events_that_did_not_happen_or_in_another_order(events, missing):
    with pytest.raises(ScenarioFailed) as error:
        play_farm(*events)
    message = str(error.value)
    assert f"should have happened, in this order: {missing}" in message
    assert "    happened: {kind: gained, player: 0, item: food, number: 1}\n" in message


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ({"kind": "ate"}, "'ate' is no kind of event"),
        ({"kind": "gained", "amount": 1}, "'amount' is no field of gained; it has player, item, number"),
        ({"kind": "shuffled", "player": 0}, "'player' is no field of shuffled; it has none"),
        ({"kind": "gained", "item": "fish"}, "item is not 'fish'"),
        ({"kind": "gained", "number": "one"}, "number is not 'one'"),
    ],
)
def test_a_mistyped_event_is_found_after_one_that_did_not_happen(event, message):
    with pytest.raises(BadScenario, match=message):
        play_farm({"kind": "shuffled"}, event)


@pytest.mark.parametrize("events", ["placed", [PLACED, "placed"], [{"player": 0}]])
def test_events_are_a_list_of_kinds(events):
    with pytest.raises(BadScenario, match="`events` is a list of mappings with a `kind`"):
        parse({**GOOD, "events": events}, "file")


def test_a_game_without_events_is_not_asked_for_them():
    play_toy(play=["add 2"], events=[PLACED])
