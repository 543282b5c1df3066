"""mutual_information: log-probabilities of all monotonic alignments of two sequences, and their gradient.

A boundary is (s_begin, t_begin, s_end, t_end), both ends belong to the region; without one the
region is the whole table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pymluops.oracle.refusals import NOT_SUPPORTED, Check, Refusals, bad
from pymluops.oracle.ways import Way

#: Operators whose float results are sums, which a device may round or order in its own way.
SUMS = ("mutual_information_forward", "mutual_information_backward")
#: Only the C function looks whether regions lie in the tables.
LEFT_TO_C = ("opt_boundary",)
DECIDING = ("opt_boundary",)

_LEAST = -1e30


def regions(boundary: np.ndarray | None, px: np.ndarray, py: np.ndarray) -> list[list[int]]:
    """The boundary of each batch."""
    whole = [0, 0, px.shape[1], py.shape[2]]
    return [whole] * len(px) if boundary is None else boundary.tolist()


def _add(x: float, y: float, epsilon: float) -> float:
    """log(exp(x) + exp(y)); NaN if x is, but x if y alone is."""
    low, high = (x, y) if x < y else (y, x)
    with np.errstate(all="ignore"):
        apart = low - high
        return high + np.log1p(np.exp(apart)) if apart >= np.log(epsilon) else high


def forward(
    px: np.ndarray, py: np.ndarray, boundary: np.ndarray | None = None, before: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """(ans [B], p [B, S+1, T+1]) in float64; cells outside of a region are as before, or 0."""
    epsilon = np.finfo(px.dtype).eps
    px, py = px.astype(np.float64), py.astype(np.float64)
    p = np.zeros((len(px), px.shape[1] + 1, py.shape[2] + 1)) if before is None else before.astype(np.float64)
    ans = np.zeros(len(px))
    for b, (top, left, bottom, right) in enumerate(regions(boundary, px, py)):
        if top > bottom or left > right:
            continue
        for s in range(top, bottom + 1):
            for t in range(left, right + 1):
                above = p[b, s - 1, t] + px[b, s - 1, t] if s > top else -np.inf
                before_it = p[b, s, t - 1] + py[b, s, t - 1] if t > left else -np.inf
                p[b, s, t] = 0 if (s, t) == (top, left) else _add(above, before_it, epsilon)
        ans[b] = p[b, bottom, right]
    return ans, p


def _exp(value: float, kind: Any) -> float:
    """exp(value), or 0 where the value is not finite or that is more than the type can hold."""
    with np.errstate(all="ignore"):
        found = np.exp(value)
        return float(found) if np.isfinite(value) and np.isfinite(kind.type(found)) else 0.0


def backward(
    px: np.ndarray, py: np.ndarray, boundary: np.ndarray | None, p: np.ndarray, ans_grad: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(px_grad, py_grad, and what ans_grad is overwritten with), in float64; sums overflow where the type does."""
    kind = px.dtype
    px, py, p, start = (array.astype(np.float64) for array in (px, py, p, ans_grad))
    px_grad, py_grad = np.zeros_like(px), np.zeros_like(py)
    for b, (top, left, bottom, right) in enumerate(regions(boundary, px, py)):
        if top > bottom or left > right:
            continue
        logs = np.where(p[b] < _LEAST, _LEAST, p[b])
        flow = np.zeros((bottom + 2, right + 2), kind)
        for s in range(bottom, top - 1, -1):
            for t in range(right, left - 1, -1):
                if (s, t) == (bottom, right):
                    flow[s, t] = ans_grad[b]
                    continue
                with np.errstate(all="ignore"):
                    down = _exp(logs[s, t] + px[b, s, t] - logs[s + 1, t], kind) * flow[s + 1, t] if s < bottom else 0.0
                    on = _exp(logs[s, t] + py[b, s, t] - logs[s, t + 1], kind) * flow[s, t + 1] if t < right else 0.0
                if s < bottom:
                    px_grad[b, s, t] = down
                if t < right:
                    py_grad[b, s, t] = on
                with np.errstate(all="ignore"):
                    flow[s, t] = down + on
        start[b] = flow[top, left]
    return px_grad, py_grad, start


