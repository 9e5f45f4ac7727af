"""Learning from decisions: gradients, the steps of the optimizer, and that any number of threads gives one network."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from euphoria_agents.network.features import make_features  # noqa: E402
from euphoria_agents.training.config import Options  # noqa: E402
from euphoria_agents.training.kernels import EPSILON  # noqa: E402
from euphoria_agents.training.learner import CLIP, FACTS, PPO_EPOCHS, STEEPEST, Learner  # noqa: E402
from euphoria_agents.training.network import Network  # noqa: E402
from euphoria_agents.training.rollout import Rollout  # noqa: E402
from euphoria_agents.training.threads import Threads  # noqa: E402
from euphoria_env.actions import NUM_ACTIONS  # noqa: E402
from euphoria_env.engine.features import NUM_CHANGES  # noqa: E402
from euphoria_env.observations import OBS_SIZE  # noqa: E402
from euphoria_env.trajectories import ENDED, OPEN  # noqa: E402
from tests.tools.small_runs import go, options  # noqa: E402

TRUNK, HIDDEN = [16, 12], 8


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Network, Rollout]:
    """A network with an afterstate head that is hardly trained, and its decisions, some of them open; many games have ended."""
    run = go(options(tmp_path_factory.mktemp("rollout") / "run", reward="rank"), updates=1)  # which ends games that are cut off
    found = run.play()
    assert {OPEN, ENDED} < set(found.following) and len(found.move) > 200
    return run.network, found


@pytest.fixture(scope="module")
def rollout(played: tuple[Network, Rollout]) -> Rollout:
    return played[1]


def network(trunk: list[int], afterstates: int = HIDDEN) -> Network:
    """The same one every time, with weights that are nowhere 0."""
    torch.manual_seed(0)
    made = Network(make_features(), trunk, afterstates)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter += 0.1 * torch.randn(parameter.shape)
    return made


@pytest.fixture
def learners() -> Iterator[Any]:
    """Makes learners; their threads end with the test."""
    made: list[Threads] = []

    def make(threads: int, trunk: list[int] = TRUNK, **changed: Any) -> Learner:
        made.append(Threads(threads))
        return Learner(network(trunk), options(Path("run"), **changed), made[-1])

    yield make
    for threads in made:
        threads.close()


def judged(model: Network, rollout: Rollout) -> tuple[Any, Any, Any]:
    """Values, logarithms of the probabilities of all moves, and the legal ones: by the plain formula, for autograd."""
    n, features = len(rollout.move), model.first.features
    seen, legal = np.zeros((n, OBS_SIZE), np.float32), np.zeros((n, NUM_ACTIONS), np.bool_)
    owner = np.repeat(np.arange(n), np.diff(rollout.rows.indptr))
    entry = np.searchsorted(model.first.begins, rollout.rows.indices, "right") - 1
    seen[owner, entry] = rollout.rows.indices - model.first.begins[entry] + 1
    legal[np.repeat(np.arange(n), np.diff(rollout.legal.indptr)), rollout.legal.indices] = True
    x = np.clip((seen[:, features.source] - features.offset) * features.scale, -1, 1) - features.rest
    hidden = torch.relu(torch.from_numpy(x).float() @ model.first.weight + model.first.bias)
    for layer in model.trunk:
        hidden = torch.relu(layer(hidden))
    logits = (model.head(hidden) + corrections(model, rollout, hidden)).masked_fill(torch.from_numpy(~legal), -torch.inf)
    return model.value_head(hidden)[:, 0], logits.log_softmax(1), torch.from_numpy(legal)


def corrections(model: Network, rollout: Rollout, last: Any) -> Any:
    """Returns what the afterstate head adds to each logit: nothing where a move was settled."""
    found = torch.zeros(len(rollout.move), NUM_ACTIONS)
    if model.afterstates is None:
        return found
    for k, (low, start) in enumerate(zip(rollout.legal.indptr[:-1], rollout.changes.indptr[:-1], strict=True)):
        changes = rollout.changes.indices[start : rollout.changes.indptr[k + 1]]
        for j, move in enumerate(rollout.legal.indices[low : rollout.legal.indptr[k + 1]].tolist() if len(changes) else ()):
            row = torch.zeros(NUM_CHANGES)
            mine = changes[changes["move"] == j]
            row[mine["column"].astype(np.int64)] = torch.from_numpy(mine["amount"].copy())
            assert len(mine)
            hidden = row @ model.afterstates.changes + model.afterstates.moves[move] + last[k] @ model.afterstates.shared
            found[k, move] = torch.relu(hidden) @ model.afterstates.out
    return found


def test_recorded_values_and_probabilities_are_those_of_the_formula(played: tuple[Network, Rollout]) -> None:
    """Those of the decisions that the present network made; others were open before the update."""
    network, rollout = played
    expected, chances, legal = judged(network, rollout)
    of_move = chances.detach().numpy()[np.arange(len(rollout.move)), rollout.move]
    new = np.abs(rollout.value - expected.detach().numpy()) < 1e-4
    assert new.mean() > 0.5 and new[rollout.following == OPEN].sum() > 5
    assert rollout.log_prob[new] == pytest.approx(of_move[new], abs=1e-4)
    assert legal.numpy()[np.arange(len(rollout.move)), rollout.move].all()


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("trunk", [TRUNK, [16]])
def test_the_gradients_are_those_of_the_formula(trunk: list[int], threads: int, learners: Any, rollout: Rollout) -> None:
    """Clipped objective, entropy and the error of the values, of some decisions; some ratios are beyond the clip."""
    rng, n = np.random.default_rng(0), len(rollout.move)
    learner, model = learners(threads, trunk, entropy=0.3), network(trunk)
    values, chances, legal = judged(model, rollout)
    chosen = chances.gather(1, torch.from_numpy(rollout.move)[:, None])[:, 0]
    old = (chosen.detach() + 0.2 * torch.randn(n, generator=torch.manual_seed(1))).numpy()
    advantages, returns = rng.normal(size=(2, n)).astype(np.float32)
    which = rng.permutation(n)[: n // 2]
    ratio, gain = (chosen - torch.from_numpy(old)).exp(), torch.from_numpy(advantages)
    objective = torch.min(gain * ratio, gain * ratio.clamp(1 - CLIP, 1 + CLIP))
    entropy = -(chances.exp() * chances.masked_fill(~legal, 0)).sum(1)
    error = (values - torch.from_numpy(returns)).square()
    (0.5 * error - objective - 0.3 * entropy)[which].mean().backward()
    facts = objective, entropy, ((ratio - 1).abs() > CLIP).float(), ratio - 1 - ratio.log(), error

    learner.begin(rollout._replace(log_prob=old), advantages, returns)
    for _ in range(2):  # nothing is left over from the time before
        found = learner.differentiate(which)
    assert found == pytest.approx([fact[which].sum().item() for fact in facts], rel=1e-3) and 0 < found[2] < len(which)
    for (name, mine), theirs in zip(learner.network.named_parameters(), model.parameters(), strict=True):
        assert theirs.grad.abs().max() > 1e-4, name
        assert torch.allclose(mine.grad, theirs.grad, rtol=1e-3, atol=1e-5), name


def slow_targets(rollout: Rollout, options: Options) -> tuple[np.ndarray, np.ndarray]:
    """The data of the steps of an update, one decision after another: normalized advantages, and returns."""
    values, advantages = rollout.value, [0.0] * len(rollout.value)
    for k in reversed(range(len(values))):
        after = rollout.following[k]
        if after == ENDED:
            advantages[k] = rollout.reward[k] - values[k]
        elif after >= 0:
            following = values[after] + options.gae_lambda * advantages[after]
            advantages[k] = rollout.reward[k] + options.gamma * following - values[k]
    closed = [k for k in range(len(values)) if rollout.following[k] != OPEN]
    mean, spread = np.mean([advantages[k] for k in closed]), np.std([advantages[k] for k in closed])
    return (np.array(advantages) - mean) / spread, np.array(advantages) + values


def test_an_update_learns_from_the_advantages_of_closed_decisions(
    learners: Any, rollout: Rollout, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = learners(2, gamma=0.9, gae_lambda=0.7)
    weighted, returns = slow_targets(rollout, learner.options)
    taken: list[Any] = []
    begin = type(learner).begin
    monkeypatch.setattr(type(learner), "begin", lambda self, *given: (taken.append(given), begin(self, *given)))
    rates, learnt = [], []
    step, differentiate = learner.step, learner.differentiate
    monkeypatch.setattr(learner, "step", lambda rate: (rates.append(rate), step(rate)))
    monkeypatch.setattr(learner, "differentiate", lambda which: (learnt.append(which), differentiate(which))[1])
    told = learner.update(rollout, 1e-3, np.random.default_rng(0), 3)
    (_, advantages, wanted) = taken[0]
    closed = np.flatnonzero(rollout.following != OPEN)
    assert advantages[closed] == pytest.approx(weighted[closed], abs=1e-4)
    assert wanted[closed] == pytest.approx(returns[closed], abs=1e-4)
    assert rates == [1e-3] * 3 * PPO_EPOCHS and learner.steps == len(rates)
    for epoch in range(PPO_EPOCHS):  # each decision that is closed once in each of them
        assert sorted(np.concatenate(learnt[3 * epoch : 3 * epoch + 3])) == closed.tolist()
    assert not np.array_equal(learnt[0], learnt[3])
    assert set(FACTS) < told.keys() and all(np.isfinite([*told.values()]))


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_values_may_be_so_large_that_float32_does_not_hold_their_squares(learners: Any, rollout: Rollout) -> None:
    learner = learners(1)
    told = learner.update(
        rollout._replace(value=rollout.value + np.float32(1e25) * rollout.log_prob), 1e-3, np.random.default_rng(0), 3
    )
    assert told["explained_variance"] < 1


def test_any_number_of_threads_gives_the_same_network(learners: Any, rollout: Rollout) -> None:
    found = []
    for threads in (1, 2, 3):
        learner = learners(threads)
        before = learner.flat.clone()
        told = learner.update(rollout, 1e-3, np.random.default_rng(0), 4)  # no rounding decides here whether a ratio is clipped
        assert (learner.flat - before).abs().max() > 1e-3
        found.append((learner.flat.clone(), told, learner.mean.clone()))
    for flat, told, mean in found[1:]:
        assert torch.allclose(flat, found[0][0], rtol=0, atol=1e-4) and torch.allclose(mean, found[0][2], rtol=0, atol=1e-4)
        assert told == pytest.approx(found[0][1], abs=1e-4)


def test_equal_numbers_of_threads_give_equal_bits(learners: Any, rollout: Rollout) -> None:
    found = []
    for _ in range(2):
        learner = learners(3)
        learner.update(rollout, 1e-3, np.random.default_rng(5), 4)
        found.append((learner.flat, learner.mean, learner.square))
    assert all(torch.equal(one, other) for one, other in zip(*found, strict=True))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("scale", [1e-3, 10.0])
def test_a_step_is_that_of_adam_with_gradients_cut_to_a_norm(threads: int, scale: float, learners: Any) -> None:
    learner, model = learners(threads), network(TRUNK)
    optimizer = torch.optim.Adam(model.parameters(), eps=EPSILON)
    for number in range(1, 4):
        rate = 1e-2 / number
        gradient = scale * torch.randn(learner.flat.shape, generator=torch.manual_seed(number))
        learner.gradient.copy_(gradient)
        learner.steps = number
        learner.step(rate)
        at = 0
        for parameter in model.parameters():
            parameter.grad = gradient[at : at + parameter.numel()].view_as(parameter).clone()
            at += parameter.numel()
        torch.nn.utils.clip_grad_norm_(model.parameters(), STEEPEST)
        optimizer.param_groups[0]["lr"] = rate
        optimizer.step()
    for mine, theirs in zip(learner.network.parameters(), model.parameters(), strict=True):
        assert torch.allclose(mine, theirs, rtol=1e-4, atol=1e-5)


def test_there_may_be_more_threads_than_decisions(learners: Any, rollout: Rollout) -> None:
    closed = np.flatnonzero(rollout.following != OPEN)
    found = []
    for threads in (1, 3):
        learner = learners(threads)
        ones = np.ones(len(rollout.move), np.float32)
        learner.begin(rollout, ones, ones)
        learner.differentiate(closed[:2])
        found.append(learner.gradient.clone())
    assert torch.allclose(*found, rtol=0, atol=1e-6)


def test_what_plays_does_not_change_while_the_network_learns(learners: Any, rollout: Rollout) -> None:
    learner = learners(1)
    player = learner.network.player()
    arrays = *player[:-1], *player.afterstates
    before = [array.copy() for array in arrays]
    learner.update(rollout, 1e-2, np.random.default_rng(0), 3)
    assert all(np.array_equal(one, other) for one, other in zip(arrays, before, strict=True))
    assert not any(np.array_equal(one, other) for one, other in zip(player[1:3], learner.network.player()[1:3], strict=True))


@pytest.mark.parametrize("cores", [1, 2, 8])
def test_there_are_no_more_threads_than_cores_and_all_are_closed(cores: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(cores)), raising=False)
    there, seen = threading.active_count(), set[int]()
    with closing(Threads(3)) as threads:
        threads.run([lambda: seen.add(threading.get_ident())] * 20)
        assert 1 <= len(seen) <= min(3, cores) and threading.active_count() - there <= min(3, cores) - 1
    assert threading.active_count() == there
