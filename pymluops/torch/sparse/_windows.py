"""Layers that move a window over the places of a sparse tensor, and the pairs that they share by keys."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from pymluops.torch.sparse._modules import SparseModule
from pymluops.torch.sparse._numbers import sizes
from pymluops.torch.sparse._pairs import get_conv_output_size, get_deconv_output_size, get_indice_pairs
from pymluops.torch.sparse._places import same_places
from pymluops.torch.sparse._tensor import IndiceData, SparseConvTensor, Window


class Windowed(SparseModule):
    """A layer that moves a window over places, or goes back along the pairs of one that did."""

    #: How messages name the layer.
    _called = "SparseConvolution"

    ndim: int
    kernel_size: list[int]
    stride: list[int]
    padding: list[int]
    dilation: list[int]
    output_padding: list[int]
    subm: bool
    transposed: bool
    inverse: bool
    indice_key: str | None

    def _set_window(
        self, ndim: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any, output_padding: Any = 0
    ) -> None:
        """Keep the numbers of the window, one for each axis."""
        name = type(self).__name__

        def each(argument: str, value: Any, least: int) -> list[int]:
            return sizes(name, argument, value, ndim, least)

        self.ndim = ndim
        self.kernel_size, self.stride = each("kernel_size", kernel_size, 1), each("stride", stride, 1)
        self.padding, self.dilation = each("padding", padding, 0), each("dilation", dilation, 1)
        self.output_padding = each("output_padding", output_padding, 0)

    def _checked_places(self, input: SparseConvTensor) -> Tensor:
        """Return the places of the input, which is a sparse tensor with as many axes as the layer."""
        given: Any = input
        if not isinstance(given, SparseConvTensor):
            raise TypeError(f"{self._called}: input: expected a SparseConvTensor, got {type(given).__name__}")
        places = given.checked_indices()
        if len(given.spatial_shape) != self.ndim:
            raise ValueError(f"{self._called}: input: expected {self.ndim} axes, got {len(given.spatial_shape)}")
        return places

    def _out_shape(self, space: list[int]) -> list[int]:
        """Return the space of the output."""
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

    def _found(self, places: Tensor, window: Window, out_shape: list[int]) -> tuple[Tensor, Tensor, Tensor]:
        """Find the pairs of a window."""
        return get_indice_pairs(
            places, window.batch_size, window.spatial_shape, self.kernel_size, self.stride, self.padding,
            self.dilation, self.output_padding, self.subm, self.transposed,
        )  # fmt: skip

    def _kept(self, input: SparseConvTensor) -> IndiceData | None:
        """Return the pairs that are kept under the key."""
        data: Any = input.find_indice_pair(self.indice_key)
        if data is not None and not isinstance(data, IndiceData):
            raise self._other_key("pairs that a layer has kept", type(data).__name__)
        return data

    def _other_key(self, expected: str, found: str) -> ValueError:
        key = f"{self._called}: indice_key: {self.indice_key!r} is that of another layer"
        return ValueError(f"{key}: expected {expected}, got {found}; give this layer a key of its own")

    def _inverse_data(self, input: SparseConvTensor, places: Tensor) -> IndiceData:
        """Return the pairs that are kept under the key, for the way back to the input of their layer."""
        data = self._kept(input)
        if data is None:
            raise ValueError(f"{self._called}: indice_key: expected that of an earlier one, got {self.indice_key!r}")
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
        out_indices, pairs, num = self._found(places, window, out_shape)
        if self.subm:
            out_indices = places  # the tensor itself, which later layers know again
        return IndiceData.keep(out_indices, places, pairs, num, window, out_shape)

    def _with_key(self, input: SparseConvTensor, data: IndiceData) -> dict[str, IndiceData]:
        """Return the dict of the output: that of the input, and the pairs under the key of this layer."""
        return input.indice_dict if self.indice_key is None else {**input.indice_dict, self.indice_key: data}
