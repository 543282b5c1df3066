"""Every installed peer computes what our operators compute, in every variant. NumPy is always one."""

from __future__ import annotations

import numpy as np
import pytest

from bench.small import small_cases
from benchmarks import driver
from benchmarks.cases import FAMILIES, Case
from benchmarks.families import build
from benchmarks.peers import PEERS, Peer, installed_peers, numba_support
from benchmarks.problem import WrongResultError, spoil
from benchmarks.threads import set_all_threads
from benchmarks.timing import QUICK
from support.example import CHOOSING, MOVING, PAIRING


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("peer", installed_peers(), ids=lambda peer: peer.name)
@pytest.mark.parametrize("family", FAMILIES)
def test_all_variants_are_right(family: str, peer: Peer, threads: int) -> None:
    set_all_threads(threads)
    tried = 0
    for case in small_cases(family) if family in peer.families else ():
        problem = build(case)
        expected, outputs = problem.run(problem.buffers()), problem.buffers()
        for name, run in peer.variants(problem, outputs, threads).items():
            spoil(outputs)
            try:
                problem.check(expected, run())
            except WrongResultError as error:
                pytest.fail(f"{case.id} {dict(case.parameters)}: {name}: {error}")
            tried += 1
    assert tried or family not in peer.families


def test_numpy_is_always_a_peer() -> None:
    assert PEERS[0].name == "numpy"
    assert PEERS[0].installed
    assert {one.family for one in (MOVING, CHOOSING, PAIRING)} <= set(PEERS[0].families) <= set(FAMILIES)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_a_peer_beyond_numpy(family: str) -> None:
    assert [peer.name for peer in PEERS if peer.name != "numpy" and family in peer.families]


def test_a_peer_that_is_not_installed_is_left_out() -> None:
    missing = Peer("nothing", "a_module_that_nobody_has", "nothing")
    assert not missing.installed
    assert missing.version is None
    assert {peer.name for peer in installed_peers(("numpy",))} == {"numpy"}


@pytest.mark.parametrize("case", [case for case in small_cases() if case.id.split("/")[1] == "0"], ids=lambda c: c.id)
def test_a_result_with_a_fault_is_seen(case: Case) -> None:
    """The checks notice one wrong element anywhere, and outputs that were not written."""
    problem = build(case)
    expected = problem.run(problem.buffers())
    problem.check(expected, {name: array.copy() for name, array in expected.items()})
    rng = np.random.default_rng(5)
    for name, array in expected.items():
        for place in rng.integers(0, array.size, 5):
            wrong = {other: values.copy() for other, values in expected.items()}
            wrong[name].reshape(-1)[place] += 1 + np.abs(array).max()
            if name == "argmax_idx":  # a single other sample may be a matter of rounding
                wrong[name].reshape(-1)[: array.size // 8] += 1
            with pytest.raises(WrongResultError):
                problem.check(expected, wrong)
    spoiled = {name: array.copy() for name, array in expected.items()}
    spoil(spoiled)
    with pytest.raises(WrongResultError):
        problem.check(expected, spoiled)


def test_a_wrong_peer_is_named_and_not_timed(tiny_case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(self, problem, outputs, threads):
        def lazy():
            return outputs

        def right():
            return problem.run(outputs)

        return {"lazy": lazy, "right": right}

    monkeypatch.setattr(Peer, "variants", wrong)
    found = driver.run_case(tiny_case, [PEERS[0]], [1], QUICK)
    assert [(entry["peer"], entry["variant"]) for entry in found["wrong"]] == [("numpy", "lazy")]
    assert "bytes differ" in found["wrong"][0]["error"]
    assert [c["variant"] for c in found["contenders"] if c["name"] == "numpy"] == ["right"]


def test_float16_conversions_of_the_numba_peers() -> None:
    values = np.array([0.0, -1.5, 65504.0, 1e-7, 3.14159], np.float32)
    run = numba_support.inlined(_round_trip)
    for value in values:
        assert run(value) == np.float32(np.float16(value))


def _round_trip(value):
    return numba_support.half_to_float(numba_support.float_to_half(value))
