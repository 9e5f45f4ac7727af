"""Mutation testing of the engine: are there scenarios that notice when a rule is changed?

Makes a copy of the project, takes a seeded sample of the mutants that cosmic-ray (``pip install cosmic-ray``) finds in
euphoria_env/engine and euphoria_env/cards, in proportion to their number in each file, and runs each of them as plain Python
(NUMBA_DISABLE_JIT=1) in a forked process, until something notices it:

1. ``chapter``: the scenario files about the rules of the mutated file, with all seeds
2. ``scenarios``: all other scenario files, with the first seed
3. ``games``: random games with the invariants of tests/tools/playing.py, and others compared with the referee

What no scenario can see (observations, determinize, rewards, batches) goes through games and a few tests instead of 1 and 2.
A mutant that hangs is noticed (``timeout``), so is one that cannot be imported (``import``).

Results are kept in DIR/results.jsonl, with the copy of the package that they are about: the command can be stopped and started
again; ``--fresh`` begins with the package as it is now. DIR/report.md lists what survived.
``--again`` runs what no scenario noticed once more, with the scenarios as they are now and with all seeds.
"""

from __future__ import annotations

import argparse
import ast
import collections
import dataclasses
import difflib
import hashlib
import importlib
import importlib.abc
import importlib.util
import json
import os
import random
import resource
import select
import shutil
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
COPIED = ("euphoria_env", "tests", "pyproject.toml")
STAGES = ("import", "chapter", "scenarios", "games", "tests", "timeout", "survived")

_RECRUITS = ("recruits_euphorian", "recruits_subterran", "recruits_wastelander", "recruits_icarite")
# Mutated file: the scenario files of its chapter.
CHAPTERS: dict[str, tuple[str, ...]] = {
    "engine/abilities.py": (*_RECRUITS, "combinations"),
    "engine/allegiance.py": ("ch07_allegiance", "ch08_tunnels", "ch14_dilemma"),
    "engine/artifacts.py": ("ch05_markers_and_cards", "recruits_euphorian", "recruits_wastelander", "recruits_subterran"),
    "engine/bits.py": ("ch03_turn", "ch04_placement", "ch18_decisions"),
    "engine/chance.py": ("ch02_setup", "ch05_markers_and_cards", "ch14_dilemma", "ch16_end", "ch17_variants", "ch19_information"),
    "engine/construction.py": ("ch09_construction", "ch12_penalties"),
    "engine/costs.py": ("ch04_placement", "ch10_markets", "ch11_icarus", "ch18_decisions", "ch12_penalties", "recruits_icarite"),
    "engine/legal_moves.py": ("ch18_decisions", "ch03_turn", "ch17_variants", "ch14_dilemma", "ch10_markets"),
    "engine/dilemma.py": ("ch14_dilemma",),
    "engine/effects.py": ("ch06_commodity_areas_and_tank", "ch07_allegiance", "ch08_tunnels", *_RECRUITS),
    "engine/end.py": ("ch16_end",),
    "engine/markers.py": ("ch05_markers_and_cards", "recruits_subterran", "recruits_wastelander"),
    "engine/placement.py": ("ch04_placement", "ch10_markets", "ch11_icarus", "ch12_penalties", "combinations"),
    "engine/retrieval.py": ("ch03_turn", "ch12_penalties", *_RECRUITS),
    "engine/rolls.py": ("ch05_markers_and_cards", "ch12_penalties", "ch04_placement"),
    "engine/loop.py": ("ch03_turn", "ch14_dilemma", "ch15_trading", "ch17_variants"),
    "engine/setup.py": ("ch02_setup", "ch17_variants"),
    "engine/spaces.py": ("ch04_placement", "ch08_tunnels", "ch09_construction", "ch12_penalties"),
    "engine/stars.py": ("ch10_markets", "ch11_icarus", "ch12_penalties", "recruits_euphorian"),
    "engine/state.py": ("ch03_turn", "ch04_placement", "ch18_decisions"),
    "engine/trade.py": ("ch15_trading",),
    "engine/turn.py": ("ch03_turn", "ch04_placement", "ch12_penalties", "ch16_end", "ch17_variants"),
    "cards/effects.py": (*_RECRUITS, "ch11_icarus"),
    "cards/recruits.py": _RECRUITS,
    "cards/spaces.py": (
        *("ch06_commodity_areas_and_tank", "ch08_tunnels", "ch09_construction"),
        *("ch10_markets", "ch11_icarus", "ch04_placement"),
    ),
    "cards/tiles.py": ("ch10_markets", "ch12_penalties"),
}
# Mutated file that no scenario reaches: what pytest runs for it.
TESTS: dict[str, tuple[str, ...]] = {
    "engine/batch.py": (
        "tests/test_batch.py",
        "-k",
        "rewards_of or illegal_action or game_0 or inactive or (plays_as and 2-win)",
    ),
    "engine/determinize.py": (
        *("tests/test_random_games.py", "tests/test_hidden.py"),
        *("-k", "(invariants and preferring and (2 or 3)) or test_bradleys_choice or no_deal_is_found"),
    ),
    "engine/observe.py": ("tests/test_golden.py", "-k", "moves_and_observations"),
    "engine/rewards.py": ("tests/test_batch.py", "-k", "rewards_of"),
}
LEFT_OUT = ("engine/jit.py",)  # does nothing without compiled code

