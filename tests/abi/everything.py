"""One call of every operator on tensors large enough for the thread pool, to compare threads and processes."""

from __future__ import annotations

import hashlib

import numpy as np

from abi import derived
from abi.facts import SUCCESS
from abi.problems import Call, Problem, Tensor, get_indice_pairs
from abi.raw import RawAbi
from calls import OPERATORS as CALLS

_BY_FUNCTION = {operator.c_function: name for name, operator in CALLS.items()}

OPERATORS = [*_BY_FUNCTION, "mluOpGetIndicePairs"]


def _large_pairs() -> Problem:
    rows, space = 2999, (21, 33, 29)
    cells = np.random.default_rng(11).permutation(2 * int(np.prod(space)))[:rows]
    indices = np.stack(np.unravel_index(cells, (2, *space)), axis=1).astype(np.int32)
    small = get_indice_pairs()
    shapes = {"indices": (rows, 4), "indice_pairs": (27, 2, rows), "out_indices": (40_000, 4), "indice_num": (27,)}
    tensors = {
        name: Tensor(shape, "INT32", output=name != "indices", content=indices if name == "indices" else None)
        for name, shape in shapes.items()
    }
    assert small.sparse is not None
    return Problem(small.function, tensors, small.values, {**small.sparse, "input_space": space, "output_space": space})


def large_problem(function: str) -> Problem:
    """A call of a function."""
    return derived.large_problem(_BY_FUNCTION[function]) if function in _BY_FUNCTION else _large_pairs()


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
