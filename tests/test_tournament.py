"""Tournaments: paired seats, chunks that are the same wherever they are played, resumption, ratings, intervals, the commands."""

from __future__ import annotations

import itertools
import json
import math
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from euphoria_agents import Agent, load
from euphoria_agents.matches import players, tournament, work
from euphoria_agents.matches.match import Played, play_match, score, wilson
from euphoria_agents.matches.processes import ATTEMPTS, in_processes
from euphoria_agents.matches.ray_cluster import on_ray
from euphoria_agents.matches.tournament import comparison, rate, schedule, standings
from euphoria_agents.matches.work import Journal, WorkUnit, play_unit, play_units, sources
from euphoria_env import Game, Rules
from euphoria_env.event_kinds import EventKind
from tests.tools.commands import euphoria, start

SHORT = Rules(num_players=2, max_turns=40)


def chunk(number: int = 0, lineup: tuple[str, ...] = ("weights", "random"), rules: Rules = SHORT, **changes: Any) -> WorkUnit:
    """A small chunk."""
    return WorkUnit(lineup, number, **{"seed": 5, "seeds": 2, "rules": rules, "sources": sources(lineup), **changes})


# ------------------------------------------------------------------------------------------------------- matches


class Witness(Agent):
    """Plays the first legal move, and remembers on which seats it sat."""

    needs_game = True
    seats: Counter[tuple[int, int]] = Counter()  # by place and seat

    def __init__(self, place: str) -> None:
        self.place = int(place)

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Game | None = None) -> int:
        assert game is not None
        self.seats[self.place, game.player] += game.turn == 0
        return int(mask.argmax())


def test_every_seed_is_played_once_from_every_seat() -> None:
    with pytest.MonkeyPatch.context() as patch:  # so that they play in this process
        patch.setattr(players, "AgentProcess", lambda spec, *_: load(spec))
        patch.setattr(players.Players, "close", lambda self: None)
        specs = [f"{__name__}:Witness:{place}" for place in range(3)]
        result = play_match(specs, 6, Rules(num_players=3, max_turns=30), seed=4, records=True)
    assert Witness.seats == dict.fromkeys(itertools.product(range(3), repeat=2), 4), "two recruits in each of two games"
    starts = [json.loads(record.splitlines()[0]) for record in result.records]
    assert [start["seed"] for start in starts] == [game.seed for game in result.played]
    assert [len({game.seed for game in result.played[k : k + 3]}) for k in (0, 3)] == [1, 1]
    assert len({game.seed for game in result.played}) == 2
    deals = [[outcome for outcome in start["outcomes"] if outcome[0] == "recruits"] for start in starts]
    assert deals[0] == deals[1] == deals[2] != deals[3] == deals[4] == deals[5]
    dull = [tuple(record.splitlines()[1:]) for record in result.records]
    assert len({*dull[:3]}) == 1, "whoever sits where, who plays alike plays the same game"


def test_places_are_counted_not_seats() -> None:
    result = play_match([load("weights"), load("random"), load("random")], 30, seed=2, records=True)
    assert result.scores[0].rate > 1.5 * max(score.rate for score in result.scores[1:])
    for k, (record, played) in enumerate(zip(result.records, result.played, strict=True)):
        game = Game.from_record(record)
        assert game.ranking is not None and game.winner is not None and played.winner is not None
        assert [game.ranking[(place + k) % 3] for place in range(3)] == played.ranks
        assert (played.winner + k) % 3 == game.winner
        assert (game.turn, len(game.history)) == (played.turns, sum(played.decisions))


def test_a_match_tells_its_progress_and_how_many_games_were_cut_off() -> None:
    agents, rules, told = [load("weights"), load("random")], Rules(num_players=2, max_turns=60, stars_to_win=2), list[int]()
    result = play_match(agents, 20, rules, seed=1, progress=told.append)
    assert sum(told) == 20 and result.played == play_match(agents, 20, rules, seed=1).played
    cut = sum(game.winner is None for game in result.played)
    assert 0 < cut < 20 and str(result).startswith(f"20 games, {cut} of them cut off; won by place 0: ")


# ------------------------------------------------------------------------------------------------------- intervals


