"""The tensor descriptor: state, setters, getters, and what each of them refuses."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import pytest

from abi.c_objects import NEW_STATE, UNTOUCHED, RawAbi, packed
from abi.facts import BAD_PARAM, DTYPE_BYTES, DTYPES, LAYOUTS, SUCCESS

SETTERS = ["", "_v2", "Ex", "Ex_v2", "Dim", "Dim_v2"]
STRIDED = ("Ex", "Ex_v2")


def set_dims(
    abi: RawAbi,
    desc: Any,
    setter: str,
    dims: Sequence[int] | None,
    *,
    dtype: str | int = "HALF",
    layout: str | int = "NHWC",
    rank: int | None = None,
    strides: Sequence[int] | str | None = "packed",
) -> int:
    """Call one of the six setters; `dims` or `strides` None is NULL."""
    make = abi.longs if setter.endswith("_v2") else abi.ints
    number = len(dims or ()) if rank is None else rank
    arguments = [number, abi.null if dims is None else make(dims)]
    if not setter.startswith("Dim"):
        arguments = [abi.layout(layout), abi.dtype(dtype), *arguments]
    if setter in STRIDED:
        steps = packed(dims or ()) if strides == "packed" else strides
        arguments.append(abi.null if steps is None else make(steps))
    return getattr(abi.lib, "mluOpSetTensorDescriptor" + setter)(desc, *arguments)


@pytest.fixture
def filled(abi: RawAbi) -> Any:
    """A descriptor in which every field differs from a new one's."""
    desc = abi.tensor((2, 3, 4), "INT16", "NCHW", strides=(100, 20, 2))
    assert abi.lib.mluOpSetTensorDescriptorOnchipDataType(desc, abi.dtype("INT8")) == SUCCESS
    assert abi.lib.mluOpSetTensorDescriptorPositionScaleAndOffset(desc, -4, 0.25, 17) == SUCCESS
    assert abi.lib.mluOpSetTensorDescriptorPointerMode(desc, abi.lib.MLUOP_POINTER_MODE_HOST) == SUCCESS
    return desc


def test_new_state(abi: RawAbi) -> None:
    assert abi.state(abi.tensor()) == NEW_STATE


def test_reset_gives_the_state_of_a_new_one(abi: RawAbi, filled: Any) -> None:
    assert abi.state(filled) == (
        LAYOUTS["NCHW"], DTYPES["INT16"], (2, 3, 4), (100, 20, 2), 24, DTYPES["INT8"], 0, -4, 0.25, 17
    )  # fmt: skip
    assert abi.lib.mluOpResetTensorDescriptor(filled) == SUCCESS
    assert abi.state(filled) == NEW_STATE


# ---- what a setter stores ------------------------------------------------------------------------


@pytest.mark.parametrize("setter", SETTERS)
@pytest.mark.parametrize("dims", [(7,), (2, 3), (5, 1, 3, 2), (1, 2, 3, 4, 5, 6, 7, 8), (2, 0, 3), (0,), (1, 1, 1)])
def test_stored_values(abi: RawAbi, setter: str, dims: tuple[int, ...]) -> None:
    desc = abi.tensor((9, 9), "INT8", "NTC")
    assert set_dims(abi, desc, setter, dims) == SUCCESS
    state = abi.state(desc)
    assert (state.dims, state.strides) == (dims, packed(dims))
    elements = 1
    for dim in dims:
        elements *= dim
    assert state.elements == elements
    kept = ("NTC", "INT8") if setter.startswith("Dim") else ("NHWC", "HALF")
    assert (state.layout, state.dtype) == (LAYOUTS[kept[0]], DTYPES[kept[1]])


@pytest.mark.parametrize("setter", STRIDED)
@pytest.mark.parametrize("strides", [(12, 4, 1), (100, 20, 2), (0, 0, 0), (-12, -4, -1), (1, 1, 1)])
def test_strides_are_stored_as_given(abi: RawAbi, setter: str, strides: tuple[int, ...]) -> None:
    desc = abi.tensor()
    assert set_dims(abi, desc, setter, (2, 3, 4), strides=strides) == SUCCESS
    state = abi.state(desc)
    assert (state.dims, state.strides, state.elements) == ((2, 3, 4), strides, 24)


