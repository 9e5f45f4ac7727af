"""Plays games in which the network has some seats and the league the others, and collects the decisions to learn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from euphoria_agents.agent import Agent
from euphoria_agents.network.afterstate_head import CHANGE, MOST_CHANGES
from euphoria_agents.network.compiled_layers import Policy
from euphoria_agents.players.compiled import ASKED, kinds_of
from euphoria_agents.players.search.inference import load_network, no_network
from euphoria_agents.training import play_kernels
from euphoria_agents.training.csr import CSR, chosen_lists, join_lists
from euphoria_agents.training.play_kernels import (
    LEARNER_NUMBER,
    MAX_POLICIES,
    NO_ANSWER,
    NOBODY,
    Games,
    Players,
    Record,
)
from euphoria_env.actions import NUM_ACTIONS
from euphoria_env.agent_protocol import Generators, games_by_agent, keeps_games_apart, most_events, query, separated
from euphoria_env.batch import MOST_EPISODES, check_row
from euphoria_env.board import MAX_PLAYERS
from euphoria_env.derived_seeds import derived_seed, generator_from, stretched
from euphoria_env.engine.features import NUM_CHANGES
from euphoria_env.engine.observe import write_events
from euphoria_env.engine.state import GAME_DTYPE, copy_rows
from euphoria_env.engine.tape import empty_tape
from euphoria_env.engine.trajectory_kernels import ENDED, OPEN
from euphoria_env.event_kinds import EVENT_SIZE
from euphoria_env.game import Game
from euphoria_env.json_reader import Reader, read_array, shown
from euphoria_env.memory import Ids, Memory
from euphoria_env.observations import OBS_SIZE
from euphoria_env.rewards import read_reward
from euphoria_env.rules import Rules, write_rules

LEARNER = "learner"  # the name of the network that is trained, among the players
ROLLOUT_STEPS = 48  # decisions of all seats in each game between two updates
GAMES_AT_A_TIME = 16  # games in a call of compiled code, which cannot be interrupted


class Rollout(NamedTuple):
    """N decisions of the learner; those of a seat are in the order in which they were made."""

    move: np.ndarray  # int64 (N,)
    log_prob: np.ndarray  # float32 (N,), the log-probability of the move when it was chosen
    value: np.ndarray  # float32 (N,), the value of the position at that time, by the value head or the critic
    reward: np.ndarray  # this array and the next are as in `Trajectories`
    following: np.ndarray  # but the last decisions of a game that was cut off stay open
    rows: CSR  # the rows of the observations; see `training.kernels`
    legal: CSR  # the legal moves
    changes: CSR  # what they change; see `kernels.Targets`


class Actor:
    """Some games of a run, and the learner's decisions in them since the last update.

    Args:
        parts: the numbers of games, each with the rules of these games.
        reward: the name of the reward that is learned from.
        seed: the seed of the games and of the players' choices.
        baselines: the fixed opponents by their specs; no other actor may use these objects, since actors run at the same time. An
            agent that may remember games plays each seat as another copy.
        num_rows: the number of rows of the network's first layer.
        critic: a checkpoint whose win probabilities value the decisions; None: the value head does.

    Attributes:
        rng: the generator from which agents that play in Python get theirs.
        names: by number, the names of the players that have or may get a seat; `restore` needs them.
    """

    def __init__(
        self,
        parts: Sequence[tuple[int, Rules]],
        reward: str,
        seed: int,
        baselines: Mapping[str, Agent],
        num_rows: int,
        critic: Path | None = None,
    ) -> None:
        self._rules = [rules for _, rules in parts]
        self._limit, self._baselines = num_rows, dict(baselines)
        strangers = {name: agent for name, agent in baselines.items() if not keeps_games_apart(agent)}
        self._copies = {name: separated([agent] * MAX_PLAYERS) for name, agent in strangers.items()}  # by seat
        self._key = stretched(seed) if strangers else b""
        self.rng = np.random.default_rng(seed)
        blanks = np.zeros(len(parts), GAME_DTYPE)
        for blank, rules in zip(blanks, self._rules, strict=True):
            write_rules(blank, rules)
        kind = np.repeat(np.arange(len(parts)), [games for games, _ in parts])
        self._events = most_events(baselines.values())
        self.games = _new_games(kind, blanks, seed, read_reward(reward), self._events)
        self._ids = Ids(self._key)
        self.record = _new_record(len(kind))
        self._critic = no_network() if critic is None else load_network(critic)[0]
        self._queue = np.zeros(0, np.int64)  # the games that must still be played on in this pass
        self.names = [LEARNER]
        self._agents: dict[str, Agent] = {}  # by name, without the learner

    # --------------------------------------------------------------------------------------------------------- who plays

    def seat(self, selves: Mapping[str, Agent], shares: Mapping[str, float]) -> None:
        """Sets the players, from which the seats of games that begin from now on are drawn.

        Args:
            selves: the past selves by name.
            shares: the share of the seats for LEARNER, then for each member of the league; one further seat in each game is the
                learner's.
        """
        known = {**self._agents, **self._baselines, **selves}
        sitting, places = np.unique(self.games.seating, return_inverse=True)
        present = [self.names[number] for number in sitting]
        self.names = list(dict.fromkeys([LEARNER, *present, *shares]))
        self._agents = {name: known[name] for name in self.names[1:]}
        number = {name: k for k, name in enumerate(self.names)}
        self.games.seating[:] = np.array([number[name] for name in present])[places.reshape(self.games.seating.shape)]
        pool = np.array([number[name] for name in shares])
        policy, deals, self._policies = self._compiled_players()
        self._players = Players(policy, deals, pool, np.cumsum(list(shares.values())))

    def _compiled_players(self) -> tuple[np.ndarray, np.ndarray, list[Policy]]:
        """Returns `Players.policy` and `Players.deals`, and the policies of all networks but the learner."""
        kinds, deals, policies = kinds_of(self._agents.values(), MAX_POLICIES - 1)
        return np.array([0, *(kind + (kind >= 0) for kind in kinds)]), np.array([0, *deals]), policies

    def begin_games(self) -> None:
        """Begins the games of a new run; `seat` comes before."""
        play_kernels.begin_games(self.games, self._players)

    # ------------------------------------------------------------------------------------------------------- collecting

    def begin(self, player: Policy) -> None:
        """Begins to collect decisions, with the network that `Network.player` returned as the learner."""
        filled = [player, *self._policies, *[player] * MAX_POLICIES]
        self._all_policies = tuple(filled[:MAX_POLICIES])
        self._generators = Generators(self.rng, self._key)
        self.games.left[:] = ROLLOUT_STEPS
        self.record.size[1] = 0

    def play(self) -> None:
        """Plays until the next update."""
        while self.step():
            pass

    def step(self) -> bool:
        """Plays some games as far as possible without agents in Python; returns whether more must be played before the update."""
        if not len(self._queue):
            self._queue = np.flatnonzero(self.games.left)
            self._ask(self._queue)
        some, others = self._queue[:GAMES_AT_A_TIME], self._queue[GAMES_AT_A_TIME:]
        played = play_kernels.play_actor_games(self.games, some, self._players, self._all_policies, self._critic, self.record)
        if played < len(some):
            self._make_room()
        self._queue = np.concatenate([some[played:], others])
        return len(self._queue) > 0 or bool(self.games.left.any())

    def _ask(self, games: np.ndarray) -> None:
        """Asks the agents in Python that must decide in these games, and stores their moves."""
        if begun := self._ids.games:
            self._ids.end({*begun} - {self._name(game) for game in range(len(self.games.rows))})
        movers = self.games.seating[games, self.games.rows["player"][games]]
        for number in np.unique(movers[self._players.policy[movers] == ASKED]).tolist():
            own, agents = games[movers == number], self._copies.get(self.names[number]) or [self._agents[self.names[number]]]
            for agent, asked in games_by_agent(agents, self.games.rows["player"][own] % len(agents), own):
                observations = np.empty((len(asked), OBS_SIZE), np.int8)
                masks = np.empty((len(asked), NUM_ACTIONS), np.bool_)
                play_kernels.show_decisions(self.games.rows, asked, observations, masks)
                deal, memory = partial(self._deal, asked), self._memory(asked)
                self.games.answer[asked] = query(agent, observations, masks, self._generators(agent), deal, memory)[0]

    def _name(self, game: int) -> str:
        """Returns a name of a game, which no later one has."""
        return f"{game}.{self.games.episode[game]}"

    def _memory(self, games: np.ndarray) -> Memory:
        """Returns what opponents with a memory may know of the decisions in these games."""
        seats = self.games.rows["player"][games].tolist()
        names = [self._name(game) for game in games.tolist()]
        return Memory(partial(self._last_events, games), lambda agent: self._ids.of(agent, zip(names, seats, strict=True)))

    def _last_events(self, games: np.ndarray, k: int) -> np.ndarray:
        """Returns the last k events of these games as the players to move see them, int8 (K, k, EVENT_SIZE)."""
        found = np.zeros((len(games), self._events, EVENT_SIZE), np.int8)
        for game, events in zip(games.tolist(), found, strict=True):
            row = self.games.rows[game]
            write_events(self.games.tapes[game], int(row["player"]), int(row["num_players"]), events)
        return found[:, -k:]

    def _deal(self, games: np.ndarray, k: int) -> Game:
        """Returns game number k of `games`, determinized for the seat that must decide, for an agent that needs a game (R19)."""
        row = self.games.rows[games[k] : games[k] + 1]
        return Game.taking(copy_rows(row)).determinize(int(row["player"][0]), derived_seed(self.rng, self._key))

    def _make_room(self) -> None:
        """Doubles the room for the rows of observations, for the legal moves and for what these change."""
        larger = [
            CSR(lists.indptr, np.concatenate([lists.indices, np.empty(len(lists.indices) + least, lists.indices.dtype)]))
            for lists, least in zip(_lists(self.record), (OBS_SIZE, NUM_ACTIONS, MOST_CHANGES), strict=True)
        ]
        self.record = _with_lists(self.record, larger)

    def ended(self) -> list[tuple[list[str], list[int]]]:
        """Returns the games that have ended since `begin`: the names of the players and their ranks, both by seat."""
        games = zip(self.record.ended_seating[: self.record.size[1]], self.record.ranking, strict=False)
        return [
            ([self.names[number] for number, rank in zip(seats, ranks, strict=True) if rank], [rank for rank in ranks if rank])
            for seats, ranks in ((seats.tolist(), ranks.tolist()) for seats, ranks in games)
        ]

    def collected(self) -> Rollout:
        """Returns the decisions that were collected; the latest of games that go on also stay in the record, for the next one."""
        rollout, record, latest = self._rollout(), self.record, self.games.latest
        kept = np.sort(latest[latest != NOBODY])
        for array in (record.move, record.log_prob, record.value, record.reward, record.following):
            array[: len(kept)] = array[kept]
        self.record = _with_lists(record, [chosen_lists(one, kept, len(one.indptr)) for one in _lists(record)])
        self.record.size[0] = len(kept)
        latest[latest != NOBODY] = np.searchsorted(kept, latest[latest != NOBODY])
        return rollout

    def _rollout(self) -> Rollout:
        """Returns a copy of the decisions that were collected."""
        record, n = self.record, int(self.record.size[0])
        arrays = record.move, record.log_prob, record.value, record.reward, record.following
        move, log_prob, value, reward, following = (array[:n].copy() for array in arrays)
        lists = (CSR(one.indptr[: n + 1].copy(), one.indices[: one.indptr[n]].copy()) for one in _lists(record))
        return Rollout(move, log_prob, value, reward, following, *lists)

    # ----------------------------------------------------------------------------------------------------------- saving

    def state(self) -> dict[str, np.ndarray]:
        """Returns all that future games depend on, except the agents and `rng`, as arrays for `restore`."""
        games, collected = self.games, self._rollout()
        decisions = {name: getattr(collected, name) for name in ("move", "log_prob", "value", "reward", "following")}
        changes = collected.changes._replace(indices=collected.changes.indices.view(np.int64))
        for name, lists in (("row", collected.rows), ("legal", collected.legal), ("change", changes)):
            decisions |= {name: lists.indices, f"{name}_ends": lists.indptr}
        named = {f"decisions.{name}": array for name, array in decisions.items()}
        rows = games.rows.view(np.uint8).reshape(len(games.rows), -1)
        arrays = {"games": rows, "episodes": games.episode, "generators": games.generator, "seating": games.seating}
        return {**{name: array.copy() for name, array in arrays.items()}, "latest": games.latest.copy(), **named}

    def restore(self, state: Mapping[str, np.ndarray], names: Sequence[str], selves: Mapping[str, Agent], generator: Any) -> None:
        """Continues from where `state` was called; `seat` must be called next.

        Args:
            state: what `state` returned.
            names: the attribute `names` at that time.
            selves: the past selves by name.
            generator: the state of `rng` at that time.

        Raises:
            ValueError: something is missing, or does not fit these games; the message names it.
        """
        games, n = self.games, len(self.games.rows)
        known = {**self._baselines, **selves}
        for name in names:
            if name != LEARNER and name not in known:
                Reader.fail("opponents", f"no agent is called {shown(name)}")
        if not names or names[0] != LEARNER or len(set(names)) < len(names):
            Reader.must("opponents", f"begin with {LEARNER}, and name nobody twice")
        rows = read_array(state, "games", (n, GAME_DTYPE.itemsize), np.uint8)
        episodes = read_array(state, "episodes", (n,), np.int64, 0, MOST_EPISODES)
        generators = read_array(state, "generators", (n, 2), np.int64, 0, 2**32 - 1)
        seating = read_array(state, "seating", games.seating.shape, np.int64, 0, len(names) - 1)
        self.rng = generator_from(generator)
        self._restore_decisions(state)
        for i, row in enumerate(np.ascontiguousarray(rows).view(GAME_DTYPE)):
            check_row(i, row, self._rules[games.kind[i]])
        games.rows.view(np.uint8).reshape(n, -1)[:] = rows
        games.episode[:], games.generator[:], games.seating[:] = episodes, generators, seating
        self.names, self._agents = list(names), {name: known[name] for name in names[1:]}

    def _restore_decisions(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Restores recorded decisions, after checking that every number is possible."""
        record, latest = self.record, self.games.latest
        n = min(np.size(arrays.get("decisions.move", ())), len(record.move))
        move = read_array(arrays, "decisions.move", (n,), np.int64, 0, NUM_ACTIONS - 1)
        log_prob = read_array(arrays, "decisions.log_prob", (n,), np.float32, -np.inf, 0.001)
        value = read_array(arrays, "decisions.value", (n,), np.float32, -np.inf, np.inf)
        reward = read_array(arrays, "decisions.reward", (n,), np.float32, -np.inf, np.inf)
        following = read_array(arrays, "decisions.following", (n,), np.int64, ENDED, n - 1)
        rows, legal = _read_lists(arrays, "decisions.row", n, self._limit), _read_lists(arrays, "decisions.legal", n, NUM_ACTIONS)
        changes = _read_changes(arrays, n, legal)
        opened = read_array(arrays, "latest", latest.shape, np.int64, NOBODY, n - 1)
        of_decision = np.repeat(np.arange(n), np.diff(legal.indptr))
        if not np.isin(np.arange(n), of_decision[legal.indices == move[of_decision]]).all():
            Reader.must("decisions.move", "be among the legal ones")
        if ((following >= 0) & (following <= np.arange(n))).any():
            Reader.fail("decisions.following", "a decision is followed by an earlier one or by itself")
        if not np.array_equal(np.sort(opened[opened != NOBODY]), np.flatnonzero(following == OPEN)):
            Reader.must("latest", "have each open decision once")
        record.move[:n], record.log_prob[:n], record.value[:n] = move, log_prob, value
        record.reward[:n], record.following[:n] = reward, following
        kept = [chosen_lists(one, np.arange(n), len(record.move) + 1) for one in (rows, legal, changes)]
        self.record = _with_lists(record, kept)
        record.size[0], latest[:] = n, opened