def test_paired_intervals_take_a_seed_as_one_observation() -> None:
    shares = {7: (1, 1), 8: (1, 0), 9: (0, 0), 10: (1, 0)}  # what was won on the two seats of four seeds
    found = score((seed, bool(won), 2 - won) for seed, wins in shares.items() for won in wins)
    means = [sum(wins) / 2 for wins in shares.values()]
    assert found.win_error == found.rank_error == pytest.approx(np.std(means, ddof=1) / 2)
    assert found.paired_interval == pytest.approx(wilson(3, 6), abs=1e-6), "six independent games have the same error"
    assert found.mean_rank == 1.5 and sum(found.rank_interval) == pytest.approx(3)
    assert (found.wins, found.games) == (4, 8)
    first_seat_wins = score((seed, seat == 0, 1 + seat) for seed in range(20) for seat in range(2))
    assert first_seat_wins.win_error == 0 and first_seat_wins.interval == pytest.approx((0.352, 0.648), abs=1e-3)
    one_in_three = score((seed, seat == 0, 1 + seat) for seed in range(21) for seat in range(3))
    assert first_seat_wins.paired_interval == wilson(10, 20) and one_in_three.paired_interval == wilson(7, 21)
    one_seed = score([(1, True, 1), (1, False, 2)])
    assert math.isinf(one_seed.win_error) and one_seed.paired_interval == (0, 1) and score([]).games == 0
    assert one_seed.to_dict()["paired_interval"] is one_seed.to_dict()["rank_interval"] is None


