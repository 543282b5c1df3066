"""What every operator must do, found from its description: results in given arrays, and refusals of each argument."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pymluops
from support import described, families
from support.arrays import canary, is_canary
from support.comparison import assert_same_values

OPERATORS = described.describable()


def made(name: str, seed: int = 3) -> dict[str, Any]:
    return described.arguments(name, np.random.default_rng(seed))


def test_most_operators_are_described_completely() -> None:
    missing = set(families.OPERATORS) - set(OPERATORS)
    assert 4 * len(missing) < len(families.OPERATORS), missing


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", OPERATORS)
def test_given_arrays_get_the_results(name: str, seed: int) -> None:
    arguments = made(name, seed)
    expected = described.call(name, arguments)
    given = {
        tensor.name: np.zeros(array.shape, array.dtype) if tensor.zeroed else canary(array.shape, array.dtype)
        for tensor, array in zip(described.outputs(name), expected, strict=True)
    }
    found = described.call(name, arguments, **given)
    for result, array, wanted in zip(found, given.values(), expected, strict=True):
        assert result is array
        assert_same_values(array, wanted)


@pytest.mark.parametrize("name", OPERATORS)
def test_each_array_is_checked(name: str) -> None:
    arguments = made(name)
    tensors = families.OPERATORS[name].tensors
    results = dict(zip([t.name for t in described.outputs(name)], described.call(name, arguments), strict=True))
    good = {**arguments, **results}
    for tensor in tensors:
        array = good[tensor.name]
        bad: dict[str, Any] = {
            "another type": array.astype(np.complex128),
            "one dim more": array[None],
            "not an array": object(),
        }
        strided = np.repeat(array, 2, -1)[..., ::2]
        if not strided.flags["C_CONTIGUOUS"]:
            bad["not packed"] = strided
        if not (tensor.output or tensor.optional):
            bad["None"] = None
        for case, wrong in bad.items():
            kept = {key: canary(value.shape, value.dtype) for key, value in results.items()}
            changed = {**arguments, **kept, tensor.name: wrong}
            with pytest.raises(pymluops.BadParamError, match=rf"^{name}: "):
                described.call(name, changed)
            for key, value in kept.items():
                assert key == tensor.name or is_canary(value), (tensor.name, case)


@pytest.mark.parametrize("name", OPERATORS)
def test_an_output_may_not_be_an_input(name: str) -> None:
    arguments = made(name)
    for tensor, result in zip(described.outputs(name), described.call(name, arguments), strict=True):
        if tensor.any_dims:  # each element is computed of those at its place
            continue
        for value in arguments.values():
            if isinstance(value, np.ndarray) and value.dtype == result.dtype and value.shape == result.shape:
                told = rf"{tensor.name}: expected memory of its own|expected memory of its own, .* {tensor.name}$"
                with pytest.raises(pymluops.BadParamError, match=told):
                    described.call(name, arguments, **{tensor.name: value})


@pytest.mark.parametrize("name", OPERATORS)
def test_each_scalar_is_checked(name: str) -> None:
    arguments = made(name)
    for scalar in families.OPERATORS[name].scalars:
        for wrong in (None, "no such thing", 10**400, object(), *([] if scalar.nan else [float("nan")])):
            with pytest.raises((pymluops.BadParamError, TypeError)):
                described.call(name, {**arguments, scalar.name: wrong})


@pytest.mark.parametrize("name", OPERATORS)
def test_wrong_python_types_are_type_errors(name: str) -> None:
    arguments = made(name)
    for key in arguments:
        for wrong in ([1.0], object(), np.ndarray):
            with pytest.raises(pymluops.BadParamTypeError, match=rf"^{name}: {key}: expected .*, got "):
                described.call(name, {**arguments, key: wrong})
    for tensor in described.outputs(name):
        with pytest.raises(pymluops.BadParamTypeError, match=rf"^{name}: {tensor.name}: expected .*, got "):
            described.call(name, arguments, **{tensor.name: [1.0]})
    with pytest.raises(pymluops.BadParamTypeError, match=f"^{name}: handle: "):
        described.call(name, arguments, handle="cpu")


@pytest.mark.parametrize("name", families.of_arrays(OPERATORS))
def test_tensors_give_tensors(name: str) -> None:
    torch = pytest.importorskip("torch")
    arguments = made(name)
    expected = described.call(name, arguments)
    tensors = {
        key: torch.from_numpy(value) if isinstance(value, np.ndarray) else value for key, value in arguments.items()
    }
    for result, wanted in zip(described.call(name, tensors), expected, strict=True):
        assert type(result) is torch.Tensor
        assert_same_values(result.numpy(), wanted)
