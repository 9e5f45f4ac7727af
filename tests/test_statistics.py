"""Statistics of many games: the counts are those of a plain recount, and the server plays, stops, goes on and refuses."""

from __future__ import annotations

import csv
import io
import json
import multiprocessing
import random
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from euphoria_agents import Agent
from euphoria_agents.matches.processes import Worker
from euphoria_agents.study.statistics import STAR_SOURCES, Counted, count, play_deal, tables
from euphoria_env import Game, Rules, actions
from euphoria_env.board import AREAS
from euphoria_env.cards.recruits import RECRUIT_NAMES
from tests.tools.served import Served, Visitor

QUICK = {"max_turns": 40}


class Fails(Agent):
    """Cannot play."""

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Any = None) -> int:
        raise KeyError("nothing works")


BAD = f"{__name__}:Fails"


class OneDeal(Worker):
    """A process that plays one deal, and then nothing more."""

    given = 0

    def take(self, item: Any) -> None:
        self.given += 1
        if self.given == 1:
            super().take(item)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("statistics") / "games.sqlite", allowed=(BAD,)) as found:
        yield found


@pytest.fixture
def ann(server: Served) -> Iterator[Visitor]:
    visitor = server.visitor()
    yield visitor
    visitor.close()


def a_record(seed: int, **rules: Any) -> str:
    """A game in which workers are placed, and stars, as often as possible."""
    game, rng = Game(Rules(**rules), seed), random.Random(seed)
    while game.ranking is None:
        legal = game.legal()
        eager = [move for move in legal if move.startswith(("star", "dilemma", "place"))]
        far = [move for move in eager if move.split()[-1] not in ("generator", "aquifer", "farm", "cloud_mine")]
        game.play(rng.choice(far if far and rng.random() < 0.6 else eager if eager and rng.random() < 0.4 else legal))
    return game.to_record()


# ----------------------------------------------------------------------------------------------------------------- counts


def recount(record: str) -> dict[str, Any]:
    """The same as `count`, from the positions and the lines alone."""
    final = Game.from_record(record)
    first = json.loads(record.partition("\n")[0])
    game = Game.from_dict(first["position"]) if "position" in first else Game(Rules.from_dict(first["rules"]), first["seed"])
    n = game.rules.num_players
    stars, spaces, bumps = ([Counter[str]() for _ in range(n)] for _ in range(3))
    built: dict[str, int | None] = {}
    space = ""
    for line in final.history:
        move = line.partition(" | ")[0]
        old = game.to_dict()
        if move.startswith("place "):
            space = move.split()[2]
            kind = "_".join(space.split("_")[:3]) if "_site_" in space else space
            name = old["markets"][space]["tile"] if "_market_" in space else kind
            spaces[game.player][name] += 1
            if "_site_" not in space and space not in AREAS:
                for owner, _ in old["workers"].get(space, ()):
                    bumps[owner][name] += 1
        game.play(move)
        new = game.to_dict()
        for name, market in new["markets"].items():
            if market["built"] and not old["markets"][name]["built"]:
                built[market["tile"]] = old["turn"]
            for p in set(market["stars"]) - set(old["markets"][name]["stars"]):
                stars[p]["artifact market" if old["markets"][name]["built"] else "construction"] += 1
        for name, owners in new["territories"].items():
            for p in (Counter(owners) - Counter(old["territories"][name])).elements():
                where = (
                    "market" if "_market_" in space else "icarus" if space in ("wind_salon", "nimbus_loft") else "artifact market"
                )
                stars[p][where] += 1
        for p, player in enumerate(new["players"]):
            had = {card["name"] for card in old["players"][p]["recruits"] if card["star"]}
            stars[p]["allegiance"] += sum(card["star"] and card["name"] not in had for card in player["recruits"])
            stars[p]["dilemma"] += player["dilemma"]["resolved"] == "star" != old["players"][p]["dilemma"]["resolved"]
    players = game.to_dict()["players"]
    return {
        "stars": [{source: k for source, k in one.items() if k} for one in stars],
        "placed": [10 - player["stars"] for player in players],
        "spaces": [dict(one) for one in spaces],
        "bumps": [dict(one) for one in bumps],
        "markets": {market["tile"]: built.get(market["tile"]) for market in game.to_dict()["markets"].values()},
        "recruits": [sorted(card["name"] for card in player["recruits"] if card["active"]) for player in players],
    }


