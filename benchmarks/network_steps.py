"""A training step of each example network: with our operators, and with the best that PyTorch alone has in their place.

Run it as ``python3 -m benchmarks.network_steps`` in the root of a clone; matplotlib must be there,
since the examples draw. A step is forward, backward and optimiser; its batch is made before. Both
kinds of steps train the same network in turns, each pair of them on the same batch. Before, losses
and gradients are compared, and of several ways to write the operators with PyTorch the fastest is
chosen.

The first figures are of the clock, with ``--threads``; the others of the processor's time, with one
thread, which other programs disturb less. ``operators`` is the part of our step that its operators
take, in both directions. ``ratio`` is our time divided by that with PyTorch alone, and ``limit``
what it would be if our operators took no time: the rest of the network is the same for both.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import statistics
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.problem import WrongResultError
from benchmarks.threads import set_all_threads
from benchmarks.torch_compositions import NETWORKS, Operators, autograd_function, ways_of

_FOLDER = Path(__file__).parents[1] / "examples" / "networks"
_SHARED = ("scenes", "training")

#: Steps to choose the best way, and how far losses and gradients may differ, relative to their
#: size.
_TRIALS, _TOLERANCE, _GRADIENT_TOLERANCE = 5, 1e-4, 2e-3

#: Pairs of steps that are measured at least.
_ROUNDS = 4

_HEAD = ("ms", "PyTorch", "ratio", "operators", "limit")

Clock = Callable[[], float]


class _CaughtError(Exception):
    """Leaves an example where its training would begin, and takes along what would be trained."""

    def __init__(self, network: Any, loss: Callable[[int], Any], steps: int, rate: float) -> None:
        super().__init__(f"{type(network).__name__}: {steps} steps")
        self.network, self.loss, self.rate = network, loss, rate


@contextmanager
def examples() -> Generator[Callable[[str], Any]]:
    """Give the function that imports an example, as Python does that runs one."""
    sys.path.insert(0, str(_FOLDER))
    try:
        yield importlib.import_module
    finally:
        sys.path.remove(str(_FOLDER))
        for name in (*NETWORKS, *_SHARED):
            sys.modules.pop(name, None)


def _caught(example: Any, seed: int, rng: np.random.Generator) -> _CaughtError:
    """Run an example with this generator until it would train."""
    torch: Any = importlib.import_module("torch")

    def train(*arguments: Any) -> None:
        raise _CaughtError(*arguments)

    @contextmanager
    def reproducible(args: Any) -> Generator[np.random.Generator]:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(args.seed)
            yield rng

    example.train, example.reproducible = train, reproducible
    try:
        example.main(["--seed", str(seed), "--plot", "unused.png"])
    except _CaughtError as found:
        return found
    raise RuntimeError(f"{example.__name__}: expected a call of train(network, loss, steps, rate), there was none")


class Training:
    """What an example trains: its network, its loss and an optimiser; and the batches that come."""

    def __init__(self, example: Any, seed: int = 0) -> None:
        self.rng = np.random.default_rng(seed)
        self.batch: Any = None
        found = _caught(example, seed, self.rng)
        self.network, self.loss = found.network, found.loss
        torch: Any = importlib.import_module("torch")
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=found.rate)
        self.begin = 0.0
        self.clock: Clock = time.perf_counter
        self.network.register_forward_pre_hook(self._begin)
        self.network.train()
        self.new_batch()

    def _begin(self, *_: Any) -> None:
        self.begin = self.clock()

    def new_batch(self) -> None:
        """Let the steps that follow have another batch, all of them the same."""
        self.batch = self.rng.bit_generator.state

    def losses(self, operators: Operators) -> tuple[float, list[Any]]:
        """Return the loss of the batch and the gradients, and change no weight."""
        self.rng.bit_generator.state = self.batch
        with swapped(operators):
            self.optimizer.zero_grad()
            loss = self.loss(0)
            loss.backward()
        return float(loss.detach()), [parameter.grad.clone() for parameter in self.network.parameters()]

    def step(self, operators: Operators, clock: Clock) -> float:
        """Train one step and return its seconds, from the network's input to the new weights."""
        self.rng.bit_generator.state = self.batch
        self.clock = clock
        with swapped(operators):
            self.optimizer.zero_grad()
            loss = self.loss(0)
            loss.backward()
            self.optimizer.step()
            return clock() - self.begin


def _namespaces() -> list[ModuleType]:
    """Return the modules where the networks look up operators: those of the families too, for the layers there."""
    package = importlib.import_module("pymluops.torch")
    found = [module.name for module in pkgutil.iter_modules(package.__path__) if not module.name.startswith("_")]
    names = ["", *(f".{name}" for name in found), ".sparse._convolutions"]
    return [importlib.import_module(f"{package.__name__}{name}") for name in names]


@contextmanager
def swapped(operators: Operators) -> Generator[None]:
    """Put other functions in the place of the operators, wherever the networks look them up."""
    before: list[tuple[Any, str, Any]] = []
    try:
        for namespace in _namespaces():
            for name, function in operators.items():
                if hasattr(namespace, name):
                    before.append((namespace, name, getattr(namespace, name)))
                    setattr(namespace, name, function)
        yield
    finally:
        for namespace, name, function in before:
            setattr(namespace, name, function)


