"""The compiled loop of an actor: it plays games between compiled players, and records the learner's decisions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from euphoria_agents.network.afterstate_head import MOST_CHANGES
from euphoria_agents.network.compiled_layers import POLICY, draw_by_logs, widest
from euphoria_agents.players.compiled import ASKED, choose_by_rule
from euphoria_agents.players.network_moves import choose_by_policy, new_workspace
from euphoria_agents.players.search import inference
from euphoria_agents.players.search.playouts import random_unit
from euphoria_agents.training.csr import CSR
from euphoria_agents.training.kernels import CHANGES, LISTS
from euphoria_env.actions import NUM_ACTIONS
from euphoria_env.board import MAX_PLAYERS
from euphoria_env.engine.batch_kernels import play_on, restart
from euphoria_env.engine.byte_copies import borrowed, pointer_to
from euphoria_env.engine.chance import random_below, seed_rng
from euphoria_env.engine.jit import array, entry, jit, kind_of
from euphoria_env.engine.legal_moves import answer
from euphoria_env.engine.loop import advance
from euphoria_env.engine.move_set import fill_mask, list_moves
from euphoria_env.engine.observe import fill_observation
from euphoria_env.engine.rewards import FINAL
from euphoria_env.engine.state import GAME_DTYPE, OVER, ROWS
from euphoria_env.engine.tape import TAPE_HEADER, TAPES, tape_of
from euphoria_env.engine.trajectory_kernels import ENDED, OPEN
from euphoria_env.observations import OBS_SIZE

LEARNER_NUMBER = 0  # the learner's number among the players of an actor; its policy is the first one
MAX_POLICIES = 12  # networks that play compiled: the learner, past selves and baselines; further networks are ASKED
SAME_OPPONENT = 0.5  # share of the games in which all opponents are the same player
NO_ANSWER, NOBODY = -1, -1
PLAYERS_EPISODE = -1  # stands for the episode in the seeds of the players' generators


class Games(NamedTuple):
    """The N games of an actor. Games of one kind have the same rules."""

    rows: np.ndarray  # (N,), the states
    blanks: np.ndarray  # by kind, the row from which its games begin
    kind: np.ndarray  # int64 (N,), the kind of each game
    episode: np.ndarray  # int64 (N,), how often each game has restarted
    generator: np.ndarray  # int64 (N, 2), the random generator for the seating and the moves of each game
    seating: np.ndarray  # int64 (N, MAX_PLAYERS), the number of the player at each seat
    latest: np.ndarray  # int64 (N, MAX_PLAYERS), the open decision of each seat, or NOBODY
    left: np.ndarray  # int64 (N,), how many decisions remain until the next update
    answer: np.ndarray  # int64 (N,), the move that an agent in Python chose, or NO_ANSWER
    seed: int
    reward: np.ndarray  # float64, see `engine.rewards`
    tapes: np.ndarray  # a tape for each game, or one for all that logs no events


class Players(NamedTuple):
    """The players by number, and the distribution from which the seats of new games are drawn."""

    policy: np.ndarray  # int64, each player's kind (`players.compiled`), or the number of its policy
    deals: np.ndarray  # int64, the number of deals of each player that is GREEDY
    pool: np.ndarray  # int64 (K,), the players that may get a seat
    cumulative: np.ndarray  # float64 (K,), the cumulative sums of their probabilities


class Record(NamedTuple):
    """The learner's decisions in the order in which they were made, and the games that ended; with room for more."""

    size: np.ndarray  # int64 (2,), the numbers of decisions and of games that ended
    move: np.ndarray  # int64
    log_prob: np.ndarray  # float32, the log-probability of the move
    value: np.ndarray  # float32, the output of the value head, or what the critic says
    reward: np.ndarray  # float32, the seat's reward until its next decision or the end of the game
    following: np.ndarray  # int64, the number of the seat's next decision, OPEN or ENDED
    rows: CSR  # the rows of the observation, see `training.kernels`
    legal: CSR  # the legal moves
    changes: CSR  # what they change, if the afterstate head corrected them (`network.afterstate_head.CHANGE`)
    ended_seating: np.ndarray  # int16 (E, MAX_PLAYERS), the seating of the games that ended
    ranking: np.ndarray  # int8 (E, MAX_PLAYERS); 0 where nobody sits


_INTS = np.empty(0, np.int64)
PLAYERS = kind_of(Players(_INTS, _INTS, _INTS, np.empty(0)))
_NUMBERS, _MATRIX, _REALS = array(np.int64), array(np.int64, 2), array(np.float32)
_ENDED = array(np.int16, 2), array(np.int8, 2)
RECORD = Record(_NUMBERS, _NUMBERS, _REALS, _REALS, _REALS, _NUMBERS, LISTS, LISTS, CHANGES, *_ENDED)
_OF_GAMES = _NUMBERS, _NUMBERS, _MATRIX, _MATRIX, _MATRIX, _NUMBERS, _NUMBERS
GAMES = Games(ROWS, ROWS, *_OF_GAMES, kind_of(0), array(np.float64), TAPES)
POLICIES = (POLICY,) * MAX_POLICIES


