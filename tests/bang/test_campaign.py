"""Mutants of the kernels in ``examples/kernels``, and that checkers tell of those which compute something else.

The whole campaign is run by hand: ``PYTHONPATH=tests python3 -m gallery.campaign``.
"""

from __future__ import annotations

from collections import Counter

import pytest

from gallery.campaign import campaign, chosen_mutants, class_of, shares_of_first, table
from gallery.case import KERNELS
from gallery.mutation import Mutant, mutants_of, mutated, sample
from gallery.schemata import source_of_all
from gallery.trial import Verdict

NAMES = sorted(path.stem for path in KERNELS.glob("*.mlu"))
SOURCE = """\
__nram__ float a[8], b[8];
__mlu_entry__ void twice(const float *x, float *out) {
  if (__is_mpu()) return;
  __memcpy_async(a, x + taskId * 8, 8 * sizeof(float), GDRAM2NRAM);  // __sync();
  __sync();
  for (int i = 0; i < 1; ++i) __bang_add(b, a, a, 8);
  __memcpy(out + taskId * 8, b,
           8 * sizeof(float), NRAM2GDRAM);
}
"""


def test_mutants_of_a_kernel_are_those_that_one_would_write_down() -> None:
    found = [(mutant.line, mutant.operator, mutant.what) for mutant in mutants_of("twice", SOURCE)]
    assert Counter(operator for _, operator, _ in found) == {
        "early return removed": 1, "copy removed": 2, "size off by one": 6, "offset off by one": 4,
        "wrong direction": 2, "sync removed": 1, "sync weakened": 2, "sync moved": 2, "loop off by one": 3,
        "buffer swapped": 4, "copy not waited for": 1, "task arithmetic": 4,
    }  # fmt: skip
    assert (5, "sync removed", "__sync();") in found
    assert (6, "buffer swapped", "__bang_add: b and a") in found


def changed_lines(source: str, mutant: Mutant) -> set[int]:
    pairs = zip(source.splitlines(), mutated(source, mutant).splitlines(), strict=True)
    return {number for number, (before, after) in enumerate(pairs, 1) if before != after}


@pytest.mark.parametrize("kernel", NAMES)
def test_a_mutant_is_one_change_and_keeps_its_lines(kernel: str) -> None:
    source = (KERNELS / f"{kernel}.mlu").read_text(encoding="utf-8")
    mutants = mutants_of(kernel, source)
    assert len(mutants) >= 20
    for mutant in mutants:
        assert mutant.line in changed_lines(source, mutant) or mutant.operator == "sync moved", mutant.name
        assert len(changed_lines(source, mutant)) <= 12
    assert source_of_all(source, mutants).count("gallery_mutant(") >= len(mutants)


def test_samples_are_the_same_for_the_same_seed_and_have_all_operators() -> None:
    mutants = mutants_of("twice", SOURCE)
    assert sample(mutants, 12, 1) == sample(mutants, 12, 1) != sample(mutants, 12, 2)
    assert len({mutant.operator for mutant in sample(mutants, 12, 1)}) == 12
    assert sorted(sample(mutants, 1000, 1), key=str) == sorted(mutants, key=str)


@pytest.mark.parametrize(
    ("verdict", "name"),
    [
        (Verdict(refused=True), "refused"),
        (Verdict(), "equivalent"),
        (Verdict(rules=["a/b:1"]), "only reported"),
        (Verdict(changed=True, rules=["a/b:1"]), "wrong, reported"),
        (Verdict(changed=True), "wrong, not reported"),
    ],
)
def test_classes(verdict: Verdict, name: str) -> None:
    assert class_of(verdict) == name


def share_of(kernels: list[str], count: int) -> float:
    """Of the mutants that compute something else, how many are reported."""
    records = campaign(kernels, 592, lambda kernel: chosen_mutants(kernel, count, 0))
    classes = Counter(record["class"] for record in records)
    print(table(records, lambda record: record["operator"], "operator"))
    assert len(records) == count * len(kernels)
    assert classes["wrong, reported"] >= count * len(kernels) // 3
    return classes["wrong, reported"] / (classes["wrong, reported"] + classes["wrong, not reported"])


def test_most_mutants_of_a_pipeline_are_reported() -> None:
    assert share_of(["ping_pong"], 24) >= 0.9


def test_the_first_finding_stands_at_the_change() -> None:
    records = campaign(["ping_pong", "adam"], 592, lambda kernel: chosen_mutants(kernel, 20, 7))
    first, near = shares_of_first(records, with_other=True)
    assert near >= 20
    assert first >= 0.95 * near


@pytest.mark.thorough
def test_most_mutants_of_some_kernels_are_reported() -> None:
    assert share_of(["softmax", "stencil", "five_stages"], 40) >= 0.9