def test_strides_of_64_bits(abi: RawAbi) -> None:
    desc = abi.tensor()
    strides = (2**62, -(2**62))
    assert set_dims(abi, desc, "Ex_v2", (2, 2), strides=strides) == SUCCESS
    assert abi.state(desc).strides == strides


@pytest.mark.parametrize("setter", SETTERS)
def test_other_fields_survive_a_set(abi: RawAbi, filled: Any, setter: str) -> None:
    before = abi.state(filled)
    assert set_dims(abi, filled, setter, (8, 8)) == SUCCESS
    after = abi.state(filled)
    assert after[5:] == before[5:]
    assert after.dims == (8, 8)


@pytest.mark.parametrize("setter", SETTERS)
def test_a_set_after_strides_packs_again(abi: RawAbi, filled: Any, setter: str) -> None:
    assert set_dims(abi, filled, setter, (2, 3, 4)) == SUCCESS
    assert abi.state(filled).strides == (12, 4, 1)


@pytest.mark.parametrize("dtype", [*DTYPES, 10, 18, 12345])
def test_every_dtype_is_accepted(abi: RawAbi, dtype: str | int) -> None:
    desc = abi.tensor()
    assert set_dims(abi, desc, "", (2,), dtype=dtype) == SUCCESS
    assert abi.state(desc).dtype == (DTYPES[dtype] if isinstance(dtype, str) else dtype)


@pytest.mark.parametrize("layout", [*LAYOUTS, 11, 12345])
def test_every_layout_is_accepted(abi: RawAbi, layout: str | int) -> None:
    desc = abi.tensor()
    assert set_dims(abi, desc, "", (2,), layout=layout) == SUCCESS
    assert abi.state(desc).layout == (LAYOUTS[layout] if isinstance(layout, str) else layout)


# ---- scalars -------------------------------------------------------------------------------------


@pytest.mark.parametrize("setter", SETTERS)
def test_scalar_needs_pointer_mode_host(abi: RawAbi, setter: str) -> None:
    desc = abi.tensor((2, 3))
    before = abi.state(desc)
    assert set_dims(abi, desc, setter, ()) == BAD_PARAM
    assert abi.state(desc) == before
    abi.lib.mluOpSetTensorDescriptorPointerMode(desc, abi.lib.MLUOP_POINTER_MODE_HOST)
    assert set_dims(abi, desc, setter, ()) == SUCCESS
    state = abi.state(desc)
    assert (state.dims, state.strides, state.elements) == ((), (), 1)


@pytest.mark.parametrize("setter", SETTERS)
def test_scalar_needs_no_arrays(abi: RawAbi, setter: str) -> None:
    """The test of the pointer mode comes before that of the arrays, and a scalar reads none."""
    desc = abi.tensor((2, 3))
    assert set_dims(abi, desc, setter, None, rank=0, strides=None) == BAD_PARAM
    assert ": dimNb: " in abi.reason()
    abi.lib.mluOpSetTensorDescriptorPointerMode(desc, abi.lib.MLUOP_POINTER_MODE_HOST)
    assert set_dims(abi, desc, setter, None, rank=0, strides=None) == SUCCESS
    assert abi.lib.mluOpGetTensorElementNum(desc) == 1


# ---- refusals ------------------------------------------------------------------------------------

REFUSED: dict[str, dict[str, Any]] = {
    "layout negative": {"dims": (2, 3), "layout": -1},
    "layout very negative": {"dims": (2, 3), "layout": -(2**31)},
    "dtype negative": {"dims": (2, 3), "dtype": -1},
    "no dims under DEVICE": {"dims": (), "mode": 1},
    "rank negative": {"dims": (2, 3), "rank": -1},
    "rank very negative": {"dims": (2, 3), "rank": -(2**31)},
    "9 dims": {"dims": (1,) * 9},
    "100 dims": {"dims": (1,) * 100},
    "9 dims, one 0": {"dims": (1,) * 8 + (0,)},
    "rank huge": {"dims": (2, 3), "rank": 2**31 - 1},
    "dims NULL": {"dims": None, "rank": 2},
    "first dim negative": {"dims": (-1, 3)},
    "last dim negative": {"dims": (3, -(2**31))},
    "two negative dims": {"dims": (-2, -3)},
    "negative dim beside 0": {"dims": (0, -3)},
    "elements past 2^63": {"dims": (2**31 - 1,) * 3, "dtype": "INT8"},
    "elements are 2^66, 0 after wrapping": {"dims": (2**30, 2**30, 2**6), "dtype": "INT8"},
    "bytes past 2^63": {"dims": (2**30, 2**30, 2**2), "dtype": "HALF"},
}


