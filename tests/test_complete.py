"""The engine knows whatever a table declares: enums, endpoints, fields of the observation, options; ids do not change."""

from __future__ import annotations

import ast
import hashlib
import json
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.applications import Starlette

from euphoria_agents.play.web import permissions
from euphoria_agents.play.web.app import make_app
from euphoria_agents.play.web.files import PAGES
from euphoria_agents.play.web.store import Store
from euphoria_env import Batch, Game, Rules, actions, observations
from euphoria_env.cards.recruits import NUM_RECRUITS
from euphoria_env.cards.tiles import NUM_TILES
from euphoria_env.cards.vocabulary import Effect, Price, When
from euphoria_env.decisions import Decision, Verb
from euphoria_env.engine.rewards import FIRST_TERM, NAMED, Quantity, Reward
from euphoria_env.engine.state import Operation
from euphoria_env.envs.aec import raw_env
from euphoria_env.event_kinds import EventKind
from euphoria_env.rewards import read_reward
from euphoria_env.rules import OPTIONS
from tests.tools.playing import all_rules, other_value, prefer, random_move
from tests.tools.positions import any_position

ROOT = Path(__file__).parent.parent
ENGINE = {path.name: ast.parse(path.read_text()) for path in (ROOT / "euphoria_env" / "engine").glob("*.py")}


def members(node: ast.AST, kind: type[IntEnum]) -> set[str]:
    """The members of an enum that are named below a node."""
    return {
        found.attr
        for found in ast.walk(node)
        if isinstance(found, ast.Attribute) and isinstance(found.value, ast.Name) and found.value.id == kind.__name__
    }


# Each of these functions decides by all members of an enum; two of them by what they call as well.
CHAINS: tuple[tuple[type[IntEnum], tuple[str, ...]], ...] = (
    (When, ("holds",)),
    (Price, ("affords",)),
    (Price, ("pay_price",)),
    (Effect, ("apply_effect", "apply_special_effect")),
    (Operation, ("carry_out", "carry_out_rare", "carry_out_setup")),
    (Decision, ("find_legal", "allow_listed")),
    (Verb, ("finish_series",)),
    (Reward, ("fill_named",)),
    (EventKind, ()),  # anywhere
)


@pytest.mark.parametrize(
    ("kind", "functions"), CHAINS, ids=lambda value: "".join(value[:1]) if isinstance(value, tuple) else value.__name__
)
def test_a_chain_of_branches_names_every_member(kind: type[IntEnum], functions: tuple[str, ...]) -> None:
    bodies = [node for tree in ENGINE.values() for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    named = set().union(*(members(node, kind) for node in bodies if not functions or node.name in functions))
    none = {"NOTHING"} if kind in (Decision, EventKind) else set()
    missing = [member.name for member in kind if member.name not in named | none]
    assert not missing, f"{functions} has no branch for {kind.__name__}.{missing[0]}"


# ---------------------------------------------------------------------------------------------------------------- endpoints

# The endpoints for anybody, with or without tokens; all others need a right of their own.
OPEN = {
    "GET /api/facts",
    "GET /api/demo",  # a game of agents alone
    "GET /api/pictures",
    "GET /api/games",
    "POST /api/games",
    "POST /api/games/{game}/sit",  # needs the token
    "POST /api/studies",  # of a game that has ended
    "GET /api/studies/{study}",
    "GET /api/studies/{study}/at/{ply:int}",
    "POST /api/studies/{study}/at/{ply:int}",
    "POST /api/studies/{study}/at/{ply:int}/playouts",
    "GET /api/studies/{study}/at/{ply:int}/position",
    "GET /api/studies/{study}/page",
    "GET /api/studies/{study}/analyses",
    "POST /api/studies/{study}/analyses",
    "DELETE /api/studies/{study}/analyses",  # which can go on afterwards
}
# Endpoints that always depend on a token; the others give strangers what is no secret, without a right to change anything.
RIGHTS = {"OWNER", "MEMBER", "SEATED", "HELPER"}
READING = {"VIEWER", "ENDED"}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Starlette]:
    with closing(Store(tmp_path_factory.mktemp("endpoints") / "games.sqlite")) as store:
        yield make_app(store)


