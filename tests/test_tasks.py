"""Benchmark tasks: their protocol, judging that can be repeated, interrupted and resumed, and agents that are at fault."""

from __future__ import annotations

import dataclasses
import json
import runpy
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import leaderboard
from euphoria_agents import Agent, load
from euphoria_agents.__main__ import main
from euphoria_agents.benchmark import judging, tasks
from euphoria_agents.benchmark.entries import RESULTS, check_entries, entry_path, make_entry, missing_seeds, read_entries
from euphoria_agents.benchmark.judging import GAMES, RESULT, ROW, TIMES, UNFINISHED, fingerprint, heading, judge, row
from euphoria_agents.benchmark.replaying import Replay, holds
from euphoria_agents.benchmark.results import FORMAT, VERSION, read_result
from euphoria_agents.benchmark.tasks import NETWORKS, TASKS, UNSEEN_RECRUITS, UNSEEN_TILES, Task
from euphoria_agents.commands import benchmark_judge, benchmark_submit
from euphoria_agents.files import file_hash
from euphoria_agents.matches import players, work
from euphoria_agents.matches.processes import in_processes
from euphoria_agents.matches.work import WorkUnit
from euphoria_agents.network.checkpoint import read_checkpoint, save_checkpoint
from euphoria_agents.players.ppo import checkpoint_path
from euphoria_agents.registry import file_hashes, load_untrusted
from euphoria_env import Rules
from euphoria_env.agent_protocol import AgentFailed, TooSlow
from euphoria_env.cards.recruits import RECRUITS
from tests.tools.commands import euphoria, run_here

ROOT = Path(__file__).parent.parent
SMALL = dataclasses.replace(TASKS["short-v1"], name="small-v1", games=24, seconds=3600.0, judged={"stars_to_win": 2})
OPPONENTS = SMALL.opponents
HERE = partial(in_processes, processes=1)

FAULTY = "tests.tools.faulty_agents"
OWN = """
import time

class First:
    def act(self, observation, mask, rng):
        return int(mask.argmax())

class Naps(First):  # once it has answered often
    asked = 0
    def act(self, observation, mask, rng):
        self.asked += 1
        if self.asked > 300:
            time.sleep(3600)
        return super().act(observation, mask, rng)

class Noting(First):  # plays on from its notes of the same game
    needs_game = needs_story = True
    def __init__(self):
        self.notes = {}
    def act(self, observation, mask, rng, game):
        legal, noted = mask.nonzero()[0], self.notes.get(game.story.game, 0)
        self.notes[game.story.game] = noted + 1
        return int(legal[noted % len(legal)])

class Moody(First):
    asked = 0
    def act(self, observation, mask, rng):
        self.asked += 1
        legal = mask.nonzero()[0]
        return int(legal[self.asked % len(legal)])
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A module with agents of your own, by name."""
    name = f"judged_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    yield name


def files(folder: Path) -> dict[str, bytes]:
    """Everything in a folder but the times."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != TIMES}


@pytest.fixture(scope="module")
def weights_judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which `weights` was judged by the small task; it stays as it is."""
    folder = tmp_path_factory.mktemp("judged")
    judge(SMALL, "weights", folder, HERE)
    return folder


@pytest.fixture
def copied(weights_judged: Path, tmp_path: Path) -> Path:
    """A copy of that folder."""
    return shutil.copytree(weights_judged, tmp_path / "copied")


# -------------------------------------------------------------------------------------------------------------- the tasks


def test_cards_of_judging_are_unknown_from_training() -> None:
    task = TASKS["cards-v1"]
    judged, trained = task.rules[0], Rules(num_players=2, **task.training)
    assert judged.recruits is not None and trained.recruits is not None and judged.markets is not None and trained.markets
    assert (len(judged.recruits), len(judged.markets)) == (len(UNSEEN_RECRUITS), len(UNSEEN_TILES)) == (12, 6)
    assert (len(trained.recruits), len(trained.markets)) == (36, 12)
    assert not set(judged.recruits) & set(trained.recruits) and not set(judged.markets) & set(trained.markets)
    factions = [recruit.faction for recruit in RECRUITS if recruit.name in judged.recruits]
    assert [factions.count(faction) for faction in range(4)] == [3, 3, 3, 3]


def test_every_task_is_fair_and_its_opponents_ship() -> None:
    assert len({task.seed for task in tasks.BASES}) == len(tasks.BASES)
    assert all(task.games % n == 0 for task in TASKS.values() for n in task.players), "everybody has every seat equally often"
    for task in TASKS.values():
        assert len(task.anchors) in (0, len(task.opponents)), "all have a rating or none"
        assert all(load_untrusted(spec).act_batch is not None for spec in task.opponents), "no path: it comes with the package"
        if task.opponents[:3] == tasks.FIXED:
            assert max(task.anchors[:2]) < min(task.anchors[2:]), task.name


