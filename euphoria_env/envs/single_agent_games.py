"""Many games with one learner each, on a `Batch`: the core of the vector environments."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded

from euphoria_env.agent_protocol import NO_MOVE, AgentGames, Generators
from euphoria_env.batch import Batch
from euphoria_env.batch_rules import BatchRules, RulesSource
from euphoria_env.derived_seeds import derived_generator, drawn_for
from euphoria_env.engine.state import GAME_DTYPE, copy_rows, put_rows
from euphoria_env.envs.arguments import ILLEGAL_REWARD, MOST_UNASKED, choice, game_from, learner_seat, never_asked
from euphoria_env.envs.opponents import Opponents
from euphoria_env.event_kinds import EVENT_SIZE, number_of_events
from euphoria_env.game import Game
from euphoria_env.json_reader import read_index, read_integer
from euphoria_env.memory import Ids
from euphoria_env.observations import OBS_SIZE
from euphoria_env.rewards import read_reward


class SingleAgentGames(AgentGames):
    """N games with one learner each. A step plays a decision of every learner, and the opponents' moves up to its next one.

    Between two decisions of a learner, opponents in compiled code play without Python. The others are queried in batches, round
    after round, until each game waits for its learner. A finished game restarts in the same step. A game that ends before its
    learner was asked is not counted.

    Args:
        opponents, pool: as for `Opponents.set`.
        seat: the learner's seat, one that all games have, or "random", drawn for each game. Observations are relative to it.
        illegal: what an illegal action does: "raise", or "end" its game with a reward of -1.
        rules, reward, threads, events: as for `Batch`; K events.

    Attributes:
        batch: the games, from the first reset on. After a step its `mask`, `observation` and `events` are those of the learners.
        terminated, truncated: (N,) bool, whether a game ended in the last step.
        final_observation, final_events, final_states, final_seats: of the last finished games, as their learners saw them.
    """

    def __init__(
        self,
        n: int,
        rules: RulesSource,
        opponents: Any = "weights",
        pool: Sequence[Any] | None = None,
        seat: int | str = "random",
        illegal: str = "raise",
        **batch: Any,
    ) -> None:
        self.n = read_integer("the number of games", n, 1)
        read_reward(batch["reward"])
        self._events = number_of_events(batch["events"])
        self.rules, self._batch_arguments = BatchRules(self.n, rules), copy.deepcopy(batch)
        self._given_seat = learner_seat(seat, self.rules.fewest)
        self.opponents = Opponents(self.n, self.rules.most, opponents, pool)
        self._illegal_ends = choice("illegal", illegal, "end", "raise") == "end"
        self._games, self.moves = np.arange(n), np.zeros(n, np.int64)
        self.terminated, self.truncated = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
        self.final_observation = np.zeros((n, OBS_SIZE), np.int8)
        self.final_events = np.zeros((n, self._events, EVENT_SIZE), np.int8)
        self.final_states = np.zeros(n, GAME_DTYPE)
        self.final_seats = np.zeros(n, np.int64)
        self.final_ranking = np.zeros((n, self.rules.columns), np.int8)  # 0 where an illegal action ended the game
        self.illegal: dict[int, str] = {}  # by number of the game, the errors that ended games in the last step
        self._positions: Mapping[int, Any] = {}  # during a reset: the positions with which games begin again
        self._lot, self._begun = 0, np.zeros(n, np.int64)  # what seats and opponents are drawn by; how often each game began
        self._named = np.zeros(n, np.int64)  # the same since all were reset: names games for agents with a memory
        self._unasked = np.zeros(n, np.int64)  # how many games in a row ended before their learner was asked, in this step
        self._under_way = False  # whether every game waits for its learner
        self.ids = Ids()

    @property
    def seats(self) -> np.ndarray:
        """int64 (N,), the learners' seats, to look at: compiled code uses them as indices."""
        seats = self.opponents.learners["seat"]
        seats.flags.writeable = False
        return seats

    @property
    def rewards(self) -> np.ndarray:
        """float64 (N,), the learners' rewards of the last step."""
        return self.opponents.learners["reward"]

    @property
    def events(self) -> np.ndarray:
        """int8 (N, K, EVENT_SIZE), the last K events as the learners see them; games may keep more, for opponents."""
        return self._shown(self.ready.events)

    def _shown(self, events: np.ndarray) -> np.ndarray:
        return events[:, events.shape[1] - self._events :]

    def name(self, game: int) -> str:
        """Returns a name of a game, which no later one has."""
        return f"{game}.{self._named[game]}"

    def last_events(self, games: np.ndarray, k: int) -> np.ndarray:
        """Returns the last k events of these games; a `ValueError` if they keep fewer."""
        if k > (kept := self.batch.events.shape[1]):
            raise ValueError(f"an opponent needs the last {k} events, but these games keep {kept}: call reset() after it was set")
        return super().last_events(games, k)

    @property
    def ready(self) -> Batch:
        """The batch of games.

        Raises:
            ResetNeeded: `reset` was not called yet, or an opponent or the function `rules` failed in the middle of a step.
        """
        if not self._under_way:
            raise ResetNeeded("no game has begun, or an opponent or the function `rules` failed: call reset()")
        return self.batch

    def reset(
        self,
        rng: np.random.Generator | None = None,
        starts: Mapping[int, Game] | None = None,
        chosen: np.ndarray | None = None,
        positions: Mapping[int, Any] | None = None,
        seed: int | None = None,
    ) -> None:
        """Restarts games and plays up to the learners' first decisions.

        Args:
            rng: the source of all deals and other chance from now on, from which nothing is drawn later; equal generators give
                equal games, whichever are chosen. None: the chosen games go on as if they had ended.
            starts: by number, the games to go on from instead of the setup.
            chosen: (N,) bool, the games to restart; None: all.
            positions: by number, the positions of `starts`, with which a game begins again if it ends too soon.
            seed: the seed of `rng`.

        Raises:
            ValueError: as for `Batch.restart`, and nothing is changed; or too many games ended before their learner was asked.
            ResetNeeded: some games were chosen, but none has begun.
        """
        games = self._games if chosen is None else np.flatnonzero(chosen)
        self.batch = self._restarted(rng, games, {i: game for i, game in (starts or {}).items() if i in games}, chosen is None)
        self.ids.end(map(self.name, games.tolist()))
        if rng is not None:
            self.rng, self._seed = derived_generator(rng), seed
            self.opponents.seed(self.rng, games)
            self._lot, self._begun[games] = _seed(self.rng), 0
        if chosen is None:
            self._named[:], self.ids = 0, Ids(hashlib.sha256(self.opponents.key(seed) + str(self._lot).encode()).digest())
        self._begin(games)
        self.terminated[:] = True  # nobody is credited with what happens before their first decision
        self._positions = positions or {}
        self._play_opponents()
        self._positions = {}
        self._clear()

    def _restarted(self, rng: np.random.Generator | None, games: np.ndarray, starts: dict[int, Game], new: bool) -> Batch:
        """Returns the batch in which these games have begun, some from `starts`: a new one, or the present one."""
        kept = {**self._batch_arguments, "events": max(self._events, self.opponents.most_events)}
        dealt = None if rng is None else Batch(self.n, self.rules.given, _seed(rng), **kept)
        if new and dealt is not None:
            if starts:
                dealt.restart(list(starts), starts)
            return dealt
        if dealt is not None:
            starts = {i: starts[i] if i in starts else dealt.game(i) for i in games.tolist()}
        self.ready.restart(games, starts)
        return self.batch

    def step(self, actions: Any, active: np.ndarray | None = None) -> None:
        """Plays a decision of the learners, and those of the opponents until the learners' next ones.

        Args:
            actions: (N,) integers.
            active: (N,) bool, the games that are played; the others stay as they are, with no reward. None: all.

        Raises:
            IllegalMove: an action is illegal and `illegal` is "raise"; the message names game and move. No game is changed.
            ValueError: `actions` is not N integers.
            ResetNeeded: see `ready`.
        """
        batch = self.ready
        illegal = self._illegal_actions(batch, actions, active) if self._illegal_ends else {}
        if illegal:
            active = np.ones(self.n, np.bool_) if active is None else active.copy()
            active[list(illegal)] = False
        batch.check(actions, active)
        self._under_way = False  # until all have played, since opponents and the function `rules` may fail
        self.illegal = illegal
        self._clear()
        self._play(actions, np.ones(self.n, np.bool_) if active is None else active)
        if illegal:
            self._end_illegal(batch, np.array(list(illegal)))
        self._play_opponents()

    def _clear(self) -> None:
        self.rewards[:] = 0.0
        self.terminated[:] = self.truncated[:] = False

    def _illegal_actions(self, batch: Batch, actions: Any, active: np.ndarray | None) -> dict[int, str]:
        """Returns the error messages of the active games whose action is illegal, by number."""
        given = np.asarray(actions)
        if given.shape != (self.n,) or given.dtype.kind not in "iu":
            return {}  # `Batch.step` raises the error
        known = (given >= 0) & (given < batch.mask.shape[1])
        legal = known & batch.mask[self._games, np.where(known, given, 0)]
        wrong = np.flatnonzero(~legal if active is None else active & ~legal)
        return {i: batch.game(i).why_illegal(int(given[i])) for i in wrong.tolist()}

    def _end_illegal(self, batch: Batch, games: np.ndarray) -> None:
        """Ends games because of an illegal action of their learners, who lose."""
        self.rewards[games] = ILLEGAL_REWARD
        self.terminated[games] = True
        self.final_ranking[games] = 0
        self._keep(games, batch.states[games], batch.observation[games], self._shown(batch.events[games]))
        batch.restart(games.tolist())
        self._next(games)

    def _play_opponents(self) -> None:
        """Plays on until every game waits for its learner."""
        self._under_way = False
        self._unasked[:] = 0
        self.key = self.opponents.key(self._seed)
        generators = Generators(self.rng, self.key)
        while (waiting := self.batch.player != self.seats).any():
            self.moves[:] = NO_MOVE  # where nobody in Python decides, compiled code chooses this move too
            for agent, games in self.opponents.deciding(waiting.nonzero()[0], self.batch.player[waiting]):
                self.store(games, *self.query(agent, games, generators(agent)))
            self._play(self.moves, waiting)
        self._under_way = True

    def _play(self, actions: Any, active: Any) -> None:
        """Plays actions in active games, and then compiled opponents; handles the games that have ended."""
        batch, learners, compiled = self.batch, self.opponents.learners, self.opponents.compiled
        running = ~(self.terminated | self.truncated)
        if compiled is None:
            batch.step(actions, active)
            learners["reward"] += np.where(running, batch.rewards[self._games, self.seats], 0.0)
        else:
            learners["credited"] = running
            batch._step_by(partial(compiled.bind, learners), np.asarray(actions), active)
        if len(batch.ended):
            counts = running[batch.ended]
            self._end(batch, counts)
            if not counts.all():
                self._pass_over(batch, batch.ended[~counts])
            self._next(batch.ended)

    def _pass_over(self, batch: Batch, games: np.ndarray) -> None:
        """Counts games that ended before their learner was asked; games that began from a position begin from it again."""
        self._unasked[games] += 1
        if self._unasked.max() >= MOST_UNASKED:
            raise never_asked(f"game {self._unasked.argmax()}")
        again = [i for i in games.tolist() if i in self._positions]
        seeds = zip(again, self._drawn(np.array(again, np.int64), -1, 0)[:, 0] * 2.0**53, strict=True)
        starts = {i: game_from(self._positions[i], self.rules.fixed(i), int(drawn), again=True) for i, drawn in seeds}
        batch.restart(again, starts)

    def _end(self, batch: Batch, counts: np.ndarray) -> None:
        """Stores the ends of the games in `batch.ended` for which `counts`, bool (E,), is true."""
        games = batch.ended[counts]
        self.terminated[games] = batch.terminated[games]
        self.truncated[games] = batch.truncated[games]
        self.final_ranking[games] = batch.ranking[games]
        observations, events = batch.seen_at_end(self.seats[batch.ended])
        self._keep(games, batch.end_states[counts], observations[counts], self._shown(events[counts]))

    def _keep(self, games: np.ndarray, states: np.ndarray, observations: np.ndarray, events: np.ndarray) -> None:
        """Stores the last rows of games, and the learners' last observations, events and seats."""
        put_rows(states, games, self.final_states)
        self.final_observation[games] = observations
        self.final_events[games] = events
        self.final_seats[games] = self.seats[games]

    @property
    def final_players(self) -> np.ndarray:
        """int64 (N,), the number of players of the last game that ended."""
        return self.final_states["num_players"].astype(np.int64)

    def final_game(self, i: int) -> Game:
        """Returns a copy of the last game with number i that ended, at its end; errors as for `Batch.game`."""
        i = read_index("the number of a game", i, self.n)
        return Game.taking(copy_rows(self.final_states[i : i + 1]))

    def _next(self, games: np.ndarray) -> None:
        """Lets the next games follow those that have ended."""
        self.ids.end(map(self.name, games.tolist()))
        self._begin(games)

    def _begin(self, games: np.ndarray) -> None:
        """Assigns seats to the learners and opponents of games that begin, whatever happens in other games."""
        players, given = self.batch.num_players[games], self._given_seat
        seats = np.full(len(games), given) if given is not None else (self._drawn(games, 0, 1)[:, 0] * players).astype(np.int64)
        self.opponents.seat(games, seats, players, lambda shape: self._drawn(games, 1, 1 + shape[1]))
        self._begun[games] += 1
        self._named[games] += 1

    def _drawn(self, games: np.ndarray, first: int, last: int) -> np.ndarray:
        """Returns random numbers from [0, 1), (K, last - first), which depend on each game and how often it began alone."""
        rows = np.broadcast_arrays(games[:, None], self._begun[games, None], np.arange(first, last))
        return drawn_for(self._lot, np.stack(rows, -1).reshape(-1, 3)).reshape(rows[0].shape)


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**63 - 1))
