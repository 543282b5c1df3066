"""Tensor set, sequence data and sparse convolution descriptors."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from abi.c_objects import NEW_STATE, UNTOUCHED, RawAbi
from abi.derived import PROBLEMS
from abi.facts import BAD_PARAM, DTYPES, EXECUTION_FAILED, LAYOUTS, NOT_INITIALIZED, SUCCESS
from abi.operator_call import Call

# ---- tensor set ----------------------------------------------------------------------------------


def member(abi: RawAbi, tensor_set: Any, index: tuple[int, ...], data: int = 0x1000) -> tuple[Any, int]:
    desc, address = abi.out("mluOpTensorDescriptor_t", abi.null), abi.ffi.new("void **")
    base = abi.ffi.cast("void *", data)
    status = abi.lib.mluOpGetTensorAndDataFromTensorSet(tensor_set, len(index), abi.ints(index), base, desc, address)
    assert status == SUCCESS, abi.reason()
    return desc[0], int(abi.ffi.cast("intptr_t", address[0]))


def init_member(
    abi: RawAbi, tensor_set: Any, index: tuple[int, ...], dims: tuple[int, ...], dtype: str = "FLOAT"
) -> int:
    return abi.lib.mluOpInitTensorSetMemberDescriptor(
        tensor_set, len(index), abi.ints(index), abi.layout("NHWC"), abi.dtype(dtype), len(dims), abi.ints(dims)
    )


def size_of(abi: RawAbi, tensor_set: Any) -> int:
    size = abi.out("int")
    assert abi.lib.mluOpGetTensorSetDescriptorSize(tensor_set, size) == SUCCESS
    return size[0]


def test_set_shape(abi: RawAbi) -> None:
    rank, dims = abi.out("int"), abi.ints([-1] * 4)
    assert abi.lib.mluOpGetTensorSetDescriptor(abi.tensor_set((2, 3)), rank, dims) == SUCCESS
    assert (rank[0], list(dims[0:4])) == (2, [2, 3, -1, -1])


def test_set_members(abi: RawAbi) -> None:
    """Members are independent, lie one after another, and the last index runs fastest."""
    tensor_set = abi.tensor_set((2, 3))
    assert size_of(abi, tensor_set) == 0
    offset, addresses = 0, {}
    for row, column in itertools.product(range(2), range(3)):
        dtype = "HALF" if column == 1 else "FLOAT"
        assert init_member(abi, tensor_set, (row, column), (row + 1, column + 2), dtype) == SUCCESS
        addresses[row, column] = 0x1000 + offset
        offset += (row + 1) * (column + 2) * (2 if column == 1 else 4)
    assert size_of(abi, tensor_set) == offset
    seen = set()
    for index, address in addresses.items():
        desc, found = member(abi, tensor_set, index)
        assert found == address
        state = abi.state(desc)
        assert (state.dims, state.layout) == ((index[0] + 1, index[1] + 2), LAYOUTS["NHWC"])
        seen.add(int(abi.ffi.cast("intptr_t", desc)))
    assert len(seen) == 6


def test_set_position_and_scale(abi: RawAbi) -> None:
    tensor_set = abi.tensor_set((2, 2))
    status = abi.lib.mluOpInitTensorSetMemberDescriptorPositionAndScale(tensor_set, 2, abi.ints((1, 0)), -3, 0.5)
    assert status == SUCCESS
    for index in itertools.product(range(2), range(2)):
        state = abi.state(member(abi, tensor_set, index)[0])
        assert (state.position, state.scale) == ((-3, 0.5) if index == (1, 0) else (0, 1.0))


@pytest.mark.parametrize("dims", [(), (0,), (-1,), (2, 0), (2, -3), (2**20, 2**20)])
def test_set_needs_members(abi: RawAbi, dims: tuple[int, ...]) -> None:
    slot = abi.ffi.new("mluOpTensorSetDescriptor_t *")
    assert abi.lib.mluOpCreateTensorSetDescriptor(slot, len(dims), abi.ints(dims)) == BAD_PARAM
    assert slot[0] == abi.null
    assert abi.lib.mluOpCreateTensorSetDescriptor(slot, -1, abi.ints((2,))) == BAD_PARAM


@pytest.mark.parametrize("index", [(1,), (1, 1, 1), (), (2, 0), (0, 3), (-1, 0), (0, -1), (2**31 - 1, 0)])
def test_set_index_must_fit(abi: RawAbi, index: tuple[int, ...]) -> None:
    tensor_set = abi.tensor_set((2, 3))
    assert init_member(abi, tensor_set, index, (4,)) == BAD_PARAM
    status = abi.lib.mluOpInitTensorSetMemberDescriptorPositionAndScale(tensor_set, len(index), abi.ints(index), 1, 1.0)
    assert status == BAD_PARAM
    desc, address = abi.out("mluOpTensorDescriptor_t", abi.null), abi.ffi.new("void **")
    base = abi.ffi.cast("void *", 0x1000)
    status = abi.lib.mluOpGetTensorAndDataFromTensorSet(tensor_set, len(index), abi.ints(index), base, desc, address)
    assert status == BAD_PARAM
    assert (desc[0], address[0]) == (abi.null, abi.null)
    assert size_of(abi, tensor_set) == 0


def test_set_of_too_many_members_is_refused(abi: RawAbi) -> None:
    slot = abi.out("mluOpTensorSetDescriptor_t", abi.null)
    assert abi.lib.mluOpCreateTensorSetDescriptor(slot, 3, abi.ints((1 << 10, 1 << 10, 2))) == BAD_PARAM
    assert slot[0] == abi.null


def test_members_belong_to_their_set(abi: RawAbi) -> None:
    """Destroying a member would let the set destroy whatever takes its place."""
    tensor_set = abi.tensor_set((2, 2))
    desc, _ = member(abi, tensor_set, (1, 0))
    assert abi.lib.mluOpDestroyTensorDescriptor(desc) == BAD_PARAM
    assert "tensor set" in abi.reason()
    slot = abi.ffi.new("mluOpTensorDescriptor_t *", desc)
    group = abi.ffi.new("mluOpTensorDescriptor_t *[]", [slot])
    assert abi.lib.mluOpDestroyGroupTensorDescriptors(group, 1) == BAD_PARAM
    assert abi.state(desc) == NEW_STATE


def test_set_maps_inner_refusals(abi: RawAbi) -> None:
    tensor_set = abi.tensor_set((2,))
    assert init_member(abi, tensor_set, (1,), (2, 3)) == SUCCESS
    for dims in ((-2,), (1,) * 9, ()):
        assert init_member(abi, tensor_set, (1,), dims) == BAD_PARAM
        assert abi.reason().startswith("mluOpInitTensorSetMemberDescriptor: ")
    assert abi.state(member(abi, tensor_set, (1,))[0]).dims == (2, 3)
    assert abi.state(member(abi, tensor_set, (0,))[0]) == NEW_STATE


def test_set_size_past_31_bits_is_refused(abi: RawAbi) -> None:
    """The size is an int; what does not fit is not cut off."""
    tensor_set = abi.tensor_set((2,))
    for i in range(2):
        assert init_member(abi, tensor_set, (i,), (2**28,)) == SUCCESS
    size = abi.out("int")
    assert abi.lib.mluOpGetTensorSetDescriptorSize(tensor_set, size) == BAD_PARAM
    assert size[0] == UNTOUCHED


# ---- sequence data -------------------------------------------------------------------------------


def set_seq(abi: RawAbi, desc: Any, **changes: Any) -> int:
    values: dict[str, Any] = {
        "layout": 2, "dtype": "FLOAT", "rank": 3, "dims": (2, 3, 4), "count": 2, "lengths": (3, 1), "padding": None,
    }  # fmt: skip
    assert changes.keys() <= values.keys()
    values.update(changes)
    return abi.lib.mluOpSetSeqDataDescriptor_v2(
        desc,
        abi.enum("mluOpSeqDataLayout_t", values["layout"]),
        abi.dtype(values["dtype"]),
        values["rank"],
        abi.null if values["dims"] is None else abi.longs(values["dims"]),
        values["count"],
        abi.null if values["lengths"] is None else abi.ints(values["lengths"]),
        abi.null if values["padding"] is None else values["padding"],
    )


def get_seq(abi: RawAbi, desc: Any) -> tuple[Any, ...]:
    layout, dtype, rank = abi.out("mluOpSeqDataLayout_t"), abi.out("mluOpDataType_t"), abi.out("int")
    dims, count, lengths = abi.longs([0] * 8), abi.out("int64_t"), abi.longs([0] * 8)
    padding = abi.ffi.new("uint32_t *", UNTOUCHED)
    status = abi.lib.mluOpGetSeqDataDescriptor_v2(desc, layout, dtype, rank, dims, count, lengths, padding)
    assert status == SUCCESS
    return (
        int(layout[0]), int(dtype[0]), tuple(dims[0 : rank[0]]), tuple(lengths[0 : count[0]]), padding[0]
    )  # fmt: skip


def test_seq_data_round_trip(abi: RawAbi) -> None:
    desc = abi.seq_data()
    padding = abi.ffi.new("uint32_t *", 0x40490FDB)
    assert set_seq(abi, desc, dims=(2, 3, 2**40), padding=padding) == SUCCESS
    assert get_seq(abi, desc) == (2, DTYPES["FLOAT"], (2, 3, 2**40), (3, 1), 0x40490FDB)


def test_seq_data_without_lengths_and_padding(abi: RawAbi) -> None:
    desc = abi.seq_data()
    assert set_seq(abi, desc, count=0, lengths=None) == SUCCESS
    assert get_seq(abi, desc)[:4] == (2, DTYPES["FLOAT"], (2, 3, 4), ())


def test_seq_data_padding_is_one_element(abi: RawAbi) -> None:
    desc = abi.seq_data()
    assert set_seq(abi, desc, dtype="HALF", padding=abi.ffi.new("uint32_t *", 0x12345678)) == SUCCESS
    assert get_seq(abi, desc)[4] == (UNTOUCHED & 0xFFFF0000) | 0x5678


@pytest.mark.parametrize(
    "changes",
    [
        {"dims": None},
        {"layout": -1},
        {"dtype": -1},
        {"rank": 0},
        {"rank": -1},
        {"rank": 9, "dims": (1,) * 9},
        {"count": -1},
        {"count": -(2**31)},
        {"lengths": None},
        {"dims": (2, -3, 4)},
        {"lengths": (3, 0)},
        {"lengths": (-1, 3)},
    ],
    ids=str,
)
def test_seq_data_refusals_change_nothing(abi: RawAbi, changes: dict[str, Any]) -> None:
    desc = abi.seq_data()
    assert set_seq(abi, desc, layout=5, dims=(7, 8, 9), lengths=(4, 5)) == SUCCESS
    before = get_seq(abi, desc)
    assert set_seq(abi, desc, **changes) == BAD_PARAM
    assert abi.reason().startswith("mluOpSetSeqDataDescriptor_v2: ")
    assert get_seq(abi, desc) == before


def test_seq_data_padding_needs_dtype(abi: RawAbi) -> None:
    desc = abi.seq_data()
    assert set_seq(abi, desc) == SUCCESS
    null, padding = abi.null, abi.ffi.new("uint32_t *")
    assert abi.lib.mluOpGetSeqDataDescriptor_v2(desc, null, null, null, null, null, null, padding) == BAD_PARAM
    assert abi.lib.mluOpGetSeqDataDescriptor_v2(desc, null, null, null, null, null, null, null) == SUCCESS


# ---- sparse convolution --------------------------------------------------------------------------

SPARSE_REFUSED: list[dict[str, Any]] = [
    *({"dimNb": number} for number in (4, 3, 6, 0, -1, 2**31 - 1)),
    *({"batch_size": number} for number in (0, -1, -(2**31))),
    *({"transpose": number} for number in (1, -1)),
    *({"inverse": number} for number in (1, -1)),
    *({"pad": three} for three in ((-1, 0, 0), (0, -1, 0), (0, 0, -1))),
    *(
        {name: tuple(value if at == axis else 1 for at in range(3))}
        for name in ("stride", "dilation", "input_space", "filter_space", "output_space")
        for axis, value in itertools.product(range(3), (0, -1))
    ),
]


def test_sparse_new_state(abi: RawAbi) -> None:
    assert abi.num_act_out(abi.sparse()) == 0


@pytest.mark.parametrize("changes", SPARSE_REFUSED, ids=str)
def test_sparse_refusals(abi: RawAbi, changes: dict[str, Any]) -> None:
    desc = abi.sparse()
    assert abi.set_sparse(desc, **changes) == BAD_PARAM
    assert abi.reason().startswith("mluOpSetSparseConvolutionDescriptor: ")


@pytest.mark.parametrize("changes", SPARSE_REFUSED, ids=str)
def test_sparse_refusal_changes_nothing(abi: RawAbi, changes: dict[str, Any]) -> None:
    """After a refused Set the operator still answers as before it; the other fields of the refused call are new."""
    problem = next(made for made in (make() for make in PROBLEMS.values()) if "sparse_conv_desc" in made.settings)
    wanted = Call(abi, problem)
    assert wanted.run() == SUCCESS
    call = Call(abi, problem)
    others = {"batch_size": 1, "pad": (0, 0, 0), "filter_space": (1, 1, 1), "stride": (2, 2, 2)}
    assert abi.set_sparse(call.settings["sparse_conv_desc"], **{**others, **changes}) == BAD_PARAM
    assert call.run() == SUCCESS, abi.reason()
    for name in problem.tensors:
        assert (call.result(name) == wanted.result(name)).all()


def test_sparse_order_of_checks(abi: RawAbi) -> None:
    """With everything wrong at once, mending the blamed argument leads down the documented list."""
    bad: dict[str, Any] = {
        "dimNb": 4, "batch_size": 0, "transpose": 1, "inverse": 1, "pad": (-1,) * 3, "stride": (0,) * 3,
        "dilation": (0,) * 3, "input_space": (0,) * 3, "filter_space": (0,) * 3, "output_space": (0,) * 3,
    }  # fmt: skip
    desc = abi.sparse()
    for name in list(bad):
        assert abi.set_sparse(desc, **bad) == BAD_PARAM
        assert abi.reason().split(": ")[1].startswith(name), abi.reason()
        del bad[name]
    assert abi.set_sparse(desc, **bad) == SUCCESS


@pytest.mark.parametrize("sub_m", [0, 1, 7, -1])
def test_sparse_any_sub_m_is_stored(abi: RawAbi, sub_m: int) -> None:
    assert abi.set_sparse(abi.sparse(), sub_m=sub_m) == SUCCESS


def test_sparse_output_space_is_taken_as_given(abi: RawAbi) -> None:
    assert abi.set_sparse(abi.sparse(), input_space=(4, 4, 4), output_space=(99, 1, 7)) == SUCCESS


def test_sparse_statuses_of_null_and_foreign(abi: RawAbi) -> None:
    assert abi.lib.mluOpCreateSparseConvolutionDescriptor(abi.null) == NOT_INITIALIZED
    assert abi.lib.mluOpDestroySparseConvolutionDescriptor(abi.null) == EXECUTION_FAILED
    tensor, number = abi.tensor((1,)), abi.out("int")
    foreign = abi.ffi.cast("mluOpSparseConvolutionDescriptor_t", tensor)
    assert abi.lib.mluOpGetSparseConvolutionNumActOut(foreign, number) == BAD_PARAM
    assert abi.set_sparse(foreign) == BAD_PARAM
    assert abi.lib.mluOpDestroySparseConvolutionDescriptor(foreign) == BAD_PARAM
    assert number[0] == UNTOUCHED
    assert abi.state(tensor).dims == (1,)
