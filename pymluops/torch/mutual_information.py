"""MutualInformation: log-probabilities of all monotonic alignments of two sequences."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from pymluops._core import Operator
from pymluops.ops._described import described
from pymluops.ops._schema import Scalar
from pymluops.torch._function import TensorFunction, compiling
from pymluops.torch._library import TorchOperator
from pymluops.torch._modes import has_values, is_overridden
from pymluops.torch._numbers import flag

__all__ = ["mutual_information_recursion"]


def _operator(name: str, *scalars: Scalar) -> Operator:
    """Return an operator that always gets regions, and changes none of its arguments."""
    known = described(name)
    tensors = tuple(replace(tensor, optional=False, in_place=False) for tensor in known.tensors)
    return Operator(known.function, known.name, tensors, scalars, workspace=known.workspace, too_large=known.too_large)


_SAMPLE = {"S": 4, "T": 3}
_FORWARD = TorchOperator(_operator("mutual_information_forward"), sample=_SAMPLE)
# As long as the gradient of `ans` is not overwritten, it is read alone.
_KEPT = Scalar("overwrite_ans_grad", choices={"keep": 0})
_BACKWARD = TorchOperator(_operator("mutual_information_backward", _KEPT), autocast=False, sample=_SAMPLE)
_FORWARD.differentiate(_BACKWARD, "ans_grad", {"px": "px_grad", "py": "py_grad"}, numbers={"overwrite_ans_grad": 0})
_BACKWARD.refuse_gradient("the gradient of mutual_information_recursion cannot be differentiated again")


def _within(px: Tensor, py: Tensor, boundary: Tensor) -> tuple[Tensor, Tensor]:
    """Whether each step of `px` and `py` belongs to its region."""
    top, left, bottom, right = (one[:, None] for one in boundary.unbind(1))
    rows = torch.arange(py.shape[1], device=px.device)
    columns = torch.arange(px.shape[2], device=px.device)
    down, on = (rows >= top) & (rows < bottom), (columns >= left) & (columns < right)
    in_rows, in_columns = (rows >= top) & (rows <= bottom), (columns >= left) & (columns <= right)
    return down[:, :-1, None] & in_columns[:, None], in_rows[:, :, None] & on[:, None, :-1]


def _poison(px: Tensor, py: Tensor, boundary: Tensor, ans: Tensor) -> Tensor:
    """Return a factor for each result: NaN where a score of the region is one, else 1.

    The library lets log(exp(x) + exp(NaN)) be x, as mlu-ops does. A product with NaN is NaN, and so
    are all gradients of the region that flow back through it.
    """
    px, py, ones = px.detach(), py.detach(), torch.ones_like(ans.detach())
    if px.is_cpu and has_values(px) and has_values(py):
        total = px.sum() + py.sum()  # a NaN reaches a sum, which takes less time than looking for it
        if not math.isnan(total.item()):
            return ones
    in_px, in_py = _within(px, py, boundary)
    found = (px.isnan() & in_px).any((1, 2)) | (py.isnan() & in_py).any((1, 2))
    return ones.masked_fill(found, torch.nan)


def _formula(px: Tensor, py: Tensor, boundary: Tensor) -> Tensor:
    """Go through the table by diagonals, whose cells do not depend on each other; no way is -infinity."""
    batch, rows, columns = px.shape[0], px.shape[1], py.shape[2]
    cells, none = torch.arange(rows + 1), torch.full((batch, 1), -torch.inf, dtype=px.dtype)
    top, left, bottom, right = boundary.long().unbind(1)
    in_px, in_py = _within(px, py, boundary)
    px, py = torch.where(in_px, px, -torch.inf), torch.where(in_py, py, -torch.inf)
    before, found = none.expand(batch, rows + 1), list[Tensor]()
    for diagonal in range(rows + columns + 1):
        column = diagonal - cells
        above = torch.cat([none, px.flatten(1)], 1).index_select(
            1,
            torch.where((cells > 0) & (column >= 0) & (column <= columns), (cells - 1) * (columns + 1) + column + 1, 0),
        )
        behind = torch.cat([none, py.flatten(1)], 1).index_select(
            1, torch.where((column > 0) & (column <= columns), cells * columns + column, 0)
        )
        x, y = torch.cat([none, before[:, :-1]], 1) + above, before + behind
        most = torch.maximum(x, y)
        most = torch.where(most == -torch.inf, torch.zeros_like(most), most)
        begin = (cells == top[:, None]) & (column == left[:, None])
        before = torch.where(begin, torch.zeros_like(x), torch.log(torch.exp(x - most) + torch.exp(y - most)) + most)
        found.append(before)
    place = (bottom + right) * (rows + 1) + bottom
    end = torch.stack(found, 1).flatten(1).gather(1, place[:, None])[:, 0]
    return torch.where((top > bottom) | (left > right), torch.zeros_like(end), end)


_RECURSION = TensorFunction(_FORWARD, shapes={"p": None}, formula=_formula)


@_RECURSION
def mutual_information_recursion(
    px: Tensor, py: Tensor, boundary: Tensor | None = None, return_grad: bool = False
) -> Any:
    """Add up the probabilities of all ways through tables, as ``k2.mutual_information_recursion`` does.

    `pymluops.mutual_information_forward` has the rules, and the gradient flows to `px` and `py`.
    A NaN among the scores of a region is not lost here, as it may be there: the result is NaN, and
    so are all gradients of the region. Scores beside it do not matter.

    Parameters
    ----------
    px : Tensor, shape [B, S, T+1]
        Logarithms of the probabilities of steps to the next row; any floating type. With [B, S, T]
        k2 lets these steps go to the next column too, which mlu-ops and this function lack.
    py : Tensor, shape [B, S+1, T], like `px`
        Those of steps to the next column.
    boundary : Tensor, shape [B, 4], int64 or int32, optional
        The regions: s_begin, t_begin, s_end, t_end. Without it they are the whole tables.
    return_grad : bool
        Return the gradients of the sum of the results too.

    Returns
    -------
    Tensor, shape [B], or (Tensor, (Tensor, Tensor))
        The logarithm of the probability of all ways of each region, 0 for an empty one; with
        `return_grad` also the gradients of `px` and `py`.

    Raises
    ------
    ValueError
        If an argument is not as described, or a region does not lie in its table.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> px, py = torch.zeros(1, 1, 2), torch.zeros(1, 2, 1, requires_grad=True)
    >>> ans = pymluops.torch.mutual_information_recursion(px, py)
    >>> ans.exp().tolist()  # two ways
    [2.0]
    >>> ans.sum().backward()
    >>> py.grad.round(decimals=3).tolist()
    [[[0.5], [0.5]]]
    """
    if boundary is None:
        ends = 0, 0, px.shape[1], py.shape[2]
        tracing = torch.jit.is_tracing()  # pyright: ignore[reportPrivateImportUsage]
        if tracing:  # ends are tensors, whose values must not become constants
            whole = torch.stack([torch.full((), end, device=px.device) for end in ends])
        else:
            whole = torch.tensor(ends, device=px.device)
        boundary = whole.expand(px.shape[0], 4)
    if not flag("mutual_information_recursion", "return_grad", return_grad):
        if compiling():
            ans = _RECURSION.through_torch(px, py, boundary)
        else:
            ans = _RECURSION.direct(px, py, boundary)
            if is_overridden((px, py, boundary)):  # it called this function
                return ans
        return ans * _poison(px, py, boundary, ans)
    ans, p = _FORWARD(px, py, boundary)
    factor = _poison(px, py, boundary, ans)
    # Autocast has made `p` of float32.
    given = px.detach().to(p.dtype), py.detach().to(p.dtype), boundary, p.detach(), factor
    px_grad, py_grad = _BACKWARD(*given, 0)
    return ans * factor, (px_grad.to(px.dtype), py_grad.to(py.dtype))
