"""The analysis of a recorded game: its content, its resumption, and its refusals."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from euphoria_agents import load
from euphoria_agents.__main__ import main
from euphoria_agents.agent import Agent, Explanation, explained
from euphoria_agents.benchmark.tasks import NETWORKS
from euphoria_agents.commands.shared_arguments import AnalyseOptions
from euphoria_agents.matches.match import AgentGenerator
from euphoria_agents.play.study.decision_analysis import best_of, best_thoughts, outcome
from euphoria_agents.play.study.game_analysis import FUTURES, Analysis, Entry, saved_entries
from euphoria_agents.play.study.move_comparison import compare, moves_to_compare
from euphoria_agents.play.study.summary import THRESHOLD, mistakes, summarise, suspects
from euphoria_agents.play.terminal.texts import best_moves
from euphoria_agents.players import ppo
from euphoria_agents.record_steps import Replayed, steps
from euphoria_agents.training.play_kernels import NOBODY
from euphoria_agents.training.self_play import play_until, winners
from euphoria_env import Game, Rules, actions
from tests.tools.commands import euphoria

GOLDEN = Path(__file__).parent / "golden"
SPEC = "mcts:12:greedy"


def analyse(record: str, spec: str, seed: int = 0, first: int = 0, processes: int = 1) -> Iterator[Entry]:
    return Analysis(record, spec, seed).entries(first, processes)


def record_of(rules: Rules, specs: list[str], seed: int = 3, decisions: int = 10_000) -> str:
    """A game of these agents, or its beginning, as a record."""
    game, rng, agents = Game(rules, seed=seed), np.random.default_rng(seed), [load(spec) for spec in specs]
    while not (game.over or game.truncated) and decisions:
        game.play(int(agents[game.player].act(game.observation(game.player), game.mask(), rng)))
        decisions -= 1
    return game.to_record()


@pytest.fixture(scope="module")
def record() -> str:
    """A whole game of two players, one better than the other."""
    return record_of(Rules(num_players=2, stars_to_win=4), ["ppo", "weights"])


@pytest.fixture(scope="module")
def entries(record: str) -> list[Entry]:
    return list(analyse(record, SPEC))


@pytest.fixture(scope="module")
def whole(record: str, entries: list[Entry], tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of its analysis."""
    path = tmp_path_factory.mktemp("whole") / "a.jsonl"
    assert list(Analysis(record, SPEC).in_file(path)) == entries
    return path.read_bytes()


def positions(record: str) -> Iterator[Game]:
    """The game before each decision, and after the last."""
    return (game for game, _ in steps(record))


@pytest.mark.parametrize(
    ("opinions", "best"),
    [
        ([(0.1, 5, 0.9), (0.2, 5, 0.1), (0.7, 4, 1.0)], [1, 0, 2]),  # a prior decides between equally many visits
        ([(0.9, None, 0.1), (0.1, None, 0.2), (0.2, None, 0.2)], [2, 1, 0]),
        ([(0.5, None, None), (0.5, None, None)], [0, 1]),
    ],
)
def test_everybody_means_the_same_by_the_best_move(opinions: list[Any], best: list[int]) -> None:
    thoughts = [{"action": k, "prior": prior, "visits": n, "value": value} for k, (prior, n, value) in enumerate(opinions)]
    assert [one["action"] for one in best_thoughts(thoughts, 3)] == best  # type: ignore[arg-type]
    assert [action for action, _ in best_moves({"moves": thoughts, "seats": None})] == best  # type: ignore[typeddict-item]
    assert best_of([list(one.values()) for one in thoughts])[0] == best[0]


def test_the_command_and_the_pages_call_the_same_a_mistake() -> None:
    assert AnalyseOptions(record=Path("a.record")).threshold == THRESHOLD


