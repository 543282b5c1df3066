"""three_nn."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle import three_nn as oracle
from support.arrays import any_bits, canary, is_canary
from support.c_calls import BAD_PARAM, NOT_SUPPORTED, SUCCESS, Descriptor, Raw, Tensor
from support.clouds import KINDS, cloud
from support.comparison import assert_same_bits
from support.processes import python_output
from support.selection import examples

DTYPES = ("float16", "float32")
both_dtypes = pytest.mark.parametrize("dtype", DTYPES)


def three_nn_forward(unknown: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The operator: dist2 and idx."""
    dist2, idx = canary(unknown.shape, unknown.dtype), canary(unknown.shape, "int32")
    with Raw(pymluops.load("cpu")) as raw:
        assert status(raw, unknown, known, dist2, idx) == SUCCESS, raw.reason()
    return dist2, idx


def status(raw: Raw, unknown: Any, known: Any, dist2: Any, idx: Any, workspace: Any = None, size: int = 0) -> int:
    """Status of the C function; arrays stand for packed tensors."""
    unknown, known, dist2, idx = (Tensor(a) if isinstance(a, np.ndarray) else a for a in (unknown, known, dist2, idx))
    workspace = raw.ffi.NULL if workspace is None else workspace
    return raw.status("mluOpThreeNNForward", unknown, known, workspace, size, dist2, idx)


def assert_follows_the_oracle(unknown: np.ndarray, known: np.ndarray) -> None:
    (dist2, idx), (dist2_expected, idx_expected) = three_nn_forward(unknown, known), oracle.forward(unknown, known)
    np.testing.assert_array_equal(idx, idx_expected)
    assert_same_bits(dist2, dist2_expected)


# ---- values --------------------------------------------------------------------------------------


@both_dtypes
@pytest.mark.parametrize(
    ("batch", "unknowns", "knowns"),
    [(1, 1, 1), (2, 5, 2), (2, 64, 3), (3, 65, 4), (1, 200, 513), (16, 33, 100), (2, 7, 1025), (1, 1, 5000)],
)
def test_random_points(dtype: str, batch: int, unknowns: int, knowns: int) -> None:
    rng = np.random.default_rng(5)
    unknown, known = (rng.normal(0, 3, (batch, n, 3)).astype(dtype) for n in (unknowns, knowns))
    assert_follows_the_oracle(unknown, known)


