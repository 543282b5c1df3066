"""border_align with PyTorch: four corners as a bag of embeddings, grid_sample, and scatters for the gradient."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers import Variants
from benchmarks.peers.border_align._points import backward_positions, corners, forward_positions
from benchmarks.problem import Arrays, Problem

#: Elements of a block of boxes whose samples stay in the cache.
_BLOCK = 1 << 18


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the ways for the direction."""
    torch: Any = importlib.import_module("torch")
    if problem.case.operator.endswith("forward"):
        work = _Forward(torch, problem, outputs)
        return {"embedding_bag": work.bags, "embedding_bag, blocks": work.bag_blocks, "grid_sample": work.grid_sample}
    return _backward(torch, problem, outputs)


class _Forward:
    def __init__(self, torch: Any, problem: Problem, outputs: Arrays) -> None:
        self.torch, self.outputs, self.pool = torch, outputs, problem.case.parameters["pool"]
        self.features = torch.from_numpy(problem.inputs["input"])
        self.boxes = torch.from_numpy(problem.inputs["boxes"])
        self.channels = problem.case.parameters["channels"]
        self.batch, self.height, self.width = self.features.shape[:3]
        self.out = torch.from_numpy(outputs["out"]).view(-1, self.channels)
        self.argmax = torch.from_numpy(outputs["argmax_idx"]).view(-1, self.channels)

    def geometry(self) -> tuple[Any, Any]:
        """Return rows of channels and weights, [pool + 1, N*K*4, 4] both."""
        torch = self.torch
        place = forward_positions(torch, self.boxes.float(), self.pool)
        pixels, weights = corners(torch, lambda values: values.int(), place, self.height, self.width)
        first = torch.arange(self.batch, dtype=torch.int32).view(-1, 1, 1, 1, 1) * (self.height * self.width)
        index = (first + pixels) * 4 + torch.arange(4, dtype=torch.int32).view(4, 1, 1)
        shape = (-1, self.pool + 1, 4)
        index, weights = index.view(shape).transpose(0, 1), weights.view(shape).transpose(0, 1)
        return index.contiguous(), weights.contiguous()

    def bags(self) -> Arrays:
        """A bag for each sample of a point on all borders, and a running maximum over the points."""
        rows = self.features.float().view(-1, self.channels)
        index, weights = self.geometry()
        self._search(rows, index, weights, self.out, self.argmax)
        return self.outputs

    def bag_blocks(self) -> Arrays:
        """The same for some borders at a time."""
        rows = self.features.float().view(-1, self.channels)
        index, weights = self.geometry()
        step = max(1, _BLOCK // self.channels)
        for start in range(0, len(self.out), step):
            part = slice(start, start + step)
            self._search(rows, index[:, part], weights[:, part], self.out[part], self.argmax[part])
        return self.outputs

    def _search(self, rows: Any, index: Any, weights: Any, out: Any, argmax: Any) -> None:
        torch, bag = self.torch, self.torch.nn.functional.embedding_bag
        best = bag(index[0], rows, mode="sum", per_sample_weights=weights[0])
        argmax.zero_()
        for i in range(1, self.pool + 1):
            value = bag(index[i], rows, mode="sum", per_sample_weights=weights[i])
            argmax.masked_fill_(value > best, i)
            torch.maximum(best, value, out=best)
        out.copy_(best)

    def grid_sample(self) -> Arrays:
        """The operator that samples images, a border's channels at a time."""
        torch = self.torch
        x, y = forward_positions(torch, self.boxes.float(), self.pool)
        outside = (y < -1) | (y > self.height) | (x < -1) | (x > self.width)
        grid = torch.stack([scaled(x, self.width), scaled(y, self.height)], -1)
        image = self.features.float().view(self.batch, self.height, self.width, 4, self.channels)
        out = torch.from_numpy(self.outputs["out"])
        argmax = torch.from_numpy(self.outputs["argmax_idx"])
        for border in range(4):
            channels = image[:, :, :, border].permute(0, 3, 1, 2)
            value = torch.nn.functional.grid_sample(
                channels, grid[:, :, border], padding_mode="border", align_corners=True
            )
            value.masked_fill_(outside[:, None, :, border], 0)
            best, where = value.max(3)
            out[:, :, border].copy_(best.transpose(1, 2))
            argmax[:, :, border].copy_(where.transpose(1, 2))
        return self.outputs


def scaled(position: Any, size: int) -> Any:
    """Return a place in pixels as grid_sample counts it, from -1 to 1."""
    return position * (2 / (size - 1)) - 1 if size > 1 else position * 0


def _backward(torch: Any, problem: Problem, outputs: Arrays) -> Variants:
    gradient, boxes, argmax = (
        torch.from_numpy(problem.inputs[name]) for name in ("grad_output", "boxes", "argmax_idx")
    )
    out, pool = torch.from_numpy(outputs["out"]), problem.case.parameters["pool"]
    batch, height, width, _ = out.shape
    boxes_count, channels = gradient.shape[1], gradient.shape[3]

    def chosen() -> tuple[Any, Any]:
        """The four pixels and weights of the largest sample, each [N, K, 4, C]."""
        steps = torch.arange(pool + 1, dtype=torch.float32)
        place = backward_positions(torch, boxes.float(), steps, pool)
        pixels, weights = corners(torch, lambda values: values.long(), place, height, width)
        index = argmax.long()
        of_corner = [(pixels[..., c].gather(3, index), weights[..., c].gather(3, index)) for c in range(4)]
        return tuple(pair[0] for pair in of_corner), tuple(pair[1] for pair in of_corner)

    def target() -> Any:
        return out.zero_() if out.dtype == torch.float32 else torch.zeros(out.shape, dtype=torch.float32)

    def scatter_add() -> Arrays:
        """One scatter a corner, along the axis of pixels."""
        total, values = target(), gradient.float()
        sums = total.view(batch, height * width, 4 * channels)
        for pixels, weights in zip(*chosen(), strict=True):
            index = pixels.view(batch, boxes_count, 4 * channels)
            sums.scatter_add_(1, index, (values * weights).view(batch, boxes_count, 4 * channels))
        if total is not out:
            out.copy_(total)
        return outputs

    def flat_index_add() -> Arrays:
        """One sum a corner into the flat gradient."""
        total, values = target(), gradient.float()
        image = torch.arange(batch).view(-1, 1, 1, 1) * (height * width)
        inner = torch.arange(4 * channels).view(4, channels)
        for pixels, weights in zip(*chosen(), strict=True):
            index = (image + pixels) * (4 * channels) + inner
            total.view(-1).index_add_(0, index.view(-1), (values * weights).view(-1))
        if total is not out:
            out.copy_(total)
        return outputs

    return {"scatter_add": scatter_add, "flat index_add": flat_index_add}
