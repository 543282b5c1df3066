"""Objects destroyed twice, in the wrong order, or handed to functions of another kind."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

import pymluops
from abi.c_objects import SETTINGS, UNTOUCHED, RawAbi
from abi.facts import BAD_PARAM, HANDLES, PROTOTYPES, SUCCESS, is_pointer
from abi.legal_calls import CALLS, is_unlooked


class Kind(NamedTuple):
    type_name: str
    create: Callable[[RawAbi], Any]
    destroy: str


KINDS = {
    "handle": Kind("mluOpHandle_t", RawAbi.new_handle, "mluOpDestroy"),
    "tensor": Kind("mluOpTensorDescriptor_t", RawAbi.new_tensor, "mluOpDestroyTensorDescriptor"),
    "set": Kind("mluOpTensorSetDescriptor_t", lambda abi: abi.new_set((2,)), "mluOpDestroyTensorSetDescriptor"),
    "seq": Kind("mluOpSeqDataDescriptor_t", RawAbi.new_seq_data, "mluOpDestroySeqDataDescriptor"),
    "sparse": Kind(
        "mluOpSparseConvolutionDescriptor_t", RawAbi.new_sparse, "mluOpDestroySparseConvolutionDescriptor"
    ),
    **{
        kind: Kind(names.type_name, lambda abi, kind=kind: abi.new_settings(kind), names.destroy)
        for kind, names in SETTINGS.items()
    },
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_destroyed_twice(abi: RawAbi, kind: str) -> None:
    thing, destroy = KINDS[kind].create(abi), getattr(abi.lib, KINDS[kind].destroy)
    assert destroy(thing) == SUCCESS
    for _ in range(3):
        assert destroy(thing) == BAD_PARAM
        assert abi.reason().startswith(KINDS[kind].destroy + ": ")


@pytest.mark.parametrize("kind", KINDS)
def test_destroyed_in_any_order(abi: RawAbi, kind: str) -> None:
    for order in itertools.permutations(range(3)):
        things = [KINDS[kind].create(abi) for _ in range(3)]
        assert [getattr(abi.lib, KINDS[kind].destroy)(things[i]) for i in order] == [SUCCESS] * 3


@pytest.mark.parametrize(("given", "wanted"), list(itertools.permutations(KINDS, 2)))
def test_destroyed_as_another_kind(abi: RawAbi, given: str, wanted: str) -> None:
    thing = KINDS[given].create(abi)
    foreign = abi.ffi.cast(KINDS[wanted].type_name, thing)
    assert getattr(abi.lib, KINDS[wanted].destroy)(foreign) == BAD_PARAM
    assert getattr(abi.lib, KINDS[given].destroy)(thing) == SUCCESS, "the object was harmed"


OBJECT_PARAMETERS = [
    pytest.param(name, param["name"], id=f"{name[5:]}-{param['name']}")
    for name in CALLS
    for param in PROTOTYPES[name]["params"]
    if param["type"].removeprefix("const ") in HANDLES and not is_unlooked(name, param["name"])
]


@pytest.mark.parametrize(("name", "parameter"), OBJECT_PARAMETERS)
def test_every_function_refuses_destroyed_and_foreign_objects(abi: RawAbi, name: str, parameter: str) -> None:
    types = {param["name"]: param["type"].removeprefix("const ") for param in PROTOTYPES[name]["params"]}
    same = next(kind for kind in KINDS.values() if kind.type_name == types[parameter])
    for kind in (KINDS["handle"], KINDS["tensor"], same):
        arguments = CALLS[name](abi)
        thing = kind.create(abi)
        if types[parameter] == kind.type_name:  # destroyed; for the others: alive, but of another kind
            getattr(abi.lib, kind.destroy)(thing)
        arguments[parameter] = abi.ffi.cast(types[parameter], thing)
        found = getattr(abi.lib, name)(*arguments.values())
        assert found == (0 if name == "mluOpGetTensorElementNum" else BAD_PARAM)
        assert abi.reason().startswith(f"{name}: {parameter}: expected "), abi.reason()
        if types[parameter] != kind.type_name:
            assert getattr(abi.lib, kind.destroy)(thing) == SUCCESS


@pytest.mark.parametrize(("name", "parameter"), OBJECT_PARAMETERS)
def test_every_function_refuses_memory_that_is_no_object(abi: RawAbi, name: str, parameter: str) -> None:
    """A zeroed block, a block of other bytes, and addresses where no object can be."""
    types = {param["name"]: param["type"].removeprefix("const ") for param in PROTOTYPES[name]["params"]}
    blocks = [abi.ffi.new("int64_t[64]"), abi.ffi.new("int64_t[64]", [UNTOUCHED << 31 | 0x1234567] * 64)]
    addresses = [int(abi.ffi.cast("intptr_t", block)) for block in blocks]
    for address in [*addresses, addresses[1] + 1, addresses[1] + 4, 1, 8, 4088]:
        arguments = CALLS[name](abi)
        arguments[parameter] = abi.ffi.cast(types[parameter], address)
        found = getattr(abi.lib, name)(*arguments.values())
        assert found == (0 if name == "mluOpGetTensorElementNum" else BAD_PARAM)


def _has_descriptors(name: str) -> bool:
    params = PROTOTYPES[name]["params"]
    return bool(params) and params[0]["name"] == "handle" and any("TensorDescriptor_t" in p["type"] for p in params)


@pytest.mark.parametrize("name", [name for name in PROTOTYPES if _has_descriptors(name)])
def test_no_function_reads_descriptors_that_are_no_objects(abi: RawAbi, name: str) -> None:
    """All descriptors of a call are bad at once, also for functions of which no legal call is known here."""
    block, handle = abi.ffi.new("int64_t[64]"), abi.handle()
    for address in (int(abi.ffi.cast("intptr_t", block)), 1, 8, 4088):
        arguments: list[object] = [handle]
        for param in PROTOTYPES[name]["params"][1:]:
            plain = param["type"].removeprefix("const ").removesuffix(" const")
            if plain == "mluOpTensorDescriptor_t":
                arguments.append(abi.ffi.cast(plain, address))
            else:
                arguments.append(abi.null if is_pointer(param["type"]) else abi.ffi.cast(plain, 1))
        assert getattr(abi.lib, name)(*arguments) != SUCCESS


def test_wrong_order_does_no_harm(abi: RawAbi) -> None:
    """The handle first, then the descriptors that were used with it."""
    handle, desc, sparse = abi.new_handle(), abi.new_tensor(), abi.new_sparse()
    assert abi.lib.mluOpDestroy(handle) == SUCCESS
    assert abi.lib.mluOpSetQueue(handle, abi.null) == BAD_PARAM
    assert abi.lib.mluOpDestroySparseConvolutionDescriptor(sparse) == SUCCESS
    assert abi.lib.mluOpDestroyTensorDescriptor(desc) == SUCCESS


def test_cffi_refuses_a_handle_as_descriptor(abi: RawAbi) -> None:
    """Without a cast the types already differ."""
    with pytest.raises(TypeError):
        abi.lib.mluOpDestroyTensorDescriptor(abi.handle())


def test_members_go_with_their_set(abi: RawAbi) -> None:
    tensor_set = abi.new_set((2,))
    desc, address = abi.out("mluOpTensorDescriptor_t", abi.null), abi.ffi.new("void **")
    data = abi.ffi.cast("void *", 0x1000)
    assert abi.lib.mluOpGetTensorAndDataFromTensorSet(tensor_set, 1, abi.ints((1,)), data, desc, address) == SUCCESS
    assert abi.lib.mluOpDestroyTensorSetDescriptor(tensor_set) == SUCCESS
    assert abi.lib.mluOpResetTensorDescriptor(desc[0]) == BAD_PARAM


# ---- the Python objects --------------------------------------------------------------------------


def test_python_handle_closes_twice_and_raises_afterwards(abi: RawAbi) -> None:
    handle = pymluops.Handle("cpu")
    assert abi.lib.mluOpUpdateContextInformation(abi.ffi.cast("mluOpHandle_t", handle.cdata)) == SUCCESS
    handle.close()
    handle.close()
    with pytest.raises((pymluops.MluOpError, ValueError)):
        _ = handle.cdata
    with pytest.raises((pymluops.MluOpError, ValueError)), handle:
        pass


def test_python_handle_destroyed_behind_its_back(abi: RawAbi) -> None:
    """Closing a handle that the C ABI destroyed already does not crash."""
    handle = pymluops.Handle("cpu")
    assert abi.lib.mluOpDestroy(abi.ffi.cast("mluOpHandle_t", handle.cdata)) == SUCCESS
    with contextlib.suppress(pymluops.BadParamError):
        handle.close()
    handle.close()
