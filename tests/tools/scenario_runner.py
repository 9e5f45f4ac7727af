"""Runs scenarios: rule checks written as short YAML documents.

A file is a list of scenarios such as::

    - id: bumped-worker-is-rolled-at-once
      rule: R4.2
      given: {rules: {num_players: 2}, players: [{workers: [4], goods: {energy: 1}}, {workers: [2]}],
              workers: {euphorian_tunnel: [[1, 3]]}}
      load: {dice: [6]}
      play: [place 4 euphorian_tunnel, gain gold]
      then: {players: [{goods: {gold: 1, energy: 0}}, {workers: [2, 6]}], miners: {euphorian: 1}}

=====================  =============================================================================================
``id``                 unique over all files
``rule``               the rule it checks: a string or a list
``card``               the recruit it checks: a name or a list (may be left out)
``given``              a partial position for ``Game.from_dict``; or instead
``new``                ``{rules: {...}, seed: 5, load: {...}}``: a game that starts at setup
``load``               outcomes for ``game.load`` before the first move
``play``               the moves, in order
``then``               what ``game.to_dict()`` must say afterwards, see below
``legal``/``illegal``  moves that must (not) be in ``game.legal()`` afterwards
``over``, ``truncated``, ``winner``, ``ranking``  what the game must say of itself afterwards
``events``             what must have happened since the first move, see below
=====================  =============================================================================================

``then`` is a subset of ``to_dict()``: keys that it leaves out are not looked at. ``players`` is compared entry by
entry, as far as it goes (``{}`` skips one); recruits by name (there may be others; an entry may be just the name);
every other list as a whole, in any order. Keys that ``to_dict`` leaves out are 0, empty, false or null; ``{}`` and ``[]``
elsewhere say that there is nothing, or nothing but such values.

``events`` is a list of events in the words of the table in docs/events.md, such as ``{kind: worker_lost, player: 1, face: 6,
sum: 17}``. All of them must have happened, in this order; others may lie between them. A field that is left out may be
anything; null means nothing, or nobody. Where ``a`` is a player, it is called ``other``. Only the engine has events: the
referee does not look at the key.

A scenario that names no seed must hold for every seed: it is run with several.

``python -m tests.tools.scenario_runner FILE.yaml ...`` runs files by hand.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import yaml

from tests.referee.tables import ARTIFACTS, FACTIONS, GOODS, MARKETS, SPACES, TERRITORY
from tests.tools import scenario_events

FOLDER = Path(__file__).parent.parent / "scenarios"
SEEDS = (0, 1, 2)  # where the scenario names none
_Form = tuple[str, Callable[[Any], bool]]  # what a value must be

# The keys that a position may leave out where they are 0, empty, false or null. "*" stands for an index or a name.
POSITION_KEYS: dict[tuple[str, ...], tuple[str, ...]] = {
    (): ("rules", "seed", "player", "turn", "players", "workers", "allegiance", "miners", "markets", "territories", "discards"),
    ("players", "*"): (*("knowledge", "morale", "stars", "workers", "lost_worker", "goods", "artifacts", "recruits", "dilemma"),),
    ("players", "*", "goods"): GOODS,
    ("players", "*", "artifacts"): ARTIFACTS,
    ("players", "*", "recruits", "*"): ("name", "active", "star"),
    ("players", "*", "dilemma"): ("artifact", "resolved"),
    ("workers",): SPACES,
    ("allegiance",): FACTIONS,
    ("miners",): FACTIONS[:3],
    ("markets",): MARKETS,
    ("markets", "*"): ("tile", "built", "stars"),
    ("territories",): tuple(TERRITORY.values()),
    ("discards",): ARTIFACTS,
}


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) and text for text in value)


def _are_events(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(entry, dict) and "kind" in entry for entry in value)


def _is_load(value: Any) -> bool:
    return isinstance(value, dict) and all(kind in LOAD_KEYS and isinstance(drawn, list) for kind, drawn in value.items())


LOAD_KEYS = ("dice", "artifacts", "recruits", "markets", "dilemmas", "lots")
OUTCOME_KEYS = ("over", "truncated", "winner", "ranking")
# The keys of a scenario, and those of `new`: what their values are.
_TEXTS: _Form = ("a list of texts, or one", _are_texts)
_MAPPING: _Form = ("a mapping", lambda value: isinstance(value, dict))
_LOAD: _Form = (f"a mapping of lists: {', '.join(LOAD_KEYS)}", _is_load)
_FLAG: _Form = ("true or false", lambda value: isinstance(value, bool))
_ANY: _Form = ("anything", lambda value: True)
NEW_KEYS = {"rules": _MAPPING, "seed": _ANY, "load": _LOAD}
SCENARIO_KEYS = {
    "id": _ANY, "rule": _TEXTS, "card": _TEXTS, "given": _MAPPING, "new": _MAPPING, "load": _LOAD, "play": _TEXTS,
    "then": _MAPPING, "legal": _TEXTS, "illegal": _TEXTS, "events": ("a list of mappings with a `kind`", _are_events),
    "over": _FLAG, "truncated": _FLAG, "winner": _ANY, "ranking": _ANY,
}  # fmt: skip


class BadScenario(Exception):
    """The scenario itself is wrong: a mistyped key, say."""


class ScenarioFailed(AssertionError):
    """The game does not do what the scenario says."""


# ---------------------------------------------------------------------------------------------------- reading scenarios


@dataclass(frozen=True)
class Scenario:
    """One scenario, checked."""

    id: str
    rules: tuple[str, ...]
    cards: tuple[str, ...] = ()
    where: str = ""
    given: dict[str, Any] | None = None
    new: dict[str, Any] | None = None
    load: dict[str, list[Any]] = field(default_factory=dict)
    play: tuple[str, ...] = ()
    then: dict[str, Any] = field(default_factory=dict)
    legal: tuple[str, ...] = ()
    illegal: tuple[str, ...] = ()
    events: tuple[dict[str, Any], ...] = ()
    outcome: dict[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The name of a scenario and its place."""
        about = ", ".join(self.rules + self.cards)
        return f"{self.id} ({about})" + (f" in {self.where}" if self.where else "")

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds to run it with."""
        start = self.given if self.given is not None else self.new
        return (start["seed"],) if start is not None and "seed" in start else SEEDS


def parse(document: Any, where: str = "") -> Scenario:
    """Make a scenario of a YAML document; BadScenario says what is wrong with it."""
    if not isinstance(document, dict):
        raise BadScenario(f"{where}: a scenario is a mapping, not {document!r}")
    name = document.get("id")
    if not isinstance(name, str) or not name:
        raise BadScenario(f"{where}: a scenario needs an `id`, a text")
    try:
        return _parse(document, where)
    except BadScenario as error:
        raise BadScenario(f"{name}" + (f" in {where}" if where else "") + f": {error}") from None


def _parse(document: dict[str, Any], where: str) -> Scenario:
    document = {key: [value] if isinstance(value, str) and key in ("rule", "card") else value for key, value in document.items()}
    _check_keys(document, SCENARIO_KEYS, "a scenario")
    if ("given" in document) == ("new" in document):
        raise BadScenario("exactly one of `given` and `new` is needed")
    if not any(key in document for key in ("play", "then", "legal", "illegal", "events", *OUTCOME_KEYS)):
        raise BadScenario("it checks nothing")
    if not document.get("rule"):
        raise BadScenario("`rule` is missing: which rule does it check?")
    _check_keys(document.get("new", {}), NEW_KEYS, "`new`")
    _check_then(document.get("then", {}))
    renamed = {"rules": document["rule"], "cards": document.get("card", [])}
    lists = {key: document.get(key, []) for key in ("play", "legal", "illegal", "events")}
    return Scenario(
        id=document["id"],
        where=where,
        outcome={key: document[key] for key in OUTCOME_KEYS if key in document},
        **{key: document[key] for key in ("given", "new", "load", "then") if key in document},
        **{key: tuple(value) for key, value in (renamed | lists).items()},
    )


def _check_keys(mapping: Mapping[Any, Any], known: Mapping[str, _Form], what: str) -> None:
    for key, value in mapping.items():
        if key not in known:
            raise BadScenario(f"unknown key {key!r}; {what} has {', '.join(known)}")
        form, is_good = known[key]
        if not is_good(value):
            raise BadScenario(f"`{key}` is {form}, not {value!r}")


def _check_then(expected: Any, path: tuple[str | int, ...] = ()) -> None:
    """Refuse what could not be compared."""
    if isinstance(expected, dict):
        for key, value in expected.items():
            if not isinstance(key, str):
                raise BadScenario(f"`then`: the key {key!r} in {_show_path(path)} is not a text; quote it")
            _check_then(value, (*path, key))
    elif isinstance(expected, list):
        if path == ("players",):
            if not all(isinstance(entry, dict) for entry in expected):
                raise BadScenario("`then`: the entries of players are mappings; {} skips one")
            for index, value in enumerate(expected):
                _check_then(value, (*path, index))
        elif _are_recruits(path):
            for entry in expected:
                if isinstance(entry, dict) and isinstance(entry.get("name"), str):
                    _check_then(entry, (*path, entry["name"]))
                elif not isinstance(entry, str):
                    raise BadScenario(f"`then`: a recruit in {_show_path(path)} has no name: {entry!r}")


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # the same in C, four times as fast
    """Refuses a key that is there twice; plain YAML would silently keep the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                raise BadScenario(f"line {key_node.start_mark.line + 1}: the key {key!r} is there twice")
            seen.add(key)
        return super().construct_mapping(node, deep=deep)


