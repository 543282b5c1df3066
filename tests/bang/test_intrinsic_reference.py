"""The reference of the intrinsics: its examples, and what `pymluops kernel help` prints."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pymluops import bang, sim
from pymluops.cli import main
from pymluops.sim import _intrinsics

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES: list[dict[str, Any]] = tomllib.loads(
    (ROOT / "native/sim/intrinsic_examples.toml").read_text(encoding="utf-8")
)["example"]
#: A comment alone in its line that says what holds.
CLAIM = re.compile(r"^// (.+) is (.+)$", re.MULTILINE)


def kernel(number: int) -> str:
    """The kernel of an example: it sets an element of `holds` for each claim."""
    places = iter(range(100))
    body = CLAIM.sub(
        lambda claim: f"holds[{next(places)}] = ({claim[1]}) == ({claim[2]}) ? 1 : -1;", EXAMPLES[number]["code"]
    )
    return f"__mlu_entry__ void example_{number}(float *memory, int *holds) {{\n{body}\n}}\n"


def test_every_example_does_what_it_says() -> None:
    module = bang.compile("".join(map(kernel, range(len(EXAMPLES)))))
    wrong: list[str] = []
    with sim.checking("all"):
        for number, example in enumerate(EXAMPLES):
            holds, memory = np.zeros(16, np.int32), np.zeros(64, np.float32)
            module.kernel(f"example_{number}")[1](memory, holds)
            claims = CLAIM.findall(example["code"])
            wrong += [
                f"{example['names']}: {left} is not {right}"
                for (left, right), held in zip(claims, holds, strict=False)
                if held != 1
            ]
            assert claims, example["names"]
    assert wrong == []


def test_fifty_intrinsics_have_an_example_that_calls_them() -> None:
    found = {name: one.example for name in _intrinsics.names() if (one := _intrinsics.find(name)) and one.example}
    assert len(found) >= 50
    # Of several names the example calls one at least.
    shown = {name for row in EXAMPLES for name in row["names"].split()}
    assert shown == set(found)
    assert all(any(name in row["code"] for name in row["names"].split()) for row in EXAMPLES)


def test_units_of_all_counts_are_said() -> None:
    counts = re.compile(r"(?:elem_count|src_count|size|stride\d?)$")
    missing: set[str] = set()
    for name in _intrinsics.names():
        one = _intrinsics.find(name)
        assert one is not None
        assert one.forms, name
        for form in one.forms:
            for parameter in re.findall(r"int (\w+)", form.parameters):
                text = one.parameters.get(parameter, "")
                if counts.search(parameter) and not re.search("byte|element", text):
                    missing.add(f"{name}: {parameter}")
    assert missing == set()


def printed(capsys: pytest.CaptureFixture[str], *names: str) -> str:
    assert main(["kernel", "help", *names]) == 0
    return capsys.readouterr().out


def test_help_tells_where_the_sums_are(capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, "__bang_reduce_sum")
    assert "  void __bang_reduce_sum(T *dst, const T *src, int elem_count)\n    T is half, float\n" in out
    assert re.search(r"elem_count +number of elements of src \(not bytes\)", out)
    assert "goes to dst[k]" in out
    assert "// y[32] is 32" in out


@pytest.mark.parametrize(
    ("name", "computed"),
    [
        ("__bang_active_exp", "e^x for x from -7.75"),
        ("__bang_active_sigmoid", "1 / (1 + e^-x)"),
        ("__bang_mul", "dst[i] = src0[i] * src1[i]"),
        ("__bang_cycle_sub", "dst[i] = src[i] - seg[i % seg_elem_count]"),
        ("__bang_le_scalar", "the first operand <= the second one"),
        ("__bang_atomic_max", "src1[i] becomes the larger of src1[i] and src2"),
    ],
)
def test_help_says_what_is_computed(name: str, computed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert computed in " ".join(printed(capsys, name).split())


def test_no_text_leaves_its_operation_open() -> None:
    for name in _intrinsics.names():
        one = _intrinsics.find(name)
        assert one is not None
        assert not re.search(r"\bop\b|[{}]", one.text), name


def test_help_of_several_and_of_all(capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, "__memcpy", "__bang_rem")
    assert re.search(r"size +bytes of a piece", out)
    assert "architectures: 592" in out
    listed = printed(capsys)
    assert listed.startswith("Copies and fills:\n  __memcpy __memcpy_async ")
    assert len(listed.split()) > 1300


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("__bang_ad", "did you mean __bang_add"),
        ("reduce_sum", "did you mean __bang_reduce_sum?"),
        ("transpose", "did you mean __bang_transpose?"),
        ("xyzzy", "pymluops kernel help lists all names"),
    ],
)
def test_help_of_a_name_that_is_not_there(name: str, hint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kernel", "help", name]) == 2
    err = capsys.readouterr().err
    assert f"there is no intrinsic {name}; " in err
    assert hint in err
