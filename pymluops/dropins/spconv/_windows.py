"""Windows and keys as spconv has them, over those of `pymluops.torch.sparse`."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from pymluops.dropins.spconv._tensor import IndiceData
from pymluops.torch.sparse import get_conv_output_size
from pymluops.torch.sparse._pairs import find_pairs
from pymluops.torch.sparse._tensor import IndiceData as _Kept
from pymluops.torch.sparse._tensor import SparseConvTensor, Window
from pymluops.torch.sparse._windows import Windowed as _Windowed

__all__ = ["Windowed", "centred", "deconv_output_size"]


def deconv_output_size(
    space: list[int], kernel: list[int], stride: list[int], padding: list[int], extra: list[int]
) -> list[int]:
    """Return the space of a transposed convolution, whose dilation spconv leaves out."""
    axes = zip(space, kernel, stride, padding, extra, strict=True)
    return [(i - 1) * s - 2 * p + k + more for i, k, s, p, more in axes]


def centred(kernel: list[int], dilation: list[int]) -> list[int]:
    """Return the padding with which the centre of a sub-manifold filter lies at its row."""
    return [k // 2 * d for k, d in zip(kernel, dilation, strict=True)]


class Windowed(_Windowed):
    """A layer that moves a window over places, with the rules of spconv."""

    algo: Any

    def _out_shape(self, space: list[int]) -> list[int]:
        if self.subm:
            return space
        if self.transposed:
            return deconv_output_size(space, self.kernel_size, self.stride, self.padding, self.output_padding)
        return get_conv_output_size(space, self.kernel_size, self.stride, self.padding, self.dilation)

    def _window(self, input: SparseConvTensor) -> Window:
        window = super()._window(input)
        if not self.subm:
            return window
        if any(size % 2 == 0 for size in self.kernel_size):
            found = f"odd sizes for a sub-manifold window, got {self.kernel_size}"
            raise RuntimeError(f"{self._called}: kernel_size: expected {found}")
        return window._replace(padding=centred(self.kernel_size, self.dilation))

    def _found(self, places: Tensor, window: Window, out_shape: list[int]) -> tuple[Tensor, Tensor, Tensor]:
        return find_pairs(places, window, out_shape)

    def _kept(self, input: SparseConvTensor) -> _Kept | None:
        data: Any = input.find_indice_pair(self.indice_key)
        if data is not None and not isinstance(data, IndiceData):
            raise self._other_key("pairs that a layer has kept", type(data).__name__)
        return None if data is None else data.kept
