"""The pending part of a position is checked, value by value: it can come from anybody, and its hash is no secret."""

from __future__ import annotations

from typing import Any

import pytest

from euphoria_env import Game, Rules, pending
from euphoria_env.engine.state import MOST_PENDING


@pytest.fixture
def d(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A position in the middle of a payment, whose hash anybody could compute."""
    monkeypatch.setattr(pending, "row_digest", lambda row: "unchecked")
    player = {"workers": [4], "goods": {"gold": 3, "stone": 3, "clay": 3}}
    game = Game.from_dict({"rules": {"num_players": 2}, "seed": 1, "players": [player]})
    game.play("place 4 nimbus_loft")
    return game.to_dict()


def test_it_is_read_as_it_was_written(d: dict[str, Any]) -> None:
    assert Game.from_dict(d).to_dict() == d


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("depth", -100),
        ("depth", 127),
        ("depth", 0),
        ("ask", 100),
        ("ask", 0),
        ("ask", 14),
        ("player", 100),
        ("player", -1),
        ("player", 1),
        ("bumped", 100),
        ("taken", [127] * 4),
        ("taken", [0, -1, -1, -1]),
        ("num_taken", 2),
        ("space", 49),
        ("verb", 3),
        ("units_a", -1),
        ("set_a", 0),
        ("stack", [[99, 0, 0, 0]] * 24),
        ("fresh_stars", [9] * 6),
        ("back_owner", [0, -1, -1, -1]),
        ("hand", [[3, 3, -1, -1], *[[-1] * 4] * 5]),
        ("tile_hand", [[3, 4], *[[-1] * 2] * 5]),
        ("chosen", True),
        ("answer", 10**30),
        ("partner", 1.0),
    ],
)
def test_a_value_that_cannot_be_is_refused(d: dict[str, Any], field: str, value: Any) -> None:
    d["pending"][field] = value
    with pytest.raises(ValueError, match="^pending"):
        Game.from_dict(d)


def test_operations_must_fit_the_space_and_the_rules(d: dict[str, Any]) -> None:
    """A tunnel's miner is moved in tunnels only; the drafts are those of the rules."""
    stack = d["pending"]["stack"]
    depth = d["pending"]["depth"]
    for operation in ([7, 0, 0, 0], [6, 0, 0, 0], [13, 0, 0, 0], [59, 0, 0, 0], [2, 0, 6, 127], [4, 0, -1, 0], [26, 0, 12, 0]):
        changed = [operation, *stack[1:]]
        assert depth >= 1 and changed != stack
        with pytest.raises(ValueError, match=r"^pending\.stack\[0\]"):
            Game.from_dict({**d, "pending": {**d["pending"], "stack": changed}})


def test_a_message_is_short_however_deep_the_value() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    for key in ("players", "workers", "rules", "pending"):
        with pytest.raises(ValueError, match=key) as caught:
            Game.from_dict({key: deep})
        assert len(str(caught.value)) < 500


def trade(asks: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A position in the middle of an offer of gold for stone, or before its answer."""
    monkeypatch.setattr(pending, "row_digest", lambda row: "unchecked")
    players = [{"workers": [4], "goods": {"gold": 2, "clay": 2}}, {"workers": [2], "goods": {"stone": 2, "clay": 2}}]
    game = Game.from_dict({"rules": {"num_players": 2, "trading": True}, "seed": 1, "players": players})
    for move in ("trade +1", "give gold", "ask stone"):
        game.play(move)
    if asks == "reply":
        game.play("offer")
    assert game.deciding == asks
    return game.to_dict()


@pytest.mark.parametrize("asks", ["trade", "reply"])
@pytest.mark.parametrize("side", ["chosen", "asked"])
def test_a_trade_is_of_what_is_there(asks: str, side: str, monkeypatch: pytest.MonkeyPatch) -> None:
    d = trade(asks, monkeypatch)
    assert Game.from_dict(d).to_dict() == d
    for item in range(len(d["pending"][side])):
        more = [count + 3 * (k == item) for k, count in enumerate(d["pending"][side])]
        with pytest.raises(ValueError, match=rf"^pending\.{side}: is more than player"):
            Game.from_dict({**d, "pending": {**d["pending"], side: more}})


def test_what_is_paid_must_be_there(d: dict[str, Any]) -> None:
    d["pending"]["chosen"][0] = 1  # energy, of which there is none
    with pytest.raises(ValueError, match=r"^pending\.chosen: is more than player 0 has"):
        Game.from_dict(d)


@pytest.mark.parametrize("workers", [0, False, "", {}, None, [1], [1, 2, 3]])
def test_workers_of_a_setup_are_as_many_as_must_be(workers: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pending, "row_digest", lambda row: "unchecked")
    for rules in (Rules(num_players=2), Rules(num_players=2, track_draft=True)):
        game = Game(rules, seed=1)
        while rules.track_draft and game.deciding != "track":
            game.play(game.legal()[0])
        d = game.to_dict()
        d["players"][1]["workers"] = workers
        with pytest.raises(ValueError, match=r"^players"):
            Game.from_dict(d)


def test_nothing_is_chosen_before_it_is_asked(d: dict[str, Any]) -> None:
    d["pending"]["asked"][0] = 1
    with pytest.raises(ValueError, match=r"^pending\.asked: nothing is being chosen"):
        Game.from_dict(d)
    first = Game(Rules(num_players=2), seed=1).to_dict()
    first["pending"]["chosen"][0] = 1
    with pytest.raises(ValueError, match=r"^pending\.chosen: nothing is being chosen"):
        Game.from_dict(first)


def test_the_deepest_stack_of_play_can_be_written_and_read() -> None:
    """A worker of a double on the tank bumps that of the owner of Amanda and Brian, who is asked what to pay."""

    def recruits(*names: str) -> list[dict[str, Any]]:
        return [{"name": name, "active": True} for name in names]

    bumper = {"workers": [4, 4], "knowledge": 2, "morale": 4, "goods": {"energy": 3}}
    bumper |= {"recruits": recruits("chase_the_miner", "julia_the_thought_inspector", "phil_the_spy")}
    bumped = {
        "workers": [2],
        "goods": {"food": 1, "bliss": 1},
        "recruits": recruits("amanda_the_broker", "brian_the_viticulturist"),
    }
    position = {"rules": {"num_players": 2}, "seed": 1, "players": [bumper, bumped], "workers": {"tank_energy": [[1, 5]]}}
    game = Game.from_dict(position)
    game.play("place 4 tank_energy")
    game.play("use amanda_the_broker")
    assert game.legal() == ["pay food", "pay bliss"] and game.states["depth"] == 12 < MOST_PENDING
    assert Game.from_dict(game.to_dict()) == game
    assert Game.from_record(game.to_record()) == game
