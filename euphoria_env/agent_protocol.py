"""The agent protocol: how an agent is queried for its moves in games, and how its answers are checked.

An agent may keep and change the arrays, the game and the generator that it gets: the caller does not use them again.
"""

from __future__ import annotations

import copy
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from euphoria_env.actions import NAMES, NUM_ACTIONS
from euphoria_env.board import MAX_PLAYERS
from euphoria_env.derived_seeds import derived_generator, derived_seed
from euphoria_env.event_kinds import number_of_events
from euphoria_env.game import Game, IllegalMove
from euphoria_env.memory import Ids, Memory

if TYPE_CHECKING:
    from euphoria_env.batch import Batch


# What compiled agents know of a learner: its seat; whether its rewards count, and their sum; the agents' random generator; and,
# by seat, the numbers of the agents.
_FIELDS = [("seat", np.int64), ("credited", np.int64), ("reward", np.float64)]
LEARNER = np.dtype([*_FIELDS, ("generator", np.int64, 2), ("agents", np.int64, MAX_PLAYERS)])
NO_MOVE = -1
_ASKED = {"act", "act_batch", "act_games"}  # what chooses moves


class AgentFailed(RuntimeError):
    """An agent in a process of its own failed; the message names the agent and the failure."""

    kind = place = ""


class TooSlow(AgentFailed):
    """An agent exceeded its time limit."""


class Story(NamedTuple):
    """The events that the player of a determinized game has seen since their last decision."""

    game: str  # a name of the game and the seat, the same for all its decisions
    lines: list[str]  # what happened, in words (`words.log`)


class Player(Protocol):
    """The least that an agent must have is `act`; it may also have the attributes.

    Attributes:
        needs_game: if true, `act` is called with a fourth argument, a `Game` that was determinized for its seat (R19).
        needs_story: if true, this game has a `story`, if whoever deals it knows what has happened.
        act_games: `act_games(games, rng)` chooses the moves of many such games at once.
        act_batch: `act_batch(observations, masks, rng)` chooses the moves of many games; not called if the agent needs a game.
        needs_deals: if true, it also gets `deal=`; `deal(k)` returns such a game for decision k, for the few that need one.
        needs_events: K; if not 0, `act` also gets `events=`, int8 (K, EVENT_SIZE), the last K events of the game as the seat
            sees them (docs/events.md), and `act_batch` `events=`, int8 (N, K, EVENT_SIZE).
        needs_ids: if true, `act` also gets `id=`, and `act_batch` `ids=`, int64 (N,): a number for each game and seat, the same
            for all their decisions, which tells nothing else.
        begin, end: `begin(ids)` and `end(ids)` are called with such numbers, int64 (K,), before the first question of each and
            after the last one.
        compiled: if the class itself sets it, and this project has it: the name of a module with `line_up(agents)`; of what that
            returns, `asked`, bool (A,), says which agents choose in Python, and `bind(learners, games, moves, active)` gives a
            function of `first` and `last`, valid as long as these arrays. It plays the active ones of those games on, first by
            these moves (NO_MOVE: one of the agents'), until the learner (LEARNER) or an agent in Python must decide, or the
            game ends, and returns how many ended. Nothing calls `act` or `act_batch` then.
        name: the name that error messages use instead of the name of the class.
        counts: `counts()` returns numbers that only grow: `decisions`, which it was asked; `legal_first`, those
            in which its first answer was legal; `tokens_in`, `tokens_out` and `dollars`, what the answers cost.

    `euphoria_agents.Agent` has all of them.
    """

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, /) -> int:
        """Chooses a legal move.

        Args:
            observation: what the player may see, int8 (OBS_SIZE,).
            mask: the legal moves, bool or int8 (NUM_ACTIONS,); at least one.
            rng: the only source of chance, so that equal seeds give equal games.
        """


