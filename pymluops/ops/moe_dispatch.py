"""Samples at the places of their experts, for mixtures of experts (arXiv:1701.06538), and the gradients."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pymluops._arguments import is_integer
from pymluops._core import Operator
from pymluops.ops._schema import FLOAT32, INT32, Scalar, Tensor

if TYPE_CHECKING:
    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["moe_dispatch_backward_data", "moe_dispatch_backward_gate", "moe_dispatch_forward"]

_ROWS = "num_experts*capacity hidden"
_SIZES = tuple(Scalar(name, minimum=0) for name in ("samples", "capacity", "hidden", "num_experts"))

_FORWARD = Operator(
    "mluOpMoeDispatchForward",
    "moe_dispatch_forward",
    (
        Tensor("gates", FLOAT32, "samples", rules=("samples <= num_experts*capacity",)),
        Tensor("indices", INT32, "samples"),
        Tensor("locations", INT32, "samples"),
        Tensor("input", "gates", "samples hidden"),
        Tensor("out", "gates", _ROWS, output=True, zeroed=True, parameter="dispatch"),
    ),
    _SIZES,
)
_GATES, *_OTHERS = _FORWARD.tensors
#: The same for more samples than places, which `mluOpMoeDispatchForward` refuses.
_CROWDED = (Operator("mluopsExtMoeDispatchForward", _FORWARD.name, (replace(_GATES, rules=()), *_OTHERS), _SIZES),)
_BACKWARD_DATA = Operator(
    "mluOpMoeDispatchBackwardData",
    "moe_dispatch_backward_data",
    (
        Tensor("gates", FLOAT32, "samples"),
        Tensor("indices", INT32, "samples"),
        Tensor("locations", INT32, "samples"),
        Tensor("dispatch", "gates", _ROWS),
        Tensor("out", "gates", "samples hidden", output=True, parameter="grad_input"),
    ),
    _SIZES,
)
_BACKWARD_GATE = Operator(
    "mluOpMoeDispatchBackwardGate",
    "moe_dispatch_backward_gate",
    (
        Tensor("indices", INT32, "samples"),
        Tensor("locations", INT32, "samples"),
        Tensor("input", FLOAT32, "samples hidden"),
        Tensor("dispatch", "input", _ROWS),
        Tensor("out", "input", "samples", output=True, parameter="grad_gates"),
    ),
    _SIZES,
    workspace="mluOpGetMoeDispatchBackwardGateWorkspaceSize",
)


def crowded_dispatch() -> Operator:
    """Return the operator that takes more samples than places; the library for the CPU has it."""
    return _CROWDED[0]


def moe_dispatch_forward(
    gates: Array,
    indices: Array,
    locations: Array,
    input: Array,
    samples: int,
    capacity: int,
    hidden: int,
    num_experts: int,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Bring samples to the places of their experts, times their gates.

    Row ``indices[i] * capacity + locations[i]`` becomes ``gates[i] * input[i]``. A sample whose
    expert or location is out of range goes nowhere: it is dropped, as in training where an expert
    has fewer places than samples. Rows of `out` without a sample stay as they are; of several
    samples of a row the last one counts.

    Parameters
    ----------
    gates : array, shape [S], float32
        The factor of each sample.
    indices : array, shape [S], int32
        The expert of each sample, 0 to num_experts-1.
    locations : array, shape [S], int32
        The place of each sample at its expert, 0 to capacity-1; a sample at another one is dropped.
    input : array, shape [S, H], like `gates`
        The samples.
    samples : int
        S, >= 0. `mluOpMoeDispatchForward` refuses more samples than num_experts * capacity, which
        only the CPU library takes, as `mluopsExtMoeDispatchForward`.
    capacity : int
        Places of each expert, >= 0.
    hidden : int
        H, values of a sample, >= 0.
    num_experts : int
        Number of experts, >= 0.
    out : array or DeviceArray, optional
        Where to write, shape [num_experts * capacity, H], like `gates`; it must not overlap an
        input. Without it there are zeros where no sample goes.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [num_experts * capacity, H] of the kind of the first
        argument.

    Raises
    ------
    BadParamError
        If an argument is not as described.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Shazeer et al.: Outrageously Large Neural Networks: The Sparsely-Gated Mixture-of-Experts Layer.
    ICLR 2017, arXiv:1701.06538.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> gates, input = np.array([2, 3], np.float32), np.array([[1, 4], [5, 6]], np.float32)
    >>> indices, locations = np.array([1, 0], np.int32), np.array([0, 1], np.int32)
    >>> pymluops.moe_dispatch_forward(gates, indices, locations, input, 2, 2, 2, 2).tolist()
    [[0.0, 0.0], [15.0, 18.0], [2.0, 8.0], [0.0, 0.0]]
    """
    arrays, sizes = (gates, indices, locations, input, out), (samples, capacity, hidden, num_experts)
    crowded = all(map(is_integer, sizes)) and samples > num_experts * capacity
    return (_CROWDED[0] if crowded else _FORWARD)(handle, arrays, sizes)


