"""mluOpSyncBatchNorm*, whose channels come last: the values of our own functions, refusals, missing arguments."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import pymluops
from support.arrays import canary, is_canary
from support.c_calls import ARRAY, BAD_PARAM, NHWC, NOT_SUPPORTED, SUCCESS, Raw, Tensor
from support.comparison import assert_same_bits

_LAYOUTS = {1: ARRAY, 2: 8, 3: 9, 4: NHWC, 5: 3}  # NC, NLC, NHWC, NDHWC
_EPS = 0.25
SHAPES = [(3,), (5, 3), (2, 4, 3), (2, 3, 4, 7), (2, 2, 3, 2, 5)]

#: Arguments in the order of each function: with ``?`` those that may be missing, in capitals those
#: that are written.
_ARGUMENTS = {
    "Stats": "x eps MEAN INVSTD",
    "Stats_v2": "x workspace size eps MEAN INVSTD",
    "Elemt": "x mean invstd filter? bias? Y",
    "BackwardReduce": "dy x mean invstd DFILTER DBIAS SUM_DY SUM_DY_XMU 1 1 1",
    "BackwardReduce_v2": "dy x mean invstd workspace size DFILTER DBIAS SUM_DY SUM_DY_XMU 1 1 1",
    "BackwardElemt": "dy x mean invstd filter? mean_dy mean_dy_xmu Y",
    "BackwardElemtV2": "dy x mean invstd filter? mean_dy mean_dy_xmu count Y",
}
_GATHER = "mean_all invstd_all MOVING_MEAN? MOVING_VAR? momentum eps count_all MEAN INVSTD"


class Bare(NamedTuple):
    """Data without a descriptor."""

    array: np.ndarray


def make(shape: tuple[int, ...], dtype: str = "float32") -> dict[str, Any]:
    rng, channels = np.random.default_rng(len(shape)), shape[-1]
    made: dict[str, Any] = {name: rng.normal(2, 1, shape).astype(dtype) for name in ("x", "dy")}
    for name in ("mean", "invstd", "filter", "bias", "mean_dy", "mean_dy_xmu"):
        made[name] = rng.uniform(0.5, 2, channels).astype(np.float32)
    made["count"] = np.array([4, 3], np.int32)
    made["Y"] = canary(shape, dtype)
    for name in ("MEAN", "INVSTD", "DFILTER", "DBIAS", "SUM_DY", "SUM_DY_XMU"):
        made[name] = canary((channels,), "float32")
    return made | {"eps": _EPS}


def devices(dtype: str = "float32") -> dict[str, Any]:
    rng = np.random.default_rng(3)
    made: dict[str, Any] = {
        name: rng.uniform(0.5, 1.5, (3, 5)).astype(np.float32) for name in ("mean_all", "invstd_all")
    }
    made |= {"count_all": np.array([4, 2, 6], dtype), "momentum": 0.25, "eps": _EPS}
    made |= {name: rng.uniform(1, 2, 5).astype(dtype) for name in ("MOVING_MEAN", "MOVING_VAR")}
    return made | {name: canary((5,), "float32") for name in ("MEAN", "INVSTD")}


def status(raw: Raw, function: str, t: dict[str, Any], prefix: str = "mluOpSyncBatchNorm") -> int:
    order = _GATHER if function.startswith("Gather") else _ARGUMENTS[function]
    given: list[Any] = []
    for word in order.split():
        name = word.removesuffix("?")
        if name == "workspace":
            given.append(raw.ffi.NULL)
        elif name in ("size", "1"):
            given.append(t.get(name, int(name == "1")))
        elif isinstance(t[name], np.ndarray):
            layout = _LAYOUTS[t[name].ndim] if name in ("x", "dy", "Y") else ARRAY
            given.append(Tensor(t[name], layout))
        elif t[name] is None:
            given += [raw.ffi.NULL, raw.ffi.NULL]
        elif isinstance(t[name], Bare):
            given += [raw.ffi.NULL, raw.ffi.cast("void *", t[name].array.ctypes.data)]
        else:
            given.append(t[name])
    return raw.status(prefix + function, *given)


def results(function: str, t: dict[str, Any]) -> list[np.ndarray]:
    """What our own function computes from the same arguments."""
    shape = t["x"].shape[-1]
    x, dy = (t[name].reshape(-1, shape, 1) for name in ("x", "dy"))
    first = t["mean"], t["invstd"]
    means = t["mean_dy"], t["mean_dy_xmu"]
    if function.startswith("Stats"):
        return [*pymluops.sync_batch_norm_stats(x, _EPS)]
    if function == "Elemt":
        return [pymluops.sync_batch_norm_elemt(x, *first, t["filter"], t["bias"])]
    if function.startswith("BackwardReduce"):
        return [*pymluops.sync_batch_norm_backward_reduce(dy, x, *first)]
    if function == "BackwardElemt":
        return [pymluops.sync_batch_norm_backward_elemt(dy, x, *first, t["filter"], *means)]
    return [pymluops.sync_batch_norm_backward_elemt_v2(dy, x, *first, t["filter"], *means, t["count"])]


def written(function: str, t: dict[str, Any]) -> list[np.ndarray]:
    order = _GATHER if function.startswith("Gather") else _ARGUMENTS[function]
    return [t[word.removesuffix("?")] for word in order.split() if word.isupper() and word != "1"]


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("function", _ARGUMENTS)
def test_any_number_of_dims(raw: Raw, function: str, dtype: str) -> None:
    for shape in SHAPES:
        t = make(shape, dtype)
        for missing in ((), ("filter", "bias")):
            t = {**make(shape, dtype), **dict.fromkeys(missing)}
            assert status(raw, function, t) == SUCCESS, raw.reason()
            for found, expected in zip(written(function, t), results(function, t), strict=True):
                assert_same_bits(found, expected.reshape(found.shape))


def test_the_example_of_the_header(raw: Raw) -> None:
    t = {**make((2, 2)), "x": np.ones((2, 2), np.float32), "eps": 1e-5}
    assert status(raw, "Stats_v2", t) == SUCCESS
    assert t["MEAN"].tolist() == [1, 1]
    np.testing.assert_allclose(t["INVSTD"], 316.2278, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_gathering_moves_running_statistics(raw: Raw, dtype: str) -> None:
    t, before = devices(dtype), devices(dtype)
    assert status(raw, "GatherStatsWithCounts", t) == SUCCESS, raw.reason()
    arrays = t["mean_all"], t["invstd_all"], t["count_all"].astype(np.float32)
    found = pymluops.sync_batch_norm_gather_stats_with_counts(*arrays, _EPS)
    assert_same_bits(t["MEAN"], found.mean)
    assert_same_bits(t["INVSTD"], found.invstd)
    for name, new in (("MOVING_MEAN", found.mean), ("MOVING_VAR", found.var)):
        expected = 0.25 * new.astype(np.float64) + 0.75 * before[name]
        np.testing.assert_allclose(t[name], expected, rtol={"float32": 1e-6, "float16": 1e-3}[dtype])
    t = {**devices(dtype), "MOVING_MEAN": None, "MOVING_VAR": None}
    assert status(raw, "GatherStatsWithCounts", t) == SUCCESS, raw.reason()
    assert_same_bits(t["MEAN"], found.mean)


def test_sums_that_are_not_wanted_are_not_touched(raw: Raw) -> None:
    names = ("DFILTER", "DBIAS", "SUM_DY", "SUM_DY_XMU")
    wants = {0: ("SUM_DY", "SUM_DY_XMU"), 1: ("DFILTER",), 2: ("DBIAS",)}
    full = make((4, 3))
    for bits in range(8):
        flags = [bits >> i & 1 for i in range(3)]
        wanted = {name for i, some in wants.items() if flags[i] for name in some}
        for gone in (False, True):
            t = make((4, 3))
            arguments = [Tensor(t[name], 8 if name in ("dy", "x") else ARRAY) for name in ("dy", "x", "mean", "invstd")]
            for name in names:
                missing = gone and name not in wanted
                arguments += [raw.ffi.NULL, raw.ffi.NULL] if missing else [Tensor(t[name])]
            assert raw.status("mluOpSyncBatchNormBackwardReduce", *arguments, *flags) == SUCCESS, raw.reason()
            for name, expected in zip(names, results("BackwardReduce", full), strict=True):
                if name in wanted:
                    assert_same_bits(t[name], expected)
                else:
                    assert is_canary(t[name])
        for name in wanted:
            t = make((4, 3))
            arguments = [Tensor(t[one], 8 if one in ("dy", "x") else ARRAY) for one in ("dy", "x", "mean", "invstd")]
            for one in names:
                arguments += [raw.ffi.NULL, raw.ffi.NULL] if one == name else [Tensor(t[one])]
            assert raw.status("mluOpSyncBatchNormBackwardReduce", *arguments, *flags) == BAD_PARAM
            assert f": {name.lower()}" in raw.reason()


@pytest.mark.parametrize("function", ["BackwardReduce", "BackwardReduce_v2"])
def test_deprecated_names(raw: Raw, function: str) -> None:
    t = make((4, 3))
    assert status(raw, function, t, "mluOpSyncBatchnorm") == SUCCESS, raw.reason()
    for found, expected in zip(written(function, t), results(function, t), strict=True):
        assert_same_bits(found, expected)
    t = make((4, 3))
    t["mean"] = np.ones(4, np.float32)
    assert status(raw, function, t, "mluOpSyncBatchnorm") == BAD_PARAM
    assert raw.reason().startswith(f"mluOpSyncBatchnorm{function}: mean")
    assert all(map(is_canary, written(function, t)))


@pytest.mark.parametrize("name", ["NormStats", "NormBackwardReduce", "normBackwardReduce"])
def test_workspaces_are_empty(raw: Raw, name: str) -> None:
    function, x = f"mluOpGetSyncBatch{name}WorkspaceSize", Tensor(np.ones((2, 3), np.float32))
    _, desc = raw._describe(x)
    size = raw.ffi.new("size_t *", 77)
    call = getattr(raw.lib, function)
    assert call(raw.handle, desc, size) == SUCCESS
    assert size[0] == 0
    for arguments in ((raw.ffi.NULL, desc, size), (raw.handle, raw.ffi.NULL, size), (raw.handle, desc, raw.ffi.NULL)):
        size[0] = 77
        assert call(*arguments) == BAD_PARAM
        assert raw.reason().startswith(f"{function}: ")
        assert size[0] == 77
    raw.lib.mluOpDestroyTensorDescriptor(desc)


@pytest.mark.parametrize("function", [*_ARGUMENTS, "GatherStatsWithCounts"])
def test_refused_calls_write_nothing(raw: Raw, function: str) -> None:
    gathering = function.startswith("Gather")

    def fresh() -> dict[str, Any]:
        return devices() if gathering else make((2, 3, 4, 7))

    order = _GATHER if gathering else _ARGUMENTS[function]
    arrays = [word for word in order.split() if isinstance(fresh().get(word.removesuffix("?")), np.ndarray)]
    for word in arrays:
        name = word.removesuffix("?")
        array = fresh()[name]
        larger = [
            np.ones([n + (i == dim) for i, n in enumerate(array.shape)], array.dtype) for dim in range(array.ndim)
        ]
        if word == "count":  # any number of them
            larger = []
        alone = word == "x" and function.startswith("Stats")  # any shape whose last dim is C
        if alone:
            larger = larger[-1:]
        wrong: list[tuple[Any, int]] = [(one, BAD_PARAM) for one in larger]
        wrong += [] if alone else [(array[None], BAD_PARAM)]
        wrong += [(array.astype(np.float64), BAD_PARAM), (array.astype(np.int8), BAD_PARAM)]
        wrong += [(np.repeat(array, 2, -1)[..., ::2], NOT_SUPPORTED), (Tensor(array, ARRAY, 0), BAD_PARAM)]
        if name in ("x", "dy", "Y"):
            wrong += [] if alone else [(array.astype(np.float16), BAD_PARAM)]
            wrong += [(Tensor(array, 0), BAD_PARAM), (np.ones((), np.float32), BAD_PARAM)]
        if not word.endswith("?") or (word == "filter?" and function == "Elemt") or gathering:
            wrong += [(None, BAD_PARAM)]
        for replacement, expected in wrong:
            t = {**fresh(), name: replacement}
            if isinstance(replacement, np.ndarray) and replacement.ndim not in _LAYOUTS:
                t[name] = Tensor(replacement)
            assert status(raw, function, t) == expected, (name, replacement, raw.reason())
            assert raw.reason().startswith(f"mluOpSyncBatchNorm{function}: ")
            before = fresh()
            for key in [one.removesuffix("?") for one in arrays if one.isupper()]:
                if key != name:
                    assert_same_bits(t[key], before[key])
    if function.endswith("_v2"):
        assert status(raw, function, {**fresh(), "size": 1}) == BAD_PARAM
        assert ": workspace: " in raw.reason()


def test_data_of_a_missing_array_need_a_descriptor(raw: Raw) -> None:
    cases: tuple[tuple[str, dict[str, Any], tuple[str, ...]], ...] = (
        ("Elemt", make((5, 3)), ("filter", "bias")),
        ("BackwardElemt", make((5, 3)), ("filter",)),
        ("GatherStatsWithCounts", devices(), ("MOVING_MEAN", "MOVING_VAR")),
    )
    for function, t, names in cases:
        assert status(raw, function, {**t, **dict.fromkeys(names)}) == SUCCESS, raw.reason()
        bare = {name: Bare(t[name].copy()) for name in names}
        assert status(raw, function, {**t, **bare}) == BAD_PARAM
        assert f": {names[0].lower()}: expected a descriptor" in raw.reason()


def test_an_output_may_not_be_an_input(raw: Raw) -> None:
    t = make((5, 3))
    for function, output, source in (
        ("Elemt", "Y", "x"), ("BackwardElemt", "Y", "dy"), ("BackwardElemtV2", "Y", "x"), ("Stats", "MEAN", "INVSTD"),
        ("BackwardReduce", "DBIAS", "mean"), ("BackwardReduce", "DBIAS", "SUM_DY"),
    ):  # fmt: skip
        assert status(raw, function, {**t, output: t[source]}) == BAD_PARAM
        assert "of its own" in raw.reason() or "overlap" in raw.reason()
    t = devices()
    for name in ("mean_all", "MEAN", "MOVING_VAR"):
        changed = {**t, "MOVING_MEAN": t[name][0] if name == "mean_all" else t[name]}
        assert status(raw, "GatherStatsWithCounts", changed) == BAD_PARAM


def test_nothing_to_compute(raw: Raw) -> None:
    for shape in ((0, 3), (4, 0)):
        for function in _ARGUMENTS:
            t = make(shape)
            assert status(raw, function, t) == SUCCESS, raw.reason()
            if function.startswith("BackwardReduce"):
                assert not any(array.any() for array in written(function, t))
            else:
                assert all(map(is_canary, written(function, t)))
            gone = {key: Tensor(t[key], ARRAY, 0) for key in ("x", "dy", "Y")}
            assert status(raw, function, {**make(shape), **gone}) == SUCCESS, raw.reason()
    t = {**devices(), "mean_all": np.zeros((0, 5), np.float32), "invstd_all": np.zeros((0, 5), np.float32)}
    t["count_all"] = np.zeros(0, np.float32)
    assert status(raw, "GatherStatsWithCounts", t) == SUCCESS, raw.reason()
    assert is_canary(t["MEAN"])
    t = {**make((2, 3)), "count": np.zeros(0, np.int32)}
    assert status(raw, "BackwardElemtV2", t) == SUCCESS, raw.reason()
    assert not np.isfinite(t["Y"]).any()


def test_functions_know_where_the_channels_are() -> None:
    for shape in SHAPES:
        t = make(shape)
        pymluops.functions.mluOpSyncBatchNormStats_v2(t["x"], _EPS, t["MEAN"], t["INVSTD"])
        pymluops.functions.mluOpSyncBatchNormElemt(t["x"], t["mean"], t["invstd"], None, None, t["Y"])
        for found, expected in zip((t["MEAN"], t["INVSTD"]), results("Stats", t), strict=True):
            assert_same_bits(found, expected)
        assert_same_bits(t["Y"], results("Elemt", {**t, "filter": None, "bias": None})[0].reshape(shape))
    t = devices()
    numbers = (t["momentum"], t["eps"], t["count_all"], t["MEAN"], t["INVSTD"])
    pymluops.functions.mluOpSyncBatchNormGatherStatsWithCounts(
        t["mean_all"], t["invstd_all"], t["MOVING_MEAN"], t["MOVING_VAR"], *numbers
    )
    arrays = t["mean_all"], t["invstd_all"], t["count_all"]
    assert_same_bits(t["MEAN"], pymluops.sync_batch_norm_gather_stats_with_counts(*arrays, _EPS).mean)
