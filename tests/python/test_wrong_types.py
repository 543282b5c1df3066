"""A Python type that is never right raises a BadParamError that is a TypeError too; a wrong value does not."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pymluops
from support.example import CHOOSING, MOVING, PAIRING

INPUT = np.zeros((1, 2, 4, 3), np.float32)
SHIFTS = np.zeros((1, 2), np.int32)
GRID = {"batch_size": 1, "spatial_shape": (2, 2, 2), "kernel_size": 1}
ROWS = np.zeros((1, 4), np.int32)
MASK = np.zeros((1, 2, 2, 9), np.float32)


def tin(*, x: Any = INPUT, shifts: Any = SHIFTS, **keywords: Any) -> Any:
    return MOVING.run(x, shifts, **keywords)


def pairs(**keywords: Any) -> Any:
    return PAIRING.run(ROWS, **(GRID | keywords))


WRONG_TYPES: dict[str, Callable[[], Any]] = {
    "a list": lambda: tin(x=[[1.0]]),
    "None": lambda: tin(shifts=None),
    "a number": lambda: tin(x=3),
    "a text": lambda: tin(x="text"),
    "a type": lambda: tin(x=np.ndarray),
    "a list for out": lambda: tin(out=[0.0]),
    "no handle": lambda: tin(handle="cpu"),
    "a text for an int": lambda: pairs(batch_size="1"),
    "a float for an int": lambda: pairs(batch_size=1.0),
    "a bool for an int": lambda: pairs(batch_size=True),
    "texts for ints": lambda: pairs(spatial_shape="222"),
    "floats for ints": lambda: pairs(spatial_shape=(2.0, 2, 2)),
    "None for ints": lambda: pairs(kernel_size=None),
    "a text for a flag": lambda: pairs(subm="yes"),
    "a list for an enumerator": lambda: CHOOSING.run(MASK, ["collect"], 3),  # type: ignore[arg-type]
    "no dtype": lambda: pymluops.TensorDescriptor((2,), object()),
    "None for a dtype": lambda: pymluops.TensorDescriptor((2,), None),
    "a bool for a dtype": lambda: pymluops.TensorDescriptor((2,), True),
    "no shape": lambda: pymluops.TensorDescriptor("ab", "float32"),  # type: ignore[arg-type]
    "no layout": lambda: pymluops.TensorDescriptor((2,), "float32", "NHWC"),  # type: ignore[arg-type]
    "no array to describe": lambda: pymluops.TensorDescriptor.of([1]),  # type: ignore[arg-type]
    "no library": lambda: pymluops.load(3),  # type: ignore[arg-type]
    "no array for the device": lambda: pymluops.DeviceArray.from_host([1], "sim"),
    "no shape on the device": lambda: pymluops.DeviceArray("ab", "float32", "sim"),  # type: ignore[arg-type]
    "no queue": lambda: pymluops.DeviceArray.from_host(INPUT, "sim", queue="q"),  # type: ignore[arg-type]
    "no number of threads": lambda: pymluops.set_num_threads("2"),  # type: ignore[arg-type]
}

WRONG_VALUES: dict[str, Callable[[], Any]] = {
    "shape": lambda: tin(x=INPUT[0]),
    "dtype": lambda: tin(x=INPUT.astype(np.float64)),
    "an element type that the ABI lacks": lambda: tin(x=INPUT.astype(object)),
    "too small": lambda: pairs(batch_size=0),
    "too large": lambda: pairs(batch_size=2**40),
    "too few": lambda: pairs(spatial_shape=(2, 2)),
    "neither 0 nor 1": lambda: pairs(subm=2),
    "another text": lambda: CHOOSING.run(MASK, "both", 3),
    "another dtype": lambda: pymluops.TensorDescriptor((2,), "float33"),
    "a record": lambda: pymluops.TensorDescriptor((2,), np.dtype([("a", "f4")])),
    "another layout": lambda: pymluops.TensorDescriptor((2,), "float32", 99),  # type: ignore[arg-type]
    "a negative dim": lambda: pymluops.TensorDescriptor((-2,), "float32"),
    "another library": lambda: pymluops.load("gpu"),
}


@pytest.mark.parametrize("call", WRONG_TYPES.values(), ids=WRONG_TYPES)
def test_wrong_types(call: Callable[[], Any]) -> None:
    pymluops.load("sim")
    with pytest.raises(pymluops.BadParamTypeError, match=r"expected .*, got ") as caught:
        call()
    error = caught.value
    assert isinstance(error, TypeError) and isinstance(error, pymluops.BadParamError)
    assert isinstance(error, pymluops.MluOpError) and error.status is pymluops.Status.BAD_PARAM
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.function) == (pymluops.BadParamTypeError, str(error), error.function)


@pytest.mark.parametrize("call", WRONG_VALUES.values(), ids=WRONG_VALUES)
def test_wrong_values(call: Callable[[], Any]) -> None:
    with pytest.raises(pymluops.BadParamError) as caught:
        call()
    assert not isinstance(caught.value, TypeError)
