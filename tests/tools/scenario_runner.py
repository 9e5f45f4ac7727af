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
``then``               what ``game.describe()`` must say afterwards, see below
``legal``/``illegal``  moves that must (not) be in ``game.legal()`` afterwards
``over``, ``truncated``, ``winner``, ``ranking``  what the game must say of itself afterwards
``events``             what must have happened since the first move, see below
=====================  =============================================================================================

``then`` is a subset of ``describe()``: keys that it leaves out are not looked at. ``players`` is compared entry by
entry, as far as it goes (``{}`` skips one); recruits by name (there may be others; an entry may be just the name);
every other list as a whole, in any order. Keys that ``describe`` leaves out are 0, empty, false or null; ``{}`` and ``[]``
elsewhere say that there is nothing, or nothing but such values.

``events`` is a list of events in the words of the table in docs/events.md, such as ``{kind: worker_lost, player: 1, face: 6,
sum: 17}``. All of them must have happened, in this order; others may lie between them. A field that is left out may be
anything; null means nothing, or nobody. Where ``a`` is a player, it is called ``other``. Only the engine has events: the
referee does not look at the key.

A scenario that names no seed must hold for every seed: it is run with several.

``python -m tests.tools.scenario_runner FILE.yaml ...`` runs files by hand.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import yaml

import euphoria_env
from euphoria_env import actions, events
from tests.referee.tables import ARTIFACTS, FACTIONS, GOODS, MARKETS, SPACES, TERRITORY
from tests.tools import scenario_events

