"""The functions of mmcv's extension for carafe and carafe_naive."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from pymluops.oracle import carafe_upsample as oracle

from .values import any_strides, every_dtype, exact, laid, near, tensor

_FIRST, _LAST = (0, 3, 1, 2), (0, 2, 3, 1)
_NUMBERS = {"kernel_size": 3, "group_size": 2, "scale_factor": 2}


def problem(torch: Any, dtype: str) -> tuple[Any, Any, Any]:
    """Small integers and quarters, which every type has exactly."""
    rng = np.random.default_rng(2)
    maps, grad = rng.integers(-3, 4, (2, 4, 3, 2)), rng.integers(-3, 4, (2, 4, 6, 4))
    return (
        tensor(torch, maps, dtype),
        tensor(torch, rng.integers(0, 5, (2, 18, 6, 4)) / 4, dtype),
        tensor(torch, grad, dtype),
    )


@every_dtype
@any_strides
def test_carafe(torch: Any, ext: ModuleType, dtype: str, strided: bool) -> None:
    maps, masks, grad = (laid(torch, values, strided) for values in problem(torch, dtype))
    last = [exact(values).transpose(_LAST) for values in (maps, masks, grad)]
    numbers = tuple(_NUMBERS.values())
    outputs = [laid(torch, torch.full_like(grad, 9), strided) for _ in range(2)]
    ext.carafe_naive_forward(maps, masks, outputs[0], **_NUMBERS)
    kept = torch.zeros_like(maps)
    ext.carafe_forward(maps, masks, kept, torch.zeros_like(grad), torch.zeros_like(masks), outputs[1], **_NUMBERS)
    for output in outputs:
        near(torch, output, oracle.forward(last[0], last[1], *numbers).transpose(_FIRST), dtype)
    expected = [array.transpose(_FIRST) for array in oracle.backward(*last, *numbers)]
    for naive in (True, False):
        made = [laid(torch, torch.full_like(of, 9), strided) for of in (maps, masks)]
        if naive:
            ext.carafe_naive_backward(grad, maps, masks, *made, **_NUMBERS)
        else:
            scratch = [torch.zeros_like(of) for of in (grad, grad, maps, masks)]
            ext.carafe_backward(grad, kept, masks, *scratch, *made, **_NUMBERS)
        for found, wanted in zip(made, expected, strict=True):
            near(torch, found, wanted, dtype)


def test_refused_arguments(torch: Any, ext: ModuleType) -> None:
    maps, masks, grad = problem(torch, "float32")
    output = torch.full_like(grad, 9)
    for changes in (
        {"features": maps[:, :3]}, {"features": maps[0]}, {"features": maps.double()}, {"masks": masks[:, :17]},
        {"masks": masks[:, :, :5]}, {"kernel_size": 0}, {"group_size": 3}, {"scale_factor": 3}, {"masks": masks[:1]},
    ):  # fmt: skip
        given = {"features": maps, "masks": masks, "output": output, **_NUMBERS, **changes}
        with pytest.raises(RuntimeError, match=r"^carafe_naive_forward: \w+: expected "):
            ext.carafe_naive_forward(**given)
    assert (output == 9).all()
    ext.carafe_naive_forward(maps[:0], masks[:0], output[:0], **_NUMBERS)
