"""Win probabilities of a trained player: the chances of all seats, learned from its own games."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from rich.console import Console  # noqa: E402

from euphoria_agents import load  # noqa: E402
from euphoria_agents.network.checkpoint import (  # noqa: E402
    MOST_OF_A_FEATURE,
    SEAT_FEATURES,
    parts,
    read_checkpoint,
    save_checkpoint,
    without_win_probs,
)
from euphoria_agents.players.ppo import PPO, SHIPPED  # noqa: E402
from euphoria_agents.players.search import inference  # noqa: E402
from euphoria_agents.players.search.evaluation import describe_positions  # noqa: E402
from euphoria_agents.training import self_play, win_probs  # noqa: E402
from euphoria_agents.training.self_play import Positions, play_round, rows_of  # noqa: E402
from euphoria_agents.training.win_probs import WinProbs, learn_win_probs  # noqa: E402
from euphoria_env import Game, Rules  # noqa: E402
from euphoria_env.afterstates import FEATURES  # noqa: E402
from euphoria_env.board import MAX_PLAYERS  # noqa: E402
from euphoria_env.engine.features import NUM_FEATURES  # noqa: E402
from tests.tools.small_runs import go, options  # noqa: E402

pytestmark = pytest.mark.usefixtures("quick")


@pytest.fixture(scope="module")
def quick() -> Iterator[None]:
    """Rounds of a few games, many of them with other options."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(win_probs, "ROUND", 8)
        patch.setattr(win_probs, "MIXED", 0.25)
        patch.setattr(win_probs, "BATCH", 64)
        yield


