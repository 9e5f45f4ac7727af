"""The engine and the referee play the same games; and the tool that plays them finds what it should."""

from __future__ import annotations

import os
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from euphoria_env import Game
from tests.referee import Referee, tracks
from tests.referee.tables import RECRUITS
from tests.tools import differential
from tests.tools.differential import (
    CHUNK,
    NEVER_LEGAL,
    Pair,
    Plan,
    append_line,
    normal,
    play_chunk,
    play_chunks,
    play_game,
    random_plan,
    read_finished,
    report,
)
from tests.tools.positions import any_position, positions
from tests.tools.scenario_runner import Scenario, ScenarioFailed, read_text, run

DECISIONS = 100_000
SEED = 2024


@pytest.mark.slow
@pytest.mark.timeout(1800)  # a minute or two on two cores that have nothing else to do
def test_the_engine_and_the_referee_agree():
    """`python -m tests.tools.differential --help` for more of this."""
    chunks = list(play_chunks(SEED, range(DECISIONS // CHUNK), os.cpu_count() or 1))
    failing = [text for chunk in chunks for text in chunk.scenarios]
    if failing:
        pytest.fail("\n".join(failing), pytrace=False)
    assert sum(chunk.decisions for chunk in chunks) >= DECISIONS
    assert sum(chunk.ended for chunk in chunks) > 1_000
    moves = set().union(*(chunk.moves for chunk in chunks))
    asked = {f"use {recruit}" for recruit in RECRUITS} - NEVER_LEGAL
    assert len(asked) == 26 and asked <= moves, "some recruits were never used"
    assert not moves & NEVER_LEGAL


@settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)
@given(position=positions(), seed=st.integers(0, 2**32 - 1), data=st.data())
def test_they_agree_from_any_position(position, seed, data):
    pair = Pair({"given": {**position, "seed": seed}})
    for _ in range(data.draw(st.integers(0, 15), label="moves")):
        legal = pair.compare()
        if not legal:
            break
        pair.play(data.draw(st.sampled_from(legal), label="move"))
    pair.compare()


def test_random_positions_are_valid_and_read_as_they_are():
    rng = random.Random(5)
    for _ in range(100):
        position = any_position(rng)
        assert normal(Game.from_dict(position).to_dict()) == normal(position)
        assert normal(Referee.from_dict(position).to_dict()) == normal(position)


@pytest.fixture
def faulty_referee(monkeypatch):
    """A referee in which nobody gains more than one morale at once."""
    gain_morale = tracks.gain_morale
    monkeypatch.setattr(tracks, "gain_morale", lambda table, player, points: gain_morale(table, player, min(points, 1)))


def first_failure():
    for k in range(200):
        rng = random.Random(k)
        failure = play_game(random_plan(rng), rng).failure
        if failure is not None:
            return failure
    raise AssertionError("the fault was not found")


def test_a_difference_is_found_and_shrunk_to_a_scenario(faulty_referee):
    (found,) = read_text(report(first_failure()))
    assert isinstance(found, Scenario), found
    assert len(found.play) <= 3
    assert len(found.given) <= 5
    with pytest.raises(ScenarioFailed, match="morale"):
        run(found)


def test_a_difference_in_the_setup_is_shrunk_too(monkeypatch):
    """Such a game has no start of a turn to begin with."""
    monkeypatch.setattr("tests.referee.setup.MARKETS", ("euphorian_market_2", "euphorian_market_1"))
    start = {"new": {"rules": {"num_players": 2}, "seed": 3}}
    failure = play_game(Plan(start, "random", 20), random.Random(0)).failure
    assert failure is not None
    text = report(failure)
    (found,) = read_text(text)
    assert isinstance(found, Scenario), found
    assert "new:" in text and len(found.play) <= 4


def test_a_chunk_is_the_same_whenever_it_is_played():
    one, other = (play_chunk(7, 3, 150) for _ in range(2))
    assert (one.decisions, one.games, one.moves) == (other.decisions, other.games, other.moves)
    assert one.decisions >= 150 and not one.failures


def test_finished_chunks_are_remembered(tmp_path):
    file = tmp_path / "chunks.jsonl"
    chunk = play_chunk(7, 3, 40, "abc")
    append_line(file, chunk.to_line())
    file.write_text(file.read_text() + '{"seed": 7, "chu')  # stopped while writing
    append_line(file, play_chunk(7, 4, 40, "abc").to_line())
    assert sorted(read_finished(file, 7, "abc")) == [3, 4]
    assert read_finished(file, 7, "abc")[3] == chunk
    assert not read_finished(file, 8, "abc")
    assert not read_finished(file, 7, "other sources")
    assert not read_finished(tmp_path / "none", 7, "abc")


def test_the_command_goes_on_where_it_was_stopped(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(differential, "CHUNK", 50)
    arguments = ["--processes", "1", "--seed", "3", "--out", str(tmp_path / "chunks.jsonl"), "--decisions"]
    assert differential.main([*arguments, "100"]) == 0
    played = []
    monkeypatch.setattr(differential, "play_chunk", lambda *a: played.append(a[1]) or play_chunk(*a))
    assert differential.main([*arguments, "150"]) == 0
    assert played == [2]
    assert "no differing" in capsys.readouterr().out


def test_the_command_prints_scenarios_and_fails(faulty_referee, monkeypatch, capsys):
    monkeypatch.setattr(differential, "CHUNK", 400)
    assert differential.main(["--processes", "1", "--seed", "3", "--decisions", "400"]) == 1
    assert "- id: differential-" in capsys.readouterr().out
