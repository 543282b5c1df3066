"""Sparse convolutions as modules."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import torch
from torch import Tensor, nn

from pymluops.torch.sparse._functions import indice_conv, indice_inverse_conv
from pymluops.torch.sparse._modules import SparseModule
from pymluops.torch.sparse._pairs import get_conv_output_size, get_deconv_output_size, get_indice_pairs
from pymluops.torch.sparse._tensor import IndiceData, SparseConvTensor

_Sizes = int | Sequence[int]


def filters_from_spconv(weight: Tensor) -> Tensor:
    """Return a filter of spconv 2.x, [Co, *kernel_size, Ci], as it is here and in mmcv: [*kernel_size, Ci, Co]."""
    return weight.movedim(0, -1).contiguous()


def filters_to_spconv(weight: Tensor) -> Tensor:
    """Return a filter [*kernel_size, Ci, Co] as spconv 2.x has it: [Co, *kernel_size, Ci]."""
    return weight.movedim(-1, 0).contiguous()


def _each(name: str, value: _Sizes, ndim: int, least: int) -> list[int]:
    values = [int(v) for v in value] if isinstance(value, Sequence) else [int(value)] * ndim
    if len(values) != ndim or min(values) < least:
        raise ValueError(f"SparseConvolution: {name}: expected {ndim} integers >= {least}, got {value!r}")
    return values


class SparseConvolution(SparseModule):
    """Convolution of a `SparseConvTensor`, of any kind.

    Parameters
    ----------
    ndim : int
        Number of axes, 1 to 4.
    in_channels, out_channels : int
        Numbers of channels.
    kernel_size, stride, padding, dilation : int or sequence of int
        As in any convolution. A sub-manifold convolution has stride 1 and padding ``kernel_size // 2``.
    groups : int
        1.
    bias : bool
        Whether a bias is added to every output row.
    subm : bool
        Sub-manifold: the output rows are the input rows.
    output_padding : int or sequence of int
        What a transposed convolution adds to the size of its output.
    transposed : bool
        Whether it is transposed.
    inverse : bool
        Goes back from the outputs of the convolution with the same `indice_key` to its inputs.
    indice_key : str, optional
        Convolutions with the same key share their pairs, which must be of the same kind.
    fused_bn : bool
        Accepted for mmcv's sake: the bias is that of a normalisation.

    Attributes
    ----------
    weight : Parameter, shape [*kernel_size, in_channels, out_channels]
        As in mmcv. A state dict of spconv 2.x, [out_channels, *kernel_size, in_channels], is converted when it is
        loaded; where both shapes are the same, it is taken for one of spconv if it says version 2 for the module.
    bias : Parameter, shape [out_channels]
        None without a bias.
    """

    def __init__(
        self,
        ndim: int,
        in_channels: int,
        out_channels: int,
        kernel_size: _Sizes = 3,
        stride: _Sizes = 1,
        padding: _Sizes = 0,
        dilation: _Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        subm: bool = False,
        output_padding: _Sizes = 0,
        transposed: bool = False,
        inverse: bool = False,
        indice_key: str | None = None,
        fused_bn: bool = False,
    ) -> None:
        super().__init__()
        if groups != 1:
            raise ValueError(f"SparseConvolution: groups: expected 1, got {groups}")
        if inverse and indice_key is None:
            raise ValueError("SparseConvolution: indice_key: expected that of an earlier convolution, got None")
        self.ndim, self.in_channels, self.out_channels, self.groups = ndim, in_channels, out_channels, groups
        self.kernel_size, self.stride = _each("kernel_size", kernel_size, ndim, 1), _each("stride", stride, ndim, 1)
        self.padding, self.dilation = _each("padding", padding, ndim, 0), _each("dilation", dilation, ndim, 1)
        self.output_padding = _each("output_padding", output_padding, ndim, 0)
        self.subm, self.transposed, self.inverse = subm, transposed, inverse
        self.indice_key, self.fused_bn = indice_key, fused_bn
        self.weight = nn.Parameter(torch.empty(*self.kernel_size, in_channels, out_channels))
        self.bias: nn.Parameter | None
        if bias:
            self.bias = nn.Parameter(torch.empty(out_channels))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias evenly, as torch's convolutions do."""
        bound = 1 / math.sqrt(max(1, self.in_channels * math.prod(self.kernel_size)))
        nn.init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            nn.init.uniform_(self.bias, -bound, bound)

    @property
    def pointwise(self) -> bool:
        """Whether each row is multiplied by one matrix, so that no pairs are needed."""
        moves = self.stride != [1] * self.ndim or self.padding != [0] * self.ndim or self.inverse
        moves = moves or any(self.output_padding)
        return math.prod(self.kernel_size) == 1 and (self.subm or not moves)

    def forward(self, input: SparseConvTensor) -> SparseConvTensor:
        """Convolve a sparse tensor."""
        given: Any = input
        if not isinstance(given, SparseConvTensor):
            raise TypeError(f"SparseConvolution: input: expected a SparseConvTensor, got {type(given).__name__}")
        if input.features.shape[1] != self.in_channels:
            expected = f"{self.in_channels} channels"
            raise ValueError(f"SparseConvolution: input: expected {expected}, got {input.features.shape[1]}")
        if self.pointwise:
            filters = self.weight.flatten(0, -3)[0].to(input.features.dtype)
            return input.replace_feature(self._biased(input.features @ filters))
        data = self._inverse_data(input) if self.inverse else self._data(input)
        if self.inverse:
            places, shape, convolve = data.indices, data.spatial_shape, indice_inverse_conv
        else:
            places, shape, convolve = data.out_indices, self._out_shape(input.spatial_shape), indice_conv
        features = convolve(input.features, self.weight, data.indice_pairs, data.indice_pair_num, len(places))
        out = SparseConvTensor(self._biased(features), places, shape, input.batch_size, input.grid)
        out.indice_dict = input.indice_dict
        return out

    def _biased(self, features: Tensor) -> Tensor:
        return features if self.bias is None else features + self.bias.to(features.dtype)

    def _out_shape(self, space: list[int]) -> list[int]:
        if self.subm:
            return space
        window = (space, self.kernel_size, self.stride, self.padding, self.dilation)
        return (
            get_deconv_output_size(*window, self.output_padding) if self.transposed else get_conv_output_size(*window)
        )

    def _inverse_data(self, input: SparseConvTensor) -> IndiceData:
        data = input.find_indice_pair(self.indice_key)
        if data is None:
            raise ValueError(f"SparseConvolution: indice_key: expected that of an earlier one, got {self.indice_key!r}")
        self._need_fitting(data, len(data.out_indices), len(input.indices))
        return data

    def _data(self, input: SparseConvTensor) -> IndiceData:
        """Return the pairs that are kept under the key, or find them and keep them."""
        data = input.find_indice_pair(self.indice_key)
        if data is not None:
            self._need_fitting(data, len(data.indices), len(input.indices))
            return data
        found = get_indice_pairs(
            input.indices, input.batch_size, input.spatial_shape, self.kernel_size, self.stride, self.padding,
            self.dilation, self.output_padding, self.subm, self.transposed,
        )  # fmt: skip
        out_indices, pairs, num = found
        data = IndiceData(out_indices, input.indices, pairs, num, input.spatial_shape)
        if self.indice_key is not None:
            input.indice_dict[self.indice_key] = data
        return data

    def _need_fitting(self, data: IndiceData, rows: int, given: int) -> None:
        """Refuse pairs of another kind of convolution."""
        cells = math.prod(self.kernel_size)
        if len(data.indice_pairs) != cells or rows != given:
            expected = f"pairs of {cells} filter cells and {given} rows"
            found = f"{len(data.indice_pairs)} cells and {rows} rows under {self.indice_key!r}"
            raise ValueError(f"SparseConvolution: indice_key: expected {expected}, got {found}")

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, local_metadata: Any, *args: Any, **kwargs: Any
    ) -> None:
        """Convert the filter of a state dict of spconv 2.x."""
        weight: Any = state_dict.get(prefix + "weight")
        if isinstance(weight, Tensor):
            ours = tuple(self.weight.shape)
            theirs = (self.out_channels, *self.kernel_size, self.in_channels)
            if tuple(weight.shape) == theirs and (theirs != ours or local_metadata.get("version") == 2):
                state_dict[prefix + "weight"] = filters_from_spconv(weight)
        load: Any = cast("Any", super())._load_from_state_dict
        load(state_dict, prefix, local_metadata, *args, **kwargs)

    def extra_repr(self) -> str:
        """Tell channels, sizes and kind."""
        kinds = [kind for kind in ("subm", "transposed", "inverse") if getattr(self, kind)]
        facts = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        facts += f", padding={self.padding}, dilation={self.dilation}, bias={self.bias is not None}"
        return ", ".join([facts, *kinds] + ([f"indice_key={self.indice_key!r}"] if self.indice_key else []))


