"""What a reference returns, brought to the shapes and types of the outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from pymluops._shown import counted, shown
from pymluops._suggestions import among
from pymluops.errors import BadParamError

__all__ = ["as_output", "results_of"]


def results_of(returned: object, names: Sequence[str]) -> list[Any]:
    """Return the results of a reference in the order of the outputs.

    Parameters
    ----------
    returned : object
        An array, a tuple of them, or a mapping of names to them.
    names : sequence of str
        The outputs.

    Raises
    ------
    BadParamError
        If it has other results than the outputs.
    """
    wanted = ", ".join(names)
    if isinstance(returned, Mapping):
        given = cast("Mapping[str, Any]", returned)
        unknown = [name for name in given if name not in names]
        if unknown or len(given) != len(names):
            got = ", ".join(map(str, given)) or "no result"
            raise _refusal(f"expected the results {wanted}, got {got}{among(map(str, unknown), names)}")
        return [given[name] for name in names]
    results = list(cast("Sequence[Any]", returned)) if isinstance(returned, tuple) else [returned]
    if len(results) != len(names):
        raise _refusal(f"expected {counted(len(names), 'result')} ({wanted}), got {len(results)}")
    return results


def as_output(name: str, result: object, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return a result as the output can hold it: what is too large for its type is infinite, integers wrap around.

    Parameters
    ----------
    name : str
        Of the output.
    result : object
        What the reference computed.
    shape, dtype
        Of the output.

    Raises
    ------
    BadParamError
        If it is no array of numbers, has another shape, or loses something that is no rounding: an
        imaginary part, or the part of a number behind the point.
    """
    try:
        array = np.asarray(result)
    except ValueError as error:
        raise _refusal(f"{name}: expected an array, got {shown(result)}: {error}") from None
    if not _is_numeric(array.dtype):
        raise _refusal(f"{name}: expected an array of numbers, got {shown(result)}")
    if array.shape != shape:
        raise _refusal(f"expected shape {list(shape)} for {name}, got {list(array.shape)}")
    if array.dtype.kind == "c" and dtype.kind != "c":
        raise _refusal(f"{name}: expected real numbers for an output of {dtype.name}, got {array.dtype.name}")
    if dtype.kind in "iu" and array.dtype.kind not in "iub":
        _require_whole(name, array.astype(np.float64), dtype)
    with np.errstate(all="ignore"):
        return array.astype(dtype)


def _require_whole(name: str, array: NDArray[np.float64], dtype: np.dtype[Any]) -> None:
    """Refuse floats that an integer cannot hold: C rounds them otherwise than NumPy, or not at all."""
    least, most = float(np.iinfo(dtype).min), 2.0 ** (8 * dtype.itemsize - (dtype.kind == "i"))
    amiss = ~((array == np.trunc(array)) & (array >= least) & (array < most))
    if amiss.any():
        at = [int(i) for i in np.unravel_index(int(np.argmax(amiss)), array.shape)]
        value = array.flat[int(np.argmax(amiss))]
        raise _refusal(f"{name}: expected whole numbers that {dtype.name} holds, got {value} at {at}")


def _is_numeric(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "fiubc" or dtype.name == "bfloat16"


def _refusal(text: str) -> BadParamError:
    return BadParamError(f"task: reference: {text}")
