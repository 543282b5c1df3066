"""filtered_lrelu of mmcv: a leaky ReLU between enlarging and reducing an image."""

from __future__ import annotations

from typing import Any

from pymluops.mmcv._binding import Row
from pymluops.mmcv._tensors import (
    check_floats,
    check_shape,
    check_tensors,
    extension_function,
    extension_function_of,
    refuse,
)
from pymluops.mmcv._torch import Tensor, load_torch
from pymluops.mmcv.upfirdn2d import filtered, output_size

__all__ = ["filtered_lrelu", "filtered_lrelu_act_"]

ROWS = (
    Row(
        "filtered_lrelu",
        ("filtered_lrelu", "filtered_lrelu_act_"),
        "forward, backward",
        "PyTorch (float32, float64)",
        "mmcv's wrapper computes CPU tensors with PyTorch code of its own and never calls this. Every combination of "
        "factors and filters computes; the code returned is 0.",
    ),
)

_ROUNDED = 16  # positions that the rows of signs are filled up to a multiple of


def _pack(codes: Any, active: int) -> Any:
    """Return codes [..., w] of two bits, four to a byte, the lowest first; those from `active` on become 0."""
    torch = load_torch()
    codes = torch.nn.functional.pad(codes[..., :active], (0, -active % _ROUNDED))
    parts = codes.reshape(*codes.shape[:-1], -1, 4)
    return (parts[..., 0] | parts[..., 1] << 2 | parts[..., 2] << 4 | parts[..., 3] << 6).to(torch.uint8)


def _unpack(signs: Any) -> Any:
    torch = load_torch()
    shifts = torch.tensor([0, 2, 4, 6], dtype=torch.uint8)
    return ((signs[..., None] >> shifts) & 3).flatten(-2)


def _activated(values: Any, slope: float, clamp: float) -> tuple[Any, Any]:
    """Return the leaky ReLU of values, and codes: 1 for a negative one, 2 for one that was clamped."""
    torch = load_torch()
    negative = values < 0
    found = torch.where(negative, values * slope, values)
    beyond = found.abs() > clamp
    codes = torch.where(beyond, 2, negative.to(torch.uint8)).to(torch.uint8)
    return torch.where(beyond, found.sign() * clamp, found), codes


def _by_signs(values: Any, signs: Any, sx: int, sy: int, slope: float) -> Any:
    """Return values as their codes say; a value beside the tensor of signs stays as it is."""
    torch = load_torch()
    codes = _unpack(signs)
    y, x = torch.arange(values.shape[2]) + sy, torch.arange(values.shape[3]) + sx
    rows, columns = codes.shape[2:]
    inside = ((y >= 0) & (y < rows))[:, None] & ((x >= 0) & (x < columns))
    found = codes[:, :, y.clamp(0, rows - 1)][..., x.clamp(0, columns - 1)] * inside
    values = torch.where((found & 1).bool(), values * slope, values)
    return torch.where((found & 2).bool(), 0, values)


def _check_signs(name: str, si: Tensor, x: Tensor) -> bool:
    """Whether there are signs to read."""
    if not si.numel():
        return False
    check_tensors(name, ("uint8",), {"si": si})
    check_shape(name, "si", si, (x.shape[0], x.shape[1], None, None))
    return True


def _resampled(
    images: Any, taps: Any, up: int, down: int, padding: tuple[int, int, int, int], gain: float, flip: bool
) -> Any:
    """Return images filtered by a plane of taps, or by a line of them along both axes."""
    if taps.ndim == 2:
        return filtered(images, taps if flip else taps.flip((0, 1)), (up, up), (down, down), padding) * gain
    line = taps if flip else taps.flip(0)
    wide = filtered(images, line[None], (1, up), (1, down), (*padding[:2], 0, 0))
    return filtered(wide, line[:, None], (up, 1), (down, 1), (0, 0, *padding[2:])) * gain


@extension_function_of(x="N C H W", b="C")
def filtered_lrelu(
    x: Tensor,
    fu: Tensor,
    fd: Tensor,
    b: Tensor,
    si: Tensor,
    up: int,
    down: int,
    px0: int,
    px1: int,
    py0: int,
    py1: int,
    sx: int,
    sy: int,
    gain: float,
    slope: float,
    clamp: float,
    flip_filters: bool,
    writeSigns: bool,
) -> tuple[Tensor, Tensor | None, int]:
    """Return the images, the signs if they are wanted, and 0."""
    name = "filtered_lrelu"
    torch = load_torch()
    given = check_floats(name, x=x, b=b)
    check_tensors(name, ("float32",), {"fu": fu, "fd": fd})
    check_shape(name, "x", x, (None,) * 4)
    check_shape(name, "b", b, (x.shape[1],))
    for argument, taps in (("fu", fu), ("fd", fd)):
        if taps.ndim not in (1, 2) or not taps.numel():
            raise refuse(name, argument, "a line or a plane of taps", f"shape {list(taps.shape)}")
    for argument, factor in (("up", up), ("down", down)):
        if factor < 1:
            raise refuse(name, argument, "at least 1", factor)
    reading = _check_signs(name, si, x) and not writeSigns
    high, wide = (
        size * up + before + after - (taps - 1)
        for size, before, after, taps in zip(
            x.shape[2:], (py0, px0), (py1, px1), (fu.shape[0], fu.shape[-1]), strict=True
        )
    )
    if wide < fd.shape[-1] or high < fd.shape[0]:
        raise refuse(name, "x", "images that the filters fit into", f"{high} x {wide} pixels between the filters")
    kind = torch.float64 if given is torch.float64 else torch.float32
    values = x.detach().to(kind) + b.detach().to(kind)[:, None, None]
    values = _resampled(values, fu.detach().to(kind), up, 1, (px0, px1, py0, py1), float(up * up), flip_filters) * gain
    signs = None
    if reading:
        values = _by_signs(values, si, sx, sy, slope)
    else:
        values, codes = _activated(values, slope, clamp)
        if writeSigns:
            rows, columns = (
                (output_size(size, taps, 1, down, 0, 0) - 1) * down + taps
                for size, taps in ((high, fd.shape[0]), (wide, fd.shape[-1]))
            )
            signs = _pack(codes[:, :, :rows], columns)
    found = _resampled(values, fd.detach().to(kind), 1, down, (0, 0, 0, 0), 1.0, flip_filters)
    return found.to(given), signs, 0


@extension_function
def filtered_lrelu_act_(
    x: Tensor, si: Tensor, sx: int, sy: int, gain: float, slope: float, clamp: float, writeSigns: bool
) -> Tensor | None:
    """Change `x` to its leaky ReLU, or as the signs say, and return the signs if they are wanted."""
    name = "filtered_lrelu_act_"
    torch = load_torch()
    given = check_floats(name, x=x)
    check_shape(name, "x", x, (None,) * 4)
    reading = _check_signs(name, si, x) and not writeSigns
    values = x.detach().to(torch.float64 if given is torch.float64 else torch.float32) * gain
    if reading:
        x.detach().copy_(_by_signs(values, si, sx, sy, slope))
        return None
    values, codes = _activated(values, slope, clamp)
    x.detach().copy_(values)
    return _pack(codes, x.shape[3]) if writeSigns else None