def keeps_games_apart(agent: Player) -> bool:
    """Returns whether an agent is one of this project that remembers nothing of one game or seat when it plays another.

    Any other might put together what it saw on two seats of one deal, so no object or process of it gets two of them.
    """
    own = getattr(agent, "__dict__", {})  # an instance may have functions of its own
    code = [type(agent), *(own[name] for name in own.keys() & _ASKED)]
    return getattr(agent, "keeps_games_apart", False) is True and all(map(_is_ours, code))


def _is_ours(code: Any) -> bool:
    """Returns whether a class or function is one of a module of this project; others may name any module."""
    module, name = getattr(code, "__module__", None) or "", getattr(code, "__name__", "")
    return module.startswith("euphoria_agents.") and getattr(sys.modules.get(module), name, None) is code


def separated(agents: Sequence[Player]) -> list[Player]:
    """Returns a line-up in which agents that may remember games are copied for their further seats, or raises a `ValueError`."""
    found: list[Player] = []
    for agent in agents:
        other, why = agent, None
        if any(agent is one for one in found) and not keeps_games_apart(agent):
            try:
                other = copy.deepcopy(agent)
            except Exception as error:
                why = error
            if other is agent:
                what = f"the agent {agent_name(agent)} has several seats but cannot be copied"
                raise ValueError(f"{what}: give an object for each, or its spec") from why
        found.append(other)
    return found


class IllegalAnswer(IllegalMove):
    """An agent's answer is not a legal move: `answer`, in notation if it is an action id.

    The message never lists the legal moves, since they may reveal what only the player knows (R19). For the same reason the other
    players get the text `public`, which does not contain the answer.
    """

    public = "its answer is not a legal move"

    def __init__(self, agent: str, answer: Any, fault: str) -> None:
        super().__init__(f"the agent {agent} {fault}")
        self.agent, self.answer = agent, answer


def agent_name(agent: Player) -> str:
    """Returns the name of an agent for error messages: its `name`, or else its class."""
    kind, name = type(agent), getattr(agent, "name", None)
    return name if isinstance(name, str) else f"{kind.__module__}.{kind.__qualname__}"


def events_needed(agent: Player) -> int:
    """Returns how many events an agent needs; raises a `ValueError` if that is no possible number."""
    needed = getattr(agent, "needs_events", 0)
    try:
        return needed and number_of_events(needed)
    except ValueError as error:
        raise ValueError(f"needs_events of the agent {agent_name(agent)}: {error}") from None


def most_events(agents: Iterable[Player]) -> int:
    """Returns how many events these agents need at most; errors as for `events_needed`."""
    return max(map(events_needed, agents), default=0)


def _remembered(agent: Player, memory: Memory | None) -> dict[str, np.ndarray]:
    """Returns what an agent with a memory also gets for N decisions: `events` and `ids`, as far as it needs them."""
    events, ids = events_needed(agent), getattr(agent, "needs_ids", False)
    if memory is None and (events or ids):
        raise ValueError(f"the agent {agent_name(agent)} needs {'events' if events else 'ids'}, which are not known here")
    found = {"events": memory.events(events)} if memory and events else {}
    return found | {"ids": memory.ids(agent)} if memory and ids else found


def remembered_by_one(remembered: Mapping[str, np.ndarray], k: int) -> dict[str, Any]:
    """Returns the part of decision k: `events`, and `id` in place of `ids`."""
    own = {"id": int(remembered["ids"][k])} if "ids" in remembered else {}
    return {"events": remembered["events"][k], **own} if "events" in remembered else own


