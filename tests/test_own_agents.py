"""Agents of your own, by spec or as objects: where they are found, where they may play, and who is blamed for what is wrong."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from euphoria_agents import load, play_match, specs
from euphoria_agents.registry import BUILTIN, file_hashes, files_of, load_untrusted, places_of
from euphoria_env import Game, IllegalMove, Rules
from euphoria_env.envs.single import EuphoriaEnv
from euphoria_env.envs.vector import EuphoriaVectorEnv

RULES = Rules(num_players=2, max_turns=12)
OWN = """
import numpy as np

ASKED = []

class First:  # nothing but act
    def act(self, observation, mask, rng):
        ASKED.append(("First", observation.shape))
        return int(mask.argmax())

class Nth:  # with an argument
    def __init__(self, text):
        self.n = int(text)
    def act(self, observation, mask, rng):
        legal = mask.nonzero()[0]
        return int(legal[self.n % len(legal)])

def last(text="1"):  # a factory
    return Nth(-int(text))

class Gamer:
    needs_game = True
    def act(self, observation, mask, rng, game):
        assert np.array_equal(game.mask(), mask != 0) and np.array_equal(game.observation(game.player), observation)
        ASKED.append(("Gamer", type(game).__name__))
        return int(mask.argmax())

class Batcher:
    def act(self, observation, mask, rng):
        return int(mask.argmax())
    def act_batch(self, observations, masks, rng):
        ASKED.append(("Batcher", len(masks)))
        return [int(mask.argmax()) for mask in masks]

class Broken:
    def __init__(self):
        raise KeyError("no luck")

class Quitter:
    def __init__(self):
        raise SystemExit(3)

class Mute:
    pass

class Lists:
    def act(self, observation, mask, rng):
        return [3, [4]]

class Poet:
    def act(self, observation, mask, rng):
        return "place 4 farm"

NUMBER = 7
"""
PAGE = (Path(__file__).parent.parent / "docs" / "agents.md").read_text(encoding="utf-8")
FAULTY = "tests.tools.faulty_agents"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working folder with the module `own`; path and modules are in the end as they were."""
    path, modules = sys.path.copy(), set(sys.modules)
    working = tmp_path / "working"
    working.mkdir()
    (working / "own.py").write_text(OWN)
    monkeypatch.chdir(working)
    yield working
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def asked() -> list[Any]:
    """The notes of the module's agents."""
    return sys.modules["own"].ASKED  # type: ignore[no-any-return]


def install(folder: Path, name: str, entry_points: dict[str, str], **files: str) -> None:
    """A distribution as pip would leave it, in a folder that is put on the path."""
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = [f"{entry} = {target}" for entry, target in entry_points.items()]
    (info / "entry_points.txt").write_text("\n".join(["[euphoria_agents]", *lines, ""]))
    for module, text in files.items():
        (folder / f"{module}.py").write_text(text)
    sys.path.append(str(folder))


def move(agent: Any) -> int:
    """The answer of an agent at the start of a game."""
    game = Game(Rules(num_players=2), seed=1)
    given = (game,) if getattr(agent, "needs_game", False) else ()
    return int(agent.act(game.observation(game.player), game.mask(), np.random.default_rng(0), *given))


# ------------------------------------------------------------------------------------------------------ where it is found


def test_by_module_from_the_working_folder() -> None:
    legal = Game(Rules(num_players=2), seed=1).legal_actions().tolist()
    expected = {"own:First": 0, "own:Nth:2": 2, "own:last": -1, "own:last:2": -2, "own:Gamer": 0, "own:Batcher": 0}
    assert {spec: move(load(spec)) for spec in expected} == {spec: legal[k % len(legal)] for spec, k in expected.items()}
    assert [spec for spec in expected if getattr(load(spec), "needs_game", False)] == ["own:Gamer"]


def test_by_entry_point(tmp_path: Path) -> None:
    install(tmp_path / "site", "fake-agents", {"fake": "entry:Bot", "nested": "entry:Out.In"}, entry=ENTRY)
    assert (load("fake").text, load("fake:a:b").text) == ("none", "a:b")  # type: ignore[attr-defined]
    assert (move(load("fake")), move(load("nested"))) == (4, 5)
    assert specs()[-3:] == ["fake[:ARGUMENT]", "nested[:ARGUMENT]", "module:Name[:ARGUMENT]"]


ENTRY = """
class Bot:
    def __init__(self, text="none"): self.text = text
    def act(self, o, m, r): return 4
class Out:
    class In:
        def act(self, o, m, r): return 5
"""
SAYS = "class Bot:\n    def act(self, o, m, r): return {}\n"


