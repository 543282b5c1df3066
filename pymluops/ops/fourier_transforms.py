"""Fourier transforms along one dim, of complex and of real signals of any length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pymluops import _arguments
from pymluops._core import Operator, describe
from pymluops._hints import keeps_values
from pymluops.errors import BadParamError
from pymluops.ops._schema import FLOATS, Scalar, Tensor

if TYPE_CHECKING:
    from types import EllipsisType

    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["fft_forward", "fft_inverse", "fft_real_forward", "fft_real_inverse"]

_ALL = "A N C"
_SCALE = Scalar("scale_factor", infinite=True, nan=True)
_WEIGHT = Scalar("weight", infinite=True, nan=True)
_HALVES = ("2*frequencies <= N+2", "N+1 <= 2*frequencies")
_COMPLEX = (
    Tensor("input", FLOATS, "A N C 2", positive=_ALL),
    Tensor("out", "input", "A N C 2", output=True, parameter="output"),
)
_FORWARD = Operator("mluopsExtFftForward", "fft_forward", _COMPLEX, (_SCALE,))
_INVERSE = Operator("mluopsExtFftInverse", "fft_inverse", _COMPLEX, (_SCALE,))
_REAL_FORWARD = Operator(
    "mluopsExtFftRealForward",
    "fft_real_forward",
    (
        Tensor("input", FLOATS, "A N C", positive=_ALL, rules=_HALVES),
        Tensor("out", "input", "A frequencies C 2", output=True, parameter="output"),
    ),
    (Scalar("frequencies"), _WEIGHT, _SCALE),
)
_REAL_INVERSE = Operator(
    "mluopsExtFftRealInverse",
    "fft_real_inverse",
    (
        Tensor("input", FLOATS, "A frequencies C 2", positive="A C", rules=_HALVES),
        Tensor("out", "input", "A N C", output=True, parameter="output"),
    ),
    (Scalar("n", symbol="N"), _WEIGHT, _SCALE),
)


_COMPLEX_TYPES = ("complex64", "complex128", "complex32")


def _run(operator: Operator, handle: Handle | None, arrays: tuple[Any, Any], scalars: tuple[Any, ...]) -> Any:
    """Call an operator; whoever gives complex numbers is told how it takes them."""
    try:
        return operator(handle, arrays, scalars)
    except BadParamError:
        given = arrays[0]
        dtype = _complex_type(given)
        if not dtype:
            raise
        expected = "real numbers" if operator is _REAL_FORWARD else "pairs of real and imaginary parts"
        error = _arguments.refusal(operator, "input", f"{expected}, float32 or float16", f"{dtype}; {_advice(given)}")
        raise error from None


def _complex_type(given: Any) -> str:
    """Return the name of the type of complex numbers, or nothing."""
    dtype = str(getattr(given, "dtype", "")).removeprefix("torch.")
    return dtype if dtype in _COMPLEX_TYPES else ""


def _advice(given: Any) -> str:
    """Say how complex numbers are transformed without a loss."""
    if type(given).__module__.partition(".")[0] == "torch":
        return "pymluops.torch.fft and ifft take complex tensors, fft_forward takes torch.view_as_real(input)"
    cast = "" if str(given.dtype) == "complex64" else ".astype(numpy.complex64)"
    seen = f"input{cast}.view(numpy.float32).reshape(*input.shape, 2)" if keeps_values(given, "complex64") else "pairs"
    return f"pymluops.FFTPlan takes complex numbers, fft_forward and fft_inverse take {seen}"


def fft_forward(input: Array, scale_factor: float = 1.0, *, out: Any = None, handle: Handle | None = None) -> Any:
    """Transform complex signals, as ``mluOpExecFFT`` does with direction 0.

    For each a and c, with complex numbers x and X in place of pairs::

        X[k] = scale_factor * sum over j of x[j] * exp(-2 pi i j k / N)

    `pymluops.FFTPlan` and ``pymluops.functions.mluOpExecFFT`` transform along two dims and take
    arrays of complex numbers.

    Parameters
    ----------
    input : array, shape [A, N, C, 2], float16 or float32
        Signals along the second dim; real and imaginary parts in the last one. A complex NumPy
        array ``x`` is seen so by ``x.view(np.float32).reshape(*x.shape, 2)``.
    scale_factor : float
        Factor of the results.
    out : array or DeviceArray, optional
        Where to write, like `input`; it must not overlap `input`.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array like `input`, of its kind. float16 is computed in float32 and rounded
        once.

    Raises
    ------
    BadParamError
        If an argument is not as described.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Cooley, Tukey: An Algorithm for the Machine Calculation of Complex Fourier Series. 1965.
    Bluestein: A linear filtering approach to the computation of discrete Fourier transform. 1970.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> signal = np.array([[1, 0], [2, 0], [3, 0], [4, 0]], np.float32).reshape(1, 4, 1, 2)
    >>> pymluops.fft_forward(signal).reshape(4, 2).tolist()
    [[10.0, 0.0], [-2.0, 2.0], [-2.0, 0.0], [-2.0, -2.0]]
    """
    return _run(_FORWARD, handle, (input, out), (scale_factor,))


def fft_inverse(input: Array, scale_factor: float = 1.0, *, out: Any = None, handle: Handle | None = None) -> Any:
    """Transform complex signals back, as ``mluOpExecFFT`` does with direction 1, without a factor of its own.

    With complex numbers in place of pairs::

        x[j] = scale_factor * sum over k of X[k] * exp(2 pi i j k / N)

    Parameters
    ----------
    input : array, shape [A, N, C, 2], float16 or float32
        As in `fft_forward`.
    scale_factor : float
        Factor of the results; 1 / N undoes `fft_forward`.
    out : array or DeviceArray, optional
        Where to write, like `input`; it must not overlap `input`.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array like `input`, of its kind. float16 is computed in float32 and rounded
        once.

    Raises
    ------
    BadParamError
        If an argument is not as described.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Cooley, Tukey: An Algorithm for the Machine Calculation of Complex Fourier Series. 1965.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> spectrum = np.array([[10, 0], [-2, 2], [-2, 0], [-2, -2]], np.float32).reshape(1, 4, 1, 2)
    >>> pymluops.fft_inverse(spectrum, 0.25)[0, :, 0, 0].tolist()
    [1.0, 2.0, 3.0, 4.0]
    """
    return _run(_INVERSE, handle, (input, out), (scale_factor,))


def fft_real_forward(
    input: Array,
    frequencies: int | EllipsisType = ...,
    weight: float = 1.0,
    scale_factor: float = 1.0,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Find half the spectrum of real signals, as ``mluOpExecFFT`` does from real to complex numbers.

    The other half are conjugates of these, in reversed order. For each a and c::

        X[k] = w[k] * scale_factor * sum over j of x[j] * exp(-2 pi i j k / N),   0 <= k <= N // 2

    where w[k] is `weight` for frequencies that stand for two of the whole spectrum, and 1 for k = 0
    and k = N / 2.

    Parameters
    ----------
    input : array, shape [A, N, C], float16 or float32
        Signals along the second dim.
    frequencies : int, optional
        N // 2 + 1, the only number that is right; found if not given.
    weight : float
        1 for the spectrum; 2 for the transpose of `fft_real_inverse`, which is its gradient.
    scale_factor : float
        Factor of the results.
    out : array or DeviceArray, optional
        Where to write, shape [A, N // 2 + 1, C, 2], like `input`.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [A, N // 2 + 1, C, 2] of the kind of `input`. float16 is
        computed in float32 and rounded once.

    Raises
    ------
    BadParamError
        If an argument is not as described.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Sorensen et al.: Real-valued fast Fourier transform algorithms. IEEE Transactions on Acoustics,
    Speech, and Signal Processing, 1987.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> signal = np.array([1, 2, 3, 4], np.float32).reshape(1, 4, 1)
    >>> pymluops.fft_real_forward(signal)[0, :, 0, 0].tolist()
    [10.0, -2.0, -2.0]
    """
    if frequencies is ... and _complex_type(input):
        frequencies = 1  # `_run` refuses them
    elif frequencies is ...:
        shape, _, _ = describe(input)
        frequencies = shape[1] // 2 + 1 if len(shape) > 1 else 1
    return _run(_REAL_FORWARD, handle, (input, out), (frequencies, weight, scale_factor))


