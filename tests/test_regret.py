"""Tasks with a judge: regret by a frozen searcher, counts of agents, intervals over deals, three runs of unsteady agents."""

from __future__ import annotations

import dataclasses
import importlib
import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import leaderboard
from euphoria_agents import load
from euphoria_agents.agent_process import AgentProcess
from euphoria_agents.benchmark import judging
from euphoria_agents.benchmark.judging import GAMES, RECORDS, RESULT, ROW, TIMES, UNFINISHED, heading, judge, row
from euphoria_agents.benchmark.regret import judged_regret, regrets
from euphoria_agents.benchmark.replaying import Replay
from euphoria_agents.benchmark.results import read_result
from euphoria_agents.benchmark.tasks import RUNS, TASKS
from euphoria_agents.matches.match import ratio
from euphoria_agents.matches.processes import in_processes
from euphoria_agents.players.search.tree import root_edges
from euphoria_env import Game, Rules
from euphoria_env.agent_protocol import AgentFailed

TEXT = TASKS["text-v1"]
SMALL = dataclasses.replace(
    TEXT, name="small-v1", games=4, judged={"stars_to_win": 2}, opponents=TEXT.opponents[:2], anchors=TEXT.anchors[:2],
    judge="mcts:4:ppo:@9e763b08636a",
)  # fmt: skip
HERE = partial(in_processes, processes=1)
OWN = """
class Counting:  # any legal move; of its first answers each fourth is illegal, as it says
    answers = 0
    def act(self, observation, mask, rng):
        self.answers += 1
        return int(rng.choice(mask.nonzero()[0]))
    def counts(self):
        asked = self.answers
        return {"decisions": asked, "legal_first": asked - asked // 4, "tokens_in": 1000 * asked, "dollars": asked / 1000}

class Moody(Counting):
    def act(self, observation, mask, rng):
        super().act(observation, mask, rng)
        legal = mask.nonzero()[0]
        return int(legal[self.answers % len(legal)])

class Miscounting(Counting):
    def counts(self):
        return {"decisions": "many"}
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A module with agents that count, by name."""
    name = f"counting_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    yield name