def test_the_fingerprint_knows_rules_deals_and_opponents(monkeypatch: pytest.MonkeyPatch) -> None:
    assert fingerprint.__wrapped__(SMALL) == fingerprint(SMALL)
    for changed in ({"seed": 1}, {"judged": {"stars_to_win": 4}}, {"players": (2, 3)}, {"games": 2 * SMALL.games}):
        assert fingerprint(dataclasses.replace(SMALL, **changed)) != fingerprint(SMALL)  # type: ignore[arg-type]
    with monkeypatch.context() as patched:
        patched.setattr(judging, "SEEDS", 5)
        assert fingerprint.__wrapped__(SMALL) != fingerprint(SMALL), "the deals depend on the size of a chunk"
    for opponent in OPPONENTS:
        with monkeypatch.context() as patched:
            patched.setattr(work.PLAYERS, "_shared", {})
            patched.setattr(players, "load", partial(load_another, opponent))
            assert fingerprint.__wrapped__(SMALL) != fingerprint(SMALL)


def load_another(opponent: str, spec: str) -> Agent:
    """Loads an agent; in place of this opponent another one."""
    return load(spec if spec != opponent else "weights" if spec == "random" else "random")


def test_the_frozen_network_is_named_by_its_hash() -> None:
    start = NETWORKS["network"].partition("@")[2]
    assert load(f"ppo:@{start[:8]}").act_batch is not None
    assert load_untrusted(f"mcts:2:ppo:@{start}").needs_game, "no path: it comes with the package"
    for wrong in (start[:7], "0" * 12, "../ppo"):
        with pytest.raises(ValueError, match=f"no checkpoint with the hash {wrong!r} ships; there are .*{start}"):
            load(f"ppo:@{wrong}")


# --------------------------------------------------------------------------------------------------------------- judging


def test_equal_agents_get_equal_files_in_any_number_of_processes(weights_judged: Path, tmp_path: Path) -> None:
    again = judge(SMALL, "weights", tmp_path, partial(in_processes, processes=2), processes=2)
    assert files(weights_judged) == files(tmp_path)
    assert again == json.loads((weights_judged / RESULT).read_text())
    assert sorted(files(weights_judged)) == [GAMES, RESULT, ROW]
    times = json.loads((tmp_path / TIMES).read_text())
    assert times["processes"] == 2 and times["games"] == 4 * SMALL.games and times["seconds"] > 0
    assert times["processor milliseconds a decision"] > 0


def test_the_result_says_what_the_games_say(tmp_path: Path) -> None:
    task = dataclasses.replace(SMALL, players=(2, 3), games=12)
    found = judge(task, "greedy", tmp_path, HERE, name="ours")
    assert [(match["players"], match["games"]) for match in found["matches"]] == [(2, 12)] * 4 + [(3, 12)] * 4
    games = [json.loads(line) for line in (tmp_path / GAMES).read_text().splitlines()]
    assert len(games) == 8 * task.games == sum(match["games"] for match in found["matches"]) == found["all"]["games"]
    for opponent in OPPONENTS:
        won = [game["winner"] == 0 for game in games if game["against"] == opponent]
        assert found["opponents"][opponent]["wins"] == sum(won)
    assert found["all"]["wins"] == sum(game["winner"] == 0 for game in games)
    assert found["all"]["mean_rank"] == pytest.approx(np.mean([game["ranks"][0] for game in games]), abs=1e-5)
    deals = {opponent: [game["seed"] for game in games if game["against"] == opponent] for opponent in OPPONENTS}
    assert len({tuple(seeds) for seeds in deals.values()}) == 1, "all opponents on the same deals"
    cells = (tmp_path / ROW).read_text().strip().split(" | ")
    assert cells[0] == "| `ours`" and len(cells) == len(heading(SMALL).splitlines()[0].split(" | "))
    assert row(found) + "\n" == (tmp_path / ROW).read_text()
    assert task.anchors[1] < found["rating"]["mu"] < task.anchors[3], "on the scale of the opponents"


def test_what_is_finished_is_not_played_again(weights_judged: Path, tmp_path: Path) -> None:
    def stop(games: int) -> None:
        if games and len((tmp_path / UNFINISHED).read_text().splitlines()) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        judge(SMALL, "weights", tmp_path, HERE, progress=stop)
    assert not (tmp_path / RESULT).exists(), "nothing half written"
    reported: list[int] = []
    judge(SMALL, "weights", tmp_path, HERE, progress=reported.append)
    assert reported[0] > 0 and sum(reported) == 4 * SMALL.games
    assert files(tmp_path) == files(weights_judged)


