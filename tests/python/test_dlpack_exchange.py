"""The exchange API of DLPack, with exporters made here and a stand-in for torch: torch need not be installed."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pymluops
from pymluops._core import pool_idle, set_pool_limit
from support.arrays import canary, is_canary
from support.comparison import assert_same_bits
from support.dlpack import CUDA, IS_COPIED, READ_ONLY, Producer
from support.example import MOVING, PAIRING
from support.exchange import build, exchanged_type, stand_in_for_torch

SHIFTS = np.array([[1, -1]], np.int32)


def source(dtype: str = "float32") -> np.ndarray:
    return np.arange(1, 25, dtype=dtype).reshape(1, 3, 4, 2)


EXPECTED = MOVING.oracle.shift(source(), SHIFTS)


@pytest.fixture(scope="session")
def library(compiler: str, tmp_path_factory: pytest.TempPathFactory) -> ctypes.PyDLL:
    return build(compiler, tmp_path_factory.mktemp("exchange"))


@pytest.fixture
def torch(library: ctypes.PyDLL, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A stand-in for torch that the program has imported."""
    module = stand_in_for_torch(library)
    monkeypatch.setitem(sys.modules, "torch", module)
    return module


def call(values: Any, shifts: Any = SHIFTS, **keywords: Any) -> Any:
    return MOVING.run(values, shifts, **keywords)


# ---- any exporter --------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"major": 2, "linked": True}, {"borrows": False}], ids=str)
def test_the_exchange_api_is_used(library: ctypes.PyDLL, options: dict[str, Any]) -> None:
    kind, memory = exchanged_type(library, **options), canary((1, 3, 4, 2), "float32")
    values, shifts, out = kind(source()), kind(SHIFTS), kind(memory)
    result = call(values, shifts)
    assert type(result) is np.ndarray  # only torch gets results of its own kind
    assert_same_bits(result, EXPECTED)
    assert call(values, shifts, out=out) is out
    assert_same_bits(memory, EXPECTED)
    for array, times in ((values, 2), (shifts, 2), (out, 1)):
        # An owned tensor says whether it may be written, a borrowed one does not.
        assert array.exports == ["managed"] * times
        assert array.deleted == times


@pytest.mark.parametrize("options", [{"major": 2}, {"major": 0}, {"__dlpack_c_exchange_api__": 3}], ids=str)
def test_without_a_table_of_version_1_dlpack_is_used(library: ctypes.PyDLL, options: dict[str, Any]) -> None:
    kind = exchanged_type(library, **options, __dlpack__=Producer.__dlpack__)
    values = kind(source())
    assert_same_bits(call(values), EXPECTED)
    assert values.exports == []
    assert values.consumed


def test_a_subclass_does_not_inherit_it(library: ctypes.PyDLL) -> None:
    values = type("Sub", (exchanged_type(library),), {"__dlpack__": Producer.__dlpack__})(source())
    assert_same_bits(call(values), EXPECTED)
    assert values.exports == []
    assert values.consumed


def test_more_types_than_are_remembered(library: ctypes.PyDLL) -> None:
    kinds = [exchanged_type(library) for _ in range(20)]
    for kind in kinds + kinds[::-1]:
        assert_same_bits(call(kind(source()), kinds[3](SHIFTS)), EXPECTED)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "device": ({"device": CUDA}, "host memory"),
    "null": ({"null": True}, "null pointer"),
    "rank 9": ({"ndim": 9, "shape": (1,) * 9, "packed": True}, "shape"),
    "rank 65": ({"ndim": 65}, "at most 64 dims"),
    "negative rank": ({"ndim": -1}, "at most 64 dims"),
    "no shape": ({"no_shape": True}, "no shape"),
    "negative size": ({"shape": (1, 3, 4, -2)}, "negative dims"),
    "strides": ({"strides": (1, 1, 1, 1)}, "contiguous"),
    "bits": ({"bits": 64}, "dtype"),
    "lanes": ({"lanes": 2}, "dtype"),
    "raises": ({"fails": BufferError("not today")}, "not today"),
    "fails without a reason": ({"silent": True}, "without a reason"),
}