def files(folder: Path) -> dict[str, bytes]:
    """Everything in a folder but the times, records included."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.*") if path.name != TIMES}


class Oracle:
    """A judge that would play the first legal move, and finds each move that it is asked about worse than the one before."""

    def __init__(self) -> None:
        self.asked = list[tuple[int, int]]()

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Game) -> int:
        return int(mask.argmax())

    def value_of(self, move: int, game: Game, seed: int) -> float:
        self.asked.append((move, seed))
        return 0.5 - 0.1 * len(self.asked)


def test_the_regret_of_a_decision() -> None:
    game, oracle = Game(Rules(num_players=2), seed=1), Oracle()
    best, other = game.legal_actions()[:2].tolist()
    chance = np.random.default_rng(1)
    assert judged_regret(game, best, oracle, chance) == 0.0 and not oracle.asked  # type: ignore[arg-type]
    assert judged_regret(game, other, oracle, chance) == pytest.approx(0.1)  # type: ignore[arg-type]
    assert [move for move, _ in oracle.asked] == [best, other] and len({seed for _, seed in oracle.asked}) == 1, "the same deals"


def test_the_value_of_a_move_comes_from_a_search_that_begins_with_it() -> None:
    searcher: Any = load("mcts:50:ppo")
    game = Game(Rules(num_players=2), seed=3)
    rng = np.random.default_rng(3)
    for _ in range(60):
        game.play(int(rng.choice(game.legal_actions())))
    known, moves = game.determinize(game.player, 1), game.legal_actions().tolist()
    assert len(moves) > 1
    values = [searcher.value_of(move, known, 5) for move in moves]
    for move, value in zip(moves, values, strict=True):
        assert searcher.value_of(move, known, 5) == value and 0 <= value <= 1
        assert {edge["move"]: edge["visits"] for edge in root_edges(searcher._tree) if edge["visits"]} == {move: 49}
    assert len(set(values)) > 1
    with pytest.raises(ValueError, match="a game that has not ended"):
        searcher.value_of(0, None, 5)


def test_the_interval_of_a_ratio() -> None:
    mean, (low, high) = ratio(range(1, 11), [1] * 10, [0] * 10)
    half = 2.262 * np.std(range(1, 11), ddof=1) / np.sqrt(10)  # of the t distribution with 9 degrees of freedom
    assert mean == 5.5 and (low, high) == pytest.approx((5.5 - half, 5.5 + half), abs=0.01)
    assert ratio([1, 1, 6, 6], [1, 1, 2, 2], [0, 0, 1, 1])[1] == pytest.approx((14 / 6, 14 / 6)), "strata are no chance"
    assert ratio([2, 4], [1, 2], [0, 0])[1] == pytest.approx((2, 2)), "what grows with the number of decisions is no chance"


def test_how_many_games_tell_two_agents_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "scripts")
    script = importlib.import_module("power")
    monkeypatch.setattr(script, "DRAWS", 100)
    monkeypatch.setattr(script, "MOST", 64)
    rng, games = np.random.default_rng(0), np.full((2, 200), 2.0)
    level = np.array([[0.0], [10.0]])  # the opponents, which are no chance
    one, other = (np.stack([level + rng.normal(mean, 0.5, (2, 200)), games]) for mean in (1.0, 0.5))
    apart, error = script.difference(one, other)
    assert apart == pytest.approx(0.25, abs=0.05) and error == pytest.approx(0.5 / 2 * np.sqrt(2 / 400), rel=0.1)
    enough = script.least(one, other)
    assert script.power(one, other, enough) >= 0.8 > script.power(one, other, enough // 2) and 4 <= enough <= 16
    assert script.least(one, one) is None


def test_a_judged_task_is_the_same_in_any_number_of_processes_and_after_an_interrupt(tmp_path: Path) -> None:
    def stop(games: int) -> None:
        if games and len((tmp_path / "torn" / UNFINISHED).read_text().splitlines()) == 2:
            raise KeyboardInterrupt

    found = judge(SMALL, "weights", tmp_path / "one", partial(in_processes, processes=2), processes=2)
    with pytest.raises(KeyboardInterrupt):
        judge(SMALL, "weights", tmp_path / "torn", HERE, progress=stop)
    judge(SMALL, "weights", tmp_path / "torn", HERE)
    assert files(tmp_path / "one") == files(tmp_path / "torn")
    assert sum(name.startswith(RECORDS) for name in files(tmp_path / "one")) == found["all"]["games"] == 8
    games = [json.loads(line) for line in (tmp_path / "one" / GAMES).read_text().splitlines()]
    assert len({game["seed"] for game in games}) == 4, "each opponent has deals of its own"
    judged = [chunk[2:] for match in found["matches"] for chunk in match["chunks"]]
    measured = found["measures"]["regret"]
    assert measured["total"] == pytest.approx(sum(total for _, total in judged))
    assert measured["interval"][0] < measured["mean"] < measured["interval"][1]
    assert found["measures"]["regret_per_game"]["mean"] == pytest.approx(measured["total"] / 8, abs=1e-6)
    record = next((tmp_path / "one" / RECORDS).glob("00000*-000_weights_random.record")).read_text()
    other = next((tmp_path / "one" / RECORDS).glob("00000*-001_random_weights.record")).read_text()
    both = [*regrets(record, 0, SMALL.judge, games[0]["seed"]), *regrets(other, 1, SMALL.judge, games[0]["seed"])]
    assert judged[0] == [len(both), pytest.approx(sum(both), abs=1e-6)]
    assert heading(SMALL).splitlines()[0].count("|") == row(found).count("|")
    assert row(found) + "\n" == (tmp_path / "one" / ROW).read_text()


def test_what_an_agent_counts_is_reported(own: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = judge(SMALL, f"{own}:Counting", tmp_path / "out", HERE)["measures"]
    assert list(found) == ["regret_per_game", "regret", "legal_first", "tokens_in", "dollars"]
    assert [found[name]["mean"] for name in ("tokens_in", "dollars")] == [1000, 0.001]
    assert found["legal_first"]["mean"] == pytest.approx(0.75, abs=0.01)
    assert 0.5 < found["legal_first"]["interval"][0] < 0.74 and 0.76 < found["legal_first"]["interval"][1] < 1
    monkeypatch.setitem(leaderboard.TASKS, SMALL.name, SMALL)
    (told,) = map(leaderboard.row, leaderboard.standings(SMALL.name, [json.loads((tmp_path / "out" / RESULT).read_text())]))
    assert told[leaderboard.headings(SMALL).index("tokens in")] == "1000 (1000 to 1000)"
    with (
        AgentProcess(f"{own}:Miscounting") as agent,
        pytest.raises(AgentFailed, match="no valid answer: counts.*: expected float"),
    ):
        agent.counts()


def test_an_agent_that_cannot_be_repeated_plays_three_times(own: str, tmp_path: Path) -> None:
    found = judge(SMALL, f"{own}:Moody", tmp_path, HERE, repeatable=False)
    assert found["all"]["games"] == RUNS * 8 and len(list((tmp_path / RECORDS).iterdir())) == RUNS * 8
    games = [json.loads(line) for line in (tmp_path / GAMES).read_text().splitlines()]
    assert len({game["seed"] for game in games}) == 4 and len({json.dumps(game) for game in games}) > 8
    read_result(tmp_path / RESULT, SMALL)
    with pytest.raises(ValueError, match=r"result.json: matches\[0\].games must be 4, not 12"):
        (tmp_path / RESULT).write_text(json.dumps(found | {"agent": found["agent"] | {"repeatable": True}}))
        read_result(tmp_path / RESULT, SMALL)


def test_a_forged_regret_is_noticed(tmp_path: Path) -> None:
    found, path = judge(SMALL, "weights", tmp_path, HERE), tmp_path / RESULT
    assert len(Replay(SMALL, "weights", path, HERE).check()) == 4
    found["matches"][0]["chunks"][0][3] -= 0.2
    path.write_text(json.dumps(found))
    with pytest.raises(ValueError, match="result.json: measures.regret.total must be"):
        read_result(path, SMALL)
    decisions = sum(chunk[2] for match in found["matches"] for chunk in match["chunks"])
    for name, by in (("regret", decisions), ("regret_per_game", 8)):
        measure = found["measures"][name]
        measure |= {"total": measure["total"] - 0.2, "mean": (measure["total"] - 0.2) / by}
    path.write_text(json.dumps(found))
    with pytest.raises(ValueError, match=r"result.json: matches\[0\].chunks\[0\]\[3\] is -?[\d.]+, not "):
        Replay(SMALL, "weights", path, HERE).check()
    path.write_text(json.dumps(found | {"measures": {}}))
    with pytest.raises(ValueError, match="result.json: measures must have the regret, and matches the chunks"):
        read_result(path, SMALL)


def test_the_judge_belongs_to_the_fingerprint_and_needs_no_path() -> None:
    other = dataclasses.replace(SMALL, judge="mcts:5:ppo:@9e763b08636a")
    assert judging.fingerprint(SMALL) != judging.fingerprint(other)
    assert load(TEXT.judge).needs_game and ":@" in TEXT.judge, "it ships, by its hash"
