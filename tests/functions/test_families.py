"""The operators through pymluops.functions: the bits of the Python operators, on the libraries that have them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import pymluops
from pymluops import DeviceArray, Layout, TensorDescriptor, functions
from support.arrays import canary
from support.comparison import assert_same_bits
from support.described_calls import OPERATORS, legal_call, on
from support.example import CHOOSING, GATHERING, MOVING, PAIRING


@pytest.fixture(params=["cpu", "sim"])
def backend(request: pytest.FixtureRequest) -> Iterator[pymluops.Backend]:
    with pymluops.use(request.param) as backend:
        yield backend


def expected_of(operator: str, seed: int) -> Any:
    call = legal_call(operator, seed)
    call.python()
    return call


def vendors(backend: str) -> list[str]:
    """The operators of a library that stand in the vendor's header, all of which `functions` has."""
    return [name for name in on(backend) if OPERATORS[name].c_function.startswith("mluOp")]


@pytest.mark.parametrize(
    ("backend", "operator"),
    [(name, operator) for name in ("cpu", "sim") for operator in vendors(name)],
    indirect=["backend"],
)
@pytest.mark.parametrize("seed", range(3))
def test_host_arrays(operator: str, seed: int, backend: pymluops.Backend) -> None:
    expected, call = expected_of(operator, seed), legal_call(operator, seed)
    function = getattr(functions, call.description.c_function)
    assert function(*call.by_parameter().values()) is None
    for name in call.arrays:
        assert_same_bits(call.arrays[name], expected.arrays[name])
    again = legal_call(operator, seed)
    function(**again.by_parameter())
    for name in again.arrays:
        assert_same_bits(again.arrays[name], expected.arrays[name])


@pytest.mark.parametrize("operator", vendors("sim"))
@pytest.mark.parametrize("mixed", [False, True])
def test_device_arrays(operator: str, mixed: bool) -> None:
    with pymluops.use("sim"), pymluops.Queue() as queue, pymluops.Handle(queue=queue) as handle:
        expected, call = expected_of(operator, 5), legal_call(operator, 5)
        on_device = {name: DeviceArray.from_host(array) for name, array in call.arrays.items()}
        if mixed:  # the first input stays in host memory
            on_device.pop(next(iter(call.arrays)))
        call.arrays |= on_device
        getattr(functions, OPERATORS[operator].c_function)(**call.by_parameter(), handle=handle)
        for name, array in on_device.items():
            assert_same_bits(array.to_host(), expected.arrays[name])


