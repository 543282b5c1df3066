"""Vector registers against NumPy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kernels.host_functions import HERE, SUCCESS, Device, Outcome
from kernels.intrinsics.intrinsic_calls import assert_same, values
from pymluops.sim.toolchain import Toolchain

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

#: By type of the register: the C type of its lanes.
LANES = {
    "vv_float": "float",
    "vv_half": "half",
    "vv_int16": "short",
    "vv_uint16": "unsigned short",
    "vv_int32": "int",
    "vv_uint32": "unsigned int",
}
Operands = tuple[np.ndarray, np.ndarray, np.ndarray, np.generic, np.generic]

#: By number in registers.mlu.
OPERATIONS: dict[int, Callable[..., np.ndarray]] = {
    0: lambda a, b, c, x, y: (x + np.arange(len(a)).astype(a.dtype) * y).astype(a.dtype),
    1: lambda a, b, c, x, y: np.full_like(a, x),
    2: lambda a, b, c, x, y: a,
    3: lambda a, b, c, x, y: a + b,
    4: lambda a, b, c, x, y: a + x,
    5: lambda a, b, c, x, y: a * b,
    6: lambda a, b, c, x, y: a * x,
    7: lambda a, b, c, x, y: a ^ b,
    8: lambda a, b, c, x, y: a ^ x,
    9: lambda a, b, c, x, y: (a.astype(np.uint64) * b >> np.uint64(32)).astype(a.dtype),
    10: lambda a, b, c, x, y: (a.astype(np.uint64) * np.uint64(x) >> np.uint64(32)).astype(a.dtype),
    11: lambda a, b, c, x, y: a ^ b ^ c,
}
CASES = [
    (name, op)
    for name, ctype in LANES.items()
    for op in OPERATIONS
    if op < 7 or (op < 9 and ctype not in ("float", "half")) or name == "vv_uint32"
]


def run(
    name: str, op: int, operands: np.ndarray, toolchain: Toolchain, device: Callable[[int], Device], count: int = -1,
    shift: int = 0, arch: int = 592,
) -> tuple[Outcome, np.ndarray]:  # fmt: skip
    library = toolchain.compile(HERE / "intrinsics" / "registers.mlu", arch)
    out = np.zeros(256 // operands.itemsize, operands.dtype)
    return device(arch).call(library, f"{name}_run", operands, out, op, count, shift), out


@pytest.mark.sampled("name", "op")
@pytest.mark.parametrize(("name", "op"), CASES)
def test_operations(name: str, op: int, toolchain: Toolchain, device: Callable[[int], Device]) -> None:
    for seed in range(3):
        lanes = 256 // np.dtype(values(np.random.default_rng(0), LANES[name], 1).dtype).itemsize
        operands = values(np.random.default_rng(seed), LANES[name], 3 * lanes + 2)
        outcome, out = run(name, op, operands, toolchain, device)
        assert outcome.code == SUCCESS, outcome.report
        a, b, c = operands[: 3 * lanes].reshape(3, lanes)
        assert_same(out, OPERATIONS[op](a, b, c, operands[-2], operands[-1]))


@pytest.mark.parametrize(("count", "shift"), [(0, 0), (1, 0), (63, 4), (64, 12), (5, 1)])
def test_stores_of_some_lanes(count: int, shift: int, toolchain: Toolchain, device: Callable[[int], Device]) -> None:
    operands = np.arange(1, 195, dtype=np.float32)
    outcome, out = run("vv_float", 2, operands, toolchain, device, count, shift)
    assert outcome.code == SUCCESS, outcome.report
    assert out.tolist() == [*operands[:count].tolist(), *[0.0] * (64 - count)]


def test_more_lanes_than_a_register_has(toolchain: Toolchain, device: Callable[[int], Device]) -> None:
    outcome, _ = run("vv_float", 2, np.ones(194, np.float32), toolchain, device, 65)
    assert [(finding.checker, finding.rule) for finding in outcome.findings] == [("memory", "bad-argument")]


def test_a_store_behind_the_array(toolchain: Toolchain, device: Callable[[int], Device]) -> None:
    outcome, _ = run("vv_float", 2, np.ones(194, np.float32), toolchain, device, -1, 260)
    assert {(finding.checker, finding.rule) for finding in outcome.findings} == {("memory", "out-of-bounds")}
