"""Players of older layouts: converted, they see what they saw; other files are refused in a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("safetensors")

from safetensors.numpy import save_file

from euphoria_agents.__main__ import main
from euphoria_agents.network.checkpoint import ADDED_SINCE, convert, entries_kept, read_checkpoint
from euphoria_agents.players.ppo import PPO
from euphoria_env import Game, Rules, actions, observations

OLD_SIZE = 1147  # of the observation in version 2
HEADER: dict[str, Any] = {
    "format": "euphoria-ppo", "version": 2, "observations": OLD_SIZE, "actions": actions.NUM_ACTIONS,
    "layout": "c7af5d3b7b17f199", "network": {"trunk": 1, "policy": 1, "value": 1}, "training": {"reward": "win", "gamma": 0.9},
}  # fmt: skip


def network() -> dict[str, np.ndarray]:
    """A small network that looks at every entry of version 2."""
    rng = np.random.default_rng(1)
    sizes = {"trunk.0": (8, OLD_SIZE), "policy.0": (actions.NUM_ACTIONS, 8), "value.0": (1, 8)}
    tensors = {f"{name}.weight": rng.normal(size=size).astype(np.float32) for name, size in sizes.items()}
    tensors |= {f"{name}.bias": rng.normal(size=size[0]).astype(np.float32) for name, size in sizes.items()}
    scale = rng.uniform(0.1, 1, OLD_SIZE).astype(np.float32)
    offset = np.zeros(OLD_SIZE, np.float32)
    return tensors | {"features.source": np.arange(OLD_SIZE, dtype=np.int32), "features.offset": offset, "features.scale": scale}


def write(path: Path, tensors: dict[str, np.ndarray], **header: Any) -> Path:
    save_file(tensors, path, {"euphoria": json.dumps(HEADER | header)})
    return path


def test_a_converted_player_sees_what_it_saw(tmp_path: Path) -> None:
    old = network()
    player = PPO.load(convert(write(tmp_path / "old", old), tmp_path / "new"))
    assert read_checkpoint(tmp_path / "new")[0]["training"] == HEADER["training"]
    added = [field for field in observations.table() if field.name in ADDED_SINCE[HEADER["layout"]]]
    assert sum(field.size for field in added) == observations.OBS_SIZE - OLD_SIZE
    game, rng = Game(Rules(num_players=3, trading=True), seed=2), np.random.default_rng(2)
    for _ in range(60):
        seen, mask = game.observation(game.player), game.mask()
        then = np.delete(seen, np.concatenate([np.arange(field.start, field.start + field.size) for field in added]))
        hidden = old["trunk.0.weight"] @ np.clip(then * old["features.scale"], -1, 1) + old["trunk.0.bias"]
        logits = (old["policy.0.weight"] @ np.maximum(hidden, 0) + old["policy.0.bias"])[mask]
        expected = logits - np.log(np.exp(logits - logits.max()).sum()) - logits.max()
        assert np.allclose(player.log_chances(seen[None], mask[None])[0][mask], expected, atol=1e-3)
        game.play(int(rng.choice(np.flatnonzero(mask))))


def test_the_places_of_older_entries() -> None:
    kept = entries_kept(("stars_to_win", "recruits", "markets"))
    assert len(kept) == OLD_SIZE and kept[0] == 0 and kept[-1] == observations.OBS_SIZE - 1 and (np.diff(kept) >= 1).all()


def test_it_is_written_beside_the_old_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "player", network())
    before = path.read_bytes()
    main(["convert", str(path), str(tmp_path / "new")])
    assert capsys.readouterr().out == f"written: {tmp_path / 'new'}\n" and PPO.load(tmp_path / "new")
    for words, message in (((path, path), "would replace what"), ((tmp_path / "new", tmp_path / "newer"), "already")):
        with pytest.raises(SystemExit):
            main(["convert", *map(str, words)])
        assert message in capsys.readouterr().err and path.read_bytes() == before


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"format": "euphoria-run"}, "is not a trained player of this project"),
        ({"version": True}, "is not a trained player of this project"),
        ({"layout": "0000"}, "has the layout '0000'; known are c7af5d3b7b17f199"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, header: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        convert(write(tmp_path / "old", network(), **header), tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_an_old_player_says_how_it_is_converted(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="of version 2, older than 3: `euphoria convert .* NEW` makes one of it"):
        PPO.load(write(tmp_path / "old", network()))


def test_nothing_but_the_header_of_a_foreign_file_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import safetensors

    def get(*_: Any) -> None:
        raise AssertionError("a tensor was read")

    path, opened = write(tmp_path / "foreign", network(), format="other"), safetensors.safe_open

    class Watched:
        def __init__(self, *arguments: Any, **options: Any) -> None:
            self.file = opened(*arguments, **options)

        def __enter__(self) -> Watched:
            return self

        def __exit__(self, *_: object) -> None:
            """Nothing to close."""

        def metadata(self) -> Any:
            return self.file.metadata()

        keys = get_tensor = get

    monkeypatch.setattr(safetensors, "safe_open", Watched)
    with pytest.raises(ValueError, match="is not a checkpoint"):
        PPO.load(path)


@pytest.mark.parametrize("damage", ["float64", "header of brackets"])
def test_damaged_players_are_refused(tmp_path: Path, damage: str) -> None:
    tensors, path = network(), tmp_path / "player"
    if damage == "float64":
        tensors["policy.0.weight"] = tensors["policy.0.weight"].astype(np.float64)
        save_file(tensors, convert(write(tmp_path / "old", network()), path), {"euphoria": header_of(path)})
    else:
        save_file(tensors, path, {"euphoria": "[" * 100_000})
    with pytest.raises(ValueError, match="must be of float32|cannot be read"):
        PPO.load(path)


def header_of(path: Path) -> str:
    return json.dumps(read_checkpoint(path)[0])