@jit
def sit_down(games, i, players):  # type: ignore[no-untyped-def]
    """Draws the players of game i from the pool, then gives one random seat to the learner."""
    generator, pool = games.generator[i], players.pool
    same = random_unit(generator) < SAME_OPPONENT
    one = pool[0]
    for p in range(MAX_PLAYERS):
        if p == 0 or not same:
            drawn = np.searchsorted(players.cumulative, random_unit(generator), "right")
            one = pool[min(drawn, len(pool) - 1)]
        games.seating[i, p] = one
    games.seating[i, random_below(generator, int(games.rows[i]["num_players"]))] = LEARNER_NUMBER


@jit
def begin_game(games, i, players):  # type: ignore[no-untyped-def]
    """Begins the next episode of game i, with everybody seated."""
    kind = games.kind[i]
    restart(games.rows, i, games.blanks[kind : kind + 1], games.seed, games.episode[i], tape_of(games.tapes, i))
    sit_down(games, i, players)


@entry(GAMES, PLAYERS)
def begin_games(games, players):  # type: ignore[no-untyped-def]
    """Begins all games of an actor, in a new run."""
    for i in range(len(games.rows)):
        seed_rng(games.generator[i], games.seed, i, PLAYERS_EPISODE)
        begin_game(games, i, players)


@jit
def record_decision(games, i, record, n, found, changes, chosen, work):  # type: ignore[no-untyped-def]
    """Records a decision of the learner in game i among n legal moves, and links the seat's previous decision to it."""
    k, p = record.size[0], int(games.rows[i]["player"])
    before = games.latest[i, p]
    if before != NOBODY:
        record.following[before] = k
    games.latest[i, p] = k
    record.size[0] = k + 1
    record.move[k], record.log_prob[k] = work.moves[chosen], work.logs[chosen]
    record.value[k], record.reward[k], record.following[k] = work.value[0], 0.0, OPEN
    first, low, start = record.rows.indptr[k], record.legal.indptr[k], record.changes.indptr[k]
    for j in range(found):
        record.rows.indices[first + j] = work.seen[j]
    for j in range(n):
        record.legal.indices[low + j] = work.moves[j]
    for j in range(changes):
        record.changes.indices[start + j] = work.head.changes[j]
    record.rows.indptr[k + 1], record.legal.indptr[k + 1], record.changes.indptr[k + 1] = first + found, low + n, start + changes


@jit
def credit_rewards(games, i, record, rewards):  # type: ignore[no-untyped-def]
    """Adds the rewards of a step to the open decision of each seat of game i, and closes them if the game is over.

    Where a cut-off is no end for the reward, they stay open, but nothing will follow: their values stand for what would have.
    """
    status = int(games.rows[i]["status"])
    for p in range(int(games.rows[i]["num_players"])):
        k = games.latest[i, p]
        if k != NOBODY:
            record.reward[k] += rewards[p]
            if status >= OVER:
                games.latest[i, p] = NOBODY
                if (int(games.reward[FINAL]) >> status) & 1:
                    record.following[k] = ENDED


@jit
def finish_game(games, i, players, record):  # type: ignore[no-untyped-def]
    """Records the players of game i and their ranks, and begins the next game."""
    e = record.size[1]
    record.size[1] = e + 1
    record.ended_seating[e] = games.seating[i]
    for p in range(MAX_PLAYERS):
        record.ranking[e, p] = games.rows[i]["ranking"][p]
    games.episode[i] += 1
    begin_game(games, i, players)


@jit
def record_has_room(record):  # type: ignore[no-untyped-def]
    """Returns whether there is room for another decision, whatever its observation and its legal moves."""
    k = record.size[0]
    return (
        list_has_room(record.rows, k, OBS_SIZE)
        and list_has_room(record.legal, k, NUM_ACTIONS)
        and list_has_room(record.changes, k, MOST_CHANGES)
    )


@jit
def list_has_room(lists, k, most):  # type: ignore[no-untyped-def]
    """Returns whether list k may have `most` entries."""
    return lists.indptr[k] + most <= len(lists.indices)


@jit
def among_networks(games, i, players):  # type: ignore[no-untyped-def]
    """Returns whether networks play all seats of game i; those beyond MAX_POLICIES do not count as such."""
    lowest = 0
    for p in range(int(games.rows[i]["num_players"])):
        lowest = min(lowest, players.policy[games.seating[i, p]])
    return lowest == 0


@jit
def judged_value(critic, g, work):  # type: ignore[no-untyped-def]
    """Returns the mover's expected reward `win`, by the win probabilities of a critic."""
    p = int(g["player"])
    inference.encode(critic, g, p)
    inference.win_probs(critic, g, p, work.chances)
    return inference.reward_of_chance(work.chances[p], int(g["num_players"]))