def fft_real_inverse(
    input: Array,
    n: int,
    weight: float = 2.0,
    scale_factor: float = 1.0,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Find real signals from half their spectrum, as ``mluOpExecFFT`` does from complex to real numbers.

    For each a and c, with the real part alone::

        x[j] = scale_factor * sum over k of w[k] * X[k] * exp(2 pi i j k / n),   0 <= k <= n // 2

    where w[k] is `weight` for frequencies that stand for two of the whole spectrum, and 1 for k = 0
    and k = n / 2, whose imaginary parts do not matter.

    Parameters
    ----------
    input : array, shape [A, n // 2 + 1, C, 2], float16 or float32
        Half spectra along the second dim.
    n : int
        Length of the signals.
    weight : float
        2 for the signals; 1 for the transpose of `fft_real_forward`, which is its gradient.
    scale_factor : float
        Factor of the results; 1 / n undoes `fft_real_forward`.
    out : array or DeviceArray, optional
        Where to write, shape [A, n, C], like `input`.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [A, n, C] of the kind of `input`. float16 is computed in
        float32 and rounded once.

    Raises
    ------
    BadParamError
        If an argument is not as described.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Sorensen et al.: Real-valued fast Fourier transform algorithms. IEEE Transactions on Acoustics,
    Speech, and Signal Processing, 1987.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> spectrum = np.array([[10, 0], [-2, 2], [-2, 0]], np.float32).reshape(1, 3, 1, 2)
    >>> pymluops.fft_real_inverse(spectrum, 4, scale_factor=0.25).ravel().tolist()
    [1.0, 2.0, 3.0, 4.0]
    """
    return _run(_REAL_INVERSE, handle, (input, out), (n, weight, scale_factor))
