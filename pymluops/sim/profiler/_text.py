"""A profile as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pymluops._shown import counted
from pymluops.sim.profiler._launch import LaunchProfile
from pymluops.sim.toolchain import cards

#: Rows of a table at most; the rest is summed up in a line.
_MOST_ROWS = 12
#: A smaller share of instructions with figures makes the estimate doubtful, as `FEW` of page.js.
_FEW = 0.5
_MOST_NAMES = 4  # of instructions without figures


def table_of(launches: Sequence[LaunchProfile]) -> str:
    """Return a section for each launch."""
    if not launches:
        return "no launches\n"
    return "\n".join("\n".join(_launch(launch)) + "\n" for launch in launches)


def time_text(ns: float) -> str:
    """Return a time with a unit that gives it one to three digits before the point."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.2f} {unit}"
    return f"{ns:.0f} ns"


def size_text(count: float) -> str:
    """Return a number of bytes with a binary unit."""
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count:.0f} B"


def _launch(launch: LaunchProfile) -> Iterable[str]:
    dim = " x ".join(map(str, launch.dim))
    tasks = "task" if dim in ("1", "1 x 1 x 1") else "tasks"
    yield f"{launch.kernel}  ({dim} {tasks}, {launch.kind}, {launch.card})" + ("  FAILED" if launch.failed else "")
    if launch.modelled_share < _FEW:
        unknown = sorted({site.name for site in launch.sites if not site.known})
        named = (
            f"figures lack for {', '.join(unknown[:_MOST_NAMES])}{' and others' if len(unknown) > _MOST_NAMES else ''}"
        )
        yield (
            f"  NOTE            only {launch.modelled_share:.0%} of the instructions are modelled, so that times, "
            f"bottleneck and efficiency say little: {named if unknown else 'raise most_events (--most-events)'}"
        )
    yield (
        f"  estimated time  {time_text(launch.estimate_ns)}  (a model, no measurement; {launch.modelled_share:.0%} of "
        f"{counted(launch.instructions, 'instruction')} modelled, "
        f"{len(launch.guesses)} of {len(launch.sources)} figures guessed)"
    )
    yield f"  bottleneck      {launch.bottleneck}"
    theory = launch.theory
    yield f"  theory          {size_text(theory.io_bytes)}, {counted(theory.operations, 'operation')} ({theory.origin})"
    compute = f"compute {launch.compute_efficiency:.1%} of the {launch.units}"
    yield f"  efficiency      io {launch.io_efficiency:.1%}, {compute}, as estimated"
    cores = launch.clusters * launch.cores_per_cluster
    overlap = f"copies off chip overlap computing {launch.overlap:.0%} of their time"
    yield f"  cores           {launch.cores_used} of {cores} run tasks; {overlap}"
    yield from _section("copies", "calls pieces bytes charged least most time", _directions(launch))
    yield from _section("intrinsics", "calls elements operations time", _intrinsics(launch))
    yield from _section("cores", "tasks compute io move scalar waits ends", _cores(launch))
    yield from _section("lines", "calls compute io+move scalar waits", _lines(launch))
    yield from _memory(launch)


def _section(title: str, columns: str, rows: Sequence[Sequence[str]]) -> Iterable[str]:
    if not rows:
        return
    shown = [(title, *columns.split()), *rows[:_MOST_ROWS]]
    widths = [max(len(row[i]) for row in shown) for i in range(len(shown[0]))]
    yield ""
    for row in shown:
        cells = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
        yield f"  {row[0].ljust(widths[0])}  {'  '.join(cells)}".rstrip()
    if len(rows) > _MOST_ROWS:
        yield f"  ... and {len(rows) - _MOST_ROWS} more"


def _directions(launch: LaunchProfile) -> list[list[str]]:
    return [
        [
            name,
            str(use.copies),
            str(use.pieces),
            size_text(use.bytes),
            size_text(use.charged_bytes) if use.charged_bytes else "-",
            size_text(use.least_bytes),
            size_text(use.most_bytes),
            time_text(use.busy_ns),
        ]
        for name, use in launch.directions.items()
    ]


def _intrinsics(launch: LaunchProfile) -> list[list[str]]:
    return [
        [
            name + ("" if use.known else " (not modelled)"),
            str(use.calls),
            str(use.elements),
            str(use.operations),
            time_text(use.busy_ns),
        ]
        for name, use in launch.intrinsics.items()
    ]


def _cores(launch: LaunchProfile) -> list[list[str]]:
    rows: list[list[str]] = []
    for index, core in enumerate(launch.cores):
        if not core.runs or (core.core == 0x80 and not launch.busy_ns[index].any()):
            continue
        scalar, compute, io, move = launch.busy_ns[index]
        name = "memory core" if core.core == 0x80 else f"core {core.core}"
        waits = core.sync_wait_ns + core.barrier_wait_ns
        times = [time_text(value) for value in (compute, io, move, scalar, waits, core.end_ns)]
        rows.append([f"cluster {core.cluster} {name}", str(core.runs), *times])
    return rows


def _lines(launch: LaunchProfile) -> list[list[str]]:
    return [
        [
            f"{_short(line.file)}:{line.line} {', '.join(line.names)}"[:70],
            str(line.calls),
            *map(time_text, (line.compute_ns, line.io_ns + line.move_ns, line.scalar_ns, line.wait_ns)),
        ]
        for line in launch.lines
    ]


def _short(file: str) -> str:
    return file if len(file) <= 40 else "..." + file[-37:]


def _memory(launch: LaunchProfile) -> Iterable[str]:
    declared, used = launch.memory.declared, launch.memory.used
    rows = [
        [space, size_text(used[space]), size_text(declared[space])]
        + [f"{100 * declared[space] / (1024 * card[f'{space.lower()}_kib']):.0f}%" for card in cards()]
        for space in declared
        if declared[space]
    ]
    yield from _section("memory", f"touched declared {' '.join(card['name'] for card in cards())}", rows)
    for card, problem in launch.memory.missing.items():
        if problem:
            yield f"  does not fit on {card}, as compiled for {launch.arch}: {problem}"
