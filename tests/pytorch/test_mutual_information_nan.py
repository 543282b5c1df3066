"""A NaN among the scores of mutual_information_recursion reaches the result and the gradients."""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import pymluops
import pymluops.torch as ours
from support.torch_samples import all_equal

NAN = float("nan")
_S, _T = 3, 4
#: The last has a single cell, the one before is empty.
BOUNDARY = torch.tensor([[0, 0, 3, 4], [1, 1, 2, 3], [0, 2, 3, 2], [2, 2, 1, 3], [1, 2, 1, 2]])


def scores(batch: int, dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, torch.Tensor]:
    random = torch.Generator().manual_seed(7)
    px, py = torch.randn(batch, _S, _T + 1, generator=random), torch.randn(batch, _S + 1, _T, generator=random)
    return px.to(dtype), py.to(dtype)


def reference(px: torch.Tensor, py: torch.Tensor, boundary: torch.Tensor | None) -> torch.Tensor:
    """The recursion by PyTorch's logaddexp, cell by cell, which keeps a NaN."""
    found = []
    for b in range(len(px)):
        top, left, bottom, right = (0, 0, _S, _T) if boundary is None else boundary[b].tolist()
        p: dict[tuple[int, int], torch.Tensor] = {}
        for s, t in itertools.product(range(top, bottom + 1), range(left, right + 1)):
            none = torch.full((), -torch.inf, dtype=px.dtype)
            above = p[s - 1, t] + px[b, s - 1, t] if s > top else none
            before = p[s, t - 1] + py[b, s, t - 1] if t > left else none
            p[s, t] = torch.logaddexp(above, before) if (s, t) != (top, left) else torch.zeros_like(none)
        found.append(p.get((bottom, right), torch.zeros((), dtype=px.dtype)))
    return torch.stack(found)


def gradients(call: Callable[..., torch.Tensor], px: torch.Tensor, py: torch.Tensor, boundary: Any) -> Any:
    """Results and gradients."""
    px, py = px.clone().requires_grad_(), py.clone().requires_grad_()
    ans = call(px, py, boundary)
    ans.sum().backward()
    given = (torch.zeros_like(one) if one.grad is None else one.grad for one in (px, py))
    return ans.detach(), *given