def test_every_endpoint_has_a_permission(app: Starlette) -> None:
    """One that anybody may use is named here; `tests/test_serve.py` asks each as a stranger."""
    needs = {who: name for name, who in vars(permissions).items() if isinstance(who, permissions.Permission)}
    loose = {
        f"{row.method} {row.path}"
        for row in app.state.endpoints
        if needs[row.permission] not in (RIGHTS | READING if row.method == "GET" else RIGHTS)
    }
    assert not (added := loose - OPEN), f"{', '.join(sorted(added))}: needs a right, or stands in OPEN"
    assert not (gone := OPEN - loose), f"{', '.join(sorted(gone))}: is not open to anybody"


def test_what_names_a_seat_is_for_that_seat(app: Starlette) -> None:
    """A player may not decide for, or see as, another seat. In a study, of a game that has ended, everybody may."""
    seats = {"VIEWER", "SEATED", "HELPER"}
    rows = [row for row in app.state.endpoints if "{game}" in row.path and "seat" in row.body.__struct_fields__]
    wrong = [f"{row.method} {row.path}" for row in rows if row.permission not in {getattr(permissions, name) for name in seats}]
    assert rows and not wrong, f"{', '.join(wrong)}: names a seat, and lets others of the game do it"


def test_nothing_is_served_beside_the_table(app: Starlette) -> None:
    served = {f"{method} {route.path}" for route in app.routes for method in getattr(route, "methods", ["?"]) if method != "HEAD"}
    rows = {f"{row.method} {row.path}" for row in app.state.endpoints}
    beside = {one for one in served - rows if not one.startswith("GET /static/")} - {f"GET {path}" for path in PAGES}
    assert rows <= served and not beside, f"{', '.join(sorted(beside))}: has no row in web/app.py"


def borrows(node: ast.AST) -> list[str]:
    """The names of all objects of which a part is borrowed below a node."""
    calls = (found for found in ast.walk(node) if isinstance(found, ast.Call))
    lent = [call.args[0] for call in calls if ast.unparse(call.func).split(".")[-1] in ("borrowed", "pointer_to")]
    return [name.id for argument in lent for name in ast.walk(argument) if isinstance(name, ast.Name)]


