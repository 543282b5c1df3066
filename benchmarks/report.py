"""Results as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.verdicts import best_peer, contender, ratio

#: Above this, relative to the median, the quartiles of a time are far apart.
_NOISY = 0.15

_HEADER = (
    "case", "threads", "ms", "spread", "GB/s", "x memcpy", "limit", "best peer", "ms", "x peer", "limit", "x 1 thread",
)  # fmt: skip


def render(document: Mapping[str, Any]) -> str:
    """Return everything in a document of results as text."""
    parts = [_machine(document)]
    if document.get("cases"):
        parts.append(_table(_HEADER, [row for case in document["cases"] for row in _rows(case)]))
    for mode, header in _MODES.items():
        if document.get(mode):
            parts.append(_table(header, [_mode_row(mode, entry) for entry in document[mode]]))
    parts += [text for text in (_wrong(document), _verdicts(document), _notes(document)) if text]
    return "\n\n".join(parts)


def _machine(document: Mapping[str, Any]) -> str:
    machine = document["machine"]
    caches = ", ".join(f"{name} {size}" for name, size in machine["caches"].items())
    peers = ", ".join(f"{name} {version or 'not installed'}" for name, version in machine["peers"].items())
    library = f"pymluops {machine['pymluops']} ({machine['instruction_level']})"
    return (
        f"{library}, Python {machine['python']}, {machine['time']}\n"
        f"{machine['cpu']['model']}, {machine['cpu']['usable']} CPUs, {caches}\npeers: {peers}"
    )


def _rows(case: Mapping[str, Any]) -> list[tuple[str, ...]]:
    counts = sorted({int(c["threads"]) for c in case["contenders"]})
    return [_row(case, count) for count in counts]


def _row(case: Mapping[str, Any], threads: int) -> tuple[str, ...]:
    ours, peer = contender(case, "pymluops", threads), best_peer(case, threads)
    copied = ratio(case, "memcpy", threads)
    if ours is None:
        return (case["id"], str(threads), *[""] * (len(_HEADER) - 2))
    seconds = ours["seconds"]
    moved = case["bytes_read"] + case["bytes_written"]
    against = ratio(case, peer["name"], threads) if peer else None
    gain = ratio(case, "one thread", threads)
    limits = case["limits"]
    return (
        case["id"],
        str(threads),
        _milliseconds(seconds["median"]),
        f"{100 * _spread(seconds):.0f} %{'!' if _spread(seconds) > _NOISY else ''}",
        f"{moved / seconds['median'] / 1e9:.1f}",
        _number(copied),
        f"{limits['memcpy']:g}" if "memcpy" in limits else "",
        f"{peer['name']} ({peer['variant']})" if peer else "",
        _milliseconds(peer["seconds"]["median"]) if peer else "",
        _number(against),
        f"{limits['peer']:g}" if "peer" in limits else "",
        f"{1 / gain['median']:.2f}" if gain else "",
    )


def _spread(seconds: Mapping[str, float]) -> float:
    return (seconds["high_quartile"] - seconds["low_quartile"]) / seconds["median"]


def _milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.3g}" if seconds < 1 else f"{1e3 * seconds:.0f}"


def _number(found: Mapping[str, float] | None) -> str:
    return f"{found['median']:.2f}" if found else ""


_MODES = {
    "sizes": ("operator", "elements", "ms", "ns an element", "x memcpy", "growth", "memcpy's"),
    "overhead": ("tiny call", "ours ns", "torch ns", "with arrays ns", "beyond", "empty Cython call ns", "limit"),
    "memory": ("case", "threads", "inputs MB", "outputs MB", "above them MB", "part", "limit"),
}


def _mode_row(mode: str, entry: Mapping[str, Any]) -> tuple[str, ...]:
    if mode == "sizes":
        return (
            entry["operator"],
            f"{entry['elements']:.3g}",
            _milliseconds(entry["seconds"]["median"]),
            f"{1e9 * entry['seconds']['median'] / entry['elements']:.3f}",
            f"{entry['to_memcpy']['median']:.2f}",
            *(f"{entry[name]:.2f}" if entry[name] is not None else "" for name in ("growth", "memcpy_growth")),
        )
    if mode == "overhead":
        medians = {name: times["median"] for name, times in entry["nanoseconds"].items()}
        medians["beyond"] = entry.get("beyond")
        times = (medians.get(name) for name in ("pymluops", "torch", "numpy", "beyond", "cython"))
        cells = (f"{time:.0f}" if time is not None else "" for time in times)
        return (entry["operator"], *cells, f"{entry['limit']:.0f}" if entry["limit"] else "")
    sizes = (f"{entry[name] / 1e6:.1f}" for name in ("input_bytes", "output_bytes", "extra_bytes"))
    return (entry["case"], str(entry["threads"]), *sizes, f"{entry['part']:.2f}", f"{entry['limit']:g}")


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(line[column]) for line in (header, *rows)) for column in range(len(header))]
    lines = [header, tuple("-" * width for width in widths), *rows]
    return "\n".join(_line(line, widths) for line in lines)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Join cells; numbers go to the right, words to the left."""
    texts = []
    for cell, width in zip(cells, widths, strict=True):
        texts.append(cell.rjust(width) if cell[:1].isdigit() else cell.ljust(width))
    return "  ".join(texts).rstrip()


def _wrong(document: Mapping[str, Any]) -> str:
    lines = [
        f"wrong: {case['id']}: {entry['peer']} ({entry['variant']}, {entry['threads']} threads): {entry['error']}"
        for case in document.get("cases", ())
        for entry in case["wrong"]
    ]
    return "\n".join(lines)


def _verdicts(document: Mapping[str, Any]) -> str:
    verdicts = document.get("verdicts", ())
    missed = [verdict for verdict in verdicts if not verdict["holds"]]
    lines = [f"{len(verdicts) - len(missed)} of {len(verdicts)} rules hold"]
    for verdict in missed:
        name = f"{verdict['case']}, {verdict['threads']} threads" if verdict.get("threads") else verdict["case"]
        lines.append(f"missed: {name}: {verdict['rule']} {verdict['found']:.2f}, limit {verdict['limit']:g}")
    return "\n".join(lines) if verdicts else ""


def _notes(document: Mapping[str, Any]) -> str:
    lines = list(document.get("notes", ()))
    busy = [case["other_cpus"] for case in document.get("cases", ()) if case.get("other_cpus") is not None]
    if busy and max(busy) > 0.1:
        lines.append(
            f"other processes kept {sum(busy) / len(busy):.1f} CPUs busy on average, {max(busy):.1f} at most: "
            "trust ratios rather than times, and neither where the spread has a mark (!)"
        )
    return "\n".join(lines)