class _Plain(SparseConvolution):
    """A convolution whose number of axes and kind follow from its class."""

    _ndim = 3
    _kind: dict[str, Any] = {}  # noqa: RUF012

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: _Sizes,
        stride: _Sizes = 1,
        padding: _Sizes = 0,
        dilation: _Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        indice_key: str | None = None,
    ) -> None:
        super().__init__(
            self._ndim, in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias,
            indice_key=indice_key, **self._kind,
        )  # fmt: skip


class SparseConv2d(_Plain):
    """Convolution of 2 axes; see `SparseConvolution`."""

    _ndim = 2


class SparseConv3d(_Plain):
    """Convolution of 3 axes; see `SparseConvolution`."""


class SparseConv4d(_Plain):
    """Convolution of 4 axes; see `SparseConvolution`."""

    _ndim = 4


class SubMConv2d(_Plain):
    """Sub-manifold convolution of 2 axes; see `SparseConvolution`."""

    _ndim, _kind = 2, {"subm": True}


class SubMConv3d(_Plain):
    """Sub-manifold convolution of 3 axes; see `SparseConvolution`."""

    _kind = {"subm": True}  # noqa: RUF012


class SubMConv4d(_Plain):
    """Sub-manifold convolution of 4 axes; see `SparseConvolution`."""

    _ndim, _kind = 4, {"subm": True}


class SparseConvTranspose2d(_Plain):
    """Transposed convolution of 2 axes; see `SparseConvolution`."""

    _ndim, _kind = 2, {"transposed": True}


class SparseConvTranspose3d(_Plain):
    """Transposed convolution of 3 axes; see `SparseConvolution`."""

    _kind = {"transposed": True}  # noqa: RUF012


class SparseInverseConv2d(SparseConvolution):
    """Inverse convolution of 2 axes; see `SparseConvolution`."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: _Sizes, indice_key: str | None = None, bias: bool = True
    ) -> None:
        super().__init__(2, in_channels, out_channels, kernel_size, bias=bias, inverse=True, indice_key=indice_key)


class SparseInverseConv3d(SparseConvolution):
    """Inverse convolution of 3 axes; see `SparseConvolution`."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: _Sizes, indice_key: str | None = None, bias: bool = True
    ) -> None:
        super().__init__(3, in_channels, out_channels, kernel_size, bias=bias, inverse=True, indice_key=indice_key)