def draw_boundary(rng: np.random.Generator, batch: int, rows: int, columns: int) -> np.ndarray:
    """Regions of tables; one in eight is empty."""
    found = np.zeros((batch, 4), np.int64)
    for b in range(batch):
        for axis, size in enumerate((rows, columns)):
            found[b, axis], found[b, axis + 2] = np.sort(rng.integers(0, size + 1, 2))
        if rng.random() < 1 / 8:
            found[b] = found[b, [2, 3, 0, 1]]
    return found


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let regions lie in the tables, and tables belong to the sequences."""
    px, py, boundary = arguments["px"], arguments["py"], arguments["opt_boundary"]
    boundary[...] = draw_boundary(rng, len(px), px.shape[1], py.shape[2])
    if "p" in arguments:
        arguments["p"][...] = forward(px, py, boundary)[1]
    if isinstance(arguments.get("overwrite_ans_grad"), bool):
        arguments["overwrite_ans_grad"] = False  # what is overwritten differs by rounding: a second call would too


def in_double(name: str, *given: Any) -> Any:
    """The results of an operator for float64 arrays and the scalars of the description."""
    if name == "mutual_information_forward":
        return forward(*given)
    px_grad, py_grad, start = backward(*given[:5])
    return (start if given[5] else given[4]), px_grad, py_grad


def ways(size: int) -> Iterator[Way]:
    """Long and short sequences, more rows than a band has, and many short pairs."""
    for name in SUMS:
        yield Way(name, "rows", {"B": 2, "S": 70, "T": 4 * size}, change=_whole)
        yield Way(name, "regions", {"B": 4, "S": 40, "T": 2 * size})
        yield Way(name, "pairs", {"B": 20 * size, "S": 3, "T": 5}, change=_whole)


def _whole(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    arguments["opt_boundary"][...] = regions(None, arguments["px"], arguments["py"])


# ---- refusals ------------------------------------------------------------------------------------


def _checks(problem: Any, sizes: Mapping[str, int]) -> dict[str, list[Check]]:
    """All have the same batch, and regions lie in the tables."""
    tensors = {name: tensor for name, tensor in problem.tensors.items() if tensor.dims}
    batch = tensors["px"].dims[0] if "px" in tensors else 0
    others = [name for name in ("py", "p", "ans", "ans_grad", "px_grad", "py_grad") if name in tensors]
    checks = {"batches": [bad(tensors[name].dims[0] == batch, f"{name}_desc", "px_desc") for name in others]}
    boundary = problem.tensors["opt_boundary"]
    whole = (boundary.desc == "null") == (boundary.data == "null") or sizes.get("B") == 0
    checks["pairs"] = [bad(whole, "opt_boundary", "opt_boundary_desc")]
    given = boundary.desc == "ok" and boundary.data == "ok" and boundary.content is not None
    if given and boundary.content.nbytes == boundary.nbytes and "S" in sizes and "T" in sizes:
        limits = [sizes["S"], sizes["T"]] * 2
        rows = boundary.content.reshape(-1, 4)
        checks["regions"] = [bad(bool(((rows >= 0) & (rows <= limits)).all()), "opt_boundary")]
    return checks


def _refusals(more: str, **empty: str) -> Refusals:
    return Refusals(
        order=f"handle objects ranks batches shapes:px shapes packed types {more}",
        statuses={"shapes:px": NOT_SUPPORTED, "types": NOT_SUPPORTED},
        empty=empty,
        checks=_checks,
        needs_workspace=False,
    )


REFUSALS = {
    # The regions do not matter for the size.
    "mluOpGetMutualInformationForwardWorkspaceSize": Refusals(
        order="handle objects:px objects:py objects:p objects:ans optional:opt_boundary pointer"
    ),
    "mluOpGetMutualInformationBackwardWorkspaceSize": Refusals(
        order="handle objects:px objects:py objects:p objects:ans_grad optional:opt_boundary pointer"
    ),
    "mluOpMutualInformationForward": _refusals(
        "indexable workspace data pairs overlap regions",
        B="", S="py opt_boundary p ans", T="px opt_boundary p ans",
    ),
    "mluOpMutualInformationBackward": _refusals(
        "indexable workspace data pairs overlap regions",
        B="", S="py opt_boundary p ans_grad py_grad", T="px opt_boundary p ans_grad px_grad",
    ),
}  # fmt: skip
