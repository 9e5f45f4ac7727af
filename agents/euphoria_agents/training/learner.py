"""Masked PPO (Schulman et al. 2017): how the network learns from the decisions of an update.

`Learner` has the algorithm. Its two subclasses compute gradients: `ThreadedLearner` on the processor, shared by threads, with
compiled kernels for what is sparse, and `DeviceLearner` on any device by PyTorch alone; they differ by rounding only.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from euphoria_agents.training import kernels
from euphoria_agents.training.config import Options
from euphoria_agents.training.csr import CSR
from euphoria_agents.training.kernels import BETAS, EPSILON, Head, Loss, Targets
from euphoria_agents.training.network import Network
from euphoria_agents.training.rollout import Rollout
from euphoria_agents.training.threads import Threads, ranges
from euphoria_env.trajectories import OPEN, estimate_advantages

CLIP = 0.2  # how far an update may change the probability of a move
STEEPEST = 0.5  # gradients are scaled down to this norm
VALUE_WEIGHT = 0.5  # of the value's loss beside the policy's
FACTS = ("objective", "entropy", "clip_fraction", "approx_kl", "value_loss")  # means over the decisions
REPORTED = (*FACTS, "explained_variance")  # of an update

Average = Callable[[Tensor], None]


class Learner(ABC):
    """The network with its optimizer.

    Args:
        network: is trained in place; its parameters become views of one array.
        options: of the run.
        average: is called with all gradients of a step, (P,), and may replace them by their means over several machines.

    Attributes:
        mean, square: (P,), the moments of Adam for all parameters.
        steps: how many steps the optimizer has taken.
    """

    def __init__(self, network: Network, options: Options, average: Average | None = None) -> None:
        self.network, self.options, self.average = network, options, average
        self.parameters = list(network.parameters())
        self.flat = torch.cat([one.detach().reshape(-1) for one in self.parameters])
        self.gradient, self.mean, self.square = (torch.zeros_like(self.flat) for _ in range(3))
        first = 0
        for one in self.parameters:
            last = first + one.numel()
            one.data, one.grad = self.flat[first:last].view_as(one), self.gradient[first:last].view_as(one)
            first = last
        self.steps = 0

    def update(self, rollout: Rollout, rate: float, rng: np.random.Generator, steps: int) -> dict[str, float]:
        """Learns from the decisions of a rollout, and returns what is to be reported of it.

        Args:
            rollout: the decisions; open ones only lend their values to those before them.
            rate: of Adam.
            rng: draws the order of the decisions.
            steps: of the optimizer, in each epoch; 0: there is nothing to learn from yet.
        """
        if not steps:
            return dict.fromkeys(REPORTED, math.nan)
        options = self.options
        advantages = estimate_advantages(rollout.value, rollout.reward, rollout.following, options.gamma, options.gae_lambda)
        (closed,) = np.nonzero(rollout.following != OPEN)
        returns, known = advantages + rollout.value, advantages[closed].astype(np.float64)  # float32 may not hold their squares
        weighted = (advantages - known.mean()) / (known.std() + 1e-8)
        facts = np.zeros(len(FACTS))
        self.begin(rollout, weighted.astype(np.float32), returns)
        for _ in range(options.epochs):
            order = rng.permutation(closed)
            for which in np.array_split(order, steps):
                facts += self.differentiate(which)
                if self.average is not None:
                    self.average(self.gradient)
                self.steps += 1
                self.step(rate)
        spread = returns[closed].var(dtype=np.float64)
        explained = float(1 - known.var() / spread) if spread else 0.0
        means = (facts / (len(closed) * options.epochs)).tolist()
        return dict(zip(REPORTED, [*means, explained], strict=True))

    def begin(self, rollout: Rollout, advantages: np.ndarray, returns: np.ndarray) -> None:
        """Takes the targets of an update, an entry for each decision."""
        self.rollout, self.advantages, self.returns = rollout, advantages, returns

    @abstractmethod
    def differentiate(self, which: np.ndarray) -> np.ndarray:
        """Computes the gradients of the mean loss of some decisions; returns the sums of their `FACTS`."""

    @abstractmethod
    def step(self, rate: float) -> None:
        """Scales the gradients down where they are too steep, and takes a step of Adam (Kingma and Ba 2015)."""


class ThreadedLearner(Learner):
    """A learner on the processor. Arguments as for `Learner`, and the threads that share its work.

    Kernels compute the first layer and the moves, PyTorch the layers between them. Equal numbers of threads give equal bits;
    another number only splits the same sums in another way.
    """

    def __init__(self, network: Network, options: Options, threads: Threads, average: Average | None = None) -> None:
        super().__init__(network, options, average)
        self.threads = threads
        matrices = network.matrices()
        sizes = [one.numel() for one in matrices]
        gradient = torch.zeros(sum(sizes)) if network.described else self.gradient  # else the matrices are the parameters
        self._gradients = [part.view_as(one) for part, one in zip(gradient.split(sizes), matrices, strict=True)]
        self._dense = gradient[sizes[0] :]  # of all but the first layer's weights
        # The same, by thread; that of the only one is the sum.
        self._sums = torch.zeros(threads.size, len(self._dense)) if threads.size > 1 else self._dense[None]
        self._facts = np.zeros((threads.size, len(FACTS)))
        self._table = np.empty((network.first.rows, matrices[0].shape[1]), np.float32)
        begins = network.first.begins  # the rows of an entry stay together, as they share features
        parts = 1 if threads.size == 1 else 2 * threads.size
        cuts = np.unique([begins[np.searchsorted(begins, first)] for first, _ in ranges(network.first.rows, parts)])
        self._row_ranges = list(pairwise([*cuts.tolist(), network.first.rows]))

    def differentiate(self, which: np.ndarray) -> np.ndarray:
        """See `Learner.differentiate`."""
        matrices, first = self._weighed(), self.network.first
        by_first, by_weight = np.empty((len(which), self._table.shape[1]), np.float32), self._gradients[0].numpy()
        bounds = ranges(len(which), self.threads.size)
        ends, decisions = first.room_for_groups(self.rollout.rows, which, [start for start, _ in bounds])

        def differentiate(k: int, start: int, end: int) -> None:
            kernels.group_by_row(self.rollout.rows, which, start, end, ends[k], decisions)
            self._differentiate(k, matrices, which, slice(start, end), by_first[start:end])

        self.threads.run([partial(differentiate, k, *part) for k, part in enumerate(bounds)])
        back = partial(kernels.first_layer_back, ends, decisions, by_first, first.row_features)
        self.threads.run([partial(back, *rows, by_weight) for rows in self._row_ranges])
        if self.threads.size > 1:
            torch.sum(self._sums, 0, out=self._dense)
        if self.network.described:
            self.gradient.zero_()
            torch.autograd.backward(matrices, self._gradients)
        return self._facts.sum(0)

    def step(self, rate: float) -> None:
        """See `Learner.step`."""
        parts = [slice(*bounds) for bounds in ranges(len(self.flat), self.threads.size)]
        squares = [0.0] * len(parts)

        def add_squares(k: int) -> None:
            squares[k] = float(torch.dot(self.gradient[parts[k]], self.gradient[parts[k]]))

        def update(part: slice, scale: float) -> None:
            arrays = (one[part].numpy() for one in (self.flat, self.gradient, self.mean, self.square))
            kernels.adam(*arrays, scale, rate, self.steps)

        self.threads.run([partial(add_squares, k) for k in range(len(parts))])
        scale = min(1.0, STEEPEST / (sum(squares) ** 0.5 + 1e-6))
        self.threads.run([partial(update, part, scale) for part in parts])

    def _weighed(self) -> list[Tensor]:
        """All matrices of the network, once the rows of its first layer are made of them."""
        matrices = self.network.matrices()
        weigh = partial(kernels.weigh_rows, self.network.first.row_features, matrices[0].detach().numpy())
        self.threads.run([partial(weigh, *bounds, self._table) for bounds in ranges(len(self._table), self.threads.size)])
        return matrices

    def _first(self, rollout: Rollout, which: np.ndarray) -> Tensor:
        """The first layer of some decisions, before its rectifier."""
        out = torch.empty(len(which), self._table.shape[1])
        kernels.first_layer(rollout.rows, which, self._table, self.network.first.bias.detach().numpy(), out.numpy())
        return out

    def _differentiate(self, k: int, matrices: list[Tensor], whole: np.ndarray, part: slice, by_first: np.ndarray) -> None:
        """Computes part k of the gradients, from some of the decisions: of the first layer, and of all matrices after its own."""
        *inner, head, bias, value_weight, value_bias = matrices[2:]
        which, facts, scale = whole[part], self._facts[k], 1 / len(whole)
        facts[:] = 0.0
        first = self._first(self.rollout, which).requires_grad_()
        policy, values = self.network.later(first)
        error = values.detach() - torch.from_numpy(self.returns[which])
        facts[4] = float(error.square().sum())
        by_policy, by_head, by_bias = torch.empty_like(policy), torch.zeros_like(head), torch.zeros_like(bias)
        targets = Targets(self.rollout.legal, self.rollout.move, self.rollout.log_prob, self.advantages)
        loss = Loss(CLIP, float(self.options.entropy), float(scale))
        by_final = Head(by_head.numpy(), by_bias.numpy())
        kernels.learn_moves(
            policy.detach().numpy(), _head(matrices), targets, which, loss, by_policy.numpy(), by_final, facts[:4]
        )
        by = by_policy, 2 * VALUE_WEIGHT * scale * error
        by_seen, *others = torch.autograd.grad([policy, values], [first, *inner, value_weight, value_bias], by)
        by_first[:] = by_seen.numpy()
        dense = [by_seen.sum(0), *others[:-2], by_head, by_bias, *others[-2:]]
        torch.cat([one.reshape(-1) for one in dense], out=self._sums[k])


def _head(matrices: list[Tensor]) -> Head:
    """The head of the policy among `Network.matrices`."""
    return Head(matrices[-4].detach().numpy(), matrices[-3].detach().numpy())


class DeviceLearner(Learner):
    """A learner on any device of PyTorch. Arguments as for `Learner`; the network is on the device already."""

    def __init__(self, network: Network, options: Options, average: Average | None = None) -> None:
        super().__init__(network, options, average)
        self.device = self.flat.device

    def begin(self, rollout: Rollout, advantages: np.ndarray, returns: np.ndarray) -> None:
        """See `Learner.begin`; takes everything to the device."""
        super().begin(rollout, advantages, returns)
        self._rows, self._legal = (self._lists(lists) for lists in (rollout.rows, rollout.legal))
        self._move = torch.from_numpy(rollout.move.astype(np.int64)).to(self.device)

    def differentiate(self, which: np.ndarray) -> np.ndarray:
        """See `Learner.differentiate`."""
        options, chosen = self.options, torch.from_numpy(which).to(self.device)
        targets = (self.advantages, self.returns, self.rollout.log_prob)
        advantages, returns, old = (torch.from_numpy(one[which]).to(self.device) for one in targets)
        values, chances, legal = self._judge(chosen)
        probabilities, log_chances = chances.exp(), chances.masked_fill(~legal, 0)
        difference = chances.gather(1, self._move[chosen, None])[:, 0] - old
        ratio = difference.exp()
        objective = torch.min(advantages * ratio, advantages * ratio.clamp(1 - CLIP, 1 + CLIP))
        entropy = -(probabilities * log_chances).sum(1)
        error = (values - returns).square()
        self.gradient.zero_()
        (VALUE_WEIGHT * error - objective - options.entropy * entropy).mean().backward()
        clipped = ((ratio - 1).abs() > CLIP).float()
        facts = torch.stack([objective, entropy, clipped, ratio - 1 - difference, error]).detach()
        found: np.ndarray = facts.sum(1).cpu().numpy().astype(np.float64)
        return found

    def step(self, rate: float) -> None:
        """See `Learner.step`."""
        gradient = self.gradient * (STEEPEST / (self.gradient.norm() + 1e-6)).clamp(max=1.0)
        self.mean.lerp_(gradient, 1 - BETAS[0])
        self.square.lerp_(gradient.square(), 1 - BETAS[1])
        root = (1 - BETAS[1] ** self.steps) ** 0.5
        self.flat.addcdiv_(self.mean, self.square.sqrt() / root + EPSILON, value=-rate / (1 - BETAS[0] ** self.steps))

    def _lists(self, lists: CSR) -> tuple[Tensor, Tensor]:
        """Lists on the device."""
        return torch.from_numpy(lists.indptr).to(self.device), torch.from_numpy(lists.indices).to(self.device, torch.int64)

    def _judge(self, which: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Values, the logarithms of the probabilities of all moves, -inf where illegal, and which moves are legal."""
        ends, index, _ = _some_lists(*self._rows, which)
        _, moves, decision = _some_lists(*self._legal, which)
        logits, values = self.network(ends, index)
        legal = torch.zeros(logits.shape, dtype=torch.bool, device=self.device)
        legal[decision, moves] = True
        return values, functional.log_softmax(logits.masked_fill(~legal, -torch.inf), 1), legal


def _some_lists(ends: Tensor, index: Tensor, which: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Some of many lists: where they end, one after another, and to which of them each entry belongs."""
    sizes = ends[which + 1] - ends[which]
    new = functional.pad(sizes.cumsum(0), (1, 0))
    owner = torch.repeat_interleave(torch.arange(len(which), device=which.device), sizes)
    places = torch.arange(len(owner), device=which.device) - new[owner] + ends[which][owner]
    return new, index[places], owner