@pytest.mark.parametrize(("lies", "text"), REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("as_torch", [False, True])
def test_what_an_exporter_may_not_say(
    library: ctypes.PyDLL, torch: Any, as_torch: bool, lies: dict[str, Any], text: str
) -> None:
    kind, out = torch.Tensor if as_torch else exchanged_type(library), canary((1, 3, 4, 2), "float32")
    values = kind(source(), **lies)
    with pytest.raises(pymluops.BadParamError, match=f"{MOVING.name}: input: expected .*{text}"):
        call(values, out=out)
    assert is_canary(out)
    owned = 0 if "fails" in lies or "silent" in lies else values.exports.count("managed")
    assert values.deleted == owned


def test_another_version_in_an_owned_tensor_is_refused(library: ctypes.PyDLL) -> None:
    values = exchanged_type(library)(source(), major=2)
    with pytest.raises(pymluops.BadParamError, match="version 1, got version 2"):
        call(values)
    assert values.deleted == 1


@pytest.mark.parametrize("flag", [READ_ONLY, IS_COPIED])
def test_an_output_must_be_writable(library: ctypes.PyDLL, flag: int) -> None:
    memory = canary((1, 3, 4, 2), "float32")
    with pytest.raises(pymluops.BadParamError, match="out: expected a writable array"):
        call(source(), out=exchanged_type(library)(memory, flags=flag))
    assert is_canary(memory)
    assert_same_bits(call(exchanged_type(library)(source(), flags=flag)), EXPECTED)


def test_memory_that_ends_in_an_export_is_no_bad_argument(library: ctypes.PyDLL) -> None:
    with pytest.raises(pymluops.AllocFailedError, match="input"):
        call(exchanged_type(library)(source(), fails=MemoryError("full")))


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)], ids=repr)
def test_what_is_no_error_passes_through_an_export(library: ctypes.PyDLL, error: BaseException) -> None:
    with pytest.raises(type(error)):
        call(exchanged_type(library)(source(), fails=error))


