"""How to make legal arguments of an operator, and how to make a call in Python and in C. Eight stand here in full.

get_indice_pairs is not here: its Python form allocates its outputs itself, so its test has its own calls.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

import described
import families
import pymluops
from raw import ARRAY, NHWC, Raw, Tensor
from support import canary

FLOATS = ("float16", "float32")


@dataclasses.dataclass
class Call:
    """Arguments of one call. Tensor arguments and outputs are in ``arrays``, everything else in ``numbers``."""

    operator: str
    arrays: dict[str, np.ndarray]
    numbers: dict[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def outputs(self) -> tuple[str, ...]:
        return OPERATORS_OF_CPU[self.operator].outputs

    def python(self, **changes: Any) -> Any:
        """Calls the Python function; ``changes`` go to its keyword arguments, for example ``out=None``."""
        return OPERATORS_OF_CPU[self.operator].python(self, changes)

    def c(self, raw: Raw) -> int:
        """Calls the C function and returns its status."""
        operator = OPERATORS_OF_CPU[self.operator]
        arguments = [
            Tensor(self.arrays[name], operator.layouts.get(name, ARRAY)) if name in self.arrays else self.numbers[name]
            for name in operator.c_arguments
        ]
        return raw.status(operator.c_function, *arguments)


@dataclasses.dataclass(frozen=True)
class Operator:
    """How one operator is called."""

    c_function: str
    c_arguments: tuple[str, ...]
    outputs: tuple[str, ...]
    legal: Callable[[Random], Call]
    python: Callable[[Call, dict[str, Any]], Any]
    layouts: dict[str, int] = dataclasses.field(default_factory=dict)


def floats(rng: Random, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Finite random values."""
    return np.random.default_rng(rng.getrandbits(32)).normal(0, 2, shape).astype(dtype)


def integers(rng: Random, shape: tuple[int, ...], low: int, high: int) -> np.ndarray:
    """Random int32 from low to high, both included."""
    return np.random.default_rng(rng.getrandbits(32)).integers(low, high + 1, shape, dtype=np.int32)


def _size(rng: Random, most: int = 4) -> int:
    """A size, now and then 0."""
    return 0 if rng.random() < 0.04 else rng.randint(1, most)


def _tin_shift(direction: str, source: str, result: str) -> Operator:
    def legal(rng: Random) -> Call:
        groups, dtype = rng.randint(1, 3), rng.choice(FLOATS)
        shape = (_size(rng), _size(rng, 5), groups * rng.randint(1, 3), _size(rng))
        arrays = {
            source: floats(rng, shape, dtype),
            "shifts": integers(rng, (shape[0], groups), -6, 6),
            result: canary(shape, dtype),
        }
        return Call(f"tin_shift_{direction}", arrays)

    def python(call: Call, changes: dict[str, Any]) -> Any:
        function = getattr(pymluops, f"tin_shift_{direction}")
        return function(call.arrays[source], call.arrays["shifts"], **{"out": call.arrays[result], **changes})

    return Operator(f"mluOpTinShift{direction.title()}", (source, "shifts", result), (result,), legal, python)


def _psamask(direction: str, source: str, result: str) -> Operator:
    def legal(rng: Random) -> Call:
        h_mask, w_mask = rng.randint(1, 4), rng.randint(1, 4)
        batch, height, width = _size(rng, 2), _size(rng), _size(rng)
        last = {"x": h_mask * w_mask, "dx": h_mask * w_mask, "y": height * width, "dy": height * width}
        arrays = {
            source: floats(rng, (batch, height, width, last[source]), "float32"),
            result: canary((batch, height, width, last[result]), "float32"),
        }
        return Call(f"psamask_{direction}", arrays, {"psa_type": rng.randint(0, 1), "h_mask": h_mask, "w_mask": w_mask})

    def python(call: Call, changes: dict[str, Any]) -> Any:
        function, n = getattr(pymluops, f"psamask_{direction}"), call.numbers
        keywords = {"out": call.arrays[result], **changes}
        return function(call.arrays[source], n["psa_type"], (n["h_mask"], n["w_mask"]), **keywords)

    return Operator(
        f"mluOpPsamask{direction.title()}", ("psa_type", source, "h_mask", "w_mask", result), (result,), legal, python,
        {source: NHWC, result: NHWC},
    )  # fmt: skip


