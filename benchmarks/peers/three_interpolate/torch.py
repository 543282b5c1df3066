"""three_interpolate with PyTorch: gathers and scatters, a dense matrix for the matrix product, bags of embeddings.

float16 is computed in float32 where that is faster; the dense product is also tried in float16.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem

#: Larger dense matrices than this, over all batches, are slower than anything else.
_MOST_CELLS = 1 << 28

#: PyTorch's product of float16 matrices on CPUs takes seconds beyond this many multiplications.
_MOST_PRODUCTS = 1 << 27


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the ways that suit the direction and the type."""
    torch: Any = importlib.import_module("torch")
    forward = problem.case.operator.endswith("forward")
    facts = problem.case.parameters
    work = (_Forward if forward else _Backward)(torch, problem, outputs)
    ways: dict[str, Callable[[], None]] = dict(work.ways)
    cells = facts["batch"] * facts["features"] * facts["points"]
    if cells <= _MOST_CELLS:
        ways["dense matrix"] = lambda: work.dense(torch.float32)
        if work.out.dtype == torch.float16 and cells * facts["channels"] <= _MOST_PRODUCTS:
            ways["dense matrix, float16"] = lambda: work.dense(torch.float16)

    def giving(compute: Callable[[], None]) -> Callable[[], Arrays]:
        def run() -> Arrays:
            compute()
            return outputs

        return run

    return {name: giving(compute) for name, compute in ways.items()}


class _Interpolation:
    """What both directions share."""

    def __init__(self, torch: Any, problem: Problem, outputs: Arrays, name: str) -> None:
        self.torch = torch
        self.source = torch.from_numpy(problem.inputs[name])
        self.indices = torch.from_numpy(problem.inputs["indices"])
        self.weights = torch.from_numpy(problem.inputs["weights"])
        self.out = torch.from_numpy(outputs["out"])
        self.batch, self.points = self.indices.shape[:2]
        self.channels = self.source.shape[1]
        self.features = problem.case.parameters["features"]

    def matrix(self, dtype: Any) -> Any:
        """The interpolation as a dense matrix [B, N, M]."""
        dense = self.torch.zeros((self.batch, self.points, self.features), dtype=dtype)
        return dense.scatter_add_(2, self.indices.long(), self.weights.to(dtype))

    def multiply(self, matrix: Any, dtype: Any) -> None:
        """Write the product of the source and a matrix."""
        if self.out.dtype == dtype:
            self.torch.bmm(self.source, matrix, out=self.out)
        else:
            self.out.copy_(self.torch.bmm(self.source.to(dtype), matrix))

    def rows(self) -> Any:
        """The source with channels last and the batches below one another, in float32."""
        turned = self.source.transpose(1, 2).to(self.torch.float32)
        return turned.contiguous().view(-1, self.channels)

    def write_rows(self, rows: Any) -> None:
        """Write a result that has channels last."""
        self.out.copy_(rows.view(self.batch, -1, self.channels).transpose(1, 2))


class _Forward(_Interpolation):
    def __init__(self, torch: Any, problem: Problem, outputs: Arrays) -> None:
        super().__init__(torch, problem, outputs, "features")
        self.ways = {"gather": self.gather, "embedding_bag": self.embedding_bag}

    def dense(self, dtype: Any) -> None:
        self.multiply(self.matrix(dtype).transpose(1, 2), dtype)

    def gather(self) -> None:
        index = self.indices.long().view(self.batch, 1, -1).expand(-1, self.channels, -1)
        taken = self.source.gather(2, index).view(self.batch, self.channels, self.points, 3)
        if self.out.dtype == self.torch.float32:
            self.torch.sum(taken.mul_(self.weights.unsqueeze(1)), dim=3, out=self.out)
        else:
            self.out.copy_((taken.float() * self.weights.float().unsqueeze(1)).sum(3))

    def embedding_bag(self) -> None:
        first = self.torch.arange(self.batch, dtype=self.torch.int32).view(-1, 1, 1) * self.features
        bags = (self.indices + first).view(-1, 3)
        weights = self.weights.view(-1, 3).float()
        bag = self.torch.nn.functional.embedding_bag
        self.write_rows(bag(bags, self.rows(), mode="sum", per_sample_weights=weights))


class _Backward(_Interpolation):
    def __init__(self, torch: Any, problem: Problem, outputs: Arrays) -> None:
        super().__init__(torch, problem, outputs, "grad_output")
        self.ways = {"scatter_add": self.scatter_add, "index_add": self.index_add, "sorted bags": self.sorted_bags}

    def dense(self, dtype: Any) -> None:
        self.multiply(self.matrix(dtype), dtype)

    def scatter_add(self) -> None:
        index = self.indices.long().view(self.batch, 1, -1).expand(-1, self.channels, -1)
        parts = self.source.float().unsqueeze(3) * self.weights.float().unsqueeze(1)
        parts = parts.view(self.batch, self.channels, -1)
        if self.out.dtype == self.torch.float32:
            self.out.zero_().scatter_add_(2, index, parts)
        else:
            total = self.torch.zeros(self.out.shape, dtype=self.torch.float32)
            self.out.copy_(total.scatter_add_(2, index, parts))

    def _targets(self) -> Any:
        first = self.torch.arange(self.batch).view(-1, 1, 1) * self.features
        return (self.indices + first).view(-1)

    def index_add(self) -> None:
        rows, weights = self.rows(), self.weights.float().view(-1, 3)
        targets = self._targets().view(-1, 3)
        total = self.torch.zeros((self.batch * self.features, self.channels))
        for i in range(3):
            total.index_add_(0, targets[:, i], rows * weights[:, i : i + 1])
        self.write_rows(total)

    def sorted_bags(self) -> None:
        """The index turned round: for each feature the points that name it, as one bag."""
        targets, order = self.torch.sort(self._targets(), stable=True)
        bounds = self.torch.arange(self.batch * self.features + 1)
        offsets = self.torch.searchsorted(targets, bounds)
        weights = self.weights.float().view(-1)[order]
        bag = self.torch.nn.functional.embedding_bag
        named = self.torch.div(order, 3, rounding_mode="floor")
        rows = bag(named, self.rows(), offsets, mode="sum", per_sample_weights=weights, include_last_offset=True)
        self.write_rows(rows)