def test_the_counts_are_those_of_a_plain_recount() -> None:
    sources, acted, suffered = Counter[str](), Counter[str](), Counter[str]()
    for seed in range(14):
        record = a_record(seed, num_players=2 + seed % 5, max_turns=500)
        found, plain, game = count(record), recount(record), Game.from_record(record)
        assert [sum(one.values()) for one in found.stars] == plain.pop("placed")
        assert {**plain, "recruits": [sorted(one) for one in found.recruits]} == {key: getattr(found, key) for key in plain} | {
            "recruits": plain["recruits"]
        }
        assert (found.winner, found.ranking, found.turns) == (game.winner, game.ranking, game.turn)
        assert found.decisions == len(game.history) and found.agents == [] and found.deal == 0
        for seat, one in enumerate(found.stars):
            sources.update(one)
            used = Counter(d.action - actions.USE for d in game.decided() if d.player == seat)
            for k, name in enumerate(RECRUIT_NAMES):
                assert used[k] <= found.abilities[seat].get(name, 0)
                assert name in found.recruits[seat] or name not in found.abilities[seat]
            acted.update(found.abilities[seat])
            suffered.update(found.penalties[seat])
            assert all(found.markets[tile] is not None for tile in found.penalties[seat])
    assert set(sources) == set(STAR_SOURCES), sources  # the games have all of them
    assert len(acted) > 20 and len(suffered) > 5


def test_a_record_that_begins_with_a_position() -> None:
    tile = {"tile": "spa_of_fleeting_pleasure", "built": True, "stars": [0]}
    position = {"rules": {"num_players": 2, "max_turns": 30}, "seed": 4, "markets": {"euphorian_market_1": tile}}
    game, rng = Game.from_dict(position), random.Random(1)
    while game.ranking is None:
        game.play(rng.choice(game.legal()))
    found = count(game.to_record())
    assert found.markets["spa_of_fleeting_pleasure"] == 0
    assert [sum(one.values()) for one in found.stars] == [
        10 - p["stars"] - k for k, p in ((1, game.to_dict()["players"][0]), (0, game.to_dict()["players"][1]))
    ]


