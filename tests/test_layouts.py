"""Files of another version of the environment: networks are converted by the names of entries, values, moves and columns."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("safetensors")

from euphoria_agents import load
from euphoria_agents.network import layouts
from euphoria_agents.network.checkpoint import CHECKPOINT_FORMAT, read_checkpoint, read_tensors, write_tensors
from euphoria_agents.network.compiled_layers import SETTLED
from euphoria_agents.network.features import make_features
from euphoria_agents.players.ppo import PPO, SHIPPED
from euphoria_agents.players.search.evaluation import describe_positions
from euphoria_env import Batch, Game, Rules, actions, afterstates, observations
from euphoria_env.board import MAX_PLAYERS
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.cards.tiles import TILES
from euphoria_env.engine.features import NUM_FEATURES

HEADER, TENSORS = read_tensors(SHIPPED, CHECKPOINT_FORMAT)
TENSORS = {name: one.astype(np.float32) if one.dtype == np.float16 else one for name, one in TENSORS.items()}
NAMES = layouts.description()["names"]
CARD, TILE = "nick_the_understudy", "spa_of_fleeting_pleasure"  # which the other version does not have
RULES = [
    Rules(num_players=n, recruits=[one for one in RECRUIT_NAMES if one != CARD], markets=[one for one in TILES if one != TILE])
    for n in (2, 4)
]
Arrays = dict[str, np.ndarray]


def other_names() -> dict[str, Any]:
    """The names of another version: everything in another order, two cards, a field, a move, a column and a fact renamed."""

    def mixed(text: str) -> str:
        return ", ".join(text.replace(CARD, "somebody").replace(TILE, "some_tile").split(", ")[::-1])

    fields = {name.replace("offers", "bids"): mixed(entries) for name, entries in reversed(NAMES["fields"].items())}
    values = {name: mixed(one) for name, one in NAMES["values"].items()}
    rest = {name: mixed(NAMES[name]) for name in ("actions", "features", "facts")}
    renamed = {"actions": ("pay one", "pay 1"), "features": ("at_risk", "in_danger"), "facts": ("chance", "luck")}
    rest |= {name: rest[name].replace(*renamed[name]) for name in rest}
    return {"fields": fields, "values": values, **rest}


def saved(path: Path, tensors: Arrays = TENSORS, **header: Any) -> Path:
    """A file of the network that ships, as if it had been trained with other names."""
    facts = {key: HEADER[key] for key in ("network", "training")} | {"layout": "other", "names": other_names()} | header
    return write_tensors(path, CHECKPOINT_FORMAT, tensors, facts)


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> PPO:
    path = saved(tmp_path_factory.mktemp("other") / "a.safetensors")
    with pytest.warns(UserWarning, match=r"trained with another version .*; new \d+: pay one, .*; gone \d+: .* pay 1, "):
        return load(f"ppo:{path}")  # type: ignore[return-value]


@functools.cache
def positions() -> list[Game]:
    agent, found = PPO.of(TENSORS), list[Game]()
    for k, rules in enumerate(RULES):
        batch, rng = Batch(4, rules, seed=k), np.random.default_rng(k)
        for turn in range(160):
            batch.step(agent.act_batch(batch.observation, batch.mask, rng))
            found += [batch.game(turn % 4)] if turn % 8 == 0 else []
    return found


# ------------------------------------------------------------------------- the same network by its plain formula, by name


def arranged(row: np.ndarray, here: list[str], there: list[str]) -> np.ndarray:
    """Numbers that stand for names `here`, as they stand for names `there`; 0 for those that are not here."""
    by_name = dict(zip(here, row.tolist(), strict=True))
    return np.array([by_name.get(name, 0) for name in there], np.float64)


def seen_there(seen: np.ndarray) -> np.ndarray:
    """An observation as the other version has it."""
    names, by_name = other_names(), dict[str, float]()
    for field in observations.table():
        for entry, value in zip(field.entries or range(field.size), seen[field.slice].tolist(), strict=True):
            if field.values and value:
                value = names["values"][field.name].split(", ").index(field.values[value - 1]) + 1
            by_name[f"{field.name} {entry}"] = value
    return np.array([by_name.get(f"{field} {one}", 0) for field, text in names["fields"].items() for one in text.split(", ")])


def layers(x: np.ndarray, part: str, last: bool) -> np.ndarray:
    """Applies the layers of a part; no ReLU follows the last one of a part other than the trunk."""
    number = sum(name.startswith(f"{part}.") for name in TENSORS) // 2
    for k in range(number):
        x = TENSORS[f"{part}.{k}.weight"].astype(np.float64) @ x + TENSORS[f"{part}.{k}.bias"]
        x = x if last and k == number - 1 else np.maximum(x, 0)
    return x


def normal(logits: np.ndarray) -> np.ndarray:
    return logits - logits.max() - np.log(np.exp(logits - logits.max()).sum())


def features_there(game: Game) -> np.ndarray:
    source, offset, scale = (TENSORS[f"features.{name}"] for name in ("source", "offset", "scale"))
    return np.clip((seen_there(game.observation(game.player))[source] - offset) * scale, -1, 1)


def logs_there(game: Game) -> tuple[np.ndarray, np.ndarray]:
    """The log-probabilities of the legal moves without the afterstate head, and with it."""
    moves, names = [actions.NAMES[action] for action in game.legal_actions()], other_names()
    last = layers(features_there(game), "trunk", last=False)
    alone = normal(arranged(layers(last, "policy", last=True), names["actions"].split(", "), moves))
    if alone.max() >= np.log(SETTLED):
        return alone, alone
    features, facts, known = (names[key].split(", ") for key in ("features", "facts", "actions"))
    columns = [*(f"player_{k}.{name}" for k in range(MAX_PLAYERS) for name in features), *facts]
    added = []
    for move, row in zip(moves, game.afterstates(), strict=True):
        x = np.concatenate([arranged(row, list(afterstates.NAMES), columns), [one == move for one in known], last])
        added.append(layers(x, "afterstates", last=True)[0])
    return alone, normal(alone + np.array(added))


def wins_there(game: Game) -> np.ndarray:
    described = np.empty((1, MAX_PLAYERS * NUM_FEATURES), np.float32)
    describe_positions(game.states, np.array([game.player]), described)
    here, there = [name for name, _ in afterstates.FEATURES], other_names()["features"].split(", ")
    seats = [arranged(row, here, there) for row in described.reshape(MAX_PLAYERS, NUM_FEATURES)]
    logits = layers(np.concatenate([features_there(game), *seats]), "outlook", last=True)[: game.rules.num_players]
    return np.roll(np.exp(normal(logits)), game.player)


def test_a_network_of_another_version_answers_as_it_did(converted: PPO) -> None:
    """Wherever the players see, and can do, what that version knows."""
    corrected = 0
    for game in positions():
        legal = game.legal_actions()
        if actions.parse("pay one") in legal:
            continue
        alone, whole = logs_there(game)
        found = converted.log_chances(game.observation(game.player), game.mask())[0, legal]
        assert found == pytest.approx(alone, abs=2e-3)
        assert converted.log_chances_in(game.states)[0, legal] == pytest.approx(whole, abs=2e-3)
        corrected += np.abs(alone - whole).max() > 0.1
        seats = converted.explain(game.observation(game.player), game.mask(), np.random.default_rng(0), game)["seats"]
        assert seats == pytest.approx(wins_there(game).tolist(), abs=1e-3)
    assert corrected > 3


def test_what_is_new_has_no_weight(converted: PPO) -> None:
    policy, new = converted.policy, actions.parse(f"use {CARD}")
    assert not policy.head[new].any() and policy.bias[new] == 0 and not (policy.afterstates.changes == 0).all()
    entry = observations.start_of("own_recruits") + RECRUIT_NAMES.index(CARD)
    begin, end = policy.begins[entry : entry + 2]
    assert end > begin and not policy.rows[begin:end].any()  # training can change it


def older(path: Path) -> tuple[Path, Arrays]:
    """A small network of a version without the two cards, drawn at random."""
    rng, fresh = np.random.default_rng(0), make_features()
    names = json.loads(json.dumps(NAMES))
    without, values = (
        {name: ", ".join(one for one in text.split(", ") if one not in (CARD, TILE)) for name, text in names[key].items()}
        for key in ("fields", "values")
    )
    moves = [name for name in actions.NAMES if not name.endswith((CARD, TILE))]
    there = [f"{field} {one}" for field, text in without.items() for one in text.split(", ")]
    here = [f"{field} {one}" for field, text in names["fields"].items() for one in text.split(", ")]
    tile = [here[k].startswith("tile ") for k in fresh.source]
    kept = [here[k] in there for k in fresh.source] & ~(np.array(tile) & (fresh.offset == len(TILES) - 0.5))
    tensors = {
        "features.source": np.array([there.index(here[k]) for k in fresh.source[kept]], np.int32),
        "features.offset": fresh.offset[kept], "features.scale": fresh.scale[kept],
    }  # fmt: skip
    shapes = {"trunk.0": (8, kept.sum()), "policy.0": (len(moves), 8), "value.0": (1, 8)}
    for name, (size_out, size_in) in shapes.items():
        tensors[f"{name}.weight"] = rng.normal(size=(size_out, size_in)).astype(np.float32)
        tensors[f"{name}.bias"] = rng.normal(size=size_out).astype(np.float32)
    return saved(path, tensors, names=names | {"fields": without, "values": values, "actions": ", ".join(moves)}), tensors


def test_a_player_without_the_newest_cards_can_be_trained_further(tmp_path: Path) -> None:
    """Its features are then those of a new network, which the training demands."""
    path, tensors = older(tmp_path / "older.safetensors")
    with pytest.warns(UserWarning, match=f"new .*use {CARD}, .*choose {TILE}"):
        found = read_checkpoint(path)[1]
    for name, one in make_features().tensors().items():
        assert np.array_equal(found[name], one)
    moves = [actions.NAMES[k] for k in np.flatnonzero((found["policy.0.weight"] != 0).any(1))]
    assert len(moves) == len(tensors["policy.0.bias"]) and not any(move.endswith((CARD, TILE)) for move in moves)


def test_files_without_names_have_the_names_that_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that ship say nothing but a hash; in a later version, which has another one, they are converted."""
    monkeypatch.setattr(layouts, "_NAMED", "that of no version")
    with pytest.warns(UserWarning, match="only the order differs"):  # as long as there is no later version
        found = read_checkpoint(SHIPPED)[1]
    assert all(np.array_equal(found[name], one) for name, one in TENSORS.items())


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"names": None}, "made with another version of the environment, and does not name its layout"),
        ({"names": NAMES | {"actions": 3}}, "does not name its layout: names.actions"),
        ({"names": NAMES | {"actions": "end, skip"}}, "the tensors do not fit the layout that the file names"),
        ({"names": NAMES | {"fields": {"turn": "0, 1"}}}, "the tensors do not fit the layout that the file names"),
        ({"names": NAMES | {"facts": "wins"}}, "the tensors do not fit the layout that the file names"),
    ],
)
def test_files_that_do_not_say_what_they_mean_are_refused(tmp_path: Path, header: dict[str, Any], message: str) -> None:
    path = saved(tmp_path / "a.safetensors", **header)
    with pytest.raises(ValueError, match=f"^{path}: .*{message}"):
        read_checkpoint(path)