def test_paired_intervals_hold_close_to_none_and_all() -> None:
    for wins, interval in ((0, (0, 0.0077)), (1000, (0.9923, 1))):
        always = score((game // 2, wins > 0, 1) for game in range(1000))
        assert always.wins == wins and always.paired_interval == pytest.approx(interval, abs=1e-4)
    rng, deals = np.random.default_rng(0), np.repeat(np.arange(50), 2).tolist()
    for chance in (0.5, 0.9, 0.99):  # the chance differs from deal to deal, so that its games go together
        won = rng.random((200, 50, 2)) < rng.beta(chance, 1 - chance, (200, 50, 1))
        ends = [score((*one, 1) for one in zip(deals, wins.ravel().tolist(), strict=True)).paired_interval for wins in won]
        assert 0.91 <= np.mean([low <= chance <= high for low, high in ends]) <= 0.98, chance


# ------------------------------------------------------------------------------------------------------- schedules


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any name is that of an agent."""
    for module in (tournament, work):
        monkeypatch.setattr(module, "player", lambda spec, limit=None: load("random"))
    monkeypatch.setattr(work, "_hashes_once", lambda spec: {})


@pytest.mark.usefixtures("nobody")
def test_two_players_meet_in_pairs_over_the_same_deals() -> None:
    chunks = schedule(["a", "b", "c", "d"], SHORT, 200, seed=1)
    games = Counter(spec for one in chunks for spec in one.lineup for _ in range(one.games))
    assert set(games.values()) == {288}, "three pairs of 32 games in each of three rounds"
    assert Counter((one.number, one.lineup) for one in chunks).most_common(1)[0][1] == 1
    assert Counter(one.number for one in chunks) == {0: 6, 1: 6, 2: 6}
    deals = [[game.seed for game in play_unit(chunk(3, lineup)).played] for lineup in (("random", "weights"), ("random",) * 2)]
    assert deals[0] == deals[1]


@pytest.mark.usefixtures("nobody")
@pytest.mark.parametrize(("agents", "players"), [(6, 4), (3, 5), (2, 4), (7, 3), (5, 5)])
def test_more_players_sit_equally_often(agents: int, players: int) -> None:
    specs, rules = [f"agent {k}" for k in range(agents)], Rules(num_players=players)
    chunks = schedule(specs, rules, 1000, seed=1)
    games = Counter(spec for one in chunks for spec in one.lineup for _ in range(one.games))
    assert len(set(games.values())) == 1 and games[specs[0]] >= 1000
    assert all(len(set(one.lineup)) == min(agents, players) for one in chunks)
    assert len({one.number for one in chunks}) == len(chunks)
    assert schedule(specs, rules, 300, seed=1) == chunks[: len(schedule(specs, rules, 300, seed=1))]
    assert schedule(specs, rules, 1000, seed=2) != chunks
    units = comparison(specs[0], specs[1], rules, 100, seed=0, size=16)
    assert 0 <= sum(one.games for one in units) - 100 < players and {one.seeds for one in units[:-1]} <= {16}


# ------------------------------------------------------------------------------------------------------- chunks


def test_a_chunk_is_of_certain_sources() -> None:
    with pytest.raises(ValueError, match="not those with which the games began"):
        play_unit(chunk(sources="others"))


def test_the_journal_remembers_and_passes_over_torn_lines(tmp_path: Path) -> None:
    journal, chunks = Journal(tmp_path / "new" / "chunks.jsonl"), [chunk(k) for k in range(3)]
    results = [play_unit(one) for one in chunks]
    journal.add(chunks[0], results[0])
    assert journal.file is not None
    with journal.file.open("a") as stream:
        stream.write('{"chunk": {"lineup": ["we')  # killed while writing
    journal.add(chunks[1], results[1])
    with journal.file.open("a") as stream:
        stream.write("{}\n[]\nnull\n" + "[" * 100_000 + "\n")
    assert journal.finished(chunks) == {chunks[0]: results[0], chunks[1]: results[1]}
    assert not journal.finished([chunk(k, **change) for k in range(3) for change in ({"seed": 6}, {"sources": "others"})])
    again = play_units(chunks, journal, partial(in_processes, processes=1))
    assert [*again] == chunks and again[chunks[2]].played == results[2].played
    assert play_units(chunks, journal, lambda work, missing: pytest.fail() if missing else iter(())) == again


def test_without_ray_its_installation_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ValueError, match=r"Ray is not installed here: pip install 'euphoria-env\[play,rllib\]'"):
        list(on_ray(str, [1]))


def test_the_journal_counts_the_seconds_of_every_start_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chunks, result, clock = [chunk(k) for k in range(4)], play_unit(chunk(0)), iter([5.0, 7.0, 7.5, 1000.0, 1003.0])
    monkeypatch.setattr(work.time, "perf_counter", lambda: next(clock))
    for finished in (chunks[:2], chunks[2:3]):  # of the first start, in two processes; of the second one
        journal = Journal(tmp_path / "chunks.jsonl")
        for one in finished:
            journal.add(one, result)
    assert journal.seconds(chunks) == 2 + 0.5 + 3 and journal.seconds(chunks[1:]) == 0.5 + 3


def test_records_make_a_chunk_finished_only_if_they_are_all_there(tmp_path: Path) -> None:
    chunks, here = [chunk()], partial(in_processes, processes=1)
    journal = Journal(tmp_path / "chunks.jsonl", tmp_path / "records")
    play_units(chunks, Journal(journal.file), here)
    assert not journal.finished(chunks)
    (result,) = play_units(chunks, journal, here).values()
    names = chunks[0].record_names()
    assert sorted(file.name for file in (tmp_path / "records").iterdir()) == sorted(names)
    seated = ("weights_random", "random_weights") * 2
    assert [name.rpartition("-")[2] for name in names] == [f"00{k}_{who}.record" for k, who in enumerate(seated)]
    assert result.played == play_unit(chunks[0]).played, "records change nothing"
    for name, text in zip(names, result.records, strict=True):
        assert Game.from_record((tmp_path / "records" / name).read_text()) == Game.from_record(text)
    assert journal.finished(chunks)
    (tmp_path / "records" / names[3]).unlink()
    assert not journal.finished(chunks)


def die_once(folder: Path, number: int) -> int:
    """Negates a number; the first who tries is killed."""
    try:
        (folder / str(number)).touch(exist_ok=False)
    except FileExistsError:
        return -number
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


def fail(number: int) -> None:
    """Fails, or is killed every time, by the number."""
    if number:
        os.kill(os.getpid(), signal.SIGKILL)
    raise KeyError("a fault")


def test_killed_workers_lose_nothing(tmp_path: Path) -> None:
    assert dict(in_processes(partial(die_once, tmp_path), range(3), 2)) == {0: 0, 1: -1, 2: -2}
    with pytest.raises(RuntimeError, match="KeyError: 'a fault'"):
        list(in_processes(fail, [0], 2))
    with pytest.raises(RuntimeError, match=f"{ATTEMPTS} processes died with 1"):
        list(in_processes(fail, [1], 2))


def test_an_interrupt_while_a_process_starts_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    begin = BaseProcess.start

    def interrupted(self: BaseProcess) -> None:
        signal.raise_signal(signal.SIGINT)
        begin(self)

    monkeypatch.setattr(BaseProcess, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(in_processes(len, ["a", "bc"], 2))
    monkeypatch.undo()
    assert sorted(in_processes(len, ["a", "bc"], 2)) == [("a", 1), ("bc", 2)]


# ------------------------------------------------------------------------------------------------------- ratings


def test_the_stronger_agent_stands_higher() -> None:
    chunks = schedule(["random", "weights"], Rules(num_players=2), 60, seed=1)
    table = standings({one: play_unit(one) for one in chunks})
    assert [line.agent for line in table] == ["weights", "random"]
    best, last = table
    assert best.mu - last.mu > 2 * (best.sigma + last.sigma)
    won, met = best.beaten["random"]
    assert last.beaten["weights"] == (met - won, met) and won > 0.6 * met


def test_ratings_of_games_that_are_made_up() -> None:
    def game(*ranks: int) -> Played:
        return Played(0, ranks.index(1), list(ranks), 10, [5] * len(ranks))

    even = rate(["a", "b"], [(("a", "b"), game(1, 2)), (("a", "b"), game(2, 1))] * 20)
    assert abs(even["a"][0] - even["b"][0]) < 1 and even["a"][1] < 5
    three = rate(["a", "b", "c"], [(("a", "b", "c"), game(1, 2, 3))] * 30)
    assert three["a"][0] > three["b"][0] + 5 > three["c"][0] + 10
    twice = rate(["a", "b"], [(("a", "b", "b"), game(1, 2, 3))] * 30)
    assert twice["a"][0] > 25 > twice["b"][0]


# ------------------------------------------------------------------------------------------------------- commands


def arguments(out: Path, processes: int) -> list[str]:
    options = f"--players 2 3 --games 150 --max-turns 60 --seed 3 --processes {processes} --out {out}"
    return ["tournament", "--agents", "random", "weights", *options.split()]


def lines(file: Path) -> int:
    return file.read_bytes().count(b"\n") if file.exists() else 0


def stop(out: Path, send: Callable[[int, int], None], number: signal.Signals) -> tuple[int, str]:
    """Ends a tournament after some more results; its status and errors. A worker that is left would hold the pipes."""
    before = lines(out / "chunks.jsonl")
    with start(*arguments(out, 2), session=True) as process:
        while process.poll() is None and lines(out / "chunks.jsonl") < before + 2:
            time.sleep(0.01)
        send(process.pid, number)
        _, told = process.communicate()
    return process.returncode, told


@pytest.mark.slow
def test_a_killed_and_an_interrupted_tournament_go_on_to_the_same_results(tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert euphoria(*arguments(whole, 1))[0] == 0
    assert stop(broken, os.kill, signal.SIGKILL)[0] == -signal.SIGKILL
    status, told = stop(broken, os.killpg, signal.SIGINT)  # as a terminal sends it, to the workers too
    assert status == 130 and told.endswith("\nstopped; the same command continues where it stopped\n") and "Traceback" not in told
    assert 4 <= lines(broken / "chunks.jsonl") < lines(whole / "chunks.jsonl")
    _, printed, _ = euphoria(*arguments(broken, 1))
    assert "weights" in printed and "all numbers of players" in printed
    assert (broken / "results.json").read_bytes() == (whole / "results.json").read_bytes()
    assert lines(broken / "chunks.jsonl") == lines(whole / "chunks.jsonl"), "nothing was played twice"
    assert (broken / "plot.png").read_bytes().startswith(b"\x89PNG")
    assert (broken / "table.md").read_text().count("\n| weights | ") == 3
    assert sorted(file.name for file in broken.iterdir()) == ["chunks.jsonl", "plot.png", "results.json", "table.md"]


def test_wins_are_counted_by_seat_first_player_and_length(tmp_path: Path) -> None:
    file, rules = tmp_path / "figures.json", "--stars-to-win 2 --max-turns 60 --processes 1 --seed 1"
    command = f"evaluate --agent weights --against random greedy --players 2 3 --games 24 {rules} --json {file} --by"
    status, printed, _ = euphoria(*command.split(), "seat", "first", "players", "turns")
    assert status == 0 and "weights, by first: its place after the player who began, 0 for that player" in printed
    found = json.loads(file.read_text())
    assert found["format"] == "euphoria-evaluation" and len(found["results"]) == 4
    for one in found["results"]:
        assert [*one["by"]] == ["seat", "first", "players", "turns"]
        for groups in one["by"].values():
            assert sum(group["wins"] for group in groups.values()) == one["wins"]
            assert sum(group["games"] for group in groups.values()) == one["games"]
        seats = one["by"]["seat"]
        assert [*seats] == [str(seat) for seat in range(one["players"])] and len(
            {group["games"] for group in seats.values()}
        ) == 1
    status, _, told = euphoria(*command.split(), "weather")
    assert status == 2 and "weather" in told and "seat" in told


def test_games_say_who_began() -> None:
    rules = Rules(num_players=3, stars_to_win=1, max_turns=40)
    result = play_match([load("random")] * 3, 6, rules, seed=5, records=True)
    assert [game.seat for game in result.played] == [0, 1, 2] * 2
    for game, record in zip(result.played, result.records, strict=True):
        begun = next(event.player for event in Game.from_record(record).events if event.kind == EventKind.TURN)
        assert game.first == begun


def test_evaluate(tmp_path: Path) -> None:
    options = f"--agent weights --against random weights --players 2 3 --games 30 --processes 1 --out {tmp_path} --trading"
    status, printed, _ = euphoria("evaluate", *options.split())
    assert status == 0 and "3 players" in printed
    results = json.loads((tmp_path / "results.json").read_text())
    assert [(one["players"], one["against"]) for one in results] == [(2, "random"), (2, "weights"), (3, "random"), (3, "weights")]
    assert all(one["games"] == 30 for one in results) and results[0]["interval"][0] > 0.5
    assert "| weights | 2 x random |" in (tmp_path / "table.md").read_text()
    assert '"trading": true' in (tmp_path / "chunks.jsonl").read_text()


def test_the_report_of_kept_records_has_the_stars_by_source(tmp_path: Path) -> None:
    words = ("--agents", "weights", "greedy", "--games", 4, "--processes", 1, "--max-turns", 60, "--players", 2, 3)
    assert "by what placed them" not in euphoria("tournament", *words)[1]
    records = tmp_path / "records"
    status, printed, _ = euphoria("tournament", *words, "--out", tmp_path, "--records", records)
    assert status == 0 and "stars a game, by what placed them" in printed
    table = (tmp_path / "table.md").read_text().partition("by what placed them")[2]
    assert "| weights |" in table and "| greedy |" in table


def test_replay(tmp_path: Path) -> None:
    (text,) = play_match([load("weights")] * 2, 1, seed=1, records=True).records
    file = tmp_path / "a.record"
    file.write_text(text)
    moves = text.splitlines()[1:-1]
    status, printed, _ = euphoria("replay", file, "--every", "end", "--svg", tmp_path / "pictures")
    shown = [line.split("  ")[-1] for line in printed.splitlines()[: len(moves)]]
    assert status == 0 and shown == moves
    assert printed.count("--- players") == 1 and f"{len(moves)} decisions" in printed
    assert [file.name for file in (tmp_path / "pictures").iterdir()] == [f"{len(moves):05}.svg"]
    first = len(moves) - 20
    _, printed, _ = euphoria("replay", file, "--from", first, "--every", "decision")
    assert printed.count("--- players") == 21 and f"\n{first:5}  turn" in printed and f"\n{first - 1:5}  turn" not in printed
    _, printed, _ = euphoria("replay", file, "--from", first)
    assert 1 < printed.count("--- players") < 21
    status, printed, _ = euphoria("replay", file, "--decision", first)
    line = printed.splitlines()[-1]
    assert status == 0 and line.startswith(f"{first:5}  turn") and line.endswith(f"  {moves[first]}")
    for options in (["--decision", first + 20], ["--decision", -1], ["--decision", 3, "--from", 2], ["--from", 99999]):
        status, printed, told = euphoria("replay", file, *options)
        assert (status, printed) == (2, "") and told.startswith(f"error: {options[0]} ") and told.count("\n") == 1


def test_replay_with_loaded_outcomes_and_from_a_position(tmp_path: Path) -> None:
    game = Game.from_dict({"rules": {"num_players": 2}, "seed": 1, "players": [{"workers": [4], "goods": {"energy": 1}}]})
    game.load(dice=[6])
    game.play("place 4 euphorian_tunnel")
    file = tmp_path / "a.record"
    file.write_text(game.to_record())
    status, printed, _ = euphoria("replay", file)
    assert status == 0 and 'load {"dice": [6]}' in printed and "not finished after 1 turns and 1 decisions" in printed
    file.write_text(game.to_record()[:300])
    status, printed, told = euphoria("replay", file)
    assert (status, printed) == (2, "") and told.startswith(f"error: {file}: ") and told.count("\n") == 1
