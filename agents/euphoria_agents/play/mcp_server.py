"""A server of the Model Context Protocol: a client plays one game at a time against agents, in words."""

from __future__ import annotations

import asyncio
import io
import json
import os
from asyncio import Lock
from collections.abc import AsyncIterator, Callable
from functools import partial, wraps
from typing import Any

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import ErrorData, JSONRPCError, jsonrpc_message_adapter

from euphoria_agents import background
from euphoria_agents.agent import MoveThought
from euphoria_agents.error_text import one_line
from euphoria_agents.play import Agents, Seat, Session
from euphoria_agents.play.failures import PlayerFailed
from euphoria_agents.play.seats import AGENT_NAMES, with_distinct_names
from euphoria_agents.play.study.decision_analysis import best_thoughts
from euphoria_agents.play.web.agents import check_budget
from euphoria_agents.play.web.limits import MAX_BODY
from euphoria_agents.play.web.queueing import in_thread
from euphoria_env import Game, Rules, words
from euphoria_env.board import SPACES
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.cards.tiles import TILES
from euphoria_env.text import TextOptions, observation_text, read_answer, rules_text

OPPONENT = "ppo"
HOW_TO_PLAY = "`moves` lists your legal moves; call `play` with one of them, word for word"
SHOWN_MOVES = 3  # the most moves that a hint names
LONGEST_ERROR = 5000  # characters; an error may quote what the client sent
PARSE_ERROR = -32700  # of JSON-RPC