FOLDER = Path(__file__).parent.parent / "scenarios"
SEEDS = (0, 1, 2)  # where the scenario names none

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
OUTCOME_KEYS = ("over", "truncated", "winner", "ranking")
CHECKS = ("play", "then", "legal", "illegal", "events", *OUTCOME_KEYS)
SCENARIO_KEYS = ("id", "rule", "card", "given", "new", "load", *CHECKS)
NEW_KEYS = ("rules", "seed", "load")


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
    cards: tuple[str, ...]
    where: str
    start: dict[str, Any]  # `given` or `new`
    given: dict[str, Any] | None
    load: dict[str, list[Any]]
    then: dict[str, Any]
    play: tuple[str, ...]
    legal: tuple[str, ...]
    illegal: tuple[str, ...]
    events: tuple[dict[str, Any], ...]
    outcome: dict[str, Any]

    @property
    def title(self) -> str:
        """The name of a scenario and its place."""
        return f"{self.id} ({', '.join(self.rules + self.cards)}) in {self.where}"

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds to run it with."""
        return (self.start["seed"],) if "seed" in self.start else SEEDS


def parse(document: dict[str, Any], where: str = "") -> Scenario:
    """Makes a scenario of a YAML document; BadScenario says what is wrong with it."""
    place = f"{document.get('id')} in {where}"
    for mapping, known in ((document, SCENARIO_KEYS), (document.get("new") or {}, NEW_KEYS)):
        if unknown := [key for key in mapping if key not in known]:
            raise BadScenario(f"{place}: unknown key {unknown[0]!r}; there are {', '.join(known)}")
    given, new = document.get("given"), document.get("new")
    if (given is None) == (new is None):
        raise BadScenario(f"{place}: exactly one of `given` and `new` is needed")
    if not document.get("id") or not document.get("rule") or not any(key in document for key in CHECKS):
        raise BadScenario(f"{place}: `id`, `rule` and something to check are needed")
    lists = {"rules": document["rule"], "cards": document.get("card", [])}
    lists |= {key: document.get(key, []) for key in ("play", "legal", "illegal", "events")}
    return Scenario(
        id=document["id"],
        where=where,
        start=given if new is None else new,
        given=given,
        outcome={key: document[key] for key in OUTCOME_KEYS if key in document},
        **{key: document.get(key, {}) for key in ("load", "then")},
        **{name: (value,) if isinstance(value, str) else tuple(value) for name, value in lists.items()},
    )


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


def read_text(text: str, where: str = "") -> Iterator[Scenario]:
    """The scenarios of a YAML text; BadScenario says what is wrong with one."""
    try:
        documents = yaml.load(text, _Loader)
    except yaml.YAMLError as error:
        raise BadScenario(f"{where} is not YAML: {error}") from None
    if not isinstance(documents, list) or not all(isinstance(document, dict) for document in documents):
        raise BadScenario(f"{where}: a file is a list of scenarios (`- id: ...`)")
    return (parse(document, where) for document in documents)


def read_files(files: Iterable[Path]) -> list[tuple[str, Scenario]]:
    """All scenarios of some files with their ids, which must be unique."""
    found: dict[str, Scenario] = {}
    for file in files:
        for scenario in read_text(file.read_text(encoding="utf-8"), file.name):
            if scenario.id in found:
                raise BadScenario(f"{scenario.title}: the id is taken by {found[scenario.id].title}")
            found[scenario.id] = scenario
    return [*found.items()]


def read_folder(folder: Path = FOLDER) -> list[tuple[str, Scenario]]:
    """All scenarios of a folder and the folders in it."""
    return read_files(sorted(folder.rglob("*.yaml")))


# -------------------------------------------------------------------------------------------------- comparing positions


def differences(expected: Mapping[str, Any], position: Mapping[str, Any]) -> list[str]:
    """The places where a position is not as expected (the subset rules of the module): a line each."""
    return list(_differences(_keyed(expected), _keyed(position), ()))


def _keyed(position: Mapping[str, Any]) -> dict[str, Any]:
    """A position with players by number and recruits by name."""
    players = {}
    for k, player in enumerate(position.get("players", [])):
        recruits = [{"name": one} if isinstance(one, str) else one for one in player.get("recruits", [])]
        players[k] = player | ({"recruits": {one["name"]: one for one in recruits}} if "recruits" in player else {})
    return {**position, **({"players": players} if players else {})}


def _differences(expected: Any, actual: Any, path: tuple[str | int, ...]) -> Iterator[str]:
    if isinstance(expected, dict):
        if not isinstance(actual, dict):
            yield f"{_show_path(path)}: should be a mapping, is {_show(actual)}"
            return
        if not expected and not _skips(path) and not _is_empty(actual):
            yield f"{_show_path(path)}: should be empty, is {_show(actual)}"
        for key, value in expected.items():
            yield from _compare_key(value, actual, (*path, key))
    elif isinstance(expected, list) and isinstance(actual, list):
        if sorted(map(_as_json, expected)) != sorted(map(_as_json, actual)):
            yield f"{_show_path(path)}: should be {_show(expected)} in any order, is {_show(actual)}"
    elif not same(expected, actual):
        yield f"{_show_path(path)}: should be {_show(expected)}, is {_show(actual)}"


def _compare_key(expected: Any, holder: Mapping[Any, Any], path: tuple[str | int, ...]) -> Iterator[str]:
    """One key of a mapping, which may be left out."""
    key = path[-1]
    if key in holder:
        yield from _differences(expected, holder[key], path)
        return
    known = _known_keys(path[:-1])
    if known is not None and key not in known:
        yield f"{_show_path(path)}: there is no such key; there are {', '.join(dict.fromkeys([*holder, *known]))}"
    elif isinstance(expected, dict):
        for inner, value in expected.items():
            yield from _compare_key(value, {}, (*path, inner))
    elif not _is_empty(expected):
        yield f"{_show_path(path)}: should be {_show(expected)}, is left out, so 0, empty, false or null"


def same(one: Any, other: Any) -> bool:
    """Equality that tells 0 from false, and 1 from true."""
    return _as_json(one) == _as_json(other)


def _as_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _is_empty(value: Any) -> bool:
    """The defaults of keys that are left out, and mappings of nothing else."""
    if isinstance(value, dict):
        return all(map(_is_empty, value.values()))
    return value is None or value is False or value in (0, "", [])


def _skips(path: tuple[str | int, ...]) -> bool:
    """Whether an empty mapping here says nothing: `then` itself and the entries of players."""
    return not path or (len(path) == 2 and path[0] == "players")


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
    """Runs a scenario; ScenarioFailed explains what is not as it should be.

    `api` has what euphoria_env has: Game, Rules, actions.parse if moves are to be checked for typing errors, and events if its
    games have them.
    """
    if api is None:
        api = SimpleNamespace(Game=euphoria_env.Game, Rules=euphoria_env.Rules, actions=actions, events=events)
    for move in (*scenario.play, *scenario.legal, *scenario.illegal) if hasattr(api, "actions") else ():
        try:
            api.actions.parse(move)  # a mistyped move would never be legal, so `illegal` would say nothing
        except ValueError as error:
            raise BadScenario(f"{scenario.title}: {move!r} is no move: {error}") from None
    for seed in scenario.seeds:
        game = None
        try:
            game = begun(scenario, seed, api)
            wrong = _faults(scenario, game, api)
        except ValueError as error:
            wrong = [f"refused: {error}"]
        except Exception as error:
            error.add_note(f"in {scenario.title} with seed {seed}")
            raise
        if wrong:
            raise ScenarioFailed("\n    ".join([f"{scenario.title} with seed {seed}:", *wrong, *_situation(game)]))


def begun(scenario: Scenario, seed: int, api: Any) -> Any:
    """The game that a scenario begins with, before `load`."""
    if scenario.given is not None:
        return api.Game.from_dict({"seed": seed, **scenario.given})
    return api.Game(api.Rules(**scenario.start.get("rules", {})), seed=seed, load=scenario.start.get("load"))


def _faults(scenario: Scenario, game: Any, api: Any) -> list[str]:
    """Plays a scenario in a game that has begun; returns what is not as it says."""
    game.load(**scenario.load)
    has_events = scenario.events and hasattr(api, "events")
    before = len(game.events) if has_events else 0
    for number, move in enumerate(scenario.play, 1):
        if move not in game.legal():
            return [f"move {number}, {move!r}, is not legal"]
        game.play(move)
    legal = set(game.legal())
    wrong = differences(scenario.then, game.describe())
    wrong += [f"should be legal: {move}" for move in scenario.legal if move not in legal]
    wrong += [f"should be illegal: {move}" for move in scenario.illegal if move in legal]
    for key, expected in scenario.outcome.items():
        if not same(expected, actual := getattr(game, key)):
            wrong.append(f"{key}: should be {_show(expected)}, is {actual}")
    if has_events:
        try:
            missing = scenario_events.missing(scenario.events, game.events[before:], api.events)
        except ValueError as error:
            raise BadScenario(f"{scenario.title}: `events`: {error}") from None
        if missing:
            wrong.append(f"should have happened, in this order: {_show(missing)}")
            wrong += [f"happened: {_show(event)}" for event in scenario_events.described(game.events[before:], api.events)]
    return wrong


def _situation(game: Any) -> list[str]:
    """The present decision, and what was drawn."""
    if game is None:
        return []
    drawn = ", ".join(f"{kind} {value}" for kind, value in game.outcomes[-12:])
    return [
        f"player {game.player} decides: {game.prompt}",
        f"legal: {', '.join(game.legal()) or 'nothing'}",
        f"drawn last: {drawn}",
    ]


def main(arguments: Sequence[str]) -> int:
    """Runs files by hand."""
    found, failed = read_files(map(Path, arguments)) if arguments else read_folder(), 0
    for _, scenario in found:
        try:
            run(scenario)
        except (BadScenario, ScenarioFailed) as error:
            failed += 1
            print(f"{error}\n")
    print(f"{len(found) - failed} passed, {failed} failed")
    return int(failed > 0 or not found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
