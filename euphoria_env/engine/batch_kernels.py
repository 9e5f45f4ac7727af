"""The kernels of `Batch` and of the environments: they play a move and write everything that is seen after it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from euphoria_env.board import MAX_PLAYERS
from euphoria_env.engine.byte_copies import borrowed, pointer_to
from euphoria_env.engine.chance import seed_rng
from euphoria_env.engine.jit import array, entry, jit
from euphoria_env.engine.legal_moves import answer
from euphoria_env.engine.loop import advance
from euphoria_env.engine.move_set import count_legal, fill_mask, is_legal, nth_legal
from euphoria_env.engine.observe import fill_events, fill_observation
from euphoria_env.engine.rewards import fill_rewards
from euphoria_env.engine.setup import begin_setup
from euphoria_env.engine.state import OVER, ROWS, TRUNCATED
from euphoria_env.engine.tape import TAPE, TAPES, forget_events, tape_of


class BatchArrays(NamedTuple):
    """Games, and what the players see who decide."""

    states: np.ndarray  # rows (N,)
    tapes: np.ndarray  # of each game, or one that all share
    player: np.ndarray  # int8 (N,)
    mask: np.ndarray  # bool (N, NUM_ACTIONS)
    observation: np.ndarray  # int8 (N, OBS_SIZE), or (0, OBS_SIZE): nothing is observed
    events: np.ndarray  # int8 (N, K, EVENT_SIZE)


class StepResults(NamedTuple):
    """The results of a step."""

    rewards: np.ndarray  # float32 (N, P)
    terminated: np.ndarray  # bool (N,)
    truncated: np.ndarray  # bool (N,)
    ranking: np.ndarray  # int8 (N, P)


_BYTES, _FLAGS = array(np.int8), array(np.bool_)
_TABLE = array(np.int8, 2)
BATCH_ARRAYS = types.NamedTuple((ROWS, TAPES, _BYTES, array(np.bool_, 2), _TABLE, array(np.int8, 3)), BatchArrays)
STEP_RESULTS = types.NamedTuple((array(np.float32, 2), _FLAGS, _FLAGS, _TABLE), StepResults)


@jit
def play_on(g, action, tape, kind, before, rewards):
    """Plays a legal move and writes its rewards; `before`, int8 (MAX_PLAYERS,), is scratch."""
    before = borrowed(before)
    for p in range(MAX_PLAYERS):
        before[p] = g["stars"][p]
    answer(g, tape, action)
    advance(g, tape)
    fill_rewards(g, kind, before, rewards)


@entry(ROWS, "int64 int64", TAPE, "int64 float32[:] bool_[:]")
def play(games, i, action, tape, kind, rewards, mask):
    """Plays a move in game i and writes rewards and the next mask.

    Returns the status of the game, or -1 if the move is illegal, and who decides.
    """
    g = games[i]
    if not is_legal(g["legal"], action):
        return -1, int(g["player"])
    before = np.empty(MAX_PLAYERS, np.int8)
    play_on(g, action, pointer_to(tape, 0), kind, before, rewards)
    fill_mask(g["legal"], mask)
    return int(g["status"]), int(g["player"])


@jit
def restart(states, i, blank, seed, episode, tape):
    """Begins an episode of game i; it depends on the seed, the game and the number of the episode alone."""
    states[i] = blank[0]
    g = states[i]
    seed_rng(g["rng"], seed, i, episode)
    forget_events(tape)
    begin_setup(g, tape)
    advance(g, tape)


@jit
def show_to_decider(games, i):
    """Writes who decides in game i, the mask, and the observation and the events as that player sees them."""
    g = games.states[i]
    games.player[i] = g["player"]
    fill_mask(g["legal"], games.mask[i])
    if len(games.observation):
        fill_observation(g, int(g["player"]), games.observation[i])
    if games.events.shape[1]:
        fill_events(tape_of(games.tapes, i), int(g["player"]), int(g["num_players"]), games.events[i])


@entry(BATCH_ARRAYS, "int64[:]", ROWS, "int64[:] int64")
def start_games(games, chosen, blank, episodes, seed):
    """Begins the chosen games, by their numbers."""
    for i in chosen:
        restart(games.states, i, blank, seed, episodes[i], tape_of(games.tapes, i))
        show_to_decider(games, i)


@entry(BATCH_ARRAYS, "int64 int64")
def show_games(games, first, last):
    """Shows games first to last - 1 to the players who decide."""
    for i in range(first, last):
        show_to_decider(games, i)


@entry(ROWS, "int64[:] int8[:,:,:]")
def show_ends(ends, ended, observations):
    """Writes what every player saw at the end of games: `ends` are their rows, `ended` their numbers."""
    for k in range(len(ended)):
        for p in range(int(ends[k]["num_players"])):
            fill_observation(ends[k], p, observations[ended[k], p])


@entry(ROWS, "int64[:] int64[:] int8[:,:]")
def show_seats(ends, which, players, observations):
    """Writes the observation of one player of each of these games."""
    for k in range(len(which)):
        fill_observation(ends[which[k]], players[k], observations[k])


@entry(ROWS, TAPES, "int64[:] int64[:] int8[:,:,:]")
def show_last_events(ends, tapes, which, players, events):
    """Writes the last events of each of these games, as one player of it saw them."""
    for k in range(len(which)):
        fill_events(tape_of(tapes, which[k]), players[k], int(ends[which[k]]["num_players"]), events[k])


@entry(ROWS, "int64[:] bool_[:]")
def first_illegal(games, actions, active):
    """The first active game whose action is illegal, or -1."""
    for i in range(len(games)):
        if active[i] and not is_legal(games[i]["legal"], int(actions[i])):
            return i
    return -1


@entry(ROWS, "float64[:] int64[:]")
def choose_legal(games, chances, moves):
    """Writes a legal move of each game, drawn by one number from [0, 1) each; every game must have a legal move."""
    for i in range(len(games)):
        words = games[i]["legal"]
        moves[i] = nth_legal(words, int(chances[i] * count_legal(words)))


@entry(BATCH_ARRAYS, "int64 int64 int64[:] bool_[:] int64", STEP_RESULTS, apart=True)
def step_games(games, first, last, actions, active, kind, results):
    """Plays one decision in the active ones of games first to last - 1; returns the number that ended, which are not shown."""
    games, results = borrowed(games), borrowed(results)
    before, ends = np.empty(MAX_PLAYERS, np.int8), 0
    for i in range(first, last):
        if not active[i]:
            results.rewards[i] = 0.0
            results.terminated[i] = False
            results.truncated[i] = False
            continue
        g = games.states[i]
        play_on(g, int(actions[i]), tape_of(games.tapes, i), kind, before, results.rewards[i])
        ended = g["status"] >= OVER
        results.truncated[i] = g["status"] == TRUNCATED
        results.terminated[i] = ended and not results.truncated[i]
        if ended:
            ends += 1
            for p in range(int(g["num_players"])):
                results.ranking[i, p] = g["ranking"][p]
        else:
            show_to_decider(games, i)
    return ends
