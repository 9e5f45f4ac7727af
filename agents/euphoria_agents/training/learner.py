"""Masked PPO (Schulman et al. 2017): trains the network on the decisions of a rollout.

Kernels compute the first layer and the policy head, PyTorch the layers between them; threads share the work.
"""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from euphoria_agents.network.compiled_layers import NO_HEAD
from euphoria_agents.training import kernels
from euphoria_agents.training.config import Options
from euphoria_agents.training.kernels import Head, Loss, Targets
from euphoria_agents.training.network import Network, head_arrays
from euphoria_agents.training.rollout import Rollout
from euphoria_agents.training.threads import Threads, ranges
from euphoria_env.trajectories import OPEN, estimate_advantages

PPO_EPOCHS = 2  # how often an update goes through its decisions
CLIP = 0.2  # how far an update may move the ratio of new to old probability of a move from 1
STEEPEST = 0.5  # gradients with a larger norm are scaled down to this one
VALUE_WEIGHT = 0.5  # of the value loss, compared with the policy loss
FACTS = ("objective", "entropy", "clip_fraction", "approx_kl", "value_loss")  # figures that are means over the decisions
REPORTED = (*FACTS, "explained_variance")  # the figures of an update


class Learner:
    """The network with its optimizer.

    Equal numbers of threads give bitwise equal results; another number only splits the same sums in another way.

    Args:
        network: the network, which is trained in place; its parameters become views of one array.
        options: the options of the run.
        threads: the threads that share the work.

    Attributes:
        mean, square: (P,), Adam's moments of all parameters.
        steps: the number of steps that the optimizer has taken.
    """

    def __init__(self, network: Network, options: Options, threads: Threads) -> None:
        self.network, self.options, self.threads = network, options, threads
        self.parameters = list(network.parameters())  # of the first layer, the trunk, the head, the value and the afterstate head
        self.flat = torch.cat([one.detach().reshape(-1) for one in self.parameters])
        self.gradient, self.mean, self.square = (torch.zeros_like(self.flat) for _ in range(3))
        sizes, self._width = [one.numel() for one in self.parameters], self.parameters[0].shape[1]
        for one, data, gradient in zip(self.parameters, self.flat.split(sizes), self.gradient.split(sizes), strict=True):
            one.data, one.grad = data.view_as(one), gradient.view_as(one)
        self.steps = 0
        self._dense = self.gradient[sizes[0] :]  # the gradient of all but the first layer's weights
        # This gradient by thread, in whole lines of the cache; `_dense` is the sum, to which one thread alone writes directly.
        rows = torch.zeros(threads.size, -(-len(self._dense) // 16) * 16)[:, : len(self._dense)]
        self._sums = rows if threads.size > 1 else self._dense[None]
        self._facts = np.zeros((threads.size, len(FACTS)))
        self._table = torch.empty(network.first.rows, self._width).numpy()
        begins = network.first.begins  # the rows of an entry stay in one range, since they change the same features
        parts = 1 if threads.size == 1 else 2 * threads.size
        cuts = np.unique([begins[np.searchsorted(begins, first)] for first, _ in ranges(network.first.rows, parts)])
        self._row_ranges = list(pairwise([*cuts.tolist(), network.first.rows]))

    def update(self, rollout: Rollout, rate: float, rng: np.random.Generator, steps: int) -> dict[str, float]:
        """Learns from the decisions of a rollout, and returns the figures in `REPORTED`.

        Args:
            rollout: the decisions; of open ones only the values are used, as bootstrap for those before them.
            rate: the learning rate of Adam.
            rng: draws the order of the decisions.
            steps: the optimizer's steps in each epoch; 0: there is nothing to learn from yet.
        """
        if not steps:
            return dict.fromkeys(REPORTED, math.nan)
        options = self.options
        advantages = estimate_advantages(rollout.value, rollout.reward, rollout.following, options.gamma, options.gae_lambda)
        (closed,) = np.nonzero(rollout.following != OPEN)
        returns, known = advantages + rollout.value, advantages[closed].astype(np.float64)  # their squares may exceed float32
        weighted = (advantages - known.mean()) / (known.std() + 1e-8)
        facts = np.zeros(len(FACTS))
        self.begin(rollout, weighted.astype(np.float32), returns)
        for _ in range(PPO_EPOCHS):
            for which in np.array_split(rng.permutation(closed), steps):
                facts += self.differentiate(which)
                self.steps += 1
                self.step(rate)
        spread = returns[closed].var(dtype=np.float64)
        explained = float(1 - known.var() / spread) if spread else 0.0
        means = (facts / (len(closed) * PPO_EPOCHS)).tolist()
        return dict(zip(REPORTED, [*means, explained], strict=True))

    def begin(self, rollout: Rollout, advantages: np.ndarray, returns: np.ndarray) -> None:
        """Sets the targets of an update, with an entry for each decision."""
        self._rows, self._returns = rollout.rows, returns
        self._targets = Targets(rollout.legal, rollout.changes, rollout.move, rollout.log_prob, advantages)

    def differentiate(self, which: np.ndarray) -> np.ndarray:
        """Computes the gradients of the mean loss of some decisions; returns the sums of their `FACTS`."""
        first, weight = self.network.first, self.parameters[0]
        weigh = partial(kernels.weigh_rows, first.row_features, weight.detach().numpy())
        self.threads.run([partial(weigh, *rows, self._table) for rows in ranges(len(self._table), self.threads.size)])
        by_first = torch.empty(len(which), self._width)
        bounds = ranges(len(which), self.threads.size)
        ends, decisions = first.room_for_groups(self._rows, which, [start for start, _ in bounds])

        def differentiate(k: int, start: int, end: int) -> None:
            kernels.group_by_row(self._rows, which, start, end, ends[k], decisions)
            self._differentiate(k, which, slice(start, end), by_first[start:end])

        self.threads.run([partial(differentiate, k, *part) for k, part in enumerate(bounds)])
        back = partial(kernels.first_layer_back, ends, decisions, by_first.numpy(), first.row_features)
        by_weight = weight.grad.numpy()
        tasks = [partial(back, *rows, by_weight) for rows in self._row_ranges]
        if self.threads.size > 1:
            tasks.append(partial(torch.sum, self._sums, 0, out=self._dense))
        self.threads.run(tasks)
        return self._facts.sum(0)

    def step(self, rate: float) -> None:
        """Scales the gradients down if their norm is above `STEEPEST`, and takes a step of Adam (Kingma and Ba 2015)."""
        parts = [slice(*bounds) for bounds in ranges(len(self.flat), self.threads.size)]
        squares = [0.0] * len(parts)

        def add_squares(k: int) -> None:
            squares[k] = float(torch.dot(self.gradient[parts[k]], self.gradient[parts[k]]))

        def update(part: slice, scale: float) -> None:
            flat, gradient, mean, square = (one[part].numpy() for one in (self.flat, self.gradient, self.mean, self.square))
            kernels.adam(flat, gradient, mean, square, scale, rate, self.steps)

        self.threads.run([partial(add_squares, k) for k in range(len(parts))])
        scale = min(1.0, STEEPEST / (sum(squares) ** 0.5 + 1e-6))
        self.threads.run([partial(update, part, scale) for part in parts])

    def _differentiate(self, k: int, whole: np.ndarray, part: slice, by_first: Tensor) -> None:
        """Computes part k of the gradients, from `part` of the decisions `whole`: of the first layer's outputs and `_dense`.

        The few layers are differentiated by hand: autograd would take as long again as the products of matrices.
        """
        which, parameters, head = whole[part], self.parameters[1:], self.network.value_head
        parts = zip(self._sums[k].split([one.numel() for one in parameters]), parameters, strict=True)
        gradients = [sums.view_as(one) for sums, one in parts]
        layers = 2 * len(self.network.trunk) + 5
        *by_layers, by_head, by_head_bias, by_value, by_value_bias = gradients[:layers]
        by_after = head_arrays(*(one.zero_() for one in gradients[layers:])) if self.network.afterstates else NO_HEAD
        with torch.no_grad():
            outputs = self._forward(which)
            by = [by_first, *map(torch.empty_like, outputs[1:])]  # the gradients with respect to the outputs
            error = torch.addmv(head.bias, outputs[-1], head.weight[0]) - torch.from_numpy(self._returns[which])
            self._facts[k, :-1], self._facts[k, -1] = 0.0, float(error.square().sum())
            error *= 2 * VALUE_WEIGHT / len(whole)
            torch.mv(outputs[-1].t(), error, out=by_value[0])
            by_value_bias[0] = error.sum()
            torch.outer(error, head.weight[0], out=by[-1])
            by_moves = Head(by_head.zero_().numpy(), by_head_bias.zero_().numpy(), by_after)
            self._learn_moves(k, which, 1 / len(whole), outputs[-1].numpy(), by[-1].numpy(), by_moves)
            for j in range(len(outputs) - 1, -1, -1):
                kernels.relu_back(outputs[j].numpy(), by[j].numpy(), by_layers[2 * j].numpy())
                if j:
                    torch.mm(by[j].t(), outputs[j - 1], out=by_layers[2 * j - 1])
                    torch.mm(by[j], self.network.trunk[j - 1].weight, out=by[j - 1])

    def _forward(self, which: np.ndarray) -> list[Tensor]:
        """Returns the outputs of the hidden layers for some decisions, each after its ReLU."""
        outputs = [torch.empty(len(which), self._width)]
        kernels.first_layer(self._rows, which, self._table, self.network.first.bias.numpy(), outputs[0].numpy())
        outputs[0].relu_()
        for one in self.network.trunk:
            outputs.append(torch.addmm(one.bias, outputs[-1], one.weight.t()).relu_())
        return outputs

    def _learn_moves(self, k: int, which: np.ndarray, scale: float, last: np.ndarray, by: np.ndarray, by_head: Head) -> None:
        """Adds the gradients with respect to the logits' head and, through it, to the last hidden layer; adds facts to part k."""
        head, loss = self.network.head, Loss(CLIP, float(self.options.entropy), scale)
        final = Head(head.weight.numpy(), head.bias.numpy(), self.network.afterstate_head())
        kernels.learn_moves(last, by, final, self._targets, which, loss, by_head, self._facts[k, :-1])
