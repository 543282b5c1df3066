"""adam_w: a step of the optimiser, in float64."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pymluops.oracle.refusals import Refusals
from pymluops.oracle.ways import Way

#: Tensors of any shape, with the parameters in two types or the number of the step: no description
#: has such arguments.
TESTED_APART = ("mluOpAdamW",)
#: Operators whose float results are sums, which a device may round or order in its own way.
SUMS = ("adam_w",)


def step(
    param: np.ndarray, momentum: np.ndarray, velocity: np.ndarray, grad: np.ndarray, *,
    lr: float, beta1: float, beta2: float, bias1: float, bias2: float, epsilon: float,
    weight_decay: float = 0.0, grad_scale: float = 1.0, keeps: bool = False, apart: bool = True,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """The new (param, momentum, velocity), in float64; `apart`: the decay is taken off, and no factor."""
    p, m, v, g = (array.astype(np.float64) for array in (param, momentum, velocity, grad))
    with np.errstate(all="ignore"):
        g /= np.float64(grad_scale)
        found_m = beta1 * m + (1 - beta1) * g
        found_v = beta2 * v + (1 - beta2) * g * g
        way = found_m * lr / np.float64(bias1) / (np.sqrt(found_v / np.float64(bias2)) + epsilon)
        found = (p - lr * weight_decay * p if apart else p * (1 - lr * weight_decay)) - way
    if keeps:
        none = ~(np.isfinite(found) | np.isfinite(found_m) | np.isfinite(found_v))
        found, found_m, found_v = (np.where(none, old, new) for old, new in ((p, found), (m, found_m), (v, found_v)))
    return found, found_m, found_v


def numbered(*arrays: np.ndarray, number: float, beta1: float, beta2: float, **others: Any) -> Any:
    """The step with a number."""
    bias = {"bias1": 1 - beta1**number, "bias2": 1 - beta2**number}
    return step(*arrays, beta1=beta1, beta2=beta2, apart=False, **bias, **others)


def in_double(_name: str, *given: Any) -> Any:
    """The results for float64 arrays and the scalars of the description."""
    param, momentum, velocity, grad, number, lr, beta1, beta2, epsilon, decay, scale, keeps = given
    return numbered(
        param, momentum, velocity, grad, number=number, lr=lr, beta1=beta1, beta2=beta2, epsilon=epsilon,
        weight_decay=decay, grad_scale=scale, keeps=keeps,
    )  # fmt: skip


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let squares have means, and numbers be those of an optimiser."""
    arguments["velocity"][...] = np.abs(arguments["velocity"])
    arguments["epsilon"] = float(rng.uniform(1e-8, 1e-2))
    for name in ("beta1", "beta2"):
        arguments[name] = float(rng.uniform(0.5, 0.99))
    arguments["grad_scale"] = float(rng.uniform(0.5, 2))


def ways(size: int) -> Iterator[Way]:
    """Steps of all kinds."""
    for keeps in (False, True):
        yield Way("adam_w", "keeps" if keeps else "step", {"N": 300 * size + 7}, {"need_remove_nan": keeps})


REFUSALS = {"mluopsExtAdamW": Refusals()}
