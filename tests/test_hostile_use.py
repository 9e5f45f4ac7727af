"""The server under hostile and careless use: nothing that one visitor does stops the others, outlives its right or is lost."""

from __future__ import annotations

import asyncio
import http.client
import json
import re
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import closing
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from euphoria_agents import background
from euphoria_agents.play import Session
from euphoria_agents.play.web import permissions, studies
from euphoria_agents.play.web.limits import DAY, Limit
from euphoria_agents.play.web.store import Store
from euphoria_env import Game, Rules
from tests.test_serve import BODIES
from tests.tools.faulty_agents import waiting_page
from tests.tools.served import ANN, BOB, RANDOM, Served, Visitor, new, play, wait_for, wait_until

WAITS = "tests.tools.faulty_agents:Waits"


@pytest.fixture
def gates() -> Iterator[Path]:
    """The folder of the gates at which an agent waits; its path is short, since a spec has 100 characters at most."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.fixture
def server(tmp_path: Path, gates: Path) -> Iterator[Served]:
    """A server with an agent that waits at its gates; they are opened at the end."""
    with Served(tmp_path / "games.sqlite", (f"{WAITS}:{gates}",)) as found:
        yield found
        for gate in ("made", "act", "explain", "page"):
            (gates / gate).touch()


def at_gate(gates: Path, gate: str, past: int = 0) -> int:
    """The process that waits at a gate, which is the one after so many."""
    wait_until(lambda: len(list(gates.glob(f"{gate}.*"))) > past)
    return int(max(gates.glob(f"{gate}.*"), key=lambda path: path.stat().st_mtime_ns).suffix[1:])


def alive(process: int) -> bool:
    """Whether a process runs."""
    try:
        return Path(f"/proc/{process}/stat").read_text().split()[2] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def later(work: Callable[[], Any]) -> Future[Any]:
    """Does something in another thread meanwhile."""
    return background.begin(work)


def begun(server: Served, method: str, path: str, body: Any = None, visitor: Visitor | None = None) -> http.client.HTTPConnection:
    """A request that somebody sent, and may give up."""
    line = http.client.HTTPConnection("127.0.0.1", server.port)
    here = {"Host": f"127.0.0.1:{server.port}", "Content-Type": "application/json", "Origin": f"http://127.0.0.1:{server.port}"}
    cookies = visitor._cookies(path) if visitor else None
    content = json.dumps(body or {}) if method != "GET" else None
    line.request(method, path, content, here | ({"Cookie": cookies} if cookies else {}))
    return line


def others_are_answered(server: Served) -> None:
    """Somebody else looks at the list, makes a game, moves, and gets a hint."""
    visitor = server.visitor(client="127.0.0.2")
    assert "games" in visitor.get("/api/games")
    api = f"/api/games/{new(visitor, ANN, RANDOM)['id']}"
    view = visitor.get(f"{api}/view?seat=0")
    visitor.post(f"{api}/hint", {"seat": 0, "version": view["version"], "spec": "weights"})
    visitor.post(f"{api}/moves", {"seat": 0, "version": view["version"], "action": view["moves"][0]["action"]})


def test_everybody_else_is_answered_while_an_agent_is_made_and_thinks(server: Served, gates: Path) -> None:
    waits, ann = {"name": "W", "spec": f"{WAITS}:{gates}"}, server.visitor()
    made = [later(lambda: new(server.visitor(), waits, RANDOM)) for _ in range(2)]
    at_gate(gates, "made")
    others_are_answered(server)
    assert not any(one.done() for one in made)
    (gates / "made").touch()
    api = f"/api/games/{made[0].result()['id']}"
    assert made[1].result()["id"]
    assert wait_for(ann, f"{api}/view", lambda view: view["waits_for_agent"])["prepares"] == waits["spec"]
    at_gate(gates, "act")
    others_are_answered(server)
    own = f"/api/games/{new(ann, waits, RANDOM)['id']}"  # it exists, whatever it is doing
    ann.post(f"{own}/seats", {"seat": 1, "spec": waits["spec"]})
    (gates / "act").touch()
    assert not wait_for(ann, f"{api}/view", lambda view: view["version"] > 2)["prepares"]


def test_who_asks_too_much_holds_up_no_game(server: Served) -> None:
    bob, (queue, gate) = server.visitor(client="127.0.0.2"), (server.registry.working, asyncio.Event())
    name = new(bob, ANN, RANDOM)["id"]
    view = bob.get(f"/api/games/{name}/view?seat=0")

    async def works() -> None:
        async with queue.slot("127.0.0.1"):
            await gate.wait()

    taken = server.registry.limits.working.per_client
    working = server.inside(lambda: [asyncio.create_task(works()) for _ in range(taken)])
    with closing(begun(server, "GET", f"/api/games/{name}/view")) as stranger:
        wait_until(lambda: queue._requests["127.0.0.1"] > taken)
        assert not server.registry._running[name].lock.locked()
        play(bob, f"/api/games/{name}", view)
        server.inside(gate.set)
        assert stranger.getresponse().status == 200 and server.inside(lambda: asyncio.gather(*working))


@pytest.mark.parametrize("number", [0, 1, 7, 1000])
def test_seats_are_counted_before_agents_are_made(server: Served, number: int) -> None:
    seats = [{"name": f"W{k}", "spec": "weights"} for k in range(number)]
    status, content, _ = server.visitor().ask("POST", "/api/games", {"seats": seats})
    assert (status, json.loads(content)) == (422, {"error": f"a game has 2 to 6 seats, not {number}"})
    assert "weights" not in server.registry.agents.pool


def test_a_game_that_is_loaded_twice_is_one_game(server: Served) -> None:
    bob = server.visitor()
    name = new(bob, ANN, RANDOM)["id"]
    server.inside(server.registry._running.clear)
    asked = [lambda client=client: server.registry.game(name, client) for client in ("ann", "bob")]
    one, other = server.inside(lambda: asyncio.gather(*(ask() for ask in asked)))
    assert one is other


def test_what_nobody_waits_for_is_ended(server: Served, gates: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ann, spec = server.visitor(), f"{WAITS}:{gates}"
    api = f"/api/games/{new(ann, ANN, {**BOB, 'here': True})['id']}"
    version = ann.get(f"{api}/view")["version"]
    game = Game(Rules(num_players=2), seed=3)
    game.play(game.legal()[0])
    study = f"/api/studies/{ann.post('/api/studies', {'record': game.to_record()})['id']}"
    for name in ("_make_page", "compare"):
        monkeypatch.setattr(studies, name, partial(waiting_page, gates))
    judged = {"played": 0, "moves": [[0, 0.5, 0, 0.1], [1, 0.5, 9, 0.9]]}
    server.app.state.studies._analyses[study.rpartition("/")[2], "x"] = studies.StudyAnalysis(None, [judged])
    asked = {"seat": 0, "version": version, "spec": spec}
    for gate, method, path, body in (
        ("made", "POST", "/api/games", {"seats": [ANN, {"name": "W", "spec": spec}]}),
        ("made", "POST", f"{api}/seats", {"seat": 1, "spec": spec}),
        ("made", "POST", f"{api}/hint", asked),
        ("explain", "POST", f"{api}/hint", asked),
        ("explain", "POST", f"{study}/at/0", {"spec": spec}),
        ("page", "GET", f"{study}/page", None),
        ("page", "POST", f"{study}/at/0/playouts", {"spec": "x"}),
    ):
        if gate == "explain":
            (gates / "made").touch()
        past = len(list(gates.glob(f"{gate}.*")))
        lines = [begun(server, method, path, body, ann) for _ in range(2)]
        process = at_gate(gates, gate, past)
        for line in lines:
            line.close()
        wait_until(lambda: not alive(process))  # noqa: B023
    wait_until(lambda: server.registry.agents.thinking.idle and server.app.state.studies.processes.idle)
    assert ann.get(f"{api}/view")["seats"][1]["spec"] is None  # what was given up has not happened
    (gates / "explain").touch()
    assert ann.post(f"{api}/hint", asked)["moves"]


@pytest.mark.parametrize("what", ["pace", "delete", "delete study"])
def test_what_has_begun_is_completed_though_nobody_waits(server: Served, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ann, saving, gate = server.visitor(), threading.Event(), threading.Event()
    name = new(ann, ANN, BOB)["id"]
    game, some = server.inside(lambda: server.registry.game(name)), server.app.state.studies
    some._analyses["study", "weights"] = studies.StudyAnalysis()
    work = {
        "pace": ("save_game", lambda: game.set_pace(7.0)),
        "delete": ("delete", lambda: server.registry.delete(name)),
        "delete study": ("delete", lambda: some.delete(SimpleNamespace(name="study"))),
    }
    method, begin = work[what]
    save = getattr(server.store, method)
    monkeypatch.setattr(server.store, method, lambda *values: (saving.set(), gate.wait(), save(*values)))
    (task,) = server.inside(lambda: [asyncio.ensure_future(begin())])
    saving.wait()
    changed = game.changed
    server.inside(task.cancel)
    gate.set()
    wait_until(task.done)
    assert task.cancelled()
    if what == "delete study":
        assert not some._analyses
    else:
        assert changed.is_set() and (game.pace == 7.0 if what == "pace" else game.closed)


def test_what_agents_do_does_not_undo_what_happens_meanwhile(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    name, written = new(server.visitor(), RANDOM, ANN, pace=None)["id"], list[str]()
    game = server.inside(lambda: server.registry.game(name))

    async def fails(*_: Any) -> None:
        raise RuntimeError("a fault of the server")

    async def fails_while_the_seat_is_given_away() -> None:
        async with game.lock:
            game.step()
            while not (game.trouble or game.lock._waiters):
                await asyncio.sleep(0)
            changed = game.session.clone()
            changed.hand_over(0, None)
            game.session = changed
        await game._at_work

    with monkeypatch.context() as patch:
        patch.setattr(server.registry.agents, "ask", fails)
        server.inside(fails_while_the_seat_is_given_away)
    assert not game.trouble
    monkeypatch.setattr(
        type(game), "__setattr__", lambda one, key, value: written.append(key) or object.__setattr__(one, key, value)
    )
    server.inside(game.announce)
    assert "trouble" in written and "session" not in written  # a thread may be about to replace it


def test_an_agent_that_gets_its_seat_back_plays(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    ann, looking, gate, thinker = server.visitor(), threading.Event(), threading.Event(), Session.thinker
    api = f"/api/games/{(name := new(ann, RANDOM, ANN, pace=None)['id'])}"
    game = server.inside(lambda: server.registry.game(name))

    def slowly(session: Session) -> Any:
        if session.seats[0].spec is None:
            looking.set()
            gate.wait()
        return thinker(session)

    monkeypatch.setattr(Session, "thinker", slowly)
    ann.post(f"{api}/seats", {"seat": 0, "spec": None})
    ann.post(f"{api}/pace", {"pace": 0})
    looking.wait()
    ann.post(f"{api}/seats", {"seat": 0, "spec": "random"})
    gate.set()
    server.inside(lambda: game._at_work)
    assert game.session.decisions


def refused_everywhere(server: Served, visitor: Visitor, name: str, seat: int) -> None:
    """A visitor has no right over a seat, by any route."""
    for endpoint in server.app.state.endpoints:
        if "{game}" not in endpoint.path or endpoint.permission is permissions.ANYBODY:
            continue
        path = re.sub(r"{game}", name, endpoint.path)
        path += f"?seat={seat}" if endpoint.permission is permissions.VIEWER else ""
        body = BODIES.get(path.rpartition("/")[2], {})
        sent = None if endpoint.method == "GET" else {**body, **({"seat": seat} if "seat" in body else {})}
        assert visitor.ask(endpoint.method, path, sent)[0] == 403, endpoint.path
    assert visitor.get(f"/api/games/{name}/view")["mine"] == []


def test_a_right_ends_with_its_seat(server: Served, gates: Path) -> None:
    ann, bob, other = (server.visitor() for _ in range(3))
    made = new(ann, ANN, BOB)
    name, (link,) = made["id"], made["links"]
    api = f"/api/games/{name}"
    bob.post(f"{api}/sit", link and {"token": link["token"]})
    late = later(lambda: bob.ask("POST", f"{api}/seats", {"seat": 1, "spec": f"{WAITS}:{gates}"}))
    at_gate(gates, "made")
    again = server.visitor()
    again.cookies = bob.cookies
    ann.post(f"{api}/seats", {"seat": 1, "spec": "random"})
    refused_everywhere(server, again, name, 1)
    assert again.ask("POST", f"{api}/sit", {"token": link["token"]})[0] == 403
    (gates / "made").touch()
    assert late.result()[0] == 403 and ann.get(f"{api}/view")["seats"][1]["spec"] == "random"
    (fresh,) = ann.post(f"{api}/seats", {"seat": 1, "spec": None})["links"]
    refused_everywhere(server, again, name, 1)  # the seat is a person's again, but not Bob's
    assert other.post(f"{api}/sit", {"token": fresh["token"]}) == {"seat": 1}
    (fresher,) = ann.post(f"{api}/seats", {"seat": 1, "spec": None})["links"]
    refused_everywhere(server, other, name, 1)
    assert other.post(f"{api}/sit", {"token": fresher["token"]}) == {"seat": 1}
    assert other.ask("POST", f"{api}/seats", {"seat": 1, "spec": None})[0] == 403  # only the host gives links away
    other.post(f"{api}/seats", {"seat": 1, "spec": "greedy"})
    refused_everywhere(server, other, name, 1)  # given up is given up
    assert ann.get(f"{api}/view?seat=0")["mine"] == [0]


def test_a_game_whose_agent_is_gone_is_seen_given_on_studied_and_deleted(tmp_path: Path, gates: Path) -> None:
    spec = f"{WAITS}:{gates}"
    (gates / "made").touch()
    with Served(tmp_path / "games.sqlite", (spec,)) as first:
        ann = first.visitor()
        names = [new(ann, {"name": "W", "spec": spec}, ANN, practice=True, pace=None)["id"] for _ in range(3)]
    with Served(tmp_path / "games.sqlite") as second:
        again = second.visitor()
        again.cookies = ann.cookies
        assert {one["id"] for one in again.get("/api/games")["games"]} == set(names)
        one, other, last = (f"/api/games/{name}" for name in names)
        assert again.get(f"{one}/view?seat=1")["seats"][0]["spec"] == spec and again.get(f"{one}/record")["record"]
        study = again.post("/api/studies", {"game": names[0]})["id"]
        assert again.post(f"/api/studies/{study}/at/0", {"spec": "greedy"})["moves"]
        again.post(f"{one}/step")
        view = wait_for(again, f"{one}/view", lambda view: view["trouble"])
        assert view["trouble"] == f"the agent {spec} of seat 0 failed: it is not available here"
        again.post(f"{one}/pace", {"pace": 0})
        again.post(f"{one}/seats", {"seat": 0, "spec": "random"})
        assert not wait_for(again, f"{one}/view", lambda view: not view["waits_for_agent"])["trouble"]
        (link,) = again.post(f"{other}/seats", {"seat": 0, "spec": None})["links"]
        again.post(f"{other}/sit", {"token": link["token"]})
        assert again.get(f"{other}/view?seat=0")["moves"]
        assert again.ask("POST", f"{other}/seats", {"seat": 1, "spec": spec})[0] == 422
        assert again.ask("DELETE", last, {})[0] == 200


DAMAGE = [
    ("game", "summary", [None, "{", "[]", '{"headline": 1}', b"\xff", 7]),
    ("game", "changed", ["yesterday", None, b""]),
    ("game", "state", [None, "{", "[]", "{}", '{"session": {}, "pace": null}', '{"session": 1, "pace": "x"}', b"\xff\xfe"]),
    ("study", "names", [None, "{", "{}", "[1]", '["one"]']),
    ("study", "record", [None, "", "{}", "[]\nplace 4 farm\n", b"\xff"]),
]


@pytest.mark.parametrize("kind, column, values", DAMAGE, ids=[" ".join(row[:2]) for row in DAMAGE])
def test_what_is_damaged_is_told_as_that_and_can_be_deleted(tmp_path: Path, kind: str, column: str, values: list[Any]) -> None:
    with Served(tmp_path / "games.sqlite") as first:
        ann = first.visitor()
        good, names = new(ann, ANN, RANDOM)["id"], []
        for k in range(len(values)):
            if kind == "game":
                names.append(new(ann, ANN, RANDOM)["id"])
            else:
                names.append(ann.post("/api/studies", {"record": Game(Rules(num_players=2), seed=k).to_record()})["id"])
    with closing(Store(tmp_path / "games.sqlite")) as store:
        for name, value in zip(names, values, strict=True):
            store._db.execute(f"UPDATE {kind} SET {column} = ? WHERE id = ?", (value, name))
    with Served(tmp_path / "games.sqlite") as second:
        again, place = second.visitor(), permissions.PATHS[kind]
        again.cookies = ann.cookies
        listed = again.get("/api/games")
        assert good in {one["id"] for one in listed["games"]}
        assert set(listed["damaged"]) == (set(names) if column in ("summary", "changed") else set())
        for name in names:
            if column not in ("summary", "changed"):
                status, content, _ = again.ask("GET", f"{place}/{name}" + ("/view" if kind == "game" else ""))
                assert status == 500 and f"this saved {kind} is damaged" in json.loads(content)["error"], content
            assert second.visitor().ask("DELETE", f"{place}/{name}", {})[0] == 403
            assert again.ask("DELETE", f"{place}/{name}", {})[0] == 200
            assert again.ask("DELETE", f"{place}/{name}", {})[0] == 404
        assert again.get("/api/games")["damaged"] == [] and again.get(f"/api/games/{good}/view")


def test_damaged_parts_do_not_spoil_the_whole(server: Served) -> None:
    ann = server.visitor()
    study = f"/api/studies/{ann.post('/api/studies', {'record': Game(Rules(num_players=2), seed=5).to_record()})['id']}"
    name = study.rpartition("/")[2]
    for header, entries in (("{", "[]"), ("{}", "[1]"), (None, None)):
        row = (name, "weights", header, entries)
        server.inside(lambda: server.store._db.execute("INSERT OR REPLACE INTO analysis VALUES (?, ?, ?, ?)", row))  # noqa: B023
        assert ann.get(f"{study}/analyses?spec=weights")["entries"] == []
    made = new(ann, ANN, RANDOM)["id"]
    for seat, kept in ((9, b"x"), ("x", b"x"), (0, "text")):
        row = (made, seat, kept)
        server.inside(lambda: server.store._db.execute("INSERT OR REPLACE INTO token VALUES (?, ?, ?)", row))  # noqa: B023
    assert ann.get(f"/api/games/{made}/view")["host"]


def test_a_clock_that_is_set_ahead_deletes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now, kept = time.time, {"game": Limit(2, 2), "study": Limit(1, 1)}
    with Served(tmp_path / "games.sqlite", kept=kept) as first:
        ann = first.visitor()
        old = new(ann, ANN, BOB)["id"]
    for server_days in (91, 4000):
        monkeypatch.setattr(time, "time", lambda: now() + server_days * DAY)  # noqa: B023
        with Served(tmp_path / "games.sqlite", kept=kept) as second:
            visitor = second.visitor()
            last = new(visitor, ANN, BOB)["id"]
            assert visitor.ask("POST", "/api/games", {"seats": [ANN, BOB]})[0] == 503  # the others are not idle
            assert {one["id"] for one in visitor.get("/api/games")["games"]} == {old, last}
            assert visitor.ask("DELETE", f"/api/games/{last}", {})[0] == 200


INVISIBLE = [
    *("\u200b", "\u3164", "\u2800", "\u115f\u1160", "\ufe0f", "\u0301", "\U000e0100", " \u034f "),
    *("\x00", "\u202eAnn", "A\u2066", ""),
]
ALIKE = [
    *(("Ann", "Ann"), ("Ann", " ann "), ("e\u0301", "\u00e9"), ("\uff21nn", "Ann"), ("Ann", "A\ufe0fnn")),
    *(("A  B", "A B"), ("\ufb01", "fi")),
]


@pytest.mark.parametrize("names", [*[(name, "Bob") for name in INVISIBLE], *ALIKE], ids=ascii)
def test_players_can_be_seen_and_told_apart(server: Served, names: tuple[str, str]) -> None:
    seats = [{"name": name, "spec": None, "here": True} for name in names]
    status, content, _ = server.visitor().ask("POST", "/api/games", {"seats": seats})
    assert status == 422 and "name" in json.loads(content)["error"]
