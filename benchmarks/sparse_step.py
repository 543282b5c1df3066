"""A step of a sparse convolution, forward and both gradients: ours, the best composition of PyTorch, spconv.

Run it as ``python3 -m benchmarks.sparse_step [--scan scan.bin]``. Without a scan it models a
turning LiDAR. Voxels are 0.05 x 0.05 x 0.1 m, as in SECOND. The pairs are found beforehand, and are
not timed. Contenders take turns, and the figures are medians; the results are compared before they
are timed. spconv takes part with one thread only: its CPU build gives wrong sums with more.
``--cpu-time`` counts the time of the processor instead of the clock's, for one thread on a busy
machine.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.coordinates import lidar_sites
from benchmarks.peers.indice_convolution.torch import convolve, gradients
from benchmarks.problem import WrongResultError
from benchmarks.timing import Plan, times_in_turns

_SPACE, _LOW, _VOXEL = (41, 1600, 1408), (-3.0, -40.0, 0.0), (0.1, 0.05, 0.05)
_CHANNELS = ((16, 32), (64, 64))

Step = Callable[[], tuple[Any, Any, Any]]


def voxels(scan: Path | None) -> npt.NDArray[np.int32]:
    """Return the places of a scan's voxels, or of a modelled one: [L, 4], batch 0."""
    if scan is None:
        return lidar_sites(16000, 1, _SPACE)
    points = np.fromfile(scan, np.float32).reshape(-1, 4)[:, 2::-1].astype(np.float64)
    places = np.floor((points - _LOW) / _VOXEL).astype(np.int64)
    inside = ((places >= 0) & (places < _SPACE)).all(1)
    found = np.unique(places[inside], axis=0).astype(np.int32)
    return np.concatenate([np.zeros((len(found), 1), np.int32), found], 1)


class Case:
    """One convolution: its pairs, features, filter and the gradient that comes back."""

    def __init__(self, places: npt.NDArray[np.int32], channels: tuple[int, int], submanifold: bool) -> None:
        self.torch: Any = importlib.import_module("torch")
        self.ops: Any = importlib.import_module("pymluops.torch")
        self.places, self.submanifold, self.stride = self.torch.from_numpy(places), submanifold, 1 if submanifold else 2
        rows = (self.places, 1, _SPACE, 3, self.stride, 1, 1, 0, submanifold)
        self.out, self.pairs, self.num = self.ops.get_indice_pairs(*rows)
        self.torch.manual_seed(0)
        self.features = self.torch.randn(len(places), channels[0])
        self.filters = self.torch.randn(3, 3, 3, *channels) / channels[0] ** 0.5
        self.grad = self.torch.randn(len(self.out), channels[1])

    def steps(self) -> dict[str, Step]:
        """Return a step of each contender that is installed."""
        found = {"pymluops": self._ours(), "torch": self._composition()}
        if self.torch.get_num_threads() == 1 and importlib.util.find_spec("spconv") is not None:
            found["spconv"] = self._spconv()
        return found

    def _ours(self) -> Step:
        features, filters = self.features.clone().requires_grad_(), self.filters.clone().requires_grad_()

        def step() -> tuple[Any, Any, Any]:
            out = self.ops.indice_conv(features, filters, self.pairs, self.num, len(self.out))
            return (out.detach(), *self.torch.autograd.grad(out, (features, filters), self.grad))

        return step

    def _composition(self) -> Step:
        """Gather, product and index_add for each filter cell, with gradients written by hand, which share a gather."""
        rows = [(p[0, :n].long(), p[1, :n].long()) for p, n in zip(self.pairs, self.num.tolist(), strict=True)]
        cells = self.filters.flatten(0, 2)

        def step() -> tuple[Any, Any, Any]:
            out = convolve(self.features, cells, rows, self.torch.empty_like(self.grad))
            first, second = self.torch.empty_like(self.features), self.torch.empty_like(cells)
            gradients(self.features, cells, rows, self.grad, first, second)
            return out, first, second.view_as(self.filters)

        return step

    def _spconv(self) -> Step:
        """The functions of spconv's CPU build, with its own pairs. Its rows of outputs may have another order."""
        operators: Any = importlib.import_module("spconv.pytorch.ops")
        functional: Any = importlib.import_module("spconv.pytorch.functional")
        native = importlib.import_module("spconv.core").ConvAlgo.Native
        operators.get_current_stream = lambda: 0  # the CPU build asks for one of CUDA's in the backward direction
        each = ([value] * 3 for value in (3, self.stride, 1, 1, 0))
        out, pairs, num = operators.get_indice_pairs(self.places, 1, list(_SPACE), native, *each, self.submanifold)
        convolve = functional.indice_subm_conv if self.submanifold else functional.indice_conv
        features = self.features.clone().requires_grad_()
        filters = self.ops.filters_to_spconv(self.filters).requires_grad_()
        order, mine = self._order(out), self._order(self.out)
        grad = self.torch.empty_like(self.grad)
        grad[order] = self.grad[mine]

        def step() -> tuple[Any, Any, Any]:
            found = convolve(features, filters, pairs, num, len(out), native)
            return (found.detach(), *self.torch.autograd.grad(found, (features, filters), grad))

        expected, got = self._composition()(), step()
        filter_grad = self.ops.filters_from_spconv(got[2])
        _compare("spconv", (expected[0][mine], *expected[1:]), (got[0][order], got[1], filter_grad))
        return step

    def _order(self, places: Any) -> Any:
        """Return the rows by their places."""
        number = 0
        for axis, size in enumerate(_SPACE):
            number = number * size + places[:, 1 + axis].long()
        return self.torch.argsort(number)


def _compare(name: str, expected: tuple[Any, ...], found: tuple[Any, ...]) -> None:
    for one, other in zip(expected, found, strict=True):
        if float((one - other).abs().max()) > 1e-4 * float(one.abs().max()):
            raise WrongResultError(f"{name}: the results differ")


def measure(case: Case, seconds: float, clock: Callable[[], int]) -> dict[str, float]:
    """Return the median seconds of a step of each contender."""
    steps = case.steps()
    _compare("pymluops", steps["torch"](), steps["pymluops"]())
    plan = Plan(budget=seconds, rounds=(3, 10_000), calls=(1, 1), pause=0.0)
    times = times_in_turns(steps, plan, clock)
    return {name: statistics.median(values) for name, values in times.items()}


def main(arguments: list[str] | None = None) -> int:
    """Print a row for each convolution."""
    parser = argparse.ArgumentParser(
        prog="python3 -m benchmarks.sparse_step", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--scan", type=Path, help="points of four float32 each, as KITTI has them")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=5.0, help="for each row")
    parser.add_argument("--cpu-time", action="store_true", help="measure the processor's time; only with one thread")
    args = parser.parse_args(arguments)
    if args.cpu_time and args.threads != 1:
        parser.error("--cpu-time needs --threads 1: it adds up the time of all threads")
    importlib.import_module("torch").set_num_threads(args.threads)
    places = voxels(args.scan)
    clock = time.process_time_ns if args.cpu_time else time.perf_counter_ns
    print(f"{len(places)} voxels, {args.threads} threads, ms (our time divided by theirs)")
    for channels in _CHANNELS:
        for submanifold in (True, False):
            found = measure(Case(places, channels, submanifold), args.seconds, clock)
            ours = found.pop("pymluops")
            others = [f"{name} {1e3 * value:.2f} ({ours / value:.2f})" for name, value in found.items()]
            kind = "sub-manifold" if submanifold else "strided"
            print(f"{kind:12}  {channels[0]} -> {channels[1]}  ours {1e3 * ours:.2f}", *others, sep="  ", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
