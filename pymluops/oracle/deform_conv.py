"""deform_conv: a convolution whose cells look at places between pixels, weighted by a mask, and its gradients.

Everything is added up in the type of the arguments: first the column of each position, cell and
channel, then its products with the filter, in the order of cells and channels.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from pymluops.oracle.refusals import Refusals
from pymluops.oracle.ways import Way

#: C functions without a description: tests/ops has their refusals and values.
TESTED_APART = (
    "mluOpDCNBackwardData",
    "mluOpDCNBackwardWeight",
    "mluOpDCNForward",
    "mluOpGetDCNBackwardWeightWorkspaceSize",
    "mluOpGetDCNBakcwardDataWorkspaceSize",
    "mluOpGetDCNForwardWorkspaceSize",
)

#: Operators whose float results are sums, which a device may round or order in its own way.
SUMS = ("deform_conv_forward", "deform_conv_backward_data", "deform_conv_backward_weight", "deform_conv_backward")


class Numbers(NamedTuple):
    """The numbers of a convolution, along height and width."""

    stride: tuple[int, int] = (1, 1)
    padding: tuple[int, int] = (0, 0)
    dilation: tuple[int, int] = (1, 1)
    conv_group: int = 1
    deformable_group: int = 1


class Inputs(NamedTuple):
    """The arrays that all directions take."""

    filter: np.ndarray  # [Co, kh, kw, Ci / conv_group]
    input: np.ndarray  # [N, H, W, Ci]
    offset: np.ndarray  # [N, Ho, Wo, dg * kh * kw * 2]
    mask: np.ndarray  # [N, Ho, Wo, dg * kh * kw]


class Place(NamedTuple):
    """A place that counts: its indices n, ho, wo, q, a, b, the channels that look there, and the pixels around it."""

    index: tuple[int, int, int, int, int, int]
    channels: slice
    pixels: list[tuple[int, int] | None]  # [yl, xl], [yl, xh], [yh, xl], [yh, xh]; None beside the map
    low: tuple[Any, Any]

    @property
    def weights(self) -> tuple[Any, ...]:
        ly, lx = self.low
        return (1 - ly) * (1 - lx), (1 - ly) * lx, ly * (1 - lx), ly * lx


def places(inputs: Inputs, numbers: Numbers, real: type) -> Iterator[Place]:
    """The places that count, in the order of positions, groups and cells."""
    _, kh, kw, _ = inputs.filter.shape
    _, height, width, channels = inputs.input.shape
    batch, rows, columns, _ = inputs.mask.shape
    groups = numbers.deformable_group
    each = channels // groups
    offset = inputs.offset.reshape(batch, rows, columns, groups, kh, kw, 2).astype(real)
    for index in np.ndindex(batch, rows, columns, groups, kh, kw):
        _, ho, wo, q, a, b = index
        with np.errstate(all="ignore"):
            y = real(ho * numbers.stride[0] - numbers.padding[0] + a * numbers.dilation[0]) + offset[index][0]
            x = real(wo * numbers.stride[1] - numbers.padding[1] + b * numbers.dilation[1]) + offset[index][1]
        if not (y > -1 and x > -1 and y < height and x < width):
            continue
        top, left = int(np.floor(y)), int(np.floor(x))
        pixels = [
            (r, c) if 0 <= r < height and 0 <= c < width else None for r in (top, top + 1) for c in (left, left + 1)
        ]
        yield Place(index, slice(q * each, (q + 1) * each), pixels, (y - real(top), x - real(left)))


def _corners(inputs: Inputs, place: Place, real: type) -> list[np.ndarray]:
    count = place.channels.stop - place.channels.start
    return [
        np.zeros(count, real) if pixel is None else inputs.input[place.index[0], *pixel, place.channels].astype(real)
        for pixel in place.pixels
    ]


def _mixed(place: Place, corners: list[np.ndarray]) -> np.ndarray:
    w = place.weights
    return ((w[0] * corners[0] + w[1] * corners[1]) + w[2] * corners[2]) + w[3] * corners[3]


def _mask(inputs: Inputs, numbers: Numbers, real: type) -> np.ndarray:
    _, kh, kw, _ = inputs.filter.shape
    return inputs.mask.reshape(*inputs.mask.shape[:3], numbers.deformable_group, kh, kw).astype(real)


def columns_of(inputs: Inputs, numbers: Numbers, real: type) -> np.ndarray:
    """[N, Ho, Wo, kh, kw, Ci]: the values that the filter meets."""
    _, kh, kw, _ = inputs.filter.shape
    found = np.zeros((*inputs.mask.shape[:3], kh, kw, inputs.input.shape[3]), real)
    mask = _mask(inputs, numbers, real)
    with np.errstate(all="ignore"):
        for place in places(inputs, numbers, real):
            n, ho, wo, _, a, b = place.index
            value = _mixed(place, _corners(inputs, place, real)) * mask[place.index]
            found[n, ho, wo, a, b, place.channels] = value
    return found


def _groups(inputs: Inputs, numbers: Numbers) -> Iterator[tuple[slice, slice]]:
    """Output and input channels of each group of the convolution."""
    outputs, channels = len(inputs.filter) // numbers.conv_group, inputs.filter.shape[3]
    for g in range(numbers.conv_group):
        yield slice(g * outputs, (g + 1) * outputs), slice(g * channels, (g + 1) * channels)


def forward(inputs: Inputs, numbers: Numbers, real: type = np.float64) -> np.ndarray:
    """[N, Ho, Wo, Co]."""
    columns, filters = columns_of(inputs, numbers, real), inputs.filter.astype(real)
    result = np.zeros((*columns.shape[:3], len(filters)), real)
    with np.errstate(all="ignore"):
        for outputs, channels in _groups(inputs, numbers):
            result[..., outputs] = np.einsum("nijabc,oabc->nijo", columns[..., channels], filters[outputs])
    return result


def backward_weight(inputs: Inputs, numbers: Numbers, grad: np.ndarray, real: type = np.float64) -> np.ndarray:
    """[Co, kh, kw, Ci / conv_group]."""
    columns, given = columns_of(inputs, numbers, real), grad.astype(real)
    result = np.zeros(inputs.filter.shape, real)
    with np.errstate(all="ignore"):
        for outputs, channels in _groups(inputs, numbers):
            result[outputs] = np.einsum("nijabc,nijo->oabc", columns[..., channels], given[..., outputs])
    return result


def backward_data(
    inputs: Inputs, numbers: Numbers, grad: np.ndarray, real: type = np.float64
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gradients of input, offset and mask."""
    _, kh, kw, _ = inputs.filter.shape
    given, filters, mask = grad.astype(real), inputs.filter.astype(real), _mask(inputs, numbers, real)
    columns = np.zeros((*grad.shape[:3], kh, kw, inputs.input.shape[3]), real)
    d_input, d_mask = np.zeros(inputs.input.shape, real), np.zeros(mask.shape, real)
    d_offset = np.zeros((*mask.shape, 2), real)
    with np.errstate(all="ignore"):
        for outputs, channels in _groups(inputs, numbers):
            columns[..., channels] = np.einsum("nijo,oabc->nijabc", given[..., outputs], filters[outputs])
        for place in places(inputs, numbers, real):
            n, ho, wo, _, a, b = place.index
            column, v, m = columns[n, ho, wo, a, b, place.channels], _corners(inputs, place, real), mask[place.index]
            (ly, lx), weights = place.low, place.weights
            for pixel, weight in zip(place.pixels, weights, strict=True):
                if pixel is not None:
                    d_input[n, *pixel, place.channels] += weight * m * column
            dots = [(column * corner).sum() for corner in v]
            d_mask[place.index] = sum(w * dot for w, dot in zip(weights, dots, strict=True))
            d_offset[place.index] = (
                m * ((1 - lx) * (dots[2] - dots[0]) + lx * (dots[3] - dots[1])),
                m * ((1 - ly) * (dots[1] - dots[0]) + ly * (dots[3] - dots[2])),
            )
    return d_input, d_offset.reshape(inputs.offset.shape), d_mask.reshape(inputs.mask.shape)