OPERATORS_LEFT_OUT = ("RemoveDecorator", "NoOp", "_Is", "_IsNot")  # `is` of numbers is no question of the rules

SCENARIO_SECONDS, GAME_SECONDS, TEST_SECONDS = 4, 20, 60  # of processor time, for one of them
MUTANT_SECONDS = 120  # of processor time
MUTANT_WALL = 900
MEMORY = 6 << 30
GAMES = ((2, "everything"), (3, "plain"), (5, "everything"))  # number of players, options
GAME_DECISIONS = 60


class Hang(BaseException):
    """A mutant takes too long; no `except Exception` catches it."""


@dataclasses.dataclass(frozen=True)
class Mutant:
    """One change of one file, as cosmic-ray numbers them."""

    file: str  # below euphoria_env
    operator: str
    occurrence: int
    line: int

    @property
    def id(self) -> str:
        return f"{self.file}:{self.line} {self.operator} {self.occurrence}"


# ------------------------------------------------------------------------------------------------------------ the mutants


def mutants_of(path: Path, file: str) -> list[Mutant]:
    """All mutants of a file that are worth running."""
    from cosmic_ray import plugins
    from cosmic_ray.ast import ast_nodes, get_ast

    source = path.read_text(encoding="utf-8")
    skipped = set(_lines_left_out(source))
    nodes = list(ast_nodes(get_ast(source)))
    found = []
    for name in plugins.operator_names():
        kind = plugins.get_operator(name)
        if kind.arguments() or any(part in name for part in OPERATORS_LEFT_OUT[:2]) or name.endswith(OPERATORS_LEFT_OUT[2:]):
            continue
        operator = kind()
        positions = (start for node in nodes for start, _ in operator.mutation_positions(node))
        found += [Mutant(file, name, k, line) for k, (line, _) in enumerate(positions) if line not in skipped]
    return found


def _lines_left_out(source: str) -> Iterator[int]:
    """Lines of imports, of `assert`s outside functions, and of annotations that stand alone."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom | ast.arguments) or (isinstance(node, ast.Assert) and node in tree.body):
            if isinstance(node, ast.arguments):
                annotations = [a.annotation for a in ast.walk(node) if isinstance(a, ast.arg) and a.annotation]
                yield from (a.lineno for a in annotations)
            else:
                yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)
        elif isinstance(node, ast.FunctionDef) and node.returns:
            yield node.returns.lineno
        elif isinstance(node, ast.AnnAssign) and node.value is None:
            yield node.lineno


def all_mutants(package: Path) -> dict[str, list[Mutant]]:
    """The mutants of every file."""
    files = sorted(path.relative_to(package).as_posix() for part in ("engine", "cards") for path in (package / part).glob("*.py"))
    found = {file: mutants_of(package / file, file) for file in files if file not in LEFT_OUT}
    unknown = [file for file in found if found[file] and file not in CHAPTERS and file not in TESTS]
    if unknown:
        raise SystemExit(f"no scenarios are named for {', '.join(unknown)}: see CHAPTERS in {__file__}")
    return found


def sample(found: dict[str, list[Mutant]], number: int, seed: int) -> tuple[list[Mutant], dict[str, list[Mutant]]]:
    """So many mutants, in proportion, in random order; and the others of each file, to take the place of void ones."""
    total = sum(map(len, found.values()))
    number = min(number, total)
    shares = {file: number * len(mutants) / total for file, mutants in found.items()}
    counts = {file: int(share) for file, share in shares.items()}
    for file in sorted(found, key=lambda file: (counts[file] - shares[file], file))[: number - sum(counts.values())]:
        counts[file] += 1
    chosen, spare = [], {}
    for file, mutants in sorted(found.items()):
        shuffled = random.Random(f"{seed} {file}").sample(mutants, len(mutants))
        chosen += shuffled[: counts[file]]
        spare[file] = shuffled[counts[file] :]
    random.Random(seed).shuffle(chosen)
    return chosen, spare


def mutate(source: str, mutant: Mutant) -> str | None:
    """The mutated source; None if it means the same or is no Python."""
    from cosmic_ray import plugins
    from cosmic_ray.mutating import mutate_code

    changed = mutate_code(source, plugins.get_operator(mutant.operator)(), mutant.occurrence)
    try:
        if changed is None or ast.dump(ast.parse(changed)) == ast.dump(ast.parse(source)):
            return None
    except SyntaxError:
        return None
    return str(changed)


# ---------------------------------------------------------------------------------------------------- the life of a mutant


class _Replaced(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module from another source."""

    def __init__(self, name: str, path: Path, source: str) -> None:
        self.name, self.path, self.source = name, path, source

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        return importlib.util.spec_from_loader(name, self, origin=str(self.path)) if name == self.name else None

    def exec_module(self, module: ModuleType) -> None:
        module.__file__ = str(self.path)
        exec(compile(self.source, str(self.path), "exec"), module.__dict__)