def _refused_by(setter: str, case: str) -> bool:
    """The Dim setters take neither layout nor dtype."""
    return not (setter.startswith("Dim") and case.startswith(("layout", "dtype")))


@pytest.mark.parametrize(
    ("setter", "case"),
    [(setter, case) for setter, case in itertools.product(SETTERS, REFUSED) if _refused_by(setter, case)],
)
def test_refused_set_changes_nothing(abi: RawAbi, filled: Any, setter: str, case: str) -> None:
    changes = dict(REFUSED[case])
    dims = changes.pop("dims")
    if changes.pop("mode", 0):
        abi.lib.mluOpSetTensorDescriptorPointerMode(filled, abi.lib.MLUOP_POINTER_MODE_DEVICE)
    if setter.startswith("Dim") and changes.get("dtype") == "INT8":
        assert set_dims(abi, filled, "", (2, 3, 4), dtype="INT8") == SUCCESS
    before = abi.state(filled)
    assert set_dims(abi, filled, setter, dims, strides=(1,) * len(dims or ()), **changes) == BAD_PARAM
    assert abi.state(filled) == before
    function = "mluOpSetTensorDescriptor" + setter
    assert abi.reason().startswith(function + ": ")
    assert ": expected " in abi.reason()


@pytest.mark.parametrize("setter", STRIDED)
def test_strides_null(abi: RawAbi, filled: Any, setter: str) -> None:
    before = abi.state(filled)
    assert set_dims(abi, filled, setter, (2, 3), strides=None) == BAD_PARAM
    assert abi.state(filled) == before
    assert abi.reason().startswith(f"mluOpSetTensorDescriptor{setter}: dimStride: ")


@pytest.mark.parametrize(
    ("changes", "argument"),
    [
        ({"layout": -1, "dtype": -1, "dims": None, "rank": -1}, "layout"),
        ({"dtype": -1, "dims": None, "rank": -1}, "dtype"),
        ({"dims": None, "rank": -1}, "dimNb"),
        ({"dims": (-1,), "rank": 9}, "dimNb"),
    ],
)
@pytest.mark.parametrize("setter", ["", "_v2"])
def test_order_of_checks(abi: RawAbi, setter: str, changes: dict[str, Any], argument: str) -> None:
    arguments = dict(changes)
    assert set_dims(abi, abi.tensor(), setter, arguments.pop("dims"), **arguments) == BAD_PARAM
    assert abi.reason().startswith(f"mluOpSetTensorDescriptor{setter}: {argument}: ")


def test_element_counts_past_32_bits_are_accepted(abi: RawAbi) -> None:
    desc = abi.tensor()
    assert set_dims(abi, desc, "", (2**30, 2**30), dtype="INT8") == SUCCESS
    assert abi.lib.mluOpGetTensorElementNum(desc) == 2**60
    assert set_dims(abi, desc, "_v2", (2**62,), dtype="INT8") == SUCCESS
    assert abi.lib.mluOpGetTensorElementNum(desc) == 2**62
    assert set_dims(abi, desc, "_v2", (2**62,), dtype="HALF") == BAD_PARAM
    assert abi.lib.mluOpGetTensorElementNum(desc) == 2**62


def test_a_0_makes_an_empty_tensor_whatever_the_other_dims_are(abi: RawAbi) -> None:
    for dims in ((2**40, 2**40, 0), (0, 2**40, 2**40), (2**40, 0, 2**40)):
        desc = abi.tensor()
        assert set_dims(abi, desc, "_v2", dims) == SUCCESS
        state = abi.state(desc)
        assert (state.dims, state.elements) == (dims, 0)


