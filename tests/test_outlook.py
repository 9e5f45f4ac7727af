"""The outlook of a trained player: the chances of all seats, learnt from its own games."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")
from rich.console import Console  # noqa: E402

from euphoria_agents import load  # noqa: E402
from euphoria_agents.network.checkpoint import parts, read_checkpoint, save_checkpoint  # noqa: E402
from euphoria_agents.players.ppo import SHIPPED  # noqa: E402
from euphoria_agents.players.search import inference  # noqa: E402
from euphoria_agents.training import outlook, self_play  # noqa: E402
from euphoria_agents.training.config import OutlookOptions  # noqa: E402
from euphoria_agents.training.self_play import Round, play_round  # noqa: E402
from euphoria_agents.training.sparse_rows import find_active_features, look_up  # noqa: E402
from euphoria_env import Game, Rules  # noqa: E402
from tests.tools.small_runs import go, options  # noqa: E402


@pytest.fixture(scope="module")
def player(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A player that has hardly learnt anything."""
    folder = tmp_path_factory.mktemp("player")
    go(options(folder, rating_games=0))
    return folder / "ppo.safetensors"


def small(player: Path, new: Path, **changed: object) -> OutlookOptions:
    """A fit that is over in seconds."""
    given = {"games": 24, "players": [2, 3], "mixed": 0.25, "widths": [16, 8], "batch": 64, "processes": 1, "seed": 3}
    return OutlookOptions(player, new, **{**given, **changed})  # type: ignore[arg-type]


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outlook, "ROUND", 8)