@pytest.fixture(scope="module")
def player(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A player that has hardly learned anything."""
    folder = tmp_path_factory.mktemp("player")
    go(options(folder))
    return folder / "ppo.safetensors"


def learnt(
    player: Path,
    new: Path,
    threads: int = 1,
    widths: tuple[int, ...] = (16, 8),
    games: int = 24,
    half: bool = False,
    critic: Path | None = None,
) -> Path:
    """A copy of the player that has learned them in seconds."""
    new.write_bytes(player.read_bytes())
    chosen = options(new.parent, players=[2, 3], threads=threads, win_probs_games=games, seed=3, critic=critic)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(win_probs, "WIDTHS", [*widths])
        return learn_win_probs(chosen, new, Console(quiet=True), np.float16 if half else np.float32)


@pytest.fixture(scope="module")
def fitted(player: Path, quick: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The player with its win probabilities."""
    return learnt(player, tmp_path_factory.mktemp("fitted") / "new.safetensors")


def described(game: Game, observer: int) -> np.ndarray:
    """The features of all seats as an observer knows them, (1, MAX_PLAYERS * NUM_FEATURES)."""
    found = np.full((1, MAX_PLAYERS * NUM_FEATURES), np.nan, np.float32)
    describe_positions(game.states, np.array([observer]), found)
    return found


def test_those_of_a_critic_are_trained_further(fitted: Path, tmp_path: Path) -> None:
    tensors = read_checkpoint(fitted)[1]
    before = win_probs.new_model(parts(tensors, fitted).features, fitted).tensors()
    assert before.keys() == {name for name in tensors if name.startswith("outlook.")}
    assert all(tensors[name] == pytest.approx(tensor, abs=1e-4) for name, tensor in before.items())
    header, after = read_checkpoint(learnt(fitted, tmp_path / "on.safetensors", widths=(5,), critic=fitted))
    assert header["training"]["outlook"]["widths"] == [16, 8]
    for name in (name for name in before if name.endswith("weight")):
        assert 0 < np.abs(after[name] - tensors[name]).max() < 0.1


def test_a_critic_that_does_not_read_the_features_of_the_seats() -> None:
    old = SHIPPED.parent / "ppo-9e763b08636a.safetensors"
    tensors = read_checkpoint(old)[1]
    model, theirs = win_probs.new_model(parts(tensors, old).features, old), tensors["outlook.0.weight"]
    weight, inputs = model.tensors()["outlook.0.weight"], theirs.shape[1]
    assert np.array_equal(weight[:, :inputs], theirs) and weight.shape[1] == inputs + MAX_PLAYERS * NUM_FEATURES
    assert not weight[:, inputs:].any()


def test_the_player_stays_what_it_was(player: Path, fitted: Path) -> None:
    before, after = read_checkpoint(player), read_checkpoint(fitted)
    assert all(np.array_equal(after[1][name], tensor) for name, tensor in before[1].items())
    assert {name for name in after[1] if name not in before[1]} == {
        f"outlook.{k}.{w}" for k in range(3) for w in ("weight", "bias")
    }
    assert after[0]["training"]["outlook"]["games"] == 24 and after[0]["network"]["outlook"] == 3
    assert after[0]["training"]["outlook"]["losses"].keys() == {"2", "3"}
    assert after[0]["training"]["reward"] == before[0]["training"]["reward"]


def test_any_number_of_threads_gives_the_same(player: Path, fitted: Path, tmp_path: Path) -> None:
    other = learnt(player, tmp_path / "other.safetensors", threads=3)
    assert read_checkpoint(other)[1].keys() == read_checkpoint(fitted)[1].keys()
    assert all(np.array_equal(tensor, read_checkpoint(fitted)[1][name]) for name, tensor in read_checkpoint(other)[1].items())


def test_they_can_be_learnt_again_with_other_widths(fitted: Path, tmp_path: Path) -> None:
    copy = learnt(fitted, tmp_path / "copy.safetensors", widths=(12,), games=8)
    found = parts(read_checkpoint(copy)[1], copy).win_probs
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
        inference.encode(net, game.states[0], observer)
        inference.win_probs(net, game.states[0], observer, chances)
        assert chances[:n].sum() == pytest.approx(1) and (chances[:n] > 0).all() and np.isnan(chances[n:]).all()
        x = np.clip((game.observation(observer)[found.features.source] - found.features.offset) * found.features.scale, -1, 1)
        x = np.concatenate([x, described(game, observer)[0]])
        for k, (weight, bias) in enumerate(found.win_probs):
            x = x @ weight + bias if k == len(found.win_probs) - 1 else np.maximum(x @ weight + bias, 0)
        by_hand = np.exp(x[:n]) / np.exp(x[:n]).sum()
        assert np.roll(chances[:n], -observer) == pytest.approx(by_hand, abs=1e-5)  # the observer's comes first
    model = WinProbs(found.features, [16, 8])
    seen = Positions(rows_of(game.observation(0)[None], model.first.begins), np.array([0]), np.array([n]), described(game, 0))
    assert model(seen, np.arange(1)).exp()[0].tolist() == pytest.approx([*[1 / n] * n, *[0] * (6 - n)], abs=0.05)


@pytest.mark.parametrize("n", range(2, 7))
def test_the_features_of_the_seats_tell_nothing_hidden(n: int) -> None:
    """They stay the same when the cards that the observer cannot know are dealt again, and the observer's are all there (R19)."""
    game, rng, told = Game(Rules(num_players=n), seed=n), np.random.default_rng(n), np.zeros(NUM_FEATURES, np.bool_)
    while len(game.legal_actions()):
        for observer in range(n):
            before = described(game, observer)
            assert np.array_equal(before, described(game.determinize(observer, int(rng.integers(2**62))), observer))
            seats = before.reshape(MAX_PLAYERS, NUM_FEATURES)
            assert not seats[n:].any() and seats.min() >= 0 and seats.max() <= MOST_OF_A_FEATURE
            told |= seats[0] != 0
        for _ in range(7):
            if len(legal := game.legal_actions()):
                game.play(int(rng.choice(legal)))
    assert len(FEATURES) == SEAT_FEATURES and told.sum() > 25


def test_win_probabilities_from_the_observation_alone_still_play(fitted: Path, tmp_path: Path) -> None:
    """Players of version 0.5 have no weights for the features of the seats."""
    header, tensors = read_checkpoint(fitted)
    few = {**tensors, "outlook.0.weight": tensors["outlook.0.weight"][:, : len(tensors["features.source"])]}
    path = save_checkpoint(tmp_path / "few.safetensors", few, header["training"])
    none = {**tensors, "outlook.0.weight": tensors["outlook.0.weight"].copy()}
    none["outlook.0.weight"][:, len(tensors["features.source"]) :] = 0
    same = save_checkpoint(tmp_path / "none.safetensors", none, header["training"])
    game = Game(seed=1)
    seen, mask, rng = game.observation(0), game.mask(), np.random.default_rng
    told = [load(f"ppo:{one}").explain(seen, mask, rng(0), game)["seats"] or [] for one in (path, same)]
    assert told[0] == pytest.approx(told[1]) and sum(told[0]) == pytest.approx(1)
    assert len({load(f"mcts:30:ppo:{one}").act(seen, mask, rng(0), game) for one in (path, same)}) == 1


def test_it_learns_who_wins() -> None:
    """The loss on games that it has not seen goes down: after a few hundred games it knows that stars win."""
    shipped = PPO.load(SHIPPED)
    positions = play_round(shipped, [2], 600, 0.0, 0.0, [0, 0])
    fresh = play_round(shipped, [2], 256, 0.0, 0.0, [1, 0])
    torch.manual_seed(0)
    model = WinProbs(parts(read_checkpoint(SHIPPED)[1], SHIPPED).features, [32])

    def loss() -> float:
        chances = model(fresh, np.arange(len(fresh.winners)))
        return -chances.gather(1, torch.from_numpy(fresh.winners)[:, None]).mean().item()

    before, optimizer = loss(), torch.optim.Adam(model.parameters(), 1e-3)
    win_probs._learn(model, optimizer, positions, 2, np.random.default_rng(0), np.full(7, np.nan))
    assert before == pytest.approx(np.log(2), abs=0.02)
    assert loss() < 0.9 * before


def test_the_positions_of_a_round(player: Path) -> None:
    agent = PPO.load(player)
    first, again, other = (play_round(agent, [2, 3], 12, 0.5, 0.1, [7, number]) for number in (0, 0, 1))
    assert np.array_equal(first.rows.indices, again.rows.indices) and np.array_equal(first.winners, again.winners)
    assert not np.array_equal(first.rows.indices, other.rows.indices)
    assert len(first.winners) == len(first.players) == len(first.rows.indptr) - 1
    assert set(first.players.tolist()) == {2, 3} and (first.winners >= 0).all() and (first.winners < first.players).all()


def test_half_the_space(player: Path, fitted: Path, tmp_path: Path, quick: None) -> None:
    whole = read_checkpoint(fitted)[1]
    half = learnt(player, tmp_path / "half.safetensors", half=True)
    assert half.stat().st_size < 0.6 * fitted.stat().st_size
    tensors = read_checkpoint(half)[1]
    assert all(tensors[name].dtype == tensor.dtype for name, tensor in whole.items())
    assert all(np.allclose(tensors[name], tensor, rtol=1e-3, atol=1e-6) for name, tensor in whole.items())
    great = {**whole, "policy.0.bias": whole["policy.0.bias"] + 1e5}
    with pytest.raises(ValueError, match=r"policy.0.bias has numbers beyond 65504, the most that float16 holds"):
        save_checkpoint(tmp_path / "great.safetensors", great, {}, np.float16)
    assert not (tmp_path / "great.safetensors").exists()
    observation, mask = Game(seed=1).observation(0), Game(seed=1).mask()
    chances = [load(f"ppo:{file}").log_chances(observation[None], mask[None])[0][mask] for file in (half, fitted)]
    assert chances[0] == pytest.approx(chances[1], abs=0.01)


def test_training_begins_with_a_player_that_has_them(fitted: Path, tmp_path: Path) -> None:
    go(options(tmp_path / "run", start=fitted), updates=1)
    assert not any(name.startswith("outlook.") for name in read_checkpoint(tmp_path / "run" / "ppo.safetensors")[1])


def test_nothing_to_learn_from(player: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody wins in one turn."""
    monkeypatch.setattr(self_play, "MOST_TURNS", 1)
    with pytest.raises(ValueError, match="none of its games was won within"):
        learnt(player, tmp_path / "new")
    assert (tmp_path / "new").read_bytes() == player.read_bytes()


def test_an_outlook_of_other_seats_is_refused(fitted: Path, tmp_path: Path) -> None:
    header, tensors = read_checkpoint(fitted)
    wrong = {**tensors, "outlook.2.weight": tensors["outlook.2.weight"][:5], "outlook.2.bias": tensors["outlook.2.bias"][:5]}
    path = save_checkpoint(tmp_path / "wrong.safetensors", wrong, header["training"])
    with pytest.raises(ValueError, match=r"wrong.safetensors: the outlook has 3 layers and 5 seats, not at least 2 and 6"):
        load(f"mcts:5:ppo:{path}")
    inputs = tensors["outlook.0.weight"].shape[1]
    single = {"outlook.0.weight": np.zeros((6, inputs), np.float32), "outlook.0.bias": np.zeros(6, np.float32)}
    path = save_checkpoint(tmp_path / "single.safetensors", {**without_win_probs(tensors), **single}, header["training"])
    with pytest.raises(ValueError, match=r"single.safetensors: the outlook has 1 layers"):
        load(f"ppo:{path}")
    lacking = {name: tensor for name, tensor in tensors.items() if name != "outlook.1.bias"}
    path = save_checkpoint(tmp_path / "lacking.safetensors", lacking, header["training"])
    with pytest.raises(ValueError, match=r"outlook"):
        load(f"mcts:5:ppo:{path}")
