"""Functions and modules of tensors leave test cases of the vendor's operators, or a warning with the reason."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import pymluops.torch as ours
from pymluops import gencase
from pymluops.gencase._stand_ins import STAND_INS
from pymluops.torch import sparse
from support import torch_samples


def recorded(call: Callable[[], Any], folder: Path) -> tuple[list[str], list[str], Any]:
    """The operators of the cases and the warnings of a call, and what it returned. Each case must pass."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with gencase.recording(folder) as directory:
            result = call()
    paths = sorted(directory.rglob("*.prototxt"))
    return [path.parent.name for path in paths], [str(one.message) for one in said], result


@pytest.mark.parametrize("name", torch_samples.FUNCTIONS)
@pytest.mark.sampled("name")
def test_a_function_of_tensors_leaves_a_case_or_a_warning(name: str, tmp_path: Path) -> None:
    call, tensors = torch_samples.FUNCTIONS[name], torch_samples.tensors(name)
    function = torch_samples.operator_of(name).operator.function
    written, said, found = recorded(lambda: call(*(tensor.clone() for tensor in tensors)), tmp_path)
    assert bool(written) != bool(said), (written, said)
    assert all("no test case is written" in text for text in said)
    if function.startswith("mluopsExt") and function not in STAND_INS:
        assert said
    torch_samples.all_equal(found, call(*(tensor.clone() for tensor in tensors)))


def maps_and_regions() -> tuple[Any, Any]:
    generator = torch.Generator().manual_seed(3)
    maps = torch.randn(1, 4, 6, 5, generator=generator, requires_grad=True)
    return maps, torch.tensor([[0.0, 1, 1, 4, 3]])


def test_gradients_leave_cases_too(tmp_path: Path) -> None:
    maps, rois = maps_and_regions()
    written, said, _ = recorded(lambda: ours.roi_align(maps, rois, 2).sum().backward(), tmp_path)
    assert (sorted(written), said) == (["roi_align_backward", "roialign_forward"], [])
    for path in tmp_path.rglob("*.prototxt"):
        assert gencase.read(path).run("cpu").outcome is gencase.Outcome.PASSED


def test_numbers_in_float64_warn(tmp_path: Path) -> None:
    maps, rois = maps_and_regions()
    written, said, _ = recorded(lambda: ours.roi_align(maps.double(), rois.double(), 2), tmp_path)
    assert written == []
    assert [text.partition(": ")[2] for text in said] == [
        "no test case is written: the vendor's operators compute nothing in float64"
    ]


def test_a_vmapped_function_leaves_a_case_of_what_runs(tmp_path: Path) -> None:
    maps, rois = maps_and_regions()
    batch = torch.stack([maps.detach(), maps.detach() + 1])
    written, said, _ = recorded(lambda: torch.func.vmap(lambda one: ours.roi_align(one, rois, 2))(batch), tmp_path)
    assert (set(written), said) == ({"roialign_forward"}, [])


def test_sparse_modules_leave_cases(tmp_path: Path) -> None:
    indices = torch.tensor([[0, 0, 1, 1], [0, 1, 1, 2], [0, 2, 0, 3]], dtype=torch.int32)
    features = torch.randn(3, 4, generator=torch.Generator().manual_seed(1), requires_grad=True)
    module = torch.nn.Sequential(sparse.SubMConv3d(4, 5, 3, bias=False), sparse.SparseConv3d(5, 2, 2, 2, bias=False))

    def step() -> None:
        tensor = sparse.SparseConvTensor(features, indices, [3, 4, 4], 1)
        for part in module:
            tensor = part(tensor)
        tensor.features.sum().backward()

    written, said, _ = recorded(step, tmp_path)
    assert said == []
    assert sorted(written) == sorted(
        ["get_indice_pairs"] * 2
        + ["indice_convolution_forward"] * 2
        + ["indice_convolution_backward_data"] * 2
        + ["indice_convolution_backward_filter"] * 2
    )
    for path in tmp_path.rglob("*.prototxt"):
        assert gencase.read(path).run("cpu").outcome is gencase.Outcome.PASSED


def test_transposed_sparse_convolutions_warn(tmp_path: Path) -> None:
    indices = torch.tensor([[0, 0, 1, 0], [0, 1, 1, 2]], dtype=torch.int32)
    tensor = sparse.SparseConvTensor(torch.ones(2, 3), indices, [3, 4, 3], 1)
    written, said, _ = recorded(lambda: sparse.SparseConvTranspose3d(3, 2, 2, 2)(tensor), tmp_path)
    assert written == ["indice_convolution_forward"]
    assert said == ["get_indice_pairs: no test case is written: the vendor's operator takes no transposed convolutions"]
