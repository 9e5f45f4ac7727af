"""The interface of every agent: it chooses the move of one decision, or of many at once, and may explain its opinion."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from euphoria_env.actions import NUM_ACTIONS
from euphoria_env.agent_protocol import AgentFailed, Player, agent_name
from euphoria_env.json_reader import Reader
from euphoria_env.observations import OBS_SIZE, start_of

if TYPE_CHECKING:
    from euphoria_env import Game


class MoveThought(TypedDict):
    """An agent's opinion of a legal move; None where it has none.

    Attributes:
        action: its action id.
        prior: the probability of the move before a search, 0 to 1; the priors of all moves add up to 1.
        visits: how often a search visited it.
        value: the mover's win probability after it, 0 to 1.
    """

    action: int
    prior: float | None
    visits: int | None
    value: float | None


class Explanation(TypedDict):
    """An agent's opinion of a decision.

    Attributes:
        moves: the legal moves, in the order of their ids.
        seats: the win probability of each seat; they add up to 1. None: the agent does not know them.
    """

    moves: list[MoveThought]
    seats: list[float] | None


_CLOSE = 1e-6
_THOUGHTS = ("action", "prior", "visits", "value")


class Agent(ABC):
    """A player. It sees the observation and the legal moves, never the game itself.

    Attributes:
        needs_game: whether `act` needs a `Game`; the agent always gets one that was determinized for its seat (R19).
        needs_deals: whether `act_batch` also gets `deal`, which returns such a game for each decision, for agents that need few.
        needs_events: K; if not 0, `act` and `act_batch` also get the last K events as `events`, int8 (K, EVENT_SIZE) and (N, K,
            EVENT_SIZE), as the seat sees them.
        needs_ids: whether `act` also gets `id`, and `act_batch` `ids`, int64 (N,), numbers of game and seat, of which `begin` and
            `end` tell (`euphoria_env.agent_protocol.Player`).
        keeps_games_apart: for agents of this project alone (`agent_protocol.keeps_games_apart`): whether it remembers nothing of
            one game or seat when it plays another.
    """

    needs_game = needs_deals = needs_ids = keeps_games_apart = False
    needs_events = 0

    @abstractmethod
    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Game | None = None) -> int:
        """Returns the action id of the chosen move.

        Args:
            observation: what the player may see, int8 (OBS_SIZE,).
            mask: the action mask, bool or int8 (NUM_ACTIONS,); at least one move is legal.
            rng: the only source of randomness, so that equal seeds give equal games.
            game: a determinized copy of the game, for agents that set `needs_game`.
        """

    def act_batch(self, observations: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Returns the moves in N games, integers (N,), for observations (N, OBS_SIZE) and action masks (N, NUM_ACTIONS)."""
        return np.array([self.act(o, m, rng) for o, m in zip(observations, masks, strict=True)])

    def explain(
        self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Game | None = None
    ) -> Explanation:
        """Explains a decision to people; by default it says nothing about any move.

        Arguments and errors are those of `act`, but `rng` is not advanced, so that a call of `act` afterwards makes the explained
        choice. An agent that needs no game may get one too; without a game the win probabilities of the seats are unknown.
        """
        return explanation(np.flatnonzero(mask))


def explanation(
    moves: np.ndarray,
    priors: Sequence[float] | None = None,
    visits: Sequence[int] | None = None,
    values: Sequence[float | None] | None = None,
    seats: Sequence[float] | None = None,
) -> Explanation:
    """Returns an explanation made of the moves (ascending action ids), numbers for each, and the seats' win probabilities."""
    unknown = [None] * len(moves)
    rows = zip(moves.tolist(), priors or unknown, visits or unknown, values or unknown, strict=True)
    thoughts: list[MoveThought] = [{"action": a, "prior": p, "visits": n, "value": q} for a, p, n, q in rows]
    return {"moves": thoughts, "seats": None if seats is None else list(seats)}