def _limit(seconds: float) -> None:
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)


def _hang(*_: Any) -> None:
    raise Hang


def live(mutant: Mutant | None, copy: Path, scenarios: list[Any], options: argparse.Namespace) -> dict[str, Any]:
    """Runs one mutant, or the engine as it is, in this process; says what noticed it."""
    result: dict[str, Any] = {"id": mutant.id if mutant else "", "file": mutant.file if mutant else "", "stage": "survived"}
    if mutant is not None:
        path = copy / "euphoria_env" / mutant.file
        source = path.read_text(encoding="utf-8")
        changed = mutate(source, mutant)
        if changed is None:
            return {**result, "stage": "void"}
        name = f"euphoria_env.{mutant.file.removesuffix('.py').replace('/', '.')}"
        sys.meta_path.insert(0, _Replaced(name, path, changed))
        diff = difflib.unified_diff(source.splitlines(), changed.splitlines(), mutant.file, mutant.file, "", "", 0, "")
        result["diff"] = "\n".join(diff)
    signal.signal(signal.SIGVTALRM, _hang)
    stage = "import"
    what = ""
    try:
        _limit(GAME_SECONDS)
        importlib.import_module("euphoria_env")
        for stage, what, seconds, check in _checks(mutant, copy, scenarios, options):  # noqa: B007
            _limit(seconds)
            check()
            _limit(0)
    except Hang:
        result.update(stage="timeout", by=f"{stage} {what}", error="")
    except BaseException as error:
        _limit(0)
        text = str(error).splitlines()
        result.update(stage=stage, by=what, error=f"{type(error).__name__}: {text[0] if text else ''}"[:200])
    finally:
        _limit(0)
    return result


def _checks(mutant: Mutant | None, copy: Path, scenarios: list[Any], options: argparse.Namespace) -> Iterator[Any]:
    """Stage, name, seconds, and what to run; what fails raises."""
    runner = importlib.import_module("tests.tools.scenario_runner")
    reached = mutant is None or mutant.file in CHAPTERS
    if reached:
        chapter = CHAPTERS[mutant.file] if mutant else ()
        own = [s for name in (*chapter, "mutants") for s in scenarios if Path(s.where.split(":")[0]).stem == name]
        others = [s for s in scenarios if s not in own]
        for scenario in own:
            yield "chapter", scenario.id, SCENARIO_SECONDS, lambda scenario=scenario: runner.run(scenario)
        if options.seeds == 1:
            runner.SEEDS = runner.SEEDS[:1]
        for scenario in others:
            yield "scenarios", scenario.id, SCENARIO_SECONDS, lambda scenario=scenario: runner.run(scenario)
    for players, which in GAMES:
        yield "games", f"{players} {which}", GAME_SECONDS, lambda players=players, which=which: _game(players, which)
    if reached:
        decisions = 0
        number = 0
        while decisions < options.decisions:
            counted = []
            yield "games", f"referee {number}", GAME_SECONDS, lambda: counted.append(_differential(options.seed, number))  # noqa: B023
            decisions += counted[0]
            number += 1
    for file in [mutant.file] if mutant else options.files:
        if file in TESTS:
            yield "tests", " ".join(TESTS[file]), TEST_SECONDS, lambda file=file: _pytest(file)