@pytest.fixture(scope="module")
def fitted(player: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The player with an outlook."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(outlook, "ROUND", 8)
        return outlook.fit(small(player, tmp_path_factory.mktemp("fitted") / "new.safetensors"), Console(quiet=True))


def test_the_player_stays_what_it_was(player: Path, fitted: Path) -> None:
    before, after = read_checkpoint(player), read_checkpoint(fitted)
    assert all(np.array_equal(after[1][name], tensor) for name, tensor in before[1].items())
    assert {name for name in after[1] if name not in before[1]} == {
        f"outlook.{k}.{w}" for k in range(3) for w in ("weight", "bias")
    }
    assert after[0]["training"]["outlook"]["games"] == 24 and after[0]["network"]["outlook"] == 3
    assert after[0]["training"]["reward"] == before[0]["training"]["reward"]


def test_any_number_of_processes_gives_the_same(player: Path, fitted: Path, tmp_path: Path, quick: None) -> None:
    other = outlook.fit(small(player, tmp_path / "other.safetensors", processes=2), Console(quiet=True))
    assert read_checkpoint(other)[1].keys() == read_checkpoint(fitted)[1].keys()
    assert all(np.array_equal(tensor, read_checkpoint(fitted)[1][name]) for name, tensor in read_checkpoint(other)[1].items())


def test_it_can_be_fitted_anew_in_the_same_file(fitted: Path, tmp_path: Path, quick: None) -> None:
    copy = tmp_path / "copy.safetensors"
    copy.write_bytes(fitted.read_bytes())
    outlook.fit(small(copy, copy, widths=[12], players=[4], games=8), Console(quiet=True))
    found = parts(read_checkpoint(copy)[1], copy).outlook
    assert [weight.shape[1] for weight, _ in found] == [12, 6]


@pytest.mark.parametrize("n", range(2, 7))
def test_chances_of_all_seats_add_up_to_1_and_are_those_of_the_trainer(n: int, fitted: Path) -> None:
    net, _ = inference.load_network(fitted)
    found = parts(read_checkpoint(fitted)[1], fitted)
    game, rng = Game(Rules(num_players=n), seed=n), np.random.default_rng(n)
    for _ in range(60):
        game.play(int(rng.choice(game.legal_actions())))
    for observer in range(n):
        chances = np.full(6, np.nan)
        inference.look(net, game.states[0], observer)
        inference.outlook(net, game.states[0], observer, chances)
        assert chances[:n].sum() == pytest.approx(1) and (chances[:n] > 0).all() and np.isnan(chances[n:]).all()
        x = np.clip((game.observation(observer)[found.features.source] - found.features.offset) * found.features.scale, -1, 1)
        for k, (weight, bias) in enumerate(found.outlook):
            x = x @ weight + bias if k == len(found.outlook) - 1 else np.maximum(x @ weight + bias, 0)
        by_hand = np.exp(x[:n]) / np.exp(x[:n]).sum()
        assert np.roll(chances[:n], -observer) == pytest.approx(by_hand, abs=1e-5)  # the observer's comes first
    model = outlook.Outlook(found.features, [16, 8])
    seen = look_up(find_active_features(game.observation(0)[None]), found.features)
    assert model(seen, torch.tensor([n])).exp()[0].tolist() == pytest.approx([*[1 / n] * n, *[0] * (6 - n)], abs=0.05)


def test_it_learns_who_wins() -> None:
    """The loss on games that it has not seen goes down: after a few hundred games it knows that stars win."""
    positions = play_round(Round(SHIPPED, (2,), 300, 0.0, 0.0, 0, 0))
    fresh = play_round(Round(SHIPPED, (2,), 64, 0.0, 0.0, 1, 0))
    torch.manual_seed(0)
    model = outlook.Outlook(parts(read_checkpoint(SHIPPED)[1], SHIPPED).features, [32])

    def loss() -> float:
        seen = look_up(fresh.active_features._replace(indices=fresh.active_features.indices.copy()), model.first.features)
        chances = model(seen, torch.from_numpy(fresh.players))
        return -chances.gather(1, torch.from_numpy(fresh.winners)[:, None]).mean().item()

    before, optimizer = loss(), torch.optim.Adam(model.parameters(), 1e-3)
    outlook._learn(model, optimizer, positions, small(SHIPPED, SHIPPED), np.random.default_rng(0), np.full(7, np.nan))
    assert before == pytest.approx(np.log(2), abs=0.02)
    assert loss() < 0.9 * before


def test_the_positions_of_a_round(player: Path) -> None:
    one = Round(player, (2, 5), 12, 0.5, 0.1, 7, 0)
    first, again, other = play_round(one), play_round(one), play_round(one._replace(number=1))
    assert np.array_equal(first.active_features.indices, again.active_features.indices) and np.array_equal(
        first.winners, again.winners
    )
    assert not np.array_equal(first.active_features.indices, other.active_features.indices)
    assert len(first.winners) == len(first.players) == len(first.active_features.which) == len(first.active_features.indptr) - 1
    assert set(first.players.tolist()) == {2, 5} and (first.winners >= 0).all() and (first.winners < first.players).all()


def test_half_the_space(player: Path, fitted: Path, tmp_path: Path, quick: None) -> None:
    half = outlook.fit(small(player, tmp_path / "half.safetensors", half=True), Console(quiet=True))
    assert half.stat().st_size < 0.6 * fitted.stat().st_size
    tensors, whole = read_checkpoint(half)[1], read_checkpoint(fitted)[1]
    assert all(tensors[name].dtype == tensor.dtype for name, tensor in whole.items())
    assert all(np.allclose(tensors[name], tensor, rtol=1e-3, atol=1e-6) for name, tensor in whole.items())
    great = {**whole, "policy.0.bias": whole["policy.0.bias"] + 1e5}
    with pytest.raises(ValueError, match=r"policy.0.bias has numbers beyond 65504, the most that float16 holds"):
        save_checkpoint(tmp_path / "great.safetensors", great, {}, np.float16)
    assert not (tmp_path / "great.safetensors").exists()
    observation, mask = Game(seed=1).observation(0), Game(seed=1).mask()
    chances = [load(f"ppo:{file}").log_chances(observation[None], mask[None])[0][mask] for file in (half, fitted)]
    assert chances[0] == pytest.approx(chances[1], abs=0.01)


def test_training_begins_with_a_player_that_has_an_outlook(fitted: Path, tmp_path: Path) -> None:
    go(options(tmp_path / "run", start=fitted, rating_games=0), updates=1)
    assert not any(name.startswith("outlook.") for name in read_checkpoint(tmp_path / "run" / "ppo.safetensors")[1])


def test_nothing_to_learn_from(player: Path, tmp_path: Path, quick: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody wins in one turn."""
    monkeypatch.setattr(self_play, "MOST_TURNS", 1)
    with pytest.raises(ValueError, match="none of its games was won within"):
        outlook.fit(small(player, tmp_path / "new"), Console(quiet=True))
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("games", 0, "games: expected int >= 1"),
        ("players", [], "players: expected array of length >= 1"),
        ("players", [7], r"players\[0\]"),
        ("widths", [], "widths: expected array of length >= 1"),
        ("mixed", 1.5, "mixed"),
        ("learning_rate", 0.0, "learning_rate: expected float > 0.0"),
        ("half", 1, "half"),
    ],
)
def test_wrong_options(name: str, value: object, message: str, player: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        outlook.fit(small(player, tmp_path / "new", **{name: value}), Console(quiet=True))
    assert not (tmp_path / "new").exists()


def test_an_outlook_of_other_seats_is_refused(fitted: Path, tmp_path: Path) -> None:
    header, tensors = read_checkpoint(fitted)
    wrong = {**tensors, "outlook.2.weight": tensors["outlook.2.weight"][:5], "outlook.2.bias": tensors["outlook.2.bias"][:5]}
    path = save_checkpoint(tmp_path / "wrong.safetensors", wrong, header["training"])
    with pytest.raises(ValueError, match=r"wrong.safetensors: the outlook has 5 seats, not 6"):
        load(f"mcts:5:ppo:{path}")
    lacking = {name: tensor for name, tensor in tensors.items() if name != "outlook.1.bias"}
    path = save_checkpoint(tmp_path / "lacking.safetensors", lacking, header["training"])
    with pytest.raises(ValueError, match=r"outlook"):
        load(f"mcts:5:ppo:{path}")
