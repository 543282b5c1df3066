"""Objects of a library that another argument, or another thread, changes between their check and the call."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import pymluops
from functions.changing import Exporter, Number
from pymluops import functions as f
from pymluops.enums import DataType, Layout, PointerMode
from support.example import MOVING, SAMPLING

FLOAT = DataType.FLOAT


@pytest.fixture(params=["cpu", "sim"])
def backend(request: pytest.FixtureRequest) -> Iterator[pymluops.Backend]:
    with pymluops.use(request.param) as library:
        yield library


def described(*dims: int, layout: Layout = Layout.ARRAY, dtype: DataType = FLOAT) -> f.NativeTensorDescriptor:
    made = f.NativeTensorDescriptor()
    f.mluOpSetTensorDescriptor(made, layout, dtype, len(dims), dims)
    return made


def larger(descriptor: f.NativeTensorDescriptor, *dims: int, layout: Layout = Layout.ARRAY) -> Callable[[], object]:
    return lambda: f.mluOpSetTensorDescriptor(descriptor, layout, FLOAT, len(dims), dims)


# ---- Tensor descriptors --------------------------------------------------------------------------


def test_an_input_keeps_its_dims(backend: pymluops.Backend) -> None:
    descriptor = described(1, 1, 4, 1)
    frames, out = np.ones((1, 1, 4, 1), np.float32), np.zeros((1, 1, 4, 1), np.float32)
    shifts = Exporter(np.zeros((1, 4), np.int32), larger(descriptor, 1, 4000, 4, 1))
    MOVING.of(f)((descriptor, frames), shifts, out)
    assert (out == 1).all()
    assert f.mluOpGetTensorDescriptor(descriptor)[3] == (1, 4000, 4, 1)
    f.mluOpSetTensorDescriptor(descriptor, Layout.ARRAY, FLOAT, 4, [1, 1, 4, 1])
    with pytest.raises(pymluops.BadParamError, match="output_desc: expected the shape of input"):
        MOVING.of(f)((descriptor, frames), shifts, np.zeros((1, 4000, 4, 1), np.float32))


def test_an_output_keeps_its_dims(backend: pymluops.Backend) -> None:
    count = 50
    descriptor = described(1, 1, 4, 1, layout=Layout.NHWC)
    memory = np.full(4 * count, 7, np.float32)
    features, boxes = np.ones((1, 4, 4, 4), np.float32), np.tile(np.array([0, 0, 2, 2], np.float32), (1, count, 1))
    argmax = Exporter(np.zeros((1, count, 4, 1), np.int32), larger(descriptor, 1, count, 4, 1, layout=Layout.NHWC))
    with pytest.raises(pymluops.BadParamError, match="output_desc: expected dim 1"):
        SAMPLING.of(f)(features, boxes, 3, (descriptor, memory[:4]), argmax)
    assert (memory == 7).all()


def test_a_member_of_a_set_keeps_its_dims_and_needs_its_set(backend: pymluops.Backend) -> None:
    group = f.TensorSetDescriptor([1])
    f.mluOpInitTensorSetMemberDescriptor(group, 1, [0], Layout.ARRAY, FLOAT, 4, [1, 1, 4, 1])
    member, _ = f.mluOpGetTensorAndDataFromTensorSet(group, 1, [0], np.zeros(4, np.float32))

    def grow() -> None:
        f.mluOpInitTensorSetMemberDescriptor(group, 1, [0], Layout.ARRAY, FLOAT, 4, [1, 4000, 4, 1])

    frames, out = np.ones((1, 1, 4, 1), np.float32), np.zeros((1, 1, 4, 1), np.float32)
    MOVING.of(f)((member, frames), Exporter(np.zeros((1, 4), np.int32), grow), out)
    assert (out == 1).all()
    group.close()
    with pytest.raises(pymluops.NotInitializedError, match=f"{MOVING.function}: its TensorSetDescriptor"):
        MOVING.of(f)((member, frames), np.zeros((1, 4), np.int32), out)


def test_a_descriptor_may_be_closed_meanwhile(backend: pymluops.Backend) -> None:
    descriptor = described(1, 1, 4, 1)
    out = np.zeros((1, 1, 4, 1), np.float32)

    def replace() -> None:
        descriptor.close()
        kept.extend(described(1, 4000, 4, 1) for _ in range(3))  # these get the memory of the closed one

    kept: list[f.NativeTensorDescriptor] = []
    shifts = Exporter(np.zeros((1, 4), np.int32), replace)
    MOVING.of(f)((descriptor, np.ones((1, 1, 4, 1), np.float32)), shifts, out)
    assert (out == 1).all()
    with pytest.raises(pymluops.NotInitializedError, match=f"{MOVING.function}: input: is closed"):
        MOVING.of(f)((descriptor, out), np.zeros((1, 4), np.int32), out)


def test_a_value_of_python_is_read_once(backend: pymluops.Backend) -> None:
    """A TensorDescriptor is immutable, but a class derived from it may say something else each time."""

    class Growing(pymluops.TensorDescriptor):
        asked = 0

        @property
        def shape(self) -> tuple[int, ...]:
            type(self).asked += 1
            return (1, 1, 4, 1) if self.asked == 1 else (1, 4000, 4, 1)

    value, out = Growing((1, 1, 4, 1), "float32"), np.zeros((1, 1, 4, 1), np.float32)
    MOVING.of(f)((value, np.ones((1, 1, 4, 1), np.float32)), np.zeros((1, 4), np.int32), out)
    assert Growing.asked == 1
    assert (out == 1).all()


@pytest.mark.thorough
def test_a_thread_that_sets_a_descriptor(backend: pymluops.Backend) -> None:
    descriptor, problems, stop = described(1, 1, 4, 1), [], time.monotonic() + 2
    large, small = larger(descriptor, 1, 4000, 4, 1), larger(descriptor, 1, 1, 4, 1)

    def set_it() -> None:
        while time.monotonic() < stop:
            large()
            small()

    def call() -> None:
        frames, out = np.ones((1, 1, 4, 1), np.float32), np.zeros((1, 4000, 4, 1), np.float32)
        while time.monotonic() < stop:
            try:
                MOVING.of(f)((descriptor, frames), np.zeros((1, 4), np.int32), out)
                problems.append("16 bytes were read as 64000")
            except pymluops.BadParamError as error:
                if "expected the shape of input" not in str(error) and "as described" not in str(error):
                    problems.append(str(error))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work) for work in (set_it, call, call)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not problems


def scalar(mode: PointerMode) -> f.NativeTensorDescriptor:
    made = f.NativeTensorDescriptor()
    f.mluOpSetTensorDescriptorPointerMode(made, PointerMode.HOST)
    f.mluOpSetTensorDescriptor(made, Layout.NCHW, DataType.INT16, 0, [])
    f.mluOpSetTensorDescriptorPointerMode(made, mode)
    return made


def strided() -> f.NativeTensorDescriptor:
    made = f.NativeTensorDescriptor()
    f.mluOpSetTensorDescriptorEx_v2(made, Layout.NLC, DataType.HALF, 3, [2, 3, 2**33], [-(2**40), 7, 0])
    return made


def quantised() -> f.NativeTensorDescriptor:
    made = described(2, 0, 3, layout=Layout.NTC, dtype=DataType.INT8)
    f.mluOpSetTensorDescriptorPointerMode(made, PointerMode.HOST)
    f.mluOpSetTensorDescriptorOnchipDataType(made, DataType.INT31)
    f.mluOpSetTensorDescriptorPositionScaleAndOffset(made, -3, 0.25, 9)
    return made


@pytest.mark.parametrize(
    "make",
    [
        f.NativeTensorDescriptor,
        lambda: scalar(PointerMode.HOST),
        lambda: scalar(PointerMode.DEVICE),
        strided,
        quantised,
        lambda: described(1, 2, 3, 4, 5, 6, 7, 8, dtype=DataType.COMPLEX_FLOAT),
    ],
)
def test_a_copy_holds_everything(backend: pymluops.Backend, make: Callable[[], f.NativeTensorDescriptor]) -> None:
    given, copy = make(), f.NativeTensorDescriptor.unset()
    dtype, dims, strides = pymluops._core.copy_tensor_descriptor(MOVING.of(f), given, copy)
    getters = [
        f.mluOpGetTensorDescriptorEx_v2,
        f.mluOpGetTensorDescriptorPointerMode,
        f.mluOpGetTensorDescriptorOnchipDataType,
        f.mluOpGetTensorDescriptorPositionScaleAndOffset,
        f.mluOpGetTensorElementNum,
    ]
    for getter in getters:
        assert getter(copy) == getter(given), getter.name
    assert (dtype, dims, strides) == (getters[0](given)[1], *getters[0](given)[3:])
    given.close()
    assert getters[0](copy)[3] == dims


# ---- Groups --------------------------------------------------------------------------------------


def test_a_member_of_a_group_that_is_closed_meanwhile(backend: pymluops.Backend) -> None:
    group = f.mluOpCreateGroupTensorDescriptors(2)
    others: list[f.NativeTensorDescriptor] = []

    def replace() -> None:
        if not others:
            group[1].close()
            others.extend(f.NativeTensorDescriptor() for _ in range(3))

    dims = [Number(5, replace), 6]
    with pytest.raises(pymluops.NotInitializedError, match="is closed"):
        f.mluOpSetGroupTensorDescriptors(group, [4, 4], [1, 1], [1, 1], dims, 2)
    assert [f.mluOpGetTensorElementNum(other) for other in others] == [0, 0, 0]
    assert f.mluOpGetTensorElementNum(group[0]) == 0


def test_groups_take_time_in_proportion_to_their_size(backend: pymluops.Backend) -> None:
    count = 30000
    start = time.monotonic()
    group = f.mluOpCreateGroupTensorDescriptors(count)
    f.mluOpSetGroupTensorDescriptors(group, [Layout.ARRAY] * count, [FLOAT] * count, [1] * count, range(count), count)
    assert f.mluOpGetTensorElementNum(group[-1]) == count - 1
    f.mluOpDestroyGroupTensorDescriptors(group, count)
    assert time.monotonic() - start < 10  # comparing all pairs takes half a minute and more


# ---- Settings ------------------------------------------------------------------------------------


def test_sequence_data_cannot_get_longer_between_two_questions(
    backend: pymluops.Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = f.SeqDataDescriptor(pymluops.enums.SeqDataLayout.NTC, FLOAT, [3, 4], [5, 6])
    ask, refused = pymluops._core.call_function, []

    def ask_and_set(caller: Any, *arguments: Any) -> None:
        ask(caller, *arguments)
        if caller.name == "mluOpGetSeqDataDescriptor_v2":
            with pytest.raises(pymluops.BadParamError, match="cannot be changed while another call uses it") as caught:
                f.mluOpSetSeqDataDescriptor_v2(data, 1, FLOAT, 2, [3, 4], 5000, [1] * 5000, None)
            refused.append(caught)

    monkeypatch.setattr(pymluops._core, "call_function", ask_and_set)
    assert f.mluOpGetSeqDataDescriptor_v2(data)[5] == (5, 6)
    monkeypatch.undo()
    assert len(refused) == 2
    f.mluOpSetSeqDataDescriptor_v2(data, 1, FLOAT, 2, [3, 4], 1, [7], None)


def test_settings_that_an_argument_closes(backend: pymluops.Backend) -> None:
    class Settings(pymluops._core.SettingsDescriptor):
        """A carafe descriptor."""

    settings, others = Settings(), []
    settings._create("Carafe", backend)

    def replace() -> int:
        settings.close()
        for _ in range(3):
            others.append(Settings())
            others[-1]._create("Carafe", backend)
        return 3

    with pytest.raises(pymluops.NotInitializedError, match="is closed"):
        settings._set("mluOpSetCarafeDescriptor", 4, Number(3, replace), 1, 2)