def backward(inputs: Inputs, numbers: Numbers, grad: np.ndarray, real: type = np.float64) -> tuple[np.ndarray, ...]:
    """Gradients of input, offset, mask and filter."""
    return *backward_data(inputs, numbers, grad, real), backward_weight(inputs, numbers, grad, real)


def numbers_of(values: Any) -> Numbers:
    """The numbers, from those of the description in their order."""
    sh, sw, ph, pw, dh, dw, groups, deformable = values
    return Numbers((sh, sw), (ph, pw), (dh, dw), groups, deformable)


def in_double(name: str, *given: Any) -> Any:
    """The results of an operator for float64 arrays and the scalars of the description."""
    if name == "deform_conv_forward":
        return forward(Inputs(*given[:4]), numbers_of(given[4:]))
    if name == "deform_conv_backward_weight":
        input_, offset, mask, grad, *values, kh, kw, channels = given
        shape = np.zeros((grad.shape[3], kh, kw, channels))
        return backward_weight(Inputs(shape, input_, offset, mask), numbers_of(values), grad)
    compute = backward_data if name == "deform_conv_backward_data" else backward
    return compute(Inputs(*given[:4]), numbers_of(given[5:]), given[4])


def ways(size: int) -> Iterator[Way]:
    """Many positions with few channels, and few with many; groups."""
    numbers = {"stride_h": 1, "stride_w": 2, "pad_h": 1, "pad_w": 0, "dilation_h": 1, "dilation_w": 1}
    for name in SUMS:
        few = {"N": 2, "H": 9, "W": 7, "Ho": 4, "Wo": 2 * size, "kh": 3, "kw": 2, "Cg": 2, "Co": 4}
        few |= {"kernel_h": 3, "kernel_w": 2, "group_channels": 2}
        yield Way(name, "many positions", few, {**numbers, "conv_group": 2, "deformable_group": 2})
        many = {"N": 1, "H": 5, "W": 4, "Ho": 3, "Wo": 4, "kh": 2, "kw": 1, "Cg": 4 * size + 3, "Co": 2 * size + 1}
        many |= {"kernel_h": 2, "kernel_w": 1, "group_channels": 4 * size + 3}
        yield Way(name, "many channels", many, {**numbers, "conv_group": 1, "deformable_group": 1})


REFUSALS = {
    f"mluopsExtDeformConv{direction}": Refusals()
    for direction in ("Forward", "BackwardData", "BackwardWeight", "Backward")
}
