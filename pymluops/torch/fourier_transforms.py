"""Fourier transforms along one dim of complex or real tensors, with gradients of any order."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import cast

import torch
from torch import Tensor

from pymluops import _arguments
from pymluops.ops._described import described
from pymluops.torch._counts import need_tensors
from pymluops.torch._function import compiling
from pymluops.torch._library import TorchOperator
from pymluops.torch._numbers import whole

__all__ = ["fft", "ifft", "irfft", "rfft"]

_REAL = {"N": 5, "frequencies": 3, "weight": 1.5}
_FORWARD = TorchOperator(described("fft_forward"), sample={"scale_factor": 0.5})
_INVERSE = TorchOperator(described("fft_inverse"), sample={"scale_factor": 0.5})
_REAL_FORWARD = TorchOperator(described("fft_real_forward"), sample={**_REAL, "scale_factor": 0.5})
_REAL_INVERSE = TorchOperator(described("fft_real_inverse"), sample={**_REAL, "scale_factor": 0.5})
for _one, _other in (
    (_FORWARD, _INVERSE),
    (_INVERSE, _FORWARD),
    (_REAL_FORWARD, _REAL_INVERSE),
    (_REAL_INVERSE, _REAL_FORWARD),
):
    _one.differentiate(_other, "input", {"input": "out"}, linear=("input",))

#: By the norm, which direction is divided by the length, and which by its root.
_FACTORS = {None: (0.0, 1.0), "backward": (0.0, 1.0), "ortho": (0.5, 0.5), "forward": (1.0, 0.0)}


def _power(function: str, norm: str | None, inverse: bool) -> float:
    """Return the power of 1 / n that a transform is multiplied with."""
    if norm not in _FACTORS:
        raise ValueError(f"{function}: norm: expected None, 'backward', 'ortho' or 'forward', got {norm!r}")
    return _FACTORS[norm][inverse]


def _scaled(transform: Callable[[float], Tensor], n: int, power: float) -> Tensor:
    """Return a transform with its factor.

    Operators take numbers that are fixed when a program is traced. A factor of a length that is not
    fixed is multiplied by PyTorch.
    """
    if power and (compiling() or type(n) is not int):
        return transform(1.0) * n**-power
    return transform(1.0 if power == 0 else 1 / n if power == 1 else 1 / math.sqrt(n))


def _axis(function: str, input: Tensor, dim: int) -> int:
    need_tensors(function, input=input)
    dim = whole(function, "dim", dim, -_arguments.INT32_MAX)
    if not -input.ndim <= dim < input.ndim:
        raise ValueError(f"{function}: dim: expected one of the {input.ndim} dims of input, got {dim}")
    return dim % input.ndim


def _length(function: str, n: int | None, otherwise: int) -> int:
    length = otherwise if n is None else whole(function, "n", n, -_arguments.INT32_MAX)
    if length < 1:
        raise ValueError(f"{function}: n: expected at least 1, got {length}")
    return length


def _as_complex(input: Tensor) -> Tensor:
    if input.is_complex():
        return input
    wide = input if input.dtype in (torch.float32, torch.float64) else input.to(torch.float32)
    return torch.complex(wide, torch.zeros_like(wide))


def _fitted(input: Tensor, axis: int, n: int) -> Tensor:
    """Return the tensor with n elements in a dim: the first ones, or zeros appended."""
    size = input.shape[axis]
    if size > n:
        return input.narrow(axis, 0, n)
    if size == n:
        return input
    shape = list(input.shape)
    shape[axis] = n - size
    return torch.cat((input, input.new_zeros(shape)), axis)


def _flat(input: Tensor, axis: int) -> Tensor:
    """Return [A, N, C] with the dims before and after one folded."""
    return input.reshape(math.prod(input.shape[:axis]), input.shape[axis], math.prod(input.shape[axis + 1 :]))


def _shaped(found: Tensor, like: Tensor, axis: int) -> Tensor:
    return found.reshape(*like.shape[:axis], found.shape[1], *like.shape[axis + 1 :])


def _complex(function: str, input: Tensor, n: int | None, dim: int, norm: str | None, inverse: bool) -> Tensor:
    axis = _axis(function, input, dim)
    length = _length(function, n, input.shape[axis])
    power = _power(function, norm, inverse)
    given = torch.view_as_real(_flat(_fitted(_as_complex(input), axis, length), axis).resolve_conj())
    operator = _INVERSE if inverse else _FORWARD
    found = _scaled(lambda scale: cast("Tensor", operator(given, scale)), length, power)
    return _shaped(torch.view_as_complex(found), input, axis)


def fft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Transform signals along a dim, as `torch.fft.fft` does.

    `pymluops.fft_forward` has the formula. The gradient is a transform in the other direction.

    Parameters
    ----------
    input : Tensor
        Signals of any shape, complex or of a floating type, which is taken for complex.
    n : int, optional
        Length of the transform: signals are cut off there, or zeros appended; their own if not
        given.
    dim : int
        The dim along which they lie.
    norm : {None, 'backward', 'ortho', 'forward'}
        Which direction has the factor 1 / n, the other one by default; with 'ortho' both have its
        root.

    Returns
    -------
    Tensor
        Shaped as `input`, except for the length; complex64 for complex64, float32 and shorter
        types, complex128 for the others, complex32 for complex32.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> pymluops.torch.fft(torch.tensor([1.0, 2, 3, 4])).tolist()
    [(10+0j), (-2+2j), (-2+0j), (-2-2j)]
    """
    return _complex("fft", input, n, dim, norm, False)


