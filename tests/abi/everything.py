"""One call of every operator on tensors large enough for the thread pool, to compare threads and processes."""

from __future__ import annotations

import hashlib

from abi.c_objects import RawAbi
from abi.derived import COMPUTING, large_problem
from abi.facts import SUCCESS
from abi.operator_call import Call
from support.selection import is_thorough

OPERATORS = COMPUTING

#: For long tests of many threads and processes: a quarter of them in the quick selection.
SEVERAL = OPERATORS if is_thorough() else OPERATORS[::4]


def digests(abi: RawAbi, names: list[str] = OPERATORS) -> dict[str, str]:
    """Run the operators on a handle of their own; a digest of all outputs for each."""
    found = {}
    for name in names:
        call = Call(abi, large_problem(name))
        status = call.run()
        assert status == SUCCESS, f"{name}: {abi.reason()}"
        call.assert_only_outputs_touched()
        outputs = [tensor for tensor in call.problem.tensors if call.problem.tensors[tensor].written]
        found[name] = hashlib.sha256(b"".join(call.buffers[tensor].tobytes() for tensor in outputs)).hexdigest()
    return found
