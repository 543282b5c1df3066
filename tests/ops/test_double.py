"""The functions of mluops_ext.h that compute in double, against oracles in float64."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import pymluops
from pymluops._core import Operator
from pymluops.ops._double import double_of, function_in_double, is_floating
from support import described, families

#: The operators with a function in double.
NAMES = [
    name
    for name, known in families.OPERATORS.items()
    if function_in_double(known) in described.PARAMETERS and any(is_floating(known, tensor) for tensor in known.tensors)
]


def oracle_of(name: str) -> Any:
    """The oracle of an operator's family."""
    return importlib.import_module(f"pymluops.oracle.{described.family_of(name)}")


def made(name: str, seed: int) -> tuple[Operator, list[Any], list[Any]]:
    """The operator in double, and legal inputs and scalars."""
    rng = np.random.default_rng(seed)
    arguments = described.arguments(name, rng, most=6)
    known = families.OPERATORS[name]
    inputs = [
        # Not what float32 can hold.
        arguments[tensor.name] * (1 + 1e-9 * rng.normal()) if is_floating(known, tensor) else arguments[tensor.name]
        for tensor in known.tensors
        if not tensor.output
    ]
    inputs = [array.astype(np.float64) if array.dtype.kind == "f" else array for array in inputs]
    return double_of(known), inputs, described.scalar_values(known, arguments)


def call(operator: Operator, inputs: list[Any], scalars: list[Any], **options: Any) -> Any:
    missing = [None] * sum(tensor.output for tensor in operator.tensors)
    inputs = [array.copy() for array in inputs]  # some are changed in place
    handle, arguments = options.get("handle"), dict(zip((s.name for s in operator.scalars), scalars, strict=True))
    settings = described.settings_of(operator, arguments, None if handle is None else handle.backend)
    if not settings:
        return operator(handle, (*inputs, *missing), tuple(scalars))
    return operator(handle, (*inputs, *missing), tuple(scalars), True, settings)


def test_every_floating_operator_has_a_function_in_double() -> None:
    for name, known in families.OPERATORS.items():
        if is_floating(known, known.tensors[0]):
            other = getattr(oracle_of(name), "IN_DOUBLE", function_in_double(known))
            assert pymluops.load("cpu").implements(other), name


def test_each_takes_what_the_function_of_the_abi_takes() -> None:
    for name in NAMES:
        _, returns, parameters = described.PARAMETERS[function_in_double(families.OPERATORS[name])]
        _, wanted, others = described.PARAMETERS[families.OPERATORS[name].function]
        in_float = {"float": "double", "const float *": "const double *"}
        assert (returns, parameters) == (wanted, tuple((in_float.get(kind, kind), key) for kind, key in others)), name


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("name", NAMES)
def test_values(name: str, seed: int) -> None:
    operator, inputs, scalars = made(name, seed)
    found, wanted = call(operator, inputs, scalars), oracle_of(name).in_double(name, *inputs, *scalars)
    if not isinstance(found, tuple):
        found, wanted = (found,), (wanted,)
    for result, values in zip(found, wanted, strict=True):
        assert result.dtype == (np.int32 if values.dtype.kind == "i" else np.float64)
        np.testing.assert_allclose(result, values, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", NAMES)
def test_any_number_of_threads_gives_the_same_bits(name: str) -> None:
    operator, inputs, scalars = made(name, 1)
    before = pymluops.get_num_threads()
    try:
        pymluops.set_num_threads(1)
        wanted = call(operator, inputs, scalars)
        pymluops.set_num_threads(7)
        found = call(operator, inputs, scalars)
    finally:
        pymluops.set_num_threads(before)
    for one, other in zip(*((r if isinstance(r, tuple) else (r,)) for r in (wanted, found)), strict=True):
        assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("name", NAMES)
def test_the_functions_of_the_abi_refuse_double(name: str) -> None:
    _, inputs, scalars = made(name, 0)
    known = families.OPERATORS[name]
    with pytest.raises(pymluops.BadParamError, match="float"):
        call(known, inputs, scalars)


@pytest.mark.parametrize("name", NAMES)
def test_float_is_refused(name: str) -> None:
    operator, inputs, scalars = made(name, 0)
    inputs = [array.astype(np.float32) if array.dtype == np.float64 else array for array in inputs]
    with pytest.raises(pymluops.BadParamError, match="dtype float64"):
        call(operator, inputs, scalars)


@pytest.mark.parametrize("name", NAMES)
def test_a_device_library_says_that_it_has_no_double(name: str) -> None:
    operator, inputs, scalars = made(name, 0)
    assert not pymluops.load("sim").implements(operator.function)
    with pymluops.Handle("sim") as handle, pytest.raises(pymluops.NotSupportedError, match="not implemented"):
        call(operator, inputs, scalars, handle=handle)