def _new_games(kind: np.ndarray, blanks: np.ndarray, seed: int, reward: np.ndarray, events: int) -> Games:
    """Returns games of these kinds that have not begun, with room for so many events."""
    n = len(kind)
    episode, left, answer = np.zeros(n, np.int64), np.zeros(n, np.int64), np.full(n, NO_ANSWER)
    seating, latest = np.full((n, MAX_PLAYERS), LEARNER_NUMBER), np.full((n, MAX_PLAYERS), NOBODY)
    rows, generator = np.zeros(n, GAME_DTYPE), np.zeros((n, 2), np.int64)
    tapes = np.tile(empty_tape(events), (n if events else 1, 1))
    return Games(rows, blanks, kind, episode, generator, seating, latest, left, answer, seed, reward, tapes)


def _new_record(games: int) -> Record:
    """Returns an empty record, with room for the decisions of a rollout and those that are open before it."""
    room, most = games * (ROLLOUT_STEPS + MAX_PLAYERS), games * ROLLOUT_STEPS
    move, following = np.zeros(room, np.int64), np.zeros(room, np.int64)
    log_prob, value, reward = np.zeros((3, room), np.float32)
    rows, legal, changes = (CSR(np.zeros(room + 1, np.int64), np.empty(0, kind)) for kind in (np.int16, np.int16, CHANGE))
    ended = np.zeros((most, MAX_PLAYERS), np.int16), np.zeros((most, MAX_PLAYERS), np.int8)
    return Record(np.zeros(2, np.int64), move, log_prob, value, reward, following, rows, legal, changes, *ended)


