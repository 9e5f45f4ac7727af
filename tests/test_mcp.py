"""The server of the Model Context Protocol, asked by the client of its SDK."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from euphoria_agents.play import Agents, Seat, Session, mcp_server
from euphoria_agents.play.mcp_server import Table, make_server
from euphoria_env import Game, Rules
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.cards.tiles import TILES
from tests.test_hostile_use import alive
from tests.tools.model_server import Answer, model_server
from tests.tools.served import wait_until

Ask = Callable[..., Awaitable[str]]


def asked(use: Callable[[Ask], Awaitable[None]], hints: str | None = None, server: object = None) -> None:
    """Calls `use` with a function that calls a tool by its name, and returns its text; errors begin with "error"."""

    async def run() -> None:
        async with Client(server or make_server(Agents(), hints)) as client:

            async def ask(tool: str, **arguments: object) -> str:
                result = await client.call_tool(tool, arguments)
                return ("error: " if result.is_error else "") + result.content[0].text

            ask.client = client
            await use(ask)

    asyncio.run(run())


async def first_move(ask: Ask) -> str:
    return (await ask("moves")).partition(":")[0]


def test_a_client_plays_a_whole_game_and_equal_seeds_give_equal_games() -> None:
    texts: list[str] = []

    async def play(ask: Ask) -> None:
        told = [await ask("new_game", players=3, opponents=["weights"], seat=1, seed=4, options={"stars_to_win": 2})]
        while "You have no move" not in told[-1]:
            told.append(await ask("play", move=(await first_move(ask)).upper()))
            assert not told[-1].startswith("error")
        assert "The game has ended" in told[-1] and (await ask("look")).startswith("The game has ended")
        texts.append("\n".join(told))

    asked(play)
    asked(play)
    assert texts[0] == texts[1]


def test_the_command_serves_on_stdio() -> None:
    async def use(ask: Ask) -> None:
        tools = {tool.name for tool in (await ask.client.list_tools()).tools}
        assert tools == {"new_game", "look", "moves", "play", "rules", "explain", "hint"}
        seen = await ask("new_game", opponents=["random"], seed=1)
        assert "## Question" in seen and "call `play`" in seen and "<move>" not in seen

    asked(use, server=StdioServerParameters(command=sys.executable, args=["-m", "euphoria_agents", "mcp"]))


def test_what_is_wrong_is_said_and_changes_nothing() -> None:
    async def use(ask: Ask) -> None:
        for tool, arguments in (("look", {}), ("moves", {}), ("play", {"move": "end turn"})):
            assert "no game has begun: call new_game" in await ask(tool, **arguments)
        seen = await ask("new_game", opponents=["random"], seed=1)
        for fault, arguments in {
            "num_players must be": {"players": 7},
            "opponents must be at most 1, not 2": {"opponents": ["random", "random"]},
            "seat must be from 0 to 1, not 2": {"seat": 2},
            "agent 'ppo:/etc/passwd' is not built in": {"opponents": ["ppo:/etc/passwd"]},
            "stars": {"options": {"stars": 3}},
            "num_players": {"options": {"num_players": 3}},
        }.items():
            told = await ask("new_game", **arguments)
            assert told.startswith("error") and fault in told
        assert len(await ask("new_game", opponents=["x" * 10**5])) < 10**4
        assert (await ask("play", move="place 4 nowhere")).startswith("error")
        assert await ask("look") == seen
        assert "start the server with --hints AGENT" in await ask("hint")
        assert 'length must be "short" or "whole"' in await ask("rules", length="long")
        assert "is no legal move" in await ask("explain", name="nobody")

    asked(use)


def test_a_failed_agent_is_asked_again_and_a_game_that_cannot_begin_replaces_none() -> None:
    away = threading.Event()

    def answer(prompt: str, number: int) -> Answer:
        return (
            (404, "away")
            if away.is_set()
            else f"<move>{re.findall('`([^`]+)`', prompt.partition('## Legal moves')[2])[0]}</move>"
        )

    async def use(ask: Ask) -> None:
        seen = await ask("new_game", opponents=[spec], seed=1)
        assert "tells no opinion of moves" in await ask("hint")
        away.set()
        assert (await ask("new_game", opponents=[spec], seat=1)).startswith("error") and await ask("look") == seen
        while not (told := await ask("play", move=await first_move(ask))).startswith("error"):
            pass
        assert "of seat 1 failed" in told and (await ask("look")).startswith("error")
        away.clear()
        assert "on_turn you; decides you" in await ask("look")

    with model_server(answer) as server:
        spec = f"llm:m@{server.url}?moves=list&retries=0"
        asked(use, server=make_server(Agents([spec]), spec))


def test_calls_that_come_at_once_wait_for_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted, begun, ended = list[int](), list[int](), list[int]()

    class Watched(asyncio.Lock):
        """A lock that tells how often somebody wanted it."""

        async def acquire(self) -> bool:
            wanted.append(1)
            return await super().acquire()

    @wraps(Table.look)
    def look(table: Table) -> str:
        begun.append(1)
        wait_until(lambda: len(wanted) == 2 or len(begun) == 2)
        at_once = len(begun) - len(ended)
        ended.append(1)
        return str(at_once)

    monkeypatch.setattr(mcp_server, "Lock", Watched)
    monkeypatch.setattr(Table, "look", look)

    async def use(ask: Ask) -> None:
        assert await asyncio.gather(ask("look"), ask("look")) == ["1", "1"]

    asked(use)


TOOLS = {"new_game": {}, "look": {}, "moves": {}, "play": {"move": "end"}, "rules": {}, "explain": {"name": "farm"}, "hint": {}}


def test_arguments_that_a_tool_does_not_have_are_refused_by_name() -> None:
    async def use(ask: Ask) -> None:
        for tool in (await ask.client.list_tools()).tools:
            assert tool.input_schema["additionalProperties"] is False
            told = await ask(tool.name, **TOOLS[tool.name], stars_to_win=5)
            assert told.startswith("error") and "stars_to_win\n  Extra inputs are not permitted" in told
        for wrong in ({"players": True}, {"seat": "0"}, {"seed": 1.5}):
            assert (await ask("new_game", **wrong)).startswith("error")
        assert "no game has begun" in await ask("look")

    asked(use)


class Process:
    """The command, asked line by line."""

    def __init__(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "euphoria_agents", "mcp", *arguments]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.number = 0
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        assert self.ask("initialize", **hello)["result"]
        self.send(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                pipe.close()

    def send(self, line: bytes) -> None:
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def answer(self) -> Any:
        return json.loads(self.process.stdout.readline())

    def begin(self, method: str, **params: Any) -> int:
        self.number += 1
        self.send(json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}).encode())
        return self.number

    def ask(self, method: str, **params: Any) -> Any:
        number = self.begin(method, **params)
        found = self.answer()
        assert found["id"] == number
        return found

    def call(self, tool: str, **arguments: Any) -> str:
        return str(self.ask("tools/call", name=tool, arguments=arguments)["result"]["content"][0]["text"])


NO_MESSAGES = [
    (b"", None, "Expecting value"),
    (b"hello", None, "Expecting value"),
    (b"[]", None, "object"),
    (b"\xff", None, "utf-8"),
    (b'{"jsonrpc": "2.0", "id": 77, "method": "p\xff"}', None, "utf-8"),
    (b'{"jsonrpc": "2.0", "id": 78, "method": "ping", "params": {"x": "\\ud800"}}', 78, "Invalid JSON"),
    (b'{"jsonrpc": "2.0", "id": "\\ud800", "method": "ping"}', None, "surrogates"),
    (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', None, "the id of a request is an integer or a text"),
    (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', None, "the id of a request is an integer or a text"),
    (b'{"id": 79, "method": "ping"}', 79, "jsonrpc"),
    (b"[" * 100_000, None, "recursion"),
    (b"9" * 5000, None, "digits"),
    (b'{"jsonrpc": "2.0", "id": 80, "method": "' + b"x" * 2_000_000 + b'"}', None, "at most 1,000,000 bytes"),
]


def test_every_line_gets_an_answer_and_the_process_ends_with_its_input() -> None:
    with Process() as server:
        for line, number, told in NO_MESSAGES:
            server.send(line)
            found = server.answer()
            assert (found["id"], found["error"]["code"]) == (number, -32700) and told in found["error"]["message"], line[:99]
        assert "thinks too long" in server.call("new_game", opponents=["mcts:1000000000"])
        assert "no game has begun" in server.call("look")
        server.process.stdin.write(b'{"jsonrpc": "2.0", "id": 81, "method": "ping"}')  # the last line may lack its end
        server.process.stdin.close()
        assert server.answer()["id"] == 81 and server.process.wait(60) == 0


@pytest.mark.parametrize("how", ["cancelled", "stdin ends"])
def test_a_call_that_thinks_can_be_ended(tmp_path: Path, how: str) -> None:
    spec = f"tests.tools.faulty_agents:Waits:{tmp_path}"
    (tmp_path / "made").touch()
    with Process("--allow", spec) as server:
        server.call("new_game", opponents=["random"], seed=1)
        seen = server.call("look")
        number = server.begin("tools/call", name="new_game", arguments={"opponents": [spec], "seat": 1})
        wait_until(lambda: len([*tmp_path.glob("act.*")]))
        assert server.ask("ping")["result"] == {}
        (gate,) = tmp_path.glob("act.*")
        if how == "cancelled":
            cancelled = {"method": "notifications/cancelled", "params": {"requestId": number}}
            server.send(json.dumps({"jsonrpc": "2.0", **cancelled}).encode())
            assert server.call("look") == seen
        else:
            server.process.stdin.close()
            assert server.process.wait(60) == 0
        wait_until(lambda: not alive(int(gate.suffix[1:])))


def test_what_a_client_is_told_depends_on_what_its_seat_may_know_alone() -> None:
    values: dict[str, list[Any]] = {
        **{"players": [9], "opponents": [["nobody"]], "seat": [7], "seed": ["x"], "options": [{"stars": 1}]},
        **{"move": ["end turn", "morale 1", "accept", "choose nobody"], "length": ["short", "whole", "x"]},
        **{"name": ["farm", "nobody", "end", *RECRUIT_NAMES[:3]]},
    }
    seats, kinds = [Seat("You"), Seat("Ada", "weights")], set[str]()

    async def use(ask: Ask) -> None:
        game, rng, twins = Game(Rules(num_players=2, trading=True), 4), np.random.default_rng(4), list[Game]()
        while not game.over:
            action = rng.choice(game.legal_actions())
            twins = twins if all(action in twin.legal_actions() for twin in twins) else []
            for one in (game, *twins):
                one.play(int(action))
            if game.deciding == "open" and not game.player:
                twins = [game.determinize(0, number) for number in (1, 2)]
            alike = len({(twin.player, twin.mask().tobytes(), *twin.events_for(0)) for twin in twins}) == 1
            if not alike or twins[0].player or twins[0].over or twins[0].deciding in kinds:
                continue
            kinds.add(twins[0].deciding)
            told = []
            for twin in twins:
                table._session = Session.of(twin, seats, agents=Agents())
                for tool in (await ask.client.list_tools()).tools:
                    names = [*tool.input_schema["properties"]]
                    for arguments in [{}, *({name: value} for name in names for value in values[name])]:
                        moves = tool.name == "new_game" and not arguments or arguments.get("move") in twin.legal()
                        told.append("" if moves else await ask(tool.name, **arguments))
            assert told[: len(told) // 2] == told[len(told) // 2 :]

    with pytest.MonkeyPatch.context() as patch:
        table = Table(Agents(), "weights")
        patch.setattr(mcp_server, "Table", lambda *_: table)
        asked(use, hints="weights")
    assert len(kinds) > 4


def test_a_hint_begins_with_the_move_of_the_highest_value(monkeypatch: pytest.MonkeyPatch) -> None:
    def hint(session: Session, seat: int, spec: str) -> object:
        actions = [move.action for move in session.moves(seat)]
        return {"moves": [{"action": a, "prior": k / 99, "visits": None, "value": 1 - k / 99} for k, a in enumerate(actions)]}

    async def use(ask: Ask) -> None:
        await ask("new_game", opponents=["random"], seed=1)
        assert (await ask("hint")).startswith(f"- {await first_move(ask)} (")

    monkeypatch.setattr(Session, "hint", hint)
    asked(use, hints="ppo")


def test_hints_rules_and_cards() -> None:
    async def use(ask: Ask) -> None:
        await ask("new_game", opponents=["random"], seed=1)
        move = await first_move(ask)
        assert "chosen with" in await ask("hint")
        assert (await ask("explain", name=move)).startswith(move)
        assert len(await ask("rules")) < len(await ask("rules", length="whole"))
        cards = (await ask.client.read_resource("euphoria://cards")).contents[0].text
        assert all(f"- {name}: " in cards for name in (*RECRUIT_NAMES, *TILES))
        assert (await ask.client.read_resource("euphoria://rules")).contents[0].text == await ask("rules", length="whole")

    asked(use, hints="ppo")
