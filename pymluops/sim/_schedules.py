"""Schedules of what a device does not promise: times of copies, turns of cores, contents of undefined memory."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, NamedTuple

from pymluops._arguments import is_integer
from pymluops._core import Backend
from pymluops._shown import one_line, shortened, shown
from pymluops.errors import BadParamError, BadParamTypeError
from pymluops.sim._library import done, from_c, last_error, simulator


class Schedule(NamedTuple):
    """One way to run launches that a device might take.

    Attributes
    ----------
    copies : str
        When asynchronous copies with an end off chip happen: ``late``, when they are waited for;
        ``early``, when they are issued; ``random``, at random moments between.
    cores : str
        How cores take turns: ``fixed``, each until it waits, in the order of their numbers;
        ``random``, in random order and after random numbers of instructions.
    memory : str
        Contents of NRAM, WRAM and SRAM at the start of a task, and of new allocations of device
        memory: ``pattern``, the earlier contents; ``nan``, all bits are 1, which is NaN in every
        format and -1 in integers; ``zero``; ``noise``.
    seed : int
        Of all that is random, from 0 to 2**64 - 1.
    """

    copies: str = "late"
    cores: str = "fixed"
    memory: str = "pattern"
    seed: int = 0

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in zip(self._fields, self, strict=True))


def schedule() -> Schedule:
    """Return the schedule that launches follow now."""
    return schedule_of(simulator())


def set_schedule(copies: str = "late", cores: str = "fixed", memory: str = "pattern", seed: int = 0) -> None:
    """Choose the schedule that launches follow from now on.

    The n-th launch from now on runs in the same way whenever the same schedule is set. Without
    arguments launches run as usual.

    Parameters
    ----------
    copies : {"late", "early", "random"}
        When asynchronous copies happen, see `Schedule`.
    cores : {"fixed", "random"}
        How cores take turns.
    memory : {"pattern", "nan", "zero", "noise"}
        Contents of undefined memory.
    seed : int
        From 0 to 2**64 - 1.

    Raises
    ------
    BadParamError
        If one of them is anything else.

    Examples
    --------
    >>> pymluops.sim.set_schedule(copies="random", cores="random", memory="nan", seed=7)  # doctest: +SKIP
    """
    set_schedule_of(simulator(), _text(copies, cores, memory, seed))


@contextmanager
def scheduling(copies: str = "late", cores: str = "fixed", memory: str = "pattern", seed: int = 0) -> Generator[None]:
    """Choose the schedule of the launches that begin before the block ends; parameters as of `set_schedule`.

    Launches are asynchronous: wait for their queue inside of the block.

    Raises
    ------
    BadParamError
        As `set_schedule`.

    Examples
    --------
    >>> with pymluops.sim.scheduling(copies="early"):  # doctest: +SKIP
    ...     module.kernel("add")[4](x, y, out, 1000)
    """
    backend = simulator()
    before = schedule_of(backend)
    set_schedule_of(backend, _text(copies, cores, memory, seed))
    try:
        yield
    finally:
        set_schedule_of(backend, str(before))


def schedule_of(backend: Backend) -> Schedule:
    """Return the schedule of one library."""
    described = backend.ffi.new("mlusimSchedule *")
    done(backend, "schedule", backend.lib.mlusimGetSchedule(described))
    return from_c(Schedule, backend, described)


def set_schedule_of(backend: Backend, text: str) -> None:
    """Choose the schedule of one library, which knows the words."""
    if "\0" in text:
        raise BadParamError(f"set_schedule: schedule: expected words such as copies=early, got {shown(text)}")
    status = backend.lib.mlusimSetSchedule(text.encode("utf-8", "surrogateescape"))
    if status != 0:
        raise BadParamError(f"set_schedule: {shortened(one_line(last_error(backend)), 400)}")


def parsed_schedule(backend: Backend, text: str) -> Schedule:
    """Return the schedule for words like ``"copies=early,seed=3"``, without a change of the current one."""
    before = schedule_of(backend)
    set_schedule_of(backend, text)
    found = schedule_of(backend)
    set_schedule_of(backend, str(before))
    return found


def _text(copies: Any, cores: Any, memory: Any, seed: Any) -> str:
    for name, word in (("copies", copies), ("cores", cores), ("memory", memory)):
        if not isinstance(word, str) or not word.isalpha():
            kind = BadParamError if isinstance(word, str) else BadParamTypeError
            raise kind(f"set_schedule: {name}: expected one of its words, got {shown(word)}")
    if not is_integer(seed) or not 0 <= int(seed) < 1 << 64:
        kind = BadParamError if is_integer(seed) else BadParamTypeError
        raise kind(f"set_schedule: seed: expected an integer from 0 to 2**64-1, got {shown(seed)}")
    return str(Schedule(copies, cores, memory, int(seed)))
