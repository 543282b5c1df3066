"""The functions of mmcv's extension for masked_conv2d."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from pymluops.oracle import masked_conv as oracle

from .values import any_strides, every_dtype, exact, laid, near, tensor

_NUMBERS = {"kernel_h": 3, "kernel_w": 2, "pad_h": 1, "pad_w": 0}
_ROWS, _COLUMNS = np.array([0, 3, 2, 5]), np.array([1, 0, 2, 2])


def cells(torch: Any) -> tuple[Any, Any]:
    return torch.from_numpy(_ROWS), torch.from_numpy(_COLUMNS)


@every_dtype
@any_strides
def test_columns(torch: Any, ext: ModuleType, dtype: str, strided: bool) -> None:
    rng = np.random.default_rng(2)
    im = laid(torch, tensor(torch, rng.integers(-9, 9, (1, 3, 4, 3)), dtype), strided)
    col = laid(torch, torch.full((18, 4), 9, dtype=im.dtype), strided)
    ext.masked_im2col_forward(im, *cells(torch), col, **_NUMBERS)
    near(torch, col, oracle.im2col(exact(im), _ROWS, _COLUMNS, (3, 2), (1, 0)), dtype)
    back = laid(torch, torch.full((1, 3, 4, 3), 9, dtype=im.dtype), strided)
    ext.masked_col2im_forward(col[:3], *cells(torch), back, height=4, width=3, channels=3)
    near(torch, back, oracle.col2im(exact(col[:3]), _ROWS, _COLUMNS, (4, 3)), dtype)


def test_nothing(torch: Any, ext: ModuleType) -> None:
    im, none = torch.full((1, 2, 3, 3), 9.0), torch.zeros(0, dtype=torch.int64)
    ext.masked_im2col_forward(im, none, none, torch.zeros(8, 0), 2, 2, 0, 0)
    ext.masked_col2im_forward(torch.zeros(2, 0), none, none, im, 3, 3, 2)
    assert not im.any()


def test_refused(torch: Any, ext: ModuleType) -> None:
    im, col = torch.ones(1, 3, 4, 3), torch.full((18, 4), 9.0)
    rows, columns = cells(torch)
    far = rows + 2**32
    refused: list[tuple[str, dict[str, Any], str]] = [
        ("masked_im2col_forward", {"im": im[0]}, "im: expected shape"),
        ("masked_im2col_forward", {"im": torch.ones(2, 3, 4, 3)}, "im: expected shape"),
        ("masked_im2col_forward", {"im": im.double()}, "col: expected float64"),
        ("masked_im2col_forward", {"mask_h_idx": rows.float()}, "mask_h_idx: expected int64"),
        ("masked_im2col_forward", {"mask_h_idx": far}, "mask_h_idx: expected values that int32 can hold, got 4"),
        ("masked_im2col_forward", {"mask_w_idx": columns[:3]}, "mask_w_idx: expected shape"),
        ("masked_im2col_forward", {"kernel_h": 0}, "kernel_h: expected at least 1"),
        ("masked_im2col_forward", {"kernel_h": 2}, "col: expected shape"),
        ("masked_col2im_forward", {"height": 5}, "height: expected 4, as im has, got 5"),
        ("masked_col2im_forward", {"channels": 2}, "channels: expected 3"),
        ("masked_col2im_forward", {"im": im[:, :2]}, "im: expected shape"),
        ("masked_col2im_forward", {"mask_w_idx": far}, "mask_w_idx: expected values"),
    ]  # fmt: skip
    given = {"mask_h_idx": rows, "mask_w_idx": columns}
    for name, changes, text in refused:
        if name == "masked_im2col_forward":
            arguments = {"im": im, **given, "col": col, **_NUMBERS, **changes}
        else:
            numbers = {"height": 4, "width": 3, "channels": 3}
            arguments = {"col": col[:3], **given, "im": im, **numbers, **changes}
        with pytest.raises(RuntimeError, match=f"^{name}: {text}"):
            getattr(ext, name)(**arguments)
    assert (col == 9).all()
    assert (im == 1).all()
