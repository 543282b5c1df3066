"""Sparse convolutions with spconv's arguments, attributes and layout of filters, [Co, *kernel_size, Ci]."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from pymluops.dropins.spconv import _constants
from pymluops.dropins.spconv._algorithms import Activation, ConvAlgo, activated
from pymluops.dropins.spconv._modules import SparseModule
from pymluops.dropins.spconv._tensor import IndiceData, SparseConvTensor, require
from pymluops.dropins.spconv._windows import Windowed
from pymluops.torch.sparse._dispatch import shapes_of
from pymluops.torch.sparse._filters import read_filter
from pymluops.torch.sparse._groups import convolve_groups, multiply_groups
from pymluops.torch.sparse._numbers import whole

__all__ = ["SparseConvolution", "SparseConvolutionBase", "chosen_algorithm"]

_Sizes = int | Sequence[int]
_LAYOUTS = {"": None, "KRSC": "spconv-2.2", "RSKC": "spconv-2.0", "RSCK": "mmcv"}


def chosen_algorithm(algo: ConvAlgo | None, cells: int, most: int) -> ConvAlgo:
    """Return the algorithm that a layer names: that given, or the one that spconv takes on a GPU."""
    if algo is not None:
        return algo
    return ConvAlgo.MaskImplicitGemm if cells <= most else ConvAlgo.Native


class SparseConvolution(SparseModule, Windowed):
    """Convolution of a `SparseConvTensor`, of any kind.

    Parameters
    ----------
    ndim : int
        Number of axes, 1 to 4.
    in_channels, out_channels : int
        Numbers of channels.
    kernel_size, stride, padding, dilation : int or sequence of int
        As in any convolution. A sub-manifold convolution has stride 1, an odd kernel, and its
        centre at each row.
    groups : int
        Number of groups of channels; spconv has 1.
    bias : bool
        Whether a bias is added to every output row.
    subm, transposed, inverse : bool
        The kind.
    output_padding : int or sequence of int
        What a transposed convolution adds to the size of its output.
    indice_key : str, optional
        Convolutions with the same key share their pairs.
    algo, fp32_accum, large_kernel_fast_algo
        Kept as attributes; a CPU has one way, which adds up in float32.
    record_voxel_count : bool
        Keep the largest number of output rows in a buffer.
    act_type, act_alpha, act_beta
        A function after the convolution, in inference alone.
    name : str, optional
        Kept as an attribute.
    device, dtype
        Of the parameters.

    Attributes
    ----------
    weight : Parameter, shape [out_channels, *kernel_size, in_channels]
    bias : Parameter, shape [out_channels], or None
    conv1x1 : bool
        Whether each row is multiplied by one matrix. As in spconv, that is the memory of `weight`
        read as [in_channels, out_channels].
    """

    _convolves = True

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
        algo: ConvAlgo | None = None,
        fp32_accum: bool | None = None,
        record_voxel_count: bool = False,
        act_type: Any = Activation.None_,
        act_alpha: float = 0,
        act_beta: float = 0,
        large_kernel_fast_algo: bool = False,
        name: str | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(name=name)
        called = type(self).__name__
        self.in_channels = whole(called, "in_channels", in_channels, 0)
        self.out_channels = whole(called, "out_channels", out_channels, 0)
        self.groups = whole(called, "groups", groups, 1)
        divides = not (self.in_channels % self.groups or self.out_channels % self.groups)
        channels = f"{self.in_channels} and {self.out_channels} channels"
        require(divides, f"{called}: groups: expected a divisor of {channels}, got {groups}")
        require(
            not inverse or indice_key is not None, f"{called}: indice_key: expected that of a convolution, got None"
        )
        self._set_window(ndim, kernel_size, stride, padding, dilation, output_padding)
        self.subm, self.transposed, self.inverse, self.indice_key = subm, transposed, inverse, indice_key
        cells = math.prod(self.kernel_size)
        self.conv1x1 = cells == 1 and not inverse and (subm or self.stride == [1] * ndim)
        plain = subm or not any(self.padding)
        require(not self.conv1x1 or plain, f"{called}: padding: expected 0 with a kernel of 1, got {self.padding}")
        self.algo = chosen_algorithm(algo, cells, 128 if large_kernel_fast_algo else 32)
        self.fp32_accum, self.large_kernel_fast_algo = fp32_accum, large_kernel_fast_algo
        self.act_type, self.act_alpha, self.act_beta = act_type, act_alpha, act_beta
        self.record_voxel_count = record_voxel_count and not subm and not inverse
        options: dict[str, Any] = {"device": device, "dtype": dtype}
        shape = (self.out_channels, *self.kernel_size, self.in_channels // self.groups)
        self.weight = nn.Parameter(torch.empty(shape, **options))
        self.bias: nn.Parameter | None
        if bias:
            self.bias = nn.Parameter(torch.empty(self.out_channels, **options))
        else:
            self.register_parameter("bias", None)
        if self.record_voxel_count:
            self.register_buffer("max_num_voxels_during_training", torch.zeros(1, dtype=torch.int32))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias evenly, as torch's convolutions do."""
        bound = 1 / math.sqrt(max(1, math.prod(self.weight.shape[1:])))
        nn.init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            nn.init.uniform_(self.bias, -bound, bound)

    def is_inverseable(self) -> bool:
        """Tell whether an inverse convolution may go back from this one."""
        return self.indice_key is not None and not self.subm

    def get_max_num_voxels(self) -> Tensor | None:
        """Return the buffer with the largest number of output rows, None without one."""
        return getattr(self, "max_num_voxels_during_training", None)

    @property
    def filters(self) -> Tensor:
        """The filter as [*kernel_size, Ci, Co], which the products take."""
        return self.weight.movedim(0, -1)

    def forward(self, input: SparseConvTensor, add_input: SparseConvTensor | None = None) -> SparseConvTensor:
        """Convolve a sparse tensor, and add another one with the same places."""
        places = self._checked_places(input)
        channels = shapes_of(input.features)[0][1]
        expected = f"SparseConvolution: input: expected {self.in_channels} channels, got {channels}"
        require(channels == self.in_channels, expected)
        if self.conv1x1:
            matrix = self.weight.reshape(self.in_channels // self.groups, self.out_channels)
            rows = multiply_groups(input.features, matrix.to(input.features.dtype), self.groups)
            return input.replace_feature(self._finished(rows, add_input))
        if self.inverse:
            data, kept = self._inverse_data(input, places), input.indice_dict
            out, shape = data.indices, data.spatial_shape
        else:
            data = self._data(input, places)
            out, shape, kept = data.out_indices, data.out_shape, self._with_key(input, data)
        features = convolve_groups(
            input.features, self.filters, data.indice_pairs, data.indice_pair_num, out.shape[0], self.groups,
            self.inverse,
        )  # fmt: skip
        self._record(out)
        return input.with_rows(self._finished(features, add_input), out, shape, kept)

    def _finished(self, features: Tensor, add_input: SparseConvTensor | None) -> Tensor:
        """Add the bias and another tensor, and apply the activation."""
        features = features if self.bias is None else features + self.bias.to(features.dtype)
        features = features if add_input is None else features + add_input.features
        return features if self.training else activated(features, self.act_type, self.act_alpha)

    def _record(self, places: Tensor) -> None:
        counter: Any = self.get_max_num_voxels()
        if counter is not None:
            counter.clamp_(min=places.shape[0])

    def _read_state_dict(self, state_dict: dict[str, Any], prefix: str, local_metadata: Any, *args: Any) -> None:
        """Convert the filter of a state dict of mmcv, of spconv 1 and of spconv 2.0."""
        weight: Any = state_dict.get(prefix + "weight")
        if not isinstance(weight, Tensor):
            return
        asked = getattr(sys.modules.get("spconv.constants"), "SAVED_WEIGHT_LAYOUT", _constants.SAVED_WEIGHT_LAYOUT)
        if asked not in _LAYOUTS:
            raise ValueError(f"SPCONV_SAVED_WEIGHT_LAYOUT: expected KRSC, RSKC, RSCK or none, got {asked!r}")
        missing, _, errors = args[1:4]
        state_dict[prefix + "weight"] = read_filter(
            self, prefix + "weight", weight, local_metadata.get("version"), missing, errors, home="spconv-2.2",
            asked=_LAYOUTS[asked], presumed="spconv-2.2",
        )  # fmt: skip

    def _with_key(self, input: Any, data: Any) -> dict[str, Any]:
        return input.indice_dict if self.indice_key is None else {
            **input.indice_dict, self.indice_key: IndiceData.of(data, self.algo)
        }  # fmt: skip

    def extra_repr(self) -> str:
        """Tell channels, sizes and kind."""
        kinds = [kind for kind in ("subm", "transposed", "inverse") if getattr(self, kind)]
        facts = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        facts += f", padding={self.padding}, dilation={self.dilation}, output_padding={self.output_padding}"
        facts += f", groups={self.groups}" if self.groups > 1 else ""
        facts += "" if self.bias is not None else ", bias=False"
        return ", ".join([facts, *kinds, f"algo={self.algo}"])


#: spconv's layers derive from it.
SparseConvolutionBase = SparseConvolution