def moe_dispatch_backward_data(
    gates: Array,
    indices: Array,
    locations: Array,
    dispatch: Array,
    samples: int,
    capacity: int,
    hidden: int,
    num_experts: int,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Gradient of `moe_dispatch_forward` with respect to the samples.

    Sample i gets ``gates[i]`` times row ``indices[i] * capacity + locations[i]``, or 0 if it went
    nowhere. Of several samples of a row each gets that, as if it alone went there.

    Parameters
    ----------
    gates : array, shape [S], float32
        The factor of each sample.
    indices : array, shape [S], int32
        The expert of each sample.
    locations : array, shape [S], int32
        The place of each sample at its expert.
    dispatch : array, shape [num_experts * capacity, H], like `gates`
        Gradient with respect to the output of the forward direction.
    samples : int
        S, >= 0.
    capacity : int
        Places of each expert, >= 0.
    hidden : int
        H, values of a sample, >= 0.
    num_experts : int
        Number of experts, >= 0.
    out : array or DeviceArray, optional
        Where to write, shape [S, H], like `gates`; it must not overlap an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [S, H] of the kind of the first argument.

    Raises
    ------
    BadParamError
        If an argument is not as described.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> gates, rows = np.array([2, 3], np.float32), np.array([[1, 4], [5, 6]], np.float32)
    >>> indices, locations = np.array([0, 9], np.int32), np.array([1, 0], np.int32)
    >>> pymluops.moe_dispatch_backward_data(gates, indices, locations, rows, 2, 2, 2, 1).tolist()
    [[10.0, 12.0], [0.0, 0.0]]
    """
    return _BACKWARD_DATA(handle, (gates, indices, locations, dispatch, out), (samples, capacity, hidden, num_experts))


def moe_dispatch_backward_gate(
    indices: Array,
    locations: Array,
    input: Array,
    dispatch: Array,
    samples: int,
    capacity: int,
    hidden: int,
    num_experts: int,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Gradient of `moe_dispatch_forward` with respect to the gates.

    Gate i gets the inner product of sample i and row ``indices[i] * capacity + locations[i]``, or 0
    if the sample went nowhere.

    Parameters
    ----------
    indices : array, shape [S], int32
        The expert of each sample.
    locations : array, shape [S], int32
        The place of each sample at its expert.
    input : array, shape [S, H], float32
        The samples.
    dispatch : array, shape [num_experts * capacity, H], like `input`
        Gradient with respect to the output of the forward direction.
    samples : int
        S, >= 0.
    capacity : int
        Places of each expert, >= 0.
    hidden : int
        H, values of a sample, >= 0.
    num_experts : int
        Number of experts, >= 0.
    out : array or DeviceArray, optional
        Where to write, shape [S], like `input`; it must not overlap an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [S] of the kind of the first argument.

    Raises
    ------
    BadParamError
        If an argument is not as described.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> input, rows = np.array([[1, 4], [2, 2]], np.float32), np.array([[1, 1], [5, 6]], np.float32)
    >>> indices, locations = np.array([0, 9], np.int32), np.array([1, 0], np.int32)
    >>> pymluops.moe_dispatch_backward_gate(indices, locations, input, rows, 2, 2, 2, 1).tolist()
    [29.0, 0.0]
    """
    return _BACKWARD_GATE(handle, (indices, locations, input, dispatch, out), (samples, capacity, hidden, num_experts))