# ---- getters -------------------------------------------------------------------------------------


@pytest.mark.parametrize("getter", ["", "_v2"])
@pytest.mark.parametrize("wanted", range(16))
def test_getters_skip_null(abi: RawAbi, getter: str, wanted: int) -> None:
    """All 16 choices of out pointers; what is asked for is right whatever else is NULL."""
    desc = abi.tensor((2, 3, 4), "HALF", "NHWC")
    array = abi.longs([0] * 8) if getter else abi.ints([0] * 8)
    slots = [abi.out("mluOpTensorLayout_t"), abi.out("mluOpDataType_t"), abi.out("int"), array]
    arguments = [slot if wanted >> i & 1 else abi.null for i, slot in enumerate(slots)]
    assert getattr(abi.lib, "mluOpGetTensorDescriptor" + getter)(desc, *arguments) == SUCCESS
    values = (LAYOUTS["NHWC"], DTYPES["HALF"], 3)
    for i, value in enumerate(values):
        assert slots[i][0] == (value if wanted >> i & 1 else UNTOUCHED)
    assert list(array[0:4]) == ([2, 3, 4, 0] if wanted & 8 else [0] * 4)


def test_getters_write_no_more_than_the_rank(abi: RawAbi) -> None:
    desc = abi.tensor((5, 6))
    for getter, make in (("Ex", abi.ints), ("Ex_v2", abi.longs)):
        dims, strides, rank = make([-1] * 4), make([-1] * 4), abi.out("int")
        layout, dtype = abi.out("mluOpTensorLayout_t"), abi.out("mluOpDataType_t")
        function = getattr(abi.lib, "mluOpGetTensorDescriptor" + getter)
        assert function(desc, layout, dtype, rank, dims, strides) == SUCCESS
        assert (rank[0], list(dims[0:4]), list(strides[0:4])) == (2, [5, 6, -1, -1], [6, 1, -1, -1])


def test_int_getters_truncate(abi: RawAbi) -> None:
    desc = abi.tensor((2**33 + 5, 3), "INT8", strides=(2**34 + 7, 1))
    rank, dims, strides = abi.out("int"), abi.ints([0] * 2), abi.ints([0] * 2)
    layout, dtype = abi.out("mluOpTensorLayout_t"), abi.out("mluOpDataType_t")
    assert abi.lib.mluOpGetTensorDescriptorEx(desc, layout, dtype, rank, dims, strides) == SUCCESS
    assert (list(dims[0:2]), list(strides[0:2])) == ([5, 3], [7, 1])
    assert abi.state(desc).dims == (2**33 + 5, 3)


def test_refused_getter_writes_nothing(abi: RawAbi) -> None:
    desc = abi.tensor((5, 6))
    rank, dims = abi.out("int"), abi.longs([-1] * 3)
    layout, dtype = abi.out("mluOpTensorLayout_t"), abi.out("mluOpDataType_t")
    status = abi.lib.mluOpGetTensorDescriptorEx_v2(desc, layout, dtype, rank, dims, abi.null)
    assert status == BAD_PARAM
    assert {layout[0], dtype[0], rank[0]} == {UNTOUCHED}
    assert list(dims[0:3]) == [-1] * 3


# ---- values that operators do not use ------------------------------------------------------------


def test_position_scale_offset(abi: RawAbi) -> None:
    desc, lib = abi.tensor(), abi.lib
    assert lib.mluOpSetTensorDescriptorPositionScaleAndOffset(desc, -7, 0.5, -9) == SUCCESS
    assert abi.state(desc)[-3:] == (-7, 0.5, -9)
    assert lib.mluOpSetTensorDescriptorPositionAndScale(desc, 2**31 - 1, -1.5) == SUCCESS
    assert abi.state(desc)[-3:] == (2**31 - 1, -1.5, -9)
    assert lib.mluOpSetTensorDescriptorPosition(desc, -(2**31)) == SUCCESS
    assert abi.state(desc)[-3:] == (-(2**31), -1.5, -9)
    position, scale = abi.out("int"), abi.out("float")
    assert lib.mluOpGetTensorDescriptorPosition(desc, position) == SUCCESS
    assert position[0] == -(2**31)
    assert lib.mluOpGetTensorDescriptorPositionAndScale(desc, position, scale) == SUCCESS
    assert (position[0], scale[0]) == (-(2**31), -1.5)


