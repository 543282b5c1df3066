"""What a type checker says of the operators: results are of the kind of the first array, or what was given for them."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

import pymluops
from support import families

api = pytest.importorskip("mypy.api")

ROOT = Path(__file__).resolve().parents[2]

#: The kinds of arrays with the kind of the results.
KINDS = {"host": "NDArray[Any]", "device": "pymluops.DeviceArray", "tensor": "Tensor"}

HEADER = """
from typing import Any, assert_type
import numpy as np
from numpy.typing import NDArray
import pymluops
from pymluops import DeviceArray

class Tensor:
    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any:
        return None
    @property
    def requires_grad(self) -> bool:
        return False
    def detach(self) -> "Tensor":
        return self

host: NDArray[np.float32]
device: DeviceArray
tensor: Tensor
anything: Any
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mypy")


def checked(cache: Path, lines: list[str]) -> list[str]:
    """What mypy says of some lines, one text for each error."""
    program = cache / "program.py"
    program.write_text(HEADER + "\n".join(lines) + "\n", encoding="utf-8")
    options = ["--strict", "--config-file=", "--no-error-summary", f"--cache-dir={cache}", "--no-pretty"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MYPYPATH", str(ROOT))
        said, failed, _ = api.run([*options, str(program)])
    assert not failed, failed
    return [line for line in said.splitlines() if "error:" in line]


def parameters(name: str) -> tuple[list[str], list[str]]:
    """The texts of the arguments of an operator, ``{}`` where an array stands; and the names of its outputs."""
    arrays = {tensor.name for tensor in families.OPERATORS[name].tensors if not tensor.output}
    outputs = {tensor.name for tensor in families.OPERATORS[name].tensors if tensor.output}
    texts, results = [], []
    for parameter in inspect.signature(getattr(pymluops, name)).parameters.values():
        if parameter.name in arrays:
            texts.append(f"{parameter.name}={{}}")
        elif parameter.name in outputs:
            results.append(parameter.name)
        elif parameter.default is inspect.Parameter.empty:
            texts.append(f"{parameter.name}=anything")
    return texts, results


def result_of(name: str, kind: str) -> str:
    """The type of the result with one kind of arrays, from the annotation in the family's module."""
    annotation = str(inspect.signature(getattr(pymluops, name)).return_annotation).replace("Any", kind)
    return f"pymluops.{annotation}" if annotation.partition("[")[0] in pymluops.ops.__all__ else annotation


def test_results_are_of_the_kind_of_the_first_array(cache: Path) -> None:
    names, lines = families.of_arrays(families.OPERATORS), []
    for name in set(families.OPERATORS) - set(names):  # of numbers alone
        lines.append(f"assert_type(pymluops.{name}({', '.join(parameters(name)[0])}), np.ndarray)")
    for name in names:
        for array, kind in KINDS.items():
            call = ", ".join(parameters(name)[0]).format(*[array] * 9)
            lines.append(f"assert_type(pymluops.{name}({call}), {result_of(name, kind)})")
    assert len(families.OPERATORS) < len(names) + 5
    assert checked(cache, lines) == []


def test_a_given_result_is_returned(cache: Path) -> None:
    lines = []
    for name in families.OPERATORS:
        texts, outputs = parameters(name)
        if outputs == ["out"]:
            call = ", ".join(texts).format(*["host"] * 9)
            lines.append(f"assert_type(pymluops.{name}({call}, out=tensor), Tensor)")
    assert len(lines) > 5
    assert checked(cache, lines) == []


def test_wrong_arguments_are_told(cache: Path) -> None:
    lines = []
    for name in families.OPERATORS:
        call = ", ".join(parameters(name)[0])
        if "{}" in call:
            lines.append(f"pymluops.{name}({call.format(*['3'] * 9)})")
        lines.append(f"pymluops.{name}({call.format(*['host'] * 9)}, no_such_argument=1)")
    errors = checked(cache, lines)
    assert len({error.split(":")[1] for error in errors}) == len(lines)