def query(
    agent: Player,
    observations: np.ndarray,
    masks: np.ndarray,
    rng: np.random.Generator,
    deal: Callable[[int], Game],
    memory: Memory | None = None,
) -> tuple[np.ndarray, float]:
    """Queries an agent for its moves in N decisions, in one batch if it can answer one.

    Args:
        observations: int8 (N, OBS_SIZE); the agent may keep and change them.
        masks: the legal moves, bool or int8 (N, NUM_ACTIONS); the agent may change them, since a copy is kept for the check.
        rng: a generator from which only this agent draws.
        deal: returns the game of decision k, determinized for the seat that decides (R19); called only if the agent needs it.
        memory: what agents with a memory may know of these decisions.

    Returns:
        The moves, int64 (N,), and the seconds that the agent took.

    Raises:
        IllegalAnswer: an answer is not a legal move. An error raised by the agent itself gets a note that names the agent.
    """
    legal, remembered = masks.copy(), _remembered(agent, memory)
    if hasattr(agent, "act_games"):
        answers, seconds = _timed(agent, agent.act_games, [deal(k) for k in range(len(legal))], rng)
    elif getattr(agent, "needs_game", False):
        answers, seconds = [], 0.0
        for k, (observation, mask) in enumerate(zip(observations, masks, strict=True)):
            act = partial(agent.act, **remembered_by_one(remembered, k))
            answer, took = _timed(agent, act, observation, mask, rng, deal(k))
            answers.append(answer)
            seconds += took
    elif hasattr(agent, "act_batch"):
        more: dict[str, Any] = {**remembered, "deal": deal} if getattr(agent, "needs_deals", False) else {**remembered}
        answers, seconds = _timed(agent, partial(agent.act_batch, observations, masks, rng, **more))
    else:
        rows = [(*row, remembered_by_one(remembered, k)) for k, row in enumerate(zip(observations, masks, strict=True))]
        answers, seconds = _timed(agent, lambda: [agent.act(observation, mask, rng, **more) for observation, mask, more in rows])
    return _legal_moves(agent, answers, legal), seconds


def query_one(
    agent: Player,
    observation: np.ndarray,
    mask: np.ndarray,
    rng: np.random.Generator,
    deal: Callable[[], Game],
    memory: Memory | None = None,
) -> int:
    """Queries an agent for one move; arguments and errors as for `query`, but the agent gets a copy of the mask."""
    return int(query(agent, observation[None], mask[None].copy(), rng, lambda _: deal(), memory)[0][0])


