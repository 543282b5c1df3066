"""One launch of a profile, out of the library."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from pymluops._core import Backend
from pymluops.sim._library import done, from_c

_T = TypeVar("_T")

#: Events as the library has them: ``mlusimProfileEvent``.
EVENT = np.dtype([("begin_ns", "f8"), ("end_ns", "f8"), ("bytes", "u8"), ("core", "i4"), ("site", "i4")], align=True)


class Description(NamedTuple):
    """A launch; the fields are those of ``mlusimProfileLaunch``."""

    kernel: str
    unit: str
    card: str
    arch: int
    dim_x: int
    dim_y: int
    dim_z: int
    type: int
    clusters: int
    cores_per_cluster: int
    failed: int
    instructions: int
    modelled: int
    argument_bytes: int
    estimate_ns: float
    sites: int
    tallies: int
    cores: int
    events: int
    arrays: int


class Site(NamedTuple):
    """An instruction at one place of the source.

    Attributes
    ----------
    name : str
        Of the intrinsic; ``scalar load`` and the like for scalar accesses.
    file, line : str, int
        Place in the source; empty and 0 if unknown.
    unit : str
        The busy unit: ``scalar``, ``compute``, ``io`` (copies off chip) or ``move`` (copies on
        chip).
    waits : bool
        Whether it is a sync, a barrier or a lock.
    holds : bool
        Whether it is a synchronous copy, which holds up its core.
    element : int
        Bytes of an element; 0 if not known.
    known : bool
        Whether the time model has figures for it.
    source, target : str
        Ends of a copy: GDRAM, LDRAM, NRAM, WRAM or SRAM; an empty source for a fill.
    """

    name: str
    file: str
    line: int
    unit: str
    waits: bool
    holds: bool
    element: int
    known: bool
    source: str
    target: str

    @property
    def direction(self) -> str:
        """``GDRAM2NRAM`` and the like, ``fill GDRAM``; empty for other instructions."""
        if not self.target or self.unit in ("scalar", "compute"):
            return ""
        if "atomic" in self.name:
            return f"atomic {self.target}"
        return f"{self.source}2{self.target}" if self.source else f"fill {self.target}"


class Tally(NamedTuple):
    """The work of one core at one site; the fields are those of ``mlusimProfileTally``."""

    core: int
    site: int
    calls: int
    elements: int
    operations: int
    bytes: int
    charged: int
    pieces: int
    least: int
    most: int
    busy_ns: float


class CoreUse(NamedTuple):
    """One core over a launch. Times are estimates.

    Attributes
    ----------
    cluster, core : int
        ``core`` is 0x80 for the memory core.
    runs : int
        Tasks, or passes of the memory core.
    syncs, barriers : int
        Number of waits for its pipes, and for other cores.
    on_chip_loads, on_chip_stores, off_chip_loads, off_chip_stores : int
        Scalar accesses.
    sync_wait_ns, barrier_wait_ns, scalar_ns : float
        Time that these took.
    end_ns : float
        When it was done.
    """

    cluster: int
    core: int
    runs: int
    syncs: int
    barriers: int
    on_chip_loads: int
    on_chip_stores: int
    off_chip_loads: int
    off_chip_stores: int
    sync_wait_ns: float
    barrier_wait_ns: float
    scalar_ns: float
    end_ns: float


class ArrayUse(NamedTuple):
    """An array that a source declares in NRAM, WRAM or SRAM.

    Attributes
    ----------
    name : str
        With its namespaces.
    file, library : str
        The source, and the shared library that it is compiled into.
    space : str
        NRAM, WRAM or SRAM.
    of_function : bool
        Whether a function declares it: it counts in launches that run the function. An array at
        file scope counts in every launch of a kernel of its source.
    bytes : int
        Its size.
    used : int
        Bytes up to the last one that a launch touched; 0 where no launch is meant.
    """

    name: str
    file: str
    library: str
    space: str
    of_function: bool
    bytes: int
    used: int


class Contents(NamedTuple):
    """All that the library knows about a launch."""

    description: Description
    sites: tuple[Site, ...]
    tallies: tuple[Tally, ...]
    cores: tuple[CoreUse, ...]
    arrays: tuple[ArrayUse, ...]
    events: NDArray[np.void]


_UNITS = ("scalar", "compute", "io", "move")


def read_launch(backend: Backend, profile: int, launch: int) -> Contents:
    """Return the launch number `launch` of a profile."""
    described = backend.ffi.new("mlusimProfileLaunch *")
    done(backend, "profile", backend.lib.mlusimGetProfileLaunch(profile, launch, described))
    description = from_c(Description, backend, described)
    place = (backend, profile, launch)
    sites = _rows(place, "Sites", "mlusimProfileSite", dict[str, Any], description.sites)
    return Contents(
        description,
        tuple(map(_site, sites)),
        tuple(_rows(place, "Tallies", "mlusimProfileTally", Tally, description.tallies)),
        tuple(_rows(place, "Cores", "mlusimProfileCore", CoreUse, description.cores)),
        tuple(_rows(place, "Arrays", "mlusimArray", ArrayUse, description.arrays)),
        _events(place, description.events),
    )


def _site(fields: dict[str, Any]) -> Site:
    for name in ("waits", "holds", "known"):
        fields[name] = bool(fields[name])
    fields["unit"] = _UNITS[fields["unit"]]
    return Site(**fields)


def _rows(place: tuple[Backend, int, int], suffix: str, c_type: str, kind: type[_T], count: int) -> list[_T]:
    backend, profile, launch = place
    rows = backend.ffi.new(f"{c_type}[]", max(count, 1))
    read = getattr(backend.lib, f"mlusimGetProfile{suffix}")(profile, launch, 0, count, rows)
    return [from_c(kind, backend, backend.ffi.addressof(rows, i)) for i in range(read)]


def _events(place: tuple[Backend, int, int], count: int) -> NDArray[np.void]:
    backend, profile, launch = place
    events = np.zeros(count, EVENT)
    into = backend.ffi.cast("mlusimProfileEvent *", events.ctypes.data)
    assert backend.ffi.sizeof("mlusimProfileEvent") == EVENT.itemsize
    read = backend.lib.mlusimGetProfileEvents(profile, launch, 0, count, into)
    return events[:read]


def declared_arrays(backend: Backend) -> tuple[ArrayUse, ...]:
    """Return the arrays that all loaded sources declare in the memories of a core."""
    described = backend.ffi.new("mlusimArray *")
    found: list[ArrayUse] = []
    while backend.lib.mlusimGetArray(len(found), described) == 0:
        found.append(from_c(ArrayUse, backend, described))
    return tuple(found)