def test_every_decision_has_an_entry(record: str, entries: list[Entry]) -> None:
    assert len(entries) == len(Game.from_record(record).history)
    for ply, (entry, game) in enumerate(zip(entries, positions(record), strict=False)):
        assert list(entry) == ["ply", "player", "played", "moves", "values", "regret", "luck", "chance"]
        assert (entry["ply"], entry["player"]) == (ply, game.player)
        assert [row[0] for row in entry["moves"]] == game.legal_actions().tolist() and entry["played"] in game.legal_actions()
        assert sum(entry["values"]) == pytest.approx(1, abs=1e-4) and sum(row[2] for row in entry["moves"]) == 11
        assert 0 <= entry["regret"] <= 1


def test_the_moves_are_those_that_the_agent_explains(record: str, entries: list[Entry]) -> None:
    """Asked as it is asked in play, with chance of its own for each decision."""
    for ply, game in enumerate(positions(record)):
        if ply % 17 == 0 and not game.over:
            said = explanation(load(SPEC), game, ply)
            for move, row in zip(said["moves"], entries[ply]["moves"], strict=True):
                assert row[:3] == [move["action"], pytest.approx(move["prior"], abs=1e-5), move["visits"]]
                assert row[0] == entries[ply]["played"] or row[3] == pytest.approx(move["value"], abs=1e-5)
            assert entries[ply]["values"] == pytest.approx(said["seats"], abs=1e-5)


def explanation(agent: Agent, game: Game, ply: int) -> Explanation:
    """Returns what an agent says of a decision with the chance that the seed 0 gives it."""
    chance, seat = AgentGenerator(np.random.default_rng((0, ply))), game.player
    return explained(agent, game.observation(seat), game.mask(), chance.own, chance.deal(game, seat))


def test_regret(entries: list[Entry]) -> None:
    """0 for the best move, otherwise what its value lacks; never less."""
    for entry in entries:
        (played,) = (row for row in entry["moves"] if row[0] == entry["played"])
        top = best_of(entry["moves"])
        assert top[2] == max(row[2] for row in entry["moves"])
        assert entry["regret"] == pytest.approx(max(0, top[3] - played[3]), abs=0 if top is played else 2e-5)
    regrets = [entry["regret"] for entry in entries]
    assert regrets.count(0) > len(entries) / 3 and max(regrets) > 0.02


def test_who_plays_by_the_search_regrets_nothing() -> None:
    """The agent judges its own game with the same chance: it has always played what it thinks best."""
    game, agent = Game(Rules(num_players=3, max_turns=30), seed=2), load(SPEC)
    while not (game.over or game.truncated):
        chance, seat = AgentGenerator(np.random.default_rng((9, len(game.history)))), game.player
        game.play(agent.act(game.observation(seat), game.mask(), chance.own, chance.deal(game, seat)))
    found = list(analyse(game.to_record(), SPEC, seed=9))
    assert len(found) > 50 and all(entry["regret"] == 0 for entry in found)
    assert any(entry["regret"] for entry in analyse(game.to_record(), SPEC, seed=8))


def test_a_move_that_was_never_followed_is_tried() -> None:
    """Then its value is what it leads to on average; it is the worst that one can do here."""
    text = record_of(Rules(num_players=4), ["random"] * 4, decisions=60)
    judge, found = Analysis(text, "mcts:30:ppo"), 0
    for entry in analyse(text, "mcts:30:ppo"):
        (played,) = (row for row in entry["moves"] if row[0] == entry["played"])
        if played[2] == 0:
            found += 1
            assert 0 <= played[3] <= 1 and entry["regret"] is not None
            said = explanation(judge.agent, Game.from_rows(judge.game.before[entry["ply"]].copy()), entry["ply"])
            assert next(m for m in said["moves"] if m["action"] == entry["played"])["value"] is None
        elif played[2] < FUTURES and best_of(entry["moves"]) is not played:
            assert played[3] is not None
    assert found > 2


def test_luck_is_where_something_was_drawn(record: str, entries: list[Entry]) -> None:
    drawn = [[part.split()[0] for part in line.split(" | ")[1:]] for line in Game.from_record(record).history]
    for entry, kinds in zip(entries, drawn, strict=True):
        assert {kind for kind, _ in entry["chance"]} == {*kinds} and sum(entry["luck"]) == pytest.approx(0, abs=1e-4)
        assert kinds or entry["luck"] == [0.0, 0.0]
    assert sum(any(entry["luck"]) for entry in entries) > sum(map(bool, drawn)) / 2