def explained(
    agent: Player, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Game | None = None
) -> Explanation:
    """Returns any agent's opinion of a decision; for one without `explain`, only the legal moves.

    Its arguments are those of `Agent.explain`.

    Raises:
        ValueError: the explanation does not fit this decision; the message names the agent. An error that the agent itself raises
            gets a note that names it.
    """
    if not callable(getattr(agent, "explain", None)):
        return explanation(np.flatnonzero(mask))
    legal, players = np.flatnonzero(mask).tolist(), int(observation[start_of("num_players")])  # before the agent can change them
    try:
        said = agent.explain(observation, mask, rng, game)  # type: ignore[attr-defined]
    except AgentFailed:  # which names it
        raise
    except Exception as error:
        error.add_note(f"raised by the agent {agent_name(agent)}")
        raise
    return _checked(agent, said, legal, players)


def _checked(agent: Player, said: Any, legal: list[int], players: int) -> Explanation:
    """Checks an agent's explanation against the legal moves and the number of players, and returns it."""
    reader, of = Reader(), f"what the agent {agent_name(agent)} explains"
    given = reader.mapping(of, said, ("moves", "seats"))
    moves = reader.items(f"{of}.moves", given.get("moves"))
    for k, move in enumerate(moves):
        key = f"{of}.moves[{k}]"
        thought = reader.mapping(key, move, _THOUGHTS)
        for name in ("prior", "value"):
            if thought.get(name) is not None:
                reader.number(f"{key}.{name}", thought[name], 0, 1)
        if thought.get("visits") is not None:
            reader.integer(f"{key}.visits", thought["visits"], 0, 2**63)
    if [move.get("action") for move in moves] != legal:
        reader.must(f"{of}.moves", f"be the legal moves {legal}, in this order")
    if given.get("seats") is not None:
        seats = reader.items(f"{of}.seats", given["seats"])
        total = sum(reader.number(f"{of}.seats[{k}]", chance, 0, 1) for k, chance in enumerate(seats))
        if len(seats) != players or abs(total - 1) > _CLOSE:
            reader.must(f"{of}.seats", f"be {players} chances that add up to 1")
    return {"moves": [{name: move.get(name) for name in _THOUGHTS} for move in moves], "seats": given.get("seats")}  # type: ignore[misc]


def answers_batches(agent: Player) -> bool:
    """Returns whether an agent has its own `act_batch`, which answers many decisions at once."""
    return getattr(type(agent), "act_batch", Agent.act_batch) is not Agent.act_batch


def int8_rows(array: Any, width: int) -> np.ndarray:
    """Returns observations or masks, one or many, as contiguous int8 (N, width), or raises a `ValueError` for another width."""
    array = np.asarray(array)
    if array.dtype == np.bool_:
        array = array.view(np.int8)
    if array.ndim == 1:
        array = array[None]
    if array.ndim != 2 or array.shape[1] != width:
        raise ValueError(f"observations or masks must be of shape (N, {width}), not {array.shape}")
    if array.dtype == np.int8 and array.flags.carray:  # nearly always, and faster than `require`
        return array
    return np.require(array, np.int8, ("C", "W"))


def decision_rows(observations: Any, masks: Any) -> tuple[np.ndarray, np.ndarray]:
    """Returns observations and masks of the same decisions by `int8_rows`; raises a `ValueError` unless they fit each other."""
    seen, legal = int8_rows(observations, OBS_SIZE), int8_rows(masks, NUM_ACTIONS)
    if len(seen) != len(legal):
        raise ValueError(f"there are {len(seen)} observations, but {len(legal)} masks")
    return seen, legal


def check_found(moves: np.ndarray) -> np.ndarray:
    """Returns the moves; raises a `ValueError` if a mask has no legal move, for which compiled code answers -1."""
    if (moves < 0).any():
        raise ValueError(f"mask {int(moves.argmin())} has no legal move: has the game ended?")
    return moves
