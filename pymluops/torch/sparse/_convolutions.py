"""Sparse convolutions as modules."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import torch
from torch import Tensor, nn

from pymluops.torch.sparse._dispatch import shapes_of
from pymluops.torch.sparse._filters import OWN_VERSION, read_filter
from pymluops.torch.sparse._groups import convolve_groups, multiply_groups
from pymluops.torch.sparse._numbers import whole
from pymluops.torch.sparse._tensor import SparseConvTensor
from pymluops.torch.sparse._windows import Windowed

_Sizes = int | Sequence[int]

#: The arguments of `_load_from_state_dict` that all modules of a network share, and their places
#: after the metadata.
_SHARED_LISTS = (("missing_keys", 1), ("error_msgs", 3))


class SparseConvolution(Windowed):
    """Convolution of a `SparseConvTensor`, of any kind.

    Parameters
    ----------
    ndim : int
        Number of axes, 1 to 4.
    in_channels, out_channels : int
        Numbers of channels.
    kernel_size, stride, padding, dilation : int or sequence of int
        As in any convolution. A sub-manifold convolution has stride 1 and padding ``kernel_size //
        2``.
    groups : int
        Number of groups of channels: each group of input channels makes a group of output channels.
        With as many groups as input channels the convolution is depthwise.
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
    weight : Parameter, shape [*kernel_size, in_channels // groups, out_channels]
        As in mmcv. Filters of spconv are converted when a state dict is loaded. Their layout
        follows from their shapes, those of other layers of the network, and the version of a module
        of this package; where it does not, loading raises, and `load_state_dict` takes the layout
        as an argument.
    bias : Parameter, shape [out_channels]
        None without a bias.
    """

    _version = OWN_VERSION

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
        if inverse and indice_key is None:
            raise ValueError("SparseConvolution: indice_key: expected that of an earlier convolution, got None")
        name = type(self).__name__

        in_channels = self.in_channels = whole(name, "in_channels", in_channels, 0)
        out_channels = self.out_channels = whole(name, "out_channels", out_channels, 0)
        groups = self.groups = whole(name, "groups", groups, 1)
        if in_channels % groups or out_channels % groups:
            found = f"{groups} with {in_channels} and {out_channels}"
            raise ValueError(f"{name}: groups: expected a divisor of both numbers of channels, got {found}")
        self._set_window(ndim, kernel_size, stride, padding, dilation, output_padding)
        self.subm, self.transposed, self.inverse = subm, transposed, inverse
        self.indice_key, self.fused_bn = indice_key, fused_bn
        self.weight = nn.Parameter(torch.empty(*self.kernel_size, in_channels // groups, out_channels))
        self.bias: nn.Parameter | None
        if bias:
            self.bias = nn.Parameter(torch.empty(out_channels))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias evenly, as torch's convolutions do."""
        bound = 1 / math.sqrt(max(1, self.in_channels // self.groups * math.prod(self.kernel_size)))
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
        given_places = self._checked_places(input)
        channels = shapes_of(input.features)[0][1]
        if channels != self.in_channels:
            raise ValueError(f"SparseConvolution: input: expected {self.in_channels} channels, got {channels}")
        if self.pointwise:
            matrix = self.weight.flatten(0, -3)[0].to(input.features.dtype)
            return input.replace_feature(self._biased(multiply_groups(input.features, matrix, self.groups)))
        if self.inverse:
            data, kept = self._inverse_data(input, given_places), input.indice_dict
            places, shape = data.indices, data.spatial_shape
        else:
            data = self._data(input, given_places)
            places, shape, kept = data.out_indices, data.out_shape, self._with_key(input, data)
        features = convolve_groups(
            input.features, self.weight, data.indice_pairs, data.indice_pair_num, places.shape[0], self.groups,
            self.inverse,
        )  # fmt: skip
        return input.with_rows(self._biased(features), places, shape, kept)

    def _biased(self, features: Tensor) -> Tensor:
        return features if self.bias is None else features + self.bias.to(features.dtype)

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, local_metadata: Any, *args: Any, **kwargs: Any
    ) -> None:
        """Convert the filter of a state dict of spconv."""
        missing, errors = (kwargs.get(key, args[at] if len(args) > at else []) for key, at in _SHARED_LISTS)
        weight: Any = state_dict.get(prefix + "weight")
        if isinstance(weight, Tensor):
            version = local_metadata.get("version")
            state_dict[prefix + "weight"] = read_filter(self, prefix + "weight", weight, version, missing, errors)
        load: Any = cast("Any", super())._load_from_state_dict
        load(state_dict, prefix, local_metadata, *args, **kwargs)

    def extra_repr(self) -> str:
        """Tell channels, sizes and kind."""
        kinds = [kind for kind in ("subm", "transposed", "inverse") if getattr(self, kind)]
        facts = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        facts += f", padding={self.padding}, dilation={self.dilation}, bias={self.bias is not None}"
        facts += f", groups={self.groups}" if self.groups > 1 else ""
        return ", ".join([facts, *kinds] + ([f"indice_key={self.indice_key!r}"] if self.indice_key else []))
