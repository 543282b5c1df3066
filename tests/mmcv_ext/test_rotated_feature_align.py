"""mmcv's extension for rotated_feature_align, and mmcv's own function of it: values, strides, gradients, refusals."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pymluops.oracle.rotated_feature_align as oracle

from .gradcheck import check_gradient
from .values import any_strides, every_dtype, exact, laid, near, tensor

LAST, FIRST = (0, 2, 3, 1), (0, 3, 1, 2)


def problem(torch: Any, dtype: str) -> tuple[Any, Any, Any]:
    """Maps, gradients of small integers, and boxes that leave the maps."""
    rng = np.random.default_rng(3)
    maps, grad = (tensor(torch, rng.integers(-8, 9, (2, 3, 4, 5)), dtype) for _ in range(2))
    at = np.concatenate([rng.integers(-4, 12, (2, 4, 5, 4)), rng.choice([0, 0.5, -1.25, 2], (2, 4, 5, 1))], -1)
    return maps, grad, tensor(torch, at, dtype)


@every_dtype
@any_strides
@pytest.mark.parametrize("points", [1, 5])
def test_values(torch: Any, ext: ModuleType, dtype: str, strided: bool, points: int) -> None:
    maps, grad, at = problem(torch, dtype)
    numbers = {"spatial_scale": 0.5, "points": points}
    output, result = (laid(torch, torch.full(maps.shape, 9, dtype=maps.dtype), strided) for _ in range(2))
    boxes = laid(torch, at, strided)
    ext.rotated_feature_align_forward(laid(torch, maps, strided), boxes, output, **numbers)
    expected = oracle.forward(exact(maps).transpose(LAST), exact(at), 0.5, points)
    near(torch, output, expected.transpose(FIRST), dtype)
    ext.rotated_feature_align_backward(laid(torch, grad, strided), boxes, result, **numbers)
    expected = oracle.backward(exact(grad).transpose(LAST), exact(at), 0.5, points)
    near(torch, result, expected.transpose(FIRST), dtype)


@pytest.mark.parametrize("points", [1, 5])
def test_gradients(torch: Any, ext: ModuleType, points: int) -> None:
    maps, _, at = problem(torch, "float64")

    def forward(values: Any) -> Any:
        output = torch.zeros_like(values)
        ext.rotated_feature_align_forward(values, at, output, spatial_scale=0.5, points=points)
        return output

    def backward(grad: Any, values: Any) -> Any:
        result = torch.zeros_like(values)
        ext.rotated_feature_align_backward(grad, at, result, spatial_scale=0.5, points=points)
        return result

    check_gradient(torch, forward, backward, exact(maps))


def test_refused(torch: Any, ext: ModuleType) -> None:
    maps, _, at = problem(torch, "float32")
    for name, tensors in (
        ("rotated_feature_align_forward", ("features", "best_bboxes", "output")),
        ("rotated_feature_align_backward", ("top_grad", "best_bboxes", "bottom_grad")),
    ):
        output = torch.full_like(maps, 9)
        first, boxes, last = tensors
        given = {first: maps, boxes: at, last: output, "spatial_scale": 0.5, "points": 5}
        refused: list[tuple[dict[str, Any], str]] = [
            ({first: maps[0]}, f"{first}: expected shape"),
            ({boxes: at[..., :4]}, f"{boxes}: expected shape"),
            ({boxes: at[:1]}, f"{boxes}: expected shape"),
            ({boxes: at.double()}, f"{boxes}: expected float32"),
            ({last: output[:, :2]}, f"{last}: expected shape"),
            ({"points": 3}, r"points: expected 1 \(centre\) or 5 \(centre and corners\), got 3"),
            ({"spatial_scale": 0.0}, "spatial_scale: expected"),
        ]
        for changes, text in refused:
            with pytest.raises(RuntimeError, match=f"^{name}: {text}"):
                getattr(ext, name)(**{**given, **changes})
        assert (output == 9).all()
    ext.rotated_feature_align_forward(maps[:0], at[:0], output[:0], 0.5, 1)