def test_a_folder_answers_one_question(copied: Path) -> None:
    first = json.loads((copied / RESULT).read_text())
    before = files(copied)
    assert judge(SMALL, "weights", copied, lambda *_: pytest.fail("played again")) == first  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="result.json is of another name, spec: choose another --out"):
        judge(SMALL, "random", copied, HERE)
    assert files(copied) == before
    with pytest.raises(ValueError, match="result.json is not a folder: choose another --out"):
        judge(SMALL, "random", copied / RESULT, HERE)
    with pytest.raises(ValueError, match=r"name must be a printable text without any of \| ` < >, not 'a\|b'"):
        judge(SMALL, "random", copied.parent / "out", HERE, name="a|b")
    assert files(copied) == before
    (copied / RESULT).write_text('{"a": 1}')
    with pytest.raises(ValueError, match="result.json: object contains unknown field"):
        judge(SMALL, "weights", copied, HERE)


# ---------------------------------------------------------------------------------------------------------------- faults


@pytest.mark.parametrize(
    ("agent", "error", "message"),
    [
        (f"{FAULTY}:Raises:nothing", AgentFailed, r"Raises:nothing raised KeyError: .* \(faulty_agents.py, line \d+\)"),
        (f"{FAULTY}:Sleeps:nothing", TooSlow, r"took more than 0\.5 s for its first decision"),
        ("Moody", ValueError, "Moody' plays differently when it is asked again: .* in decision .* of the same game"),
    ],
)
def test_an_agent_at_fault_is_told_and_nothing_is_written(
    agent: str, error: type[Exception], message: str, own: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if error is TooSlow:
        monkeypatch.setattr(players, "FIRST_SECONDS", 0.5)
    with pytest.raises(error, match=message):
        judge(SMALL, agent if ":" in agent else f"{own}:{agent}", tmp_path / "out", HERE)
    assert not (tmp_path / "out").exists()


def test_a_decision_that_takes_too_long_later_is_told(own: str, tmp_path: Path) -> None:
    with pytest.raises(TooSlow, match=r"Naps took more than 0\.5 s for a decision"):
        judge(dataclasses.replace(SMALL, seconds=0.5), f"{own}:Naps", tmp_path, HERE)
    assert not (tmp_path / RESULT).exists()


def test_an_agent_with_notes_plays_every_game_without_those_of_others(own: str, tmp_path: Path) -> None:
    task, agent = dataclasses.replace(SMALL, games=4), f"{own}:Noting"
    judge(task, agent, tmp_path, HERE)
    assert Replay(task, agent, tmp_path / RESULT, lambda work, units: HERE(work, units[::-1])).check()


def test_a_moody_agent_is_judged_if_that_is_wanted(own: str, tmp_path: Path) -> None:
    found = judge(SMALL, f"{own}:Moody", tmp_path, HERE, repeatable=False)
    assert not found["agent"]["repeatable"] and list(found["agent"]["files"]) == [f"{own}.py"]


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    small: dict[str, Task] = {"small-v1": dataclasses.replace(SMALL, games=4)}
    monkeypatch.setattr(tasks, "TASKS", small)
    main(["benchmark", "small-v1", "--agent", "weights", "--out", str(tmp_path / "out"), "--processes", "1"])
    told = capsys.readouterr().out
    assert heading(SMALL) in told and (tmp_path / "out" / ROW).read_text() in told
    with pytest.raises(SystemExit) as ended:
        main(["benchmark", "nothing-v1"])
    assert ended.value.code == 2 and "there is no task 'nothing-v1'; there are small-v1" in capsys.readouterr().err


# ----------------------------------------------------------------------------------------------------------- leaderboard


def result_of(name: str, rate: float, decisions: int = 0, task: str = "duel-v1", seed: int = 0) -> dict[str, Any]:
    """A result of an agent that wins this share of its games against everybody."""
    of = TASKS[task]

    def score(matches: int) -> dict[str, Any]:
        games, interval = matches * of.games, [rate - 0.1, rate + 0.1]
        wins = {"games": games, "wins": round(rate * games), "win_rate": rate}
        return wins | {"interval": interval, "paired_interval": interval, "mean_rank": 1.5, "rank_interval": [1.4, 1.6]}

    found = {
        "format": FORMAT, "version": VERSION, "task": task,
        "environment": {"version": "0", "fingerprint": fingerprint(of)},
        "agent": {"name": name, "spec": name, "files": {}, "repeatable": True},
        "matches": [{"players": n, "against": one, "truncated": 0, **score(1)} for n in of.players for one in of.opponents],
        "opponents": {one: score(len(of.players)) for one in of.opponents}, "all": score(len(of.players) * len(of.opponents)),
        "rating": {"mu": 30.0, "sigma": 1.0},
    }  # fmt: skip
    training = {"decisions": decisions, "seed": seed, "command": "python train.py"}
    return found | ({"training": training} if decisions else {})


def fresh_of(name: str, rate: float, task: str = "duel-v2") -> dict[str, Any]:
    """The score on fresh deals, of which an agent won this share; of the public ones it had won half."""
    scores = {key: value for key, value in result_of(name, rate, task=task).items() if key in ("opponents", "all")}
    told = {"difference": round(rate - 0.5, 6), "interval": [-0.15, -0.05], "milliseconds": 0.125}
    return scores | {"seed": 2**127, "date": "2026-11-24"} | told


def test_the_leaderboard_takes_the_seeds_of_a_training_together() -> None:
    unsteady = result_of("mcts:0.5s", 0.5)
    unsteady["agent"]["repeatable"] = False
    assert [one.name for one in leaderboard.standings("duel-v1", [unsteady])] == ["mcts:0.5s, not repeatable"]
    seeds = [result_of("ours", rate, 2_000_000, seed=k) for k, rate in enumerate((0.5, 0.6, 0.7))]
    seeds[0]["entry"] = {"date": "2026-11-23", "code": "docs/tutorials/agent.md", "reproduced_by": ["B. Curious"]}
    seeds[1]["entry"] = {"date": "2026-11-24", "paper": "https://example.org/a", "reproduced_by": ["A. Careful"]}
    more = result_of("ours", 0.9, 20_000_000)
    results = [result_of("greedy", 0.3), *seeds, more, result_of("other", 1.0, task="cards-v2")]
    found = [leaderboard.row(one) for one in leaderboard.standings("duel-v1", results)]
    assert [line[:2] for line in found] == [("`ours`", "20 M"), ("`ours`", "2 M"), ("`greedy`", "")]
    assert (found[1][3], found[1][8]) == ("**60.0** (50.0 to 70.0; 75 %)", "50.0, 60.0, 70.0")
    assert (found[2][3], found[2][8]) == ("**30.0** (20.0 to 40.0; 95 %)", "")
    rates = 0.5, 0.1, 0.5, 0.6, 0.5
    (five,) = leaderboard.standings("duel-v1", [result_of("five", rate, 2, seed=k) for k, rate in enumerate(rates)])
    assert (five.low, five.high, five.coverage) == (0.1, 0.6, 0.9375)
    assert all(len(line) == len(leaderboard.headings(TASKS["duel-v1"])) for line in found)
    links = "[code](../docs/tutorials/agent.md), [paper](https://example.org/a)"
    assert found[1][-1] == f"{links}, 2026-11-24, reproduced by A. Careful, B. Curious"
    picture = leaderboard.draw([*results, result_of("$\\x$", 0.2)])  # which is no mathematics
    assert picture.index(">greedy<") < picture.index(">ours, 2 M<") < picture.index(">ours, 20 M<") < picture.index(">other<")
    assert picture == leaderboard.draw([*results, result_of("$\\x$", 0.2)]) and ">$\\x$<" in picture


def test_a_task_has_the_results_of_an_earlier_one_with_its_games() -> None:
    ours = [result_of("ours", 0.5, 2_000_000, seed=k) for k in range(3)]
    for one in ours:
        one["opponents"]["random"] |= {"wins": 1000, "win_rate": 1.0}
        one["opponents"]["greedy"] |= {"wins": 250, "win_rate": 0.25, "mean_rank": 1.75}
    found = leaderboard.standings("duel-v2", [*ours, result_of("greedy", 0.9), result_of("greedy", 0.3, task="duel-v2")])
    assert [(one.name, one.mean, one.rating) for one in found] == [("ours", 0.375, None), ("greedy", 0.3, 30.0)]
    assert found[0].against == [0.25, 0.5] and found[0].rank == pytest.approx(1.625)
    assert [one.entry for one in found] == ["judged by `duel-v1`", ""]


def test_the_leaderboard_has_processor_times_and_fresh_deals() -> None:
    seeds = [result_of("ours", 0.5, 2_000_000, task="duel-v2", seed=k) for k in range(3)]
    for one, interval in zip(seeds[1:], ([-0.1, 0.1], [-0.1, -0.05]), strict=True):
        assert not leaderboard.standings("duel-v2", seeds)[0].fresh.endswith("not hold**")
        one["training"]["hours"], one["entry"] = 0.5, {"date": "2026-11-24", "milliseconds": 0.25}
        one["fresh"] = fresh_of("ours", 0.4) | {"interval": interval}
    (found,) = leaderboard.standings("duel-v2", seeds)
    assert (found.hours, found.milliseconds, found.fresh) == ("0.5", "0.12", "40.0, **does not hold**")
    assert leaderboard.standings("duel-v2", [seeds[0] | {"training": {"decisions": 1, "seconds": 1800}}])[0].hours == "0.5*"


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("format", "other", "format: invalid enum value 'other'"),
        ("task", "table-v1", 'task must be "duel-v1", not "table-v1"'),
        ("more", 1, "object contains unknown field more"),
        ("all.win_rate", 7.5, "all.win_rate: expected float <= 1.0"),
        ("all.wins", 3, "all.wins must"),
        ("all.mean_rank", 1.4, "all.mean_rank must"),
        ("agent.name", " ", "name must"),
        ("opponents.greedy.games", 2000, "opponents.greedy.games must"),
        ("matches.1.against", "random", "matches must"),
        ("entry.code", "javascript:alert(1)", "entry.code: expected an address of the web, or a path"),
        ("entry.paper", "https://a.b/) | x", "entry.paper: expected an address"),
        ("entry.reproduced_by", ["a | b"], "name must"),
        ("fresh.all.wins", 3, "fresh.all.wins must be"),
        ("fresh.opponents", {}, "fresh.opponents must be"),
        ("fresh.difference", 0.5, "fresh.difference must be -0.1"),
    ],
)
def test_what_a_result_says_must_be_possible(key: str, value: Any, message: str, tmp_path: Path) -> None:
    result = result_of("ours", 0.5, 2_000_000) | {"entry": {"date": "2026-11-24"}, "fresh": fresh_of("ours", 0.4, "duel-v1")}
    where: Any = result
    *path, last = [int(name) if name.isdigit() else name for name in key.split(".")]
    for name in path:
        where = where[name]
    where[last] = value
    (tmp_path / "duel-v1").mkdir()
    (tmp_path / "duel-v1" / "one.json").write_text(json.dumps(result))
    with pytest.raises(ValueError, match=f"one.json: {message}"):
        read_entries(tmp_path)


