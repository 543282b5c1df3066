"""Chains of elementwise operations against NumPy, step by step."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kernels.host_functions import HERE, KERNEL_TRAP, SUCCESS, Device
from kernels.intrinsics.intrinsic_calls import DTYPES, assert_same, values
from pymluops.sim.toolchain import Toolchain

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


@pytest.mark.parametrize("over", [0, 1])
@pytest.mark.parametrize("ctype", ["half", "float"])
def test_chains(ctype: str, over: int, toolchain: Toolchain, device: Callable[[int], Device]) -> None:
    library = toolchain.compile(HERE / "intrinsics" / "fusor.mlu", 372)
    kind = DTYPES[ctype].type
    for seed, count in enumerate([1, 7, 300]):
        a = values(np.random.default_rng(seed), ctype, count)
        out = np.zeros_like(a)
        outcome = device(372).call(library, f"{ctype}_run", a, out, count, count, over)
        assert outcome.code == SUCCESS, outcome.report
        assert_same(out, np.sqrt((a * kind(3) + kind(0.5) - kind(2)) / kind(7)))


def test_a_finding_names_the_line_of_the_chain(toolchain: Toolchain, device: Callable[[int], Device]) -> None:
    source = HERE / "intrinsics" / "fusor.mlu"
    library = toolchain.compile(source, 372)
    a = np.ones(1100, np.float32)
    outcome = device(372).call(library, "float_run", a, np.zeros_like(a), 1100, 1000, 0)
    assert outcome.code == KERNEL_TRAP
    chain = next(
        number for number, line in enumerate(source.read_text().splitlines(), 1) if ">(dst, src, count)" in line
    )
    assert [(finding.rule, finding.line) for finding in outcome.findings] == [("out-of-bounds", chain)]


def test_what_is_undefined_stays_so(toolchain: Toolchain, device: Callable[[int], Device]) -> None:
    library = toolchain.compile(HERE / "intrinsics" / "fusor.mlu", 372)
    a = np.ones(100, np.float32)
    outcome = device(372).call(library, "float_run", a, np.zeros_like(a), 100, 90, 0)
    assert [(finding.checker, finding.rule) for finding in outcome.findings] == [("init", "copy")]
