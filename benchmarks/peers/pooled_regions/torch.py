"""roi_pool with PyTorch: adaptive_max_pool2d of the pixels of each region, and index_put_ for the gradient."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the way for the direction. Bins of regions on the map are those of adaptive pooling."""
    torch: Any = importlib.import_module("torch")
    facts = problem.case.parameters
    if problem.case.operator.endswith("backward"):
        return {"index_put_": lambda: _backward(torch, problem, outputs)}
    maps = torch.from_numpy(problem.inputs["input"]).permute(0, 3, 1, 2)
    rois = (torch.from_numpy(problem.inputs["rois"])[:, 1:] * facts["scale"] + 0.5).floor().long().tolist()
    images = problem.inputs["rois"][:, 0].astype(int).tolist()
    width = facts["size"][1]

    def forward() -> Arrays:
        given = maps.contiguous()
        for r, (image, (x1, y1, x2, y2)) in enumerate(zip(images, rois, strict=True)):
            part = given[image, :, y1 : y2 + 1, x1 : x2 + 1]
            best, place = torch.nn.functional.adaptive_max_pool2d(part, facts["bins"], return_indices=True)
            columns = part.shape[2]
            pixel = (place // columns + y1) * width + place % columns + x1
            torch.from_numpy(outputs["out"])[r] = best.permute(1, 2, 0)
            torch.from_numpy(outputs["argmax"])[r] = pixel.permute(1, 2, 0).int()
        return outputs

    return {"adaptive_max_pool2d": forward}


def _backward(torch: Any, problem: Problem, outputs: Arrays) -> Arrays:
    grad, rois, argmax = (torch.from_numpy(array) for array in problem.inputs.values())
    out = torch.from_numpy(outputs["out"]).zero_()
    batch, _, _, channels = out.shape
    pixel = argmax.long()
    image = rois[:, 0].long()[:, None, None, None].expand(pixel.shape)
    channel = torch.arange(channels).expand(pixel.shape)
    kept = pixel >= 0
    out.view(batch, -1, channels).index_put_((image[kept], pixel[kept], channel[kept]), grad[kept], accumulate=True)
    return outputs
