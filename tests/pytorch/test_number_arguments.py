"""Every integer and every bool of every public function: taken where nothing is lost, else refused by name."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
import torch

import pymluops.torch as ours
from support.torch_calls_with_integers import CALLS, call, kinds
from support.torch_samples import all_equal

#: Names of arguments in messages of the operators, where the functions have other ones.
OF_OPERATORS = {
    "batch": "grid_size",
    "depth": "grid_size",
    "height": "grid_size",
    "width": "grid_size",
    "groups": "conv_group",
    "deform_groups": "deformable_group",
    "num_points": "num_samples",
    "sample_num": "nsample",
    "max_pts_per_voxel": "max_pts_each_voxel",
    "mode": "pool_method",
    "num_sampled_points": "sampled_pts_num",
    "x_range": "ranges",
    "y_range": "ranges",
    "z_range": "ranges",
}
#: Functions for sparse tensors take whole floats too, as spconv does.
SPARSE = tuple(name for name in CALLS if name.startswith(("indice_", "get_")))
NO_INTEGERS = (2.5, True, "3", 1j, -(2**40), [[3], [3]], torch.tensor(True), torch.tensor(2.5), torch.rand(5), 2.5j)
WHOLE_FLOATS = (2.0, np.float64(2), torch.tensor(2.0))
NO_BOOLS = (2.5, 1.0, "3", None, 2, [1], torch.tensor(1.0), torch.tensor([1, 0]))
#: Limits, which may be larger than anything that there is.
LIMITS = {("nms", "max_num"), ("nms_bev", "pre_max_size"), ("nms_bev", "post_max_size"), ("voxelization", "max_voxels")}


def _arguments(kind: str) -> list[tuple[str, str]]:
    """Each function and argument whose annotation speaks of such numbers."""
    found = [(name, key) for name in sorted(CALLS) for key, text in kinds(name).items() if kind in text]
    return [(name, key) for name, key in found if key in CALLS[name]()]


INTEGERS = [pair for pair in _arguments("int") if "bool" not in kinds(pair[0])[pair[1]]]
BOOLS = _arguments("bool")


def _refused(name: str, key: str, wrong: Any) -> None:
    names = f"({key}|{OF_OPERATORS.get(key, key)})" if key != "aligned" else "(aligned|pool_mode)"
    with pytest.raises((TypeError, ValueError, AssertionError), match=rf"^\w+: {names}: expected "):
        call(name, **{key: wrong})


def test_every_function_with_numbers_has_a_call() -> None:
    functions = [name for name in ours.__all__ if not inspect.isclass(getattr(ours, name))]
    assert {name for name in functions if kinds(name)} == set(CALLS)


@pytest.mark.parametrize(("name", "key"), INTEGERS)
def test_what_is_no_integer_is_refused_by_name(name: str, key: str) -> None:
    optional = "None" in kinds(name)[key]
    wrong = [*NO_INTEGERS, *(() if name in SPARSE else WHOLE_FLOATS), *(() if optional else (None,))]
    for one in (*wrong, *(() if (name, key) in LIMITS else (2**40,))):
        if key == "input_size" and isinstance(one, (list, torch.Tensor)) and len(np.shape(one)) == 1:
            continue  # tells of how many axes the others are to speak
        _refused(name, key, one)


@pytest.mark.parametrize(("name", "key"), [pair for pair in INTEGERS if "Sequence" in kinds(pair[0])[pair[1]]])
def test_what_is_no_integer_in_a_sequence_is_refused_by_name(name: str, key: str) -> None:
    count = 3 if key in ("voxel_num", "out_size") else 2
    for one in (2.5, True, "3", None, 2**40):
        _refused(name, key, [one] * count)
    if key != "input_size":
        _refused(name, key, [2] * 5)
        _refused(name, key, [])


@pytest.mark.parametrize(("name", "key"), BOOLS)
def test_what_is_no_bool_is_refused_by_name(name: str, key: str) -> None:
    for wrong in NO_BOOLS:
        _refused(name, key, wrong)


@pytest.mark.parametrize(("name", "key"), [*INTEGERS, *BOOLS])
def test_numbers_of_numpy_and_tensors_count(name: str, key: str) -> None:
    value = CALLS[name]()[key]
    if isinstance(value, list):
        same: tuple[Any, ...] = (np.array(value), torch.tensor(value), tuple(np.int64(one) for one in value))
    elif isinstance(value, bool):
        same = (np.bool_(value), int(value))
    else:
        same = (np.int64(value), np.int32(value), np.array(value), torch.tensor(value))
    wanted = call(name)
    for one in same:
        found = call(name, **{key: one})
        if name not in ("load_state_dict",):
            all_equal(_tensors(found), _tensors(wanted))


def _tensors(found: Any) -> Any:
    """The results that are there, numbers as tensors."""
    if isinstance(found, (tuple, list)):
        return tuple(torch.as_tensor(one) if not isinstance(one, tuple) else one[0] for one in found if one is not None)
    return found