def dice(faces: list[int]) -> str:
    """A record of a player who retrieves three workers and rolls so."""
    star = {"stars": 7, "knowledge": 6}
    game = Game.from_dict(
        {
            "rules": {"num_players": 2},
            "seed": 1,
            "players": [{**star, "workers": [], "goods": {"food": 1}}, {**star, "workers": [1, 2]}],
            "workers": {"farm": [[0, 1], [0, 2], [0, 3]]},
            "territories": {f"{one}_territory": [0, 1] for one in ("euphorian", "subterran", "wastelander")},
        }
    )
    for move in ("retrieve food", "take 1 farm", "take 2 farm"):
        game.play(move)
    game.load(dice=faces)
    game.play("take 3 farm")
    return game.to_record()


def test_good_dice_are_luck_and_bad_ones_are_not() -> None:
    """The same moves with other dice: a worker lost to knowledge is bad luck (R5.3), and none of the player's fault.

    A frozen network judges, so that the figures stay when another one ships.
    """
    lucky, unlucky = (list(analyse(dice(faces), f"mcts:60:{NETWORKS['network']}")) for faces in ([1, 1, 1], [6, 4, 3]))
    assert [entry["played"] for entry in lucky] == [entry["played"] for entry in unlucky]
    assert lucky[:-1] == unlucky[:-1] and not any(any(entry["luck"]) for entry in lucky[:-1])
    assert {**lucky[-1], "luck": None} == {**unlucky[-1], "luck": None}
    assert lucky[-1]["luck"][0] > 0.1 and unlucky[-1]["luck"][0] < -0.03


def test_on_average_there_is_no_luck() -> None:
    """Over dice as they fall it comes to nothing: 60 rolls have a mean of 0.006 with a standard error of 0.012."""
    rng, lucks = np.random.default_rng(0), []
    for seed in range(60):
        (entry,) = analyse(dice(rng.integers(1, 7, 3).tolist()), "mcts:60:ppo", seed, first=3)
        lucks.append(entry["luck"][0])
    assert abs(np.mean(lucks)) < 0.04 < np.std(lucks)


def test_the_end_of_a_game() -> None:
    """The winner had all the luck; a game that was cut off is nobody's."""
    text = record_of(Rules(num_players=2, stars_to_win=3), ["ppo", "ppo"])
    game = Game.from_record(text)
    assert game.over and outcome(game) == [float(seat == game.winner) for seat in range(2)]
    short = record_of(Rules(num_players=3, max_turns=4), ["ppo"] * 3)
    assert Game.from_record(short).truncated and outcome(Game.from_record(short)) == [1 / 3] * 3
    assert list(analyse(short, SPEC))[-1]["luck"] is not None


@pytest.mark.parametrize(
    ("spec", "regrets", "seats"),
    [("random", False, False), ("weights", False, False), ("ppo", False, True), ("greedy:2", True, True)],
)
def test_what_an_agent_does_not_know_is_left_open(spec: str, regrets: bool, seats: bool) -> None:
    text = record_of(Rules(num_players=3), ["weights"] * 3, decisions=60)
    found = list(analyse(text, spec))
    drawn = [" | " in line for line in Game.from_record(text).history]
    assert all((entry["regret"] is not None) == regrets for entry in found)
    assert all((entry["values"] is not None) == seats for entry in found)
    assert all((entry["luck"] is not None) == seats for entry in found) and any(drawn)
    players = summarise(found, 3)
    assert [one.mean_regret is not None for one in players] == [regrets] * 3
    assert [one.luck is not None for one in players] == [seats] * 3


