"""The smallest shapes and values with which a case still fails."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from pymluops.gencase._file import CaseFile, CaseTensor
from pymluops.gencase._sizes import Changed, sizes_of
from pymluops.gencase._values import per_element

__all__ = ["minimized"]

#: How many simpler values are tried for a tensor.
_MOST_TRIES = 256


def minimized(
    case: CaseFile, fails: Callable[[CaseFile], bool], report: Callable[[str], None] = lambda _: None
) -> CaseFile:
    """Make a failing case smaller as long as it fails.

    The sizes of the operator's description become smaller one by one, with all dims and parameters
    that they stand in; without a description, all dims of one size and the parameters of that
    value. The first or the last elements stay. Then values become 0, 1 or whole numbers: all of a
    tensor, else halves of them, and so on down to single ones.

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
                    made = [_reshaped(case, changed, last) for last in (False, True)]
                    yield from _different(made, f"{symbol} becomes {target}")
        return
    tensors = [*case.inputs, *case.outputs]
    for size in sorted({dim for tensor in tensors for dim in tensor.shape if dim > 1}, reverse=True):
        for target in _targets(size):
            made = [_resized(case, {size: target}, last) for last in (False, True)]
            yield from _different(made, f"dims of {size} become {target}")


def _different(made: list[CaseFile], text: str) -> Iterator[tuple[CaseFile, str]]:
    """Yield the case with the first elements, and that with the last ones if it is another."""
    first, last = made
    yield first, text
    if first.node != last.node:
        yield last, f"{text}, the last of them"


def _targets(size: int) -> list[int]:
    """Return the sizes that are tried, the smallest first."""
    return [target for target in dict.fromkeys((1, 2, size // 4, size // 2, size - 1)) if 0 < target < size]


def _reshaped(case: CaseFile, changed: Changed, last: bool) -> CaseFile:
    """Return a copy with other shapes and parameters."""
    made = case.copy()
    for tensor, shape in zip((*made.inputs, *made.outputs), changed.shapes, strict=True):
        _cut(tensor, shape, last)
    for name, value in changed.parameters.items():
        setattr(getattr(made.node, changed.message), name, value)
    return made


def _resized(case: CaseFile, targets: Mapping[int, int], last: bool) -> CaseFile:
    made = case.copy()
    for tensor in (*made.inputs, *made.outputs):
        _cut(tensor, tuple(targets.get(dim, dim) for dim in tensor.shape), last)
    for field, message in made.node.ListFields():
        if field.name.endswith("_param") and field.name not in ("test_param", "handle_param"):
            _replace_numbers(message, targets)
    return made


def _replace_numbers(message: Any, targets: Mapping[int, int]) -> None:
    """Let parameters that are a size become the new one."""
    for field, value in message.ListFields():
        if isinstance(value, int) and not isinstance(value, bool) and value in targets and field.enum_type is None:
            setattr(message, field.name, targets[value])


def _cut(tensor: CaseTensor, shape: tuple[int, ...], last: bool) -> None:
    """Keep the first elements of each dim, or the last ones."""
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
    kept = tuple(slice(old - new, old) if last else slice(new) for old, new in zip(tensor.shape, shape, strict=True))
    tensor.set_values(np.ascontiguousarray(whole[kept]).reshape(-1), shape)


# ---- Values --------------------------------------------------------------------------------------


def _simpler_values(case: CaseFile, fails: Callable[[CaseFile], bool], report: Callable[[str], None]) -> CaseFile:
    kept = case
    for number, tensor in enumerate(case.inputs):
        values = None if tensor.is_null else tensor.values()
        parts, tries = deque([(0, 0 if values is None else len(values))]), 0
        while parts and tries < _MOST_TRIES:
            begin, end = parts.popleft()
            for name, simpler in _SIMPLER.items():
                made = _with_part(kept, number, begin, end, simpler)
                if made is None:
                    continue
                tries += 1
                if fails(made):
                    kept = made
                    report(f"{_of_part(begin, end)} of {tensor.id} become {name}")
                    break
            if end - begin > 1 and not _are_zeros(kept.inputs[number], begin, end):
                parts += [(begin, (begin + end) // 2), ((begin + end) // 2, end)]
    return kept


def _of_part(begin: int, end: int) -> str:
    return f"values {begin} to {end - 1}" if end - begin > 1 else f"value {begin}"


def _are_zeros(tensor: CaseTensor, begin: int, end: int) -> bool:
    values = tensor.values()
    return values is not None and not values[begin:end].astype(np.bool_).any()


def _all_ones(values: np.ndarray) -> np.ndarray:
    """Return ones; zeros stay, which are simpler."""
    return np.where(values == 0, values, np.ones_like(values))


_SIMPLER: dict[str, Callable[[np.ndarray], np.ndarray]] = {"0": np.zeros_like, "1": _all_ones, "whole": np.round}


def _with_part(
    case: CaseFile, number: int, begin: int, end: int, simpler: Callable[[np.ndarray], np.ndarray]
) -> CaseFile | None:
    """Return a copy in which a part of the values is simpler, None if nothing changes."""
    values = None if begin == end else case.inputs[number].values()
    if values is None:
        return None
    with np.errstate(all="ignore"):
        changed = simpler(values[begin:end])
    if np.array_equal(changed, values[begin:end]):
        return None
    made, found = case.copy(), values.copy()
    found[begin:end] = changed
    made.inputs[number].set_values(found)
    return made
