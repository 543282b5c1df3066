"""Arguments for any function by the roles of its parameters: ones that pass the Python side, and wrong ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import pymluops
from pymluops import enums
from pymluops.functions import _classes
from pymluops.functions._signature import SIGNATURES, Argument
from support.arrays import canary, is_canary

_SHAPE = (2, 3, 2, 4)
#: Values of counts, which say how long sequences are.
_COUNTS = {"mode": 0, "dimNb": 4, "setDimNb": 2, "seqLengthArraySize": 3, "rank": 2, "desc_num": 2}
_LENGTHS = {"dimNb": 4, "dimNb-2": 2, "sum(group_dimNb)": 2, "indice_pairs.shape[0]": 2, **_COUNTS}

#: Memory that no library takes for an object of its own.
_NOTHING = np.zeros(4096, np.uint8)


class Wrong:
    """An object that is nothing at all."""


@dataclass
class Arguments:
    """Arguments of a function by name, and the arrays that it may write."""

    function: str
    backend: pymluops.Backend
    values: dict[str, Any] = field(default_factory=dict)
    outputs: list[np.ndarray] = field(default_factory=list)

    def __post_init__(self) -> None:
        for argument in SIGNATURES[self.function].given:
            self.values[argument.name] = self.legal(argument)

    def legal(self, argument: Argument) -> Any:
        """A value that the Python side takes."""
        role, kind = argument.role, argument.kind
        if role == "scalar":
            return _COUNTS.get(argument.name, first_of(kind))
        if role == "numbers":
            return [first_of(kind)] * _LENGTHS[argument.rule]
        if role in ("output", "input", "address"):
            array = canary(_SHAPE, kind or "float32")
            if role == "output":
                self.outputs.append(array)
            return array
        if role == "native":
            return fake(_classes.CLASSES[argument.detail], self.backend)
        if role == "group":
            return [fake(_classes.NativeTensorDescriptor, self.backend) for _ in range(2)]
        others = {"text": "/tmp", "fill": 1, "attribute": 1, "reservespace": None, "queue": None}
        return pymluops.TensorDescriptor(_SHAPE, "float32") if role == "describe" else others[role]

    def untouched(self) -> bool:
        """Whether every output still holds its pattern."""
        return all(is_canary(array) for array in self.outputs)


def first_of(kind: str) -> Any:
    """A number of a kind."""
    numbers = {"bool": True, "int32": 1, "int64": 1, "size": 1, "float32": 1.0}
    return numbers[kind] if kind in numbers else next(iter(getattr(enums, kind)))


def fake(kind: type[Any], backend: pymluops.Backend) -> Any:
    """An object that belongs to `backend` as far as Python knows."""
    thing = kind.unset()
    thing.adopt(backend, _NOTHING.ctypes.data, None, None)
    return thing


def wrong_values(argument: Argument) -> list[Any]:
    """Values that must be refused."""
    role, kind = argument.role, argument.kind
    if role == "scalar":
        return [*wrong_numbers(kind), Wrong(), None, [1]]
    if role == "numbers":
        length = _LENGTHS[argument.rule]
        wrong = [[first_of(kind)] * (length - 1) + [number] for number in wrong_numbers(kind)]
        return [*wrong, [first_of(kind)] * (length + 1), Wrong(), None, "1" * length, 5]
    nothing = [] if argument.optional else [None]
    arrays = [Wrong(), 5, np.zeros((2, 4, 4))[:, ::2], np.zeros(3, ">f4")]
    if role in ("output", "input"):
        unwritable = np.zeros(_SHAPE, kind or "float32")
        unwritable.flags.writeable = False
        strange = [] if argument.detail else [np.zeros(3, "M8[s]"), (pymluops.TensorDescriptor((99,), "float32"), 5)]
        return [*arrays, *nothing, *strange, *([unwritable] if role == "output" else [])]
    others = {
        "address": [*arrays, None],
        "describe": [Wrong(), 5, *nothing],
        "native": [Wrong(), 5, None, "x"],
        "group": [Wrong(), None, [None, None], []],
        "text": [Wrong(), 5, None, "a\0b"],
        "fill": [Wrong(), "x", [1]],
        "attribute": [Wrong(), "x", None, [1]],
        "reservespace": [Wrong(), 5],
        "queue": [Wrong(), -1, 2**64, "x"],
    }
    return others[role]


def wrong_numbers(kind: str) -> list[Any]:
    """Numbers, and what is like one, that a kind does not hold."""
    integers = {"int32": (-(2**31) - 1, 2**31), "int64": (-(2**63) - 1, 2**63), "size": (-1, 2**64)}
    if kind == "bool":
        return [2, -1, 0.5, "True"]
    if kind in integers:
        return [*integers[kind], 10**30, 0.5, True, "1", float("nan")]
    if kind == "float32":
        return [1e39, -1e39, 10**400, 1j, True, "1.0"]
    other = enums.DataType.HALF if kind != "DataType" else enums.Layout.NHWC
    return [other, 2**31, 0.5, "1", *([] if kind == "Status" else [999, -1])]