def _game(players: int, which: str) -> None:
    """A random game with invariants."""
    playing = importlib.import_module("tests.tools.playing")
    checks = importlib.import_module("tests.test_random_games")
    for rules in playing.all_rules():
        if rules.num_players == players and rules.trading == rules.track_draft == (which == "everything"):
            break
    game = importlib.import_module("euphoria_env").Game(rules, seed=players)
    rng = random.Random(players)
    for k in range(GAME_DECISIONS):
        if not game.legal():
            break
        if k % 6 == 0:
            checks._check_position(game, rng)
        game.play(playing.prefer(game, rng))


def _differential(seed: int, number: int) -> int:
    """A game compared with the referee; how many decisions it had."""
    differential = importlib.import_module("tests.tools.differential")
    rng = random.Random(f"{seed} {number}")
    played = differential.play_game(differential.random_plan(rng), rng)
    if played.failure is not None:
        raise AssertionError(str(played.failure.mismatch))
    return 1 + int(played.decisions)


def _pytest(file: str) -> None:
    import pytest

    quietly = ("-x", "-q", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning")
    code = pytest.main([*TESTS[file], *quietly])
    if code:
        raise AssertionError(f"pytest ends with {int(code)}")


# ------------------------------------------------------------------------------------------------------------ the running


class Runner:
    """Runs mutants in forked processes, so that numpy, numba and the scenarios are loaded but once."""

    def __init__(self, copy: Path, options: argparse.Namespace) -> None:
        self.copy, self.options = copy, options
        os.environ["NUMBA_DISABLE_JIT"] = "1"
        os.chdir(copy)
        sys.path.insert(0, str(copy))
        for name in ("numpy", "numba", "gymnasium", "pettingzoo", "hypothesis", "pytest", "cosmic_ray.mutating"):
            importlib.import_module(name)
        runner = importlib.import_module("tests.tools.scenario_runner")
        self.scenarios = [item for _, item in runner.read_folder()]
        wrong = [item for item in self.scenarios if isinstance(item, runner.BadScenario)]
        if wrong:
            raise SystemExit(f"{wrong[0]}")
        assert "euphoria_env" not in sys.modules, "the mutants must import it anew"

    def run(self, mutants: Iterable[Mutant | None], jobs: int) -> Iterator[tuple[Mutant | None, dict[str, Any]]]:
        """Mutants with their results, as they come."""
        waiting = iter(mutants)
        running: dict[int, tuple[int, float, Mutant | None, bytearray]] = {}
        while True:
            while len(running) < jobs:
                mutant = next(waiting, waiting)
                if mutant is waiting:
                    break
                pid, pipe = self._fork(mutant)  # type: ignore[arg-type]
                running[pipe] = pid, time.monotonic(), mutant, bytearray()  # type: ignore[assignment]
            if not running:
                return
            ready, _, _ = select.select(list(running), [], [], 1.0)
            for pipe in list(running):
                pid, began, mutant, text = running[pipe]
                if pipe in ready:
                    data = os.read(pipe, 1 << 16)
                    text += data
                    if data:
                        continue
                elif time.monotonic() - began < MUTANT_WALL:
                    continue
                else:
                    os.kill(pid, signal.SIGKILL)
                os.close(pipe)
                os.waitpid(pid, 0)
                del running[pipe]
                lost = {"id": mutant.id if mutant else "", "file": mutant.file if mutant else "", "stage": "timeout"}
                result = json.loads(text) if text else {**lost, "by": "the process was killed", "error": ""}
                yield mutant, {**result, "seconds": round(time.monotonic() - began, 1)}

    def _fork(self, mutant: Mutant | None) -> tuple[int, int]:
        reading, writing = os.pipe()
        pid = os.fork()
        if pid:
            os.close(writing)
            return pid, reading
        os.close(reading)
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (MUTANT_SECONDS, MUTANT_SECONDS))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
            result = live(mutant, self.copy, self.scenarios, self.options)
            with os.fdopen(writing, "w") as out:
                json.dump(result, out)
        finally:
            os._exit(0)


def make_copy(folder: Path, fresh: bool) -> tuple[Path, str]:
    """Copies the project, all but the scenarios only once; the hash of the package."""
    copy = folder / "copy"
    for name in COPIED:
        source, target = ROOT / name, copy / name
        if target.exists() and not fresh:  # the scenarios may be new, the rest must fit the package
            if name != "tests":
                continue
            source, target = source / "scenarios", target / "scenarios"
        if source.is_dir():
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            copy.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted((copy / "euphoria_env").rglob("*.py")):
        digest.update(path.relative_to(copy).as_posix().encode() + path.read_bytes())
    return copy, digest.hexdigest()


# ------------------------------------------------------------------------------------------------------------- the report