def test_built_in_names_come_first_then_entry_points_then_modules(tmp_path: Path, folder: Path) -> None:
    for module, number in (("weights", 1), ("thing", 2)):
        (folder / f"{module}.py").write_text(SAYS.format(number))
    assert move(load("thing:Bot")) == 2
    install(tmp_path / "site", "fake-agents", {"weights": "entry:Bot", "thing": "entry:make"}, entry=SAYS.format(3) + MAKE)
    assert type(load("weights")).__module__ == "euphoria_agents.players.weights"
    assert "weights[:ARGUMENT]" not in specs()
    with pytest.raises(ValueError, match=r"'weights:Bot' \(it is written weights\)"):
        load("weights:Bot")
    assert move(load("thing:Bot")) == 3


MAKE = "def make(text):\n    assert text == 'Bot'\n    return Bot()\n"


def test_the_working_folder_is_searched_last(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "twice.py").write_text(SAYS.format(1))
    (folder / "twice.py").write_text(SAYS.format(2))
    load("own:First")
    assert sys.path[-1] == str(folder)
    sys.path.insert(0, str(tmp_path / "other"))
    assert move(load("twice:Bot")) == 1
    (folder / "json.py").write_text(SAYS.format(2))
    with pytest.raises(ValueError, match="module 'json' has no 'Bot'"):
        load("json:Bot")


# ----------------------------------------------------------------------------------------------------- where it may play


@pytest.mark.parametrize("kind", ["First", "Gamer", "Batcher"])
def test_in_environments_and_matches_by_spec_and_as_an_object(kind: str) -> None:
    spec = f"own:{kind}"
    single = EuphoriaEnv(opponents=spec, num_players=2, max_turns=12)
    _, info = single.reset(seed=0)
    vector = EuphoriaVectorEnv(2, opponents=spec, num_players=2, max_turns=12)
    _, infos = vector.reset(seed=0)
    for _ in range(5):
        _, _, terminated, truncated, info = single.step(int(info["action_mask"].argmax()))
        if terminated or truncated:
            _, info = single.reset()
        *_, infos = vector.step(infos["action_mask"].argmax(axis=1))
    by_spec = play_match([load(spec), load("own:Nth:1")], 4, RULES, seed=0)
    own = sys.modules["own"]
    as_objects = play_match([getattr(own, kind)(), own.Nth("1")], 4, RULES, seed=0)
    assert by_spec.played == as_objects.played and by_spec.decisions > 20
    assert {name for name, _ in asked()} == {kind}
    if kind == "Batcher":
        assert max(n for _, n in asked()) > 1


# ---------------------------------------------------------------------------------------------------------- what is wrong


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("nobody", r"no agent is called 'nobody'; allowed are random, .*, plugged\[:ARGUMENT\], module:Name"),
        ("", "no agent is called ''"),
        ("missing:First", r"no agent is called 'missing:First' \(there is no module 'missing'\); allowed"),
        ("random:3", r"'random:3' \(it is written random\); allowed are random, "),
        ("mcts", r"it is written mcts:BUDGET\[:EVALUATOR\[:PATH\]\]"),
        (7, "no agent is called 7"),
        ("own:Nobody", "^agent 'own:Nobody': module 'own' has no 'Nobody'$"),
        ("own:NUMBER", "^agent 'own:NUMBER': 'NUMBER' is 7, neither a class nor a factory: it cannot be called$"),
        ("own:Broken", "^agent 'own:Broken': 'Broken', called with nothing, failed: KeyError: 'no luck'$"),
        ("own:Quitter", "'Quitter', called with nothing, failed: SystemExit: 3$"),
        ("own:Mute", "^agent 'own:Mute': 'Mute' makes <own.Mute object at .*>, which has no method `act`$"),
        ("needy:Bot", "^agent 'needy:Bot': module 'needy' cannot be imported: ModuleNotFoundError: No module named 'not_here'$"),
        ("plugged", "^agent 'plugged' of the package 'plug-ins': 'Bot', called with nothing, failed: TypeError: "),
        ("gone", "^agent 'gone' of the package 'plug-ins': module 'not_there' cannot be imported: ModuleNotFoundError: "),
        ("fought", "^several installed packages register the agent 'fought': other-plug-ins, plug-ins$"),
    ],
)
def test_specs_that_cannot_be_loaded(spec: Any, message: str, tmp_path: Path, folder: Path) -> None:
    (folder / "needy.py").write_text("import not_here\n")
    points = {"plugged": "plug:Bot", "gone": "not_there:Bot", "fought": "plug:Bot"}
    install(tmp_path / "site", "plug-ins", points, plug="class Bot:\n    def __init__(self, text): pass\n")
    install(tmp_path / "site2", "other-plug-ins", {"fought": "plug:Bot"})
    with pytest.raises(ValueError, match=message):
        load(spec)