def _lists(of: Record | Rollout) -> tuple[CSR, CSR, CSR]:
    """Returns the rows of observations, the legal moves and what these change."""
    return of.rows, of.legal, of.changes


def _with_lists(record: Record, lists: Sequence[CSR]) -> Record:
    """Returns a record with other lists, in the order of `_lists`."""
    rows, legal, changes = lists
    return record._replace(rows=rows, legal=legal, changes=changes)


def _read_lists(arrays: Mapping[str, np.ndarray], name: str, n: int, limit: int) -> CSR:
    """Reads n lists of numbers below `limit`, as `Actor.state` returned them."""
    ends = _read_ends(arrays, name, n)
    return CSR(ends, read_array(arrays, name, (int(ends[-1]),), np.int16, 0, limit - 1))


def _read_ends(arrays: Mapping[str, np.ndarray], name: str, n: int) -> np.ndarray:
    """Reads where n lists begin and end."""
    ends = read_array(arrays, f"{name}_ends", (n + 1,), np.int64, 0, np.size(arrays.get(name, ())))
    if ends[0] or (np.diff(ends) < 0).any():
        Reader.must(f"{name}_ends", "ascend from 0")
    return ends


def _read_changes(arrays: Mapping[str, np.ndarray], n: int, legal: CSR) -> CSR:
    """Reads what the legal moves of n decisions change."""
    ends = _read_ends(arrays, name := "decisions.change", n)
    changes = read_array(arrays, name, (int(ends[-1]),), np.int64, -(2**63), 2**63 - 1).view(CHANGE)
    of_decision, moves = np.repeat(np.arange(n), np.diff(ends)), changes["move"].astype(np.int64)
    ascending = (np.diff(moves) >= 0) | (np.diff(of_decision) > 0)
    if not (ascending.all() and (moves >= 0).all() and (moves < np.diff(legal.indptr)[of_decision]).all()):
        Reader.must(name, "be of the legal moves, in their order")
    if not ((changes["column"] >= 0) & (changes["column"] < NUM_CHANGES)).all() or not (np.abs(changes["amount"]) < 1e3).all():
        Reader.must(name, "have columns of afterstates and what they can be")
    return CSR(ends, changes)


def join(rollouts: Sequence[Rollout]) -> Rollout:
    """Returns the decisions of several rollouts, one after another."""
    move, log_prob, value, reward, following, rows, legal, changes = zip(*rollouts, strict=True)
    firsts = np.cumsum([0, *map(len, move)])
    numbered = [np.where(one >= 0, one + first, one) for one, first in zip(following, firsts, strict=False)]
    moves, log_probs, values, rewards, nexts = map(np.concatenate, (move, log_prob, value, reward, numbered))
    return Rollout(moves, log_probs, values, rewards, nexts, join_lists(rows), join_lists(legal), join_lists(changes))
