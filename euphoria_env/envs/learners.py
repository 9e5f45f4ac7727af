"""Many games with one learning seat each: what the vector environments are made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded

from euphoria_env.batch import Batch
from euphoria_env.engine.rewards import reward_number
from euphoria_env.engine.state import GAME_DTYPE, copy_rows, put_rows
from euphoria_env.envs.arguments import ILLEGAL, ILLEGAL_REWARD, MOST_UNASKED, game_from, never_asked, one_of, why_illegal
from euphoria_env.envs.asking import BatchGames, Generators, Player, play_agents
from euphoria_env.envs.opponents import Opponents, seat_number
from euphoria_env.event_kinds import EVENT_SIZE, number_of_events
from euphoria_env.game import Game
from euphoria_env.json_reader import read_index, read_integer
from euphoria_env.observations import OBS_SIZE
from euphoria_env.rules import Rules


class Learners(BatchGames):
    """N games on a `Batch`. A step is one decision of the learner in every game and all that happens until their next ones.

    The opponents are answered in batches, round after round, until each game waits for its learner; games that do so already
    are held. A finished game restarts in the same step. A game that ends before its learner was asked is passed over.

    Args:
        n: number of games, N.
        opponents, pool: as for `Opponents.set`.
        seat: the learner's, 0 to P - 1, or "random", drawn for each game. Observations are relative to it.
        reward: what is paid, by its name in the table of docs/environment.md.
        threads: as for `Batch`.
        rules: the options of all games.
        illegal: what an illegal action does: "raise", or "end" its game, with a reward of -1.
        events: K, as for `Batch`.

    Attributes:
        batch: the games, from the first reset on. After a step its `mask`, `observation` and `events` are those of the learners.
        seats: (N,) int64, where the learner sits.
        rewards: (N,) float64, the learner's, of the last step.
        terminated, truncated: (N,) bool, whether a game ended in the last step.
        final_observation: (N, OBS_SIZE) int8, what the learner saw last of the last game that ended.
        final_events: (N, K, EVENT_SIZE) int8, the last events of it, as the learner saw them.
        final_states: (N,) it, as in `Batch.states`.
        final_seats: (N,) int64, where the learner sat in it.
        final_ranking: (N, P) int8, of it; 0 where an illegal action ended it.
        illegal: the games that ended in the last step because an action was illegal, with what is to be said of it.
        final_opponents: who played it, by seat; at the learner's there is somebody who was never asked.
    """

    def __init__(
        self,
        n: int,
        opponents: Any,
        pool: Sequence[Any] | None,
        seat: int | str,
        reward: str,
        threads: int | None,
        rules: Rules,
        illegal: str = "raise",
        events: int = 0,
    ) -> None:
        n = read_integer("the number of games", n, 1)
        reward_number(reward)
        players = rules.num_players
        super().__init__(n)
        self.n, self.rules = int(n), rules
        self._batch_arguments: dict[str, Any] = {"reward": reward, "threads": threads, "events": number_of_events(events)}
        self._given_seat = seat_number(seat, players)
        self.opponents = Opponents(self.n, players, opponents, pool)
        self.seats = np.zeros(n, np.int64)
        self.rewards = np.zeros(n)
        self.terminated, self.truncated = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
        self.final_observation = np.zeros((n, OBS_SIZE), np.int8)
        self.final_events = np.zeros((n, events, EVENT_SIZE), np.int8)
        self.final_states = np.zeros(n, GAME_DTYPE)
        self.final_seats = np.zeros(n, np.int64)
        self.illegal: dict[int, str] = {}
        self._illegal_ends = one_of("illegal", illegal, ILLEGAL) == "end"
        self.final_ranking = np.zeros((n, players), np.int8)
        self.final_opponents: list[list[Player]] = [[] for _ in range(self.n)]
        self._games = np.arange(n)
        self._unasked = np.zeros(n, np.int64)  # how many games in a row ended before their learner was asked, in this step
        self._under_way = False  # whether every game waits for its learner

    @property
    def ready(self) -> Batch:
        """The games, once there are some.

        Raises:
            ResetNeeded: `reset` was not called yet, or an opponent failed in the middle of a step.
        """
        if not self._under_way:
            raise ResetNeeded("no game has begun, or an opponent failed: call reset()")
        return self.batch

    def reset(
        self,
        rng: np.random.Generator,
        starts: Mapping[int, Game] | None = None,
        chosen: np.ndarray | None = None,
        positions: Mapping[int, Any] | None = None,
    ) -> None:
        """Restarts games and plays up to the learners' first decisions.

        Args:
            rng: the only source of chance from now on; equal ones give equal games.
            starts: games to go on from instead of the setup, by number.
            chosen: (N,) bool, which ones, if not all.
            positions: what some of `starts` were made from; they begin so again until their learner is asked.

        Raises:
            ValueError: as for `Batch.restart`, and nothing is changed; or too many games ended before their learner was asked.
            ResetNeeded: some were chosen, but none has begun.
        """
        batch = self.ready if chosen is not None else Batch(self.n, self.rules, _seed(rng), **self._batch_arguments)
        games = self._games if chosen is None else np.flatnonzero(chosen)
        if starts or chosen is not None:
            batch.restart(games, {i: game for i, game in (starts or {}).items() if i in games})
        self.batch, self.rng = batch, rng
        self._begin(games)
        self.terminated[:] = True  # nobody is credited with what happens before their first decision
        self._under_way, self._positions = False, positions or {}
        play_others([self])
        self._positions = {}
        self.terminated[:] = self.truncated[:] = False
        self.rewards[:] = 0.0

    def step(self, actions: Any, active: np.ndarray | None = None) -> None:
        """Plays a decision of the learners, and those of the others until their next ones; as `decide` otherwise."""
        self.decide(actions, active)
        play_others([self])

    def decide(self, actions: Any, active: np.ndarray | None = None) -> None:
        """Plays a decision of the learners; `play_others` comes next.

        Args:
            actions: (N,) integers.
            active: (N,) bool, whose; the other games stay as they are, with no reward. None: all.

        Raises:
            IllegalMove: an action is illegal, unless that ends a game; names game and move. No game is changed.
            ValueError: not N integers.
            ResetNeeded: see `ready`.
        """
        batch = self.ready
        illegal, active = self._playing(batch, actions, active)
        batch.step(actions, active)
        self.illegal, refused = illegal, list(illegal)
        self.rewards[:] = 0.0
        self.terminated[:] = self.truncated[:] = False
        self._credit(batch)
        if refused:
            self._end_illegal(batch, np.array(refused))
        self._under_way = False

    def check(self, actions: Any) -> None:
        """Refuses what `decide` would refuse; the errors are the same."""
        self.ready.check(actions, self._playing(self.ready, actions, None)[1])

    def _playing(self, batch: Batch, actions: Any, active: np.ndarray | None) -> tuple[dict[int, str], np.ndarray | None]:
        """The games that an illegal action ends, with what is to be said of it, and those of the active ones that go on."""
        illegal = self._refused(batch, actions, active) if self._illegal_ends else {}
        if illegal:
            active = np.ones(self.n, np.bool_) if active is None else active.copy()
            active[list(illegal)] = False
        return illegal, active

    def _refused(self, batch: Batch, actions: Any, active: np.ndarray | None) -> dict[int, str]:
        """The games whose action is illegal, with what is to be said of it."""
        given = np.asarray(actions)
        if given.shape != (self.n,) or given.dtype.kind not in "iu":
            return {}  # for the batch to refuse
        known = (given >= 0) & (given < batch.mask.shape[1])
        legal = known & batch.mask[self._games, np.where(known, given, 0)]
        wrong = np.flatnonzero(~legal if active is None else active & ~legal)
        return {i: why_illegal(batch.game(i), int(given[i])) for i in wrong.tolist()}

    def _end_illegal(self, batch: Batch, games: np.ndarray) -> None:
        """Ends games because of an illegal action of their learners, who lose."""
        self.rewards[games] = ILLEGAL_REWARD
        self.terminated[games] = True
        self.final_ranking[games] = 0
        self._keep(games, batch.states[games], batch.observation[games], batch.events[games])
        batch.restart(games.tolist())
        self._begin(games)

    def asked(self) -> Iterable[tuple[Player, np.ndarray]]:
        """The opponents that must decide, with their games; see `asking.Games`."""
        (games,) = (self.batch.player != self.seats).nonzero()
        self._under_way = len(games) == 0
        return () if self._under_way else self.opponents.asked(games, self.batch.player[games])

    def advance(self) -> None:
        """Plays the moves of the opponents."""
        self.batch.step(self.moves, self.batch.player != self.seats)
        self._credit(self.batch)

    def _credit(self, batch: Batch) -> None:
        """Gives the learners the rewards of a decision, whoever made it, until their game has ended."""
        running = ~(self.terminated | self.truncated)
        self.rewards += np.where(running, batch.rewards[self._games, self.seats], 0.0)
        (ended,) = (batch.terminated | batch.truncated).nonzero()
        if len(ended):
            self._end(batch, ended[running[ended]])
            self._pass_over(batch, ended[~running[ended]])
            self._begin(ended)

    def _pass_over(self, batch: Batch, games: np.ndarray) -> None:
        """Counts games that ended before their learner was asked; those from a position begin with it again."""
        self._unasked[games] += 1
        if self._unasked.max() >= MOST_UNASKED:
            raise never_asked(f"game {self._unasked.argmax()}")
        again = [i for i in games.tolist() if i in self._positions]
        starts = {i: game_from(self._positions[i], self.rules, _seed(self.rng), again=True) for i in again}
        batch.restart(again, starts)

    def _end(self, batch: Batch, games: np.ndarray) -> None:
        """Keeps what the learners see of the games that have ended."""
        self.terminated[games] = batch.terminated[games]
        self.truncated[games] = batch.truncated[games]
        self.final_ranking[games] = batch.ranking[games]
        seats = self.seats[games]
        self._keep(games, batch.states_at_end(games), batch.observed_at_end(games, seats), batch.events_at_end(games, seats))

    def _keep(self, games: np.ndarray, states: np.ndarray, observations: np.ndarray, events: np.ndarray) -> None:
        """Keeps how games ended, what the learners saw last, and who sat where."""
        put_rows(states, games, self.final_states)
        self.final_observation[games] = observations
        self.final_events[games] = events
        self.final_seats[games] = self.seats[games]
        for i in games.tolist():
            self.final_opponents[i] = self.opponents.at(i)

    def final_game(self, i: int) -> Game:
        """A copy of the last game with number i that ended, as it ended; errors as of `Batch.game`."""
        i = read_index("the number of a game", i, self.n)
        return Game.taking(copy_rows(self.final_states[i : i + 1]))

    def _begin(self, games: np.ndarray) -> None:
        """Seats everybody in games that begin."""
        if self._given_seat is None:
            self.seats[games] = self.rng.integers(self.rules.num_players, size=len(games))
        else:
            self.seats[games] = self._given_seat
        self.opponents.sit_down(games, self.seats[games], self.rng)


def play_others(several: Sequence[Learners]) -> None:
    """Plays on until every game of all of them waits for its learner, whose decisions were played before (`decide`).

    All are served side by side: an opponent is asked once a round, whatever the number of players in its games.
    """
    generators = Generators(several[0].rng)
    for one in several:
        one._unasked[:] = 0
    while play_agents(several, generators):
        pass


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**63 - 1))
