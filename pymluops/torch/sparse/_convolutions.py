"""Sparse convolutions as modules."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import torch
from torch import Tensor, nn

from pymluops.torch.sparse._dispatch import shapes_of
from pymluops.torch.sparse._filters import OWN_VERSION, read_filter
from pymluops.torch.sparse._functions import indice_conv, indice_inverse_conv
from pymluops.torch.sparse._modules import SparseModule
from pymluops.torch.sparse._numbers import sizes, whole
from pymluops.torch.sparse._pairs import get_conv_output_size, get_deconv_output_size, get_indice_pairs
from pymluops.torch.sparse._places import same_places
from pymluops.torch.sparse._tensor import IndiceData, SparseConvTensor, Window

_Sizes = int | Sequence[int]

#: The arguments of `_load_from_state_dict` that all modules of a network share, and their places after the metadata.
_SHARED_LISTS = (("missing_keys", 1), ("error_msgs", 3))


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
        As in mmcv. Filters of spconv are converted when a state dict is loaded. Their layout follows from their
        shapes, those of other layers of the network, and the version of a module of this package; where it does not,
        loading raises, and `load_state_dict` takes the layout as an argument.
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
        if groups != 1:
            raise ValueError(f"SparseConvolution: groups: expected 1, got {groups}")
        if inverse and indice_key is None:
            raise ValueError("SparseConvolution: indice_key: expected that of an earlier convolution, got None")
        name = type(self).__name__

        def each(argument: str, value: _Sizes, least: int) -> list[int]:
            return sizes(name, argument, value, ndim, least)

        self.ndim, self.groups = ndim, groups
        in_channels = self.in_channels = whole(name, "in_channels", in_channels, 0)
        out_channels = self.out_channels = whole(name, "out_channels", out_channels, 0)
        self.kernel_size, self.stride = each("kernel_size", kernel_size, 1), each("stride", stride, 1)
        self.padding, self.dilation = each("padding", padding, 0), each("dilation", dilation, 1)
        self.output_padding = each("output_padding", output_padding, 0)
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
        channels = shapes_of(input.features)[0][1]
        if channels != self.in_channels:
            raise ValueError(f"SparseConvolution: input: expected {self.in_channels} channels, got {channels}")
        given_places = input.checked_indices()
        if len(input.spatial_shape) != self.ndim:
            raise ValueError(f"SparseConvolution: input: expected {self.ndim} axes, got {len(input.spatial_shape)}")
        if self.pointwise:
            filters = self.weight.flatten(0, -3)[0].to(input.features.dtype)
            return input.replace_feature(self._biased(input.features @ filters))
        kept = input.indice_dict
        if self.inverse:
            data = self._inverse_data(input, given_places)
            places, shape, convolve = data.indices, data.spatial_shape, indice_inverse_conv
        else:
            data = self._data(input, given_places)
            places, shape, convolve = data.out_indices, data.out_shape, indice_conv
            if self.indice_key is not None:
                kept = {**kept, self.indice_key: data}
        features = convolve(input.features, self.weight, data.indice_pairs, data.indice_pair_num, places.shape[0])
        return input.with_rows(self._biased(features), places, shape, kept)

    def _biased(self, features: Tensor) -> Tensor:
        return features if self.bias is None else features + self.bias.to(features.dtype)

    def _out_shape(self, space: list[int]) -> list[int]:
        if self.subm:
            return space
        window = (space, self.kernel_size, self.stride, self.padding, self.dilation)
        return (
            get_deconv_output_size(*window, self.output_padding) if self.transposed else get_conv_output_size(*window)
        )

    def _window(self, input: SparseConvTensor) -> Window:
        """Return all that pairs depend on but the places."""
        kind = "sub-manifold" if self.subm else "transposed" if self.transposed else "regular"
        ones = [1] * self.ndim
        stride, padding = (ones, [k // 2 for k in self.kernel_size]) if self.subm else (self.stride, self.padding)
        extra = self.output_padding if self.transposed and not self.subm else [0] * self.ndim
        geometry = (self.kernel_size, stride, padding, self.dilation, extra)
        return Window(kind, *geometry, list(input.spatial_shape), input.batch_size)

    def _kept(self, input: SparseConvTensor) -> IndiceData | None:
        """Return the pairs that are kept under the key."""
        data: Any = input.find_indice_pair(self.indice_key)
        if data is not None and not isinstance(data, IndiceData):
            raise self._other_key("pairs that a layer has kept", type(data).__name__)
        return data

    def _other_key(self, expected: str, found: str) -> ValueError:
        key = f"SparseConvolution: indice_key: {self.indice_key!r} is that of another layer"
        return ValueError(f"{key}: expected {expected}, got {found}; give this layer a key of its own")

    def _inverse_data(self, input: SparseConvTensor, places: Tensor) -> IndiceData:
        data = self._kept(input)
        if data is None:
            raise ValueError(f"SparseConvolution: indice_key: expected that of an earlier one, got {self.indice_key!r}")
        facts = (
            ("kernel_size", data.window.kernel_size, self.kernel_size),
            ("output space", data.out_shape, list(input.spatial_shape)),
            ("batch_size", data.window.batch_size, input.batch_size),
        )
        for name, expected, found in facts:
            if expected != found:
                raise self._other_key(f"{name} {expected}", str(found))
        if not data.ends_at(places):
            raise self._other_key("the indices of its output", "other indices, or changed ones")
        if not same_places(data.indices, data.versions[0], data.indices):
            raise self._other_key("the indices of its input", "changed ones")
        return data

    def _data(self, input: SparseConvTensor, places: Tensor) -> IndiceData:
        """Return the pairs that are kept under the key, or find them."""
        window, data = self._window(input), self._kept(input)
        if data is not None:
            for name, expected, found in zip(Window._fields, data.window, window, strict=True):
                if expected != found:
                    raise self._other_key(f"{name} {expected}", str(found))
            if not data.starts_at(places):
                raise self._other_key("the indices of its input", "other indices, or changed ones")
            return data
        out_shape = self._out_shape(window.spatial_shape)
        out_indices, pairs, num = get_indice_pairs(
            places, input.batch_size, window.spatial_shape, self.kernel_size, self.stride, self.padding,
            self.dilation, self.output_padding, self.subm, self.transposed,
        )  # fmt: skip
        if self.subm:
            out_indices = places  # the tensor itself, which later layers know again
        return IndiceData.keep(out_indices, places, pairs, num, window, out_shape)

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
