"""Every shape that the design documents name, and random ones: device, CPU and oracle agree, nothing is found."""

from __future__ import annotations

import dataclasses
import zlib
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from benchmarks.cases import Case, load_cases, select
from benchmarks.families import build
from benchmarks.problem import Arrays
from support import described, families, workload
from support.arrays import canary
from support.comparison import assert_close, assert_same_values
from support.described_calls import legal_call, on
from support.devices import MODELS, SPARSE_MODELS, on_both, watched
from support.example import PAIRING
from support.pairs import call as call_pairs
from support.selection import examples, is_thorough

CASES = [
    case
    for case in select(load_cases(), [], ("limits", "documents"))
    if pymluops.load("sim").implements(families.OPERATORS[case.operator].function)
]
#: Names of cases that take seconds on the simulator: for --thorough.
LARGE = {
    "3x15x16x45435", "1x59x59-mask117", "16x1024x4096-128", "16x512x2048-128", "15x1025x1023-1023", "25x1029x1025-1027",
    "29x2047x999-2033", "2x950x4x256-pool10", "submanifold-248636", "strided-149100",
}  # fmt: skip
#: No part of such a mask fits into NRAM, which the vendor's library refuses.
TOO_LARGE = "59x59-mask117"

every_model = pytest.mark.parametrize("model", MODELS)


def outputs_of(case: Case) -> tuple[Any, Arrays]:
    """The problem and what the CPU makes of it."""
    problem = build(case)
    with pymluops.use("cpu"):
        return problem, {name: np.copy(array) for name, array in problem.run(problem.buffers()).items()}


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=case.id, marks=pytest.mark.thorough if case.name in LARGE else ()) for case in CASES],
)
def test_shapes_of_the_design_documents(case: Case) -> None:
    problem, expected = outputs_of(case)
    models = SPARSE_MODELS if case.family == PAIRING.family else MODELS
    if not is_thorough():
        models = (models[zlib.crc32(case.id.encode()) % len(models)],)
    for model in models:
        buffers = problem.buffers()
        with watched(model):
            if TOO_LARGE in case.id:
                with pytest.raises(pymluops.NotSupportedError):
                    problem.run(buffers)
                continue
            found = problem.run(buffers)
        problem.check(expected, found)


@every_model
def test_the_same_workload_as_on_the_cpu(model: str) -> None:
    names = [name for name in workload.on("sim") if model in SPARSE_MODELS or name != PAIRING.name]
    found, expected = on_both(model, lambda: workload.results(names=names))
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        if described.sums(name.split()[0]):
            assert_close(found[name], value)
        else:
            assert_same_values(found[name], value)


@pytest.mark.sampled("model", "operator")
@every_model
@pytest.mark.parametrize("operator", on("sim"))
@examples(12)
@given(seed=st.integers(0, 2**32 - 1))
def test_random_calls(model: str, operator: str, seed: int) -> None:
    call = legal_call(operator, seed)
    expected = {name: canary(call.arrays[name].shape, call.arrays[name].dtype) for name in call.outputs}
    found = {name: value.copy() for name, value in expected.items()}
    with pymluops.use("cpu"):
        dataclasses.replace(call, arrays={**call.arrays, **expected}).python()
    with watched(model):
        dataclasses.replace(call, arrays={**call.arrays, **found}).python()
    for name, value in expected.items():
        if described.sums(operator) and value.size:
            assert_close(found[name], value)
        else:
            assert_same_values(found[name], value)


@pytest.mark.sampled
@pytest.mark.parametrize("model", SPARSE_MODELS)
@examples(40)
@given(seed=st.integers(0, 2**32 - 1))
def test_random_sparse_convolutions(model: str, seed: int) -> None:
    rng = Random(seed)
    indices, geometry = random_sparse(rng)
    with watched(model):
        found = call_pairs(indices, geometry)
    for one, other in zip(found, PAIRING.oracle.vectorised(indices, geometry), strict=True):
        np.testing.assert_array_equal(one, other)


def random_sparse(rng: Random) -> Any:
    """Rows, some of them repeated, and a geometry that takes them."""

    def triple(low: int, high: int) -> tuple[int, int, int]:
        return (rng.randint(low, high), rng.randint(low, high), rng.randint(low, high))

    batch, space, kernel, subm = rng.randint(1, 3), triple(1, 9), triple(1, 4), rng.random() < 0.5
    if subm:
        geometry = PAIRING.oracle.Geometry(batch, space, kernel, padding=triple(0, 3), subm=True)
    else:
        strides = triple(1, 3)
        dilation = tuple(1 if s != 1 else rng.randint(1, 2) for s in strides)
        geometry = PAIRING.oracle.Geometry(
            batch, space, kernel, strides, triple(0, 3), dilation, given_out=triple(1, 9)
        )
    places = batch * int(np.prod(space))
    count = rng.randint(1, min(places, 200))
    numbers = np.random.default_rng(rng.getrandbits(32)).choice(places, count, replace=rng.random() < 0.3)
    rows = np.stack(np.unravel_index(numbers, (batch, *space)), axis=1).astype(np.int32)
    return np.ascontiguousarray(rows), geometry