def test_files_that_are_no_results(tmp_path: Path) -> None:
    good = json.dumps(result_of("ours", 0.5, 2_000_000))
    for file, text, message in (
        ("duel-v1/two.json", good, "two.json: agent, decisions and seed are those of one.json"),
        ("duel-v1/one.json", "{", "one.json: .*line 1 column 2"),
        ("duel-v9/one.json", "{}", "there is no task 'duel-v9'"),
    ):
        for name, content in (("duel-v1/one.json", good), (file, text)):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(content)
        with pytest.raises(ValueError, match=message):
            read_entries(tmp_path)
        (tmp_path / file).unlink()


def test_trainings_that_are_missing_are_told() -> None:
    seeds = [result_of("ours", 0.5, 2_000_000, task="duel-v2", seed=k) for k in range(5)]
    told = "duel-v2: ours has 4 of 5 trainings with 2,000,000 decisions, each with a seed of its own"
    assert [*missing_seeds(seeds[:4])] == [told] and not [*missing_seeds([*seeds, result_of("greedy", 0.5)])]


def test_the_entries_of_the_project_fit_this_version() -> None:
    check_entries(ROOT)
    entries = [*read_entries(ROOT / RESULTS).values()]
    assert all(leaderboard.standings(task, entries) for task in TASKS)


