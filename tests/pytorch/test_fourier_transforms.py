"""Fourier transforms of tensors: those of torch.fft, with its gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import pymluops.torch as ours

PAIRS: dict[str, tuple[Any, Any]] = {
    name: (getattr(ours, name), getattr(torch.fft, name)) for name in ("fft", "ifft", "rfft", "irfft")
}


def signals(dtype: torch.dtype, *shape: int) -> torch.Tensor:
    return torch.randn(shape, dtype=dtype, generator=torch.Generator().manual_seed(len(shape)))


@pytest.mark.parametrize("name", PAIRS)
def test_results_are_those_of_torch(name: str) -> None:
    ours_, theirs = PAIRS[name]
    for dtype in (torch.float32, torch.float64, torch.complex64, torch.complex128):
        if name == "rfft" and dtype.is_complex:
            continue
        for shape, dim in (((12,), 0), ((5, 9), -1), ((3, 8, 4), 1), ((2, 67), -1), ((6, 1), 0)):
            for n in (None, 4, 9):
                for norm in (None, "backward", "ortho", "forward"):
                    given = signals(dtype, *shape)
                    torch.testing.assert_close(ours_(given, n, dim, norm), theirs(given, n, dim, norm))
        turned = signals(dtype, 6, 5).T
        torch.testing.assert_close(ours_(turned), theirs(turned))
        if dtype.is_complex:
            torch.testing.assert_close(ours_(turned.conj()), theirs(turned.conj()))


@pytest.mark.parametrize("name", PAIRS)
def test_gradients_of_any_order(name: str) -> None:
    function = PAIRS[name][0]
    for n in (None, 4, 9):
        dtype = torch.float64 if name == "rfft" else torch.complex128
        given = signals(dtype, 2, 6).requires_grad_()
        assert torch.autograd.gradcheck(lambda x, n=n: function(x, n), given, check_forward_ad=True)
        assert torch.autograd.gradgradcheck(lambda x, n=n: function(x, n), given)


@pytest.mark.parametrize("name", PAIRS)
def test_gradients_are_those_of_torch(name: str) -> None:
    dtype = torch.float32 if name == "rfft" else torch.complex64
    results = []
    for function in PAIRS[name]:
        given = signals(dtype, 3, 10).requires_grad_()
        found = function(given, 12, norm="ortho")
        (found.abs() ** 2 * torch.arange(found.shape[-1])).sum().backward()
        results.append(given.grad)
    torch.testing.assert_close(*results)


def test_short_types() -> None:
    half = signals(torch.float32, 2, 8).half()
    found = ours.rfft(half)
    assert found.dtype == torch.complex32
    torch.testing.assert_close(found.to(torch.complex64), torch.fft.rfft(half.float()), rtol=1e-3, atol=1e-2)
    assert ours.irfft(found).dtype == torch.float16
    assert ours.rfft(half.bfloat16()).dtype == ours.fft(half).dtype == torch.complex64
    assert ours.fft(torch.arange(4)).dtype == torch.complex64


def test_vmap_and_forward_mode() -> None:
    given = signals(torch.complex64, 3, 4, 6)
    torch.testing.assert_close(torch.func.vmap(ours.fft)(given), torch.fft.fft(given))
    real = signals(torch.float32, 3, 7)
    _, tangent = torch.func.jvp(ours.rfft, (real,), (real * 2,))
    torch.testing.assert_close(tangent, torch.fft.rfft(real * 2))


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore:Torchinductor does not support code generation for complex")
def test_compiled_and_exported() -> None:
    given = signals(torch.float32, 3, 10)
    compiled = torch.compile(lambda x: ours.irfft(ours.rfft(x), 10), fullgraph=True)
    torch.testing.assert_close(compiled(given), given)

    class Spectrum(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return ours.rfft(x).abs()

    program = torch.export.export(Spectrum(), (given,))
    torch.testing.assert_close(program.module()(given), torch.fft.rfft(given).abs())


def test_integers() -> None:
    for given in (torch.arange(-3, 6), torch.tensor([True, False, True]), torch.arange(8, dtype=torch.uint8)):
        for name, (function, theirs) in PAIRS.items():
            torch.testing.assert_close(function(given), theirs(given), msg=name)


def test_refusals() -> None:
    given = signals(torch.float32, 2, 4)
    for name, (function, _) in PAIRS.items():
        with pytest.raises(ValueError, match=f"{name}: norm: expected None, 'backward', 'ortho' or 'forward', got"):
            function(given, norm="half")
        with pytest.raises(ValueError, match=f"{name}: dim: expected one of the 2 dims of input, got 2"):
            function(given, dim=2)
        with pytest.raises(ValueError, match=f"{name}: n: expected at least 1, got 0"):
            function(given, 0)
        with pytest.raises(TypeError, match=f"{name}: input: expected a tensor of PyTorch, got list"):
            function([1.0])
    with pytest.raises(ValueError, match="rfft: input: expected real values, got complex64"):
        ours.rfft(given.to(torch.complex64))
    with pytest.raises(ValueError, match="irfft: n: expected at least 1, got 0"):
        ours.irfft(given[:, :1])


def test_no_signals() -> None:
    assert ours.fft(torch.zeros(0, 4)).shape == (0, 4)
    assert ours.rfft(torch.zeros(3, 4, 0), dim=1).shape == (3, 3, 0)
    assert ours.irfft(torch.zeros(0, 3, dtype=torch.complex64)).shape == (0, 4)


def _fx(function: Any, given: torch.Tensor) -> Any:
    from torch.fx.experimental.proxy_tensor import make_fx

    return make_fx(function, tracing_mode="symbolic")(given)


class _Module(torch.nn.Module):
    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, given: torch.Tensor) -> Any:
        return self.function(given)


def _exported(function: Any, given: torch.Tensor) -> Any:
    dims = ({1: torch.export.Dim.DYNAMIC},)
    return torch.export.export(_Module(function), (given,), dynamic_shapes=dims).module()


WAYS = {
    "make_fx": _fx,
    "jit.trace": lambda function, given: torch.jit.trace(function, (given,)),
    "export": _exported,
    "compile": lambda function, given: torch.compile(function, backend="eager", fullgraph=True, dynamic=True),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("way", WAYS)
def test_factors_follow_the_length_of_traced_programs(way: str, name: str, norm: str | None) -> None:
    ours_, theirs = PAIRS[name]
    dtype = torch.float32 if name == "rfft" else torch.complex64
    torch._dynamo.reset()
    program = WAYS[way](lambda given: ours_(given, norm=norm), signals(dtype, 2, 6))
    for length in (6, 9, 10, 12, 15, 16, 18, 20, 21, 25):  # more than torch.compile would compile one by one
        given = signals(dtype, 2, length)
        if way == "jit.trace" and name in ("rfft", "irfft") and length != 6:
            with pytest.raises(RuntimeError):  # it keeps the number of frequencies
                program(given)
            continue
        torch.testing.assert_close(program(given), theirs(given, norm=norm))


@pytest.mark.parametrize("wrong", [2.5, 4.0, True, "4", [4], 1j])
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft"])
def test_a_length_or_dim_that_is_no_integer_is_refused_by_name(name: str, wrong: Any) -> None:
    signal = torch.rand(2, 4)
    for argument in ("n", "dim"):
        with pytest.raises(TypeError, match=f"^{name}: {argument}: expected an integer.*, got"):
            getattr(ours, name)(signal, **{argument: wrong})


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft"])
def test_integers_of_other_types(name: str) -> None:
    signal = torch.rand(2, 4)
    wanted = getattr(ours, name)(signal, 6, 1)
    for six, one in ((np.int64(6), np.int32(1)), (torch.tensor(6), torch.tensor(1))):
        torch.testing.assert_close(getattr(ours, name)(signal, six, one), wanted, rtol=0, atol=0)
