"""Data sets: what `euphoria collect` writes, and what `euphoria_agents.data.load` reads."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("pyarrow.dataset")

from euphoria_agents.data import collecting, load  # noqa: E402
from euphoria_agents.data.collecting import DatasetPart, collect, lineups, parts_of  # noqa: E402
from euphoria_agents.matches import players  # noqa: E402
from euphoria_agents.matches.processes import in_processes  # noqa: E402
from euphoria_agents.matches.work import PLAYERS  # noqa: E402
from euphoria_agents.players.weights import Weights  # noqa: E402
from euphoria_agents.registry import file_hashes  # noqa: E402
from euphoria_env import Batch, Game, Rules  # noqa: E402
from euphoria_env.actions import NUM_ACTIONS, parse  # noqa: E402
from euphoria_env.observations import FIELDS, OBS_SIZE  # noqa: E402
from tests.tools.commands import euphoria  # noqa: E402

SHORT = Rules(num_players=3, stars_to_win=2)
SMALL = ("--players", 3, "--stars-to-win", 2, "--games", 10, "--processes", 1)
here = functools.partial(in_processes, processes=1)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "SEATS", 12)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set of ten games in three files."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(collecting, "SEATS", 12)
        path = tmp_path_factory.mktemp("data") / "set"
        collect(path, parts_of(["weights", "random"], SHORT, 10, 1, "win"), here)
    return path


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    """The same, to be damaged."""
    return Path(shutil.copytree(folder, tmp_path / "copy"))


def content(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


# ------------------------------------------------------------------------------------------------------------ collecting


@pytest.mark.parametrize("processes", [1, 2])
def test_equal_commands_give_equal_files(folder: Path, tmp_path: Path, processes: int) -> None:
    words = ("--agents", "weights", "random", "--seed", 1, *SMALL[:-1], processes, "--out", tmp_path / "out")
    status, printed, told = euphoria("collect", *words)
    assert status == 0, told
    assert "10 games" in printed and json.loads((folder / "_about" / "dataset.json").read_text())["sha256"][:16] in printed
    assert content(tmp_path / "out") == content(folder)


def test_an_interrupted_collection_continues(folder: Path, tmp_path: Path) -> None:
    parts, played = parts_of(["weights", "random"], SHORT, 10, 1, "win"), []

    def interrupted(work: Callable[[DatasetPart], bytes], some: list[DatasetPart]) -> Iterator[tuple[DatasetPart, bytes]]:
        yield some[0], work(some[0])
        raise KeyboardInterrupt

    def counted(work: Callable[[DatasetPart], bytes], some: list[DatasetPart]) -> Iterator[tuple[DatasetPart, bytes]]:
        played.extend(some)
        return here(work, some)

    with pytest.raises(KeyboardInterrupt) as stopped:
        collect(tmp_path, parts, interrupted)
    assert stopped.value.__notes__ == ["the same command continues where it stopped"]
    with pytest.raises(ValueError, match=r"no data set: there is no dataset\.json"):
        load(tmp_path)
    shown: list[int] = []
    collect(tmp_path, parts, counted, shown.append)
    assert played == parts[1:] and shown == [4, 4, 2]
    assert content(tmp_path) == content(folder)


class Spy(Weights):
    """Notes what it sees and plays."""

    def __init__(self) -> None:
        self.seen: list[tuple[bytes, bytes, int]] = []

    def act_batch(self, observations: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        moves = super().act_batch(observations.copy(), masks.copy(), rng)
        self.seen += [
            (o.tobytes(), m.tobytes(), int(a)) for o, m, a in zip(observations, masks.astype(bool), moves.tolist(), strict=True)
        ]
        return moves


@pytest.mark.parametrize("reward", ["win", "stars"])
def test_rows_are_the_decisions_that_were_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reward: str) -> None:
    spies = {spec: Spy() for spec in ("weights", "random")}
    monkeypatch.setattr(PLAYERS, "_shared", {(spec, None): spy for spec, spy in spies.items()})
    for module in (collecting, players):
        monkeypatch.setattr(module, "keeps_games_apart", lambda agent: True)
    collect(tmp_path, parts_of(["weights", "random", "weights"], SHORT, 6, 2, reward), here)
    data = load(tmp_path)
    games = list(data)
    assert data.agents == ["weights", "random"] and len(data.about["agents"]) == 3
    for k, spy in enumerate(spies.values()):
        rows: Counter[Any] = Counter()
        for game in games:
            for t in np.flatnonzero(game["agent"] == k):
                rows[game["observation"][t].tobytes(), game["action_mask"][t].tobytes(), int(game["action"][t])] += 1
        assert rows == Counter(spy.seen) and len(spy.seen) > 100
    for number, game in enumerate(games):
        check_game(number, game, reward)
        seated = [int(game["agent"][game["seat"] == seat][0]) for seat in range(3)]
        assert sorted(seated) == [0, 0, 1], "an agent named twice sits on twice as many seats"


def check_game(number: int, game: dict[str, np.ndarray], reward: str) -> None:
    """Numbers, ranks, rewards and turns that fit each other."""
    size = len(game["action"])
    assert game["observation"].shape == (size, OBS_SIZE) and game["observation"].dtype == np.int8
    assert game["action_mask"].shape == (size, NUM_ACTIONS) and game["action_mask"].dtype == np.bool_
    assert game["terminated"].dtype == game["truncated"].dtype == np.bool_
    assert set(game["game"]) == {number} and game["index"].tolist() == list(range(size)) and (np.diff(game["turn"]) >= 0).all()
    assert set(game["seat"]) == {0, 1, 2} and abs(game["reward"].sum()) < 1e-5
    for seat in range(3):
        own = game["seat"] == seat
        (rank,), total = set(game["rank"][own]), float(game["reward"][own].sum())
        assert game["turns"][own].tolist() == [*np.diff(game["turn"][own]), 0]
        assert game["terminated"][own].tolist() == [False] * (own.sum() - 1) + [True] and not game["truncated"].any()
        if reward == "win":
            assert total == (1.0 if rank == 1 else -0.5) and not game["reward"][own][:-1].any()
        else:
            assert np.count_nonzero(game["reward"][own]) > 0 and (total > 0 or rank > 1)


class Watched(Batch):
    """Notes the games as they ended, played by `Game` from what they were before their last step."""

    ends: ClassVar[list[dict[int, Game]]] = []

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.ends.append({})

    def step(self, actions: Any, active: Any = None) -> None:
        before = {int(k): self.game(int(k)) for k in np.flatnonzero(active)}
        super().step(actions, active)
        for k in np.flatnonzero(self.terminated | self.truncated):
            before[int(k)].play(int(actions[k]))
            self.ends[-1][int(k)] = before[int(k)]


@pytest.mark.parametrize("turns", [12, 30, 2000])
def test_games_that_were_cut_off_are_told_from_those_that_ended(
    turns: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collecting, "Batch", Watched)
    monkeypatch.setattr(Watched, "ends", [])
    rules = Rules(num_players=3, stars_to_win=1, max_turns=turns)
    collect(tmp_path, parts_of(["weights", "random"], rules, 6, 1, "rank"), here)
    ends = [ends[k] for ends in Watched.ends for k in sorted(ends)]
    data = load(tmp_path)
    assert len(ends) == 6 and {end.truncated for end in ends} == {12: {True}, 30: {True, False}, 2000: {False}}[turns]
    for game, end in zip(data, ends, strict=True):
        last = {int(seat): int(np.flatnonzero(game["seat"] == seat)[-1]) for seat in set(game["seat"])}
        over = game["terminated"] | game["truncated"]
        assert np.flatnonzero(over).tolist() == sorted(last.values()) and not (game["terminated"] & game["truncated"]).any()
        assert set(game["truncated"][over]) == {end.truncated}
        for seat, row in last.items():
            assert np.array_equal(game["final_observation"][row], end.observation(seat))
        assert not game["final_observation"][~over].any()
    games = {(int(g["game"][0]), t): g for g in data for t in range(len(g["action"]))}
    for batch in data.batches(50, window=100):
        for k, key in enumerate(zip(batch["game"].tolist(), batch["index"].tolist(), strict=True)):
            for name in ("terminated", "truncated", "final_observation"):
                assert np.array_equal(batch[name][k], games[key][name][key[1]])


def test_other_programs_read_the_files(folder: Path) -> None:
    table = pq.read_table(folder / "part-00000.parquet").to_pylist()
    first = next(iter(load(folder)))
    row, t = table[7], 7
    assert row["agent"] in ("weights", "random") and row["game"] == 0 and row["index"] == 7
    assert row["entries"] == np.flatnonzero(first["observation"][t]).tolist()
    assert row["values"] == first["observation"][t][row["entries"]].tolist()
    ended = [one for one in table if one["terminated"] and one["game"] == 0]
    assert len(ended) == 3 and not row["terminated"] and row["final_entries"] == row["final_values"] == []
    ends = first["final_observation"][[one["index"] for one in ended]]
    assert [one["final_entries"] for one in ended] == [np.flatnonzero(end).tolist() for end in ends]
    assert row["legal"] == np.flatnonzero(first["action_mask"][t]).tolist() and row["action"] in row["legal"]


def test_the_description_names_versions_rules_and_agents(folder: Path) -> None:
    found = json.loads((folder / "_about" / "dataset.json").read_text())
    assert found["environment"]["name"] == "euphoria_v0" and set(found["versions"]) == set(collecting.PACKAGES)
    assert Rules.from_dict(found["rules"]) == SHORT and found["reward"] == "win" and found["seed"] == 1
    assert [file["games"] for file in found["files"]] == [4, 4, 2]
    assert file_hashes("weights") == {}
    for spec in ("ppo", "mcts:9:ppo", "mcts:9:ppo+greedy", "mcts:9:ppo+greedy:"):
        assert list(file_hashes(spec)) == ["ppo.safetensors"]
    assert [value[:12] for value in file_hashes("mcts:9:ppo:@b109aa4237be").values()] == ["b109aa4237be"]


@pytest.mark.parametrize(("agents", "players"), [(1, 4), (2, 4), (3, 2), (4, 3), (3, 4)])
def test_agents_sit_everywhere_equally_often(agents: int, players: int) -> None:
    part = DatasetPart(tuple("abcd"[:agents]), Rules(num_players=players), "win", 0, 0, 0, 600, "")
    seated = lineups(part, np.random.default_rng(0))
    in_a_game = np.stack([(seated == k).sum(1) for k in range(agents)])
    assert in_a_game.min() >= players // agents and in_a_game.max() <= -(-players // agents)
    shares = np.stack([(seated == k).mean(0) for k in range(agents)])
    assert np.abs(shares - 1 / agents).max() < 0.08


def test_agents_of_your_own_play(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("class First:\n    def act(self, observation, mask, rng): return int(mask.argmax())\n")
    words = ("collect", "--agents", "mine:First", "random", *SMALL, "--out")
    status, _, told = euphoria(*words, "mine.py", cwd=tmp_path)
    assert status == 2 and told.startswith("error: mine.py is not a folder") and told.count("\n") == 1
    status, _, told = euphoria(*words, "out", cwd=tmp_path)
    assert status == 0 and set(load(tmp_path / "out").about["agents"][0]["files"]) == {"mine.py"}, told


def test_a_folder_holds_one_data_set(copy: Path) -> None:
    words = ("collect", "--agents", "weights", "random", *SMALL, "--out", copy)
    before = content(copy)
    status, _, told = euphoria(*words, "--seed", 2)
    assert status == 2 and "another seed: choose another --out" in told and content(copy) == before
    (copy / "part-00001.parquet").write_bytes(b"PAR1")
    status, _, told = euphoria(*words, "--seed", 1)
    assert status == 2 and "part-00001.parquet is damaged" in told and "delete it" in told
    (copy / "part-00001.parquet").unlink()
    assert euphoria(*words, "--seed", 1)[0] == 0 and content(copy) == before


PAGE = Path(__file__).parents[1] / "docs" / "data.md"
RECIPES = re.findall(
    r"^\| .* \| `euphoria (collect .*) --out \S+` \| [\d,]+ \| `(\w+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE
)


@pytest.mark.long
@pytest.mark.parametrize(("command", "digest"), RECIPES)
def test_recipes_give_what_the_page_says(command: str, digest: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # parts as large as they are
    assert euphoria(*command.split(), "--out", tmp_path / "out")[0] == 0
    assert json.loads((tmp_path / "out" / "_about" / "dataset.json").read_text())["sha256"].startswith(digest)


# --------------------------------------------------------------------------------------------------------------- loading


def test_batches_have_every_decision_once(folder: Path) -> None:
    data = load(folder)
    assert len(data) == 10 and data.decisions == sum(len(game["action"]) for game in data)
    games = {(k, t): seen.tobytes() for k, game in enumerate(data) for t, seen in enumerate(game["observation"])}
    orders = []
    for window in (1, 1 << 20):
        for seed in (0, 0, 1):
            batches = list(data.batches(100, seed=seed, window=window))
            assert max(len(batch["action"]) for batch in batches) == 100
            assert all(batch["action_mask"][np.arange(len(a := batch["action"])), a].all() for batch in batches)
            order = [*zip(*(np.concatenate([b[key] for b in batches]).tolist() for key in ("game", "index")), strict=True)]
            seen = np.concatenate([batch["observation"] for batch in batches])
            assert sorted(order) == sorted(games) and all(games[key] == o.tobytes() for key, o in zip(order, seen, strict=True))
            orders.append(order)
    assert orders[0] == orders[1] != orders[2] and orders[3] == orders[4] != orders[5] and orders[0] != orders[3]
    files = [game // 4 for game, _ in orders[0]]
    assert files == sorted(files, key=files.index), "file after file"
    for wrong in ({"size": 0}, {"size": 2.5}, {"size": 9, "window": None}, {"size": 9, "seed": -1}):
        with pytest.raises(ValueError, match="(size|window|seed) must be an integer from"):
            next(data.batches(**wrong))
    with pytest.raises(ValueError, match="threads must be an integer from 1 on, not 0"):
        load(folder, 0)


def test_damaged_data_are_refused(copy: Path) -> None:
    path = copy / "part-00001.parquet"
    whole = path.read_bytes()
    for damaged in (whole[:-1], b"", whole[:500] + bytes([whole[500] ^ 1]) + whole[501:]):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"part-00001\.parquet is damaged: its SHA-256 is not that in dataset\.json"):
            list(load(copy))
    path.unlink()
    with pytest.raises(ValueError, match=r"part-00001\.parquet: no such file"):
        list(load(copy).batches(10))
    for make in (os.mkfifo, os.mkdir):
        make(path)
        with pytest.raises(ValueError, match=r"part-00001\.parquet: (not a regular file|Is a directory)$"):
            list(load(copy))
        with pytest.raises(ValueError, match=r"part-00001\.parquet: (not a regular file|Is a directory)$"):
            collect(copy, parts_of(["weights", "random"], SHORT, 10, 1, "win"), here)
        path.unlink() if path.is_fifo() else path.rmdir()


def renamed(copy: Path, change: Callable[[str], str]) -> dict[str, Any]:
    """Makes a data set one of another version, all names of which are in the opposite order; returns these names."""
    found = json.loads((copy / "_about" / "dataset.json").read_text())
    names = found["environment"]["names"]
    for key in ("fields", "values"):
        names[key] = {name: ", ".join(text.split(", ")[::-1]) for name, text in reversed(names[key].items())}
    names["actions"] = change(", ".join(names["actions"].split(", ")[::-1]))
    found["environment"]["layout"] = "other"
    (copy / "_about" / "dataset.json").write_text(json.dumps(found))
    return names  # type: ignore[no-any-return]


def test_a_data_set_of_another_version_is_converted(folder: Path, copy: Path) -> None:
    names = renamed(copy, lambda actions: actions)
    with pytest.warns(UserWarning, match="was collected with another version of the environment, .*; only the order differs"):
        data = load(copy)
    there = [(field, one) for field, text in names["fields"].items() for one in text.split(", ")]
    places = {(f.name, one): f.start + k for f in FIELDS for k, one in enumerate(f.entries or map(str, range(f.size)))}
    moves = [parse(move) for move in names["actions"].split(", ")]
    for game, raw in zip(data, load(folder), strict=True):
        assert game["action"].tolist() == [moves[action] for action in raw["action"]]
        assert np.array_equal(game["action_mask"][:, moves], raw["action_mask"])
        for key in ("observation", "final_observation"):
            expected = np.zeros_like(raw[key])
            for k, (field, one) in enumerate(there):
                values, known = raw[key][:, k], len(names["values"].get(field, ",").split(", "))
                named = (values > 0) & (values <= known) & (field in names["values"])
                expected[:, places[field, one]] = np.where(named, known + 1 - values, values)
            assert np.array_equal(game[key], expected)


def test_a_data_set_with_moves_that_are_gone_is_refused(copy: Path) -> None:
    renamed(copy, lambda actions: actions.replace(" end, ", " stop, "))
    with pytest.warns(UserWarning, match="gone 1: stop"):
        data = load(copy)
    with pytest.raises(ValueError, match="the data set has moves that are gone: stop$"):
        list(data)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "not of the format euphoria-dataset$"),
        ({"version": 1}, "of version 1 of the format, not 3: collect it again"),
        ({"environment": {"layout": "3"}}, "made with another version of the environment, and does not name its layout"),
        ({"rules": {"players": 3}}, r"rules\.players: no such key"),
        ({"agents": []}, "agents: expected array of length >= 1"),
        (
            {"files": [{"name": "../a", "games": 10, "decisions": 1, "sha256": ""}]},
            r"files\[0\]\.name: expected a name such as part-00000",
        ),
    ],
)
def test_other_versions_are_refused(copy: Path, change: dict[str, Any], message: str) -> None:
    found = json.loads((copy / "_about" / "dataset.json").read_text())
    (copy / "_about" / "dataset.json").write_text(json.dumps(found | change))
    with pytest.raises(ValueError, match=f"dataset\\.json: .*{message}"):
        load(copy)


def test_what_cannot_be_never_reaches_compiled_code(copy: Path) -> None:
    """A file whose hash is right can still be anybody's."""
    path, about = copy / "part-00000.parquet", json.loads((copy / "_about" / "dataset.json").read_text())
    good = pq.read_table(path)
    bad = [
        ("an entry is not one from 0 to", with_entries(good, "entries")),
        ("an entry is not one from 0 to", with_entries(good, "final_entries")),
        ("its columns are not those of a data set", good.drop_columns(["rank"])),
        ("the decisions of a game are not in their order", good.slice(1)),
    ]
    for message, table in bad:
        pq.write_table(table, path)
        certify(copy, about)
        with pytest.raises(ValueError, match=f"part-00000.parquet is damaged: {message}"):
            list(load(copy))


