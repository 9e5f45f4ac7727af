"""A server of the Model Context Protocol: a client plays one game at a time against agents, in words."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from euphoria_agents.agent import MoveThought
from euphoria_agents.play import Agents, Seat, Session
from euphoria_agents.play.failures import PlayerFailed
from euphoria_agents.play.seats import AGENT_NAMES, with_distinct_names
from euphoria_agents.play.study.decision_analysis import best_thoughts
from euphoria_env import Game, Rules, words
from euphoria_env.board import SPACES
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.cards.tiles import TILES
from euphoria_env.text import TextOptions, observation_text, read_answer, rules_text

OPPONENT = "ppo"
HOW_TO_PLAY = "`moves` lists your legal moves; call `play` with one of them, word for word"
SHOWN_MOVES = 3  # the most moves that a hint names
LONGEST_ERROR = 5000  # characters; an error may quote what the client sent


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
        session.check_agents()
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
        return "\n".join([*session.log(self._seat, before), "", session.question(self._seat), "", self.moves()])

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
            session.play(session.player, think())


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


def _in_words(method: Callable[..., str], lock: Lock) -> Callable[..., str]:
    """Returns the method with errors that the client can read; calls that come at once wait for each other."""

    @wraps(method)
    def call(*args: Any, **kwargs: Any) -> str:
        try:
            with lock:  # each call has a thread of its own
                return method(*args, **kwargs)
        except (ValueError, TypeError, PlayerFailed) as error:
            raise ToolError(str(error)[:LONGEST_ERROR]) from error

    return call


def make_server(agents: Agents, hints: str | None = None) -> MCPServer:
    """Returns a server with the tools of a `Table`, and the rules and cards as resources.

    Args:
        agents: makes the opponents.
        hints: the spec of the agent that gives hints; None: the tool says that there are none.
    """
    server, table, lock = MCPServer("euphoria"), Table(agents, hints), Lock()
    for method in (table.new_game, table.look, table.moves, table.play, table.rules, table.explain, table.hint):
        server.tool()(_in_words(method, lock))
    for read in (rules, cards):
        server.resource(f"euphoria://{read.__name__}", mime_type="text/markdown")(read)
    return server