def _timed(agent: Player, call: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    """Calls a method of an agent; returns the answer and the seconds that it took."""
    began = time.perf_counter()
    try:
        answer = call(*arguments)
    except (Exception, SystemExit) as error:
        _blame(agent, error)
        raise
    return answer, time.perf_counter() - began


def _blame(agent: Player, error: BaseException) -> None:
    """Adds the name of the agent to an error that it raised; turns SystemExit, which an agent may not raise, into an error."""
    if isinstance(error, SystemExit):
        raise RuntimeError(f"the agent {agent_name(agent)} wanted to end the process (SystemExit)") from error
    if not isinstance(error, AgentFailed):
        error.add_note(f"raised by the agent {agent_name(agent)}")


def _legal_moves(agent: Player, answers: Any, masks: np.ndarray) -> np.ndarray:
    """Returns the answers of an agent as an array of its own, after checking that each is legal."""
    try:
        given = np.asarray(answers)
    except ValueError:  # numpy refuses lists in which some entries are lists
        given = np.zeros(0)
    if given.shape != (len(masks),) or given.dtype.kind not in "iu":
        wanted = "an action id" if len(masks) == 1 else f"{len(masks)} action ids"
        answer = given[0] if given.shape == (1,) else answers
        raise IllegalAnswer(agent_name(agent), answer, f"must answer with {wanted}, not {answer!r}")
    moves = given.astype(np.int64)
    if len(moves) == 1 and 0 <= moves[0] < NUM_ACTIONS and masks[0, moves[0]]:  # a single answer needs no arrays, for speed
        return moves
    known = (given >= 0) & (given < NUM_ACTIONS)
    legal = known & (masks[np.arange(len(moves)), np.where(known, moves, 0)] != 0)
    if not legal.all():
        k = int(legal.argmin())
        answer = NAMES[moves[k]] if known[k] else int(given[k])
        raise IllegalAnswer(agent_name(agent), answer, f"answered {answer!r}, which is illegal")
    return moves


def games_by_agent(agents: Sequence[Any], numbers: np.ndarray, games: np.ndarray) -> Iterator[tuple[Any, np.ndarray]]:
    """Yields each agent that decides, with its games; `numbers` has, for each game, the index of its agent in `agents`."""
    (present,) = np.bincount(numbers).nonzero()
    for k in present.tolist():
        yield agents[k], games if len(present) == 1 else games[numbers == k]


class Generators:
    """Gives each agent its own generator, from which nobody can compute the state of `rng` (R19).

    Args:
        rng: the generator from which an agent's own generator is derived when the agent decides for the first time.
        key: a secret with which it is derived (`derived_seeds.stretched`).
    """

    def __init__(self, rng: np.random.Generator, key: bytes = b"") -> None:
        self._rng, self.key = rng, key
        self._own: list[tuple[Player, np.random.Generator]] = []  # found by identity, which a deep copy preserves

    def __call__(self, agent: Player) -> np.random.Generator:
        """Returns the generator of an agent."""
        for known, own in self._own:
            if known is agent:
                return own
        own = derived_generator(self._rng, self.key)
        self._own.append((agent, own))
        return own


class AgentGames:
    """Runs many games in which agents decide, by default those of a `Batch`; subclasses have `deciding`, `advance`, `name`."""

    batch: Batch  # the games, N of them
    rng: np.random.Generator  # the generator for dealing the games that agents get
    key: bytes = b""  # the secret with which their seeds are derived
    moves: np.ndarray  # (N,) int64, the moves of the agents
    ids: Ids  # the numbers of games and seats, for agents that need them

    def deciding(self) -> Iterable[tuple[Player, Any]]:
        """Yields every agent that must decide now, each once and with the numbers of its games."""
        raise NotImplementedError

    def advance(self) -> None:
        """Plays the stored moves, after all agents have answered."""
        raise NotImplementedError

    def inputs(self, games: Any) -> tuple[np.ndarray, np.ndarray]:
        """Returns the observations, int8 (K, OBS_SIZE), and the masks (K, NUM_ACTIONS) of the players to move in these games."""
        return self.batch.observation[games], self.batch.mask[games]

    def determinized(self, game: int) -> Game:
        """Returns a game as the agent that decides gets it: determinized for its seat (R19)."""
        return self.batch.game(game).determinize(int(self.batch.player[game]), derived_seed(self.rng, self.key))

    def name(self, game: int) -> str:
        """Returns a name of a game, which no later one has."""
        raise NotImplementedError

    def deciders(self, games: Any) -> Sequence[int]:
        """Returns the seats that decide in these games."""
        return self.batch.player[games].tolist()

    def last_events(self, games: Any, k: int) -> np.ndarray:
        """Returns the last k events of these games as the players to move see them, int8 (K, k, EVENT_SIZE)."""
        return self.batch.events[games][:, -k:]

    def memory(self, games: Any) -> Memory:
        """Returns what agents with a memory may know of the decisions in these games."""
        return Memory(
            partial(self.last_events, games),
            lambda agent: self.ids.of(agent, zip(map(self.name, games), self.deciders(games), strict=True)),
        )

    def query(self, agent: Player, games: Any, rng: np.random.Generator) -> tuple[np.ndarray, float]:
        """Returns an agent's moves in these games and the seconds it took; errors as for the function `query`."""
        return query(agent, *self.inputs(games), rng, lambda k: self.determinized(games[k]), self.memory(games))

    def store(self, games: Any, moves: np.ndarray, seconds: float) -> None:
        """Stores an agent's moves, all of them legal, in these games; `seconds` is the time that the agent took for all."""
        self.moves[games] = moves

    def play_round(self, generators: Callable[[Player], np.random.Generator]) -> bool:
        """Queries every agent that must decide, each once for all its games, plays the moves, and returns whether there were any.

        No two agents may get the same generator from `generators`. Raises an `IllegalAnswer` as `query` does; the moves of some
        agents may have been stored then.
        """
        waiting = list(self.deciding())
        for agent, games in waiting:
            self.store(games, *self.query(agent, games, generators(agent)))
        if waiting:
            self.advance()
        return bool(waiting)
