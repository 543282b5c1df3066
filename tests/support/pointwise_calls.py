"""Calls of the C functions of each element, which all have some scalars and then tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from support.c_calls import Raw, Tensor

#: The C functions with the scalars before the tensors, and the number of tensors.
IN_C: dict[str, tuple[str, tuple[int, ...], int]] = {
    "abs": ("mluOpAbs", (), 2),
    "sqrt": ("mluOpSqrt", (0,), 2),
    "sqrt_backward": ("mluOpSqrtBackward", (), 3),
    "log": ("mluOpLog", (0, 0), 2),
    "div": ("mluOpDiv", (1,), 3),
    "lgamma": ("mluOpLgamma", (), 2),
}


def status(raw: Raw, name: str, *tensors: Any) -> int:
    """Call the function of an operator."""
    function, scalars, count = IN_C[name]
    assert len(tensors) == count
    return raw.status(function, *scalars, *(Tensor(t) if isinstance(t, np.ndarray) else t for t in tensors))
