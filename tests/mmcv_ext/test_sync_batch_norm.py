"""The functions of mmcv's extension for SyncBatchNorm, and the layer itself with one process and with two."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from .values import DTYPES, any_strides, every_dtype, exact, laid, near, tensor

_EPS = 0.0625


def problem(torch: Any, dtype: str, strided: bool) -> dict[str, Any]:
    """Small integers, which every type has exactly; the numbers of channels in the type to compute in."""
    rng = np.random.default_rng(4)
    real = "float64" if dtype == "float64" else "float32"
    made = {name: tensor(torch, rng.integers(-3, 4, (4, 3, 5)), dtype) for name in ("input", "grad")}
    made = {name: laid(torch, values, strided) for name, values in made.items()}
    numbers = {name: rng.integers(1, 9, 3) / 4 for name in ("weight", "bias", "running_mean", "running_var", "mean")}
    made |= {name: tensor(torch, array, real) for name, array in numbers.items()}
    return made | {name: torch.full((3,), 9.0, dtype=made["mean"].dtype) for name in ("to", "other")}


@every_dtype
@any_strides
def test_mean_and_variance(torch: Any, ext: ModuleType, dtype: str, strided: bool) -> None:
    t = problem(torch, dtype, strided)
    real = str(t["to"].dtype).removeprefix("torch.")
    values = exact(t["input"])
    ext.sync_bn_forward_mean(t["input"], t["to"])
    near(torch, t["to"], values.mean((0, 2)), real)
    ext.sync_bn_forward_var(t["input"], t["mean"], t["other"])
    near(torch, t["other"], ((values - exact(t["mean"])[:, None]) ** 2).mean((0, 2)), real)
    ext.sync_bn_forward_var(t["input"] * 0 + 2, t["mean"] * 0 + 2, t["other"])
    assert (t["other"] == 0).all()


@every_dtype
@any_strides
@pytest.mark.parametrize("momentum", ["number", "tensor"])
def test_output(torch: Any, ext: ModuleType, dtype: str, strided: bool, momentum: str) -> None:
    t = problem(torch, dtype, strided)
    real = str(t["mean"].dtype).removeprefix("torch.")
    var = t["weight"] + 1
    norm = torch.full_like(t["input"], 9, dtype=var.dtype)
    output = laid(torch, torch.full_like(t["input"], 9), strided)
    mean, wide, old = exact(t["mean"]), exact(var), {key: exact(t[f"running_{key}"]).copy() for key in ("mean", "var")}
    given = (t["weight"], t["bias"], t["running_mean"], t["running_var"], norm, t["to"], output)
    moved = 0.25 if momentum == "number" else torch.tensor(0.25)
    ext.sync_bn_forward_output(t["input"], t["mean"], var, *given, eps=_EPS, momentum=moved, group_size=3)
    std = np.sqrt(wide + _EPS)
    wanted = (exact(t["input"]) - mean[:, None]) / std[:, None]
    near(torch, norm, wanted, real)
    near(torch, t["to"], std, real)
    near(torch, output, wanted * exact(t["weight"])[:, None] + exact(t["bias"])[:, None], dtype)
    near(torch, t["running_mean"], 0.25 * mean + 0.75 * old["mean"], real)
    near(torch, t["running_var"], 0.25 * wide * 60 / 59 + 0.75 * old["var"], real)


@every_dtype
@any_strides
def test_gradients(torch: Any, ext: ModuleType, dtype: str, strided: bool) -> None:
    t = problem(torch, dtype, strided)
    real = str(t["mean"].dtype).removeprefix("torch.")
    norm, grad = t["input"].to(t["mean"].dtype), exact(t["grad"])
    ext.sync_bn_backward_param(t["grad"], norm, t["to"], t["other"])
    sums = [(grad * exact(norm)).sum((0, 2)), grad.sum((0, 2))]
    for found, wanted in zip((t["to"], t["other"]), sums, strict=True):
        near(torch, found, wanted, real)
    std, result = t["bias"] + 1, laid(torch, torch.full_like(t["grad"], 9), strided)
    ext.sync_bn_backward_data(t["grad"], t["weight"], t["to"], t["other"], norm, std, result)
    scale = exact(t["weight"])[:, None] / exact(std)[:, None]
    near(torch, result, scale * (grad - (sums[0][:, None] * exact(norm) + sums[1][:, None]) / 20), dtype)
    spread = t["grad"][:1, :, :1].expand_as(t["grad"])  # strides of 0, as the gradient of a sum has
    ext.sync_bn_backward_data(spread, None, t["to"], t["other"], norm, std, result)
    wide = exact(spread) - (sums[0][:, None] * exact(norm) + sums[1][:, None]) / 20
    near(torch, result, wide / exact(std)[:, None], dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_missing_tensors(torch: Any, ext: ModuleType, dtype: str) -> None:
    t = problem(torch, dtype, False)
    for missing in (None, torch.empty(0)):
        output = torch.full_like(t["input"], 9)
        ext.sync_bn_forward_output(
            t["input"], t["mean"], t["weight"], *(missing,) * 6, output, eps=_EPS, momentum=0.5, group_size=1
        )
        std = np.sqrt(exact(t["weight"]) + _EPS)
        near(torch, output, (exact(t["input"]) - exact(t["mean"])[:, None]) / std[:, None], dtype)


def test_empty_batches(torch: Any, ext: ModuleType) -> None:
    t, none = problem(torch, "float32", False), torch.empty(0, 3, 5)
    ext.sync_bn_forward_mean(none, t["to"])
    ext.sync_bn_forward_var(none, t["mean"], t["other"])
    assert (t["to"] == 9).all()
    assert (t["other"] == 9).all()
    before = t["running_mean"].clone()
    given = t["weight"], t["bias"], t["running_mean"], t["running_var"], none, t["to"], none
    ext.sync_bn_forward_output(none, t["mean"], t["weight"], *given, eps=0.0, momentum=0.0, group_size=2)
    assert torch.equal(t["running_mean"], before)
    near(torch, t["to"], np.sqrt(exact(t["weight"])), "float32")
    ext.sync_bn_backward_data(none, t["weight"], t["to"], t["other"], none, t["mean"], none)
    ext.sync_bn_backward_param(none, none, t["to"], t["other"])
    assert not t["to"].any()
    assert not t["other"].any()


def test_refused_arguments(torch: Any, ext: ModuleType) -> None:
    t = problem(torch, "float32", False)
    norm, output = torch.full_like(t["input"], 9), torch.full_like(t["input"], 9)
    good = {
        "input": t["input"], "mean": t["mean"], "var": t["weight"], "weight": t["weight"], "bias": t["bias"],
        "running_mean": t["running_mean"], "running_var": t["running_var"], "norm": norm, "std": t["to"],
        "output": output, "eps": _EPS, "momentum": 0.5, "group_size": 1,
    }  # fmt: skip
    for changes in (
        {"input": t["input"][0]}, {"input": t["input"].int()}, {"mean": None}, {"mean": t["mean"][:2]},
        {"var": t["weight"].half()}, {"weight": t["weight"][:2]}, {"bias": t["bias"].int()}, {"std": t["to"][:2]},
        {"running_mean": t["mean"][:1]}, {"norm": norm[:2]}, {"norm": norm.half()}, {"output": output[:1]},
        {"output": output.double()}, {"group_size": 0.5},
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match=rf"^sync_bn_forward_output: {next(iter(changes))}: expected "):
            ext.sync_bn_forward_output(**{**good, **changes})
    assert (output == 9).all()
    assert (norm == 9).all()
    with pytest.raises(RuntimeError, match=r"^sync_bn_backward_data: grad_input: expected "):
        ext.sync_bn_backward_data(t["input"], *(t["mean"],) * 3, norm, t["mean"], output[:1])
    with pytest.raises(RuntimeError, match=r"^sync_bn_backward_param: norm: expected "):
        ext.sync_bn_backward_param(t["input"], norm[:1], t["mean"], t["mean"])


# ---- The layer -----------------------------------------------------------------------------------

# Compares with BatchNorm2d over the values of all processes.
_TRAINING = """
import sys
import torch
import torch.distributed as dist
import pymluops.mmcv
rank, size, place = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
assert pymluops.mmcv.install()
from mmcv.ops import SyncBatchNorm
dist.init_process_group("gloo", init_method=f"file://{place}", rank=rank, world_size=size)
torch.manual_seed(1)
for mode, counts, layout in (
    ("default", [3] * size, torch.contiguous_format),
    ("default", [3] * size, torch.channels_last),
    ("N", [3, *range(size - 1)], torch.contiguous_format),
):
    joint = (torch.randn(sum(counts), 4, 5, 6) * 3 + 50).to(memory_format=layout)
    gradient = torch.randn_like(joint)
    layer, plain = SyncBatchNorm(4, stats_mode=mode), torch.nn.BatchNorm2d(4)
    plain.weight.data.copy_(torch.rand(4) + 0.5)
    plain.bias.data.copy_(torch.rand(4))
    layer.load_state_dict(plain.state_dict())
    first = sum(counts[:rank])
    mine = slice(first, first + counts[rank])
    wanted, found = joint.clone().requires_grad_(), joint[mine].clone().requires_grad_()
    expected, output = plain(wanted), layer(found)
    torch.testing.assert_close(output, expected[mine], rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(layer.running_mean, plain.running_mean, rtol=1e-5, atol=1e-5)
    if len(set(counts)) == 1:  # mmcv counts the values of every process as often, and means over them
        torch.testing.assert_close(layer.running_var, plain.running_var, rtol=1e-5, atol=1e-5)
        expected.backward(gradient)
        output.backward(gradient[mine])
        torch.testing.assert_close(found.grad, wanted.grad[mine], rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(layer.weight.grad * size, plain.weight.grad, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(layer.bias.grad * size, plain.bias.grad, rtol=1e-4, atol=1e-4)
    layer.eval()
    plain.eval()
    if mode == "default":
        torch.testing.assert_close(layer(joint), plain(joint), rtol=1e-5, atol=1e-5)
dist.barrier()
dist.destroy_process_group()
print("done")
"""


@pytest.fixture
def running() -> Iterator[list[subprocess.Popen[str]]]:
    """Processes, which end with the test."""
    found: list[subprocess.Popen[str]] = []
    yield found
    for process in found:
        process.kill()
        process.communicate()


@pytest.mark.thorough
@pytest.mark.parametrize("size", [1, 2])
def test_training_over_all_processes(tmp_path: Path, running: list[subprocess.Popen[str]], size: int) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("mmcv.version", reason="mmcv-lite is not installed", exc_type=ImportError)
    for rank in range(size):
        command = [sys.executable, "-P", "-W", "ignore", "-c", _TRAINING, str(rank), str(size), str(tmp_path / "store")]
        running.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
    for process in running:
        output, errors = process.communicate(timeout=120)
        assert output.endswith("done\n"), errors