def read_text(text: str, where: str = "") -> Iterator[Scenario | BadScenario]:
    """The scenarios of a YAML text, each one or what is wrong with it."""
    loader = _Loader(text)
    try:
        while loader.check_node():
            root = loader.get_node()
            if not isinstance(root, yaml.SequenceNode):
                raise BadScenario(f"{where}: a file is a list of scenarios (`- id: ...`)")
            for node in root.value:
                place = f"{where}:{node.start_mark.line + 1}"
                try:
                    yield parse(loader.construct_document(node), place)
                except BadScenario as error:
                    yield error if where in str(error) else BadScenario(f"{place}: {error}")
    except yaml.YAMLError as error:
        yield BadScenario(f"{where} is not YAML: {error}")
    except BadScenario as error:
        yield error
    finally:
        loader.dispose()


def read_files(files: Iterable[Path]) -> list[tuple[str, Scenario | BadScenario]]:
    """All scenarios of some files with their ids, which must be unique; a wrong one gets the place as its id."""
    found: list[tuple[str, Scenario | BadScenario]] = []
    places: dict[str, str] = {}
    for file in files:
        root = FOLDER.parent.parent
        where = str(file.relative_to(root)) if file.is_relative_to(root) else str(file)
        for item in read_text(file.read_text(encoding="utf-8"), where):
            if isinstance(item, Scenario) and item.id in places:
                item = BadScenario(f"{item.where}: the id {item.id!r} is taken by {places[item.id]}")
            if isinstance(item, Scenario):
                places[item.id] = item.where
                found.append((item.id, item))
            else:
                found.append((f"bad-{file.stem}-{len(found)}", item))
    return found