def _border_shapes(rng: Random) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Shapes of the feature map, the boxes and the per-border tensors."""
    batch, height, width, channels, boxes = (_size(rng, most) for most in (2, 4, 4, 3, 5))
    return (batch, height, width, 4 * channels), (batch, boxes, 4), (batch, boxes, 4, channels)


def _border_align_forward() -> Operator:
    def legal(rng: Random) -> Call:
        dtype = rng.choice(FLOATS)
        feature_map, boxes, border = _border_shapes(rng)
        arrays = {
            "input": floats(rng, feature_map, dtype),
            "boxes": floats(rng, boxes, dtype),
            "output": canary(border, dtype),
            "argmax_idx": canary(border, "int32"),
        }
        return Call("border_align_forward", arrays, {"pool_size": rng.randint(1, 4)})

    def python(call: Call, changes: dict[str, Any]) -> Any:
        keywords = {"out": call.arrays["output"], "argmax_idx": call.arrays["argmax_idx"], **changes}
        arguments = call.arrays["input"], call.arrays["boxes"], call.numbers["pool_size"]
        return pymluops.border_align_forward(*arguments, **keywords)

    names = ("input", "boxes", "pool_size", "output", "argmax_idx")
    layouts = {"input": NHWC, "output": NHWC, "argmax_idx": NHWC}
    return Operator("mluOpBorderAlignForward", names, ("output", "argmax_idx"), legal, python, layouts)


def _border_align_backward() -> Operator:
    def legal(rng: Random) -> Call:
        dtype, pool_size = rng.choice(FLOATS), rng.randint(1, 4)
        feature_map, boxes, border = _border_shapes(rng)
        arrays = {
            "grad_output": floats(rng, border, dtype),
            "boxes": floats(rng, boxes, dtype),
            "argmax_idx": integers(rng, border, -1, pool_size + 1),
            "grad_input": canary(feature_map, dtype),
        }
        return Call("border_align_backward", arrays, {"pool_size": pool_size})

    def python(call: Call, changes: dict[str, Any]) -> Any:
        a = call.arrays
        # In C the size of the map is that of grad_input; what has no such size is refused whatever stands here.
        size = a["grad_input"].shape[1:3] if a["grad_input"].ndim >= 3 else (1, 1)
        arguments = a["grad_output"], a["boxes"], a["argmax_idx"], call.numbers["pool_size"], size
        return pymluops.border_align_backward(*arguments, **{"out": a["grad_input"], **changes})

    names = ("grad_output", "boxes", "argmax_idx", "pool_size", "grad_input")
    layouts = {"grad_output": NHWC, "argmax_idx": NHWC, "grad_input": NHWC}
    return Operator("mluOpBorderAlignBackward", names, ("grad_input",), legal, python, layouts)


def _three_interpolate(direction: str, source: str, result: str) -> Operator:
    def legal(rng: Random) -> Call:
        dtype = rng.choice(FLOATS)
        batch, channels, points, features = (_size(rng) for _ in range(4))
        last = {"features": features, "grad_features": features, "output": points, "grad_output": points}
        arrays = {
            source: floats(rng, (batch, channels, last[source]), dtype),
            "indices": integers(rng, (batch, points, 3), -1, features),
            "weights": floats(rng, (batch, points, 3), dtype),
            result: canary((batch, channels, last[result]), dtype),
        }
        return Call(f"three_interpolate_{direction}", arrays)

    def python(call: Call, changes: dict[str, Any]) -> Any:
        function, a = getattr(pymluops, f"three_interpolate_{direction}"), call.arrays
        arguments = [a[source], a["indices"], a["weights"]]
        if direction == "backward":
            arguments.append(a[result].shape[2] if a[result].ndim >= 3 else 1)
        return function(*arguments, **{"out": a[result], "validate": False, **changes})

    names = (source, "indices", "weights", result)
    return Operator(f"mluOpThreeInterpolate{direction.title()}", names, (result,), legal, python)


OPERATORS: dict[str, Operator] = {
    "tin_shift_forward": _tin_shift("forward", "input", "output"),
    "tin_shift_backward": _tin_shift("backward", "grad_output", "grad_input"),
    "psamask_forward": _psamask("forward", "x", "y"),
    "psamask_backward": _psamask("backward", "dy", "dx"),
    "border_align_forward": _border_align_forward(),
    "border_align_backward": _border_align_backward(),
    "three_interpolate_forward": _three_interpolate("forward", "features", "output"),
    "three_interpolate_backward": _three_interpolate("backward", "grad_output", "grad_features"),
}


def _described(name: str) -> Operator:
    """An operator that is made from its description."""
    known = families.OPERATORS[name]
    tensors = {tensor.parameter or tensor.name: tensor for tensor in known.tensors}
    scalars = {scalar.c_name: scalar.name for scalar in known.scalars}

    def legal(rng: Random) -> Call:
        made = described.arguments(name, np.random.default_rng(rng.getrandbits(32)))
        results = described.call(name, made)
        arrays = {key: value for key, value in made.items() if isinstance(value, np.ndarray)}
        for tensor, result in zip(described.outputs(name), results, strict=True):
            arrays[tensor.name] = canary(result.shape, result.dtype)
        return Call(name, arrays, {key: value for key, value in made.items() if key not in arrays})

    def python(call: Call, changes: dict[str, Any]) -> Any:
        return getattr(pymluops, name)(**{**call.numbers, **call.arrays, **changes})

    # A pair of descriptor and data is one argument here.
    parameters = [key for _, key in described.PARAMETERS[known.function][2] if key in tensors or key in scalars]
    arguments = tuple(tensors[key].name if key in tensors else scalars[key] for key in parameters)
    outputs = tuple(tensor.name for tensor in described.outputs(name))
    layouts = {tensor.name: int(tensor.layout) for tensor in known.tensors}
    return Operator(known.function, arguments, outputs, legal, python, layouts)


#: Further operators of the CPU library. Those with a workspace or settings need more than their arguments in C.
DESCRIBED = {
    name: _described(name)
    for name in described.describable()
    if name not in OPERATORS and families.OPERATORS[name].workspace is None
}
OPERATORS_OF_CPU = {**OPERATORS, **DESCRIBED}


def legal_call(operator: str, seed: int = 0) -> Call:
    """A call of the operator that succeeds and has no empty tensor."""
    rng = Random(seed)
    while True:
        call = OPERATORS_OF_CPU[operator].legal(rng)
        if all(array.size for array in call.arrays.values()):
            return call
