"""A profile of the launches of a block of Python."""

from __future__ import annotations

import json
import os
import time
import weakref
from collections import defaultdict
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from pymluops._arguments import is_integer
from pymluops._core import Backend, set_operator_listener
from pymluops._shown import counted, shown
from pymluops._whole_file import whole_file
from pymluops.errors import BadParamError
from pymluops.sim._devices import device
from pymluops.sim._library import last_error, simulator
from pymluops.sim.profiler._figures import TimeModel, figures_of
from pymluops.sim.profiler._launch import LaunchProfile
from pymluops.sim.profiler._page import html_of
from pymluops.sim.profiler._read import read_launch
from pymluops.sim.profiler._text import table_of
from pymluops.sim.profiler._theory import OperatorCall, call_of
from pymluops.sim.profiler._trace import trace_of

#: Where the kernels of this package lie, as their lines are named.
_OWN = ("native/ops/", "native/bang/")


class Profile:
    """The launches of a block, each a `LaunchProfile`; made by `profiling`.

    Counts are exact. Times are estimates by a stated model (``docs/profile.md``), and no
    measurements.

    Examples
    --------
    >>> with pymluops.sim.profiling() as profile:  # doctest: +SKIP
    ...     module.kernel("add")[8, "union1"](x, y, out, n)
    >>> print(profile)  # doctest: +SKIP
    >>> profile.to_html("add.html")  # doctest: +SKIP
    """

    def __init__(self, backend: Backend, number: int, model: TimeModel, sources: dict[str, str]) -> None:
        self._backend = backend
        self._number = number
        self._read: list[LaunchProfile] = []
        self._calls: list[tuple[int, OperatorCall]] = []  # with the number of launches before
        self.model = model
        self.sources = sources
        weakref.finalize(self, backend.lib.mlusimFreeProfile, number)

    def _entered(self) -> int:
        lib = self._backend.lib
        return int(lib.mlusimGetProfileLaunchCount(self._number) + lib.mlusimGetProfilePendingCount(self._number))

    def note_operator(self, function: str, given: tuple[Any, ...], results: Any, settings: Any) -> None:
        """Remember a call of an operator of this package, whose launches have been put into a queue."""
        returned = tuple(cast("Sequence[Any]", results)) if isinstance(results, tuple) else (results,)
        arrays = (*given[: len(given) - len(returned)], *returned)
        if all(hasattr(array, "shape") for array in arrays):
            self._calls.append((self._entered(), call_of(function, arrays, settings)))

    @property
    def launches(self) -> tuple[LaunchProfile, ...]:
        """The launches in the order in which they ended. Waits for those that were put into a queue in the block."""
        lib = self._backend.lib
        while lib.mlusimGetProfilePendingCount(self._number):
            time.sleep(0.001)
        for number in range(len(self._read), lib.mlusimGetProfileLaunchCount(self._number)):
            contents = read_launch(self._backend, self._number, number)
            call = None
            if any(own in site.file for site in contents.sites for own in _OWN):
                call = next((call for entered, call in self._calls if number < entered), None)
            self._read.append(LaunchProfile(contents, self.model, self.sources, call))
        by_call: dict[int, float] = defaultdict(float)
        for launch in self._read:
            by_call[id(launch.call)] += launch.estimate_ns
        for launch in self._read:
            launch.operator_ns = launch.estimate_ns if launch.call is None else by_call[id(launch.call)]
        return tuple(self._read)

    @property
    def estimate_ns(self) -> float:
        """Estimated time of all launches, one after the other, without the host's time between them."""
        return sum(launch.estimate_ns for launch in self.launches)

    def table(self) -> str:
        """Return the profile as text of at most 120 columns."""
        return table_of(self.launches)

    __str__ = table

    def as_dict(self) -> dict[str, Any]:
        """Return counts, estimates and ratios as plain values, as in the file of `to_json`."""
        return {
            "format": "pymluops profile",
            "version": 1,
            "times_are": "estimates by the model of docs/profile.md, no measurements",
            "launches": [launch.as_dict() for launch in self.launches],
        }

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the profile as JSON, and write it to a file if there is a path. Events are in `to_chrome_trace`.

        Parameters
        ----------
        path : path, optional
            Where to write it.
        """
        return _written(path, json.dumps(self.as_dict(), indent=1, allow_nan=False) + "\n")

    def to_chrome_trace(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the modelled timeline as a trace, for https://ui.perfetto.dev or chrome://tracing.

        Parameters
        ----------
        path : path, optional
            Where to write it.
        """
        return _written(path, trace_of(self.launches))

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the profile as one page that needs nothing from a network.

        Parameters
        ----------
        path : path, optional
            Where to write it.
        """
        return _written(path, html_of(self.launches))

    def __repr__(self) -> str:
        return f"<pymluops.sim.Profile of {counted(len(self.launches), 'launch', 'launches')}>"


def _written(path: str | os.PathLike[str] | None, text: str) -> str:
    if path is not None:
        with whole_file(Path(path)) as file:
            file.write_text(text, encoding="utf-8")
    return text


@contextmanager
def profiling(*, figures: Mapping[str, float] | None = None, most_events: int = 1_000_000) -> Generator[Profile]:
    """Profile the launches of a block, of this package's operators and of any other kernels.

    Launches that are put into a queue in the block count, in all threads, also if they run later.
    There is one profile at a time. Launches outside of profiles are not slower for it.

    Parameters
    ----------
    figures : mapping of str to float, optional
        Figures of the time model to use instead of those of the card, by the names of `TimeModel`.
    most_events : int
        Instructions, over all launches, that timelines are made of. Later ones are counted, but no
        part of the estimate; ``modelled_share`` tells. A million take about 100 MB.

    Yields
    ------
    Profile

    Raises
    ------
    BadParamError
        If there is no such figure, or another profile runs.
    """
    backend = simulator()
    if not is_integer(most_events) or not 0 <= int(most_events) < 2**40:
        raise BadParamError(f"profiling: most_events: expected an integer from 0 to 2**40, got {shown(most_events)}")
    model, sources = figures_of(device(), figures)
    described = backend.ffi.new("mlusimTimeModel *", model.__dict__)
    number = int(backend.lib.mlusimStartProfile(described, int(most_events)))
    if number == 0:
        raise BadParamError(f"profiling: {last_error(backend)}")
    profile = Profile(backend, number, model, sources)
    set_operator_listener(profile.note_operator)
    try:
        yield profile
    finally:
        set_operator_listener(None)
        backend.lib.mlusimStopProfile(number)
