"""DataLoaders: operators on NumPy arrays, on tensors and on the simulator, in workers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

import pymluops
import pymluops.torch as ops
from support.example import MOVING, SAMPLING
from support.processes import python_output


class Clips(Dataset[Any]):
    """Clips that a worker shifts with NumPy, with PyTorch and on the simulator, and its numbers of threads."""

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        frames, shift = np.arange(4, dtype=np.float32).reshape(1, 4, 1, 1) + index, np.array([[1]], np.int32)
        moved = MOVING.run(frames, shift)
        threads = pymluops.get_num_threads()
        with pymluops.use("sim"):
            simulated = MOVING.run(frames, shift)
        clip = torch.from_numpy(frames).requires_grad_()
        MOVING.in_torch(ops)(clip, torch.from_numpy(shift)).sum().backward()
        return moved, simulated, clip.grad, torch.tensor([threads, pymluops.get_num_threads(), torch.get_num_threads()])


def check(loader: DataLoader[Any]) -> set[tuple[int, ...]]:
    """Look at two epochs, and return the numbers of threads that occurred."""
    seen: set[tuple[int, ...]] = set()
    for _ in range(2):
        batches = list(loader)
        assert len(batches) == 2
        for number, (moved, simulated, gradient, threads) in enumerate(batches):
            for i in range(2):
                index = 2 * number + i
                assert moved[i].flatten().tolist() == [0, index, index + 1, index + 2]
                assert torch.equal(moved[i], simulated[i])
                assert gradient[i].flatten().tolist() == [1, 1, 1, 0]
            seen |= {tuple(row) for row in threads.tolist()}
    return seen


MAIN = f"""
import sys
sys.path[:0] = [{str(Path(__file__).parent)!r}]
from torch.utils.data import DataLoader
import pymluops
from test_workers import Clips, check
if __name__ == "__main__":
    Clips()[0]  # everything is at work in this process too
    loader = DataLoader(Clips(), 2, num_workers=2, persistent_workers=True, multiprocessing_context="fork")
    print(*check(loader))
"""


def test_workers_of_a_data_loader_use_one_thread(tmp_path: Path) -> None:
    script = tmp_path / "loader.py"
    script.write_text(MAIN)
    run = "import runpy, sys; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
    assert python_output(run, str(script), PYMLUOPS_NUM_THREADS="") == "(1, 1, 1)"


def test_without_workers() -> None:
    check(DataLoader(Clips(), 2))


def test_modules_in_a_process_of_their_own() -> None:
    """What a process is given as a pickle: a module whose weights are shared memory."""
    module = getattr(ops, SAMPLING.module)(2)
    layer = torch.nn.Linear(2, 2).share_memory()
    context = torch.multiprocessing.get_context("fork")
    with context.Pool(1) as pool:
        shape = pool.apply(_run, (module, layer))
    assert shape == (1, 1, 1, 4)


def _run(module: torch.nn.Module, layer: torch.nn.Module) -> tuple[int, ...]:
    layer(torch.zeros(1, 2))
    return tuple(module(torch.rand(1, 4, 3, 3), torch.tensor([[[0.0, 0, 2, 2]]])).shape)
