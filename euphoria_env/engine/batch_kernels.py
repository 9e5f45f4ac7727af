"""The kernels of `Batch` and of the environments: they play moves and write masks, observations, events and rewards."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from euphoria_env.actions import NUM_ACTIONS
from euphoria_env.board import MAX_PLAYERS
from euphoria_env.engine.byte_copies import borrowed, pointer_to
from euphoria_env.engine.byte_vectors import prefetcher
from euphoria_env.engine.chance import seed_rng
from euphoria_env.engine.jit import array, entry, jit
from euphoria_env.engine.legal_moves import answer
from euphoria_env.engine.loop import advance
from euphoria_env.engine.move_set import count_legal, fill_mask, is_legal, nth_legal
from euphoria_env.engine.observe import fill_events, fill_observation
from euphoria_env.engine.rewards import NUM_NOTES, fill_potential, fill_rewards, note_stars
from euphoria_env.engine.row_checks import check
from euphoria_env.engine.setup import begin_setup
from euphoria_env.engine.state import GAME_DTYPE, OVER, ROWS
from euphoria_env.engine.tape import TAPE, TAPES, forget_events, tape_of
from euphoria_env.observations import OBS_SIZE


class BatchArrays(NamedTuple):
    """The arrays of many games, and what the player to move sees in each."""

    states: np.ndarray  # rows (N,)
    tapes: np.ndarray  # one tape for each game, or one that all games share
    player: np.ndarray  # int8 (N,)
    mask: np.ndarray  # bool (N, NUM_ACTIONS)
    observation: np.ndarray  # int8 (N, OBS_SIZE), or (0, OBS_SIZE) if no observations are written
    events: np.ndarray  # int8 (N, K, EVENT_SIZE)
    reward: np.ndarray  # float64, see `engine.rewards`
    potential: np.ndarray  # float64 (N, MAX_PLAYERS), each player's weighted quantities in `states`, if the reward has any


_prefetch_row, _prefetch_mask, _prefetch_observation = map(prefetcher, (GAME_DTYPE.itemsize, NUM_ACTIONS, OBS_SIZE))
_SHOWN = array(np.int8), array(np.bool_, 2), array(np.int8, 2), array(np.int8, 3)
BATCH_ARRAYS = BatchArrays(ROWS, TAPES, *_SHOWN, array(np.float64), array(np.float64, 2))


@jit
def play_on(g, action, tape, reward, notes, potential, rewards):
    """Plays a legal move, and writes its rewards and the potential after it over that before it; `notes` is scratch."""
    notes, potential, decider = borrowed(notes), borrowed(potential), int(g["player"])
    note_stars(g, notes)
    answer(g, tape, action)
    advance(g, tape)
    fill_rewards(g, reward, decider, notes, potential, rewards)


@entry(ROWS, "int64 int64", TAPE, "float64[:] float32[:] int8[:] int8[:]")
def play(games, i, action, tape, reward, rewards, mask, observation):
    """Plays a move in game i; writes rewards, the next mask and, unless its array is empty, what the next player sees.

    Returns the status of the game, or -1 if the move is illegal, and the player who decides next.
    """
    check(games, i)
    g = games[i]
    if not is_legal(g["legal"], action):
        return -1, int(g["player"])
    notes = np.empty(NUM_NOTES + MAX_PLAYERS)
    potential = notes[NUM_NOTES:]
    fill_potential(g, reward, potential)
    play_on(g, action, pointer_to(tape, 0), reward, notes, potential, rewards)
    fill_mask(g["legal"], mask)
    if len(observation):
        fill_observation(g, int(g["player"]), observation)
    return int(g["status"]), int(g["player"])


@jit
def restart(states, i, blank, seed, episode, tape):
    """Begins an episode of game i, which depends only on the seed, on i and on the number of the episode."""
    states[i] = blank[0]
    g = states[i]
    seed_rng(g["rng"], seed, i, episode)
    forget_events(tape)
    begin_setup(g, tape)
    advance(g, tape)


@jit
def show_to_decider(games, i):
    """Writes which player decides in game i, and this player's mask, observation and events."""
    g = games.states[i]
    games.player[i] = g["player"]
    fill_mask(g["legal"], games.mask[i])
    if len(games.observation):
        fill_observation(g, int(g["player"]), games.observation[i])
    if games.events.shape[1]:
        fill_events(tape_of(games.tapes, i), int(g["player"]), int(g["num_players"]), games.events[i])


@jit
def show_start(games, i):
    """Writes what the first player to move sees of a game that begins or goes on from elsewhere, and the potential."""
    fill_potential(games.states[i], games.reward, games.potential[i])
    show_to_decider(games, i)


@entry(BATCH_ARRAYS, "int64[:]", ROWS, "int64[:] int64[:] int64")
def start_games(games, chosen, blanks, kinds, episodes, seed):
    """Begins the games whose numbers are in `chosen`; `kinds` has, for each game, the number of its row in `blanks`."""
    for i in chosen:
        kind = kinds[i]
        restart(games.states, i, blanks[kind : kind + 1], seed, episodes[i], tape_of(games.tapes, i))
        show_start(games, i)


@entry(BATCH_ARRAYS, "int64 int64")
def show_games(games, first, last):
    """Writes what `show_start` writes of the games first to last - 1."""
    for i in range(first, last):
        show_start(games, i)


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
    """Returns the first active game whose action is illegal, or -1."""
    for i in range(len(games)):
        if active[i] and not is_legal(games[i]["legal"], int(actions[i])):
            return i
    return -1


@entry(ROWS, "float64[:] int64[:]")
def choose_legal(games, chances, moves):
    """Writes a legal move of each game, chosen by one number from [0, 1) for each; -1 for a game that has ended."""
    for i in range(len(games)):
        words = games[i]["legal"]
        legal = count_legal(words)
        moves[i] = nth_legal(words, int(chances[i] * legal)) if legal else -1


@entry(BATCH_ARRAYS, "int64 int64 int64[:] bool_[:] float32[:,:]", apart=True)
def step_games(games, first, last, actions, active, rewards):
    """Plays a decision in each active game from first to last - 1; shows the games that continue, and returns how many ended."""
    games, rewards = borrowed(games), borrowed(rewards)
    notes, ends = np.empty(NUM_NOTES), 0
    for i in range(first, last):
        if i + 1 < last and active[i + 1]:  # the next game is loaded while this one is played
            _prefetch_row(games.states, i + 1)
            _prefetch_mask(games.mask, (i + 1) * NUM_ACTIONS)
            if len(games.observation):
                _prefetch_observation(games.observation, (i + 1) * OBS_SIZE)
        if not active[i]:
            rewards[i] = 0.0
            continue
        g = games.states[i]
        tape, potential = tape_of(games.tapes, i), games.potential[i]
        play_on(g, int(actions[i]), tape, games.reward, notes, potential, rewards[i])
        if g["status"] >= OVER:
            ends += 1
        else:
            show_to_decider(games, i)
    return ends
