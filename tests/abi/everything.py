"""One call of every operator on tensors large enough for the thread pool, to compare threads and processes."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from abi.facts import SUCCESS
from abi.problems import PROBLEMS, Call, Problem, Tensor
from abi.raw import RawAbi

OPERATORS = [name for name in PROBLEMS if name != "mluOpGetIndicePairsWorkspaceSize"]


def _tensor(name: str, dims: tuple[int, ...], like: Tensor, values: np.ndarray[Any, Any] | None = None) -> Tensor:
    if values is None and not like.output:
        values = np.random.default_rng(len(name)).uniform(-1, 1, dims).astype(np.float32)
    return Tensor(dims, like.dtype, like.layout, like.output, content=values)


def _large_shapes(name: str) -> dict[str, tuple[int, ...]]:
    """Around 40 000 elements a tensor; no size is a round one."""
    if "TinShift" in name:
        return dict.fromkeys(("input", "output", "grad_output", "grad_input"), (3, 7, 12, 157)) | {"shifts": (3, 4)}
    if "Psamask" in name:
        mask, full = (2, 13, 17, 15), (2, 13, 17, 221)
        return {"x": mask, "dx": mask, "y": full, "dy": full}
    if "BorderAlign" in name:
        pooled, image = (2, 101, 4, 37), (2, 13, 11, 148)
        return {
            "input": image, "grad_input": image, "boxes": (2, 101, 4), "output": pooled, "grad_output": pooled,
            "argmax_idx": pooled,
        }  # fmt: skip
    if "ThreeInterpolate" in name:
        wide, deep = (2, 41, 503), (2, 41, 211)
        return {
            "features": deep, "grad_features": deep, "output": wide, "grad_output": wide,
            "indices": (2, 503, 3), "weights": (2, 503, 3),
        }  # fmt: skip
    rows = 2999
    return {"indices": (rows, 4), "indice_pairs": (27, 2, rows), "out_indices": (40_000, 4), "indice_num": (27,)}


def _content(tensor: str, dims: tuple[int, ...]) -> np.ndarray[Any, Any] | None:
    random = np.random.default_rng(11)
    if tensor == "shifts":
        return random.integers(-8, 8, dims, dtype=np.int32)
    if tensor == "argmax_idx":
        return random.integers(0, 4, dims, dtype=np.int32)
    if tensor == "boxes":
        corners = random.uniform(-2, 12, (*dims[:2], 2))
        return np.concatenate([corners, corners + random.uniform(0, 6, corners.shape)], axis=2).astype(np.float32)
    if tensor == "indices" and dims[-1] == 3:
        return random.integers(0, 211, dims, dtype=np.int32)
    if tensor == "indices":
        cells = random.permutation(2 * 21 * 33 * 29)[: dims[0]]
        return np.stack(np.unravel_index(cells, (2, 21, 33, 29)), axis=1).astype(np.int32)
    return None


def large_problem(name: str) -> Problem:
    small, shapes = PROBLEMS[name](), _large_shapes(name)
    tensors = {
        tensor: _tensor(tensor, shapes[tensor], old, None if old.output else _content(tensor, shapes[tensor]))
        for tensor, old in small.tensors.items()
    }
    sparse = (
        None if small.sparse is None else {**small.sparse, "input_space": (21, 33, 29), "output_space": (21, 33, 29)}
    )
    return Problem(name, tensors, small.values, sparse)


def digests(abi: RawAbi, names: list[str] = OPERATORS) -> dict[str, str]:
    """Run the operators on a handle of their own; a digest of all outputs for each."""
    found = {}
    for name in names:
        call = Call(abi, large_problem(name))
        status = call.run()
        assert status == SUCCESS, f"{name}: {abi.reason()}"
        call.assert_only_outputs_touched()
        outputs = [tensor for tensor in call.problem.tensors if call.problem.tensors[tensor].output]
        found[name] = hashlib.sha256(b"".join(call.buffers[tensor].tobytes() for tensor in outputs)).hexdigest()
    return found