@pytest.mark.parametrize(("record", "said"), [(Game(seed=1).to_record(), "has not ended"), ("x", "line"), ("x\ny", "line 1")])
def test_what_cannot_be_counted(record: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        count(record)


def test_a_deal_is_played_from_every_seat_and_again_the_same() -> None:
    rules = Rules(num_players=3, **QUICK)
    games = play_deal(["random", "weights", "greedy"], rules, 5, 2)
    assert [game.agents for game in games] == [
        *(["random", "weights", "greedy"], ["greedy", "random", "weights"], ["weights", "greedy", "random"]),
    ]
    assert {game.deal for game in games} == {2} and games == play_deal(["random", "weights", "greedy"], rules, 5, 2)
    assert games != play_deal(["random", "weights", "greedy"], rules, 5, 3)
    with pytest.raises(ValueError, match="nobody"):
        play_deal(["random", "nobody"], Rules(num_players=2), 0, 0)


# ----------------------------------------------------------------------------------------------------------------- tables


def game_of(deal: int, agents: list[str], winner: int | None, turns: int, **more: Any) -> Counted:
    ranking = [1 if seat == winner else 2 for seat in range(2)]
    blank = {"stars": [{}, {}], "recruits": [[], []], "markets": {}, "spaces": [{}, {}]}
    return Counted(
        deal=deal, agents=agents, winner=winner, ranking=ranking, turns=turns, decisions=2 * turns, **{**blank, **more}
    )


GAMES = [
    game_of(
        0,
        ["a", "b"],
        0,
        10,
        stars=[{"market": 2}, {"dilemma": 1}],
        recruits=[["ben_the_ludologist"], []],
        abilities=[{"ben_the_ludologist": 4}, {}],
    ),
    game_of(
        0,
        ["b", "a"],
        0,
        20,
        stars=[{"market": 1}, {}],
        markets={"bemusement_park": 8, "clinic_of_blind_hindsight": None},
        penalties=[{"bemusement_park": 2}, {}],
    ),
    game_of(
        1,
        ["a", "b"],
        0,
        60,
        spaces=[{"farm": 3}, {"farm": 1, "wind_salon": 4}],
        bumps=[{"wind_salon": 1}, {}],
        recruits=[["ben_the_ludologist"], []],
    ),
    game_of(1, ["b", "a"], None, 30, recruits=[["ben_the_ludologist"], []], markets={"bemusement_park": None}),
]


def test_the_tables_of_some_games() -> None:
    found = {table.name: table for table in tables(GAMES)}
    rows = {
        name: {row[0]: dict(zip([h for h, _ in table.columns], row, strict=True)) for row in table.rows}
        for name, table in found.items()
    }
    assert [rows["agents"]["a"][key] for key in ("games", "won", "rate", "mean rank")] == [4, 2, 0.5, 1.5]
    assert rows["agents"]["b"]["won"] == 1 and rows["agents"]["b"]["mean rank"] == 1.75
    assert rows["agents"]["a"]["low"] < 0.2 and rows["agents"]["a"]["high"] > 0.8
    assert (rows["agents"]["a"]["paired low"], rows["agents"]["a"]["paired high"]) == (0.5, 0.5)  # one of two in each deal
    assert [rows["seats"][seat]["won"] for seat in "01"] == [3, 0]
    assert rows["length"]["turns"] == {
        "length": "turns",
        "mean": 30,
        "least": 10,
        "10 %": 13,
        "median": 25,
        "90 %": 51,
        "most": 60,
    }
    assert rows["stars"]["market"] == {"source": "market", "stars": 3, "share": 0.75, "a game: a": 0.5, "a game: b": 0.25}
    assert list(rows["stars"]) == list(STAR_SOURCES) and rows["stars"]["icarus"]["stars"] == 0
    ben = rows["recruits"]["ben_the_ludologist"]
    assert (ben["acted"], ben["a game"]) == (4, 1.333333)
    assert (ben["active"], ben["won"], ben["rate"]) == (3, 2, 0.666667) and 0.2 < ben["low"] < ben["high"] < 0.95
    assert list(rows["markets"]["bemusement_park"].values()) == ["bemusement_park", 2, 1, 0.5, 8, 2, 2]
    assert list(rows["markets"]["clinic_of_blind_hindsight"].values()) == ["clinic_of_blind_hindsight", 1, 0, 0, None, 0, None]
    assert [list(row.values()) for row in rows["spaces"].values()] == [
        ["farm", 4, 0.5, 1, 0, 0],
        ["wind_salon", 4, 0.5, 1, 1, 0.25],
    ]


def test_csv_has_the_same_numbers() -> None:
    for table in tables(GAMES):
        headings, *rows = csv.reader(io.StringIO(table.csv()))
        assert headings == [heading for heading, _ in table.columns]
        assert rows == [["" if cell is None else str(cell) for cell in row] for row in table.rows]


def test_no_games_no_tables_and_no_agents_no_table_of_them() -> None:
    assert tables([]) == []
    assert [table.name for table in tables([count(a_record(1, num_players=2, **QUICK))])][0] == "seats"


# -------------------------------------------------------------------------------------------------------------- the server


def wait_for(visitor: Visitor, batch: str, condition: Any) -> Any:
    while not condition(found := visitor.get(f"/api/batches/{batch}")):
        time.sleep(0.05)
    return found


def ended(found: Any) -> bool:
    return found["state"] != "waiting"


def make(visitor: Visitor, *agents: str, games: int = 3, **more: Any) -> str:
    return str(visitor.post("/api/batches", {"agents": agents, "games": games, "rules": QUICK, "seed": 3, **more})["id"])


def test_agents_play_a_batch(server: Served, ann: Visitor) -> None:
    batch = make(ann, "random", "weights")
    found = wait_for(ann, batch, ended)
    assert (found["state"], found["trouble"], found["games"], found["done"]) == ("done", "", 4, 4)  # every deal from both seats
    expected = [game for deal in range(2) for game in play_deal(["random", "weights"], Rules(num_players=2, **QUICK), 3, deal)]
    assert [Counted(**game) for game in server.inside(lambda: server.store.counted(batch))] == expected
    told = {table["name"]: table for table in found["tables"]}
    assert told.keys() == {"agents", "seats", "length", "stars", "recruits", "markets", "spaces"}
    for table in tables(expected):
        status, content, headers = ann.ask("GET", f"/api/batches/{batch}/{table.name}.csv")
        assert status == 200 and content.decode() == table.csv()
        assert headers["Content-Type"].startswith("text/csv") and f"{table.name}.csv" in headers["Content-Disposition"]
        assert told[table.name]["rows"] == table.rows
    assert ann.ask("GET", f"/api/batches/{batch}/secrets.csv")[0] == 404


def test_records_are_counted(ann: Visitor) -> None:
    records = [a_record(seed, num_players=2 + seed % 2, **QUICK) for seed in range(3)]
    found = ann.get(f"/api/batches/{ann.post('/api/batches', {'records': records})['id']}")
    assert found["state"] == "done" and found["done"] == found["games"] == 3
    same = tables([count(record, deal=k) for k, record in enumerate(records)])
    assert [table["rows"] for table in found["tables"]] == [table.rows for table in same]


def test_a_batch_is_stopped_goes_on_and_is_deleted(server: Served, ann: Visitor) -> None:
    batch, api = make(ann, "random", "random", games=1000), "/api/batches/{}"
    other = make(ann, "random", "random", games=2)
    assert wait_for(ann, batch, lambda found: found["done"])["state"] == "waiting"
    assert ann.get(api.format(other))["done"] == 0  # one after the other
    assert [one.get(api.format(batch))["host"] for one in (ann, server.visitor())] == [True, False]
    ann.post(f"{api.format(batch)}/stop")
    stopped = ann.get(api.format(batch))
    assert stopped["state"] == "stopped" and 0 < stopped["done"] < 1000 and stopped["tables"]
    assert wait_for(ann, other, ended)["state"] == "done"
    ann.post(f"{api.format(other)}/go-on")  # there is nothing to resume
    assert ann.get(api.format(other))["state"] == "done"
    assert ann.get(api.format(batch))["done"] == stopped["done"]
    ann.post(f"{api.format(batch)}/go-on")
    wait_for(ann, batch, lambda found: found["done"] > stopped["done"])
    for process in multiprocessing.active_children():
        process.kill()
    failed = wait_for(ann, batch, ended)
    assert failed["state"] == "failed" and "died" in failed["trouble"]
    assert ann.ask("DELETE", api.format(batch), {})[0] == 200
    for method, end in (("GET", ""), ("DELETE", ""), ("POST", "/stop"), ("POST", "/go-on"), ("GET", "/seats.csv")):
        assert ann.ask(method, f"{api.format(batch)}{end}")[0] == 404
    assert multiprocessing.active_children() == []


def test_an_agent_that_fails_is_named(ann: Visitor) -> None:
    found = wait_for(ann, make(ann, "random", BAD), ended)
    assert found["state"] == "failed" and "nothing works" in found["trouble"] and found["done"] == 0
    assert found["tables"] == []


def test_a_batch_survives_the_end_of_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched, Served(tmp_path / "games.sqlite") as server:
        patched.setattr("euphoria_agents.web.jobs.Worker", OneDeal)
        ann = server.visitor()
        batch = make(ann, "random", "weights", games=24)
        found = wait_for(ann, batch, lambda found: found["done"])
        assert (found["state"], found["done"]) == ("waiting", 2)
    with Served(tmp_path / "games.sqlite") as server:
        assert wait_for(server.visitor(), batch, ended)["state"] == "done"
        found = [Counted(**game) for game in server.inside(lambda: server.store.counted(batch))]
    assert found == [g for deal in range(12) for g in play_deal(["random", "weights"], Rules(num_players=2, **QUICK), 3, deal)]
    with Served(tmp_path / "games.sqlite") as server:
        server.inside(lambda: server.store.set_batch(batch, "waiting"))  # as if nobody had resumed it
        found = server.visitor().get(f"/api/batches/{batch}")
        assert found["state"] == "stopped" and "interrupted" in found["trouble"]


PLAY = {"agents": ["random", "random"], "games": 4}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "made of agents or of records"),
        ({**PLAY, "records": ["x"]}, "made of agents or of records"),
        ({**PLAY, "games": 0}, "games: expected int >= 1"),
        ({**PLAY, "games": 1001}, "games: expected int <= 1000"),
        ({**PLAY, "games": 2.5}, "games: expected int"),
        ({"agents": ["random", "random"]}, "games: say how many"),
        ({**PLAY, "seed": -1}, "seed: expected int >= 0"),
        ({**PLAY, "agents": ["random"]}, "rules.num_players"),
        ({**PLAY, "agents": ["random"] * 7}, "rules.num_players"),
        ({**PLAY, "agents": "random"}, "agents: expected array"),
        ({**PLAY, "agents": ["random", None]}, r"agents\[1\]: expected str"),
        ({**PLAY, "agents": ["random", "nobody:Here"]}, "nobody:Here"),
        ({**PLAY, "agents": ["random", "ppo:/etc/passwd"]}, "names a file"),
        ({**PLAY, "agents": ["random", "mcts:99999:greedy"]}, "thinks too long"),
        ({**PLAY, "agents": ["random", "mcts:1000:greedy"], "games": 201}, "at most 200"),
        ({**PLAY, "agents": ["random", "mcts:1s:greedy"], "games": 41}, "at most 40"),
        ({**PLAY, "rules": {"luck": 1}}, "rules.luck"),
        ({**PLAY, "rules": {"stars_to_win": 0}}, "stars_to_win"),
        ({**PLAY, "colour": "red"}, "colour"),
        ({"records": []}, "records: expected array of length >= 1"),
        ({"records": "x"}, "records: expected array"),
        ({"records": [a_record(1, num_players=2, **QUICK), "x"]}, r"records\[1\]: line 1"),
        ({"records": [Game(seed=1).to_record()]}, r"records\[0\]: the game has not ended"),
        ({"records": [5]}, r"records\[0\]: expected str"),
    ],
)
def test_wrong_batches_are_refused(server: Served, ann: Visitor, body: Any, said: str) -> None:
    before = server.inside(lambda: server.store.count("batch"))
    status, content, _ = ann.ask("POST", "/api/batches", body)
    assert status == 422
    with pytest.raises(AssertionError, match=said):
        raise AssertionError(json.loads(content)["error"])
    assert server.inside(lambda: server.store.count("batch")) == before


def test_no_more_batches_than_there_is_room_for(ann: Visitor) -> None:
    batches = [make(ann, "random", "random", games=1000) for _ in range(8)]
    status, content, _ = ann.ask("POST", "/api/batches", PLAY)
    assert status == 503 and b"waiting already" in content
    for batch in reversed(batches):
        ann.ask("DELETE", f"/api/batches/{batch}", {})
    assert ann.ask("DELETE", f"/api/batches/{make(ann, 'random', 'random')}", {})[0] == 200