def read_folder(folder: Path = FOLDER) -> list[tuple[str, Scenario | BadScenario]]:
    """All scenarios of a folder and the folders in it."""
    return read_files(sorted(folder.rglob("*.yaml")))


# -------------------------------------------------------------------------------------------------- comparing positions


def differences(expected: Mapping[str, Any], position: Mapping[str, Any]) -> list[str]:
    """The places where a position is not as expected (the subset rules of the module): a line each."""
    return list(_differences(expected, position, ()))


def _differences(expected: Any, actual: Any, path: tuple[str | int, ...]) -> Iterator[str]:
    if isinstance(expected, dict):
        if not isinstance(actual, dict):
            yield f"{_show_path(path)}: should be a mapping, is {_show(actual)}"
            return
        if not expected and not _skips(path) and not _is_empty(actual):
            yield f"{_show_path(path)}: should be empty, is {_show(actual)}"
        for key, value in expected.items():
            yield from _compare_key(value, actual, (*path, key))
    elif path == ("players",) and isinstance(expected, list) and isinstance(actual, list):
        if len(expected) > len(actual):
            yield f"players: the scenario has {len(expected)}, the game {len(actual)}"
        for index, (entry, actual_entry) in enumerate(zip(expected, actual, strict=False)):
            yield from _differences(entry, actual_entry, (*path, index))
    elif _are_recruits(path) and expected and isinstance(expected, list) and isinstance(actual, list):
        yield from _compare_recruits(expected, actual, path)
    elif isinstance(expected, list) and isinstance(actual, list):
        yield from _compare_lists(expected, actual, path)
    elif not same(expected, actual):
        yield f"{_show_path(path)}: should be {_show(expected)}, is {_show(actual)}"


def _compare_key(expected: Any, holder: Mapping[str, Any], path: tuple[str | int, ...]) -> Iterator[str]:
    """One key of a mapping, which may be left out."""
    key = path[-1]
    if key in holder:
        yield from _differences(expected, holder[str(key)], path)
        return
    known = _known_keys(path[:-1])
    if known is not None and key not in known:
        yield f"{_show_path(path)}: there is no such key; there are {', '.join(dict.fromkeys([*holder, *known]))}"
    elif isinstance(expected, dict):
        for inner, value in expected.items():
            yield from _compare_key(value, {}, (*path, inner))
    elif not _is_empty(expected):
        yield f"{_show_path(path)}: should be {_show(expected)}, is left out, so 0, empty, false or null"


