"""Asking agents for their moves: the one place where an agent meets a game, and where its answers are checked.

Nothing that an agent gets is used again: it may keep and change the arrays, the game and the generator without touching what it,
or anybody else, is judged by.
"""

from __future__ import annotations

import bisect
import itertools
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from euphoria_env.actions import NAMES, NUM_ACTIONS
from euphoria_env.envs.derived_seeds import derived_generator, derived_seed
from euphoria_env.game import Game, IllegalMove

if TYPE_CHECKING:
    from euphoria_env.batch import Batch


class AgentFailed(RuntimeError):
    """An agent in a process of its own failed; the message names it and says how."""


class TooSlow(AgentFailed):
    """An agent took longer than it may."""


class Player(Protocol):
    """The least that an agent must have to be asked: `act`.

    It may also have:
        needs_game: if true, `act` is called with a fourth argument, a `Game` that was determinized for its seat (R19).
        act_batch: `act_batch(observations, masks, rng)` answers many games at once; not called if it needs a game.
        answers_alike: if true for the class itself, `act` answers one game alone as `act_batch` would, with the same draws.
        name: by which errors name it, instead of its class.

    `euphoria_agents.Agent` has all of them.
    """

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, /) -> int:
        """Chooses a legal move.

        Args:
            observation: what the player may see, int8 (OBS_SIZE,).
            mask: the legal moves, bool or int8 (NUM_ACTIONS,); at least one.
            rng: the only source of chance, so that equal seeds give equal games.
        """


class IllegalAnswer(IllegalMove):
    """An agent answered with what is not a legal move.

    The message never lists the legal moves, which may tell what only the player knows (R19). For the same reason others at the
    table get `public`, without the answer.

    Attributes:
        agent: the name of the agent.
        answer: the move in notation, or whatever was answered instead of one.
    """

    public = "its answer is not a legal move"

    def __init__(self, agent: str, answer: Any, fault: str) -> None:
        super().__init__(f"the agent {agent} {fault}")
        self.agent, self.answer = agent, answer


def agent_name(agent: Player) -> str:
    """The name of an agent, or its class, to say whose fault something is."""
    kind, name = type(agent), getattr(agent, "name", None)
    return name if isinstance(name, str) else f"{kind.__module__}.{kind.__qualname__}"


# --------------------------------------------------------------------------------------------------------------- one agent


def ask(
    agent: Player, observations: np.ndarray, masks: np.ndarray, rng: np.random.Generator, deal: Callable[[int], Game]
) -> tuple[np.ndarray, float]:
    """The moves of an agent in some decisions, in one batch where it can.

    Args:
        agent: whom to ask.
        observations: int8 (N, OBS_SIZE). It is the agent's from now on, which may keep and change it.
        masks: bool or int8 (N, NUM_ACTIONS), the legal moves; the agent's too, and its answers are compared with a copy.
        rng: what this agent, and nobody else, draws from.
        deal: gives the game of decision k, determinized for the seat that decides (R19); called only if the agent needs it.

    Returns:
        The moves, int64 (N,), and how many seconds the agent thought.

    Raises:
        IllegalAnswer: an answer is not a legal move. An error raised by the agent itself gets a note that names it.
    """
    legal = masks.copy()
    if getattr(agent, "needs_game", False):
        answers, seconds = [], 0.0
        for k, (observation, mask) in enumerate(zip(observations, masks, strict=True)):
            answer, took = _timed(agent, agent.act, observation, mask, rng, deal(k))
            answers.append(answer)
            seconds += took
    elif hasattr(agent, "act_batch"):
        answers, seconds = _timed(agent, agent.act_batch, observations, masks, rng)
    else:
        pairs = zip(observations, masks, strict=True)
        answers, seconds = _timed(agent, lambda: [agent.act(observation, mask, rng) for observation, mask in pairs])
    return _checked(agent, answers, legal), seconds


def ask_one(agent: Player, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, deal: Callable[[], Game]) -> int:
    """The move of an agent in one decision; arguments and errors as for `ask`, but the agent gets a copy of the mask."""
    if not type(agent).__dict__.get("answers_alike"):  # a subclass may have another `act_batch`
        return int(ask(agent, observation[None], mask[None].copy(), rng, lambda _: deal())[0][0])
    try:
        move = agent.act(observation, mask.copy(), rng)
    except (Exception, SystemExit) as error:
        _blame(agent, error)
        raise
    if type(move) is int and 0 <= move < NUM_ACTIONS and mask[move]:
        return move
    return int(_checked(agent, [move], mask[None])[0])