def certify(folder: Path, about: dict[str, Any]) -> None:
    """Writes a `dataset.json` whose hashes and numbers of decisions are those of the files."""
    for file in about["files"]:
        content = (folder / file["name"]).read_bytes()
        file["sha256"], file["decisions"] = collecting.sha256(content), pq.ParquetFile(pa.BufferReader(content)).metadata.num_rows
    about["decisions"] = sum(file["decisions"] for file in about["files"])
    about["sha256"] = collecting.sha256("".join(file["sha256"] for file in about["files"]).encode())
    (folder / "_about" / "dataset.json").write_text(json.dumps(about))


@pytest.fixture(scope="module")
def another(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same data set with another seed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(collecting, "SEATS", 12)
        path = tmp_path_factory.mktemp("data") / "another"
        collect(path, parts_of(["weights", "random"], SHORT, 10, 2, "win"), here)
    return path


def rewritten(change: Callable[[Any], Any]) -> Callable[[Path, Path], None]:
    """A change of the rows of the second part, which keeps what the file says of itself."""

    def rewrite(folder: Path, another: Path) -> None:
        path = folder / "part-00001.parquet"
        pq.write_table(change(pq.read_table(path)), path)

    return rewrite


def replaced(name: str, by: str) -> Callable[[Path, Path], None]:
    """The content of one part under the name of another one; two names: they are exchanged; a path: from the other data set."""

    def replace(folder: Path, another: Path) -> None:
        theirs, ours = (another / by[1:]) if by.startswith("/") else folder / by, folder / name
        content = theirs.read_bytes(), ours.read_bytes() if ours.exists() else b""
        ours.write_bytes(content[0])
        if theirs.parent == folder and content[1]:
            theirs.write_bytes(content[1])

    return replace


def without(*names: str) -> Callable[[Path, Path], None]:
    return lambda folder, another: [(folder / "_about" / name).unlink() for name in names] and None


FALSE = {
    "a part of another seed": replaced("part-00001.parquet", "/part-00001.parquet"),
    "swapped parts": replaced("part-00001.parquet", "part-00000.parquet"),
    "a copy of a part": lambda folder, _: shutil.copy(folder / "part-00000.parquet", folder / "part-00001.parquet"),
    "the first rows": rewritten(lambda table: table.slice(0, len(table) // 2)),
    "the first games": rewritten(lambda table: table.filter(pa.array(table["game"].to_numpy() < 6))),
    "without a row": rewritten(lambda table: pa.concat_tables([table.slice(0, 9), table.slice(10)])),
    "no rows": rewritten(lambda table: table.slice(0, 0)),
    "shuffled rows": rewritten(lambda table: table.take(np.random.default_rng(0).permutation(len(table)))),
    "two rows exchanged": rewritten(lambda table: table.take([1, 0, *range(2, len(table))])),
    "twice the rows": rewritten(lambda table: pa.concat_tables([table, table])),
}


@pytest.mark.parametrize("what", [*FALSE, "a part too many", "nothing known of the parts", "the parts of another folder"])
@pytest.mark.parametrize("finished", [True, False])
def test_a_part_that_was_not_played_is_refused(copy: Path, another: Path, what: str, finished: bool) -> None:
    more = {
        "a part too many": replaced("part-00003.parquet", "/part-00001.parquet"),
        "nothing known of the parts": without("parts.jsonl"),
        "the parts of another folder": lambda folder, another: [
            shutil.copy(file, folder / file.relative_to(another)) for file in another.rglob("part*")
        ],
    }
    {**FALSE, **more}[what](copy, another)
    if not finished:
        without("dataset.json")(copy, another)
    before = content(copy)
    with pytest.raises(ValueError, match=r"part-0000\d\.parquet is damaged, or of another data set: delete it"):
        collect(copy, parts_of(["weights", "random"], SHORT, 10, 1, "win"), lambda work, parts: pytest.fail("it plays"))
    assert content(copy) == before


@pytest.mark.parametrize(
    ("key", "value"), [("seed", 2), ("games", 9), ("decisions", 3), ("sha256", "0"), ("agents", []), ("code", "")]
)
def test_a_description_that_disagrees_is_refused(copy: Path, key: str, value: Any) -> None:
    path = copy / "_about" / "dataset.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    before = content(copy)
    with pytest.raises(ValueError, match=f"holds the results of another {key}: choose another --out, or delete it"):
        collect(copy, parts_of(["weights", "random"], SHORT, 10, 1, "win"), here)
    assert content(copy) == before


@pytest.mark.parametrize("what", FALSE)
def test_rows_are_checked_against_what_the_part_says(copy: Path, another: Path, what: str) -> None:
    """Though everybody can compute the hashes."""
    FALSE[what](copy, another)
    certify(copy, json.loads((copy / "_about" / "dataset.json").read_text()))
    with pytest.raises(ValueError, match=r"part-0000\d\.parquet is damaged: (its games|it has no|the decisions|a game does not)"):
        list(load(copy))


def test_numbers_of_games_are_checked(copy: Path) -> None:
    about = json.loads((copy / "_about" / "dataset.json").read_text())
    for games, total in ((5, 11), (5, 10), (4, 11)):
        about["files"][1]["games"], about["games"] = games, total
        certify(copy, about)
        with pytest.raises(ValueError, match=r"games is 1\d, but the files have|its games are not those that are wanted"):
            list(load(copy))


def test_readers_of_parquet_read_the_folder(folder: Path) -> None:
    rows = pq.read_table(folder)
    assert len(rows) == load(folder).decisions and rows["game"].to_pylist() == sorted(rows["game"].to_pylist())
    assert pa.dataset.dataset(folder).count_rows() == len(rows)
    assert sorted(path.suffix for path in folder.iterdir()) == ["", *[".parquet"] * 3]


def test_data_sets_of_the_earlier_version_load(copy: Path) -> None:
    about = json.loads((copy / "_about" / "dataset.json").read_text()) | {"version": 2}
    for file in about["files"]:
        table = pq.read_table(copy / file["name"])
        pq.write_table(table.replace_schema_metadata(None), copy / file["name"])
    games = list(load_after(copy, about))
    assert len(games) == 10
    pq.write_table(table.take([1, 0, *range(2, len(table))]), copy / "part-00002.parquet")
    with pytest.raises(ValueError, match="the decisions of a game are not in their order"):
        list(load_after(copy, about))


def load_after(folder: Path, about: dict[str, Any]) -> Any:
    """The data set with its description beside the parts."""
    (folder / "_about").mkdir(exist_ok=True)
    certify(folder, about)
    (folder / "_about" / "dataset.json").rename(folder / "dataset.json")
    shutil.rmtree(folder / "_about")
    return load(folder)


def with_entries(table: Any, name: str) -> Any:
    """The table with an entry that cannot be, the first of this column."""
    rows, field = table.column(name).to_pylist(), table.schema.field(name)
    next(filter(None, rows))[0] = OBS_SIZE
    return table.set_column(table.schema.get_field_index(name), field, pa.array(rows, field.type))