def _compare_recruits(expected: list[Any], actual: list[Any], path: tuple[str | int, ...]) -> Iterator[str]:
    by_name = {entry["name"]: entry for entry in actual}
    for entry in expected:
        entry = {"name": entry} if isinstance(entry, str) else entry
        name = entry["name"]
        if name in by_name:
            yield from _differences(entry, by_name[name], (*path, name))
        else:
            yield f"{_show_path(path)}: should have {name}, has {', '.join(by_name) or 'none'}"


def _compare_lists(expected: list[Any], actual: list[Any], path: tuple[str | int, ...]) -> Iterator[str]:
    """Whole lists, in any order."""
    extra = list(actual)
    missing = []
    for item in expected:
        index = next((i for i, other in enumerate(extra) if same(item, other)), None)
        if index is None:
            missing.append(item)
        else:
            del extra[index]
    if missing or extra:
        parts = [f"missing: {_show(missing)}"] * bool(missing) + [f"too much: {_show(extra)}"] * bool(extra)
        yield f"{_show_path(path)}: should be {_show(expected)} in any order, is {_show(actual)}; {'; '.join(parts)}"


def same(one: Any, other: Any) -> bool:
    """Equality that tells 0 from false, and 1 from true."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _is_empty(value: Any) -> bool:
    """The defaults of keys that are left out, and mappings of nothing else."""
    if isinstance(value, dict):
        return all(map(_is_empty, value.values()))
    return value is None or value is False or value in (0, "", [])


def _skips(path: tuple[str | int, ...]) -> bool:
    """Whether an empty mapping here says nothing: `then` itself and the entries of players."""
    return not path or (len(path) == 2 and path[0] == "players")


def _are_recruits(path: tuple[str | int, ...]) -> bool:
    return len(path) == 3 and path[0] == "players" and path[2] == "recruits"


def _known_keys(path: tuple[str | int, ...]) -> tuple[str, ...] | None:
    """The keys that a mapping of a position may have; None where that is not fixed."""
    for pattern, keys in POSITION_KEYS.items():
        if len(pattern) == len(path) and all(want in ("*", part) for want, part in zip(pattern, path, strict=True)):
            return keys
    return None


def _show_path(path: Iterable[str | int]) -> str:
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.lstrip(".") or "the position"


def _show(value: Any) -> str:
    """As one would write it in YAML."""
    return yaml.safe_dump(value, default_flow_style=True, width=10_000, sort_keys=False).removesuffix("\n...\n").strip()


# ---------------------------------------------------------------------------------------------------------- the running


def run(scenario: Scenario, api: Any = None) -> None:
    """Run a scenario; ScenarioFailed explains what is not as it should be.

    `api` has what euphoria_env has: Game, Rules, actions.parse if moves are to be checked for typing errors, and events if its
    games have them.
    """
    if api is None:
        import euphoria_env
        from euphoria_env import actions, events

        api = SimpleNamespace(Game=euphoria_env.Game, Rules=euphoria_env.Rules, actions=actions, events=events)
    _check_moves(scenario, api)
    for seed in scenario.seeds:
        _Run(scenario, seed).run(api)


def _check_moves(scenario: Scenario, api: Any) -> None:
    """A mistyped move would never be legal, so `illegal` would say nothing."""
    actions = getattr(api, "actions", None)
    if actions is None:
        return
    for move in (*scenario.play, *scenario.legal, *scenario.illegal):
        try:
            actions.parse(move)
        except ValueError as error:
            raise BadScenario(f"{scenario.title}: {move!r} is no move: {error}") from None


def begun(scenario: Scenario, seed: int, api: Any) -> Any:
    """The game that a scenario begins with, before `load`."""
    if scenario.given is not None:
        return api.Game.from_dict({"seed": seed, **scenario.given})
    new = scenario.new or {}
    return api.Game(api.Rules(**new.get("rules", {})), seed=seed, **({"load": new["load"]} if "load" in new else {}))


class _Run:
    """A scenario with one seed."""

    def __init__(self, scenario: Scenario, seed: int) -> None:
        self.scenario = scenario
        self.seed = seed
        self.game: Any = None
        self.played: list[str] = []

    def run(self, api: Any) -> None:
        scenario = self.scenario
        self.game = self._attempt("new" if scenario.given is None else "given", lambda: begun(scenario, self.seed, api))
        if scenario.load:
            self._attempt("load", lambda: self.game.load(**scenario.load))
        before = len(self.game.events) if scenario.events and hasattr(api, "events") else 0
        for move in scenario.play:
            self._play(move)
        wrong = [*self._wrong_position(), *self._wrong_moves(), *self._wrong_outcome()]
        if scenario.events and hasattr(api, "events"):
            wrong += self._wrong_events(self.game.events[before:], api.events)
        if wrong:
            raise self._failure("not as it should be" + ("" if self.played else " at the start"), wrong)

    def _attempt(self, key: str, do: Callable[[], Any]) -> Any:
        """Do what one key of the scenario says; the game may refuse it."""
        try:
            return do()
        except ValueError as error:
            raise self._failure(f"`{key}` is refused", [str(error)]) from error
        except Exception as error:
            error.add_note(f"in `{key}` of the scenario {scenario_and_seed(self.scenario, self.seed)}")
            raise

    def _play(self, move: str) -> None:
        number = f"move {len(self.played) + 1} of {len(self.scenario.play)}, {move!r},"
        if move not in self.game.legal():
            raise self._failure(f"{number} is not legal")
        try:
            self.game.play(move)
        except Exception as error:
            error.add_note(f"in {number} of the scenario {scenario_and_seed(self.scenario, self.seed)}")
            raise
        self.played.append(move)

    def _wrong_position(self) -> list[str]:
        return differences(self.scenario.then, self.game.to_dict()) if self.scenario.then else []

    def _wrong_moves(self) -> Iterator[str]:
        legal = set(self.game.legal())
        yield from (f"should be legal: {move}" for move in self.scenario.legal if move not in legal)
        yield from (f"should be illegal: {move}" for move in self.scenario.illegal if move in legal)

    def _wrong_outcome(self) -> Iterator[str]:
        for key, expected in self.scenario.outcome.items():
            actual = getattr(self.game, key)
            actual = actual if actual is None else _plain(actual)
            if not same(expected, actual):
                yield f"{key}: should be {_show(expected)}, is {_show(actual)}"

    def _wrong_events(self, happened: list[Any], events: Any) -> list[str]:
        try:
            missing = scenario_events.missing(self.scenario.events, happened, events)
        except ValueError as error:
            raise BadScenario(f"{self.scenario.title}: `events`: {error}") from None
        told = [f"happened: {_show(event)}" for event in scenario_events.described(happened, events)]
        return [f"should have happened, in this order: {_show(missing)}", *told] if missing else []

    def _failure(self, headline: str, details: Iterable[str] = ()) -> ScenarioFailed:
        lines = [f"{scenario_and_seed(self.scenario, self.seed)}: {headline}"]
        lines += [f"    {line}" for detail in details for line in detail.splitlines()]
        if self.game is not None:
            lines += self._situation()
        return ScenarioFailed("\n".join(lines))

    def _situation(self) -> list[str]:
        """The moves played, and the present decision."""
        game = self.game
        lines = ["  played: " + (", ".join(self.played) or "nothing yet")]
        legal = list(game.legal())
        if legal:
            lines += [f"  player {game.player} decides: {game.prompt}", f"  legal ({len(legal)}):"]
            lines += [f"    {move}" for move in legal]
        else:
            lines += [f"  nothing is legal: over {game.over}, truncated {game.truncated}"]
        outcomes = [f"{kind} {value}" for kind, value in getattr(game, "outcomes", ())]
        if outcomes:
            lines += ["  drawn: " + ("..., " if len(outcomes) > 12 else "") + ", ".join(outcomes[-12:])]
        return lines


def scenario_and_seed(scenario: Scenario, seed: int) -> str:
    """The failure, with the seed if it was the runner's choice."""
    return scenario.title + (f" with seed {seed}" if len(scenario.seeds) > 1 else "")


def _plain(value: Any) -> Any:
    """Numpy's numbers, arrays and tuples as plain values and lists."""
    value = value.tolist() if hasattr(value, "tolist") else value
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def main(arguments: Sequence[str]) -> int:
    """Run files by hand."""
    failed = 0
    found = read_files(map(Path, arguments)) if arguments else read_folder()
    for _, item in found:
        try:
            if isinstance(item, BadScenario):
                raise item
            run(item)
        except (BadScenario, ScenarioFailed) as error:
            failed += 1
            print(f"{error}\n")
    print(f"{len(found) - failed} passed, {failed} failed")
    return int(failed > 0 or not found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