def _cells(count: int) -> list[tuple[int, tuple[int, int, int]]]:
    px, py = scores(count)
    return [(which, place) for which, one in enumerate((px, py)) for place in np.ndindex(*one.shape)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("boundary", [None, BOUNDARY], ids=["whole", "boundary"])
def test_a_nan_anywhere_gives_what_logaddexp_gives(boundary: torch.Tensor | None, dtype: torch.dtype) -> None:
    """Each cell of each sample in turn: NaN for that sample alone, and only if its region has the cell."""
    batch = 2 if boundary is None else len(BOUNDARY)
    lost = 0
    for which, place in _cells(batch):
        given = scores(batch, dtype)
        given[which][place] = NAN
        found, wanted = (gradients(call, *given, boundary) for call in (ours.mutual_information_recursion, reference))
        all_equal(found, wanted, rtol=1e-5, atol=1e-5)
        inside = bool(wanted[0].isnan().any())
        assert found[0].isnan().nonzero().flatten().tolist() == ([place[0]] if inside else [])
        lost += not inside
    assert (lost > 0) == (boundary is not None)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_low_precision_and_autocast(dtype: torch.dtype) -> None:
    px, py = scores(5, dtype)
    py[0, 1, 1] = NAN
    for autocast in (False, True):
        with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
            ans, px_grad, py_grad = gradients(ours.mutual_information_recursion, px, py, BOUNDARY)
        assert ans.isnan().tolist() == [True, False, False, False, False]
        assert px_grad[0].isnan().all() and py_grad[0].isnan().all()
        assert px_grad[1:].isfinite().all() and py_grad[1:].isfinite().all()


def test_returned_gradients() -> None:
    for which, place in _cells(5):
        given = scores(5)
        given[which][place] = NAN
        ans, found = ours.mutual_information_recursion(*given, BOUNDARY, return_grad=True)
        all_equal((ans, *found), gradients(ours.mutual_information_recursion, *given, BOUNDARY))


@pytest.mark.thorough
@pytest.mark.parametrize("boundary", [None, BOUNDARY], ids=["whole", "boundary"])
def test_compiled_traced_mapped_and_exported(boundary: torch.Tensor | None) -> None:
    """With values that are not there when a program is compiled."""
    clean, given = scores(5), scores(5)
    given[1][1, 2, 1] = NAN  # in the region
    given[1][4, 0, 0] = NAN  # beside it
    recursion = ours.mutual_information_recursion
    more = () if boundary is None else (boundary,)
    wanted = recursion(*given, *more)
    assert wanted.isnan().tolist() == [False, True, False, False, boundary is None]

    class Recursion(torch.nn.Module):
        def forward(self, *arguments: torch.Tensor) -> Any:
            return recursion(*arguments)

    compiled = torch.compile(recursion, backend="aot_eager", fullgraph=True)
    compiled(*clean, *more)
    all_equal(compiled(*given, *more), wanted)
    all_equal(gradients(compiled, *given, boundary), gradients(recursion, *given, boundary))
    all_equal(torch.jit.trace(recursion, (*clean, *more), check_trace=False)(*given, *more), wanted)
    all_equal(torch.export.export(Recursion(), (*clean, *more)).module()(*given, *more), wanted)
    alone = [recursion(*(one[b : b + 1] for one in (*given, *more))) for b in range(5)]
    mapped = torch.func.vmap(lambda *one: recursion(*(x[None] for x in one)))
    all_equal(mapped(*given, *more)[:, 0], torch.cat(alone))
    _, pull = torch.func.vjp(lambda px, py: recursion(px, py, *more), *given)
    all_equal(pull(torch.ones(5)), gradients(recursion, *given, boundary)[1:])


def test_program_of_torch_fx() -> None:
    """The program has one call of the function, which looks for a NaN itself."""

    def of_scores(px: torch.Tensor, py: torch.Tensor, boundary: torch.Tensor) -> Any:
        return ours.mutual_information_recursion(px, py, boundary)

    program = torch.fx.symbolic_trace(of_scores)
    assert [node.op for node in program.graph.nodes] == ["placeholder"] * 3 + ["call_function", "output"]
    px, py = scores(5)
    px[2, 0, 2] = NAN
    assert program(px, py, BOUNDARY).isnan().tolist() == [False, False, True, False, False]


def test_a_program_for_onnx_ignores_a_nan_beside_the_region() -> None:
    onnx = pytest.importorskip("onnx.reference", reason="an optional package: PyTorch's exporter needs onnx")

    class Recursion(torch.nn.Module):
        def forward(self, px: torch.Tensor, py: torch.Tensor, boundary: torch.Tensor) -> Any:
            return ours.mutual_information_recursion(px, py, boundary)

    written = io.BytesIO()
    torch.onnx.export(Recursion(), (*scores(5), BOUNDARY), written, dynamo=False, input_names=["px", "py", "boundary"])
    session = onnx.ReferenceEvaluator(written.getvalue())
    px, py = scores(5)
    px[1, 0, 1] = NAN  # above the region
    py[0, 2, 2] = NAN  # in it
    with np.errstate(divide="ignore"):  # the logarithm of no way
        (found,) = session.run(None, {"px": px.numpy(), "py": py.numpy(), "boundary": BOUNDARY.numpy()})
    all_equal(torch.from_numpy(found), ours.mutual_information_recursion(px, py, BOUNDARY), rtol=1e-5, atol=1e-5)
    assert np.isnan(found).tolist() == [True, False, False, False, False]


def test_scores_of_infinity_and_halves_too_large_for_their_sum_are_no_nan() -> None:
    px, py = scores(2)
    px[0, 1, 2], px[0, 0, 1] = -torch.inf, -torch.inf
    py[1, 0, 0], px[1, 2, 0] = torch.inf, -torch.inf  # their sum is NaN, no score is
    assert not ours.mutual_information_recursion(px, py).isnan().any()
    large = [torch.full_like(one, 6e4).half() * torch.tensor([1, -1])[:, None, None].half() for one in scores(2)]
    assert ours.mutual_information_recursion(*large).tolist() == [torch.inf, -torch.inf]


def test_arrays_keep_the_rule_of_the_library() -> None:
    """log(exp(1) + exp(NaN)) is 1 if the step to the next column brings the NaN, and NaN if the other one does."""
    px, py = np.zeros((1, 1, 2), np.float32), np.zeros((1, 2, 1), np.float32)
    px[0, 0, 1] = 1
    py[0, 1, 0] = NAN
    ans, p = pymluops.mutual_information_forward(px, py)
    assert ans.tolist() == [1.0]
    px_grad, py_grad = pymluops.mutual_information_backward(px, py, None, p, np.ones(1, np.float32))
    assert np.isfinite(px_grad).all() and np.isfinite(py_grad).all()
    px[0, 0, 1], py[0, 1, 0] = NAN, 0
    assert np.isnan(pymluops.mutual_information_forward(px, py)[0]).all()
    assert ours.mutual_information_recursion(torch.zeros(1, 1, 2), torch.tensor([[[0.0], [NAN]]])).isnan().all()
