"""Many games at once: arrays that are allocated once and written in place."""

from __future__ import annotations

import copy
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from operator import attrgetter
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np

from euphoria_env import actions
from euphoria_env.batch_rules import BatchRules, RulesSource
from euphoria_env.board import MAX_PLAYERS
from euphoria_env.engine import batch_kernels, features, tape
from euphoria_env.engine.byte_copies import aligned
from euphoria_env.engine.row_checks import check_rows
from euphoria_env.engine.state import GAME_DTYPE, OVER, TRUNCATED, copy_chosen, copy_rows
from euphoria_env.event_kinds import EVENT_SIZE, number_of_events
from euphoria_env.game import Game, IllegalMove
from euphoria_env.json_reader import read_distinct, read_index, read_integer, read_seed, shown
from euphoria_env.keywords import names_keywords
from euphoria_env.observations import OBS_SIZE
from euphoria_env.rewards import read_reward
from euphoria_env.rules import Rules

_GAMES_PER_THREAD = 256  # a thread for fewer games costs more than it saves
MOST_EPISODES = 2**62  # the most episodes of one game; far below the largest int64
_GAMES_AT_A_TIME = 2**14  # the most games that one call begins: Python handles an interrupt only between calls
_NO_GAMES = np.zeros(0, np.int64)

_Done = TypeVar("_Done")
_Method = TypeVar("_Method", bound=Callable[..., Any])


def fixed(name: str) -> Any:
    """Returns a property that shows an array to which compiled code writes, so that nobody can replace it."""
    return property(attrgetter(f"_views.{name}"))


def show(arrays: Mapping[str, np.ndarray]) -> SimpleNamespace:
    """Returns views of arrays for `fixed`: compiled code has the arrays themselves, which nobody else can give another shape."""
    return SimpleNamespace(**{name: array.view() for name, array in arrays.items()})


def _alone(method: _Method) -> _Method:
    """Makes a method of `Batch` refuse to run while another call is under way."""

    @wraps(method)
    def call(self: Batch, *given: Any, **named: Any) -> Any:
        if not self._busy.acquire(False):
            raise RuntimeError("another thread uses this Batch now; give each thread one of its own")
        try:
            return method(self, *given, **named)
        finally:
            self._busy.release()

    return call  # type: ignore[return-value]


