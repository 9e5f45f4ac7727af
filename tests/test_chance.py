"""Chance is fair: every outcome of a lot and of a deal comes about equally often."""

from __future__ import annotations

from collections import Counter

from euphoria_env import Game, Rules
from euphoria_env.engine import tape
from euphoria_env.event_kinds import EventKind

GAMES = 900


def first_game(seed: int, rules: Rules, **load: list) -> Game:
    """A game after its setup, every choice being the first one."""
    game = Game(rules, seed=seed, load=load)
    while game.turn == 0:
        game.play(game.legal()[0])
    return game


def even(counts: Counter, outcomes: int) -> bool:
    """Whether this many outcomes came about equally often: within five standard deviations."""
    expected = counts.total() / outcomes
    return len(counts) == outcomes and all(abs(n - expected) < 5 * expected**0.5 for n in counts.values())


def test_each_of_the_tied_starts_equally_often() -> None:
    """R2.6: players 0, 1 and 2 are tied, player 3 is not."""
    rules = Rules(num_players=4)
    counts = Counter(first_game(seed, rules, dice=[6, 1, 3, 4, 5, 2, 1, 1]).player for seed in range(GAMES))
    assert even(counts, 3) and counts[3] == 0


def test_every_dilemma_is_dealt_equally_often() -> None:
    """R2.1: to the first, the middle and the last player."""
    for player in (0, 1, 2):
        games = (Game(Rules(num_players=3), seed=seed) for seed in range(GAMES))
        counts = Counter(game.describe()["players"][player]["dilemma"]["artifact"] for game in games)
        assert even(counts, 6)


def test_faces_are_even() -> None:
    """R2.6: two dice each."""
    games = (first_game(seed, Rules(num_players=6)) for seed in range(GAMES // 6))
    assert even(Counter(face for game in games for kind, face in game.outcomes if kind == "dice"), 6)


def test_a_tape_keeps_the_last_events_and_nothing_more() -> None:
    """A full tape forgets the first ones; one without room is never written to."""
    short, none = tape.empty_tape(2), tape.empty_tape()
    for face in range(1, 6):
        tape.log_event(short, EventKind.DIE, 0, face, -1)
        tape.log_interruption(none, EventKind.DIE, 0, face, -1)
        tape.log_resumption(none, 0)
        tape.log_cause(none, EventKind.DIE, 0, face, -1)
    assert len(short) == tape.TAPE_HEADER + 8 and short[tape.TAPE_EVENTS] == 5
    assert short[tape.TAPE_HEADER :].tolist() == [EventKind.DIE, 0, 5, -1, EventKind.DIE, 0, 4, -1]
    assert none.tolist() == tape.empty_tape().tolist()