def ifft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Transform signals back along a dim, as `torch.fft.ifft` does.

    `pymluops.fft_inverse` has the formula. The gradient is a transform in the other direction.

    Parameters
    ----------
    input : Tensor
        As in `fft`.
    n : int, optional
        As in `fft`.
    dim : int
        As in `fft`.
    norm : {None, 'backward', 'ortho', 'forward'}
        As in `fft`; this direction has the factor 1 / n by default.

    Returns
    -------
    Tensor
        As that of `fft`.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> pymluops.torch.ifft(torch.tensor([10, -2 + 2j, -2, -2 - 2j])).tolist()
    [(1+0j), (2+0j), (3+0j), (4+0j)]
    """
    return _complex("ifft", input, n, dim, norm, True)


def rfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Find half the spectrum of real signals along a dim, as `torch.fft.rfft` does.

    `pymluops.fft_real_forward` has the formula.

    Parameters
    ----------
    input : Tensor
        Signals of any shape and any floating type.
    n : int, optional
        As in `fft`.
    dim : int
        As in `fft`.
    norm : {None, 'backward', 'ortho', 'forward'}
        As in `fft`.

    Returns
    -------
    Tensor
        Shaped as `input`, except for the length, which is n // 2 + 1; complex128 for float64,
        complex32 for float16, else complex64.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> pymluops.torch.rfft(torch.tensor([1.0, 2, 3, 4])).real.tolist()
    [10.0, -2.0, -2.0]
    """
    axis = _axis("rfft", input, dim)
    if input.is_complex():
        raise ValueError(f"rfft: input: expected real values, got {str(input.dtype).removeprefix('torch.')}")
    length, power = _length("rfft", n, input.shape[axis]), _power("rfft", norm, False)
    wide = input if input.dtype in (torch.float16, torch.float32, torch.float64) else input.to(torch.float32)
    given = _flat(_fitted(wide, axis, length), axis)
    half = length // 2 + 1
    found = _scaled(lambda scale: cast("Tensor", _REAL_FORWARD(given, half, 1.0, scale)), length, power)
    return _shaped(torch.view_as_complex(found), input, axis)


def irfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Find real signals from half their spectrum along a dim, as `torch.fft.irfft` does.

    `pymluops.fft_real_inverse` has the formula.

    Parameters
    ----------
    input : Tensor
        Half spectra of any shape, complex or of a floating type, which is taken for complex.
    n : int, optional
        Length of the signals, of which n // 2 + 1 frequencies are used; 2 * (m - 1) for m
        frequencies if not given.
    dim : int
        As in `fft`.
    norm : {None, 'backward', 'ortho', 'forward'}
        As in `fft`; this direction has the factor 1 / n by default.

    Returns
    -------
    Tensor
        Shaped as `input`, except for the length, which is n; float32, float64 or float16 as
        `input`.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> pymluops.torch.irfft(torch.tensor([10, -2 + 2j, -2])).tolist()
    [1.0, 2.0, 3.0, 4.0]
    """
    axis = _axis("irfft", input, dim)
    length, power = _length("irfft", n, 2 * (input.shape[axis] - 1)), _power("irfft", norm, True)
    fitted = _fitted(_as_complex(input), axis, length // 2 + 1)
    given = torch.view_as_real(_flat(fitted, axis).resolve_conj())
    found = _scaled(lambda scale: cast("Tensor", _REAL_INVERSE(given, length, 2.0, scale)), length, power)
    return _shaped(found, input, axis)
