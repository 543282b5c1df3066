"""masked_conv2d of mmcv: its columns."""

from __future__ import annotations

from pymluops.mmcv._binding import Array, Call, Number, Row, binding, integers, result, values

__all__ = ["masked_col2im_forward", "masked_im2col_forward"]

ROWS = (
    Row(
        "masked_conv2d, MaskedConv2d",
        ("masked_im2col_forward", "masked_col2im_forward"),
        "forward",
        "mluOpMaskedIm2colForward, mluOpMaskedCol2imForward (float16, float32, float64)",
        "mmcv has no gradient for them: the convolution trains nothing.",
    ),
)

_INT32 = -(2**31), 2**31 - 1
_CELLS = (
    Array("mask_h_idx", "K", "mask_h_idx", ("int64", "int32")),
    Array("mask_w_idx", "K", "mask_w_idx", ("int64", "int32")),
)


def _check_cells(call: Call) -> None:
    """Check that the library can hold the rows and columns of the cells."""
    for name in ("mask_h_idx", "mask_w_idx"):
        cells = call.arguments[name]
        wrong = (cells < _INT32[0]) | (cells > _INT32[1])
        if bool(wrong.any()):
            raise call.refuse(name, "values that int32 can hold", int(cells[wrong][0]))


def _check_map(call: Call) -> None:
    """Compare the size of the map with the numbers that tell it."""
    _check_cells(call)
    for name, symbol in (("height", "H"), ("width", "W"), ("channels", "C")):
        if call.arguments[name] != call.sizes[symbol]:
            raise call.refuse(name, f"{call.sizes[symbol]}, as im has", call.arguments[name])


masked_im2col_forward = binding(
    "masked_im2col_forward",
    "masked_im2col_forward",
    values("im", "1 C H W", "feature"),
    *_CELLS,
    result("col", "C*kernel_h*kernel_w K", "out"),
    Number("kernel_h", least=1),
    Number("kernel_w", least=1),
    *integers("pad_h pad_w"),
    check=_check_cells,
    empty="zero",
)
masked_col2im_forward = binding(
    "masked_col2im_forward",
    "masked_col2im_forward",
    values("col", "C K", "col"),
    *_CELLS,
    result("im", "1 C H W", "out"),
    *integers("height width channels"),
    check=_check_map,
    empty="zero",
)
