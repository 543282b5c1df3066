"""The demo's table and its machine-readable document."""

from __future__ import annotations

from typing import Any

from pymluops._shown import counted, one_line
from pymluops.demo.images import Image
from pymluops.demo.pipeline import DemoRun
from pymluops.demo.recorder import Row

HEADINGS = ("operator", "case", "dtype", "shapes", "ms", "GB/s", "check")
RIGHT_ALIGNED = ("ms", "GB/s")


def table(rows: list[Row], width: int) -> str:
    """Return the rows as text. Where `width` is too small the shapes go on a line of their own."""
    cells = [_cells(row) for row in rows]
    text = _aligned([HEADINGS, *cells])
    if max(len(line) for line in text) <= width:
        return "\n".join(text)
    shapes = HEADINGS.index("shapes")
    short = [tuple(cell for i, cell in enumerate(line) if i != shapes) for line in (HEADINGS, *cells)]
    first, *others = _aligned(short, tuple(name for name in HEADINGS if name != "shapes"))
    return "\n".join([first, *(f"{line}\n    {cell[shapes]}" for line, cell in zip(others, cells, strict=True))])


def _cells(row: Row) -> tuple[str, ...]:
    ms = "-" if row.ms is None else f"{row.ms:.3f}"
    gbps = "-" if row.gbps is None else f"{row.gbps:.2f}"
    return row.operator, row.case, row.dtype, _shapes(row), ms, gbps, row.check.text()


def _shapes(row: Row) -> str:
    sides = [" ".join("x".join(map(str, shape)) for shape in side.values()) for side in (row.inputs, row.outputs)]
    return " -> ".join(sides)


def _aligned(lines: list[tuple[str, ...]], headings: tuple[str, ...] = HEADINGS) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    pad = [str.rjust if name in RIGHT_ALIGNED else str.ljust for name in headings]
    return ["  ".join(p(c, w) for p, c, w in zip(pad, line, widths, strict=True)).rstrip() for line in lines]


def heading(run: DemoRun, image: Image, backend: dict[str, Any]) -> str:
    """Return the header lines: the program and its inputs."""
    scan, voxels = run.sparse.scan, run.sparse.voxels
    depth, height, width = voxels.shape
    notes = "".join(f", {note}" for note in scan.notes)
    pixels = image.pixels.shape
    points = counted(len(scan.xyz), "point", form=",")
    places = counted(len(voxels.coordinates), "voxel", form=",")
    lines = [
        f"backend  {_backend(backend)}",
        f"scan     {scan.source}: {points}, {counted(scan.columns, 'column')}{notes}",
        f"         {places} of {voxels.size:g} m in {width} x {height} x {depth}",
        f"image    {image.source}: {pixels[1]} x {pixels[0]} pixels",
    ]
    return "\n".join(map(one_line, lines))


def _backend(backend: dict[str, Any]) -> str:
    threads = backend["threads"]
    details = [f"ABI {backend['abi_version']}"] if backend["abi_version"] else []
    details += [backend["instruction_level"]] if backend["instruction_level"] else []
    details += [counted(threads, "thread")] if threads else []
    return f"{backend['name']} ({', '.join(details)})" if details else str(backend["name"])


def summary(run: DemoRun, seconds: float, pictures: list[str]) -> str:
    """Return the lines below the table."""
    good = sum(row.check.ok for row in run.rows)
    lines = [
        "ms: median of a few runs. GB/s: input read and output written; small arrays stay in the CPU's caches.",
        f"{good} of {len(run.rows)} checks held; {seconds:.1f} s in all",
    ]
    if run.objects.lacking:
        lines.append(f"not run, because the library does not have them: {', '.join(run.objects.lacking)}")
    lines += [f"wrote {picture}" for picture in pictures]
    return "\n".join(map(one_line, lines))


def document(
    run: DemoRun, image: Image, backend: dict[str, Any], seconds: float, pictures: list[str]
) -> dict[str, Any]:
    """Return what ``--json`` prints."""
    scan, voxels = run.sparse.scan, run.sparse.voxels
    return {
        "ok": run.ok,
        "seconds": round(seconds, 3),
        "backend": backend,
        "scan": {
            "source": scan.source,
            "synthetic": scan.synthetic,
            "points": len(scan.xyz),
            "columns": list(scan.names),
            "notes": list(scan.notes),
            "voxel_size": voxels.size,
            "voxels": len(voxels.coordinates),
            "spatial_shape": list(voxels.shape),
        },
        "image": {
            "source": image.source,
            "from_scan": image.from_scan,
            "height": image.pixels.shape[0],
            "width": image.pixels.shape[1],
        },
        "objects": {
            "groups": run.objects.number_of_groups,
            "boxes": len(run.objects.candidates.boxes),
            "kept": len(run.objects.kept),
            "lacking": list(run.objects.lacking),
        },
        "rows": [_row_document(row) for row in run.rows],
        "pictures": pictures,
    }


def _row_document(row: Row) -> dict[str, Any]:
    return {
        "operator": row.operator,
        "case": row.case,
        "dtype": row.dtype,
        "inputs": row.inputs,
        "outputs": row.outputs,
        "ms": row.ms,
        "gbps": row.gbps,
        "check": {
            "ok": row.check.ok,
            "exact": row.check.exact,
            "error": row.check.error,
            "allowed": row.check.allowed,
            "problem": row.check.problem,
        },
    }
