"""One launch of a profile: sums, ratios, and its bottleneck."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pymluops.sim.profiler._figures import GUESS, TimeModel
from pymluops.sim.profiler._memory import Memory
from pymluops.sim.profiler._read import ArrayUse, Contents, CoreUse, Site, Tally
from pymluops.sim.profiler._theory import OperatorCall, Theory, theory_of

#: The share of the estimated time that a unit has to be busy for, to be called the bottleneck.
_BUSY = 0.5
UNITS = ("scalar", "compute", "io", "move")
#: How the instructions of the tensor unit begin, as in native/sim/profile/cost.cpp.
_TENSOR = ("__bang_conv", "__bang_histogram", "__bang_integral", "__bang_matmul", "__bang_mlp")


class DirectionUse(NamedTuple):
    """The copies of one direction.

    Attributes
    ----------
    copies, pieces, bytes : int
        Calls, their pieces, and the bytes that they moved.
    charged_bytes : int
        The bytes that device memory transfers for these: whole lines of 64 bytes, partly written
        ones twice.
    least_bytes, most_bytes : int
        Of one call.
    busy_ns : float
        Estimated time, summed over the cores.
    """

    copies: int = 0
    pieces: int = 0
    bytes: int = 0
    charged_bytes: int = 0
    least_bytes: int = 0
    most_bytes: int = 0
    busy_ns: float = 0.0


class IntrinsicUse(NamedTuple):
    """The calls of one intrinsic that computes.

    Attributes
    ----------
    calls, elements, operations : int
        Calls, the elements that they worked on, and additions, multiplications and the like.
    busy_ns : float
        Estimated time, summed over the cores.
    known : bool
        Whether the time model has figures for it.
    """

    calls: int = 0
    elements: int = 0
    operations: int = 0
    busy_ns: float = 0.0
    known: bool = True


class LineUse(NamedTuple):
    """The work of one line of a source: estimated time by unit and waiting for others, and calls."""

    file: str
    line: int
    calls: int
    bytes: int
    scalar_ns: float
    compute_ns: float
    io_ns: float
    move_ns: float
    wait_ns: float
    names: tuple[str, ...]

    @property
    def busy_ns(self) -> float:
        """Estimated time of all units together, without waiting."""
        return self.scalar_ns + self.compute_ns + self.io_ns + self.move_ns


class LaunchProfile:
    """One launch of a kernel.

    Attributes
    ----------
    kernel, unit : str
        As written at the launch, and the file that the launch stands in.
    card : str
        The simulated device; ``arch`` is its architecture.
    dim : tuple of int
        Tasks in x, y and z.
    kind : str
        ``block``, ``union1``, ...
    failed : bool
        Whether the launch was ended by a finding; counts are those until then.
    instructions : int
        Calls of intrinsics that copy, compute or wait.
    modelled_share : float
        The share of them that the estimate is made of with figures for them.
    estimate_ns : float
        Estimated time on the device by the time model. It is no measurement.
    model : TimeModel
        The figures; ``sources`` says where each is from.
    sites, tallies, cores, arrays : tuple
        Instructions by place in the source; counts by core and site; cores; arrays in NRAM, WRAM
        and SRAM.
    events : structured array
        The work of each unit of each core: ``begin_ns``, ``end_ns``, ``bytes``, ``core``, ``site``.
    operator : str or None
        The C function of the operator that launched it; None for other kernels.
    operator_ns : float
        Estimated time of all launches of that call of the operator, which efficiencies are about;
        else `estimate_ns`.
    """

    def __init__(
        self, contents: Contents, model: TimeModel, sources: dict[str, str], call: OperatorCall | None = None
    ) -> None:
        described = contents.description
        self.kernel, self.unit, self.card, self.arch = described.kernel, described.unit, described.card, described.arch
        self.dim = (described.dim_x, described.dim_y, described.dim_z)
        self.kind = "block" if described.type < 4 else f"union{described.type // 4}"
        self.clusters, self.cores_per_cluster = described.clusters, described.cores_per_cluster
        self.failed = bool(described.failed)
        self.instructions = described.instructions
        self.modelled_share = described.modelled / described.instructions if described.instructions else 1.0
        self.argument_bytes = described.argument_bytes
        self.estimate_ns = described.estimate_ns
        self.model, self.sources = model, sources
        self.sites: tuple[Site, ...] = contents.sites
        self.tallies: tuple[Tally, ...] = contents.tallies
        self.cores: tuple[CoreUse, ...] = contents.cores
        self.arrays: tuple[ArrayUse, ...] = contents.arrays
        self.events: NDArray[np.void] = contents.events
        self.call = call
        self.operator = None if call is None else call.function
        self.operator_ns = self.estimate_ns

    # -- Sums --------------------------------------------------------------------------------------

    def _sites_and_tallies(self) -> Iterator[tuple[Site, Tally]]:
        for tally in self.tallies:
            yield self.sites[tally.site], tally

    @cached_property
    def directions(self) -> dict[str, DirectionUse]:
        """Copies, fills and atomics by direction, such as ``GDRAM2NRAM``."""
        return self.directions_of(None)

    def directions_of(self, core: int | None) -> dict[str, DirectionUse]:
        """Return the copies of one of `cores`, by its index; of all for None."""
        found: dict[str, DirectionUse] = {}
        for site, tally in self._sites_and_tallies():
            if not site.direction or (core is not None and tally.core != core):
                continue
            old = found.get(site.direction)
            found[site.direction] = DirectionUse(
                tally.calls + (old.copies if old else 0),
                tally.pieces + (old.pieces if old else 0),
                tally.bytes + (old.bytes if old else 0),
                tally.charged + (old.charged_bytes if old else 0),
                min(tally.least, old.least_bytes) if old else tally.least,
                max(tally.most, old.most_bytes) if old else tally.most,
                tally.busy_ns + (old.busy_ns if old else 0.0),
            )
        return dict(sorted(found.items()))

    @cached_property
    def intrinsics(self) -> dict[str, IntrinsicUse]:
        """Instructions of the compute unit by name."""
        found: dict[str, IntrinsicUse] = {}
        for site, tally in self._sites_and_tallies():
            if site.unit != "compute" or site.waits:
                continue
            old = found.get(site.name, IntrinsicUse())
            found[site.name] = IntrinsicUse(
                old.calls + tally.calls,
                old.elements + tally.elements,
                old.operations + tally.operations,
                old.busy_ns + tally.busy_ns,
                site.known,
            )
        return dict(sorted(found.items(), key=lambda item: -item[1].busy_ns))

    @cached_property
    def lines(self) -> tuple[LineUse, ...]:
        """Lines of the sources, the busiest first."""
        times: dict[tuple[str, int], dict[str, float]] = defaultdict(lambda: defaultdict(float))
        names: dict[tuple[str, int], set[str]] = defaultdict(set)
        for site, tally in self._sites_and_tallies():
            if not site.file:
                continue
            place = (site.file, site.line)
            of_line = times[place]
            of_line["wait" if site.waits else site.unit] += tally.busy_ns
            of_line["calls"] += tally.calls
            of_line["bytes"] += tally.bytes
            names[place].add(site.name)
        lines = [
            LineUse(
                file=place[0],
                line=place[1],
                calls=int(of_line["calls"]),
                bytes=int(of_line["bytes"]),
                scalar_ns=of_line["scalar"],
                compute_ns=of_line["compute"],
                io_ns=of_line["io"],
                move_ns=of_line["move"],
                wait_ns=of_line["wait"],
                names=tuple(sorted(names[place])),
            )
            for place, of_line in times.items()
        ]
        return tuple(sorted(lines, key=lambda line: (-line.busy_ns - line.wait_ns, line.file, line.line)))

    @cached_property
    def memory(self) -> Memory:
        """The arrays in NRAM, WRAM and SRAM, with the part that the launch touched, against each card."""
        return Memory(self.arrays, is_needed=lambda array: array.used > 0 or not array.of_function)

    @cached_property
    def busy_ns(self) -> NDArray[np.float64]:
        """Estimated time that the units of the cores are busy: a row for each of `cores`, columns as `UNITS`."""
        busy = np.zeros((len(self.cores), len(UNITS)))
        for site, tally in self._sites_and_tallies():
            if not site.waits and site.unit != "scalar":
                busy[tally.core, UNITS.index(site.unit)] += tally.busy_ns
        busy[:, 0] = [core.scalar_ns for core in self.cores]
        return busy

    @property
    def cores_used(self) -> int:
        """Compute cores that ran a task."""
        return sum(1 for core in self.cores if core.runs and core.core != 0x80)

    # -- Ratios ------------------------------------------------------------------------------------

    @cached_property
    def theory(self) -> Theory:
        """The work that the kernel cannot do without.

        Of an operator of this package by the vendor's acceptance standard. Of other kernels: the
        bytes of the arrays that its arguments point to, each once, and the operations that the
        launch did.
        """
        known = None if self.call is None else theory_of(self.call)
        if known is not None:
            return known
        by_size: dict[int, int] = defaultdict(int)
        for site, tally in self._sites_and_tallies():
            by_size[site.element] += tally.operations
        half = bool(by_size) and max(by_size, key=lambda size: by_size[size]) == 2
        operations = sum(by_size.values())
        return Theory(self.argument_bytes, operations, half, "bytes of its arrays, operations as counted")

    @cached_property
    def units(self) -> str:
        """The units that compute: the vector units, the tensor units or both."""
        tensor, vector = (bool(self._operations_of(tensor)) for tensor in (True, False))
        return "vector and tensor units" if tensor and vector else f"{'tensor' if tensor else 'vector'} units"

    def _operations_of(self, tensor: bool) -> dict[int, int]:
        """Return the operations of the tensor or the vector units, by the bytes of an element."""
        found: dict[int, int] = defaultdict(int)
        for site, tally in self._sites_and_tallies():
            if tally.operations and site.name.startswith(_TENSOR) == tensor:
                found[site.element] += tally.operations
        return found

    @cached_property
    def peak_operations_per_ns(self) -> float:
        """Of the `units` of the whole device, for the types of their elements.

        Of vector and tensor units together: the operations of the launch over the time that they
        take at the peak of their units.
        """
        vector = 64 if self.theory.half else 32
        model = self.model
        rates = {1: model.matrix_byte_operations, 2: model.matrix_half_operations}
        tensor = self._operations_of(tensor=True)
        rest = sum(self._operations_of(tensor=False).values())
        cycles = rest / vector + sum(
            operations / rates.get(size, model.matrix_float_operations) for size, operations in tensor.items()
        )
        per_cycle = (rest + sum(tensor.values())) / cycles if cycles else vector
        return per_cycle * self.clusters * self.cores_per_cluster * model.clock_mhz / 1e3

    @property
    def io_efficiency(self) -> float:
        """Theory IO divided by the bytes that device memory could transfer in the estimated time; -1 if that is 0."""
        possible = self.operator_ns * self.model.bandwidth_gb_s
        return self.theory.io_bytes / possible if possible > 0 else -1.0

    @property
    def compute_efficiency(self) -> float:
        """Theory operations divided by those that the `units` could do in the estimated time; -1 if that is 0."""
        possible = self.operator_ns * self.peak_operations_per_ns
        return self.theory.operations / possible if possible > 0 else -1.0

    @property
    def loads(self) -> dict[str, float]:
        """Share of the estimated time that the most loaded unit of each kind is busy."""
        if not self.estimate_ns:
            return {}
        charged = sum(tally.charged for tally in self.tallies)
        scalar, compute, _, move = self.busy_ns.max(axis=0) / self.estimate_ns
        return {
            "bandwidth of device memory": charged / self.model.bandwidth_gb_s / self.estimate_ns,
            "compute unit": float(compute),
            "copies on chip": float(move),
            "scalar unit": float(scalar),
        }

    @property
    def bottleneck(self) -> str:
        """The bottleneck of the launch by the model: the busiest unit, or the statement that there is none."""
        if not self.loads:
            return "nothing: the launch did nothing that the model knows"
        name, share = max(self.loads.items(), key=lambda item: item[1])
        if share >= _BUSY:
            return f"{name}, busy {share:.0%} of the time"
        idle = self.clusters * self.cores_per_cluster - self.cores_used
        if idle > self.cores_used:
            return f"cores without work: {self.cores_used} of {self.cores_used + idle} run a task"
        return f"waiting: the busiest, the {name}, works {share:.0%} of the time; overlap copies with computations"

    @property
    def overlap(self) -> float:
        """Share of the time of copies off chip, summed over the cores, during which the same core computes too."""
        return overlap_of(self)

    @property
    def guesses(self) -> tuple[str, ...]:
        """Figures of the model that nobody has published."""
        return tuple(name for name, source in self.sources.items() if source == GUESS)

    def as_dict(self) -> dict[str, Any]:
        """Return everything but the events as plain values, for JSON."""
        busy = self.busy_ns
        return {
            "kernel": self.kernel,
            "unit": self.unit,
            "operator": self.operator,
            "operator_ns": self.operator_ns,
            "card": self.card,
            "arch": self.arch,
            "dim": list(self.dim),
            "kind": self.kind,
            "failed": self.failed,
            "instructions": self.instructions,
            "estimate": {
                "is_estimate": True,
                "ns": self.estimate_ns,
                "modelled_share": self.modelled_share,
                "figures": self.model.__dict__,
                "sources": self.sources,
            },
            "theory": self.theory._asdict(),
            "io_efficiency": self.io_efficiency,
            "compute_efficiency": self.compute_efficiency,
            "compute_units": self.units,
            "bottleneck": self.bottleneck,
            "loads": self.loads,
            "overlap": self.overlap,
            "directions": {name: use._asdict() for name, use in self.directions.items()},
            "intrinsics": {name: use._asdict() for name, use in self.intrinsics.items()},
            "cores": [
                {
                    **core._asdict(),
                    "busy_ns": dict(zip(UNITS, map(float, busy[index]), strict=True)),
                    "directions": {name: use._asdict() for name, use in self.directions_of(index).items()},
                }
                for index, core in enumerate(self.cores)
                if core.runs
            ],
            "lines": [{**line._asdict(), "names": list(line.names)} for line in self.lines],
            "memory": {
                "arrays": [array._asdict() for array in self.arrays],
                "declared": self.memory.declared,
                "used": self.memory.used,
                "missing": self.memory.missing,
            },
        }

    def __repr__(self) -> str:
        return f"<pymluops.sim.LaunchProfile {self.kernel}: {self.estimate_ns:.0f} ns estimated>"


def intervals(launch: LaunchProfile, core: int, unit: str) -> NDArray[np.float64]:
    """Return when a unit of a core is busy: rows of begin and end in ns, ascending, none of them touching another."""
    of_unit = np.array([site.unit == unit and not site.waits for site in launch.sites], bool)
    events = launch.events
    chosen = events[(events["core"] == core) & of_unit[events["site"]]] if len(events) else events
    if not len(chosen):
        return np.zeros((0, 2))
    begin, end = chosen["begin_ns"], np.maximum.accumulate(chosen["end_ns"])
    starts = np.r_[True, begin[1:] > end[:-1]]
    return np.column_stack([begin[starts], end[np.r_[np.flatnonzero(starts)[1:] - 1, len(end) - 1]]])


def overlap_of(launch: LaunchProfile) -> float:
    copying = shared = 0.0
    for core, use in enumerate(launch.cores):
        if not use.runs:
            continue
        copies, computing = intervals(launch, core, "io"), intervals(launch, core, "compute")
        copying += float((copies[:, 1] - copies[:, 0]).sum())
        shared += _shared(copies, computing)
    return shared / copying if copying else 0.0


def _shared(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Return the length of the intersection of two lists of intervals."""
    if not len(a) or not len(b):
        return 0.0
    ends = np.r_[0.0, np.cumsum(b[:, 1] - b[:, 0])]

    def until(times: NDArray[np.float64]) -> NDArray[np.float64]:
        index = np.searchsorted(b[:, 0], times)
        inside = np.minimum(times - b[np.maximum(index - 1, 0), 0], (b[:, 1] - b[:, 0])[np.maximum(index - 1, 0)])
        return np.where(index > 0, ends[np.maximum(index - 1, 0)] + inside, 0.0)

    return float((until(a[:, 1]) - until(a[:, 0])).sum())