@jit
def choose_move(games, i, players, policies, critic, record, work):  # type: ignore[no-untyped-def]
    """Returns the next move of game i, and records it if it is the learner's; NO_ANSWER if an agent in Python must choose."""
    work = borrowed(work)
    g, answer = games.rows[i], games.answer[i]
    player = games.seating[i, int(g["player"])]
    policy = players.policy[player]
    games.answer[i] = NO_ANSWER
    if answer != NO_ANSWER or policy == ASKED:
        return answer
    n, chance = list_moves(g["legal"], work.moves), random_unit(games.generator[i])
    if policy < 0:
        return work.moves[choose_by_rule(g, policy, players.deals[player], games.generator[i], n, chance, work)]
    found, changes = choose_by_policy(g, policies[policy], n, work)
    chosen = draw_by_logs(work.logs, n, chance)
    if player == LEARNER_NUMBER:
        if inference.has_win_probs(critic) and among_networks(games, i, players):  # a critic knows no other opponents
            work.value[0] = judged_value(critic, g, work)
        record_decision(games, i, record, n, found, changes, chosen, work)
    return work.moves[chosen]


@jit
def play_game(games, i, players, policies, critic, record, work):  # type: ignore[no-untyped-def]
    """Plays game i until the next update, or until an agent in Python must choose; returns False if the record is full."""
    while games.left[i] > 0:
        if not record_has_room(record):
            return False
        move = choose_move(games, i, players, policies, critic, record, work)
        if move == NO_ANSWER:
            return True
        g = games.rows[i]
        play_on(g, int(move), tape_of(games.tapes, i), games.reward, work.notes, work.potential, work.rewards)
        credit_rewards(games, i, record, work.rewards)
        if g["status"] >= OVER:
            finish_game(games, i, players, record)
        games.left[i] -= 1
    return True


@entry(GAMES, "int64[:]", PLAYERS, POLICIES, inference.NETWORK, RECORD, apart=True)
def play_actor_games(games, chosen, players, policies, critic, record):  # type: ignore[no-untyped-def]
    """Plays the games `chosen` one after another by `play_game`; returns how many were played before the record was full."""
    games, players, policies = borrowed((games, players, policies))
    critic, record = borrowed(critic), borrowed(record)
    width = size = 0
    for policy in policies:
        width, size = max(width, widest(policy.table)), max(size, len(policy.afterstates.out))
    work = new_workspace(width, size)
    for k in range(len(chosen)):
        if not play_game(games, chosen[k], players, policies, critic, record, work):
            return k
    return len(chosen)


@entry(array(GAME_DTYPE, read_only=True), "int64[:] int8[:,:] bool_[:,:]")
def show_decisions(rows, chosen, observations, masks):  # type: ignore[no-untyped-def]
    """Writes the movers' observations and action masks in the games `chosen`."""
    for k in range(len(chosen)):
        g = rows[chosen[k]]
        fill_observation(g, int(g["player"]), observations[k])
        fill_mask(g["legal"], masks[k])


@jit
def play_unseen(g, tape, move):  # type: ignore[no-untyped-def]
    """Plays a move up to the next decision; nothing is rewarded or shown."""
    tape = pointer_to(tape, 0)
    answer(g, tape, move)
    advance(g, tape)


@entry(ROWS, POLICY, "int64[:,:] float64 int64[:]", ROWS, "int64[:,:] int64[:]")
def play_by_policy(rows, policy, generators, epsilon, until, kept, when, lengths):  # type: ignore[no-untyped-def]
    """Plays games on with one policy at all seats, and keeps some positions of each game, drawn at random.

    Args:
        rows: (N,), the games; when it returns, their last states.
        generators: int64 (N, 2), the random generator of each game.
        epsilon: the share of the moves that are drawn uniformly from all legal ones.
        until: int64 (N,), the seat at whose next decision the game is stopped; NOBODY: it is played to its end.
        kept: (N * K,), to which K positions of each game are written.
        when: int64 (N, K), to which the number of each position's decision in its game is written.
        lengths: int64 (N,), to which the number of decisions of each game is written.
    """
    tape, work = np.zeros(TAPE_HEADER, np.int32), new_workspace(widest(policy.table), len(policy.afterstates.out))
    for i in range(len(rows)):
        g, generator, n = rows[i], generators[i], 0
        while g["status"] < OVER and (n == 0 or int(g["player"]) != until[i]):
            k = n if n < when.shape[1] else random_below(generator, n + 1)  # reservoir sampling
            if k < when.shape[1]:
                kept[i * when.shape[1] + k], when[i, k] = g, n
            n += 1
            legal, chance = list_moves(g["legal"], work.moves), random_unit(generator)
            if chance < epsilon:
                chosen = int(legal * chance / epsilon)
            else:
                choose_by_policy(g, policy, legal, work)
                chosen = draw_by_logs(work.logs, legal, (chance - epsilon) / (1.0 - epsilon))
            play_unseen(g, tape, int(work.moves[chosen]))
        lengths[i] = n