@names_keywords()
class Batch:
    """N games that advance together, one decision each; a game that ends restarts in the same step.

    Args:
        n: number of games, N.
        rules: the options of all games; or a list with those of each game; or a function that draws them for each game that
            begins. It is called with a generator of numpy that depends on the seed, the number of the game and how often it
            restarted.
        seed: game i depends on this seed, on i and on how often it restarted, and on nothing else.
        reward: the name of a reward in the table of docs/environment.md, or a dict of weights (`euphoria_env.rewards`).
        threads: the number of threads, None for one per core. The games do not depend on it.
        observe: whether `observation` and `final_observation` are written; without them a step is faster.
        events: K, the number of events that `events` holds for each game; with 0 no events are recorded, which costs no time.

    The arrays begin at multiples of 64 bytes, so that JAX and PyTorch can share their memory. A step overwrites them in place:
    copy what you keep; they cannot be replaced. One thread at a time may call a batch; another one gets a RuntimeError. A copied
    or unpickled batch has arrays of its own. A call that raises an error changes nothing (`step` names its exceptions). Games are
    numbered from 0 to N - 1; negative numbers do not count from the end. P is the number of players; with a list or a function
    it is 6, and the columns of absent players are 0.

    Attributes:
        player: (N,) int8, the player who must decide in each game.
        mask: (N, NUM_ACTIONS) bool, the legal moves of that player.
        observation: (N, OBS_SIZE) int8, what that player may see.
        rewards: (N, P) float32, the rewards of the P players in the last step.
        terminated: (N,) bool, whether the last step ended the game by a victory.
        truncated: (N,) bool, whether the last step cut the game off.
        ranking: (N, P) int8, the ranking of the last game that ended.
        final_observation: (N, P, OBS_SIZE) int8, what all players saw of the games that ended in the last step, 0 elsewhere.
        ended: (E,) int64, the games that ended in the last step, ascending.
        events: (N, K, EVENT_SIZE) int8, the last K events of each game as the player who must decide saw them, oldest first, and
            zeros before the first one. Players are counted from that player on, in turn order (docs/events.md).
        states: (N,) the structured array of the games, to look at; it is read-only, `restart` changes it.

    Raises:
        TypeError: a keyword is unknown.
        ValueError: `n` or `threads` is below 1, `rules` do not fit N games, the reward is wrong, the seed is not an integer, or
            `events` is out of range.
    """

    def __init__(
        self,
        n: int,
        rules: RulesSource | None = None,
        seed: int | None = None,
        reward: str | dict[str, Any] = "win",
        threads: int | None = None,
        observe: bool = True,
        events: int = 0,
    ) -> None:
        self.n = read_integer("n", n, 1)
        self._game_rules = BatchRules(self.n, rules)
        self.rules: RulesSource = self._game_rules.given
        self._reward, self.reward = read_reward(reward), copy.deepcopy(reward)
        self._seed = read_seed(int.from_bytes(os.urandom(7), "little") if seed is None else seed)
        threads = os.cpu_count() or 1 if threads is None else read_integer("threads", threads, 1)
        self.threads = max(1, min(threads, self.n // _GAMES_PER_THREAD))
        bounds = np.linspace(0, self.n, self.threads + 1).astype(int).tolist()
        self._slices = list(zip(bounds[:-1], bounds[1:], strict=True))
        self._pool: ThreadPoolExecutor | None = None
        self._pool_process = 0
        self._observe = bool(observe)
        self._allocate(number_of_events(events))
        self._game_rules.draw(np.arange(self.n), self._seed, self._episodes)
        self._share(self._start_slice)

    def _allocate(self, k: int) -> None:
        """Makes all arrays; `k` is the number of events of each game."""
        n, players = self.n, self._game_rules.columns
        # Games that record events have a tape each; the others share one that is never written to. Nothing is ever loaded.
        self._tapes, self._potential = np.tile(tape.empty_tape(k), (n if k else 1, 1)), np.zeros((n, MAX_PLAYERS))
        self._arrays = {
            "states": aligned(n, GAME_DTYPE),
            "player": aligned(n, np.int8),
            "mask": aligned((n, actions.NUM_ACTIONS), np.bool_),
            "observation": aligned((n * self._observe, OBS_SIZE), np.int8),
            "events": aligned((n, k, EVENT_SIZE), np.int8),
            "rewards": aligned((n, players), np.float32),
            "terminated": aligned(n, np.bool_),
            "truncated": aligned(n, np.bool_),
            "ranking": aligned((n, players), np.int8),
        }
        self._final_observation: np.ndarray | None = None  # allocated when it is first read
        self._shown = _NO_GAMES  # the games whose entries in it are not 0
        self._ended = _NO_GAMES
        self._ends = np.zeros(1, GAME_DTYPE)  # the rows of the games in `ended` at their end, and room for more
        self._episodes = np.zeros(n, np.int64)
        self._actions = np.zeros(n, np.int64)
        self._active = np.ones(n, np.bool_)
        self._end_tapes = self._tapes[:1].copy()  # the tapes of the games in `_ends`
        self._gather()

    def _gather(self) -> None:
        """Puts the arrays into the tuple that the kernels take, and shows them."""
        states, player, mask, observation, events, *_ = self._arrays.values()
        self._games = batch_kernels.BatchArrays(
            states, self._tapes, player, mask, observation, events, self._reward, self._potential
        )
        self._views, self._busy = show(self._arrays), threading.Lock()
        self._views.states.flags.writeable = False

    states, player, mask, observation, events, rewards, terminated, truncated, ranking = map(
        fixed, ("states", "player", "mask", "observation", "events", "rewards", "terminated", "truncated", "ranking")
    )

    def __getstate__(self) -> dict[str, Any]:
        made_again = {"_final_observation": None, "_shown": _NO_GAMES, "_views": None, "_games": None}
        return {**vars(self), **made_again, "_pool": None, "_busy": None}  # threads cannot be copied

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._arrays = {name: aligned(array.shape, array.dtype) for name, array in state["_arrays"].items()}
        for name, array in self._arrays.items():
            array[...] = state["_arrays"][name]
        self._gather()

    def __copy__(self) -> Batch:
        return copy.deepcopy(self)

    def _share(self, work: Callable[[int, int], _Done]) -> list[_Done]:
        """Calls `work` with the bounds of each slice of the games, in threads, and returns the results."""
        if self.threads == 1:
            return [work(0, self.n)]
        if self._pool is None or self._pool_process != os.getpid():  # threads do not survive a fork
            self._pool, self._pool_process = ThreadPoolExecutor(self.threads), os.getpid()
        try:
            return list(self._pool.map(lambda bounds: work(*bounds), self._slices))
        except BaseException:
            _end(self._pool)
            self._pool = None
            raise

    def _start_slice(self, first: int, last: int) -> None:
        for start in range(first, last, _GAMES_AT_A_TIME):
            self._start(np.arange(start, min(start + _GAMES_AT_A_TIME, last)))

    def _start(self, games: np.ndarray) -> None:
        rules = self._game_rules
        batch_kernels.start_games(self._games, games, rules.rows, rules.kinds, self._episodes, self._seed)

    def _step_slice(self, first: int, last: int) -> int:
        return batch_kernels.step_games(self._games, first, last, self._actions, self._active, self._arrays["rewards"])

    @_alone
    def step(self, actions_: Any, active: Any = None) -> None:
        """Plays one decision in every game.

        Args:
            actions_: (N,) integers.
            active: (N,) bool, the games to advance; None: all. The others get no reward, and their actions are ignored.

        Raises:
            IllegalMove: an action is illegal; the message names game and move. No game is changed.
            ValueError: `actions_` is not N integers, or `active` is not N booleans. Or the function `rules` fails: this happens
                when the moves have been played, and `restart(batch.ended)` begins the games that could not begin again. Or a
                game that `restart` began from impossible rows (`Game.from_rows`, in mid-turn) cannot go on: others have been
                played, and it must be restarted.
        """
        self._check(actions_, active)
        self._play(self._step_slice)

    @_alone
    def _step_by(self, bind: Callable[..., Callable[[int, int], int]], actions_: np.ndarray, active: Any) -> None:
        """Plays active games on by what `bind` returns (`Player.compiled`); negative actions are left to it unchecked."""
        self._check(actions_, active & (actions_ >= 0))
        self._active[:] = active
        self._play(bind(self._games, self._actions, self._active))

    def _play(self, play: Callable[[int, int], int]) -> None:
        """Plays slices of the games by `play`, which returns how many ended."""
        if len(self._ended):
            self._arrays["terminated"][self._ended] = self._arrays["truncated"][self._ended] = False
            self._ended = _NO_GAMES
        if any(self._share(play)):
            self._end_games()

    @_alone
    def check(self, actions_: Any, active: Any = None) -> None:
        """Raises the errors that `step` would raise, and advances no game."""
        self._check(actions_, active)

    def _check(self, actions_: Any, active: Any) -> None:
        given = np.asarray(actions_)
        if given.shape != (self.n,) or given.dtype.kind not in "iu":
            raise ValueError(f"actions must be {self.n} integers, not an array of {given.dtype} of shape {given.shape}")
        chosen = np.True_ if active is None else np.asarray(active)
        if active is not None and (chosen.shape != (self.n,) or chosen.dtype != np.bool_):
            raise ValueError(f"active must be {self.n} booleans, not an array of {chosen.dtype} of shape {chosen.shape}")
        self._active[:] = chosen
        self._actions[:] = given
        wrong = int(batch_kernels.first_illegal(self._games.states, self._actions, self._active))
        if wrong >= 0:
            raise IllegalMove(f"game {wrong}: {self.game(wrong).why_illegal(given[wrong])}")

    def _end_games(self) -> None:
        """Keeps the last rows of the games that have ended, and restarts these games."""
        states, shown = self._games.states, self._arrays
        status = states["status"]
        self._ended = ended = np.flatnonzero((status >= OVER) & self._active)
        shown["truncated"][ended] = status[ended] == TRUNCATED
        shown["terminated"][ended] = ~shown["truncated"][ended]
        shown["ranking"][ended] = states["ranking"][ended, : self._game_rules.columns]
        if len(ended) > len(self._ends):
            self._ends = np.zeros(min(self.n, 2 * len(ended)), GAME_DTYPE)
        copy_chosen(states, ended, self._ends)
        if self._games.events.shape[1]:
            self._end_tapes = self._tapes[ended]
        try:
            self._begin(ended, ended)
        except BaseException:  # the next call must not find what was shown before the last moves
            for i in ended.tolist():
                batch_kernels.show_games(self._games, i, i + 1)
            raise

    def _begin(self, games: np.ndarray, new: np.ndarray) -> None:
        """Begins the next episodes of games, the `new` ones with the setup; nothing is changed if the rules cannot be drawn."""
        self._game_rules.draw(new, self._seed, self._episodes[new] + 1)
        self._episodes[games] += 1
        self._start(new)

    @property
    def ended(self) -> np.ndarray:
        """int64 (E,), the games that ended in the last step, ascending, as an array of its own."""
        return self._ended.copy()

    @property
    def num_players(self) -> np.ndarray:
        """int8 (N,), the number of players of each game, as a view of `states`."""
        return self.states["num_players"]

    @property
    @_alone
    def final_observation(self) -> np.ndarray:
        """int8 (N, P, OBS_SIZE), what all players saw of the games that ended in the last step, 0 elsewhere."""
        if self._final_observation is None:
            self._final_observation = aligned((self.n * self._observe, self._game_rules.columns, OBS_SIZE), np.int8)
            self._views.final_observation = self._final_observation.view()
        if self._shown is not self._ended and self._observe:
            self._final_observation[self._shown] = 0
            batch_kernels.show_ends(self._ends, self._ended, self._final_observation)
            self._shown = self._ended
        return self._views.final_observation

    @_alone
    def seen_at_end(self, players: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns one player's last observation of each game in `ended`, int8 (E, OBS_SIZE), and last events (E, K, EVENT_SIZE).

        Args:
            players: (E,) integers, one player for each of these games.

        Raises:
            ValueError: `players` does not name one player for each, or the batch was made with `observe=False`.
        """
        n = len(self._ended)
        given, most = np.array(players), self._ends["num_players"][:n] - 1
        if given.shape != (n,) or (n and given.dtype.kind not in "iu") or ((given < 0) | (given > most)).any():
            raise ValueError(f"players must be a player of each of {n} games, not {shown(given.tolist())}")
        if not self._observe:
            raise ValueError("nothing is observed here")
        which, seats = np.arange(n), given.astype(np.int64)
        observations = np.empty((n, OBS_SIZE), np.int8)
        batch_kernels.show_seats(self._ends, which, seats, observations)
        events = np.zeros((n, *self._games.events.shape[1:]), np.int8)
        if events.shape[1]:
            batch_kernels.show_last_events(self._ends, self._end_tapes, which, seats, events)
        return observations, events

    @property
    def end_states(self) -> np.ndarray:
        """The last rows of the games in `ended`, (E,), copied; the dtype is that of `states`."""
        return copy_rows(self._ends[: len(self._ended)])

    @_alone
    def restart(self, games: Sequence[int] | np.ndarray, starts: Mapping[int, Game] | None = None) -> None:
        """Restarts some games, whether or not they have ended; `terminated`, `truncated` and `ended` still tell of the last step.

        Args:
            games: the numbers of the games, each once.
            starts: by the number of a game, the `Game` that it starts from instead of the setup. Loaded outcomes are ignored.
                Its rules must be those of the game, unless a function draws these: then they may be any.

        Raises:
            TypeError, IndexError: `games` are not numbers of games, or a start is no `Game`.
            ValueError: a number comes twice, or a start has other rules, has ended, or does not belong to one of `games`; or the
                function `rules` fails.
        """
        chosen = read_distinct("games", games, self.n)
        begun = self._checked_starts(chosen, {} if starts is None else starts)
        self._begin(chosen, chosen[~np.isin(chosen, list(begun))])
        for i, game in begun.items():
            self._games.states[i] = game.states[0]
            tape.forget_events(self._tapes[i if len(self._tapes) > 1 else 0])
            batch_kernels.show_games(self._games, i, i + 1)

    def _checked_starts(self, games: np.ndarray, starts: Mapping[int, Game]) -> dict[int, Game]:
        """Returns `starts` by number, after checking that each of them fits its game."""
        if not isinstance(starts, Mapping):
            raise TypeError(f"starts must be a dict of games, not {shown(starts)}")
        begun = {read_index("a number of `starts`", i, self.n): game for i, game in starts.items()}
        for i, game in begun.items():
            if not isinstance(game, Game):
                raise TypeError(f"game {i}: it must go on from a Game, not {shown(game)}")
            if i not in games:
                raise ValueError(f"game {i}: it has a start, but does not restart; those are {games.tolist()}")
            if game.rules != (self._game_rules.fixed(i) or game.rules):
                raise ValueError(f"game {i}: its rules are {game.rules}, those of the batch {self._game_rules.fixed(i)}")
            if game.ranking is not None:
                raise ValueError(f"game {i}: it has ended")
            check_rows(game._rows)
        return begun

    @_alone
    def sample(self, rng: np.random.Generator) -> np.ndarray:
        """Returns a uniformly random legal move of each game, int64 (N,); the same for any number of threads.

        It is -1 in a game that could not begin again (`step`).

        Args:
            rng: one number is drawn from it for each game.

        Raises:
            TypeError: `rng` is not a generator of numpy.
        """
        if not isinstance(rng, np.random.Generator):
            raise TypeError(f"rng must be a Generator of numpy, not {shown(rng)}")
        moves = np.empty(self.n, np.int64)
        batch_kernels.choose_legal(self._games.states, rng.random(self.n), moves)
        return moves

    @_alone
    def afterstates(self, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Returns what each legal move of each game changes, as in `Game.afterstates`, in two new arrays.

        Returns:
            int64 (N + 1,) and float32 (total, `len(afterstates.NAMES)`): the rows of game i go from entry i of the first array to
            the one after it, in the order of its legal moves. They do not depend on the number of threads.

        Raises:
            ValueError: the seed is not an integer.
        """
        begins, states = np.zeros(self.n + 1, np.int64), self._games.states
        features.count_afterstates(states, begins)
        changes, seed = np.empty((begins[-1], features.NUM_CHANGES), np.float32), read_seed(seed)
        self._share(lambda first, last: features.write_afterstates(states, first, last, seed, begins, changes))
        return begins, changes

    def game(self, i: int) -> Game:
        """Returns a copy of game i.

        Raises:
            TypeError: `i` is not an integer.
            IndexError: there is no game with this number.
        """
        i = read_index("the number of a game", i, self.n)
        return Game.taking(copy_rows(self._games.states[i : i + 1]))


def _end(pool: ThreadPoolExecutor) -> None:
    """Waits for all work of a pool, even if interrupted: no thread may write to the arrays once the caller has them back."""
    while True:
        try:
            return pool.shutdown()
        except KeyboardInterrupt:  # one interrupt is being raised already
            continue


def check_row(i: int, rows: np.ndarray, rules: Rules) -> None:
    """Raises a `ValueError` if `rows`, an array of one row for game i, is impossible or has other rules."""
    try:
        game = Game.from_rows(rows)
    except ValueError as error:
        raise ValueError(f"game {i} of the state is damaged: {error}") from error
    if game.rules != rules:
        raise ValueError(f"the state is one of games with other rules than {rules}")
