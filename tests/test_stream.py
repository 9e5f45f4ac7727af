"""The stream of a game: views as `GET view` gives them, for whoever may see them, however slow or long away the listener is."""

from __future__ import annotations

import asyncio
import random
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from euphoria_agents.play.web import stream
from tests.tools.served import ANN, BOB, RANDOM, Listener, Served, Visitor, new, play, wait_for, wait_until

DECISION_LIMIT = 2_500  # bytes sent for each decision of others, the first view apart


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("stream") / "games.sqlite") as found:
        yield found


@pytest.fixture
def ann(server: Served) -> Visitor:
    return server.visitor()


def test_views_come_by_the_stream_and_are_small(server: Served, ann: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four people; each stream says what `GET view` says, also where only the changed lines of the board are sent."""
    api = f"/api/games/{new(ann, *({**ANN, 'name': name} for name in 'ABCD'))['id']}"
    rng, decisions = random.Random(2), 80
    monkeypatch.setattr(stream, "GAP", 0)
    with (
        Listener(server.port, f"{api}/events?seat=0", ann, Accept_Encoding="gzip") as own,
        Listener(server.port, f"{api}/events") as everybody,
    ):
        assert own.next() == (view := ann.get(f"{api}/view?seat=0")) and own.id.startswith(f"{view['version']}-")
        assert everybody.next() == server.visitor().get(f"{api}/view")
        first = own.bytes
        for _ in range(decisions):
            asked = ann.get(f"{api}/view?seat={view['decider']}")
            play(ann, api, asked, rng.randrange(len(asked["moves"])))
            view = own.next()
            assert view == ann.get(f"{api}/view?seat=0")
            assert everybody.next()["board"] == server.visitor().get(f"{api}/view")["board"]
        assert first < 12_000 and (own.bytes - first) / decisions < DECISION_LIMIT


def test_a_reconnect_gets_only_what_is_newer(server: Served, ann: Visitor) -> None:
    api = f"/api/games/{new(ann, ANN, {**BOB, 'here': True})['id']}"
    with Listener(server.port, f"{api}/events?seat=0", ann) as heard:
        view, seen = heard.next(), heard.id
    with Listener(server.port, f"{api}/events?seat=0", ann, Last_Event_ID=seen) as again:
        again.view = view
        assert again.message()["event"] == "alive"
        after = play(ann, api, ann.get(f"{api}/view?seat={view['decider']}"))
        assert again.next()["version"] == after["version"]
        assert again.view == ann.get(f"{api}/view?seat=0")
        ann.post(f"{api}/pace", {"pace": 3})  # the version stays
        assert again.next() == {**ann.get(f"{api}/view?seat=0"), "pace": 3}


def test_a_seat_is_heard_by_its_player_alone_and_not_after_it_was_given_away(server: Served, ann: Visitor) -> None:
    made = new(ann, ANN, BOB)
    api = f"/api/games/{made['id']}"
    bob = server.visitor()
    for stranger in (None, ann):
        with Listener(server.port, f"{api}/events?seat=1", stranger) as refused:
            assert refused.status == 403
    bob.post(f"{api}/sit", {"token": made["links"][0]["token"]})
    with Listener(server.port, f"{api}/events?seat=1", bob) as heard, Listener(server.port, f"{api}/events") as everybody:
        assert heard.next()["mine"] == [1] and everybody.next()["mine"] == []
        ann.post(f"{api}/seats", {"seat": 1, "spec": None})  # a new link; Bob's cookie opens nothing any more
        assert heard.next() is None
        assert everybody.next()["version"] == ann.get(f"{api}/view")["version"]


def test_a_silent_stream_says_that_it_is_alive(server: Served, ann: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    api = f"/api/games/{new(ann, ANN, BOB)['id']}"
    monkeypatch.setattr(stream, "HEARTBEAT", 0.01)
    with Listener(server.port, f"{api}/events") as listener:
        assert listener.next()
        assert listener.message() == {"event": "alive", "data": ""}


def test_a_slow_listener_gets_the_newest_view_and_no_queue(server: Served, ann: Visitor) -> None:
    """Nothing leaves the server during a whole game of agents: then there is one more message, with the end."""
    made = ann.post("/api/games", {"seats": [RANDOM, {**RANDOM, "name": "S"}], "pace": None, "rules": {"max_turns": 40}})
    api, got = f"/api/games/{made['id']}", []
    asked = {"type": "http", "method": "GET", "path": f"{api}/events", "query_string": b"", "asgi": {"spec_version": "2.4"}}
    gate = server.inside(asyncio.Event)

    async def send(message: dict[str, Any]) -> None:
        got.append(message.get("body", b""))
        if b"id: " in got[-1]:
            await gate.wait()

    here = [(b"host", f"127.0.0.1:{server.port}".encode())]
    running = server.app({**asked, "headers": here}, lambda: asyncio.Event().wait(), send)
    listening = asyncio.run_coroutine_threadsafe(running, server.loop)
    wait_until(lambda: any(b"id: " in message for message in got))
    ann.post(f"{api}/pace", {"pace": 0})
    last = wait_for(ann, f"{api}/view", lambda view: view["over"])["version"]
    server.inside(gate.set)
    wait_until(lambda: f"id: {last}-".encode() in b"".join(got))
    listening.cancel()
    assert last > 50 and b"".join(got).count(b"id: ") == 2


def test_small_answers_are_not_held_back(server: Served, ann: Visitor) -> None:
    """Otherwise the second part of an answer waits until the browser acknowledges the first: 40 ms of each click."""
    ann.get("/api/games")
    held = [one.transport.get_extra_info("socket") for one in server.server.server_state.connections]
    assert held and all(one.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) for one in held)
