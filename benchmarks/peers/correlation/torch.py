"""correlation with PyTorch: products of displaced maps, products of whole rows, and of all pixels with all."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem

#: Products of all pixels with all are made up to this number of them.
_MOST_PAIRS = 1 << 26


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the ways of the direction; gradients are those of PyTorch."""
    torch: Any = importlib.import_module("torch")
    facts = problem.case.parameters
    far, step, kernel, stride = facts["far"], facts["step"], facts["kernel"], facts["stride"]
    given = {name: torch.from_numpy(array) for name, array in problem.inputs.items()}
    batch, _, height, width = given["input1"].shape
    patch, rim = 2 * far + 1, far * step
    high, wide = height + 2 * rim, width + 2 * rim
    if given["input1"].dtype == torch.float16:  # added up in float16
        return {}

    def padded(other: Any) -> Any:
        return torch.nn.functional.pad(other, (rim,) * 4)

    def displaced(one: Any, other: Any) -> Any:
        other, moves = padded(other), range(0, patch * step, step)
        products = [(one * other[:, :, y : y + height, x : x + width]).sum(1) for y in moves for x in moves]
        return torch.stack(products, 1).unflatten(1, (patch, patch))

    def rows(one: Any, other: Any) -> Any:
        one, other = one.permute(0, 2, 3, 1).contiguous(), padded(other).permute(0, 2, 1, 3).contiguous()
        found = []
        for y in range(0, patch * step, step):
            products = torch.matmul(one, other[:, y : y + height]).contiguous()
            strides = (height * width * wide, step, width * wide, wide + 1)
            found.append(products.as_strided((batch, patch, height, width), strides))
        return torch.stack(found, 1)

    def pairs(one: Any, other: Any) -> Any:
        products = torch.bmm(one.flatten(2).transpose(1, 2), padded(other).flatten(2))
        strides = (height * width * high * wide, step * wide, step, width * high * wide + wide, high * wide + 1)
        return products.as_strided((batch, patch, patch, height, width), strides)

    def summed(products: Any) -> Any:
        if kernel == stride == 1:
            return products
        ones = products.new_ones(1, 1, kernel, kernel)
        sums = torch.nn.functional.conv2d(products.flatten(0, 2)[:, None], ones, None, stride, kernel // 2)
        return sums.unflatten(0, (batch, patch, patch))[:, :, :, 0]

    def forward(way: Any) -> Arrays:
        torch.from_numpy(outputs["out"]).copy_(summed(way(given["input1"], given["input2"])))
        return outputs

    def backward(way: Any) -> Arrays:
        maps = [given[name].detach().requires_grad_() for name in ("input1", "input2")]
        found = torch.autograd.grad(summed(way(*maps)), maps, given["grad_output"])
        for name, gradient in zip(("grad_input1", "grad_input2"), found, strict=True):
            torch.from_numpy(outputs[name]).copy_(gradient)
        return outputs

    run = forward if problem.case.operator == "correlation_forward" else backward
    ways = {"displaced maps": lambda: run(displaced), "products of rows": lambda: run(rows)}
    if batch * height * width * high * wide <= _MOST_PAIRS:
        ways["all pairs"] = lambda: run(pairs)
    return ways
