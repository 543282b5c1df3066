"""moe_dispatch: samples go to the places of their experts, times their gates, and the gradients of samples and gates.

Sample i goes to row ``indices[i] * capacity + locations[i]``, and nowhere if the expert or the
location is none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pymluops.oracle.refusals import Refusals
from pymluops.oracle.ways import Way

#: C functions without a description: tests/ops has their refusals and values.
TESTED_APART = ("mluopsExtMoeDispatchForward",)
#: Operators whose float results are sums, which a device may round or order in its own way.
SUMS = ("moe_dispatch_backward_gate",)


def routes(indices: np.ndarray, locations: np.ndarray, capacity: int, experts: int) -> Iterator[tuple[int, int]]:
    """Samples that go somewhere, with their rows, ascending."""
    for sample, (expert, location) in enumerate(zip(indices.tolist(), locations.tolist(), strict=True)):
        if 0 <= expert < experts and 0 <= location < capacity:  # a sample beyond its expert's places is dropped
            yield sample, expert * capacity + location


def forward(
    gates: np.ndarray, indices: np.ndarray, locations: np.ndarray, values: np.ndarray, capacity: int, experts: int,
    before: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """The rows [E*Cap, H]; those that get no sample are as before, or 0. Of several samples the last stays."""
    found = np.zeros((experts * capacity, values.shape[1]), values.dtype) if before is None else before.copy()
    with np.errstate(all="ignore"):
        for sample, row in routes(indices, locations, capacity, experts):
            found[row] = gates[sample] * values[sample]
    return found


def backward_data(
    gates: np.ndarray, indices: np.ndarray, locations: np.ndarray, rows: np.ndarray, capacity: int, experts: int
) -> np.ndarray:
    """The gradient of the samples [S, H], given that of the rows."""
    found = np.zeros((len(gates), rows.shape[1]), rows.dtype)
    with np.errstate(all="ignore"):
        for sample, row in routes(indices, locations, capacity, experts):
            found[sample] = gates[sample] * rows[row]
    return found


def backward_gate(
    indices: np.ndarray, locations: np.ndarray, values: np.ndarray, rows: np.ndarray, capacity: int, experts: int
) -> np.ndarray:
    """The gradient of the gates [S] in float64, given that of the rows."""
    found = np.zeros(len(indices))
    with np.errstate(all="ignore"):
        for sample, row in routes(indices, locations, capacity, experts):
            found[sample] = (rows[row].astype(np.float64) * values[sample].astype(np.float64)).sum()
    return found


def route(rng: np.random.Generator, samples: int, capacity: int, experts: int) -> tuple[np.ndarray, np.ndarray]:
    """Experts and locations of samples: no two in the same row, and some nowhere, where there is room."""
    rows = rng.permutation(experts * capacity)[:samples]
    indices, locations = (part.astype(np.int32) for part in np.divmod(rows, max(capacity, 1)))
    short = samples - len(rows)
    indices, locations = np.pad(indices, (0, short), constant_values=-1), np.pad(locations, (0, short))
    nowhere = rng.random(samples) < 0.2
    indices[nowhere], locations[rng.random(samples) < 0.1] = experts, -1
    return indices, locations


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let no two samples go to the same row."""
    found = route(rng, len(arguments["indices"]), arguments["capacity"], arguments["num_experts"])
    arguments["indices"][...], arguments["locations"][...] = found


def in_double(name: str, *given: Any) -> np.ndarray:
    """The results of an operator for float64 arrays and the scalars of the description."""
    *arrays, _samples, capacity, _hidden, experts = given
    functions = {"forward": forward, "backward_data": backward_data, "backward_gate": backward_gate}
    return functions[name.removeprefix("moe_dispatch_")](*arrays, capacity, experts)


#: A call on a few values has one phase, and so does not look at the clock.
ONE_PHASE = True
_OPERATORS = ("moe_dispatch_forward", "moe_dispatch_backward_data", "moe_dispatch_backward_gate")


def ways(size: int) -> Iterator[Way]:
    """Many samples of few values, and few of many."""
    for name in _OPERATORS:
        sizes = {"samples": 150 * size, "hidden": 5, "capacity": 40 * size, "num_experts": 4}
        yield Way(name, "many samples", sizes)
        yield Way(name, "many values", {"samples": 3, "hidden": 250 * size + 3, "capacity": 2, "num_experts": 2})


def endless() -> Iterator[Way]:
    """Two billion values of one sample."""
    sizes = {"samples": 1, "hidden": 2_000_000_000, "capacity": 1, "num_experts": 1}
    there = {name: np.zeros(1, np.int32) for name in ("indices", "locations")}
    for name in _OPERATORS:
        yield Way(name, "two billion values", sizes, arrays=there, huge=True)


_STEPS = "handle objects ranks types scalars shapes packed indexable"
REFUSALS = {
    "mluOpMoeDispatchForward": Refusals(
        order="handle objects ranks types scalars shapes packed rules indexable empty data overlap"
    ),
    "mluOpMoeDispatchBackwardData": Refusals(
        order=f"{_STEPS} data overlap",
        empty={"samples": "", "hidden": "", "capacity": "grad_input", "num_experts": "grad_input"},
    ),
    "mluOpMoeDispatchBackwardGate": Refusals(
        order=f"{_STEPS} workspace data overlap",
        empty={"samples": "", "capacity": "grad_gates", "num_experts": "grad_gates", "hidden": "grad_gates"},
        needs_workspace=False,
    ),
}
