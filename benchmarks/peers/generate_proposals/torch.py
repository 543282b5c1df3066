"""generate_proposals_v2 with PyTorch: topk, decoding of whole tensors, overlaps with one kept box at a time."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the one way."""
    torch: Any = importlib.import_module("torch")
    scores, deltas, shape, anchors, variances = (torch.from_numpy(array) for array in problem.inputs.values())
    facts = problem.case.parameters
    height, width = shape[0].tolist()

    def decode() -> Any:
        flat = scores.reshape(-1)
        order = torch.topk(flat, min(facts["before"], len(flat))).indices
        anchor = anchors.reshape(-1, 4)[order]
        delta = deltas.reshape(-1, 4)[order] * variances.reshape(-1, 4)[order]
        size = anchor[:, 2:] - anchor[:, :2] + 1
        centre = anchor[:, :2] + size / 2 + delta[:, :2] * size
        half = size * delta[:, 2:].clamp(max=4.135166556742356).exp() / 2
        limit = torch.tensor([width - 1, height - 1])
        low, high = torch.minimum(centre - half, limit), torch.minimum(centre + half - 1, limit)
        boxes = torch.cat([low, high], 1).clamp_(min=0)
        return boxes[((boxes[:, 2:] - boxes[:, :2] + 1) >= 1).all(1)]

    def run() -> Arrays:
        boxes = decode()
        areas = (boxes[:, 2:] - boxes[:, :2] + 1).prod(1)
        left = torch.ones(len(boxes), dtype=torch.bool)
        kept: list[int] = []
        for i in range(len(boxes)):
            if not left[i]:
                continue
            kept.append(i)
            if len(kept) == facts["after"]:
                break
            low, high = torch.maximum(boxes[i, :2], boxes[:, :2]), torch.minimum(boxes[i, 2:], boxes[:, 2:])
            common = (high - low + 1).clamp_(min=0).prod(1)
            left &= common <= 0.7 * (areas[i] + areas - common)
        return {"rois": boxes[kept].numpy()}

    return {"composition": run}