class Table:
    """One game between the client and agents. Nothing that a method returns is hidden from the client's seat (R19).

    It is not thread-safe.

    Args:
        agents: makes the opponents, and the agent that gives hints.
        hints: the spec of the agent that gives hints; None: there are none.
    """

    def __init__(self, agents: Agents, hints: str | None) -> None:
        self._agents, self._hints = agents, hints
        self._session: Session | None = None
        self._seat = 0
        self._asked, self._stopped = ("", 0), False  # the spec and the seat of the agent that is asked

    def new_game(
        self,
        players: int = 2,
        opponents: list[str] | None = None,
        seat: int = 0,
        seed: int | None = None,
        options: dict[str, Any] | None = None,
    ) -> str:
        """Begins a new game in place of the one before, lets the agents play until it is your turn, and returns what you see.

        Args:
            players: the number of players, 2 to 6.
            opponents: the agents in turn order after you, such as random, weights, greedy, ppo or mcts:100; the last one takes
                all further seats; by default ppo.
            seat: your seat, from 0 on.
            seed: equal seeds give equal games; by default a random one.
            options: options of the game by name, such as {"stars_to_win": 5}.
        """
        rules = Rules(num_players=players, **(options or {}))
        named = opponents or [OPPONENT]
        if len(named) >= players:
            raise ValueError(f"opponents must be at most {players - 1}, not {len(named)}")
        if not 0 <= seat < players:
            raise ValueError(f"seat must be from 0 to {players - 1}, not {seat}")
        seats = [Seat(AGENT_NAMES[k], named[min((k - seat) % players, len(named)) - 1]) for k in range(players)]
        seats[seat] = Seat("You")
        session = Session.of(Game(rules, seed), with_distinct_names(seats), agents=self._agents)
        for spec in named:
            if spec not in self._agents.allowed:
                check_budget(spec)
            self._about_to_ask(spec, 0)
            self._agents.check(spec)
        self._let_agents_play(session)
        self._session, self._seat = session, seat
        return self.look()

    def look(self) -> str:
        """Returns what you may know of the game: your things, the others', the board, what happened, and the question."""
        session = self._begun()
        last = session.last_decision(self._seat)
        options, since = TextOptions(moves="none"), 0 if last is None else last
        text = observation_text(session.game_at(), self._seat, options, since, how_to_answer=HOW_TO_PLAY)
        return text if not session.over else f"{session.question(self._seat)}\n\n{text}"

    def moves(self) -> str:
        """Returns your legal moves, a line for each, with costs, gains and risks."""
        return "\n".join(map(_told, self._begun().moves(self._seat))) or "You have no move: the game has ended."

    def play(self, move: str) -> str:
        """Plays a move, and the agents' next ones; returns what happened, the question, and your legal moves.

        Args:
            move: a legal move, word for word as `moves` writes it; longer answers are read as those of language models.
        """
        session = self._begun()
        before, answer = session.decisions, read_answer(move, session.game_at().legal())
        if answer.fault:
            raise ValueError(f"{answer.error}; {HOW_TO_PLAY}")
        session.play(self._seat, answer.move)
        self._let_agents_play(session)
        lines = map(str, [*session.log(self._seat, before), "", session.question(self._seat), "", self.moves()])
        return "\n".join(lines)

    def rules(self, length: str = "short") -> str:
        """Returns the rules of the game.

        Args:
            length: "short" or "whole".
        """
        if length not in ("short", "whole"):
            raise ValueError(f'length must be "short" or "whole", not {length!r}')
        return rules_text(length, Rules() if self._session is None else self._session.rules)

    def explain(self, name: str) -> str:
        """Explains one of your legal moves, or a recruit, a market tile or a space by its name.

        Args:
            name: the move as `moves` writes it, or the name as in the texts of the game.
        """
        wanted = " ".join(name.lower().split())
        legal = [] if self._session is None else self._session.moves(self._seat)
        for move in legal:
            if move.notation == wanted:
                return _told(move)
        for names, told in _CARDS.values():
            if wanted in names:
                return told(wanted)
        raise ValueError(
            f"{name[:60]!r} is no legal move, recruit, market tile or space; the resource of the cards has all names"
        )

    def hint(self) -> str:
        """Returns what an agent thinks of your legal moves: the best ones, with your chance to win after each if it tells it."""
        if self._hints is None:
            raise ValueError("no hints are allowed: start the server with --hints AGENT")
        session = self._begun()
        self._about_to_ask(self._hints, self._seat)
        best = best_thoughts(session.hint(self._seat, self._hints)["moves"], SHOWN_MOVES)
        notation = {move.action: move.notation for move in session.moves(self._seat)}
        if not best:
            raise ValueError(f"the agent {self._hints} tells no opinion of moves: start the server with --hints ppo, or mcts:100")
        return "\n".join(f"- {notation[one['action']]}{_opinion(one)}" for one in best)

    def _begun(self) -> Session:
        if self._session is None:
            raise ValueError("no game has begun: call new_game")
        self._let_agents_play(self._session)  # again, if one has failed before
        return self._session

    def _let_agents_play(self, session: Session) -> None:
        while (think := session.thinker()) is not None:
            self._about_to_ask(session.seats[session.player].spec or "", session.player)
            session.play(session.player, think())

    def _about_to_ask(self, spec: str, seat: int) -> None:
        self._asked = spec, seat
        if self._stopped:
            raise ValueError("this call was cancelled")

    def stop(self) -> None:
        """Ends the call that is under way: its agents decide no more; any thread may call it, again and again."""
        self._stopped = True
        self._agents.stop(*self._asked)

    def tool(self, method: Callable[..., str], lock: Lock) -> Callable[..., Any]:
        """Returns a method as a tool with errors that the client can read, which can be cancelled; calls wait for each other."""

        @wraps(method)
        async def call(*args: Any, **kwargs: Any) -> str:
            try:
                async with lock:
                    self._stopped = False
                    return await in_thread(partial(method, *args, **kwargs), self.stop)
            except (ValueError, TypeError, PlayerFailed) as error:
                raise ToolError(str(error)[:LONGEST_ERROR]) from error

        return call


def rules() -> str:
    """Returns the whole rules."""
    return rules_text("whole", Rules())


def cards() -> str:
    """Returns what every recruit, market tile and space does, a line for each."""
    parts = ["\n".join([f"## {kind}", *(f"- {name}: {told(name)}" for name in names)]) for kind, (names, told) in _CARDS.items()]
    return "\n\n".join(parts)


