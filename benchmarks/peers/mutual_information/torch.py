"""mutual_information with PyTorch: diagonals, or rows, whose cells are computed at once."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the way by diagonals, and for the gradient also autograd of the forward way."""
    torch: Any = importlib.import_module("torch")
    given = {name: torch.from_numpy(array) for name, array in problem.inputs.items()}
    out = {name: torch.from_numpy(array) for name, array in outputs.items()}
    px, py = given["px"], given["py"]
    batch, rows, width = px.shape

    def diagonals(table: Any, height: int, across: int) -> Any:
        """Return [height, rows of diagonals, batch]: line d has the cells [s, d - s], and padding beside the table."""
        skewed = table.new_zeros(height, height + across, batch)
        for s in range(height):
            skewed[s, s : s + across] = table[:, s].T
        return skewed.transpose(0, 1).contiguous()

    def straight(skewed: Any, to: Any) -> None:
        for s in range(to.shape[1]):
            to[:, s] = skewed[s : s + to.shape[2], s].T

    def forward() -> Arrays:
        down, on = diagonals(px, rows, width), diagonals(py, rows + 1, width - 1)
        lines = torch.full((rows + width, rows + 1, batch), -torch.inf)
        lines[0, 0] = 0
        for d in range(1, rows + width):
            first, last = max(0, d - width + 1), min(rows, d)  # rows of the cells of this diagonal
            x, y = (
                lines.new_full((last + 1 - first, batch), -torch.inf),
                lines.new_full((last + 1 - first, batch), -torch.inf),
            )
            top, bottom = max(first, 1), min(last, d - 1)
            x[top - first :] = lines[d - 1, top - 1 : last] + down[d - 1, top - 1 : last]
            y[: bottom + 1 - first] = lines[d - 1, first : bottom + 1] + on[d - 1, first : bottom + 1]
            torch.logaddexp(x, y, out=lines[d, first : last + 1])
        straight(lines, out["p"])
        out["ans"].copy_(out["p"][:, -1, -1])
        return outputs

    def backward() -> Arrays:
        p, start = given["p"], given["start"]
        down = diagonals((p[:, :-1] + px - p[:, 1:]).exp(), rows, width)
        on = diagonals((p[:, :, :-1] + py - p[:, :, 1:]).exp(), rows + 1, width - 1)
        flow = torch.zeros(rows + width, rows + 2, batch)
        flow[rows + width - 1, rows] = start
        for d in range(rows + width - 2, -1, -1):
            down[d].mul_(flow[d + 1, 1 : rows + 1])
            on[d].mul_(flow[d + 1, : rows + 1])
            flow[d, : rows + 1] = on[d]
            flow[d, :rows] += down[d]
        straight(down, out["px_grad"])
        straight(on, out["py_grad"])
        return outputs

    return {"diagonals": forward if problem.case.operator.endswith("forward") else backward}