@pytest.mark.parametrize("name", ["from_a_position", "2_players_trading", "3_players_drafts_trading"])
def test_games_of_every_kind(name: str) -> None:
    """From a position, with trades, with drafts."""
    whole = (GOLDEN / f"{name}.record").read_text()
    text = next(game for game in positions(whole) if len(game.history) == 250 or game.over).to_record()
    found = list(analyse(text, "mcts:3"))
    assert [entry["played"] for entry in found] == [
        actions.parse(line.split(" | ")[0]) for line in Game.from_record(text).history
    ]
    if "trading" in name:
        assert any(actions.name(entry["played"]).startswith("trade") for entry in found)


def test_the_summary_of_a_player(entries: list[Entry]) -> None:
    players = summarise(entries, 2, 0.01)
    assert sum(one.decisions for one in players) == len(entries)
    assert sum(one.mistakes for one in players) == len(mistakes(entries, 0.01)) > 0
    assert players[0].luck == pytest.approx(-(players[1].luck or 0), abs=1e-3)
    for one in players:
        own = [entry["regret"] for entry in entries if entry["player"] == one.player]
        assert one.mean_regret == pytest.approx(np.mean(own))
    assert [one.mistakes for one in summarise(entries, 2, 1.0)] == [0, 0]


def test_a_mistake_is_a_turn() -> None:
    """Its decisions cost together what none does alone; the worst stands for it, unless playouts leave it uncertain."""
    regrets = [(0, 0.03), (0, 0.04), (1, 0.05), (0, 0.05), (1, None), (1, 0.09)]
    entries: list[Entry] = [{"ply": ply, "player": player, "regret": regret} for ply, (player, regret) in enumerate(regrets)]
    assert [(one["ply"], one["cost"]) for one in mistakes(entries, 0.06)] == [(5, 0.09), (1, 0.07)]
    assert mistakes(entries, 0.06) == suspects(entries, 0.06)
    assert [one["ply"] for one in mistakes([one for one in entries if one["player"] == 0], 0.02)] == [1, 3]
    entries[1] |= {"playouts": {"certain": False}}
    assert [one["ply"] for one in mistakes(entries, 0.06)] == [5] and len(suspects(entries, 0.06)) == 2


def test_equal_seeds_give_equal_analyses_with_any_number_of_processes(record: str, entries: list[Entry]) -> None:
    assert list(analyse(record, SPEC, processes=3)) == entries != list(analyse(record, SPEC, seed=1))


