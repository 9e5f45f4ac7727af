"""The mid-turn state of a position is checked value by value: it can come from anybody, and its hash is no secret."""

from __future__ import annotations

from typing import Any

import pytest

from euphoria_env import Game, Rules, mid_turn
from euphoria_env.cards.vocabulary import Effect
from euphoria_env.engine.state import MOST_PENDING
from tests.tools.playing import active


@pytest.fixture(autouse=True)
def forged(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hash fits every position, as anybody could compute it."""
    monkeypatch.setattr(mid_turn, "row_digest", lambda row: "unchecked")


@pytest.fixture
def payment() -> dict[str, Any]:
    """A position in the middle of a payment."""
    player = {"workers": [4], "goods": {"gold": 3, "stone": 3, "clay": 3}}
    game = Game.from_dict({"rules": {"num_players": 2}, "seed": 1, "players": [player]})
    game.play("place 4 nimbus_loft")
    return game.to_dict()


def refused(d: dict[str, Any], match: str, **changed: Any) -> None:
    with pytest.raises(ValueError, match=match):
        Game.from_dict({**d, "pending": {**d["pending"], **changed}})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("depth", -100), ("depth", 127), ("depth", 0), ("ask", 100), ("ask", 0), ("ask", 14), ("player", 100), ("player", -1),
        ("player", 1), ("bumped", 100), ("taken", [127] * 4), ("taken", [0, -1, -1, -1]), ("num_taken", 2), ("space", 49),
        ("units_a", -1), ("set_a", 0), ("stack", [[99, 0, 0, 0]] * 24), ("fresh_stars", [9] * 6),
        ("hand", [[3, 3, -1, -1], *[[-1] * 4] * 5]), ("chosen", True), ("answer", 10**30), ("partner", 1.0),
    ],
)  # fmt: skip
def test_a_value_that_cannot_be_is_refused(payment: dict[str, Any], field: str, value: Any) -> None:
    assert Game.from_dict(payment).to_dict() == payment
    refused(payment, "^pending", **{field: value})


def test_a_game_that_has_ended_is_in_no_turn(payment: dict[str, Any]) -> None:
    over, truncated = ({"status": "over", "winner": 0, "ranking": [1, 2]}, {"status": "truncated", "ranking": [1, 1]})
    for end in (over, truncated):
        refused({**payment, **end}, "^pending: the game has ended$")


@pytest.mark.parametrize(
    "operation", [[7, 0, 0, 0], [6, 0, 0, 0], [13, 0, 0, 0], [59, 0, 0, 0], [2, 0, 6, 127], [4, 0, -1, 0], [26, 0, 12, 0]]
)
def test_operations_must_fit_the_space_and_the_rules(payment: dict[str, Any], operation: list[int]) -> None:
    """A tunnel's miner moves in tunnels only; the drafts are those of the rules."""
    refused(payment, r"^pending\.stack\[0\]", stack=[operation, *payment["pending"]["stack"][1:]])


def test_no_operation_finds_another_space_than_its_own() -> None:
    """A step of a tunnel must not lie below an operation that may begin a placement elsewhere."""
    players = [{"workers": [4, 4], "goods": {"energy": 1}}]
    game = Game.from_dict({"rules": {"num_players": 2}, "seed": 1, "players": players})
    game.play("place 4 euphorian_tunnel")
    d = game.to_dict()
    assert Game.from_dict(d) == game
    stack = [[int(Effect.MINER), 0, 0, 0], *d["pending"]["stack"][:-1]]
    refused(d, r"^pending\.stack\[0\]", stack=stack, depth=d["pending"]["depth"] + 1)


@pytest.mark.parametrize("asks", ["trade", "reply"])
def test_a_player_offers_what_they_have(asks: str) -> None:
    players = [{"workers": [4], "goods": {"gold": 2, "clay": 2}}, {"workers": [2], "goods": {"stone": 2, "clay": 2}}]
    game = Game.from_dict({"rules": {"num_players": 2, "trading": True}, "seed": 1, "players": players})
    for move in ("trade +1", "give gold", "ask stone", "offer")[: 4 if asks == "reply" else 3]:
        game.play(move)
    d = game.to_dict()
    assert game.deciding == asks and Game.from_dict(d).to_dict() == d
    chosen = d["pending"]["chosen"]
    for item in range(len(chosen)):
        more = [count + 3 * (k == item) for k, count in enumerate(chosen)]
        refused(d, r"^pending\.chosen: is more than player", chosen=more)


@pytest.mark.parametrize("workers", [0, False, "", {}, None, [1], [1, 2, 3]])
@pytest.mark.parametrize("track_draft", [False, True])
def test_workers_of_a_setup_are_as_many_as_must_be(workers: Any, track_draft: bool) -> None:
    game = Game(Rules(num_players=2, track_draft=track_draft), seed=1)
    while track_draft and game.deciding != "track":
        game.play(game.legal()[0])
    d = game.to_dict()
    d["players"][1]["workers"] = workers
    refused(d, r"^players")


def test_the_deepest_stack_of_play_can_be_written_and_read() -> None:
    """A worker of a double on the tank bumps that of the owner of Amanda and Brian, who is asked what to pay."""
    bumper = {"workers": [4, 4], "knowledge": 2, "morale": 4, "goods": {"energy": 3}}
    bumper |= {"recruits": active("chase_the_miner", "julia_the_thought_inspector", "phil_the_spy")}
    bumped = {"workers": [2], "goods": {"food": 1, "bliss": 1}}
    bumped |= {"recruits": active("amanda_the_broker", "brian_the_viticulturist")}
    position = {"rules": {"num_players": 2}, "seed": 1, "players": [bumper, bumped], "workers": {"tank_energy": [[1, 5]]}}
    game = Game.from_dict(position)
    game.play("place 4 tank_energy")
    game.play("use amanda_the_broker")
    assert game.legal() == ["pay food", "pay bliss"] and game.states["depth"] == 12 < MOST_PENDING
    assert Game.from_dict(game.to_dict()) == game == Game.from_record(game.to_record())
