"""correlation: products of patches of two maps at several displacements, and the gradients of both maps.

Result (p, q, k, l) of maps [C, H, W] is the sum over channels and cells (i, j) of a kernel of
input1[c, y, x] * input2[c, y + dy, x + dx], with y = k * stride - pad + i * dilation and dy = p *
dilation_patch - dilation_patch * (patch - 1) // 2, likewise along x; pixels beside a map count 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from pymluops.oracle.ways import Way

#: Operators whose float results are sums, which a device may round or order in its own way.
SUMS = ("correlation_forward", "correlation_backward")


class Settings(NamedTuple):
    """Numbers of a call, along y and x."""

    kernel: tuple[int, int] = (1, 1)
    patch: tuple[int, int] = (1, 1)
    stride: tuple[int, int] = (1, 1)
    pad: tuple[int, int] = (0, 0)
    dilation: tuple[int, int] = (1, 1)
    dilation_patch: tuple[int, int] = (1, 1)


def settings_of(numbers: Any) -> Settings:
    """The numbers in the order of the C function, which the sizes of the result may follow."""
    pairs = [(int(numbers[i]), int(numbers[i + 1])) for i in range(0, 12, 2)]
    return Settings(*pairs)


def size_of(size: tuple[int, int], s: Settings) -> tuple[int, int]:
    """The size of a result that has all windows in the padded map."""
    height, width = (
        (size[i] + 2 * s.pad[i] - s.dilation[i] * (s.kernel[i] - 1) - 1) // s.stride[i] + 1 for i in range(2)
    )
    return height, width


def _terms(size: tuple[int, int], out: tuple[int, int], s: Settings) -> Iterator[tuple[Any, Any, Any]]:
    """Places in the result, in the first map and in the second one, where both are on the maps."""
    for p, q in np.ndindex(*s.patch):
        moves = [n * s.dilation_patch[i] - s.dilation_patch[i] * (s.patch[i] - 1) // 2 for i, n in enumerate((p, q))]
        for row, column, i, j in np.ndindex(*out, *s.kernel):
            y = row * s.stride[0] - s.pad[0] + i * s.dilation[0]
            x = column * s.stride[1] - s.pad[1] + j * s.dilation[1]
            one, other = (y, x), (y + moves[0], x + moves[1])
            if all(0 <= place[axis] < size[axis] for place in (one, other) for axis in range(2)):
                yield (p, q, row, column), one, other


def forward(input1: np.ndarray, input2: np.ndarray, s: Settings, out: tuple[int, int]) -> np.ndarray:
    """[B, patch_h, patch_w, h, w] in float64."""
    result = np.zeros((len(input1), *s.patch, *out))
    with np.errstate(all="ignore"):
        for place, one, other in _terms(input1.shape[2:], out, s):
            products = input1[:, :, one[0], one[1]].astype(np.float64) * input2[:, :, other[0], other[1]]
            result[(slice(None), *place)] += products.sum(1)
    return result


def backward(grad: np.ndarray, input1: np.ndarray, input2: np.ndarray, s: Settings) -> tuple[np.ndarray, np.ndarray]:
    """The gradients of both maps in float64."""
    first, second = np.zeros(input1.shape), np.zeros(input2.shape)
    with np.errstate(all="ignore"):
        for place, one, other in _terms(input1.shape[2:], grad.shape[3:], s):
            own = grad[(slice(None), *place)].astype(np.float64)[:, None]
            first[:, :, one[0], one[1]] += own * input2[:, :, other[0], other[1]]
            second[:, :, other[0], other[1]] += own * input1[:, :, one[0], one[1]]
    return first, second


def in_double(name: str, *given: Any) -> Any:
    """The results of an operator for float64 arrays and the scalars of the description."""
    if name == "correlation_forward":
        input1, input2, *numbers = given
        return forward(input1, input2, settings_of(numbers), (numbers[12], numbers[13]))
    grad, input1, input2, *numbers = given
    return backward(grad, input1, input2, settings_of(numbers))


def ways(size: int) -> Iterator[Way]:
    """Many displacements, many channels, large kernels, and large maps."""
    names = "kernel_h kernel_w patch_h patch_w stride_h stride_w pad_h pad_w dilation_h dilation_w"
    one = dict.fromkeys((*names.split(), "dilation_patch_h", "dilation_patch_w"), 1)
    for name in SUMS:
        many = {**one, "patch_h": 9, "patch_w": 9, "dilation_patch_w": 2, "Ho": size + 3, "Wo": 18}
        yield Way(name, "many displacements", {**many, "B": 1, "C": 3, "H": size + 1, "W": 16})
        yield Way(name, "many channels", {**one, "B": 2, "C": 30 * size + 3, "H": 3, "W": 4, "Ho": 5, "Wo": 6})
        wide = {**one, "kernel_h": 3, "kernel_w": 5, "patch_h": 3, "patch_w": 3, "stride_w": 2}
        yield Way(name, "large kernels", {**wide, "B": 1, "C": 5, "H": 4 * size + 4, "W": 12, "Ho": 4 * size, "Wo": 6})
