"""Random use of every Python object by many threads at once: made, used, closed, dropped, forked.

    python tests/stress/objects.py --backend sim --seconds 60 --seed 1

Threads share all objects. An operation may raise an error of the package, because another thread
closed something; any other exception, a wrong value, a leak, a hang and a crash are failures. The
program prints what it did, and exits with 1 after a failure. A hang is ended by a watchdog, which
prints where every thread is.
"""

from __future__ import annotations

import argparse
import collections
import faulthandler
import gc
import os
import random
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import pymluops

sys.path.append(str(Path(__file__).resolve().parents[1]))  # the modules of the tests

from support.example import MOVING, MOVING_BACK, PAIRING

THREADS = 8
#: Shared objects of each kind.
SHARED = 6
#: Seconds without any progress that count as a hang.
PATIENCE = 300
#: Seconds that the child of a fork may take.
CHILD_SECONDS = 120

FRAMES = np.random.default_rng(0).random((1, 4, 8, 50), np.float32)
NO_SHIFTS = np.zeros((1, 4), np.int32)
VOXELS = np.array([[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 3]], np.int32)
GEOMETRY = {"batch_size": 1, "spatial_shape": (1, 1, 4), "kernel_size": (1, 1, 2), "stride": (1, 1, 2)}
OUTPUTS = [[0, 0, 0, 0], [0, 0, 0, 1]]

Action = Callable[["Stress", random.Random], object]


class WrongValueError(Exception):
    """A result is not what it must be."""