@pytest.mark.parametrize("as_object", [False, True])
def test_what_an_agent_does_wrong_in_a_game_is_blamed_on_it(as_object: bool) -> None:
    cheats, raises = (load(spec) if as_object else spec for spec in (f"{FAULTY}:Cheats", f"{FAULTY}:Raises:nothing"))
    with pytest.raises(IllegalMove, match=f"the agent {FAULTY}.Cheats answered '.*', which is illegal"):
        EuphoriaEnv(opponents=cheats, seat=1, num_players=2).reset(seed=0)
    with pytest.raises(IllegalMove, match="the agent own.Poet must answer with an action id, not .*place 4 farm"):
        play_match([load("own:Poet"), load("random")], 1, RULES)
    with pytest.raises(KeyError, match="my moves") as caught:
        EuphoriaVectorEnv(2, opponents=raises, seat=1, num_players=2).reset(seed=0)
    assert caught.value.__notes__ == [f"raised by the agent {FAULTY}.Raises"]
    with pytest.raises(IllegalMove, match=r"the agent own.Lists must answer with .*\[3, \[4\]\]"):
        play_match([load("own:Lists"), load("random")], 1, RULES)


# ---------------------------------------------------------------------------------------------------------- untrusted specs

WITHOUT_PATHS = ["random", "weights", "greedy:2", "mcts:5", "mcts:5:ppo", "mcts:5:ppo+greedy", "boardspace:3", "ppo"]


@pytest.mark.parametrize("spec", WITHOUT_PATHS)
def test_built_in_specs_without_paths_are_trusted(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[load.__module__], "load", lambda spec: f"loaded {spec}")
    assert load_untrusted(spec) == f"loaded {spec}"
    assert {spec.partition(":")[0] for spec in WITHOUT_PATHS} == set(BUILTIN) - {"llm"}  # which costs money


@pytest.mark.parametrize(
    "spec", ["ppo:a", "llm:m", "mcts:5:ppo+greedy:a", "mcts:5:greedy+ppo:a:b", "own:First", "plugged", "", None]
)
def test_others_are_not_unless_allowed(spec: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path / "site", "plug-ins", {"plugged": "own:First"})
    monkeypatch.setattr(sys.modules[load.__module__], "load", lambda spec: f"loaded {spec}")
    with pytest.raises(ValueError, match="is not built in, or names a file: allow it by name"):
        load_untrusted(spec, ["something else"])
    assert load_untrusted(spec, ["something else", spec]) == f"loaded {spec}"
    assert "own" not in sys.modules


# ------------------------------------------------------------------------------------------------------ files and their hash


def test_the_file_in_a_spec_of_this_project(folder: Path) -> None:
    (folder / "net.bin").write_bytes(b"1")
    for spec in ("ppo:net.bin", "mcts:5:ppo:net.bin", "mcts:5:ppo+greedy:net.bin"):
        assert files_of(spec) == {"net.bin": Path("net.bin")}
        before = file_hashes(spec)
        (folder / "net.bin").write_bytes(spec.encode())
        assert {*file_hashes(spec)} == {*before} and file_hashes(spec) != before
    for spec in ("weights", "ppo", "mcts:5:ppo", "ppo:missing", "own:Nth:net.bin", "own:Nth:2"):
        assert files_of(spec) == {}


def test_the_places_of_an_agent(tmp_path: Path, folder: Path) -> None:
    (folder / "net.bin").write_bytes(b"1")
    assert places_of("own:First") == places_of("own:Nth:2") == [str(folder / "own.py")]
    assert places_of("own:Nth:net.bin") == [str(folder / "own.py"), "net.bin"]
    package = folder / "house" / "room"
    package.mkdir(parents=True)
    for file in ("room/__init__.py", "room/bots.py", "__init__.py"):
        (package.parent / file).write_text("class Bot:\n    def act(self, o, m, r): return int(m.argmax())\n")
    install(tmp_path / "site", "plug-ins", {"plugged": "house.room.bots:Bot"})
    assert places_of("house.room.bots:Bot") == places_of("plugged") == [str(folder / "house")]
    assert move(load("house.room.bots:Bot")) == move(load("plugged")) == move(load("own:First"))
    with pytest.raises(ValueError, match="there is no module 'nowhere'"):
        places_of("nowhere:First")


# -------------------------------------------------------------------------------------------------------------- the page


def test_the_page_has_the_specs_that_there_are() -> None:
    table = re.search(r"^\| spec \| plays \|\n\|---\|---\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    assert table and re.findall(r"^\| `(.*?)` \|", table[1], re.MULTILINE) == specs()
