"""Tensors of PyTorch, where it is installed: they come in without a copy, and results are tensors."""

from __future__ import annotations

import gc
import os
import resource
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
from support import described, families
from support.comparison import assert_same_bits
from support.example import MOVING, PAIRING

torch = pytest.importorskip("torch")

SHIFTS = torch.tensor([[1, -1]], dtype=torch.int32)


def source(dtype: Any = torch.float32) -> Any:
    return torch.arange(1, 25, dtype=dtype).reshape(1, 3, 4, 2)


def call(values: Any, shifts: Any = SHIFTS, **keywords: Any) -> Any:
    return MOVING.run(values, shifts, **keywords)


def expected(dtype: Any = torch.float32) -> np.ndarray:
    return MOVING.oracle.shift(source(dtype).numpy(), SHIFTS.numpy())


@pytest.mark.parametrize("backend", ["cpu", "sim"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_torch_in_torch_out(backend: str, dtype: Any) -> None:
    values = source(dtype)
    with pymluops.Handle(backend) as handle:
        result = call(values, handle=handle)
        out = torch.full_like(values, 9)
        assert call(values, handle=handle, out=out) is out
    assert type(result) is torch.Tensor
    assert (result.dtype, result.shape, result.requires_grad) == (dtype, values.shape, False)
    assert result.is_contiguous() and result.data_ptr() % 64 == 0
    assert_same_bits(result.numpy(), expected(dtype))
    assert_same_bits(out.numpy(), expected(dtype))
    result += 1  # an ordinary tensor
    assert float(result.sum()) == float(expected(dtype).sum() + 24)


def test_the_first_argument_decides() -> None:
    values = source()
    assert type(call(values.numpy(), SHIFTS)) is np.ndarray
    assert type(call(values, SHIFTS.numpy())) is torch.Tensor
    assert type(call(values, out=np.zeros(values.shape, np.float32))) is np.ndarray
    assert type(call(values.numpy(), out=torch.zeros(values.shape))) is torch.Tensor
    with pymluops.Handle("sim") as handle:
        array = pymluops.DeviceArray.from_host(values, "sim")
        assert type(call(array, SHIFTS, handle=handle)) is pymluops.DeviceArray
        there = pymluops.DeviceArray.from_host(SHIFTS, "sim")
        assert type(call(values, there, handle=handle)) is torch.Tensor


@pytest.mark.parametrize("name", families.of_arrays(described.describable()))
def test_every_operator_gives_tensors(name: str) -> None:
    made = described.arguments(name, np.random.default_rng(5))
    arguments = {
        key: torch.from_numpy(value) if isinstance(value, np.ndarray) else value for key, value in made.items()
    }
    found = described.call(name, arguments)
    for tensor, result, wanted in zip(described.outputs(name), found, described.call(name, made), strict=True):
        assert type(result) is torch.Tensor, tensor.name
        assert_same_bits(result.numpy(), wanted)


@pytest.mark.parametrize("backend", ["cpu", "sim"])
@pytest.mark.parametrize("subm", [False, True])
def test_named_tuples_hold_tensors(backend: str, subm: bool) -> None:
    rows = torch.tensor([[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 3]], dtype=torch.int32)
    keywords: Any = {"batch_size": 1, "spatial_shape": (1, 1, 4), "kernel_size": (1, 1, 3), "padding": (0, 0, 1)}
    with pymluops.Handle(backend) as handle:
        found = PAIRING.run(rows, **keywords, subm=subm, handle=handle)
        wanted = PAIRING.run(rows.numpy(), **keywords, subm=subm, handle=handle)
    assert isinstance(found, pymluops.IndicePairs)
    for one, other in zip(found, wanted):
        assert type(one) is torch.Tensor
        assert_same_bits(one.numpy(), other)


class Sub(torch.Tensor):  # type: ignore[misc]
    """A subclass without anything of its own."""


def test_subclasses_give_plain_tensors() -> None:
    for values in (source().as_subclass(Sub), torch.nn.Parameter(source(), requires_grad=False)):
        result = call(values)
        assert type(result) is torch.Tensor
        assert_same_bits(result.numpy(), expected())


def negated() -> Any:
    return torch._neg_view(source())


REFUSED: dict[str, tuple[Any, str]] = {
    "requires grad": (lambda: source().requires_grad_(), r"require grad.*input\.detach\(\) would do"),
    "result of autograd": (lambda: source().requires_grad_() * 2, "require grad"),
    "parameter": (lambda: torch.nn.Parameter(source()), "require grad"),
    "negation": (negated, "resolve_neg"),
    "negation in a subclass": (lambda: negated().as_subclass(Sub), "resolve_neg"),
    "imaginary part": (lambda: torch.zeros(1, 1, 1, 1, dtype=torch.complex64).conj().imag, "resolve_neg"),
    "conjugation": (lambda: torch.zeros(1, 3, 4, 2, dtype=torch.complex64).conj(), r"got torch\.complex64$"),
    "sparse": (lambda: source().to_sparse(), "dense tensor"),
    "compressed": (lambda: torch.eye(3).to_sparse_csr(), "dense tensor"),
    "meta": (lambda: source().to("meta"), "meta"),
    "zeros without memory": (lambda: torch._efficientzerotensor((1, 3, 4, 2)), "null pointer"),
    "strided": (lambda: source().transpose(1, 2), r"C-contiguous.*input\.contiguous\(\) would do"),
    "expanded": (lambda: torch.zeros(1).expand(1, 3, 4, 2), "C-contiguous"),
    "bfloat16": (lambda: source().bfloat16(), r"got bfloat16; input\.float\(\) would do"),
    "float64": (lambda: source().double(), "float64"),
    "float8": (lambda: source().to(torch.float8_e4m3fn), "float8_e4m3fn"),
    "nine dims": (lambda: torch.zeros((1,) * 9), "shape"),
    "no dims": (lambda: torch.tensor(1.0), "shape"),
}


@pytest.mark.parametrize(("make", "text"), REFUSED.values(), ids=REFUSED)
@pytest.mark.filterwarnings("ignore")
def test_what_is_refused(make: Any, text: str) -> None:
    out = torch.full((1, 3, 4, 2), 7.0)
    with pytest.raises(pymluops.BadParamError, match=f"^{MOVING.name}: input: expected .*{text}") as caught:
        call(make(), out=out)
    assert (out == 7).all()
    assert len(str(caught.value)) < 400 and "\n" not in str(caught.value)


class Wrapper(torch.Tensor):  # type: ignore[misc]
    """A tensor without memory of its own: its values are those of another one."""

    @staticmethod
    def __new__(cls, inner: Any) -> Any:
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, function: Any, types: Any, arguments: Any = (), keywords: Any = None) -> Any:
        return NotImplemented


def fake(values: Any) -> Any:
    mode: Any = pytest.importorskip("torch._subclasses.fake_tensor").FakeTensorMode
    with mode() as known:
        return known.from_tensor(values)


def freed(values: Any) -> Any:
    values.untyped_storage().resize_(0)
    return values


WITHOUT_VALUES: dict[str, tuple[Any, str]] = {
    "meta": (lambda values: values.to("meta"), "meta"),
    "meta in a subclass": (lambda values: values.to("meta").as_subclass(Sub), "meta"),
    "meta parameter": (lambda values: torch.nn.Parameter(values.to("meta"), requires_grad=False), "meta"),
    "negation": (torch._neg_view, "resolve_neg"),
    "negated parameter": (
        lambda values: torch.nn.Parameter(torch._neg_view(values), requires_grad=False),
        "resolve_neg",
    ),
    "fake": (fake, "null pointer"),
    "functional": (torch._to_functional_tensor, "null pointer"),
    "wrapper": (Wrapper, "null pointer"),
    "freed": (freed, "null pointer"),
}


@pytest.mark.parametrize(("make", "text"), WITHOUT_VALUES.values(), ids=WITHOUT_VALUES)
@pytest.mark.parametrize("place", ["input", "shifts", "out"])
@pytest.mark.filterwarnings("ignore")
def test_tensors_whose_memory_does_not_have_their_values(make: Any, text: str, place: str) -> None:
    arrays = {"input": source(), "shifts": SHIFTS.clone(), "out": torch.full((1, 3, 4, 2), 7.0)}
    out = arrays["out"]
    arguments = {**arrays, place: make(arrays[place].clone())}
    with pytest.raises(pymluops.BadParamError, match=f"^{MOVING.name}: {place}: expected .*{text}"):
        call(arguments["input"], arguments["shifts"], out=arguments["out"])
    assert (out == 7).all()


@pytest.mark.parametrize("kind", [lambda values: values.as_subclass(Sub), torch.nn.Parameter], ids=["Sub", "Parameter"])
def test_conjugation_is_refused_in_subclasses(kind: Any) -> None:
    with pytest.raises(pymluops.BadParamError, match="resolve_conj"):
        pymluops.TensorDescriptor.of(kind(torch.zeros(2, dtype=torch.complex64).conj()).detach())


def test_tensors_of_inference_mode_are_taken() -> None:
    with torch.inference_mode():
        values = source()
        assert_same_bits(call(values).numpy(), expected())
    assert_same_bits(call(values).numpy(), expected())


def test_an_output_that_requires_grad_is_refused() -> None:
    out = torch.zeros(1, 3, 4, 2, requires_grad=True)
    with pytest.raises(pymluops.BadParamError, match="out: expected a tensor that does not require grad"):
        call(source(), out=out)
    assert not out.any()


@pytest.mark.parametrize("transform", ["vmap", "grad"])
def test_function_transforms_are_refused(transform: str) -> None:
    # Within a transform the type of a tensor is torch.Tensor, but it has no memory of its own.
    function = {"vmap": torch.func.vmap(call), "grad": torch.func.grad(lambda x: call(x).sum())}[transform]
    with pytest.raises(pymluops.BadParamError, match=f"{MOVING.name}: input"):
        function(source()[None] if transform == "vmap" else source())


def test_conjugation_is_refused_where_complex_numbers_are_taken() -> None:
    values = torch.zeros(2, dtype=torch.complex64)
    assert pymluops.TensorDescriptor.of(values).dtype is pymluops.DataType.COMPLEX_FLOAT
    with pytest.raises(pymluops.BadParamError, match="resolve_conj"):
        pymluops.TensorDescriptor.of(values.conj())


@settings(max_examples=150, deadline=None)
@given(
    dims=st.lists(st.integers(0, 3), max_size=8),
    dtype=st.sampled_from(["float16", "bfloat16", "float32", "float64", "uint8", "int8", "int16", "int32", "int64",
                           "bool", "complex64"]),
    order=st.randoms(use_true_random=False),
    skip=st.integers(0, 5),
)  # fmt: skip
def test_any_tensor_is_described_as_it_is(dims: list[int], dtype: str, order: Any, skip: int) -> None:
    axes = list(range(len(dims)))
    order.shuffle(axes)
    memory = torch.zeros(skip + int(np.prod(dims)), dtype=getattr(torch, dtype))
    tensor = memory[skip:].reshape(dims).permute(axes)
    for axis in axes:
        if order.random() < 0.3:
            tensor = tensor.narrow(axis, 0, tensor.shape[axis] // 2)
    found = pymluops.TensorDescriptor.of(tensor)
    assert (found.shape, found.dtype) == (tuple(tensor.shape), pymluops.TensorDescriptor((1,), tensor.dtype).dtype)
    if tensor.numel():
        matter = [axis for axis, dim in enumerate(tensor.shape) if dim > 1]
        assert [found.strides[axis] for axis in matter] == [tensor.stride(axis) for axis in matter]


@settings(max_examples=100, deadline=None)
@given(
    batch=st.integers(0, 2), time=st.integers(0, 3), groups=st.integers(1, 2), pixels=st.integers(0, 3),
    half=st.booleans(), skip=st.integers(0, 40), seed=st.integers(0, 2**31),
    how=st.sampled_from(["packed", "cut", "turned", "stepped"]),
)  # fmt: skip
def test_any_input_gives_what_numpy_gives(
    batch: int, time: int, groups: int, pixels: int, half: bool, skip: int, seed: int, how: str
) -> None:
    rng = np.random.default_rng(seed)
    shape = (batch, time, 2 * groups, pixels)
    memory = torch.from_numpy(rng.standard_normal(skip + 2 * int(np.prod(shape)) + 1).astype("f2" if half else "f4"))
    values = memory[skip : skip + int(np.prod(shape))].reshape(shape)
    if how == "cut":
        values = values[: batch // 2]
    elif how == "turned":
        values = values.transpose(1, 3)
    elif how == "stepped":
        values = memory[skip:].as_strided(shape, [2 * step for step in values.stride()])
    shifts = torch.from_numpy(rng.integers(-2, 3, (values.shape[0], groups)).astype(np.int32))
    try:
        wanted = MOVING.run(values.numpy(), shifts.numpy())
    except pymluops.BadParamError as error:
        with pytest.raises(pymluops.BadParamError) as caught:
            MOVING.run(values, shifts)
        assert str(caught.value).split(";")[0] == str(error).split(";")[0]
    else:
        found = MOVING.run(values, shifts)
        assert type(found) is torch.Tensor
        assert_same_bits(found.numpy(), wanted)


def large(value: float) -> Any:
    """A result of 10 MB."""
    return call(torch.full((1, 4, 8, 80_000), float(value)), torch.zeros((1, 2), dtype=torch.int32))


def test_a_result_outlives_its_inputs_and_its_memory_is_recycled() -> None:
    gc.collect()
    set_pool_limit(0)
    set_pool_limit(64 << 20)
    try:
        first, second = large(1), large(2)
        part, shared, where = first[0, 1], first.numpy(), first.data_ptr()
        del first
        third = large(3)
        assert (part == 1).all() and (shared == 1).all() and (second == 2).all() and (third == 3).all()
        idle = pool_idle()
        del part
        assert pool_idle() == idle
        del shared
        assert pool_idle() > idle
        assert large(4).data_ptr() == where
    finally:
        set_pool_limit(128 << 20)


def test_a_loop_of_calls_does_not_grow() -> None:
    for _ in range(3):
        large(1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(30):
        large(1)
    values = source()
    for _ in range(20_000):
        call(values)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 25 * 1024  # KiB


def test_threads_that_drop_each_others_results() -> None:
    shared: list[Any] = []
    wrong: list[Any] = []
    values, wanted = source(), torch.from_numpy(expected())

    def work() -> None:
        for _ in range(300):
            shared.append(call(values))
            if len(shared) > 8:
                result = shared.pop(0)
                if not torch.equal(result, wanted):
                    wrong.append(result)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_result_in_the_child_of_a_fork_and_at_exit() -> None:
    code = (
        "import os, torch, pymluops\n"
        "shifts = torch.zeros((1, 2), dtype=torch.int32)\n"
        f"result = pymluops.{MOVING.name}(torch.full((1, 4, 8, 80_000), 3.0), shifts)\n"
        "child = os.fork()\n"
        f"again = pymluops.{MOVING.name}(torch.full((1, 2, 2, 2), 4.0), shifts)\n"
        "good = bool((result.numpy() == 3).all() and (again.numpy() == 4).all())\n"
        "result.other = result\n"  # a cycle that only the end of the interpreter frees
        "raise SystemExit((0 if good else 3) if child == 0 or os.waitpid(child, 0)[1] == 0 and good else 4)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ, check=False)
    assert done.returncode == 0, done.stderr
