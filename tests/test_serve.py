"""The server: it plays whole games, keeps what is hidden, refuses what it must, and survives what may happen to it."""

from __future__ import annotations

import gzip
import json
import multiprocessing
import os
import random
import re
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from xml.etree import ElementTree

import msgspec
import pytest

from euphoria_agents.commands.serve import run
from euphoria_agents.commands.shared_arguments import ServeOptions
from euphoria_agents.play import Seat, Session
from euphoria_agents.play.web import permissions
from euphoria_agents.play.web.agents import NICENESS
from euphoria_agents.play.web.endpoints import Endpoint
from euphoria_agents.play.web.guard import HEADERS
from euphoria_agents.play.web.limits import Limit
from euphoria_agents.play.web.server import listen
from euphoria_agents.play.web.store import APPLICATION, VERSION, CannotSave, GameRow, Store
from euphoria_env import Game, Rules
from euphoria_env.cards.recruits import RECRUIT_NAMES
from tests.tools.browser import ServerProcess
from tests.tools.differential import grouped
from tests.tools.playing import random_game
from tests.tools.served import ANN, BOB, GREEDY, RANDOM, Listener, Served, Visitor, new, play, wait_for, wait_until

FAULTY = "tests.tools.faulty_agents"
FAILING = [f"{FAULTY}:Exits", f"{FAULTY}:Cheats"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("server")
    allowed = (*FAILING, *(f"{FAULTY}:{name}:{folder / name}" for name in ("Raises", "Sleeps")))
    with Served(folder / "games.sqlite", allowed, seconds=3600.0, first_seconds=3600.0, playouts_seconds=0.0) as found:
        yield found


@pytest.fixture
def ann(server: Served) -> Iterator[Visitor]:
    visitor = server.visitor()
    yield visitor
    visitor.close()


@pytest.fixture(scope="module")
def record() -> str:
    return random_game(Rules(num_players=3, max_turns=12), 5).to_record()


def my_turn(view: Any) -> bool:
    return view["over"] or not view["waits_for_agent"] or bool(view["trouble"])


def test_a_whole_game_with_an_agent(ann: Visitor) -> None:
    api = f"/api/games/{new(ann, ANN, RANDOM, rules={'stars_to_win': 3, 'max_turns': 60})['id']}"
    rng, seen = random.Random(1), 0
    while not (view := wait_for(ann, f"{api}/view?seat=0", my_turn))["over"]:
        assert view["decider"] == 0 and view["moves"] and view["question"]
        move = rng.choice(view["moves"])
        after = play(ann, api, view, view["moves"].index(move))
        assert after["version"] > view["version"] and len(gzip.compress(json.dumps(after).encode())) < 40_000
        assert after["last"] == move["space"] or not move["notation"].startswith("place ")
        seen += 1
    assert seen > 10 and sorted(p["rank"] for p in view["view"]["players"])[0] == 1
    record = ann.get(f"{api}/record")["record"]
    assert Game.from_record(record).ranking == [p["rank"] for p in view["view"]["players"]]
    status, content, _ = ann.ask("POST", f"{api}/moves", {"seat": 0, "version": view["version"], "action": "end"})
    assert status in (409, 422), content


def test_a_seat_link_opens_its_seat_and_no_other(server: Served, ann: Visitor) -> None:
    made = new(ann, ANN, BOB)
    api = f"/api/games/{made['id']}"
    (link,) = made["links"]
    bob = server.visitor()
    assert bob.ask("GET", f"{api}/view?seat=1")[0] == 403
    assert bob.ask("POST", f"{api}/sit", {"token": "A" * 22})[0] == 403
    assert bob.post(f"{api}/sit", {"token": link["token"]}) == {"seat": 1}
    assert bob.get(f"{api}/view?seat=1")["mine"] == [1]
    assert bob.ask("GET", f"{api}/view?seat=0")[0] == 403
    assert ann.ask("GET", f"{api}/view?seat=1")[0] == 403
    assert bob.get(f"{api}/view")["moves"] == []


def test_cookies_are_for_their_game_and_neither_for_scripts_nor_in_the_file(server: Served, ann: Visitor) -> None:
    _, content, headers = ann.ask("POST", "/api/games", {"seats": [ANN, BOB]})
    game, (link,) = json.loads(content)["id"], json.loads(content)["links"]
    for line in headers.get_all("Set-Cookie"):
        assert "HttpOnly" in line and "SameSite=strict" in line and f"Path=/api/games/{game};" in line
        token = line.partition("=")[2].partition(";")[0]
        assert len(token) >= 22  # 128 bits
    tokens = [link["token"], *ann.cookies.values()]
    files = [server.data, server.data.with_name(server.data.name + "-wal")]
    content = b"".join(path.read_bytes() for path in files if path.exists())
    assert not [token for token in tokens if token.encode() in content]


def two(ann: Visitor) -> str:
    """A game of two people at one screen."""
    return f"/api/games/{new(ann, ANN, {**BOB, 'here': True})['id']}"


def test_a_hint_and_undo_until_something_is_shown(ann: Visitor) -> None:
    api = two(ann)
    view = ann.get(f"{api}/view?seat=0")
    said = ann.post(f"{api}/hint", {"seat": 0, "version": view["version"], "spec": "greedy"})
    assert [one["action"] for one in said["moves"]] == [move["action"] for move in view["moves"]]
    assert not view["can_undo"]
    assert ann.ask("POST", f"{api}/undo", {"seat": 0, "version": view["version"]})[0] == 409
    after = play(ann, api, view)
    assert after["can_undo"]  # the recruit is chosen in secret, and nobody has learned of it
    back = ann.post(f"{api}/undo", {"seat": 0, "version": after["version"]})
    assert back["version"] > after["version"] and back["moves"] == view["moves"]


def test_what_has_been_is_seen_again(ann: Visitor) -> None:
    api = two(ann)
    seen = [ann.get(f"{api}/view?seat=0")]
    for _ in range(6):
        play(ann, api, ann.get(f"{api}/view?seat={seen[-1]['decider']}"))
        seen.append(ann.get(f"{api}/view?seat=0"))
    for k, then in enumerate(seen[:-1]):
        past = ann.get(f"{api}/view?seat=0&decision={k}")
        assert past["decision"] == k and past["decisions"] == 6 and past["board"] == then["board"]
        assert {**past["view"], "legal": []} == {**then["view"], "legal": []}
    assert ann.ask("GET", f"{api}/view?seat=0&decision=7")[0] == 422
    assert len(seen[-1]["events"]) == len(seen[-1]["made"]) == 6 and seen[-1]["made"][0] == 0


def test_the_board_of_a_view_shows_what_the_view_says(ann: Visitor) -> None:
    api = f"/api/games/{new(ann, ANN, RANDOM, rules={'max_turns': 20})['id']}"
    seen = set[str]()
    while not (view := wait_for(ann, f"{api}/view?seat=0", my_turn))["over"]:
        board = ElementTree.fromstring(view["board"])
        dice = [node.attrib["aria-label"] for node in board.iter() if node.get("class") == "die"]
        assert len(dice) == sum(map(len, view["view"]["workers"].values()))
        assert not re.search(r"[Pp]layer \d", json.dumps(view)) and view["question"].startswith("You: ")
        seen.update(die.partition(" of ")[2] for die in dice)
        play(ann, api, view)
    assert "Ann" in seen <= {"Ann", RANDOM["name"]}
    assert [sum(one.values()) for one in view["stars"]] == [10 - player["stars"] for player in view["view"]["players"]]


def test_agents_alone_step_by_step(ann: Visitor) -> None:
    api = f"/api/games/{ann.post('/api/games', {'seats': [RANDOM, GREEDY], 'pace': None})['id']}"
    version = ann.get(f"{api}/view")["version"]
    for before in range(version, version + 5):
        ann.post(f"{api}/step")
        assert wait_for(ann, f"{api}/view", lambda view: view["version"] > before)["version"] == before + 1  # noqa: B023
    ann.post(f"{api}/pace", {"pace": 0})
    wait_for(ann, f"{api}/view", lambda view: view["version"] > version + 25)
    ann.post(f"{api}/pace", {"pace": None})


def pairs(num_players: int, seed: int, **rules: Any) -> Iterator[tuple[int, Game, Game]]:
    """A seat, and two games that differ only in what it cannot know, at many decisions; equal dice will fall in both.

    They begin with the same turn or setup, in which the same is played.
    """
    options, rng, seat = Rules(num_players=num_players, max_turns=60, **rules), random.Random(seed), 0
    dealt = grouped(Game(options, seed=seed).outcomes)
    own, *others = (dealt["recruits"][k : k + 4] for k in range(0, 4 * num_players, 4))
    unused = [name for name in RECRUIT_NAMES if name not in dealt["recruits"]]
    other_deal = dealt | {"recruits": [*own, *sum(others[1:], []), *unused[:4]]}
    game, twin = Game(options, seed, dealt), Game(options, seed, other_deal)
    for step in range(600):
        if game.over or game.truncated:
            return
        if game.deciding == "open":
            seat = rng.randrange(num_players)
            rows = game.determinize(seat, step).states.copy()
            rows["rng"] = game.states["rng"]
            twin = Game.taking(rows)
        if twin is not None and (step < 3 * num_players or step % 4 == 0):
            one, other = (Game.from_dict(each.to_dict()) for each in (game, twin))
            if what_is_seen(one, seat) == what_is_seen(other, seat):
                yield seat, one, other
        move = rng.choice(game.legal())
        game.play(move)
        if twin is not None and move in twin.legal():
            twin.play(move)
        else:
            twin = None


def what_is_seen(game: Game, seat: int) -> Any:
    """Returns what a seat may know of the position and of the turn under way."""
    return game.observation(seat).tolist(), game.events_for(seat), game.legal() if game.player == seat else None


def seated(server: Served, game: Game) -> tuple[str, dict[int, Visitor]]:
    """A game on the server that stands as this one, and a visitor in each seat."""
    seats = [Seat(f"P{k}", None) for k in range(game.rules.num_players)]
    session = Session.of(game, seats)
    name, tokens = server.inside(lambda: server.registry.open(session, 0))
    visitors = {}
    for k in range(len(seats)):
        visitors[k] = server.visitor()
        visitors[k].post(f"/api/games/{name}/sit", {"token": tokens[k]})
    return f"/api/games/{name}", visitors


def requests(endpoints: list[Endpoint], name: str, seat: int, version: int, legal: list[int]) -> list[tuple[str, str, Any]]:
    """Requests of every endpoint about a game that a seat may send without moving, with all kinds of values, also wrong ones."""
    values: dict[str, list[Any]] = {
        **{"seat": [None, seat, (seat + 1) % 2, 5], "version": [version, version + 1, None], "decision": [None, 0, 10**6]},
        **{"own": [None, "true"], "token": ["A" * 22], "pace": [0], "spec": ["greedy", "mcts:20:ppo", "nobody", None]},
        **{"action": ["choose no_such_recruit", 10**5, "sacrifice farm", *legal], "then": [None, ["end", "offer"], ["morale 1"]]},
        **{"game": [name], "record": [None], "position": [None], "seet": [None, 0]},
    }
    found = []
    for endpoint in endpoints:
        fields = [field.encode_name for field in msgspec.structs.fields(endpoint.body)]
        if "{game}" in endpoint.path or "game" in fields:
            for chosen in product(*(values[field] for field in [*fields, "seet"])):
                body = {key: value for key, value in zip([*fields, "seet"], chosen, strict=True) if value is not None}
                path = endpoint.path.replace("{game}", name)
                moves = body.get("action") in legal and "then" not in body
                gives_away = path.endswith("/seats") and body.get("spec") != "nobody"
                takes_back = path.endswith("/undo") and body.get("version") in (None, version)
                if not (moves or gives_away or takes_back or path.endswith("/events")):
                    found.append((endpoint.method, path, body))
    return found


def answers(visitor: Visitor, endpoints: list[Endpoint], name: str, seat: int, version: int, legal: list[int]) -> list[Any]:
    """The answers to a seat of endpoints about a game, refusals included; nothing is changed."""
    asked, found = requests(endpoints, name, seat, version, legal), []
    for method, path, body in random.Random(seat).sample(asked, 50):
        query = f"?{urlencode(body)}" if method == "GET" and body else ""
        status, content, headers = visitor.ask(method, path + query, None if method == "GET" else body)
        sent = sorted((key, value) for key, value in headers.items() if key != "date")
        found.append((method, path.replace(name, ""), body | ({"game": ""} if "game" in body else {}), status, content, sent))
        assert status >= 400 or "seet" not in body
    (listed,) = (one for one in visitor.get("/api/games")["games"] if one["id"] == name)
    return [*found, {**listed, "id": "", "changed": 0}, first_view(visitor, f"/api/games/{name}", seat)]


@pytest.mark.parametrize(
    "num_players, rules", [(2, {}), (3, {"trading": True}), (4, {"recruit_draft": True, "market_draft": True})]
)
def test_what_a_seat_gets_depends_on_what_it_may_know_alone(server: Served, num_players: int, rules: dict[str, Any]) -> None:
    moved = 0
    for seat, *games in pairs(num_players, num_players, **rules):
        found, tables = [], []
        for game in games:
            api, visitors = seated(server, game)
            version = visitors[seat].get(f"{api}/view")["version"]
            name, legal = api.rpartition("/")[2], games[0].legal_actions()[:2].tolist()
            found.append(answers(visitors[seat], server.app.state.endpoints, name, seat, version, legal))
            tables.append((api, visitors, version))
        for one, other in zip(*found, strict=True):
            assert one == other
        if games[0].player == seat:
            action = int(games[0].legal_actions()[-1])
            for game in games:
                game.play(action)
            moved += games[0].outcomes == games[1].outcomes and after_moves(tables, seat, action)
        for visitor in [visitor for _, visitors, _ in tables for visitor in visitors.values()]:
            visitor.close()
    assert moved > 3


def after_moves(tables: list[tuple[str, dict[int, Visitor], int]], seat: int, action: int) -> bool:
    """Plays a move at two tables, and takes it back; the answers are the same, unless the seat has learned of a difference."""
    got = []
    for api, visitors, version in tables:
        status, content, _ = visitors[seat].ask("POST", f"{api}/moves", {"seat": seat, "version": version, "action": action})
        assert status == 200
        again = {"seat": seat, "version": json.loads(content)["version"]}
        got.append((content, visitors[seat].ask("POST", f"{api}/undo", again)[:2], first_view(visitors[seat], api, seat)))
    same = got[0][0] == got[1][0]
    assert not same or got[0] == got[1]
    return same


def first_view(visitor: Visitor, api: str, seat: int) -> list[Any]:
    """The first messages of two streams: that of a seat, and that of everybody."""
    found = []
    for query in (f"?seat={seat}", ""):
        with Listener(visitor.port, f"{api}/events{query}", visitor) as stream:
            found += [stream.next(), stream.id]
    return found


def test_choices_made_in_secret_stay_secret(server: Served) -> None:
    """Two games of one seed in which player 1 keeps another hidden recruit: nobody else sees any difference (R2.2)."""
    seen: list[list[bytes]] = [[], []]
    for choice, told in enumerate(seen):
        api, visitors = seated(server, Game(Rules(num_players=3), seed=11))
        while not (view := visitors[0].get(f"{api}/view"))["view"]["turn"]:
            seat = view["decider"]
            own = visitors[seat].get(f"{api}/view?seat={seat}")
            play(visitors[seat], api, own, choice if seat == 1 and len(own["moves"]) == 3 else -1)
            asked = [(0, "?seat=0"), (2, "?seat=2"), (0, ""), (1, ""), (2, "")]
            told += [visitors[k].ask("GET", f"{api}/view{query}")[1] for k, query in asked]
    assert len(seen[0]) > 20 and seen[0] == seen[1]


FOREIGN = "http://evil.example"
DEEP = b'{"seats":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
GUARDED = [
    ("another host", "GET", "/", None, {"Host": "evil.example"}, 421),
    ("a malformed host", "GET", "/", None, {"Host": "127.0.0.1:x"}, 421),
    ("a host with a name in it", "GET", "/", None, {"Host": "a@127.0.0.1"}, 421),
    ("another origin", "POST", "/api/games", {}, {"Origin": FOREIGN}, 403),
    ("another port of this host", "POST", "/api/games", {}, {"Origin": "http://127.0.0.1:1"}, 403),
    ("another origin that reads", "GET", "/api/games", None, {"Origin": FOREIGN}, 403),
    ("another site", "POST", "/api/games", {}, {"Sec-Fetch-Site": "cross-site"}, 403),
    ("a form", "POST", "/api/games", {}, {"Content-Type": "application/x-www-form-urlencoded"}, 415),
    ("a body that is announced too long", "POST", "/api/games", b"{}", {"Content-Length": "99999999999"}, 413),
    ("a long body", "POST", "/api/games", b" " * 1_000_001, {}, 413),
    ("no JSON", "POST", "/api/games", b"{", {}, 422),
    ("no UTF-8", "POST", "/api/games", b"\xff", {}, 422),
    ("no number", "POST", "/api/games", b'{"pace": NaN}', {}, 422),
    ("too deep", "POST", "/api/games", DEEP, {}, 422),
    ("an unknown key", "POST", "/api/games", {"seats": [ANN, BOB], "seed": 3}, {}, 422),
    ("an unknown key in an address", "GET", "/api/games?seet=0", None, {}, 422),
    ("an unknown key in the address of an action", "POST", "/api/games?seet=0", {"seats": [ANN, BOB]}, {}, 422),
    ("an unknown key in the address of a page", "GET", "/learn?seet=0", None, {}, 422),
    ("a name of half a letter", "POST", "/api/games", b'{"seats": [{"name": "\\ud800"}, {"name": "Bob"}]}', {}, 422),
    ("a pace below zero", "POST", "/api/games", {"seats": [ANN, BOB], "pace": -1}, {}, 422),
    ("a path for an agent", "POST", "/api/games", {"seats": [ANN, {"name": "x", "spec": "ppo:/etc/passwd"}]}, {}, 422),
    ("an agent without end", "POST", "/api/games", {"seats": [ANN, {"name": "x", "spec": "mcts:999999999"}]}, {}, 422),
    ("a slow agent", "POST", "/api/games", {"seats": [ANN, {"name": "x", "spec": "mcts:999s"}]}, {}, 422),
    ("a spec of a megabyte", "POST", "/api/games", {"seats": [ANN, {"name": "x", "spec": "x" * 900_000}]}, {}, 422),
    ("a study of nothing", "POST", "/api/studies", {}, {}, 422),
    ("a study of two things", "POST", "/api/studies", {"record": "", "game": ""}, {}, 422),
    ("a branch of no study", "POST", "/api/games", {"seats": [ANN, BOB], "start": {"study": "x", "ply": 0}}, {}, 404),
    ("no study to delete", "DELETE", "/api/studies/0123456789abcdef", {}, {}, 404),
    ("a damaged record", "POST", "/api/studies", {"record": "{}\nplace 4 farm\n"}, {}, 422),
    ("no game", "GET", "/api/games/0123456789abcdef/view", None, {}, 404),
    ("no study", "GET", "/api/studies/0123456789abcdef", None, {}, 404),
    ("a path out of the pages", "GET", "/static/../app.py", None, {}, 404),
    ("no page", "GET", "/nowhere", None, {}, 404),
    ("another method", "PUT", "/api/games", {}, {}, 405),
    *(
        (f"a wrong address, {path}", method, path, {} if method == "POST" else None, {}, 422)
        for method, path in (
            *(("GET", f"{page}?seet=0") for page in ("/", "/play/x", "/study/x", "/learn", "/help", "/api/games", "/api/facts")),
            *(
                ("GET", f"/api/games/x/{what}")
                for what in ("view?seet=0", "events?seet=0", "view?seat=0&seat=1", "record?seat=0")
            ),
            ("POST", "/api/games?practice=true"),
        )
    ),
]


@pytest.mark.parametrize("method, path, body, headers, status", [row[1:] for row in GUARDED], ids=[row[0] for row in GUARDED])
def test_refused(server: Served, ann: Visitor, method: str, path: str, body: Any, headers: Any, status: int) -> None:
    before = server.inside(lambda: (server.store.count("game"), server.store.count("study")))
    try:
        got, content, sent = ann.ask(method, path, body, headers)
    except (BrokenPipeError, ConnectionResetError):  # it hung up before all was sent
        assert status == 413
    else:
        assert got == status, content
        assert list(json.loads(content)) == ["error"] and len(content) < 1000
        assert "?seet" not in path or b"unknown field seet" in content
        assert not any(word in content for word in (b"Traceback", b".py", b"site-packages", b"/home", b"/root"))
        assert {name: sent[name] for name in HEADERS} == HEADERS
    assert server.inside(lambda: (server.store.count("game"), server.store.count("study"))) == before


def test_moves_that_are_refused_change_nothing(ann: Visitor) -> None:
    api = two(ann)
    view = ann.get(f"{api}/view?seat=0")
    good = {"seat": 0, "version": view["version"], "action": view["moves"][0]["action"]}
    for change, status in (
        ({"seat": 1}, 409),
        ({"seat": 2}, 422),
        ({"seat": True}, 422),
        ({"version": view["version"] + 1}, 409),
        ({"action": "place 4 farm"}, 422),
        ({"action": 10**9}, 422),
        ({"action": True}, 422),
        ({"force": True}, 422),
    ):
        got, content, _ = ann.ask("POST", f"{api}/moves", {**good, **change})
        assert got == status, (change, content)
    assert ann.ask("GET", f"{api}/record")[0] == 403
    assert ann.ask("POST", "/api/studies", {"game": api.rpartition("/")[2]})[0] == 403
    assert ann.get(f"{api}/view?seat=0") == view


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server that takes little."""
    kept = {"game": Limit(3, 2), "study": Limit(2, 1)}
    few = {"listeners": 2, "listeners_per_client": 3, "connections": Limit(1000, 12), "head_seconds": 0.5, "body_seconds": 0.5}
    with Served(tmp_path_factory.mktemp("small") / "games.sqlite", kept=kept, agents=2, idle=3600.0, **few) as found:
        yield found


def test_what_is_too_much_is_refused(small: Served, record: str) -> None:
    ann = small.visitor()
    study = ann.post("/api/studies", {"record": record})["id"]
    assert ann.post("/api/studies", {"record": record})["id"] == study  # it is there already
    jobs = small.app.state.studies.jobs
    jobs._most, before = Limit(0, 0), jobs._most
    for path, body in (
        ("/api/studies", {"record": Game(seed=1).to_record()}),
        (f"/api/studies/{study}/analyses", {"spec": "weights"}),
    ):
        status, content, _ = ann.ask("POST", path, body)
        assert status == 503 and list(json.loads(content)) == ["error"]
    jobs._most = before


def test_one_client_does_not_fill_the_server(small: Served) -> None:
    emptied(small)
    ann = small.visitor()
    body = {"seats": [ANN, BOB]}
    games = [new(ann, ANN, BOB)["id"] for _ in range(2)]
    status, content, _ = ann.ask("POST", "/api/games", body)
    assert status == 503 and b"you have 2 games already" in content
    other = small.visitor(client="127.0.0.2")
    mine = new(other, ANN, BOB)["id"]
    status, content, _ = other.ask("POST", "/api/games", body)
    assert status == 503 and b"there are 3 games already" in content
    aged(small, games[0], 7200)
    with Listener(small.port, f"/api/games/{games[0]}/events") as stream:
        stream.next()
        assert ann.ask("POST", "/api/games", body)[0] == 503  # somebody is looking at it
    wait_until(lambda: not small.registry._running[games[0]].listeners)
    aged(small, games[0], 7200)
    last = new(ann, ANN, BOB)["id"]  # the idle one has left
    assert {one["id"] for one in ann.get("/api/games")["games"]} == {games[1], mine, last}


def emptied(server: Served) -> None:
    """Forgets all games."""
    for game in server.visitor().get("/api/games")["games"]:
        server.inside(lambda: server.registry.delete(game["id"]))  # noqa: B023


def aged(server: Served, name: str, seconds: float) -> None:
    """Lets a game be idle for longer, while the server runs."""
    server.inside(lambda: server.store._db.execute("UPDATE game SET active = active - ? WHERE id = ?", (seconds, name)))
    if name in server.registry._running:
        server.registry._running[name].used -= seconds


def test_listeners_have_so_many_places(server: Served, small: Served) -> None:
    emptied(small)
    ann = small.visitor()
    one, other = (f"/api/games/{new(ann, ANN, BOB)['id']}" for _ in range(2))
    with ExitStack() as stack:
        # Two for each game, three for each client.
        for api, client, status in (
            *((one, "127.0.0.1", status) for status in (200, 200, 503)),
            *((other, "127.0.0.1", status) for status in (200, 503)),
            (other, "127.0.0.2", 200),
        ):
            stream = stack.enter_context(Listener(small.port, f"{api}/events", client=client))
            assert stream.status == status and (stream.message() or status == 503)
    wait_until(lambda: not any(game.listeners for game in small.registry._running.values()))
    assert ann.ask("HEAD", f"{one}/events")[:2] == (200, b"")


def test_requests_that_never_end_are_ended(small: Served) -> None:
    def begun(head: bytes) -> socket.socket:
        line = socket.create_connection(("127.0.0.1", small.port), source_address=("127.0.0.4", 0))
        line.sendall(head)
        return line

    host = b"Host: 127.0.0.1\r\n"
    lines = [begun(b"GET / HTTP/1.1\r\n" + host) for _ in range(12)]
    with begun(b"") as another:
        assert b"too many connections" in another.recv(1000)
    assert small.visitor(client="127.0.0.2").get("/api/games")  # others are served
    for line in lines:
        assert line.recv(1000) == b""
        line.close()
    with begun(b"POST /api/games HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 9\r\n" + host + b"\r\n{") as slow:
        assert slow.recv(1000).startswith(b"HTTP/1.1 408")


@pytest.mark.skipif(sys.platform != "linux", reason="threads have no priority of their own")
def test_agents_think_behind_those_who_play(server: Served) -> None:
    def ask() -> Any:
        return server.registry.agents.ask("random", "", lambda: os.getpriority(os.PRIO_PROCESS, 0))

    assert server.inside(ask) == min(19, os.getpriority(os.PRIO_PROCESS, 0) + NICENESS)
    assert server.inside(lambda: os.getpriority(os.PRIO_PROCESS, 0)) == os.getpriority(os.PRIO_PROCESS, 0)


def test_agents_leave_for_others(small: Served) -> None:
    ann = small.visitor(client="127.0.0.3")
    study = ann.post("/api/studies", {"record": Game(Rules(num_players=2), seed=2).to_record()})["id"]
    for spec in ("greedy:1", "greedy:2", "greedy:3", "weights", "greedy:1"):
        assert ann.post(f"/api/studies/{study}/at/0", {"spec": spec})["moves"]
    assert len(small.registry.agents.pool._kept) == 2 and "greedy:1" in small.registry.agents.pool


BODIES: dict[str, Any] = {
    "moves": {"seat": 0, "version": 0, "action": "end"},
    "undo": {"seat": 0, "version": 0},
    "hint": {"seat": 0, "version": 0},
    "pace": {"pace": 0},
    "seats": {"seat": 0, "spec": "random"},
    "analyses": {"spec": "random"},
}


def test_every_endpoint_has_the_right_that_it_says(server: Served, ann: Visitor, record: str) -> None:
    """A stranger, and Bob, who sits in seat 1 of a game that Ann made, do what they may and nothing else."""
    made = new(ann, ANN, BOB)
    names = {
        "game": made["id"],
        "study": ann.post("/api/studies", {"record": Game(Rules(num_players=2), seed=77).to_record()})["id"],
    }
    stranger, bob = server.visitor(), server.visitor()
    bob.post(f"/api/games/{names['game']}/sit", {"token": made["links"][0]["token"]})
    before = ann.get(f"/api/games/{names['game']}/view?seat=0")
    endpoints = server.app.state.endpoints
    for visitor, may in ((stranger, {"ANYBODY"}), (bob, {"ANYBODY", "MEMBER"})):
        for endpoint in endpoints:
            (right,) = (name for name, who in vars(permissions).items() if who is endpoint.permission)
            called = f"{endpoint.method} {endpoint.path}"
            if right in may or right == "ENDED" and "game" not in endpoint.path:
                continue
            path = re.sub(r"{(\w+)[^}]*}", lambda found: names.get(found[1], "0"), endpoint.path)
            path += "?seat=0" if right == "VIEWER" else ""
            body = None if endpoint.method == "GET" else BODIES.get(path.rpartition("/")[2], {})
            status, content, _ = visitor.ask(endpoint.method, path, body)
            assert status == 403, (called, right, content)
    assert ann.get(f"/api/games/{names['game']}/view?seat=0") == before
    assert ann.get(f"/api/studies/{names['study']}")
    assert ann.ask("DELETE", f"/api/studies/{names['study']}", {})[0] == 200


def test_a_study_that_is_there_is_found_without_a_right_over_it(server: Served, ann: Visitor) -> None:
    game = new(ann, ANN, RANDOM, practice=True)["id"]
    study, bob = ann.post("/api/studies", {"game": game})["id"], server.visitor()
    assert bob.post("/api/studies", {"game": game})["id"] == study
    assert bob.ask("DELETE", f"/api/studies/{study}", {})[0] == 403
    assert [one.get(f"/api/studies/{study}")["host"] for one in (ann, bob)] == [True, False]
    for method, status in (("POST", 202), ("POST", 202), ("DELETE", 200)):  # the second time it runs already, or has ended
        assert bob.ask(method, f"/api/studies/{study}/analyses", {"spec": "greedy"})[0] == status
    assert ann.ask("DELETE", f"/api/studies/{study}", {})[0] == 200


def test_an_agent_that_is_well_stays_unless_the_host_replaces_it(server: Served, ann: Visitor) -> None:
    made = new(ann, {**BOB, "here": False}, RANDOM, {"name": "X", "spec": FAILING[0]}, pace=None)
    api, bob = f"/api/games/{made['id']}", server.visitor()
    bob.post(f"{api}/sit", {"token": made["links"][0]["token"]})
    assert bob.ask("POST", f"{api}/seats", {"seat": 1, "spec": "weights"})[0] == 403
    assert bob.ask("POST", f"{api}/seats", {"seat": 2, "spec": "weights"})[0] == 403
    ann.post(f"{api}/seats", {"seat": 1, "spec": "greedy"})
    ann.post(f"{api}/pace", {"pace": 0})
    while not (view := wait_for(bob, f"{api}/view?seat=0", my_turn))["trouble"]:
        play(bob, api, view)
    assert bob.ask("POST", f"{api}/seats", {"seat": 1, "spec": "weights"})[0] == 403
    assert bob.ask("POST", f"{api}/seats", {"seat": 2, "spec": "weights"})[0] == 200  # this one has failed


def test_a_file_is_for_one_server(tmp_path: Path) -> None:
    with closing(Store(tmp_path / "games.sqlite")):
        script = f"from euphoria_agents.play.web.store import Store; Store({str(tmp_path / 'games.sqlite')!r})"
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
        assert "games.sqlite is in use by another server" in done.stderr
    Store(tmp_path / "games.sqlite").close()


def test_a_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    old = tmp_path / "old.sqlite"
    old.touch(0o644)
    for path in (tmp_path / "new.sqlite", old):
        with closing(Store(path)) as store:
            store.add_game("x", "", GameRow(0, False, {}, {}), {})
            files = list(tmp_path.glob(f"{path.name}*"))
            assert len(files) > 1 and {file.stat().st_mode & 0o777 for file in files} == {0o600}


def test_the_study_of_a_record_is_found_by_an_index_in_older_files_too(tmp_path: Path) -> None:
    record, asked = Game(Rules(num_players=2), seed=3).to_record(), list[str]()
    with closing(Store(tmp_path / "games.sqlite")) as store:
        store.add_study("x", "", {}, ["A", "B"], record)
        store._db.execute("DROP INDEX IF EXISTS study_of_record")
    with closing(Store(tmp_path / "games.sqlite")) as store:
        store._db.set_trace_callback(asked.append)
        assert store.study_of(["A", "B"], record) == "x" and store.study_of(["A", "C"], record) is None
        ((*_, plan),) = store._db.execute(f"EXPLAIN QUERY PLAN {asked[0]}").fetchall()
        assert "USING INDEX study_of_record" in plan


def test_a_game_that_was_changed_meanwhile_is_not_saved_over(tmp_path: Path) -> None:
    old, new = ({"session": k, "pace": None} for k in (1, 2))
    with closing(Store(tmp_path / "games.sqlite")) as store:
        store.add_game("x", "", GameRow(5, False, {}, old), {0: "token"})
        store.save_game("x", GameRow(5, False, {}, new), [0], {})
        with pytest.raises(CannotSave, match="changed by somebody else"):
            store.save_game("x", GameRow(4, False, {}, old), [], {})
        assert store.game("x") == (new, "") and list(store.hashes("x")) == [0]


def test_a_restart_in_the_middle_of_a_decision(tmp_path: Path) -> None:
    with Served(tmp_path / "games.sqlite") as first:
        visitor = first.visitor()
        api = f"/api/games/{new(visitor, ANN, RANDOM, GREEDY)['id']}"
        for _ in range(12):
            view = wait_for(visitor, f"{api}/view?seat=0", my_turn)
            play(visitor, api, view, -1)
        before = wait_for(visitor, f"{api}/view?seat=0", my_turn)
        alone = f"/api/games/{visitor.post('/api/games', {'seats': [RANDOM, GREEDY], 'pace': 0})['id']}"
        played = wait_for(visitor, f"{alone}/view", lambda view: view["version"] > 10)["version"]
    with Served(tmp_path / "games.sqlite") as second:
        again = second.visitor()
        again.cookies = visitor.cookies
        wait_for(again, f"{alone}/view", lambda view: view["over"] or view["version"] > played + 20)
        after = again.get(f"{api}/view?seat=0")
        assert after == before
        play(again, api, after)
        again.close()


def in_trouble(server: Served, ann: Visitor, spec: str) -> tuple[str, Any]:
    """A game that waits for an agent of this spec, and its view; Ann made it, and sits in seat 0."""
    api = f"/api/games/{new(ann, ANN, {'name': 'X', 'spec': spec})['id']}"
    while not (view := ann.get(f"{api}/view?seat=0"))["waits_for_agent"]:
        play(ann, api, view)
    return api, wait_for(ann, f"{api}/view?seat=0", lambda view: view["trouble"])


def test_the_game_waits_for_an_agent_that_fails(server: Served, ann: Visitor) -> None:
    well = server.data.parent / "Raises"
    api, view = in_trouble(server, ann, f"{FAULTY}:Raises:{well}")
    assert "failed: KeyError" in view["trouble"] and "Raises" in view["trouble"] and "moves" not in view["trouble"]
    ann.post(f"{api}/retry")
    assert wait_for(ann, f"{api}/view?seat=0", lambda view: view["trouble"])["version"] == view["version"]
    well.touch()
    ann.post(f"{api}/retry")
    after = wait_for(ann, f"{api}/view?seat=0", lambda one: one["version"] > view["version"])
    assert not after["trouble"]


@pytest.mark.parametrize(
    ("spec", "why"),
    [(FAILING[0], "its process has ended"), (FAILING[1], "its answer is not a legal move")],
    ids=["exits", "cheats"],
)
def test_what_everybody_reads_of_a_failure_tells_nothing(server: Served, ann: Visitor, spec: str, why: str) -> None:
    api, view = in_trouble(server, ann, spec)
    stranger = server.visitor().get(f"{api}/view")
    assert stranger["trouble"] == view["trouble"] == f"the agent {spec} of seat 1 failed: {why}"
    ann.post(f"{api}/seats", {"seat": 1, "spec": "random"})
    assert not wait_for(ann, f"{api}/view?seat=0", my_turn)["trouble"]


def test_the_game_waits_for_an_agent_that_never_answers(server: Served, ann: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = f"{FAULTY}:Sleeps:{server.data.parent / 'Sleeps'}"
    monkeypatch.setattr(server.registry.agents.pool, "first_seconds", 1.0)
    api, view = in_trouble(server, ann, spec)
    assert "it took too long" in view["trouble"]
    processes = len(multiprocessing.active_children())
    for _ in range(3):  # it is ended each time, and made again
        ann.post(f"{api}/retry")
        assert "it took too long" in wait_for(ann, f"{api}/view?seat=0", lambda view: view["trouble"])["trouble"]
    assert len(multiprocessing.active_children()) <= processes
    ann.post(f"{api}/seats", {"seat": 1, "spec": "random"})
    after = wait_for(ann, f"{api}/view?seat=0", my_turn)
    assert not after["trouble"] and after["seats"][1]["spec"] == "random"


def test_a_full_disk_changes_nothing(server: Served, ann: Visitor) -> None:
    api = two(ann)
    pages = server.inside(lambda: fill(server.store))
    try:
        status, seat = 200, 0
        while status == 200:  # until what is kept of the game needs another page
            seat = ann.get(f"{api}/view")["decider"]
            view = ann.get(f"{api}/view?seat={seat}")
            move = {"seat": seat, "version": view["version"], "action": view["moves"][0]["action"]}
            status, content, _ = ann.ask("POST", f"{api}/moves", move)
        assert status == 507 and b"full" in content, content
        assert ann.ask("POST", "/api/games", {"seats": [ANN, BOB], "rules": {"recruits": list(RECRUIT_NAMES)}})[0] == 507
        assert ann.get(f"{api}/view?seat={seat}") == view
    finally:
        server.inside(lambda: empty(server.store, pages))
    assert ann.post(f"{api}/moves", move)["version"] > view["version"]


def fill(store: Store) -> int:
    """Lets the file of a store grow no more, and fills what is left of it; returns the pages it might have had."""
    most = store._db.execute("PRAGMA max_page_count").fetchone()[0]
    store._db.execute("PRAGMA max_page_count = 1")
    for size in (65536, 1024, 16, 1):
        with pytest.raises(sqlite3.OperationalError):
            for k in range(100_000):
                store._db.execute("INSERT INTO token VALUES (?, 0, zeroblob(?))", (f"filler {size} {k}", size))
    return int(most)


def empty(store: Store, pages: int) -> None:
    """Undoes `fill`."""
    store._db.execute(f"PRAGMA max_page_count = {pages}")
    store._db.execute("DELETE FROM token WHERE game LIKE 'filler%'")


def database(path: Path, version: int = 0, application: int = 0) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("VACUUM")
        db.execute(f"PRAGMA application_id = {application}")
        db.execute(f"PRAGMA user_version = {version}")


NOT_OURS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "a text": (lambda path: path.write_text("no database " * 100), "is not a file of"),
    "an empty database": (database, "is not a file of"),
    "a file of another program": (lambda path: database(path, VERSION, 1), "is not a file of"),
    "a file of an earlier version": (lambda path: database(path, VERSION - 1, APPLICATION), f"is of version {VERSION - 1}"),
    "a file of a later version": (lambda path: database(path, VERSION + 1, APPLICATION), f"is of version {VERSION + 1}"),
    "a folder": (lambda path: path.mkdir(), "is not a file"),
    "a pipe": (os.mkfifo, "is not a file"),
    "a link to nothing": (lambda path: path.symlink_to("nothing"), "is not a file"),
    "nowhere/games": (lambda path: None, "there is no folder"),
    "another file beside": (lambda path: path.with_name(f"{path.name}-wal").write_text("mine"), "cannot be made beside"),
    "a file that is read-only": (lambda path: (Store(path).close(), path.chmod(0o444)), "is read-only"),
}


@pytest.mark.parametrize("name", NOT_OURS)
def test_what_is_something_else_is_refused_and_stays_as_it_is(tmp_path: Path, name: str) -> None:
    def state() -> list[Any]:
        found = sorted(tmp_path.rglob("*"))
        return [(path, path.lstat().st_mode, path.lstat().st_mtime_ns, path.is_file() and path.read_bytes()) for path in found]

    make, why = NOT_OURS[name]
    make(tmp_path / name)
    before = state()
    with pytest.raises(ValueError, match=why) as refused:
        run(ServeOptions(data=tmp_path / name, port=0))
    assert "\n" not in str(refused.value) and state() == before


def test_many_games_at_once(server: Served) -> None:
    """Fifteen people, each at a table with an agent, all at the same time; no request fails."""

    def plays(seed: int) -> None:
        visitor, rng = server.visitor(), random.Random(seed)
        api = f"/api/games/{new(visitor, ANN, RANDOM)['id']}"
        for _ in range(8):
            if (view := wait_for(visitor, f"{api}/view?seat=0", my_turn, pause=0.1))["over"]:
                break
            play(visitor, api, view, rng.randrange(len(view["moves"])))

    with ThreadPoolExecutor(15) as people:
        list(people.map(plays, range(15)))


def test_a_study_shows_every_decision(ann: Visitor, record: str) -> None:
    api = f"/api/studies/{ann.post('/api/studies', {'record': record})['id']}"
    study = ann.get(api)
    assert len(study["lines"]) == len(study["players"]) and study["names"] == ["Player 1", "Player 2", "Player 3"]
    for ply in (0, 7, len(study["lines"]) - 1):
        here = ann.get(f"{api}/at/{ply}?seat={study['players'][ply]}")
        played = next(move for move in here["moves"] if move["action"] == here["played"])
        assert study["lines"][ply].startswith(played["notation"])
    last = ann.get(f"{api}/at/{len(study['lines'])}")
    assert last["played"] is None and last["moves"] == []
    assert ann.ask("GET", f"{api}/at/{len(study['lines']) + 1}")[0] == 404
    assert ann.ask("GET", f"{api}/at/0?seat=3")[0] == 422
    assert ann.ask("GET", f"{api}/at/{'9' * 5000}")[0] in (404, 422)


def test_an_analysis_runs_in_the_background_and_can_be_stopped(ann: Visitor, record: str) -> None:
    api = f"/api/studies/{ann.post('/api/studies', {'record': record})['id']}"
    total = len(ann.get(api)["lines"])
    status, _, _ = ann.ask("POST", f"{api}/analyses", {"spec": "greedy"})
    assert status == 202
    wait_for(ann, f"{api}/analyses?spec=greedy", lambda found: found["entries"])
    ann.ask("DELETE", f"{api}/analyses", {"spec": "greedy"})
    part = wait_for(ann, f"{api}/analyses?spec=greedy", lambda found: not found["running"])["entries"]
    ann.ask("POST", f"{api}/analyses", {"spec": "greedy"})
    whole = wait_for(ann, f"{api}/analyses?spec=greedy", lambda found: len(found["entries"]) == total)
    assert [one["ply"] for one in whole["entries"]] == list(range(total))
    assert whole["entries"][: len(part)] == part
    assert ann.get(f"{api}/analyses?spec=greedy&from={total - 1}")["entries"] == whole["entries"][-1:]
    assert ann.ask("POST", f"{api}/analyses", {"spec": "ppo:/etc/passwd"})[0] == 422
    assert ann.ask("POST", f"{api}/analyses", {"spec": None})[0] == 422


def test_a_mistake_is_checked_by_playouts(server: Served, ann: Visitor) -> None:
    name = ann.post("/api/studies", {"record": random_game(Rules(num_players=2, max_turns=4), 6).to_record()})["id"]
    api = f"/api/studies/{name}"
    total = len(ann.get(api)["lines"])
    assert ann.ask("POST", f"{api}/at/0/playouts", {"spec": "greedy"})[:2] == (
        422,
        b'{"error":"greedy has not judged this decision"}',
    )
    assert ann.ask("POST", f"{api}/analyses", {"spec": "greedy"})[0] == 202
    entries = wait_for(ann, f"{api}/analyses?spec=greedy", lambda found: not found["running"])["entries"]
    worst, fine = max(entries, key=lambda one: one["regret"]), next(one for one in entries if one["regret"] == 0)
    found = ann.post(f"{api}/at/{worst['ply']}/playouts", {"spec": "greedy"})
    assert found == ann.post(f"{api}/at/{worst['ply']}/playouts", {"spec": "greedy"}) and found["pairs"] > 1
    entries[worst["ply"]]["playouts"] = found
    assert not any(key[0] == name for key in server.app.state.studies._analyses)  # they are in the store alone
    assert ann.get(f"{api}/analyses?spec=greedy")["entries"] == entries == server.store.analysis(name, "greedy")[1]
    for ply in (fine["ply"], total):
        assert ann.ask("POST", f"{api}/at/{ply}/playouts", {"spec": "greedy"})[0] == 422


def test_an_agent_is_asked_about_one_decision(ann: Visitor, record: str) -> None:
    api = f"/api/studies/{ann.post('/api/studies', {'record': record})['id']}"
    here = ann.get(f"{api}/at/9")
    said = ann.post(f"{api}/at/9", {"spec": "mcts:30:ppo"})
    assert [one["action"] for one in said["moves"]] == [move["action"] for move in here["moves"]]
    assert sum(said["seats"]) == pytest.approx(1) and sum(one["visits"] for one in said["moves"]) > 0
    assert ann.post(f"{api}/at/9", {"spec": "mcts:30:ppo"}) == said
    end = len(ann.get(api)["lines"])
    for ply, spec, status in ((end, "ppo", 422), (end + 1, "ppo", 404), (9, "os:getcwd", 422)):
        assert ann.ask("POST", f"{api}/at/{ply}", {"spec": spec})[0] == status


def test_a_game_branches_off_a_study(ann: Visitor, record: str) -> None:
    study = ann.post("/api/studies", {"record": record})["id"]
    seats, end = [ANN, {**BOB, "here": True}, RANDOM], len(ann.get(f"/api/studies/{study}")["lines"])
    start = {"study": study, "ply": 20}
    there = ann.get(f"/api/studies/{study}/at/20?seat=0")["view"]
    name = ann.post("/api/games", {"seats": seats, "start": start, "pace": None})["id"]
    view = ann.get(f"/api/games/{name}/view?seat=0")["view"]
    assert view == there
    for bad in ({**start, "ply": end}, {**start, "ply": -1}, {"study": study}):
        assert ann.ask("POST", "/api/games", {"seats": seats, "start": bad})[0] == 422


def test_a_game_goes_on_from_a_position(ann: Visitor) -> None:
    game = random_game(Rules(num_players=2), 5, 70)
    seats, position = [ANN, {**BOB, "here": True}], game.to_dict()
    made = ann.post("/api/games", {"seats": seats, "position": position})
    view = ann.get(f"/api/games/{made['id']}/view?seat={game.player}")
    assert view["view"]["turn"] == game.turn and [move["notation"] for move in view["moves"]] == game.legal()
    for body in ({"position": {**position, "turn": -1}}, {"position": 7}, {"position": position, "seats": seats * 2}):
        assert ann.ask("POST", "/api/games", {"seats": seats, **body})[0] == 422


def test_a_study_of_a_position_can_be_deleted(ann: Visitor) -> None:
    position = Game(Rules(num_players=2), seed=4).to_dict()
    api = f"/api/studies/{ann.post('/api/studies', {'position': position})['id']}"
    assert ann.get(f"{api}/at/0/position")["position"] == position and ann.get(f"{api}/at/0")["moves"]
    assert ann.ask("DELETE", api, {})[0] == 200 and ann.ask("GET", api)[0] == 404


def test_the_command_opens_a_record_and_ends_at_an_interrupt(tmp_path: Path, record: str) -> None:
    (tmp_path / "game.record").write_text(record)
    command = ServerProcess(tmp_path / "games.sqlite", str(tmp_path / "game.record")).start()
    first = command.line
    visitor = Visitor(command.port)
    assert visitor.get("/api" + first.split()[4].partition(str(command.port))[2].replace("study", "studies"))["record"] == record
    api = f"/api/games/{visitor.post('/api/games', {'seats': [ANN, BOB]})['id']}"
    with Listener(command.port, f"{api}/events") as stream:
        assert stream.next()
        assert command.end(signal.SIGINT) in (0, 130)  # uvicorn by itself would wait until the stream ends
    visitor.close()
    assert command.start().line == first  # no second study of one record
    command.end(signal.SIGKILL)


def test_the_command_says_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "bad.record").write_text("{}\nplace 4 farm\n")
    with listen("127.0.0.1", 0) as taken, pytest.raises(ValueError, match="in use"):
        listen("127.0.0.1", taken.getsockname()[1])
    with pytest.raises(ValueError, match="cannot listen at nowhere.invalid:1"):
        listen("nowhere.invalid", 1)
    for name in ("bad.record", "no.record"):
        with pytest.raises(ValueError, match=name):
            run(ServeOptions(record=tmp_path / name, port=0, data=tmp_path / "games.sqlite"))
    with listen("127.0.0.1", 0) as taken, pytest.raises(ValueError, match="in use"):
        run(ServeOptions(port=taken.getsockname()[1], data=tmp_path / "games.sqlite"))
    with pytest.raises(ValueError, match="nobody"):
        run(ServeOptions(port=0, data=tmp_path / "games.sqlite", agents=["nobody:Here"]))
    assert [path.name for path in tmp_path.iterdir()] == ["bad.record"]  # no file of games
