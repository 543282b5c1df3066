"""prior_box with PyTorch: centres and half sizes broadcast."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the one way."""
    torch: Any = importlib.import_module("torch")
    least, ratios, variances, most = (torch.from_numpy(array) for array in problem.inputs.values())
    out, var = (torch.from_numpy(outputs[name]) for name in ("out", "var"))
    side = out.shape[0]
    cells = (torch.arange(side, dtype=torch.float32) + 0.5) * 8

    def run() -> Arrays:
        roots = ratios[1:].sqrt()
        square = (least * most).sqrt()[:, None]
        widths = torch.cat([least[:, None], square, least[:, None] * roots], 1).reshape(-1) / 2
        heights = torch.cat([least[:, None], square, least[:, None] / roots], 1).reshape(-1) / 2
        halves = torch.stack([widths, heights], 1)
        x, y = cells[None, :, None].expand(side, side, 1), cells[:, None, None].expand(side, side, 1)
        centres = torch.stack([x, y], 3)
        torch.sub(centres, halves, out=out[..., :2])
        torch.add(centres, halves, out=out[..., 2:])
        out.div_(8 * side).clamp_(0, 1)
        var.copy_(variances.expand(out.shape))
        return outputs

    return {"broadcast": run}
