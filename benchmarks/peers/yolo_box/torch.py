"""yolo_box with PyTorch: logistic functions of all planes, and what is below the threshold set to 0."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the composition, compiled by nothing."""
    torch: Any = importlib.import_module("torch")
    given = {name: torch.from_numpy(array) for name, array in problem.inputs.items()}
    boxes, scores = (torch.from_numpy(outputs[name]) for name in ("boxes", "scores"))
    facts = problem.case.parameters
    count, classes, side = facts["anchors"], facts["classes"], facts["side"]
    columns = torch.arange(side, dtype=torch.float32)

    def compose() -> Arrays:
        planes = given["x"].view(-1, count, 5 + classes, side, side)
        image = given["img_size"].float()[:, :, None, None, None]
        anchors = given["anchors"].float().view(1, count, 2, 1, 1)
        confidence = planes[:, :, 4].sigmoid()
        x = (columns + planes[:, :, 0].sigmoid()) * image[:, 1] / side
        y = (columns[:, None] + planes[:, :, 1].sigmoid()) * image[:, 0] / side
        half_w = planes[:, :, 2].exp() * anchors[:, :, 0] * image[:, 1] / (64 * side)
        half_h = planes[:, :, 3].exp() * anchors[:, :, 1] * image[:, 0] / (64 * side)
        corners = [
            (x - half_w).clamp_min(0),
            (y - half_h).clamp_min(0),
            torch.minimum(x + half_w, image[:, 1] - 1),
            torch.minimum(y + half_h, image[:, 0] - 1),
        ]
        kept = (confidence >= 0.5)[:, :, None]
        boxes.copy_((torch.stack(corners, 2) * kept).flatten(3))
        scores.copy_((planes[:, :, 5:].sigmoid() * confidence[:, :, None] * kept).flatten(3))
        return outputs

    return {"composition": compose}