def test_a_result_can_be_checked(copied: Path) -> None:
    path = copied / RESULT
    found = json.loads(path.read_text())

    def check(spec: str = "weights", **changed: Any) -> int:
        path.write_text(json.dumps({**found, **changed}))
        return sum(unit.games for unit in Replay(SMALL, spec, path, HERE).check())

    assert check() == 4 * SMALL.games
    with pytest.raises(ValueError, match=r"result.json: matches\[0\].wins is \d+, not \d+, when all games are played again"):
        check("random")
    first, second = found["matches"][1]["chunks"]
    for chunks, fault in (
        ([[first[0] - 1, first[1]], [second[0] + 1, second[1]]], r"chunks\[0\]\[0\] is"),
        ([[first[0] + second[0], first[1] + second[1]]], r"chunks\[0\]\[0\] is"),
        ([[*first, 0], [*second, 0]], r"chunks\[0\]\[2\] is None, not 0"),
        ([first, [second[0] + 1, second[1]]], r"wins must be"),
    ):
        matches = [found["matches"][0], {**found["matches"][1], "chunks": chunks}, *found["matches"][2:]]
        with pytest.raises(ValueError, match=rf"result.json: matches\[1\].{fault}"):
            check(matches=matches)
    with pytest.raises(ValueError, match=r"result.json: rating.mu is [\d.]+, not 30"):
        check(rating={"mu": 30, "sigma": 1})
    assert check(matches=[{key: value for key, value in match.items() if key != "chunks"} for match in found["matches"]]) > 0