@settings(max_examples=40, deadline=None)
@given(
    dims=st.lists(st.integers(0, 3), min_size=0, max_size=9),
    dtype=st.sampled_from(["float16", "float32", "int32", "int64", "bool", "complex64"]),
    order=st.randoms(use_true_random=False),
    offset=st.sampled_from([0, 8, 64]),
    as_torch=st.booleans(),
)
def test_any_tensor_is_described_as_it_is(
    library: ctypes.PyDLL, dims: list[int], dtype: str, order: Any, offset: int, as_torch: bool
) -> None:
    axes = list(range(len(dims)))
    order.shuffle(axes)
    array = np.zeros(dims, dtype).transpose(axes)[(..., *(slice(None, None, order.choice((1, 2))) for _ in dims))]
    kind = stand_in_for_torch(library).Tensor if as_torch else exchanged_type(library)
    if len(dims) > 8:
        with pytest.raises(pymluops.BadParamError):
            pymluops.TensorDescriptor.of(kind(array, offset=offset))
        return
    found = pymluops.TensorDescriptor.of(kind(array, offset=offset))
    assert (found.shape, found.dtype) == (array.shape, pymluops.TensorDescriptor.of(array).dtype)
    assert found.strides == tuple(stride // array.itemsize for stride in array.strides)


# ---- torch ---------------------------------------------------------------------------------------


def test_torch_in_torch_out(torch: Any) -> None:
    values, shifts = torch.Tensor(source()), torch.Tensor(SHIFTS)
    result = call(values, shifts)
    assert type(result) is torch.Tensor and torch.imported == 1
    assert_same_bits(result.array, EXPECTED)
    assert values.exports == shifts.exports == ["borrowed"]
    assert call(values, SHIFTS).array.ctypes.data % 64 == 0
    assert type(call(source(), shifts)) is np.ndarray  # the first argument decides
    for out in (torch.Tensor(canary((1, 3, 4, 2), "float32")), canary((1, 3, 4, 2), "float32")):
        assert call(values, shifts, out=out) is out
        assert_same_bits(getattr(out, "array", out), EXPECTED)


@pytest.mark.parametrize("options", [{"exchange": False}, {"imports": False}], ids=str)
def test_a_torch_without_the_exchange_api(
    library: ctypes.PyDLL, monkeypatch: pytest.MonkeyPatch, options: dict[str, bool]
) -> None:
    torch = stand_in_for_torch(library, **options)
    monkeypatch.setitem(sys.modules, "torch", torch)
    result = call(torch.Tensor(source()))
    assert type(result) is torch.Tensor and torch.imported == 0
    assert_same_bits(result.array, EXPECTED)


def test_a_subclass_of_tensor_gives_plain_tensors(torch: Any) -> None:
    parameter = type("Parameter", (torch.Tensor,), {"__dlpack__": Producer.__dlpack__})
    result = call(parameter(source()))
    assert type(result) is torch.Tensor
    assert_same_bits(result.array, EXPECTED)
    with pytest.raises(pymluops.BadParamError, match="does not require grad"):
        call(parameter(source(), requires_grad=True))


@pytest.mark.parametrize("state", ["requires_grad", "negated", "conjugated"])
@pytest.mark.parametrize("sub", [False, True])
def test_states_that_the_api_does_not_tell_are_refused(torch: Any, state: str, sub: bool) -> None:
    kind = type("Sub", (torch.Tensor,), {"__dlpack__": Producer.__dlpack__}) if sub else torch.Tensor
    text = {"requires_grad": "require grad", "negated": "negation", "conjugated": "conjugation"}[state]
    for name in ("input", "shifts", "out"):
        memory = canary((1, 3, 4, 2), "float32")
        arrays = {"input": source(), "shifts": SHIFTS, "out": memory}
        arguments = {key: (kind(array, **{state: True}) if key == name else array) for key, array in arrays.items()}
        with pytest.raises(pymluops.BadParamError, match=f"{MOVING.name}: {name}: expected a tensor .*{text}"):
            call(arguments["input"], arguments["shifts"], out=arguments["out"])
        assert is_canary(memory)


def test_named_tuples_hold_tensors(torch: Any) -> None:
    rows = np.array([[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 3]], np.int32)
    keywords: Any = {"batch_size": 1, "spatial_shape": (1, 1, 4), "kernel_size": (1, 1, 2), "stride": (1, 1, 2)}
    wanted = PAIRING.run(rows, **keywords)
    for backend in ("cpu", "sim"):
        with pymluops.Handle(backend) as handle:
            found = PAIRING.run(torch.Tensor(rows), **keywords, handle=handle)
            none = PAIRING.run(torch.Tensor(rows[:0]), **keywords, handle=handle)
        assert isinstance(found, pymluops.IndicePairs)
        for one, other in zip(found, wanted):
            assert type(one) is torch.Tensor
            assert_same_bits(one.array, other)
        assert [array.array.shape for array in none] == [(0, 4), (2, 2, 0), (2,)]
        assert not none.indice_num.array.any()


def test_tensors_on_the_simulator(torch: Any) -> None:
    with pymluops.Handle("sim") as handle:
        result = call(torch.Tensor(source()), handle=handle)
        assert type(result) is torch.Tensor
        assert_same_bits(result.array, EXPECTED)
        array = pymluops.DeviceArray.from_host(torch.Tensor(source()), "sim")
        assert type(call(array, torch.Tensor(SHIFTS), handle=handle)) is pymluops.DeviceArray
        memory = canary((1, 3, 4, 2), "float32")
        array.to_host(torch.Tensor(memory))
        assert_same_bits(memory, source())


def test_a_result_lives_as_long_as_its_tensor_and_then_is_recycled(torch: Any) -> None:
    set_pool_limit(0)
    set_pool_limit(64 << 20)
    try:
        values = np.full((2, 4, 8, 40_000), 3, np.float32)
        first = call(torch.Tensor(values), np.zeros((2, 2), np.int32))
        del values
        where, part = first.array.ctypes.data, first.array[1:]
        second = call(torch.Tensor(np.ones((2, 4, 8, 40_000), np.float32)), np.zeros((2, 2), np.int32))
        assert (part == 3).all() and (second.array == 1).all()
        before = pool_idle()
        del part, first
        gc.collect()
        assert pool_idle() > before
        third = call(torch.Tensor(np.ones((2, 4, 8, 40_000), np.float32)), np.zeros((2, 2), np.int32))
        assert third.array.ctypes.data == where
    finally:
        del second, third
        gc.collect()
        set_pool_limit(128 << 20)


def test_threads_that_drop_each_others_results(torch: Any) -> None:
    values, wrong, shared = torch.Tensor(source()), [], []

    def work() -> None:
        for _ in range(100):
            shared.append(call(values))
            if len(shared) > 8:
                result = shared.pop(0)
                if not np.array_equal(result.array, EXPECTED):
                    wrong.append(result)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_torch_is_not_imported() -> None:
    code = (
        "import sys, numpy as np, pymluops\n"
        "class Tensor:\n"
        "    def __init__(self, array): self.array = array\n"
        "    def __dlpack__(self, **k): return self.array.__dlpack__(**k)\n"
        "Tensor.__module__ = 'torch'\n"
        "shifts = np.zeros((1, 1), np.int32)\n"
        f"print(type(pymluops.{MOVING.name}(Tensor(np.zeros((1, 1, 1, 1), 'f')), shifts)).__name__)\n"
        "print('torch' in sys.modules)\n"
        "sys.modules['torch'] = None\n"  # what Python itself puts there to forbid an import
        f"print(type(pymluops.{MOVING.name}(Tensor(np.zeros((1, 1, 1, 1), 'f')), shifts)).__name__)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["ndarray", "False", "ndarray"]


def test_nothing_is_kept(torch: Any) -> None:
    values, shifts = torch.Tensor(source()), torch.Tensor(SHIFTS)
    call(values, shifts)
    values._alive.clear()
    shifts._alive.clear()
    gc.collect()
    before = sys.getrefcount(values), sys.getrefcount(torch.Tensor), sys.getrefcount(shifts)
    for _ in range(50):
        call(values, shifts)
        with pytest.raises(pymluops.BadParamError):
            call(values, values)
        values.exports.clear()
        values._alive.clear()
        shifts._alive.clear()
    gc.collect()
    after = sys.getrefcount(values), sys.getrefcount(torch.Tensor), sys.getrefcount(shifts)
    assert [b - a for a, b in zip(before, after)] == [0, 0, 0]
