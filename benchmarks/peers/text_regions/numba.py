"""text_regions with numba: the same queue, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.families.text_regions import DISTANCE
from benchmarks.peers import Variants
from benchmarks.peers.numba_support import inlined
from benchmarks.problem import Arrays, Problem


def _expand(mask: Any, labels: Any, queue: Any) -> None:
    height, width = labels.shape
    begin, end = 0, 0
    for i in range(height):
        for j in range(width):
            if labels[i, j] > 0:
                queue[end] = i * width + j
                end += 1
    while begin < end:
        i, j = queue[begin] // width, queue[begin] % width
        begin += 1
        for step in range(4):
            k = i + (step == 1) - (step == 0)
            m = j + (step == 3) - (step == 2)
            if 0 <= k < height and 0 <= m < width and labels[k, m] == 0 and mask[k, m]:
                labels[k, m] = labels[i, j]
                queue[end] = k * width + m
                end += 1


def _group(mask: Any, embedding: Any, contour: Any, labels: Any, centres: Any, limit: Any, queue: Any) -> None:
    height, width = labels.shape
    begin, end = 0, 0
    for i in range(height):
        for j in range(width):
            if labels[i, j] > 0 and contour[i, j]:
                queue[end] = i * width + j
                end += 1
    while begin < end:
        i, j = queue[begin] // width, queue[begin] % width
        begin += 1
        for step in range(4):
            k = i + (step == 3) - (step == 2)
            m = j + (step == 1) - (step == 0)
            if not (0 <= k < height and 0 <= m < width) or labels[k, m] > 0 or not mask[k, m]:
                continue
            distance = np.float32(0)
            for c in range(embedding.shape[2]):
                apart = embedding[k, m, c] - centres[labels[i, j], c]
                distance += apart * apart
            if distance < limit:
                labels[k, m] = labels[i, j]
                queue[end] = k * width + m
                end += 1


_expanded, _grouped = inlined(_expand), inlined(_group)


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the one way, which uses one thread."""
    given, out = problem.inputs, outputs["out"]
    queue = np.zeros(out.size, np.int64)

    def expand() -> Arrays:
        out[...] = given["label"]
        _expanded(given["masks"][0], out, queue)
        return outputs

    def group() -> Arrays:
        out[...] = given["label"]
        count = len(outputs["counts"])
        numbers = np.bincount(out.ravel(), minlength=count)
        centres = np.zeros((count, given["embedding"].shape[2]), np.float32)
        for c in range(centres.shape[1]):
            sums = np.bincount(out.ravel(), given["embedding"][..., c].ravel(), count)
            centres[:, c] = sums / np.maximum(numbers, 1)
        _grouped(given["mask"], given["embedding"], given["contour"], out, centres, np.float32(DISTANCE**2), queue)
        outputs["counts"][...] = np.bincount(out.ravel(), minlength=count)
        sums = np.bincount(out.ravel(), given["score"].ravel(), count)
        outputs["scores"][...] = sums / np.maximum(outputs["counts"], 1)
        outputs["counts"][0] = outputs["scores"][0] = 0
        return outputs

    return {"queue": expand if problem.case.operator == "contour_expand" else group}