def test_a_network_whose_file_has_another_name_can_be_checked(tmp_path: Path) -> None:
    task, network, path = dataclasses.replace(SMALL, games=4), OPPONENTS[-1], tmp_path / RESULT
    found = judge(task, network, tmp_path, HERE)
    (digest,) = found["agent"]["files"].values()
    path.write_text(json.dumps({**found, "agent": {**found["agent"], "files": {"renamed.safetensors": digest}}}))
    assert Replay(task, network, path, HERE).check()
    path.write_text(json.dumps({**found, "agent": {**found["agent"], "files": {"renamed.safetensors": "0123456789abcdef"}}}))
    with pytest.raises(ValueError, match=r"result.json cannot be checked: its agent has other files"):
        Replay(task, network, path, HERE).check()


def test_the_replay_of_all_entries_names_those_that_are_wrong(
    weights_judged: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, folder = runpy.run_path(str(ROOT / "scripts" / "replay_entries.py")), tmp_path / RESULTS / SMALL.name
    monkeypatch.setitem(tasks.TASKS, SMALL.name, SMALL)
    monkeypatch.setitem(script["main"].__globals__, "ROOT", tmp_path)
    found = json.loads((weights_judged / RESULT).read_text())
    folder.mkdir(parents=True)
    (folder / "weights.json").write_text(json.dumps(found))
    forged = {**found, "agent": {**found["agent"], "name": "forged"}, "all": {**found["all"], "interval": [0, 1]}}
    (folder / "forged.json").write_text(json.dumps(forged))
    told = run_here(script["main"], "replay_entries", "--processes", "1", "--tasks", SMALL.name)
    assert told[0] == 1 and "weights.json: all 96 games ended as it says" in told[1]
    assert "forged.json: all.interval[0] is" in told[1]


# ----------------------------------------------------------------------------------------------------------- fresh deals


def test_an_entry_is_judged_on_fresh_deals(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(tasks.TASKS, SMALL.name, SMALL)
    monkeypatch.setattr(benchmark_judge.secrets, "randbits", lambda bits: 2**bits - 1)
    path = copied / RESULT
    found = read_result(path, SMALL)
    status, printed, told = euphoria("benchmark", "judge", copied, "--processes", 1)
    assert status == 0, told
    fresh = read_result(path, SMALL)["fresh"]
    assert read_result(path, SMALL) == found | {"fresh": fresh} and fresh["seed"] == 2**128 - 1
    assert fresh["all"]["games"] == 4 * SMALL.games and fresh["opponents"] != found["opponents"]
    low, high = fresh["interval"]
    difference = fresh["all"]["win_rate"] - found["all"]["win_rate"]
    assert low < high and [fresh["difference"], (low + high) / 2] == pytest.approx([difference, difference], abs=2e-6)
    assert f"--seed {fresh['seed']} repeats it" in printed and "The public figure holds: on fresh deals" in printed
    assert fresh.pop("milliseconds") > 0
    assert euphoria("benchmark", "judge", path, "--seed", fresh["seed"], "--processes", 1)[0] == 0
    assert read_result(path, SMALL)["fresh"].items() >= fresh.items()
    entry = make_entry(copied, {}, {})
    assert "fresh" not in entry, "those who submit do not draw the deals"
    assert entry["entry"]["milliseconds"] == json.loads((copied / TIMES).read_text())["processor milliseconds a decision"]


def test_a_figure_of_an_agent_that_knows_the_public_deals_does_not_hold(tmp_path: Path) -> None:
    def fresh(unit: WorkUnit) -> WorkUnit:
        lineup = ("random", *unit.lineup[1:])
        return unit if unit.seed == SMALL.seed else dataclasses.replace(unit, lineup=lineup, sources=work.sources(lineup))

    found, path = judge(SMALL, "greedy", tmp_path, HERE), tmp_path / RESULT
    assert holds(Replay(SMALL, "greedy", path, HERE).judge(1))
    lucky = Replay(SMALL, "greedy", path, lambda work, units: ((unit, work(fresh(unit))) for unit in units)).judge(1)
    assert not holds(lucky) and lucky["interval"][1] < 0 and lucky["all"]["win_rate"] < found["all"]["win_rate"]


def test_a_judging_that_ends_early_writes_nothing(own: str, tmp_path: Path) -> None:
    def interrupted(work: Any, units: list[WorkUnit]) -> Iterator[Any]:
        if units[0].seed != SMALL.seed:
            raise KeyboardInterrupt
        return HERE(work, units)

    agent, path = f"{own}:First", tmp_path / "out" / RESULT
    judge(SMALL, agent, path.parent, HERE)
    before = path.read_text()
    with pytest.raises(KeyboardInterrupt):
        Replay(SMALL, agent, path, interrupted).judge(1)
    (tmp_path / f"{own}.py").write_text(OWN + "\n")
    with pytest.raises(ValueError, match=f"result.json cannot be checked: its agent has other files: {own}.py"):
        Replay(SMALL, agent, path, HERE).judge(1)
    assert path.read_text() == before


# ------------------------------------------------------------------------------------------------------------ submitting


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone of the repository: what `submit` may change is a copy, and code is the project's own."""
    root = tmp_path / "clone"
    for part in ("benchmarks", "docs", "scripts"):
        shutil.copytree(ROOT / part, root / part, ignore=shutil.ignore_patterns("*.webp", "*.safetensors", "__pycache__"))
    for part in ("agents", "euphoria_env"):
        (root / part).symlink_to(ROOT / part)
    return root


def contents(folder: Path) -> dict[str, bytes]:
    """All files under a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"
    }


def judged(folder: Path, name: str = "ours", **changed: Any) -> Path:
    """A folder with the result of an agent of this name; the agent is in a module of one's own."""
    result = result_of(name, 0.5)
    result["agent"] |= {"spec": "mine:Agent", "files": {"mine.py": "0123456789abcdef"}}
    folder.mkdir()
    (folder / RESULT).write_text(json.dumps(result | changed))
    return folder


@pytest.mark.slow
def test_a_result_becomes_an_entry(clone: Path, tmp_path: Path) -> None:
    folder, before = judged(tmp_path / "out", "our agent"), contents(clone)
    file = "benchmarks/results/duel-v1/our-agent.json"
    status, printed, told = euphoria("benchmark", "submit", folder, "--paper", "docs/report.md", cwd=clone)
    assert status == 0, told
    after = contents(clone)
    drawn = {"docs/leaderboard.md", "docs/leaderboard.svg"}
    assert {name for name in after if after[name] != before.get(name)} == {file, *drawn}
    assert all(b"our agent" in after[name] for name in drawn)
    assert f"git add {file} docs/leaderboard.md docs/leaderboard.svg\n" in printed
    assert "--code ADDRESS\n  mine.py, SHA-256 0123456789abcdef..." in printed
    entry = json.loads(after[file])
    assert entry.pop("entry")["date"] and entry == json.loads((folder / RESULT).read_text())
    status, printed, told = euphoria("benchmark", "submit", folder, "--code", "docs/benchmark.md", cwd=clone / "docs")
    assert status == 0 and "must be at docs/benchmark.md" in printed, "an entry of one's own can be completed"
    check_entries(clone)
    assert b"[code](../docs/benchmark.md), [paper](../docs/report.md)" in contents(clone)["docs/leaderboard.md"]


def test_submitting_tells_what_is_missing_and_keeps_what_was_judged(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(benchmark_submit, "_draw_leaderboard", lambda *_: None)
    folder = judged(tmp_path / "out", **result_of("ours", 0.5, task="duel-v2"))
    path = clone / RESULTS / "duel-v2" / "ours-2000000-0.json"
    words = ("benchmark", "submit", folder, "--decisions", 2_000_000, "--seed", 0, "--command", "x", "--hours", 0.5)
    status, printed, told = euphoria(*words, cwd=clone)
    assert status == 0, told
    assert "Not complete: duel-v2: ours has 1 of 5 trainings with 2,000,000 decisions" in printed
    entry = read_result(path)
    assert entry["training"] == {"decisions": 2_000_000, "seed": 0, "command": "x", "hours": 0.5}
    with pytest.raises(ValueError, match="results: duel-v2: ours has 1 of 5 trainings"):
        check_entries(clone)
    entry["fresh"] = fresh_of("ours", 0.4)
    path.write_text(json.dumps(entry))
    assert euphoria(*words, "--paper", "docs/report.md", cwd=clone)[0] == 0
    again = read_result(path)
    assert again["fresh"] == entry["fresh"] and again["entry"]["paper"] == "docs/report.md"


def read_by(folder: Path, files: dict[str, Path]) -> None:
    """Makes the result in a folder one of an agent that read these files, by the names that the result gives them."""
    result = json.loads((folder / RESULT).read_text())
    result["agent"] |= {"files": {name: file_hash(path) for name, path in files.items()}, "unseen": ["a clock"]}
    (folder / RESULT).write_text(json.dumps(result))
    (folder / TIMES).write_text(json.dumps({"files": {str(path.absolute()): file_hash(path) for path in files.values()}}))


@pytest.mark.slow
def test_the_files_of_an_agent_are_copied(clone: Path, tmp_path: Path) -> None:
    folder, paths = judged(tmp_path / "out"), {"mine.py": clone / "mine.py", "net/w.bin": clone / "net" / "w.bin"}
    for path in (*paths.values(), tmp_path / "elsewhere.bin"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(path.name)
    read_by(folder, {**paths, "0123/elsewhere.bin": tmp_path / "elsewhere.bin"})
    status, printed, told = euphoria("benchmark", "submit", folder, cwd=clone)
    assert status == 0, told
    assert f"Copies of them are in {folder / 'agent'}\n" in printed and "may also depend on a clock" in printed
    copies = {name: content.decode() for name, content in contents(folder / "agent").items()}
    assert copies == {"mine.py": "mine.py", "net/w.bin": "w.bin", "0123/elsewhere.bin": "elsewhere.bin"}


@pytest.mark.parametrize(
    ("name", "spoil", "message"),
    [
        ("mine.py", lambda path: path.write_text("other"), "mine.py is not as it was when the agent was judged: judge"),
        ("mine.py", Path.unlink, "mine.py is not as it was when the agent was judged: judge"),
        ("../mine.py", lambda path: None, "'../mine.py' is no name of a file of the agent"),
        ("mine.py", lambda path: None, "mine.py cannot be copied: 0 MiB, and outside the working folder at most 0"),
    ],
)
def test_files_that_cannot_be_copied_change_nothing(
    name: str, spoil: Callable[[Path], Any], message: str, clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, path = judged(tmp_path / "out"), tmp_path / "mine.py"
    path.write_text("mine")
    read_by(folder, {name: path})
    spoil(path)
    monkeypatch.setattr(benchmark_submit, "MOST_READ", 1)
    before = contents(tmp_path)
    status, printed, told = euphoria("benchmark", "submit", folder, cwd=clone)
    assert (status, printed, told.count("\n")) == (2, "", 1) and message in told
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    ("name", "changed", "words", "message"),
    [
        ("ours", {"task": "duel-v9"}, [], "result.json: there is no task 'duel-v9'; there are duel-v2, "),
        ("ours", {"all": 3}, [], "result.json: all: expected object, got int"),
        ("ours", {"environment": {"version": "0", "fingerprint": "f"}}, [], "ours.json: judged by version 0, which played other"),
        ("greedy", {}, [], "greedy.json: the name is taken, with other games: judge the agent with another --name"),
        ("?!", {}, [], "the name '?!' has neither letters nor digits for a file: judge the agent with another --name"),
        ("ours", {}, ["--code", "docs/no.md"], "entry.code must be an address, or a path in the repository, not 'docs/no.md'"),
        ("ours", {}, ["--decisions", "9"], "training: object missing required field seed"),
        (
            "ours",
            {},
            ["--decisions", "30000000", "--seed", "0", "--command", "x"],
            "training.decisions: expected int <= 21000000",
        ),
    ],
)
def test_a_bad_entry_changes_nothing(
    name: str, changed: dict[str, Any], words: list[str], message: str, clone: Path, tmp_path: Path
) -> None:
    folder, before = judged(tmp_path / "out", name, **changed), contents(clone)
    status, printed, told = euphoria("benchmark", "submit", folder, *words, cwd=clone)
    assert (status, printed, told.count("\n")) == (2, "", 1) and told.startswith("error: ") and message in told
    assert contents(clone) == before


def test_folders_that_have_no_result_and_places_that_are_no_clone(tmp_path: Path) -> None:
    folder, told = judged(tmp_path / "out"), []
    told.append(euphoria("benchmark", "submit", folder, cwd=tmp_path))
    (folder / RESULT).unlink()
    told.append(euphoria("benchmark", "submit", folder))
    (folder / UNFINISHED).touch()
    told += [euphoria("benchmark", "submit", one) for one in (folder, folder / UNFINISHED, tmp_path / "none")]
    for (status, _, said), message in zip(
        told,
        (
            f"fork and clone it, and call there `euphoria benchmark submit {folder}`",
            f"{folder} has no result.json: no agent was judged there",
            f"{folder} has no result.json: the judging is not finished, and the same command continues it",
            "unfinished.jsonl: not a folder",
            "none: no such folder",
        ),
        strict=True,
    ):
        assert status == 2 and message in said


def test_a_file_says_how_its_player_was_trained(tmp_path: Path) -> None:
    _, tensors = read_checkpoint(checkpoint_path(""))

    def entry(**training: Any) -> Any:
        """The entry of a player of `euphoria train`, or of another program, if nothing is known of its training."""
        path = save_checkpoint(tmp_path / "player.safetensors", tensors, training)
        agent = {"name": "ours", "spec": f"ppo:{path}", "files": file_hashes(f"ppo:{path}"), "repeatable": True}
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        return make_entry(judged(tmp_path / "out", agent=agent), {}, {})

    found = entry(decisions_learnt=2_000_000, seed=3, envs=512)
    assert found["training"]["command"] == "euphoria train" and found["training"]["options"]["envs"] == 512
    assert entry_path(tmp_path, found) == tmp_path / RESULTS / "duel-v1" / "ours-2000000-3.json"
    with pytest.raises(ValueError, match="training.decisions: expected int <= 21000000"):
        entry(decisions_learnt=50_000_000, seed=3)
    with pytest.raises(ValueError, match=r"'ppo:.*' was trained: say how, by --decisions, --seed and --command"):
        entry()