_CARDS: dict[str, tuple[tuple[str, ...], Callable[[str], str]]] = {
    "Recruits": (RECRUIT_NAMES, words.recruit_words),
    "Market tiles": (TILES, words.tile_words),
    "Spaces": (SPACES, words.space_words),
}


def _told(move: words.Move) -> str:
    """Returns a move with its text and consequences in one line."""
    parts = {"cost": move.cost, "gain": move.gain, "risk": move.risk}
    return "; ".join([f"{move.notation}: {move.text}", *(f"{name} {text}" for name, text in parts.items() if text)])


def _opinion(thought: MoveThought) -> str:
    """Returns what an agent thinks of a move, in brackets; empty if it tells nothing."""
    parts = {"chosen with": thought["prior"], "your chance to win": thought["value"]}
    told = ", ".join(f"{name} {share:.0%}" for name, share in parts.items() if share is not None)
    return f" ({told})" if told else ""


class _Server(MCPServer):
    """A server that answers every line of its input, also those that are no message."""

    async def run_stdio_async(self) -> None:
        """Serves until stdin ends."""
        server, nothing = self._lowlevel_server, anyio.wrap_file(io.StringIO())
        async with stdio_server(stdin=nothing) as (_, answers), anyio.create_task_group() as group:
            requests, received = anyio.create_memory_object_stream[Any](0)

            async def read() -> None:
                async with requests:
                    async for line in _lines():
                        message, valid = _read_message(line)
                        await (requests if valid else answers).send(message)
                    await anyio.wait_all_tasks_blocked()  # a call that has not begun when stdin ends would get no answer

            group.start_soon(read)
            await server.run(received, answers, server.create_initialization_options())


async def _lines() -> AsyncIterator[bytes]:
    """Yields the lines of stdin; of a line that is too long only the beginning, which is too long as well."""
    rest, chunk = b"", b"\n"
    while chunk:
        chunk = await asyncio.wrap_future(background.begin(partial(os.read, 0, 1 << 16)))
        *lines, rest = (rest + chunk).split(b"\n")
        for line in [*lines, *([] if chunk or not rest else [rest])]:
            yield line
        rest = rest[: MAX_BODY + 1]


def _read_message(line: bytes) -> tuple[SessionMessage, bool]:
    """Reads a line; returns its message and True, or the error that answers it and False."""
    number = None
    try:
        if len(line) > MAX_BODY:
            raise ValueError(f"a message has at most {MAX_BODY:,} bytes")
        found = json.loads(line)
        if isinstance(found, dict) and "id" in found:
            if type(found["id"]) not in (int, str):
                raise ValueError("the id of a request is an integer or a text")
            str(found["id"]).encode()
            number = found["id"]
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False)), True
    except (ValueError, RecursionError) as error:
        told = ErrorData(code=PARSE_ERROR, message=one_line(error)[:LONGEST_ERROR])
        return SessionMessage(JSONRPCError(jsonrpc="2.0", id=number, error=told)), False


def _strict(tool: Tool) -> Tool:
    """Returns a tool that refuses arguments which it does not have, and converts none: `true` is no number."""
    arguments = tool.fn_metadata.arg_model
    arguments.model_config = {**arguments.model_config, "extra": "forbid", "strict": True}
    arguments.model_rebuild(force=True)
    tool.parameters = arguments.model_json_schema()
    return tool


def make_server(agents: Agents, hints: str | None = None) -> MCPServer:
    """Returns a server with the tools of a `Table`, whose arguments these are, and the rules and cards as resources."""
    table, lock = Table(agents, hints), Lock()
    methods = (table.new_game, table.look, table.moves, table.play, table.rules, table.explain, table.hint)
    server = _Server("euphoria", tools=[_strict(Tool.from_function(table.tool(method, lock))) for method in methods])
    for read in (rules, cards):
        server.resource(f"euphoria://{read.__name__}", mime_type="text/markdown")(read)
    return server