class Watch:
    """Our operators, and the seconds that they have taken, forward and backward."""

    def __init__(self, names: Sequence[str], clock: Clock) -> None:
        self.clock, self.seconds, self.begin = clock, 0.0, 0.0
        ours: Any = importlib.import_module("pymluops.torch")
        self.operators = {name: self._watched(getattr(ours, name)) for name in names}
        # Nodes before and behind an operator in the graph: nothing else runs between them in the
        # backward direction.
        self._before = self._node(self._end)
        self._behind = self._node(self._start)

    def _start(self) -> None:
        self.begin = self.clock()

    def _end(self) -> None:
        self.seconds += self.clock() - self.begin

    def _node(self, action: Callable[[], None]) -> Callable[..., Any]:
        """Return a function that passes tensors through, and calls `action` when their gradients come back."""

        def forward(ctx: Any, *tensors: Any) -> Any:
            return tuple(tensor.view_as(tensor) for tensor in tensors)

        def backward(ctx: Any, *gradients: Any) -> Any:
            action()
            return gradients

        return autograd_function(forward, backward)

    def _watched(self, operator: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            given = list(arguments)
            tracked = [i for i, value in enumerate(given) if getattr(value, "requires_grad", False)]
            if tracked:
                for i, tensor in zip(tracked, self._before(*(given[i] for i in tracked)), strict=True):
                    given[i] = tensor
            self._start()
            found = operator(*given, **options)
            self._end()
            return self._behind(found)[0] if getattr(found, "requires_grad", False) else found

        return call


@dataclass(frozen=True)
class Figures:
    """Median milliseconds of a step, ours and with PyTorch alone, ours by theirs, and the operators' part of ours."""

    ours: float
    theirs: float
    ratio: float
    share: float

    @property
    def limit(self) -> float:
        """What the ratio would be if our operators took no time."""
        return self.ratio * (1 - self.share)

    def cells(self) -> tuple[str, ...]:
        """Return the figures as text."""
        return (
            f"{self.ours:.2f}",
            f"{self.theirs:.2f}",
            f"{self.ratio:.2f}",
            f"{100 * self.share:.0f} %",
            f"{self.limit:.2f}",
        )


def check(name: str, training: Training, operators: Operators) -> None:
    """Raise `WrongResultError` unless loss and gradients are those of our operators."""
    (expected, firsts), (found, seconds) = training.losses({}), training.losses(operators)
    if not abs(found - expected) <= _TOLERANCE * abs(expected):
        raise WrongResultError(f"{name}: the loss is {found:.6g} instead of {expected:.6g}")
    largest = max(float(one.norm()) for one in firsts)
    worst = max(float((one - other).norm()) for one, other in zip(firsts, seconds, strict=True))
    if not worst <= _GRADIENT_TOLERANCE * largest:
        raise WrongResultError(f"{name}: gradients differ by {worst:.2g} where they reach {largest:.2g}")


def best_way(training: Training, ways: dict[str, Operators], clock: Clock) -> str:
    """Return the fastest way of some trials."""
    times = {name: [training.step(way, clock) for _ in range(_TRIALS)] for name, way in ways.items()}
    return min(times, key=lambda name: statistics.median(times[name][1:] or times[name]))


def measure(training: Training, operators: Operators, seconds: float, clock: Clock) -> Figures:
    """Train in pairs of steps, and every fourth time one more to see what the operators take."""
    watch = Watch(tuple(operators), clock)
    ours: list[float] = []
    theirs: list[float] = []
    shares: list[float] = []
    end = time.monotonic() + seconds
    while time.monotonic() < end or len(ours) < _ROUNDS:
        training.new_batch()
        turns = [(ours, {}), (theirs, operators)]
        for times, functions in turns if len(ours) % 2 else turns[::-1]:
            times.append(training.step(functions, clock))
        if len(ours) % 4 == 1:
            watch.seconds = 0.0
            whole = training.step(watch.operators, clock)
            shares.append(watch.seconds / whole)
    ratios = [one / other for one, other in zip(ours, theirs, strict=True)]
    one, other = 1e3 * statistics.median(ours), 1e3 * statistics.median(theirs)
    return Figures(one, other, statistics.median(ratios), statistics.median(shares))


def run(example: Any, threads: int, seconds: float, clock: Clock) -> tuple[Figures, str]:
    """Return the figures of a network, and the best way to write its operators with PyTorch."""
    set_all_threads(threads)
    training, ways = Training(example), ways_of(example.__name__, threads)
    # At the start, attention looks exactly at pixels, where the gradient of an interpolation jumps.
    for _ in range(_TRIALS):
        training.step({}, clock)
    for name, way in ways.items():
        check(f"{example.__name__}: {name}", training, way)
    best = best_way(training, ways, clock)
    return measure(training, ways[best], seconds, clock), best


def main(arguments: list[str] | None = None) -> int:
    """Print a row for each network."""
    parser = argparse.ArgumentParser(
        prog="python3 -m benchmarks.network_steps", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--network", action="append", choices=NETWORKS, help="one of them; may be given again")
    parser.add_argument("--threads", type=int, default=2, help="threads for both (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=10.0, help="for each network and clock (default: %(default)s)")
    args = parser.parse_args(arguments)
    if args.threads < 1:
        parser.error(f"--threads: expected a positive number, got {args.threads}")
    heads = f"clock, threads: {args.threads}", "processor's time, threads: 1"
    print(f"{'':16}{heads[0]:>50}{heads[1]:>50}")
    print(f"{'network':16}" + "".join(f"{name:>10}" for name in _HEAD * 2) + "   best ways with PyTorch", flush=True)
    with examples() as load:
        for name in args.network or NETWORKS:
            figures, way = run(load(name), args.threads, args.seconds, time.perf_counter)
            alone, best = run(load(name), 1, args.seconds, time.process_time)
            cells = "".join(f"{cell:>10}" for cell in (*figures.cells(), *alone.cells()))
            print(f"{name:16}{cells}   {way}; {best}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