@pytest.mark.parametrize("dtype", [*DTYPES.values(), 10, 999, -1])
def test_onchip_dtype_is_not_examined(abi: RawAbi, dtype: int) -> None:
    desc = abi.tensor()
    assert abi.lib.mluOpSetTensorDescriptorOnchipDataType(desc, abi.dtype(dtype)) == SUCCESS
    assert abi.state(desc).onchip_dtype == dtype % 2**32


def test_pointer_mode(abi: RawAbi) -> None:
    desc = abi.tensor()
    for mode in (0, 1):
        assert abi.lib.mluOpSetTensorDescriptorPointerMode(desc, mode) == SUCCESS
        assert abi.state(desc).pointer_mode == mode
    for mode in (-1, -(2**31)):
        assert abi.lib.mluOpSetTensorDescriptorPointerMode(desc, abi.enum("mluOpPointerMode_t", mode)) == BAD_PARAM
        assert abi.state(desc).pointer_mode == 1


# ---- sizes of data types -------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPE_BYTES)
def test_size_of_data_type(abi: RawAbi, dtype: str) -> None:
    size = abi.out("size_t")
    assert abi.lib.mluOpGetSizeOfDataType(abi.dtype(dtype), size) == SUCCESS
    assert size[0] == DTYPE_BYTES[dtype]


def test_every_dtype_has_a_size() -> None:
    assert set(DTYPE_BYTES) == set(DTYPES) - {"INVALID"}


def test_invalid_has_no_size(abi: RawAbi) -> None:
    size = abi.out("size_t")
    assert abi.lib.mluOpGetSizeOfDataType(abi.dtype("INVALID"), size) == BAD_PARAM
    assert size[0] == UNTOUCHED


@pytest.mark.parametrize("number", [10, 18, 255, -1])
def test_unknown_dtype_has_size_0(abi: RawAbi, number: int) -> None:
    size = abi.out("size_t")
    assert abi.lib.mluOpGetSizeOfDataType(abi.dtype(number), size) == SUCCESS
    assert size[0] == 0


# ---- groups --------------------------------------------------------------------------------------


def _group(abi: RawAbi, count: int) -> tuple[Any, Any]:
    storage = abi.ffi.new("mluOpTensorDescriptor_t[]", count)
    return storage, abi.ffi.new("mluOpTensorDescriptor_t *[]", [storage + i for i in range(count)])


def test_group_life(abi: RawAbi) -> None:
    storage, group = _group(abi, 5)
    assert abi.lib.mluOpCreateGroupTensorDescriptors(group, 5) == SUCCESS
    assert len({int(abi.ffi.cast("intptr_t", desc)) for desc in storage}) == 5
    assert all(abi.state(desc) == NEW_STATE for desc in storage)  # handed out constructed
    layouts = abi.ffi.new("mluOpTensorLayout_t[]", [0, 1, 4, 4, 1])
    dtypes = abi.ffi.new("mluOpDataType_t[]", [1, 2, 6, 2, 3])
    sizes = abi.ints((2, 3, 4, 5, 6, 7, 8, 9, 10, 1))
    status = abi.lib.mluOpSetGroupTensorDescriptors(group, layouts, dtypes, abi.ints((2, 1, 3, 3, 1)), sizes, 5)
    assert status == SUCCESS
    states = [abi.state(desc) for desc in storage]
    assert [state.dims for state in states] == [(2, 3), (4,), (5, 6, 7), (8, 9, 10), (1,)]
    assert [state.layout for state in states] == [0, 1, 4, 4, 1]
    assert [state.dtype for state in states] == [1, 2, 6, 2, 3]
    assert abi.lib.mluOpDestroyGroupTensorDescriptors(group, 5) == SUCCESS
    assert all(abi.lib.mluOpGetTensorElementNum(desc) == 0 for desc in storage)
    assert abi.lib.mluOpDestroyGroupTensorDescriptors(group, 5) == BAD_PARAM