class Stress:
    """What the threads share, and what they found.

    Parameters
    ----------
    backend : str
        ``"cpu"`` or ``"sim"``.
    seed : int
        Start of the random numbers.
    seconds : float
        How long the threads work.
    """

    def __init__(self, backend: str, seed: int, seconds: float) -> None:
        self.backend = pymluops.load(backend)
        self.on_device = self.backend.on_device
        self.seed, self.seconds = seed, seconds
        self.done: collections.Counter[str] = collections.Counter()
        self.refused: collections.Counter[str] = collections.Counter()
        self.failures: list[str] = []
        self.handles = [pymluops.Handle(self.backend) for _ in range(SHARED)]
        self.geometries = [geometry(self) for _ in range(SHARED)]
        self.descriptors = [pymluops.TensorDescriptor.of(FRAMES) for _ in range(SHARED)]
        self.queues: list[pymluops.Queue] = []
        self.arrays: list[pymluops.DeviceArray] = []
        self.outputs = [np.empty_like(FRAMES) for _ in range(SHARED)]
        if self.on_device:
            self.queues = [pymluops.Queue(self.backend) for _ in range(SHARED)]
            self.handles = [pymluops.Handle(queue=queue) for queue in self.queues]
            self.arrays = [self.new_array() for _ in range(SHARED)]
            self.shifts = pymluops.DeviceArray.from_host(NO_SHIFTS, self.backend)
        self.actions = [*COMMON, *(ON_DEVICE if self.on_device else [])]

    def new_array(self, queue: pymluops.Queue | None = None) -> pymluops.DeviceArray:
        return pymluops.DeviceArray.from_host(FRAMES, self.backend, queue)

    # ---- threads ----

    def run(self) -> None:
        """Let the threads work until the time is over."""
        threads = [threading.Thread(target=self.work, args=(number,), daemon=True) for number in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def work(self, number: int) -> None:
        generator = random.Random(self.seed * 1000 + number)
        end = time.monotonic() + self.seconds
        while time.monotonic() < end and not self.failures:
            action = generator.choice(self.actions)
            if action is fork and generator.random() > 0.2:
                continue  # a fork takes longer than all else
            self.attempt(action, generator)
            faulthandler.dump_traceback_later(PATIENCE, exit=True)

    def attempt(self, action: Action, generator: random.Random) -> None:
        try:
            action(self, generator)
        except pymluops.MluOpError as error:
            self.refused[f"{type(error).__name__} in {action.__name__}"] += 1
        except BaseException:
            self.failures.append(f"{action.__name__}: {traceback.format_exc()}")
        self.done[action.__name__] += 1

    # ---- the end ----

    def close(self) -> None:
        """Drop everything; what stays alive is a leak."""
        before = (self.handles, self.geometries, self.queues, self.arrays)
        for things in before:
            for thing in things:
                thing.close()
            things.clear()
        if self.on_device:
            self.shifts.close()
        gc.collect()
        if self.on_device:
            counters = pymluops.sim.counters()
            if (counters.live_allocations, counters.live_queues) != (0, 0):
                self.failures.append(f"leak: {counters}")


def right(found: np.ndarray) -> None:
    if not np.array_equal(found, FRAMES):
        raise WrongValueError(f"{np.count_nonzero(found != FRAMES)} values differ")


def geometry(stress: Stress) -> pymluops.SparseConvolutionDescriptor:
    return pymluops.SparseConvolutionDescriptor(1, (8, 8, 8), 3, (4, 4, 4), 2, 1, backend=stress.backend)


# ---- actions, on any backend ---------------------------------------------------------------------


def call_on_host_arrays(stress: Stress, generator: random.Random) -> None:
    right(MOVING.run(FRAMES, NO_SHIFTS, handle=generator.choice(stress.handles)))


def call_into_an_array(stress: Stress, generator: random.Random) -> None:
    out = np.full_like(FRAMES, -1)
    MOVING_BACK.run(FRAMES, NO_SHIFTS, out=out, handle=generator.choice(stress.handles))
    right(out)


def call_with_a_workspace(stress: Stress, generator: random.Random) -> None:
    found = PAIRING.run(VOXELS, **GEOMETRY, handle=generator.choice(stress.handles))  # type: ignore[arg-type]
    if found.out_indices.tolist() != OUTPUTS:
        raise WrongValueError(found)


def call_with_the_default_handle(stress: Stress, generator: random.Random) -> None:
    with pymluops.use(stress.backend):
        right(MOVING.run(FRAMES, NO_SHIFTS))


def refuse_arguments(stress: Stress, generator: random.Random) -> None:
    handle = generator.choice(stress.handles)
    try:
        MOVING.run(FRAMES[0], NO_SHIFTS, handle=handle)
    except (pymluops.BadParamError, pymluops.NotInitializedError):
        return
    raise WrongValueError("a shape of 3 dims was accepted")


def use_a_handle(stress: Stress, generator: random.Random) -> None:
    handle = generator.choice(stress.handles)
    handle.sync()
    _ = handle.queue, handle.closed, repr(handle), handle.cdata


def close_a_handle(stress: Stress, generator: random.Random) -> None:
    generator.choice(stress.handles).close()


def renew_a_handle(stress: Stress, generator: random.Random) -> None:
    queue = generator.choice(stress.queues) if stress.queues else None
    stress.handles[generator.randrange(SHARED)] = pymluops.Handle(stress.backend, queue)


def use_a_geometry(stress: Stress, generator: random.Random) -> None:
    found = generator.choice(stress.geometries)
    _ = found.num_act_out, found.cdata, repr(found)


def close_or_renew_a_geometry(stress: Stress, generator: random.Random) -> None:
    number = generator.randrange(SHARED)
    if generator.random() < 0.5:
        stress.geometries[number].close()
    else:
        stress.geometries[number] = geometry(stress)


def use_a_descriptor(stress: Stress, generator: random.Random) -> None:
    stress.descriptors[generator.randrange(SHARED)] = pymluops.TensorDescriptor.of(generator.choice(stress.outputs))
    _ = repr(generator.choice(stress.descriptors))


def change_the_number_of_threads(stress: Stress, generator: random.Random) -> None:
    pymluops.set_num_threads(generator.randint(1, 4))
    pymluops.get_num_threads()


def collect_garbage(stress: Stress, generator: random.Random) -> None:
    if generator.random() < 0.05:
        gc.collect(0)


def fork(stress: Stress, generator: random.Random) -> None:
    """Let a child use the shared objects and objects of its own; it must neither crash nor hang."""
    seed = generator.random()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.alarm(CHILD_SECONDS)
            code = child_code(stress, random.Random(seed))
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code != 0:
        raise WrongValueError(f"the child of a fork ended with {code}")


def child_code(stress: Stress, generator: random.Random) -> int:
    for action in (a for a in generator.sample(stress.actions, 8) if a is not fork):
        stress.attempt(action, generator)
    # Device memory is the parent's: what the shared arrays hold is not looked at.
    failures = [text for text in stress.failures if "WrongValueError" not in text]
    with pymluops.Handle(stress.backend) as handle:
        right(MOVING.run(FRAMES, NO_SHIFTS, handle=handle))
    for text in failures:
        os.write(2, text.encode())
    return 3 if failures else 0


# ---- actions on a device -------------------------------------------------------------------------


def launch(stress: Stress, generator: random.Random) -> None:
    array = generator.choice(stress.arrays)
    found = MOVING.run(array, stress.shifts, handle=generator.choice(stress.handles))
    if generator.random() < 0.3:
        stress.arrays[generator.randrange(SHARED)] = found


def launch_into_an_array(stress: Stress, generator: random.Random) -> None:
    array, out = generator.choice(stress.arrays), generator.choice(stress.arrays)
    MOVING.run(array, stress.shifts, out=out, handle=generator.choice(stress.handles))


def read_an_array(stress: Stress, generator: random.Random) -> None:
    right(generator.choice(stress.arrays).to_host())


def read_an_array_later(stress: Stress, generator: random.Random) -> None:
    generator.choice(stress.arrays).to_host(generator.choice(stress.outputs), generator.choice(stress.queues))


def read_into_an_array_that_is_dropped(stress: Stress, generator: random.Random) -> None:
    generator.choice(stress.arrays).to_host(queue=generator.choice(stress.queues))


def write_an_array_later(stress: Stress, generator: random.Random) -> None:
    generator.choice(stress.arrays).copy_from(FRAMES.copy(), generator.choice(stress.queues))


def renew_an_array(stress: Stress, generator: random.Random) -> None:
    queue = generator.choice(stress.queues) if generator.random() < 0.5 else None
    stress.arrays[generator.randrange(SHARED)] = stress.new_array(queue)


def close_an_array(stress: Stress, generator: random.Random) -> None:
    array = generator.choice(stress.arrays)
    _ = array.shape, array.nbytes, repr(array)
    if generator.random() < 0.5:
        array.close()
        stress.arrays[generator.randrange(SHARED)] = stress.new_array()


def use_a_queue(stress: Stress, generator: random.Random) -> None:
    queue = generator.choice(stress.queues)
    if generator.random() < 0.5:
        queue.sync()
    _ = queue.done, queue.address, repr(queue)


def close_a_queue(stress: Stress, generator: random.Random) -> None:
    if generator.random() < 0.3:
        generator.choice(stress.queues).close()


def renew_a_queue(stress: Stress, generator: random.Random) -> None:
    number, queue = generator.randrange(SHARED), pymluops.Queue(stress.backend)
    stress.queues[number], stress.handles[number] = queue, pymluops.Handle(queue=queue)


def ask_the_simulator(stress: Stress, generator: random.Random) -> None:
    _ = pymluops.sim.counters(), pymluops.sim.device(), pymluops.sim.findings(), pymluops.sim.report()


def change_the_device(stress: Stress, generator: random.Random) -> None:
    try:
        pymluops.sim.set_device(generator.choice(["MLU590", "MLU370-X8"]))
    except pymluops.BadParamError:
        return


COMMON: list[Action] = [
    call_on_host_arrays, call_into_an_array, call_with_a_workspace, call_with_the_default_handle, refuse_arguments,
    use_a_handle, close_a_handle, renew_a_handle, use_a_geometry, close_or_renew_a_geometry, use_a_descriptor,
    change_the_number_of_threads, collect_garbage, fork,
]  # fmt: skip
ON_DEVICE: list[Action] = [
    launch, launch_into_an_array, read_an_array, read_an_array_later, read_into_an_array_that_is_dropped,
    write_an_array_later, renew_an_array, close_an_array, use_a_queue, close_a_queue, renew_a_queue, ask_the_simulator,
    change_the_device,
]  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Run the program."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--backend", choices=("cpu", "sim"), default="cpu")
    parser.add_argument("--seconds", type=float, default=10, help="how long (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="start of the random numbers")
    given: Any = parser.parse_args(arguments)
    print(f"backend {given.backend}, seed {given.seed}, {given.seconds:g} s, {THREADS} threads", flush=True)
    warnings.simplefilter("ignore", DeprecationWarning)  # newer releases of Python warn of forks beside threads
    faulthandler.enable()
    # The child of a fork that hangs shows where, and ends.
    faulthandler.register(signal.SIGALRM, chain=True)
    stress = Stress(given.backend, given.seed, given.seconds)
    stress.run()
    faulthandler.dump_traceback_later(PATIENCE, exit=True)
    stress.close()
    faulthandler.cancel_dump_traceback_later()
    print(f"{stress.done.total()} operations, {stress.refused.total()} refused, {stress.done['fork']} forks")
    for text in stress.failures:
        print(f"FAILURE: {text}", file=sys.stderr)
    return 1 if stress.failures else 0


if __name__ == "__main__":
    sys.exit(main())
