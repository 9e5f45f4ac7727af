"""Playing: games in which the network plays some seats and the league the others, and the decisions to learn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, NoReturn

import numpy as np

from euphoria_agents.agent import Agent
from euphoria_agents.network.compiled_layers import Policy
from euphoria_agents.players.ppo import PPO
from euphoria_agents.training import kernels
from euphoria_agents.training.config import Options
from euphoria_agents.training.csr import CSR, chosen_lists, join_lists
from euphoria_agents.training.kernels import Record
from euphoria_env.actions import NUM_ACTIONS
from euphoria_env.batch import Batch
from euphoria_env.envs.asking import BatchGames, Generators, ask
from euphoria_env.envs.derived_seeds import generator_from
from euphoria_env.envs.opponents import Opponents
from euphoria_env.game import Game
from euphoria_env.json_reader import Reader, read_array, shown
from euphoria_env.observations import OBS_SIZE
from euphoria_env.rules import Rules
from euphoria_env.trajectories import Trajectories

SAME_OPPONENT = 0.5  # share of the games in which all opponents are the same one
LEARNER = "learner"  # plays the seats whose decisions the network learns from


class Rollout(NamedTuple):
    """Decisions, N of them, in the order in which they were made."""

    move: np.ndarray  # int64 (N,)
    log_prob: np.ndarray  # float32 (N,), the logarithm of the probability with which it was chosen
    reward: np.ndarray  # this one and the next as in `Trajectories`
    following: np.ndarray
    rows: CSR  # what was seen; see `training.kernels`
    legal: CSR  # the legal moves


class _Learner:
    """Sits where the network plays; it is never asked."""

    def act(self, *_: Any) -> NoReturn:
        raise AssertionError("the learner plays by `Actor.step`")


class Actor(BatchGames):
    """Some games of a run, all of one kind, and their decisions since the last update.

    Args:
        games: how many.
        rules: of all of them.
        options: of the run.
        seed: of the games and of what is drawn.
        baselines: the fixed opponents by their specs; this actor's own, as others may be asked at the same time.
        rows: how many rows the network knows.

    Attributes:
        ended: the games that have ended since `begin`: who played each, by name, and their ranks, both by seat.
    """

    def __init__(self, games: int, rules: Rules, options: Options, seed: int, baselines: Mapping[str, Agent], rows: int) -> None:
        super().__init__(games)
        self.batch = Batch(games, rules, seed, options.reward, threads=1)
        self.rng = np.random.default_rng(seed)
        self._options, self._limit, self._left = options, rows, 0
        self._learner = _Learner()
        self._fixed: dict[str, Any] = {LEARNER: self._learner, **baselines}
        self._seen = self.batch.observation, self.batch.mask.view(np.int8)  # what those see who decide, and may do
        self._agents = self._fixed  # by name, with the past selves
        self._opponents = Opponents(games, rules.num_players, self._learner)
        self._seats = np.zeros(games, np.int64)  # where the learner always sits; it may sit elsewhere, too
        self.ended: list[tuple[list[str], list[int]]] = []
        self._decisions = Trajectories(self.batch, games * (options.rollout + rules.num_players))
        room = self._decisions.capacity
        lists = (CSR(np.zeros(room + 1, np.int64), np.empty(0, np.int16)) for _ in range(2))
        self._record = Record(np.zeros(room, np.int64), np.zeros(room, np.float32), *lists)

    # --------------------------------------------------------------------------------------------------------- who plays

    def seat(self, selves: Mapping[str, Agent], chances: Mapping[str, float]) -> None:
        """Chooses who plays in the games that begin from now on.

        Args:
            selves: the past selves by name.
            chances: the members of the league, each with the probability that it gets a seat which the learner leaves to them.
        """
        self.know(selves)
        own = self._options.self_play
        self._opponents.set(
            pool=[self._learner, *(self._agents[name] for name in chances)],
            chances=[own, *((1 - own) * chance for chance in chances.values())],
            same_opponent_prob=SAME_OPPONENT,
        )

    def know(self, agents: Mapping[str, Agent]) -> None:
        """Takes in agents by name, and forgets those of earlier calls that play no game any more."""
        playing = {id(agent) for agent in self._opponents.agents}
        kept = {name: agent for name, agent in self._agents.items() if id(agent) in playing}
        self._agents = {**kept, **self._fixed, **agents}

    def names(self) -> list[str]:
        """The names of the agents that play, as `restore` wants them."""
        return self._names(self._opponents.agents)

    def _names(self, agents: Sequence[Any]) -> list[str]:
        names = {id(agent): name for name, agent in self._agents.items()}
        return [names[id(agent)] for agent in agents]

    def begin_games(self) -> None:
        """Seats everybody in the games of a new run."""
        self._sit_down(np.arange(self.batch.n))

    def _sit_down(self, games: np.ndarray) -> None:
        """Seats everybody in games that begin."""
        self._seats[games] = self.rng.integers(self.batch.rules.num_players, size=len(games))
        self._opponents.sit_down(games, self._seats[games], self.rng)

    # ------------------------------------------------------------------------------------------------------- collecting

    def begin(self, player: Policy) -> None:
        """Begins to collect decisions, with the network that `Network.player` gave."""
        self._player, self._left, self.ended = player, self._options.rollout, []
        self._generators = Generators(self.rng)

    def step(self) -> bool:
        """Plays a decision in every game; returns whether there are more to collect."""
        batch = self.batch
        learns = batch.player == self._seats
        (others,) = np.nonzero(~learns)
        for agent, games in self._opponents.asked(others, batch.player[others]):
            if agent is self._learner:
                learns[games] = True
            elif type(agent) is PPO:  # needs no copies, and its moves are legal
                agent.answer(*self._seen, games, self._generators(agent), self.moves)
            else:
                self.take(games, *ask(agent, *self.seen(games), self._generators(agent), partial(self._deal, games)))
        self._decide(np.flatnonzero(learns))
        batch.step(self.moves)
        self._decisions.credit()
        (over,) = np.nonzero(batch.terminated | batch.truncated)
        if len(over):
            self._count(over)
            self._sit_down(over)
        self._left -= 1
        return self._left > 0

    def _decide(self, games: np.ndarray) -> None:
        """Decides for the learner in these games, and records it."""
        new = self._decisions.add(games)
        first, count, record = new.start, len(games), self._record
        rows = self._room(record.rows, int(record.rows.indptr[first]) + count * OBS_SIZE)
        legal = self._room(record.legal, int(record.legal.indptr[first]) + count * NUM_ACTIONS)
        self._record = Record(record.move, record.log_prob, rows, legal)
        kernels.play_and_record(*self._seen, games, self.rng.random(count), self._player, first, self._record, self.moves)

    def _deal(self, games: np.ndarray, k: int) -> Game:
        """Game k of some, as an agent gets it that needs one."""
        return self.dealt(int(games[k]))

    @staticmethod
    def _room(lists: CSR, needed: int) -> CSR:
        """The same lists, with room for `needed` entries in all."""
        if needed <= len(lists.indices):
            return lists
        return CSR(lists.indptr, np.concatenate([lists.indices, np.empty(2 * needed - len(lists.indices), np.int16)]))

    def _count(self, games: np.ndarray) -> None:
        """Notes who played the games that have ended, and their ranks."""
        for i in games.tolist():
            names = self._names(self._opponents.at(i))
            names[self._seats[i]] = LEARNER
            self.ended.append((names, self.batch.ranking[i].tolist()))

    def collected(self) -> Rollout:
        """Hands over what was collected; the open decisions, which are part of it, also begin what is collected next."""
        rollout = self._rollout()
        kept = self._decisions.carry_over()
        move, log_prob, *lists = self._record
        for array in (move, log_prob):
            array[: len(kept)] = array[kept]
        self._record = Record(move, log_prob, *(chosen_lists(one, kept, len(one.indptr)) for one in lists))
        return rollout

    def _rollout(self) -> Rollout:
        """Copies of what was collected."""
        n, decisions = self._decisions.size, self._decisions
        move, log_prob, *lists = self._record
        own = (move, log_prob, decisions.reward, decisions.following)
        move, log_prob, reward, following = (array[:n].copy() for array in own)
        rows, legal = (CSR(one.indptr[: n + 1].copy(), one.indices[: one.indptr[n]].copy()) for one in lists)
        return Rollout(move, log_prob, reward, following, rows, legal)

    # ----------------------------------------------------------------------------------------------------------- saving

    def state(self) -> dict[str, np.ndarray]:
        """All that the games to come depend on but the agents and `rng`, as arrays for `restore`."""
        n, collected = self._decisions.size, self._rollout()
        decisions = {name: array[:n].copy() for name, array in self._decisions.arrays().items()}
        decisions |= {"move": collected.move, "log_prob": collected.log_prob}
        decisions |= {"row": collected.rows.indices, "row_ends": collected.rows.indptr}
        decisions |= {"legal": collected.legal.indices, "legal_ends": collected.legal.indptr}
        named = {f"decisions.{name}": array for name, array in decisions.items()}
        return {**self.batch.state(), **self._opponents.state(), "seats": self._seats.copy(), **named}

    def restore(self, state: Mapping[str, np.ndarray], agents: Sequence[str], generator: Any) -> None:
        """Continues from where `state` was taken.

        Args:
            state: what it gave.
            agents: what `names` gave then; each was made known.
            generator: the state of `rng`.

        Raises:
            ValueError: something is missing, or is not of these games; names it.
        """
        self.batch.restore(state)
        self._seats[:] = read_array(state, "seats", self._seats.shape, np.int64, 0, self.batch.rules.num_players - 1)
        for name in agents:
            if name not in self._agents:
                Reader.fail("opponents", f"no agent is called {shown(name)}")
        self._opponents.restore(state, [self._agents[name] for name in agents])
        self.rng = generator_from(generator)
        self._restore_decisions(state)

    def _restore_decisions(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Takes over recorded decisions, once each number is known to be one that it can be."""
        n = min(np.size(arrays.get("decisions.game", ())), self._decisions.capacity)
        move = read_array(arrays, "decisions.move", (n,), np.int64, 0, NUM_ACTIONS - 1)
        log_prob = read_array(arrays, "decisions.log_prob", (n,), np.float32, -np.inf, 0.001)
        rows, legal = _read_lists(arrays, "decisions.row", n, self._limit), _read_lists(arrays, "decisions.legal", n, NUM_ACTIONS)
        of_decision = np.repeat(np.arange(n), np.diff(legal.indptr))
        if not np.isin(np.arange(n), of_decision[legal.indices == move[of_decision]]).all():
            Reader.must("decisions.move", "be among the legal ones")
        self._decisions.restore(arrays, "decisions.")
        self._record.move[:n], self._record.log_prob[:n] = move, log_prob
        lists = (chosen_lists(one, np.arange(n), self._decisions.capacity + 1) for one in (rows, legal))
        self._record = Record(*self._record[:2], *lists)


def _read_lists(arrays: Mapping[str, np.ndarray], name: str, n: int, limit: int) -> CSR:
    """Reads n lists of numbers below a limit, as `Actor.state` gave them."""
    ends = read_array(arrays, f"{name}_ends", (n + 1,), np.int64, 0, np.size(arrays.get(name, ())))
    index = read_array(arrays, name, (int(ends[-1]),), np.int16, 0, limit - 1)
    if ends[0] or (np.diff(ends) < 0).any():
        Reader.must(f"{name}_ends", "ascend from 0")
    return CSR(ends, index)


def join(rollouts: Sequence[Rollout]) -> Rollout:
    """The decisions of several rollouts, one after another."""
    move, log_prob, reward, following, rows, legal = zip(*rollouts, strict=True)
    firsts = np.cumsum([0, *map(len, move)])
    numbered = [np.where(one >= 0, one + first, one) for one, first in zip(following, firsts, strict=False)]
    moves, log_probs, rewards, nexts = (np.concatenate(arrays) for arrays in (move, log_prob, reward, numbered))
    return Rollout(moves, log_probs, rewards, nexts, join_lists(rows), join_lists(legal))
