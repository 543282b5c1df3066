"""Arguments for the functions of the extension, and what the oracles say of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

#: Types of values that a function takes, with the largest error of a result of size 1.
TOLERANCES = {"float64": 1e-13, "float32": 1e-5, "float16": 2e-3, "bfloat16": 2e-2}
DTYPES = tuple(TOLERANCES)

every_dtype = pytest.mark.parametrize("dtype", DTYPES)
any_strides = pytest.mark.parametrize("strided", [False, True])


def tensor(torch: Any, array: np.ndarray, dtype: str) -> Any:
    """The array as a tensor whose values the type has exactly."""
    return torch.from_numpy(np.asarray(array, np.float64)).to(getattr(torch, dtype))


def exact(values: Any) -> np.ndarray:
    """The values of a tensor in float64."""
    result: np.ndarray = values.detach().double().numpy()
    return result


def near(torch: Any, got: Any, expected: np.ndarray, dtype: str) -> None:
    assert str(got.dtype) == f"torch.{dtype}"
    assert tuple(got.shape) == expected.shape
    scale = max(1.0, float(np.abs(expected).max(initial=0)))
    np.testing.assert_allclose(exact(got), expected, rtol=0, atol=TOLERANCES[dtype] * scale)


def views(torch: Any, values: Any) -> Any:
    """The same values in memory that is not contiguous: the last two axes are exchanged, with gaps between rows."""
    wide = torch.full((*values.shape[:-2], values.shape[-1], values.shape[-2] * 2), 7, dtype=values.dtype)
    view = wide[..., ::2].transpose(-1, -2)
    view.copy_(values)
    return view


def laid(torch: Any, values: Any, strided: bool) -> Any:
    """The values, in memory that is not contiguous if `strided`."""
    return views(torch, values) if strided else values