def report(results: list[dict[str, Any]], total: int) -> str:
    """What became of the mutants, as markdown."""
    by_file: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for result in results:
        by_file[result["file"]][result["stage"]] += 1
    lines = [f"# {len(results)} of {total} mutants", "", "| file | mutants | " + " | ".join(STAGES) + " |"]
    lines.append("| --- " * (2 + len(STAGES)) + "|")
    sums: collections.Counter[str] = collections.Counter()
    for file, counts in sorted(by_file.items()):
        sums.update(counts)
        lines.append(f"| {file} | {counts.total()} | " + " | ".join(str(counts[stage] or "") for stage in STAGES) + " |")
    lines.append(f"| all | {sums.total()} | " + " | ".join(str(sums[stage]) for stage in STAGES) + " |")
    lines += ["", "## Survived", ""]
    for result in sorted(results, key=lambda result: result["id"]):
        if result["stage"] == "survived":
            lines += [f"`{result['id']}`", "```diff", *result["diff"].splitlines()[2:], "```", ""]
    late = [result for result in results if result["stage"] in ("games", "tests")]
    lines += ["## Noticed by no scenario, only later", ""]
    for result in sorted(late, key=lambda result: result["id"]):
        if result["file"] in CHAPTERS:
            lines += [f"`{result['id']}` by {result['stage']} {result['by']}: {result['error']}", "```diff"]
            lines += [*result["diff"].splitlines()[2:], "```", ""]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", type=int, default=500, help="how many (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the sample and of the games (%(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (%(default)s)")
    parser.add_argument("--decisions", type=int, default=300, help="decisions compared with the referee (%(default)s)")
    parser.add_argument("--seeds", type=int, choices=(1, 3), default=1, help="seeds of scenarios of other chapters (%(default)s)")
    parser.add_argument("--minutes", type=float, default=1e9, help="start no more mutants after so long")
    parser.add_argument("--dir", type=Path, default=Path("build/mutation"), metavar="DIR", help="for all files (%(default)s)")
    parser.add_argument("--fresh", action="store_true", help="copy the package anew, forget earlier results")
    parser.add_argument("--again", action="store_true", help="run what no scenario noticed once more, with all seeds")
    parser.add_argument("--only", nargs="+", default=[""], metavar="TEXT", help="only mutants whose ids contain one of these")
    options = parser.parse_args()
    if importlib.util.find_spec("cosmic_ray") is None:
        raise SystemExit("cosmic-ray is needed: pip install cosmic-ray")
    folder = options.dir.resolve()
    copy, stamp = make_copy(folder, options.fresh)
    file = folder / "results.jsonl"
    if options.fresh:
        file.unlink(missing_ok=True)
    known: dict[str, dict[str, Any]] = {}
    for line in file.read_text().splitlines() if file.exists() else ():
        result = json.loads(line)
        if result["stamp"] == stamp:
            known[result["id"]] = result
    found = all_mutants(copy / "euphoria_env")
    total = sum(map(len, found.values()))
    chosen, spare = sample(found, options.mutants, options.seed)
    until = time.monotonic() + 60 * options.minutes
    if options.again:
        options.seeds = 3
    queue = collections.deque(mutant for mutant in chosen if any(text in mutant.id for text in options.only))
    options.files = sorted({mutant.file for mutant in queue})
    runner = Runner(copy, options)

    for _, result in runner.run([None], 1):
        print(f"unmutated: {result}", flush=True)
        if result["stage"] != "survived":
            raise SystemExit("the engine itself does not pass")
    done: list[dict[str, Any]] = []

    def waiting() -> Iterator[Mutant]:
        while queue and time.monotonic() < until:
            mutant = queue.popleft()
            result = known.get(mutant.id)
            if result is None or (options.again and result["stage"] in ("survived", "games", "tests")):
                yield mutant
            elif result["stage"] == "void":
                queue.append(spare[mutant.file].pop(0))
            else:
                done.append(result)

    with file.open("a") as out:
        for mutant, result in runner.run(waiting(), options.jobs):
            assert mutant is not None
            print(json.dumps({**result, "stamp": stamp}), file=out, flush=True)
            known[mutant.id] = result
            if result["stage"] == "void":
                queue.append(spare[mutant.file].pop(0))
                continue
            done.append(result)
            killed = sum(r["stage"] != "survived" for r in done)
            what = f"{result['stage']} {result.get('by', '')} {result['seconds']} s"
            print(f"{len(done)}: {result['id']}: {what}; {killed} killed", flush=True)
    text = report(done, total)
    (folder / "report.md").write_text(text)
    print(text.split("## Survived")[0] + f"\n{folder / 'report.md'} lists what survived")
    return 0


if __name__ == "__main__":
    sys.exit(main())