@pytest.mark.parametrize("rank", [-1, -2, 9, 2**31 - 1, -(2**31)])
@pytest.mark.parametrize("position", [0, 1])
def test_group_with_a_wrong_rank_is_refused_whole(abi: RawAbi, rank: int, position: int) -> None:
    storage, group = _group(abi, 2)
    assert abi.lib.mluOpCreateGroupTensorDescriptors(group, 2) == SUCCESS
    layouts, dtypes = abi.ffi.new("mluOpTensorLayout_t[2]"), abi.ffi.new("mluOpDataType_t[]", [2, 2])
    ranks = [1, 1]
    ranks[position] = rank
    status = abi.lib.mluOpSetGroupTensorDescriptors(group, layouts, dtypes, abi.ints(ranks), abi.ints((3, 4)), 2)
    assert status == BAD_PARAM
    assert f"group_dimNb: expected ranks from 0 to MLUOP_DIM_MAX, got {rank} at position {position}" in abi.reason()
    assert all(abi.state(desc) == NEW_STATE for desc in storage)
    assert abi.lib.mluOpDestroyGroupTensorDescriptors(group, 2) == SUCCESS


@pytest.mark.parametrize("count", [0, -1, -(2**31)])
def test_group_needs_a_number_of_descriptors(abi: RawAbi, count: int) -> None:
    storage, group = _group(abi, 1)
    assert abi.lib.mluOpCreateGroupTensorDescriptors(group, count) == BAD_PARAM
    assert storage[0] == abi.null
    assert abi.lib.mluOpCreateGroupTensorDescriptors(group, 1) == SUCCESS
    layouts, dtypes = abi.ffi.new("mluOpTensorLayout_t[1]"), abi.ffi.new("mluOpDataType_t[1]")
    arrays = (layouts, dtypes, abi.ints((1,)), abi.ints((2,)))
    assert abi.lib.mluOpSetGroupTensorDescriptors(group, *arrays, count) == BAD_PARAM
    assert abi.lib.mluOpDestroyGroupTensorDescriptors(group, count) == BAD_PARAM
    assert abi.state(storage[0]) == NEW_STATE
    assert abi.lib.mluOpDestroyGroupTensorDescriptors(group, 1) == SUCCESS


def test_group_set_leaves_out_what_it_refuses(abi: RawAbi) -> None:
    """The status of a single set is not reported; a refused one stays as it was, the others are set."""
    storage, group = _group(abi, 3)
    assert abi.lib.mluOpCreateGroupTensorDescriptors(group, 3) == SUCCESS
    layouts, dtypes = abi.ffi.new("mluOpTensorLayout_t[]", [1, 1, 1]), abi.ffi.new("mluOpDataType_t[]", [1, 1, 1])
    ranks, sizes = abi.ints((2, 2, 1)), abi.ints((2, 3, -4, 5, 6))
    assert abi.lib.mluOpSetGroupTensorDescriptors(group, layouts, dtypes, ranks, sizes, 3) == SUCCESS
    assert [abi.state(desc).dims for desc in storage] == [(2, 3), (), (6,)]
    assert abi.state(storage[1]) == NEW_STATE
    assert abi.lib.mluOpDestroyGroupTensorDescriptors(group, 3) == SUCCESS


def test_group_create_is_all_or_none(abi: RawAbi) -> None:
    storage, group = _group(abi, 3)
    group[2] = abi.null
    assert abi.lib.mluOpCreateGroupTensorDescriptors(group, 3) == BAD_PARAM
    assert all(desc == abi.null for desc in storage)


def test_group_destroy_refuses_a_descriptor_named_twice_and_destroys_none(abi: RawAbi) -> None:
    storage, group = _group(abi, 3)
    assert abi.lib.mluOpCreateGroupTensorDescriptors(group, 3) == SUCCESS
    group[2] = storage
    for _ in range(2):
        assert abi.lib.mluOpDestroyGroupTensorDescriptors(group, 3) == BAD_PARAM
        assert "position 2" in abi.ffi.string(abi.lib.mluopsExtGetLastReason()).decode()
        assert all(abi.state(desc) == NEW_STATE for desc in storage)
    group[2] = storage + 2
    assert abi.lib.mluOpDestroyGroupTensorDescriptors(group, 3) == SUCCESS
