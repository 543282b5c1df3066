"""TinShift: the shifts of temporal interlacing networks."""

from __future__ import annotations

import torch
from torch import Tensor

from pymluops.ops._described import described
from pymluops.torch._function import TensorFunction, compiling
from pymluops.torch._library import TorchOperator
from pymluops.torch._modes import TracedModule

__all__ = ["TINShift", "tin_shift"]


def _opposite(shifts: Tensor) -> Tensor:
    """Return shifts the other way. The least of int32 has no opposite; the next one moves all out of a clip too."""
    return shifts.clamp(min=1 - 2**31).neg()


_SAMPLE = {"C": 6, "G": 3}
_FORWARD = TorchOperator(described("tin_shift_forward"), sample=_SAMPLE)
_FORWARD_AS_MMCV = TorchOperator(described("tin_shift_forward"), "tin_shift_forward_as_mmcv", sample=_SAMPLE)
_BACKWARD = TorchOperator(described("tin_shift_backward"), autocast=False)
# A shift the other way is the adjoint, of every direction.
_FORWARD.differentiate(_FORWARD, "input", {"input": "out"}, {"shifts": _opposite}, linear=("input",))
_FORWARD_AS_MMCV.differentiate(_BACKWARD, "grad_output", {"input": "out"}, linear=("input",), exact=False)
_BACKWARD.differentiate(_FORWARD, "input", {"grad_output": "out"}, {"shifts": _opposite}, linear=("grad_output",))


def _formula(input: Tensor, shift: Tensor) -> Tensor:
    """Take each value from `shift` time steps before."""
    batch, length, channels, positions = input.shape
    groups = shift.shape[1]
    steps = shift.long()[:, :, None].expand(batch, groups, channels // groups).reshape(batch, 1, channels)
    source = torch.arange(length)[:, None] - steps
    rows = source.clamp(0, length - 1)[..., None].expand(batch, length, channels, positions)
    inside = (source >= 0) & (source < length)
    return input.gather(1, rows) * inside[..., None].to(input.dtype)


_TRUE = TensorFunction(_FORWARD, formula=_formula)
_AS_MMCV = TensorFunction(_FORWARD_AS_MMCV, formula=_formula, keywords={"gradient": "mmcv"})


@_TRUE
@_AS_MMCV
def tin_shift(input: Tensor, shift: Tensor, *, gradient: str = "true") -> Tensor:
    """Shift groups of channels along time.

    With ``s = shift[b, c // (C // G)]``::

        output[b, t, c, p] = input[b, t - s, c, p]   if 0 <= t - s < T, else 0

    Parameters
    ----------
    input : Tensor, shape [B, T, C, HW]
        A clip: T time steps, C channels, HW positions; any floating type.
    shift : Tensor, shape [B, G], int32 or int64
        Time steps that each of the G groups of channels moves; positive is towards later.
    gradient : {"true", "mmcv"}
        ``"true"`` is the gradient of what is computed: the gradient moves back. ``"mmcv"`` is what
        mmcv and mlu-ops compute, which move it on in the direction of `shift`. Use it to go on with
        the training of a network that was trained with them.

    Returns
    -------
    Tensor
        Like `input`. The values are copied bit by bit, also those of bfloat16.

    Raises
    ------
    ValueError
        If batches differ, or G does not divide C; all that the library refuses is a
        `BadParamError`, a ValueError too.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> clip = torch.tensor([1.0, 2.0, 3.0]).reshape(1, 3, 1, 1)
    >>> pymluops.torch.tin_shift(clip, torch.tensor([[1]])).flatten().tolist()
    [0.0, 1.0, 2.0]
    """
    if gradient not in ("true", "mmcv"):
        raise ValueError(f"tin_shift: gradient: expected 'true' or 'mmcv', got {gradient!r}")
    way = _TRUE if gradient == "true" else _AS_MMCV
    return (way.through_torch if compiling() else way.direct)(input, shift)


class TINShift(TracedModule):
    """`tin_shift` as a module.

    Parameters
    ----------
    gradient : {"true", "mmcv"}
        As in `tin_shift`.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> shift = pymluops.torch.TINShift()
    >>> shift(torch.ones(1, 3, 1, 1), torch.tensor([[2]])).flatten().tolist()
    [0.0, 0.0, 1.0]
    """

    def __init__(self, *, gradient: str = "true") -> None:
        super().__init__()
        self.gradient = gradient

    def forward(self, input: Tensor, shift: Tensor) -> Tensor:
        """Return `input` shifted."""
        return tin_shift(input, shift, gradient=self.gradient)