def _timed(agent: Player, call: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    """An agent's answer, and the seconds that it took; an error inside it is blamed on the agent."""
    began = time.perf_counter()
    try:
        answer = call(*arguments)
    except (Exception, SystemExit) as error:
        _blame(agent, error)
        raise
    return answer, time.perf_counter() - began


def _blame(agent: Player, error: BaseException) -> None:
    """Notes on an error that it came from inside an agent, which may not end the process either."""
    if isinstance(error, SystemExit):
        raise RuntimeError(f"the agent {agent_name(agent)} wanted to end the process (SystemExit)") from error
    if not isinstance(error, AgentFailed):
        error.add_note(f"raised by the agent {agent_name(agent)}")


def _checked(agent: Player, answers: Any, masks: np.ndarray) -> np.ndarray:
    """Answers as moves, in an array that the agent does not have, once each is legal."""
    given = np.asarray(answers)
    if given.shape != (len(masks),) or given.dtype.kind not in "iu":
        wanted = "an action id" if len(masks) == 1 else f"{len(masks)} action ids"
        answer = given[0] if given.shape == (1,) else answers
        raise IllegalAnswer(agent_name(agent), answer, f"must answer with {wanted}, not {answer!r}")
    moves = given.astype(np.int64)
    if len(moves) == 1 and 0 <= moves[0] < NUM_ACTIONS and masks[0, moves[0]]:  # what follows, said quickly for one
        return moves
    known = (given >= 0) & (given < NUM_ACTIONS)
    legal = known & (masks[np.arange(len(moves)), np.where(known, moves, 0)] != 0)
    if not legal.all():
        k = int(legal.argmin())
        answer = NAMES[moves[k]] if known[k] else int(given[k])
        raise IllegalAnswer(agent_name(agent), answer, f"answered {answer!r}, which is illegal")
    return moves


# ------------------------------------------------------------------------------------------------------------- many games


class Games(Protocol):
    """Games side by side in which agents decide. `BatchGames` has all but `asked` and `advance` for those of a `Batch`."""

    def asked(self) -> Iterable[tuple[Player, Any]]:
        """Each agent that must decide now, once, with the numbers of its games; nothing when no game waits for an agent."""

    def seen(self, games: Any) -> tuple[np.ndarray, np.ndarray]:
        """The observations of those who decide in these games, int8 (K, OBS_SIZE), and their legal moves, (K, NUM_ACTIONS)."""

    def dealt(self, game: int) -> Game:
        """A game as the agent that decides there gets it: determinized for its seat (R19)."""

    def take(self, games: Any, moves: np.ndarray, seconds: float) -> None:
        """Takes an agent's moves in these games, all of them legal, and how many seconds it thought."""

    def advance(self) -> None:
        """Plays what was taken; all agents have answered."""


def play_agents(several: Sequence[Games], rng: Callable[[Player], np.random.Generator], ask: Callable[..., Any] = ask) -> bool:
    """Asks every agent that must decide anywhere, each once for all its games, and plays the moves.

    Args:
        several: the games; they may be of different numbers of players.
        rng: what an agent draws from; no two agents may get the same (`Generators`).
        ask: what asks an agent, `ask` or something around it.

    Returns:
        Whether anybody had to decide.

    Raises:
        IllegalAnswer: as for `ask`; the moves of some agents may have been taken.
    """
    waiting: dict[int, list[tuple[Player, Games, Any]]] = {}
    for games in several:
        for agent, numbers in games.asked():
            waiting.setdefault(id(agent), []).append((agent, games, numbers))
    for parts in waiting.values():
        _answer(parts, rng(parts[0][0]), ask)
    for games in {id(games): games for parts in waiting.values() for _, games, _ in parts}.values():
        games.advance()
    return bool(waiting)


def _answer(parts: list[tuple[Player, Games, Any]], rng: np.random.Generator, ask: Callable[..., Any]) -> None:
    """Asks an agent for its moves in some of the games of each part, together."""
    if len(parts) == 1:
        agent, games, numbers = parts[0]
        games.take(numbers, *ask(agent, *games.seen(numbers), rng, lambda k: games.dealt(numbers[k])))
        return
    ends = list(itertools.accumulate(len(numbers) for *_, numbers in parts))

    def deal(k: int) -> Game:
        part = bisect.bisect_right(ends, k)
        _, games, numbers = parts[part]
        return games.dealt(numbers[k - ends[part]])  # counted from the end of its part

    observations, masks = zip(*(games.seen(numbers) for _, games, numbers in parts), strict=True)
    moves, seconds = ask(parts[0][0], np.concatenate(observations), np.concatenate(masks), rng, deal)
    for (_, games, numbers), end in zip(parts, ends, strict=True):
        games.take(numbers, moves[end - len(numbers) : end], seconds * len(numbers) / len(moves))


class Generators:
    """The generators of agents: one for each, which reveals nothing about `rng` (R19).

    Args:
        rng: what the generators are derived from, when their agents are first asked.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._own: list[tuple[Player, np.random.Generator]] = []  # by identity, which a copy of all keeps

    def __call__(self, agent: Player) -> np.random.Generator:
        """The generator of an agent."""
        for known, own in self._own:
            if known is agent:
                return own
        own = derived_generator(self._rng)
        self._own.append((agent, own))
        return own


class BatchGames:
    """The part of `Games` that is alike for all games of a batch.

    Args:
        n: number of games, N.

    Attributes:
        batch: the games.
        rng: what the games that agents get are dealt from.
        moves: (N,) int64, the moves taken.
    """

    batch: Batch
    rng: np.random.Generator

    def __init__(self, n: int) -> None:
        self.moves = np.zeros(n, np.int64)

    def seen(self, games: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See `Games.seen`."""
        return self.batch.observation[games], self.batch.mask[games]

    def dealt(self, game: int) -> Game:
        """See `Games.dealt`."""
        return self.batch.game(game).determinize(int(self.batch.player[game]), derived_seed(self.rng))

    def take(self, games: np.ndarray, moves: np.ndarray, seconds: float) -> None:
        """See `Games.take`."""
        self.moves[games] = moves
