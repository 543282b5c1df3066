"""upfirdn2d of mmcv: zeros between pixels, padding, a filter, and every so many pixels of the result."""

from __future__ import annotations

from typing import Any

from pymluops.mmcv._binding import Row
from pymluops.mmcv._tensors import check_floats, check_tensors, extension_function, refuse
from pymluops.mmcv._torch import Tensor, load_torch

__all__ = ["upfirdn2d"]

ROWS = (
    Row(
        "upfirdn2d, filter2d, upsample2d, downsample2d",
        ("upfirdn2d",),
        "forward, backward",
        "PyTorch (float32, float64)",
        "mmcv's wrappers compute CPU tensors with PyTorch code of their own and never call this.",
    ),
)


def filtered(
    images: Any, taps: Any, up: tuple[int, int], down: tuple[int, int], padding: tuple[int, int, int, int]
) -> Any:
    """Return the filtered images [N, C, H, W]; factors along y and x, padding left, right, above and below.

    `taps` [fh, fw] are multiplied with the pixels in their order.
    """
    torch = load_torch()
    batch, channels, height, width = images.shape
    spread = images.new_zeros((batch * channels, 1, height, up[0], width, up[1]))
    spread[:, 0, :, 0, :, 0] = images.reshape(batch * channels, height, width)
    spread = spread.view(batch * channels, 1, height * up[0], width * up[1])
    left, right, above, below = padding
    spread = torch.nn.functional.pad(spread, [max(side, 0) for side in padding])
    rows = slice(max(-above, 0), spread.shape[2] - max(-below, 0))
    columns = slice(max(-left, 0), spread.shape[3] - max(-right, 0))
    found = torch.nn.functional.conv2d(spread[:, :, rows, columns], taps[None, None], stride=down)
    return found.view(batch, channels, *found.shape[2:])


def output_size(size: int, taps: int, up: int, down: int, before: int, after: int) -> int:
    """Return the number of pixels of the result along an axis."""
    return (size * up + before + after - taps + down) // down


@extension_function
def upfirdn2d(
    input: Tensor,
    filter: Tensor,
    upx: int,
    upy: int,
    downx: int,
    downy: int,
    padx0: int,
    padx1: int,
    pady0: int,
    pady1: int,
    flip: bool,
    gain: float,
) -> Tensor:
    """Return the filtered images, like `input`; `flip` takes the filter as it is, and else it is turned around."""
    name = "upfirdn2d"
    torch = load_torch()
    given = check_floats(name, input=input)
    check_tensors(name, ("float32",), {"filter": filter})
    for argument, tensor, rank in (("input", input, 4), ("filter", filter, 2)):
        if tensor.ndim != rank or not tensor.numel():
            raise refuse(name, argument, f"{rank} dims, none of them empty", f"shape {list(tensor.shape)}")
    for argument, factor in (("upx", upx), ("upy", upy), ("downx", downx), ("downy", downy)):
        if factor < 1:
            raise refuse(name, argument, "at least 1", factor)
    (height, width), (rows, columns) = input.shape[2:], filter.shape
    out_width = output_size(width, columns, upx, downx, padx0, padx1)
    out_height = output_size(height, rows, upy, downy, pady0, pady1)
    if out_width < 1 or out_height < 1:
        raise refuse(name, "input", "images that give at least one pixel", f"{out_height} x {out_width}")
    kind = torch.float64 if given is torch.float64 else torch.float32
    taps = filter.detach().to(kind)
    found = filtered(
        input.detach().to(kind), taps if flip else taps.flip((0, 1)), (upy, upx), (downy, downx),
        (padx0, padx1, pady0, pady1),
    )  # fmt: skip
    last = input.is_contiguous(memory_format=torch.channels_last) and not input.is_contiguous()
    layout = torch.channels_last if last else torch.contiguous_format
    return (found * gain).to(given).contiguous(memory_format=layout)