class Exporter:
    """An array that only DLPack can read."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


def test_dlpack(backend: pymluops.Backend) -> None:
    call = legal_call(MOVING.name, 1)
    MOVING.of(functions)(*map(Exporter, call.arrays.values()))
    assert_same_bits(call.arrays["out"], expected_of(MOVING.name, 1).arrays["out"])


def test_results_whose_sizes_depend_on_values(backend: pymluops.Backend) -> None:
    indices = np.array([[0, 1, 1, 1], [0, 1, 1, 2], [0, 3, 0, 0]], np.int32)
    geometry = {"spatial_shape": (4, 4, 4), "kernel_size": 3, "padding": 1}
    expected = PAIRING.run(indices, batch_size=1, **geometry)
    sparse = pymluops.SparseConvolutionDescriptor(1, (4, 4, 4), 3, (4, 4, 4), 1, 1)
    bare = functions.mluOpCreateSparseConvolutionDescriptor()
    threes = [[1] * 3, [1] * 3, [1] * 3, [4] * 3, [3] * 3, [4] * 3]
    functions.mluOpSetSparseConvolutionDescriptor(bare, 5, 1, *threes, 0, 0, 0)
    for descriptor in (sparse, bare):
        pairs, out = np.empty((27, 2, 3), np.int32), np.empty((64, 4), np.int32)
        number = np.empty(27, np.int32)
        PAIRING.of(functions)(descriptor, indices, pairs, out, number)
        count = functions.mluOpGetSparseConvolutionNumActOut(descriptor)
        assert_same_bits(out[:count], expected.out_indices)
        assert_same_bits(pairs, expected.indice_pairs)
        assert_same_bits(number, expected.indice_num)
        size = PAIRING.workspace_of(functions)(descriptor, indices, pairs, out, number)
        PAIRING.of(functions)(descriptor, indices, pairs, out, number, workspace=np.empty(size + 4, np.uint8)[:size])
        assert_same_bits(pairs, expected.indice_pairs)
    functions.mluOpDestroySparseConvolutionDescriptor(bare)
    assert bare.closed
    sparse.close()
    with pytest.raises(pymluops.NotInitializedError):
        functions.mluOpGetSparseConvolutionNumActOut(sparse)


def test_another_layout_is_refused_by_the_library(backend: pymluops.Backend) -> None:
    call = legal_call(CHOOSING.name, 2)
    x, y = call.arrays["x"], call.arrays["out"]
    wrong = TensorDescriptor(x.shape, "float32", Layout.NCHW)
    rest = call.numbers["h_mask"], call.numbers["w_mask"]
    with pytest.raises(pymluops.BadParamError, match="layout"):
        CHOOSING.of(functions)(0, (wrong, x), *rest, y)
    assert_same_bits(y, canary(y.shape, y.dtype))
    right = TensorDescriptor(x.shape, "float32", Layout.NHWC)
    CHOOSING.of(functions)(0, (right, x), *rest, y)


def test_arrays_are_let_go(backend: pymluops.Backend) -> None:
    """Also when a call is refused: a bytearray can be resized."""
    memory, shifts = bytearray(64), np.zeros((1, 1), np.int32)
    view = memoryview(memory).cast("f", (1, 2, 4, 2))
    out = np.empty((1, 2, 4, 2), np.float32)
    MOVING.of(functions)(view, shifts, out)
    with pytest.raises(pymluops.BadParamError) as caught:
        MOVING.of(functions)(view, shifts, np.empty(3, np.float32))
    view.release()
    memory.extend(b"more")
    assert caught.tb is not None  # the frames of the call are alive


def test_a_failing_kernel_is_an_error(backend: pymluops.Backend) -> None:
    call = legal_call(GATHERING.name, 3)
    closed = pymluops.Handle(backend)
    closed.close()
    with pytest.raises(pymluops.NotInitializedError, match="handle: is closed"):
        GATHERING.of(functions)(*call.arrays.values(), handle=closed)


def test_tensor_descriptors(backend: pymluops.Backend) -> None:
    with functions.mluOpCreateTensorDescriptor() as native:
        functions.mluOpSetTensorDescriptorEx_v2(native, Layout.NHWC, pymluops.DataType.HALF, 2, [3, 4], [8, 2])
        assert functions.mluOpGetTensorDescriptorEx_v2(native) == (Layout.NHWC, 1, 2, (3, 4), (8, 2))
        functions.mluOpSetTensorDescriptorPositionScaleAndOffset(native, 3, 0.5, -2)
        assert functions.mluOpGetTensorDescriptorPositionScaleAndOffset(native) == (3, 0.5, -2)
        functions.mluOpSetTensorDescriptorOnchipDataType(native, pymluops.DataType.INT8)
        assert functions.mluOpGetTensorDescriptorOnchipDataType(native) is pymluops.DataType.INT8
        functions.mluOpSetTensorDescriptorDim(native, 3, (1, 2, 3))
        assert functions.mluOpGetTensorElementNum(native) == 6
        for wrong in ((3, [1, 2]), (-1, []), (2, None)):
            with pytest.raises(pymluops.BadParamError):
                functions.mluOpSetTensorDescriptorDim(native, *wrong)
    with pytest.raises(pymluops.NotInitializedError):
        functions.mluOpGetTensorElementNum(native)


def test_groups_of_tensor_descriptors(backend: pymluops.Backend) -> None:
    group = functions.mluOpCreateGroupTensorDescriptors(3)
    functions.mluOpSetGroupTensorDescriptors(group, [4, 4, 1], [1, 2, 6], [1, 3, 2], [5, 2, 3, 4, 6, 7], 3)
    dims = [functions.mluOpGetTensorDescriptor_v2(member)[3] for member in group]
    assert dims == [(5,), (2, 3, 4), (6, 7)]
    with pytest.raises(pymluops.BadParamError, match="group_dimSize: expected a sequence"):
        functions.mluOpSetGroupTensorDescriptors(group, [4, 4, 1], [1, 2, 6], [1, 3, 2], [5, 2, 3, 4, 6], 3)
    with pytest.raises(pymluops.BadParamError, match=r"group_desc\[1\]"):
        functions.mluOpDestroyGroupTensorDescriptors([group[0], group[0], group[1]], 3)
    functions.mluOpDestroyGroupTensorDescriptors(group, 3)
    assert all(member.closed for member in group)
    with pytest.raises(pymluops.NotInitializedError):
        functions.mluOpDestroyGroupTensorDescriptors(group, 3)


def test_a_group_that_is_too_large(backend: pymluops.Backend) -> None:
    for count in (2**20 + 1, 2**31 - 1):
        with pytest.raises(pymluops.BadParamError, match="desc_num: expected at most"):
            functions.mluOpCreateGroupTensorDescriptors(count)
    for wrong in (None, 5, "12"):
        with pytest.raises(pymluops.BadParamError, match="setDimSize"):
            functions.TensorSetDescriptor(wrong)


def test_tensor_sets(backend: pymluops.Backend) -> None:
    with functions.TensorSetDescriptor([2, 3]) as group:
        assert functions.mluOpGetTensorSetDescriptor(group) == (2, (2, 3))
        for i in range(6):
            index = [i // 3, i % 3]
            functions.mluOpInitTensorSetMemberDescriptor(group, 2, index, Layout.ARRAY, 2, 1, [i + 1])
        assert functions.mluOpGetTensorSetDescriptorSize(group) == 4 * 21
        data = np.zeros(21, np.float32)
        member, address = functions.mluOpGetTensorAndDataFromTensorSet(group, 2, [1, 0], data)
        assert address == data.ctypes.data + 4 * 6
        assert functions.mluOpGetTensorElementNum(member) == 4
        with pytest.raises(pymluops.BadParamError, match="belongs to a TensorSetDescriptor"):
            member.close()
    with pytest.raises(pymluops.NotInitializedError):
        functions.mluOpGetTensorElementNum(member)
    large = functions.TensorSetDescriptor([1] * 200)
    assert functions.mluOpGetTensorSetDescriptor(large) == (200, (1,) * 200)


def test_sequence_data(backend: pymluops.Backend) -> None:
    lengths = list(range(1, 300))
    given = functions.SeqDataDescriptor(pymluops.enums.SeqDataLayout.NTC, 1, [3, 4], lengths, -1.5)
    layout, dtype, rank, dims, count, found, fill = functions.mluOpGetSeqDataDescriptor_v2(given)
    assert (layout, dtype, rank, dims, count) == (pymluops.enums.SeqDataLayout.NTC, 1, 2, (3, 4), 299)
    assert (found, fill) == (tuple(lengths), -1.5)
    with pytest.raises(pymluops.BadParamError, match="paddingFill: expected a number of type float16"):
        functions.SeqDataDescriptor(2, 1, [3, 4], lengths, 1e6)
    bfloat16 = pymluops.DataType.BFLOAT16
    for dtype, value, back in (
        (bfloat16, b"\x80\x3f", 1.0),
        (bfloat16, 1 + 2.0**-8, 1.0),  # ties go to even
        (bfloat16, 1 + 3 * 2.0**-8, 1 + 2.0**-6),
        (bfloat16, -np.inf, -np.inf),
        (pymluops.DataType.UINT8, 255, 255),
    ):
        given = functions.SeqDataDescriptor(2, dtype, [3, 4], [], value)
        assert functions.mluOpGetSeqDataDescriptor_v2(given)[-1] == back
    nothing = functions.SeqDataDescriptor(2, bfloat16, [3, 4], [], np.nan)
    assert np.isnan(functions.mluOpGetSeqDataDescriptor_v2(nothing)[-1])
    with pytest.raises(pymluops.BadParamError, match="paddingFill: expected a number of type bfloat16"):
        functions.SeqDataDescriptor(2, bfloat16, [3, 4], [], 3.4e38)  # rounds to infinity
