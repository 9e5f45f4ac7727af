"""Positions over HTTP: an error is told by its key, a right position is drawn and written in every form, and leads on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from euphoria_env import Game, Rules
from tests.tools.playing import random_game
from tests.tools.served import Served, Visitor

CHECK = "/api/positions/check"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("edit") / "games.sqlite") as found:
        yield found


@pytest.fixture
def ann(server: Served) -> Iterator[Visitor]:
    visitor = server.visitor()
    yield visitor
    visitor.close()


@pytest.mark.parametrize("decisions", [0, 1, 9, 60, 150, 9999])
def test_a_position_of_a_game_comes_back_in_every_form(ann: Visitor, decisions: int) -> None:
    game = random_game(Rules(num_players=3, max_turns=90), decisions, decisions)
    found = ann.post(CHECK, {"position": game.to_dict()})
    assert found["errors"] == []
    assert Game.from_dict(found["position"]) == game == Game.from_record(found["record"])
    assert found["view"]["turn"] == game.turn and len(found["view"]["players"]) == 3


def test_a_new_game_stands_behind_its_setup(ann: Visitor) -> None:
    rules = {"num_players": 5, "recruit_draft": True, "stars_to_win": 3}
    position = ann.post("/api/positions/new", {"rules": rules})["position"]
    assert position["status"] == "playing" and "pending" not in position and position["turn"] == 1
    assert position["rules"]["stars_to_win"] == 3 and all(len(player["recruits"]) == 2 for player in position["players"])
    assert Game.from_dict(position).deciding == "open"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("players", 0, "morale"), 9),
        (("players", 1, "workers"), [1, 7]),
        (("players", 0, "recruits"), [{"name": "nobody", "active": True}]),
        (("players", 0, "artifacts"), {"book": 6}),
        (("players", 0, "dilemma"), {"artifact": "gun"}),
        (("players", 0), 7),
        (("workers",), {"euphorian_tunnel_end": [[0, 1]]}),
        (("markets",), {"euphorian_market_1": {"stars": [0]}}),
        (("rules",), {"luck": True}),
        (("miners", "icarite"), 1),
        (("load",), {"dice": [7]}),
    ],
)
def test_an_error_is_told_by_its_key(ann: Visitor, path: tuple[Any, ...], value: Any) -> None:
    position: Any = {"rules": {"num_players": 2}, "miners": {}, "players": [{"workers": [1], "stars": 10, "morale": 3}, {}]}
    holder = position
    for part in path[:-1]:
        holder = holder[part]
    holder[path[-1]] = value
    with pytest.raises(ValueError) as raised:
        Game.from_dict(position)
    (error,) = ann.post(CHECK, {"position": position})["errors"]
    assert error["key"] and str(raised.value) in (f"{error['key']}: {error['message']}", f"{error['key']} {error['message']}")


@pytest.mark.parametrize("position", [None, 5, [], "x", [[[[]]]]])
def test_a_position_must_be_an_object(ann: Visitor, position: Any) -> None:
    (error,) = ann.post(CHECK, {"position": position})["errors"]
    assert error["key"] == "" and "must be an object" in error["message"]


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        (CHECK, {"positions": {}}, 422),
        ("/api/positions/new", {"rules": {"num_players": 1}}, 422),
        ("/api/positions/new", {"rules": 5}, 422),
        ("/api/positions", {}, 404),
    ],
)
def test_wrong_requests_are_refused(ann: Visitor, path: str, body: Any, status: int) -> None:
    found, content, _ = ann.ask("POST", path, body)
    assert found == status and json.loads(content)["error"]
    assert ann.ask("GET", path)[0] in (404, 405)


def test_playing_on_from_a_position(server: Served, ann: Visitor) -> None:
    game = random_game(Rules(num_players=2), 5, 70)
    seats = [{"name": "Ann", "spec": None, "here": True}, {"name": "Bob", "spec": None, "here": True}]
    made = ann.post("/api/games", {"seats": seats, "position": game.to_dict()})
    view = ann.get(f"/api/games/{made['id']}/view?seat={game.player}")
    assert view["view"]["turn"] == game.turn and [move["notation"] for move in view["moves"]] == game.legal()
    games = server.inside(lambda: server.store.count("game"))
    wrong = {**game.to_dict(), "turn": -1}
    for body in ({"position": wrong}, {"position": 7}, {"position": game.to_dict(), "rules": {}}):
        assert ann.ask("POST", "/api/games", {"seats": seats, **body})[0] == 422
    assert ann.ask("POST", "/api/games", {"seats": seats * 2, "position": game.to_dict()})[0] == 422
    assert server.inside(lambda: server.store.count("game")) == games


def test_the_positions_of_a_study(ann: Visitor) -> None:
    game = random_game(Rules(num_players=2), 6, 40)
    study = ann.post("/api/studies", {"record": game.to_record()})["id"]
    again = Game(game.rules, 6)
    for ply, line in enumerate([*game.history, ""]):
        if ply in (0, 17, len(game.history)):
            assert Game.from_dict(ann.get(f"/api/studies/{study}/at/{ply}/position")["position"]) == again
        if line:
            again.play(line.partition(" | ")[0])
    assert ann.ask("GET", f"/api/studies/{study}/at/{len(game.history) + 1}/position")[0] == 404
    assert ann.ask("GET", f"/api/studies/{'0' * 32}/at/0/position")[0] == 404
