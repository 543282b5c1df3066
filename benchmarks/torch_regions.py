"""Bilinear samples of regions with PyTorch, for peers: grid_sample for the regions of each image."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def single(torch: Any, array: Any) -> Any:
    """Return a tensor of an array, float16 in float32: grid_sample's places need more digits."""
    tensor = torch.from_numpy(array)
    return tensor.float() if tensor.dtype == torch.float16 else tensor


def samples(torch: Any, maps: Any, image: Any, y: Any, x: Any) -> Any:
    """Return [R, C, N, M] of maps [B, C, H, W]: samples at y and x, [R, N, M], in the images of the regions.

    A place at most a pixel beside the map has the value at its rim, one further away 0.
    """
    batch, channels, height, width = maps.shape
    inside = (y >= -1) & (y <= height) & (x >= -1) & (x <= width)
    grid = torch.stack([2 * x / max(width - 1, 1) - 1, 2 * y / max(height - 1, 1) - 1], -1)
    found = maps.new_zeros(len(image), channels, *y.shape[1:])
    for b in range(batch):
        own = image == b
        if not bool(own.any()):
            continue
        points = grid[own].flatten(0, 1)[None]
        taken = torch.nn.functional.grid_sample(maps[b : b + 1], points, padding_mode="border", align_corners=True)
        found[own] = taken[0].unflatten(1, (-1, y.shape[1])).transpose(0, 1)
    return found * inside[:, None]


def ways(
    torch: Any, pooled: Callable[[Any], Any], given: dict[str, Any], outputs: dict[str, Any]
) -> dict[str, Callable[[], dict[str, Any]]]:
    """Return ways with maps in channels_last memory, and with the channels brought to the front first.

    `pooled` takes maps [B, C, H, W] and returns [R, C, ph, pw]. `given` has ``input`` [B, H, W, C],
    or ``grad_output`` [R, ph, pw, C] where the gradient of the maps is asked for. float16 is
    computed in float32.
    """
    out = torch.from_numpy(outputs["out"])

    def forward(contiguous: bool) -> dict[str, Any]:
        maps = single(torch, given["input"]).permute(0, 3, 1, 2)
        out.copy_(pooled(maps.contiguous() if contiguous else maps).permute(0, 2, 3, 1))
        return outputs

    def backward(contiguous: bool) -> dict[str, Any]:
        gradient = single(torch, given["grad_output"]).permute(0, 3, 1, 2)
        maps = torch.zeros(out.shape, dtype=gradient.dtype).permute(0, 3, 1, 2)
        maps = (maps.contiguous() if contiguous else maps).requires_grad_()
        (found,) = torch.autograd.grad(pooled(maps), maps, gradient)
        out.copy_(found.permute(0, 2, 3, 1))
        return outputs

    way = forward if "input" in given else backward
    return {"channels last": lambda: way(False), "channels first": lambda: way(True)}