@pytest.mark.parametrize(("share", "processes"), [(0.0, 3), (0.01, 1), (0.3, 2), (0.9999, 1), (1.0, 1)])
def test_a_torn_file_is_resumed(share: float, processes: int, record: str, whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(whole[: int(share * len(whole))])
    assert [*Analysis(record, SPEC).in_file(path, processes)] == [json.loads(line) for line in whole.splitlines()[1:]]
    assert path.read_bytes() == whole


def test_the_file_of_another_analysis_stays(record: str, whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(whole)
    with pytest.raises(ValueError, match=r"it is of another analysis: seed is 0 there and 1 here"):
        list(Analysis(record, SPEC, seed=1).in_file(path))
    assert path.read_bytes() == whole


def changed(number: int, **what: Any) -> Callable[[list[bytes]], bytes]:
    """Changes keys of one line of a file."""

    def change(lines: list[bytes]) -> bytes:
        line = json.dumps({**json.loads(lines[number]), **what}).encode() + b"\n"
        return b"".join([*lines[:number], line, *lines[number + 1 :]])

    return change


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda _: b"not ours", "a.jsonl: Expecting value"),
        (lambda _: b"[]\n", "a.jsonl: not an analysis of this project"),
        (lambda _: b"\xff\xfe\n", "a.jsonl: not a text file"),
        (lambda _: b"[" * 100_000 + b"\n", "a.jsonl: JSON that is nested too deep"),
        (changed(0, version=1, players=3), "version is 1 there and 2 here; players is 3 there and 2 here"),
        (changed(4, ply=2), "line 5: ply, played, player must be 3, "),
        (changed(4, played=-1), "line 5: played: expected int >= 0"),
        (changed(4, moves=[[1, 0.5, 1, 1.5]]), r"moves\[0\]\[3\]: expected float <= 1"),
        (changed(4, playouts={"pairs": 0}), "playouts"),
        (changed(4, values=[0.5]), "line 5: values must have 2 entries"),
        (lambda lines: b"".join([*lines, lines[-1]]), r"a\.jsonl has \d+ entries, but the game only \d+ decisions"),
        (lambda lines: b"".join([*lines[:3], lines[3][:10] + b"\n", *lines[4:]]), r"a\.jsonl, line 4: "),
    ],
)
def test_a_damaged_or_other_file_is_refused(
    damage: Callable[[list[bytes]], bytes], message: str, record: str, whole: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(damage(whole.splitlines(keepends=True)))
    with pytest.raises(ValueError, match=message):
        saved_entries(path, record, Replayed.from_record(record))


@pytest.fixture
def saved(record: str, tmp_path: Path) -> Path:
    path = tmp_path / "game.record"
    path.write_text(record)
    return path


def test_the_command(saved: Path, whole: bytes, tmp_path: Path, capsys: Any) -> None:
    words = ["analyse", str(saved), "--agent", SPEC, "--processes", "1", "--threshold", "0.02"]
    main([*words, "--out", str(tmp_path / "a.jsonl")])
    printed = capsys.readouterr().out
    assert (tmp_path / "a.jsonl").read_bytes() == whole
    assert re.search(r"\d+ mistakes, which cost more than 2\.0%", printed) and "better" in printed and "luck" in printed
    main([*words[:-1], "1"])
    assert "mistakes, which" not in capsys.readouterr().out


def test_the_command_checks_mistakes_by_playouts(saved: Path, record: str, tmp_path: Path, capsys: Any) -> None:
    """The results go into the file, where the next command finds them; what is not certain is no mistake any more."""
    path = tmp_path / "a.jsonl"
    words = ["analyse", str(saved), "--agent", SPEC, "--processes", "1", "--threshold", "0.02", "--out", str(path)]
    main([*words, "--playouts", "24"])
    printed, written = capsys.readouterr().out, path.read_bytes()
    found = saved_entries(path, record, Replayed.from_record(record))
    wrong = suspects(found, 0.02)
    assert wrong == [one for one in suspects(found, 0.0) if "playouts" in one]
    assert {one["playouts"]["pairs"] for one in wrong} == {24}
    certain = [one["playouts"]["certain"] for one in wrong]
    assert [one["ply"] for one in mistakes(found, 0.02)] == [one["ply"] for one in wrong if one["playouts"]["certain"]]
    assert sum(one.mistakes for one in summarise(found, 2, 0.02)) == sum(certain) < len(certain)
    assert (
        f"{sum(certain)} mistakes, which cost more than 2.0%; {certain.count(False)} more are not certain" in printed
        and "certainty" in printed
    )
    main(words)
    assert (capsys.readouterr().out, path.read_bytes()) == (printed, written)


@pytest.mark.parametrize("budget", ["0", "-1", "0s", "1e3", ""])
def test_a_budget_of_playouts_out_of_range_is_refused(budget: str, saved: Path, tmp_path: Path, capsys: Any) -> None:
    with pytest.raises(SystemExit):
        main(["analyse", str(saved), "--out", str(tmp_path / "a.jsonl"), f"--playouts={budget}"])
    told = f"error: a budget is a number of pairs of playouts such as 200 or a time such as 0.5s, not {budget!r}\n"
    assert capsys.readouterr().err == told and not (tmp_path / "a.jsonl").exists()


def at_the_end() -> Game:
    """A game in which each player can win at once."""
    player = {"stars": 8, "knowledge": 1, "morale": 3, "workers": [3, 4], "artifacts": {"book": 3}}
    territories = {f"{one}_territory": [0, 1] for one in ("euphorian", "subterran")}
    rules = {"num_players": 2, "stars_to_win": 3}
    return Game.from_dict({"rules": rules, "seed": 1, "players": [player] * 2, "territories": territories})


def test_playouts_compare_two_moves() -> None:
    game = at_the_end()
    farm, wins, other = map(actions.parse, ("place 3 farm", "dilemma star", "place 4 farm"))
    bad = compare(game.states, (farm, wins), (0,), 64)
    assert bad["difference"] > 0.4 and bad["certainty"] > 0.999 and bad["certain"]
    good = compare(game.states, (wins, farm), (0,), 64)
    assert good["difference"] == -bad["difference"] and good["certainty"] < 0.001 and not good["certain"]
    same = compare(game.states, (farm, farm), (0,), 64)
    assert (same["difference"], same["certainty"], same["certain"]) == (0, 0.5, False)
    assert 0 < compare(game.states, (farm, wins), (0,), 1)["certainty"] < 0.95  # one pair proves nothing
    assert compare(game.states, (farm, other), (0,), 2**40, 0.0)["pairs"] > 1  # the time is over after the first ones
    with pytest.raises(ValueError, match="'end' is illegal here"):
        compare(game.states, (actions.parse("end"), wins), (0,), 1)


def test_playouts_depend_on_seed_and_number_and_not_on_what_is_hidden(entries: list[Entry], record: str) -> None:
    judge, wrong = Analysis(record, SPEC), suspects(entries, 0.02)[:3]
    checked = {one["ply"]: one for one in judge.with_playouts(wrong, 40, processes=2)}
    assert list(judge.with_playouts(wrong, 40)) == [checked[one["ply"]] for one in wrong]
    assert list(Analysis(record, SPEC, 1).with_playouts(wrong, 40)) != [*checked.values()]
    for entry in wrong:
        state = judge.game.before[entry["ply"]]
        dealt = Game.taking(state.copy()).determinize(entry["player"], 5).states
        played = [compare(rows, moves_to_compare(entry), (0,), 40) for rows in (state, dealt)]
        assert played[0] == played[1] and (dealt != state).any()


def test_intervals_have_the_long_run_in_them(entries: list[Entry], record: str) -> None:
    """The long run by independent playouts of each move; of 20 intervals of 95 %, 19 should have it, and 16 or more do."""
    entry = suspects(entries, 0.02)[-1]
    moves, game = moves_to_compare(entry), Game.taking(Replayed.from_record(record).before[entry["ply"]])
    rng, shares = np.random.default_rng(4), []
    for move in moves:
        rows = np.repeat(game.states, 1500)
        for k in range(len(rows)):
            after = game.determinize(game.player, k)
            after.play(move)
            rows[k] = after.states[0]
        play_until(ppo.make_ppo(), rows, rng, np.full(len(rows), NOBODY))
        shares.append((winners(rows) == game.player).mean())
    found = [compare(game.states, moves, (seed,), 64) for seed in range(20)]
    assert sum(abs(one["difference"] - (shares[1] - shares[0])) < one["margin"] for one in found) >= 16
    assert max(one["margin"] for one in found) < 0.2


def test_nothing_to_compare(entries: list[Entry], monkeypatch: pytest.MonkeyPatch) -> None:
    best = next(one for one in entries if one["regret"] == 0)
    for entry, why in ((best, "the best move was played"), ({**best, "moves": best["moves"][:1]}, "only one move is legal")):
        entry = {**entry, "played": best_of(entry["moves"])[0]}
        with pytest.raises(ValueError, match=f"decision {best['ply']}: {why}"):
            moves_to_compare(entry)
    monkeypatch.setattr(ppo, "SHIPPED", Path("nowhere"))
    with pytest.raises(ValueError, match="no checkpoint ships"):
        compare(at_the_end().states, (0, 1), (0,), 1)


@pytest.mark.parametrize("processes", [1, 2])
def test_an_agent_that_fails_is_named(processes: int, saved: Path) -> None:
    spec = "tests.tools.faulty_agents:Raises:nothing"
    status, _, told = euphoria("analyse", saved, "--agent", spec, "--processes", processes)
    assert status == 2 and re.fullmatch(
        r"error: the agent .*:Raises:nothing raised KeyError: .* \(faulty_agents.py, line \d+\)\n", told
    )
