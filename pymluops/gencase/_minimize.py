"""The smallest shapes and values with which a case still fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from pymluops.gencase._file import CaseFile, CaseTensor
from pymluops.gencase._sizes import Changed, sizes_of
from pymluops.gencase._values import per_element

__all__ = ["minimized"]

#: Parts into which the values of a tensor are cut, the finest last.
_PARTS = (1, 2, 4, 8, 16, 32)


def minimized(
    case: CaseFile, fails: Callable[[CaseFile], bool], report: Callable[[str], None] = lambda _: None
) -> CaseFile:
    """Make a failing case smaller as long as it fails.

    The sizes of the operator's description become smaller one by one, with all dims and parameters
    that they stand in; without a description, all dims of one size and the parameters of that
    value. Then values become 0, 1 or whole numbers.

    Parameters
    ----------
    case : CaseFile
        The case.
    fails : callable
        Tells whether a case fails as the first one does.
    report : callable
        Gets a line for each step that was kept.

    Returns
    -------
    CaseFile
        One that has all values itself.
    """
    kept = case.inlined(hexadecimal=False)
    again = True
    while again:
        again = False
        for smaller, text in _smaller_shapes(kept):
            if fails(smaller):
                kept, again = smaller, True
                report(text)
                break
    return _simpler_values(kept, fails, report)


# ---- Shapes --------------------------------------------------------------------------------------


def _smaller_shapes(case: CaseFile) -> Iterator[tuple[CaseFile, str]]:
    """Yield cases in which a size is smaller, the smallest first."""
    sizes = sizes_of(case)
    if sizes is not None:
        for symbol in sorted(sizes.values, key=lambda name: -sizes.values[name]):
            for target in _targets(sizes.values[symbol]):
                changed = sizes.changed(symbol, target)
                if changed is not None:
                    yield _reshaped(case, changed), f"{symbol} becomes {target}"
        return
    tensors = [*case.inputs, *case.outputs]
    for size in sorted({dim for tensor in tensors for dim in tensor.shape if dim > 1}, reverse=True):
        for target in _targets(size):
            yield _resized(case, {size: target}), f"dims of {size} become {target}"


def _targets(size: int) -> list[int]:
    """Return the sizes that are tried, the smallest first."""
    return [target for target in dict.fromkeys((1, 2, size // 4, size // 2, size - 1)) if 0 < target < size]


def _reshaped(case: CaseFile, changed: Changed) -> CaseFile:
    """Return a copy with other shapes and parameters."""
    made = case.copy()
    for tensor, shape in zip((*made.inputs, *made.outputs), changed.shapes, strict=True):
        _cut(tensor, shape)
    for name, value in changed.parameters.items():
        setattr(getattr(made.node, changed.message), name, value)
    return made


def _resized(case: CaseFile, targets: Mapping[int, int]) -> CaseFile:
    made = case.copy()
    for tensor in (*made.inputs, *made.outputs):
        _cut(tensor, tuple(targets.get(dim, dim) for dim in tensor.shape))
    for field, message in made.node.ListFields():
        if field.name.endswith("_param") and field.name not in ("test_param", "handle_param"):
            _replace_numbers(message, targets)
    return made


def _replace_numbers(message: Any, targets: Mapping[int, int]) -> None:
    """Let parameters that are a size become the new one."""
    for field, value in message.ListFields():
        if isinstance(value, int) and not isinstance(value, bool) and value in targets and field.enum_type is None:
            setattr(message, field.name, targets[value])


def _cut(tensor: CaseTensor, shape: tuple[int, ...]) -> None:
    """Keep the first elements of each dim."""
    if shape == tensor.shape:
        return
    values = tensor.values()
    if values is None:
        del tensor.message.shape.dims[:], tensor.message.shape.dim_stride[:]
        tensor.message.shape.dims.extend(shape)
        return
    each = per_element(tensor.dtype)
    steps = [step * each * values.itemsize for step in tensor.strides]
    whole = np.lib.stride_tricks.as_strided(values, (*tensor.shape, each), (*steps, values.itemsize))
    tensor.set_values(np.ascontiguousarray(whole[tuple(slice(dim) for dim in shape)]).reshape(-1), shape)


# ---- Values --------------------------------------------------------------------------------------


def _simpler_values(case: CaseFile, fails: Callable[[CaseFile], bool], report: Callable[[str], None]) -> CaseFile:
    kept = case
    for number in range(len(case.inputs)):
        for parts in _PARTS:
            for part in range(parts):
                for name, simpler in _SIMPLER.items():
                    made = _with_part(kept, number, part, parts, simpler)
                    if made is not None and fails(made):
                        kept = made
                        report(f"part {part + 1} of {parts} of {case.inputs[number].id} becomes {name}")
                        break
    return kept


def _all_ones(values: np.ndarray) -> np.ndarray:
    """Return ones; zeros stay, which are simpler."""
    return np.where(values == 0, values, np.ones_like(values))


_SIMPLER: dict[str, Callable[[np.ndarray], np.ndarray]] = {"0": np.zeros_like, "1": _all_ones, "whole": np.round}


def _with_part(
    case: CaseFile, number: int, part: int, parts: int, simpler: Callable[[np.ndarray], np.ndarray]
) -> CaseFile | None:
    """Return a copy in which a part of the values is simpler, None if nothing changes."""
    values = None if case.inputs[number].is_null else case.inputs[number].values()
    if values is None or len(values) < parts:
        return None
    begin, end = len(values) * part // parts, len(values) * (part + 1) // parts
    with np.errstate(all="ignore"):
        changed = simpler(values[begin:end])
    if np.array_equal(changed, values[begin:end]):
        return None
    made, found = case.copy(), values.copy()
    found[begin:end] = changed
    made.inputs[number].set_values(found)
    return made