@both_dtypes
@examples(200)
@given(
    batch=st.integers(1, 3),
    unknowns=st.integers(1, 70),
    knowns=st.integers(0, 30) | st.integers(500, 1100),
    grid=st.integers(1, 8),
    seed=st.integers(0, 2**32 - 1),
)
def test_points_on_a_grid_have_many_ties(
    dtype: str, batch: int, unknowns: int, knowns: int, grid: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    unknown, known = (rng.integers(-grid, grid + 1, (batch, n, 3)).astype(dtype) for n in (unknowns, knowns))
    assert_follows_the_oracle(unknown, known)


@both_dtypes
@examples(200)
@given(unknowns=st.integers(1, 40), knowns=st.integers(1, 60), seed=st.integers(0, 2**32 - 1))
def test_any_bits(dtype: str, unknowns: int, knowns: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    assert_follows_the_oracle(any_bits(rng, (2, unknowns, 3), dtype), any_bits(rng, (2, knowns, 3), dtype))


@both_dtypes
def test_the_lower_index_comes_first_among_equals(dtype: str) -> None:
    known = np.zeros((1, 700, 3), dtype)
    known[0, :, 1] = [5, 1, -1, 1, 5, *[9] * 695]
    dist2, idx = three_nn_forward(np.zeros((1, 40, 3), dtype), known)
    assert (dist2 == np.array([1, 1, 1], dtype)).all()
    assert (idx == np.array([1, 2, 3])).all()
    known[0, 3] = 7
    assert three_nn_forward(np.zeros((1, 1, 3), dtype), known)[1].tolist() == [[[1, 2, 0]]]


@both_dtypes
@pytest.mark.parametrize("knowns", [0, 1, 2])
def test_missing_neighbours_are_infinitely_far(dtype: str, knowns: int) -> None:
    known = np.full((2, knowns, 3), 2, dtype)
    dist2, idx = three_nn_forward(np.zeros((2, 5, 3), dtype), known)
    assert (dist2[..., :knowns] == 12).all()
    assert np.isposinf(dist2[..., knowns:]).all()
    assert (idx == [*range(knowns), *[0] * (3 - knowns)]).all()


@both_dtypes
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_points_that_are_not_finite_have_no_neighbours(dtype: str, value: float) -> None:
    unknown, known = np.zeros((1, 3, 3), dtype), np.ones((1, 9, 3), dtype)
    unknown[0, 1, 2] = value
    known[0, [0, 2, 8], [0, 1, 2]] = value
    dist2, idx = three_nn_forward(unknown, known)
    assert np.isposinf(dist2[0, 1]).all()
    assert idx[0].tolist() == [[1, 3, 4], [0, 0, 0], [1, 3, 4]]
    assert (dist2[0, [0, 2]] == 3).all()


def test_a_distance_that_half_cannot_hold_is_missing() -> None:
    # The squares of 255.875 and of 256 are 65472.02 and 65536; the largest half is 65504.
    known = np.array([[[256, 0, 0], [255.875, 0, 0], [0, 300, 0]]], np.float16)
    dist2, idx = three_nn_forward(np.zeros((1, 1, 3), np.float16), known)
    assert dist2.tolist() == [[[65472, np.inf, np.inf]]]
    assert idx.tolist() == [[[1, 0, 0]]]


def test_halves_are_compared_before_they_are_rounded() -> None:
    # 1 and 1 + 2^-11 are the same half, rounded.
    step = 2.0**-5.5
    known = np.array([[[1, step, 0], [1, 0, 0], [0, 1, 0]]], np.float16)
    dist2, idx = three_nn_forward(np.zeros((1, 1, 3), np.float16), known)
    assert dist2.tolist() == [[[1, 1, 1]]]
    assert idx.tolist() == [[[1, 2, 0]]]


@both_dtypes
@pytest.mark.parametrize("kind", KINDS)
def test_many_points(kind: str, dtype: str) -> None:
    """Among so many a tree is searched, which finds the same points in the same order."""
    known = cloud(kind, 6000, dtype)[None]
    unknown = np.concatenate([known[:, ::6], cloud("even", 300, dtype)[None], cloud("special", 40, dtype)[None]], 1)
    assert_follows_the_oracle(unknown, known)


# ---- stacked -------------------------------------------------------------------------------------


@both_dtypes
@examples(100)
@given(
    counts=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 60)), min_size=1, max_size=4),
    seed=st.integers(0, 2**32 - 1),
)
def test_stacked(dtype: str, counts: list[tuple[int, int]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = [*counts, (2, 3)]
    unknowns, knowns = (np.array(numbers, np.int32) for numbers in zip(*counts, strict=True))
    unknown, known = (np.round(rng.normal(size=(int(n.sum()), 3)), 1).astype(dtype) for n in (unknowns, knowns))
    found = pymluops.stack_three_nn(unknown, unknowns, known, knowns)
    wanted = oracle.forward_stack(unknown, unknowns, known, knowns)
    np.testing.assert_array_equal(found.idx, wanted[1])
    assert_same_bits(found.dist2, wanted[0])


def test_stacked_batches_of_many_and_of_few_points() -> None:
    knowns, unknowns = np.array([40, 5000, 0, 3000], np.int32), np.array([10, 1500, 5, 30], np.int32)
    known = np.concatenate([cloud("even", int(n), "float32", i) for i, n in enumerate(knowns)])
    unknown = np.concatenate([cloud("even", int(n), "float32", 9 + i) for i, n in enumerate(unknowns)])
    dist2, idx = pymluops.stack_three_nn(unknown, unknowns, known, knowns)
    expected = oracle.forward_stack(unknown, unknowns, known, knowns)
    assert_same_bits(dist2, expected[0])
    np.testing.assert_array_equal(idx, expected[1])
    assert np.isinf(dist2[1510:1515]).all() and (idx[1510:1515] == 5040).all()


@pytest.mark.parametrize(("unknowns", "knowns"), [([1, 1], [2, 2]), ([2, 9], [2, 1]), ([4, -1], [2, 2])])
def test_counts_that_do_not_fit(unknowns: list[int], knowns: list[int]) -> None:
    unknown, known = cloud("lattice", 3, "float32"), cloud("lattice", 4, "float32", 1)
    counts = np.array(unknowns, np.int32), np.array(knowns, np.int32)
    found = pymluops.stack_three_nn(unknown, counts[0], known, counts[1], validate=False)
    expected = oracle.forward_stack(unknown, counts[0], known, counts[1])
    assert_same_bits(found.dist2, expected[0])
    np.testing.assert_array_equal(found.idx, expected[1])


# ---- zero elements and refusals ------------------------------------------------------------------


def _arrays(dtype: str = "float32") -> dict[str, np.ndarray]:
    return {
        "unknown": np.ones((2, 5, 3), dtype),
        "known": np.ones((2, 4, 3), dtype),
        "dist2": canary((2, 5, 3), dtype),
        "idx": canary((2, 5, 3), "int32"),
    }


@pytest.mark.parametrize("shape", [(0, 5, 3), (2, 0, 3)])
def test_no_unknown_points_are_refused(raw: Raw, shape: tuple[int, ...]) -> None:
    unknown, known = np.ones(shape, np.float32), np.ones((shape[0], 4, 3), np.float32)
    assert status(raw, unknown, known, unknown.copy(), np.ones(shape, np.int32)) == BAD_PARAM
    assert "unknown_desc: expected at least one element" in raw.reason()


def test_no_known_points_need_no_memory(raw: Raw) -> None:
    a, known, null = _arrays(), Descriptor((2, 0, 3), pair=True), Descriptor((2, 5, 3), pair=True)
    for unknown, dist2 in ((null, a["dist2"]), (a["unknown"], null)):
        assert status(raw, unknown, known, dist2, a["idx"]) == BAD_PARAM
    assert is_canary(a["dist2"])
    assert is_canary(a["idx"])
    assert status(raw, a["unknown"], known, a["dist2"], a["idx"], size=9) == SUCCESS
    assert np.isposinf(a["dist2"]).all()
    assert (a["idx"] == 0).all()


def test_null_in_order(raw: Raw) -> None:
    n = raw.ffi.NULL
    assert raw.lib.mluOpThreeNNForward(n, n, n, n, n, n, 0, n, n, n, n) == BAD_PARAM
    assert ": handle:" in raw.reason()
    assert raw.lib.mluOpThreeNNForward(raw.handle, n, n, n, n, n, 0, n, n, n, n) == BAD_PARAM
    assert ": known_desc:" in raw.reason()
    tensors: dict[str, Any] = {name: Tensor(array) for name, array in _arrays().items()}
    assert status(raw, *tensors.values(), size=1) == BAD_PARAM
    assert ": workspace: expected a pointer" in raw.reason()
    for name in ("idx", "dist2", "known", "unknown"):
        tensors[name] = Descriptor(tensors[name].array.shape, tensors[name].array.dtype.name, pair=True)
        assert status(raw, *tensors.values()) == BAD_PARAM
        assert f": {name}: expected a pointer" in raw.reason()


#: What replaces one array, the status, and the name that the reason tells.
REFUSED: list[tuple[str, np.ndarray, int, str]] = [
    ("unknown", np.ones((10, 3), np.float32), BAD_PARAM, "unknown_desc"),
    ("known", np.ones((8, 3), np.float32), BAD_PARAM, "known_desc"),
    ("dist2", np.ones((2, 5, 3, 1), np.float32), BAD_PARAM, "dist2_desc"),
    ("idx", np.ones((10, 3), np.int32), BAD_PARAM, "idx_desc"),
    ("known", np.ones((1, 4, 3), np.float32), BAD_PARAM, "known_desc"),
    ("dist2", np.ones((1, 5, 3), np.float32), BAD_PARAM, "dist2_desc"),
    ("idx", np.ones((3, 5, 3), np.int32), BAD_PARAM, "idx_desc"),
    ("dist2", np.ones((2, 4, 3), np.float32), BAD_PARAM, "dist2_desc"),
    ("idx", np.ones((2, 6, 3), np.int32), BAD_PARAM, "idx_desc"),
    ("unknown", np.ones((2, 5, 2), np.float32), BAD_PARAM, "unknown_desc"),
    ("known", np.ones((2, 4, 4), np.float32), BAD_PARAM, "known_desc"),
    ("dist2", np.ones((2, 5, 2), np.float32), BAD_PARAM, "dist2_desc"),
    ("idx", np.ones((2, 5, 4), np.int32), BAD_PARAM, "idx_desc"),
    ("unknown", np.ones((2, 5, 3), np.float64), BAD_PARAM, "unknown_desc"),
    ("known", np.ones((2, 4, 3), np.float16), BAD_PARAM, "known_desc"),
    ("dist2", np.ones((2, 5, 3), np.float16), BAD_PARAM, "dist2_desc"),
    ("idx", np.ones((2, 5, 6), np.int64)[..., ::2], BAD_PARAM, "idx_desc"),
    ("unknown", np.ones((2, 5, 6), np.float32)[..., ::2], NOT_SUPPORTED, "unknown_desc"),
    ("known", np.ones((2, 8, 3), np.float32)[:, ::2], NOT_SUPPORTED, "known_desc"),
    ("dist2", np.ones((2, 5, 6), np.float32)[..., ::2], NOT_SUPPORTED, "dist2_desc"),
    ("idx", np.ones((2, 5, 6), np.int32)[..., ::2], NOT_SUPPORTED, "idx_desc"),
]


@pytest.mark.parametrize(("name", "array", "wanted", "told"), REFUSED)
def test_refused_tensors(raw: Raw, name: str, array: np.ndarray, wanted: int, told: str) -> None:
    a = {**_arrays(), name: array}
    assert status(raw, *a.values()) == wanted
    assert f"mluOpThreeNNForward: {told}: expected" in raw.reason()
    for output in {"dist2", "idx"} - {name}:
        assert is_canary(a[output])


@pytest.mark.parametrize("huge", ["unknown", "known"])
def test_2_to_the_31_elements_are_not_supported(raw: Raw, huge: str) -> None:
    shapes = dict.fromkeys(("unknown", "known", "dist2", "idx"), (1, 4, 3))
    for name in shapes:
        if name == huge or (huge == "unknown" and name != "known"):
            shapes[name] = (1, 715_827_883, 3)
    tensors = [Descriptor(s, "int32" if name == "idx" else "float16", pair=True) for name, s in shapes.items()]
    assert status(raw, *tensors) == NOT_SUPPORTED
    assert f": {huge}_desc: expected fewer than 2^31" in raw.reason()


def test_results_must_have_memory_of_their_own(raw: Raw) -> None:
    a = _arrays()
    assert status(raw, a["unknown"], a["known"], a["unknown"], a["idx"]) == BAD_PARAM
    assert ": dist2: expected memory of its own" in raw.reason()
    assert status(raw, a["unknown"], a["known"], a["dist2"], a["dist2"].view(np.int32)) == BAD_PARAM
    assert ": idx: expected memory of its own" in raw.reason()
    assert is_canary(a["dist2"])


def test_the_simulator_does_not_implement_it() -> None:
    a = _arrays()
    with Raw(pymluops.load("sim")) as raw:
        assert status(raw, *a.values()) == NOT_SUPPORTED
        assert "not implemented by the sim library" in raw.reason()
    assert is_canary(a["dist2"])


# ---- workspace -----------------------------------------------------------------------------------


def test_the_size_of_the_workspace(raw: Raw) -> None:
    size = raw.ffi.new("size_t *", 123)
    known = Descriptor((2, 1000, 3))
    assert raw.status("mluOpGetThreeNNForwardWorkspaceSize", known, size) == SUCCESS
    need = size[0]
    assert need == 0
    a, memory = _arrays(), np.zeros(64, np.uint8)
    workspace = raw.ffi.cast("void *", memory.ctypes.data)
    assert status(raw, *a.values(), workspace, 64) == SUCCESS
    assert (a["idx"] == [0, 1, 2]).all()


def test_the_size_of_the_workspace_refuses(raw: Raw) -> None:
    name, null, size = "mluOpGetThreeNNForwardWorkspaceSize", raw.ffi.NULL, raw.ffi.new("size_t *", 123)
    assert raw.lib.mluOpGetThreeNNForwardWorkspaceSize(null, null, null) == BAD_PARAM
    assert ": handle:" in raw.reason()
    assert raw.status(name, null, null) == BAD_PARAM
    assert ": known_desc:" in raw.reason()
    assert raw.status(name, Descriptor((2, 3)), null) == BAD_PARAM
    assert ": workspace_size:" in raw.reason()
    assert raw.status(name, Descriptor((2, 3)), size) == BAD_PARAM
    assert ": known_desc: expected 3 dims" in raw.reason()
    assert size[0] == 123


# ---- threads and instruction levels --------------------------------------------------------------


def digests() -> list[str]:
    """Results for some points, in a form that goes through JSON."""
    rng = np.random.default_rng(13)
    results = []
    for dtype in DTYPES:
        for unknowns, knowns in ((150, 1500), (700, 37), (900, 5000)):
            unknown, known = (rng.random((2, n, 3)).astype(dtype) for n in (unknowns, knowns))
            results += [hashlib.sha256(array.tobytes()).hexdigest() for array in three_nn_forward(unknown, known)]
    return results


@pytest.fixture
def threads_as_before() -> Iterator[None]:
    before = pymluops.get_num_threads()
    yield
    pymluops.set_num_threads(before)


@pytest.mark.usefixtures("threads_as_before")
def test_any_number_of_threads_gives_the_same_bits() -> None:
    found = []
    for threads in (1, 2, 3):
        pymluops.set_num_threads(threads)
        found.append(digests())
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("level", ["x86-64", "x86-64-v3", "x86-64-v4"])
def test_any_instruction_level_gives_the_same_bits(level: str) -> None:
    code = "import json; from ops.test_three_nn import digests; print(json.dumps(digests()))"
    assert json.loads(python_output(code, PYMLUOPS_INSTRUCTION_LEVEL=level)) == digests()
