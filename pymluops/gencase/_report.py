"""What the command ``pymluops case`` prints."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from pymluops._shown import counted, one_line
from pymluops.gencase._binding import bind
from pymluops.gencase._file import CaseError, CaseFile, CaseTensor
from pymluops.gencase._memory import Guarded
from pymluops.gencase._verdict import criteria_of

__all__ = ["described", "details", "table"]

_HEADINGS = ("operator", "case", "outcome", "criteria", "time", "io", "compute")

#: Elements of a tensor whose least and largest value are looked for.
_MOST_LOOKED_AT = 1 << 25


def table(results: Sequence[dict[str, Any]]) -> str:
    """Return one line for each result, and one with their numbers."""
    rows = [_HEADINGS, *(_row(result) for result in results)]
    kept = [i for i in range(len(_HEADINGS)) if any(row[i] for row in rows[1:])]
    widths = {i: max(len(row[i]) for row in rows) for i in kept}
    lines = ["  ".join(row[i].ljust(widths[i]) for i in kept).rstrip() for row in rows]
    return "\n".join([*lines, "", _total(results)])


def _row(result: dict[str, Any]) -> tuple[str, ...]:
    measured = [criterion for output in result["outputs"] for criterion in output["criteria"]]
    return (
        one_line(result["operator"]),
        one_line(Path(result["path"]).stem),
        result["outcome"],
        ", ".join(_worst_of(name, measured) for name in dict.fromkeys(one["name"] for one in measured)),
        _time(result["seconds"]) if result["seconds"] else "",
        _share(result["io_efficiency"]),
        _share(result["compute_efficiency"]),
    )


def _worst_of(name: str, measured: Sequence[dict[str, Any]]) -> str:
    """Return the largest value of a criterion over the outputs, and what was allowed."""
    of_name = [one for one in measured if one["name"] == name]
    worst = max(of_name, key=lambda one: (not one["passed"], float(one["value"])))
    sign = "<=" if worst["passed"] else ">"
    if name == "DIFF4":
        return f"{name.lower()} {float(worst['value']):.2g}"
    return f"{name.lower()} {float(worst['value']):.2g} {sign} {float(worst['threshold']):g}"


def _time(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} us"


def _share(value: float | str | None) -> str:
    return "" if value is None or isinstance(value, str) or value < 0 else f"{value:.1%}"


def _total(results: Sequence[dict[str, Any]]) -> str:
    counts = {name: sum(result["outcome"] == name for result in results) for name in _outcomes(results)}
    return ", ".join(f"{count} {name}" for name, count in counts.items())


def _outcomes(results: Iterable[dict[str, Any]]) -> list[str]:
    return sorted({result["outcome"] for result in results}, key=lambda name: (name != "passed", name))


def details(result: dict[str, Any]) -> list[str]:
    """Return lines about a result that did not pass, or that has something to say."""
    lines: list[str] = result["message"].split("\n") if result["message"] else []
    for output in result["outputs"]:
        if not output["passed"]:
            lines.append(f"{output['id']}: {_place(output['place'])}")
        if output["unseen"] is not None:
            lines.append(f"{output['id']}: the criteria do not see that {_place(output['unseen'], exact=True)}")
    for judgement in result["judgements"]:
        agrees = {"both": "both libraries agree", "none": "neither library agrees"}
        verdict = agrees.get(judgement["agrees"], f"{_library(judgement['agrees'])} agrees")
        lines.append(f"{judgement['output']}: {verdict} with the oracle")
        for library, distance in judgement["distances"].items():
            place = _place(judgement["places"][library])
            lines.append(f"  {_library(library)}: diff2 {float(distance):.2g}, {place}")
    return [one_line(line) for line in lines]


def _library(name: str) -> str:
    """Return the name of a library, or its path from the current folder if that is shorter."""
    with suppress(OSError):  # the current folder may be gone
        return min(os.path.relpath(name), name, key=len) if os.path.isabs(name) else name
    return name


def _place(place: dict[str, Any] | None, *, exact: bool = False) -> str:
    if place is None:
        return "no element differs"
    index = ", ".join(map(str, place["index"]))
    differ = "differs" if place["differing"] == 1 else "differ"
    return (
        f"{place['differing']} of {counted(place['elements'], 'element')} {differ}, most at [{index}]: "
        f"{_value(place['found'], exact)} for {_value(place['wanted'], exact)}"
    )


def _value(value: float | str, exact: bool) -> str:
    if isinstance(value, (str, int)):
        return str(value)
    return f"{value:.17g}" if exact else f"{value:.9g}"


def described(case: CaseFile) -> str:
    """Return what a case says, for ``pymluops case show``."""
    lines = [f"{case.op_name}  {case.path or ''}".rstrip()]
    arguments: dict[int, str] = {}
    try:
        for tensor in (*case.inputs, *case.outputs):
            tensor.check()
        bound = bind(case)
    except CaseError as error:
        lines.append(str(error))
    else:
        lines.append(f"  C function: {bound.function}")
        both = {**bound.inputs, **bound.outputs}
        arguments = {id(tensor.message): name for name, tensor in both.items() if tensor is not None}
        numbers = {name: value for name, value in bound.numbers.items() if name != "inplace"}
        lines += [f"  {name} = {_parameter(value)}" for name, value in numbers.items()]
    for label, tensors in (("input", case.inputs), ("output", case.outputs)):
        lines += [f"  {label} {_tensor(tensor, arguments)}" for tensor in tensors]
    lines.append(f"  {_criteria(case)}")
    return "\n".join(map(one_line, lines))


def _criteria(case: CaseFile) -> str:
    try:
        criteria = criteria_of(case)
    except CaseError as error:
        return str(error)
    shown = [f"{one.name.lower()} <= {one.threshold:g}" for one in criteria.common]
    return f"criteria: {', '.join(shown) or 'of each output: ' + ', '.join(criteria.names)}"


def _all(values: Any) -> list[Any]:
    return [*values]


def _parameter(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, _all(value)))
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def _tensor(tensor: CaseTensor, arguments: dict[int, str]) -> str:
    name = arguments.get(id(tensor.message), tensor.id)
    shown = tensor.id if name == tensor.id else f"{tensor.id} ({name})"
    if tensor.problem():
        return f"{shown}: {list(tensor.shape)}, {tensor.problem()}"
    text = f"{shown}: {list(tensor.shape)} {tensor.dtype.name.lower()} {tensor.layout.name}"
    if not tensor.is_packed:
        text += f" strides {list(tensor.strides)}"
    return f"{text}, NULL" if tensor.is_null else text + _values(tensor)


def _values(tensor: CaseTensor) -> str:
    """Return what is said about the values of a tensor."""
    kind = "random" if tensor.is_random else "given"
    if tensor.elements > _MOST_LOOKED_AT:
        return f", {kind}" if tensor.has_values else ""
    try:
        values = tensor.values()
        if values is None or not values.size:
            return ""
        numbers = Guarded(tensor, values).numbers()
    except (ValueError, MemoryError, OverflowError) as error:  # NumPy has other limits than the format
        return f", {str(error) or 'no memory'}"
    with np.errstate(all="ignore"):
        size = np.abs(numbers) if numbers.dtype.kind == "c" else numbers.astype(np.float64)
    special = int((~np.isfinite(size)).sum())
    finite = size[np.isfinite(size)]
    text = f", {kind}"
    if finite.size:
        text += f", {finite.min():.6g} to {finite.max():.6g}"
    return text + (f", {special} not finite" if special else "")