def borrowed_wrongly(tree: ast.Module) -> list[str]:
    """The names a module borrows, but for a function's parameters, which their owners keep; of these only `x = borrowed(x)`."""
    wrong = Counter(borrows(tree))
    for function in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
        assigned = [node for node in ast.walk(function) if isinstance(node, ast.Assign)]
        lent = {name for node in assigned for name in ast.walk(node.targets[0]) if ast.unparse(name) in borrows(node.value)}
        stored = (node for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
        allowed = {argument.arg for argument in function.args.args} - {name.id for name in stored if name not in lent}
        wrong -= Counter(name for name in borrows(function) if name in allowed)
    return list(wrong.elements())


def test_only_parameters_are_borrowed() -> None:
    """An object that a function makes is freed once it is named for the last time, even if it is borrowed."""
    files = (ROOT / "agents" / "euphoria_agents").rglob("*.py")
    kernels = {path.name: ast.parse(text) for path in files if "@jit" in (text := path.read_text())}
    for trees in (ENGINE, kernels):
        assert sum(len(borrows(tree)) for tree in trees.values()) > 5
        assert {name: wrong for name, tree in trees.items() if (wrong := borrowed_wrongly(tree))} == {}


def test_a_wrong_value_is_an_error_compiled() -> None:
    from euphoria_env.engine import batch_kernels, loop
    from euphoria_env.engine.tape import empty_tape

    rows, tape = Game(seed=1).states.copy(), empty_tape()
    rows["ask"], rows["depth"], rows["stack"][0, 0] = Decision.NOTHING, 1, [len(Effect) + len(Operation), 0, 0, 0]
    with pytest.raises(ValueError, match="no such operation"):
        loop.resume(rows, 0, tape)
    rows = Game(seed=1).states.copy()
    action, mask = int(Game(seed=1).legal_actions()[0]), np.zeros(actions.NUM_ACTIONS, np.int8)
    for place, wrong, kind in (NAMED, len(Reward), "reward"), (FIRST_TERM, len(Quantity), "quantity"):
        reward = read_reward({"stars": 1.0})
        reward[place] = wrong
        with pytest.raises(ValueError, match=f"no such {kind}"):
            batch_kernels.play(rows.copy(), 0, action, tape, reward, np.zeros(4, np.float32), mask, mask[:0])


# ------------------------------------------------------------------------------------------------------------ observations


UNREACHED = {"new_worker"}  # nothing is asked between the tank and the roll of its worker


@pytest.mark.slow
def test_every_field_of_the_observation_is_written() -> None:
    """In games of all kinds each field leaves its lowest value, for some seat, and none its range."""
    rng, fields = random.Random(1), observations.table()
    low, high = (
        np.repeat([getattr(field, end) for field in fields], [field.size for field in fields]) for end in ("low", "high")
    )
    low[observations.start_of("num_players")] = 0  # 2 players are written too
    written = np.zeros(observations.OBS_SIZE, np.bool_)
    games = [Game(rules, seed=k) for k, rules in enumerate(all_rules())]
    games += [Game.from_dict({**any_position(rng), "seed": k}) for k in range(1500)]
    for game in games:
        for number in range(160 if game.turn == 0 else 12):
            if not game.legal():
                break
            for seat in {game.player, rng.randrange(game.rules.num_players)}:
                seen = game.observation(seat)
                assert (seen <= high).all() and (seen >= np.minimum(low, 0)).all()
                written |= seen > low
            game.play((prefer if number % 2 else random_move)(game, rng))
    names = {field.name.rpartition(".")[2] for field in fields}  # of one kind, whatever the player
    assert names - {field.name.rpartition(".")[2] for field in fields if written[field.slice].any()} == UNREACHED


# ----------------------------------------------------------------------------------------------------------------- options


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_goes_everywhere(name: str) -> None:
    """With a value that is not its default: state, position, record, observation, environment and batch."""
    option, value = OPTIONS[name], other_value(name)
    rules = Rules(**{name: value})
    assert rules != Rules() and Rules.from_dict(rules.to_dict()) == rules
    game = Game(rules, seed=3)
    assert game.rules == rules == Game.from_dict(game.to_dict()).rules == Game.from_record(game.to_record()).rules
    assert Batch(1, rules, seed=1).game(0).rules == rules == raw_env(**{name: value}).rules
    shown = game.observation(0)[observations.start_of(name) :][: option.size].tolist()
    assert shown == option.show(getattr(rules, name)) != option.show(getattr(Rules(), name))


def test_rules_take_numbers_of_numpy() -> None:
    rules = Rules(num_players=np.int64(2), trading=np.bool_(True), max_turns=np.int32(100), stars_to_win=np.int8(3))
    assert rules == Rules(num_players=2, trading=True, max_turns=100, stars_to_win=3)
    assert [type(value) for value in (rules.num_players, rules.trading, rules.max_turns)] == [int, bool, int]
    json.dumps(rules.to_dict())
    for wrong in (np.float64(2), np.bool_(True), np.array([2]), True):
        with pytest.raises(ValueError, match=r"rules\.num_players must"):
            Rules(num_players=wrong)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------------------------ numbers

PINNED = {"euphoria_v0": {"actions": (664, "304552189a31"), "observations": (1214, "c86c2f87971f"), "cards": (48, 18)}}


def digest(rows: Any) -> str:
    return hashlib.blake2b(repr(rows).encode(), digest_size=6).hexdigest()


def test_ids_change_only_with_the_version_of_the_environment() -> None:
    """Checkpoints, records and other people's programs depend on them; CONTRIBUTING.md says what to do."""
    fields = [(field.name, field.start, field.size, field.range) for field in observations.table()]
    found = {
        "actions": (actions.NUM_ACTIONS, digest(actions.NAMES)),
        "observations": (observations.OBS_SIZE, digest(fields)),
        "cards": (NUM_RECRUITS, NUM_TILES),
    }
    version = str(raw_env.metadata["name"])
    assert PINNED.get(version) == found, (
        f"ids or layout changed under the name {version}: give the environment the next version (envs/aec.py, envs/__init__.py), "
        "write what is found here into PINNED, and run `make docs` and scripts/regenerate_golden.py"
    )
